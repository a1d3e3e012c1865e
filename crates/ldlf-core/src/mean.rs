//! `mean`: always the mean training distribution. The simplest baseline, and the shape that every learner's file has:
//! parameters, algorithm, model.

use ldlf_math::numeric::on_simplex;

use crate::graph::{Flow, Graph};
use crate::learner::Summary;
use crate::stored::{Array, ModelShape, Parts};
use crate::{
    Algorithm, Dataset, Error, Facts, FitContext, Fitted, Inputs, Matrix, Model, Prediction, Reads, Result,
    Threads,
};

crate::parameters! {
    /// `mean` has no parameters.
    pub struct MeanParameters, builder MeanParams for Mean {}
}

/// Predicts `1/n sum_i d_i`, weighted by the rows' weights, whatever the features.
pub struct Mean;

impl Algorithm for Mean {
    type Parameters = MeanParameters;

    /// It ignores its inputs, which may be of any kind.
    const FACTS: Facts = Facts {
        reads: Reads::Either,
        exports: true,
        ..Facts::new("mean", "always the mean training distribution: the simplest baseline", "")
    };

    fn fit(_: &MeanParameters, data: &Dataset, _: &mut FitContext<'_>) -> Result<Fitted> {
        let distribution = data.mean_target().iter().map(|&p| p as f32).collect();
        Ok(Fitted::new(Box::new(MeanModel { distribution }), Summary::at_once()))
    }

    fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
        let distribution = parts.f32s("distribution", &[shape.labels])?;
        if !on_simplex(&distribution, 1e-4) {
            return Err(Error::model_file("the model file's \"distribution\" is not a distribution"));
        }
        Ok(Box::new(MeanModel { distribution }))
    }
}

/// One distribution for every row.
struct MeanModel {
    distribution: Vec<f32>,
}

impl Model for MeanModel {
    fn predict(&self, inputs: &Inputs, _: &Threads) -> Result<Prediction> {
        let (rows, labels) = (inputs.rows(), self.distribution.len());
        Ok(Prediction::Distributions(Matrix::new(rows, labels, self.distribution.repeat(rows))?))
    }

    fn store(&self, parts: &mut Parts) {
        parts.put("distribution", Array::F32(vec![self.distribution.len()], self.distribution.clone()));
    }

    fn add_to_graph(&self, graph: &mut Graph, _: &Flow) -> Option<Flow> {
        Some(graph.f32s("distribution", &[1, self.distribution.len()], self.distribution.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Features;

    #[test]
    fn a_reloaded_model_predicts_the_weighted_mean() {
        let features = Features::Dense(Matrix::zeros(2, 1));
        let targets = Matrix::from_rows(&[[1.0, 0.0], [0.0, 1.0]]);
        let data = Dataset::new(features, targets).unwrap().with_weights(vec![3.0, 1.0]).unwrap();
        let fitted = Mean::params().fit(&data).unwrap();
        let mut parts = Parts::new();
        fitted.model.store(&mut parts);
        let model = Mean::load(&parts, &ModelShape { features: 1, labels: 2 }).unwrap();
        let prediction = model.predict(data.inputs(), &Threads::one()).unwrap();
        assert_eq!(prediction, Prediction::Distributions(Matrix::from_rows(&[[0.75, 0.25], [0.75, 0.25]])));
    }
}
