//! JSON lines: one object per line, whose keys are the columns. A key that a line lacks, or `null`, is a missing value.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::io::{BufReader, Read};

use ldlf_core::columns::Cell;
use ldlf_core::error::{Message, Place, Subject};
use ldlf_core::{Error, Result, message};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use super::lines::read_line;
use super::table::Table;
use super::text::{TextEncoding, Utf8};
use super::{Source, empty, read_error};
use crate::format::{FileFormat, Reads};
use crate::write;

/// JSON lines.
pub(crate) const FORMAT: FileFormat = FileFormat {
    reads: Reads::Table(open),
    seeks: false,
    open_ended: false,
    tables: &[write::jsonl::FORM],
    dataset: None,
};

/// Lines at the beginning whose keys are the columns.
const LOOKED_AT: usize = 1000;

/// An object's keys and values in their order.
struct Line(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Line;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object such as {\"age\": 31, \"city\": \"Oslo\"}")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Line, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Line(pairs))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

struct JsonTable {
    file: String,
    reader: BufReader<Box<dyn Read + Send>>,
    encoding: TextEncoding,
    header: Vec<String>,
    places: HashMap<String, usize>,
    /// Which columns are asked for: a list is an error in these.
    chosen: Vec<bool>,
    /// Lines that were read ahead, with their numbers.
    ahead: VecDeque<(u64, Line)>,
    /// Lines read, and the number of the current one.
    read: u64,
    line: u64,
    row: Vec<Value>,
}

fn open(source: Source) -> Result<Box<dyn Table>> {
    let file = source.file.clone();
    let (text, encoding) = Utf8::new(source.into_reader()?);
    let reader: BufReader<Box<dyn Read + Send>> = BufReader::new(Box::new(text));
    let mut table = JsonTable {
        file,
        reader,
        encoding,
        header: Vec::new(),
        places: HashMap::new(),
        chosen: Vec::new(),
        ahead: VecDeque::new(),
        read: 0,
        line: 0,
        row: Vec::new(),
    };
    while table.ahead.len() < LOOKED_AT
        && let Some((number, line)) = table.read_object()?
    {
        for (key, _) in &line.0 {
            if !table.places.contains_key(key) {
                table.places.insert(key.clone(), table.header.len());
                table.header.push(key.clone());
            }
        }
        table.ahead.push_back((number, line));
    }
    if table.ahead.is_empty() { Err(empty(&table.file)) } else { Ok(Box::new(table)) }
}

impl JsonTable {
    /// The next line that is not blank.
    fn read_object(&mut self) -> Result<Option<(u64, Line)>> {
        let mut text = String::new();
        loop {
            text.clear();
            if read_line(&mut self.reader, &mut text).map_err(|e| read_error(&self.file, e))? == 0 {
                return Ok(None);
            }
            self.read += 1;
            let trimmed = text.trim_start_matches('\u{feff}').trim();
            if trimmed.is_empty() {
                continue;
            }
            let place = Place::file(&self.file).line(self.read);
            let line: Line = serde_json::from_str(trimmed).map_err(|error| {
                Error::data(format!("not an object of JSON ({error})"))
                    .with_remedy("write one object per line")
                    .at(place)
            })?;
            return Ok(Some((self.read, line)));
        }
    }
}

impl Table for JsonTable {
    fn file(&self) -> &str {
        &self.file
    }

    fn header(&self) -> &[String] {
        &self.header
    }

    fn choose(&mut self, columns: &[usize]) -> Result<()> {
        self.chosen = vec![false; self.header.len()];
        columns.iter().for_each(|&column| self.chosen[column] = true);
        Ok(())
    }

    fn numeric(&mut self) -> Result<Vec<bool>> {
        let first = self.ahead.front();
        let value = |name: &String| first.and_then(|(_, line)| line.0.iter().find(|(key, _)| key == name));
        let is_number = |name| {
            value(name).is_none_or(|(_, value)| value.is_number() || value.is_null() || value.is_boolean())
        };
        Ok(self.header.iter().map(is_number).collect())
    }

    fn next_row(&mut self) -> Result<bool> {
        let next = match self.ahead.pop_front() {
            Some(next) => Some(next),
            None => self.read_object()?,
        };
        let Some((number, Line(pairs))) = next else { return Ok(false) };
        self.line = number;
        self.row.clear();
        self.row.resize(self.header.len(), Value::Null);
        for (key, value) in pairs {
            let Some(&place) = self.places.get(&key) else {
                return Err(Error::data(format!(
                    "the key {key:?} stands in no line among the first {LOOKED_AT}"
                ))
                .with_remedy("give it in the first line, as null where there is no value")
                .at(self.place()));
            };
            if self.chosen.get(place) == Some(&true) && (value.is_array() || value.is_object()) {
                return Err(Error::data("a list or an object is no value of a table")
                    .with_remedy(message!["leave the column out with ", Subject::Ignore, " {key:?}"])
                    .at(self.place().column(&key)));
            }
            self.row[place] = value;
        }
        Ok(true)
    }

    fn cell(&self, column: usize) -> Cell<'_> {
        match &self.row[column] {
            Value::Bool(value) => Cell::Boolean(*value),
            Value::Number(number) => number.as_f64().map_or(Cell::Missing, Cell::Number),
            Value::String(text) => Cell::Text(text),
            Value::Null | Value::Array(_) | Value::Object(_) => Cell::Missing,
        }
    }

    fn kept_text(&self, column: usize) -> String {
        match &self.row[column] {
            Value::Null | Value::Array(_) | Value::Object(_) => String::new(),
            Value::Bool(value) => value.to_string(),
            Value::String(text) => text.clone(),
            // A double would round the long numbers of identifiers.
            Value::Number(number) if number.is_i64() || number.is_u64() => number.to_string(),
            Value::Number(number) => number.as_f64().map_or_else(String::new, |number| number.to_string()),
        }
    }

    fn place(&self) -> Place {
        Place::file(&self.file).line(self.line)
    }

    fn notices(&self) -> Vec<Message> {
        self.encoding.notice(&self.file).into_iter().collect()
    }
}
