//! How long one image takes, from its file to the prediction.

use std::time::{Duration, Instant};

use ldlf::{Images, Result, Threads, TrainedModel};

use crate::printer::counted;

/// Images that are measured at most.
const MEASURED: usize = 100;

/// Warm-up images, which are not measured.
const BEFORE: usize = 3;

/// Predicts one image after the other and says how long one takes.
pub fn measured(model: &TrainedModel, images: &Images, threads: &Threads) -> Result<String> {
    let time = |row: usize| -> Result<Duration> {
        let one = images.select(&[row % images.rows()]).into();
        let started = Instant::now();
        model.predict_with(&one, threads)?;
        Ok(started.elapsed())
    };
    (0..BEFORE).try_for_each(|row| time(row).map(drop))?;
    let mut times = (0..images.rows().min(MEASURED)).map(time).collect::<Result<Vec<Duration>>>()?;
    times.sort_unstable();
    let at = |share: f64| 1e3 * times[((times.len() - 1) as f64 * share).round() as usize].as_secs_f64();
    Ok(format!(
        "one image at a time, from its file to the prediction: median {:.2} ms, 95th percentile {:.2} ms ({})",
        at(0.5),
        at(0.95),
        counted(times.len(), "image")
    ))
}
