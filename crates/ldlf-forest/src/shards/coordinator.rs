//! Algorithm 1 without rows: the coordinator asks for sums over all rows and moves the parameters by them.

use ldlf_core::early_stopping::HeldOutKl;
use ldlf_core::parameters::ParameterSet;
use ldlf_core::{
    Algorithm, Auto, Dataset, Error, Features, FitEvent, Inputs, Provenance, Result, Schema, Seed, Settings,
    StopReason, Threads, TrainedModel,
};

use super::order::Batches;
use super::question::{Question, Setting, Task, Versions};
use super::sums::{Sums, from_bytes, total};
use crate::algorithm1::{Algorithm1, Ensemble, Stage};
use crate::bins::Bins;
use crate::columns::{Columns, numeric_columns};
use crate::encoder::{Encoder, Scaling};
use crate::head::Head;
use crate::lazy_optimizer::LazyOptimizer;
use crate::leaves::LeafPrior;
use crate::linear::LinearMap;
use crate::plan::{Encoding, Init, LeafRows, MANY_ROWS, Plan};
use crate::shallow::{Forest, ForestParameters};
use crate::shallow_forest::ShallowForest;
use crate::tree_shape::check_memory;

/// What is known of the rows before any is looked at.
#[derive(Clone, Debug)]
pub struct Table {
    /// Rows of all shards.
    pub rows: usize,
    /// Columns of features.
    pub features: usize,
    /// Whether features are sparse.
    pub sparse: bool,
    /// The number of virtual shards; part of the result, as a seed is.
    pub shards: usize,
    /// What the columns are called.
    pub schema: Schema,
}

impl Table {
    /// The table of a dataset that is to be cut into so many virtual shards.
    pub fn of(data: &Dataset, shards: usize) -> Self {
        Table {
            rows: data.rows(),
            features: data.inputs().cols(),
            sparse: matches!(data.inputs(), Inputs::Table(Features::Sparse(_))),
            shards,
            schema: data.schema().clone(),
        }
    }
}

/// What must be known before the first step.
#[derive(Clone, Debug, PartialEq)]
enum Preparation {
    Survey,
    Spread,
    Sample(Vec<u32>),
    /// Known, or given up.
    Over,
}

/// The forest while it learns.
struct Learning {
    order: Algorithm1,
    forest: ShallowForest,
    optimiser: LazyOptimizer,
    /// Iterations of the present leaf update that are behind us.
    leaf_iterations: usize,
    /// Weights and leaves.
    best: Option<(Vec<f32>, Vec<f32>)>,
}

/// Values of the sample that quantiles are found in; the rows follow from the number of columns.
const SAMPLE_VALUES: usize = 1 << 22;
const SAMPLE_ROWS: usize = 1 << 16;

/// Holds the parameters and the state of the optimiser, asks one question at a time and moves when all of it is answered.
pub struct Coordinator {
    plan: Plan,
    table: Table,
    setting: Setting,
    threads: Threads,
    preparation: Preparation,
    /// Of the parameters, and what everybody has heard of them.
    versions: Versions,
    heard: Versions,
    columns: Columns,
    /// Training rows of all shards, known since the survey.
    rows: usize,
    prior: LeafPrior,
    validates: bool,
    learning: Option<Learning>,
}

impl Coordinator {
    /// A training of `sldlf` with these settings on a table; `threads` take the steps. Settings are taken as they are: to choose among
    /// them, rows would have to be in one place.
    pub fn new(settings: &Settings, table: Table, seed: u64, threads: Threads) -> Result<Self> {
        let parameters = ForestParameters { choose: false, ..ForestParameters::from_settings(settings)? };
        Forest::check(&parameters)?;
        if parameters.init == Auto::Given(Init::Greedy) {
            return Err(Error::usage("init=greedy grows trees on all rows in one place")
                .with_remedy("use init=random here"));
        }
        if parameters.scaling == Auto::Given(Scaling::Relevance) {
            return Err(Error::usage("scaling=relevance weighs columns by all rows in one place")
                .with_remedy("use scaling=ranks here"));
        }
        if table.shards == 0 {
            return Err(Error::parameter("virtual_shards", "at least 1", 0));
        }
        if table.rows == 0 {
            return Err(Error::data("there are no rows to learn from"));
        }
        let labels = table.schema.label_names.len();
        let plan = parameters.plan(Forest::FACTS.name, Ensemble::Joint, table.features, labels);
        plan.shape.check()?;
        let sizes = [("features", table.features), ("units", plan.shape.units)];
        check_memory("the weights and the optimiser's state", &sizes, 4 * size_of::<f32>())?;
        let setting = Setting {
            seed,
            shards: table.shards,
            held_back: plan
                .held_out
                .filter(|share| plan.leave_out.is_none() && (table.rows as f64 * share).round() >= 1.0),
            features: table.features,
            labels,
            sparse: table.sparse,
            parameters: plan.settings.clone(),
            batches: None,
        };
        let nothing = Vec::new;
        Ok(Coordinator {
            prior: LeafPrior { strength: plan.leaves.prior, base: vec![0.0; labels] },
            columns: Columns {
                weight: 0.0,
                sparse: table.sparse,
                mean: nothing(),
                squares: nothing(),
                stored: nothing(),
            },
            plan,
            table,
            setting,
            threads,
            preparation: Preparation::Survey,
            versions: Versions { setting: 1, ..Versions::default() },
            heard: Versions::default(),
            rows: 0,
            validates: false,
            learning: None,
        })
    }

