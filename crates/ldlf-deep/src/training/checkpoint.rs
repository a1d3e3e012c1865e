//! A training on a network as the parts of a checkpoint.

use burn::module::Module;
use ldlf_core::stored::{Array, Parts};
use ldlf_core::{Error, Result};

use super::{Mixed, Noted, OnNetwork, Started};
use crate::arrays;
use crate::output_layer::OutputLayer;
use crate::steps;
use crate::stored::{numbers_under, output_from, put_network};

impl OnNetwork<'_> {
    /// Adds all that [`OnNetwork::take_over`] needs.
    pub(super) fn put(&self, parts: &mut Parts) {
        put_network(parts, "", &arrays::collect(&self.network().valid()), &self.output);
        if let Some((numbers, output)) = &self.best {
            put_network(parts, "best.", numbers, output);
        }
        for (name, moments) in &self.state {
            parts.put(&format!("first.{name}"), Array::F32(vec![moments.first.len()], moments.first.clone()));
            parts.put(
                &format!("second.{name}"),
                Array::F32(vec![moments.second.len()], moments.second.clone()),
            );
        }
        if let Some(average) = &self.average {
            put_network(parts, "average.", average, &OutputLayer::Softmax { labels: self.output.labels() });
        }
        let Noted { activations, rows, mixed } = &self.noted;
        if !rows.is_empty() {
            parts.put(
                "noted_activations",
                Array::F32(vec![rows.len(), self.output.units()], activations.clone()),
            );
            parts.put(
                "noted_rows",
                Array::U32(vec![rows.len()], rows.iter().map(|&row| row as u32).collect()),
            );
        }
        if !mixed.weights.is_empty() {
            let shape = vec![mixed.weights.len(), self.output.labels()];
            parts.put("noted_targets", Array::F32(shape, mixed.targets.clone()));
            parts.put("noted_weights", Array::F32(vec![mixed.weights.len()], mixed.weights.clone()));
        }
        parts.put_detail("validation_mae", self.mae);
        parts.put_detail("start_kl", self.started.as_ref().map(|started| started.kl.to_bits()));
        if let Some(started) = &self.started {
            put_network(parts, "start.", &started.numbers, &started.output);
        }
    }

    /// Takes over what [`OnNetwork::put`] kept, and with it the best parameters where there are some.
    pub(super) fn take_over(&mut self, checkpoint: &Parts, best: bool) -> Result<()> {
        let network = self.network.take().expect("the network is away only within a step");
        self.network = Some(arrays::restore(network, &numbers_under(checkpoint, "network.")?)?);
        let firsts = numbers_under(checkpoint, "first.")?;
        let mut seconds = numbers_under(checkpoint, "second.")?;
        for (name, (_, first)) in firsts {
            let second = seconds.remove(&name).map(|(_, second)| second).unwrap_or_default();
            self.state.insert(name, steps::Moments { first, second });
        }
        self.output = output_from(checkpoint, "", &self.output)?;
        if checkpoint.has("noted_rows") {
            let rows = checkpoint.u32s("noted_rows", checkpoint.shape("noted_rows")?)?;
            let activations = checkpoint.f32s("noted_activations", &[rows.len(), self.output.units()])?;
            if rows.iter().any(|&row| row as usize >= self.data.rows()) {
                return Err(Error::model_file(
                    "the checkpoint names a row that is not there; it may be damaged",
                ));
            }
            let mixed = match checkpoint.has("noted_weights") {
                true => Mixed {
                    targets: checkpoint.f32s("noted_targets", &[rows.len(), self.output.labels()])?,
                    weights: checkpoint.f32s("noted_weights", &[rows.len()])?,
                },
                false => Mixed::default(),
            };
            let rows = rows.into_iter().map(|row| row as usize).collect();
            self.noted = Noted { activations, rows, mixed };
        }
        self.average =
            Some(numbers_under(checkpoint, "average.network.")?).filter(|average| !average.is_empty());
        if best {
            let best = numbers_under(checkpoint, "best.network.")?;
            if best.is_empty() {
                return Err(Error::model_file("the checkpoint lacks its best network; it may be damaged"));
            }
            self.best = Some((best, output_from(checkpoint, "best.", &self.output)?));
        }
        self.mae = checkpoint.detail("validation_mae")?;
        let start_kl: Option<u64> = checkpoint.detail("start_kl")?;
        self.started = match start_kl.map(f64::from_bits) {
            None => None,
            Some(kl) => Some(Started {
                kl,
                numbers: numbers_under(checkpoint, "start.network.")?,
                output: output_from(checkpoint, "start.", &self.output)?,
            }),
        };
        Ok(())
    }
}
