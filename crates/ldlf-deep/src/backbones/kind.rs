//! Backbones by their names: lookups in the facts that each of them states.

use ldlf_core::error::{Message, Subject, nearest};
use ldlf_core::parameters::{self, ParameterType};
use ldlf_core::{Error, Result, Value, message};

use super::{BackboneKind, Input, InputConvention, Reads};
use crate::images::Preparation;
use crate::weights::WeightReport;

impl BackboneKind {
    /// The backbone of that name.
    ///
    /// ```
    /// use ldlf_deep::backbones::BackboneKind;
    /// assert_eq!(BackboneKind::named("resnet18")?, BackboneKind::ResNet18);
    /// let error = BackboneKind::named("resnet-18").unwrap_err();
    /// assert_eq!(error.to_string(), "no backbone is called \"resnet-18\"; did you mean resnet18?");
    /// # Ok::<(), ldlf_core::Error>(())
    /// ```
    pub fn named(name: &str) -> Result<BackboneKind> {
        let all = BackboneKind::ALL;
        if let Some(kind) = all.iter().find(|kind| kind.name() == name) {
            return Ok(*kind);
        }
        let names: Vec<&str> = all.iter().map(|kind| kind.name()).collect();
        let unknown = Error::unknown("backbone", name, &names);
        Err(match nearest(name, &names) {
            Some(_) => unknown,
            None => {
                let described = all.iter().map(|kind| format!("{} ({})", kind.name(), kind.summary()));
                unknown.with_remedy(format!("there are {}", described.collect::<Vec<_>>().join(", ")))
            }
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// A short description.
    pub fn summary(self) -> &'static str {
        self.facts().summary
    }

    /// Whether it reads rows of a table; the others read images.
    pub fn reads_tables(self) -> bool {
        matches!(self.facts().reads, Reads::Table)
    }

    /// The side of images that it was designed for; 1 for tables.
    pub fn usual_side(self) -> usize {
        match self.facts().reads {
            Reads::Images { usual_side, .. } => usual_side,
            Reads::Table => 1,
        }
    }

    /// The smallest side of images that leaves a pixel at the last layer; 1 for tables.
    pub fn smallest_side(self) -> usize {
        match self.facts().reads {
            Reads::Images { smallest_side, .. } => smallest_side,
            Reads::Table => 1,
        }
    }

    /// Whether its layers keep their outputs in bounds: by batch norms, or because there are only two.
    pub fn is_normalised(self) -> bool {
        self.facts().is_normalised
    }

    /// How images are prepared for its published weights, with its default side unless another is given; none for tables.
    pub fn preparation(self, side: Option<usize>, channels: usize) -> Option<Preparation> {
        match self.facts().reads {
            Reads::Images { usual_side, convention, .. } => {
                Some(convention.preparation(side.unwrap_or(usual_side), channels))
            }
            Reads::Table => None,
        }
    }

    /// What images should look like to weights that were loaded, by the names in their file; else to the backbone's published
    /// weights. None for tables.
    pub fn convention(self, weights: Option<&WeightReport>) -> Option<InputConvention> {
        match (self, weights, self.facts().reads) {
            (BackboneKind::Vgg16, Some(report), _) if report.renamed => Some(InputConvention::VGG_FACE),
            (BackboneKind::AlexNetCaffe, Some(_), _) => Some(InputConvention::CAFFE),
            (_, _, Reads::Images { convention, .. }) => Some(convention),
            (_, _, Reads::Table) => None,
        }
    }

    /// The layers whose output [`Backbone::forward_to`](super::Backbone::forward_to) gives, in order; the last one gives the
    /// features.
    pub fn layers(self) -> &'static [&'static str] {
        self.facts().layers
    }

    /// The channels or columns of an input that this network can take.
    pub(super) fn check(self, input: &Input) -> Result<usize> {
        let refuse = |message: String| Err(Error::usage(message));
        match *input {
            Input::Table { .. } if !self.reads_tables() => Err(self.refusal()),
            Input::Images { .. } if self.reads_tables() => Err(self.refusal()),
            Input::Table { features: 0 } => refuse(format!("{} needs at least one feature", self.name())),
            Input::Table { features } => Ok(features),
            Input::Images { channels: 0, .. } => refuse("channels must be at least 1, got 0".into()),
            Input::Images { side, .. } if side < self.smallest_side() => refuse(format!(
                "side must be at least {} for {}, got {side}",
                self.smallest_side(),
                self.name()
            )),
            Input::Images { channels, .. } => Ok(channels),
        }
    }

    /// The error where a backbone for images is given a table, or the other way round.
    pub(crate) fn refusal(self) -> Error {
        let (takes, given, remedy) = match self.reads_tables() {
            true => ("tables", "images", Message::default()),
            false => {
                let give = message!["give a folder or zip file of images with ", Subject::Table, ", or "];
                ("images", "tables", give)
            }
        };
        let mut others = BackboneKind::ALL.to_vec();
        others.retain(|other| other.reads_tables() != self.reads_tables());
        let others = match &names(&others)[..] {
            [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
            names => names.concat(),
        };
        Error::usage(format!("backbone={} reads {takes}, not {given}", self.name()))
            .with_remedy(remedy + format!("choose {others}"))
    }
}

fn names(kinds: &[BackboneKind]) -> Vec<&'static str> {
    kinds.iter().map(|kind| kind.name()).collect()
}

impl ParameterType for BackboneKind {
    fn kind() -> parameters::Kind {
        parameters::Kind::Choice { choices: names(BackboneKind::ALL) }
    }

    fn to_value(&self) -> Value {
        Value::from(self.name())
    }

    fn from_value(value: &Value) -> Option<Self> {
        BackboneKind::named(value.as_str()?).ok()
    }
}
