//! The search for a node's split: the best threshold of each feature, or a random one.
//!
//! Dense features are read column by column. Sparse ones are read row by row, and only the stored entries: the sums of the zeros
//! are the node's sums minus those. Either way the work is in sums of `width` numbers, compiled for the processor in use.

use ldlf_math::random::Generator;
use ldlf_math::vectorise;
use rand::RngExt;

use crate::columns::{Cells, Codes};
use crate::tree_builder::Limits;

/// The feature columns that a split search reads, in the form for its kind of threshold.
pub enum SplitColumns<'a> {
    /// For the best threshold of each feature.
    Best(&'a Codes),
    /// For one random threshold per feature; with the number of features.
    Random(&'a Cells<f32>, usize),
}

impl SplitColumns<'_> {
    /// The number of features.
    pub fn features(&self) -> usize {
        match self {
            SplitColumns::Best(codes) => codes.zero.len(),
            SplitColumns::Random(_, features) => *features,
        }
    }

    /// Buffers for searches in these columns.
    pub(crate) fn scratch(&self, width: usize) -> Scratch {
        let features = self.features();
        let (slots, sparse) = match self {
            SplitColumns::Best(codes) => match codes.cells {
                Cells::Dense { .. } => (256, 0),
                Cells::Sparse { .. } => (codes.total(), features),
            },
            SplitColumns::Random(Cells::Dense { .. }, _) => (0, 0),
            SplitColumns::Random(Cells::Sparse { .. }, _) => (features, features),
        };
        Scratch {
            sums: vec![0.0; slots * width],
            occupied: vec![[0; 4]; sparse.max(1)],
            stored: vec![0; sparse],
            seen: vec![(0.0, 0.0); sparse],
            drawn: vec![0; sparse],
            draw: 0,
            touched: Vec::new(),
            left: vec![0.0; width],
            line: Vec::new(),
        }
    }
}

/// Buffers of one growing tree.
pub(crate) struct Scratch {
    /// Sums of statistics: by code, by feature and code, or by feature.
    sums: Vec<f32>,
    /// Which codes have a sum: `[features]` bit sets for sparse cells, one for dense cells.
    occupied: Vec<[u64; 4]>,
    /// By feature: rows of the node with a stored cell.
    stored: Vec<u32>,
    /// By feature: the smallest and the largest stored value, then the threshold.
    seen: Vec<(f32, f32)>,
    /// By feature: the number of the last draw that included it.
    drawn: Vec<u32>,
    draw: u32,
    /// The drawn features with a stored cell in the node.
    touched: Vec<u32>,
    left: Vec<f32>,
    /// The values of one column on the node.
    line: Vec<f32>,
}

/// A split.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub feature: u32,
    pub threshold: f32,
    /// The last code on the left, where there are codes.
    pub code: u8,
}

/// The result of a search.
pub(crate) struct Outcome {
    pub found: Option<Found>,
    /// Whether any feature had two values in the node.
    pub varied: bool,
}

/// How much better a later split must be. Two features often split a node's rows equally well; which of them is taken
/// must not depend on the rounding of their sums.
const BETTER: f32 = 1.0 + 1e-5;

/// Runs `$body` compiled for the processor in use, once for each common width so that its loops unroll and its sums stay
/// in registers.
macro_rules! specialised {
    ($width:ident, $body:expr) => {
        vectorise!(match $width {
            4 => {
                let $width = 4;
                $body
            }
            8 => {
                let $width = 8;
                $body
            }
            16 => {
                let $width = 16;
                $body
            }
            24 => {
                let $width = 24;
                $body
            }
            $width => $body,
        },)
    };
}

