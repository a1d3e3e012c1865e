//! Tables whose columns have names, whatever the file: read for learning in two passes (what do the columns hold, then the rows), and
//! streamed for a model that knows its columns.

use ldlf_core::columns::{Cell, Columns, Encoder, category_of, date_text, is_missing, parse_number};
use ldlf_core::error::{Message, Place, Subject};
use ldlf_core::{Dataset, Error, ErrorKind, Features, Result, Schema, message};

use super::assemble::{check_part, check_weight};
use super::gather::RowGatherer;
use super::long::LongVotes;
use super::model_columns::ModelColumns;
use super::plan::{self, ColumnPlan};
use super::roles::{Roles, find, kept_columns, listed};
use super::table_rows::TableRows;
use super::{BadRow, Loaded, MissingLabels, ReadOptions, RowBlock, RowStream, Tables, Wanted};

/// A table whose columns have names, open before its first row.
pub(crate) trait Table: Send {
    /// What messages call the file.
    fn file(&self) -> &str;

    /// What messages call all of the table, where it is several files.
    fn name(&self) -> &str {
        self.file()
    }

    /// The names of the columns.
    fn header(&self) -> &[String];

    /// Says which columns will be asked for, before the first row is.
    fn choose(&mut self, _columns: &[usize]) -> Result<()> {
        Ok(())
    }

    /// Which columns hold numbers, by their types or their first cells.
    fn numeric(&mut self) -> Result<Vec<bool>>;

    /// Moves to the next row; `false` after the last.
    fn next_row(&mut self) -> Result<bool>;

    /// What stands in a column of the current row.
    fn cell(&self, column: usize) -> Cell<'_>;

    /// What stands in a column of the current row as a text that loses nothing; empty where there is nothing.
    fn kept_text(&self, column: usize) -> String {
        match self.cell(column) {
            Cell::Missing => String::new(),
            Cell::Number(number) if number.is_nan() => String::new(),
            Cell::Number(number) => number.to_string(),
            Cell::Boolean(value) => value.to_string(),
            Cell::Date(seconds) => date_text(seconds),
            Cell::Text(text) => text.to_string(),
        }
    }

    /// Whether nothing but separators stands in the current row of a text, as spreadsheets leave it below a table.
    fn is_blank(&self) -> bool {
        false
    }

    /// Where the current row lies.
    fn place(&self) -> Place;

    /// Passes over so many rows, or all that there are.
    fn skip(&mut self, rows: usize) -> Result<()> {
        for _ in 0..rows {
            if !self.next_row()? {
                break;
            }
        }
        Ok(())
    }

    /// The number of rows, where the file says so beforehand.
    fn total_rows(&self) -> Option<usize> {
        None
    }

    /// What the user should know about how the file was read.
    fn notices(&self) -> Vec<Message> {
        Vec::new()
    }
}

/// The current row of a table, with errors that name the place.
pub(super) struct CurrentRow<'a>(pub &'a dyn Table);

