//! The best threshold of each drawn feature.
//!
//! The rows of a node are summed by code, two dense features at a time, and the sums are added up from the lowest code on. In a small
//! node there are hardly more rows than codes, and sums by code cost more than trying every row's code as a threshold on as many
//! features at once as a vector register has lanes.

use ldlf_math::simd::{Simd, WithSimd};

use crate::columns::{CODES, Cells, Codes};
use crate::split_search::{BETTER, Found, Node, Outcome, Scratch, add, gain, sum_of_squares};
use crate::tree_builder::Limits;

/// Rows of a node in which every row's code is tried, with vectors of 16 lanes; fewer lanes, fewer rows.
const SMALL: usize = 32;

/// Statistics that are summed in one pass over the rows: twelve of the sixteen registers of AVX2.
const TOGETHER: usize = 6;

/// The best threshold over the drawn features, if its gain is above `least`.
pub(crate) struct FindBest<'a> {
    pub codes: &'a Codes,
    pub drawn: &'a [u32],
    pub node: &'a Node<'a>,
    pub limits: &'a Limits,
    pub least: f32,
    pub scratch: &'a mut Scratch,
}

impl WithSimd for FindBest<'_> {
    type Output = Outcome;

    /// Compiled once for each common width, so that loops unroll and sums stay in registers.
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Outcome {
        match self.node.width {
            4 => self.find::<S, 4>(simd),
            8 => self.find::<S, 8>(simd),
            16 => self.find::<S, 16>(simd),
            24 => self.find::<S, 24>(simd),
            _ => self.find::<S, 0>(simd),
        }
    }
}

