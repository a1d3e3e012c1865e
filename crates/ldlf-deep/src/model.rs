//! A trained network with its trees: predicts, is stored in one file, and gives the output of any of its layers.

use std::path::Path;

use burn::module::Module;
use burn::tensor::Device;
use ldlf_core::forest_view::ForestView;
use ldlf_core::graph::{Flow, Graph, GraphImages};
use ldlf_core::parameters::ParameterType;
use ldlf_core::stored::{ModelShape, Parts};
use ldlf_core::{Error, Images, Inputs, Matrix, Model, Prediction, Result, Seed, Threads, Value};
use ldlf_forest::graph::add_linear_forest;
use ldlf_forest::tree_shape::{ForestShape, LARGEST_DEPTH};

use crate::arrays::{self, host};
use crate::backbones::{Backbone, BackboneKind, Input};
use crate::images::{Preparation, whole_side};
use crate::learners::entries;
use crate::network::{self, Compute, Network, Preprocessing, pass};
use crate::output_layer::OutputLayer;
use crate::stored::{numbers_under, put_network};
use crate::view;
use crate::weights::{WeightReport, load_weights};

/// A trained network and its output layer.
pub(crate) struct DeepModel {
    /// Which backbone it has.
    pub kind: BackboneKind,
    /// How rows become the input of the network.
    pub preprocessing: Preprocessing,
    /// How its weight file matched the network, in words.
    pub weights: Option<String>,
    /// Backbone and projection, without gradients.
    pub network: Network,
    /// The trees, or the softmax.
    pub output: OutputLayer,
    /// Its device.
    pub device: Device,
}

impl Model for DeepModel {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        let compute = Compute::new(threads)?;
        let chosen: Vec<usize> = (0..inputs.rows()).collect();
        let on = (&self.device, &compute);
        let predicted =
            network::predict(&self.network, &self.output, inputs, &chosen, &self.preprocessing, on)?;
        Ok(Prediction::Distributions(predicted))
    }

    fn store(&self, parts: &mut Parts) {
        put_network(parts, "", &arrays::collect(&self.network), &self.output);
        let forest = match &self.output {
            OutputLayer::Forest(head) => Some((head.shape().depth, head.shape().units)),
            OutputLayer::Softmax { .. } => None,
        };
        parts.put_detail("backbone", self.kind.name());
        parts.put_detail("preprocessing", &self.preprocessing);
        if let Some(weights) = &self.weights {
            parts.put_detail("weights", weights);
        }
        parts.put_detail("forest", forest);
    }

    fn add_to_graph(&self, graph: &mut Graph, input: &Flow) -> Option<Flow> {
        let prepared = match &self.preprocessing {
            Preprocessing::Images(preparation) => preparation.add_to_graph(graph, input),
            Preprocessing::Table { mean, deviation } => {
                let factors: Vec<f32> = deviation.iter().map(|deviation| 1.0 / deviation).collect();
                graph.scale(input, mean, &factors)
            }
        };
        let features = self.network.backbone.add_to_graph(graph, &prepared);
        let projection = &self.network.projection;
        let weights = host(projection.weight.val().into_data());
        let bias = projection.bias.as_ref().map(|bias| host(bias.val().into_data()));
        Some(match &self.output {
            OutputLayer::Forest(head) => add_linear_forest(graph, &features, &weights, bias.as_deref(), head),
            OutputLayer::Softmax { labels } => {
                let weights = graph.f32s("weights", &projection.weight.dims(), weights);
                let bias = graph.f32s("bias", &[*labels], bias.unwrap_or_else(|| vec![0.0; *labels]));
                let activations = graph.node("Gemm", "activations", &[&features, &weights, &bias]);
                graph.softmax(&activations)
            }
        })
    }

    fn images_of_graph(&self) -> Option<GraphImages> {
        match &self.preprocessing {
            Preprocessing::Images(Preparation { side, margin, .. }) => {
                Some(GraphImages { side: *side, resized: whole_side(*side, *margin) })
            }
            Preprocessing::Table { .. } => None,
        }
    }

    fn look_inside_images(
        &self,
        images: &Images,
        chosen: &[usize],
        threads: &Threads,
    ) -> Result<Option<ForestView>> {
        view::look_inside(self, images, chosen, threads)
    }

    fn inspect(&self) -> Vec<(String, Value)> {
        let numbers: usize = arrays::collect(&self.network).values().map(|(_, values)| values.len()).sum();
        let mut facts = vec![
            ("backbone".to_string(), Value::from(self.kind.name())),
            ("numbers".to_string(), Value::from(numbers)),
        ];
        if let Some(weights) = &self.weights {
            facts.push(("weights".to_string(), Value::from(weights.as_str())));
        }
        if let Input::Images { channels, side } = self.preprocessing.input() {
            facts.push(("input".to_string(), Value::from(format!("{channels} x {side} x {side}"))));
        }
        if let Preprocessing::Images(Preparation { mean, deviation, range, order, margin, .. }) =
            &self.preprocessing
        {
            facts.push(("input range".to_string(), Value::from(*range)));
            facts.push(("input mean".to_string(), Value::from(mean.clone())));
            facts.push(("input deviation".to_string(), Value::from(deviation.clone())));
            facts.push(("channel order".to_string(), order.to_value()));
            if *margin > 0.0 {
                facts.push(("input crop".to_string(), Value::from(*margin)));
            }
        }
        if let OutputLayer::Forest(head) = &self.output {
            let shape = head.shape();
            facts.push(("trees".to_string(), Value::from(shape.trees)));
            facts.push(("leaves".to_string(), Value::from(shape.trees * shape.leaves())));
            facts.push(("units".to_string(), Value::from(shape.units)));
        }
        facts
    }
}

