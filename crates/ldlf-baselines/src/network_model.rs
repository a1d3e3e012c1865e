//! A fitted network with its scaling: the model of `aa-bp`, `sce-ldl` and `cpnn`.

use ldlf_core::graph::{Flow, Graph};
use ldlf_core::stored::{Array, ModelShape, Parts};
use ldlf_core::{Error, Inputs, Matrix, Model, Prediction, Result, Threads, Value};
use ldlf_math::product::Float;

use crate::network::{BLOCK, Network, Output, Pass};
use crate::scaling::Scaling;

/// A hidden layer and a softmax over the labels, on scaled features.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NetworkModel {
    pub(crate) scaling: Scaling,
    pub(crate) network: Network,
    /// As [`Network`] orders them.
    pub(crate) weights: Vec<f32>,
}

impl NetworkModel {
    /// The network with weights of any precision.
    pub(crate) fn new<T: Float>(scaling: &Scaling, network: &Network, weights: &[T]) -> Self {
        let weights = weights.iter().map(|w| w.as_f64() as f32).collect();
        NetworkModel { scaling: scaling.clone(), network: network.clone(), weights }
    }
}

impl Model for NetworkModel {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        let features = inputs.table()?;
        let labels = self.network.labels();
        let mut out = Matrix::zeros(features.rows(), labels);
        let mut blocks: Vec<&mut [f32]> = out.as_mut_slice().chunks_mut(BLOCK * labels).collect();
        threads.for_each_mut(&mut blocks, |block, out| {
            let count = out.len() / labels;
            let rows = self.scaling.apply_rows(features, block * BLOCK..block * BLOCK + count);
            let mut pass = Pass::new();
            self.network.predict(&self.weights, &rows, &(0..count).collect::<Vec<_>>(), &mut pass);
            out.iter_mut().zip(&pass.distributions).for_each(|(p, &d)| *p = d as f32);
        });
        Ok(Prediction::Distributions(out))
    }

    fn store(&self, parts: &mut Parts) {
        self.scaling.store(parts);
        parts.put("weights", Array::F32(vec![self.weights.len()], self.weights.clone()));
        parts.put_detail("hidden", self.network.hidden);
        let values = match &self.network.output {
            Output::PerLabel(_) => None,
            Output::Ordered(values) => Some(values),
        };
        parts.put_detail("label_values", values);
    }

    fn inspect(&self) -> Vec<(String, Value)> {
        vec![
            ("hidden".to_string(), Value::from(self.network.hidden)),
            ("weights".to_string(), Value::from(self.weights.len())),
        ]
    }

    fn add_to_graph(&self, graph: &mut Graph, features: &Flow) -> Option<Flow> {
        let scaled = self.scaling.add_to_graph(graph, features);
        Some(self.network.add_to_graph(&self.weights, graph, &scaled))
    }
}

/// Rebuilds a model from what `store` kept.
pub(crate) fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
    let hidden: usize = parts.detail("hidden")?;
    let values: Option<Vec<f64>> = parts.detail("label_values")?;
    let output = match values {
        None => Output::PerLabel(shape.labels),
        Some(values) if values.len() == shape.labels && values.iter().all(|v| v.is_finite()) => {
            Output::Ordered(values)
        }
        Some(_) => return Err(Error::model_file("the model file's \"label_values\" do not fit its labels")),
    };
    // Bounds the product below; the array itself bounds it closer.
    if hidden == 0 || hidden > 1 << 24 || shape.features > 1 << 32 {
        return Err(Error::model_file(format!(
            "the model file's \"hidden\" is {hidden}, not a usable number"
        )));
    }
    let network = Network { inputs: shape.features, hidden, output };
    let weights = parts.f32s("weights", &[network.size()])?;
    Ok(Box::new(NetworkModel { scaling: Scaling::load(parts, shape.features)?, network, weights }))
}
