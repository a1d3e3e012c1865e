//! Matrix products on strided views: the only, safe, interface to the `gemm` crate.

/// The number type of matrix products and kernels: `f32` or `f64`.
pub trait Float:
    Copy
    + Default
    + Send
    + Sync
    + PartialOrd
    + std::fmt::Debug
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::Neg<Output = Self>
    + std::ops::AddAssign
    + std::ops::MulAssign
    + 'static
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The nearest number of this type.
    fn of(x: f64) -> Self;
    /// The same number in double precision.
    fn as_f64(self) -> f64;
    /// The larger of two numbers; `self` where either is not a number.
    fn larger(self, other: Self) -> Self;
}

macro_rules! float {
    ($($t:ty),*) => { $(
        impl Float for $t {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            #[inline(always)]
            fn of(x: f64) -> Self {
                x as $t
            }
            #[inline(always)]
            fn as_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn larger(self, other: Self) -> Self {
                if self < other { other } else { self }
            }
        }
    )* };
}
float!(f32, f64);

/// A matrix inside a slice: entry `(i, j)` is at `i * row_stride + j * col_stride`.
#[derive(Clone, Copy, Debug)]
pub struct View<'a, T> {
    data: &'a [T],
    rows: usize,
    cols: usize,
    row_stride: usize,
    col_stride: usize,
}

impl<'a, T> View<'a, T> {
    /// Contiguous rows.
    pub fn row_major(data: &'a [T], rows: usize, cols: usize) -> Self {
        View::strided(data, rows, cols, cols, 1)
    }

    /// Any strides; the last entry must lie within the slice.
    pub fn strided(data: &'a [T], rows: usize, cols: usize, row_stride: usize, col_stride: usize) -> Self {
        assert!(fits(data.len(), rows, cols, row_stride, col_stride), "a view must lie within its slice");
        View { data, rows, cols, row_stride, col_stride }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// One entry.
    #[inline(always)]
    pub fn at(&self, row: usize, col: usize) -> T
    where
        T: Copy,
    {
        self.data[row * self.row_stride + col * self.col_stride]
    }

    /// One row as a slice, where its entries are contiguous.
    #[inline(always)]
    pub fn row_slice(&self, row: usize) -> Option<&'a [T]> {
        (self.col_stride == 1).then(|| &self.data[row * self.row_stride..row * self.row_stride + self.cols])
    }

    /// The transpose, without a copy.
    pub fn transposed(self) -> Self {
        View {
            rows: self.cols,
            cols: self.rows,
            row_stride: self.col_stride,
            col_stride: self.row_stride,
            ..self
        }
    }
}

/// A matrix inside a slice, to write to.
#[derive(Debug)]
pub struct ViewMut<'a, T> {
    data: &'a mut [T],
    rows: usize,
    cols: usize,
    row_stride: usize,
    col_stride: usize,
}

impl<'a, T> ViewMut<'a, T> {
    /// Contiguous rows.
    pub fn row_major(data: &'a mut [T], rows: usize, cols: usize) -> Self {
        ViewMut::strided(data, rows, cols, cols, 1)
    }

    /// Any strides; the last entry must lie within the slice, and no two entries may coincide.
    pub fn strided(
        data: &'a mut [T],
        rows: usize,
        cols: usize,
        row_stride: usize,
        col_stride: usize,
    ) -> Self {
        assert!(fits(data.len(), rows, cols, row_stride, col_stride), "a view must lie within its slice");
        let apart = (row_stride >= cols.saturating_mul(col_stride) && (col_stride > 0 || cols <= 1))
            || (col_stride >= rows.saturating_mul(row_stride) && (row_stride > 0 || rows <= 1));
        assert!(apart || rows == 0 || cols == 0, "entries of a view to write to must not coincide");
        ViewMut { data, rows, cols, row_stride, col_stride }
    }
}

fn fits(len: usize, rows: usize, cols: usize, row_stride: usize, col_stride: usize) -> bool {
    if rows == 0 || cols == 0 {
        return true;
    }
    let last = (rows - 1).checked_mul(row_stride).zip((cols - 1).checked_mul(col_stride));
    last.and_then(|(r, c)| r.checked_add(c)).is_some_and(|last| last < len)
        && isize::try_from(row_stride).is_ok()
        && isize::try_from(col_stride).is_ok()
}

/// What happens to the values that the output has already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accumulate {
    /// They are replaced by the product.
    Replace,
    /// The product is added to them.
    Add,
}

