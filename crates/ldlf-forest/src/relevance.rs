//! How much every input tells about the targets by itself: the learning rates of `scaling=relevance`.

use ldlf_core::Threads;
use ldlf_core::dataset::Tabular;
use ldlf_core::leave_out::RowGroups;
use ldlf_math::parallel::chunks;

use crate::encoder::{Encoded, Encoder};
use crate::head::Head;

/// Scores between which an input is cut into bins: six equal shares of a normal distribution.
const EDGES: [f32; BINS - 1] = [-0.967, -0.431, 0.0, 0.431, 0.967];

const BINS: usize = 6;

/// Learning rates grow with this power of the explained variance.
const POWER: f64 = 0.75;

/// What is left to an input that explains nothing, in units of what chance alone would explain.
const LEAST: f64 = 0.04;

/// Rows that are asked at most, spread evenly.
const MOST_ROWS: usize = 20_000;

/// Inputs whose sums are held at a time.
const TOGETHER: usize = 32;

/// The learning rate of every weight, `[inputs, units]`, relative to that of the optimiser: inputs that tell more learn faster and
/// start larger. Their mean square over the inputs is 1; a bias has 1.
///
/// What an input tells is the share of the targets' variance between the bins of its scores, less what chance would explain. A tree that leaves
/// out a group of rows asks only the others, so that nothing about the rows left out reaches it. Units that several trees share ask all.
///
/// # Shapes
/// - `encoder`: gives normal scores of `data`'s rows
pub fn learning_rates(
    encoder: &Encoder,
    data: Tabular<'_>,
    rows: &[usize],
    groups: Option<&RowGroups>,
    head: &Head<f32>,
    threads: &Threads,
) -> Vec<f32> {
    let shape = head.shape();
    let own_units = shape.units == shape.trees * shape.splits();
    let groups = groups.filter(|_| own_units);
    let relevance = relevance(encoder, data, rows, groups, threads);
    let mut rates = vec![1.0; encoder.inputs() * shape.units];
    for input in 0..relevance[0].len() {
        let rates = &mut rates[input * shape.units..(input + 1) * shape.units];
        match groups {
            None => rates.fill(relevance[0][input]),
            Some(groups) => {
                for tree in 0..shape.trees {
                    let own = relevance[tree % groups.count()][input];
                    head.units_of(tree).iter().for_each(|&unit| rates[unit as usize] = own);
                }
            }
        }
    }
    rates
}

/// The relevance of every input but the bias, for every group of rows that is left out.
fn relevance(
    encoder: &Encoder,
    data: Tabular<'_>,
    rows: &[usize],
    groups: Option<&RowGroups>,
    threads: &Threads,
) -> Vec<Vec<f32>> {
    let count = groups.map_or(1, RowGroups::count);
    let (width, features) = (encoder.inputs(), encoder.inputs() - usize::from(encoder.bias()));
    let rows: Vec<usize> = rows.iter().copied().step_by(rows.len().div_ceil(MOST_ROWS).max(1)).collect();
    let mut encoded = encoder.buffer(data.features);
    encoder.encode(data.features, rows.iter().copied(), None, &mut encoded);
    // Sparse columns have no scores.
    let Encoded::Dense(encoded) = encoded else { return vec![vec![1.0; features]; count] };
    let group_of = |row: usize| groups.map_or(0, |groups| groups.of(row));
    let by_block: Vec<Vec<Vec<f64>>> = threads.map(chunks(features, TOGETHER), |block| {
        let mut sums = Sums::new(block.len(), count, data.labels());
        for (&row, scores) in rows.iter().zip(encoded.chunks_exact(width)) {
            let weight = f64::from(data.weight(row));
            sums.add(&scores[block.clone()], group_of(row), data.targets().row(row), weight);
        }
        (0..block.len()).map(|input| sums.relevance(input, groups.is_some())).collect()
    });
    let mut relevance = vec![Vec::with_capacity(features); count];
    for of_input in by_block.iter().flatten() {
        relevance.iter_mut().zip(of_input).for_each(|(all, one)| all.push(*one));
    }
    relevance.iter().map(|all| normalised(all)).collect()
}

/// With mean square 1.
fn normalised(relevance: &[f64]) -> Vec<f32> {
    let square = relevance.iter().map(|r| r * r).sum::<f64>() / relevance.len().max(1) as f64;
    let factor = if square > 0.0 { 1.0 / square.sqrt() } else { 0.0 };
    relevance.iter().map(|r| if factor > 0.0 { (r * factor) as f32 } else { 1.0 }).collect()
}

/// Sums of weights and targets by input, group and bin.
struct Sums {
    groups: usize,
    labels: usize,
    /// `[inputs, groups, bins, 2 + labels]`: the weights, their squares and the weighted targets.
    by_bin: Vec<f64>,
    /// `[groups]`: the weighted squares of the targets, summed over labels.
    squares: Vec<f64>,
}

