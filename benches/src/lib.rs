//! The work that is timed: one description for the criterion benches, for the side of `ldlf` in `benches/versus`, and for
//! the names in their tables.

use ldlf_core::dataset::Tabular;
use ldlf_core::{Csr, Dataset, Features, Matrix, Seed, Threads};
use ldlf_forest::encoder::{Encoder, Scaling};
use ldlf_forest::head::{Head, LeafUpdate};
use ldlf_forest::leaves::LeafPrior;
use ldlf_forest::linear::LinearMap;
use ldlf_forest::shallow_forest::ShallowForest;
use ldlf_forest::stepper::Stepper;
use ldlf_forest::tree_shape::ForestShape;
use ldlf_math::optimise::step::{Optimizer, Step};
use ldlf_math::random::Generator;
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// Sizes in the letters of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(non_snake_case, reason = "the letters of the paper, in requests and in the names of benches")]
pub struct Sizes {
    /// Rows of the data.
    pub n: usize,
    /// Features.
    pub m: usize,
    /// Units of the feature function.
    pub tau: usize,
    /// Trees.
    pub K: usize,
    /// Depth.
    pub h: usize,
    /// Labels.
    pub C: usize,
    /// Rows of a mini-batch.
    pub batch: usize,
}

/// The small step of the paper's sizes.
pub const SMALL: Sizes = Sizes { n: 7000, m: 300, tau: 64, K: 5, h: 7, C: 5, batch: 256 };
/// A step in which the matrix products weigh most.
pub const LARGE: Sizes = Sizes { n: 8192, m: 1024, tau: 512, K: 20, h: 7, C: 20, batch: 4096 };

impl Sizes {
    /// The id of a bench: every size by its letter.
    pub fn id(&self) -> String {
        let Sizes { n, m, tau, K, h, C, batch } = self;
        format!("n={n},m={m},tau={tau},K={K},h={h},C={C},batch={batch}")
    }

    /// The forest's shape.
    pub fn shape(&self) -> ForestShape {
        ForestShape { trees: self.K, depth: self.h, units: self.tau, labels: self.C }
    }

    /// Dense features and random targets.
    pub fn dense(&self) -> Dataset {
        let mut generator = Seed::new(1).named("bench").generator();
        let features = (0..self.n * self.m).map(|_| uniform(&mut generator) - 0.5).collect();
        let features = Features::Dense(Matrix::new(self.n, self.m, features).expect("n x m numbers"));
        Dataset::new(features, self.targets(self.n)).expect("made to fit")
    }

    /// Sparse features of which each is set with the given chance.
    pub fn sparse(&self, chance: f32) -> Dataset {
        let mut generator = Seed::new(1).named("bench").generator();
        let mut rows = Csr::with_columns(self.m);
        for _ in 0..self.n {
            let set = (0..self.m as u32).filter(|_| uniform(&mut generator) < chance);
            rows.push_row(set.map(|column| (column, 1.0)).collect::<Vec<_>>());
        }
        Dataset::new(Features::Sparse(rows), self.targets(self.n)).expect("made to fit")
    }

    fn targets(&self, rows: usize) -> Matrix<f32> {
        let mut generator = Seed::new(2).named("bench").generator();
        let mut targets: Vec<f32> = (0..rows * self.C).map(|_| uniform(&mut generator) + 0.01).collect();
        targets.chunks_exact_mut(self.C).for_each(ldlf_math::numeric::normalise);
        Matrix::new(rows, self.C, targets).expect("rows x C numbers")
    }
}

/// A number in `[0, 1)`.
pub fn uniform(generator: &mut Generator) -> f32 {
    generator.random()
}

/// A forest in training on some data, ready for the next step.
pub struct Bench {
    data: Dataset,
    stepper: Stepper,
    rows: Vec<usize>,
    batch: usize,
    iteration: usize,
    threads: Threads,
}

impl Bench {
    /// Standardised features, AdamW, no dropout: the same work as the other side's.
    pub fn new(data: Dataset, sizes: &Sizes, threads: Threads) -> Self {
        let shape = ForestShape { labels: data.labels(), ..sizes.shape() };
        let rows: Vec<usize> = (0..data.rows()).collect();
        let encoder = Encoder::fit(table(&data).features, &rows, None, Scaling::Standard, 5.0, 0, true);
        let map = LinearMap::new(encoder.inputs() - 1, true, shape.units, Seed::new(0));
        let head = Head::new(shape, Seed::new(0)).expect("a shape within bounds");
        let batch = sizes.batch.min(rows.len());
        Bench { stepper: Stepper::new(encoder, map, head, batch), data, rows, batch, iteration: 0, threads }
    }

    /// Forward, backward, optimiser. Gives the loss.
    pub fn step(&mut self) -> f64 {
        let per_epoch = self.rows.len() / self.batch;
        let first = self.iteration % per_epoch * self.batch;
        let step = Step::new(Optimizer::AdamW, self.iteration, 0.01, 0.9, 0.01);
        self.iteration += 1;
        let trees = 0..self.stepper.head().shape().trees;
        self.stepper.step(
            table(&self.data),
            &self.rows[first..first + self.batch],
            trees,
            &step,
            None,
            &self.threads,
        )
    }

    /// A leaf update over all rows.
    pub fn update_leaves(&mut self, iterations: usize) {
        let labels = self.data.labels();
        let prior = LeafPrior { strength: 1.0, base: vec![1.0 / labels as f64; labels] };
        let update = LeafUpdate { iterations, prior };
        self.stepper.update_leaves(table(&self.data), &self.rows, &update, &self.threads);
    }

    /// The forest as it stands.
    pub fn forest(self) -> (ShallowForest, Dataset) {
        let (encoder, map, head) = self.stepper.into_parts();
        (ShallowForest { encoder, map, head }, self.data)
    }
}

fn table(data: &Dataset) -> Tabular<'_> {
    data.tabular().expect("the benchmarks' rows are tables")
}

/// `[rows, cols]` numbers that are not all alike.
pub fn numbers(rows: usize, cols: usize) -> Vec<f32> {
    let mut generator = Seed::new(3).named("numbers").generator();
    (0..rows * cols).map(|_| uniform(&mut generator) - 0.5).collect()
}
