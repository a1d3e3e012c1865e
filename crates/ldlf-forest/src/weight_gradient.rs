//! The gradient with respect to the weights, `X^T G`, added up over the rows of several passes.

use ldlf_core::Threads;
use ldlf_math::product::{Accumulate, View, ViewMut, product};
use ldlf_math::vectorise;

use crate::by_input::ByInput;
use crate::pass::Passed;

/// Inputs whose sums one task adds to.
const TASK: usize = 32;

/// Adds `X^T G` to `sums`. Every task owns some inputs and sees all rows: nothing depends on the number of threads.
///
/// # Shapes
/// - `rows`: `[rows, inputs]`; `gradient`: `[rows, units]`, with respect to the activations; `sums`: `[inputs, units]`
pub(crate) fn add_weight_gradient(
    rows: Passed<'_>,
    gradient: &[f32],
    units: usize,
    sums: &mut [f32],
    threads: &Threads,
) {
    let inputs = sums.len() / units;
    threads.for_each_chunk([sums], TASK * units, |task, [sums]| match &rows {
        Passed::Dense(x) => {
            let (count, rows) = (sums.len() / units, gradient.len() / units);
            product(
                Accumulate::Add,
                ViewMut::row_major(sums, count, units),
                View::strided(&x[(task * TASK).min(x.len())..], count, rows, 1, inputs),
                View::row_major(gradient, rows, units),
            );
        }
        Passed::Sparse(parts) => {
            for (input, sums) in (task * TASK..).zip(sums.chunks_exact_mut(units)) {
                let mut before = 0;
                for part in parts.iter() {
                    add_entries(part, input, &gradient[before * units..], units, sums);
                    before += part.rows();
                }
            }
        }
    });
}

/// Adds what the entries of one input contribute.
fn add_entries(part: &ByInput, input: usize, gradient: &[f32], units: usize, sums: &mut [f32]) {
    vectorise!({
        for &(row, value) in part.of(input) {
            let source = &gradient[row as usize * units..(row as usize + 1) * units];
            sums.iter_mut().zip(source).for_each(|(sum, g)| *sum += value * g);
        }
    },);
}
