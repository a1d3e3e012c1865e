//! Limited-memory BFGS with a line search that satisfies the strong Wolfe conditions.
//!
//! Source: Nocedal and Wright, *Numerical Optimization* (2nd ed.), algorithms 7.4 and 7.5 (the two loops), 3.5 and 3.6
//! (bracket and zoom). Written here because existing crates do not fit: `lbfgs` gives directions only, and `argmin` asks
//! for the loss and the gradient in separate calls (which doubles the matrix products of a trial) and offers no way to end
//! a run from an observer.

use std::collections::VecDeque;
use std::ops::ControlFlow;

/// Settings of L-BFGS.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lbfgs {
    /// How many pairs of steps and gradient changes approximate the Hessian.
    pub memory: usize,
    /// Maximum number of iterations.
    pub iterations: usize,
    /// Ends when an iteration lowers the loss by less than this fraction of `max(|loss|, 1)`.
    pub loss_tolerance: f64,
    /// Ends when no entry of the gradient is larger than this.
    pub gradient_tolerance: f64,
}

impl Default for Lbfgs {
    fn default() -> Self {
        Lbfgs { memory: 10, iterations: 1000, loss_tolerance: 1e-10, gradient_tolerance: 1e-8 }
    }
}

/// The state of a run after an iteration.
#[derive(Clone, Copy, Debug)]
pub struct Iterate<'a> {
    /// Counted from 1.
    pub iteration: usize,
    /// The point reached.
    pub point: &'a [f64],
    /// The loss there.
    pub loss: f64,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending<B> {
    /// A tolerance was met, or no step lowers the loss.
    Converged,
    /// All iterations were done.
    Exhausted,
    /// The caller ended it, for its own reason.
    Stopped(B),
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Minimum<B> {
    /// The best point.
    pub point: Vec<f64>,
    /// The loss there.
    pub loss: f64,
    /// Iterations done.
    pub iterations: usize,
    /// Why it ended.
    pub ending: Ending<B>,
}

impl Lbfgs {
    /// Minimises a function from `start`.
    ///
    /// `evaluate(point, gradient)` returns the loss and writes its gradient; `watch` sees every iteration and may end the run.
    /// The loss falls at every iteration. A loss that is not finite counts as too large a step.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use ldlf_math::optimise::Lbfgs;
    /// let parabola = |x: &[f64], gradient: &mut [f64]| {
    ///     gradient[0] = 2.0 * (x[0] - 3.0);
    ///     (x[0] - 3.0).powi(2)
    /// };
    /// let minimum = Lbfgs::default().minimise(vec![0.0], parabola, |_| ControlFlow::<()>::Continue(()));
    /// assert!((minimum.point[0] - 3.0).abs() < 1e-8);
    /// ```
    pub fn minimise<B>(
        &self,
        start: Vec<f64>,
        mut evaluate: impl FnMut(&[f64], &mut [f64]) -> f64,
        mut watch: impl FnMut(Iterate<'_>) -> ControlFlow<B>,
    ) -> Minimum<B> {
        let size = start.len();
        let mut point = start;
        let mut gradient = vec![0.0; size];
        let mut loss = evaluate(&point, &mut gradient);
        let mut history = History::new(self.memory);
        let (mut trial, mut trial_gradient) = (vec![0.0; size], vec![0.0; size]);
        let mut iterations = 0;
        let ending = loop {
            if largest(&gradient) <= self.gradient_tolerance || !loss.is_finite() {
                break Ending::Converged;
            }
            if iterations == self.iterations {
                break Ending::Exhausted;
            }
            let mut direction = history.direction(&gradient);
            let mut slope = dot(&direction, &gradient);
            if slope >= 0.0 {
                // Rounding can make the pairs useless near the optimum: restart with steepest descent.
                history.pairs.clear();
                direction = gradient.iter().map(|g| -g).collect();
                slope = dot(&direction, &gradient);
            }
            let first = if history.pairs.is_empty() {
                (1.0 / dot(&gradient, &gradient).sqrt()).min(1.0)
            } else {
                1.0
            };
            let found = strong_wolfe(loss, slope, first, |step| {
                for ((t, x), d) in trial.iter_mut().zip(&point).zip(&direction) {
                    *t = x + step * d;
                }
                let value = evaluate(&trial, &mut trial_gradient);
                (value, dot(&trial_gradient, &direction))
            });
            let Some(lower) = found else {
                if history.pairs.is_empty() {
                    break Ending::Converged;
                }
                history.pairs.clear();
                continue;
            };
            iterations += 1;
            history.push(&point, &trial, &gradient, &trial_gradient);
            std::mem::swap(&mut point, &mut trial);
            std::mem::swap(&mut gradient, &mut trial_gradient);
            let fell = loss - lower;
            loss = lower;
            if let ControlFlow::Break(reason) = watch(Iterate { iteration: iterations, point: &point, loss })
            {
                break Ending::Stopped(reason);
            }
            if fell <= self.loss_tolerance * loss.abs().max(1.0) {
                break Ending::Converged;
            }
        };
        Minimum { point, loss, iterations, ending }
    }
}

/// The last steps `s` and gradient changes `y`, which approximate the inverse Hessian.
struct History {
    memory: usize,
    pairs: VecDeque<Pair>,
}

struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    /// `s . y`, positive by the curvature condition.
    curvature: f64,
}

impl History {
    fn new(memory: usize) -> Self {
        History { memory: memory.max(1), pairs: VecDeque::new() }
    }

    fn push(&mut self, from: &[f64], to: &[f64], gradient_from: &[f64], gradient_to: &[f64]) {
        let difference = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<f64>>();
        let (step, change) = (difference(to, from), difference(gradient_to, gradient_from));
        let curvature = dot(&step, &change);
        if curvature > f64::EPSILON * dot(&change, &change) {
            if self.pairs.len() == self.memory {
                self.pairs.pop_front();
            }
            self.pairs.push_back(Pair { step, change, curvature });
        }
    }

    /// `-H g` by the two loops, with `H_0 = (s . y / y . y) I` of the last pair.
    fn direction(&self, gradient: &[f64]) -> Vec<f64> {
        let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
        let mut factors = Vec::with_capacity(self.pairs.len());
        for pair in self.pairs.iter().rev() {
            let factor = dot(&pair.step, &q) / pair.curvature;
            add_scaled(&mut q, -factor, &pair.change);
            factors.push(factor);
        }
        if let Some(last) = self.pairs.back() {
            let scale = last.curvature / dot(&last.change, &last.change);
            q.iter_mut().for_each(|v| *v *= scale);
        }
        for (pair, factor) in self.pairs.iter().zip(factors.into_iter().rev()) {
            let other = dot(&pair.change, &q) / pair.curvature;
            add_scaled(&mut q, factor - other, &pair.step);
        }
        q
    }
}

/// Sufficient decrease.
const C1: f64 = 1e-4;
/// Curvature.
const C2: f64 = 0.9;
/// Maximum number of trials of a line search.
const TRIALS: usize = 30;

/// One point on the line: its distance, loss and slope.
#[derive(Clone, Copy)]
struct Place {
    step: f64,
    loss: f64,
    slope: f64,
}

/// Finds a step with `f(t) <= f(0) + C1 t f'(0)` and `|f'(t)| <= C2 |f'(0)|` and returns its loss; the step was the last one
/// that `at` was asked for. When rounding hides such a step, any step that lowers the loss is accepted.
fn strong_wolfe(loss: f64, slope: f64, first: f64, mut at: impl FnMut(f64) -> (f64, f64)) -> Option<f64> {
    let start = Place { step: 0.0, loss, slope };
    let mut look = |step: f64| {
        let (loss, slope) = at(step);
        Place { step, loss, slope }
    };
    let short_enough = |place: &Place| place.loss <= loss + C1 * place.step * slope;
    let flat_enough = |place: &Place| place.slope.abs() <= -C2 * slope;

    // Widen until an interval must hold an acceptable step.
    let mut low = start;
    let mut place = look(first);
    let mut trials = 1;
    let mut high = loop {
        if !place.loss.is_finite() || !short_enough(&place) || (low.step > 0.0 && place.loss >= low.loss) {
            break place;
        }
        if flat_enough(&place) {
            return Some(place.loss);
        }
        if place.slope >= 0.0 {
            break std::mem::replace(&mut low, place);
        }
        if trials == TRIALS {
            return Some(place.loss);
        }
        low = place;
        place = look(2.0 * place.step);
        trials += 1;
    };

    // Narrow it: `low` is always the best step so far that is short enough.
    while trials < TRIALS && (high.step - low.step).abs() > 1e-14 * high.step.abs().max(low.step.abs()) {
        let place = look(between(&low, &high));
        trials += 1;
        if !place.loss.is_finite() || !short_enough(&place) || place.loss >= low.loss {
            high = place;
            continue;
        }
        if flat_enough(&place) {
            return Some(place.loss);
        }
        if place.slope * (high.step - low.step) >= 0.0 {
            high = low;
        }
        low = place;
    }
    (low.step > 0.0 && low.loss < loss).then(|| look(low.step).loss)
}

/// The minimum of the cubic through two points, kept away from both ends; the middle where there is no such cubic.
fn between(low: &Place, high: &Place) -> f64 {
    let width = high.step - low.step;
    let middle = low.step + 0.5 * width;
    let d1 = low.slope + high.slope - 3.0 * (low.loss - high.loss) / (low.step - high.step);
    let square = d1 * d1 - low.slope * high.slope;
    if !square.is_finite() || square < 0.0 {
        return middle;
    }
    let d2 = square.sqrt() * width.signum();
    let step = high.step - width * (high.slope + d2 - d1) / (high.slope - low.slope + 2.0 * d2);
    let fraction = (step - low.step) / width;
    if fraction.is_finite() { low.step + fraction.clamp(0.1, 0.9) * width } else { middle }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    // Eight partial sums let the compiler use vector registers; their number is fixed, so is the result.
    let mut sums = [0.0; 8];
    let (a_whole, a_rest) = a.as_chunks::<8>();
    let (b_whole, b_rest) = b.as_chunks::<8>();
    for (x, y) in a_whole.iter().zip(b_whole) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum::<f64>()
}

fn add_scaled(to: &mut [f64], factor: f64, x: &[f64]) {
    to.iter_mut().zip(x).for_each(|(t, x)| *t += factor * x);
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |most, v| most.max(v.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rosenbrock(x: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        let mut loss = 0.0;
        for i in 0..x.len() - 1 {
            let (a, b) = (x[i + 1] - x[i] * x[i], 1.0 - x[i]);
            loss += 100.0 * a * a + b * b;
            gradient[i] += -400.0 * a * x[i] - 2.0 * b;
            gradient[i + 1] += 200.0 * a;
        }
        loss
    }

    #[test]
    fn the_minimum_of_the_rosenbrock_function_is_found() {
        let exact = Lbfgs { loss_tolerance: 0.0, ..Lbfgs::default() };
        let minimum = exact.minimise(far_start(), rosenbrock, |_| ControlFlow::<()>::Continue(()));
        assert!(minimum.point.iter().all(|x| (x - 1.0).abs() < 1e-6), "{minimum:?}");
        assert!(minimum.iterations < 200, "{}", minimum.iterations);
    }

    #[test]
    fn the_loss_falls_at_every_iteration() {
        let mut last = f64::INFINITY;
        let exact = Lbfgs { loss_tolerance: 0.0, ..Lbfgs::default() };
        let minimum = exact.minimise(far_start(), rosenbrock, |iterate| {
            assert!(iterate.loss < last);
            last = iterate.loss;
            ControlFlow::<()>::Continue(())
        });
        assert!(minimum.iterations > 10);
    }

    fn far_start() -> Vec<f64> {
        (0..20).map(|i| if i % 2 == 0 { -1.2 } else { 1.0 }).collect()
    }

    #[test]
    fn an_accepted_step_satisfies_both_wolfe_conditions() {
        // Hard shapes: a minimum far away, one very near, a long flat stretch.
        let shapes: [fn(f64) -> (f64, f64); 3] = [
            |t| (-t / (t * t + 2.0), (t * t - 2.0) / (t * t + 2.0).powi(2)),
            |t| {
                (
                    (t + 0.004).powi(5) - 2.0 * (t + 0.004).powi(4),
                    5.0 * (t + 0.004).powi(4) - 8.0 * (t + 0.004).powi(3),
                )
            },
            |t| ((t - 30.0).powi(2), 2.0 * (t - 30.0)),
        ];
        for shape in shapes {
            for first in [1e-3, 1.0, 100.0] {
                let (f0, d0) = shape(0.0);
                let mut last = (0.0, 0.0, 0.0);
                let loss = strong_wolfe(f0, d0, first, |t| {
                    let (f, d) = shape(t);
                    last = (t, f, d);
                    (f, d)
                });
                let (t, f, d) = last;
                assert_eq!(loss, Some(f));
                assert!(f <= f0 + C1 * t * d0 && d.abs() <= -C2 * d0, "step {t} from {first}");
            }
        }
    }

    #[test]
    fn the_watcher_ends_the_run() {
        let minimum =
            Lbfgs::default().minimise(vec![-1.2, 1.0], rosenbrock, |iterate| match iterate.iteration {
                3 => ControlFlow::Break("enough"),
                _ => ControlFlow::Continue(()),
            });
        assert_eq!((minimum.iterations, minimum.ending), (3, Ending::Stopped("enough")));
    }

    #[test]
    fn a_loss_that_overflows_shortens_the_step() {
        let barrier = |x: &[f64], gradient: &mut [f64]| {
            gradient[0] = 1.0 / (1.0 - x[0]) - 4.0;
            if x[0] < 1.0 { -(1.0 - x[0]).ln() - 4.0 * x[0] } else { f64::INFINITY }
        };
        let minimum = Lbfgs::default().minimise(vec![0.0], barrier, |_| ControlFlow::<()>::Continue(()));
        assert!((minimum.point[0] - 0.75).abs() < 1e-6, "{minimum:?}");
    }
}
