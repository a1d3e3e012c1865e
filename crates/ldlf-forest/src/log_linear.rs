//! A linear model that may stand beside the trees: `p(x) = softmax(theta^T z)` of the encoded features `z`.

use ldlf_core::features::Row;
use ldlf_core::graph::{Flow, Graph};
use ldlf_core::stored::{Array, ModelShape, Parts};
use ldlf_core::{Error, Features, Inputs, Matrix, Result, Threads};
use ldlf_math::numeric::softmax_in_place_f32;

use crate::encoder::{Encoded, EncodedRows, Encoder};
use crate::linear::LinearMap;

/// Rows that are encoded together.
const TOGETHER: usize = 256;

/// An encoder with a bias and a linear map with a unit for every label.
#[derive(Clone, Debug, PartialEq)]
pub struct LogLinear {
    /// Scales the features.
    pub encoder: Encoder,
    /// `[inputs, labels]`.
    pub map: LinearMap,
}

impl LogLinear {
    /// The number of labels.
    pub fn labels(&self) -> usize {
        self.map.units()
    }

    /// The distributions of all rows.
    ///
    /// # Shapes
    /// - result: `[rows, labels]`
    pub fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Matrix<f32>> {
        let features = inputs.table()?;
        let labels = self.labels();
        let mut out = vec![0.0; features.rows() * labels];
        let rows = EncodedRows { encoder: &self.encoder, features, rows: None };
        threads.for_each_chunk([&mut out[..]], TOGETHER * labels, |task, [out]| {
            let count = out.len() / labels;
            let start = task * TOGETHER;
            let (mut encoded, mut scores) = (self.encoder.buffer(features), vec![0.0; out.len()]);
            rows.encode(start..start + count, &mut encoded);
            self.map.forward(encoded.view(), &mut scores);
            for (row, out) in out.chunks_exact_mut(labels).enumerate() {
                let own = scores[row..].iter().step_by(count);
                out.iter_mut().zip(own).for_each(|(out, &score)| *out = score);
                softmax_in_place_f32(out);
            }
        });
        Ok(Matrix::new(features.rows(), labels, out)?)
    }

    /// Writes the distribution of one row.
    pub fn predict_one(&self, row: Row<'_>, out: &mut [f32]) {
        let mut whole;
        let values = match row {
            Row::Dense(values) => values,
            Row::Sparse(columns, values) => {
                whole = vec![0.0; self.encoder.features()];
                columns.iter().zip(values).for_each(|(&column, &v)| whole[column as usize] = v);
                &whole
            }
        };
        let mut encoded = vec![0.0; self.encoder.inputs()];
        self.encoder.encode_dense_row(values, &mut encoded);
        self.map.forward_row((0..).zip(encoded).filter(|&(_, z)| z != 0.0), out);
        softmax_in_place_f32(out);
    }

    /// Adds the model to a graph.
    pub fn add_to_graph(&self, graph: &mut Graph, features: &Flow) -> Flow {
        let (inputs, used) = self.encoder.add_to_graph(graph, features);
        let labels = self.labels();
        let row = |input: usize| &self.map.weights()[input * labels..(input + 1) * labels];
        let slopes: Vec<f32> = used.iter().flat_map(|&input| row(input)).copied().collect();
        let slopes = graph.f32s("slopes", &[used.len(), labels], slopes);
        let bias = graph.f32s("bias", &[labels], row(self.encoder.inputs() - 1).to_vec());
        let scores = graph.node("Gemm", "scores", &[&inputs, &slopes, &bias]);
        graph.softmax(&scores)
    }

    /// Adds the arrays and details that [`LogLinear::load`] reads.
    pub fn store(&self, parts: &mut Parts) {
        self.encoder.store(parts);
        let shape = vec![self.encoder.inputs(), self.labels()];
        parts.put("theta", Array::F32(shape, self.map.weights().to_vec()));
    }

    /// Rebuilds a model, checked, from what [`LogLinear::store`] added.
    pub fn load(parts: &Parts, shape: &ModelShape) -> Result<Self> {
        let encoder = Encoder::load(parts, shape.features)?;
        if !encoder.bias() {
            return Err(Error::model_file("the model file's linear member lacks its bias"));
        }
        let theta = parts.f32s("theta", &[encoder.inputs(), shape.labels])?;
        Ok(LogLinear { map: LinearMap::from_weights(encoder.inputs(), shape.labels, theta), encoder })
    }
}

/// All rows as the encoder sees them, without the bias.
pub fn encode_all(encoder: &Encoder, features: &Features) -> Result<Features> {
    let mut encoded = encoder.buffer(features);
    encoder.encode(features, 0..features.rows(), None, &mut encoded);
    Ok(match encoded {
        Encoded::Dense(values) => Features::Dense(Matrix::new(features.rows(), encoder.inputs(), values)?),
        Encoded::Sparse(rows) => Features::Sparse(rows),
    })
}
