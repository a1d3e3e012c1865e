//! The rows of a table whose columns have names, gathered by the role of each column.

use ldlf_core::targets::TargetRows;
use ldlf_core::{Result, Schema};

use super::assemble::{FileContents, Groups};
use super::gather::RowGatherer;
use super::model_columns::ModelColumns;
use super::roles::Roles;
use super::{Loaded, ReadOptions};

/// What has been read of a table so far; roles that no column has stay empty.
pub(super) struct TableRows {
    pub features: RowGatherer,
    pub targets: TargetRows,
    /// The labels of the current row.
    pub label_row: Vec<f64>,
    pub singles: Vec<f64>,
    pub weights: Vec<f64>,
    pub split: Vec<String>,
    pub groups: Groups,
    pub images: Vec<String>,
}

impl TableRows {
    pub fn new(features: usize, roles: &Roles, options: &ReadOptions) -> Self {
        TableRows {
            features: RowGatherer::new(features),
            targets: TargetRows::new(roles.labels.len(), options.strict),
            label_row: Vec::new(),
            singles: Vec::new(),
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
        if !roles.labels.is_empty() {
            contents.targets = Some(self.targets.finish()?);
            contents.label_names = Some(roles.labels.iter().map(|&column| header[column].clone()).collect());
        }
        contents.singles = roles.single.map(|_| self.singles);
        contents.weights = roles.weights.map(|_| self.weights);
        contents.split = roles.split.map(|_| self.split);
        contents.groups = roles.group.map(|_| self.groups.numbers);
        contents.image_names = roles.image.map(|_| self.images);
        contents.assemble(options)
    }
}