impl CurrentRow<'_> {
    fn place(&self, column: usize) -> Place {
        self.0.place().column(&self.0.header()[column])
    }

    pub fn fault(&self, column: usize, reason: impl Into<Message>) -> Error {
        Error::data(reason).at(self.place(column))
    }

    /// What a column names, in its one spelling (`4` and `4.0` are one); it must not be missing.
    pub fn key(&self, column: usize) -> Result<String> {
        if let Some(long) = self.long_number(column) {
            return Ok(long);
        }
        let key = category_of(self.0.cell(column));
        if is_missing(&key) { Err(self.fault(column, "the value is missing")) } else { Ok(key) }
    }

    /// A whole number of so many digits that a double rounds it, as it stands in the file: an identifier.
    fn long_number(&self, column: usize) -> Option<String> {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let is_long = match self.0.cell(column) {
            Cell::Number(number) => number.abs() >= EXACT,
            Cell::Text(text) => text.len() > 15 && text.parse::<i128>().is_ok(),
            _ => false,
        };
        is_long.then(|| self.0.kept_text(column))
    }

    /// A label; none where it is missing.
    fn label(&self, column: usize) -> Result<Option<f64>> {
        match self.0.cell(column) {
            Cell::Missing => Ok(None),
            Cell::Number(number) if number.is_nan() => Ok(None),
            Cell::Text(text) if is_missing(text) => Ok(None),
            _ => self.number(column).map(Some).map_err(|error| {
                error.or_remedy(message!["correct it, or leave the column out of ", Subject::Labels])
            }),
        }
    }

    fn is_missing(&self, column: usize) -> bool {
        match self.0.cell(column) {
            Cell::Missing => true,
            Cell::Number(number) => number.is_nan(),
            Cell::Text(text) => is_missing(text),
            Cell::Boolean(_) | Cell::Date(_) => false,
        }
    }

    /// The text of a column that must not be empty.
    fn text(&self, column: usize) -> Result<String> {
        match self.0.cell(column) {
            Cell::Text(text) if !text.is_empty() => Ok(text.to_string()),
            Cell::Number(number) if !number.is_nan() => {
                Ok(self.long_number(column).unwrap_or_else(|| number.to_string()))
            }
            Cell::Boolean(value) => Ok(value.to_string()),
            Cell::Date(seconds) => Ok(seconds.to_string()),
            _ => Err(self.fault(column, "the value is missing")),
        }
    }

    fn number(&self, column: usize) -> Result<f64> {
        let number = match self.0.cell(column) {
            Cell::Number(number) => Some(number),
            Cell::Boolean(value) => Some(f64::from(u8::from(value))),
            Cell::Text(text) => match parse_number(text) {
                None if is_missing(text) => Some(f64::NAN),
                None => return Err(self.fault(column, format!("{text:?} is not a number"))),
                number => number,
            },
            Cell::Date(_) => return Err(self.fault(column, "a date is not a number")),
            Cell::Missing => None,
        };
        match number {
            Some(number) if !number.is_nan() => Ok(number),
            _ => Err(self.fault(column, "the value is missing")),
        }
    }

    fn finite(&self, column: usize) -> Result<f64> {
        let number = self.number(column)?;
        if number.is_finite() {
            return Ok(number);
        }
        Err(self.fault(column, format!("{number} is not a finite number")))
    }
}

/// Turns rows of a table into features.
pub(super) struct RowEncoder {
    encoder: Encoder,
    columns: ModelColumns,
    /// A row in the order of the columns, where the features have another.
    scratch: Vec<f32>,
}

impl RowEncoder {
    pub fn new(columns: ModelColumns) -> Self {
        let width = if columns.order.is_some() { columns.columns.width() } else { 0 };
        RowEncoder { encoder: Encoder::new(&columns.columns), columns, scratch: vec![0.0; width] }
    }

    /// The number of features.
    pub fn width(&self) -> usize {
        self.columns.order.as_ref().map_or_else(|| self.columns.columns.width(), Vec::len)
    }

    /// Writes the features of the current row.
    pub fn features_into(&mut self, table: &dyn Table, out: &mut [f32]) -> Result<()> {
        let RowEncoder { encoder, columns: ModelColumns { places, order, .. }, scratch } = self;
        let row = if order.is_some() { &mut scratch[..] } else { &mut *out };
        for (at, &column) in places.iter().enumerate() {
            if let Err(error) = encoder.encode(at, table.cell(column), row) {
                return Err(error.at(CurrentRow(table).place(column)));
            }
        }
        if let Some(order) = &*order {
            out.iter_mut().zip(order).for_each(|(out, &from)| *out = scratch[from]);
        }
        Ok(())
    }

    pub fn notices(&self, file: &str) -> Vec<Message> {
        self.encoder.notices().into_iter().map(|notice| message!["{file}: ", notice]).collect()
    }
}

