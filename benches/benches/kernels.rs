//! Each kernel on one block of rows or on one product: `cargo bench -p ldlf-benches --bench kernels`.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ldlf_benches::{LARGE, SMALL, Sizes, numbers};
use ldlf_core::optimise::step::{Optimizer, Step};
use ldlf_core::product::{Into, View, ViewMut, product};
use ldlf_core::simd::{Simd, WithSimd, dispatch};
use ldlf_core::{Csr, Seed, vectorise};
use ldlf_forest::encoder::EncodedView;
use ldlf_forest::head::Block;
use ldlf_forest::kernel::{ROWS, sigmoid};
use ldlf_forest::leaves::add_statistics;
use ldlf_forest::linear::LinearMap;
use ldlf_forest::loss::{divide_into, mix, pull};
use ldlf_forest::routing::{backward, route};

fn block(sizes: &Sizes) -> (Block<f32>, Vec<u32>, Vec<f32>) {
    let shape = sizes.shape();
    let mut block = Block::new(&shape);
    let activations = numbers(shape.units, ROWS);
    block.load_activations(View::row_major(&activations, shape.units, ROWS), 0, ROWS);
    let targets = numbers(shape.labels, ROWS);
    block.targets.as_flattened_mut().iter_mut().zip(targets).for_each(|(t, v)| *t = v + 0.6);
    let units = (0..shape.splits() as u32).map(|split| split % shape.units as u32).collect();
    let leaves = vec![1.0 / shape.labels as f32; shape.leaves() * shape.labels];
    (block, units, leaves)
}

/// One of the kernels on a block and one tree.
#[derive(Clone, Copy)]
enum Kernel {
    Route,
    Mix,
    Divide,
    Pull,
    Backward,
    AddStatistics,
}

/// A kernel with all that it reads and writes.
struct Call<'a> {
    kernel: Kernel,
    block: &'a mut Block<f32>,
    units: &'a [u32],
    leaves: &'a [f32],
    statistics: &'a mut [f32],
}

impl WithSimd for Call<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Call { kernel, block, units, leaves, statistics } = self;
        match kernel {
            Kernel::Route => route(&block.splits, units, &mut block.shares),
            Kernel::Mix => mix(simd, &block.shares, leaves, &mut block.output),
            Kernel::Divide => {
                block.output.as_flattened_mut().fill(0.2);
                divide_into(&block.targets, &mut block.output, &mut [0.0; ROWS]);
            }
            Kernel::Pull => pull(simd, &block.shares, leaves, &block.output, &mut block.pulls),
            Kernel::Backward => {
                backward(&block.splits, units, &mut block.pulls, &[1e-3; ROWS], &mut block.gradient)
            }
            Kernel::AddStatistics => {
                let labels = block.output.len();
                add_statistics(simd, &block.shares, &block.output, labels, statistics);
            }
        }
    }
}

fn forest_kernels(c: &mut Criterion) {
    for sizes in [SMALL, LARGE] {
        let (mut block, units, leaves) = block(&sizes);
        let mut statistics = vec![0.0; leaves.len()];
        let mut group = c.benchmark_group(format!("block of {ROWS} rows, one tree"));
        group.throughput(Throughput::Elements(ROWS as u64));
        for (name, kernel) in [
            ("route", Kernel::Route),
            ("mix", Kernel::Mix),
            ("divide", Kernel::Divide),
            ("pull", Kernel::Pull),
            ("backward", Kernel::Backward),
            ("add_statistics", Kernel::AddStatistics),
        ] {
            group.bench_function(format!("{name}/h={},C={}", sizes.h, sizes.C), |b| {
                b.iter(|| {
                    let statistics = &mut statistics[..];
                    dispatch(Call { kernel, block: &mut block, units: &units, leaves: &leaves, statistics })
                })
            });
        }
        group.finish();
    }
}

fn elementwise(c: &mut Criterion) {
    let mut group = c.benchmark_group("elementwise");
    group.throughput(Throughput::Elements(1 << 14));
    let mut x = numbers(1 << 7, 1 << 7);
    group.bench_function("sigmoid/16384", |b| b.iter(|| vectorise!(sigmoid(black_box(&mut x)),)));
    let gradient = numbers(1 << 7, 1 << 7);
    let (mut m, mut v) = (vec![0.0; 1 << 14], vec![0.0; 1 << 14]);
    for (name, optimiser) in [("sgd", Optimizer::Sgd), ("adamw", Optimizer::AdamW)] {
        let step = Step::new(optimiser, 10, 1e-3, 0.9, 0.1);
        group.bench_function(format!("{name}/16384"), |b| {
            b.iter(|| vectorise!(step.apply(&mut x, &gradient, &mut m, &mut v),))
        });
    }
    group.finish();
}

fn linear_map(c: &mut Criterion) {
    let mut group = c.benchmark_group("linear map");
    for Sizes { m, tau, batch, .. } in [SMALL, LARGE] {
        let (x, g) = (numbers(batch, m), numbers(batch, tau));
        let map = LinearMap::new(m, false, tau, Seed::new(0));
        let mut out = vec![0.0; tau * batch];
        group.throughput(Throughput::Elements(2 * (m * tau * batch) as u64));
        group.bench_function(format!("forward dense/batch={batch},m={m},tau={tau}"), |b| {
            b.iter(|| map.forward(EncodedView::Dense(&x), &mut out))
        });
        let mut gradient = vec![0.0; m * tau];
        group.bench_function(format!("backward dense/batch={batch},m={m},tau={tau}"), |b| {
            b.iter(|| {
                product(
                    Into::Fresh,
                    ViewMut::row_major(&mut gradient, m, tau),
                    View::row_major(&x, batch, m).transposed(),
                    View::row_major(&g, batch, tau),
                )
            })
        });
    }
    for (m, tau) in [(1966, 64), (1966, 620)] {
        let mut x = Csr::with_columns(m);
        (0..256).for_each(|row| x.push_row((0..40).map(|i| ((i * 49 + row % 49) as u32, 1.0))));
        let map = LinearMap::new(m, false, tau, Seed::new(0));
        let mut out = vec![0.0; tau * 256];
        group.throughput(Throughput::Elements(2 * (x.stored() * tau) as u64));
        group.bench_function(format!("forward sparse/batch=256,m={m},40 a row,tau={tau}"), |b| {
            b.iter(|| map.forward(EncodedView::Sparse(&x), &mut out))
        });
    }
    group.finish();
}

criterion_group!(benches, forest_kernels, elementwise, linear_map);
criterion_main!(benches);
