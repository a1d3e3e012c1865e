//! A trained network with its trees: predicts, is stored in one file, and shows what any of its layers makes of pictures.

use std::path::Path;

use burn::module::Module;
use burn::tensor::Device;
use ldlf_core::model_file::{ModelShape, Parts};
use ldlf_core::{Error, Features, Images, Matrix, Model, Prediction, Result, Seed, Threads, Value};
use ldlf_forest::tree_shape::{ForestShape, LARGEST_DEPTH};

use crate::arrays;
use crate::backbones::{Backbone, Input, Kind};
use crate::images::Preparation;
use crate::network::{self, Compute, Network, Ready, Rows, pass};
use crate::stored::{numbers_under, put_network};
use crate::top::Top;
use crate::weights::{WeightReport, load_weights};

/// What training leaves behind.
pub struct DeepModel {
    /// The kind of its backbone.
    pub kind: Kind,
    /// How rows are made ready.
    pub ready: Ready,
    /// What the file of weights that it started from had for the network, in words.
    pub weights: Option<String>,
    /// Backbone and last layer, without gradients.
    pub network: Network,
    /// The trees, or the softmax.
    pub top: Top,
    /// Where it computes.
    pub device: Device,
}

impl DeepModel {
    fn predict_all(&self, rows: Rows<'_>, threads: &Threads) -> Result<Prediction> {
        let compute = Compute::new(threads)?;
        let chosen: Vec<usize> = (0..rows.len()).collect();
        let predicted =
            network::predict(&self.network, &self.top, rows, &chosen, &self.ready, (&self.device, &compute))?;
        Ok(Prediction::Distributions(predicted))
    }
}

impl Model for DeepModel {
    fn predict(&self, features: &Features, threads: &Threads) -> Result<Prediction> {
        self.predict_all(Rows::Table(features), threads)
    }

    fn predict_images(&self, images: &Images, threads: &Threads) -> Result<Prediction> {
        self.predict_all(Rows::Pictures(images), threads)
    }

    fn store(&self, parts: &mut Parts) {
        put_network(parts, "", &arrays::collect(&self.network), &self.top);
        let forest = match &self.top {
            Top::Forest(head) => Some((head.shape().depth, head.shape().units)),
            Top::Softmax { .. } => None,
        };
        parts.put_detail("backbone", self.kind.name());
        parts.put_detail("ready", &self.ready);
        if let Some(weights) = &self.weights {
            parts.put_detail("weights", weights);
        }
        parts.put_detail("forest", forest);
    }

    fn inspect(&self) -> Vec<(String, Value)> {
        let numbers: usize = arrays::collect(&self.network).values().map(|(_, values)| values.len()).sum();
        let mut told = vec![
            ("backbone".to_string(), Value::from(self.kind.name())),
            ("numbers".to_string(), Value::from(numbers)),
        ];
        if let Some(weights) = &self.weights {
            told.push(("weights".to_string(), Value::from(weights.as_str())));
        }
        if let Input::Pictures { channels, side } = self.ready.input() {
            told.push(("input".to_string(), Value::from(format!("{channels} x {side} x {side}"))));
        }
        if let Top::Forest(head) = &self.top {
            let shape = head.shape();
            told.push(("trees".to_string(), Value::from(shape.trees)));
            told.push(("leaves".to_string(), Value::from(shape.trees * shape.leaves())));
            told.push(("units".to_string(), Value::from(shape.units)));
        }
        told
    }
}

/// Rebuilds a model from its file.
pub(crate) fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
    Ok(Box::new(rebuild(parts, Some(shape.labels), &network::device("cpu")?)?))
}

fn rebuild(parts: &Parts, labels: Option<usize>, device: &Device) -> Result<DeepModel> {
    let backbone: String = parts.detail("backbone")?;
    let kind = Kind::named(&backbone).map_err(|e| Error::model_file(e.to_string()))?;
    let ready: Ready = parts.detail("ready")?;
    check_ready(&ready, kind)?;
    let forest: Option<(usize, usize)> = parts.detail("forest")?;
    let top = match forest {
        None => {
            let units = parts.shape("network.head.bias")?.first().copied().unwrap_or(0);
            Top::Softmax { labels: labels.unwrap_or(units) }
        }
        Some((depth, units)) => {
            let &[trees, _, found] = parts.shape("leaves")? else {
                return Err(Error::model_file(
                    "the model file's leaves have no shape of trees, leaves, labels",
                ));
            };
            if !(1..=LARGEST_DEPTH).contains(&depth) {
                return Err(Error::model_file("the model file's depth is none of a tree; it may be damaged"));
            }
            let shape = ForestShape { trees, depth, units, labels: labels.unwrap_or(found) };
            let leaves = parts.f32s("leaves", &[trees, shape.leaves(), shape.labels])?;
            let splits = parts.u32s("units", &[trees, shape.splits()])?;
            Top::forest(shape, splits, leaves).map_err(|e| Error::model_file(e.to_string()))?
        }
    };
    let numbers = numbers_under(parts, "network.")?;
    let network = Network::new(kind, ready.input(), top.units(), Seed::new(0), device)
        .map_err(|e| Error::model_file(e.to_string()))?;
    let network = arrays::restore(network.valid(), &numbers)?;
    let weights: Option<String> = parts.detail("weights")?;
    Ok(DeepModel { kind, ready, weights, network, top, device: device.clone() })
}