/// Reads a table with labels; features as a model has them, if one is given, else as the columns themselves say.
pub(super) fn read(tables: &Tables, options: &ReadOptions, model: Option<&Schema>) -> Result<Loaded> {
    let learns = model.is_none() && options.image_column.is_none();
    let mut long = LongVotes::read(tables, options, model.map(|schema| &schema.label_names[..]))?;
    let again = learns || long.is_some();
    let open = |long: &Option<LongVotes>| match (long, &options.long) {
        (Some(long), Some(columns)) => long.rows_of(tables.open_again()?, columns),
        _ if again => tables.open_again(),
        _ => tables.open(),
    };
    let mut table = open(&long)?;
    let (mut notices, mut columns_read) = (Vec::new(), plan::Planned::default());
    let mut roles = Roles::resolve(table.as_ref(), options, model.is_some(), &mut notices)?;
    if let Some(long) = &mut long {
        long.leave_out_differing(table.as_ref(), &mut roles)?;
    }
    let columns = match model {
        Some(schema) if options.image_column.is_none() => {
            let width = schema.columns.as_ref().map_or(0, Columns::width);
            ModelColumns::resolve(
                table.as_mut(),
                schema,
                schema.feature_names.as_ref().map_or(width, Vec::len),
            )?
        }
        _ if learns => {
            columns_read = plan::features(table.as_mut(), &roles, &[])?;
            notices.append(&mut columns_read.notices);
            table = open(&long)?;
            std::mem::take(&mut columns_read.columns)
        }
        _ => ModelColumns::default(),
    };
    let chosen: Vec<usize> =
        columns.places.iter().chain(&roles.labels).copied().chain(roles.others()).collect();
    table.choose(&chosen)?;
    let plan = plan::with_roles(table.header(), &roles, columns_read);
    let mut encoder = RowEncoder::new(columns);
    let mut rows = TableRows::new(encoder.width(), &roles, long.as_ref(), options);
    let mut row = vec![0f32; encoder.width()];
    let (mut without_votes, mut blank) = (0, 0);
    while table.next_row()? {
        if table.is_blank() {
            blank += 1;
            continue;
        }
        match rows.push_labels(table.as_ref(), &roles, long.as_ref(), options.missing_labels)? {
            Labelled::Yes => {}
            Labelled::Skipped => continue,
            Labelled::WithoutVotes => {
                without_votes += 1;
                continue;
            }
        }
        encoder.features_into(table.as_ref(), &mut row)?;
        rows.features.push(&row).map_err(|error| error.in_file(table.file()))?;
        rows.push_others(table.as_ref(), &roles)?;
    }
    let file = table.name().to_string();
    if rows.features.rows() == 0 {
        return Err(match (without_votes, rows.missing_labels) {
            (0, 0) => Error::data("a header but no rows"),
            (0, skipped) => Error::data(format!("a label is missing in all {skipped} rows")),
            (unvoted, _) => Error::data(format!("nobody voted on any of the {unvoted} rows"))
                .with_remedy("name the items in both tables alike"),
        }
        .in_file(&file));
    }
    if let Some(long) = &mut long {
        long.joined(&file, rows.features.rows(), without_votes);
        notices.append(&mut long.notices);
    }
    notices.extend(rows.missing_notice(&file, options.missing_labels));
    match blank {
        0 => {}
        1 => notices.push(message!["{file}: left out 1 empty row"]),
        _ => notices.push(message!["{file}: left out {blank} empty rows"]),
    }
    if long.is_none() || options.votes.is_some() {
        notices.extend(table.notices());
    }
    if model.is_some() {
        notices.extend(encoder.notices(&file));
    }
    let header = table.header().to_vec();
    let are_columns = !roles.labels.is_empty() && model.is_none();
    let mut loaded =
        rows.finish(&file, tables.stem(), &header, roles, encoder.columns, long.as_ref(), model, options)?;
    notices.append(&mut loaded.notices);
    notices.extend(are_columns.then(|| never_given(&file, &loaded.dataset)).flatten());
    loaded.notices = notices;
    loaded.plan = plan;
    Ok(loaded)
}

/// Labels that are 0 in every row, which a learner can only predict as such.
fn never_given(file: &str, data: &Dataset) -> Option<Message> {
    let names = &data.schema().label_names;
    let never: Vec<String> = (0..data.labels())
        .filter(|&label| (0..data.rows()).all(|row| data.targets().row(row)[label] == 0.0))
        .map(|label| names[label].clone())
        .collect();
    let listed = listed(&never);
    match never.len() {
        0 => None,
        1 => Some(message!["{file}: the label {listed} is 0 in every row"]),
        count => Some(message!["{file}: {count} labels are 0 in every row: {listed}"]),
    }
}

