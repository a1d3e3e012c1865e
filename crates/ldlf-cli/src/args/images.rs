//! Rows that are images: the options of the verbs that read a folder or a zip file of them, and of those that train a network.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
pub use ldlf::internals::core::images::BadImages;
use ldlf::internals::core::inputs::InputKind;
use ldlf::internals::io::read::is_folder_of_tables;
use ldlf::{Error, Result, registry};

use crate::contenders::base_name;

/// The words for [`BadImages`].
fn bad_images() -> impl TypedValueParser<Value = BadImages> {
    let fail = PossibleValue::new("fail").help("It is an error");
    let skip = PossibleValue::new("skip").help("The row is left out, with a note");
    PossibleValuesParser::new([fail, skip]).map(|word| match word.as_str() {
        "skip" => BadImages::Skip,
        _ => BadImages::Fail,
    })
}

/// Which images are meant.
#[derive(Args)]
#[command(next_help_heading = "Images")]
pub struct ImageOptions {
    /// The table of the images, where DATA is a folder or a zip file of them (JPEG, PNG)
    #[arg(long, value_name = "FILE")]
    pub table: Option<PathBuf>,
    /// The column of the table that names the image of each row, as a path within the folder or zip file
    #[arg(long, value_name = "COLUMN")]
    pub image_column: Option<String>,
    /// What to do with rows whose image is missing or cannot be read
    #[arg(long, value_parser = bad_images(), default_value = "fail", value_name = "WHAT")]
    pub bad_images: BadImages,
}

impl ImageOptions {
    /// Whether the data are a table or images: images are a zip file, a single image or a folder without tables, or anything beside a table of them.
    pub fn kind_of(&self, data: &Path) -> Result<InputKind> {
        let image = data.extension().is_some_and(|ending| {
            ["zip", "jpg", "jpeg", "png"].iter().any(|known| ending.eq_ignore_ascii_case(known))
        });
        let folder = data.is_dir() && !is_folder_of_tables(data);
        if self.table.is_some() || image || folder {
            return Ok(InputKind::Images);
        }
        match &self.image_column {
            None => Ok(InputKind::Table),
            Some(_) => Err(Error::usage(format!(
                "--image-column is for images; give their folder or zip file in place of {0}, and --table {0}",
                data.display()
            ))),
        }
    }
}

/// Short forms of two parameters of the learners on a network.
#[derive(Args)]
#[command(next_help_heading = "Networks")]
pub struct NetworkOptions {
    /// The backbone of a deep learner: short for --set backbone=NAME
    #[arg(long, value_name = "NAME")]
    backbone: Option<String>,
    /// Pretrained weights (.safetensors, .pth): short for --set weights=FILE
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
}

impl NetworkOptions {
    /// The settings of a call: the short forms, for the learners on a network, and then what `--set` says.
    pub fn with(&self, set: &[String], learners: &[String]) -> Result<Vec<String>> {
        let weights = self.weights.as_ref().map(|path| path.display().to_string());
        let mut pairs = Vec::new();
        for (name, value) in [("backbone", &self.backbone), ("weights", &weights)] {
            let Some(value) = value else { continue };
            let mut owners = Vec::new();
            for learner in learners {
                let learner = base_name(learner);
                owners.extend(registry::find(learner)?.facts.backbone.then_some(learner));
            }
            if owners.is_empty() {
                return Err(Error::usage(format!(
                    "--{name} is for learners on a network ({}), not for {}",
                    registry::names(|facts| facts.backbone).join(", "),
                    learners.join(", ")
                )));
            }
            owners.dedup();
            pairs.extend(owners.into_iter().map(|learner| format!("{learner}.{name}={value}")));
        }
        pairs.extend_from_slice(set);
        Ok(pairs)
    }
}
