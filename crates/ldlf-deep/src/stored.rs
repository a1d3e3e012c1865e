//! Networks and trees as the arrays of a file.

use std::collections::BTreeMap;

use ldlf_core::Result;
use ldlf_core::stored::{Array, Parts};

use crate::arrays::Numbers;
use crate::output_layer::OutputLayer;

/// Adds a network and its output layer to a file under names that begin with `prefix`.
pub(crate) fn put_network(
    parts: &mut Parts,
    prefix: &str,
    numbers: &BTreeMap<String, Numbers>,
    output: &OutputLayer,
) {
    for (name, (shape, values)) in numbers {
        parts.put(&format!("{prefix}network.{name}"), Array::F32(shape.clone(), values.clone()));
    }
    if let OutputLayer::Forest(head) = output {
        let shape = head.shape();
        let leaves = vec![shape.trees, shape.leaves(), shape.labels];
        parts.put(&format!("{prefix}leaves"), Array::F32(leaves, head.leaves().to_vec()));
        parts.put(
            &format!("{prefix}units"),
            Array::U32(vec![shape.trees, shape.splits()], head.units().to_vec()),
        );
    }
}

/// The output layer of a file, of the same sizes as `like`.
pub(crate) fn output_from(parts: &Parts, prefix: &str, like: &OutputLayer) -> Result<OutputLayer> {
    let OutputLayer::Forest(head) = like else {
        return Ok(like.clone());
    };
    let shape = *head.shape();
    let leaves = parts.f32s(&format!("{prefix}leaves"), &[shape.trees, shape.leaves(), shape.labels])?;
    let units = parts.u32s(&format!("{prefix}units"), &[shape.trees, shape.splits()])?;
    OutputLayer::forest(shape, units, leaves)
}

/// The single-precision arrays whose names begin with `prefix`, without it.
pub(crate) fn numbers_under(parts: &Parts, prefix: &str) -> Result<BTreeMap<String, Numbers>> {
    let names = parts.arrays().filter_map(|(name, _)| Some((name, name.strip_prefix(prefix)?)));
    names
        .map(|(name, rest)| {
            let shape = parts.shape(name)?.to_vec();
            Ok((rest.to_string(), (shape.clone(), parts.f32s(name, &shape)?)))
        })
        .collect()
}
