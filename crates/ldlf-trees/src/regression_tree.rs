//! A grown regression tree: splits `x_j <= t`, and a vector at every leaf.
//!
//! One tree, grown by `tree_builder`, serves both forests and both boosters. Written here because
//! existing crates do not fit: smartcore and forust grow trees with one output on dense columns, linfa-trees classifies;
//! none splits on a vector, and none keeps sparse rows sparse.

use ldlf_core::features::Row;
use ldlf_core::stored::{Array, Parts};
use ldlf_core::{Error, Features, Matrix, Result, Threads, Value};
use ldlf_math::parallel::chunks;

/// Marks a leaf in the array of split features.
const LEAF: u32 = u32::MAX;

/// One node. `x[feature] <= threshold` goes to `child`, everything else to `child + 1`; at a leaf `child` is the number
/// of the leaf.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Node {
    feature: u32,
    threshold: f32,
    child: u32,
}

/// A split of a [`Tree`], for readers outside this crate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// The feature that is compared.
    pub feature: usize,
    /// Rows with a value of at most this go left.
    pub threshold: f32,
    /// The node on the left.
    pub left: usize,
    /// The node on the right.
    pub right: usize,
}

/// A regression tree with a vector at every leaf. Node 0 is the root, and children come after their parents.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    nodes: Vec<Node>,
    /// `[leaves, outputs]`
    values: Matrix<f32>,
}

impl Tree {
    /// The number of nodes, leaves included.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The number of leaves.
    pub fn leaf_count(&self) -> usize {
        self.values.rows()
    }

    /// The length of a leaf's vector.
    pub fn outputs(&self) -> usize {
        self.values.cols()
    }

    /// The split at a node, or `None` at a leaf.
    pub fn split(&self, node: usize) -> Option<Split> {
        let Node { feature, threshold, child } = self.nodes[node];
        (feature != LEAF).then_some(Split {
            feature: feature as usize,
            threshold,
            left: child as usize,
            right: child as usize + 1,
        })
    }

    /// The vector at a leaf, or `None` at a split.
    pub fn leaf(&self, node: usize) -> Option<&[f32]> {
        let Node { feature, child, .. } = self.nodes[node];
        (feature == LEAF).then(|| self.values.row(child as usize))
    }

    /// The number of splits between the root and the deepest leaf.
    pub fn depth(&self) -> usize {
        let mut depth = vec![0usize; self.nodes.len()];
        for node in 0..self.nodes.len() {
            if let Some(Split { left, right, .. }) = self.split(node) {
                depth[left] = depth[node] + 1;
                depth[right] = depth[node] + 1;
            }
        }
        depth.into_iter().max().unwrap_or(0)
    }

    /// The number of the leaf that a row of features reaches.
    pub fn leaf_number(&self, features: &Features, row: usize) -> usize {
        match features.row(row) {
            Row::Dense(values) => self.descend(|feature| values[feature]),
            Row::Sparse(columns, values) => self.descend(|feature| sparse_value(columns, values, feature)),
        }
    }

    /// The same splits with other leaves, `[leaves, outputs]`.
    pub fn with_leaves(self, values: Matrix<f32>) -> Self {
        assert_eq!(values.rows(), self.leaf_count(), "a vector for every leaf");
        Tree { values, ..self }
    }

    /// The vectors of all leaves.
    pub fn leaves(&self) -> &Matrix<f32> {
        &self.values
    }

    /// The vector of the leaf that a row of features reaches.
    pub fn predict_row(&self, features: &Features, row: usize) -> &[f32] {
        self.leaf_of(features.row(row))
    }

    /// The vector of the leaf that one row reaches.
    pub fn leaf_of(&self, row: Row<'_>) -> &[f32] {
        match row {
            Row::Dense(values) => self.predict_dense(values),
            Row::Sparse(columns, values) => self.predict_sparse(columns, values),
        }
    }

    /// The vector of the leaf that a row reaches, given by all its values.
    pub fn predict_dense(&self, values: &[f32]) -> &[f32] {
        self.values.row(self.descend(|feature| values[feature]))
    }

    /// The vector of the leaf that a row reaches, given by the columns, in rising order, that differ from zero.
    pub fn predict_sparse(&self, columns: &[u32], values: &[f32]) -> &[f32] {
        self.values.row(self.descend(|feature| sparse_value(columns, values, feature)))
    }

    #[inline(always)]
    fn descend(&self, value: impl Fn(usize) -> f32) -> usize {
        let mut node = self.nodes[0];
        while node.feature != LEAF {
            // `x > t` is false for NaN, which therefore goes left.
            node =
                self.nodes[node.child as usize + usize::from(value(node.feature as usize) > node.threshold)];
        }
        node.child as usize
    }
}

#[inline(always)]
fn sparse_value(columns: &[u32], values: &[f32], feature: usize) -> f32 {
    columns.binary_search(&(feature as u32)).map_or(0.0, |at| values[at])
}

