//! The plan of a training: what every column is for and how it is read.

use ldlf::internals::io::read::ColumnPlan;

use crate::printer::{Table, counted};

/// Columns that are shown one by one; further plain ones of a kind are counted.
const SHOWN: usize = 40;

/// Names in a line of the summary.
const NAMED: usize = 8;

/// All columns, one line each. Of a wide table only those are shown that are not plain numbers, and the first of these.
pub fn table(columns: &[ColumnPlan]) -> String {
    let mut table =
        Table::new(["column", "role", "type", "missing", "categories", "note"]).left_columns(3).last_left();
    let (mut shown, mut left) = (0, 0);
    for column in columns {
        let is_plain =
            column.note.is_none() && column.missing.unwrap_or(0) == 0 && column.categories.is_none();
        if columns.len() > SHOWN && is_plain && shown >= SHOWN {
            left += 1;
            continue;
        }
        shown += 1;
        let count = |count: Option<u64>| count.map_or("-".to_string(), |count| count.to_string());
        table.row([
            column.name.clone(),
            column.role.to_string(),
            column.kind.unwrap_or("-").to_string(),
            count(column.missing),
            count(column.categories.map(|count| count as u64)),
            column.note.clone().unwrap_or_default(),
        ]);
    }
    let mut text = table.to_string();
    if left > 0 {
        text += &format!("and {left} more columns without missing values\n");
    }
    text + &summary(columns).into_iter().map(|(name, text)| format!("{name}: {text}\n")).collect::<String>()
}

/// The features, by what they hold, and the columns that are ignored, in a line each.
pub fn summary(columns: &[ColumnPlan]) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    for (kind, name) in
        [("number", "numbers"), ("boolean", "booleans"), ("date", "dates"), ("categories", "categories")]
    {
        let of_kind: Vec<&ColumnPlan> =
            columns.iter().filter(|column| column.role == "feature" && column.kind == Some(kind)).collect();
        if !of_kind.is_empty() {
            lines.push((name, listed(&of_kind)));
        }
    }
    let ignored: Vec<&ColumnPlan> = columns.iter().filter(|column| column.role == "ignored").collect();
    if !ignored.is_empty() {
        lines.push(("ignored", listed(&ignored)));
    }
    lines
}

fn listed(columns: &[&ColumnPlan]) -> String {
    let described =
        |column: &&ColumnPlan| match (column.missing.unwrap_or(0), column.categories, &column.note) {
            (_, None, Some(note)) if column.role == "ignored" => format!("{} ({note})", column.name),
            (0, None, _) => column.name.clone(),
            (0, Some(count), _) => format!("{} ({count})", column.name),
            (missing, None, _) => format!("{} ({missing} missing)", column.name),
            (missing, Some(count), _) => format!("{} ({count}, {missing} missing)", column.name),
        };
    let named = columns.iter().take(NAMED).map(described).collect::<Vec<_>>().join(", ");
    let more = columns.len().saturating_sub(NAMED);
    if more > 0 { format!("{}: {named} and {more} more", counted(columns.len(), "column")) } else { named }
}
