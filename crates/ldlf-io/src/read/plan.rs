//! What every column of a table is for and how it is read, found out in a pass over the table.

use ldlf_core::columns::{Decision, Profile, Wish};
use ldlf_core::error::{Message, Subject, shown};
use ldlf_core::{Error, Result, message};
use serde::Serialize;

use super::model_columns::ModelColumns;
use super::roles::Roles;
use super::table::Table;

/// What a column is for, and how it is read.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnPlan {
    /// Its name.
    pub name: String,
    /// What it is for: feature, label, item, annotator, weight, split, group, image, or ignored.
    pub role: &'static str,
    /// What a feature, or for a plan alone a label, holds: number, boolean, date or categories.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// Its cells without a value, where they were looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<u64>,
    /// Categories with a feature of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub categories: Option<usize>,
    /// Why it is ignored, or what else there is to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl ColumnPlan {
    fn of(name: &str, role: &'static str) -> Self {
        ColumnPlan { name: name.to_string(), role, kind: None, missing: None, categories: None, note: None }
    }
}

/// Categories that a column may well have.
const MOST_EXPECTED: usize = 50;

/// How features are read, with the plan of their columns.
#[derive(Default)]
pub(super) struct Planned {
    pub columns: ModelColumns,
    pub plan: Vec<ColumnPlan>,
    pub notices: Vec<Message>,
    /// What other columns hold, and how many of their cells have no value.
    pub others: Vec<(String, Option<&'static str>, u64)>,
}

/// Looks at all rows of the columns that may be features and decides how they are read; also says what `others` hold.
pub(super) fn features(table: &mut dyn Table, roles: &Roles, others: &[usize]) -> Result<Planned> {
    let columns: Vec<usize> =
        roles.features.iter().map(|(column, _)| *column).chain(others.iter().copied()).collect();
    table.choose(&columns)?;
    let mut profiles = vec![Profile::default(); columns.len()];
    let names: Vec<String> = columns.iter().map(|&column| table.header()[column].clone()).collect();
    let mut rows = 0u64;
    while table.next_row()? {
        if table.is_blank() {
            continue;
        }
        rows += 1;
        for ((profile, &column), name) in profiles.iter_mut().zip(&columns).zip(&names) {
            profile.see(table.cell(column), || table.place().column(name));
        }
    }
    let file = table.name().to_string();
    if rows == 0 {
        return Err(Error::data("a header but no rows").in_file(&file));
    }
    let mut planned = Planned::default();
    for (profile, name) in profiles.iter().zip(&names).skip(roles.features.len()) {
        // What is wrong with a column that is no feature, the rows will tell.
        let kind = profile.decide(name, Wish::Used).ok().and_then(|(_, facts)| facts.kind);
        planned.others.push((name.clone(), kind, profile.missing()));
    }
    let mut left = Vec::new();
    for ((profile, &(column, wish)), name) in profiles.iter().zip(&roles.features).zip(&names) {
        let (decision, facts) = profile.decide(name, wish).map_err(|error| error.in_file(&file))?;
        let mut plan = ColumnPlan { missing: Some(facts.missing), ..ColumnPlan::of(name, "feature") };
        let shown = shown(name);
        if let Some(note) = &facts.note {
            planned.notices.push(message!["{file}: column {shown:?}: {note}"]);
        }
        let present = rows - facts.missing;
        if let (Wish::Categories, Some(count)) = (wish, facts.categories)
            && count > MOST_EXPECTED
            && 2 * count as u64 > present
        {
            let numeric = Subject::Numeric;
            planned.notices.push(message!["{file}: column {shown:?}: {count} categories for {present} values say little; if they are numbers use ", numeric]);
        }
        plan.note = facts.note;
        match decision {
            Decision::Use(used) => {
                (plan.kind, plan.categories) = (facts.kind, facts.categories);
                planned.columns.columns.list.push(used);
                planned.columns.places.push(column);
            }
            Decision::Leave(why) => {
                plan.role = "ignored";
                plan.note = Some(why.reason().to_string());
                left.push(format!("{shown} ({})", why.reason()));
            }
        }
        planned.plan.push(plan);
    }
    if !left.is_empty() {
        let (count, named) = (left.len(), left.iter().take(8).cloned().collect::<Vec<_>>().join(", "));
        let more = if count > 8 { format!(" and {} more", count - 8) } else { String::new() };
        planned.notices.push(message!["{file}: left out {named}{more}"]);
    }
    if planned.columns.columns.list.is_empty() {
        return Err(Error::data("no column is left for the features").in_file(&file));
    }
    planned.columns.columns.check().map_err(|error| error.in_file(&file))?;
    Ok(planned)
}

/// The plan of all columns in the order of the header.
pub(super) fn with_roles(header: &[String], roles: &Roles, planned: Planned) -> Vec<ColumnPlan> {
    let Planned { plan: mut features, others, .. } = planned;
    let role_of = |column: usize| {
        let is = |role: Option<usize>| role == Some(column);
        match column {
            _ if roles.labels.contains(&column) || is(roles.single) || is(roles.vote) => "label",
            _ if is(roles.item) => "item",
            _ if is(roles.annotator) => "annotator",
            _ if is(roles.weights) => "weight",
            _ if is(roles.split) => "split",
            _ if is(roles.group) => "group",
            _ if is(roles.image) => "image",
            _ => "ignored",
        }
    };
    let plan_of = |(column, name): (usize, &String)| {
        let found = features.iter().position(|plan| plan.name == *name);
        match found {
            Some(at) => features.swap_remove(at),
            None => {
                let mut plan = ColumnPlan::of(name, role_of(column));
                if let Some((_, kind, missing)) = others.iter().find(|(other, ..)| other == name) {
                    (plan.kind, plan.missing) = (*kind, Some(*missing));
                }
                plan
            }
        }
    };
    header.iter().enumerate().map(plan_of).collect()
}