/// The best threshold over the drawn features, if its gain is above `least`.
#[allow(clippy::too_many_arguments, reason = "the buffers of one loop, borrowed apart")]
pub(crate) fn find_best(
    codes: &Codes,
    drawn: &[u32],
    rows: &[u32],
    width: usize,
    statistics: &[f32],
    total: &[f32],
    limits: &Limits,
    least: f32,
    scratch: &mut Scratch,
) -> Outcome {
    specialised!(width, {
        match &codes.cells {
            Cells::Dense { rows: height, columns } => {
                let mut best = Best::new(codes, limits, total, least);
                for &feature in drawn {
                    let column = Cells::column(columns, *height, feature as usize);
                    let mut occupied = [0u64; 4];
                    for (&row, row_statistics) in rows.iter().zip(statistics.chunks_exact(width)) {
                        add_to_code(
                            &mut scratch.sums,
                            &mut occupied,
                            column[row as usize],
                            row_statistics,
                            width,
                        );
                    }
                    best.scan(feature, &mut scratch.sums, occupied, &mut scratch.left, width);
                }
                best.outcome
            }
            Cells::Sparse { starts, features, cells } => {
                scratch.start_draw(drawn);
                for (&row, row_statistics) in rows.iter().zip(statistics.chunks_exact(width)) {
                    let stored = starts[row as usize]..starts[row as usize + 1];
                    for (&feature, &code) in features[stored.clone()].iter().zip(&cells[stored]) {
                        let name = feature as usize;
                        if scratch.drawn[name] != scratch.draw {
                            continue;
                        }
                        if scratch.stored[name] == 0 {
                            scratch.touched.push(feature);
                            scratch.occupied[name] = [0; 4];
                        }
                        scratch.stored[name] += 1;
                        let sums = &mut scratch.sums[codes.first[name] as usize * width..];
                        add_to_code(sums, &mut scratch.occupied[name], code, row_statistics, width);
                    }
                }
                let mut best = Best::new(codes, limits, total, least);
                for &feature in &scratch.touched {
                    let name = feature as usize;
                    let first = codes.first[name] as usize;
                    let sums = &mut scratch.sums[first * width..codes.first[name + 1] as usize * width];
                    if (scratch.stored[name] as usize) < rows.len() {
                        zeros_are_the_rest(sums, &mut scratch.occupied[name], codes.zero[name], total, width);
                    }
                    best.scan(feature, sums, scratch.occupied[name], &mut scratch.left, width);
                }
                best.outcome
            }
        }
    })
}

/// Adds a row to the sums of its code. Sums without rows are zero: they are cleared when they are read.
#[inline(always)]
fn add_to_code(sums: &mut [f32], occupied: &mut [u64; 4], code: u8, row: &[f32], width: usize) {
    let code = usize::from(code);
    occupied[code >> 6] |= 1u64 << (code & 63);
    add(&mut sums[code * width..(code + 1) * width], row);
}

/// Adds to the code of zero the node's sums minus those of the other codes.
#[inline(always)]
fn zeros_are_the_rest(sums: &mut [f32], occupied: &mut [u64; 4], zero: u8, total: &[f32], width: usize) {
    let zero = usize::from(zero);
    sums[zero * width..(zero + 1) * width].copy_from_slice(&total[..width]);
    for (at, &word) in occupied.iter().enumerate() {
        let mut word = word;
        while word != 0 {
            let code = at * 64 + word.trailing_zeros() as usize;
            word &= word - 1;
            for k in 0..width {
                sums[zero * width + k] -= sums[code * width + k];
            }
        }
    }
    occupied[zero >> 6] |= 1 << (zero & 63);
}

#[inline(always)]
fn add(to: &mut [f32], row: &[f32]) {
    to.iter_mut().zip(row).for_each(|(t, &v)| *t += v);
}

/// Adds a row or nothing: a product instead of an unpredictable branch.
#[inline(always)]
fn add_if(condition: bool, to: &mut [f32], row: &[f32]) {
    let counts = f32::from(u8::from(condition));
    to.iter_mut().zip(row).for_each(|(t, &v)| *t += counts * v);
}

/// The gain of a split with the sums `left` on one side. The numerators of the whole node are zero, so that those of
/// the other side are the same with the other sign: `sum_k L_k^2 (1 / (H_L + penalty) + 1 / (H_R + penalty))`.
#[inline(always)]
fn gain(left: &[f32], total: &[f32], penalty: f32, width: usize) -> f32 {
    // Four lanes: a plain sum would not be vectorised.
    let mut squares = [0.0f32; 4];
    for k in (0..width).step_by(4) {
        for lane in 0..4 {
            let a = if k + lane < 2 { 0.0 } else { left[k + lane] };
            squares[lane] += a * a;
        }
    }
    let (below, above) = (left[1] + penalty, total[1] - left[1] + penalty);
    let sum = (squares[0] + squares[2]) + (squares[1] + squares[3]);
    sum * (below + above) / (below * above)
}

