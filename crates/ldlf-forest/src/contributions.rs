//! Along the soft splits of a forest: how much every feature moves the expected distribution of a row away from the mean.
//!
//! With `v_n` the mean of the leaves under node `n` over background rows, by the shares in which these reach them, the root's `v` is
//! the mean prediction, and the prediction of a row is
//!
//! `p(x) = v_root + sum_n mu_n(x) (s_n(x) - m_n) (v_left - v_right)`,
//!
//! where `mu_n` is the share of the row that reaches `n`, `s_n` the share of that which goes left, and `m_n` the same of the background
//! rows. The sum is exact, and what remains is to share out `s_n - m_n` among the features of the split's activation
//! `a = sum_j w_j z_j`: `s_n - sigmoid(mean a)` in proportion to `w_j (z_j - mean z_j)`, by which the features move the activation, and
//! `sigmoid(mean a) - m_n`, which is due to the curvature of the sigmoid and to no feature of the row, in proportion to `|w_j|` times
//! the deviation of `z_j`, by which features spread the activation.

use ldlf_core::explain::Contributions;
use ldlf_core::{Features, Threads};
use ldlf_math::numeric::sigmoid;
use ldlf_math::parallel::chunks;

use crate::encoder::EncodedView;
use crate::head::CHUNK;
use crate::shallow_forest::ShallowForest;
use crate::view::Part;

/// What the background rows say about a forest.
struct Background {
    /// The mean and the deviation of every input.
    mean: Vec<f64>,
    deviation: Vec<f64>,
    /// The activation of every unit at the mean inputs.
    centre: Vec<f64>,
    /// Per unit, `sum_j |w_j| deviation_j`.
    spread: Vec<f64>,
    /// Per tree and node: the mean of the leaves under it, `[trees][nodes][labels]`; leaves after splits, in their order.
    values: Vec<Vec<Vec<f64>>>,
    /// Per tree and split, the share of the background rows at it that goes left.
    to_left: Vec<Vec<f64>>,
}

/// The contributions of features to some rows.
pub(crate) fn of_forest(
    forest: &ShallowForest,
    background: &Features,
    rows: &Features,
    threads: &Threads,
) -> Contributions {
    let known = Background::new(forest, background, threads);
    let shape = *forest.head.shape();
    let mut base = vec![0.0; shape.labels];
    for tree in &known.values {
        base.iter_mut().zip(&tree[0]).for_each(|(sum, value)| *sum += value / shape.trees as f64);
    }
    let numbers: Vec<usize> = (0..rows.rows()).collect();
    let values = threads.map(numbers.iter(), |&row: &usize| of_row(forest, &known, rows, row)).concat();
    Contributions { base, values }
}

