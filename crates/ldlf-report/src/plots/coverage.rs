//! How often intervals and label sets hold the truth, beside how often they should.

use ldlf_core::calibration::{Coverage, Kind};

use super::axes::{Frame, Scale};
use super::{legend, significant};
use crate::figure::{Figure, line, mark, polyline};

const KINDS: [(Kind, &str); 4] = [
    (Kind::Interval, "interval of the value"),
    (Kind::VoteInterval, "interval of a vote"),
    (Kind::Set, "label set of a voter"),
    (Kind::QuantileInterval, "quantiles, no promise"),
];

/// Wanted against found coverage. On the diagonal both agree; below it is promised more than held.
pub fn coverage(dataset: &str, found: &[Coverage]) -> Figure {
    let points = |kind: Kind| -> Vec<(f64, f64)> {
        found.iter().filter(|one| one.kind == kind).map(|one| (one.level, one.covered)).collect()
    };
    let curves: Vec<(String, Vec<(f64, f64)>)> =
        KINDS.iter().map(|&(kind, name)| (name.to_string(), points(kind))).collect();
    let curves: Vec<_> = curves.into_iter().filter(|(_, points)| !points.is_empty()).collect();
    let names: Vec<String> = curves.iter().map(|(name, _)| name.clone()).collect();
    let at_90: Vec<String> = curves
        .iter()
        .filter_map(|(name, points)| {
            let (_, covered) = points.iter().find(|(level, _)| *level == 0.9)?;
            Some(format!("{name} {}", significant(*covered)))
        })
        .collect();
    let (left, width, tall) = (58.0, 440.0, 300.0);
    let top = 26.0 + legend::height(&names, width) + 22.0;
    let mut figure = Figure::new(
        520.0,
        top + tall + 46.0,
        format!("Coverage on {dataset}"),
        format!(
            "How often intervals and label sets hold the truth (up), by how often they should (across). Below the line they hold it too \
             rarely. At 0.9: {}.",
            at_90.join(", ")
        ),
    );
    legend::draw(&mut figure, &names, left, 24.0, width);
    let scale = Scale::around(found.iter().flat_map(|one| [one.level, one.covered]));
    let frame = Frame { left, top, width, height: tall, x_scale: scale, y_scale: scale };
    frame.draw_y_axis(&mut figure, "found", 6);
    figure.add(line((frame.left, frame.bottom()), (frame.right(), frame.top), "highlight"));
    for (series, (_, points)) in curves.iter().enumerate() {
        let places: Vec<(f64, f64)> = points.iter().map(|&(x, y)| (frame.x(x), frame.y(y))).collect();
        figure.add(polyline(&places, &format!("s{}", series % 7)));
        places.iter().for_each(|&(x, y)| figure.add(mark(x, y, series, 3.6)));
    }
    frame.draw_x_axis(&mut figure, "wanted", 6);
    figure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_that_were_not_measured_are_left_out() {
        let one = |level: f64, covered: f64| Coverage { kind: Kind::Set, level, covered, width: 2.0 };
        let figure = coverage("votes", &[one(0.5, 0.52), one(0.9, 0.875)]);
        assert!(figure.description.ends_with("At 0.9: label set of a voter 0.875."));
        let drawn = figure.alone();
        assert!(drawn.contains("label set of a voter") && !drawn.contains("interval of a vote"));
    }
}