/// The best split so far.
struct Best<'a> {
    codes: &'a Codes,
    total: &'a [f32],
    leaf_weight: f32,
    penalty: f32,
    least: f32,
    outcome: Outcome,
}

impl<'a> Best<'a> {
    #[inline(always)]
    fn new(codes: &'a Codes, limits: &Limits, total: &'a [f32], least: f32) -> Self {
        Best {
            codes,
            total,
            leaf_weight: limits.leaf_weight as f32,
            penalty: limits.penalty as f32,
            least,
            outcome: Outcome { found: None, varied: false },
        }
    }

    /// Tries every threshold between two occupied codes of a feature, and clears their sums.
    #[inline(always)]
    fn scan(&mut self, feature: u32, sums: &mut [f32], occupied: [u64; 4], left: &mut [f32], width: usize) {
        let mut in_registers = [0.0f32; 24];
        let left = if width <= 24 { &mut in_registers[..width] } else { &mut left[..width] };
        left.fill(0.0);
        let (total, leaf_weight, penalty) = (&self.total[..width], self.leaf_weight, self.penalty);
        let mut below: Option<usize> = None;
        let (mut best_pair, mut best_gain) = (None, self.least);
        for (at, mut word) in occupied.into_iter().enumerate() {
            while word != 0 {
                let code = at * 64 + word.trailing_zeros() as usize;
                word &= word - 1;
                if let Some(below) = below {
                    self.outcome.varied = true;
                    if left[0] >= leaf_weight && total[0] - left[0] >= leaf_weight {
                        let gain = gain(left, total, penalty, width);
                        if gain > best_gain * BETTER {
                            best_gain = gain;
                            best_pair = Some((below, code));
                        }
                    }
                }
                let slot = &mut sums[code * width..(code + 1) * width];
                add(left, slot);
                slot.fill(0.0);
                below = Some(code);
            }
        }
        if let Some((below, above)) = best_pair {
            self.least = best_gain;
            let threshold = self.codes.threshold(feature as usize, below, above);
            self.outcome.found = Some(Found { feature, threshold, code: below as u8 });
        }
    }
}

impl Scratch {
    /// Marks the drawn features and clears the previous draw.
    fn start_draw(&mut self, drawn: &[u32]) {
        self.draw += 1;
        drawn.iter().for_each(|&feature| self.drawn[feature as usize] = self.draw);
        for &feature in &self.touched {
            self.stored[feature as usize] = 0;
        }
        self.touched.clear();
    }
}