impl FindBest<'_> {
    /// The search with rows of `W` statistics, or of any number where `W` is 0.
    #[inline(always)]
    fn find<S: Simd, const W: usize>(self, simd: S) -> Outcome {
        match &self.codes.cells {
            Cells::Dense { features, cells } => {
                if self.node.rows.len() * 16 <= SMALL * S::F32_LANES {
                    self.small::<S, W>(simd, *features, cells)
                } else {
                    self.dense::<W>(*features, cells)
                }
            }
            Cells::Sparse { starts, features, cells } => self.sparse::<W>(starts, features, cells),
        }
    }

    #[inline(always)]
    fn dense<const W: usize>(self, features: usize, cells: &[u8]) -> Outcome {
        let FindBest { codes, drawn, node, limits, least, scratch } = self;
        let mut best = Best::new(codes, limits, node, least);
        let (first, second) = scratch.sums.split_at_mut(CODES * node.width);
        let [first_seen, second_seen] = &mut scratch.seen;
        for pair in drawn.chunks(2) {
            match *pair {
                [a, b] => {
                    let both = [(a, &mut *first, &mut *first_seen), (b, &mut *second, &mut *second_seen)];
                    sum_by_code::<W, 2>(node, features, cells, both);
                    best.scan::<W>(a, first, take_bits(first_seen), &mut scratch.left, &mut scratch.prefixes);
                    best.scan::<W>(
                        b,
                        second,
                        take_bits(second_seen),
                        &mut scratch.left,
                        &mut scratch.prefixes,
                    );
                }
                [a] => {
                    sum_by_code::<W, 1>(node, features, cells, [(a, &mut *first, &mut *first_seen)]);
                    best.scan::<W>(a, first, take_bits(first_seen), &mut scratch.left, &mut scratch.prefixes);
                }
                _ => {}
            }
        }
        best.outcome
    }

    /// Tries every row's code as the last one on the left, and finds the exact threshold of the best feature.
    #[inline(always)]
    fn small<S: Simd, const W: usize>(self, simd: S, features: usize, cells: &[u8]) -> Outcome {
        let FindBest { codes, drawn, node, limits, least, scratch } = self;
        let (rows, lanes) = (node.rows.len(), S::F32_LANES);
        let padded = drawn.len().next_multiple_of(lanes);
        scratch.block.clear();
        scratch.block.resize((rows + 1) * padded, 0.0);
        let (gains, block) = scratch.block.split_at_mut(padded);
        for (&row, to) in node.rows.iter().zip(block.chunks_exact_mut(padded)) {
            let own = &cells[row as usize * features..(row as usize + 1) * features];
            to.iter_mut().zip(drawn).for_each(|(to, &feature)| *to = f32::from(own[feature as usize]));
        }
        let (gains_of, _) = S::as_mut_simd_f32s(gains);
        for (tile, best) in gains_of.iter_mut().enumerate() {
            *best = Tile { simd, block, padded, first: tile * lanes, node }.best(limits);
        }
        let (mut winner, mut best) = (None, least);
        for (&feature, &gain) in drawn.iter().zip(&*gains) {
            if gain > best * BETTER {
                (winner, best) = (Some(feature), gain);
            }
        }
        let Some(feature) = winner else {
            let code = |row: u32, feature: u32| cells[row as usize * features + feature as usize];
            let first = node.rows[0];
            let varied = drawn
                .iter()
                .any(|&feature| node.rows.iter().any(|&row| code(row, feature) != code(first, feature)));
            return Outcome { found: None, varied };
        };
        let sums = &mut scratch.sums[..CODES * node.width];
        sum_by_code::<W, 1>(node, features, cells, [(feature, sums, &mut scratch.seen[0])]);
        let mut best = Best::new(codes, limits, node, least);
        let bits = take_bits(&mut scratch.seen[0]);
        best.scan::<W>(feature, sums, bits, &mut scratch.left, &mut scratch.prefixes);
        best.outcome
    }

    #[inline(always)]
    fn sparse<const W: usize>(self, starts: &[usize], features: &[u32], cells: &[u8]) -> Outcome {
        let FindBest { codes, drawn, node, limits, least, scratch } = self;
        let width = if W == 0 { node.width } else { W };
        scratch.start_draw(drawn);
        for (&row, row_statistics) in node.rows.iter().zip(node.statistics.chunks_exact(width)) {
            let stored = starts[row as usize]..starts[row as usize + 1];
            for (&feature, &code) in features[stored.clone()].iter().zip(&cells[stored]) {
                let name = feature as usize;
                if scratch.marks[name] != scratch.draw {
                    continue;
                }
                if scratch.stored[name] == 0 {
                    scratch.touched.push(feature);
                    scratch.occupied[name] = [0; 4];
                }
                scratch.stored[name] += 1;
                let slot = (codes.first[name] as usize + usize::from(code)) * width;
                scratch.occupied[name][usize::from(code) >> 6] |= 1u64 << (code & 63);
                add(&mut scratch.sums[slot..slot + width], row_statistics);
            }
        }
        let mut best = Best::new(codes, limits, node, least);
        for &feature in &scratch.touched {
            let name = feature as usize;
            let first = codes.first[name] as usize;
            let sums = &mut scratch.sums[first * width..codes.first[name + 1] as usize * width];
            if (scratch.stored[name] as usize) < node.rows.len() {
                zeros_are_the_rest(sums, &mut scratch.occupied[name], codes.zero[name], node.total, width);
            }
            best.scan::<W>(feature, sums, scratch.occupied[name], &mut scratch.left, &mut scratch.prefixes);
        }
        best.outcome
    }
}

/// Adds the rows of a node to the sums of their codes of `N` features. Sums without rows are zero: they are cleared when they are
/// read.
#[inline(always)]
fn sum_by_code<const W: usize, const N: usize>(
    node: &Node<'_>,
    features: usize,
    cells: &[u8],
    mut columns: [(u32, &mut [f32], &mut [u8; CODES]); N],
) {
    let width = if W == 0 { node.width } else { W };
    for (&row, statistics) in node.rows.iter().zip(node.statistics.chunks_exact(width)) {
        let own = &cells[row as usize * features..(row as usize + 1) * features];
        for (feature, sums, seen) in &mut columns {
            let code = own[*feature as usize];
            seen[usize::from(code)] = 1;
            let start = usize::from(code) * width;
            add(&mut sums[start..start + width], statistics);
        }
    }
}