/// `[features, labels]`.
fn of_row(forest: &ShallowForest, known: &Background, features: &Features, row: usize) -> Vec<f64> {
    let (shape, encoder) = (*forest.head.shape(), &forest.encoder);
    let (labels, units, splits) = (shape.labels, shape.units, shape.splits());
    let mut encoded = encoder.buffer(features);
    encoder.encode(features, row..row + 1, None, &mut encoded);
    let mut inputs = vec![0.0f64; encoder.inputs()];
    match encoded.view() {
        EncodedView::Dense(values) => inputs.iter_mut().zip(values).for_each(|(z, &v)| *z = f64::from(v)),
        EncodedView::Sparse(rows) => {
            let (columns, values) = rows.row(0);
            columns.iter().zip(values).for_each(|(&column, &v)| inputs[column as usize] = f64::from(v));
        }
    }
    let weights = forest.map.weights();
    let mut activations = vec![0.0f64; units];
    for (input, z) in inputs.iter().enumerate().filter(|(_, z)| **z != 0.0) {
        let own = &weights[input * units..(input + 1) * units];
        activations.iter_mut().zip(own).for_each(|(a, &w)| *a += z * f64::from(w));
    }
    // What a unit's splits move the labels by: per step of the activation, and by the curvature.
    let (mut steps, mut curved) = (vec![0.0f64; units * labels], vec![0.0f64; units * labels]);
    for tree in 0..shape.trees {
        let (values, to_left) = (&known.values[tree], &known.to_left[tree]);
        let mut reached = vec![0.0f64; 2 * splits + 1];
        reached[0] = 1.0 / shape.trees as f64;
        for node in 0..splits {
            let unit = forest.head.units_of(tree)[node] as usize;
            let (here, centre) = (sigmoid(activations[unit]), sigmoid(known.centre[unit]));
            let share = reached[node];
            reached[2 * node + 1] = share * here;
            reached[2 * node + 2] = share * (1.0 - here);
            let moved = activations[unit] - known.centre[unit];
            let slope = if moved.abs() > 1e-9 { (here - centre) / moved } else { centre * (1.0 - centre) };
            let bend = centre - to_left[node];
            for label in 0..labels {
                let change = share * (values[2 * node + 1][label] - values[2 * node + 2][label]);
                steps[unit * labels + label] += slope * change;
                curved[unit * labels + label] += bend * change;
            }
        }
    }
    let mut out = vec![0.0; encoder.features() * labels];
    for (input, z) in inputs.iter().enumerate() {
        let Some(feature) = encoder.feature_of(input) else { continue };
        let (moved, deviation) = (z - known.mean[input], known.deviation[input]);
        if moved == 0.0 && deviation == 0.0 {
            continue;
        }
        let out = &mut out[feature * labels..(feature + 1) * labels];
        for unit in 0..units {
            let weight = f64::from(weights[input * units + unit]);
            let spread = known.spread[unit];
            let share = if spread > 0.0 { weight.abs() * deviation / spread } else { 0.0 };
            for (label, out) in out.iter_mut().enumerate() {
                let at = unit * labels + label;
                *out += weight * moved * steps[at] + share * curved[at];
            }
        }
    }
    out
}

impl Background {
    fn new(forest: &ShallowForest, features: &Features, threads: &Threads) -> Self {
        let shape = *forest.head.shape();
        let (leaves, labels, splits) = (shape.leaves(), shape.labels, shape.splits());
        let inputs = forest.encoder.inputs();
        let parts = threads.map(chunks(features.rows(), CHUNK), |rows| {
            let mut part = Part::new(inputs, shape.trees * leaves);
            let shares = forest.route(features, rows, Some(&mut part));
            part.add_shares(&shares);
            part
        });
        let mut total = Part::new(inputs, shape.trees * leaves);
        parts.iter().for_each(|part| total.add(part));
        let rows = features.rows().max(1) as f64;
        let (mean, deviation) = (total.means(rows), total.deviations(rows));
        let (mut centre, mut spread) = (vec![0.0; shape.units], vec![0.0; shape.units]);
        for input in 0..inputs {
            let own = &forest.map.weights()[input * shape.units..(input + 1) * shape.units];
            for (unit, &weight) in own.iter().enumerate() {
                centre[unit] += f64::from(weight) * mean[input];
                if forest.encoder.feature_of(input).is_some() {
                    spread[unit] += f64::from(weight).abs() * deviation[input];
                }
            }
        }
        let (mut values, mut to_left) = (Vec::new(), Vec::new());
        for tree in 0..shape.trees {
            let mass = &total.mass[tree * leaves..(tree + 1) * leaves];
            let mut masses = vec![0.0f64; splits];
            masses.extend(mass);
            let mut own: Vec<Vec<f64>> = vec![Vec::new(); splits];
            let distributions = forest.head.leaves_of(tree).chunks(labels);
            own.extend(distributions.map(|leaf| leaf.iter().map(|&p| f64::from(p)).collect()));
            let mut left_shares = vec![0.5f64; splits];
            for node in (0..splits).rev() {
                let (left, right) = (2 * node + 1, 2 * node + 2);
                masses[node] = masses[left] + masses[right];
                if masses[node] > 0.0 {
                    left_shares[node] = masses[left] / masses[node];
                }
                let share = left_shares[node];
                own[node] =
                    own[left].iter().zip(&own[right]).map(|(l, r)| share * l + (1.0 - share) * r).collect();
            }
            values.push(own);
            to_left.push(left_shares);
        }
        Background { mean, deviation, centre, spread, values, to_left }
    }
}