impl Sums {
    fn new(inputs: usize, groups: usize, labels: usize) -> Self {
        let by_bin = vec![0.0; inputs * groups * BINS * (2 + labels)];
        Sums { groups, labels, by_bin, squares: vec![0.0; groups] }
    }

    fn add(&mut self, scores: &[f32], group: usize, target: &[f32], weight: f64) {
        let width = 2 + self.labels;
        self.squares[group] += weight * target.iter().map(|&d| f64::from(d * d)).sum::<f64>();
        for (input, &score) in scores.iter().enumerate() {
            let bin = EDGES.iter().filter(|&&edge| score > edge).count();
            let start = ((input * self.groups + group) * BINS + bin) * width;
            let sums = &mut self.by_bin[start..start + width];
            sums[0] += weight;
            sums[1] += weight * weight;
            sums[2..].iter_mut().zip(target).for_each(|(sum, &d)| *sum += weight * f64::from(d));
        }
    }

    /// The relevance of one input, for every group that is left out.
    fn relevance(&self, input: usize, leaves_out: bool) -> Vec<f64> {
        let size = BINS * (2 + self.labels);
        let own = &self.by_bin[input * self.groups * size..(input + 1) * self.groups * size];
        let kept = |group: usize| (0..self.groups).filter(move |&other| !leaves_out || other != group);
        (0..self.groups)
            .map(|group| {
                let mut bins = vec![0.0; size];
                for other in kept(group) {
                    let theirs = &own[other * size..(other + 1) * size];
                    bins.iter_mut().zip(theirs).for_each(|(sum, own)| *sum += own);
                }
                explained(&bins, self.labels, kept(group).map(|other| self.squares[other]).sum())
            })
            .collect()
    }
}

/// The variance between bins over the whole variance, less chance, to the power of learning rates.
fn explained(bins: &[f64], labels: usize, squares: f64) -> f64 {
    let mut all = vec![0.0; 2 + labels];
    let (mut between, mut used) = (0.0, 0.0);
    for bin in bins.chunks_exact(2 + labels).filter(|bin| bin[0] > 0.0) {
        all.iter_mut().zip(bin).for_each(|(sum, own)| *sum += own);
        between += bin[2..].iter().map(|sum| sum * sum).sum::<f64>() / bin[0];
        used += 1.0;
    }
    let weight = all[0];
    let centre = if weight > 0.0 { all[2..].iter().map(|sum| sum * sum).sum::<f64>() / weight } else { 0.0 };
    let variance = squares - centre;
    if variance <= 0.0 || used < 2.0 {
        return 0.0;
    }
    // As many rows of equal weight would tell as much.
    let rows = weight * weight / all[1];
    let chance = (used - 1.0) / rows;
    (((between - centre) / variance - chance).max(0.0) + LEAST * chance).powf(POWER)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two labels; the bins of one input, given as (weight, share of the first label).
    fn of_bins(bins: &[(f64, f64)]) -> (Vec<f64>, f64) {
        let mut sums = vec![0.0; BINS * 4];
        let mut squares = 0.0;
        for (own, &(weight, share)) in sums.chunks_exact_mut(4).zip(bins) {
            own.copy_from_slice(&[weight, weight, weight * share, weight * (1.0 - share)]);
            squares += weight * (share * share + (1.0 - share).powi(2));
        }
        (sums, squares)
    }

    #[test]
    fn an_input_that_tells_all_explains_the_whole_variance() {
        let (bins, squares) = of_bins(&[(500.0, 0.0), (500.0, 1.0)]);
        let all = explained(&bins, 2, squares);
        assert!((all - 1.0).abs() < 2e-3, "{all}");
    }

    #[test]
    fn an_input_that_tells_nothing_keeps_the_least() {
        let (bins, _) = of_bins(&[(500.0, 0.5), (500.0, 0.5)]);
        let nothing = explained(&bins, 2, 1000.0);
        assert!((nothing - (LEAST / 1000.0).powf(POWER)).abs() < 1e-12, "{nothing}");
    }

    #[test]
    fn a_constant_input_is_left_out() {
        let (bins, _) = of_bins(&[(1000.0, 0.5)]);
        assert_eq!(explained(&bins, 2, 1000.0), 0.0);
    }

    #[test]
    fn rates_have_mean_square_one() {
        let rates = normalised(&[0.5, 0.1, 0.0]);
        let square = rates.iter().map(|r| r * r).sum::<f32>() / 3.0;
        assert!((square - 1.0).abs() < 1e-6);
        assert_eq!(normalised(&[0.0, 0.0]), [1.0, 1.0], "nothing tells anything");
    }
}
