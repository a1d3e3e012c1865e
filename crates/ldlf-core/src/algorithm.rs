//! From parameters to a learner: [`Unchecked`] values, whose check gives a [`Checked`] learner, whose fit gives a model.

use crate::parameters::{Parameter, ParameterSet};
use crate::stored::{ModelShape, Parts};
use crate::{
    Dataset, Error, Facts, FitContext, Fitted, Learner, Model, Observer, Preset, Result, Settings, Threads,
    TrainedModel,
};

/// A way to learn: what a learner's file implements. [`Checked`] makes a [`Learner`] of it.
pub trait Algorithm: Sized + Send + Sync + 'static {
    /// What can be set.
    type Parameters: ParameterSet;

    /// All facts about it.
    const FACTS: Facts;

    /// The defaults, where learners that share their parameters differ in them.
    fn defaults() -> Self::Parameters {
        Self::Parameters::default()
    }

    /// Checks the rules between parameters; the limits of each hold already.
    fn check(_parameters: &Self::Parameters) -> Result<()> {
        Ok(())
    }

    /// Named sets of parameters.
    fn presets() -> Vec<Preset> {
        Vec::new()
    }

    /// The parameters as results and model files record them.
    fn settings(parameters: &Self::Parameters) -> Settings {
        parameters.to_settings()
    }

    /// Learns from `data` with parameters that passed every check. Whatever is chosen (an iteration, a penalty) is chosen inside
    /// these rows.
    fn fit(parameters: &Self::Parameters, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted>;

    /// Rebuilds a model from what [`Model::store`] kept.
    fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>>;
}

/// Every parameter of a learner with its own default.
pub(crate) fn declared<A: Algorithm>() -> Vec<Parameter> {
    let defaults = A::defaults().to_settings();
    let mut declared = A::Parameters::declared();
    for parameter in &mut declared {
        parameter.default = defaults.get(parameter.name).cloned().unwrap_or_default();
    }
    declared
}

/// An algorithm with parameters that passed every check: a learner.
pub struct Checked<A: Algorithm> {
    parameters: A::Parameters,
}

impl<A: Algorithm> Checked<A> {
    /// Checks the limits of every parameter and the rules between them.
    pub fn new(parameters: A::Parameters) -> Result<Self> {
        parameters.check()?;
        A::check(&parameters)?;
        Ok(Checked { parameters })
    }

    /// Reads settings over the learner's defaults and checks them.
    pub fn from_settings(settings: &Settings) -> Result<Self> {
        Checked::new(A::defaults().with_settings(settings)?)
    }

    /// The parameters.
    pub fn parameters(&self) -> &A::Parameters {
        &self.parameters
    }
}

impl<A: Algorithm> std::fmt::Debug for Checked<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple(A::FACTS.name).field(&self.parameters).finish()
    }
}

impl<A: Algorithm> Learner for Checked<A> {
    fn facts(&self) -> &'static Facts {
        const { &A::FACTS }
    }

    fn settings(&self) -> Settings {
        A::settings(&self.parameters)
    }

    fn fit(&self, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        if context.resume.is_some() && !A::FACTS.resumes {
            return Err(Error::usage(format!("{} cannot be resumed from a checkpoint", A::FACTS.name))
                .with_remedy("train it anew"));
        }
        A::fit(&self.parameters, data, context)
    }
}

/// Parameters that were not checked yet, with the seed and threads of a fit: what the typed builders hold.
pub struct Unchecked<A: Algorithm> {
    /// The values as they were set.
    pub parameters: A::Parameters,
    /// The random seed.
    pub seed: u64,
    /// The number of threads; 0 is one per core.
    pub threads: usize,
}

impl<A: Algorithm> Unchecked<A> {
    /// Takes over the values of a preset.
    pub fn preset(mut self, name: &str) -> Result<Self> {
        self.parameters.set(&Preset::named(&A::presets(), A::FACTS.name, name)?.settings)?;
        Ok(self)
    }

    /// Checks the values: a bad one is an error that names it.
    pub fn check(self) -> Result<Checked<A>> {
        Checked::new(self.parameters)
    }

    /// Checks the values and fits them to `data`.
    pub fn fit(self, data: &Dataset, observer: &mut dyn Observer) -> Result<TrainedModel> {
        let (seed, threads) = (self.seed, Threads::new(self.threads)?);
        TrainedModel::fit(&self.check()?, data, &mut FitContext::new(seed, threads, observer))
    }
}

impl<A: Algorithm> Default for Unchecked<A> {
    fn default() -> Self {
        Unchecked { parameters: A::defaults(), seed: 0, threads: 0 }
    }
}

impl<A: Algorithm> Clone for Unchecked<A> {
    fn clone(&self) -> Self {
        Unchecked { parameters: self.parameters.clone(), seed: self.seed, threads: self.threads }
    }
}

impl<A: Algorithm> std::fmt::Debug for Unchecked<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct(A::FACTS.name);
        shown
            .field("parameters", &self.parameters)
            .field("seed", &self.seed)
            .field("threads", &self.threads)
            .finish()
    }
}
