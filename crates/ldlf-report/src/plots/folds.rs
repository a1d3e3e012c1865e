//! Every fold of every learner by one measure: is a difference larger than the spread?

use ldlf_core::measures::title;

use super::axes::{Frame, Scale};
use super::spoken;
use crate::load::Evaluation;
use crate::picture::{Anchor, Picture, label, line, mark, shortened};
use crate::ranking::head;

/// Values further than this many times the middle half beyond the upper quartile of the means stand at the edge with an arrow.
const FAR: f64 = 6.0;

/// A line a learner, in the given order: a small mark a fold and a larger one for the mean.
pub fn folds(evaluation: &Evaluation, order: &[usize], measure: &str) -> Picture {
    let runs: Vec<_> = order
        .iter()
        .map(|&run| &evaluation.runs[run])
        .filter(|run| run.mean.get(measure).is_some())
        .collect();
    let (left, top, row) = (170.0, 34.0, 24.0);
    let height = top + row * runs.len() as f64 + 46.0;
    let means: Vec<f64> = runs.iter().filter_map(|run| run.mean.get(measure)).collect();
    let limit = outlying(&means);
    let values: Vec<f64> = runs
        .iter()
        .flat_map(|run| run.folds.iter().filter_map(|fold| fold.get(measure)).chain(run.mean.get(measure)))
        .filter(|value| *value <= limit)
        .collect();
    let best = runs.first().map_or(String::new(), |run| {
        format!(
            " {}, first by its average rank over the measures, has a mean of {}.",
            run.name,
            spoken(run.mean.get(measure).unwrap_or(0.0))
        )
    });
    let mut picture = Picture::new(
        720.0,
        height,
        format!("{} of every fold on {}", title(measure), evaluation.dataset),
        format!(
            "{}, a line each, with a mark for every fold and a larger one for the mean.{best}",
            if runs.len() == 1 { "1 learner".into() } else { format!("{} learners", runs.len()) }
        ),
    );
    let frame = Frame {
        left,
        top,
        width: 720.0 - left - 24.0,
        height: row * runs.len() as f64,
        across: Scale::around(values),
        up: Scale::Linear(0.0, 1.0),
    };
    for tick in frame.across.ticks(6) {
        picture.add(line((frame.x(tick), top - 6.0), (frame.x(tick), frame.bottom()), "grid"));
    }
    frame.draw_across(&mut picture, &head(measure), 6);
    for (place, run) in runs.iter().enumerate() {
        let y = top + row * (place as f64 + 0.5);
        // The best has the first colour in every picture; the others stay in the background.
        let series = if place == 0 { 0 } else { 6 };
        let class = if place == 0 { "strong" } else { "" };
        picture.add(label(left - 12.0, y + 4.0, Anchor::End, class, &shortened(&run.name, 20)));
        let mean = run.mean.get(measure).unwrap_or(0.0);
        if mean > limit {
            let far = format!("{} →", spoken(mean));
            picture.add(label(frame.right(), y + 4.0, Anchor::End, "muted", &far));
            continue;
        }
        for fold in run.folds.iter().filter_map(|fold| fold.get(measure)).filter(|value| *value <= limit) {
            let dot = mark(frame.x(fold), y, series, 2.2).attr("opacity", "0.45");
            picture.add(dot);
        }
        picture.add(mark(frame.x(mean), y, series, 5.0));
    }
    picture
}

/// Above this a mean would squeeze all others together.
fn outlying(means: &[f64]) -> f64 {
    let mut sorted = means.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0..=3 => f64::INFINITY,
        n => {
            let (low, high) = (sorted[n / 4], sorted[3 * n / 4]);
            high + FAR * (high - low).max(1e-9)
        }
    }
}
