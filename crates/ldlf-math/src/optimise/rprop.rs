//! Resilient propagation: full-batch steps that use only the signs of the gradient.

/// The rule iRprop- (Riedmiller and Braun 1993; Igel and Huesken 2000): every weight has its own step size, which grows by
/// 1.2 while its gradient keeps its sign and is halved when the sign changes; a gradient with a changed sign counts as 0 once.
#[derive(Clone, Debug)]
pub struct Rprop {
    lengths: Vec<f64>,
    last: Vec<f64>,
}

const GROW: f64 = 1.2;
const SHRINK: f64 = 0.5;
const LONGEST: f64 = 50.0;
const SHORTEST: f64 = 1e-9;

impl Rprop {
    /// For `size` weights, each with the same initial step size.
    pub fn new(size: usize, first: f64) -> Self {
        Rprop { lengths: vec![first; size], last: vec![0.0; size] }
    }

    /// Moves every weight against the sign of its gradient.
    ///
    /// ```
    /// use ldlf_math::optimise::Rprop;
    /// let mut x = [10.0];
    /// let mut rule = Rprop::new(1, 0.1);
    /// for _ in 0..100 {
    ///     let gradient = [2.0 * (x[0] - 3.0)];
    ///     rule.step(&mut x, &gradient);
    /// }
    /// assert!((x[0] - 3.0f64).abs() < 1e-6);
    /// ```
    pub fn step(&mut self, weights: &mut [f64], gradient: &[f64]) {
        for (((w, &g), length), last) in
            weights.iter_mut().zip(gradient).zip(&mut self.lengths).zip(&mut self.last)
        {
            let agreement = g * *last;
            if agreement < 0.0 {
                *length = (*length * SHRINK).max(SHORTEST);
                *last = 0.0;
                continue;
            }
            if agreement > 0.0 {
                *length = (*length * GROW).min(LONGEST);
            }
            if g != 0.0 {
                *w -= g.signum() * *length;
            }
            *last = g;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_sizes_follow_the_sign_of_the_gradient() {
        let mut rule = Rprop::new(2, 1.0);
        let mut w = [0.0, 0.0];
        rule.step(&mut w, &[5.0, -1e-9]);
        assert_eq!(w, [-1.0, 1.0], "only the sign counts");
        rule.step(&mut w, &[5.0, 0.0]);
        assert_eq!(w, [-2.2, 1.0], "no step without a gradient");
        rule.step(&mut w, &[-3.0, 0.0]);
        assert_eq!(w, [-2.2, 1.0], "no step when the sign has changed");
        rule.step(&mut w, &[-3.0, 0.0]);
        assert_eq!(w, [-1.6, 1.0], "then half the step size");
    }
}
