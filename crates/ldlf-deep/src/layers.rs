//! The layers of a backbone from its input to its features: how fast each of them learns, and from which epoch on.

use std::collections::BTreeMap;

use burn::module::{Module, ModuleVisitor, Param};
use burn::tensor::Tensor;

use crate::arrays::{Path, keeps_path};

/// The prefix of the names of all parameters of a backbone.
pub(crate) const WHOLE_BACKBONE: &str = "backbone";

/// The layers of a network's backbone in their order. A batch norm belongs to the layer before it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Layers {
    /// The number of a layer by the beginning of its parameters' names, such as `blocks.3`.
    numbers: BTreeMap<String, usize>,
    count: usize,
}

impl Layers {
    /// The layers of a network.
    pub fn of<M: Module>(network: &M) -> Self {
        let mut finder = Finder { path: Path::default(), layers: Layers::default() };
        network.visit(&mut finder);
        finder.layers
    }

    /// How many layers stand between a parameter and the head: 0 for the last layer of the backbone. None for the head itself.
    fn behind(&self, parameter: &str) -> Option<usize> {
        let number = self.numbers.get(layer_of(parameter)?)?;
        Some(self.count - 1 - number)
    }

    /// `decay^n` for a parameter with `n` layers between it and the head; 1 for the head.
    pub fn factor(&self, parameter: &str, decay: f64) -> f64 {
        self.behind(parameter).map_or(1.0, |behind| decay.powi(i32::try_from(behind).unwrap_or(i32::MAX)))
    }

    /// The epoch from which a parameter learns when the layers join one after the other, the last one first, so that all of them learn
    /// after so many epochs. The head learns from epoch 0.
    pub fn joins(&self, parameter: &str, epochs: usize) -> usize {
        match self.behind(parameter) {
            Some(behind) if epochs > 0 => epochs * behind / self.count + 1,
            _ => 0,
        }
    }
}

/// The layer of a parameter of the backbone: `blocks.3` of `backbone.blocks.3.conv.weight`, `conv1` of `backbone.conv1.weight`.
fn layer_of(parameter: &str) -> Option<&str> {
    let within = parameter.strip_prefix(WHOLE_BACKBONE)?.strip_prefix('.')?;
    let mut parts = within.split('.');
    let first = parts.next().unwrap_or_default().len();
    let number = parts.next().filter(|part| part.parse::<usize>().is_ok());
    Some(&within[..first + number.map_or(0, |number| 1 + number.len())])
}

struct Finder {
    path: Path,
    layers: Layers,
}

impl ModuleVisitor for Finder {
    keeps_path!();
    fn visit_float<const D: usize>(&mut self, _: &Param<Tensor<D>>) {
        let name = self.path.name();
        let Some(layer) = layer_of(&name) else { return };
        if self.layers.numbers.contains_key(layer) {
            return;
        }
        // Vectors alone are a batch norm's.
        if D > 1 || self.layers.count == 0 {
            self.layers.count += 1;
        }
        self.layers.numbers.insert(layer.to_string(), self.layers.count - 1);
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;
    use ldlf_core::Seed;

    use super::*;
    use crate::backbones::{BackboneKind, Input};
    use crate::network::Network;

    fn layers(kind: BackboneKind) -> Layers {
        let input = Input::Images { channels: 3, side: 64 };
        Layers::of(&Network::new(kind, input, 4, Seed::new(0), &Device::flex()).unwrap())
    }

    #[test]
    fn a_layer_is_named_by_the_beginning_of_its_parameters() {
        assert_eq!(layer_of("backbone.blocks.3.depthwise.weight"), Some("blocks.3"));
        assert_eq!(layer_of("backbone.features.10.bias"), Some("features.10"));
        assert_eq!(layer_of("backbone.conv1.weight"), Some("conv1"));
        assert_eq!(layer_of("projection.weight"), None);
    }

    #[test]
    fn rates_fall_from_the_features_to_the_input() {
        let resnet = layers(BackboneKind::ResNet18);
        // The stem with its batch norm, and eight blocks.
        assert_eq!(resnet.count, 9);
        assert_eq!(resnet.factor("projection.weight", 0.5), 1.0);
        assert_eq!(resnet.factor("backbone.layer4.1.conv2.weight", 0.5), 1.0);
        assert_eq!(resnet.factor("backbone.layer4.0.downsample.0.weight", 0.5), 0.5);
        assert_eq!(resnet.factor("backbone.conv1.weight", 0.5), resnet.factor("backbone.bn1.bias", 0.5));
        assert_eq!(resnet.factor("backbone.conv1.weight", 0.5), 0.5f64.powi(8));
    }

    #[test]
    fn layers_join_from_the_features_to_the_input() {
        let network = layers(BackboneKind::MobileNetV1);
        // A convolution, thirteen blocks and a fully connected layer.
        assert_eq!(network.count, 15);
        let joins = |name: &str| network.joins(&format!("backbone.{name}.weight"), 3);
        assert_eq!(["feats", "blocks.12", "blocks.9", "blocks.8"].map(joins), [1, 1, 1, 2]);
        assert_eq!(["blocks.4", "blocks.3", "blocks.0.depthwise", "conv1"].map(joins), [2, 3, 3, 3]);
        assert_eq!(network.joins("projection.bias", 3), 0);
        assert_eq!(network.joins("backbone.conv1.weight", 0), 0);
    }
}
