//! From predictions to the columns that `--write` asks for.

use ldlf::answers::{entropy, interval, mean, mode, quantile};
use ldlf::{Error, Matrix, Prediction, Result, Schema};

use super::Column;
use crate::args::Answer;

/// The answers to write, checked against what the labels are.
pub struct Answers {
    wanted: Vec<(Answer, Vec<String>)>,
    label_names: Vec<String>,
    label_values: Option<Vec<f64>>,
}

impl Answers {
    /// Refuses answers that need labels which stand for numbers where they do not, and answers asked for twice.
    pub fn new(wanted: &[Answer], schema: &Schema) -> Result<Self> {
        let mut named: Vec<(Answer, Vec<String>)> = Vec::new();
        for &answer in wanted {
            let word = match answer {
                Answer::Mean => Some("mean"),
                Answer::Median => Some("median"),
                Answer::Quantile(_) => Some("quantile"),
                Answer::Interval(_) => Some("interval"),
                Answer::Distribution | Answer::Mode | Answer::Entropy => None,
            };
            if let Some(word) = word
                && schema.label_values.is_none()
            {
                return Err(Error::usage(format!(
                    "--write {word} needs labels that stand for numbers; train with --label-values"
                )));
            }
            if named.iter().any(|(earlier, _)| *earlier == answer) {
                return Err(Error::usage("--write names an answer twice"));
            }
            named.push((answer, heads(answer, &schema.label_names)));
        }
        Ok(Answers {
            wanted: named,
            label_names: schema.label_names.clone(),
            label_values: schema.label_values.clone(),
        })
    }

    /// The columns of a block of predictions.
    pub fn columns<'a>(&'a self, prediction: &'a Prediction) -> Result<Vec<Column<'a>>> {
        let mut columns = Vec::new();
        for (answer, heads) in &self.wanted {
            match prediction {
                Prediction::Distributions(rows) => {
                    columns.extend(self.of_distributions(*answer, heads, rows))
                }
                Prediction::Values(values) => columns.push(point(*answer, heads, values)?),
            }
        }
        Ok(columns)
    }

    fn of_distributions<'a>(
        &'a self,
        answer: Answer,
        heads: &'a [String],
        rows: &'a Matrix<f32>,
    ) -> Vec<Column<'a>> {
        let values = self.label_values.as_deref().unwrap_or_default();
        let each = |head: usize, of: &dyn Fn(&[f32]) -> f64| {
            vec![Column::Numbers(&heads[head], rows.iter_rows().map(of).collect())]
        };
        match answer {
            Answer::Distribution => vec![Column::Matrix("distribution", &self.label_names, rows)],
            Answer::Mode if self.label_values.is_some() => each(0, &|p| values[mode(p)]),
            Answer::Mode => {
                vec![Column::Labels(&heads[0], &self.label_names, rows.iter_rows().map(mode).collect())]
            }
            Answer::Mean => each(0, &|p| mean(p, values)),
            Answer::Median => each(0, &|p| quantile(p, values, 0.5)),
            Answer::Quantile(level) => each(0, &|p| quantile(p, values, level)),
            Answer::Interval(share) => {
                let mut ends = each(0, &|p| interval(p, values, share).0);
                ends.extend(each(1, &|p| interval(p, values, share).1));
                ends
            }
            Answer::Entropy => each(0, &entropy),
        }
    }
}

/// What a model that predicts values alone can say: the value.
fn point<'a>(answer: Answer, heads: &'a [String], values: &[f64]) -> Result<Column<'a>> {
    match answer {
        Answer::Distribution => Ok(Column::Numbers("value", values.to_vec())),
        Answer::Mode | Answer::Mean | Answer::Median => Ok(Column::Numbers(&heads[0], values.to_vec())),
        Answer::Quantile(_) | Answer::Interval(_) | Answer::Entropy => Err(Error::usage(
            "this model predicts values, not distributions; leave quantile, interval and entropy out of --write",
        )),
    }
}

/// The heads of an answer's columns; a label of the same name makes them longer.
fn heads(answer: Answer, label_names: &[String]) -> Vec<String> {
    let heads = match answer {
        Answer::Distribution => return label_names.to_vec(),
        Answer::Mode => vec!["mode".to_string()],
        Answer::Mean => vec!["mean".to_string()],
        Answer::Median => vec!["median".to_string()],
        Answer::Quantile(level) => vec![format!("quantile_{level}")],
        Answer::Interval(share) => vec![format!("interval_{share}_low"), format!("interval_{share}_high")],
        Answer::Entropy => vec!["entropy".to_string()],
    };
    let apart = |head: String| if label_names.contains(&head) { format!("predicted_{head}") } else { head };
    heads.into_iter().map(apart).collect()
}