    /// The question for everybody who heard the last one; `None` when the training is over. Asking does not change anything.
    pub fn question(&self) -> Result<Option<Vec<u8>>> {
        self.ask(self.heard)
    }

    /// The same question with all that came before, for a worker that has heard nothing.
    pub fn question_for_newcomer(&self) -> Result<Option<Vec<u8>>> {
        self.ask(Versions::default())
    }

    fn ask(&self, heard: Versions) -> Result<Option<Vec<u8>>> {
        let Some(task) = self.task() else { return Ok(None) };
        let now = self.versions;
        let news = now.setting > heard.setting;
        let forest = self.learning.as_ref().map(|learning| &learning.forest);
        let question = Question {
            mean: (task == Task::Spread).then(|| self.columns.mean.clone()),
            task,
            versions: now,
            setting: news.then(|| (self.setting.clone(), forest.map(|forest| forest.encoder.clone()))),
            weights: forest
                .filter(|_| news || now.weights > heard.weights)
                .map(|forest| forest.map.weights().to_vec()),
            leaves: forest
                .filter(|_| news || now.leaves > heard.leaves)
                .map(|forest| forest.head.leaves().to_vec()),
        };
        question.to_bytes().map(Some)
    }

    fn task(&self) -> Option<Task> {
        Some(match (&self.preparation, &self.learning) {
            (Preparation::Survey, _) => Task::Survey,
            (Preparation::Spread, _) => Task::Spread,
            (Preparation::Sample(columns), _) => {
                Task::Sample { columns: columns.clone(), rows: self.sample_rows(columns.len()) }
            }
            (Preparation::Over, None) => return None,
            (Preparation::Over, Some(Learning { order, .. })) => match order.next() {
                Stage::Step => Task::Step {
                    iteration: order.iteration(),
                    given_back: self.are_given_back(order.iteration()),
                },
                Stage::Leaves => Task::Leaves {
                    iterations: self.leaf_iterations(order.iteration()),
                    given_back: self.are_given_back(order.iteration().saturating_sub(1)),
                },
                Stage::Validate => Task::Validate,
                Stage::Report | Stage::Done => return None,
            },
        })
    }

    /// Whether every tree learns from all rows in an iteration; early stopping measures left-out rows to the end.
    fn are_given_back(&self, iteration: usize) -> bool {
        let total = self.plan.total_iterations(self.batches().all_rows());
        let plan = self.plan.leave_out.filter(|_| self.plan.held_out.is_none());
        plan.is_some_and(|plan| iteration >= plan.given_back_at(total))
    }

    /// Takes the answers to the last question, in any order, and moves on. Gives what is worth telling.
    ///
    /// When answers are missing nothing changes.
    pub fn hear(&mut self, answers: &[impl AsRef<[u8]>]) -> Result<Vec<FitEvent>> {
        let mut nodes = Vec::new();
        for answer in answers {
            nodes.extend(from_bytes(answer.as_ref())?);
        }
        let sums = total(nodes, self.table.shards)?;
        let task = self.task();
        if (sums.doubles.len(), sums.singles.len()) != self.expected(task.as_ref()) {
            return Err(Error::training("the workers' answers do not have the size that was asked for"));
        }
        self.heard = self.versions;
        let mut events = Vec::new();
        match task {
            Some(Task::Survey) => self.surveyed(sums)?,
            Some(Task::Spread) => self.spread_known(sums)?,
            Some(Task::Sample { columns, rows }) => {
                let values = sums.singles.chunks_exact(rows.max(1));
                let values = values.map(|values| values.iter().map(|&value| (value, 1.0)).collect());
                let Encoding { scaling, clip, bins, bias } = self.plan.encoding;
                match scaling == Scaling::Ranks && !self.table.sparse {
                    true => self.begin_with(Encoder::from_values(values, clip, bias))?,
                    false => self.begin(Bins::fit(columns, values.collect(), bins))?,
                }
            }
            Some(Task::Step { iteration, .. }) => events.push(self.step(iteration, sums)?),
            Some(Task::Leaves { .. }) => events.extend(self.move_leaves(&sums.doubles)),
            Some(Task::Validate) => events.push(self.validated(&sums.doubles)),
            None => {}
        }
        Ok(events)
    }

