//! From a file to a dataset, role by role.

use std::path::{Path, PathBuf};

use ldlf_core::targets::Spread;
use ldlf_core::votes::VoteWeights;
use ldlf_core::{Dataset, Result};
use ldlf_io::Format;
use ldlf_io::read::{self as tables, Loaded, LongColumns, ReadOptions};

/// Memory for decoded images that are kept from epoch to epoch, in bytes.
#[cfg(feature = "deep")]
const IMAGE_CACHE: usize = 1 << 30;

/// A table that is about to be read: say what its columns are for, then get the [`dataset`](Reading::dataset).
///
/// Columns without a role are features. Labels are shares or vote counts, or one ordered label per row with a spread.
///
/// ```
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("people.csv");
/// std::fs::write(&path, "height,age\n1.1,6\n1.7,30\n1.4,10\n").unwrap();
/// let data = ldlf::read(&path).label_column("age", 2.0).dataset()?; // a Gaussian of two years around every age
/// assert_eq!((data.rows(), data.labels()), (3, 25)); // the ages 6 to 30
/// # Ok::<(), ldlf::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is read before `dataset` or `load`"]
pub struct Reading {
    path: PathBuf,
    options: ReadOptions,
    #[cfg(feature = "deep")]
    images: Option<PathBuf>,
}

/// Starts to read a table: `.csv`, `.tsv`, `.npz`, `.svm`, `.mat`, and with the feature `parquet` `.parquet` and `.arrow`.
///
/// ```
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("votes.csv");
/// std::fs::write(&path, "x,votes_1,votes_2\n0.5,3,1\n1.5,0,4\n").unwrap();
/// let data = ldlf::read(&path).labels("votes_*").dataset()?;
/// assert_eq!((data.rows(), data.labels()), (2, 2));
/// assert_eq!(data.targets().row(0), [0.75, 0.25]);
/// # Ok::<(), ldlf::Error>(())
/// ```
pub fn read(path: impl AsRef<Path>) -> Reading {
    Reading {
        path: path.as_ref().to_path_buf(),
        options: ReadOptions::default(),
        #[cfg(feature = "deep")]
        images: None,
    }
}

impl Reading {
    /// Label columns: a name, or a pattern such as `votes_*`. May be called several times.
    pub fn labels(mut self, columns: impl Into<String>) -> Self {
        self.options.labels.push(columns.into());
        self
    }

    /// The column of one ordered label per row, such as an age, spread over its neighbours by a Gaussian of this standard deviation.
    pub fn label_column(mut self, column: impl Into<String>, sigma: f64) -> Self {
        self.options.label_column = Some(column.into());
        self.options.spread = Some(Spread::Gaussian { sigma });
        self
    }

    /// The column of one class per row.
    pub fn class_column(mut self, column: impl Into<String>) -> Self {
        self.options.label_column = Some(column.into());
        self
    }

    /// One vote per line: the columns of the item, of who voted and of the label. The items are the rows.
    ///
    /// ```
    /// let folder = tempfile::tempdir().unwrap();
    /// let path = folder.path().join("votes.csv");
    /// std::fs::write(&path, "text,who,says,length\na,Ann,yes,3\na,Bob,no,3\nb,Ann,yes,5\n").unwrap();
    /// let data = ldlf::read(&path).long("text", Some("who"), "says").dataset()?;
    /// assert_eq!(data.schema().label_names, ["no", "yes"]);
    /// assert_eq!((data.targets().row(0), data.targets().row(1)), (&[0.5, 0.5][..], &[0.0, 1.0][..]));
    /// # Ok::<(), ldlf::Error>(())
    /// ```
    pub fn long(
        mut self,
        item: impl Into<String>,
        annotator: Option<&str>,
        label: impl Into<String>,
    ) -> Self {
        let annotator = annotator.map(String::from);
        self.options.long = Some(LongColumns { item: item.into(), annotator, label: label.into() });
        self
    }

    /// Weights rows by their number of votes.
    pub fn weight_by_votes(mut self, by: VoteWeights) -> Self {
        self.options.weight_by_votes = Some(by);
        self
    }

    /// The numbers that the labels stand for, rising.
    pub fn label_values(mut self, values: impl IntoIterator<Item = f64>) -> Self {
        self.options.label_values = Some(values.into_iter().collect());
        self
    }

    /// Feature columns: a name or a pattern. Without any, every column without another role is a feature.
    pub fn features(mut self, columns: impl Into<String>) -> Self {
        self.options.features.push(columns.into());
        self
    }

    /// Feature columns that hold categories: a name or a pattern.
    pub fn categories(mut self, columns: impl Into<String>) -> Self {
        self.options.categories.push(columns.into());
        self
    }

    /// Feature columns that hold numbers, a name or a pattern: texts that are none count as missing.
    pub fn numeric(mut self, columns: impl Into<String>) -> Self {
        self.options.numeric.push(columns.into());
        self
    }

    /// Feature columns that hold dates: a name or a pattern.
    pub fn dates(mut self, columns: impl Into<String>) -> Self {
        self.options.dates.push(columns.into());
        self
    }

    /// Columns to leave out: a name or a pattern.
    pub fn ignore(mut self, columns: impl Into<String>) -> Self {
        self.options.ignore.push(columns.into());
        self
    }

    /// The column with the weight of each row.
    pub fn sample_weights(mut self, column: impl Into<String>) -> Self {
        self.options.sample_weights = Some(column.into());
        self
    }

    /// The column whose equal values belong together, such as a person.
    pub fn group(mut self, column: impl Into<String>) -> Self {
        self.options.group = Some(column.into());
        self
    }

    /// The column that says which rows are `train`, `valid` or `test`.
    pub fn split_column(mut self, column: impl Into<String>) -> Self {
        self.options.split_column = Some(column.into());
        self
    }

    /// The format, if the extension does not say.
    pub fn format(mut self, format: Format) -> Self {
        self.options.format = Some(format);
        self
    }

    /// Makes the rows images: `folder` is a folder or zip file of JPEG and PNG, and `column` names the image of each row by its path
    /// within.
    #[cfg(feature = "deep")]
    pub fn images(mut self, folder: impl AsRef<Path>, column: impl Into<String>) -> Self {
        self.images = Some(folder.as_ref().to_path_buf());
        self.options.image_column = Some(column.into());
        self
    }

    /// Reads the table.
    pub fn dataset(self) -> Result<Dataset> {
        self.load().map(|loaded| loaded.dataset)
    }

    /// Reads the table, and keeps what the user should know about how it was read.
    pub fn load(self) -> Result<Loaded> {
        let loaded = tables::read(&self.path, &self.options)?;
        #[cfg(feature = "deep")]
        if let Some(folder) = &self.images {
            let files = ldlf_deep::images::open(folder, IMAGE_CACHE)?;
            let table = self.path.display().to_string();
            let (dataset, notices) =
                ldlf_deep::images::join(&files, loaded, &table, ldlf_core::images::BadImages::Fail)?;
            return Ok(Loaded { dataset, notices, plan: Vec::new() });
        }
        Ok(loaded)
    }
}
