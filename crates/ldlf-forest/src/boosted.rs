//! Boosted trees that may stand beside the soft trees: one chain of them for every group of rows that is left out.
//!
//! A chain is `p = softmax(F)`; it begins at the mean distribution, and every round adds a tree with a vector at each leaf, which lowers the
//! K-L divergence of the rows that the chain learns from to second order:
//! `F_k += learning_rate sum (d_k - p_k) / (sum p_k (1 - p_k) + penalty mean p_k (1 - p_k))` over the rows of the leaf. What the chains say about
//! the rows that they left out chooses the number of rounds, and is honest otherwise. The model is the mean of all chains' scores, which is
//! one additive model again.

use std::time::Instant;

use ldlf_core::leave_out::RowGroups;
use ldlf_core::{Dataset, Features, FitContext, Matrix, Model, Result, Seed, Threads, measures};
use ldlf_math::numeric::{normalise, softmax_in_place_f32};
use ldlf_math::random::permutation;
use ldlf_trees::boosted_model::BoostedModel;
use ldlf_trees::columns::Codes;
use ldlf_trees::regression_tree::Tree;
use ldlf_trees::split_search::SplitColumns;
use ldlf_trees::tree_builder::{Limits, Objective, grow};

/// Rows that chains learn from and are measured on, drawn at random where there are more.
const MOST_ROWS: usize = 20_000;

/// Rounds at most.
const ROUNDS: usize = 400;

/// Rounds that are made however much work they are.
const LEAST_ROUNDS: usize = 50;

/// Numbers that all rounds of a chain may look at: a few times what grown trees do on a thousand rows and hundreds of columns.
const WORK: f64 = 1e8;

/// Rounds without improvement after which boosting ends.
const PATIENCE: usize = 15;

/// Rounds after which it is seen whether boosting can still reach what is known already.
const TRIAL_ROUNDS: usize = 25;

/// The factor of every step.
const LEARNING_RATE: f64 = 0.1;

/// The fraction of its rows that a chain draws for each tree.
const SUBSAMPLE: f64 = 0.7;

/// Rows that draw every leaf to 0.
const PENALTY: f64 = 5.0;

/// How trees are grown.
const LIMITS: Limits = Limits { depth: 5, leaf_weight: 5.0, feature_share: 0.2, penalty: PENALTY };

/// Second derivatives are kept above this part of their mean, so that shares near 0 or 1 do not get unbounded steps.
const LEAST_CURVATURE: f64 = 1e-3;

/// The largest value of a leaf before the learning rate is applied.
const LONGEST_STEP: f64 = 4.0;

/// A label that no row has begins with the share of so many rows of equal shares.
const UNSEEN: f64 = 0.1;

/// Boosted trees and what each chain says about the rows that it left out.
pub struct Boosted {
    /// All chains as one model.
    pub model: BoostedModel,
    /// `[rows, labels]`.
    pub out_of_fold: Matrix<f32>,
}

