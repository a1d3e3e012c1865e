//! `aas`: appearance- and age-specific functions of the features; predicts a number, not a distribution.

use ldlf_core::early_stopping::hold_out;
use ldlf_core::learner::Summary;
use ldlf_core::stored::{Array, ModelShape, Parts};
use ldlf_core::{
    Algorithm, Auto, Dataset, Error, Facts, Features, FitContext, Fitted, Inputs, Model, Prediction,
    Predicts, Preset, Result, Seed, Threads, Value,
};
use ldlf_math::memory;
use ldlf_math::parallel::chunks;

use crate::clusters::{assigned, centres};
use crate::ordered::{label_values, numbers};
use crate::quadratic::{Coefficients, Wanted, value};
use crate::scaling::{FeatureScaling, Scaling};
use crate::stages::report_step;

ldlf_core::choices! {
    /// What the function of a cell is.
    pub enum CellFunctions {
        /// The global function plus a penalised one, so that a cell with few rows stays near the former.
        Added = "added",
        /// As published: a function of its own, fitted apart from the global one.
        Separate = "separate",
    }
}

ldlf_core::parameters! {
    /// Parameters of `aas`.
    pub struct AasParameters, builder AasParams for Aas {
        /// Number of clusters of rows by appearance.
        clusters: usize = 3, at_least 1, known_as "n_clusters";
        /// Number of ranges of the label's values, with equally many training rows each.
        ranges: usize = 3, at_least 1;
        /// How far a range reaches into its neighbours when its function is fitted, as a fraction of its width.
        overlap: f64 = 0.5, at_least 0;
        /// L2 penalty per row on the coefficients of the global function; auto chooses it on held-out rows.
        l2: Auto<f64> = Auto::Auto, at_least 0, known_as "alpha";
        /// What the function of a cell is.
        functions: CellFunctions = CellFunctions::Added;
        /// L2 penalty per row on the function of a cell, or on what it adds to the global one; auto chooses it on held-out rows.
        special_l2: Auto<f64> = Auto::Auto, at_least 0;
        /// Fraction of the training rows held out to choose the penalties.
        validation_fraction: f64 = 0.2, above 0, below 1;
        /// How features are scaled.
        scaling: FeatureScaling = FeatureScaling::Standard;
    }
}

/// Penalties per row tried with `auto`, from the strongest.
const PENALTIES: [f64; 9] = [30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003];

/// A quadratic function `f(x) = b + sum_k l_k x_k + q_k x_k^2` fitted to all rows predicts the range of ages of a row; the function of
/// that range and of the row's cluster (k-means on the features) then predicts the age.
///
/// The function of a cell is fitted to the rows of its cluster whose age lies in its range or near it. It is the global function
/// plus a penalised quadratic function, so that a cell with few rows stays near the former; with `functions=separate` it is a function of
/// its own, and the global one where a cell has no rows. Predictions stay within the labels' values. Source: Lanitis, Draganova and
/// Christodoulou, "Comparing different classifiers for automatic age estimation", 2004, which fits them apart.
pub struct Aas;

impl Algorithm for Aas {
    type Parameters = AasParameters;

    const FACTS: Facts = Facts {
        ordered: true,
        predicts: Predicts::Values,
        ..Facts::new(
            "aas",
            "quadratic functions of the features, one per cluster of rows and range of ages; predicts numbers only",
            "Lanitis, Draganova and Christodoulou, Comparing different classifiers for automatic age estimation, IEEE TSMC-B 34(1), 2004",
        )
    };

    fn presets() -> Vec<Preset> {
        vec![Preset::new(
            "paper",
            "as published: a function of its own per cell, no penalties; clusters, ranges and their overlap are ours, the publication's are not known here",
            ["functions=separate", "l2=0", "special_l2=0"],
        )]
    }

    fn fit(p: &Self::Parameters, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        let features = data.features()?;
        let values = label_values(data, Self::FACTS.name)?;
        let sizes = [
            ("clusters", p.clusters.min(data.rows())),
            ("ranges", p.ranges),
            ("features", features.cols() + 1),
        ];
        memory::check("the regressions", &sizes, size_of::<f64>())?;
        let numbers = numbers(data, values);
        let threads = context.threads.clone();
        let scaling = Scaling::choose(p.scaling, data)?;
        let rows = scaling.apply(features);
        let weights: Vec<f64> = (0..data.rows()).map(|row| f64::from(data.weight(row))).collect();
        let counted: Vec<usize> = (0..data.rows()).filter(|&row| weights[row] > 0.0).collect();
        let centres = centres(&rows.select(&counted), p.clusters, context.seed, &threads);
        let clusters = assigned(&rows, &centres, &threads).into_iter().map(|(cluster, _)| cluster).collect();
        let setting = Setting {
            rows: &rows,
            numbers: &numbers,
            weights: &weights,
            clusters,
            bounds: quantiles(&numbers, &counted, p.ranges),
            limits: (values[0], values[values.len() - 1]),
            cells: centres.len() * p.ranges,
            overlap: p.overlap,
            functions: p.functions,
            threads: &threads,
        };
        let penalties = setting.choose_penalties(p, data, &counted, context.seed);
        let global = setting.global(&counted, penalties.0, None);
        let special = setting.special(&counted, &global, penalties.1, &vec![None; setting.cells]);
        let model = AasModel {
            bounds: setting.bounds.clone(),
            limits: setting.limits,
            scaling,
            centres,
            global,
            special,
        };
        let mut summary = Summary::at_once();
        if let std::ops::ControlFlow::Break(reason) = report_step(context, 1, 1, &model) {
            summary.stopped = reason;
        }
        Ok(Fitted::new(Box::new(model), summary))
    }

