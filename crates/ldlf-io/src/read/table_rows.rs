//! The rows of a table whose columns have names, gathered by the role of each column.

use ldlf_core::Result;
use ldlf_core::targets::TargetRows;

use super::assemble::{FileContents, Groups};
use super::derived::Derived;
use super::gather::RowGatherer;
use super::roles::Roles;
use super::{Loaded, ReadOptions};

/// What has been read of a table so far; roles that no column has stay empty.
pub(super) struct TableRows {
    pub features: RowGatherer,
    derived: Derived,
    pub targets: TargetRows,
    pub singles: Vec<f64>,
    pub weights: Vec<f64>,
    pub split: Vec<String>,
    pub groups: Groups,
    pub images: Vec<String>,
}

impl TableRows {
    pub fn new(header: &[String], roles: &Roles, options: &ReadOptions) -> Self {
        TableRows {
            features: RowGatherer::new(roles.features.len()),
            derived: Derived::new(&roles.features, names(header, &roles.categories)),
            targets: TargetRows::new(roles.labels.len(), options.strict),
            singles: Vec::new(),
            weights: Vec::new(),
            split: Vec::new(),
            groups: Groups::default(),
            images: Vec::new(),
        }
    }

    /// Adds the numbers of a row and its categories, in the order of their columns.
    pub fn push_features<'a>(
        &mut self,
        file: &str,
        row: &mut [f32],
        categories: impl Iterator<Item = &'a str>,
    ) -> Result<()> {
        self.derived.note(row, categories).map_err(|error| error.in_file(file))?;
        self.features.push(row).map_err(|error| error.in_file(file))
    }

    /// Joins what was read.
    pub fn finish(
        self,
        file: &str,
        stem: String,
        header: &[String],
        roles: Roles,
        options: &ReadOptions,
    ) -> Result<Loaded> {
        let (features, feature_names) = self
            .derived
            .finish(self.features.finish(), roles.feature_names)
            .map_err(|error| error.in_file(file))?;
        let mut contents = FileContents::new(file.to_string(), stem, features);
        contents.feature_names = Some(feature_names);
        if !roles.labels.is_empty() {
            contents.targets = Some(self.targets.finish()?);
            contents.label_names = Some(names(header, &roles.labels));
        }
        contents.singles = roles.single.map(|_| self.singles);
        contents.weights = roles.weights.map(|_| self.weights);
        contents.split = roles.split.map(|_| self.split);
        contents.groups = roles.group.map(|_| self.groups.numbers);
        contents.image_names = roles.image.map(|_| self.images);
        contents.assemble(options)
    }
}

fn names(header: &[String], columns: &[usize]) -> Vec<String> {
    columns.iter().map(|&column| header[column].clone()).collect()
}
