//! A start from greedily grown trees: their splits, softened, are the first units.

use ldlf_core::dataset::Tabular;
use ldlf_core::leave_out::RowGroups;
use ldlf_core::{Features, FitContext, Matrix, Result, Seed, Threads};
use ldlf_trees::columns::Codes;
use ldlf_trees::regression_tree::Tree;
use ldlf_trees::split_search::SplitColumns;
use ldlf_trees::tree_builder::Limits;
use ldlf_trees::tree_forest::{Plan, Sampling, fit_forest};

use crate::encoder::{Encoded, Encoder};
use crate::lazy_optimizer::DecayTargets;
use crate::linear::LinearMap;
use crate::tree_shape::ForestShape;

/// The steepness of a softened split: `x_j <= t` becomes the activation `STEEPNESS (t - x_j)` in scaled features.
const STEEPNESS: f32 = 6.0;

/// What is left of a unit's random weights beside its split.
const NOISE: f32 = 0.1;

/// Grows a random forest of the same shape on the encoded rows and writes its splits into the map, whose units each belong to
/// one split and whose last input is the bias. Below a leaf that ends early the random weights stay.
///
/// Trees that leave out groups of rows are grown without them; all rows must then be meant.
///
/// Gives the weights that the map is to decay to.
#[allow(clippy::too_many_arguments, reason = "all that the first weights depend on")]
pub fn soften(
    map: &mut LinearMap,
    encoder: &Encoder,
    shape: &ForestShape,
    data: Tabular<'_>,
    rows: &[usize],
    groups: Option<&RowGroups>,
    seed: Seed,
    threads: &Threads,
) -> Result<DecayTargets> {
    let mut encoded = encoder.buffer(data.features);
    encoder.encode(data.features, rows.iter().copied(), None, &mut encoded);
    let inputs = match encoded {
        Encoded::Dense(x) => Features::Dense(Matrix::new(rows.len(), encoder.inputs(), x)?),
        Encoded::Sparse(x) => Features::Sparse(x),
    };
    let data = data.select(rows).with_inputs(inputs)?;
    // The defaults of `random-forest`, but for the shape.
    let limits =
        Limits { depth: (shape.depth - 1).max(1), leaf_weight: 3.0, feature_share: 0.2, penalty: 0.0 };
    let plan = Plan {
        trees: shape.trees,
        sampling: Sampling { bootstrap: true, most: None, leave_out: groups.cloned() },
        limits,
    };
    let mut nobody = ();
    let mut context = FitContext::new(seed.named("greedy").value(), threads.clone(), &mut nobody);
    let (forest, _) =
        fit_forest(&SplitColumns::Best(&Codes::new(data.features()?, threads)), &plan, &data, &mut context);
    let mut start = Start { map, decay_targets: vec![Vec::new(); encoder.inputs()], splits: shape.splits() };
    for (index, tree) in forest.trees().iter().enumerate() {
        start.lay_out(tree, 0, index, 0);
    }
    Ok(start.decay_targets)
}

/// The map that is being written.
struct Start<'a> {
    map: &'a mut LinearMap,
    decay_targets: DecayTargets,
    splits: usize,
}

impl Start<'_> {
    /// Writes a node of a grown tree into `place` of the full tree, and its children below.
    fn lay_out(&mut self, tree: &Tree, node: usize, index: usize, place: usize) {
        let Some(split) = tree.split(node).filter(|_| place < self.splits) else { return };
        let (unit, units) = (index * self.splits + place, self.map.units());
        let weights = self.map.weights_mut();
        weights.iter_mut().skip(unit).step_by(units).for_each(|w| *w *= NOISE);
        weights[split.feature * units + unit] = -STEEPNESS;
        self.decay_targets[split.feature].push((unit as u32, -STEEPNESS));
        let bias = weights.len() - units + unit;
        weights[bias] = STEEPNESS * split.threshold;
        self.lay_out(tree, split.left, index, 2 * place + 1);
        self.lay_out(tree, split.right, index, 2 * place + 2);
    }
}
