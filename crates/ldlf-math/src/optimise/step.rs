//! One step of a first-order optimiser, on plain slices.

crate::words! {
    /// Optimizer: the rule that turns gradients into steps.
    pub enum Optimizer {
        /// Stochastic gradient descent with momentum; weight decay is added to the gradient.
        Sgd = "sgd",
        /// Adam; weight decay is added to the gradient.
        Adam = "adam",
        /// Adam with decoupled weight decay.
        AdamW = "adamw",
    }
}

crate::words! {
    /// How the learning rate changes over the iterations.
    pub enum Schedule {
        /// It does not.
        Constant = "constant",
        /// It is multiplied by a factor at regular intervals.
        Step = "step",
        /// Half a cosine from the full rate to zero.
        Cosine = "cosine",
    }
}

/// A learning rate with its schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearningRate {
    /// The full learning rate.
    pub rate: f64,
    /// How it changes.
    pub schedule: Schedule,
    /// The fraction of all iterations over which it first rises from zero.
    pub warm_up: f64,
    /// For [`Schedule::Step`]: iterations between two changes.
    pub step_every: usize,
    /// For [`Schedule::Step`]: the factor.
    pub step_factor: f64,
}

impl LearningRate {
    /// The rate at `iteration` (from 0) of `total`.
    pub fn at(&self, iteration: usize, total: usize) -> f64 {
        let (now, total) = (iteration as f64, total as f64);
        let rising = self.warm_up * total;
        if now + 1.0 < rising {
            return self.rate * (now + 1.0) / rising;
        }
        match self.schedule {
            Schedule::Constant => self.rate,
            Schedule::Step => self.rate * self.step_factor.powi((iteration / self.step_every.max(1)) as i32),
            Schedule::Cosine => {
                let progress = ((now - rising).max(0.0) / (total - rising).max(1.0)).min(1.0);
                self.rate * 0.5 * (1.0 + (std::f64::consts::PI * progress).cos())
            }
        }
    }
}

/// One step, ready to be applied to any part of the weights.
///
/// With gradient `g`: SGD `m <- mu m + g + lambda w; w <- w - eta m`; Adam (Kingma and Ba 2015) with moments
/// `m <- b1 m + (1 - b1) g`, `v <- b2 v + (1 - b2) g^2`, `w <- w - eta m' / (sqrt(v') + eps)`, where `m' = m / (1 - b1^t)`,
/// `v' = v / (1 - b2^t)`; AdamW (Loshchilov and Hutter 2019) also `w <- w - eta lambda w`.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    optimiser: Optimizer,
    rate: f32,
    momentum: f32,
    decay: f32,
    first_correction: f32,
    second_correction: f32,
}

const BETA_1: f32 = 0.9;
const BETA_2: f32 = 0.999;
const EPSILON: f32 = 1e-8;

impl Step {
    /// The step of `iteration` (from 0) with learning rate `rate`.
    pub fn new(optimiser: Optimizer, iteration: usize, rate: f64, momentum: f64, decay: f64) -> Self {
        let t = i32::try_from(iteration + 1).unwrap_or(i32::MAX);
        Step {
            optimiser,
            rate: rate as f32,
            momentum: momentum as f32,
            decay: decay as f32,
            first_correction: 1.0 / (1.0 - BETA_1.powi(t)),
            second_correction: 1.0 / (1.0 - BETA_2.powi(t)),
        }
    }

    /// The same step without weight decay, for biases.
    pub fn without_decay(self) -> Self {
        Step { decay: 0.0, ..self }
    }

    /// Whether the rule keeps second moments.
    pub fn needs_second_moments(optimiser: Optimizer) -> bool {
        optimiser != Optimizer::Sgd
    }

    /// Moves `weights` by the gradient. `second` may be empty for SGD.
    #[inline(always)]
    pub fn apply(&self, weights: &mut [f32], gradient: &[f32], first: &mut [f32], second: &mut [f32]) {
        match self.optimiser {
            Optimizer::Sgd => {
                for ((w, &g), m) in weights.iter_mut().zip(gradient).zip(first) {
                    *m = self.momentum * *m + (g + self.decay * *w);
                    *w += -self.rate * *m;
                }
            }
            Optimizer::Adam => self.adam(weights, gradient, first, second, self.decay, 1.0),
            Optimizer::AdamW => {
                self.adam(weights, gradient, first, second, 0.0, 1.0 - self.rate * self.decay)
            }
        }
    }

    /// As [`Step::apply`] with a learning rate for every weight, given relative to that of the step; weight decay does not depend on it.
    #[inline(always)]
    pub fn apply_at(
        &self,
        rates: &[f32],
        weights: &mut [f32],
        gradient: &[f32],
        first: &mut [f32],
        second: &mut [f32],
    ) {
        const STRIP: usize = 16;
        let strips = weights.chunks_mut(STRIP).zip(rates.chunks(STRIP)).zip(gradient.chunks(STRIP));
        let mut second = second.chunks_mut(STRIP);
        for (((w, rates), g), m) in strips.zip(first.chunks_mut(STRIP)) {
            let mut before = [0.0f32; STRIP];
            before[..w.len()].copy_from_slice(w);
            self.apply(w, g, m, second.next().unwrap_or_default());
            let kept = if self.optimiser == Optimizer::AdamW { 1.0 - self.rate * self.decay } else { 1.0 };
            for ((w, &rate), before) in w.iter_mut().zip(rates).zip(before) {
                *w = before * kept + rate * (*w - before * kept);
            }
        }
    }

