//! From a dataset's columns to the inputs of the linear map: fitted on training rows only, saved with the model.

use std::ops::Range;

use ldlf_core::graph::{Flow, Graph};
use ldlf_core::stored::{Array, Parts};
use ldlf_core::{Csr, Error, Features, Matrix, Result, choices};

use crate::bins::Bins;
use crate::columns::{Columns, WeightedRows, column_squares, column_sums, column_values, numeric_columns};
pub use crate::dropout::Dropout;
use crate::ranks::Ranks;

choices! {
    /// How features are brought to a common scale.
    pub enum Scaling {
        /// As they are.
        Raw = "raw",
        /// Mean 0 and deviation 1 (sparse columns: deviation 1, zeros stay zeros), cut off far out.
        Standard = "standard",
        /// Mean 0 and all divided by one number, so that the mean square is 1: wide columns, such as the first principal components,
        /// still count for more than narrow ones.
        Common = "common",
        /// The normal score of a value's rank among the training rows: any monotone map of a column gives the same. Sparse columns are
        /// scaled as by standard.
        Ranks = "ranks",
        /// As ranks, with a learning rate of its own for every column: columns that tell more about the targets learn faster.
        Relevance = "relevance",
    }
}

/// Scales columns: `z = clamp((x - shift) scale, -limit, limit)`. Sparse columns are not shifted, so that zeros stay zeros;
/// a constant column becomes zero.
///
/// A numeric column among sparse ones (more than two values, stored in at least half of the rows) would be spoilt by scaling
/// without a shift; it is spread piecewise linearly over quantile bins instead.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoder {
    shift: Vec<f32>,
    scale: Vec<f32>,
    limit: f32,
    bins: Bins,
    /// Dense columns by ranks; empty for the other kinds of scaling.
    ranks: Ranks,
    bias: bool,
}

/// Encoded rows, with a last column of ones when there is a bias.
pub enum Encoded {
    /// `[rows, inputs]`.
    Dense(Vec<f32>),
    /// The same, of which only entries that differ from zero are stored.
    Sparse(Csr),
}

/// Encoded rows to read.
#[derive(Clone, Copy)]
pub enum EncodedView<'a> {
    /// `[rows, inputs]`.
    Dense(&'a [f32]),
    /// The same, of which only entries that differ from zero are stored.
    Sparse(&'a Csr),
}

impl Encoded {
    /// The rows, to read.
    pub fn view(&self) -> EncodedView<'_> {
        match self {
            Encoded::Dense(x) => EncodedView::Dense(x),
            Encoded::Sparse(x) => EncodedView::Sparse(x),
        }
    }
}

/// Turns `1 / deviation` of every column into one factor, such that the mean square of all scaled columns is 1; gives the
/// largest deviation of a scaled column.
fn make_common(scale: &mut [f32]) -> f32 {
    let deviations: Vec<f64> = scale.iter().filter(|s| **s > 0.0).map(|s| 1.0 / f64::from(*s)).collect();
    let squares: f64 = deviations.iter().map(|deviation| deviation * deviation).sum();
    if deviations.is_empty() {
        return 1.0;
    }
    let factor = (deviations.len() as f64 / squares).sqrt();
    scale.iter_mut().filter(|s| **s > 0.0).for_each(|s| *s = factor as f32);
    (factor * deviations.iter().copied().fold(0.0, f64::max)) as f32
}

