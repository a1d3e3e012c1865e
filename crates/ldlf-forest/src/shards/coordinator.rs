//! Algorithm 1 without rows: the coordinator asks for sums over all rows and moves the parameters by them.

use ldlf_core::early_stopping::Verdict;
use ldlf_core::learner::Summary;
use ldlf_core::{
    Dataset, Error, Features, FitEvent, Result, Schema, Seed, Settings, StopReason, Threads, TrainedModel,
};

use super::order::Batches;
use super::question::{Question, Setting, Task, Versions};
use super::sums::{Sums, from_bytes, total};
use crate::bins::Bins;
use crate::columns::{Columns, numeric_columns};
use crate::encoder::{Encoder, Scaling};
use crate::head::Head;
use crate::leaves::LeafPrior;
use crate::linear::{LinearMap, OptimiserState};
use crate::progress::Progress;
use crate::shallow::{LeafRows, SLDLF, ShallowForest, Sldlf, SldlfParameters, Start};
use crate::training::{Ensemble, MANY_ROWS};
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
            features: data.features.cols(),
            sparse: matches!(data.features, Features::Sparse(_)),
            shards,
            schema: data.schema.clone(),
        }
    }
}

/// What is asked next.
#[derive(Clone, Debug, PartialEq)]
enum Stage {
    Survey,
    Spread,
    Sample(Vec<u32>),
    Step,
    Leaves { done: usize },
    Validate,
    Done,
}

/// Values of the sample that quantiles are found in; the rows follow from the number of columns.
const SAMPLE_VALUES: usize = 1 << 22;
const SAMPLE_ROWS: usize = 1 << 16;

/// Holds the parameters and the state of the optimiser, asks one question at a time and moves when all of it is answered.
pub struct Coordinator {
    parameters: SldlfParameters,
    table: Table,
    setting: Setting,
    threads: Threads,
    stage: Stage,
    /// Of the parameters, and what everybody has heard of them.
    versions: Versions,
    heard: Versions,
    columns: Columns,
    prior: LeafPrior,
    forest: Option<ShallowForest>,
    optimiser: Option<OptimiserState>,
    validates: bool,
    iterations: usize,
    progress: Progress,
    best: Option<(Vec<f32>, Vec<f32>)>,
    stopped: Option<StopReason>,
}

