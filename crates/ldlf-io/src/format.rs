//! The one table of formats: what each is called, and where it says what it can do.
//!
//! A format is a file under `read/` that states itself in a [`FileFormat`], and a line below; what can be written too has a file under
//! `write/`, which the statement names.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use ldlf_core::{Error, Result};

use crate::read::table::Table;
use crate::read::{Loaded, ReadOptions, RowStream, Source};
use crate::write::{TableForm, WriteDataset};

/// Opens a table whose columns have names.
pub(crate) type OpenTable = fn(Source) -> Result<Box<dyn Table>>;

/// How a file is read.
pub(crate) enum Reads {
    /// A table whose columns have names: rows of cells.
    Table(OpenTable),
    /// Arrays of features and labels.
    Arrays {
        /// Reads a whole file.
        read: fn(Source, &ReadOptions) -> Result<Loaded>,
        /// Reads so many features in blocks.
        stream: fn(Source, usize) -> Result<Box<dyn RowStream>>,
    },
}

/// What a format can do.
pub(crate) struct FileFormat {
    /// How it is read.
    pub reads: Reads,
    /// Whether the table of contents stands at the end, so that a pipe will not do.
    pub seeks: bool,
    /// Whether a file does not show the columns after the last that it uses.
    pub open_ended: bool,
    /// How tables of predictions are written, per extension.
    pub tables: &'static [TableForm],
    /// How a dataset is written.
    pub dataset: Option<WriteDataset>,
}

impl FileFormat {
    /// How its tables are opened, where columns have names.
    pub fn open_table(&self) -> Option<OpenTable> {
        match self.reads {
            Reads::Table(open) => Some(open),
            Reads::Arrays { .. } => None,
        }
    }
}

/// Makes [`Format`] of lines `Variant [name, other extensions] "documentation" = statement`, with `if "feature"` where it is optional.
macro_rules! formats {
    ($($variant:ident [$name:literal $(, $other:literal)*] $doc:literal = $file:ident::$statement:ident $(if $feature:tt)?,)*) => {
        /// A file format.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Format {
            $(#[doc = $doc] $variant,)*
        }

        /// The names of all formats, for sentences.
        pub(crate) const FORMATS: &str = {
            let list = concat!($($name, ", ",)*);
            list.split_at(list.len() - ", ".len()).0
        };

        impl Format {
            /// All formats.
            pub const ALL: &'static [Format] = &[$(Format::$variant,)*];

            /// The extensions of its files, the first of which is its name.
            pub fn extensions(self) -> &'static [&'static str] {
                match self {
                    $(Format::$variant => &[$name $(, $other)*],)*
                }
            }

            /// What it can do, or else the feature that this build lacks for it.
            pub(crate) fn statement(self) -> std::result::Result<&'static FileFormat, &'static str> {
                match self {
                    $(
                        $(#[cfg(feature = $feature)])?
                        Format::$variant => Ok(&crate::read::$file::$statement),
                        $(#[cfg(not(feature = $feature))]
                        Format::$variant => Err($feature),)?
                    )*
                }
            }
        }
    };
}

formats! {
    Mat ["mat"] "MATLAB v5 or v7." = mat::FORMAT,
    Csv ["csv"] "Comma-separated values with a header." = csv::CSV,
    Tsv ["tsv"] "Tab-separated values with a header." = csv::TSV,
    Parquet ["parquet"] "Apache Parquet." = parquet::FORMAT if "parquet",
    Arrow ["arrow", "feather", "arrows", "ipc"] "Apache Arrow IPC: a file (Feather version 2 is one) or a stream." = arrow::FORMAT if "parquet",
    JsonLines ["jsonl", "ndjson"] "JSON lines: one object per row." = json_lines::FORMAT,
    Xlsx ["xlsx"] "Excel workbooks." = xlsx::FORMAT if "xlsx",
    Npz ["npz"] "A zip archive of NumPy arrays." = npz::FORMAT,
    Svm ["svm", "svmlight", "libsvm"] "svmlight lines with label distributions." = svm::FORMAT,
}

impl Format {
    /// The format of a path's extension, if it is one.
    ///
    /// ```
    /// use ldlf_io::Format;
    /// assert_eq!(Format::from_path("votes.TSV".as_ref()), Some(Format::Tsv));
    /// assert_eq!(Format::from_path("votes".as_ref()), None);
    /// ```
    pub fn from_path(path: &Path) -> Option<Self> {
        path.extension()?.to_str()?.parse().ok()
    }

    /// The format of a file to read: as [`Format::from_path`], after the extension of a compression (`votes.csv.gz`).
    ///
    /// ```
    /// use ldlf_io::Format;
    /// assert_eq!(Format::of_input("votes.csv.gz".as_ref()), Some(Format::Csv));
    /// ```
    pub fn of_input(path: &Path) -> Option<Self> {
        if Self::is_packed(path) { Self::from_path(&path.with_extension("")) } else { Self::from_path(path) }
    }

    /// Whether the extension is that of a compression which is read.
    pub(crate) fn is_packed(path: &Path) -> bool {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extension
            .is_some_and(|name| ["gz", "zst", "bz2"].iter().any(|known| name.eq_ignore_ascii_case(known)))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.extensions()[0]
    }

    /// Whether its columns have names.
    pub fn names_columns(self) -> bool {
        self.statement().is_ok_and(|format| format.open_table().is_some())
    }

    /// Whether it cannot be read from a pipe.
    pub(crate) fn seeks(self) -> bool {
        self.statement().is_ok_and(|format| format.seeks)
    }

    /// Whether a file does not show the columns after the last that it uses.
    pub(crate) fn is_open_ended(self) -> bool {
        self.statement().is_ok_and(|format| format.open_ended)
    }

    /// The names of the formats whose columns have names, for sentences.
    pub(crate) fn with_names() -> String {
        let named: Vec<&str> =
            Self::ALL.iter().filter(|format| format.names_columns()).map(|format| format.name()).collect();
        named.join(", ")
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let called = text.to_ascii_lowercase();
        let found = Self::ALL.iter().find(|format| format.extensions().contains(&called.as_str()));
        found
            .copied()
            .ok_or_else(|| Error::parameter("format", format!("one of {FORMATS}"), format_args!("{text:?}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_extension_belongs_to_one_format() {
        let mut seen = Vec::new();
        for &format in Format::ALL {
            assert_eq!(format.name().parse::<Format>().unwrap(), format);
            for &extension in format.extensions() {
                assert!(!seen.contains(&extension), "{extension} stands twice");
                assert_eq!(Format::from_path(&Path::new("table").with_extension(extension)), Some(format));
                seen.push(extension);
            }
        }
        assert_eq!(FORMATS, Format::ALL.iter().map(|format| format.name()).collect::<Vec<_>>().join(", "));
    }

    #[test]
    fn what_is_written_can_be_read_back_by_its_extension() {
        for &format in Format::ALL {
            let Ok(statement) = format.statement() else { continue };
            for form in statement.tables {
                assert_eq!(form.extension.parse::<Format>().unwrap(), format);
            }
        }
    }
}