/// Rows that descend a tree together, which hides the latency of memory.
const LANES: usize = 8;

impl Tree {
    /// The leaves of the rows from `first` on, of a block that holds `rows` values for each feature.
    #[inline(always)]
    fn descend_together(&self, block: &[f32], rows: usize, first: usize) -> [u32; LANES] {
        let mut at = [0u32; LANES];
        loop {
            let mut moved = false;
            for (lane, at) in at.iter_mut().enumerate() {
                let node = self.nodes[*at as usize];
                if node.feature != LEAF {
                    let value = block[node.feature as usize * rows + first + lane];
                    *at = node.child + u32::from(value > node.threshold);
                    moved = true;
                }
            }
            if !moved {
                return at.map(|node| self.nodes[node as usize].child);
            }
        }
    }
}

/// Builds a tree, node by node.
#[derive(Debug)]
pub struct Sketch {
    nodes: Vec<Node>,
    values: Vec<f32>,
    outputs: usize,
}

impl Sketch {
    /// A tree of one undecided node.
    pub fn new(outputs: usize) -> Self {
        Sketch { nodes: vec![Node { feature: LEAF, threshold: 0.0, child: 0 }], values: Vec::new(), outputs }
    }

    /// Makes `node` a split and gives its left child; the right one follows it.
    pub fn split(&mut self, node: usize, feature: u32, threshold: f32) -> usize {
        let child = self.nodes.len();
        self.nodes[node] = Node { feature, threshold, child: child as u32 };
        self.nodes.extend([Node { feature: LEAF, threshold: 0.0, child: 0 }; 2]);
        child
    }

    /// Makes `node` a leaf and gives its vector, to be filled.
    pub fn leaf(&mut self, node: usize) -> &mut [f32] {
        let start = self.values.len();
        self.nodes[node] = Node { feature: LEAF, threshold: 0.0, child: (start / self.outputs) as u32 };
        self.values.resize(start + self.outputs, 0.0);
        &mut self.values[start..]
    }

    /// The tree, once every node is decided.
    pub fn finish(self) -> Tree {
        let leaves = self.values.len() / self.outputs;
        let values =
            Matrix::new(leaves, self.outputs, self.values).expect("every leaf holds a vector of that length");
        Tree { nodes: self.nodes, values }
    }
}

/// Rows per block of predictions: many, because every block reads every tree from memory once, but few enough that
/// a few threads get a block each.
fn rows_together(rows: usize) -> usize {
    (rows / 4).next_multiple_of(LANES).clamp(64, 512)
}

/// The label that the first output of tree `number` adds to.
///
/// A tree with as many outputs as there are labels adds its whole leaf; of trees with one output, tree `t` adds
/// to label `t mod labels`.
pub(crate) fn first_label(tree: &Tree, number: usize, labels: usize) -> usize {
    if tree.outputs() == labels { 0 } else { number % labels }
}

/// Sums the outputs of `trees` for every row: `[rows, labels]`, in double precision, in the order of the trees. A tree has an output
/// for every label, or one output; then the trees take turns at the labels.
pub fn sum_over_trees(trees: &[Tree], labels: usize, features: &Features, threads: &Threads) -> Vec<f64> {
    let cols = features.cols();
    let parts = threads.map(chunks(features.rows(), rows_together(features.rows())), |rows| {
        let mut sums = vec![0.0f64; rows.len() * labels];
        // Feature by feature: features used by many splits then fill whole cache lines.
        let height = rows.len();
        let mut block = vec![0.0f32; height * cols];
        for row in rows.clone() {
            features.for_each_in_row(row, |column, v| block[column * height + row - rows.start] = v);
        }
        for (number, tree) in trees.iter().enumerate() {
            let outputs = tree.values.cols();
            let first = first_label(tree, number, labels);
            let mut add = |row: usize, leaf: usize| {
                let out = &mut sums[row * labels + first..row * labels + first + outputs];
                out.iter_mut().zip(tree.values.row(leaf)).for_each(|(o, &v)| *o += f64::from(v));
            };
            let together = height / LANES * LANES;
            for start in (0..together).step_by(LANES) {
                let leaves = tree.descend_together(&block, height, start);
                leaves.into_iter().enumerate().for_each(|(lane, leaf)| add(start + lane, leaf as usize));
            }
            for row in together..height {
                add(row, tree.descend(|feature| block[feature * height + row]));
            }
        }
        sums
    });
    parts.concat()
}