impl Coordinator {
    /// A training of `sldlf` with these settings on a table; `threads` take the steps.
    pub fn new(settings: &Settings, table: Table, seed: u64, threads: Threads) -> Result<Self> {
        let parameters = SldlfParameters::from_settings(settings)?;
        Sldlf::new(parameters.clone())?;
        if parameters.start == Start::Greedy {
            return Err(Error::usage("start=greedy grows trees on all rows in one place")
                .with_remedy("use start=random here"));
        }
        if table.shards == 0 {
            return Err(Error::parameter("virtual_shards", "at least 1", 0));
        }
        if table.rows == 0 {
            return Err(Error::data("there are no rows to learn from"));
        }
        let labels = table.schema.label_names.len();
        let shape = parameters.forest_shape(labels, Ensemble::Joint);
        shape.check()?;
        let sizes = [("features", table.features), ("units", shape.units)];
        check_memory("the weights and the optimiser's state", &sizes, 4 * size_of::<f32>())?;
        let holds_back = parameters.stops_early(table.features)
            && (table.rows as f64 * parameters.validation_share).round() >= 1.0;
        let setting = Setting {
            seed,
            shards: table.shards,
            held_back: holds_back.then_some(parameters.validation_share),
            features: table.features,
            labels,
            sparse: table.sparse,
            parameters: parameters.to_settings(),
            batches: None,
        };
        let nothing = Vec::new;
        Ok(Coordinator {
            prior: LeafPrior { strength: parameters.leaf_prior, base: vec![0.0; labels] },
            columns: Columns {
                rows: 0,
                sparse: table.sparse,
                mean: nothing(),
                squares: nothing(),
                stored: nothing(),
            },
            progress: Progress::new(parameters.patience),
            parameters,
            table,
            setting,
            threads,
            stage: Stage::Survey,
            versions: Versions { setting: 1, ..Versions::default() },
            heard: Versions::default(),
            forest: None,
            optimiser: None,
            validates: false,
            iterations: 0,
            best: None,
            stopped: None,
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
        let task = match &self.stage {
            Stage::Survey => Task::Survey,
            Stage::Spread => Task::Spread,
            Stage::Sample(columns) => {
                Task::Sample { columns: columns.clone(), rows: self.sample_rows(columns.len()) }
            }
            Stage::Step => Task::Step { iteration: self.progress.iteration },
            Stage::Leaves { .. } => Task::Leaves { iterations: self.leaf_iterations() },
            Stage::Validate => Task::Validate,
            Stage::Done => return Ok(None),
        };
        let now = self.versions;
        let news = now.setting > heard.setting;
        let forest = self.forest.as_ref();
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

    /// Takes the answers to the last question, in any order, and moves on. Gives what is worth telling.
    ///
    /// When answers are missing nothing changes.
    pub fn hear(&mut self, answers: &[impl AsRef<[u8]>]) -> Result<Vec<FitEvent>> {
        let mut nodes = Vec::new();
        for answer in answers {
            nodes.extend(from_bytes(answer.as_ref())?);
        }
        let sums = total(nodes, self.table.shards)?;
        let (doubles, singles) = self.expected();
        if (sums.doubles.len(), sums.singles.len()) != (doubles, singles) {
            return Err(Error::training("the workers' answers do not have the size that was asked for"));
        }
        self.heard = self.versions;
        let mut events = Vec::new();
        match self.stage.clone() {
            Stage::Survey => self.surveyed(sums)?,
            Stage::Spread => self.spread_known(sums)?,
            Stage::Sample(columns) => {
                let rows = self.sample_rows(columns.len()).max(1);
                let values = sums.singles.chunks_exact(rows).map(<[f32]>::to_vec).collect();
                self.begin(Bins::fit(columns, values, self.parameters.bins))?;
            }
            Stage::Step => events.push(self.step(sums)?),
            Stage::Leaves { done } => events.extend(self.move_leaves(&sums.doubles, done)),
            Stage::Validate => events.push(self.validated(&sums.doubles)),
            Stage::Done => {}
        }
        Ok(events)
    }

    /// How many numbers of either kind the present question asks for.
    fn expected(&self) -> (usize, usize) {
        let leaves = self.forest.as_ref().map_or(0, |forest| forest.head.leaves().len());
        let weights = self.forest.as_ref().map_or(0, |forest| forest.map.weights().len());
        match &self.stage {
            Stage::Survey => (self.table.shards + 1 + self.setting.labels + self.table.features, 0),
            Stage::Spread => (2 * self.table.features, 0),
            Stage::Sample(columns) => (0, columns.len() * self.sample_rows(columns.len())),
            Stage::Step => (2, weights),
            Stage::Leaves { .. } => (leaves, 0),
            Stage::Validate => (2, 0),
            Stage::Done => (0, 0),
        }
    }

    fn sample_rows(&self, columns: usize) -> usize {
        self.columns.rows.min(SAMPLE_VALUES / columns.max(1)).clamp(1, SAMPLE_ROWS)
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
        self.validates = all < self.table.rows;
        let weight = if targets[0] > 0.0 { targets[0] } else { 1.0 };
        self.prior.base = targets[1..].iter().map(|sum| sum / weight).collect();
        self.columns.rows = all;
        self.columns.mean = columns.iter().map(|sum| sum / all as f64).collect();
        self.setting.batches = Some(Batches::new(rows, self.parameters.batch_size));
        self.iterations = self.parameters.total_iterations(all);
        match self.parameters.scaling {
            Scaling::Raw => self.begin_with(Encoder::raw(self.table.features, self.parameters.bias)),
            Scaling::Standard | Scaling::Common => {
                self.stage = Stage::Spread;
                Ok(())
            }
        }
    }

    fn spread_known(&mut self, sums: Sums) -> Result<()> {
        let (squares, stored) = sums.doubles.split_at(self.table.features);
        (self.columns.squares, self.columns.stored) = (squares.to_vec(), stored.to_vec());
        let numeric = numeric_columns(stored, self.columns.rows);
        if self.table.sparse && self.parameters.bins > 0 && !numeric.is_empty() {
            self.stage = Stage::Sample(numeric);
            return Ok(());
        }
        self.begin(Bins::none(self.parameters.bins))
    }

    fn begin(&mut self, bins: Bins) -> Result<()> {
        let nothing = Vec::new;
        let empty = Columns {
            rows: self.columns.rows,
            sparse: self.columns.sparse,
            mean: nothing(),
            squares: nothing(),
            stored: nothing(),
        };
        let columns = std::mem::replace(&mut self.columns, empty);
        let SldlfParameters { scaling, clip, bias, .. } = self.parameters;
        self.begin_with(Encoder::from_columns(columns, scaling, clip, bins, bias))
    }

    /// The first weights and leaves, as in one process.
    fn begin_with(&mut self, encoder: Encoder) -> Result<()> {
        let shape = self.parameters.forest_shape(self.setting.labels, Ensemble::Joint);
        let seed = Seed::new(self.setting.seed);
        let head = Head::new(shape, seed)?;
        let features = encoder.inputs() - usize::from(encoder.bias());
        let map = LinearMap::new(features, encoder.bias(), shape.units, seed);
        self.optimiser = Some(OptimiserState::new(&map));
        self.forest = Some(ShallowForest { encoder, map, head });
        self.versions = Versions { setting: self.versions.setting + 1, weights: 1, leaves: 1 };
        self.stage = Stage::Step;
        Ok(())
    }

    fn batches(&self) -> &Batches {
        self.setting.batches.as_ref().expect("known since the survey, which comes before every step")
    }

    /// One step of the optimiser, by sums that the shards divided by the size of a mini-batch.
    fn step(&mut self, sums: Sums) -> Result<FitEvent> {
        let iteration = self.progress.iteration;
        let [loss, weight] = [sums.doubles[0], sums.doubles[1]];
        let factor = if weight > 0.0 { self.batches().size as f64 / weight } else { 0.0 };
        let mut gradient = sums.singles;
        if factor != 1.0 {
            gradient.iter_mut().for_each(|g| *g *= factor as f32);
        }
        let step = self.parameters.step_at(iteration, self.iterations);
        let mut loss = loss * factor;
        if let (Some(forest), Some(optimiser)) = (&mut self.forest, &mut self.optimiser) {
            optimiser.step_by(&mut forest.map, &gradient, &step, forest.encoder.bias(), &self.threads);
            if !forest.map.weights().iter().all(|weight| weight.is_finite()) {
                loss = f64::NAN;
            }
        }
        self.progress.stepped(loss, SLDLF.name, &self.parameters)?;
        self.versions.weights += 1;
        let done = self.progress.iteration;
        if done.is_multiple_of(self.parameters.leaf_every) {
            self.stage = Stage::Leaves { done: 0 };
        } else if done >= self.iterations {
            self.end(StopReason::Finished);
        }
        Ok(FitEvent::Iteration { iteration: done, total: self.iterations, loss: Some(loss) })
    }

    /// The mini-batches that a leaf update looks at; none means all training rows.
    fn leaf_iterations(&self) -> Option<(usize, usize)> {
        let done = self.progress.iteration;
        let last = |count: usize| Some((done.saturating_sub(count), done));
        let (batches, every) = (self.batches(), self.parameters.leaf_every);
        match self.parameters.leaf_rows {
            // A large mini-batch says all that so many small ones do.
            LeafRows::Auto if batches.all_rows() > MANY_ROWS => {
                last(MANY_ROWS.div_ceil(batches.size).min(every))
            }
            LeafRows::All | LeafRows::Auto => None,
            LeafRows::Batches => last(every),
            LeafRows::Epoch => last(batches.per_epoch()),
        }
    }

    /// One iteration of the leaf update, of which `done` are behind us.
    fn move_leaves(&mut self, statistics: &[f64], done: usize) -> Option<FitEvent> {
        if let Some(forest) = &mut self.forest {
            forest.head.move_leaves(statistics, &self.prior);
        }
        self.versions.leaves += 1;
        if done + 1 < self.parameters.leaf_iterations {
            self.stage = Stage::Leaves { done: done + 1 };
            return None;
        }
        match (self.stopped, self.validates) {
            (Some(_), _) => self.stage = Stage::Done,
            (None, true) => self.stage = Stage::Validate,
            (None, false) => self.go_on(None),
        }
        Some(FitEvent::LeafUpdate { iteration: self.progress.iteration })
    }

    fn validated(&mut self, sums: &[f64]) -> FitEvent {
        let kl = if sums[1] > 0.0 { sums[0] / sums[1] } else { 0.0 };
        let iteration = self.progress.iteration;
        let verdict = self.progress.patience.measured(iteration, kl);
        if let (Verdict::Best, Some(forest)) = (verdict, &self.forest) {
            self.best = Some((forest.map.weights().to_vec(), forest.head.leaves().to_vec()));
        }
        self.go_on((verdict == Verdict::Stop).then_some(StopReason::EarlyStopping));
        FitEvent::Validation { iteration, kl }
    }

    /// After a leaf update: the next step, or the end.
    fn go_on(&mut self, stop: Option<StopReason>) {
        let converged = self.progress.has_converged(self.parameters.tolerance);
        let stop = stop.or(converged.then_some(StopReason::Converged));
        let over = (self.progress.iteration >= self.iterations).then_some(StopReason::Finished);
        self.stage = Stage::Step;
        if let Some(reason) = stop.or(over) {
            self.stopped = Some(reason);
            self.stage = Stage::Done;
        }
    }

    /// Ends the training where it stands: at most one more leaf update is asked for. The model is the best so far.
    pub fn stop(&mut self) {
        match self.stage {
            Stage::Step => self.end(StopReason::Interrupted),
            Stage::Leaves { .. } => self.stopped = self.stopped.or(Some(StopReason::Interrupted)),
            _ => {
                self.stopped = self.stopped.or(Some(StopReason::Interrupted));
                self.stage = Stage::Done;
            }
        }
    }

    /// The last steps moved the splits; the leaves follow, unless an earlier iteration is kept.
    fn end(&mut self, reason: StopReason) {
        self.stopped = Some(reason);
        let behind = !self.progress.iteration.is_multiple_of(self.parameters.leaf_every);
        self.stage = if behind && self.best.is_none() { Stage::Leaves { done: 0 } } else { Stage::Done };
    }

    /// The model of a training that is over: an ordinary `sldlf`.
    pub fn model(self) -> Result<TrainedModel> {
        let (Some(mut forest), Stage::Done) = (self.forest, &self.stage) else {
            return Err(Error::training("the training is not over, so there is no model yet"));
        };
        let best_iteration = self.best.is_some().then_some(self.progress.patience.best_iteration);
        if let Some((weights, leaves)) = self.best {
            forest.map.weights_mut().copy_from_slice(&weights);
            forest.head.leaves_mut().copy_from_slice(&leaves);
        }
        Ok(TrainedModel {
            learner: SLDLF.name.to_string(),
            parameters: self.parameters.to_settings(),
            features: self.table.features,
            schema: self.table.schema,
            summary: Summary {
                iterations: self.progress.iteration,
                stopped: self.stopped.unwrap_or(StopReason::Finished),
                best_iteration,
                loss: self.progress.loss,
                validation_kl: self.progress.patience.best,
            },
            model: Box::new(forest),
        })
    }
}
