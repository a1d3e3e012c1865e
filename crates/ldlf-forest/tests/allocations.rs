//! Training steps and single-row predictions reuse their buffers: nothing is allocated once they are warm.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use ldlf_core::{Csr, Dataset, Features, Matrix, RowPredictor, Seed, Threads};
use ldlf_forest::encoder::{Encoder, Scaling};
use ldlf_forest::head::Head;
use ldlf_forest::linear::LinearMap;
use ldlf_forest::shallow_forest::ShallowForest;
use ldlf_forest::single_row::SingleRow;
use ldlf_forest::stepper::Stepper;
use ldlf_forest::tree_shape::ForestShape;
use ldlf_math::optimise::step::{Optimizer, Step};

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, which counts what this thread asks of it.
struct Counting;

#[allow(unsafe_code, reason = "an allocator can only be watched by standing in its place")]
// SAFETY: every call is handed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller's promise about `layout` is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `alloc` above, and so from the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(work: impl FnOnce()) -> usize {
    let before = COUNT.get();
    work();
    COUNT.get() - before
}

const ROWS: usize = 300;
const FEATURES: usize = 40;

fn value(row: usize, column: usize) -> f32 {
    ((row * 7 + column * 13) % 11) as f32 / 11.0
}

fn dense() -> Features {
    let values = (0..ROWS * FEATURES).map(|i| value(i / FEATURES, i % FEATURES)).collect();
    Features::Dense(Matrix::new(ROWS, FEATURES, values).unwrap())
}

fn sparse() -> Features {
    let mut rows = Csr::with_columns(FEATURES);
    for row in 0..ROWS {
        rows.push_row((0..4).map(|i| ((10 * i + row % 10) as u32, 1.0)));
    }
    Features::Sparse(rows)
}

fn training(features: Features) -> (Dataset, Stepper) {
    let targets =
        (0..ROWS).flat_map(|row| [0.25 + 0.5 * value(row, 0), 0.75 - 0.5 * value(row, 0)]).collect();
    let data = Dataset::new(features, Matrix::new(ROWS, 2, targets).unwrap()).unwrap();
    let rows: Vec<usize> = (0..ROWS).collect();
    let encoder = Encoder::fit(data.features().unwrap(), &rows, None, Scaling::Standard, 5.0, 0, true);
    let shape = ForestShape { trees: 3, depth: 4, units: 9, labels: 2 };
    let map = LinearMap::new(FEATURES, true, shape.units, Seed::new(0));
    let stepper = Stepper::new(encoder, map, Head::new(shape, Seed::new(0)).unwrap(), 128);
    (data, stepper)
}

/// What the crate of the matrix products asks for on its own account, each time it is called: room to pack either side.
const A_PRODUCT: usize = 2;

#[test]
fn a_training_step_allocates_nothing_once_warm() {
    // Two parts forward and two shards backward; sparse rows need no such product.
    for (features, products) in [(dense(), 2 + 2), (sparse(), 0)] {
        let (data, mut stepper) = training(features);
        let (data, threads) = (data.tabular().unwrap(), Threads::one());
        let rows: Vec<usize> = (0..ROWS).collect();
        let mut step = |iteration: usize| {
            let first = iteration % 2 * 128;
            let rule = Step::new(Optimizer::AdamW, iteration, 0.01, 0.9, 0.1);
            stepper.step(data, &rows[first..first + 128], 0..3, &rule, None, &threads)
        };
        (0..4).for_each(|iteration| {
            step(iteration);
        });
        let count = allocations(|| {
            (4..104).for_each(|iteration| {
                step(iteration);
            })
        });
        assert!(count <= 100 * products * A_PRODUCT, "{count} allocations in 100 steps");
    }
}

#[test]
fn the_prediction_of_a_single_row_allocates_nothing_and_equals_that_of_the_batch() {
    use ldlf_core::Model;
    for features in [dense(), sparse()] {
        let (data, stepper) = training(features);
        let (encoder, map, head) = stepper.into_parts();
        let forest = ShallowForest { encoder, map, head };
        let batch = forest.predict(data.inputs(), &Threads::one()).unwrap().into_distributions().unwrap();
        let mut predictor = SingleRow::new(&forest);
        let features = data.features().unwrap();
        let count = allocations(|| {
            for row in 0..ROWS {
                let single = predictor.predict(features.row(row)).unwrap();
                for (a, b) in single.iter().zip(batch.row(row)) {
                    assert!((a - b).abs() < 1e-6, "row {row}: {a} {b}");
                }
            }
        });
        assert_eq!(count, 0, "allocations in {ROWS} rows");
    }
}