/// The codes that were seen, as a bit set; clears them.
#[inline(always)]
fn take_bits(seen: &mut [u8; CODES]) -> [u64; 4] {
    let mut bits = [0u64; 4];
    for (word, seen) in bits.iter_mut().zip(seen.as_chunks::<64>().0) {
        for (at, eight) in seen.as_chunks::<8>().0.iter().enumerate() {
            // Gathers the lowest bits of eight bytes in the highest byte of the product.
            *word |= (u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * at);
        }
    }
    seen.fill(0);
    bits
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

/// What stands on the left of every threshold of a feature, in the order of its occupied codes.
pub(crate) struct Prefixes {
    codes: [u8; CODES],
    weights: [f32; CODES],
    below: [f32; CODES],
    /// Squared numerators, then gains.
    gains: [f32; CODES],
}

impl Default for Prefixes {
    fn default() -> Self {
        Prefixes { codes: [0; CODES], weights: [0.0; CODES], below: [0.0; CODES], gains: [0.0; CODES] }
    }
}

impl Prefixes {
    /// Turns the first `count` squared numerators into gains, 0 where a side is too light, and gives the largest.
    #[inline(always)]
    pub(crate) fn gains(&mut self, count: usize, total: &[f32], leaf_weight: f32, penalty: f32) -> f32 {
        const LANES: usize = 16;
        let mut largest = [0.0f32; LANES];
        // Whole vectors: without weight no threshold behind `count` is allowed.
        let end = count.next_multiple_of(LANES);
        self.weights[count..end].fill(0.0);
        let gains = self.gains[..end].as_chunks_mut::<LANES>().0.iter_mut();
        let sides = self.below.as_chunks::<LANES>().0.iter().zip(self.weights.as_chunks::<LANES>().0);
        for (gains, (below, weights)) in gains.zip(sides) {
            for lane in 0..LANES {
                let allowed = weights[lane] >= leaf_weight && total[0] - weights[lane] >= leaf_weight;
                let gain = gain(gains[lane], below[lane], total[1], penalty);
                gains[lane] = if allowed { gain } else { 0.0 };
                largest[lane] = if gains[lane] > largest[lane] { gains[lane] } else { largest[lane] };
            }
        }
        largest.into_iter().fold(0.0, f32::max)
    }
}

/// The best split so far.
struct Best<'a> {
    codes: &'a Codes,
    total: &'a [f32],
    width: usize,
    leaf_weight: f32,
    penalty: f32,
    least: f32,
    outcome: Outcome,
}

impl<'a> Best<'a> {
    #[inline(always)]
    fn new(codes: &'a Codes, limits: &Limits, node: &Node<'a>, least: f32) -> Self {
        Best {
            codes,
            total: node.total,
            width: node.width,
            leaf_weight: limits.leaf_weight as f32,
            penalty: limits.penalty as f32,
            least,
            outcome: Outcome { found: None, varied: false },
        }
    }

    /// Tries every threshold between two occupied codes of a feature, and clears their sums.
    #[inline(always)]
    fn scan<const W: usize>(
        &mut self,
        feature: u32,
        sums: &mut [f32],
        occupied: [u64; 4],
        left: &mut [f32],
        prefixes: &mut Prefixes,
    ) {
        let width = if W == 0 { self.width } else { W };
        let mut in_registers = [0.0f32; 24];
        let left = if W == 0 { left } else { &mut in_registers[..W] };
        left.fill(0.0);
        let mut count = 0;
        for (at, mut word) in occupied.into_iter().enumerate() {
            while word != 0 {
                let code = at * 64 + word.trailing_zeros() as usize;
                word &= word - 1;
                let slot = &mut sums[code * width..(code + 1) * width];
                add(left, slot);
                slot.fill(0.0);
                // At most as many as there are codes.
                let place = count & (CODES - 1);
                prefixes.codes[place] = code as u8;
                prefixes.weights[place] = left[0];
                prefixes.below[place] = left[1];
                prefixes.gains[place] = sum_of_squares(left, width);
                count += 1;
            }
        }
        if count < 2 {
            return;
        }
        self.outcome.varied = true;
        let largest = prefixes.gains(count - 1, self.total, self.leaf_weight, self.penalty);
        if largest <= self.least * BETTER {
            return;
        }
        // Of thresholds that are equally good but for rounding, the lowest.
        let Some(place) = prefixes.gains[..count - 1].iter().position(|&gain| gain * BETTER >= largest)
        else {
            return;
        };
        self.least = largest;
        let (below, above) = (prefixes.codes[place], prefixes.codes[place + 1]);
        let threshold = self.codes.threshold(feature as usize, usize::from(below), usize::from(above));
        self.outcome.found = Some(Found { feature, threshold, code: below });
    }
}