/// Rebuilds a model from its file.
pub(crate) fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
    Ok(Box::new(rebuild(parts, Some(shape.labels), &network::device("cpu")?)?))
}

fn rebuild(parts: &Parts, labels: Option<usize>, device: &Device) -> Result<DeepModel> {
    let backbone: String = parts.detail("backbone")?;
    let kind = BackboneKind::named(&backbone).map_err(|e| Error::model_file(e.to_string()))?;
    let preprocessing: Preprocessing = parts.detail("preprocessing")?;
    check_preprocessing(&preprocessing, kind)?;
    let forest: Option<(usize, usize)> = parts.detail("forest")?;
    let output = match forest {
        None => {
            let units = parts.shape("network.projection.bias")?.first().copied().unwrap_or(0);
            OutputLayer::Softmax { labels: labels.unwrap_or(units) }
        }
        Some((depth, units)) => {
            let &[trees, _, found] = parts.shape("leaves")? else {
                return Err(Error::model_file(
                    "the model file's leaves should have the shape [trees, leaves, labels]; the file may be damaged",
                ));
            };
            if !(1..=LARGEST_DEPTH).contains(&depth) {
                return Err(Error::model_file(format!(
                    "the model file's tree depth {depth} is outside 1..={LARGEST_DEPTH}; the file may be damaged"
                )));
            }
            let shape = ForestShape { trees, depth, units, labels: labels.unwrap_or(found) };
            let leaves = parts.f32s("leaves", &[trees, shape.leaves(), shape.labels])?;
            let splits = parts.u32s("units", &[trees, shape.splits()])?;
            OutputLayer::forest(shape, splits, leaves).map_err(|e| Error::model_file(e.to_string()))?
        }
    };
    let numbers = numbers_under(parts, "network.")?;
    let network = Network::new(kind, preprocessing.input(), output.units(), Seed::new(0), device)
        .map_err(|e| Error::model_file(e.to_string()))?;
    let network = arrays::restore(network.valid(), &numbers)?;
    let weights: Option<String> = parts.detail("weights")?;
    Ok(DeepModel { kind, preprocessing, weights, network, output, device: device.clone() })
}