/// Boosts one chain for every group of rows; none where the trees cannot come near `reached`, a divergence that is known already, where
/// not one round helps, or where somebody interrupts.
pub fn boost(
    data: &Dataset,
    groups: &RowGroups,
    reached: f64,
    context: &mut FitContext<'_>,
) -> Result<Option<Boosted>> {
    let seed = context.seed.named("boosted");
    let sample = sample_of(data.rows(), seed);
    let selected = sample.as_ref().map(|rows| data.select(rows));
    let own = selected.as_ref().unwrap_or(data);
    let of_row: Vec<usize> = match &sample {
        None => (0..data.rows()).map(|row| groups.of(row)).collect(),
        Some(rows) => rows.iter().map(|&row| groups.of(row)).collect(),
    };
    let codes = Codes::new(own.features()?, &context.threads);
    let threads = context.threads.clone();
    let mut chains: Vec<Chain<'_>> = (0..groups.count())
        .map(|group| Chain::new(own, &codes, &of_row, group, seed))
        .collect::<Result<_>>()?;
    // Without rows to learn from a chain says nothing.
    if chains.iter().any(|chain| chain.learnt.is_empty()) {
        return Ok(None);
    }
    let weight: f64 = (0..own.rows()).map(|row| f64::from(own.weight(row))).sum();
    let mut progress = Progress::new(own.mean_kl());
    for round in 1..=rounds_of(own)? {
        if context.check_interrupted().is_err() {
            return Ok(None);
        }
        // Each on one thread, so that the outcome does not depend on their number.
        let losses = threads.map(chains.iter_mut(), |chain| chain.advance(round));
        let kl = losses.iter().sum::<f64>() / if weight > 0.0 { weight } else { 1.0 };
        if progress.measured(round, kl) {
            chains.iter_mut().for_each(Chain::keep);
        }
        let late = context.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if progress.is_over(round, reached) || late {
            break;
        }
    }
    if progress.best_round == 0 || progress.is_hopeless {
        return Ok(None);
    }
    chains.iter_mut().for_each(|chain| chain.trees.truncate(progress.best_round));
    let mut out_of_fold = vec![0.0f32; data.rows() * data.labels()];
    for chain in &chains {
        chain.put_out_of_fold(data, groups, sample.as_deref(), &mut out_of_fold, &threads)?;
    }
    let out_of_fold = Matrix::new(data.rows(), data.labels(), out_of_fold)?;
    Ok(Some(Boosted { model: mean_of(chains), out_of_fold }))
}

/// How many rounds are worth their time: as many as their work allows.
fn rounds_of(data: &Dataset) -> Result<usize> {
    let entries = match data.features()? {
        Features::Dense(matrix) => matrix.as_slice().len(),
        Features::Sparse(rows) => rows.stored(),
    };
    let work = entries as f64 * SUBSAMPLE * LIMITS.feature_share * (data.labels() + 2) as f64;
    Ok(((WORK / work.max(1.0)) as usize).clamp(LEAST_ROUNDS, ROUNDS))
}

/// A random part of very many rows; none where all are used.
fn sample_of(rows: usize, seed: Seed) -> Option<Vec<usize>> {
    (rows > MOST_ROWS).then(|| {
        let mut drawn = permutation(rows, &mut seed.named("sample").generator());
        drawn.truncate(MOST_ROWS);
        drawn.sort_unstable();
        drawn
    })
}

/// How the divergence of left-out rows went.
struct Progress {
    best: f64,
    best_round: usize,
    /// At the end of each round, beginning before the first.
    course: Vec<f64>,
    is_hopeless: bool,
}

impl Progress {
    fn new(kl: f64) -> Self {
        Progress { best: kl, best_round: 0, course: vec![kl], is_hopeless: false }
    }

    /// Whether the round is the best so far.
    fn measured(&mut self, round: usize, kl: f64) -> bool {
        self.course.push(kl);
        let better = kl < self.best;
        if better {
            (self.best, self.best_round) = (kl, round);
        }
        better
    }

    /// Whether it is time to end. Progress slows down, so that as much again per round as in the last few is more than can be hoped for;
    /// what does not come near in so many rounds as were made, three times over, never does.
    fn is_over(&mut self, round: usize, reached: f64) -> bool {
        /// How far above what is known a member may be and still help.
        const NEAR: f64 = 1.1;
        const FEW: usize = 5;
        if round == TRIAL_ROUNDS {
            let now = self.course[round];
            let per_round = (self.course[round - FEW] - now).max(0.0) / FEW as f64;
            self.is_hopeless = now - 3.0 * TRIAL_ROUNDS as f64 * per_round > NEAR * reached;
        }
        self.is_hopeless || round - self.best_round >= PATIENCE
    }
}

