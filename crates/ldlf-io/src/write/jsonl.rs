//! JSON lines: one object per row, its columns in their order. A missing value is `null`.

use std::io::Write;

use serde_json::{Map, Number, Value};

use super::{BoxedWriter, Column, TableForm, TableWriter};

/// JSON lines.
pub const FORM: TableForm = TableForm { extension: "jsonl", is_text: false, open: |out, _| table(out) };

/// A writer of JSON lines.
pub fn table<'w>(out: impl Write + Send + 'w) -> BoxedWriter<'w> {
    Box::new(Lines { out })
}

struct Lines<W> {
    out: W,
}

impl<W: Write + Send> TableWriter for Lines<W> {
    fn block(&mut self, columns: &[Column<'_>]) -> std::io::Result<()> {
        let rows = columns.first().map_or(0, Column::rows);
        for row in 0..rows {
            let mut line = Map::new();
            for column in columns {
                match column {
                    Column::Matrix(_, names, rows) => {
                        names.iter().zip(rows.row(row)).for_each(|(name, &p)| {
                            line.insert(name.clone(), single(p));
                        })
                    }
                    Column::Numbers(name, numbers) => {
                        line.insert(name.to_string(), number(numbers[row]));
                    }
                    Column::Names(name, names) => {
                        line.insert(name.to_string(), Value::from(names[row].as_str()));
                    }
                    Column::Texts(name, texts) => {
                        line.insert(name.to_string(), Value::from(texts[row].as_str()));
                    }
                    Column::Labels(name, names, labels) => {
                        let label = labels[row].map(|label| names[label].as_str());
                        line.insert(name.to_string(), Value::from(label));
                    }
                }
            }
            serde_json::to_writer(&mut self.out, &line)?;
            self.out.write_all(b"\n")?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> std::io::Result<()> {
        self.out.flush()
    }
}

/// A number, whole ones without a point.
fn number(value: f64) -> Value {
    match Number::from_f64(value) {
        Some(_) if value.fract() == 0.0 && value.abs() < 1e15 => Value::from(value as i64),
        Some(number) => Value::Number(number),
        None => Value::Null,
    }
}

/// A number of single precision with no more digits than it has.
fn single(value: f32) -> Value {
    number(value.to_string().parse().unwrap_or(f64::NAN))
}

#[cfg(test)]
mod tests {
    use ldlf_core::Matrix;

    use super::*;

    #[test]
    fn a_row_is_an_object_and_a_missing_value_null() {
        let names = ["no".to_string(), "yes".to_string()];
        let shares = Matrix::from_rows(&[[0.1, 0.9], [f32::NAN, f32::NAN]]);
        let ids = ["a \"b\"".to_string(), "c".to_string()];
        let columns = [
            Column::Names("id", &ids),
            Column::Matrix("distribution", &names, &shares),
            Column::Numbers("mean", vec![3.0, f64::NAN]),
            Column::Labels("mode", &names, vec![Some(1), None]),
        ];
        let mut out = Vec::new();
        let mut writer = table(&mut out);
        writer.block(&columns).and_then(|()| writer.finish()).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(
            text,
            "{\"id\":\"a \\\"b\\\"\",\"no\":0.1,\"yes\":0.9,\"mean\":3,\"mode\":\"yes\"}\n\
             {\"id\":\"c\",\"no\":null,\"yes\":null,\"mean\":null,\"mode\":null}\n"
        );
    }
}
