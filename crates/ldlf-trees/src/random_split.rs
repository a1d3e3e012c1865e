//! One random threshold for each drawn feature, uniform between its smallest and its largest value in the node.
//!
//! Dense features are taken as many at a time as a vector register has lanes, whether drawn or not: ranges and sums then need neither
//! gathers nor branches.

use ldlf_math::random::Generator;
use ldlf_math::simd::{Simd, WithSimd};
use rand::RngExt;

use crate::columns::Cells;
use crate::split_search::{BETTER, Found, Node, Outcome, Scratch, add, gain, sum_of_squares};
use crate::tree_builder::Limits;

/// Statistics that are summed in one pass over the rows: twelve of the sixteen registers of AVX2.
const TOGETHER: usize = 6;

/// The best of the random thresholds, if its gain is above `least`.
pub(crate) struct FindRandom<'a> {
    pub values: &'a Cells<'a, f32>,
    pub drawn: &'a [u32],
    pub node: &'a Node<'a>,
    pub limits: &'a Limits,
    pub least: f32,
    pub scratch: &'a mut Scratch,
    pub generator: &'a mut Generator,
}

impl WithSimd for FindRandom<'_> {
    type Output = Outcome;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Outcome {
        match self.values {
            Cells::Dense { features, cells } => self.dense(simd, *features, cells),
            Cells::Sparse { starts, features, cells } => self.sparse(starts, features, cells),
        }
    }
}

/// The best split so far.
struct Judge<'a> {
    leaf_weight: f32,
    total: &'a [f32],
    best: f32,
    found: Option<Found>,
}

impl<'a> Judge<'a> {
    #[inline(always)]
    fn new(limits: &Limits, total: &'a [f32], least: f32) -> Self {
        Judge { leaf_weight: limits.leaf_weight as f32, total, best: least, found: None }
    }

    /// Takes a split that leaves enough weight on both sides and gains more.
    #[inline(always)]
    fn hear(&mut self, feature: u32, threshold: f32, weight: f32, gain: f32) {
        let allowed = weight >= self.leaf_weight && self.total[0] - weight >= self.leaf_weight;
        if allowed && gain > self.best * BETTER {
            self.best = gain;
            self.found = Some(Found { feature, threshold, code: 0 });
        }
    }
}

impl FindRandom<'_> {
    #[inline(always)]
    fn dense<S: Simd>(self, simd: S, features: usize, cells: &[f32]) -> Outcome {
        let FindRandom { drawn, node, limits, least, scratch, generator, .. } = self;
        let tiles = Tiles { simd, cells, features, node };
        for first in (0..features).step_by(S::F32_LANES) {
            let lanes = first..(first + S::F32_LANES).min(features);
            tiles.range(&mut scratch.low[lanes.clone()], &mut scratch.high[lanes], first);
        }
        let mut varied = false;
        // Nothing is on the left of a feature that is not drawn or does not vary.
        scratch.block.clear();
        scratch.block.resize(features, f32::NEG_INFINITY);
        for &feature in drawn {
            let at = feature as usize;
            if let Some(threshold) = between(scratch.low[at], scratch.high[at], generator) {
                scratch.block[at] = threshold;
                varied = true;
            }
        }
        if !varied {
            return Outcome { found: None, varied };
        }
        let penalty = limits.penalty as f32;
        for first in (0..features).step_by(S::F32_LANES) {
            let lanes = first..(first + S::F32_LANES).min(features);
            let thresholds = &scratch.block[lanes.clone()];
            if thresholds.iter().all(|&threshold| threshold == f32::NEG_INFINITY) {
                continue;
            }
            let (weights, gains) = (&mut scratch.low[lanes.clone()], &mut scratch.high[lanes]);
            tiles.judge(thresholds, penalty, weights, gains, first);
        }
        let mut judge = Judge::new(limits, node.total, least);
        for &feature in drawn {
            let at = feature as usize;
            if scratch.block[at] > f32::NEG_INFINITY {
                judge.hear(feature, scratch.block[at], scratch.low[at], scratch.high[at]);
            }
        }
        Outcome { found: judge.found, varied }
    }

    #[inline(always)]
    fn sparse(self, starts: &[usize], features: &[u32], cells: &[f32]) -> Outcome {
        let FindRandom { drawn, node, limits, least, scratch, generator, .. } = self;
        let width = node.width;
        scratch.start_draw(drawn);
        let entries = |row: u32| {
            let stored = starts[row as usize]..starts[row as usize + 1];
            features[stored.clone()].iter().copied().zip(cells[stored].iter().copied())
        };
        for &row in node.rows {
            for (feature, v) in entries(row) {
                let name = feature as usize;
                if scratch.marks[name] != scratch.draw {
                    continue;
                }
                if scratch.stored[name] == 0 {
                    scratch.touched.push(feature);
                    scratch.range[name] = (v, v);
                }
                scratch.stored[name] += 1;
                let (low, high) = scratch.range[name];
                scratch.range[name] = (low.min(v), high.max(v));
            }
        }
        let mut varied = false;
        for &feature in &scratch.touched {
            let name = feature as usize;
            let (mut low, mut high) = scratch.range[name];
            if (scratch.stored[name] as usize) < node.rows.len() {
                (low, high) = (low.min(0.0), high.max(0.0));
            }
            // A threshold at infinity: the side that is summed is empty.
            let threshold = between(low, high, generator);
            varied |= threshold.is_some();
            scratch.range[name].0 = threshold.unwrap_or(f32::INFINITY);
            scratch.sums[name * width..(name + 1) * width].fill(0.0);
        }
        // Only the side without the zeros is summed; the other is the node's sums minus it.
        for (&row, row_statistics) in node.rows.iter().zip(node.statistics.chunks_exact(width)) {
            for (feature, v) in entries(row) {
                let name = feature as usize;
                if scratch.marks[name] != scratch.draw {
                    continue;
                }
                let threshold = scratch.range[name].0;
                if (v <= threshold) == (threshold < 0.0) {
                    add(&mut scratch.sums[name * width..(name + 1) * width], row_statistics);
                }
            }
        }
        let mut judge = Judge::new(limits, node.total, least);
        let penalty = limits.penalty as f32;
        for &feature in &scratch.touched {
            let name = feature as usize;
            let threshold = scratch.range[name].0;
            if threshold.is_finite() {
                let side = &scratch.sums[name * width..(name + 1) * width];
                let gain = gain(sum_of_squares(side, width), side[1], node.total[1], penalty);
                judge.hear(feature, threshold, side[0], gain);
            }
        }
        Outcome { found: judge.found, varied }
    }
}