/// Trees that learn from all rows but those of one group.
struct Chain<'a> {
    data: &'a Dataset,
    features: &'a Features,
    codes: &'a Codes,
    seed: Seed,
    group: usize,
    /// Rows that it learns from, and those that it left out.
    learnt: Vec<u32>,
    left_out: Vec<u32>,
    start: Vec<f32>,
    trees: Vec<Tree>,
    /// `[rows, labels]`.
    scores: Vec<f32>,
    predicted: Matrix<f32>,
    /// What it said of the left-out rows, one after the other, in the best round.
    best: Vec<f32>,
}

impl<'a> Chain<'a> {
    fn new(data: &'a Dataset, codes: &'a Codes, of_row: &[usize], group: usize, seed: Seed) -> Result<Self> {
        let all = 0..data.rows() as u32;
        let left_out: Vec<u32> = all.clone().filter(|&row| of_row[row as usize] == group).collect();
        let counts = |row: &u32| of_row[*row as usize] != group && data.weight(*row as usize) > 0.0;
        let learnt: Vec<u32> = all.filter(counts).collect();
        let mean = data.tabular()?.mean_target_of(learnt.iter().map(|&row| row as usize));
        // A label that none of its rows has may still come.
        let least = UNSEEN / (learnt.len() as f64 + UNSEEN) / data.labels().max(1) as f64;
        let start: Vec<f32> = mean.iter().map(|&share| share.max(least).ln() as f32).collect();
        let mut first = start.clone();
        softmax_in_place_f32(&mut first);
        Ok(Chain {
            data,
            features: data.features()?,
            codes,
            seed: seed.numbered(group as u64),
            group,
            learnt,
            left_out,
            predicted: Matrix::new(data.rows(), start.len(), first.repeat(data.rows()))?,
            scores: start.repeat(data.rows()),
            start,
            trees: Vec::new(),
            best: Vec::new(),
        })
    }

    /// Adds a tree and gives the divergence of the left-out rows, summed.
    fn advance(&mut self, round: usize) -> f64 {
        let labels = self.start.len();
        let mut generator = self.seed.numbered(round as u64).generator();
        let count = ((self.learnt.len() as f64 * SUBSAMPLE).ceil() as usize).max(1);
        let mut rows: Vec<u32> = permutation(self.learnt.len(), &mut generator)
            .into_iter()
            .take(count)
            .map(|at| self.learnt[at])
            .collect();
        rows.sort_unstable();
        let curvature = self.mean_curvature();
        let scale = curvature.iter().map(|h| (1.0 / h.sqrt()) as f32).collect();
        let objective = Residuals { data: self.data, predicted: &self.predicted, scale };
        let tree = grow(&SplitColumns::Best(self.codes), &objective, &LIMITS, rows, &mut generator);
        let leaf_of: Vec<u32> =
            (0..self.data.rows()).map(|row| tree.leaf_number(self.features, row) as u32).collect();
        let values = self.leaf_values(tree.leaf_count(), &leaf_of, &curvature);
        let predicted = self.predicted.as_mut_slice().chunks_exact_mut(labels);
        for ((scores, predicted), &leaf) in self.scores.chunks_exact_mut(labels).zip(predicted).zip(&leaf_of)
        {
            let steps = values.row(leaf as usize);
            scores.iter_mut().zip(steps).for_each(|(score, &step)| *score += step);
            predicted.copy_from_slice(scores);
            softmax_in_place_f32(predicted);
        }
        self.trees.push(tree.with_leaves(values));
        let loss = |&row: &u32| {
            let row = row as usize;
            f64::from(self.data.weight(row))
                * measures::kl(self.data.targets().row(row), self.predicted.row(row))
        };
        self.left_out.iter().map(loss).sum()
    }

