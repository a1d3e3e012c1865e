//! From decision values of pairs of classes to one distribution: a sigmoid per pair (Platt 2000, by the method of Lin, Lin and
//! Weng 2007), and the coupling of all pairs (Wu, Lin and Weng 2004, their second method).

use ldlf_math::numeric::sigmoid;

/// `P(first | f) = sigmoid(-(a f + b))`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sigmoid {
    pub a: f64,
    pub b: f64,
}

impl Sigmoid {
    /// The probability of the first class.
    pub(crate) fn probability(self, decision: f64) -> f64 {
        sigmoid(-(self.a * decision + self.b))
    }

    /// The most likely sigmoid for decision values of rows with signs (first class: +1) and weights. Each class counts one row
    /// more than it has, half of it on the other side, which keeps the sigmoid finite where the classes are separable.
    pub(crate) fn fit(decisions: &[f64], signs: &[f64], weights: &[f64]) -> Self {
        let count_of = |sign: f64| -> f64 {
            signs.iter().zip(weights).filter(|(y, _)| **y == sign).map(|(_, w)| w).sum()
        };
        let (first, second) = (count_of(1.0), count_of(-1.0));
        let (high, low) = ((first + 1.0) / (first + 2.0), 1.0 / (second + 2.0));
        let targets: Vec<f64> = signs.iter().map(|&y| if y > 0.0 { high } else { low }).collect();
        let rows = || decisions.iter().zip(&targets).zip(weights);
        let loss = |at: Sigmoid| -> f64 {
            rows()
                .map(|((&f, &t), &w)| {
                    let s = at.a * f + at.b;
                    // -t ln p - (1 - t) ln(1 - p) without overflow.
                    w * if s >= 0.0 { t * s + (-s).exp().ln_1p() } else { (t - 1.0) * s + s.exp().ln_1p() }
                })
                .sum()
        };
        let mut at = Sigmoid { a: 0.0, b: ((second + 1.0) / (first + 1.0)).ln() };
        let mut value = loss(at);
        for _ in 0..100 {
            let (mut aa, mut ab, mut bb, mut ga, mut gb) = (1e-12, 0.0, 1e-12, 0.0, 0.0);
            for ((&f, &t), &w) in rows() {
                let p = at.probability(f);
                let (curvature, slope) = (w * p * (1.0 - p), w * (t - p));
                aa += f * f * curvature;
                ab += f * curvature;
                bb += curvature;
                ga += f * slope;
                gb += slope;
            }
            if ga.abs() < 1e-6 && gb.abs() < 1e-6 {
                break;
            }
            let determinant = aa * bb - ab * ab;
            let (da, db) = (-(bb * ga - ab * gb) / determinant, -(aa * gb - ab * ga) / determinant);
            let slope = ga * da + gb * db;
            let mut step = 1.0;
            let moved = loop {
                let there = Sigmoid { a: at.a + step * da, b: at.b + step * db };
                let there_value = loss(there);
                if there_value < value + 1e-4 * step * slope {
                    break Some((there, there_value));
                }
                step *= 0.5;
                if step < 1e-10 {
                    break None;
                }
            };
            let Some(moved) = moved else { break };
            (at, value) = moved;
        }
        at
    }
}

/// The numbers of the two classes of every pair, in the order `(0, 1), (0, 2), ..., (1, 2), ...`.
pub(crate) fn pairs(classes: usize) -> Vec<(usize, usize)> {
    (0..classes).flat_map(|i| (i + 1..classes).map(move |j| (i, j))).collect()
}

/// The distribution `p` that minimises `sum_i sum_{j != i} (r_ji p_i - r_ij p_j)^2` for the probabilities `r_ij` of class `i`
/// within the pair; `r` is `[classes, classes]` in row order and its diagonal is not read.
pub(crate) fn couple(r: &[f64], classes: usize) -> Vec<f64> {
    let at = |i: usize, j: usize| i * classes + j;
    let mut q = vec![0.0f64; classes * classes];
    for i in 0..classes {
        for j in (0..classes).filter(|&j| j != i) {
            q[at(i, i)] += r[at(j, i)] * r[at(j, i)];
            q[at(i, j)] = -r[at(j, i)] * r[at(i, j)];
        }
    }
    let mut p = vec![1.0 / classes as f64; classes];
    let mut qp = vec![0.0f64; classes];
    for _ in 0..100.max(10 * classes) {
        for i in 0..classes {
            qp[i] = q[i * classes..(i + 1) * classes].iter().zip(&p).map(|(q, p)| q * p).sum();
        }
        let mut whole: f64 = qp.iter().zip(&p).map(|(qp, p)| qp * p).sum();
        let worst = qp.iter().map(|qp| (qp - whole).abs()).fold(0.0, f64::max);
        if worst < 1e-7 / classes as f64 {
            break;
        }
        for i in 0..classes {
            let diagonal = q[at(i, i)].max(1e-300);
            let change = (whole - qp[i]) / diagonal;
            p[i] += change;
            let shrink = 1.0 + change;
            whole = (whole + change * (change * diagonal + 2.0 * qp[i])) / (shrink * shrink);
            for j in 0..classes {
                qp[j] = (qp[j] + change * q[at(i, j)]) / shrink;
                p[j] /= shrink;
            }
        }
    }
    p
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Case {
        pairwise: Vec<Vec<f64>>,
        coupled: Vec<f64>,
        decisions: Vec<f64>,
        signs: Vec<f64>,
        weights: Vec<f64>,
        a: f64,
        b: f64,
    }

    fn case() -> Case {
        serde_json::from_str(include_str!("../tests/oracles/pairwise_probabilities.json")).unwrap()
    }

    #[test]
    fn coupling_solves_the_linear_system_of_its_optimum() {
        // tests/oracles/pairwise_probabilities.py: numpy.linalg.solve.
        let case = case();
        let found = couple(&case.pairwise.concat(), case.coupled.len());
        assert!(found.iter().zip(&case.coupled).all(|(f, c)| (f - c).abs() < 1e-5), "{found:?}");
    }

    #[test]
    fn pairs_that_agree_give_back_their_distribution() {
        let p = [0.5, 0.3, 0.2];
        let r: Vec<f64> = (0..9).map(|at| p[at / 3] / (p[at / 3] + p[at % 3])).collect();
        assert!(couple(&r, 3).iter().zip(p).all(|(f, p)| (f - p).abs() < 1e-6));
    }

    #[test]
    fn the_sigmoid_is_the_one_of_least_cross_entropy() {
        // tests/oracles/pairwise_probabilities.py: scipy.optimize.minimize.
        let case = case();
        let found = Sigmoid::fit(&case.decisions, &case.signs, &case.weights);
        assert!((found.a - case.a).abs() < 1e-4 && (found.b - case.b).abs() < 1e-4, "{found:?}");
    }

    #[test]
    fn classes_that_are_apart_keep_the_sigmoid_finite() {
        let found = Sigmoid::fit(&[1.0, 2.0, -1.0, -2.0], &[1.0, 1.0, -1.0, -1.0], &[1.0; 4]);
        assert!(found.probability(2.0) > 0.6 && found.probability(2.0) < 0.95, "{found:?}");
    }
}
