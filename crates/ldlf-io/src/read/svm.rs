//! Lines of `d1,d2,...,dC index:value index:value ...`: svmlight with a label distribution in place of the class.
//!
//! The labels are shares or vote counts, as many on every line; indices count from 1 and rise; features that are not
//! named are 0; `#` starts a comment. A single number before the features is one ordered label, which needs a spread.
//! For predictions the labels may be absent.
//!
//! ```text
//! # three labels, the second line as votes
//! 0.2,0.3,0.5 1:0.5 7:1
//! 12,0,3 2:1.5
//! ```

use std::io::{BufReader, Read};

use ldlf_core::error::{Message, Place, Subject};
use ldlf_core::targets::TargetRows;
use ldlf_core::{Csr, Error, Features, Result, message};

use super::assemble::{FileContents, needs_spread};
use super::gather::single_precision;
use super::lines::read_line;
use super::{Loaded, ReadOptions, RowStream, Source, empty, read_error, refuse_ignore};
use crate::format::{FileFormat, Reads};
use crate::write;

/// svmlight lines.
pub(crate) const FORMAT: FileFormat = FileFormat {
    reads: Reads::Arrays { read, stream },
    seeks: false,
    open_ended: true,
    tables: &[],
    dataset: Some(write::svm::dataset),
};

/// The largest index. The number of features is the largest that a file names, and a learner keeps some numbers for
/// each: a typo must not exhaust the memory.
const MOST_FEATURES: u32 = 100_000_000;

/// Lines with their numbers; what one holds is kept until the next is read.
struct Lines {
    file: String,
    reader: BufReader<Box<dyn Read + Send>>,
    number: usize,
    text: String,
    labels: Vec<f64>,
    entries: Vec<(u32, f32)>,
}

impl Lines {
    fn open(source: Source) -> Result<Self> {
        let file = source.file.clone();
        let reader = BufReader::new(source.into_reader()?);
        Ok(Lines { file, reader, number: 0, text: String::new(), labels: Vec::new(), entries: Vec::new() })
    }

    fn place(&self) -> Place {
        Place::file(&self.file).line(self.number as u64)
    }

    fn fault(&self, reason: impl Into<Message>) -> Error {
        Error::data(reason).at(self.place())
    }

    /// Reads the next line that holds more than a comment; `false` at the end.
    fn advance(&mut self) -> Result<bool> {
        loop {
            self.text.clear();
            let read = read_line(&mut self.reader, &mut self.text).map_err(|e| read_error(&self.file, e))?;
            if read == 0 {
                return Ok(false);
            }
            self.number += 1;
            let text = std::mem::take(&mut self.text);
            let content = text.split('#').next().unwrap_or_default().trim().trim_start_matches('\u{feff}');
            let parsed = if content.is_empty() { Ok(false) } else { self.parse(content).map(|()| true) };
            self.text = text;
            if parsed? {
                return Ok(true);
            }
        }
    }

    fn parse(&mut self, content: &str) -> Result<()> {
        self.labels.clear();
        self.entries.clear();
        let mut words = content.split_ascii_whitespace().peekable();
        if let Some(first) = words.next_if(|word| !word.contains(':')) {
            for (label, text) in first.split(',').enumerate() {
                let value = text
                    .parse()
                    .map_err(|_| Error::data(format!("{text:?} is not a number")))
                    .map_err(|error| error.at(self.place().label(Some(label + 1))))?;
                self.labels.push(value);
            }
        }
        for word in words {
            let entry = word
                .split_once(':')
                .and_then(|(index, value)| Some((index.parse::<u128>().ok()?, value.parse::<f64>().ok()?)));
            let Some((index, value)) = entry else {
                return Err(self.fault(format!("{word:?} is not index:value")));
            };
            let index =
                u32::try_from(index).ok().filter(|&index| index <= MOST_FEATURES).ok_or_else(|| {
                    self.fault(format!("the index {index} is larger than {MOST_FEATURES}"))
                        .with_remedy("number the features anew")
                })?;
            let previous = self.entries.last().map_or(0, |(column, _)| column + 1);
            if index <= previous {
                return Err(self.fault(format!("the index {index} does not rise (indices start at 1)")));
            }
            let value =
                single_precision(value).map_err(|error| error.at(self.place().feature(index as usize)))?;
            self.entries.push((index - 1, value));
        }
        Ok(())
    }
}

