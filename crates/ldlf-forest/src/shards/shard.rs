//! One virtual shard: some neighbouring rows, and the sums that questions ask for.

use ldlf_core::dataset::Tabular;
use ldlf_core::early_stopping::HeldOutKl;
use ldlf_core::leave_out::RowGroups;
use ldlf_core::{Dataset, Features, Result, Seed, Threads};

use super::order::{Batches, Order, is_held_back};
use super::question::Setting;
use super::sums::Sums;
use crate::columns::{WeightedRows, column_squares, column_sums, column_values};
use crate::encoder::EncodedRows;
use crate::head::LeaveOut;
use crate::pass::{Aim, DropoutDraw, Layers, Pass, examples};
use crate::plan::LeaveOutPlan;
use crate::predict::{LinearActivations, predict_rows};
use crate::weight_gradient::add_weight_gradient;

/// Rows that go forward and backward together; their number decides nothing but the memory they take.
pub(super) const SLAB: usize = 4096;

/// The rows of one virtual shard, in this process's memory.
pub(super) struct Shard {
    pub number: usize,
    pub first_row: u64,
    pub data: Dataset,
    /// Rows to learn from and held-out rows.
    pub training: Vec<usize>,
    validation: Vec<usize>,
    /// The groups of rows that trees leave out, where they do.
    groups: Option<RowGroups>,
    order: Order,
}

impl Shard {
    /// Refuses rows that are no table.
    pub fn new(number: usize, first_row: u64, data: Dataset) -> Result<Self> {
        data.features()?;
        let order = Order::default();
        Ok(Shard {
            number,
            first_row,
            data,
            training: Vec::new(),
            validation: Vec::new(),
            groups: None,
            order,
        })
    }

