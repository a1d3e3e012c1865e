//! The forest as plain data for figures: what its splits look at, where rows go, what its leaves hold.

use ldlf_core::forest_view::{ForestView, SplitFeature, TreeView};
use ldlf_core::{Features, Threads};
use ldlf_math::parallel::chunks;
use ldlf_math::product::View;

use crate::encoder::Encoded;
use crate::head::CHUNK;
use crate::shallow_forest::ShallowForest;

/// Features that are named in a split.
const NAMED: usize = 3;

/// Routes all rows through the forest.
pub(crate) fn look_inside(
    forest: &ShallowForest,
    features: &Features,
    chosen: &[usize],
    threads: &Threads,
) -> ForestView {
    let shape = *forest.head.shape();
    let (trees, leaves) = (shape.trees, shape.leaves());
    let parts = threads.map(chunks(features.rows(), CHUNK), |rows| {
        let mut part = Part::new(forest.encoder.inputs(), trees * leaves);
        let shares = forest.route(features, rows.clone(), Some(&mut part));
        part.add_shares(&shares);
        part
    });
    let mut total = Part::new(forest.encoder.inputs(), trees * leaves);
    parts.iter().for_each(|part| total.add(part));
    let routes: Vec<Vec<f32>> =
        chosen.iter().map(|&row| forest.route(features, row..row + 1, None)).collect();

    let rows = features.rows().max(1) as f64;
    let deviations = total.deviations(rows);
    let of_unit: Vec<Vec<SplitFeature>> =
        threads.map(0..shape.units, |unit| forest.strongest(unit, &deviations));
    let tree = |tree: usize| {
        let own = tree * leaves..(tree + 1) * leaves;
        let units = &forest.head.units()[tree * shape.splits()..(tree + 1) * shape.splits()];
        let distributions =
            forest.head.leaves()[own.start * shape.labels..own.end * shape.labels].chunks(shape.labels);
        TreeView {
            splits: units.iter().map(|&unit| of_unit[unit as usize].clone()).collect(),
            leaves: distributions.map(<[f32]>::to_vec).collect(),
            mass: total.mass[own.clone()].iter().map(|sum| sum / rows).collect(),
            routes: routes
                .iter()
                .map(|row| row[own.clone()].iter().map(|&p| f64::from(p)).collect())
                .collect(),
            examples: Vec::new(),
        }
    };
    ForestView { trees: (0..trees).map(tree).collect(), rows: features.rows(), chosen: chosen.to_vec() }
}

impl ShallowForest {
    /// The share of some rows that reaches every leaf, `[rows, trees, leaves]`; notes the inputs' sums in `part`.
    pub(crate) fn route(
        &self,
        features: &Features,
        rows: std::ops::Range<usize>,
        part: Option<&mut Part>,
    ) -> Vec<f32> {
        let count = rows.len();
        let mut encoded = self.encoder.buffer(features);
        self.encoder.encode(features, rows, None, &mut encoded);
        if let Some(part) = part {
            part.note(&encoded);
        }
        let units = self.head.shape().units;
        let mut activations = vec![0.0; units * count];
        self.map.forward(encoded.view(), &mut activations);
        self.head.route(View::row_major(&activations, units, count).transposed())
    }

    /// The features with the largest weight times deviation in a unit. Bins of a column count together.
    fn strongest(&self, unit: usize, deviations: &[f64]) -> Vec<SplitFeature> {
        let units = self.head.shape().units;
        let mut by_feature = vec![(0.0f64, 0.0f64); self.encoder.features()];
        for (input, deviation) in deviations.iter().enumerate() {
            if let Some(feature) = self.encoder.feature_of(input) {
                let pull = f64::from(self.map.weights()[input * units + unit]) * deviation;
                by_feature[feature].0 += pull.abs();
                by_feature[feature].1 += pull;
            }
        }
        let mut order: Vec<usize> = (0..by_feature.len()).filter(|&f| by_feature[f].0 > 0.0).collect();
        order.sort_by(|&a, &b| by_feature[b].0.total_cmp(&by_feature[a].0).then(a.cmp(&b)));
        order.truncate(NAMED);
        let named = |feature: usize| {
            let (strength, direction) = by_feature[feature];
            SplitFeature { feature, strength: strength.copysign(direction) }
        };
        order.into_iter().map(named).collect()
    }
}

/// Sums over some rows.
pub(crate) struct Part {
    sum: Vec<f64>,
    squares: Vec<f64>,
    /// The shares that reached every leaf, `[trees, leaves]`.
    pub mass: Vec<f64>,
}

impl Part {
    pub fn new(inputs: usize, leaves: usize) -> Self {
        Part { sum: vec![0.0; inputs], squares: vec![0.0; inputs], mass: vec![0.0; leaves] }
    }

    fn note(&mut self, encoded: &Encoded) {
        let inputs = self.sum.len();
        let mut one = |input: usize, value: f32| {
            self.sum[input] += f64::from(value);
            self.squares[input] += f64::from(value).powi(2);
        };
        match encoded {
            Encoded::Dense(values) => {
                values.iter().enumerate().for_each(|(place, &value)| one(place % inputs, value));
            }
            Encoded::Sparse(rows) => {
                for (columns, values) in rows.iter_rows() {
                    columns.iter().zip(values).for_each(|(&input, &value)| one(input as usize, value));
                }
            }
        }
    }

    /// Adds the shares of rows, `[rows, trees, leaves]`.
    pub fn add_shares(&mut self, shares: &[f32]) {
        for row in shares.chunks_exact(self.mass.len()) {
            self.mass.iter_mut().zip(row).for_each(|(sum, share)| *sum += f64::from(*share));
        }
    }

    pub fn means(&self, rows: f64) -> Vec<f64> {
        self.sum.iter().map(|sum| sum / rows).collect()
    }

    pub fn add(&mut self, other: &Part) {
        let pairs =
            [(&mut self.sum, &other.sum), (&mut self.squares, &other.squares), (&mut self.mass, &other.mass)];
        for (own, other) in pairs {
            own.iter_mut().zip(other).for_each(|(own, other)| *own += other);
        }
    }

    pub fn deviations(&self, rows: f64) -> Vec<f64> {
        let deviation =
            |(sum, squares): (&f64, &f64)| (squares / rows - (sum / rows).powi(2)).max(0.0).sqrt();
        self.sum.iter().zip(&self.squares).map(deviation).collect()
    }
}
