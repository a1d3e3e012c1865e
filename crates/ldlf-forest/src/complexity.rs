//! How the time of training grows with each size: the paper claims `O(K D C n)` for forward and backward of a mini-batch of `n`
//! rows and for one iteration of the leaf update, with `K` trees, `D` leaves per tree and `C` labels ('Time Complexity').

use std::time::Instant;

use ldlf_core::{Result, Seed, Threads};
use ldlf_math::product::View;
use rand::RngExt;

use crate::head::{Examples, Given, Head, LeafUpdate};
use crate::leaves::LeafPrior;
use crate::tree_shape::ForestShape;

/// A size that time is measured against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// The rows of a mini-batch, `n`.
    Rows,
    /// The trees, `K`.
    Trees,
    /// The leaves of a tree, `D`.
    Leaves,
    /// The labels, `C`.
    Labels,
}

/// The work that is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The loss and its gradient with respect to the activations.
    ForwardBackward,
    /// Twenty iterations of the leaf update, as many as in the paper.
    LeafUpdate,
}

/// Seconds at rising sizes, and the exponent that fits them.
#[derive(Clone, Debug, PartialEq)]
pub struct Growth {
    /// What was grown.
    pub term: Term,
    /// What was timed.
    pub part: Part,
    /// Sizes with the least seconds of the repeats.
    pub points: Vec<(usize, f64)>,
    /// The slope of `ln seconds` over `ln size`: 1 where time is linear.
    pub exponent: f64,
}

impl Term {
    /// All of them, in the paper's order.
    pub const ALL: [Term; 4] = [Term::Rows, Term::Trees, Term::Leaves, Term::Labels];

    /// The letter of the paper.
    pub fn letter(self) -> &'static str {
        match self {
            Term::Rows => "n",
            Term::Trees => "K",
            Term::Leaves => "D",
            Term::Labels => "C",
        }
    }

    /// Rows and a shape with this term at its `step`-th size (of 5), the others large enough that their product dominates.
    fn at(self, step: usize) -> (usize, usize, ForestShape) {
        let shape = ForestShape { trees: 8, depth: 7, units: 64, labels: 16 };
        match self {
            Term::Rows => (512 << step, 512 << step, shape),
            Term::Trees => (8 << step, 512, ForestShape { trees: 8 << step, ..shape }),
            Term::Leaves => (64 << step, 512, ForestShape { depth: 7 + step, units: 64 << step, ..shape }),
            Term::Labels => (64 << step, 512, ForestShape { labels: 64 << step, ..shape }),
        }
    }
}

/// How many sizes a term is measured at.
const SIZES: usize = 5;

/// Measures one part against one term on the caller's thread.
pub fn measure(term: Term, part: Part, repeats: usize) -> Result<Growth> {
    let mut points = Vec::new();
    for step in 0..SIZES {
        let (size, rows, shape) = term.at(step);
        points.push((size, seconds(part, rows, shape, repeats)?));
    }
    let exponent = exponent(&points);
    Ok(Growth { term, part, points, exponent })
}

fn seconds(part: Part, rows: usize, shape: ForestShape, repeats: usize) -> Result<f64> {
    let mut generator = Seed::new(0).named("complexity").generator();
    let mut head = Head::<f32>::new(shape, Seed::new(0))?;
    let activations: Vec<f32> = (0..rows * shape.units).map(|_| generator.random::<f32>() - 0.5).collect();
    let mut targets: Vec<f32> = (0..rows * shape.labels).map(|_| generator.random::<f32>() + 0.01).collect();
    targets.chunks_exact_mut(shape.labels).for_each(ldlf_math::numeric::normalise);
    let examples =
        Examples { targets: &targets, labels: shape.labels, weights: None, rows: None, leave_out: None };
    let view = View::row_major(&activations, rows, shape.units);
    let mut gradient = vec![0.0; activations.len()];
    let base = vec![1.0 / shape.labels as f64; shape.labels];
    let update = LeafUpdate { iterations: 20, prior: LeafPrior { strength: 1.0, base } };
    let mut least = f64::INFINITY;
    for _ in 0..repeats.max(1) {
        let start = Instant::now();
        match part {
            Part::ForwardBackward => {
                head.loss_and_grad(view, &examples, &mut gradient);
            }
            Part::LeafUpdate => head.update_leaves(&Given(view), &examples, &update, &Threads::one()),
        }
        least = least.min(start.elapsed().as_secs_f64());
    }
    Ok(least)
}

/// The slope of the straight line through the logarithms, by least squares.
fn exponent(points: &[(usize, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> =
        points.iter().map(|&(size, seconds)| ((size as f64).ln(), seconds.ln())).collect();
    let n = logs.len() as f64;
    let (x, y) = (logs.iter().map(|p| p.0).sum::<f64>() / n, logs.iter().map(|p| p.1).sum::<f64>() / n);
    let covariance: f64 = logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    covariance / logs.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_of_a_power_law_is_found() {
        let points: Vec<(usize, f64)> =
            [10usize, 20, 40, 80].map(|x| (x, 3e-6 * (x as f64).powf(1.25))).to_vec();
        assert!((exponent(&points) - 1.25).abs() < 1e-12);
    }

    #[test]
    fn every_term_doubles_from_size_to_size() {
        for term in Term::ALL {
            let sizes: Vec<usize> = (0..SIZES).map(|step| term.at(step).0).collect();
            assert!(sizes.windows(2).all(|pair| pair[1] == 2 * pair[0]), "{sizes:?}");
            for step in 0..SIZES {
                let (size, rows, shape) = term.at(step);
                let meant = match term {
                    Term::Rows => rows,
                    Term::Trees => shape.trees,
                    Term::Leaves => shape.leaves(),
                    Term::Labels => shape.labels,
                };
                assert_eq!(size, meant);
                shape.check().unwrap();
            }
        }
    }
}
