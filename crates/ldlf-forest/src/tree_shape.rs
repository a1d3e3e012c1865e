//! Full binary trees, and which output unit of the feature function stands behind which split.

use ldlf_core::{Error, Result, Seed};
use rand::RngExt;

/// The sizes of a forest.
///
/// A tree of depth `h` has `2^(h-1) - 1` split nodes and `2^(h-1)` leaves. Nodes are numbered level by level from the
/// root, 0; the children of node `n` are `2n + 1` (left) and `2n + 2` (right); leaves are numbered from the left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForestShape {
    /// Number of trees, `K`.
    pub trees: usize,
    /// Depth of every tree, `h`, counted in levels of nodes.
    pub depth: usize,
    /// Output units of the feature function, `tau`.
    pub units: usize,
    /// Number of labels, `C`.
    pub labels: usize,
}

/// Trees deeper than this are refused whatever the memory: a leaf number must fit 32 bits with room to spare.
pub const LARGEST_DEPTH: usize = 30;

impl ForestShape {
    /// Split nodes in a tree, `2^(h-1) - 1`.
    pub fn splits(&self) -> usize {
        self.leaves() - 1
    }

    /// Leaves in a tree, `2^(h-1)`.
    pub fn leaves(&self) -> usize {
        1 << (self.depth - 1)
    }

    /// Checks that the sizes make a forest: at least one of each, and `tau >= 2^(h-1) - 1`, because the units within a tree
    /// are distinct.
    pub fn check(&self) -> Result<()> {
        if self.depth < 1 || self.depth > LARGEST_DEPTH {
            return Err(Error::parameter("depth", format!("between 1 and {LARGEST_DEPTH}"), self.depth));
        }
        if self.trees < 1 {
            return Err(Error::parameter("trees", "at least 1", 0));
        }
        if self.labels < 1 {
            return Err(Error::usage("a forest needs at least one label"));
        }
        if self.units < self.splits().max(1) {
            let (splits, depth) = (self.splits(), self.depth);
            let least = format!("at least 2^(depth - 1) - 1 = {splits} for depth {depth}");
            return Err(
                Error::parameter("units", least, self.units).with_remedy("raise units or lower depth")
            );
        }
        Ok(())
    }
}

/// Draws, for every tree, a distinct unit for each split: the index functions `phi_k` of the paper.
///
/// Shape `[trees, splits]`. A unit may serve several trees. When there are exactly as many units as splits in the forest,
/// every split has its own.
pub fn draw_units(shape: &ForestShape, seed: Seed) -> Vec<u32> {
    let splits = shape.splits();
    if shape.units == shape.trees * splits {
        return (0..shape.units as u32).collect();
    }
    let mut units = Vec::with_capacity(shape.trees * splits);
    for tree in 0..shape.trees {
        let mut generator = seed.named("units").numbered(tree as u64).generator();
        let mut pool: Vec<u32> = (0..shape.units as u32).collect();
        for place in 0..splits {
            let other = generator.random_range(place as u64..pool.len() as u64) as usize;
            pool.swap(place, other);
        }
        units.extend_from_slice(&pool[..splits]);
    }
    units
}

pub use ldlf_math::memory::check as check_memory;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_the_paper() {
        let shape = ForestShape { trees: 5, depth: 7, units: 64, labels: 5 };
        assert_eq!((shape.splits(), shape.leaves()), (63, 64));
        shape.check().unwrap();
        ForestShape { depth: 1, ..shape }.check().unwrap();
    }

    #[test]
    fn too_few_units_are_refused_with_the_rule() {
        let error = ForestShape { trees: 5, depth: 7, units: 62, labels: 5 }.check().unwrap_err();
        assert_eq!(
            error.to_string(),
            "units must be at least 2^(depth - 1) - 1 = 63 for depth 7, got 62; raise units or lower depth"
        );
    }

    #[test]
    fn units_are_distinct_within_a_tree_and_shared_between_trees() {
        let shape = ForestShape { trees: 9, depth: 4, units: 10, labels: 2 };
        let units = draw_units(&shape, Seed::new(0));
        for tree in units.chunks(shape.splits()) {
            let mut sorted = tree.to_vec();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), shape.splits());
            assert!(sorted.iter().all(|&unit| unit < 10));
        }
        assert_ne!(units[..7], units[7..14], "each tree has its own map");
        assert_eq!(units, draw_units(&shape, Seed::new(0)));
    }

    #[test]
    fn with_a_unit_for_each_split_every_split_has_its_own() {
        let shape = ForestShape { trees: 3, depth: 3, units: 9, labels: 2 };
        assert_eq!(draw_units(&shape, Seed::new(5)), (0..9).collect::<Vec<u32>>());
    }
}