/// The plan of a table for learning, without reading more than its columns need.
pub(super) fn plan(tables: &Tables, options: &ReadOptions) -> Result<(Vec<ColumnPlan>, Vec<Message>)> {
    let mut long = LongVotes::read(tables, options, None)?;
    let mut table = match (&long, &options.long) {
        (Some(long), Some(columns)) => long.rows_of(tables.open_again()?, columns)?,
        _ => tables.open()?,
    };
    let mut notices = Vec::new();
    let mut roles = Roles::resolve(table.as_ref(), options, false, &mut notices)?;
    if let Some(long) = &mut long {
        long.leave_out_differing(table.as_ref(), &mut roles)?;
        notices.append(&mut long.notices);
    }
    let labels: Vec<usize> = roles.labels.iter().copied().chain(roles.single).chain(roles.vote).collect();
    let mut planned = match options.image_column {
        Some(_) => plan::Planned::default(),
        None => plan::features(table.as_mut(), &roles, &labels)?,
    };
    notices.append(&mut planned.notices);
    notices.extend(table.notices());
    Ok((plan::with_roles(table.header(), &roles, planned), notices))
}

/// Whether a row has labels.
enum Labelled {
    Yes,
    /// A label is missing, and the user wants such rows left out.
    Skipped,
    /// Nobody voted on it.
    WithoutVotes,
}

impl TableRows {
    /// Adds the labels of the current row, unless it is to be left out.
    fn push_labels(
        &mut self,
        table: &dyn Table,
        roles: &Roles,
        long: Option<&LongVotes>,
        missing: MissingLabels,
    ) -> Result<Labelled> {
        let row = CurrentRow(table);
        if missing == MissingLabels::Skip && roles.single.is_some_and(|column| row.is_missing(column)) {
            self.missing_labels += 1;
            return Ok(Labelled::Skipped);
        }
        if let (Some(long), Some(item)) = (long, roles.item) {
            let Some(votes) = long.of(&row.key(item)?) else { return Ok(Labelled::WithoutVotes) };
            self.targets.push(votes, &|_| table.place())?;
        }
        if roles.labels.is_empty() {
            return Ok(Labelled::Yes);
        }
        self.label_row.clear();
        let mut is_missing = false;
        for &column in &roles.labels {
            let label = row.label(column)?;
            is_missing |= label.is_none();
            if label.is_none() && missing == MissingLabels::Refuse {
                return Err(row.fault(column, "the label is missing").with_remedy(message![
                    "if nobody chose it use ",
                    Subject::MissingLabels,
                    " zero; ",
                    Subject::MissingLabels,
                    " skip leaves such rows out"
                ]));
            }
            self.label_row.push(label.unwrap_or(0.0));
        }
        if is_missing {
            self.missing_labels += 1;
            if missing == MissingLabels::Skip {
                return Ok(Labelled::Skipped);
            }
        }
        self.targets.push(&self.label_row, &|label| match label {
            Some(label) => row.place(roles.labels[label]),
            None => table.place(),
        })?;
        Ok(Labelled::Yes)
    }

    /// What became of rows of which a label was missing.
    fn missing_notice(&self, file: &str, missing: MissingLabels) -> Option<Message> {
        let count = self.missing_labels;
        match missing {
            _ if count == 0 => None,
            MissingLabels::Skip => {
                Some(message!["{file}: left out {count} rows of which a label is missing"])
            }
            _ => Some(message!["{file}: in {count} rows a missing label counts as 0"]),
        }
    }

    /// Adds what the current row says besides its features and labels.
    fn push_others(&mut self, table: &dyn Table, roles: &Roles) -> Result<()> {
        let row = CurrentRow(table);
        if let Some(column) = roles.single {
            self.singles.push(table.cell(column), &|| row.place(column))?;
        }
        if let Some(column) = roles.weights {
            let unweighted = |error: Error| error.or_remedy("a weight of 0 leaves the row out");
            let weight = row.finite(column).map_err(unweighted)?;
            self.weights.push(check_weight(weight).map_err(|error| error.at(row.place(column)))?);
        }
        if let Some(column) = roles.split {
            let unnamed = |error: Error| error.or_remedy("write train, valid or test");
            let part = row.text(column).map_err(unnamed)?;
            check_part(&part).map_err(|error| error.at(row.place(column)))?;
            self.split.push(part);
        }
        if let Some(column) = roles.group {
            let ungrouped = |error: Error| error.or_remedy("give a row that is alone a value of its own");
            self.groups.push(&row.text(column).map_err(ungrouped)?);
        }
        if let Some(column) = roles.image {
            self.images.push(row.text(column)?);
        }
        Ok(())
    }
}

