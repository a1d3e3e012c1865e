//! Algorithm 1 on rows in memory.

use ldlf_core::checkpoint::Source;
use ldlf_core::dataset::Tabular;
use ldlf_core::early_stopping::{HeldOutKl, hold_out};
use ldlf_core::learner::Summary;
use ldlf_core::leave_out::RowGroups;
use ldlf_core::mixture::averaging_gain;
use ldlf_core::stored::{Array, Parts};
use ldlf_core::{
    Dataset, Features, FitContext, InProgress, Inputs, Matrix, Prediction, Result, Seed, Threads,
};

use crate::algorithm1::{Steps, Training};
use crate::encoder::{EncodedRows, Encoder, Scaling};
use crate::greedy::soften;
use crate::head::{Head, LeafUpdate};
use crate::kernel::ROWS;
use crate::lazy_optimizer::DecayTargets;
use crate::leaf_update::LeftOut;
use crate::leaves::{LeafPrior, check_on_simplex};
use crate::linear::LinearMap;
use crate::mini_batches::{MiniBatches, Order};
use crate::plan::{Encoding, Init, Plan};
use crate::predict::{predict, predict_rows};
use crate::relevance::learning_rates;
use crate::shallow_forest::ShallowForest;
use crate::stepper::{DropoutDraw, Stepper};
use crate::tree_shape::check_memory;

/// A dataset with the encoder that was fitted on it. Several trainings may look at it.
pub struct Prepared<'a> {
    encoding: Encoding,
    encoder: Encoder,
    /// The encoded rows and what encodes these, where rows are encoded once for all steps.
    encoded: Option<(Features, Encoder)>,
    data: Tabular<'a>,
}

/// Rows are encoded once where that takes at most this many bytes.
const ENCODED_BYTES: usize = 256 << 20;

impl<'a> Prepared<'a> {
    /// Fits the encoder on some rows.
    fn new(encoding: Encoding, data: Tabular<'a>, rows: &[usize]) -> Self {
        let Encoding { scaling, clip, bins, bias } = encoding;
        let encoder = Encoder::fit(data.features, rows, data.weights(), scaling, clip, bins, bias);
        let encoded = encoder.encode_once(data.features, ENCODED_BYTES);
        Prepared { encoding, encoder, encoded, data }
    }

    /// Fits the encoder on all rows.
    pub fn of(encoding: Encoding, data: Tabular<'a>) -> Self {
        Prepared::new(encoding, data, &(0..data.rows()).collect::<Vec<_>>())
    }

    /// Whether it is what an encoding makes of the rows.
    pub fn is_for(&self, encoding: Encoding) -> bool {
        self.encoding == encoding
    }

    /// The rows as the steps see them, and what encodes them.
    fn stepping(&self) -> (Tabular<'_>, Encoder) {
        match &self.encoded {
            None => (self.data, self.encoder.clone()),
            Some((features, encoder)) => (self.data.with_features(features), encoder.clone()),
        }
    }
}

/// What a training leaves behind.
pub struct Outcome {
    /// The forest.
    pub forest: ShallowForest,
    /// How it went.
    pub summary: Summary,
    /// What its trees said about the rows that they left out, where they did.
    pub checked: Option<Checked>,
}

/// What trees said about the rows that they left out.
#[derive(Clone, Debug)]
pub struct Checked {
    /// `[rows, labels]`: the out-of-fold prediction of every row.
    pub out_of_fold: Matrix<f32>,
    /// Its mean K-L divergence.
    pub kl: f64,
    /// How far it is below that of single trees.
    pub gap: f64,
    /// Trees behind the out-of-fold prediction of a row.
    pub trees: usize,
    /// The pseudo-count of the leaves that was given or chosen.
    pub prior: f64,
}

impl Checked {
    /// How much lower the divergence of an average over `trees` will be than that over the trees which left a row out.
    pub fn gain(&self, trees: usize) -> f64 {
        averaging_gain(self.gap, self.trees as f64, trees as f64)
    }
}

/// The detail of a checkpoint that holds what left-out rows said.
const CHECKED: &str = "checked";

impl Checked {
    /// Adds what [`Checked::load`] reads.
    pub fn store(&self, parts: &mut Parts) {
        parts.put_matrix("out_of_fold", &self.out_of_fold);
        parts.put_detail(CHECKED, (self.kl, self.gap, self.trees, self.prior));
    }

    /// Reads what [`Checked::store`] added.
    pub fn load(parts: &Parts, rows: usize, labels: usize) -> Result<Self> {
        let (kl, gap, trees, prior) = parts.detail(CHECKED)?;
        let out_of_fold = Matrix::new(rows, labels, parts.f32s("out_of_fold", &[rows, labels])?)?;
        Ok(Checked { out_of_fold, kl, gap, trees, prior })
    }
}

