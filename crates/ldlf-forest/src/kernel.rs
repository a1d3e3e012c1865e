//! The numbers and the row blocks that the kernels work on.
//!
//! Every kernel treats [`ROWS`] rows at once: a [`Lane`] holds one quantity (a split's output, a leaf's share) for all of
//! them, so that each inner loop runs over a fixed number of neighbours without a branch and the compiler can vectorise it.

use ldlf_math::product::Float;
use ldlf_math::simd::{Simd, bytemuck};

/// Rows in a block: with 64 leaves the routing of a tree then fills 16 KiB and stays in the nearest cache.
pub const ROWS: usize = 64;

/// One number for each row of a block.
pub type Lane<T> = [T; ROWS];

/// A number with the elementary functions of the kernels: without branches for `f32`, exact to the last digits for `f64`.
pub trait SimdFloat: Float + bytemuck::Pod {
    /// As many numbers as a register of the processor holds.
    type Vector<S: Simd>: Copy + bytemuck::Pod;
    /// The same number in all places.
    fn splat<S: Simd>(simd: S, x: Self) -> Self::Vector<S>;
    /// `a b`.
    fn times<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// `a b + c`, fused where the processor can.
    fn mul_add<S: Simd>(
        simd: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// The sum of the places.
    fn sum<S: Simd>(simd: S, x: Self::Vector<S>) -> Self;
    /// What an output is divided by at least: small enough that the leaf update keeps its promise, large enough that `1 / FLOOR`
    /// is finite.
    const FLOOR: Self;
    /// `exp(x)`.
    fn exponential(self) -> Self;
    /// `ln(x)` for `x > 0`.
    fn logarithm(self) -> Self;
    /// `sqrt(x)`.
    fn square_root(self) -> Self;
}

impl SimdFloat for f64 {
    type Vector<S: Simd> = S::f64s;

    #[inline(always)]
    fn splat<S: Simd>(simd: S, x: Self) -> S::f64s {
        simd.splat_f64s(x)
    }

    #[inline(always)]
    fn times<S: Simd>(simd: S, a: S::f64s, b: S::f64s) -> S::f64s {
        simd.mul_f64s(a, b)
    }

    #[inline(always)]
    fn mul_add<S: Simd>(simd: S, a: S::f64s, b: S::f64s, c: S::f64s) -> S::f64s {
        simd.mul_add_e_f64s(a, b, c)
    }

    #[inline(always)]
    fn sum<S: Simd>(simd: S, x: S::f64s) -> Self {
        simd.reduce_sum_f64s(x)
    }

    const FLOOR: Self = 1e-290;

    #[inline(always)]
    fn exponential(self) -> Self {
        self.exp()
    }

    #[inline(always)]
    fn logarithm(self) -> Self {
        self.ln()
    }

    #[inline(always)]
    fn square_root(self) -> Self {
        self.sqrt()
    }
}

impl SimdFloat for f32 {
    type Vector<S: Simd> = S::f32s;

    #[inline(always)]
    fn splat<S: Simd>(simd: S, x: Self) -> S::f32s {
        simd.splat_f32s(x)
    }

    #[inline(always)]
    fn times<S: Simd>(simd: S, a: S::f32s, b: S::f32s) -> S::f32s {
        simd.mul_f32s(a, b)
    }

    #[inline(always)]
    fn mul_add<S: Simd>(simd: S, a: S::f32s, b: S::f32s, c: S::f32s) -> S::f32s {
        simd.mul_add_e_f32s(a, b, c)
    }

    #[inline(always)]
    fn sum<S: Simd>(simd: S, x: S::f32s) -> Self {
        simd.reduce_sum_f32s(x)
    }

    const FLOOR: Self = 1e-30;

