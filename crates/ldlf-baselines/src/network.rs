//! The small dense network of `aa-bp`, `sce-ldl` and `cpnn`: a hidden sigmoid layer, then a softmax over the labels.
//!
//! The weights are one flat slice, so that any optimiser can update them: input weights `[features, hidden]`, hidden
//! biases `[hidden]`, then what the output layer needs. Gradients are those of the summed loss `sum_i w_i K-L(d_i, p_i)`,
//! whose constant part `sum d ln d` is left out.

use std::ops::Range;

use ldlf_core::graph::{Flow, Graph};
use ldlf_core::{Dataset, Features, Result, Seed};
use ldlf_linear::softmax_loss::soften;
use ldlf_math::memory;
use ldlf_math::numeric::{sigmoid, softmax_in_place};
use ldlf_math::product::{Accumulate, Float, View, ViewMut, product};
use ldlf_math::random::normal;

/// Rows per forward and backward pass.
pub(crate) const BLOCK: usize = 64;

/// The output layer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Output {
    /// `scores = h V + c`, one column of `V [hidden, labels]` and one bias per label.
    PerLabel(usize),
    /// One unit that reads `(x, y)`: `score_y = v . sigmoid(x W + b + u y)`, with `v [hidden]`, `u [hidden]` and the value
    /// of each label. A bias would cancel in the softmax.
    Ordered(Vec<f64>),
}

/// The shape of a network.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Network {
    pub(crate) inputs: usize,
    pub(crate) hidden: usize,
    pub(crate) output: Output,
}

/// Refuses a hidden layer whose weights and gradients exceed the available memory.
pub(crate) fn check_memory(hidden: usize, features: usize, labels: usize) -> Result<()> {
    let width = features.saturating_add(labels).saturating_add(2);
    let sizes = [("hidden units", hidden), ("features and labels", width), ("copies", 8)];
    Ok(memory::check("the weights and their gradients", &sizes, size_of::<f64>())?)
}

/// The flat weights by layer.
struct Weights<'a, T> {
    input: &'a [T],
    bias: &'a [T],
    /// `V` or `v`.
    output: &'a [T],
    /// `c` or `u`.
    last: &'a [T],
}

/// Rows to learn from.
#[derive(Clone, Copy)]
pub(crate) struct Batch<'a> {
    /// The scaled features of all rows.
    pub(crate) rows: &'a Features,
    /// Their targets and weights.
    pub(crate) data: &'a Dataset,
    /// The derivative of a penalty on the mean activation of each hidden unit; empty where there is none.
    pub(crate) pull: &'a [f64],
}

/// Buffers of a pass, reused from pass to pass.
pub(crate) struct Pass<T> {
    inputs: Vec<T>,
    /// `x W + b`, then its gradient.
    before: Vec<T>,
    /// Activations, `[rows, hidden]`, or `[rows, labels, hidden]` of an ordered output.
    pub(crate) hidden: Vec<T>,
    scores: Vec<T>,
    /// Scores, then probabilities, in double precision.
    pub(crate) distributions: Vec<f64>,
}

impl<T> Pass<T> {
    pub(crate) fn new() -> Self {
        Pass {
            inputs: Vec::new(),
            before: Vec::new(),
            hidden: Vec::new(),
            scores: Vec::new(),
            distributions: Vec::new(),
        }
    }
}

impl Network {
    /// The number of labels.
    pub(crate) fn labels(&self) -> usize {
        match &self.output {
            Output::PerLabel(labels) => *labels,
            Output::Ordered(values) => values.len(),
        }
    }

    /// Where the four parts of the flat weights end.
    fn ends(&self) -> [usize; 4] {
        let input = self.inputs * self.hidden;
        let bias = input + self.hidden;
        let (output, last) = match self.output {
            Output::PerLabel(labels) => (self.hidden * labels, labels),
            Output::Ordered(_) => (self.hidden, self.hidden),
        };
        [input, bias, bias + output, bias + output + last]
    }

    /// The number of weights.
    pub(crate) fn size(&self) -> usize {
        self.ends()[3]
    }

    /// The weights that are penalised or decayed: all but biases.
    pub(crate) fn penalised(&self) -> [Range<usize>; 2] {
        let [input, bias, output, last] = self.ends();
        match self.output {
            Output::PerLabel(_) => [0..input, bias..output],
            Output::Ordered(_) => [0..input, bias..last],
        }
    }

    /// Random weights: normal with deviation `1 / sqrt(inputs of the layer)`, or 1 for the label's value, which is then as
    /// large as the contribution of all features; biases 0.
    pub(crate) fn initial<T: Float>(&self, seed: Seed) -> Vec<T> {
        let mut generator = seed.named("weights").generator();
        let mut weights = vec![T::ZERO; self.size()];
        let fan_in = [self.inputs, self.hidden];
        for (range, fan_in) in self.penalised().into_iter().zip(fan_in) {
            let deviation = 1.0 / (fan_in.max(1) as f64).sqrt();
            weights[range].iter_mut().for_each(|w| *w = T::of(deviation * normal(&mut generator)));
        }
        if let Output::Ordered(_) = self.output {
            let [_, _, output, last] = self.ends();
            weights[output..last].iter_mut().for_each(|u| *u = T::of(normal(&mut generator)));
        }
        weights
    }