/// Dense rows, of which some neighbouring features are looked at together.
struct Tiles<'a, S> {
    simd: S,
    /// `[rows, features]`
    cells: &'a [f32],
    features: usize,
    node: &'a Node<'a>,
}

impl<S: Simd> Tiles<'_, S> {
    /// The values of a row from feature `first` on, as many as there are lanes.
    #[inline(always)]
    fn load(&self, row: u32, first: usize, lanes: usize) -> S::f32s {
        let start = row as usize * self.features + first;
        self.simd.partial_load_f32s(&self.cells[start..start + lanes])
    }

    /// The smallest and the largest values of the features from `first` on.
    #[inline(always)]
    fn range(&self, low: &mut [f32], high: &mut [f32], first: usize) {
        let (simd, lanes) = (self.simd, low.len());
        let mut smallest = simd.splat_f32s(f32::INFINITY);
        let mut largest = simd.splat_f32s(f32::NEG_INFINITY);
        for &row in self.node.rows {
            let values = self.load(row, first, lanes);
            smallest = simd.select_f32s(simd.less_than_f32s(values, smallest), values, smallest);
            largest = simd.select_f32s(simd.less_than_f32s(largest, values), values, largest);
        }
        simd.partial_store_f32s(low, smallest);
        simd.partial_store_f32s(high, largest);
    }

    /// The weights on the left of the thresholds, and the gains of these splits.
    #[inline(always)]
    fn judge(&self, thresholds: &[f32], penalty: f32, weights: &mut [f32], gains: &mut [f32], first: usize) {
        let (simd, lanes) = (self.simd, thresholds.len());
        let thresholds = simd.partial_load_f32s(thresholds);
        let mut squares = simd.splat_f32s(0.0);
        let mut below = squares;
        for start in (0..self.node.used).step_by(TOGETHER) {
            let sums = match self.node.used - start {
                1 => self.sums::<1>(thresholds, first, lanes, start),
                2 => self.sums::<2>(thresholds, first, lanes, start),
                3 => self.sums::<3>(thresholds, first, lanes, start),
                4 => self.sums::<4>(thresholds, first, lanes, start),
                5 => self.sums::<5>(thresholds, first, lanes, start),
                _ => self.sums::<TOGETHER>(thresholds, first, lanes, start),
            };
            let mut numerators = &sums[..(self.node.used - start).min(TOGETHER)];
            if start == 0 {
                simd.partial_store_f32s(weights, sums[0]);
                below = sums[1];
                numerators = &numerators[2..];
            }
            for &sum in numerators {
                squares = simd.add_f32s(squares, simd.mul_f32s(sum, sum));
            }
        }
        let (penalty, total) = (simd.splat_f32s(penalty), simd.splat_f32s(self.node.total[1]));
        let above = simd.add_f32s(simd.sub_f32s(total, below), penalty);
        let below = simd.add_f32s(below, penalty);
        let both = simd.mul_f32s(squares, simd.add_f32s(below, above));
        simd.partial_store_f32s(gains, simd.div_f32s(both, simd.mul_f32s(below, above)));
    }

    /// Sums of `N` statistics, from number `start` on, over the rows on the left.
    #[inline(always)]
    fn sums<const N: usize>(
        &self,
        thresholds: S::f32s,
        first: usize,
        lanes: usize,
        start: usize,
    ) -> [S::f32s; TOGETHER] {
        let simd = self.simd;
        let mut sums = [simd.splat_f32s(0.0); TOGETHER];
        for (&row, statistics) in
            self.node.rows.iter().zip(self.node.statistics.chunks_exact(self.node.width))
        {
            let left = simd.less_than_or_equal_f32s(self.load(row, first, lanes), thresholds);
            let statistics: &[f32; N] = statistics[start..start + N].try_into().expect("start + N of them");
            for n in 0..N {
                let more = simd.add_f32s(sums[n], simd.splat_f32s(statistics[n]));
                sums[n] = simd.select_f32s(left, more, sums[n]);
            }
        }
        sums
    }
}

/// A uniform draw from `[low, high)`, or none when the two are equal.
#[inline(always)]
fn between(low: f32, high: f32, generator: &mut Generator) -> Option<f32> {
    if low >= high {
        return None;
    }
    let fraction: f64 = generator.random();
    let drawn = (f64::from(low) + fraction * (f64::from(high) - f64::from(low))) as f32;
    Some(if drawn < high { drawn } else { low })
}
