//! The JSON of `ldlf reproduce`: a table or figure of the paper, a section for each set and division of its rows.

use ldlf_core::Settings;
use serde::Deserialize;

use super::{Evaluation, LearnerRun};

/// What `reproduce` writes, as far as a report needs it.
#[derive(Deserialize)]
pub(super) struct Experiment {
    experiment: String,
    sections: Vec<ExperimentSection>,
}

#[derive(Deserialize)]
struct ExperimentSection {
    division: String,
    entrants: Vec<String>,
    evaluation: Option<Evaluation>,
}

impl Experiment {
    /// One evaluation per section; the sweeps of a figure (`sldlf, trees 20`) are separated by their parameter.
    pub(super) fn evaluations(self) -> Vec<Evaluation> {
        let mut all = Vec::new();
        for ExperimentSection { division, entrants, evaluation } in self.sections {
            let Some(mut whole) = evaluation else { continue };
            let mut runs = std::mem::take(&mut whole.runs);
            runs.iter_mut().zip(&entrants).for_each(|(run, label)| run.name = label.clone());
            let mut parts: Vec<(Option<String>, Vec<LearnerRun>)> = Vec::new();
            for run in runs {
                let axis = swept(&run.name, &run.learner, &run.parameters);
                match parts.iter_mut().find(|(known, _)| *known == axis) {
                    Some((_, runs)) => runs.push(run),
                    None => parts.push((axis, vec![run])),
                }
            }
            all.extend(parts.into_iter().map(|(_, runs)| Evaluation {
                runs,
                experiment: self.experiment.clone(),
                division: division.clone(),
                ..whole.clone()
            }));
        }
        all
    }
}

/// The parameter that a label such as `sldlf, trees 20` names.
fn swept(label: &str, learner: &str, parameters: &Settings) -> Option<String> {
    let (name, _value) = label.strip_prefix(learner)?.strip_prefix(", ")?.split_once(' ')?;
    parameters.get(name).map(|_| name.to_string())
}
