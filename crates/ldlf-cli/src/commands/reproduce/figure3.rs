//! Figure 3: (a) the number of trees, with the joint rule and with the rule of neural decision forests; (b) the depth of one tree.

use std::path::Path;

use ldlf::internals::io::output::Overwrite;
use ldlf::measures::{KL, MAE_MEAN, MAE_MODE};
use ldlf::{Result, Settings, registry};
use ldlf_report::plots::{self, PublishedPoint, Series, SweepCurves};

use super::super::plot::{Format, write};
use super::Section;
use super::experiment::{Division, Entrant, Experiment, Number, Published};
use super::sets::{FG_NET, MORPH_SUB, MOVIE};

/// What the command line calls it.
pub const NAME: &str = "figure3";

const TREES: [usize; 7] = [1, 2, 5, 10, 20, 50, 100];
const DEPTHS: [usize; 7] = [2, 4, 6, 8, 9, 10, 12];

/// The numbers of the paper's text for Movie: row, axis, value of the parameter, K-L.
const IN_THE_TEXT: [(&str, &str, usize, f64); 4] = [
    ("sLDLF, trees 20", "trees", 20, 0.071),
    ("sLDLF, trees 100", "trees", 100, 0.070),
    ("sLDLF, depth 9", "depth", 9, 0.0831),
    ("sLDLF, depth 18", "depth", 18, 0.1162),
];

/// The experiment.
pub fn experiment() -> Experiment {
    let rules = ["sldlf", "sndf-ldl"];
    let trees = rules
        .iter()
        .flat_map(|rule| TREES.iter().map(move |&trees| entrant(rule, "trees", trees, &[("trees", trees)])));
    // tau = 2^(h-1), one tree.
    let depths = DEPTHS.iter().map(|&depth| {
        entrant("sldlf", "depth", depth, &[("trees", 1), ("depth", depth), ("units", 1 << (depth - 1))])
    });
    let published = IN_THE_TEXT.iter().map(|&(method, _, _, kl)| Published {
        set: "Movie",
        division: DIVISION,
        method,
        numbers: vec![Number { measure: KL.name, mean: kl, std: None }],
    });
    Experiment {
        name: NAME,
        title: "Figure 3: number of trees and depth",
        about: "(a) One to a hundred trees, trained jointly (`sldlf`) or by the rule of neural decision forests (`sndf-ldl`); (b) one tree of \
                growing depth on 2^(depth-1) units. All else is the preset `paper`. Random splits that train on 90 % of the rows; \
                `--repeats` is their number. The paper's numbers come from its own protocol, which is not a clean one, and from \
                MORPH for ages, for which FG-Net is used here. Its depth 18 needs 131,072 units and is not run.",
        measures: &[KL.name, MAE_MODE.name, MAE_MEAN.name],
        sets: vec![MOVIE, FG_NET, MORPH_SUB],
        divisions: vec![DIVISION],
        entrants: trees.chain(depths).collect(),
        published: published.collect(),
    }
}

const DIVISION: Division = Division::Share(0.9);

/// A learner with the preset `paper` and one value of the parameter that changes.
fn entrant(learner: &str, axis: &str, value: usize, over: &[(&str, usize)]) -> Entrant {
    let preset = registry::find(learner).ok().and_then(|entry| {
        (entry.presets)().into_iter().find(|preset| preset.name == "paper").map(|preset| preset.settings)
    });
    let mut settings = Settings::new();
    over.iter().for_each(|(name, value)| settings.set(name, *value as u64));
    Entrant {
        label: format!("{learner}, {axis} {value}"),
        settings: preset.unwrap_or_default().overridden_by(&settings),
        ..Entrant::new(learner)
    }
}

/// Draws both parts for every set that was run: K-L, or for ages the error of the mode.
pub fn draw(sections: &[Section<'_>], folder: &Path) -> Result<()> {
    for section in sections {
        for (part, axis) in [("a", "trees"), ("b", "depth")] {
            if let Some((curves, published)) = curves(section, axis) {
                let path = folder.join(format!("{}-{part}.svg", section.set));
                write(&path, Overwrite::Yes, Format::Svg, &plots::sweep(&curves, &published))?;
            }
        }
    }
    Ok(())
}

/// The curves of a section over one parameter, and the paper's points.
fn curves(section: &Section<'_>, axis: &str) -> Option<(SweepCurves, Vec<PublishedPoint>)> {
    let evaluation = section.evaluation.as_ref()?;
    let ages = evaluation.results.iter().any(|result| result.mean.get(MAE_MODE.name).is_some());
    let measure = if ages { MAE_MODE.name } else { KL.name };
    let mut series: Vec<Series> = Vec::new();
    for (label, result) in section.entrants.iter().zip(&evaluation.results) {
        let Some(value) = label.strip_prefix(&format!("{}, {axis} ", result.learner)) else { continue };
        let (Ok(value), Some(mean)) = (value.parse::<f64>(), result.mean.get(measure)) else { continue };
        let point = (value, mean, result.std.get(measure).unwrap_or(0.0));
        match series.iter_mut().find(|(name, _)| *name == result.learner) {
            Some((_, points)) => points.push(point),
            None => series.push((result.learner.clone(), vec![point])),
        }
    }
    if series.is_empty() {
        return None;
    }
    let published = IN_THE_TEXT.iter().filter(|(_, of, ..)| *of == axis && section.set == "Movie");
    let published = published.map(|&(_, _, at, value)| PublishedPoint { at: at as f64, value }).collect();
    let sweep =
        SweepCurves { dataset: section.set.clone(), axis: axis.into(), measure: measure.into(), series };
    Some((sweep, published))
}
