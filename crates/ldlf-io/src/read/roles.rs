//! Which column of a table is for what.

use std::collections::HashMap;

use super::ReadOptions;
use super::assemble::one_label;
use super::derived::{Origin, allow_missing, origin_of};
use ldlf_core::{Error, Result, Schema};

/// The columns by what they are for, as positions in the header.
pub(super) struct Roles {
    pub features: Vec<Origin>,
    pub feature_names: Vec<String>,
    /// Columns of categories, which become features once all are known.
    pub categories: Vec<usize>,
    pub labels: Vec<usize>,
    pub single: Option<usize>,
    pub weights: Option<usize>,
    pub split: Option<usize>,
    pub group: Option<usize>,
    pub image: Option<usize>,
}

impl Roles {
    /// Gives every column of `header` its role, or says which name does not fit.
    pub fn resolve(file: &str, header: &[String], options: &ReadOptions) -> Result<Self> {
        check_header(file, header)?;
        let table = Table { file, header, places: places(header) };
        let mut taken: Vec<Option<&str>> = vec![None; header.len()];
        for name in &options.ignore {
            for column in table.matching(name, "--ignore")? {
                taken[column] = Some("--ignore");
            }
        }
        let mut one = |name: &Option<String>, role: &'static str| -> Result<Option<usize>> {
            let Some(name) = name else { return Ok(None) };
            let column = table.find(name, role)?;
            claim(&mut taken, column, role, name)?;
            Ok(Some(column))
        };
        let single = one(&options.label_column, "--label-column")?;
        let weights = one(&options.sample_weights, "--sample-weights")?;
        let split = one(&options.split_column, "--split-column")?;
        let group = one(&options.group, "--group")?;
        let image = one(&options.image_column, "--image-column")?;
        let labels = table.choose(&options.labels, "--labels", &mut taken)?;
        if labels.is_empty() && single.is_none() && options.votes.is_none() {
            return Err(Error::usage(format!(
                "{file}: which columns are the labels? Name them with --labels (a pattern such as \"rating_*\" \
                 will do), or one ordered label with --label-column; the columns are {}",
                listed(header)
            )));
        }
        if let [only] = labels[..] {
            return Err(one_label(file, &header[only]));
        }
        let sources = [
            (!labels.is_empty(), "--labels"),
            (options.votes.is_some(), "--votes"),
            (single.is_some() && options.spread.is_some(), "--label-column with --sigma"),
        ];
        let sources: Vec<&str> =
            sources.into_iter().filter(|(given, _)| *given).map(|(_, source)| source).collect();
        if let [first, second, ..] = sources[..] {
            return Err(Error::usage(format!(
                "the targets come from {first}, or from {second}; leave one of them out"
            )));
        }
        if let (Some(_), [name, ..]) =
            (image, [&options.features[..], &options.categories].concat().as_slice())
        {
            return Err(Error::usage(format!(
                "{file}: the rows are images, which have no feature {name:?}; leave out --features and --categories"
            )));
        }
        let categories = table.choose(&options.categories, "--categories", &mut taken)?;
        let number = |column| Origin::Number { column, missing: options.missing_values };
        let named = |column: usize| (number(column), header[column].clone());
        let mut chosen: Vec<(Origin, String)> = Vec::new();
        if options.features.is_empty() && image.is_none() {
            chosen.extend((0..header.len()).filter(|&column| taken[column].is_none()).map(named));
        }
        for name in &options.features {
            match origin_of(name, &table.places).filter(|_| !table.places.contains_key(name.as_str())) {
                Some(origin) => chosen.push((origin, name.clone())),
                None => {
                    let columns = table.choose(std::slice::from_ref(name), "--features", &mut taken)?;
                    chosen.extend(columns.into_iter().map(named));
                }
            }
        }
        let (mut features, feature_names): (Vec<Origin>, Vec<String>) = chosen.into_iter().unzip();
        allow_missing(&mut features);
        if features.is_empty() && categories.is_empty() && image.is_none() {
            return Err(Error::data(format!("{file}: no column is left for the features")));
        }
        Ok(Roles { features, feature_names, categories, labels, single, weights, split, group, image })
    }
}

