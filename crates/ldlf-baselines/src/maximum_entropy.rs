//! The maximum entropy model, shared by `bfgs-ldl` and `iis-ldl`: `p(y|x) = softmax(theta x + b)_y`.
//!
//! Shapes: `theta` is `[features + 1, labels]`, one row per feature and the bias last.

use ldlf_core::graph::{Flow, Graph, Kind};
use ldlf_core::stored::{Array, ModelShape, Parts};
use ldlf_core::{Inputs, Matrix, Model, Prediction, Result, Threads, Value};
use ldlf_linear::objective::{BLOCK, linear_scores};
use ldlf_math::numeric::softmax_in_place;

use crate::scaling::Scaling;

/// A fitted maximum entropy model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MaximumEntropy {
    pub(crate) scaling: Scaling,
    /// `[features + 1, labels]`, on scaled features.
    pub(crate) theta: Vec<f64>,
    pub(crate) labels: usize,
    /// The penalty that was chosen or given, for `ldlf inspect`.
    pub(crate) l2: Option<f64>,
}

impl Model for MaximumEntropy {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        let features = inputs.table()?;
        let (rows, labels) = (features.rows(), self.labels);
        let mut out = Matrix::zeros(rows, labels);
        let mut chunks: Vec<&mut [f32]> = out.as_mut_slice().chunks_mut(4 * BLOCK * labels).collect();
        threads.for_each_mut(&mut chunks, |chunk, out| {
            let (mut buffer, mut scores) = (Vec::new(), vec![0.0; BLOCK * labels]);
            for (block, out) in out.chunks_mut(BLOCK * labels).enumerate() {
                let start = (4 * chunk + block) * BLOCK;
                let count = out.len() / labels;
                let scores = &mut scores[..count * labels];
                let scaled = self.scaling.apply_rows(features, start..start + count);
                linear_scores(&scaled, 0, &self.theta, &mut buffer, scores);
                for (out, scores) in out.chunks_exact_mut(labels).zip(scores.chunks_exact_mut(labels)) {
                    softmax_in_place(scores);
                    out.iter_mut().zip(scores).for_each(|(p, s)| *p = *s as f32);
                }
            }
        });
        Ok(Prediction::Distributions(out))
    }

    fn store(&self, parts: &mut Parts) {
        self.scaling.store(parts);
        parts.put("theta", Array::F64(vec![self.scaling.columns() + 1, self.labels], self.theta.clone()));
        parts.put_detail("l2", self.l2);
    }

    fn inspect(&self) -> Vec<(String, Value)> {
        let mut facts = vec![("weights".to_string(), Value::from(self.theta.len()))];
        facts.extend(self.l2.map(|l2| ("l2".to_string(), Value::from(l2))));
        facts
    }

    /// In double precision behind the scaling, as [`MaximumEntropy::predict`].
    fn add_to_graph(&self, graph: &mut Graph, features: &Flow) -> Option<Flow> {
        let columns = self.scaling.columns();
        let scaled = self.scaling.add_to_graph(graph, features);
        let doubled = graph.cast("doubled", &scaled, Kind::F64);
        let (slopes, bias) = self.theta.split_at(columns * self.labels);
        let slopes = graph.f64s("theta", &[columns, self.labels], slopes.to_vec());
        let bias = graph.f64s("bias", &[self.labels], bias.to_vec());
        let scores = graph.node("MatMul", "products", &[&doubled, &slopes]);
        let scores = graph.node("Add", "scores", &[&scores, &bias]);
        let softmax = graph.softmax(&scores);
        Some(graph.cast("probabilities", &softmax, Kind::F32))
    }
}

impl MaximumEntropy {
    /// Rebuilds a model from what `store` kept.
    pub(crate) fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
        Ok(Box::new(MaximumEntropy {
            scaling: Scaling::load(parts, shape.features)?,
            theta: parts.f64s("theta", &[shape.features + 1, shape.labels])?,
            labels: shape.labels,
            l2: parts.detail("l2")?,
        }))
    }
}
