//! From the contents of a file to a checked [`Dataset`].

use std::collections::HashMap;

use ldlf_core::columns::Columns;
use ldlf_core::dataset::SingleLabel;
use ldlf_core::error::{Message, Place, Subject, shown};
use ldlf_core::folds::is_tested;
use ldlf_core::targets::{Spread, Targets, check_label_values, from_single_label, implied_label_values};
use ldlf_core::votes::VoteWeights;
use ldlf_core::{Dataset, Error, Features, Images, Inputs, Matrix, Result, Schema, message};

use super::{Loaded, ReadOptions, votes};

/// What a file held, before the pieces are checked against each other.
pub(super) struct FileContents {
    /// What messages call the file.
    pub file: String,
    /// The name of the dataset.
    pub stem: String,
    pub features: Features,
    pub feature_names: Option<Vec<String>>,
    /// How columns became the features.
    pub columns: Option<Columns>,
    /// Whether missing values are filled already, with the means of a model.
    pub is_filled: bool,
    /// Label distributions.
    pub targets: Option<Targets>,
    pub label_names: Option<Vec<String>>,
    /// Whether the targets come from a column of classes, one per row.
    pub is_of_classes: bool,
    /// One ordered label per row; finite.
    pub singles: Option<Vec<f64>>,
    /// The labels' values as the file gives them; used when their number fits.
    pub label_values: Option<Vec<f64>>,
    pub weights: Option<Vec<f64>>,
    pub split: Option<Vec<String>>,
    pub groups: Option<Vec<u32>>,
    /// What the column of images says.
    pub image_names: Option<Vec<String>>,
}

impl FileContents {
    pub fn new(file: String, stem: String, features: Features) -> Self {
        FileContents {
            file,
            stem,
            features,
            feature_names: None,
            columns: None,
            is_filled: false,
            targets: None,
            label_names: None,
            is_of_classes: false,
            singles: None,
            label_values: None,
            weights: None,
            split: None,
            groups: None,
            image_names: None,
        }
    }

    /// Takes the names of labels and features from the options, for formats that have none themselves.
    pub fn name_columns(&mut self, options: &ReadOptions) -> Result<()> {
        let labels = self.targets.as_ref().map(|targets| targets.distributions.cols());
        if let (Some(labels), false) = (labels, options.labels.is_empty()) {
            self.label_names = Some(all_named(&self.file, Subject::Labels, &options.labels, labels)?);
        }
        if !options.features.is_empty() {
            let names = all_named(&self.file, Subject::Features, &options.features, self.features.cols())?;
            self.feature_names = Some(names);
        }
        Ok(())
    }

    /// Joins the contents into a dataset.
    pub fn assemble(mut self, options: &ReadOptions) -> Result<Loaded> {
        if let (Some(votes), None) = (&options.votes, &options.long) {
            self.targets = Some(votes::read(votes, options.strict, &self.file, self.features.rows())?);
        }
        if self.features.rows() == 0 {
            return Err(Error::data("there are no rows").in_file(self.file));
        }
        if let Some(values) = &options.label_values {
            check_label_values(values)?;
        }
        if let Some(singles) = &self.singles {
            self.fits("single labels", singles.len())?;
        }
        let mut notices = Vec::new();
        let labels = self.labels(options, &mut notices)?;
        Ok(Loaded { dataset: self.dataset(labels, options)?, notices, plan: Vec::new() })
    }

    fn fits(&self, what: &str, count: usize) -> Result<()> {
        let rows = self.features.rows();
        if count == rows {
            Ok(())
        } else {
            Err(Error::data(format!("{count} {what} for {rows} rows of features")).in_file(&self.file))
        }
    }

