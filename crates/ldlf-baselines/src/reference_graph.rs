//! Kept rows in a graph of standard operators: distances to them, kernels, and the nearest.
//!
//! Distances are differences of squares, which rounding harms: they are computed in double precision, so that a runtime loses nothing.

use ldlf_core::Features;
use ldlf_core::graph::{Attribute, Flow, Graph, Kind};

use crate::kernel::Kernel;
use crate::reference_rows::ReferenceRows;

/// Numbers of kept rows above which they do not fit the file, whose size is limited to 2 GB.
const MOST_NUMBERS: usize = 1 << 29;

impl ReferenceRows {
    /// `x_i . y_j` for every row and every row kept, in double precision: `[rows, kept]`. Nothing where too many rows are kept.
    fn add_products(&self, graph: &mut Graph, rows: &Flow) -> Option<Flow> {
        let (count, width) = (self.len(), self.features().cols());
        if count.checked_mul(width)? > MOST_NUMBERS {
            return None;
        }
        let mut by_feature = vec![0.0; width * count];
        for row in 0..count {
            self.features().for_each_in_row(row, |column, value| by_feature[column * count + row] = value);
        }
        let kept = graph.f32s("kept_rows", &[width, count], by_feature);
        let kept = graph.cast("kept_rows", &kept, Kind::F64);
        Some(graph.node("MatMul", "products", &[rows, &kept]))
    }

    /// `|x_i - y_j|^2`, not below 0, in double precision: `[rows, kept]`.
    pub(crate) fn add_squared_distances(&self, graph: &mut Graph, scaled: &Flow) -> Option<Flow> {
        let rows = graph.cast("rows", scaled, Kind::F64);
        let products = self.add_products(graph, &rows)?;
        let two = graph.f64s("two", &[], vec![2.0]);
        let products = graph.node("Mul", "products", &[&products, &two]);
        let squares = graph.node("Mul", "squares", &[&rows, &rows]);
        let norms = graph.row_sums("norms", &squares);
        let kept_norms = (0..self.len()).map(|row| norm_of(self.features(), row)).collect();
        let kept_norms = graph.f64s("kept_norms", &[self.len()], kept_norms);
        let sums = graph.node("Add", "sums", &[&norms, &kept_norms]);
        let distances = graph.node("Sub", "distances", &[&sums, &products]);
        let zero = graph.f64s("zero", &[], vec![0.0]);
        Some(graph.node("Max", "distances", &[&distances, &zero]))
    }
}

/// `|y|^2` in double precision.
fn norm_of(features: &Features, row: usize) -> f64 {
    let mut sum = 0.0;
    features.for_each_in_row(row, |_, value| sum += f64::from(value).powi(2));
    sum
}

impl Kernel {
    /// `sum_j k(x_i, y_j) coefficients[j, c]` for every row, in double precision: `[rows, columns]`.
    pub(crate) fn add_weighted_sums(
        self,
        graph: &mut Graph,
        kept: &ReferenceRows,
        scaled: &Flow,
        coefficients: &[f32],
        columns: usize,
    ) -> Option<Flow> {
        let similarities = match self {
            Kernel::Linear => {
                let rows = graph.cast("rows", scaled, Kind::F64);
                kept.add_products(graph, &rows)?
            }
            Kernel::Rbf { gamma } => {
                let distances = kept.add_squared_distances(graph, scaled)?;
                add_fall(graph, &distances, gamma)
            }
            Kernel::Laplace { rate } => {
                let squared = kept.add_squared_distances(graph, scaled)?;
                let distances = graph.node("Sqrt", "distances", &[&squared]);
                add_fall(graph, &distances, rate)
            }
        };
        let coefficients = graph.f32s("coefficients", &[kept.len(), columns], coefficients.to_vec());
        let coefficients = graph.cast("coefficients", &coefficients, Kind::F64);
        Some(graph.node("MatMul", "weighted_sums", &[&similarities, &coefficients]))
    }
}

/// `exp(-rate d)`.
fn add_fall(graph: &mut Graph, distances: &Flow, rate: f32) -> Flow {
    let rate = graph.f64s("rate", &[], vec![-f64::from(rate)]);
    let exponents = graph.node("Mul", "exponents", &[distances, &rate]);
    graph.node("Exp", "similarities", &[&exponents])
}

/// The part of the largest squared norm that is one step of distances, when they are compared: more than rounding changes, and less than what
/// single precision tells apart.
const STEP: f64 = 1.0 / (1u64 << 44) as f64;

/// The sums of `values` (`[kept, columns]`) over the `k` rows kept that are nearest to every row: `[rows, columns]`. Distances that are
/// equal up to rounding are ties, which go to the lower row number.
pub(crate) fn add_sums_of_nearest(
    graph: &mut Graph,
    kept: &ReferenceRows,
    scaled: &Flow,
    k: usize,
    (values, columns): (Vec<f32>, usize),
) -> Option<Flow> {
    let distances = kept.add_squared_distances(graph, scaled)?;
    let largest = (0..kept.len()).map(|row| norm_of(kept.features(), row)).fold(f64::MIN_POSITIVE, f64::max);
    let steps = graph.f64s("steps", &[], vec![1.0 / (largest * STEP).max(f64::MIN_POSITIVE)]);
    let distances = graph.node("Mul", "distances", &[&distances, &steps]);
    let distances = graph.node("Round", "distances", &[&distances]);
    let k = graph.i64s("k", vec![k as i64]);
    let nearest = graph.smallest("nearest", &distances, &k);
    let values = graph.f32s("values", &[kept.len(), columns], values);
    let found = graph.node_with("Gather", "found", &[&values, &nearest], &[("axis", Attribute::Int(0))]);
    let axis = graph.i64s("axis", vec![1]);
    let flat = [("keepdims", Attribute::Int(0))];
    Some(graph.node_with("ReduceSum", "sums_of_nearest", &[&found, &axis], &flat))
}
