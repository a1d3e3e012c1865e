//! Which column of a table is for what.

use std::collections::HashMap;

use ldlf_core::columns::Wish;
use ldlf_core::error::{Message, Place, Subject, nearest, shown};
use ldlf_core::{Error, Result, message};

use super::ReadOptions;
use super::assemble::one_label;
use super::label_order::in_order_of_values;
use super::table::Table;

/// The columns by what they are for, as positions in the header.
pub(super) struct Roles {
    /// Columns that may be features, with what the user wishes of each.
    pub features: Vec<(usize, Wish)>,
    pub labels: Vec<usize>,
    pub single: Option<usize>,
    pub weights: Option<usize>,
    pub split: Option<usize>,
    pub group: Option<usize>,
    pub image: Option<usize>,
    /// The column that names the item of votes in long form.
    pub item: Option<usize>,
    /// The columns of such votes, where they stand in the same table.
    pub annotator: Option<usize>,
    pub vote: Option<usize>,
}

impl Roles {
    /// Gives every column its role, or says which name does not fit. For a model (`known`) the features are no matter.
    pub fn resolve(
        table: &dyn Table,
        options: &ReadOptions,
        known: bool,
        notices: &mut Vec<Message>,
    ) -> Result<Self> {
        let (file, header) = (table.file(), table.header());
        check_header(file, header)?;
        let table = HeaderColumns { file, header, places: places(header) };
        let mut taken: Vec<Option<Subject>> = vec![None; header.len()];
        for name in &options.ignore {
            for column in table.matching(name, Subject::Ignore)? {
                taken[column] = Some(Subject::Ignore);
            }
        }
        let mut one = |name: &Option<String>, role: Subject| -> Result<Option<usize>> {
            let Some(name) = name else { return Ok(None) };
            let column = table.find(name, role)?;
            claim(&mut taken, column, role, name)?;
            Ok(Some(column))
        };
        let single = one(&options.label_column, Subject::LabelColumn)?;
        let weights = one(&options.sample_weights, Subject::SampleWeights)?;
        let split = one(&options.split_column, Subject::SplitColumn)?;
        let group = one(&options.group, Subject::Group)?;
        let image = one(&options.image_column, Subject::ImageColumn)?;
        let long = options.long.as_ref();
        let item = one(&long.map(|long| long.item.clone()), Subject::Long)?;
        let beside = long.filter(|_| options.votes.is_none());
        let annotator = one(&beside.and_then(|long| long.annotator.clone()), Subject::Long)?;
        let vote = one(&beside.map(|long| long.label.clone()), Subject::Long)?;
        let mut labels = table.choose(&options.labels, Subject::Labels, &mut taken)?;
        if let (Some(values), None) = (&options.label_values, long) {
            let is_given = options.labels.iter().all(|name| table.places.contains_key(name.as_str()));
            notices.extend(in_order_of_values(file, header, &mut labels, values, is_given)?);
        }
        if labels.is_empty() && single.is_none() && options.votes.is_none() && long.is_none() {
            let columns = listed(header);
            return Err(Error::usage(message![
                "which columns are the labels? Name them with ",
                Subject::Labels,
                " (a pattern such as \"rating_*\" will do), one label per row with ",
                Subject::LabelColumn,
                ", or one vote per line with ",
                Subject::Long,
                "; the columns are {columns}"
            ])
            .in_file(file));
        }
        if let [only] = labels[..] {
            return Err(one_label(file, &header[only]));
        }
        let sources = [
            (!labels.is_empty(), message![Subject::Labels]),
            (options.votes.is_some() && long.is_none(), message![Subject::Votes]),
            (long.is_some(), message![Subject::Long]),
            (
                single.is_some() && options.spread.is_some(),
                message![Subject::LabelColumn, " with ", Subject::Sigma],
            ),
        ];
        let mut sources = sources.into_iter().filter(|(given, _)| *given).map(|(_, source)| source);
        if let (Some(first), Some(second)) = (sources.next(), sources.next()) {
            return Err(Error::usage(message!["the targets come from ", first, ", or from ", second])
                .with_remedy("leave one of them out"));
        }
        if let (Some(_), [name, ..]) =
            (image, [&options.features[..], &options.categories].concat().as_slice())
        {
            return Err(Error::usage(format!("the rows are images, which have no feature {name:?}"))
                .with_remedy(message!["leave out ", Subject::Features, " and ", Subject::Categories])
                .in_file(file));
        }
        let features = if image.is_some() || known { Vec::new() } else { table.features(options, &taken)? };
        if features.is_empty() && image.is_none() && !known {
            return Err(Error::data("no column is left for the features").in_file(file));
        }
        Ok(Roles { features, labels, single, weights, split, group, image, item, annotator, vote })
    }
}

impl Roles {
    /// The columns of which texts or numbers are read besides features and labels.
    pub fn others(&self) -> impl Iterator<Item = usize> {
        let Roles { single, weights, split, group, image, item, .. } = *self;
        [single, weights, split, group, image, item].into_iter().flatten()
    }
}

/// The column of a name, which `role` gave.
pub(super) fn find(file: &str, header: &[String], name: &str, role: Subject) -> Result<usize> {
    check_header(file, header)?;
    HeaderColumns { file, header, places: places(header) }.find(name, role)
}