    /// The targets, from the single labels with their spread or as the file has them, with what their labels are.
    fn labels(&mut self, options: &ReadOptions, notices: &mut Vec<Message>) -> Result<Labels> {
        let given = self.targets.take();
        let from_file = self.label_values.take().filter(|values| {
            let labels = given.as_ref().map(|targets| targets.distributions.cols());
            labels.is_none_or(|labels| labels == values.len()) && check_label_values(values).is_ok()
        });
        let (file, singles) = (&self.file, &self.singles);
        match (given, singles, &options.spread) {
            (_, Some(singles), Some(spread)) => {
                let values = match options.label_values.clone().or(from_file) {
                    Some(values) => values,
                    None => implied_label_values(singles).map_err(|e| e.in_file(file))?,
                };
                let targets = spread_over(file, singles, &values, spread)?;
                Ok(Labels { targets, values: Some(values), names: None, votes: None })
            }
            (Some(Targets { distributions: targets, notice, totals, are_counts }), _, _) => {
                self.fits("rows of labels", targets.rows())?;
                if targets.cols() == 1 {
                    return Err(one_label(file, "labels"));
                }
                let labels = options.votes.as_ref().map_or(file.clone(), |votes| votes.display().to_string());
                notices.extend(notice.map(|notice| message!["{labels}: {notice}"]));
                if let Some(values) = options.label_values.as_ref().filter(|v| v.len() != targets.cols()) {
                    let (found, labels) = (values.len(), targets.cols());
                    let refusal =
                        message![Subject::LabelValues, " gives {found} numbers for {labels} labels"];
                    return Err(Error::usage(refusal));
                }
                let values = options.label_values.clone().or(from_file);
                if let (Some(_), None, Some(column)) = (singles, &values, &options.label_column) {
                    notices.push(message![
                        "{file}: errors of {column} are not computed: the labels have no numeric values; set ",
                        Subject::LabelValues
                    ]);
                }
                Ok(Labels {
                    targets,
                    values,
                    names: self.label_names.take(),
                    votes: are_counts.then_some(totals),
                })
            }
            (None, Some(_), None) => Err(needs_spread(Place::file(file))),
            (None, None, _) => Err(Error::data("there are no labels").in_file(file)),
        }
    }

    /// Joins features and labels, and gives the rows their parts, groups and weights.
    fn dataset(mut self, labels: Labels, options: &ReadOptions) -> Result<Dataset> {
        let (split, groups, weights) = (self.split.take(), self.groups.take(), self.weights.take());
        let counts = [
            ("values of the split", split.as_ref().map(Vec::len)),
            ("groups", groups.as_ref().map(Vec::len)),
            ("sample weights", weights.as_ref().map(Vec::len)),
        ];
        for (what, count) in counts {
            count.map_or(Ok(()), |count| self.fits(what, count))?;
        }
        let FileContents { file, stem, features, singles, .. } = self;
        let Labels { targets, values: label_values, names: label_names, votes } = labels;
        let weights = match options.weight_by_votes {
            None => weights,
            Some(by) => Some(by_votes(by, &targets, votes, weights).map_err(|error| error.in_file(&file))?),
        };
        let inputs = match self.image_names {
            Some(names) => Inputs::Images(Images::named(names)),
            None => Inputs::Table(features),
        };
        let mut dataset = Dataset::new_named(stem, inputs, targets)?;
        let named = |values: &Vec<f64>| values.iter().map(f64::to_string).collect();
        let label_names = label_names
            .or_else(|| label_values.as_ref().map(named))
            .unwrap_or_else(|| dataset.schema().label_names.clone());
        dataset = dataset.with_schema(Schema {
            feature_names: self.feature_names.filter(|_| options.image_column.is_none()),
            label_names,
            label_values,
            single: (singles.is_some() || self.is_of_classes).then(|| SingleLabel {
                column: options.label_column.clone(),
                spread: options.spread.clone(),
                classes: self.is_of_classes,
            }),
            image_column: options.image_column.clone(),
            columns: self.columns.filter(|_| options.image_column.is_none()),
        })?;
        if let Some(singles) = singles {
            dataset = dataset.with_truth(singles)?;
        }
        if let Some(split) = split {
            for (row, part) in split.iter().enumerate() {
                check_part(part).map_err(|e| e.at(Place::file(&file).row(row + 1)))?;
            }
            dataset = dataset.with_split(split)?;
        }
        if let Some(groups) = groups {
            dataset = dataset.with_groups(groups)?;
        }
        if let Some(weights) = weights {
            for (row, &weight) in weights.iter().enumerate() {
                check_weight(weight).map_err(|e| e.at(Place::file(&file).row(row + 1)))?;
            }
            if !weights.iter().any(|&weight| weight as f32 > 0.0) {
                return Err(Error::data("every sample weight is 0").in_file(file));
            }
            dataset = dataset.with_weights(weights.iter().map(|&w| w as f32).collect())?;
        }
        if self.is_filled { Ok(dataset) } else { dataset.refilled() }
    }
}

/// Targets with what their labels are.
struct Labels {
    targets: Matrix<f32>,
    values: Option<Vec<f64>>,
    names: Option<Vec<String>>,
    /// How many votes every row had, where that is known.
    votes: Option<Vec<f64>>,
}

