//! What rows are: lines of a table or images. One type for both, in datasets and in models.

use crate::error::{Detail, Subject};
use crate::fingerprint::Fingerprint;
use crate::{Error, Features, Images, Result, message};

/// The inputs of some rows, one per row: what a learner learns from and a model predicts from.
///
/// ```
/// use ldlf_core::{Features, Inputs, Matrix};
/// let inputs = Inputs::from(Features::Dense(Matrix::from_rows(&[[0.5, 1.0]])));
/// assert_eq!((inputs.rows(), inputs.table()?.cols()), (1, 2));
/// assert!(inputs.images().is_err());
/// # Ok::<(), ldlf_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Inputs {
    /// A table of features.
    Table(Features),
    /// One image per row.
    Images(Images),
}

/// Which of the two some inputs are, or a model reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// A table of features.
    Table,
    /// Images.
    Images,
}

/// The error for images where only tables are read.
pub(crate) fn not_a_table(kind: fn(Box<Detail>) -> Error) -> Error {
    Error::data("the rows are images where a table of features is needed")
        .with_remedy(message![
            "give a table, make one of the images with ",
            Subject::ExtractFeatures,
            ", or use a learner on a deep network"
        ])
        .recast(kind)
}

fn not_images() -> Error {
    Error::data("the rows are a table of features where images are needed")
        .with_remedy("give a folder or a zip file of images")
}

impl InputKind {
    /// Refuses other inputs than those wanted. Callers check this before anything is read.
    ///
    /// ```
    /// use ldlf_core::inputs::InputKind;
    /// assert!(InputKind::Table.check(InputKind::Table).is_ok());
    /// assert!(InputKind::Images.check(InputKind::Table).is_err());
    /// ```
    pub fn check(self, given: InputKind) -> Result<()> {
        match (self, given) {
            (InputKind::Table, InputKind::Images) => Err(not_a_table(Error::Data)),
            (InputKind::Images, InputKind::Table) => Err(not_images()),
            _ => Ok(()),
        }
    }
}

impl Inputs {
    /// Whether this is a table or images.
    pub fn kind(&self) -> InputKind {
        match self {
            Inputs::Table(_) => InputKind::Table,
            Inputs::Images(_) => InputKind::Images,
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Inputs::Table(features) => features.rows(),
            Inputs::Images(images) => images.rows(),
        }
    }

    /// The number of features of a row; 0 for images, which have none.
    pub fn cols(&self) -> usize {
        match self {
            Inputs::Table(features) => features.cols(),
            Inputs::Images(_) => 0,
        }
    }

    /// The table of features, for models that read tables.
    pub fn table(&self) -> Result<&Features> {
        match self {
            Inputs::Table(features) => Ok(features),
            Inputs::Images(_) => Err(not_a_table(Error::Data)),
        }
    }

    /// The images, for models that read images.
    pub fn images(&self) -> Result<&Images> {
        match self {
            Inputs::Images(images) => Ok(images),
            Inputs::Table(_) => Err(not_images()),
        }
    }

    /// Sixteen hexadecimal digits that identify these rows in this order.
    ///
    /// ```
    /// use ldlf_core::{Features, Inputs, Matrix};
    /// let one = Inputs::from(Features::Dense(Matrix::from_rows(&[[0.5, 1.0]])));
    /// let other = Inputs::from(Features::Dense(Matrix::from_rows(&[[0.5, 2.0]])));
    /// assert_eq!(one.fingerprint(), one.clone().fingerprint());
    /// assert_ne!(one.fingerprint(), other.fingerprint());
    /// ```
    pub fn fingerprint(&self) -> String {
        let mut hash = Fingerprint::of_shape([self.rows(), self.cols()]);
        self.add_to(&mut hash);
        hash.to_string()
    }

    pub(crate) fn add_to(&self, hash: &mut Fingerprint) {
        match self {
            Inputs::Table(Features::Dense(matrix)) => {
                matrix.as_slice().iter().for_each(|v| hash.add(u64::from(v.to_bits())));
            }
            Inputs::Table(Features::Sparse(matrix)) => {
                let (offsets, columns, values) = matrix.parts();
                offsets.iter().for_each(|&offset| hash.add(offset as u64));
                let cells = columns.iter().zip(values);
                cells.for_each(|(&c, v)| hash.add(u64::from(c) << 32 | u64::from(v.to_bits())));
            }
            // Images count by their names: to read them all would take as long as an epoch.
            Inputs::Images(images) => {
                images.names().for_each(|name| name.bytes().for_each(|byte| hash.add(u64::from(byte))));
            }
        }
    }

    /// A copy of the given rows, in the given order. Images are shared, not copied.
    pub fn select(&self, rows: &[usize]) -> Self {
        match self {
            Inputs::Table(features) => Inputs::Table(features.select(rows)),
            Inputs::Images(images) => Inputs::Images(images.select(rows)),
        }
    }
}

impl AsRef<Inputs> for Inputs {
    fn as_ref(&self) -> &Inputs {
        self
    }
}

impl From<Features> for Inputs {
    fn from(features: Features) -> Self {
        Inputs::Table(features)
    }
}

impl From<Images> for Inputs {
    fn from(images: Images) -> Self {
        Inputs::Images(images)
    }
}