impl Encoder {
    /// Fits the encoder to some rows, which count by their weights. `limit` is how many deviations from the mean a value may lie.
    pub fn fit(
        features: &Features,
        rows: &[usize],
        weights: Option<&[f32]>,
        scaling: Scaling,
        limit: f64,
        bins: usize,
        bias: bool,
    ) -> Self {
        let rows = WeightedRows { rows, weights };
        match (scaling, features) {
            (Scaling::Raw, _) => return Encoder::raw(features.cols(), bias),
            (Scaling::Ranks | Scaling::Relevance, Features::Dense(matrix)) => {
                let values = |column: usize| {
                    rows.rows.iter().map(|&row| (matrix.row(row)[column], rows.weight(row) as f32)).collect()
                };
                return Encoder::from_values((0..matrix.cols()).map(values), limit, bias);
            }
            _ => {}
        }
        let weight = rows.total();
        let count = if weight > 0.0 { weight } else { 1.0 };
        let mean: Vec<f64> = column_sums(features, rows).iter().map(|sum| sum / count).collect();
        let (squares, stored) = column_squares(features, rows, &mean);
        let bins = match features {
            Features::Sparse(_) if bins > 0 => {
                let columns = numeric_columns(&stored, weight);
                let values = column_values(features, rows, &columns);
                Bins::fit(columns, values, bins)
            }
            _ => Bins::none(bins),
        };
        let sparse = matches!(features, Features::Sparse(_));
        let columns = Columns { weight, sparse, mean, squares, stored };
        Encoder::from_columns(columns, scaling, limit, bins, bias)
    }

    /// Ranks of columns, by the values and weights of each.
    pub(crate) fn from_values(
        columns: impl Iterator<Item = Vec<(f32, f32)>>,
        limit: f64,
        bias: bool,
    ) -> Self {
        let mut ranks = Ranks::none();
        columns.for_each(|mut values| ranks.push(&mut values));
        Encoder { limit: limit as f32, ..Encoder::raw(ranks.columns(), bias) }.with_ranks(ranks)
    }

    fn with_ranks(self, ranks: Ranks) -> Self {
        Encoder { ranks, ..self }
    }

    /// Leaves features as they are.
    pub(crate) fn raw(features: usize, bias: bool) -> Self {
        let (shift, scale) = (vec![0.0; features], vec![1.0; features]);
        Encoder { shift, scale, limit: f32::MAX, bins: Bins::default(), ranks: Ranks::none(), bias }
    }

    /// The encoder that what is known of the columns makes; the columns of the bins are not scaled.
    pub(crate) fn from_columns(
        columns: Columns,
        scaling: Scaling,
        limit: f64,
        bins: Bins,
        bias: bool,
    ) -> Self {
        let Columns { weight, sparse, mean, squares, stored } = columns;
        let count = if weight > 0.0 { weight } else { 1.0 };
        let mut shift = vec![0.0f32; mean.len()];
        let mut scale = vec![0.0f32; mean.len()];
        for col in 0..mean.len() {
            let absent = weight - stored[col];
            let deviation = ((squares[col] + absent * mean[col].powi(2)) / count).sqrt();
            // A column whose spread is rounding noise is constant.
            if deviation > 1e-6 * mean[col].abs() && deviation > f64::from(f32::MIN_POSITIVE) {
                scale[col] = (1.0 / deviation) as f32;
                shift[col] = if sparse { 0.0 } else { mean[col] as f32 };
            }
        }
        bins.columns.iter().for_each(|&column| scale[column as usize] = 0.0);
        let mut limit = limit as f32;
        if scaling == Scaling::Common {
            limit = (limit * make_common(&mut scale)).min(f32::MAX);
        }
        Encoder { shift, scale, limit, bins, ranks: Ranks::none(), bias }
    }

    /// The number of features read.
    pub fn features(&self) -> usize {
        self.scale.len()
    }

    /// The number of inputs written, with the bias: first the scaled columns, then the bins, then the bias.
    pub fn inputs(&self) -> usize {
        self.features() + self.bins.inputs() + usize::from(self.bias)
    }

    /// The feature behind an input; none behind the bias.
    pub fn feature_of(&self, input: usize) -> Option<usize> {
        if input < self.features() {
            return Some(input);
        }
        let column = (input - self.features()).checked_div(self.bins.count)?;
        self.bins.columns.get(column).map(|&feature| feature as usize)
    }

    /// Whether the last input is the constant 1.
    pub fn bias(&self) -> bool {
        self.bias
    }

    /// The same with an input of ones at the end.
    pub fn with_bias(self) -> Self {
        Encoder { bias: true, ..self }
    }

    /// The same without that input.
    pub fn without_bias(self) -> Self {
        Encoder { bias: false, ..self }
    }

