//! `mean`: always the mean training distribution. The floor in every table, and the shape that every learner's file has:
//! parameters, learner, model, entry.

use crate::graph::{Flow, Graph};
use crate::learner::{Abilities, Summary};
use crate::model_file::{Array, ModelShape, Parts};
use crate::numeric::on_simplex;
use crate::{
    Dataset, Error, FitContext, Fitted, Inputs, Learner, LearnerEntry, Matrix, Model, Prediction, Result,
    Settings, Threads,
};

crate::parameters! {
    /// `mean` has nothing to set.
    pub struct MeanParameters {}
}

/// Predicts `1/n sum_i d_i`, weighted by the rows' weights, whatever the features.
pub struct Mean {
    parameters: MeanParameters,
}

impl Mean {
    /// The learner with the given parameters.
    pub fn new(parameters: MeanParameters) -> Self {
        Mean { parameters }
    }
}

impl Learner for Mean {
    fn name(&self) -> &'static str {
        ENTRY.name
    }

    fn settings(&self) -> Settings {
        self.parameters.to_settings()
    }

    /// What it does not look at may be of any kind: it is the floor for images too.
    fn reads_images(&self) -> bool {
        true
    }

    fn fit(&self, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        context.refuse_resume(self.name())?;
        let distribution = data.mean_target().iter().map(|&p| p as f32).collect();
        Ok(Fitted { model: Box::new(MeanModel { distribution }), summary: Summary::at_once() })
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

fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
    let distribution = parts.f32s("distribution", &[shape.labels])?;
    if !on_simplex(&distribution, 1e-4) {
        return Err(Error::model_file("the model file's \"distribution\" is not a distribution"));
    }
    Ok(Box::new(MeanModel { distribution }))
}

/// `mean` for the registry.
pub const ENTRY: LearnerEntry = LearnerEntry {
    name: "mean",
    summary: "always the mean training distribution: the floor in every table",
    source: "",
    abilities: Abilities { sparse: true, weights: true, iterates: false, ordered: false, images: true },
    parameters: MeanParameters::declared,
    presets: Vec::new,
    build: |settings| Ok(Box::new(Mean::new(MeanParameters::from_settings(settings)?))),
    load,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Features;

    #[test]
    fn rows_count_by_their_weight_and_the_model_survives_its_file() {
        let features = Features::Dense(Matrix::zeros(2, 1));
        let targets = Matrix::from_rows(&[[1.0, 0.0], [0.0, 1.0]]);
        let data = Dataset::new(features, targets).unwrap().with_weights(vec![3.0, 1.0]).unwrap();
        let learner = (ENTRY.build)(&Settings::new()).unwrap();
        let fitted = learner.fit(&data, &mut FitContext::new(0, Threads::one(), &mut ())).unwrap();
        let mut parts = Parts::new();
        fitted.model.store(&mut parts);
        let model = load(&parts, &ModelShape { features: 1, labels: 2 }).unwrap();
        let prediction = model.predict(data.inputs(), &Threads::one()).unwrap();
        assert_eq!(prediction, Prediction::Distributions(Matrix::from_rows(&[[0.75, 0.25], [0.75, 0.25]])));
    }
}