    fn load(parts: &Parts, shape: &ModelShape) -> Result<Box<dyn Model>> {
        let scaling = Scaling::load(parts, shape.features)?;
        let wrong = |what: &str| Error::model_file(format!("the model file's {what:?} cannot be used"));
        let clusters = parts.shape("centres")?.first().copied().unwrap_or(0);
        let bounds = parts.f64s("bounds", &[parts.shape("bounds")?.iter().product()])?;
        if clusters == 0 || bounds.windows(2).any(|pair| pair[0] > pair[1]) {
            return Err(wrong(if clusters == 0 { "centres" } else { "bounds" }));
        }
        let centres = parts.f32s("centres", &[clusters, shape.features])?;
        let size = 2 * shape.features + 1;
        let special = parts.f64s("special", &[clusters * (bounds.len() + 1), size])?;
        let limits = parts.f64s("limits", &[2])?;
        if limits[0] > limits[1] {
            return Err(wrong("limits"));
        }
        Ok(Box::new(AasModel {
            centres: match shape.features {
                0 => vec![Vec::new(); clusters],
                width => centres.chunks_exact(width).map(<[f32]>::to_vec).collect(),
            },
            scaling,
            bounds,
            global: parts.f64s("global", &[size])?,
            special: special.chunks_exact(size).map(<[f64]>::to_vec).collect(),
            limits: (limits[0], limits[1]),
        }))
    }
}

/// The inner bounds of `ranges` ranges with equally many of the rows; a number on a bound belongs to the upper range.
fn quantiles(numbers: &[f64], rows: &[usize], ranges: usize) -> Vec<f64> {
    let mut sorted: Vec<f64> = rows.iter().map(|&row| numbers[row]).collect();
    sorted.sort_by(f64::total_cmp);
    (1..ranges).map(|range| sorted[range * sorted.len() / ranges]).collect()
}

/// The range of a number.
fn range_of(number: f64, bounds: &[f64]) -> usize {
    bounds.partition_point(|&bound| bound <= number)
}

/// What the fits share.
struct Setting<'a> {
    rows: &'a Features,
    numbers: &'a [f64],
    weights: &'a [f64],
    clusters: Vec<usize>,
    bounds: Vec<f64>,
    /// The least and the largest label.
    limits: (f64, f64),
    /// Clusters times ranges.
    cells: usize,
    overlap: f64,
    functions: CellFunctions,
    threads: &'a Threads,
}

