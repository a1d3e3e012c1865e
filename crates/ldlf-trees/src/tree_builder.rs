//! Grows one [`Tree`] from the root down, for any [`Objective`] that scores a node by sums over its rows.
//!
//! Every row has statistics `(w, h, s_1 .. s_K)`: its weight in a leaf's minimum, a denominator, and numerators. A
//! node with sums `(W, H, S)` has the value `S_k / H`, and a split into sides with `H_L, L` and `H_R, R` gains
//! `sum_k (L_k - H_L S_k / H)^2 (1 / (H_L + penalty) + 1 / (H_R + penalty))`. With `h = w` and `s = w d` that is the decrease
//! of the squared error over all labels; with gradients and second derivatives it is that of a loss to second order.
//! Numerators are centred at the node's value before the search: single precision is then enough for its sums.

use ldlf_math::random::Generator;
use rand::RngExt;

use crate::regression_tree::{Sketch, Tree};
use crate::split_search::{Found, Node, Scratch, SplitColumns};

/// The objective that a tree is grown for.
pub trait Objective: Sync {
    /// What is fixed for a node before its split search, such as the pair of labels that it separates.
    type Focus;

    /// The number `K` of numerators.
    fn numerators(&self) -> usize;

    /// The length of a leaf's vector.
    fn outputs(&self) -> usize;

    /// Writes `(w, h, s_1 .. s_K)` of every row of a node, rows `width` numbers apart.
    fn statistics(&self, rows: &[u32], width: usize, out: &mut [f32]) -> Self::Focus;

    /// Writes the vector of a leaf from the sums `(W, H, S_1 .. S_K)` over its rows.
    fn leaf(&self, focus: &Self::Focus, sums: &[f64], out: &mut [f32]);
}

/// When growing ends, and which splits are tried.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum number of splits between the root and a leaf.
    pub depth: usize,
    /// Minimum weight of the rows in a leaf.
    pub leaf_weight: f64,
    /// The fraction of the features tried at a split, drawn anew for each.
    pub feature_share: f64,
    /// Added to the denominator of every score.
    pub penalty: f64,
}

/// An undecided node: its rows and its depth.
struct Open {
    node: usize,
    start: usize,
    end: usize,
    depth: usize,
}

/// The buffers of one growing tree.
struct Work {
    /// Features in the order in which they were last drawn.
    order: Vec<u32>,
    /// `[rows of the node, width]`
    statistics: Vec<f32>,
    /// Sums over the rows of the node.
    sums: Vec<f64>,
    /// The same after centring: the numerators are zero.
    centred: Vec<f32>,
}

/// A smaller gain is rounding error on equal rows.
const LEAST_GAIN: f32 = 1e-10;

impl Work {
    /// Subtracts the node's value from the numerators.
    fn centre(&mut self, width: usize) {
        let per_h: Vec<f32> =
            self.sums.iter().map(|s| (s / self.sums[1].max(f64::MIN_POSITIVE)) as f32).collect();
        for row in self.statistics.chunks_exact_mut(width) {
            let h = row[1];
            row[2..].iter_mut().zip(&per_h[2..]).for_each(|(s, step)| *s -= step * h);
        }
        self.centred.fill(0.0);
        self.centred[0] = self.sums[0] as f32;
        self.centred[1] = self.sums[1] as f32;
    }
}

/// Grows a tree on the given rows, which must not be empty. `columns` decides between best and random thresholds.
pub fn grow<O: Objective>(
    columns: &SplitColumns<'_>,
    objective: &O,
    limits: &Limits,
    mut rows: Vec<u32>,
    generator: &mut Generator,
) -> Tree {
    // Padded with zeros to whole vector registers.
    let used = 2 + objective.numerators();
    let width = if used <= 4 { 4 } else { used.next_multiple_of(8) };
    let features = columns.features();
    let tried = ((features as f64 * limits.feature_share).ceil() as usize).clamp(1, features.max(1));
    let mut work = Work {
        order: (0..features as u32).collect(),
        statistics: Vec::new(),
        sums: vec![0.0; width],
        centred: vec![0.0; width],
    };
    let mut scratch = columns.scratch(width);
    let mut sketch = Sketch::new(objective.outputs());
    let mut right: Vec<u32> = Vec::with_capacity(rows.len());
    let mut open = vec![Open { node: 0, start: 0, end: rows.len(), depth: 0 }];
    while let Some(Open { node, start, end, depth }) = open.pop() {
        let here = &mut rows[start..end];
        work.statistics.clear();
        work.statistics.resize(here.len() * width, 0.0);
        let focus = objective.statistics(here, width, &mut work.statistics);
        work.sums.fill(0.0);
        for row in work.statistics.chunks_exact(width) {
            work.sums.iter_mut().zip(row).for_each(|(t, &v)| *t += f64::from(v));
        }
        let found = if depth < limits.depth && here.len() > 1 && work.sums[0] >= 2.0 * limits.leaf_weight {
            work.centre(width);
            let Work { order, statistics, centred, .. } = &mut work;
            let node = Node { rows: here, width, used, statistics, total: centred };
            search(columns, limits, tried, &node, order, &mut scratch, generator)
        } else {
            None
        };
        let Some(found) = found else {
            objective.leaf(&focus, &work.sums, sketch.leaf(node));
            continue;
        };
        // A stable partition: sums stay in one order, and memory is read forwards.
        right.clear();
        let mut kept = 0;
        for at in 0..here.len() {
            let row = here[at];
            if columns.goes_left(row as usize, &found) {
                here[kept] = row;
                kept += 1;
            } else {
                right.push(row);
            }
        }
        if kept == 0 || right.is_empty() {
            // By rounding, an empty side had a tiny weight.
            objective.leaf(&focus, &work.sums, sketch.leaf(node));
            continue;
        }
        here[kept..].copy_from_slice(&right);
        let child = sketch.split(node, found.feature, found.threshold);
        let middle = start + kept;
        open.push(Open { node: child + 1, start: middle, end, depth: depth + 1 });
        open.push(Open { node: child, start, end: middle, depth: depth + 1 });
    }
    sketch.finish()
}

/// The best split among a new draw of features. More are drawn while all drawn ones are constant on the node.
fn search(
    columns: &SplitColumns<'_>,
    limits: &Limits,
    tried: usize,
    node: &Node<'_>,
    order: &mut [u32],
    scratch: &mut Scratch,
    generator: &mut Generator,
) -> Option<Found> {
    let features = order.len();
    let mut start = 0;
    while start < features {
        let end = (start + tried).min(features);
        if tried < features {
            for at in start..end {
                let other = generator.random_range(at as u64..features as u64) as usize;
                order.swap(at, other);
            }
        }
        let outcome = columns.find(&order[start..end], node, limits, LEAST_GAIN, scratch, generator);
        if outcome.varied {
            return outcome.found;
        }
        start = end;
    }
    None
}
