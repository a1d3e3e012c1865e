//! The forest head on arrays of the caller: activations, targets and gradients are read and written in
//! place. Rows are cut into blocks, each thread takes some, and sums are in the order of the blocks.

use std::sync::{Mutex, OnceLock};

use ldlf::internals::forest::head::{Examples, Given, Head, LeafUpdate};
use ldlf::internals::forest::kernel::{ROWS, SimdFloat};
use ldlf::internals::forest::leaves::LeafPrior;
use ldlf::internals::forest::tree_shape::{ForestShape, draw_units};
use ldlf::internals::math::product::View;
use ldlf::{Seed, Threads};
use numpy::{
    Element, PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyReadonlyArray3, PyReadwriteArray2, PyReadwriteArray3, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::raise;

/// A pool that lasts between calls: a mini-batch is over sooner than threads are started. A forked process has none of its
/// parent's threads and makes its own.
fn pool(count: usize) -> PyResult<Threads> {
    static KEPT: OnceLock<Mutex<Option<(u32, usize, Threads)>>> = OnceLock::new();
    let count = count.max(1);
    let process = std::process::id();
    let Ok(mut kept) = KEPT.get_or_init(Default::default).try_lock() else { return Ok(Threads::one()) };
    if let Some((of, size, threads)) = kept.as_ref()
        && (*of, *size) == (process, count)
    {
        return Ok(threads.clone());
    }
    let threads = Threads::new(count).map_err(raise)?;
    // The threads of a parent process must not be waited for: there are none here to end.
    if let Some((of, _, old)) = kept.replace((process, count, threads.clone()))
        && of != process
    {
        std::mem::forget(old);
    }
    Ok(threads)
}

fn wrong(what: &str, expected: &[usize], found: &[usize]) -> PyErr {
    PyValueError::new_err(format!("{what} should have the shape {expected:?}, got {found:?}"))
}

/// The values of an array that must have this shape and lie row after row.
macro_rules! slice {
    ($array:expr, $what:literal, $shape:expr) => {{
        let expected = $shape;
        if $array.shape() != expected {
            return Err(wrong($what, &expected, $array.shape()));
        }
        if !$array.is_c_contiguous() {
            return Err(PyValueError::new_err(concat!($what, " must lie row after row in memory")));
        }
        $array.as_slice()?
    }};
}

macro_rules! slice_mut {
    ($array:expr, $what:literal, $shape:expr) => {{
        slice!($array, $what, $shape);
        $array.as_slice_mut()?
    }};
}

/// A head from the units of the splits `[trees, splits]` and the leaves `[trees, leaves, labels]`.
pub fn assemble<T: SimdFloat + Element>(
    units: &PyReadonlyArray2<'_, i64>,
    leaves: &PyReadonlyArray3<'_, T>,
    width: usize,
) -> PyResult<Head<T>> {
    let &[trees, count, labels] = leaves.shape() else { return Err(wrong("leaves", &[], leaves.shape())) };
    if !count.is_power_of_two() {
        return Err(PyValueError::new_err(format!("a tree has a power of two of leaves, got {count}")));
    }
    let depth = count.trailing_zeros() as usize + 1;
    let shape = ForestShape { trees, depth, units: width, labels };
    shape.check().map_err(raise)?;
    let units: Vec<u32> = slice!(units, "units", [trees, shape.splits()])
        .iter()
        .map(|&unit| u32::try_from(unit).ok().filter(|&unit| (unit as usize) < width))
        .collect::<Option<_>>()
        .ok_or_else(|| PyValueError::new_err(format!("units must be between 0 and {}", width - 1)))?;
    Ok(Head::from_parts(shape, units, slice!(leaves, "leaves", [trees, count, labels]).to_vec()))
}

/// Calls a function for the precision of its first array.
macro_rules! by_precision {
    ($activations:expr, $function:ident ( $($argument:expr),* )) => {
        match $activations.extract::<PyReadonlyArray2<'_, f32>>() {
            Ok(activations) => $function::<f32>(&activations, $($argument),*),
            Err(_) => {
                let activations = $activations.extract::<PyReadonlyArray2<'_, f64>>().map_err(PyErr::from)?;
                $function::<f64>(&activations, $($argument),*)
            }
        }
    };
}

/// Draws the unit of every split, `[trees, splits]`, as the shallow forest does.
#[pyfunction]
pub fn head_units<'py>(
    py: Python<'py>,
    trees: usize,
    depth: usize,
    units: usize,
    labels: usize,
    seed: u64,
) -> PyResult<Bound<'py, PyArray2<i64>>> {
    let shape = ForestShape { trees, depth, units, labels };
    shape.check().map_err(raise)?;
    let drawn = draw_units(&shape, Seed::new(seed)).iter().map(|&unit| i64::from(unit)).collect();
    PyArray1::from_vec(py, drawn).reshape([trees, shape.splits()])
}