    /// Whether a feature that is zero gives an input that is zero, so that sparse rows stay sparse.
    fn keeps_zeros(&self) -> bool {
        self.ranks.is_empty() && self.shift.iter().all(|&shift| shift == 0.0)
    }

    /// An empty buffer of the kind that these features need.
    pub fn buffer(&self, features: &Features) -> Encoded {
        match features {
            Features::Sparse(_) if self.keeps_zeros() => Encoded::Sparse(Csr::with_columns(self.inputs())),
            _ => Encoded::Dense(Vec::new()),
        }
    }

    /// Encodes rows into a buffer, replacing what it holds.
    pub fn encode(
        &self,
        features: &Features,
        rows: impl ExactSizeIterator<Item = usize>,
        dropout: Option<Dropout<'_>>,
        out: &mut Encoded,
    ) {
        match (features, out) {
            (Features::Dense(matrix), Encoded::Dense(out)) => {
                out.resize(rows.len() * self.inputs(), 0.0);
                self.encode_dense(matrix, rows, dropout, out);
            }
            (Features::Sparse(matrix), Encoded::Sparse(out)) => {
                self.encode_sparse(matrix, rows, dropout, out)
            }
            // Fitted on dense rows, asked about sparse ones.
            (Features::Sparse(matrix), Encoded::Dense(out)) => {
                out.resize(rows.len() * self.inputs(), 0.0);
                let mut whole = vec![0.0; self.features()];
                for (row, out) in rows.zip(out.chunks_exact_mut(self.inputs())) {
                    features.copy_row_into(row, &mut whole);
                    self.encode_dense_row(&whole, out);
                }
                debug_assert!(dropout.is_none() && matrix.cols() == self.features());
            }
            (Features::Dense(_), Encoded::Sparse(_)) => {
                unreachable!("buffer() makes no sparse rows of dense features")
            }
        }
    }

    /// All rows encoded, without the bias, and an encoder that adds it to them: what a training looks at again and again. None where
    /// rows are sparse or would take more than `most` bytes.
    pub fn encode_once(&self, features: &Features, most: usize) -> Option<(Features, Encoder)> {
        let Features::Dense(matrix) = features else { return None };
        let own = Encoder { bias: false, ..self.clone() };
        if matrix.rows().saturating_mul(own.inputs() * size_of::<f32>()) > most {
            return None;
        }
        let mut encoded = vec![0.0; matrix.rows() * own.inputs()];
        own.encode_dense(matrix, 0..matrix.rows(), None, &mut encoded);
        let encoded = Matrix::new(matrix.rows(), own.inputs(), encoded).ok()?;
        Some((Features::Dense(encoded), Encoder::raw(own.inputs(), self.bias)))
    }

    /// Encodes dense rows into `[rows, inputs]`.
    pub fn encode_dense(
        &self,
        features: &Matrix<f32>,
        rows: impl Iterator<Item = usize>,
        mut dropout: Option<Dropout<'_>>,
        out: &mut [f32],
    ) {
        for (row, out) in rows.zip(out.chunks_exact_mut(self.inputs())) {
            self.encode_dense_row(features.row(row), out);
            if let Some(dropout) = &mut dropout {
                dropout.begin(row);
                dropout.apply(&mut out[..self.scale.len()]);
            }
        }
    }

    /// Encodes sparse rows, replacing what `out` holds.
    pub fn encode_sparse(
        &self,
        features: &Csr,
        rows: impl Iterator<Item = usize>,
        mut dropout: Option<Dropout<'_>>,
        out: &mut Csr,
    ) {
        out.clear();
        for row in rows {
            let (columns, values) = features.row(row);
            if let Some(dropout) = &mut dropout {
                dropout.begin(row);
            }
            let bias = self.bias.then_some((self.inputs() as u32 - 1, 1.0));
            let kept = self.inputs_of(columns, values).filter_map(|(input, z)| {
                let z = dropout.as_mut().map_or(z, |dropout| dropout.one(z));
                (z != 0.0).then_some((input, z))
            });
            out.push_row(kept.chain(bias));
        }
    }

