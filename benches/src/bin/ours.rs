//! The side of `ldlf` in `benches/versus`: reads one request a line (JSON) and answers with the seconds of every call.
//!
//! `{"work": "step", "sizes": {...}, "threads": 2, "calls": 20}`; works: `step`, `leaves`, `predict`, `row`, `fit`. With
//! `"data": FILE` the work is done on that file, else on dense random numbers.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{BufRead, Write};
use std::time::Instant;

use ldlf::registry;
use ldlf_benches::{Bench, Sizes};
use ldlf_core::{Dataset, Error, FitContext, Model, Result, RowPredictor, Settings, Threads};
use ldlf_forest::single_row::SingleRow;
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
        let answer = Answer { seconds: seconds(&request, threads)? };
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
    if request.work == "fit" {
        return fit(request, &data, threads);
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

/// Seconds of whole fits with a learner of the registry.
fn fit(request: &Request, data: &Dataset, threads: &Threads) -> Result<Vec<f64>> {
    let name = request.learner.as_deref().unwrap_or("sldlf");
    let learner = registry::build(name, None, &Settings::parse(&request.settings)?)?;
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