    pub fn table(&self) -> Tabular<'_> {
        self.data.tabular().expect("a shard is made of rows of a table, as `new` has checked")
    }

    /// Draws the held-out rows, by their numbers.
    pub fn hold_back(&mut self, share: Option<f64>, seed: Seed) {
        let is_held =
            |row: &usize| share.is_some_and(|share| is_held_back(self.first_row + *row as u64, share, seed));
        (self.validation, self.training) = (0..self.data.rows()).partition(is_held);
        self.order = Order::default();
    }

    /// Draws the groups of rows that trees leave out, by the rows' numbers.
    pub fn leave_out(&mut self, plan: Option<LeaveOutPlan>, seed: Seed) {
        let draw =
            |plan: LeaveOutPlan| RowGroups::draw_by_number(&self.data, self.first_row, plan.groups, seed);
        self.groups = plan.map(draw);
    }

    fn weighted<'a>(&'a self, rows: &'a [usize]) -> WeightedRows<'a> {
        WeightedRows { rows, weights: self.data.weights() }
    }

    /// Training rows at this shard's place among all, then weight, weighted targets and column sums.
    pub fn survey(&self, setting: &Setting) -> Sums {
        let mut sums = vec![0.0; setting.shards + 1 + setting.labels];
        sums[self.number] = self.training.len() as f64;
        for &row in &self.training {
            let weight = f64::from(self.data.weight(row));
            sums[setting.shards] += weight;
            let targets = sums[setting.shards + 1..].iter_mut().zip(self.data.targets().row(row));
            targets.for_each(|(sum, &d)| *sum += weight * f64::from(d));
        }
        sums.extend(column_sums(self.table().features, self.weighted(&self.training)));
        Sums::of_shard(self.number, sums, Vec::new())
    }

    /// Squares and stored entries of every column.
    pub fn spread(&self, mean: &[f64]) -> Sums {
        let (mut squares, stored) =
            column_squares(self.table().features, self.weighted(&self.training), mean);
        squares.extend(stored);
        Sums::of_shard(self.number, squares, Vec::new())
    }

    /// The values of some columns in this shard's part of a sample: `[columns, rows]`, zeros at the places of others.
    pub fn sample(&self, columns: &[u32], rows: usize, batches: &Batches, seed: Seed) -> Sums {
        let mut sums = vec![0.0; columns.len() * rows];
        let places = batches.share(rows, self.number);
        let seed = seed.named("sample").numbered(self.number as u64);
        let order = ldlf_math::random::permutation(self.training.len(), &mut seed.generator());
        let own: Vec<usize> = order.iter().take(places.len()).map(|&place| self.training[place]).collect();
        let values = column_values(self.table().features, self.weighted(&own), columns);
        for (sums, values) in sums.chunks_exact_mut(rows.max(1)).zip(values) {
            let places = sums[places.start..places.start + values.len()].iter_mut();
            places.zip(values).for_each(|(sum, (value, _))| *sum = value);
        }
        Sums::of_shard(self.number, Vec::new(), sums)
    }

    fn batch(&mut self, iteration: usize, batches: &Batches, seed: Seed) -> Vec<usize> {
        let places = self.order.batch(batches, self.number, iteration, seed);
        places.iter().map(|&place| self.training[place]).collect()
    }

    /// The loss and the weight of this shard's rows of a mini-batch, and the gradient with respect to the weights.
    #[allow(clippy::too_many_arguments, reason = "all that a step depends on, borrowed from its holder")]
    pub fn step(
        &mut self,
        iteration: usize,
        given_back: bool,
        forest: Layers<'_>,
        batches: &Batches,
        aim: &Aim<'_>,
        dropout: f32,
        seed: Seed,
        pass: &mut Pass,
        threads: &Threads,
    ) -> Sums {
        let rows = self.batch(iteration, batches, seed);
        let dropout = (dropout > 0.0).then(|| DropoutDraw {
            share: dropout,
            seed: seed.named("dropout").numbered(iteration as u64),
            first_row: Some(self.first_row),
        });
        let units = forest.map.units();
        let mut gradient = vec![0.0; forest.encoder.inputs() * units];
        let mut loss = 0.0;
        let table = self.table();
        let aim = Aim { leave_out: self.left_out(given_back), trees: aim.trees.clone(), ..*aim };
        for slab in rows.chunks(SLAB) {
            loss += pass.run(forest, table, slab, &aim, dropout, threads);
            let (inputs, of_activations) = pass.passed(table);
            add_weight_gradient(inputs, of_activations, units, &mut gradient, threads);
        }
        let weight = examples(&self.data, Some(&rows), None).total_weight();
        Sums::of_shard(self.number, vec![loss, weight], gradient)
    }

    /// The statistics of the leaves over some mini-batches, or over all training rows.
    pub fn leaf_statistics(
        &mut self,
        iterations: Option<(usize, usize)>,
        given_back: bool,
        forest: Layers<'_>,
        batches: &Batches,
        seed: Seed,
        threads: &Threads,
    ) -> Sums {
        let of_batches: Vec<usize> = iterations.map_or_else(Vec::new, |(first, end)| {
            (first..end).flat_map(|iteration| self.batch(iteration, batches, seed)).collect()
        });
        let rows = if iterations.is_some() { &of_batches } else { &self.training };
        let source = LinearActivations {
            map: forest.map,
            rows: EncodedRows { encoder: forest.encoder, features: self.table().features, rows: Some(rows) },
        };
        let statistics = forest.head.leaf_statistics(
            &source,
            &examples(&self.data, Some(rows), self.left_out(given_back)),
            threads,
        );
        Sums::of_shard(self.number, statistics, Vec::new())
    }

    fn left_out(&self, given_back: bool) -> Option<LeaveOut<'_>> {
        self.groups.as_ref().filter(|_| !given_back).map(LeaveOut::from)
    }

    /// The weighted K-L divergence of the held-out rows, or of all by the trees that leave them out, and their weight.
    pub fn validate(&self, forest: Layers<'_>, threads: &Threads) -> Sums {
        if let Some(leave_out) = self.left_out(false) {
            let features = self.table().features;
            let rows = EncodedRows { encoder: forest.encoder, features, rows: Some(&self.training) };
            let source = LinearActivations { map: forest.map, rows };
            let examples = examples(&self.data, Some(&self.training), Some(leave_out));
            let left_out = forest.head.predict_left_out(&source, &examples, threads).predicted;
            let HeldOutKl { sum, weight } =
                HeldOutKl::of(&self.data, self.training.iter().copied(), &left_out);
            return Sums::of_shard(self.number, vec![sum, weight], Vec::new());
        }
        let rows = EncodedRows {
            encoder: forest.encoder,
            features: self.table().features,
            rows: Some(&self.validation),
        };
        let predicted = predict_rows(forest.map, forest.head, &rows, self.validation.len(), threads);
        let HeldOutKl { sum, weight } =
            HeldOutKl::of(&self.data, self.validation.iter().copied(), &predicted);
        Sums::of_shard(self.number, vec![sum, weight], Vec::new())
    }

    pub fn is_sparse(&self) -> bool {
        matches!(self.table().features, Features::Sparse(_))
    }
}
