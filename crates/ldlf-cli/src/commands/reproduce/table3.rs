//! Table 3: errors of age estimation with few training rows.

use super::experiment::{Division, Experiment, Number, Published};
use super::sets::{FG_NET, MORPH_SUB};
use super::table2::{MEASURES, entrants};

const SHARES: [f64; 6] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6];

/// Method and its mean absolute error at each of [`SHARES`].
const PUBLISHED: [(&str, [f64; 6]); 5] = [
    ("AAS", [4.9081, 4.7616, 4.6507, 4.5553, 4.4690, 4.4061]),
    ("LARR", [4.7501, 4.6112, 4.5131, 4.4273, 4.3500, 4.2949]),
    ("IIS-ALDL", [4.1791, 4.1683, 4.1228, 4.1107, 4.1024, 4.0902]),
    ("D2LDL", [4.1080, 3.9857, 3.9204, 3.8712, 3.8560, 3.8385]),
    ("dLDLF", [3.8495, 3.6220, 3.3991, 3.2401, 3.1917, 3.1224]),
];

/// The experiment.
pub fn experiment() -> Experiment {
    let rows = |(method, errors): (&'static str, [f64; 6])| {
        SHARES.into_iter().zip(errors).map(move |(share, mean)| Published {
            set: MORPH_SUB.name,
            division: Division::Share(share),
            method,
            numbers: vec![Number { measure: "mae_mode", mean, std: None }],
        })
    };
    Experiment {
        name: "table3",
        title: "Table 3: age estimation, training fractions of 10 % to 60 %",
        about: "Random splits train on the given fraction of the rows and test on the rest. The paper's rows are of a balanced part of \
                MORPH (20,160 images); dLDLF is trained there end to end on AlexNet, the others from features of AlexNet. FG-Net shows \
                the same comparison on a small scale; its errors are not comparable with those of MORPH.",
        measures: &MEASURES,
        sets: vec![MORPH_SUB, FG_NET],
        divisions: SHARES.map(Division::Share).into(),
        entrants: entrants(),
        published: PUBLISHED.into_iter().flat_map(rows).collect(),
    }
}
