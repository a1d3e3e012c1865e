//! What both searches for a node's split share: the columns that they read, their buffers, and the gain of a split.
//!
//! Dense features are read row after row. Of sparse ones only the stored entries are read: the sums of the zeros are the node's
//! sums minus those. Either way the work is in sums over rows, compiled for the processor in use.

use ldlf_math::random::Generator;
use ldlf_math::simd::dispatch;

use crate::best_split::{FindBest, Prefixes};
use crate::columns::{CODES, Cells, Codes};
use crate::random_split::FindRandom;
use crate::tree_builder::Limits;

/// The features that a split search reads, in the form for its kind of threshold.
pub enum SplitColumns<'a> {
    /// For the best threshold of each feature.
    Best(&'a Codes),
    /// For one random threshold per feature; with the number of features.
    Random(&'a Cells<'a, f32>, usize),
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
        let (slots, dense, sparse) = match self {
            SplitColumns::Best(codes) => match codes.cells {
                Cells::Dense { .. } => (2 * CODES, 0, 0),
                Cells::Sparse { .. } => (codes.total(), 0, features),
            },
            SplitColumns::Random(Cells::Dense { .. }, _) => (0, features, 0),
            SplitColumns::Random(Cells::Sparse { .. }, _) => (features, 0, features),
        };
        Scratch {
            sums: vec![0.0; slots * width],
            seen: [[0; CODES]; 2],
            prefixes: Prefixes::default(),
            occupied: vec![[0; 4]; sparse],
            stored: vec![0; sparse],
            range: vec![(0.0, 0.0); sparse],
            marks: vec![0; sparse],
            draw: 0,
            touched: Vec::new(),
            left: vec![0.0; width],
            low: vec![0.0; dense],
            high: vec![0.0; dense],
            block: Vec::new(),
        }
    }

    /// Whether a row is on the left of a split.
    #[inline(always)]
    pub(crate) fn goes_left(&self, row: usize, found: &Found) -> bool {
        let feature = found.feature as usize;
        match self {
            SplitColumns::Best(codes) => codes.cells.get(row, feature, codes.zero[feature]) <= found.code,
            SplitColumns::Random(values, _) => values.get(row, feature, 0.0) <= found.threshold,
        }
    }

    /// The best split over the drawn features, if its gain is above `least`: with the best threshold of each, or with a random one.
    pub(crate) fn find(
        &self,
        drawn: &[u32],
        node: &Node<'_>,
        limits: &Limits,
        least: f32,
        scratch: &mut Scratch,
        generator: &mut Generator,
    ) -> Outcome {
        match self {
            SplitColumns::Best(codes) => dispatch(FindBest { codes, drawn, node, limits, least, scratch }),
            SplitColumns::Random(values, _) => {
                dispatch(FindRandom { values, drawn, node, limits, least, scratch, generator })
            }
        }
    }
}

/// The rows of a node and their statistics.
#[derive(Clone, Copy)]
pub(crate) struct Node<'a> {
    pub rows: &'a [u32],
    /// The numbers of a row in `statistics`, padded to whole vector registers.
    pub width: usize,
    /// How many of them are not padding.
    pub used: usize,
    /// `[rows, width]`, with centred numerators.
    pub statistics: &'a [f32],
    /// Their sums: the numerators are zero.
    pub total: &'a [f32],
}

/// Buffers of one growing tree.
pub(crate) struct Scratch {
    /// Sums of statistics: by code of two features, by feature and code, or by feature.
    pub sums: Vec<f32>,
    /// Which codes of two dense features have a sum.
    pub seen: [[u8; CODES]; 2],
    pub prefixes: Prefixes,
    /// Which codes have a sum: `[features]` bit sets for sparse cells.
    pub occupied: Vec<[u64; 4]>,
    /// By sparse feature: rows of the node with a stored cell.
    pub stored: Vec<u32>,
    /// By sparse feature: the smallest and the largest stored value, then the threshold.
    pub range: Vec<(f32, f32)>,
    /// By sparse feature: the number of the last draw that included it.
    pub marks: Vec<u32>,
    pub draw: u32,
    /// The drawn features with a stored cell in the node.
    pub touched: Vec<u32>,
    pub left: Vec<f32>,
    /// By dense feature: the smallest value in the node, then the threshold, then the weight on the left.
    pub low: Vec<f32>,
    /// By dense feature: the largest value in the node, then the gain.
    pub high: Vec<f32>,
    /// The codes of a small node, and what is found for each of its features.
    pub block: Vec<f32>,
}

impl Scratch {
    /// Marks the drawn features and clears the previous draw.
    pub fn start_draw(&mut self, drawn: &[u32]) {
        self.draw += 1;
        drawn.iter().for_each(|&feature| self.marks[feature as usize] = self.draw);
        for &feature in &self.touched {
            self.stored[feature as usize] = 0;
        }
        self.touched.clear();
    }
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
pub(crate) const BETTER: f32 = 1.0 + 1e-5;

#[inline(always)]
pub(crate) fn add(to: &mut [f32], row: &[f32]) {
    to.iter_mut().zip(row).for_each(|(t, &v)| *t += v);
}

/// `sum_k L_k^2` over the numerators of a side.
#[inline(always)]
pub(crate) fn sum_of_squares(left: &[f32], width: usize) -> f32 {
    // Four lanes: a plain sum would not be vectorised.
    let mut squares = [0.0f32; 4];
    for k in (0..width).step_by(4) {
        for lane in 0..4 {
            let a = if k + lane < 2 { 0.0 } else { left[k + lane] };
            squares[lane] += a * a;
        }
    }
    (squares[0] + squares[2]) + (squares[1] + squares[3])
}

/// The gain of a split with the denominator `below` and squared numerators on one side. The numerators of the whole node are zero,
/// so that those of the other side are the same with the other sign: `sum_k L_k^2 (1 / (H_L + penalty) + 1 / (H_R + penalty))`.
#[inline(always)]
pub(crate) fn gain(squares: f32, below: f32, total: f32, penalty: f32) -> f32 {
    let (below, above) = (below + penalty, total - below + penalty);
    squares * (below + above) / (below * above)
}