/// Trains a forest on `data`.
pub fn train(plan: Plan, data: &Dataset, context: &mut FitContext<'_>) -> Result<Outcome> {
    let tabular = data.tabular()?;
    let (rows, validation) = match plan.held_out.filter(|_| plan.leave_out.is_none()) {
        Some(share) => hold_out(data, share, context.seed),
        None => ((0..data.rows()).collect(), Vec::new()),
    };
    let groups = plan.leave_out.map(|plan| RowGroups::draw(data, plan.groups, context.seed));
    let prepared = Prepared::new(plan.encoding, tabular, &rows);
    train_on(plan, &prepared, (rows, validation), groups, context)
}

/// Trains a forest on rows that are prepared already, all of them, with trees that leave out given groups.
pub fn train_prepared(
    plan: Plan,
    prepared: &Prepared<'_>,
    groups: Option<RowGroups>,
    context: &mut FitContext<'_>,
) -> Result<Outcome> {
    let rows = (0..prepared.data.rows()).collect();
    train_on(plan, prepared, (rows, Vec::new()), groups, context)
}

/// Refuses sizes that do not fit into memory, before anything is allocated.
pub(crate) fn check_sizes(plan: &Plan, features: usize, rows: usize) -> Result<()> {
    let shape = plan.shape;
    shape.check()?;
    let sizes = [("features", features), ("units", shape.units)];
    check_memory("the weights and the optimiser's state", &sizes, 4 * size_of::<f32>())?;
    let batch = plan.batch_size.min(rows).next_multiple_of(ROWS);
    let sizes = [("units", shape.units), ("rows of a mini-batch", batch)];
    check_memory("the activations and gradients of a mini-batch", &sizes, 4 * size_of::<f32>())?;
    Head::<f32>::check_sizes(&shape)
}

fn train_on(
    plan: Plan,
    prepared: &Prepared<'_>,
    (rows, validation): (Vec<usize>, Vec<usize>),
    groups: Option<RowGroups>,
    context: &mut FitContext<'_>,
) -> Result<Outcome> {
    let source = Source::new(plan.learner, plan.settings.clone(), plan.free, context.seed, &prepared.data);
    let steps = InMemory::new(plan, prepared, rows, validation, groups, context)?;
    let validates = !steps.validation.is_empty() || steps.groups.is_some() && steps.plan.held_out.is_some();
    let schedule = steps.plan.schedule(steps.total, validates);
    let (mut steps, summary) = Training::new(schedule, steps, source).run(context)?;
    steps.check_itself();
    let (_, map, head) = steps.stepper.into_parts();
    let forest = ShallowForest { encoder: prepared.encoder.clone(), map, head };
    Ok(Outcome { forest, summary, checked: steps.checked })
}

/// Trees of a whole forest, of which the trees of one training may be a part.
const FOREST: usize = 20;

/// Strengths of the leaf prior that are tried.
const PRIORS: [f64; 7] = [0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0];

/// A forest that learns from rows in memory.
struct InMemory<'a> {
    plan: Plan,
    prepared: &'a Prepared<'a>,
    /// The rows as the steps see them.
    data: Tabular<'a>,
    batches: MiniBatches,
    validation: Vec<usize>,
    groups: Option<RowGroups>,
    /// What the trees said about the rows that they left out, once that is settled.
    checked: Option<Checked>,
    seed: Seed,
    threads: Threads,
    total: usize,
    prior: LeafPrior,
    stepper: Stepper,
    /// The order of the present epoch and the rows of the present mini-batch, kept for their room.
    order: Order,
    batch: Vec<usize>,
    /// Weights and leaves.
    best: Option<(Vec<f32>, Vec<f32>)>,
}