/// What a file says about its input must fit the network before anything is made of it.
fn check_ready(ready: &Ready, kind: Kind) -> Result<()> {
    let fits = match ready {
        Ready::Pictures(Preparation { side, channels, mean, deviation }) => {
            kind != Kind::Mlp
                && (kind.smallest_side()..=4096).contains(side)
                && [1, 3].contains(channels)
                && mean.len() == *channels
                && deviation.len() == *channels
                && mean.iter().chain(deviation).all(|number| number.is_finite())
                && deviation.iter().all(|&deviation| deviation > 0.0)
        }
        Ready::Table { mean, deviation } => {
            kind == Kind::Mlp
                && mean.len() == deviation.len()
                && mean.iter().chain(deviation).all(|number| number.is_finite())
                && deviation.iter().all(|&deviation| deviation > 0.0)
        }
    };
    match fits {
        true => Ok(()),
        false => Err(Error::model_file("what the model file says of its input does not fit its network")),
    }
}

/// A network whose layers are looked into: `ldlf features`.
pub struct FeatureNetwork {
    kind: Kind,
    backbone: Backbone,
    ready: Ready,
    device: Device,
}

impl FeatureNetwork {
    /// The network of a model file.
    pub fn of_model(path: &Path) -> Result<Self> {
        let mut parts = Parts::read(path)?;
        let learner: String = parts.detail("learner")?;
        if !["dldlf", "dldl", "dndf-ldl"].contains(&learner.as_str()) {
            return Err(Error::model_file(format!("a model of {learner} has no network to look into"))
                .with_remedy("give one of dldlf, dldl or dndf-ldl")
                .in_file(path));
        }
        parts.details = parts.detail("model")?;
        let DeepModel { kind, ready, network, device, .. } = rebuild(&parts, None, &network::device("cpu")?)
            .map_err(|e| e.recast(Error::ModelFile).in_file(path))?;
        Ok(FeatureNetwork { kind, backbone: network.backbone, ready, device })
    }

    /// A network with trained weights and no model; `side` is the network's usual one where it is not given.
    pub fn of_weights(backbone: &str, weights: &Path, side: Option<usize>) -> Result<(Self, WeightReport)> {
        let kind = Kind::named(backbone)?;
        if kind == Kind::Mlp {
            return Err(
                Error::usage("backbone=mlp reads tables").with_remedy("choose a network that reads pictures")
            );
        }
        let (mean, deviation) = kind.usual_scaling();
        let side = side.unwrap_or(kind.usual_side());
        let ready = Ready::Pictures(Preparation {
            side,
            channels: 3,
            mean: mean.to_vec(),
            deviation: deviation.to_vec(),
        });
        let device = network::device("cpu")?;
        let network = Backbone::new(kind, ready.input(), Seed::new(0), &device)?;
        let (backbone, report) = load_weights(network, weights)?;
        Ok((FeatureNetwork { kind, backbone: backbone.valid(), ready, device }, report))
    }

    /// The layers that can be written, in their order.
    pub fn layers(&self) -> Vec<&'static str> {
        self.kind.layers()
    }

    /// The outputs of a layer, flattened, one row a picture.
    pub fn features(&self, images: &Images, layer: &str, threads: &Threads) -> Result<Matrix<f32>> {
        if !self.layers().contains(&layer) {
            return Err(Error::usage(format!("{} has no layer {layer:?}", self.kind.name()))
                .with_remedy(format!("it has {}", self.layers().join(", "))));
        }
        let chosen: Vec<usize> = (0..images.rows()).collect();
        let compute = Compute::new(threads)?;
        let through = |x| self.backbone.forward_to(layer, x).expect("the layer is one of those listed");
        let all = pass(Rows::Pictures(images), &chosen, &self.ready, &self.device, &compute, through)?;
        let width = all.len() / images.rows().max(1);
        Matrix::new(images.rows(), width, all)
    }
}