/// `out = a b` or `out += a b`, on the caller's thread: shapes `[m, k] [k, n] -> [m, n]`.
///
/// The bits of the result depend on the shapes and strides alone.
///
/// ```
/// use ldlf_math::product::{Accumulate, View, ViewMut, product};
/// let (a, b) = ([1.0f32, 2.0, 3.0, 4.0], [1.0f32, 1.0]);
/// let mut out = [0.0f32; 2];
/// product(Accumulate::Replace, ViewMut::row_major(&mut out, 2, 1), View::row_major(&a, 2, 2), View::row_major(&b, 2, 1));
/// assert_eq!(out, [3.0, 7.0]);
/// ```
#[allow(
    unsafe_code,
    reason = "the gemm crate takes raw pointers; the views prove that every entry lies in its slice"
)]
pub fn product<T: Float>(accumulate: Accumulate, out: ViewMut<'_, T>, a: View<'_, T>, b: View<'_, T>) {
    assert!(a.rows == out.rows && b.cols == out.cols && a.cols == b.rows, "the shapes of a product must fit");
    if out.rows == 0 || out.cols == 0 {
        return;
    }
    if crate::simd::is_forced_portable() {
        return plain_product(accumulate, out, a, b);
    }
    // SAFETY: `View::strided` and `ViewMut::strided` checked that the entry furthest from the start of each slice, and so
    // every entry, lies within it, and that no two entries of `out` coincide; `out` is borrowed exclusively, so it cannot
    // overlap `a` or `b`; `T` is f32 or f64, the types that gemm dispatches on.
    unsafe {
        gemm::gemm(
            out.rows,
            out.cols,
            a.cols,
            out.data.as_mut_ptr(),
            out.col_stride as isize,
            out.row_stride as isize,
            accumulate == Accumulate::Add,
            a.data.as_ptr(),
            a.col_stride as isize,
            a.row_stride as isize,
            b.data.as_ptr(),
            b.col_stride as isize,
            b.row_stride as isize,
            T::ONE,
            T::ONE,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

/// The product by definition, for [`Level::Portable`](crate::simd::Level::Portable): the reference of the other levels.
fn plain_product<T: Float>(accumulate: Accumulate, out: ViewMut<'_, T>, a: View<'_, T>, b: View<'_, T>) {
    for i in 0..out.rows {
        for j in 0..out.cols {
            let place = &mut out.data[i * out.row_stride + j * out.col_stride];
            let start = if accumulate == Accumulate::Add { *place } else { T::ZERO };
            *place = (0..a.cols).fold(start, |sum, k| sum + a.at(i, k) * b.at(k, j));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn by_hand(a: View<'_, f64>, b: View<'_, f64>) -> Vec<f64> {
        let at = |v: &View<'_, f64>, i: usize, j: usize| v.data[i * v.row_stride + j * v.col_stride];
        let mut out = vec![0.0; a.rows * b.cols];
        for i in 0..a.rows {
            for j in 0..b.cols {
                out[i * b.cols + j] = (0..a.cols).map(|k| at(&a, i, k) * at(&b, k, j)).sum();
            }
        }
        out
    }

    proptest! {
        #[test]
        fn products_of_any_shape_and_transposition_equal_the_sum_by_hand(
            m in 1usize..20, k in 0usize..20, n in 1usize..20, turned in any::<bool>(), add in any::<bool>(),
        ) {
            let a: Vec<f64> = (0..m * k).map(|i| (i as f64 * 0.7).sin()).collect();
            let b: Vec<f64> = (0..k * n).map(|i| (i as f64 * 1.3).cos()).collect();
            let a = if turned { View::row_major(&a, k, m).transposed() } else { View::row_major(&a, m, k) };
            let b = View::row_major(&b, k, n);
            let mut out = vec![1.0; m * n];
            let accumulate = if add { Accumulate::Add } else { Accumulate::Replace };
            product(accumulate, ViewMut::row_major(&mut out, m, n), a, b);
            let mut plain = vec![1.0; m * n];
            plain_product(accumulate, ViewMut::row_major(&mut plain, m, n), a, b);
            for ((found, plain), expected) in out.iter().zip(plain).zip(by_hand(a, b)) {
                let expected = if add { expected + 1.0 } else { expected };
                prop_assert!((found - expected).abs() < 1e-12, "{found} {expected}");
                prop_assert!((plain - expected).abs() < 1e-12, "{plain} {expected}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "must lie within")]
    fn a_view_past_its_slice_is_refused() {
        View::row_major(&[0.0f32; 5], 2, 3);
    }

    #[test]
    #[should_panic(expected = "must not coincide")]
    fn an_output_whose_entries_coincide_is_refused() {
        ViewMut::strided(&mut [0.0f32; 5], 2, 3, 1, 1);
    }
}