/// Reads distributions, or single labels, with their sparse features.
pub(super) fn read(source: Source, options: &ReadOptions) -> Result<Loaded> {
    refuse_ignore(&source, options)?;
    for (role, name) in [
        (Subject::SampleWeights, &options.sample_weights),
        (Subject::SplitColumn, &options.split_column),
        (Subject::Group, &options.group),
    ] {
        if name.is_some() {
            return Err(
                Error::usage(message!["an svmlight file has no column for ", role]).in_file(&source.file)
            );
        }
    }
    let stem = source.stem.clone();
    let mut lines = Lines::open(source)?;
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    let mut singles = Vec::new();
    let mut targets: Option<TargetRows> = None;
    let mut labels = 0;
    while lines.advance()? {
        if indptr.len() == 1 {
            labels = lines.labels.len();
            match labels {
                0 => return Err(lines.fault("no labels before the features")),
                1 if options.spread.is_none() => return Err(needs_spread(lines.place())),
                1 => {}
                _ => targets = Some(TargetRows::new(labels, options.strict)),
            }
        }
        if lines.labels.len() != labels {
            return Err(
                lines.fault(format!("{} labels where the first row has {labels}", lines.labels.len()))
            );
        }
        match &mut targets {
            Some(targets) => {
                targets.push(&lines.labels, &|label| lines.place().label(label.map(|label| label + 1)))?;
            }
            None if lines.labels[0].is_finite() => singles.push(lines.labels[0]),
            None => return Err(lines.fault(format!("the label {} is not a finite number", lines.labels[0]))),
        }
        indices.extend(lines.entries.iter().map(|(column, _)| *column));
        values.extend(lines.entries.iter().map(|(_, value)| *value));
        indptr.push(indices.len());
    }
    if indptr.len() == 1 {
        return Err(empty(&lines.file));
    }
    let columns = indices.iter().max().map_or(0, |&column| column as usize + 1);
    if columns == 0 {
        return Err(Error::data("no row has a feature").in_file(&lines.file));
    }
    let features = Features::Sparse(Csr::new(columns, indptr, indices, values)?);
    let mut contents = FileContents::new(lines.file, stem, features);
    match targets {
        Some(targets) => contents.targets = Some(targets.finish()?),
        None => contents.singles = Some(singles),
    }
    contents.name_columns(options)?;
    contents.assemble(options)
}

/// Streams the features; labels are passed over.
pub(super) fn stream(source: Source, features: usize) -> Result<Box<dyn RowStream>> {
    super::gather::check_columns(features)?;
    Ok(Box::new(SparseLines { lines: Lines::open(source)?, features }))
}

struct SparseLines {
    lines: Lines,
    features: usize,
}

impl RowStream for SparseLines {
    fn next_block(&mut self, rows: usize) -> Result<Option<Features>> {
        let mut block = Csr::with_columns(self.features);
        while block.rows() < rows.max(1) && self.lines.advance()? {
            let entries = &self.lines.entries;
            if let Some((column, _)) = entries.last().filter(|(column, _)| *column as usize >= self.features)
            {
                let reason =
                    format!("the index {} where the model expects {} features", column + 1, self.features);
                return Err(self.lines.fault(reason));
            }
            block.push_row(entries.iter().copied());
        }
        Ok((block.rows() > 0).then_some(Features::Sparse(block)))
    }

    fn total_rows(&self) -> Option<usize> {
        None
    }
}