    /// How many numbers of either kind a question asks for.
    fn expected(&self, task: Option<&Task>) -> (usize, usize) {
        let forest = self.learning.as_ref().map(|learning| &learning.forest);
        match task {
            Some(Task::Survey) => (self.table.shards + 1 + self.setting.labels + self.table.features, 0),
            Some(Task::Spread) => (2 * self.table.features, 0),
            Some(Task::Sample { columns, rows }) => (0, columns.len() * rows),
            Some(Task::Step { .. }) => (2, forest.map_or(0, |forest| forest.map.weights().len())),
            Some(Task::Leaves { .. }) => (forest.map_or(0, |forest| forest.head.leaves().len()), 0),
            Some(Task::Validate) => (2, 0),
            None => (0, 0),
        }
    }

    fn sample_rows(&self, columns: usize) -> usize {
        self.rows.min(SAMPLE_VALUES / columns.max(1)).clamp(1, SAMPLE_ROWS)
    }

    fn surveyed(&mut self, sums: Sums) -> Result<()> {
        let (counts, rest) = sums.doubles.split_at(self.table.shards);
        let (targets, columns) = rest.split_at(1 + self.setting.labels);
        let rows: Vec<usize> = counts.iter().map(|&count| count as usize).collect();
        let all: usize = rows.iter().sum();
        self.versions.setting += 1;
        if all == 0 {
            // So few rows that chance held all of them back: learn from all, as where there are too few to hold any back.
            self.setting.held_back = None;
            return Ok(());
        }
        self.validates =
            all < self.table.rows || self.plan.leave_out.is_some() && self.plan.held_out.is_some();
        let weight = if targets[0] > 0.0 { targets[0] } else { 1.0 };
        self.prior.base = targets[1..].iter().map(|sum| sum / weight).collect();
        self.rows = all;
        self.columns.weight = targets[0];
        self.columns.mean = columns.iter().map(|sum| sum / weight).collect();
        self.setting.batches = Some(Batches::new(rows, self.plan.batch_size));
        match self.plan.encoding.scaling {
            Scaling::Raw => self.begin_with(Encoder::raw(self.table.features, self.plan.encoding.bias)),
            Scaling::Ranks if !self.table.sparse => {
                self.preparation = Preparation::Sample((0..self.table.features as u32).collect());
                Ok(())
            }
            Scaling::Standard | Scaling::Common | Scaling::Ranks | Scaling::Relevance => {
                self.preparation = Preparation::Spread;
                Ok(())
            }
        }
    }

    fn spread_known(&mut self, sums: Sums) -> Result<()> {
        let (squares, stored) = sums.doubles.split_at(self.table.features);
        (self.columns.squares, self.columns.stored) = (squares.to_vec(), stored.to_vec());
        let numeric = numeric_columns(stored, self.columns.weight);
        if self.table.sparse && self.plan.encoding.bins > 0 && !numeric.is_empty() {
            self.preparation = Preparation::Sample(numeric);
            return Ok(());
        }
        self.begin(Bins::none(self.plan.encoding.bins))
    }

    fn begin(&mut self, bins: Bins) -> Result<()> {
        let nothing = Vec::new;
        let empty = Columns {
            weight: self.columns.weight,
            sparse: self.columns.sparse,
            mean: nothing(),
            squares: nothing(),
            stored: nothing(),
        };
        let columns = std::mem::replace(&mut self.columns, empty);
        let Encoding { scaling, clip, bias, .. } = self.plan.encoding;
        self.begin_with(Encoder::from_columns(columns, scaling, clip, bins, bias))
    }

    /// The first weights and leaves, as in one process.
    fn begin_with(&mut self, encoder: Encoder) -> Result<()> {
        let (shape, seed) = (self.plan.shape, Seed::new(self.setting.seed));
        let head = Head::new(shape, seed)?;
        let features = encoder.inputs() - usize::from(encoder.bias());
        let map = LinearMap::new(features, encoder.bias(), shape.units, seed);
        let total = self.plan.total_iterations(self.batches().all_rows());
        self.learning = Some(Learning {
            order: Algorithm1::new(self.plan.schedule(total, self.validates)),
            optimiser: LazyOptimizer::new(&map),
            forest: ShallowForest { encoder, map, head },
            leaf_iterations: 0,
            best: None,
        });
        self.versions = Versions { setting: self.versions.setting + 1, weights: 1, leaves: 1 };
        self.preparation = Preparation::Over;
        Ok(())
    }

    fn batches(&self) -> &Batches {
        self.setting.batches.as_ref().expect("known since the survey, which comes before every step")
    }

    fn learning(&mut self) -> &mut Learning {
        self.learning.as_mut().expect("begun before anything is asked of the forest")
    }

