//! One vote per line: who gave which label to which item. The votes on an item become its counts.
//!
//! The votes stand in the table itself, whose other columns then describe the item and are the same on all its lines, or in a table beside
//! one of the items. A first pass collects them; after that, only the first line of every item is a row.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use ldlf_core::columns::{Cell, category_of};
use ldlf_core::error::{Message, Place, Subject, shown};
use ldlf_core::votes::{Votes, annotators};
use ldlf_core::{Error, Matrix, Result, message};

use super::roles::{Roles, check_header, find, listed};
use super::table::{CurrentRow, Table};
use super::{ReadOptions, Tables};

/// The columns of a table with one vote per line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LongColumns {
    /// The column whose equal values are one item, in the table of votes and in that of the items.
    pub item: String,
    /// The column of who voted, where there is one.
    pub annotator: Option<String>,
    /// The column of the label that was given: texts or numbers.
    pub label: String,
}

/// Votes by item.
pub(super) struct LongVotes {
    votes: Votes,
    /// `[items, labels]`.
    counts: Matrix<f64>,
    /// Whether columns of the table of votes differ between the votes of an item; absent where the items have a table of their own.
    differs: Option<Vec<bool>>,
    pub notices: Vec<Message>,
}

/// Refuses options that only votes in long form have.
pub(super) fn check(options: &ReadOptions) -> Result<()> {
    let annotator = options.long.as_ref().and_then(|long| long.annotator.as_ref());
    if options.weigh_annotators && annotator.is_none() {
        return Err(Error::usage(message![
            Subject::WeighAnnotators,
            " needs votes that say who gave them: ",
            Subject::Long,
            " with a column of annotators"
        ]));
    }
    Ok(())
}

/// Reads the votes of a table, whatever else stands in it.
pub(super) fn votes(tables: &Tables, columns: &LongColumns) -> Result<(Votes, Vec<Message>)> {
    let (votes, _, notices) = collect(tables.open()?, columns, Votes::default(), false)?;
    Ok((votes, notices))
}

impl LongVotes {
    /// The votes that the options name, if any; `known` are the labels of a model.
    pub fn read(tables: &Tables, options: &ReadOptions, known: Option<&[String]>) -> Result<Option<Self>> {
        let Some(columns) = &options.long else { return Ok(None) };
        let among = match (known, &options.label_values) {
            (Some(labels), _) => Votes::among(labels),
            (None, Some(values)) => {
                let labels: Vec<String> =
                    values.iter().map(|&value| category_of(Cell::Number(value))).collect();
                Votes::among(&labels)
            }
            (None, None) => Votes::default(),
        };
        let (votes, differs, mut notices) = match &options.votes {
            None => collect(tables.open_again()?, columns, among, true)?,
            Some(path) => collect(beside(path)?.open()?, columns, among, false)?,
        };
        let mut weights = None;
        if options.weigh_annotators {
            let found = annotators::reliability(&votes)?;
            let least = found.annotators.iter().min_by(|a, b| a.reliability.total_cmp(&b.reliability));
            if let Some(least) = least {
                let (name, reliability) = (shown(&least.annotator), least.reliability);
                let count = found.annotators.len();
                notices.push(message![
                    "votes are weighted by the reliability of {count} annotators; the least is {name:?} ({reliability:.2})"
                ]);
            }
            weights = Some(found.weights());
        }
        let mut counts = votes.counts(weights.as_deref());
        if weights.is_some() {
            // Where nobody is reliable, all count alike.
            let plain = votes.counts(None);
            for item in 0..votes.items() {
                if counts.row(item).iter().sum::<f64>() <= 0.0 {
                    counts.row_mut(item).copy_from_slice(plain.row(item));
                }
            }
        }
        Ok(Some(LongVotes { votes, counts, differs, notices }))
    }

    /// The table with one row per item.
    pub fn rows_of(&self, table: Box<dyn Table>, columns: &LongColumns) -> Result<Box<dyn Table>> {
        if self.differs.is_none() {
            return Ok(table);
        }
        let item = find(table.file(), table.header(), &columns.item, Subject::Long)?;
        Ok(Box::new(Items { table, item, seen: HashSet::new() }))
    }

    /// Takes columns that differ between the votes of an item out of the features: they describe the vote.
    pub fn leave_out_differing(&mut self, table: &dyn Table, roles: &mut Roles) -> Result<()> {
        let Some(differs) = &self.differs else { return Ok(()) };
        let names: Vec<String> = roles
            .features
            .iter()
            .filter(|(column, _)| differs[*column])
            .map(|(column, _)| table.header()[*column].clone())
            .collect();
        roles.features.retain(|(column, _)| !differs[*column]);
        if names.is_empty() {
            return Ok(());
        }
        let (file, listed) = (table.file(), listed(&names));
        if roles.features.is_empty() && roles.image.is_none() {
            return Err(Error::data(format!(
                "no column is left for the features: {listed} differ between the votes of an item"
            ))
            .with_remedy(message!["name a table of the items, and the votes with ", Subject::Votes])
            .in_file(file));
        }
        self.notices.push(message!["{file}: left out {listed}: they differ between the votes of an item"]);
        Ok(())
    }

    /// The labels in their order.
    pub fn labels(&self) -> &[String] {
        self.votes.labels()
    }

    /// The numbers that the labels stand for, where they are numbers.
    pub fn label_values(&self) -> Option<Vec<f64>> {
        self.votes.label_values()
    }