/// Reads one column as text.
pub(super) fn text_column(mut table: Box<dyn Table>, column: &str, role: Subject) -> Result<Vec<String>> {
    let column = find(table.file(), table.header(), column, role)?;
    table.choose(&[column])?;
    let mut texts = Vec::new();
    while table.next_row()? {
        // As where the rows are read.
        if !table.is_blank() {
            texts.push(CurrentRow(table.as_ref()).text(column)?);
        }
    }
    Ok(texts)
}

/// Streams the features that a model reads, with the columns that pass through.
pub(super) fn stream(mut table: Box<dyn Table>, wanted: &Wanted<'_>) -> Result<Box<dyn RowStream>> {
    let columns = ModelColumns::resolve(table.as_mut(), wanted.schema, wanted.features)?;
    let kept = kept_columns(table.file(), table.header(), wanted.keep)?;
    let chosen: Vec<usize> = columns.places.iter().chain(&kept).copied().collect();
    table.choose(&chosen)?;
    let kept_names = kept.iter().map(|&column| table.header()[column].clone()).collect();
    let encoder = RowEncoder::new(columns);
    Ok(Box::new(TableStream { table, encoder, kept, kept_names, tolerant: wanted.tolerant, sparse: None }))
}

struct TableStream {
    table: Box<dyn Table>,
    encoder: RowEncoder,
    /// The columns that pass through.
    kept: Vec<usize>,
    kept_names: Vec<String>,
    tolerant: bool,
    /// The form of all blocks, once the first is known.
    sparse: Option<bool>,
}

impl RowStream for TableStream {
    fn next_block(&mut self, rows: usize) -> Result<Option<Features>> {
        Ok(self.next_rows(rows)?.map(|block| block.features))
    }

    fn next_rows(&mut self, rows: usize) -> Result<Option<RowBlock>> {
        let mut block = RowGatherer::new(self.encoder.width());
        let mut row = vec![0f32; self.encoder.width()];
        let (mut bad, mut kept) = (Vec::new(), vec![Vec::new(); self.kept.len()]);
        while block.rows() + bad.len() < rows.max(1) {
            let read = match self.table.next_row() {
                Ok(false) => break,
                Ok(true) => self.encoder.features_into(self.table.as_ref(), &mut row),
                Err(error) => Err(error),
            };
            match read {
                Ok(()) => block.push(&row).map_err(|error| error.in_file(self.table.file()))?,
                // What is wrong with a row has its number; anything else is wrong with the file.
                Err(error) if self.tolerant && is_of_a_row(&error) => {
                    bad.push(BadRow { row: block.rows() + bad.len(), error });
                }
                Err(error) => return Err(error),
            }
            for (texts, &column) in kept.iter_mut().zip(&self.kept) {
                texts.push(self.table.kept_text(column));
            }
        }
        if block.rows() + bad.len() == 0 {
            return Ok(None);
        }
        Ok(Some(RowBlock { features: block.finish_like(&mut self.sparse), kept, bad }))
    }

    fn kept_names(&self) -> &[String] {
        &self.kept_names
    }

    fn skip(&mut self, rows: usize) -> Result<()> {
        self.table.skip(rows)
    }

    fn total_rows(&self) -> Option<usize> {
        self.table.total_rows()
    }

    fn notices(&self) -> Vec<Message> {
        let mut notices = self.table.notices();
        notices.extend(self.encoder.notices(self.table.name()));
        notices
    }
}

fn is_of_a_row(error: &Error) -> bool {
    error.kind() == ErrorKind::Data
        && error.place().is_some_and(|place| place.row.is_some() || place.line.is_some())
}
