//! The search of `ldsvr` on held-out rows: a small grid first, then from neighbour to neighbour while the K-L falls.

use ldlf_core::{Dataset, FitContext, Result};

use super::{Chosen, LdsvrParameters, Prepared};
use crate::scaling::FeatureScaling;

/// The values of one parameter: those tried first, and how far the search walks beyond them.
pub(super) struct Axis {
    /// Tried in every search.
    pub(super) first: [f64; 3],
    /// Ratio of two neighbours in the walk.
    factor: f64,
    least: f64,
    most: f64,
    value: fn(&mut Chosen) -> &mut f64,
    is_auto: fn(&LdsvrParameters) -> bool,
}

pub(super) const COSTS: Axis = Axis {
    first: [10.0, 1.0, 100.0],
    factor: 10.0,
    least: 0.01,
    most: 1e6,
    value: |chosen| &mut chosen.c,
    is_auto: |p| p.c.is_auto(),
};

pub(super) const WIDTHS: Axis = Axis {
    first: [1.0, 0.5, 2.0],
    factor: 2.0,
    least: 0.0625,
    most: 16.0,
    value: |chosen| &mut chosen.width,
    is_auto: |p| p.width.is_auto(),
};

pub(super) const CLIPS: Axis = Axis {
    first: [0.01, 0.03, 0.001],
    factor: 3.0,
    least: 1e-6,
    most: 0.3,
    value: |chosen| &mut chosen.clip,
    is_auto: |p| p.target_clip.is_auto(),
};

/// How much closer than a step of the walk a tried value must be to count as the same.
const SAME: f64 = 1.2;

/// What was tried on the held-out rows, and the best of it.
pub(super) struct Search<'a> {
    parameters: &'a LdsvrParameters,
    training: &'a Dataset,
    validation: &'a Dataset,
    kernels: Vec<(FeatureScaling, f64, Prepared)>,
    tried: Vec<Chosen>,
    pub(super) best: Chosen,
    pub(super) least: f64,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        parameters: &'a LdsvrParameters,
        (training, validation): (&'a Dataset, &'a Dataset),
        first: Chosen,
    ) -> Self {
        let (kernels, tried) = (Vec::new(), Vec::new());
        Search { parameters, training, validation, kernels, tried, best: first, least: f64::INFINITY }
    }

    /// Measures a candidate unless it was measured before; keeps it if it is the best.
    pub(super) fn measure(&mut self, candidate: Chosen, context: &mut FitContext<'_>) -> Result<()> {
        if self.tried.iter().any(|tried| tried.is_close_to(&candidate)) {
            return Ok(());
        }
        context.check_interrupted()?;
        let known = |(scaling, width, _): &(FeatureScaling, f64, Prepared)| {
            (*scaling, *width) == (candidate.scaling, candidate.width)
        };
        let place = match self.kernels.iter().position(known) {
            Some(place) => place,
            None => {
                let at = Prepared::new(self.training, candidate.scaling, candidate.width, &context.threads)?;
                self.kernels.push((candidate.scaling, candidate.width, at));
                self.kernels.len() - 1
            }
        };
        let at = &self.kernels[place].2;
        let (training, validation) = (self.training, self.validation);
        let kl = self.parameters.held_out_kl(training, validation, at, candidate, &context.threads)?;
        self.tried.push(candidate);
        if kl < self.least {
            (self.best, self.least) = (candidate, kl);
        }
        Ok(())
    }

    /// Tries the neighbours of the best candidate until none is better, within the bounds of every axis.
    pub(super) fn walk(&mut self, context: &mut FitContext<'_>) -> Result<()> {
        loop {
            let before = self.least;
            for axis in [COSTS, CLIPS, WIDTHS] {
                if (axis.is_auto)(self.parameters) {
                    self.walk_along(&axis, axis.factor, context)?;
                    self.walk_along(&axis, 1.0 / axis.factor, context)?;
                }
            }
            if self.least >= before {
                return Ok(());
            }
        }
    }

    /// Goes on along an axis in one direction while it helps.
    fn walk_along(&mut self, axis: &Axis, factor: f64, context: &mut FitContext<'_>) -> Result<()> {
        loop {
            let mut next = self.best;
            let value = (axis.value)(&mut next);
            *value = (*value * factor).clamp(axis.least, axis.most);
            let before = self.least;
            self.measure(next, context)?;
            if self.least >= before {
                return Ok(());
            }
        }
    }
}

impl Chosen {
    /// Whether two candidates are the same but for less than a step of the walk.
    fn is_close_to(&self, other: &Chosen) -> bool {
        let close = |a: f64, b: f64| (a / b).max(b / a) < SAME;
        self.scaling == other.scaling
            && close(self.clip, other.clip)
            && close(self.c, other.c)
            && close(self.width, other.width)
    }
}
