//! The virtual shards that one process holds, and what it remembers between questions.

use ldlf_core::parameters::ParameterSet;
use ldlf_core::{Algorithm, Dataset, Error, Result, Seed, Threads};

use super::question::{Question, Setting, Task, Versions};
use super::shard::{SLAB, Shard};
use super::sums::{Sums, add_up, to_bytes};
use crate::algorithm1::Ensemble;
use crate::encoder::Encoder;
use crate::head::Head;
use crate::linear::LinearMap;
use crate::pass::{Aim, Layers, Pass};
use crate::plan::Plan;
use crate::shallow::{Forest, ForestParameters};

/// Virtual shards in this process's memory. Answers questions with sums over their rows.
pub struct Holding {
    shards: Vec<Shard>,
    threads: Threads,
    known: Versions,
    setting: Option<Setting>,
    learner: Option<Learner>,
}

/// The forest as of the last question, with work buffers.
struct Learner {
    plan: Plan,
    encoder: Encoder,
    map: LinearMap,
    head: Head<f32>,
    pass: Pass,
}

impl Holding {
    /// Nothing held yet; `threads` work on every question.
    pub fn new(threads: Threads) -> Self {
        Holding { shards: Vec::new(), threads, known: Versions::default(), setting: None, learner: None }
    }

    /// Takes a virtual shard: its number, the number of its first row among all rows, and the rows.
    pub fn add(&mut self, number: usize, first_row: u64, data: Dataset) -> Result<()> {
        if self.shards.iter().any(|shard| shard.number == number) {
            return Err(Error::usage(format!("virtual shard {number} is held already")));
        }
        self.shards.push(Shard::new(number, first_row, data)?);
        self.shards.sort_by_key(|shard| shard.number);
        self.known = Versions::default();
        Ok(())
    }

    /// Answers the bytes of a question; `None` when it builds on questions that were not heard here, and must be asked anew with
    /// everything.
    pub fn answer(&mut self, question: &[u8]) -> Result<Option<Vec<u8>>> {
        let Question { task, versions, mean, setting, weights, leaves } = Question::from_bytes(question)?;
        if let Some((setting, encoder)) = setting {
            self.begin(setting, encoder)?;
            self.known = Versions { setting: versions.setting, ..Versions::default() };
        }
        if let Some(learner) = &mut self.learner {
            if let Some(weights) = weights {
                copy(&weights, learner.map.weights_mut())?;
                self.known.weights = versions.weights;
            }
            if let Some(leaves) = leaves {
                copy(&leaves, learner.head.leaves_mut())?;
                self.known.leaves = versions.leaves;
            }
        }
        if self.known != versions {
            return Ok(None);
        }
        let nodes = self.sums(&task, mean.as_deref())?;
        Ok(Some(to_bytes(&nodes)))
    }

    /// Takes over a setting; all that was known of an earlier one is forgotten.
    fn begin(&mut self, setting: Setting, encoder: Option<Encoder>) -> Result<()> {
        let seed = Seed::new(setting.seed);
        let parameters = ForestParameters::from_settings(&setting.parameters)?;
        let plan = parameters.plan(Forest::FACTS.name, Ensemble::Joint, setting.features, setting.labels);
        for shard in &mut self.shards {
            check(shard, &setting)?;
            shard.hold_back(setting.held_back, seed);
            shard.leave_out(plan.leave_out, seed);
        }
        self.learner = match encoder {
            None => None,
            Some(encoder) => {
                let (shape, inputs) = (plan.shape, encoder.inputs());
                Some(Learner {
                    map: LinearMap::from_weights(inputs, shape.units, vec![0.0; inputs * shape.units]),
                    head: Head::new(shape, seed)?,
                    pass: Pass::new(&shape, inputs, SLAB),
                    plan,
                    encoder,
                })
            }
        };
        self.setting = Some(setting);
        Ok(())
    }

    fn sums(&mut self, task: &Task, mean: Option<&[f64]>) -> Result<Vec<Sums>> {
        let out_of_turn = || Error::training("a worker was asked for something that it cannot know yet");
        let setting = self.setting.as_ref().ok_or_else(out_of_turn)?;
        let (seed, count, threads) = (Seed::new(setting.seed), setting.shards, &self.threads);
        match task {
            Task::Survey => {
                return Ok(add_up(threads.map(&self.shards, |shard| shard.survey(setting)), count));
            }
            Task::Spread => {
                let mean = mean.filter(|mean| mean.len() == setting.features).ok_or_else(out_of_turn)?;
                return Ok(add_up(threads.map(&self.shards, |shard| shard.spread(mean)), count));
            }
            _ => {}
        }
        let batches = setting.batches.as_ref().ok_or_else(out_of_turn)?;
        if let Task::Sample { columns, rows } = task {
            let sample = |shard: &Shard| shard.sample(columns, *rows, batches, seed);
            return Ok(add_up(threads.map(&self.shards, sample), count));
        }
        let Learner { plan, encoder, map, head, pass } = self.learner.as_mut().ok_or_else(out_of_turn)?;
        let forest = Layers { encoder, map, head };
        let aim = Aim {
            form: plan.loss,
            trees: 0..head.shape().trees,
            scale: 1.0 / batches.size as f64,
            leave_out: None,
        };
        let dropout = plan.dropout as f32;
        let mut nodes = Vec::new();
        for shard in &mut self.shards {
            nodes.push(match *task {
                Task::Step { iteration, given_back } => {
                    shard.step(iteration, given_back, forest, batches, &aim, dropout, seed, pass, threads)
                }
                Task::Leaves { iterations, given_back } => {
                    shard.leaf_statistics(iterations, given_back, forest, batches, seed, threads)
                }
                _ => shard.validate(forest, threads),
            });
            // Gradients are large: added up at once, few of them are in memory.
            nodes = add_up(nodes, count);
        }
        Ok(nodes)
    }
}

/// Refuses rows that are not those of the setting.
fn check(shard: &Shard, setting: &Setting) -> Result<()> {
    let found = (shard.table().features.cols(), shard.data.labels());
    if found != (setting.features, setting.labels) {
        return Err(Error::data(format!(
            "rows {} to {} have {} features and {} labels, the others {} and {}",
            shard.first_row,
            shard.first_row + shard.data.rows() as u64,
            found.0,
            found.1,
            setting.features,
            setting.labels
        )));
    }
    if shard.is_sparse() != setting.sparse {
        return Err(
            Error::data("some rows are sparse and others dense").with_remedy("give all of them alike")
        );
    }
    if shard.number >= setting.shards {
        return Err(Error::usage(format!(
            "virtual shard {} of {} does not exist",
            shard.number, setting.shards
        )));
    }
    Ok(())
}

fn copy(from: &[f32], to: &mut [f32]) -> Result<()> {
    if from.len() != to.len() {
        return Err(Error::training("a worker was sent parameters of another size than its setting's"));
    }
    to.copy_from_slice(from);
    Ok(())
}