/// Adds trees to a model file: their nodes and leaves, one tree after the other.
pub fn store(trees: &[Tree], outputs: usize, parts: &mut Parts) {
    let count = |of: fn(&Tree) -> usize| {
        Array::U32(vec![trees.len()], trees.iter().map(|tree| of(tree) as u32).collect())
    };
    parts.put("tree_nodes", count(Tree::node_count));
    parts.put("tree_leaves", count(Tree::leaf_count));
    let nodes: Vec<Node> = trees.iter().flat_map(|tree| tree.nodes.iter().copied()).collect();
    parts.put("node_feature", Array::U32(vec![nodes.len()], nodes.iter().map(|n| n.feature).collect()));
    parts.put("node_threshold", Array::F32(vec![nodes.len()], nodes.iter().map(|n| n.threshold).collect()));
    parts.put("node_child", Array::U32(vec![nodes.len()], nodes.iter().map(|n| n.child).collect()));
    let values: Vec<f32> = trees.iter().flat_map(|tree| tree.values.as_slice().iter().copied()).collect();
    parts.put("leaf_values", Array::F32(vec![values.len() / outputs, outputs], values));
}

/// Reads what [`store`] wrote. Every tree must be one: splits on known features, children after their parents and each
/// with one parent, every leaf in use, finite numbers.
pub fn load(parts: &Parts, features: usize, outputs: usize) -> Result<Vec<Tree>> {
    let broken = |tree: usize, why: &str| {
        Err(Error::model_file(format!("tree {tree} of the model file {why}; the file may be damaged")))
    };
    let lengths = |name: &str| -> Result<usize> {
        match parts.shape(name)? {
            [count] => Ok(*count),
            _ => Err(Error::model_file(format!("the model file's array {name:?} is not a list"))),
        }
    };
    let count = lengths("tree_nodes")?;
    let node_counts = parts.u32s("tree_nodes", &[count])?;
    let leaf_counts = parts.u32s("tree_leaves", &[count])?;
    let total = |counts: &[u32]| counts.iter().map(|&n| n as usize).sum::<usize>();
    let (nodes, leaves) = (total(&node_counts), total(&leaf_counts));
    let split_features = parts.u32s("node_feature", &[nodes])?;
    let thresholds = parts.f32s("node_threshold", &[nodes])?;
    let children = parts.u32s("node_child", &[nodes])?;
    let values = parts.f32s("leaf_values", &[leaves, outputs])?;

    let mut trees = Vec::with_capacity(count);
    let (mut first_node, mut first_value) = (0, 0);
    for (tree, (&node_count, &leaf_count)) in node_counts.iter().zip(&leaf_counts).enumerate() {
        let (node_count, leaf_count) = (node_count as usize, leaf_count as usize);
        let mut has_parent = vec![false; node_count];
        let mut leaf_used = vec![false; leaf_count];
        if node_count == 0 {
            return broken(tree, "has no nodes");
        }
        has_parent[0] = true;
        let nodes: Vec<Node> = (first_node..first_node + node_count)
            .map(|n| Node { feature: split_features[n], threshold: thresholds[n], child: children[n] })
            .collect();
        for (number, node) in nodes.iter().enumerate() {
            let child = node.child as usize;
            if node.feature == LEAF {
                if child >= leaf_count || std::mem::replace(&mut leaf_used[child], true) {
                    return broken(tree, "names a leaf that does not exist or names one twice");
                }
                continue;
            }
            if node.feature as usize >= features {
                return broken(tree, "splits on a feature that does not exist");
            }
            if child <= number || child + 1 >= node_count {
                return broken(tree, "has a child out of order or out of range");
            }
            if std::mem::replace(&mut has_parent[child], true)
                || std::mem::replace(&mut has_parent[child + 1], true)
            {
                return broken(tree, "has a node with two parents");
            }
        }
        if !has_parent.iter().all(|&p| p) || !leaf_used.iter().all(|&u| u) {
            return broken(tree, "has a node or a leaf that nothing leads to");
        }
        let end = first_value + leaf_count * outputs;
        trees.push(Tree {
            nodes,
            values: Matrix::new(leaf_count, outputs, values[first_value..end].to_vec())?,
        });
        first_node += node_count;
        first_value = end;
    }
    Ok(trees)
}

/// Refuses trees one of whose leaves is not a distribution.
pub fn refuse_leaves_off_the_simplex(trees: &[Tree]) -> Result<()> {
    for (number, tree) in trees.iter().enumerate() {
        if !tree.values.iter_rows().all(|leaf| ldlf_math::numeric::on_simplex(leaf, 1e-4)) {
            return Err(Error::model_file(format!(
                "tree {number} of the model file has a leaf that is not a distribution; the file may be damaged"
            )));
        }
    }
    Ok(())
}

/// What `ldlf inspect` shows of trees.
pub fn inspect(trees: &[Tree]) -> Vec<(String, Value)> {
    let leaves: usize = trees.iter().map(Tree::leaf_count).sum();
    let depth = trees.iter().map(Tree::depth).max().unwrap_or(0);
    vec![
        ("trees".into(), trees.len().into()),
        ("leaves".into(), leaves.into()),
        ("deepest_leaf".into(), depth.into()),
    ]
}