    /// The inputs that a sparse row sets, without the bias.
    #[inline(always)]
    pub fn inputs_of<'a>(
        &'a self,
        columns: &'a [u32],
        values: &'a [f32],
    ) -> impl Iterator<Item = (u32, f32)> + 'a {
        let scaled = columns.iter().zip(values).map(|(&column, &value)| {
            (column, (value * self.scale[column as usize]).clamp(-self.limit, self.limit))
        });
        let value_of = |column: u32| columns.binary_search(&column).map_or(0.0, |place| values[place]);
        scaled.chain(self.bins.encode(value_of, self.features()))
    }

    /// Encodes one dense row.
    pub fn encode_dense_row(&self, row: &[f32], out: &mut [f32]) {
        if !self.ranks.is_empty() {
            for (column, (out, &x)) in out.iter_mut().zip(row).enumerate() {
                *out = self.ranks.score(column, x).clamp(-self.limit, self.limit);
            }
            out[self.features()..].fill(1.0);
            return;
        }
        ldlf_math::vectorise!({
            for (((out, &x), &shift), &scale) in out.iter_mut().zip(row).zip(&self.shift).zip(&self.scale) {
                let z = (x - shift) * scale;
                let z = if z > -self.limit { z } else { -self.limit };
                *out = if z < self.limit { z } else { self.limit };
            }
        },);
        let (bins, bias) = out[self.scale.len()..].split_at_mut(self.bins.inputs());
        bins.fill(0.0);
        self.bins.encode(|column| row[column as usize], 0).for_each(|(bin, z)| bins[bin as usize] = z);
        bias.fill(1.0);
    }

    /// Adds the encoder to a graph. Gives the inputs without the bias and without bins that are always empty, and the numbers of
    /// those inputs.
    pub fn add_to_graph(&self, graph: &mut Graph, features: &Flow) -> (Flow, Vec<usize>) {
        if !self.ranks.is_empty() {
            let scores = self.ranks.add_to_graph(graph, features);
            return (graph.clip(&scores, -self.limit, self.limit), (0..self.features()).collect());
        }
        let mut inputs = graph.scale(features, &self.shift, &self.scale);
        if self.limit < f32::MAX {
            inputs = graph.clip(&inputs, -self.limit, self.limit);
        }
        let mut used: Vec<usize> = (0..self.features()).collect();
        let (mut columns, mut edges, mut widths) = (Vec::new(), Vec::new(), Vec::new());
        let each = self.bins.columns.iter().zip(self.bins.edges.chunks_exact(self.bins.count + 1));
        for (index, (&column, of_column)) in each.enumerate() {
            for (bin, edge) in of_column.windows(2).enumerate().filter(|(_, edge)| edge[1] > edge[0]) {
                columns.push(i64::from(column));
                edges.push(edge[0]);
                widths.push(edge[1] - edge[0]);
                used.push(self.features() + index * self.bins.count + bin);
            }
        }
        if !columns.is_empty() {
            let count = columns.len();
            let values = graph.columns_of("binned", features, columns);
            let edges = graph.f32s("edges", &[count], edges);
            let widths = graph.f32s("bin_widths", &[count], widths);
            let beyond = graph.node("Sub", "beyond", &[&values, &edges]);
            let shares = graph.node("Div", "bin_shares", &[&beyond, &widths]);
            let bins = graph.clip(&shares, 0.0, 1.0);
            inputs = graph.beside("encoded", &[&inputs, &bins]);
        }
        (inputs, used)
    }

    /// Adds the encoder to a model file.
    pub fn store(&self, parts: &mut Parts) {
        parts.put("encoder.shift", Array::F32(vec![self.shift.len()], self.shift.clone()));
        parts.put("encoder.scale", Array::F32(vec![self.scale.len()], self.scale.clone()));
        parts.put("encoder.limit", Array::F32(vec![1], vec![self.limit]));
        parts
            .put("encoder.bin_columns", Array::U32(vec![self.bins.columns.len()], self.bins.columns.clone()));
        let edges = vec![self.bins.columns.len(), self.bins.count + 1];
        parts.put("encoder.bin_edges", Array::F32(edges, self.bins.edges.clone()));
        if !self.ranks.is_empty() {
            let Ranks { starts, knots, scores } = &self.ranks;
            parts.put("encoder.rank_starts", Array::U32(vec![starts.len()], starts.clone()));
            parts.put("encoder.rank_knots", Array::F32(vec![knots.len()], knots.clone()));
            parts.put("encoder.rank_scores", Array::F32(vec![scores.len()], scores.clone()));
        }
        parts.put_detail("bias", self.bias);
    }

    /// Reads the encoder from a model file.
    pub fn load(parts: &Parts, features: usize) -> Result<Self> {
        let limit = parts.f32s("encoder.limit", &[1])?[0];
        if limit <= 0.0 {
            return Err(Error::model_file("the model file's \"encoder.limit\" must be above 0"));
        }
        let &[binned, edges] = parts.shape("encoder.bin_edges")? else {
            return Err(Error::model_file("the model file's \"encoder.bin_edges\" must have two dimensions"));
        };
        let bins = Bins {
            columns: parts.u32s("encoder.bin_columns", &[binned])?,
            edges: parts.f32s("encoder.bin_edges", &[binned, edges])?,
            count: edges.saturating_sub(1),
        };
        let rising = bins.columns.windows(2).all(|pair| pair[0] < pair[1]);
        if edges == 0 || !rising || bins.columns.last().is_some_and(|&last| last as usize >= features) {
            return Err(Error::model_file("the model file's bins do not fit its features"));
        }
        let ranks = match parts.has("encoder.rank_starts") {
            true => Ranks::load(parts, features)?,
            false => Ranks::none(),
        };
        Ok(Encoder {
            ranks,
            bins,
            shift: parts.f32s("encoder.shift", &[features])?,
            scale: parts.f32s("encoder.scale", &[features])?,
            limit,
            bias: parts.detail("bias")?,
        })
    }
}

