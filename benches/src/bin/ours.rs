//! The side of `ldlf` in `benches/versus`: reads one request a line (JSON) and answers with the seconds of every call.
//!
//! `{"work": "step", "sizes": {...}, "threads": 2, "calls": 20}`; works: `step`, `leaves`, `predict`, `row`, and with any learner
//! `fit`, `score` (predicts the rows that it was fitted on), `score_row` (one of them) and `quality` (a fit, in seconds of the processor,
//! and its K-L divergence on the rows `test`). With
//! `"data": FILE` the work is done on that file, else on dense random numbers.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{BufRead, Write};
use std::time::Instant;

use ldlf::registry;
use ldlf_benches::{Bench, Sizes};
use ldlf_core::{Dataset, Error, FitContext, Learner, Model, Result, RowPredictor, Settings, Threads};
use ldlf_forest::single_row::SingleRow;
use ldlf_math::numeric::SMALLEST_PROBABILITY;
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
struct Request {
    work: String,
    sizes: Sizes,
    threads: usize,
    calls: usize,
    data: Option<String>,
    /// Rows of the data that are learnt from; all where absent.
    train: Option<Vec<usize>>,
    /// For `quality`: rows that are predicted.
    test: Option<Vec<usize>>,
    /// For `fit`: the learner and what it is told.
    learner: Option<String>,
    #[serde(default)]
    settings: Vec<String>,
    /// For `leaves`: iterations of one update.
    iterations: Option<usize>,
}

#[derive(Serialize)]
struct Answer {
    seconds: Vec<f64>,
    /// On held-out rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    kl: Option<f64>,
}

fn main() -> Result<()> {
    let mut pools: BTreeMap<usize, Threads> = BTreeMap::new();
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|e| Error::usage(format!("cannot read a request: {e}")))?;
        let request: Request = serde_json::from_str(&line)
            .map_err(|e| Error::usage(format!("a request that cannot be read: {e}")))?;
        let threads = match pools.entry(request.threads) {
            Entry::Occupied(pool) => pool.into_mut(),
            Entry::Vacant(place) => place.insert(Threads::joined_by_caller(request.threads)?),
        };
        let answer = match request.work.as_str() {
            "quality" => quality(&request, threads)?,
            _ => Answer { seconds: seconds(&request, threads)?, kl: None },
        };
        let text = serde_json::to_string(&answer).expect("numbers can be written");
        let mut out = std::io::stdout().lock();
        writeln!(out, "{text}")
            .and_then(|()| out.flush())
            .map_err(|e| Error::usage(format!("cannot answer: {e}")))?;
    }
    Ok(())
}

fn seconds(request: &Request, threads: &Threads) -> Result<Vec<f64>> {
    let mut data = match &request.data {
        None => request.sizes.dense(),
        Some(file) => read(file)?,
    };
    if let Some(rows) = &request.train {
        data = data.select(rows);
    }
    match request.work.as_str() {
        "fit" => return fit(request, &data, threads),
        "score" | "score_row" => return score(request, &data, threads),
        _ => {}
    }
    let mut bench = Bench::new(data, &request.sizes, threads.clone());
    bench.step();
    match request.work.as_str() {
        "step" => Ok(time(request.calls, || {
            bench.step();
        })),
        "leaves" => Ok(time(request.calls, || bench.update_leaves(request.iterations.unwrap_or(20)))),
        "predict" => {
            let (forest, data) = bench.forest();
            Ok(time(request.calls, || {
                forest.predict(data.inputs(), threads).expect("its own features fit");
            }))
        }
        "row" => {
            let (forest, data) = bench.forest();
            let mut predictor = SingleRow::new(&forest);
            let (features, mut next) = (data.features()?, 0);
            Ok(time(request.calls, || {
                predictor.predict(features.row(next)).expect("its own rows fit");
                next = (next + 1) % data.rows();
            }))
        }
        other => Err(Error::usage(format!("there is no work {other}"))),
    }
}

fn learner(request: &Request) -> Result<Box<dyn Learner>> {
    let name = request.learner.as_deref().unwrap_or("sldlf");
    registry::build(name, None, &Settings::parse(&request.settings)?)
}

/// One fit and the mean K-L divergence of its predictions. The seconds are those of this thread on a processor, so that a
/// busy machine does not matter; they are all of a fit on one thread.
fn quality(request: &Request, threads: &Threads) -> Result<Answer> {
    let data = match &request.data {
        None => request.sizes.dense(),
        Some(file) => read(file)?,
    };
    let [train, test] =
        [&request.train, &request.test].map(|rows| data.select(rows.as_deref().unwrap_or(&[])));
    let start = processor_seconds()?;
    let model = learner(request)?.fit(&train, &mut FitContext::new(0, threads.clone(), &mut ()))?.model;
    let seconds = vec![processor_seconds()? - start];
    let predicted = model.predict(test.inputs(), threads)?.into_distributions()?;
    let rows = test.targets().iter_rows().zip(predicted.iter_rows());
    let sum: f64 = rows
        .flat_map(|(d, p)| d.iter().zip(p))
        .filter(|(d, _)| **d > 0.0)
        .map(|(&d, &p)| f64::from(d) * (f64::from(d) / f64::from(p).max(SMALLEST_PROBABILITY)).ln())
        .sum();
    Ok(Answer { seconds, kl: Some(sum / test.rows().max(1) as f64) })
}

/// The time that this thread has spent on a processor; Linux only.
fn processor_seconds() -> Result<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")
        .map_err(|e| Error::usage(format!("cannot read the time of this thread: {e}")))?;
    let nanoseconds = text.split_whitespace().next().and_then(|number| number.parse::<f64>().ok());
    Ok(nanoseconds.ok_or_else(|| Error::usage("the time of this thread is not a number"))? * 1e-9)
}

/// Seconds of predictions by a learner of the registry: of all rows at once, or of one at a time.
fn score(request: &Request, data: &Dataset, threads: &Threads) -> Result<Vec<f64>> {
    let model = learner(request)?.fit(data, &mut FitContext::new(0, threads.clone(), &mut ()))?.model;
    if request.work == "score" {
        return Ok(time(request.calls, || {
            model.predict(data.inputs(), threads).expect("its own features fit");
        }));
    }
    let mut predictor = model.row_predictor().ok_or_else(|| Error::usage("it predicts no single rows"))?;
    let (features, mut next) = (data.features()?, 0);
    Ok(time(request.calls, || {
        predictor.predict(features.row(next)).expect("its own rows fit");
        next = (next + 1) % data.rows();
    }))
}

/// Seconds of whole fits with a learner of the registry.
fn fit(request: &Request, data: &Dataset, threads: &Threads) -> Result<Vec<f64>> {
    let learner = learner(request)?;
    let mut seconds = Vec::new();
    for _ in 0..request.calls {
        let start = Instant::now();
        learner.fit(data, &mut FitContext::new(0, threads.clone(), &mut ()))?;
        seconds.push(start.elapsed().as_secs_f64());
    }
    Ok(seconds)
}

fn time(calls: usize, mut call: impl FnMut()) -> Vec<f64> {
    (0..calls)
        .map(|_| {
            let start = Instant::now();
            call();
            start.elapsed().as_secs_f64()
        })
        .collect()
}

fn read(file: &str) -> Result<Dataset> {
    let loaded =
        ldlf::internals::io::read::read(file.as_ref(), &ldlf::internals::io::read::ReadOptions::default())?;
    Ok(loaded.dataset)
}
