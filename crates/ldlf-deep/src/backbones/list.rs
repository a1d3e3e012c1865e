//! The macro that declares all backbones from a list.

/// Declares the modules of some networks (`file::Type`, each an [`Architecture`](super::architecture::Architecture)),
/// [`BackboneKind`](super::BackboneKind) to name one of them, and the `AnyNetwork` that a [`Backbone`](super::Backbone) holds.
macro_rules! backbones {
    ($($module:ident::$network:ident),+ $(,)?) => {
        $(mod $module;)+

        /// A backbone by its name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum BackboneKind {
            $(#[doc = concat!("The network of `backbones/", stringify!($module), ".rs`.")] $network,)+
        }

        impl BackboneKind {
            /// Every backbone, in the order of help texts.
            pub const ALL: &'static [BackboneKind] = &[$(BackboneKind::$network),+];

            fn facts(self) -> &'static BackboneFacts {
                match self {
                    $(BackboneKind::$network => &<$module::$network as Architecture>::FACTS,)+
                }
            }

            /// The parameter of this network that an entry of a weight file belongs to.
            pub(crate) fn parameter_name(self, entry: &str) -> String {
                match self {
                    $(BackboneKind::$network => $module::$network::parameter_name(entry),)+
                }
            }
        }

        #[allow(clippy::large_enum_variant, reason = "a program holds one or two")]
        #[derive(Clone, Debug)]
        enum AnyNetwork {
            $($network($module::$network),)+
        }

        impl AnyNetwork {
            fn new(kind: BackboneKind, initial: &Initial<'_>, channels: usize, thinner: usize) -> Self {
                match kind {
                    $(BackboneKind::$network => {
                        AnyNetwork::$network(Architecture::new(initial, channels, thinner))
                    })+
                }
            }

            fn width(&self) -> usize {
                match self {
                    $(AnyNetwork::$network(network) => network.width(),)+
                }
            }

            fn run(&self, x: Tensor<4>, mode: &Mode, until: &str) -> Tensor<2> {
                match self {
                    $(AnyNetwork::$network(network) => network.run(x, mode, until),)+
                }
            }

            fn draw(&self, drawing: &mut Drawing<'_>, x: Maps) -> Flow {
                match self {
                    $(AnyNetwork::$network(network) => network.draw(drawing, x),)+
                }
            }
        }

        // By hand instead of by derive: a derived path of parameters would begin with the variant.
        impl Module for AnyNetwork {
            fn collect_devices(&self, devices: Devices) -> Devices {
                match self {
                    $(AnyNetwork::$network(network) => network.collect_devices(devices),)+
                }
            }

            fn fork(self, device: &Device) -> Self {
                match self {
                    $(AnyNetwork::$network(network) => AnyNetwork::$network(network.fork(device)),)+
                }
            }

            fn to_device(self, device: &Device) -> Self {
                match self {
                    $(AnyNetwork::$network(network) => AnyNetwork::$network(network.to_device(device)),)+
                }
            }

            fn train(self) -> Self {
                match self {
                    $(AnyNetwork::$network(network) => AnyNetwork::$network(network.train()),)+
                }
            }

            fn valid(&self) -> Self {
                match self {
                    $(AnyNetwork::$network(network) => AnyNetwork::$network(network.valid()),)+
                }
            }

            fn materialize(self) -> Self {
                match self {
                    $(AnyNetwork::$network(network) => AnyNetwork::$network(network.materialize()),)+
                }
            }

            fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
                match self {
                    $(AnyNetwork::$network(network) => network.visit(visitor),)+
                }
            }

            fn map<M: ModuleMapper>(self, mapper: &mut M) -> Self {
                match self {
                    $(AnyNetwork::$network(network) => AnyNetwork::$network(network.map(mapper)),)+
                }
            }
        }
    };
}

pub(super) use backbones;