/// Refuses preprocessing that does not fit the network.
fn check_preprocessing(preprocessing: &Preprocessing, kind: BackboneKind) -> Result<()> {
    let fits = match preprocessing {
        Preprocessing::Images(Preparation { side, channels, mean, deviation, range, margin, .. }) => {
            !kind.reads_tables()
                && (kind.smallest_side()..=4096).contains(side)
                && [1, 3].contains(channels)
                && (range.is_finite() && *range > 0.0)
                && (0.0..0.5).contains(margin)
                && mean.len() == *channels
                && deviation.len() == *channels
                && mean.iter().chain(deviation).all(|number| number.is_finite())
                && deviation.iter().all(|&deviation| deviation > 0.0)
        }
        Preprocessing::Table { mean, deviation } => {
            kind.reads_tables()
                && mean.len() == deviation.len()
                && mean.iter().chain(deviation).all(|number| number.is_finite())
                && deviation.iter().all(|&deviation| deviation > 0.0)
        }
    };
    match fits {
        true => Ok(()),
        false => Err(Error::model_file(
            "the model file's preprocessing does not fit its network; the file may be damaged",
        )),
    }
}

/// A network that gives the outputs of its layers as features.
pub struct FeatureNetwork {
    kind: BackboneKind,
    backbone: Backbone,
    preprocessing: Preprocessing,
    device: Device,
}

impl FeatureNetwork {
    /// The network of a model file.
    pub fn of_model(path: &Path) -> Result<Self> {
        let mut parts = ldlf_io::model_file::read_parts(path)?;
        let learner: String = parts.detail("learner")?;
        let networks: Vec<&str> = entries().iter().map(|entry| entry.name()).collect();
        if !networks.contains(&learner.as_str()) {
            return Err(Error::model_file(format!("a model of {learner} has no network to look into"))
                .with_remedy(format!("give one of {}", networks.join(", ")))
                .in_file(path));
        }
        parts.details = parts.detail("model")?;
        let DeepModel { kind, preprocessing, network, device, .. } =
            rebuild(&parts, None, &network::device("cpu")?)
                .map_err(|e| e.recast(Error::ModelFile).in_file(path))?;
        Ok(FeatureNetwork { kind, backbone: network.backbone, preprocessing, device })
    }

    /// A network with pretrained weights and no model; `side` defaults to the network's usual one, and a fraction `margin` is cut off at
    /// each edge of an image.
    pub fn of_weights(
        backbone: &str,
        weights: &Path,
        side: Option<usize>,
        margin: f64,
    ) -> Result<(Self, WeightReport)> {
        let kind = BackboneKind::named(backbone)?;
        let preparation = kind.preparation(side, 3).ok_or_else(|| kind.refusal())?;
        let input = Input::Images { channels: preparation.channels, side: preparation.side };
        let device = network::device("cpu")?;
        let network = Backbone::new(kind, input, Seed::new(0), &device)?;
        let (backbone, report) = load_weights(network, weights)?;
        let convention = kind.convention(Some(&report)).ok_or_else(|| kind.refusal())?;
        let preparation = Preparation { margin, ..convention.preparation(preparation.side, 3) };
        preparation.check()?;
        let preprocessing = Preprocessing::Images(preparation);
        Ok((FeatureNetwork { kind, backbone: backbone.valid(), preprocessing, device }, report))
    }

    /// The layers whose outputs can be computed, in order.
    pub fn layers(&self) -> &'static [&'static str] {
        self.kind.layers()
    }

    /// The outputs of a layer, flattened, one row per image.
    pub fn features(&self, images: &Images, layer: &str, threads: &Threads) -> Result<Matrix<f32>> {
        if !self.layers().contains(&layer) {
            return Err(Error::usage(format!("{} has no layer {layer:?}", self.kind.name()))
                .with_remedy(format!("it has {}", self.layers().join(", "))));
        }
        let chosen: Vec<usize> = (0..images.rows()).collect();
        let compute = Compute::new(threads)?;
        let through = |x| self.backbone.forward_to(layer, x).expect("the layer is one of those listed");
        let all =
            pass(&images.clone().into(), &chosen, &self.preprocessing, &self.device, &compute, through)?;
        let width = all.len() / images.rows().max(1);
        Ok(Matrix::new(images.rows(), width, all)?)
    }
}