    /// `mean p_k (1 - p_k)` over the rows that it learns from.
    fn mean_curvature(&self) -> Vec<f64> {
        let mut sums = vec![0.0f64; self.start.len()];
        let mut total = 0.0;
        for &row in &self.learnt {
            let weight = f64::from(self.data.weight(row as usize));
            total += weight;
            for (sum, &p) in sums.iter_mut().zip(self.predicted.row(row as usize)) {
                *sum += weight * f64::from(p * (1.0 - p));
            }
        }
        sums.into_iter().map(|sum| (sum / total).max(1e-9)).collect()
    }

    /// The steps of the leaves, by all rows that it learns from.
    fn leaf_values(&self, leaves: usize, leaf_of: &[u32], curvature: &[f64]) -> Matrix<f32> {
        let labels = self.start.len();
        let mut gradients = vec![0.0f64; leaves * labels];
        let mut bends = vec![0.0f64; leaves * labels];
        for &row in &self.learnt {
            let row = row as usize;
            let from = leaf_of[row] as usize * labels;
            let weight = f64::from(self.data.weight(row));
            let (targets, predicted) = (self.data.targets().row(row), self.predicted.row(row));
            for label in 0..labels {
                let (d, p) = (f64::from(targets[label]), f64::from(predicted[label]));
                gradients[from + label] += weight * (d - p);
                bends[from + label] += weight * (p * (1.0 - p)).max(LEAST_CURVATURE * curvature[label]);
            }
        }
        let steps = gradients.iter().zip(&bends).enumerate().map(|(at, (gradient, bend))| {
            let step = gradient / (bend + PENALTY * curvature[at % labels]);
            (LEARNING_RATE * step.clamp(-LONGEST_STEP, LONGEST_STEP)) as f32
        });
        Matrix::new(leaves, labels, steps.collect()).expect("a step for every leaf and label")
    }

    /// Keeps what it says of the left-out rows now.
    fn keep(&mut self) {
        self.best.clear();
        for &row in &self.left_out {
            self.best.extend_from_slice(self.predicted.row(row as usize));
        }
    }

    /// Writes what it says of all rows of its group, also of those that are not in the sample.
    fn put_out_of_fold(
        &self,
        data: &Dataset,
        groups: &RowGroups,
        sample: Option<&[usize]>,
        out: &mut [f32],
        threads: &Threads,
    ) -> Result<()> {
        let labels = self.start.len();
        let mut put = |row: usize, shares: &[f32]| {
            let out = &mut out[row * labels..(row + 1) * labels];
            out.copy_from_slice(shares);
            normalise(out);
        };
        match sample {
            None => self
                .left_out
                .iter()
                .zip(self.best.chunks_exact(labels))
                .for_each(|(&row, shares)| put(row as usize, shares)),
            Some(_) => {
                let rows: Vec<usize> = (0..data.rows()).filter(|&row| groups.of(row) == self.group).collect();
                let model = BoostedModel::new(self.start.clone(), self.trees.clone());
                let said =
                    Model::predict(&model, &data.inputs().select(&rows), threads)?.into_distributions()?;
                rows.iter().enumerate().for_each(|(place, &row)| put(row, said.row(place)));
            }
        }
        Ok(())
    }
}

/// The mean of the chains' scores as one model.
fn mean_of(chains: Vec<Chain<'_>>) -> BoostedModel {
    let share = 1.0 / chains.len() as f32;
    let mut start = vec![0.0f32; chains[0].start.len()];
    let mut trees = Vec::new();
    for chain in chains {
        start.iter_mut().zip(&chain.start).for_each(|(sum, score)| *sum += share * score);
        for tree in chain.trees {
            let mut leaves = tree.leaves().clone();
            leaves.as_mut_slice().iter_mut().for_each(|step| *step *= share);
            trees.push(tree.with_leaves(leaves));
        }
    }
    BoostedModel::new(start, trees)
}

/// Splits by `d - p`, every label in units of its standard deviation under the predictions; leaves are found apart.
struct Residuals<'a> {
    data: &'a Dataset,
    predicted: &'a Matrix<f32>,
    scale: Vec<f32>,
}

