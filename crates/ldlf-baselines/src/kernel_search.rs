//! What kernel methods choose on held-out rows: a small grid first, then from neighbour to neighbour while the K-L falls.

use ldlf_core::{Auto, Dataset, FitContext, Result};
use ldlf_math::random::permutation;

use crate::kernel::KernelSystem;
use crate::progress::split;
use crate::scaling::FeatureScaling;

/// The values of one parameter: those tried first, and how far the search walks beyond them.
pub(crate) struct Axis<C> {
    /// Tried in every search, the first of them with every value of the other axes.
    pub(crate) first: [f64; 3],
    /// Ratio of two neighbours in the walk.
    pub(crate) factor: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
    pub(crate) value: fn(&mut C) -> &mut f64,
}

/// How much closer than a step of the walk a tried value must be to count as the same.
const SAME: f64 = 1.2;

/// One choice of what is auto.
pub(crate) trait Candidate: Copy + 'static {
    /// The axes, in the order of the walk.
    const AXES: &'static [Axis<Self>];

    /// How features are scaled.
    fn scaling(&mut self) -> &mut FeatureScaling;

    /// The training rows under its kernel.
    fn kernel_system(&self, training: &Dataset, context: &FitContext<'_>) -> Result<KernelSystem>;

    /// Whether another candidate has the same kernel matrix.
    fn shares_kernel(&self, other: &Self) -> bool;
}

/// The K-L of a candidate: the training rows under its kernel, the candidate, training rows, validation rows.
type Measure<'a, C> = &'a dyn Fn(&KernelSystem, C, &Dataset, &Dataset, &FitContext<'_>) -> Result<f64>;

/// What was tried on the held-out rows, and the best of it.
pub(crate) struct Search<'a, C> {
    training: &'a Dataset,
    validation: &'a Dataset,
    /// For every axis, whether its value may be chosen.
    is_auto: Vec<bool>,
    measure: Measure<'a, C>,
    kernels: Vec<(C, KernelSystem)>,
    tried: Vec<C>,
    /// The best candidate so far.
    pub(crate) best: C,
    /// Its K-L.
    pub(crate) least: f64,
}

/// Three quarters of the rows to train on and the rest to validate on, of at most `most` rows; none where there are too few.
pub(crate) fn search_rows(
    data: &Dataset,
    most: usize,
    context: &FitContext<'_>,
) -> Option<(Dataset, Dataset)> {
    let mut rows: Vec<usize> = (0..data.rows()).collect();
    if rows.len() > most {
        rows = permutation(data.rows(), &mut context.seed.named("search rows").generator());
        rows.truncate(most);
        rows.sort_unstable();
    }
    let (training, validation) = split(&data.select(&rows), 0.25, Some(0), context);
    training.zip(validation)
}

impl<'a, C: Candidate> Search<'a, C> {
    /// A search from `first` over the axes that are auto.
    pub(crate) fn new(
        (training, validation): (&'a Dataset, &'a Dataset),
        first: C,
        is_auto: Vec<bool>,
        measure: Measure<'a, C>,
    ) -> Self {
        let (kernels, tried) = (Vec::new(), Vec::new());
        Search { training, validation, is_auto, measure, kernels, tried, best: first, least: f64::INFINITY }
    }

    /// Tries every combination of scaling and of the first values of some axes, from the best candidate so far.
    pub(crate) fn grid(
        &mut self,
        scaling: Option<Auto<FeatureScaling>>,
        axes: &[usize],
        context: &mut FitContext<'_>,
    ) -> Result<()> {
        let mut candidates = vec![self.best];
        if let Some(Auto::Auto) = scaling {
            let both = [FeatureScaling::Standard, FeatureScaling::Raw];
            candidates = candidates
                .into_iter()
                .flat_map(|candidate| both.map(|scaling| with(candidate, |c| *c.scaling() = scaling)))
                .collect();
        }
        for &number in axes.iter().filter(|&&number| self.is_auto[number]) {
            let axis = &C::AXES[number];
            candidates = candidates
                .into_iter()
                .flat_map(|candidate| axis.first.map(|value| with(candidate, |c| *(axis.value)(c) = value)))
                .collect();
        }
        candidates.into_iter().try_for_each(|candidate| self.try_out(candidate, context))
    }

    /// Measures a candidate unless it was measured before; keeps it if it is the best.
    fn try_out(&mut self, candidate: C, context: &mut FitContext<'_>) -> Result<()> {
        if self.tried.iter().any(|&tried| are_close(tried, candidate)) {
            return Ok(());
        }
        context.check_interrupted()?;
        let place = match self.kernels.iter().position(|(known, _)| known.shares_kernel(&candidate)) {
            Some(place) => place,
            None => {
                let rows = candidate.kernel_system(self.training, context)?;
                self.kernels.push((candidate, rows));
                self.kernels.len() - 1
            }
        };
        let rows = &self.kernels[place].1;
        let kl = (self.measure)(rows, candidate, self.training, self.validation, context)?;
        self.tried.push(candidate);
        if kl < self.least {
            (self.best, self.least) = (candidate, kl);
        }
        Ok(())
    }

    /// Tries the neighbours of the best candidate until none is better, within the bounds of every axis.
    pub(crate) fn walk(&mut self, context: &mut FitContext<'_>) -> Result<()> {
        loop {
            let before = self.least;
            for (axis, _) in C::AXES.iter().zip(self.is_auto.clone()).filter(|(_, is_auto)| *is_auto) {
                self.walk_along(axis, axis.factor, context)?;
                self.walk_along(axis, 1.0 / axis.factor, context)?;
            }
            if self.least >= before {
                return Ok(());
            }
        }
    }

    /// Goes on along an axis in one direction while it helps.
    fn walk_along(&mut self, axis: &Axis<C>, factor: f64, context: &mut FitContext<'_>) -> Result<()> {
        loop {
            let next = with(self.best, |c| {
                let value = (axis.value)(c);
                *value = (*value * factor).clamp(axis.least, axis.most);
            });
            let before = self.least;
            self.try_out(next, context)?;
            if self.least >= before {
                return Ok(());
            }
        }
    }
}

/// A candidate that differs.
fn with<C>(mut candidate: C, change: impl FnOnce(&mut C)) -> C {
    change(&mut candidate);
    candidate
}

/// Whether two candidates are the same but for less than a step of the walk.
fn are_close<C: Candidate>(mut a: C, mut b: C) -> bool {
    *a.scaling() == *b.scaling()
        && C::AXES.iter().all(|axis| {
            let (a, b) = (*(axis.value)(&mut a), *(axis.value)(&mut b));
            (a / b).max(b / a) < SAME
        })
}
