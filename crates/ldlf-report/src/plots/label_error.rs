//! The mean absolute error of each label, for several learners.

use super::axes::{Frame, Scale, rotated, tick_text};
use super::{legend, significant};
use crate::figure::{Anchor, Figure, label, line, mark, polyline, shortened};

/// Up to this many labels each has its name.
const NAMED: usize = 40;

/// Errors by learner: names with one number per label.
pub fn label_error(dataset: &str, labels: &[String], errors: &[(String, Vec<f64>)]) -> Figure {
    let names: Vec<String> = errors.iter().map(|(name, _)| name.clone()).collect();
    let (left, width, tall) = (58.0, 640.0, 200.0);
    let longest = labels.iter().map(|name| name.chars().count().min(18)).max().unwrap_or(0) as f64;
    let below = if labels.len() <= NAMED { 22.0 + 4.6 * longest } else { 44.0 };
    let top = 26.0 + legend::height(&names, width) + 22.0;
    let worst = errors.first().and_then(|(name, values)| {
        let (place, value) = values.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?;
        Some(format!(
            " {name} has its largest error on {}, {} on average.",
            labels.get(place)?,
            significant(*value)
        ))
    });
    let mut figure = Figure::new(
        720.0,
        top + tall + below,
        format!("Error of each label on {dataset}"),
        format!(
            "Mean absolute error of the predicted share of each of {} labels for {}.{}",
            labels.len(),
            names.join(", "),
            worst.unwrap_or_default()
        ),
    );
    legend::draw(&mut figure, &names, left, 24.0, width);
    let frame = Frame {
        left,
        top,
        width,
        height: tall,
        x_scale: Scale::Linear(-0.5, labels.len().max(1) as f64 - 0.5),
        y_scale: Scale::from_zero(errors.iter().flat_map(|(_, values)| values.iter().copied())),
    };
    frame.draw_y_axis(&mut figure, "mean absolute error of the share", 5);
    figure.add(line((left, frame.bottom()), (frame.right(), frame.bottom()), "axis"));
    let few = labels.len() <= NAMED;
    for (series, (_, values)) in errors.iter().enumerate() {
        let places: Vec<(f64, f64)> = values
            .iter()
            .enumerate()
            .map(|(label, &value)| (frame.x(label as f64), frame.y(value)))
            .collect();
        if few {
            // An offset for each learner keeps markers apart.
            let step = (frame.width / labels.len() as f64 * 0.6 / errors.len() as f64).min(16.0);
            let aside = step * (series as f64 - (errors.len() as f64 - 1.0) / 2.0);
            places.iter().for_each(|&(x, y)| figure.add(mark(x + aside, y, series, 4.0)));
        } else {
            figure.add(polyline(&places, &format!("s{}", series % 7)));
        }
    }
    if few {
        for (number, name) in labels.iter().enumerate() {
            figure.add(rotated(
                frame.x(number as f64) + 5.0,
                frame.bottom() + 15.0,
                "muted",
                &shortened(name, 18),
            ));
        }
    } else {
        for tick in frame.x_scale.ticks(10).into_iter().filter(|tick| *tick >= 0.0 && tick.fract() == 0.0) {
            let name = labels.get(tick as usize).cloned().unwrap_or_else(|| tick_text(tick));
            figure.add(label(frame.x(tick), frame.bottom() + 17.0, Anchor::Middle, "muted", &name));
        }
        figure.add(label(left + width / 2.0, frame.bottom() + 36.0, Anchor::Middle, "muted", "label"));
    }
    figure
}
