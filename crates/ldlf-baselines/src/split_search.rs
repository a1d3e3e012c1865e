//! The search for a node's split: the best threshold of each feature, or a random one.
//!
//! Dense features are read column by column. Sparse ones are read row by row, and only what is stored: the zeros of a
//! node are what its sums lack. Either way the work is in sums of `width` numbers, compiled for the processor at hand.

use ldlf_core::random::Generator;
use rand::RngExt;

use crate::columns::{Cells, Codes};
use crate::tree_builder::Limits;

/// The features of the training rows, in the form that the kind of threshold needs.
pub(crate) enum Table<'a> {
    /// For the best threshold of each feature.
    Best(&'a Codes),
    /// For one random threshold a feature; with the number of features.
    Random(&'a Cells<f32>, usize),
}

impl Table<'_> {
    /// The number of features.
    pub(crate) fn features(&self) -> usize {
        match self {
            Table::Best(codes) => codes.zero.len(),
            Table::Random(_, features) => *features,
        }
    }

    /// Buffers for searches in this table.
    pub(crate) fn scratch(&self, width: usize) -> Scratch {
        let features = self.features();
        let (slots, sparse) = match self {
            Table::Best(codes) => match codes.cells {
                Cells::Dense { .. } => (256, 0),
                Cells::Sparse { .. } => (codes.total(), features),
            },
            Table::Random(Cells::Dense { .. }, _) => (1, 0),
            Table::Random(Cells::Sparse { .. }, _) => (features, features),
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
        }
    }
}

/// Buffers that live as long as a tree grows.
pub(crate) struct Scratch {
    /// Sums of statistics: by code, by feature and code, or by feature.
    sums: Vec<f64>,
    /// Which codes have a sum: `[features]` bit sets for sparse cells, one for dense cells.
    occupied: Vec<[u64; 4]>,
    /// By feature: rows of the node with a stored cell.
    stored: Vec<u32>,
    /// By feature: the smallest and the largest stored value, then the threshold and nothing.
    seen: Vec<(f32, f32)>,
    /// By feature: the number of the draw that it was last part of.
    drawn: Vec<u32>,
    draw: u32,
    /// The drawn features with a stored cell in the node.
    touched: Vec<u32>,
    left: Vec<f64>,
}

/// A split.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) feature: u32,
    pub(crate) threshold: f32,
    /// The last code on the left, where there are codes.
    pub(crate) code: u8,
}

/// What a search came to.
pub(crate) struct Outcome {
    pub(crate) found: Option<Found>,
    /// Whether any feature had two values in the node.
    pub(crate) varied: bool,
}

/// Runs `$body` compiled for the processor at hand, once for each common width so that its loops unroll.
macro_rules! specialised {
    ($width:ident, $body:expr) => {
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || match $width {
                4 => {
                    let $width = 4;
                    $body
                }
                6 => {
                    let $width = 6;
                    $body
                }
                8 => {
                    let $width = 8;
                    $body
                }
                10 => {
                    let $width = 10;
                    $body
                }
                12 => {
                    let $width = 12;
                    $body
                }
                20 => {
                    let $width = 20;
                    $body
                }
                $width => $body,
            },
        )
    };
}