impl Setting<'_> {
    fn fit(
        &self,
        which: &[usize],
        values: &[f64],
        penalty: f64,
        start: Option<Coefficients>,
    ) -> Coefficients {
        let start = start.unwrap_or_else(|| vec![0.0; 2 * self.rows.cols() + 1]);
        if which.is_empty() {
            return start;
        }
        let total: f64 = which.iter().map(|&row| self.weights[row]).sum();
        let wanted = Wanted { rows: self.rows, which, values, weights: self.weights };
        wanted.fit(penalty * total, start, self.threads)
    }

    fn global(&self, which: &[usize], penalty: f64, start: Option<Coefficients>) -> Coefficients {
        self.fit(which, self.numbers, penalty, start)
    }

    /// What every cell adds to the global function.
    fn special(
        &self,
        which: &[usize],
        global: &Coefficients,
        penalty: f64,
        starts: &[Option<Coefficients>],
    ) -> Vec<Coefficients> {
        let left: Vec<f64> =
            (0..self.rows.rows()).map(|row| self.numbers[row] - value(global, self.rows, row)).collect();
        let of_cell = |cell: usize| {
            let members: Vec<usize> = which.iter().copied().filter(|&row| self.belongs(row, cell)).collect();
            match self.functions {
                CellFunctions::Separate if !members.is_empty() => {
                    let own = self.fit(&members, self.numbers, penalty, None);
                    own.iter().zip(global).map(|(own, global)| own - global).collect()
                }
                _ => self.fit(&members, &left, penalty, starts[cell].clone()),
            }
        };
        (0..self.cells).map(of_cell).collect()
    }

    /// Whether a row is of the cell's cluster and in its range or near it.
    fn belongs(&self, row: usize, cell: usize) -> bool {
        let ranges = self.bounds.len() + 1;
        let (cluster, range) = (cell / ranges, cell % ranges);
        let low = if range == 0 { self.limits.0 } else { self.bounds[range - 1] };
        let high = if range + 1 == ranges { self.limits.1 } else { self.bounds[range] };
        let near = self.overlap * (high - low);
        self.clusters[row] == cluster && (low - near..=high + near).contains(&self.numbers[row])
    }

    fn error(&self, held: &[usize], global: &Coefficients, special: Option<&[Coefficients]>) -> f64 {
        let error = |&row: &usize| {
            let mut answer = value(global, self.rows, row);
            if let Some(special) = special {
                let ranges = self.bounds.len() + 1;
                let cell = self.clusters[row] * ranges + range_of(answer, &self.bounds);
                answer += value(&special[cell], self.rows, row);
            }
            self.weights[row] * (answer - self.numbers[row]).abs()
        };
        held.iter().map(error).sum()
    }

    /// The penalties given, or those with the least mean absolute error on held-out rows.
    fn choose_penalties(
        &self,
        p: &AasParameters,
        data: &Dataset,
        counted: &[usize],
        seed: Seed,
    ) -> (f64, f64) {
        if let (Auto::Given(global), Auto::Given(special)) = (p.l2, p.special_l2) {
            return (global, special);
        }
        let (training, held) = hold_out(data, p.validation_fraction, seed.named("penalty"));
        let training: Vec<usize> =
            training.into_iter().filter(|row| counted.binary_search(row).is_ok()).collect();
        if held.is_empty() || training.is_empty() {
            return (p.l2.unwrap_or(1.0), p.special_l2.unwrap_or(10.0));
        }
        let mut best = (f64::INFINITY, 1.0, Vec::new());
        let mut start = None;
        for penalty in p.l2.given().map_or(PENALTIES.to_vec(), |given| vec![given]) {
            let global = self.global(&training, penalty, start);
            let error = self.error(&held, &global, None);
            if error < best.0 {
                best = (error, penalty, global.clone());
            }
            start = Some(global);
        }
        let (_, penalty, global) = best;
        let mut best = (f64::INFINITY, PENALTIES[0]);
        let mut starts = vec![None; self.cells];
        for special_penalty in p.special_l2.given().map_or(PENALTIES.to_vec(), |given| vec![given]) {
            let special = self.special(&training, &global, special_penalty, &starts);
            let error = self.error(&held, &global, Some(&special));
            if error < best.0 {
                best = (error, special_penalty);
            }
            starts = special.into_iter().map(Some).collect();
        }
        (penalty, best.1)
    }
}

/// The functions, and what chooses between them.
struct AasModel {
    scaling: Scaling,
    centres: Vec<Vec<f32>>,
    bounds: Vec<f64>,
    global: Coefficients,
    /// What each cell adds, `[clusters, ranges]`.
    special: Vec<Coefficients>,
    limits: (f64, f64),
}

impl Model for AasModel {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        let features = inputs.table()?;
        let ranges = self.bounds.len() + 1;
        let parts = threads.map(chunks(features.rows(), 256), |range| {
            let rows = self.scaling.apply_rows(features, range);
            let clusters = assigned(&rows, &self.centres, &Threads::one());
            let answer = |(row, (cluster, _)): (usize, (usize, f64))| {
                let first = value(&self.global, &rows, row);
                let cell = cluster * ranges + range_of(first, &self.bounds);
                (first + value(&self.special[cell], &rows, row)).clamp(self.limits.0, self.limits.1)
            };
            clusters.into_iter().enumerate().map(answer).collect::<Vec<f64>>()
        });
        Ok(Prediction::Values(parts.concat()))
    }

    fn store(&self, parts: &mut Parts) {
        self.scaling.store(parts);
        let (clusters, width) = (self.centres.len(), self.scaling.columns());
        parts.put("centres", Array::F32(vec![clusters, width], self.centres.concat()));
        parts.put("bounds", Array::F64(vec![self.bounds.len()], self.bounds.clone()));
        parts.put("global", Array::F64(vec![self.global.len()], self.global.clone()));
        parts.put("special", Array::F64(vec![self.special.len(), self.global.len()], self.special.concat()));
        parts.put("limits", Array::F64(vec![2], vec![self.limits.0, self.limits.1]));
    }

    fn inspect(&self) -> Vec<(String, Value)> {
        vec![("clusters".into(), self.centres.len().into()), ("bounds".into(), self.bounds.clone().into())]
    }
}