impl<'a> InMemory<'a> {
    fn new(
        plan: Plan,
        prepared: &'a Prepared<'a>,
        rows: Vec<usize>,
        validation: Vec<usize>,
        groups: Option<RowGroups>,
        context: &FitContext<'_>,
    ) -> Result<Self> {
        let (data, encoder) = prepared.stepping();
        let shape = plan.shape;
        check_sizes(&plan, data.features.cols(), rows.len())?;
        let seed = match plan.number {
            0 => context.seed,
            number => context.seed.named("forest").numbered(number as u64),
        };
        let batches = MiniBatches::new(rows, plan.batch_size, seed);
        let rows = batches.rows();
        let bias = encoder.bias();
        let head = Head::new(shape, seed)?;
        let mut map = LinearMap::new(encoder.inputs() - usize::from(bias), bias, shape.units, seed);
        let rates = match plan.encoding.scaling {
            Scaling::Relevance => {
                learning_rates(&encoder, data, rows, groups.as_ref(), &head, &context.threads)
            }
            _ => Vec::new(),
        };
        map.weights_mut().iter_mut().zip(&rates).for_each(|(weight, rate)| *weight *= rate);
        let decay_targets = match plan.init {
            Init::Random => DecayTargets::new(),
            Init::Greedy => {
                soften(&mut map, &encoder, &shape, data, rows, groups.as_ref(), seed, &context.threads)?
            }
        };
        let base = data.mean_target_of(rows.iter().copied());
        let stepper = Stepper::new(encoder, map, head, batches.size())
            .with_loss(plan.loss)
            .with_leave_out(groups.clone())
            .with_decay_targets(decay_targets)
            .with_rates(rates);
        Ok(InMemory {
            total: plan.total_iterations(rows.len()),
            prior: LeafPrior { strength: plan.leaves.prior, base },
            plan,
            prepared,
            data,
            batches,
            validation,
            groups,
            checked: None,
            seed,
            threads: context.threads.clone(),
            stepper,
            order: Order::default(),
            batch: Vec::new(),
            best: None,
        })
    }

    /// The iteration from which all trees learn from all rows; early stopping measures left-out rows to the end.
    fn given_back_at(&self) -> Option<usize> {
        let plan = self.plan.leave_out.filter(|_| self.groups.is_some() && self.plan.held_out.is_none())?;
        Some(plan.given_back_at(self.total)).filter(|&at| at < self.total)
    }

    /// Settles what left-out rows say: the leaf prior where it is to be chosen, and the out-of-fold predictions. Once; then nothing.
    fn check_itself(&mut self) {
        let Some(groups) = self.groups.as_ref().filter(|_| self.checked.is_none()) else { return };
        let trees = self.plan.shape.trees / groups.count();
        let (data, threads) = (self.data, self.threads.clone());
        let rows = self.batches.rows().to_vec();
        let routing = self.stepper.keep_routing(data, &rows, &threads);
        let weight: f64 = rows.iter().map(|&row| f64::from(data.weight(row))).sum();
        let weight = if weight > 0.0 { weight } else { 1.0 };
        let measure =
            |found: &LeftOut<f32>| HeldOutKl::of(&data, rows.iter().copied(), &found.predicted).mean();
        // Strengths are compared by what all trees together will say: few trees want stronger ones.
        let all = self.plan.shape.trees.max(FOREST) as f64;
        let compared =
            |kl: f64, found: &LeftOut<f32>| kl - averaging_gain(found.gap / weight, trees as f64, all);
        let mut found = match &routing {
            None => self.stepper.predict_left_out(data, &rows, &threads),
            Some(routing) => self.stepper.head().predict_left_out_on(routing, &threads),
        };
        let mut kl = measure(&found);
        // Where the routing is too large to be kept, the strength stays what it is.
        if let Some(routing) = routing.as_ref().filter(|_| self.plan.leaves.choose_prior) {
            let mut kept = self.stepper.head().leaves().to_vec();
            let begin = PRIORS.iter().position(|&prior| prior >= self.prior.strength).unwrap_or(0);
            let (iterations, begun_with) = (self.plan.leaves.iterations, kept.clone());
            // From where it stands to stronger ones while that helps, else to weaker ones.
            for order in [(begin..PRIORS.len()).collect::<Vec<_>>(), (0..begin).rev().collect()] {
                self.stepper.head_mut().leaves_mut().copy_from_slice(&begun_with);
                for (place, prior) in order.into_iter().map(|place| PRIORS[place]).enumerate() {
                    let prior = LeafPrior { strength: prior, ..self.prior.clone() };
                    let update = LeafUpdate { iterations, prior: prior.clone() };
                    self.stepper.head_mut().update_leaves_on(routing, &update, &threads);
                    let left_out = self.stepper.head().predict_left_out_on(routing, &threads);
                    let now = measure(&left_out);
                    if compared(now, &left_out) < compared(kl, &found) {
                        (kl, found, self.prior) = (now, left_out, prior);
                        kept = self.stepper.head().leaves().to_vec();
                    } else if place > 0 {
                        break;
                    }
                }
            }
            self.stepper.head_mut().leaves_mut().copy_from_slice(&kept);
        }
        let out_of_fold = Matrix::new(rows.len(), data.labels(), found.predicted);
        let gap = found.gap / weight;
        self.checked = Some(Checked {
            out_of_fold: out_of_fold.expect("one distribution per row"),
            kl,
            gap,
            trees,
            prior: self.prior.strength,
        });
    }