    fn weights<'a, T>(&self, flat: &'a [T]) -> Weights<'a, T> {
        let [input, bias, output, last] = self.ends();
        Weights {
            input: &flat[..input],
            bias: &flat[input..bias],
            output: &flat[bias..output],
            last: &flat[output..last],
        }
    }

    /// Fills `pass.hidden` and, with scores, `pass.distributions` `[rows, labels]`.
    pub(crate) fn forward<T: Float>(&self, flat: &[T], rows: &Features, ids: &[usize], pass: &mut Pass<T>) {
        let weights = self.weights(flat);
        self.read(&weights, rows, ids, pass);
        let (count, hidden, labels) = (ids.len(), self.hidden, self.labels());
        pass.hidden.clear();
        pass.scores.clear();
        match &self.output {
            Output::PerLabel(_) => {
                pass.hidden.extend(pass.before.iter().map(|&a| squash(a)));
                (0..count).for_each(|_| pass.scores.extend_from_slice(weights.last));
                product(
                    Accumulate::Add,
                    ViewMut::row_major(&mut pass.scores, count, labels),
                    View::row_major(&pass.hidden, count, hidden),
                    View::row_major(weights.output, hidden, labels),
                );
            }
            Output::Ordered(values) => {
                for before in pass.before.chunks_exact(hidden.max(1)).take(count) {
                    for &value in values {
                        let value = T::of(value);
                        let mut score = T::ZERO;
                        for ((&a, &u), &v) in before.iter().zip(weights.last).zip(weights.output) {
                            let h = squash(a + u * value);
                            score += v * h;
                            pass.hidden.push(h);
                        }
                        pass.scores.push(score);
                    }
                }
            }
        }
        pass.distributions.clear();
        pass.distributions.extend(pass.scores.iter().map(|s| s.as_f64()));
    }

    /// Turns the scores of a forward pass into distributions.
    pub(crate) fn predict<T: Float>(&self, flat: &[T], rows: &Features, ids: &[usize], pass: &mut Pass<T>) {
        self.forward(flat, rows, ids, pass);
        pass.distributions.chunks_exact_mut(self.labels()).for_each(softmax_in_place);
    }

    /// `pass.before = x W + b`.
    fn read<T: Float>(&self, weights: &Weights<'_, T>, rows: &Features, ids: &[usize], pass: &mut Pass<T>) {
        let hidden = self.hidden;
        pass.before.clear();
        ids.iter().for_each(|_| pass.before.extend_from_slice(weights.bias));
        match rows {
            Features::Dense(m) => {
                pass.inputs.clear();
                ids.iter().for_each(|&id| pass.inputs.extend(m.row(id).iter().map(|&x| T::of(f64::from(x)))));
                product(
                    Accumulate::Add,
                    ViewMut::row_major(&mut pass.before, ids.len(), hidden),
                    View::row_major(&pass.inputs, ids.len(), self.inputs),
                    View::row_major(weights.input, self.inputs, hidden),
                );
            }
            Features::Sparse(m) => {
                for (&id, before) in ids.iter().zip(pass.before.chunks_exact_mut(hidden)) {
                    let (columns, values) = m.row(id);
                    for (&column, &x) in columns.iter().zip(values) {
                        let x = T::of(f64::from(x));
                        let input = &weights.input[column as usize * hidden..][..hidden];
                        before.iter_mut().zip(input).for_each(|(b, &w)| *b += x * w);
                    }
                }
            }
        }
    }

    /// Adds the network to a graph and gives its distributions.
    pub(crate) fn add_to_graph(&self, flat: &[f32], graph: &mut Graph, scaled: &Flow) -> Flow {
        let Weights { input, bias, output, last } = self.weights(flat);
        let (inputs, hidden) = (self.inputs, self.hidden);
        let weights = graph.f32s("hidden_weights", &[inputs, hidden], input.to_vec());
        let bias = graph.f32s("hidden_bias", &[hidden], bias.to_vec());
        let before = graph.node("Gemm", "before", &[scaled, &weights, &bias]);
        let scores = match &self.output {
            &Output::PerLabel(labels) => {
                let hidden_units = graph.node("Sigmoid", "hidden", &[&before]);
                let weights = graph.f32s("output_weights", &[hidden, labels], output.to_vec());
                let bias = graph.f32s("output_bias", &[labels], last.to_vec());
                graph.node("Gemm", "scores", &[&hidden_units, &weights, &bias])
            }
            Output::Ordered(values) => {
                // [rows, 1, hidden] + [labels, hidden]: every row with every label's value.
                let axis = graph.i64s("axis", vec![1]);
                let before = graph.node("Unsqueeze", "each_row", &[&before, &axis]);
                let shifts = values.iter().flat_map(|&value| last.iter().map(move |&u| u * value as f32));
                let shifts = graph.f32s("label_shifts", &[values.len(), hidden], shifts.collect());
                let pairs = graph.node("Add", "pairs", &[&before, &shifts]);
                let hidden_units = graph.node("Sigmoid", "hidden", &[&pairs]);
                let weights = graph.f32s("output_weights", &[hidden], output.to_vec());
                graph.node("MatMul", "scores", &[&hidden_units, &weights])
            }
        };
        graph.softmax(&scores)
    }

    /// Adds the gradient of the rows `ids` to `gradient` and returns their loss.
    pub(crate) fn learn<T: Float>(
        &self,
        flat: &[T],
        batch: Batch<'_>,
        ids: &[usize],
        pass: &mut Pass<T>,
        gradient: &mut [T],
    ) -> f64 {
        self.forward(flat, batch.rows, ids, pass);
        let labels = self.labels();
        let mut loss = 0.0;
        // The scores are replaced by their gradient w (p - d).
        pass.scores.clear();
        for (&id, scores) in ids.iter().zip(pass.distributions.chunks_exact_mut(labels)) {
            let (target, weight) = (batch.data.targets().row(id), f64::from(batch.data.weight(id)));
            loss += soften(scores, target, weight);
            pass.scores.extend(scores.iter().zip(target).map(|(&p, &d)| T::of(p - weight * f64::from(d))));
        }
        self.backward(flat, batch, ids, pass, gradient);
        loss
    }

    fn backward<T: Float>(
        &self,
        flat: &[T],
        batch: Batch<'_>,
        ids: &[usize],
        pass: &mut Pass<T>,
        gradient: &mut [T],
    ) {
        let (count, hidden, labels) = (ids.len(), self.hidden, self.labels());
        let weights = self.weights(flat);
        let [input, bias, output, _] = self.ends();
        let (to_input, rest) = gradient.split_at_mut(input);
        let (to_bias, rest) = rest.split_at_mut(bias - input);
        let (to_output, to_last) = rest.split_at_mut(output - bias);
        pass.before.fill(T::ZERO);
        match &self.output {
            Output::PerLabel(_) => {
                product(
                    Accumulate::Add,
                    ViewMut::row_major(to_output, hidden, labels),
                    View::row_major(&pass.hidden, count, hidden).transposed(),
                    View::row_major(&pass.scores, count, labels),
                );
                for scores in pass.scores.chunks_exact(labels) {
                    to_last.iter_mut().zip(scores).for_each(|(g, &s)| *g += s);
                }
                product(
                    Accumulate::Add,
                    ViewMut::row_major(&mut pass.before, count, hidden),
                    View::row_major(&pass.scores, count, labels),
                    View::row_major(weights.output, hidden, labels).transposed(),
                );
                if !batch.pull.is_empty() {
                    for (&id, before) in ids.iter().zip(pass.before.chunks_exact_mut(hidden)) {
                        let weight = f64::from(batch.data.weight(id));
                        before.iter_mut().zip(batch.pull).for_each(|(b, pull)| *b += T::of(weight * pull));
                    }
                }
                pass.before.iter_mut().zip(&pass.hidden).for_each(|(b, &h)| *b *= h * (T::ONE - h));
            }
            Output::Ordered(values) => {
                let rows = pass.before.chunks_exact_mut(hidden).zip(pass.scores.chunks_exact(labels));
                for ((before, scores), all) in rows.zip(pass.hidden.chunks_exact(hidden * labels)) {
                    for ((&score, &value), all) in scores.iter().zip(values).zip(all.chunks_exact(hidden)) {
                        let value = T::of(value);
                        for unit in 0..hidden {
                            let h = all[unit];
                            let slope = score * weights.output[unit] * h * (T::ONE - h);
                            to_output[unit] += score * h;
                            to_last[unit] += slope * value;
                            before[unit] += slope;
                        }
                    }
                }
            }
        }
        for before in pass.before.chunks_exact(hidden) {
            to_bias.iter_mut().zip(before).for_each(|(g, &b)| *g += b);
        }
        match batch.rows {
            Features::Dense(_) => product(
                Accumulate::Add,
                ViewMut::row_major(to_input, self.inputs, hidden),
                View::row_major(&pass.inputs, count, self.inputs).transposed(),
                View::row_major(&pass.before, count, hidden),
            ),
            Features::Sparse(m) => {
                for (&id, before) in ids.iter().zip(pass.before.chunks_exact(hidden)) {
                    let (columns, values) = m.row(id);
                    for (&column, &x) in columns.iter().zip(values) {
                        let x = T::of(f64::from(x));
                        let to = &mut to_input[column as usize * hidden..][..hidden];
                        to.iter_mut().zip(before).for_each(|(g, &b)| *g += x * b);
                    }
                }
            }
        }
    }
}

fn squash<T: Float>(x: T) -> T {
    T::of(sigmoid(x.as_f64()))
}

#[cfg(test)]
mod tests;