impl Objective for Residuals<'_> {
    type Focus = ();

    fn numerators(&self) -> usize {
        self.scale.len()
    }

    fn outputs(&self) -> usize {
        self.scale.len()
    }

    fn statistics(&self, rows: &[u32], width: usize, out: &mut [f32]) {
        for (&row, out) in rows.iter().zip(out.chunks_exact_mut(width)) {
            let row = row as usize;
            let weight = self.data.weight(row);
            out[0] = weight;
            out[1] = weight;
            let shares = self.data.targets().row(row).iter().zip(self.predicted.row(row)).zip(&self.scale);
            out[2..].iter_mut().zip(shares).for_each(|(o, ((d, p), scale))| *o = weight * (d - p) * scale);
        }
    }

    fn leaf(&self, (): &(), _: &[f64], out: &mut [f32]) {
        out.fill(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldlf_core::measures::{KL, mean_over_rows};

    /// Rows with five columns, of which the first two tell the targets by a threshold each, or none does.
    fn data(rows: usize, telling: bool) -> Dataset {
        let value = |row: usize, column: usize| ((row * 7919 + column * 104_729) % 1013) as f32 / 1013.0;
        let features = (0..rows * 5).map(|at| value(at / 5, at % 5)).collect();
        let targets = (0..rows).flat_map(|row| {
            let other = value(row * 31 + 5, 9);
            let (a, b) = if telling { (value(row, 0), value(row, 1)) } else { (other, 1.0 - other) };
            if a > 0.5 {
                [0.8, 0.1, 0.1]
            } else if b > 0.3 {
                [0.1, 0.7, 0.2]
            } else {
                [0.2, 0.2, 0.6]
            }
        });
        let features = Features::Dense(Matrix::new(rows, 5, features).unwrap());
        Dataset::new(features, Matrix::new(rows, 3, targets.collect()).unwrap()).unwrap()
    }

    fn boosted(data: &Dataset, reached: f64, threads: usize) -> Option<Boosted> {
        let seed = Seed::new(3);
        let groups = RowGroups::draw(data, 4, seed);
        let mut nobody = ();
        let mut context = FitContext::within(seed, Threads::new(threads).unwrap(), &mut nobody);
        boost(data, &groups, reached, &mut context).unwrap()
    }

    fn kl(data: &Dataset, predicted: &Matrix<f32>) -> f64 {
        mean_over_rows(&KL, data.targets(), predicted, None)
    }

    #[test]
    fn left_out_rows_are_foretold_where_columns_tell_the_targets() {
        let data = data(300, true);
        let found = boosted(&data, f64::INFINITY, 1).unwrap();
        let unseen = kl(&data, &found.out_of_fold);
        assert!(unseen < 0.3 * data.mean_kl(), "{unseen} {}", data.mean_kl());
        let seen = Model::predict(&found.model, data.inputs(), &Threads::one()).unwrap();
        assert!(kl(&data, &seen.into_distributions().unwrap()) < unseen);
    }

    #[test]
    fn columns_that_tell_nothing_are_hardly_believed() {
        let data = data(300, false);
        let unseen =
            boosted(&data, f64::INFINITY, 1).map_or(data.mean_kl(), |found| kl(&data, &found.out_of_fold));
        assert!((unseen / data.mean_kl() - 1.0).abs() < 0.05, "{unseen} {}", data.mean_kl());
    }

    #[test]
    fn what_cannot_come_near_is_given_up() {
        assert!(boosted(&data(300, false), 1e-3, 1).is_none());
    }

    #[test]
    fn chains_are_the_same_with_any_number_of_threads() {
        let data = data(200, true);
        let (one, three) = (boosted(&data, 1.0, 1).unwrap(), boosted(&data, 1.0, 3).unwrap());
        assert_eq!(one.out_of_fold, three.out_of_fold);
        assert_eq!(one.model.trees(), three.model.trees());
    }
}
