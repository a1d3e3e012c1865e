//! What a user waits for: a step, a leaf update, a prediction: `cargo bench -p ldlf-benches --bench forest`.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ldlf_benches::{Bench, LARGE, SMALL, Sizes};
use ldlf_core::{Model, RowPredictor, Threads};
use ldlf_forest::single_row::SingleRow;

/// Sparse data as wide and as thin as Movie.
const THIN: Sizes = Sizes { n: 7000, m: 1869, tau: 64, K: 5, h: 7, C: 5, batch: 256 };
/// The sizes of the defaults.
const DEFAULT: Sizes = Sizes { n: 4096, m: 300, tau: 620, K: 20, h: 6, C: 9, batch: 256 };

fn training(c: &mut Criterion) {
    let mut group = c.benchmark_group("training");
    group.sample_size(20);
    for threads in [1, 2] {
        let pool = Threads::new(threads).expect("one or two threads");
        for sizes in [SMALL, LARGE, DEFAULT] {
            let mut bench = Bench::new(sizes.dense(), &sizes, pool.clone());
            let id = format!("{},threads={threads}", sizes.id());
            group.throughput(Throughput::Elements(sizes.batch as u64));
            group.bench_function(BenchmarkId::new("step, dense", &id), |b| b.iter(|| bench.step()));
        }
        let id = format!("{},threads={threads}", THIN.id());
        let mut bench = Bench::new(THIN.sparse(0.011), &THIN, pool.clone());
        group.bench_function(BenchmarkId::new("step, sparse", &id), |b| b.iter(|| bench.step()));
        let id = format!("{},threads={threads}", SMALL.id());
        let mut bench = Bench::new(SMALL.dense(), &SMALL, pool);
        group.throughput(Throughput::Elements(SMALL.n as u64));
        group.bench_function(BenchmarkId::new("leaf update of 20", &id), |b| {
            b.iter(|| bench.update_leaves(20))
        });
    }
    group.finish();
}

fn prediction(c: &mut Criterion) {
    let mut group = c.benchmark_group("prediction");
    for sizes in [SMALL, DEFAULT] {
        let (forest, data) = Bench::new(sizes.dense(), &sizes, Threads::one()).forest();
        for threads in [1, 2] {
            let pool = Threads::new(threads).expect("one or two threads");
            group.throughput(Throughput::Elements(sizes.n as u64));
            let id = format!("{},threads={threads}", sizes.id());
            group.bench_function(BenchmarkId::new("batch", id), |b| {
                b.iter(|| forest.predict(data.inputs(), &pool).expect("features that fit"))
            });
        }
        group.throughput(Throughput::Elements(1));
        group.bench_function(BenchmarkId::new("single row", sizes.id()), |b| {
            let mut predictor = SingleRow::new(&forest);
            let row = data.features().expect("a table").row(0);
            b.iter(|| predictor.predict(row).expect("a row that fits")[0])
        });
    }
    group.finish();
}

criterion_group!(benches, training, prediction);
criterion_main!(benches);