/// Neighbouring features of a small node, one in each lane.
struct Tile<'a, S> {
    simd: S,
    /// `[rows, padded]`: codes as numbers.
    block: &'a [f32],
    padded: usize,
    first: usize,
    node: &'a Node<'a>,
}

impl<S: Simd> Tile<'_, S> {
    /// The codes of a row.
    #[inline(always)]
    fn load(&self, row: usize) -> S::f32s {
        let start = row * self.padded + self.first;
        self.simd.partial_load_f32s(&self.block[start..start + S::F32_LANES])
    }

    /// The largest gain of each feature, 0 where no threshold is allowed.
    #[inline(always)]
    fn best(&self, limits: &Limits) -> S::f32s {
        let simd = self.simd;
        let [leaf_weight, penalty] = [limits.leaf_weight, limits.penalty].map(|v| simd.splat_f32s(v as f32));
        let [weight, denominator] = [self.node.total[0], self.node.total[1]].map(|v| simd.splat_f32s(v));
        let zero = simd.splat_f32s(0.0);
        let mut best = zero;
        for row in 0..self.node.rows.len() {
            let threshold = self.load(row);
            let (mut squares, mut left, mut below) = (zero, zero, zero);
            for start in (0..self.node.used).step_by(TOGETHER) {
                let sums = match self.node.used - start {
                    1 => self.sums::<1>(threshold, start),
                    2 => self.sums::<2>(threshold, start),
                    3 => self.sums::<3>(threshold, start),
                    4 => self.sums::<4>(threshold, start),
                    5 => self.sums::<5>(threshold, start),
                    _ => self.sums::<TOGETHER>(threshold, start),
                };
                let mut numerators = &sums[..(self.node.used - start).min(TOGETHER)];
                if start == 0 {
                    [left, below] = [sums[0], sums[1]];
                    numerators = &numerators[2..];
                }
                for &sum in numerators {
                    squares = simd.add_f32s(squares, simd.mul_f32s(sum, sum));
                }
            }
            let above = simd.add_f32s(simd.sub_f32s(denominator, below), penalty);
            let below = simd.add_f32s(below, penalty);
            let both = simd.mul_f32s(squares, simd.add_f32s(below, above));
            let gain = simd.div_f32s(both, simd.mul_f32s(below, above));
            let gain = simd.select_f32s(simd.less_than_or_equal_f32s(leaf_weight, left), gain, zero);
            let right = simd.sub_f32s(weight, left);
            let gain = simd.select_f32s(simd.less_than_or_equal_f32s(leaf_weight, right), gain, zero);
            best = simd.select_f32s(simd.less_than_f32s(best, gain), gain, best);
        }
        best
    }

    /// Sums of `N` statistics, from number `start` on, over the rows whose codes reach no threshold.
    #[inline(always)]
    fn sums<const N: usize>(&self, thresholds: S::f32s, start: usize) -> [S::f32s; TOGETHER] {
        let simd = self.simd;
        let mut sums = [simd.splat_f32s(0.0); TOGETHER];
        for (row, statistics) in self.node.statistics.chunks_exact(self.node.width).enumerate() {
            let left = simd.less_than_or_equal_f32s(self.load(row), thresholds);
            let statistics: &[f32; N] = statistics[start..start + N].try_into().expect("start + N of them");
            for n in 0..N {
                let more = simd.add_f32s(sums[n], simd.splat_f32s(statistics[n]));
                sums[n] = simd.select_f32s(left, more, sums[n]);
            }
        }
        sums
    }
}
