//! The crates that multiply matrices, on the shapes of a step, one thread each:
//! `cargo bench -p ldlf-benches --features products --bench products`.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use ldlf_benches::{LARGE, SMALL, Sizes, numbers};
use ldlf_math::product::{Accumulate, View, ViewMut, product};

fn products(c: &mut Criterion) {
    for Sizes { m, tau, batch, .. } in [SMALL, LARGE] {
        // Forward: [batch, m] [m, tau]. Backward: [m, batch] [batch, tau], the first one transposed in memory.
        let (x, weights, g) = (numbers(batch, m), numbers(m, tau), numbers(batch, tau));
        let forward = (
            View::row_major(&x, batch, m),
            View::row_major(&weights, m, tau),
            MatRef::from_row_major_slice(&x, batch, m),
            MatRef::from_row_major_slice(&weights, m, tau),
            [m, 1],
        );
        let backward = (
            View::row_major(&x, batch, m).transposed(),
            View::row_major(&g, batch, tau),
            MatRef::from_row_major_slice(&x, batch, m).transpose(),
            MatRef::from_row_major_slice(&g, batch, tau),
            [1, m],
        );
        for (name, (a, b, faer_a, faer_b, strides)) in [("forward", forward), ("backward", backward)] {
            let (rows, inner) = (faer_a.nrows(), faer_a.ncols());
            let mut out = vec![0.0f32; rows * tau];
            let mut group = c.benchmark_group(format!("{name}, {rows} x {inner} x {tau}"));
            group.throughput(Throughput::Elements(2 * (rows * inner * tau) as u64));
            group.sample_size(20);
            group.bench_function(BenchmarkId::from_parameter("gemm"), |bench| {
                bench.iter(|| product(Accumulate::Replace, ViewMut::row_major(&mut out, rows, tau), a, b))
            });
            group.bench_function(BenchmarkId::from_parameter("faer"), |bench| {
                bench.iter(|| {
                    let out = MatMut::from_row_major_slice_mut(&mut out, rows, tau);
                    matmul(out, Accum::Replace, faer_a, faer_b, 1.0, Par::Seq)
                })
            });
            let second = if name == "forward" { &weights } else { &g };
            group.bench_function(BenchmarkId::from_parameter("matrixmultiply"), |bench| {
                bench.iter(|| by_matrixmultiply(&mut out, &x, second, [rows, inner, tau], strides))
            });
            group.finish();
        }
    }
}

#[allow(unsafe_code, reason = "the crate takes raw pointers")]
fn by_matrixmultiply(
    out: &mut [f32],
    a: &[f32],
    b: &[f32],
    [rows, inner, cols]: [usize; 3],
    strides: [usize; 2],
) {
    assert!(a.len() == rows * inner && b.len() == inner * cols && out.len() == rows * cols);
    let [row_stride, col_stride] = strides.map(|stride| stride as isize);
    // SAFETY: the slices hold exactly the matrices of these shapes, and `strides` are those of `a`, whole or transposed.
    unsafe {
        matrixmultiply::sgemm(
            rows,
            inner,
            cols,
            1.0,
            a.as_ptr(),
            row_stride,
            col_stride,
            b.as_ptr(),
            cols as isize,
            1,
            0.0,
            out.as_mut_ptr(),
            cols as isize,
            1,
        );
    }
}

criterion_group!(benches, products);
criterion_main!(benches);