    /// Of the linear map and of the leaves.
    fn shapes(&self) -> ([usize; 2], [usize; 3]) {
        let shape = self.stepper.head().shape();
        ([self.stepper.encoder().inputs(), shape.units], [shape.trees, shape.leaves(), shape.labels])
    }
}

impl Steps for InMemory<'_> {
    fn step(&mut self, iteration: usize) -> Result<f64> {
        if self.given_back_at() == Some(iteration) {
            self.check_itself();
            self.stepper.give_rows_back();
        }
        self.batch.clear();
        self.batches.add(iteration, &mut self.order, &mut self.batch);
        let Plan { ensemble, shape, steps, dropout, .. } = &self.plan;
        let (share, seed) = (*dropout as f32, self.seed.named("dropout").numbered(iteration as u64));
        let dropout = (share > 0.0).then_some(DropoutDraw { share, seed, first_row: None });
        let trees = ensemble.trees_of(iteration, shape.trees, self.seed);
        let step = steps.at(iteration, self.total);
        Ok(self.stepper.step(self.data, &self.batch, trees, &step, dropout, &self.threads))
    }

    fn update_leaves(&mut self, iteration: usize) {
        let batches = &self.batches;
        let rows = match self.plan.leaves.batches(batches.rows().len(), batches.per_epoch()) {
            Some(count) => &batches.last(count, iteration),
            None => batches.rows(),
        };
        let update = LeafUpdate { iterations: self.plan.leaves.iterations, prior: self.prior.clone() };
        self.stepper.update_leaves(self.data, rows, &update, &self.threads);
    }

    fn validate(&mut self) -> Result<f64> {
        if self.groups.is_some() {
            let rows = self.batches.rows();
            let left_out = self.stepper.predict_left_out(self.data, rows, &self.threads);
            return Ok(HeldOutKl::of(&self.data, rows.iter().copied(), &left_out.predicted).mean());
        }
        let (rows, features) = (Some(&self.validation[..]), self.data.features);
        let rows = EncodedRows { encoder: self.stepper.encoder(), features, rows };
        let (map, head) = (self.stepper.map(), self.stepper.head());
        let predicted = predict_rows(&map, head, &rows, self.validation.len(), &self.threads);
        Ok(HeldOutKl::of(&self.data, self.validation.iter().copied(), &predicted).mean())
    }

    fn keep_best(&mut self) {
        let (map, head) = (self.stepper.map(), self.stepper.head());
        self.best = Some((map.weights().to_vec(), head.leaves().to_vec()));
    }

    fn restore_best(&mut self) -> Result<()> {
        if let Some((weights, leaves)) = self.best.take() {
            self.stepper.replace(&weights, &leaves);
        }
        Ok(())
    }

    fn store(&self, parts: &mut Parts) {
        let (map_shape, leaf_shape) = self.shapes();
        let (map_shape, leaf_shape) = (map_shape.to_vec(), leaf_shape.to_vec());
        let (map, first, second) = self.stepper.flushed();
        let leaves = self.stepper.head().leaves().to_vec();
        parts.put("weights", Array::F32(map_shape.clone(), map.weights().to_vec()));
        parts.put("first_moments", Array::F32(map_shape.clone(), first));
        parts.put("second_moments", Array::F32(map_shape.clone(), second));
        parts.put("leaves", Array::F32(leaf_shape.clone(), leaves));
        if let Some(checked) = &self.checked {
            checked.store(parts);
        }
        if let Some((weights, leaves)) = &self.best {
            parts.put("best_weights", Array::F32(map_shape, weights.clone()));
            parts.put("best_leaves", Array::F32(leaf_shape, leaves.clone()));
        }
    }

    fn restore(&mut self, parts: &Parts, best: bool) -> Result<()> {
        let (map_shape, leaf_shape) = self.shapes();
        let leaves = |name: &str| {
            let leaves = parts.f32s(name, &leaf_shape)?;
            check_on_simplex(&leaves, leaf_shape[2]).map(|()| leaves)
        };
        self.stepper.restore(
            &parts.f32s("weights", &map_shape)?,
            parts.f32s("first_moments", &map_shape)?,
            parts.f32s("second_moments", &map_shape)?,
            &leaves("leaves")?,
        );
        if parts.details.contains_key(CHECKED) {
            let checked = Checked::load(parts, self.batches.rows().len(), leaf_shape[2])?;
            self.prior.strength = checked.prior;
            self.checked = Some(checked);
            self.stepper.give_rows_back();
        }
        if best {
            self.best = Some((parts.f32s("best_weights", &map_shape)?, leaves("best_leaves")?));
        }
        Ok(())
    }
}

impl InProgress for InMemory<'_> {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        predict(&self.prepared.encoder, &self.stepper.map(), self.stepper.head(), inputs, threads)
    }
}