/// The columns of a list of names and patterns that pass through, in the list's order, each once.
pub(super) fn kept_columns(file: &str, header: &[String], keep: &[String]) -> Result<Vec<usize>> {
    let table = HeaderColumns { file, header, places: places(header) };
    let mut chosen = Vec::new();
    for name in keep {
        for column in table.matching(name, Subject::Keep)? {
            if !chosen.contains(&column) {
                chosen.push(column);
            }
        }
    }
    Ok(chosen)
}

struct HeaderColumns<'a> {
    file: &'a str,
    header: &'a [String],
    places: HashMap<&'a str, usize>,
}

impl HeaderColumns<'_> {
    /// The columns that may be features: those that are named, or all without another role.
    fn features(&self, options: &ReadOptions, taken: &[Option<Subject>]) -> Result<Vec<(usize, Wish)>> {
        let mut wishes: Vec<(usize, Wish)> = Vec::new();
        let mut wished = taken.to_vec();
        for (names, role, wish) in [
            (&options.categories, Subject::Categories, Wish::Categories),
            (&options.numeric, Subject::Numeric, Wish::Number),
            (&options.dates, Subject::Dates, Wish::Date),
        ] {
            wishes.extend(self.choose(names, role, &mut wished)?.into_iter().map(|column| (column, wish)));
        }
        let wish_of = |column: usize, otherwise| {
            wishes.iter().find(|(wished, _)| *wished == column).map_or(otherwise, |(_, wish)| *wish)
        };
        if options.features.is_empty() {
            let free = (0..self.header.len()).filter(|&column| taken[column].is_none());
            return Ok(free.map(|column| (column, wish_of(column, Wish::Auto))).collect());
        }
        let mut features: Vec<(usize, Wish)> = Vec::new();
        let mut named = taken.to_vec();
        for name in &options.features {
            let exact = self.places.contains_key(name.as_str());
            let otherwise = if exact { Wish::Used } else { Wish::Auto };
            let columns = self.choose(std::slice::from_ref(name), Subject::Features, &mut named)?;
            features.extend(columns.into_iter().map(|column| (column, wish_of(column, otherwise))));
        }
        features.extend(wishes.iter().filter(|(column, _)| named[*column].is_none()).copied());
        Ok(features)
    }

    fn find(&self, name: &str, role: Subject) -> Result<usize> {
        self.places.get(name).copied().ok_or_else(|| self.unknown(name, role))
    }

    fn unknown(&self, name: &str, role: Subject) -> Error {
        let remedy = meant(name, self.header);
        Error::data(message!["no column {name:?} (", role, "); {remedy}"]).in_file(self.file)
    }

    /// The columns that a name or a pattern means, in the header's order. A column really called so goes first.
    fn matching(&self, name: &str, role: Subject) -> Result<Vec<usize>> {
        if let Some(&column) = self.places.get(name) {
            return Ok(vec![column]);
        }
        let columns: Vec<usize> =
            (0..self.header.len()).filter(|&column| fits(name, &self.header[column])).collect();
        if columns.is_empty() { Err(self.unknown(name, role)) } else { Ok(columns) }
    }

    /// The columns of a list of names and patterns, in the list's order. A pattern passes over columns with another role.
    fn choose(&self, names: &[String], role: Subject, taken: &mut [Option<Subject>]) -> Result<Vec<usize>> {
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

fn claim(taken: &mut [Option<Subject>], column: usize, role: Subject, name: &str) -> Result<()> {
    match taken[column].replace(role) {
        None => Ok(()),
        Some(other) if other == role => {
            Err(Error::usage(message!["the column {name:?} is named twice by ", role]))
        }
        Some(other) => {
            Err(Error::usage(message!["the column {name:?} is named by both ", other, " and ", role]))
        }
    }
}

pub(super) fn places(header: &[String]) -> HashMap<&str, usize> {
    header.iter().enumerate().map(|(column, name)| (name.as_str(), column)).collect()
}

pub(super) fn check_header(file: &str, header: &[String]) -> Result<()> {
    if let Some(column) = header.iter().position(String::is_empty) {
        return Err(Error::data(format!("column {} has no name", column + 1))
            .with_note("a saved row index? write the file without it")
            .at(Place::file(file).line(1)));
    }
    let places = places(header);
    if let Some((_, name)) = header.iter().enumerate().find(|(column, name)| places[name.as_str()] != *column)
    {
        return Err(Error::data(format!("the column name {:?} stands twice", shown(name)))
            .with_remedy("rename one of the columns, or leave it out of the file")
            .at(Place::file(file).line(1)));
    }
    Ok(())
}

/// Whether `name` fits a pattern in which `*` stands for any text.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
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

/// Which column was probably meant by a name or a pattern, and which there are.
pub(super) fn meant(name: &str, header: &[String]) -> String {
    let small = name.to_lowercase();
    let in_small = header.iter().find(|known| fits(&small, &known.to_lowercase()));
    // Of numbered columns the neighbour is not meant.
    let letters = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
    let near = in_small.map(String::as_str).or_else(|| {
        let known: Vec<&str> = header.iter().map(String::as_str).collect();
        nearest(name, &known).filter(|near| !name.contains('*') && letters(near) != letters(name))
    });
    let columns = listed(header);
    match near {
        Some(near) => format!("did you mean {:?}? The columns are {columns}", shown(near)),
        None => format!("the columns are {columns}"),
    }
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
