//! A list of named layers: `torch.nn.Sequential` also counts layers without parameters, so that its numbers are not consecutive.

use burn::module::{
    Content, Devices, Module, ModuleDisplay, ModuleDisplayDefault, ModuleMapper, ModuleVisitor,
};
use burn::tensor::Device;

/// Layers of one type in their order, each with its name in the paths of parameters.
#[derive(Clone, Debug)]
pub struct Named<M>(Vec<(String, M)>);

impl<M> Named<M> {
    /// Layers with their names.
    pub fn new(layers: impl IntoIterator<Item = (String, M)>) -> Self {
        Named(layers.into_iter().collect())
    }

    /// The layers in order.
    pub fn iter(&self) -> impl Iterator<Item = &M> {
        self.0.iter().map(|(_, layer)| layer)
    }

    fn each(self, change: impl Fn(M) -> M) -> Self {
        Named(self.0.into_iter().map(|(name, layer)| (name, change(layer))).collect())
    }
}

impl<M: Module> Module for Named<M> {
    fn collect_devices(&self, devices: Devices) -> Devices {
        self.iter().fold(devices, |devices, layer| layer.collect_devices(devices))
    }

    fn fork(self, device: &Device) -> Self {
        self.each(|layer| layer.fork(device))
    }

    fn to_device(self, device: &Device) -> Self {
        self.each(|layer| layer.to_device(device))
    }

    fn train(self) -> Self {
        self.each(Module::train)
    }

    fn valid(&self) -> Self {
        Named(self.0.iter().map(|(name, layer)| (name.clone(), layer.valid())).collect())
    }

    fn materialize(self) -> Self {
        self.each(Module::materialize)
    }

    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        for (name, layer) in &self.0 {
            visitor.enter_module(name, "Vec");
            layer.visit(visitor);
            visitor.exit_module(name, "Vec");
        }
    }

    fn map<T: ModuleMapper>(self, mapper: &mut T) -> Self {
        let layers = self.0.into_iter().map(|(name, layer)| {
            mapper.enter_module(&name, "Vec");
            let layer = layer.map(mapper);
            mapper.exit_module(&name, "Vec");
            (name, layer)
        });
        Named(layers.collect())
    }
}

impl<M: ModuleDisplay> ModuleDisplayDefault for Named<M> {
    fn content(&self, content: Content) -> Option<Content> {
        self.0.iter().fold(content, |content, (name, layer)| content.add(name, layer)).optional()
    }
}

impl<M: ModuleDisplay> ModuleDisplay for Named<M> {}