    /// One step of the optimiser, by sums that the shards divided by the size of a mini-batch.
    fn step(&mut self, iteration: usize, sums: Sums) -> Result<FitEvent> {
        let [loss, weight] = [sums.doubles[0], sums.doubles[1]];
        // Every tree's loss is a mean over the rows that it learns from.
        let kept = match self.plan.leave_out.filter(|_| !self.are_given_back(iteration)) {
            Some(plan) => 1.0 - 1.0 / plan.groups as f64,
            None => 1.0,
        };
        let factor = if weight > 0.0 { self.batches().size as f64 / (kept * weight) } else { 0.0 };
        let mut gradient = sums.singles;
        if factor != 1.0 {
            gradient.iter_mut().for_each(|g| *g *= factor as f32);
        }
        let total = self.plan.total_iterations(self.batches().all_rows());
        let (step, threads) = (self.plan.steps.at(iteration, total), self.threads.clone());
        let Learning { order, forest, optimiser, .. } = self.learning();
        optimiser.step_by(&mut forest.map, &gradient, &step, forest.encoder.bias(), &threads);
        let is_finite = forest.map.weights().iter().all(|weight| weight.is_finite());
        order.stepped(if is_finite { loss * factor } else { f64::NAN })?;
        let event = order.event();
        self.versions.weights += 1;
        self.move_on();
        Ok(event)
    }

    /// Events are given as soon as they are known: an iteration needs no report of its own.
    fn move_on(&mut self) {
        let order = &mut self.learning().order;
        if order.next() == Stage::Report {
            order.reported();
        }
    }

    /// The mini-batches that a leaf update after so many looks at; none means all training rows.
    fn leaf_iterations(&self, done: usize) -> Option<(usize, usize)> {
        let (batches, leaves) = (self.batches(), &self.plan.leaves);
        let mut count = leaves.batches(batches.all_rows(), batches.per_epoch())?;
        if leaves.rows == LeafRows::Auto {
            // A large mini-batch says all that so many small ones do.
            count = count.min(MANY_ROWS.div_ceil(batches.size));
        }
        Some((done.saturating_sub(count), done))
    }

    /// One iteration of the leaf update; gives an event after the last.
    fn move_leaves(&mut self, statistics: &[f64]) -> Option<FitEvent> {
        let (prior, iterations) = (self.prior.clone(), self.plan.leaves.iterations);
        self.versions.leaves += 1;
        let learning = self.learning();
        learning.forest.head.move_leaves(statistics, &prior);
        learning.leaf_iterations += 1;
        if learning.leaf_iterations < iterations {
            return None;
        }
        learning.leaf_iterations = 0;
        learning.order.leaves_updated();
        let event = FitEvent::LeafUpdate { iteration: learning.order.iteration() };
        self.move_on();
        Some(event)
    }

    fn validated(&mut self, sums: &[f64]) -> FitEvent {
        let held_out = HeldOutKl { sum: sums[0], weight: sums[1] };
        // Held-out rows without weight say nothing.
        let kl = if held_out.weight > 0.0 { held_out.mean() } else { f64::NAN };
        let Learning { order, forest, best, .. } = self.learning();
        if order.validated(kl) {
            *best = Some((forest.map.weights().to_vec(), forest.head.leaves().to_vec()));
        }
        let iteration = order.iteration();
        self.move_on();
        FitEvent::Validation { iteration, kl }
    }

    /// Ends the training where it stands: at most one more leaf update is asked for. The model is the best so far.
    pub fn stop(&mut self) {
        self.preparation = Preparation::Over;
        if let Some(learning) = self.learning.as_mut().filter(|learning| !learning.order.is_over()) {
            learning.order.stop(StopReason::Interrupted);
            self.move_on();
        }
    }

    /// The model of a training that is over: an ordinary `sldlf`.
    pub fn model(self) -> Result<TrainedModel> {
        let is_over = |learning: &Learning| learning.order.next() == Stage::Done;
        let Some(Learning { order, mut forest, best, .. }) = self.learning.filter(is_over) else {
            return Err(Error::training("the training is not over, so there is no model yet"));
        };
        if let Some((weights, leaves)) = best {
            forest.map.weights_mut().copy_from_slice(&weights);
            forest.head.leaves_mut().copy_from_slice(&leaves);
        }
        let model = TrainedModel {
            learner: self.plan.learner.to_string(),
            parameters: self.plan.settings,
            features: self.table.features,
            schema: self.table.schema,
            summary: order.summary(),
            provenance: Some(Provenance::of_rows(self.table.rows)),
            model: Box::new(forest),
            out_of_fold: None,
            conformal: None,
            spread: None,
            familiarity: None,
        };
        model.check_finite()?;
        Ok(model)
    }
}