/// One distribution per single label.
fn spread_over(file: &str, singles: &[f64], values: &[f64], spread: &Spread) -> Result<Matrix<f32>> {
    if let [only] = values[..] {
        return Err(Error::usage(format!("{only} is the only label, which is no distribution"))
            .with_remedy(message!["give all labels with ", Subject::LabelValues])
            .in_file(file));
    }
    let mut data = Vec::new();
    for (row, &single) in singles.iter().enumerate() {
        let target = from_single_label(single, values, spread).map_err(|e| match e {
            // What is wrong with the spread is wrong for every row.
            Error::Usage(_) => e.in_file(file).with_note(format!("the labels are {}", named(values))),
            _ => e.at(Place::file(file).row(row + 1)),
        })?;
        data.extend_from_slice(&target);
    }
    Ok(Matrix::new(singles.len(), values.len(), data)?)
}

/// Row weights by the number of votes, times those that rows have already.
fn by_votes(
    by: VoteWeights,
    targets: &Matrix<f32>,
    votes: Option<Vec<f64>>,
    weights: Option<Vec<f64>>,
) -> Result<Vec<f64>> {
    let Some(votes) = votes.filter(|votes| votes.iter().any(|&count| count != 1.0)) else {
        return Err(Error::data(message![
            Subject::WeightByVotes,
            " needs the number of votes of every row, but the labels are shares or single votes"
        ])
        .with_remedy(message![
            "give counts of votes, or a column of weights with ",
            Subject::SampleWeights
        ]));
    };
    let mut by_votes = by.of(targets, &votes)?;
    for (weight, factor) in by_votes.iter_mut().zip(weights.iter().flatten()) {
        *weight *= factor;
    }
    Ok(by_votes)
}

/// A weight that can be used, or the reason why not.
pub(super) fn check_weight(weight: f64) -> Result<f64> {
    if (weight as f32).is_finite() && weight >= 0.0 {
        Ok(weight)
    } else {
        Err(Error::data(format!("the sample weight {weight} is not a finite number of at least 0")))
    }
}

/// The name of a part of a split, or the reason why it is none.
pub(super) fn check_part(part: &str) -> Result<&str> {
    match is_tested(part) {
        Some(_) => Ok(part),
        None => {
            Err(Error::data(format!("{part:?} is no part of a split"))
                .with_remedy("write train, valid or test"))
        }
    }
}

/// A single column of labels is everywhere 1 once normalised.
pub(super) fn one_label(file: &str, name: &str) -> Error {
    let name = shown(name);
    Error::usage("one label column is no distribution")
        .with_remedy(message![
            "for one ordered label use ",
            Subject::LabelColumn,
            " {name} ",
            Subject::Sigma,
            " S"
        ])
        .in_file(file)
}

/// One ordered label per row needs a spread over its neighbours from the user.
pub(super) fn needs_spread(place: Place) -> Error {
    Error::usage(message![
        "one label per row needs ",
        Subject::Sigma,
        ", the spread of the distribution around it"
    ])
    .with_note("0 puts everything on the label itself")
    .at(place)
}

fn all_named(file: &str, role: Subject, names: &[String], columns: usize) -> Result<Vec<String>> {
    if names.len() == columns && !names.iter().any(|name| name.contains('*')) {
        return Ok(names.to_vec());
    }
    let found = names.len();
    Err(Error::usage(message![
        "its columns have no names, so ",
        role,
        " must name all {columns} of them, got {found}"
    ])
    .in_file(file))
}

/// Numbers for equal texts, in order of first appearance.
#[derive(Default)]
pub(super) struct Groups {
    known: HashMap<String, u32>,
    pub numbers: Vec<u32>,
}

impl Groups {
    pub fn push(&mut self, text: &str) {
        let next = self.known.len() as u32;
        let number = match self.known.get(text) {
            Some(&number) => number,
            None => *self.known.entry(text.to_string()).or_insert(next),
        };
        self.numbers.push(number);
    }
}

/// Groups of a vector of numbers.
pub(super) fn groups_of(values: &[f64]) -> Vec<u32> {
    let mut groups = Groups::default();
    values.iter().for_each(|value| groups.push(&value.to_string()));
    groups.numbers
}

/// Labels in few words: all of them, or the first and the last.
fn named(values: &[f64]) -> String {
    match values {
        [first, .., last] if values.len() > 8 => format!("{first} to {last}"),
        _ => values.iter().map(f64::to_string).collect::<Vec<_>>().join(", "),
    }
}
