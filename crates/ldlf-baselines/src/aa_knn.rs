//! `aa-knn`: the mean distribution of the nearest training rows (Geng 2016, section 3.2, "algorithm adaptation").
//!
//! Brute force over blocked matrix products instead of a k-d tree: the datasets of this field have hundreds of features, where
//! k-d trees visit nearly every row; the crates for them (such as kiddo) fix the number of features at compile time and read
//! no sparse rows.

use std::ops::ControlFlow;

use ldlf_core::graph::{Flow, Graph};
use ldlf_core::learner::Summary;
use ldlf_core::stored::{Array, ModelShape, Parts};
use ldlf_core::{
    Algorithm, Auto, Dataset, Error, Facts, FitContext, FitEvent, Fitted, InProgress, Inputs, Matrix, Model,
    Prediction, Preset, Result, Threads, Value,
};
use ldlf_math::numeric::{normalise, on_simplex, xlogy};
use ldlf_math::random::permutation;

use crate::nearest::nearest;
use crate::reference_graph::add_sums_of_nearest;
use crate::reference_rows::ReferenceRows;
use crate::scaling::{FeatureScaling, Scaling};

ldlf_core::parameters! {
    /// Parameters of `aa-knn`.
    pub struct AaKnnParameters, builder AaKnnParams for AaKnn {
        /// Number of neighbors; auto chooses it by leave-one-out validation on the training rows, up to 5000.
        neighbors: Auto<usize> = Auto::Auto, at_least 1, known_as "n_neighbors";
        /// How features are scaled before distances are taken; auto chooses it together with `neighbors`.
        scaling: Auto<FeatureScaling> = Auto::Auto;
    }
}

/// The numbers of neighbours tried first when none is given. While the largest wins, larger ones follow.
const NEIGHBOURS: [usize; 14] = [1, 2, 3, 4, 5, 7, 10, 14, 20, 30, 45, 70, 100, 150];

/// Factors of the largest number tried so far that are tried next.
const LARGER: [f64; 4] = [1.5, 2.0, 3.0, 4.0];

/// The largest number of neighbours that the search grows to.
const MOST_NEIGHBOURS: usize = 5000;

/// Rows left out between two checks for an interrupt: enough for every core.
const SEARCHED_TOGETHER: usize = 512;

/// Maximum number of training rows left out in turn to choose the number of neighbours.
const LEFT_OUT: usize = 2000;

/// Predicts `sum_i w_i d_i / sum_i w_i` over the `k` training rows `i` nearest to `x` in the Euclidean distance; ties go to the
/// lower row number. Row weights `w` count in the mean, not in the distance; rows of weight 0 are never neighbours.
pub struct AaKnn;

impl Algorithm for AaKnn {
    type Parameters = AaKnnParameters;

    const FACTS: Facts = Facts {
        exports: true,
        ..Facts::new(
            "aa-knn",
            "the mean distribution of the nearest training rows",
            "Geng 2016, Label distribution learning",
        )
    };

    fn presets() -> Vec<Preset> {
        vec![Preset::new(
            "paper",
            "as published: distances of raw features; neighbors are chosen as by default, the publication's number is not known here",
            ["scaling=raw"],
        )]
    }

    fn fit(parameters: &Self::Parameters, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        let present: Vec<usize> = (0..data.rows()).filter(|&row| data.weight(row) > 0.0).collect();
        let selected;
        let data = if present.len() < data.rows() {
            selected = data.select(&present);
            &selected
        } else {
            data
        };
        if let Some(k) = parameters.neighbors.given().filter(|&k| k > data.rows()) {
            return Err(Error::usage(format!(
                "neighbors must be at most the number of training rows, {}, got {k}",
                data.rows()
            )));
        }
        let mut best: Option<(AaKnnModel, Option<f64>)> = None;
        let choices = parameters
            .scaling
            .given()
            .map_or(vec![FeatureScaling::Raw, FeatureScaling::Standard], |given| vec![given]);
        let to_choose = data.rows() > 1 && (parameters.neighbors.is_auto() || choices.len() > 1);
        for scaling in choices {
            let mut model = AaKnnModel::keeping(data, scaling, parameters.neighbors.unwrap_or(1))?;
            let kl = match to_choose {
                true => {
                    let (k, kl) = choose_neighbours(&model, data, parameters.neighbors.given(), context)?;
                    model.k = k;
                    Some(kl)
                }
                false => None,
            };
            if best.as_ref().is_none_or(|(_, least)| kl < *least) {
                best = Some((model, kl));
            }
        }
        let (model, validation_kl) = best.expect("at least one scaling was tried");
        let mut summary = Summary { validation_kl, ..Summary::at_once() };
        if let ControlFlow::Break(reason) = context
            .report(FitEvent::Iteration { iteration: 1, total: 1, loss: summary.validation_kl }, &model)
        {
            summary.stopped = reason;
        }
        Ok(Fitted::new(Box::new(model), summary))
    }

    fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
        let scaling = Scaling::load(parts, shape.features)?;
        let kept = ReferenceRows::load(parts, shape.features)?;
        let targets =
            Matrix::new(kept.len(), shape.labels, parts.f32s("targets", &[kept.len(), shape.labels])?)?;
        if !targets.iter_rows().all(|row| on_simplex(row, 1e-4)) {
            return Err(Error::model_file("a row of the model file's \"targets\" is not a distribution"));
        }
        let weights = parts.has("weights").then(|| parts.f32s("weights", &[kept.len()])).transpose()?;
        if weights.as_ref().is_some_and(|weights| weights.iter().any(|w| *w <= 0.0)) {
            return Err(Error::model_file("the model file's \"weights\" are not all above 0"));
        }
        let k: usize = parts.detail("k")?;
        if k == 0 || k > kept.len() {
            return Err(Error::model_file(format!(
                "the model file's \"k\" should lie between 1 and its {} training rows, found {k}",
                kept.len()
            )));
        }
        Ok(Box::new(AaKnnModel { scaling, kept, targets, weights, k }))
    }
}

/// The number of neighbours with the least mean K-L divergence when each of (at most [`LEFT_OUT`]) training rows is
/// predicted from the others, and that divergence; rows of one group are left out together.
fn choose_neighbours(
    model: &AaKnnModel,
    data: &Dataset,
    given: Option<usize>,
    context: &mut FitContext<'_>,
) -> Result<(usize, f64)> {
    let mut left_out: Vec<usize> = (0..data.rows()).collect();
    if left_out.len() > LEFT_OUT {
        left_out = permutation(data.rows(), &mut context.seed.named("neighbours").generator());
        left_out.truncate(LEFT_OUT);
        left_out.sort_unstable();
    }
    if let Some(k) = given {
        return Ok((k, left_out_kls(model, data, &left_out, &[k], context)?[0]));
    }
    let bound = (data.rows() - 1).min(MOST_NEIGHBOURS);
    let mut tried: Vec<usize> = NEIGHBOURS.into_iter().filter(|&k| k <= bound).collect();
    let mut best = (1, f64::INFINITY);
    while let Some(&largest) = tried.last() {
        let kls = left_out_kls(model, data, &left_out, &tried, context)?;
        for (k, kl) in tried.into_iter().zip(kls) {
            if kl < best.1 {
                best = (k, kl);
            }
        }
        let larger = LARGER.map(|factor| (largest as f64 * factor).round() as usize);
        tried = larger.into_iter().filter(|&k| best.0 == largest && k <= bound).collect();
    }
    Ok(best)
}

