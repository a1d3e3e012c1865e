//! The rows of a table whose columns have names, gathered by the role of each column.

use ldlf_core::error::Subject;
use ldlf_core::targets::{TargetRows, Targets};
use ldlf_core::{Error, Result, Schema, message};

use super::assemble::{FileContents, Groups};
use super::classes::{SingleLabels, Singles};
use super::gather::RowGatherer;
use super::long::LongVotes;
use super::model_columns::ModelColumns;
use super::roles::Roles;
use super::{Loaded, ReadOptions};

/// What has been read of a table so far; roles that no column has stay empty.
pub(super) struct TableRows {
    pub features: RowGatherer,
    pub targets: TargetRows,
    /// The labels of the current row.
    pub label_row: Vec<f64>,
    /// Rows of which a label was missing.
    pub missing_labels: u64,
    pub singles: SingleLabels,
    pub weights: Vec<f64>,
    pub split: Vec<String>,
    pub groups: Groups,
    pub images: Vec<String>,
}

impl TableRows {
    pub fn new(features: usize, roles: &Roles, long: Option<&LongVotes>, options: &ReadOptions) -> Self {
        // Votes are counts, which are always normalised.
        let strict = options.strict && long.is_none();
        TableRows {
            features: RowGatherer::new(features),
            targets: TargetRows::new(long.map_or(roles.labels.len(), |long| long.labels().len()), strict),
            label_row: Vec::new(),
            missing_labels: 0,
            singles: SingleLabels::default(),
            weights: Vec::new(),
            split: Vec::new(),
            groups: Groups::default(),
            images: Vec::new(),
        }
    }

    /// Joins what was read. Rows for a model keep what it is filled with; others are filled with their own means.
    #[allow(clippy::too_many_arguments)]
    pub fn finish(
        self,
        file: &str,
        stem: String,
        header: &[String],
        roles: Roles,
        columns: ModelColumns,
        long: Option<&LongVotes>,
        model: Option<&Schema>,
        options: &ReadOptions,
    ) -> Result<Loaded> {
        let mut contents = FileContents::new(file.to_string(), stem, self.features.finish());
        contents.feature_names = Some(match model.and_then(|schema| schema.feature_names.clone()) {
            Some(names) => names,
            None => columns.columns.feature_names(),
        });
        // Features in the order of an old model are no longer those of columns.
        contents.columns =
            Some(columns.columns).filter(|_| model.is_none_or(|schema| schema.columns.is_some()));
        contents.is_filled = model.is_some();
        if let Some(long) = long {
            let targets = self.targets.finish()?;
            contents.targets = Some(Targets { notice: None, are_counts: true, ..targets });
            contents.label_names = Some(long.labels().to_vec());
            contents.label_values = long.label_values();
        } else if !roles.labels.is_empty() {
            contents.targets = Some(self.targets.finish()?);
            contents.label_names = Some(roles.labels.iter().map(|&column| header[column].clone()).collect());
        }
        if roles.single.is_some() {
            let of_classes = |schema: &&Schema| schema.single.as_ref().is_some_and(|single| single.classes);
            let known = model.filter(of_classes).map(|schema| &schema.label_names[..]);
            match self.singles.finish(file, known, options.spread.is_some())? {
                Singles::Numbers(numbers) => contents.singles = Some(numbers),
                // Classes beside distributions are no targets, and no truth to measure errors by.
                Singles::Classes { .. } if contents.targets.is_some() || options.votes.is_some() => {
                    return Err(Error::usage(message![
                        Subject::LabelColumn,
                        " beside the labels must hold numbers"
                    ])
                    .in_file(file));
                }
                Singles::Classes { targets, names } => {
                    (contents.targets, contents.label_names) = (Some(targets), Some(names));
                    contents.is_of_classes = true;
                }
            }
        }
        contents.weights = roles.weights.map(|_| self.weights);
        contents.split = roles.split.map(|_| self.split);
        contents.groups = roles.group.map(|_| self.groups.numbers);
        contents.image_names = roles.image.map(|_| self.images);
        contents.assemble(options)
    }
}