    /// Makes decoupled weight decay pull towards other values than zero: called after [`Step::apply`] with the indices of some weights
    /// and the target of each, it adds `eta lambda target`. The other rules decay to zero whatever the target.
    #[inline(always)]
    pub fn decay_toward(&self, targets: &[(u32, f32)], weights: &mut [f32]) {
        if self.optimiser == Optimizer::AdamW {
            for &(place, target) in targets {
                weights[place as usize] += self.rate * self.decay * target;
            }
        }
    }

    /// Takes several steps on weights whose gradient was zero, with the same bits as one [`Step::apply`] after the other, but
    /// with the numbers in registers.
    #[inline(always)]
    pub fn replay(steps: &[Step], weights: &mut [f32], first: &mut [f32], second: &mut [f32]) {
        const STRIP: usize = 16;
        let whole = weights.len() - weights.len() % STRIP;
        for start in (0..whole).step_by(STRIP) {
            let strip = start..start + STRIP;
            let (w, m, v) =
                (&mut weights[strip.clone()], &mut first[strip.clone()], &mut second[strip.clone()]);
            let mut kept = [[0.0f32; STRIP]; 3];
            kept[0].copy_from_slice(w);
            kept[1].copy_from_slice(m);
            kept[2].copy_from_slice(v);
            let [kept_w, kept_m, kept_v] = &mut kept;
            for step in steps {
                step.apply(kept_w, &[0.0; STRIP], kept_m, kept_v);
            }
            w.copy_from_slice(kept_w);
            m.copy_from_slice(kept_m);
            v.copy_from_slice(kept_v);
        }
        for step in steps {
            for at in whole..weights.len() {
                let one = at..at + 1;
                step.apply(&mut weights[one.clone()], &[0.0], &mut first[one.clone()], &mut second[one]);
            }
        }
    }

    #[inline(always)]
    fn adam(&self, w: &mut [f32], g: &[f32], m: &mut [f32], v: &mut [f32], coupled: f32, shrink: f32) {
        for (((w, &g), m), v) in w.iter_mut().zip(g).zip(m).zip(v) {
            let g = g + coupled * *w;
            *m = BETA_1 * *m + (1.0 - BETA_1) * g;
            *v = BETA_2 * *v + (1.0 - BETA_2) * (g * g);
            let step = (*m * self.first_correction) / ((*v * self.second_correction).sqrt() + EPSILON);
            *w = *w * shrink - self.rate * step;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minimise(optimiser: Optimizer, rate: f64) -> f32 {
        // f(w) = (w - 3)^2 / 2
        let (mut w, mut m, mut v) = ([0.0f32], [0.0f32], [0.0f32]);
        for iteration in 0..2000 {
            let gradient = [w[0] - 3.0];
            Step::new(optimiser, iteration, rate, 0.9, 0.0).apply(&mut w, &gradient, &mut m, &mut v);
        }
        w[0]
    }

    #[test]
    fn every_rule_finds_the_minimum_of_a_parabola() {
        assert!((minimise(Optimizer::Sgd, 0.01) - 3.0).abs() < 1e-3);
        assert!((minimise(Optimizer::Adam, 0.01) - 3.0).abs() < 1e-2);
        assert!((minimise(Optimizer::AdamW, 0.01) - 3.0).abs() < 1e-2);
    }

    #[test]
    fn the_first_adam_step_is_the_learning_rate() {
        let (mut w, mut m, mut v) = ([1.0f32], [0.0f32], [0.0f32]);
        Step::new(Optimizer::AdamW, 0, 0.1, 0.0, 0.0).apply(&mut w, &[4.0], &mut m, &mut v);
        assert!((w[0] - (1.0 - 0.1)).abs() < 1e-6);
    }

    #[test]
    fn the_weight_decay_of_adamw_is_decoupled() {
        let (mut w, mut m, mut v) = ([1.0f32], [0.0f32], [0.0f32]);
        Step::new(Optimizer::AdamW, 0, 0.1, 0.0, 0.5).apply(&mut w, &[4.0], &mut m, &mut v);
        assert!((w[0] - (1.0 * (1.0 - 0.05) - 0.1)).abs() < 1e-6);
    }

    #[test]
    fn a_weight_with_its_own_rate_moves_in_proportion() {
        let step = |rates: &[f32]| {
            let (mut w, mut m, mut v) = ([1.0f32; 20], [0.0f32; 20], [0.0f32; 20]);
            Step::new(Optimizer::AdamW, 0, 0.1, 0.0, 0.5).apply_at(rates, &mut w, &[4.0; 20], &mut m, &mut v);
            w
        };
        let (one, three) = (step(&[1.0; 20]), step(&[3.0; 20]));
        assert!(
            (one[19] - 0.85).abs() < 1e-6 && (three[19] - 0.65).abs() < 1e-6,
            "{} {}",
            one[19],
            three[19]
        );
    }

    #[test]
    fn learning_rates_follow_their_schedules() {
        let scheduled =
            |schedule| LearningRate { rate: 1.0, schedule, warm_up: 0.1, step_every: 30, step_factor: 0.5 };
        let cosine = scheduled(Schedule::Cosine);
        assert_eq!((cosine.at(0, 100), cosine.at(9, 100)), (0.1, 1.0));
        assert!((cosine.at(55, 100) - 0.5).abs() < 1e-12 && cosine.at(99, 100) < 1e-3);
        assert_eq!(scheduled(Schedule::Constant).at(50, 100), 1.0);
        assert_eq!(scheduled(Schedule::Step).at(61, 100), 0.25);
    }
}