/// The mean K-L divergence of the rows left out for every number of neighbours in `tried`, which ascend.
fn left_out_kls(
    model: &AaKnnModel,
    data: &Dataset,
    left_out: &[usize],
    tried: &[usize],
    context: &mut FitContext<'_>,
) -> Result<Vec<f64>> {
    let most = tried[tried.len() - 1].min(data.rows() - 1);
    let exclude = |query: usize, row: usize| {
        query == row || data.groups().is_some_and(|groups| groups[query] == groups[row])
    };
    let (mut sums, mut total) = (vec![0.0f64; tried.len()], 0.0);
    let mut mixture = vec![0.0f64; data.labels()];
    // In chunks, with a check for an interrupt between them.
    for part in left_out.chunks(SEARCHED_TOGETHER) {
        context.check_interrupted()?;
        let (kept, threads) = (&model.kept, &context.threads);
        let neighbours = nearest(kept, kept.features(), part, most, threads, Some(&exclude));
        for (&row, neighbours) in part.iter().zip(&neighbours) {
            let target = data.targets().row(row);
            let weight = f64::from(data.weight(row));
            total += weight;
            mixture.fill(0.0);
            let mut counted = 0;
            for (sum, &k) in sums.iter_mut().zip(tried) {
                for &neighbour in &neighbours[counted.min(neighbours.len())..k.min(neighbours.len())] {
                    model.add(neighbour, &mut mixture);
                }
                counted = k;
                let whole: f64 = mixture.iter().sum();
                let divergence = target.iter().zip(&mixture).map(|(&d, &s)| {
                    let d = f64::from(d);
                    xlogy(d, d) - xlogy(d, if whole > 0.0 { s / whole } else { 0.0 })
                });
                *sum += weight * divergence.sum::<f64>();
            }
        }
    }
    Ok(sums.into_iter().map(|sum| sum / total).collect())
}

/// The training rows and how many of them vote.
struct AaKnnModel {
    scaling: Scaling,
    kept: ReferenceRows,
    targets: Matrix<f32>,
    weights: Option<Vec<f32>>,
    k: usize,
}

impl AaKnnModel {
    fn keeping(data: &Dataset, scaling: FeatureScaling, k: usize) -> Result<Self> {
        let scaling = Scaling::choose(scaling, data)?;
        Ok(AaKnnModel {
            kept: ReferenceRows::new(scaling.apply(data.features()?)),
            scaling,
            targets: data.targets().clone(),
            weights: data.weights().map(<[f32]>::to_vec),
            k,
        })
    }

    /// Adds a training row's weighted distribution to `mixture`.
    fn add(&self, row: u32, mixture: &mut [f64]) {
        let row = row as usize;
        let weight = self.weights.as_ref().map_or(1.0, |weights| f64::from(weights[row]));
        mixture.iter_mut().zip(self.targets.row(row)).for_each(|(s, &d)| *s += weight * f64::from(d));
    }
}

impl InProgress for AaKnnModel {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        Model::predict(self, inputs, threads)
    }
}

impl Model for AaKnnModel {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        let features = inputs.table()?;
        let wanted: Vec<usize> = (0..features.rows()).collect();
        let scaled = self.scaling.apply(features);
        let neighbours = nearest(&self.kept, &scaled, &wanted, self.k, threads, None);
        let mut predicted = Matrix::zeros(features.rows(), self.targets.cols());
        let mut mixture = vec![0.0f64; self.targets.cols()];
        for (row, neighbours) in neighbours.iter().enumerate() {
            mixture.fill(0.0);
            neighbours.iter().for_each(|&neighbour| self.add(neighbour, &mut mixture));
            let out = predicted.row_mut(row);
            out.iter_mut().zip(&mixture).for_each(|(p, &s)| *p = s as f32);
            normalise(out);
        }
        Ok(Prediction::Distributions(predicted))
    }

    fn add_to_graph(&self, graph: &mut Graph, features: &Flow) -> Option<Flow> {
        let scaled = self.scaling.add_to_graph(graph, features);
        let labels = self.targets.cols();
        let mut weighed = self.targets.as_slice().to_vec();
        if let Some(weights) = &self.weights {
            let rows = weighed.chunks_exact_mut(labels).zip(weights);
            rows.for_each(|(row, weight)| row.iter_mut().for_each(|share| *share *= weight));
        }
        let sums = add_sums_of_nearest(graph, &self.kept, &scaled, self.k, (weighed, labels))?;
        Some(graph.normalise(&sums))
    }

    fn store(&self, parts: &mut Parts) {
        self.scaling.store(parts);
        self.kept.store(parts);
        parts.put_matrix("targets", &self.targets);
        if let Some(weights) = &self.weights {
            parts.put("weights", Array::F32(vec![weights.len()], weights.clone()));
        }
        parts.put_detail("k", self.k);
    }

    fn inspect(&self) -> Vec<(String, Value)> {
        vec![("training rows".into(), self.kept.len().into()), ("neighbors".into(), self.k.into())]
    }
}