/// The share of every row that reaches every leaf: `[rows, trees, leaves]`.
#[pyfunction]
pub fn head_route<'py>(
    py: Python<'py>,
    activations: &Bound<'py, PyAny>,
    units: PyReadonlyArray2<'py, i64>,
    leaves: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    fn of<'py, T: SimdFloat + Element>(
        activations: &PyReadonlyArray2<'py, T>,
        py: Python<'py>,
        units: &PyReadonlyArray2<'py, i64>,
        leaves: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let &[rows, width] = activations.shape() else { return Err(wrong("activations", &[], &[])) };
        let head = assemble(units, &leaves.extract::<PyReadonlyArray3<'_, T>>()?, width)?;
        let activations = slice!(activations, "activations", [rows, width]);
        let routed = py.detach(|| head.route(View::row_major(activations, rows, width)));
        let shape = [rows, head.shape().trees, head.shape().leaves()];
        let routed: Bound<'py, PyArray3<T>> = PyArray1::from_vec(py, routed).reshape(shape)?;
        Ok(routed.into_any())
    }
    by_precision!(activations, of(py, &units, leaves))
}

/// Writes the predictions `[rows, labels]` into `out`.
#[pyfunction]
pub fn head_predict<'py>(
    py: Python<'py>,
    activations: &Bound<'py, PyAny>,
    units: PyReadonlyArray2<'py, i64>,
    leaves: &Bound<'py, PyAny>,
    out: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<()> {
    fn of<'py, T: SimdFloat + Element>(
        activations: &PyReadonlyArray2<'py, T>,
        py: Python<'py>,
        units: &PyReadonlyArray2<'py, i64>,
        leaves: &Bound<'py, PyAny>,
        out: &Bound<'py, PyAny>,
        threads: usize,
    ) -> PyResult<()> {
        let &[rows, width] = activations.shape() else { return Err(wrong("activations", &[], &[])) };
        let head = assemble(units, &leaves.extract::<PyReadonlyArray3<'_, T>>()?, width)?;
        let labels = head.shape().labels;
        let activations = slice!(activations, "activations", [rows, width]);
        let mut out: PyReadwriteArray2<'_, T> = out.extract()?;
        let out = slice_mut!(out, "out", [rows, labels]);
        let threads = pool(threads)?;
        py.detach(|| {
            threads.for_each_chunk([out], ROWS * labels, |block, [out]| {
                let count = out.len() / labels;
                let rows = &activations[block * ROWS * width..][..count * width];
                head.predict(View::row_major(rows, count, width), out);
            });
        });
        Ok(())
    }
    by_precision!(activations, of(py, &units, leaves, out, threads))
}

/// Writes the gradient of `sum(above * predictions)` with respect to the activations into `gradient`.
#[pyfunction]
pub fn head_predict_grad<'py>(
    py: Python<'py>,
    activations: &Bound<'py, PyAny>,
    units: PyReadonlyArray2<'py, i64>,
    leaves: &Bound<'py, PyAny>,
    above: &Bound<'py, PyAny>,
    gradient: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<()> {
    fn of<'py, T: SimdFloat + Element>(
        activations: &PyReadonlyArray2<'py, T>,
        py: Python<'py>,
        units: &PyReadonlyArray2<'py, i64>,
        leaves: &Bound<'py, PyAny>,
        above: &Bound<'py, PyAny>,
        gradient: &Bound<'py, PyAny>,
        threads: usize,
    ) -> PyResult<()> {
        let &[rows, width] = activations.shape() else { return Err(wrong("activations", &[], &[])) };
        let head = assemble(units, &leaves.extract::<PyReadonlyArray3<'_, T>>()?, width)?;
        let labels = head.shape().labels;
        let activations = slice!(activations, "activations", [rows, width]);
        let above: PyReadonlyArray2<'_, T> = above.extract()?;
        let above = slice!(above, "above", [rows, labels]);
        let mut gradient: PyReadwriteArray2<'_, T> = gradient.extract()?;
        let gradient = slice_mut!(gradient, "gradient", [rows, width]);
        let threads = pool(threads)?;
        py.detach(|| {
            threads.for_each_chunk([gradient], ROWS * width, |block, [gradient]| {
                let count = gradient.len() / width;
                let rows = &activations[block * ROWS * width..][..count * width];
                let above = &above[block * ROWS * labels..][..count * labels];
                head.predict_grad(View::row_major(rows, count, width), above, gradient);
            });
        });
        Ok(())
    }
    by_precision!(activations, of(py, &units, leaves, above, gradient, threads))
}

