//! Mixtures of predictions, `p(x) = sum_m w_m p_m(x)`: the weights that bring them nearest to the targets.

use ldlf_math::numeric::normalise;

use crate::{Dataset, Matrix, Result};

/// What one member says about rows that it did not learn from.
#[derive(Clone, Copy)]
pub struct Candidate<'a> {
    /// `[rows, labels]`.
    pub predicted: &'a Matrix<f32>,
    /// How much lower its K-L divergence will be once all its trees predict, where so far only some of them could: 0 where
    /// it predicts as it will.
    pub gain: f64,
}

/// Members below this weight are left out.
const LEAST_WEIGHT: f64 = 0.02;

/// Steps of Newton's method at most; a handful is the rule.
const STEPS: usize = 50;

/// A step that lowers the divergence by less than this fraction of it ends the search.
const TOLERANCE: f64 = 1e-9;

/// The weights, on the simplex, of the mixture whose K-L divergence from the targets is smallest; members of next to no weight are
/// left out and the others weighed again.
///
/// The divergence is convex in the weights, and Newton's method on the simplex finds its end. A member whose average is still over
/// few trees looks noisier than it will be: its noise enters the mixture by the square of its weight, so that `w^2 gain` is taken off.
///
/// # Shapes
/// - result: one weight per candidate
pub fn mixture_weights(data: &Dataset, candidates: &[Candidate<'_>]) -> Vec<f64> {
    let all: Vec<usize> = (0..candidates.len()).collect();
    let first = solve(data, candidates, &all);
    let heavy: Vec<usize> = all.into_iter().filter(|&index| first[index] >= LEAST_WEIGHT).collect();
    solve(data, candidates, &heavy)
}

/// How much lower the divergence of an average over `all` trees will be than that over `few` of them. Averages over `m` trees err by
/// about `a + c / m`; `gap`, how far the average over the few is below single trees, tells `c`.
pub fn averaging_gain(gap: f64, few: f64, all: f64) -> f64 {
    if few < 1.5 || all <= few {
        return 0.0;
    }
    gap.max(0.0) * (1.0 / few - 1.0 / all) / (1.0 - 1.0 / few)
}

/// The mixture of some predictions.
pub fn mix(weights: &[f64], predictions: &[&Matrix<f32>]) -> Result<Matrix<f32>> {
    let (rows, labels) = (predictions[0].rows(), predictions[0].cols());
    let mut mixed = vec![0.0f32; rows * labels];
    for (weight, prediction) in weights.iter().zip(predictions).filter(|(weight, _)| **weight > 0.0) {
        mixed.iter_mut().zip(prediction.as_slice()).for_each(|(sum, p)| *sum += *weight as f32 * p);
    }
    mixed.chunks_exact_mut(labels.max(1)).for_each(normalise);
    Ok(Matrix::new(rows, labels, mixed)?)
}

/// The variance of a mixture, share by share: `sum_m w_m (v_m + p_m^2) - p^2`, where a member without a variance of its own counts as one
/// tree.
pub fn mixed_variance(
    weights: &[f64],
    predictions: &[&Matrix<f32>],
    variances: &[Option<Matrix<f32>>],
) -> Result<Matrix<f32>> {
    let (rows, labels) = (predictions[0].rows(), predictions[0].cols());
    let total: f64 = weights.iter().sum();
    let of_share = |place: usize| {
        let (mut mean, mut square) = (0.0, 0.0);
        for ((weight, prediction), own) in weights.iter().zip(predictions).zip(variances) {
            let p = f64::from(prediction.as_slice()[place]);
            let own = own.as_ref().map_or(0.0, |own| f64::from(own.as_slice()[place]));
            mean += weight / total * p;
            square += weight / total * (own + p * p);
        }
        (square - mean * mean).max(0.0) as f32
    };
    Ok(Matrix::new(rows, labels, (0..rows * labels).map(of_share).collect())?)
}

/// The divergence of a mixture but for a constant, with its first and second derivatives.
struct Objective {
    value: f64,
    gradient: Vec<f64>,
    /// `[members, members]`.
    curvature: Vec<f64>,
}

fn evaluate(data: &Dataset, candidates: &[Candidate<'_>], members: &[usize], weights: &[f64]) -> Objective {
    let count = members.len();
    let mut objective =
        Objective { value: 0.0, gradient: vec![0.0; count], curvature: vec![0.0; count * count] };
    let mut ratios = vec![0.0f64; count];
    let mut total = 0.0;
    for row in 0..data.rows() {
        let weight = f64::from(data.weight(row));
        total += weight;
        for (label, &target) in data.targets().row(row).iter().enumerate() {
            let pulls = weight * f64::from(target);
            if pulls == 0.0 {
                continue;
            }
            let mut mixed = 0.0;
            for (ratio, (&member, w)) in ratios.iter_mut().zip(members.iter().zip(weights)) {
                *ratio = f64::from(candidates[member].predicted.row(row)[label]);
                mixed += w * *ratio;
            }
            let mixed = mixed.max(f64::from(f32::MIN_POSITIVE));
            objective.value -= pulls * mixed.ln();
            ratios.iter_mut().for_each(|ratio| *ratio /= mixed);
            for i in 0..count {
                objective.gradient[i] -= pulls * ratios[i];
                for j in 0..=i {
                    objective.curvature[i * count + j] += pulls * ratios[i] * ratios[j];
                }
            }
        }
    }
    let total = if total > 0.0 { total } else { 1.0 };
    objective.value /= total;
    objective.gradient.iter_mut().for_each(|g| *g /= total);
    for i in 0..count {
        for j in 0..=i {
            let entry = objective.curvature[i * count + j] / total;
            objective.curvature[i * count + j] = entry;
            objective.curvature[j * count + i] = entry;
        }
    }
    for (i, &member) in members.iter().enumerate() {
        let gain = candidates[member].gain;
        objective.value -= gain * weights[i].powi(2);
        objective.gradient[i] -= 2.0 * gain * weights[i];
        objective.curvature[i * count + i] -= 2.0 * gain;
    }
    objective
}

/// Newton's method over some of the candidates; the others weigh nothing.
fn solve(data: &Dataset, candidates: &[Candidate<'_>], members: &[usize]) -> Vec<f64> {
    let mut weights = vec![1.0 / members.len().max(1) as f64; members.len()];
    let mut now = evaluate(data, candidates, members, &weights);
    for _ in 0..STEPS {
        let aim = quadratic_minimum(&now, &weights);
        let mut step = 1.0;
        let before = now.value;
        // Halved until it lowers the divergence.
        let better = loop {
            let moved: Vec<f64> = weights.iter().zip(&aim).map(|(w, a)| w + step * (a - w)).collect();
            let next = evaluate(data, candidates, members, &moved);
            if next.value < before {
                break Some((moved, next));
            }
            step *= 0.5;
            if step < 1e-6 {
                break None;
            }
        };
        let Some((moved, next)) = better else { break };
        (weights, now) = (moved, next);
        if before - now.value <= TOLERANCE * before.abs() {
            break;
        }
    }
    let mut all = vec![0.0; candidates.len()];
    members.iter().zip(weights).for_each(|(&member, weight)| all[member] = weight);
    all
}

/// The minimum over the simplex of the quadratic model at `weights`: weight is moved between two members at a time until none gains.
fn quadratic_minimum(at: &Objective, weights: &[f64]) -> Vec<f64> {
    let count = weights.len();
    let mut found = weights.to_vec();
    let mut gradient = at.gradient.clone();
    for _ in 0..200 {
        let mut largest = 0.0f64;
        for i in 0..count {
            for j in 0..i {
                let slope = gradient[i] - gradient[j];
                let bend = at.curvature[i * count + i] + at.curvature[j * count + j]
                    - 2.0 * at.curvature[i * count + j];
                let wanted = if bend > 1e-300 { -slope / bend } else { -slope.signum() };
                let moved = wanted.clamp(-found[i], found[j]);
                if moved != 0.0 && slope != 0.0 {
                    found[i] += moved;
                    found[j] -= moved;
                    for k in 0..count {
                        gradient[k] += moved * (at.curvature[k * count + i] - at.curvature[k * count + j]);
                    }
                    largest = largest.max(moved.abs());
                }
            }
        }
        if largest < 1e-10 {
            break;
        }
    }
    found.iter_mut().for_each(|w| *w = w.max(0.0));
    let total: f64 = found.iter().sum();
    found.iter_mut().for_each(|w| *w /= total);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Features;
    use crate::measures::{KL, mean_over_rows};

    fn data() -> Dataset {
        let targets = Matrix::from_rows(&[[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]]);
        Dataset::new(Features::Dense(Matrix::from_rows(&[[0.0], [1.0], [2.0]])), targets).unwrap()
    }

    fn weights_of(predictions: &[&Matrix<f32>]) -> Vec<f64> {
        let candidates: Vec<Candidate<'_>> =
            predictions.iter().map(|predicted| Candidate { predicted, gain: 0.0 }).collect();
        mixture_weights(&data(), &candidates)
    }

    fn kl_of(predicted: &Matrix<f32>) -> f64 {
        mean_over_rows(&KL, data().targets(), predicted, None)
    }

    #[test]
    fn a_member_that_is_right_gets_all_the_weight() {
        let (right, uniform) = (data().targets().clone(), Matrix::from_rows(&[[0.5, 0.5]; 3]));
        let weights = weights_of(&[&uniform, &right]);
        assert!((weights[1] - 1.0).abs() < 1e-6, "{weights:?}");
    }

    #[test]
    fn two_members_that_err_apart_are_better_together() {
        let over = Matrix::from_rows(&[[0.99, 0.01], [0.3, 0.7], [0.7, 0.3]]);
        let under = Matrix::from_rows(&[[0.8, 0.2], [0.1, 0.9], [0.5, 0.5]]);
        let weights = weights_of(&[&over, &under]);
        let together = kl_of(&mix(&weights, &[&over, &under]).unwrap());
        assert!(together < kl_of(&over) && together < kl_of(&under), "{weights:?} {together}");
    }

    #[test]
    fn no_other_weights_on_a_grid_are_better() {
        let a = Matrix::from_rows(&[[0.95, 0.05], [0.4, 0.6], [0.7, 0.3]]);
        let b = Matrix::from_rows(&[[0.7, 0.3], [0.1, 0.9], [0.4, 0.6]]);
        let c = Matrix::from_rows(&[[0.5, 0.5], [0.3, 0.7], [0.65, 0.35]]);
        let members = [&a, &b, &c];
        let best = kl_of(&mix(&weights_of(&members), &members).unwrap());
        for i in 0..=50 {
            for j in 0..=50 - i {
                let weights = [f64::from(i) / 50.0, f64::from(j) / 50.0, f64::from(50 - i - j) / 50.0];
                assert!(best <= kl_of(&mix(&weights, &members).unwrap()) + 1e-6, "{weights:?}");
            }
        }
    }

    #[test]
    fn the_variance_of_a_mixture_is_that_within_its_members_and_between_them() {
        // Members say 0.2 and 0.6 with weights 3/4 and 1/4: 0.03 between them; the first varies by 0.04 itself.
        let (a, b) = (Matrix::from_rows(&[[0.2f32, 0.8]]), Matrix::from_rows(&[[0.6f32, 0.4]]));
        let own = [Some(Matrix::from_rows(&[[0.04f32, 0.04]])), None];
        let found = mixed_variance(&[0.75, 0.25], &[&a, &b], &own).unwrap();
        assert!(found.as_slice().iter().all(|variance| (variance - 0.06).abs() < 1e-6), "{found:?}");
    }

    #[test]
    fn a_gain_to_come_raises_a_members_weight() {
        let over = Matrix::from_rows(&[[0.99, 0.01], [0.3, 0.7], [0.7, 0.3]]);
        let under = Matrix::from_rows(&[[0.8, 0.2], [0.1, 0.9], [0.5, 0.5]]);
        let with = |gain: f64| {
            let candidates =
                [Candidate { predicted: &over, gain }, Candidate { predicted: &under, gain: 0.0 }];
            mixture_weights(&data(), &candidates)[0]
        };
        assert!(with(0.01) > with(0.0), "{} {}", with(0.01), with(0.0));
    }
}