/// One random threshold for each drawn feature, uniform between its smallest and its largest value in the node; the best
/// of them, if its gain is above `least`.
#[allow(clippy::too_many_arguments, reason = "the buffers of one loop, borrowed apart")]
pub(crate) fn find_random(
    values: &Cells<f32>,
    drawn: &[u32],
    rows: &[u32],
    width: usize,
    statistics: &[f32],
    total: &[f32],
    limits: &Limits,
    least: f32,
    scratch: &mut Scratch,
    generator: &mut Generator,
) -> Outcome {
    specialised!(width, {
        let total = &total[..width];
        let mut outcome = Outcome { found: None, varied: false };
        let mut best = least;
        let (leaf_weight, penalty) = (limits.leaf_weight as f32, limits.penalty as f32);
        let mut judge = |feature: u32, threshold: f32, side: &[f32]| {
            if side[0] < leaf_weight || total[0] - side[0] < leaf_weight {
                return;
            }
            let gain = gain(side, total, penalty, width);
            if gain > best * BETTER {
                best = gain;
                outcome.found = Some(Found { feature, threshold, code: 0 });
            }
        };
        let mut varied = false;
        match values {
            Cells::Dense { rows: height, columns } => {
                for &feature in drawn {
                    let column = Cells::column(columns, *height, feature as usize);
                    scratch.line.clear();
                    scratch.line.extend(rows.iter().map(|&row| column[row as usize]));
                    let (low, high) = range(&scratch.line);
                    let Some(threshold) = between(low, high, generator) else { continue };
                    varied = true;
                    let side = &mut scratch.left[..width];
                    for start in (0..width).step_by(24) {
                        let lanes = (width - start).min(24);
                        // Two independent sums, so that additions do not wait for each other.
                        let (mut even, mut odd) = ([0.0f32; 24], [0.0f32; 24]);
                        let mut pairs = scratch.line.chunks_exact(2).zip(statistics.chunks_exact(2 * width));
                        for (v, two_rows) in &mut pairs {
                            let (first, second) = two_rows.split_at(width);
                            add_if(v[0] <= threshold, &mut even[..lanes], &first[start..start + lanes]);
                            add_if(v[1] <= threshold, &mut odd[..lanes], &second[start..start + lanes]);
                        }
                        if let [v] = scratch.line.chunks_exact(2).remainder() {
                            let last = &statistics[statistics.len() - width..];
                            add_if(*v <= threshold, &mut even[..lanes], &last[start..start + lanes]);
                        }
                        add(&mut even[..lanes], &odd[..lanes]);
                        side[start..start + lanes].copy_from_slice(&even[..lanes]);
                    }
                    judge(feature, threshold, side);
                }
            }
            Cells::Sparse { starts, features, cells } => {
                scratch.start_draw(drawn);
                let entries = |row: u32| {
                    let stored = starts[row as usize]..starts[row as usize + 1];
                    features[stored.clone()].iter().copied().zip(cells[stored].iter().copied())
                };
                for &row in rows {
                    for (feature, v) in entries(row) {
                        let name = feature as usize;
                        if scratch.drawn[name] != scratch.draw {
                            continue;
                        }
                        if scratch.stored[name] == 0 {
                            scratch.touched.push(feature);
                            scratch.seen[name] = (v, v);
                        }
                        scratch.stored[name] += 1;
                        let (low, high) = scratch.seen[name];
                        scratch.seen[name] = (low.min(v), high.max(v));
                    }
                }
                for &feature in &scratch.touched {
                    let name = feature as usize;
                    let (mut low, mut high) = scratch.seen[name];
                    if (scratch.stored[name] as usize) < rows.len() {
                        (low, high) = (low.min(0.0), high.max(0.0));
                    }
                    // A threshold at infinity: the side that is summed is empty.
                    let threshold = between(low, high, generator);
                    varied |= threshold.is_some();
                    scratch.seen[name].0 = threshold.unwrap_or(f32::INFINITY);
                    scratch.sums[name * width..(name + 1) * width].fill(0.0);
                }
                // Only the side without the zeros is summed; the other is the node's sums minus it.
                for (&row, row_statistics) in rows.iter().zip(statistics.chunks_exact(width)) {
                    for (feature, v) in entries(row) {
                        let name = feature as usize;
                        if scratch.drawn[name] != scratch.draw {
                            continue;
                        }
                        let threshold = scratch.seen[name].0;
                        if (v <= threshold) == (threshold < 0.0) {
                            add(&mut scratch.sums[name * width..(name + 1) * width], row_statistics);
                        }
                    }
                }
                for &feature in &scratch.touched {
                    let name = feature as usize;
                    let threshold = scratch.seen[name].0;
                    if threshold.is_finite() {
                        judge(feature, threshold, &scratch.sums[name * width..(name + 1) * width]);
                    }
                }
            }
        }
        outcome.varied = varied;
        outcome
    })
}

/// The smallest and the largest value.
#[inline(always)]
fn range(line: &[f32]) -> (f32, f32) {
    let (mut low, mut high) = ([f32::INFINITY; 8], [f32::NEG_INFINITY; 8]);
    let eights = line.chunks_exact(8);
    let rest = eights.remainder().iter().enumerate();
    let mut take = |lane: usize, v: f32| {
        low[lane] = if v < low[lane] { v } else { low[lane] };
        high[lane] = if v > high[lane] { v } else { high[lane] };
    };
    for eight in eights {
        eight.iter().enumerate().for_each(|(lane, &v)| take(lane, v));
    }
    rest.for_each(|(lane, &v)| take(lane, v));
    (low.into_iter().fold(f32::INFINITY, f32::min), high.into_iter().fold(f32::NEG_INFINITY, f32::max))
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
