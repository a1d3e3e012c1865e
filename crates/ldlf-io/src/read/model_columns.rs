//! Which columns of a table a model reads, and how: as it remembers, by the names of its features for models of old versions, and by
//! their number for models without names.

use std::collections::HashMap;

use ldlf_core::columns::{Column, Columns, Encoding, IS_MISSING};
use ldlf_core::{Error, Result, Schema};

use super::roles::{check_header, meant, places};
use super::table::Table;

/// Columns with where they stand in a table.
#[derive(Default)]
pub(super) struct ModelColumns {
    pub columns: Columns,
    /// The position of every column in the header.
    pub places: Vec<usize>,
    /// For every feature its place among those of the columns, where the order is not theirs.
    pub order: Option<Vec<usize>>,
}

impl ModelColumns {
    /// The columns of a table for a model that has such a schema and so many features.
    pub fn resolve(table: &mut dyn Table, schema: &Schema, features: usize) -> Result<Self> {
        check_header(table.file(), table.header())?;
        if let Some(columns) = &schema.columns {
            let known = places(table.header());
            let find = |column: &Column| match known.get(column.name.as_str()) {
                Some(&place) => Ok(place),
                None => Err(needed(table, &column.name)),
            };
            let places = columns.list.iter().map(find).collect::<Result<_>>()?;
            return Ok(ModelColumns { columns: columns.clone(), places, order: None });
        }
        if let Some(names) = &schema.feature_names {
            return by_names(table, names);
        }
        let numeric = table.numeric()?;
        let header = table.header();
        let taken = |column: usize| numeric[column] && !schema.label_names.contains(&header[column]);
        let places: Vec<usize> = (0..header.len()).filter(|&column| taken(column)).collect();
        super::check_feature_count(table.file(), places.len(), features)?;
        let list = places.iter().map(|&column| number(&header[column])).collect();
        Ok(ModelColumns { columns: Columns { list }, places, order: None })
    }
}

fn needed(table: &dyn Table, name: &str) -> Error {
    let meant = meant(name, table.header());
    Error::data(format!("no column {name:?}, which the model needs; {meant}")).in_file(table.file())
}

/// A column of numbers that may not be missing: nothing says what to fill in.
fn number(name: &str) -> Column {
    let mut column = Column::new(name, Encoding::Number { lenient: false }, false);
    column.fill = vec![f64::NAN];
    column
}

/// What a feature of an old model says about a column.
enum Origin<'a> {
    Number(usize),
    Category(usize, &'a str),
    Missing(usize),
}

/// Features named as old versions did: a column, `COLUMN=CATEGORY` or `COLUMN is missing`, where a missing number counted as 0.
fn by_names(table: &dyn Table, names: &[String]) -> Result<ModelColumns> {
    let header = places(table.header());
    let mut origins = Vec::with_capacity(names.len());
    for name in names {
        origins.push(origin_of(name, &header).ok_or_else(|| needed(table, name))?);
    }
    let mut result = ModelColumns::default();
    let mut at: HashMap<usize, usize> = HashMap::new();
    for origin in &origins {
        let (Origin::Number(place) | Origin::Category(place, _) | Origin::Missing(place)) = *origin;
        let index = *at.entry(place).or_insert_with(|| {
            result.columns.list.push(number(&table.header()[place]));
            result.places.push(place);
            result.places.len() - 1
        });
        let column = &mut result.columns.list[index];
        match origin {
            Origin::Number(_) => {}
            Origin::Missing(_) => {
                column.indicator = true;
                column.fill.fill(0.0);
            }
            Origin::Category(_, category) => match &mut column.encoding {
                Encoding::Categories { values, .. } => values.push((*category).to_string()),
                other => {
                    *other = Encoding::Categories { values: vec![(*category).to_string()], rare: false };
                    column.fill.clear();
                }
            },
        }
    }
    let mut starts = vec![0; result.columns.list.len()];
    for index in 1..starts.len() {
        starts[index] = starts[index - 1] + result.columns.list[index - 1].width();
    }
    let place_of = |origin: &Origin<'_>| match *origin {
        Origin::Number(place) => starts[at[&place]],
        Origin::Missing(place) => starts[at[&place]] + result.columns.list[at[&place]].encoding.width(),
        Origin::Category(place, category) => {
            let values = match &result.columns.list[at[&place]].encoding {
                Encoding::Categories { values, .. } => values.as_slice(),
                _ => &[],
            };
            starts[at[&place]] + values.iter().position(|value| value == category).unwrap_or(0)
        }
    };
    let order: Vec<usize> = origins.iter().map(place_of).collect();
    let in_order =
        order.len() == result.columns.width() && order.iter().enumerate().all(|(at, &from)| at == from);
    result.order = (!in_order).then_some(order);
    Ok(result)
}

/// Where a feature comes from, by its name.
fn origin_of<'a>(name: &'a str, places: &HashMap<&str, usize>) -> Option<Origin<'a>> {
    if let Some(&column) = places.get(name) {
        return Some(Origin::Number(column));
    }
    if let Some(&column) = name.strip_suffix(IS_MISSING).and_then(|name| places.get(name)) {
        return Some(Origin::Missing(column));
    }
    name.match_indices('=')
        .find_map(|(at, _)| Some(Origin::Category(*places.get(&name[..at])?, &name[at + 1..])))
}