/// The feature columns for a model: by its names, in its order, or else all `numeric` columns that are no label.
pub(super) fn features_of_model(
    file: &str,
    header: &[String],
    schema: &Schema,
    features: usize,
    numeric: impl Fn(usize) -> bool,
) -> Result<Vec<Origin>> {
    check_header(file, header)?;
    let places = places(header);
    let number = |column| Origin::Number { column, missing: false };
    if let Some(names) = &schema.feature_names {
        let mut origins = Vec::with_capacity(names.len());
        for name in names {
            let column = places.get(name.as_str()).copied().map(number);
            origins.push(column.or_else(|| origin_of(name, &places)).ok_or_else(|| {
                Error::data(format!(
                    "{file}: no column {name:?}, which the model needs; the columns are {}",
                    listed(header)
                ))
            })?);
        }
        allow_missing(&mut origins);
        return Ok(origins);
    }
    let origins: Vec<Origin> = (0..header.len())
        .filter(|&column| numeric(column) && !schema.label_names.contains(&header[column]))
        .map(number)
        .collect();
    super::check_feature_count(file, origins.len(), features)?;
    Ok(origins)
}

/// The column of a name, which an option gave.
pub(super) fn find(file: &str, header: &[String], name: &str, role: &str) -> Result<usize> {
    check_header(file, header)?;
    Table { file, header, places: places(header) }.find(name, role)
}

struct Table<'a> {
    file: &'a str,
    header: &'a [String],
    places: HashMap<&'a str, usize>,
}

impl Table<'_> {
    fn find(&self, name: &str, role: &str) -> Result<usize> {
        self.places.get(name).copied().ok_or_else(|| self.unknown(name, role))
    }

    fn unknown(&self, name: &str, role: &str) -> Error {
        Error::data(format!(
            "{}: no column {name:?} ({role}); the columns are {}",
            self.file,
            listed(self.header)
        ))
    }

    /// The columns that a name or a pattern means, in the header's order. A column really called so goes first.
    fn matching(&self, name: &str, role: &str) -> Result<Vec<usize>> {
        if let Some(&column) = self.places.get(name) {
            return Ok(vec![column]);
        }
        let columns: Vec<usize> =
            (0..self.header.len()).filter(|&column| fits(name, &self.header[column])).collect();
        if columns.is_empty() { Err(self.unknown(name, role)) } else { Ok(columns) }
    }

    /// The columns of a list of names and patterns, in the list's order. A pattern passes over columns with another role.
    fn choose<'r>(
        &self,
        names: &[String],
        role: &'r str,
        taken: &mut [Option<&'r str>],
    ) -> Result<Vec<usize>> {
        let mut chosen = Vec::new();
        for name in names {
            let exact = self.places.contains_key(name.as_str());
            for column in self.matching(name, role)? {
                if exact {
                    claim(taken, column, role, name)?;
                } else if taken[column].is_some() {
                    continue;
                } else {
                    taken[column] = Some(role);
                }
                chosen.push(column);
            }
        }
        Ok(chosen)
    }
}

fn claim<'r>(taken: &mut [Option<&'r str>], column: usize, role: &'r str, name: &str) -> Result<()> {
    match taken[column].replace(role) {
        None => Ok(()),
        Some(other) if other == role => {
            Err(Error::usage(format!("the column {name:?} is named twice by {role}")))
        }
        Some(other) => Err(Error::usage(format!("the column {name:?} is named by both {other} and {role}"))),
    }
}

fn places(header: &[String]) -> HashMap<&str, usize> {
    header.iter().enumerate().map(|(column, name)| (name.as_str(), column)).collect()
}

fn check_header(file: &str, header: &[String]) -> Result<()> {
    if let Some(column) = header.iter().position(String::is_empty) {
        return Err(Error::data(format!(
            "{file} line 1: column {} has no name (a saved row index? write the file without it)",
            column + 1
        )));
    }
    let places = places(header);
    if let Some((_, name)) = header.iter().enumerate().find(|(column, name)| places[name.as_str()] != *column)
    {
        return Err(Error::data(format!("{file} line 1: the column name {name:?} stands twice")));
    }
    Ok(())
}

/// Whether `name` fits a pattern in which `*` stands for any text.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(head) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return left.ends_with(part);
        }
        // The earliest place leaves the most for what follows.
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    true
}

/// A name as messages may show it: control characters, which a terminal would obey, as escapes.
pub(super) fn shown(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for character in name.chars() {
        if character.is_control() {
            text.extend(character.escape_default());
        } else {
            text.push(character);
        }
    }
    text
}

/// The first names of a list, for a message.
pub(super) fn listed(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = names.iter().take(SHOWN).map(|name| shown(name)).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name) in [("*", "a"), ("r_*", "r_1"), ("*_r", "a_r"), ("a*b*c", "a1b2b3c"), ("r*", "r")]
        {
            assert!(fits(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("r_*", "s_1"), ("*_r", "a_rs"), ("a*b*c", "acb"), ("ab*b", "ab"), ("r", "rr")]
        {
            assert!(!fits(pattern, name), "{pattern} {name}");
        }
    }
}