/// The best threshold over the drawn features, if it scores above `least`.
#[allow(clippy::too_many_arguments, reason = "the buffers of one loop, borrowed apart")]
pub(crate) fn find_best(
    codes: &Codes,
    drawn: &[u32],
    rows: &[u32],
    width: usize,
    statistics: &[f64],
    total: &[f64],
    limits: &Limits,
    least: f64,
    scratch: &mut Scratch,
) -> Outcome {
    specialised!(width, {
        match &codes.cells {
            Cells::Dense { rows: height, columns } => {
                let mut best = Best::new(codes, limits, total, width, least);
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
                    best.scan(feature, &scratch.sums, occupied, &mut scratch.left, width);
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
                let mut best = Best::new(codes, limits, total, width, least);
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

/// Adds a row to the sums of its code, or starts them with it.
#[inline(always)]
fn add_to_code(sums: &mut [f64], occupied: &mut [u64; 4], code: u8, row: &[f64], width: usize) {
    let code = usize::from(code);
    let slot = &mut sums[code * width..(code + 1) * width];
    let bit = 1u64 << (code & 63);
    let word = &mut occupied[code >> 6];
    if *word & bit == 0 {
        *word |= bit;
        slot.copy_from_slice(row);
    } else {
        add(slot, row);
    }
}

/// Gives the code of zero what the other codes lack to the node's sums.
#[inline(always)]
fn zeros_are_the_rest(sums: &mut [f64], occupied: &mut [u64; 4], zero: u8, total: &[f64], width: usize) {
    let zero = usize::from(zero);
    sums[zero * width..(zero + 1) * width].copy_from_slice(total);
    for code in bits(*occupied) {
        for k in 0..width {
            sums[zero * width + k] -= sums[code * width + k];
        }
    }
    occupied[zero >> 6] |= 1 << (zero & 63);
}

#[inline(always)]
fn add(to: &mut [f64], row: &[f64]) {
    to.iter_mut().zip(row).for_each(|(t, &v)| *t += v);
}

/// The positions of the ones, rising.
#[inline(always)]
fn bits(words: [u64; 4]) -> impl Iterator<Item = usize> {
    words.into_iter().enumerate().flat_map(|(at, mut word)| {
        std::iter::from_fn(move || {
            (word != 0).then(|| {
                let bit = word.trailing_zeros() as usize;
                word &= word - 1;
                at * 64 + bit
            })
        })
    })
}

/// The score of both sides of a split: `sum_k L_k^2 / (H_L + penalty) + sum_k R_k^2 / (H_R + penalty)`.
#[inline(always)]
fn score(left: &[f64], total: &[f64], penalty: f64, width: usize) -> f64 {
    // Two lanes each: a plain sum would have to be added one by one.
    let (mut l, mut r) = ([0.0f64; 2], [0.0f64; 2]);
    for k in (2..width).step_by(2) {
        for lane in 0..2 {
            let a = left[k + lane];
            let b = total[k + lane] - a;
            l[lane] += a * a;
            r[lane] += b * b;
        }
    }
    let (below, above) = (left[1] + penalty, total[1] - left[1] + penalty);
    // One division in place of two.
    ((l[0] + l[1]) * above + (r[0] + r[1]) * below) / (below * above)
}

/// The best split so far.
struct Best<'a> {
    codes: &'a Codes,
    total: &'a [f64],
    leaf_weight: f64,
    penalty: f64,
    least: f64,
    outcome: Outcome,
}

impl<'a> Best<'a> {
    #[inline(always)]
    fn new(codes: &'a Codes, limits: &Limits, total: &'a [f64], width: usize, least: f64) -> Self {
        Best {
            codes,
            total: &total[..width],
            leaf_weight: limits.leaf_weight,
            penalty: limits.penalty,
            least,
            outcome: Outcome { found: None, varied: false },
        }
    }

    /// Looks at every threshold between two occupied codes of a feature.
    #[inline(always)]
    fn scan(&mut self, feature: u32, sums: &[f64], occupied: [u64; 4], left: &mut [f64], width: usize) {
        let left = &mut left[..width];
        left.fill(0.0);
        let mut below: Option<usize> = None;
        let (mut best_pair, mut best_score) = (None, self.least);
        for code in bits(occupied) {
            if let Some(below) = below {
                self.outcome.varied = true;
                if self.total[0] - left[0] < self.leaf_weight {
                    break;
                }
                if left[0] >= self.leaf_weight {
                    let score = score(left, self.total, self.penalty, width);
                    if score > best_score {
                        best_score = score;
                        best_pair = Some((below, code));
                    }
                }
            }
            add(left, &sums[code * width..(code + 1) * width]);
            below = Some(code);
        }
        if let Some((below, above)) = best_pair {
            self.least = best_score;
            let threshold = self.codes.threshold(feature as usize, below, above);
            self.outcome.found = Some(Found { feature, threshold, code: below as u8 });
        }
    }
}

impl Scratch {
    /// Marks the drawn features and forgets the last draw.
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
/// of them, if it scores above `least`.
#[allow(clippy::too_many_arguments, reason = "the buffers of one loop, borrowed apart")]
pub(crate) fn find_random(
    values: &Cells<f32>,
    drawn: &[u32],
    rows: &[u32],
    width: usize,
    statistics: &[f64],
    total: &[f64],
    limits: &Limits,
    least: f64,
    scratch: &mut Scratch,
    generator: &mut Generator,
) -> Outcome {
    specialised!(width, {
        let total = &total[..width];
        let mut outcome = Outcome { found: None, varied: false };
        let mut best = least;
        let mut judge = |feature: u32, threshold: f32, side: &[f64]| {
            if side[0] < limits.leaf_weight || total[0] - side[0] < limits.leaf_weight {
                return;
            }
            let score = score(side, total, limits.penalty, width);
            if score > best {
                best = score;
                outcome.found = Some(Found { feature, threshold, code: 0 });
            }
        };
        let mut varied = false;
        match values {
            Cells::Dense { rows: height, columns } => {
                for &feature in drawn {
                    let column = Cells::column(columns, *height, feature as usize);
                    let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
                    for &row in rows {
                        let v = column[row as usize];
                        low = low.min(v);
                        high = high.max(v);
                    }
                    let Some(threshold) = between(low, high, generator) else { continue };
                    varied = true;
                    let side = &mut scratch.sums[..width];
                    side.fill(0.0);
                    for (&row, row_statistics) in rows.iter().zip(statistics.chunks_exact(width)) {
                        // A product in place of a branch that no processor can foresee.
                        let counts = f64::from(u8::from(column[row as usize] <= threshold));
                        side.iter_mut().zip(row_statistics).for_each(|(s, &v)| *s += counts * v);
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
                    // A threshold at infinity: nothing is on the side that is summed.
                    let threshold = between(low, high, generator);
                    varied |= threshold.is_some();
                    scratch.seen[name].0 = threshold.unwrap_or(f32::INFINITY);
                    scratch.sums[name * width..(name + 1) * width].fill(0.0);
                }
                // Only the side without the zeros is summed; the other is what the node's sums lack.
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

/// A uniform draw from `[low, high)`, or nothing when the two are equal.
#[inline(always)]
fn between(low: f32, high: f32, generator: &mut Generator) -> Option<f32> {
    if low >= high {
        return None;
    }
    let share: f64 = generator.random();
    let drawn = (f64::from(low) + share * (f64::from(high) - f64::from(low))) as f32;
    Some(if drawn < high { drawn } else { low })
}