    /// Range reduction to `[-ln 2 / 2, ln 2 / 2]`, a polynomial of degree 6, scaling by bits; inputs are held within
    /// +-87, where the result is a normal number. Relative error below 2e-7.
    #[inline(always)]
    fn exponential(self) -> Self {
        // Adding and subtracting 1.5 * 2^23 rounds to a whole number and leaves it in the low bits.
        const ROUND: f32 = 12_582_912.0;
        const LN_2_HIGH: f32 = 0.693_359_4;
        const LN_2_LOW: f32 = -2.121_944_4e-4;
        // Written so that what is not a number stays so: a training that has run away must be seen.
        let x = if self < -87.0 { -87.0 } else { self };
        let x = if x > 87.0 { 87.0 } else { x };
        let shifted = x * std::f32::consts::LOG2_E + ROUND;
        let n = shifted - ROUND;
        let r = x - n * LN_2_HIGH - n * LN_2_LOW;
        let p = 1.388_888_9e-3;
        let p = p * r + 8.333_334e-3;
        let p = p * r + 4.166_666_8e-2;
        let p = p * r + 1.666_666_7e-1;
        let p = p * r + 0.5;
        let p = p * r + 1.0;
        let p = p * r + 1.0;
        let power = shifted.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127) << 23;
        p * f32::from_bits(power)
    }

    /// Splits off the power of two and sums the series of `atanh` on the mantissa in `[sqrt(1/2), sqrt(2)]`.
    #[inline(always)]
    fn logarithm(self) -> Self {
        // The bits of sqrt(1/2): subtracting them makes the exponent field step at sqrt(1/2) instead of at 1.
        const HALF_ROOT: u32 = 0x3f35_04f3;
        let offset = self.to_bits().wrapping_sub(HALF_ROOT);
        let exponent = (offset as i32) >> 23;
        let mantissa = f32::from_bits((offset & 0x007f_ffff).wrapping_add(HALF_ROOT));
        let t = (mantissa - 1.0) / (mantissa + 1.0);
        let t2 = t * t;
        let series = 2.0 / 9.0;
        let series = series * t2 + 2.0 / 7.0;
        let series = series * t2 + 0.4;
        let series = series * t2 + 2.0 / 3.0;
        let series = series * t2 + 2.0;
        // The last term is 0, but for what is not a number, which the bits above would hide.
        exponent as f32 * std::f32::consts::LN_2 + t * series + 0.0 * self
    }

    #[inline(always)]
    fn square_root(self) -> Self {
        self.sqrt()
    }
}

/// A lane as vectors.
#[inline(always)]
pub fn vectors<S: Simd, T: SimdFloat>(lane: &Lane<T>) -> &[T::Vector<S>] {
    bytemuck::cast_slice(lane.as_slice())
}

/// A lane as vectors, to write to.
#[inline(always)]
pub fn vectors_mut<S: Simd, T: SimdFloat>(lane: &mut Lane<T>) -> &mut [T::Vector<S>] {
    bytemuck::cast_slice_mut(lane.as_mut_slice())
}

/// Cuts `0..count` into as few ranges of at most `most` as it takes, of nearly equal length.
#[inline(always)]
pub fn even_ranges(count: usize, most: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let parts = count.div_ceil(most);
    (0..parts).map(move |part| part * count / parts..(part + 1) * count / parts)
}

/// Replaces every number by `1 / (1 + exp(-x))`.
#[inline(always)]
pub fn sigmoid<T: SimdFloat>(values: &mut [T]) {
    for v in values {
        *v = T::ONE / (T::ONE + (-*v).exponential());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fast_exponential_is_within_three_units_in_the_last_place() {
        for i in -870..=870 {
            let x = i as f32 * 0.1;
            let exact = f64::from(x).exp();
            assert!((f64::from(x.exponential()) / exact - 1.0).abs() < 4e-7, "{x}");
        }
        assert!(f32::exponential(-1e30) > 0.0 && f32::exponential(1e30).is_finite());
        assert!(f32::NAN.exponential().is_nan());
    }

    #[test]
    fn the_fast_logarithm_is_exact_to_single_precision() {
        for x in [1e-30f32, 1e-12, 0.1, 0.5, 0.7, 0.999, 1.0, 1.001, 1.5, 2.0, 1e20] {
            let exact = f64::from(x).ln();
            assert!((f64::from(x.logarithm()) - exact).abs() <= 2e-7 * exact.abs().max(1.0), "{x}");
        }
        assert!(f32::NAN.logarithm().is_nan());
    }

    #[test]
    fn the_sigmoid_is_symmetric_and_saturates() {
        let mut x = [-1e3f32, -5.0, 0.0, 5.0, 1e3];
        sigmoid(&mut x);
        assert_eq!((x[2], x[4]), (0.5, 1.0));
        assert!(x[0] < 1e-37 && (x[1] + x[3] - 1.0).abs() < 1e-7);
    }
}