/// Rows of a dataset that are encoded when asked for.
pub struct EncodedRows<'a> {
    /// The encoder.
    pub encoder: &'a Encoder,
    /// Where the rows stand.
    pub features: &'a Features,
    /// Which rows are meant, in order; all where absent.
    pub rows: Option<&'a [usize]>,
}

impl EncodedRows<'_> {
    /// Encodes the rows at some places of the order.
    pub fn encode(&self, places: Range<usize>, out: &mut Encoded) {
        match self.rows {
            None => self.encoder.encode(self.features, places, None, out),
            Some(rows) => self.encoder.encode(self.features, rows[places].iter().copied(), None, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_columns_get_mean_zero_and_deviation_one_and_constants_vanish() {
        let features = Features::Dense(Matrix::from_rows(&[
            [1.0, 7.0, -100.0],
            [3.0, 7.0, 0.0],
            [1.0, 7.0, 0.0],
            [3.0, 7.0, 0.0],
        ]));
        let encoder = Encoder::fit(&features, &[0, 1, 2, 3], None, Scaling::Standard, 1.5, 0, true);
        let mut out = encoder.buffer(&features);
        encoder.encode(&features, 0..4, None, &mut out);
        let Encoded::Dense(z) = out else { panic!("dense features stay dense") };
        assert_eq!(z[..4], [-1.0, 0.0, -1.5, 1.0], "standardised, constant, cut off, bias");
        assert_eq!(z[4], 1.0);
    }

    #[test]
    fn one_factor_keeps_wide_columns_wide_and_brings_the_mean_square_to_one() {
        // Deviations 1, 4 and 0, whose mean square is 8.5 over the two that vary.
        let features = Features::Dense(Matrix::from_rows(&[[1.0, -4.0, 7.0], [3.0, 4.0, 7.0]]));
        let encoder = Encoder::fit(&features, &[0, 1], None, Scaling::Common, 5.0, 0, false);
        let mut out = encoder.buffer(&features);
        encoder.encode(&features, 0..2, None, &mut out);
        let Encoded::Dense(z) = out else { panic!("dense features stay dense") };
        let unit = (1.0f32 / 8.5).sqrt();
        let expected = [-unit, -4.0 * unit, 0.0, unit, 4.0 * unit, 0.0];
        assert!(z.iter().zip(expected).all(|(z, e)| (z - e).abs() < 1e-6), "{z:?}");
        assert!((encoder.limit - 5.0 * 4.0 * unit).abs() < 1e-5, "five deviations of the widest column");
    }

    #[test]
    fn only_the_given_rows_are_looked_at() {
        let features = Features::Dense(Matrix::from_rows(&[[1.0], [3.0], [1e6]]));
        let with = Encoder::fit(&features, &[0, 1], None, Scaling::Standard, 5.0, 0, false);
        assert_eq!((with.shift[0], with.scale[0]), (2.0, 1.0));
    }

    #[test]
    fn sparse_zeros_stay_zeros_and_the_deviation_counts_them() {
        let sparse = Features::Sparse(Csr::new(2, vec![0, 1, 1, 2, 2], vec![0, 0], vec![2.0, 2.0]).unwrap());
        let encoder = Encoder::fit(&sparse, &[0, 1, 2, 3], None, Scaling::Standard, 5.0, 0, true);
        let mut out = encoder.buffer(&sparse);
        encoder.encode(&sparse, 0..4, None, &mut out);
        let Encoded::Sparse(z) = out else { panic!("sparse features stay sparse") };
        assert_eq!(z.row(0), (&[0, 2][..], &[2.0, 1.0][..]));
        assert_eq!(z.row(1), (&[2][..], &[1.0][..]));
    }

    #[test]
    fn numeric_columns_among_sparse_ones_are_spread_over_quantile_bins() {
        let mut sparse = Csr::with_columns(2);
        for row in 0..5 {
            sparse.push_row([(0, row as f32), (1, 1.0)].into_iter().filter(|(_, v)| *v != 0.0));
        }
        let features = Features::Sparse(sparse);
        let encoder = Encoder::fit(&features, &[0, 1, 2, 3, 4], None, Scaling::Standard, 5.0, 2, false);
        assert_eq!(
            encoder.inputs(),
            2 + 2,
            "the constant column keeps its place, the numeric one has two bins"
        );
        assert_eq!(encoder.bins.edges, [0.0, 2.0, 4.0]);
        let mut out = encoder.buffer(&features);
        encoder.encode(&features, 0..5, None, &mut out);
        let Encoded::Sparse(z) = out else { panic!("sparse features stay sparse") };
        assert_eq!(z.row(0), (&[][..], &[][..]));
        assert_eq!(z.row(1), (&[2][..], &[0.5][..]));
        assert_eq!(z.row(3), (&[2, 3][..], &[1.0, 0.5][..]));
        let mut dense = [9.0; 4];
        encoder.encode_dense_row(&[3.0, 1.0], &mut dense);
        assert_eq!(dense, [0.0, 0.0, 1.0, 0.5], "the same row, given as a dense one");
        let mut parts = Parts::new();
        encoder.store(&mut parts);
        assert_eq!(Encoder::load(&parts, 2).unwrap(), encoder);
    }

    #[test]
    fn dropout_keeps_the_expectation_and_never_drops_the_bias() {
        let features = Features::Dense(Matrix::new(1, 4000, (0..4000).map(|_| 1.0).collect()).unwrap());
        let encoder = Encoder::fit(&features, &[0], None, Scaling::Raw, 5.0, 0, true);
        let mut out = encoder.buffer(&features);
        let mut generator = ldlf_core::Seed::new(1).generator();
        let dropout = Dropout { share: 0.25, generator: &mut generator, by_row: None };
        encoder.encode(&features, 0..1, Some(dropout), &mut out);
        let Encoded::Dense(z) = out else { panic!("dense") };
        let mean: f32 = z[..4000].iter().sum::<f32>() / 4000.0;
        assert!((mean - 1.0).abs() < 0.05 && z[4000] == 1.0, "{mean}");
    }
}