/// Gives the forest's loss and writes its gradient with respect to the activations into `gradient`.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "one call from Python, which names them")]
pub fn head_loss<'py>(
    py: Python<'py>,
    activations: &Bound<'py, PyAny>,
    units: PyReadonlyArray2<'py, i64>,
    leaves: &Bound<'py, PyAny>,
    targets: &Bound<'py, PyAny>,
    weights: Option<Bound<'py, PyAny>>,
    gradient: &Bound<'py, PyAny>,
    threads: usize,
) -> PyResult<f64> {
    #[allow(clippy::too_many_arguments, reason = "those of the function around it")]
    fn of<'py, T: SimdFloat + Element>(
        activations: &PyReadonlyArray2<'py, T>,
        py: Python<'py>,
        units: &PyReadonlyArray2<'py, i64>,
        leaves: &Bound<'py, PyAny>,
        targets: &Bound<'py, PyAny>,
        weights: Option<&Bound<'py, PyAny>>,
        gradient: &Bound<'py, PyAny>,
        threads: usize,
    ) -> PyResult<f64> {
        let &[rows, width] = activations.shape() else { return Err(wrong("activations", &[], &[])) };
        let head = assemble(units, &leaves.extract::<PyReadonlyArray3<'_, T>>()?, width)?;
        let labels = head.shape().labels;
        let activations = slice!(activations, "activations", [rows, width]);
        let targets: PyReadonlyArray2<'_, T> = targets.extract()?;
        let targets = slice!(targets, "targets", [rows, labels]);
        let weights: Option<PyReadonlyArray1<'_, T>> = weights.map(|w| w.extract()).transpose()?;
        let weights = match &weights {
            None => None,
            Some(weights) => Some(slice!(weights, "weights", [rows])),
        };
        let mut gradient: PyReadwriteArray2<'_, T> = gradient.extract()?;
        let gradient = slice_mut!(gradient, "gradient", [rows, width]);
        let threads = pool(threads)?;
        Ok(py.detach(|| {
            let total = Examples { targets, labels, weights, rows: None, leave_out: None }.total_weight();
            let blocks: Vec<_> = gradient.chunks_mut(ROWS * width).enumerate().collect();
            let losses = threads.map(blocks, |(block, gradient)| {
                let count = gradient.len() / width;
                let rows = &activations[block * ROWS * width..][..count * width];
                let examples = Examples {
                    targets: &targets[block * ROWS * labels..][..count * labels],
                    labels,
                    weights: weights.map(|weights| &weights[block * ROWS..][..count]),
                    rows: None,
                    leave_out: None,
                };
                let rows = View::row_major(rows, count, width);
                head.share_of_loss_and_grad(rows, &examples, total, gradient)
            });
            losses.iter().sum()
        }))
    }
    by_precision!(activations, of(py, &units, leaves, targets, weights.as_ref(), gradient, threads))
}

/// Iterates the leaf update with the activations held fixed and overwrites `leaves`.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "one call from Python, which names them")]
pub fn head_leaf_update<'py>(
    py: Python<'py>,
    activations: &Bound<'py, PyAny>,
    units: PyReadonlyArray2<'py, i64>,
    leaves: &Bound<'py, PyAny>,
    targets: &Bound<'py, PyAny>,
    weights: Option<Bound<'py, PyAny>>,
    iterations: usize,
    prior: f64,
    base: Vec<f64>,
    threads: usize,
) -> PyResult<()> {
    #[allow(clippy::too_many_arguments, reason = "those of the function around it")]
    fn of<'py, T: SimdFloat + Element>(
        activations: &PyReadonlyArray2<'py, T>,
        py: Python<'py>,
        units: &PyReadonlyArray2<'py, i64>,
        leaves: &Bound<'py, PyAny>,
        targets: &Bound<'py, PyAny>,
        weights: Option<&Bound<'py, PyAny>>,
        update: LeafUpdate,
        threads: usize,
    ) -> PyResult<()> {
        let &[rows, width] = activations.shape() else { return Err(wrong("activations", &[], &[])) };
        let mut head = assemble(units, &leaves.extract::<PyReadonlyArray3<'_, T>>()?, width)?;
        let shape = *head.shape();
        if update.prior.base.len() != shape.labels {
            return Err(wrong("base", &[shape.labels], &[update.prior.base.len()]));
        }
        let activations = slice!(activations, "activations", [rows, width]);
        let targets: PyReadonlyArray2<'_, T> = targets.extract()?;
        let targets = slice!(targets, "targets", [rows, shape.labels]);
        let weights: Option<PyReadonlyArray1<'_, T>> = weights.map(|w| w.extract()).transpose()?;
        let weights = match &weights {
            None => None,
            Some(weights) => Some(slice!(weights, "weights", [rows])),
        };
        let threads = pool(threads)?;
        py.detach(|| {
            let examples = Examples { targets, labels: shape.labels, weights, rows: None, leave_out: None };
            let given = Given(View::row_major(activations, rows, width));
            head.update_leaves(&given, &examples, &update, &threads);
        });
        let mut leaves: PyReadwriteArray3<'_, T> = leaves.extract()?;
        let out = slice_mut!(leaves, "leaves", [shape.trees, shape.leaves(), shape.labels]);
        out.copy_from_slice(head.leaves());
        Ok(())
    }
    let update = LeafUpdate { iterations, prior: LeafPrior { strength: prior, base } };
    by_precision!(activations, of(py, &units, leaves, targets, weights.as_ref(), update, threads))
}
