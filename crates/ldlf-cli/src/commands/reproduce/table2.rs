//! Table 2: errors of age estimation by ten-fold cross-validation.

use super::experiment::{Division, Entrant, Experiment, Number, Published};
use super::sets::{FG_NET, MORPH};

/// What tables of age estimation show.
pub const MEASURES: [&str; 5] = ["mae_mode", "mae_mean", "mae_median", "cs_5", "kl"];

/// Method, mean and deviation of the mean absolute error of the mode on MORPH.
const PUBLISHED: [(&str, f64, f64); 5] = [
    ("IIS-LDL", 5.67, 0.15),
    ("CPNN", 4.87, 0.31),
    ("BFGS-LDL", 3.94, 0.05),
    ("DLDL + VGG-Face", 2.42, 0.01),
    ("dLDLF + VGG-Face", 2.24, 0.02),
];

/// All learners that estimate ages from features, the forest first and the mean last.
pub fn entrants() -> Vec<Entrant> {
    let learners = [
        "sldlf",
        "bfgs-ldl",
        "iis-ldl",
        "cpnn",
        "iis-aldl",
        "d2ldl",
        "aas",
        "larr",
        "ldsvr",
        "aa-knn",
        "random-forest",
        "mean",
    ];
    learners.map(Entrant::new).into()
}

/// The experiment.
pub fn experiment() -> Experiment {
    let row = |(method, mean, std)| Published {
        set: MORPH.name,
        division: Division::TenFolds,
        method,
        numbers: vec![Number { measure: "mae_mode", mean, std: Some(std) }],
    };
    Experiment {
        name: "table2",
        title: "Table 2: age estimation, ten-fold cross-validation",
        about: "The paper's rows are of MORPH, the deep ones end to end on its images, and predict the most probable age. Here the \
                learners read a table of features. FG-Net is free and shows the same comparison on a small scale; its errors are \
                not comparable with those of MORPH.",
        measures: &MEASURES,
        sets: vec![MORPH, FG_NET],
        divisions: vec![Division::TenFolds],
        entrants: entrants(),
        published: PUBLISHED.into_iter().map(row).collect(),
    }
}
