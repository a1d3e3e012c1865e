//! Grown forests that may stand beside the soft trees.

use ldlf_core::leave_out::RowGroups;
use ldlf_core::{Auto, Dataset, Features, FitContext, Result, Seed, Threads};
use ldlf_trees::columns::{self, Codes};
use ldlf_trees::split_search::SplitColumns;
use ldlf_trees::tree_builder::Limits;
use ldlf_trees::tree_forest::{ForestModel, Plan, Sampling, Unseen, fit_forest, grow_more, predict_unseen};

/// Rows that a tree is grown on at most.
const ROWS_PER_TREE: usize = 20_000;

/// Rows up to which extra trees are grown on sparse features, where they take several times as long as a random forest.
const SPARSE_ROWS: usize = 2_000;

/// The fraction of the trees that is grown at first: enough to see whether they help.
const AT_FIRST: f64 = 0.4;

/// The most trees that are grown where they pay, in multiples of the usual number.
const MOST_TIMES: usize = 4;

/// Trees where their number is not given.
const TREES: usize = 100;

/// A grown forest and what it says about the rows that each tree did not see.
pub struct Grown {
    /// What it is called.
    pub kind: GrownKind,
    /// The forest.
    pub forest: ForestModel,
    /// What trees say about rows that they did not see.
    pub unseen: Unseen,
    plan: Plan,
    trees: usize,
    seed: Seed,
}

/// How the thresholds of grown trees are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrownKind {
    /// The best ones, on rows drawn with replacement.
    RandomForest,
    /// Random ones.
    ExtraTrees,
}

impl GrownKind {
    /// The learner that grows such trees.
    pub fn name(self) -> &'static str {
        match self {
            GrownKind::RandomForest => "random-forest",
            GrownKind::ExtraTrees => "extra-trees",
        }
    }
}

/// Begins to grow forests of so many trees in all: a random forest and, unless features are sparse and rows are many, extra trees. Where rows belong together,
/// trees leave out whole groups of them.
pub fn grow(
    trees: Auto<usize>,
    data: &Dataset,
    groups: &RowGroups,
    context: &FitContext<'_>,
) -> Result<Vec<Grown>> {
    let trees = trees.unwrap_or(TREES);
    let kinds: &[GrownKind] = match data.features()? {
        _ if trees == 0 => &[],
        // Random thresholds look at every column of every row, stored or not.
        Features::Sparse(_) if data.rows() > SPARSE_ROWS => &[GrownKind::RandomForest],
        _ => &[GrownKind::RandomForest, GrownKind::ExtraTrees],
    };
    let most = (data.rows() > ROWS_PER_TREE).then_some(ROWS_PER_TREE);
    let each = trees.div_ceil(kinds.len().max(1));
    let mut forests = Vec::new();
    for &kind in kinds {
        // The defaults of the learners.
        let (share, bootstrap, together) = match kind {
            GrownKind::RandomForest => (0.2, true, data.groups().is_some()),
            GrownKind::ExtraTrees => (0.5, most.is_some(), true),
        };
        let limits = Limits { depth: usize::MAX, leaf_weight: 3.0, feature_share: share, penalty: 0.0 };
        let sampling = Sampling { bootstrap, most, leave_out: together.then(|| groups.clone()) };
        let at_first = (each as f64 * AT_FIRST).ceil() as usize;
        let plan = Plan { trees: at_first, sampling, limits };
        let seed = context.seed.named("grown");
        let mut nobody = ();
        let mut own = FitContext::within(seed, context.threads.clone(), &mut nobody);
        let forest = match kind {
            GrownKind::RandomForest => {
                let codes = Codes::new(data.features()?, &context.threads);
                fit_forest(&SplitColumns::Best(&codes), &plan, data, &mut own).0
            }
            GrownKind::ExtraTrees => {
                let values = columns::values(data.features()?);
                let columns = SplitColumns::Random(&values, data.inputs().cols());
                fit_forest(&columns, &plan, data, &mut own).0
            }
        };
        let unseen = predict_unseen(&forest, &plan.sampling, data, own.seed, &context.threads)?;
        forests.push(Grown { kind, forest, unseen, plan, trees: each, seed: own.seed });
    }
    Ok(forests)
}

impl Grown {
    /// Grows the trees that are still missing.
    pub fn finish(&mut self, data: &Dataset, threads: &Threads) -> Result<()> {
        self.plan.trees = self.trees;
        let mut nobody = ();
        let mut own = FitContext::within(self.seed, threads.clone(), &mut nobody);
        match self.kind {
            GrownKind::RandomForest => {
                let codes = Codes::new(data.features()?, threads);
                grow_more(&mut self.forest, &SplitColumns::Best(&codes), &self.plan, data, &mut own);
            }
            GrownKind::ExtraTrees => {
                let values = columns::values(data.features()?);
                let columns = SplitColumns::Random(&values, data.inputs().cols());
                grow_more(&mut self.forest, &columns, &self.plan, data, &mut own);
            }
        }
        self.unseen = predict_unseen(&self.forest, &self.plan.sampling, data, self.seed, threads)?;
        Ok(())
    }

    /// Plans as many trees as pay for a member of some weight: until the divergence of the mixture is within `error` of that of a forest
    /// without end, as far as single trees tell.
    pub fn want(&mut self, weight: f64, error: f64) {
        let to_come = weight.powi(2) * self.unseen.gain(usize::MAX) * self.unseen.trees;
        let wanted = if error > 0.0 { (to_come / error).ceil() } else { 0.0 };
        self.trees = (wanted as usize).clamp(self.trees, MOST_TIMES * self.trees);
    }

    /// How much lower its divergence will be with all trees.
    pub fn gain(&self) -> f64 {
        self.unseen.gain(self.trees)
    }
}