    /// The votes of an item for each label; none where nobody voted on it.
    pub fn of(&self, item: &str) -> Option<&[f64]> {
        self.votes.item(item).map(|item| self.counts.row(item))
    }

    /// What users should know about items without votes and votes without items.
    pub fn joined(&mut self, file: &str, rows: usize, without_votes: usize) {
        if without_votes > 0 {
            let all = rows + without_votes;
            self.notices
                .push(message!["{file}: left out {without_votes} of {all} rows, on which nobody voted"]);
        }
        let without_rows = self.votes.items().saturating_sub(rows);
        if without_rows > 0 {
            self.notices.push(message!["{file}: has no row for {without_rows} items that have votes"]);
        }
    }
}

/// The table of votes beside another.
fn beside(path: &Path) -> Result<Tables> {
    match Tables::find(path, None)? {
        Ok(tables) => Ok(tables),
        Err(source) => Err(super::needs_names(&source, Subject::Long)),
    }
}

/// All votes of a table; with `compare`, whether its other columns differ between the votes of an item.
#[allow(clippy::type_complexity)]
fn collect(
    mut table: Box<dyn Table>,
    columns: &LongColumns,
    mut votes: Votes,
    compare: bool,
) -> Result<(Votes, Option<Vec<bool>>, Vec<Message>)> {
    let file = table.name().to_string();
    check_header(&file, table.header())?;
    let column = |name: &str| find(&file, table.header(), name, Subject::Long);
    let (item, label) = (column(&columns.item)?, column(&columns.label)?);
    let annotator = columns.annotator.as_deref().map(column).transpose()?;
    let width = table.header().len();
    let compared: Vec<usize> = match compare {
        true => (0..width).filter(|at| *at != item && *at != label && Some(*at) != annotator).collect(),
        false => Vec::new(),
    };
    let chosen: Vec<usize> = [item, label].into_iter().chain(annotator).chain(compared.clone()).collect();
    table.choose(&chosen)?;
    let (mut first, mut differs, mut unlabelled) = (Vec::new(), vec![false; width], 0u64);
    while table.next_row()? {
        if table.is_blank() {
            continue;
        }
        let row = CurrentRow(table.as_ref());
        let given = category_of(table.cell(label));
        if ldlf_core::columns::is_missing(&given) {
            unlabelled += 1;
            continue;
        }
        let who = annotator.map(|column| row.key(column)).transpose()?;
        let item = row.key(item)?;
        if !votes.add(&item, who.as_deref(), &given) {
            let known = listed(votes.labels());
            return Err(row.fault(label, format!("{:?} is none of the labels {known}", shown(&given))));
        }
        if compare {
            let at = votes.item(&item).unwrap_or_default() * compared.len();
            let codes = compared.iter().map(|&column| code_of(table.cell(column)));
            if at == first.len() {
                first.extend(codes);
            } else {
                for ((code, &before), &column) in codes.zip(&first[at..]).zip(&compared) {
                    differs[column] |= code != before;
                }
            }
        }
    }
    if votes.is_empty() {
        return Err(Error::data("there are no votes").in_file(&file));
    }
    votes.sort_labels();
    if votes.labels().len() < 2 {
        let only = shown(&votes.labels()[0]);
        return Err(
            Error::data(format!("all votes are for {only:?}, which is no distribution")).in_file(&file)
        );
    }
    let mut notices = vec![described(&file, &votes)];
    if unlabelled > 0 {
        notices.push(message!["{file}: {unlabelled} lines without a label are no votes"]);
    }
    let repeated = votes.repeated();
    if repeated > 0 {
        notices.push(message![
            "{file}: {repeated} votes are a further one of the same annotator on the same item; all count"
        ]);
    }
    notices.extend(table.notices());
    Ok((votes, compare.then_some(differs), notices))
}

fn described(file: &str, votes: &Votes) -> Message {
    let (count, items, labels) = (votes.len(), votes.items(), votes.labels().len());
    let by = match votes.annotators().len() {
        0 => String::new(),
        annotators => format!(" by {annotators} annotators"),
    };
    message!["{file}: {count} votes{by} on {items} items, {labels} labels"]
}

/// A number for what stands in a cell.
fn code_of(cell: Cell<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    category_of(cell).hash(&mut hasher);
    hasher.finish()
}

/// The first line of every item.
struct Items {
    table: Box<dyn Table>,
    item: usize,
    seen: HashSet<String>,
}

impl Table for Items {
    fn file(&self) -> &str {
        self.table.file()
    }

    fn name(&self) -> &str {
        self.table.name()
    }

    fn header(&self) -> &[String] {
        self.table.header()
    }

    fn choose(&mut self, columns: &[usize]) -> Result<()> {
        let mut columns = columns.to_vec();
        if !columns.contains(&self.item) {
            columns.push(self.item);
        }
        self.table.choose(&columns)
    }

    fn numeric(&mut self) -> Result<Vec<bool>> {
        self.table.numeric()
    }

    fn next_row(&mut self) -> Result<bool> {
        while self.table.next_row()? {
            if self.table.is_blank() {
                continue;
            }
            if self.seen.insert(CurrentRow(self.table.as_ref()).key(self.item)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        self.table.cell(column)
    }

    fn kept_text(&self, column: usize) -> String {
        self.table.kept_text(column)
    }

    fn place(&self) -> Place {
        self.table.place()
    }

    fn notices(&self) -> Vec<Message> {
        self.table.notices()
    }
}
