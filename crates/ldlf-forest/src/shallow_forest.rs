//! What a training of the shallow forest leaves behind, and its arrays in a model file.

use ldlf_core::stored::{Array, ModelShape, Parts};
use ldlf_core::{Error, Result, message};

use crate::encoder::Encoder;
use crate::head::Head;
use crate::leaves::check_on_simplex;
use crate::linear::LinearMap;
use crate::tree_shape::ForestShape;

/// A trained forest: encoder, linear map and head.
pub struct ShallowForest {
    /// Scales the features.
    pub encoder: Encoder,
    /// Turns scaled features into activations.
    pub map: LinearMap,
    /// The trees.
    pub head: Head<f32>,
}

impl ShallowForest {
    /// Adds the arrays and details that [`ShallowForest::load`] reads.
    pub fn store(&self, parts: &mut Parts) {
        let shape = self.head.shape();
        self.encoder.store(parts);
        parts.put(
            "weights",
            Array::F32(vec![self.encoder.inputs(), shape.units], self.map.weights().to_vec()),
        );
        parts.put("units", Array::U32(vec![shape.trees, shape.splits()], self.head.units().to_vec()));
        let leaves = self.head.leaves().to_vec();
        parts.put("leaves", Array::F32(vec![shape.trees, shape.leaves(), shape.labels], leaves));
        parts.put_detail("depth", shape.depth);
    }

    /// Rebuilds a forest, checked, from what [`ShallowForest::store`] added.
    pub fn load(parts: &Parts, shape: &ModelShape) -> Result<Self> {
        let encoder = Encoder::load(parts, shape.features)?;
        let depth: usize = parts.detail("depth")?;
        let (&[trees, splits], &[inputs, units]) = (parts.shape("units")?, parts.shape("weights")?) else {
            return Err(Error::model_file(
                "the model file's \"units\" and \"weights\" must have two dimensions",
            ));
        };
        let forest = ForestShape { trees, depth, units, labels: shape.labels };
        forest.check().map_err(|e| Error::model_file(message!["the model file's forest: ", e.sentence()]))?;
        if splits != forest.splits() || inputs != encoder.inputs() {
            return Err(Error::model_file("the model file's arrays do not fit its depth and its features"));
        }
        let of = parts.u32s("units", &[trees, splits])?;
        if of.iter().any(|&unit| unit as usize >= units) {
            return Err(Error::model_file("the model file's \"units\" names a unit that does not exist"));
        }
        let leaves = parts.f32s("leaves", &[trees, forest.leaves(), shape.labels])?;
        check_on_simplex(&leaves, shape.labels)?;
        let map = LinearMap::from_weights(inputs, units, parts.f32s("weights", &[inputs, units])?);
        Ok(ShallowForest { encoder, map, head: Head::from_parts(forest, of, leaves) })
    }
}
