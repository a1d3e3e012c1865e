//! Odd but possible data: every learner gives valid distributions and finite losses, or says in one sentence why not.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use ldlf::internals::core::LearnerEntry;
use ldlf::internals::core::stored::Parts;
use ldlf::internals::io::read::{Loaded, ReadOptions, read};
use ldlf::{
    Csr, Dataset, Error, Features, FitContext, FitEvent, Matrix, Settings, Threads, TrainedModel, registry,
};
use ldlf_reliability::learners::{quick, small_data};
use ldlf_reliability::readers::check_prediction;

/// Data of `rows` rows from formulas for features and targets (which are normalised here).
fn data(
    (rows, features, labels): (usize, usize, usize),
    feature: impl Fn(usize, usize) -> f32,
    target: impl Fn(usize, usize) -> f32,
) -> Dataset {
    let values = (0..rows * features).map(|i| feature(i / features, i % features)).collect();
    let mut targets = Vec::with_capacity(rows * labels);
    for row in 0..rows {
        let row_targets: Vec<f32> = (0..labels).map(|label| target(row, label)).collect();
        let sum: f32 = row_targets.iter().sum();
        targets.extend(row_targets.iter().map(|target| target / sum));
    }
    let features = Features::Dense(Matrix::new(rows, features, values).unwrap());
    let data = Dataset::new(features, Matrix::new(rows, labels, targets).unwrap()).unwrap();
    data.with_label_values((1..=labels).map(|value| value as f64).collect()).unwrap()
}

fn wave(row: usize, column: usize) -> f32 {
    ((row * 7 + column * 13) % 17) as f32 / 17.0 - 0.4
}

fn usual_target(row: usize, label: usize) -> f32 {
    1.0 + ((row * 5 + label * 3) % 7) as f32
}

fn one_hot(row: usize, label: usize) -> f32 {
    f32::from(u8::from(row % 3 == label % 3))
}

/// Every odd case, with its name.
fn cases() -> Vec<(&'static str, Dataset)> {
    const USUAL: (usize, usize, usize) = (40, 4, 3);
    let sized = |factor: f32| data(USUAL, |row, column| wave(row, column) * factor, usual_target);
    let some_weights = |weight: fn(usize) -> f32| {
        data(USUAL, wave, usual_target).with_weights((0..40).map(weight).collect()).unwrap()
    };
    let empty_rows = || {
        let mut rows = Csr::with_columns(6);
        (0..40u32).for_each(|row| rows.push_row((row % 4 == 0).then_some((row / 4 % 6, 1.0))));
        data(USUAL, wave, usual_target).with_inputs(Features::Sparse(rows)).unwrap()
    };
    vec![
        ("exact zeros", data(USUAL, wave, |row, label| if label == row % 3 { 0.0 } else { 1.0 })),
        ("one-hot", data(USUAL, wave, one_hot)),
        ("one label always", data(USUAL, wave, |_, label| f32::from(u8::from(label == 1)))),
        ("equal targets", data(USUAL, wave, |_, _| 1.0)),
        ("equal rows", data(USUAL, |_, column| column as f32, |_, label| 1.0 + label as f32)),
        ("equal rows, other targets", data(USUAL, |_, column| column as f32, usual_target)),
        ("a single label", data((40, 4, 1), wave, |_, _| 1.0)),
        ("two labels", data((40, 4, 2), wave, usual_target)),
        ("a single feature", data((40, 1, 3), wave, usual_target)),
        ("a single row", data((1, 4, 3), wave, usual_target)),
        ("two rows", data((2, 4, 3), wave, usual_target)),
        ("a single row, feature and label", data((1, 1, 1), wave, |_, _| 1.0)),
        ("all features zero", data(USUAL, |_, _| 0.0, usual_target)),
        (
            "constant columns",
            data(USUAL, |row, column| if column == 0 { wave(row, 0) } else { 7.5 }, usual_target),
        ),
        (
            "duplicated rows",
            data(USUAL, |row, column| wave(row % 5, column), |row, label| usual_target(row % 5, label)),
        ),
        ("more features than rows", data((6, 30, 3), wave, usual_target)),
        ("features near the largest number", sized(3e38)),
        ("features near the smallest number", sized(1e-38)),
        (
            "features of very different sizes",
            data(USUAL, |r, c| wave(r, c) * [1e-30, 1.0, 1e15, 1e30][c], usual_target),
        ),
        (
            "one feature far out",
            data(USUAL, |r, c| if (r, c) == (3, 2) { 1e30 } else { wave(r, c) }, usual_target),
        ),
        ("rows without entries", empty_rows()),
        ("some zero weights", some_weights(|row| f32::from(u8::from(row % 3 > 0)))),
        ("one row with weight", some_weights(|row| f32::from(u8::from(row == 7)))),
        ("weights of very different sizes", some_weights(|row| [1e-30, 1.0, 1e30][row % 3])),
    ]
}

/// What learners may refuse: the learner, the cases (or what begins like it) and the beginning of the sentence. Whatever else is refused
/// is a fault, and so is a line here that nothing is refused by.
const REFUSALS: &[(&str, &str, &str)] = &[];

/// Takes note of what is refused in a case, which must be expected, and gives what is wrong.
fn fault(
    entry: &LearnerEntry,
    settings: &Settings,
    (name, data): (&str, &Dataset),
    refused: &mut BTreeSet<usize>,
) -> Option<String> {
    let sentence = match attempt(entry, settings, data) {
        Borne::Valid => return None,
        Borne::Fault(fault) => return Some(fault),
        Borne::Refused(sentence) => sentence,
    };
    let expected = REFUSALS.iter().position(|(learner, case, beginning)| {
        *learner == entry.name() && *case == name && sentence.starts_with(beginning)
    });
    match expected {
        Some(place) => {
            refused.insert(place);
            None
        }
        None => Some(format!("is refused, which is not expected: {sentence:?}")),
    }
}

/// One sentence, without NaN.
fn is_sentence(text: &str) -> bool {
    text.len() > 20 && !text.contains('\n') && !text.contains("NaN")
}

/// How a learner bears data.
enum Borne {
    Valid,
    /// By one sentence.
    Refused(String),
    Fault(String),
}

/// Fits, predicts, stores and loads.
fn attempt(entry: &LearnerEntry, settings: &Settings, data: &Dataset) -> Borne {
    let learner = match (entry.build)(settings) {
        Ok(learner) => learner,
        Err(error) => return Borne::Fault(format!("cannot be built: {error}")),
    };
    let attempt = || -> Result<Option<String>, Error> {
        let mut silent = ();
        let mut context = FitContext::new(0, Threads::one(), &mut silent);
        let model = TrainedModel::fit(&*learner, data, &mut context)?;
        for event in &context.history {
            let number = match event {
                FitEvent::Iteration { loss, .. } => *loss,
                FitEvent::Validation { kl, .. } => Some(*kl),
                FitEvent::LeafUpdate { .. } => None,
            };
            if number.is_some_and(|number| !number.is_finite()) {
                return Ok(Some(format!("reported {event:?}")));
            }
        }
        check_prediction(&model.predict_with(data.inputs(), &Threads::one())?);
        let bytes = model.to_parts().to_bytes()?;
        let again = TrainedModel::from_parts(Parts::from_bytes(&bytes)?, &registry::learners())?;
        check_prediction(&again.predict_with(data.inputs(), &Threads::one())?);
        Ok(None)
    };
    match catch_unwind(AssertUnwindSafe(attempt)) {
        Ok(Ok(fault)) => fault.map_or(Borne::Valid, Borne::Fault),
        Ok(Err(error @ (Error::Usage(_) | Error::Data(_) | Error::Training(_)))) => {
            let text = error.to_string();
            if is_sentence(&text) {
                Borne::Refused(text)
            } else {
                Borne::Fault(format!("is refused by {text:?}"))
            }
        }
        Ok(Err(error)) => Borne::Fault(format!("failed: {error}")),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
            Borne::Fault(format!("panicked: {}", text.unwrap_or_default()))
        }
    }
}

#[test]
fn every_learner_bears_odd_data_or_says_why_not() {
    let (mut faults, mut refused) = (Vec::new(), BTreeSet::new());
    let cases = cases();
    let learners = registry::learners();
    for entry in &learners {
        let settings = ldlf_reliability::learners::short_settings(entry);
        for (name, data) in &cases {
            if let Some(fault) = fault(entry, &settings, (name, data), &mut refused) {
                faults.push(format!("{} on {name}: {fault}", entry.name()));
            }
        }
    }
    let idle = (0..REFUSALS.len()).filter(|place| !refused.contains(place));
    faults.extend(idle.map(|place| format!("{:?} is expected to be refused and is not", REFUSALS[place])));
    println!("{} odd cases for {} learners, {} faults", cases.len(), learners.len(), faults.len());
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn the_forest_bears_odd_data_with_its_own_settings_and_those_of_its_presets() {
    let entry = registry::find("sldlf").unwrap();
    let mut variants = vec![
        ("as it is", vec![]),
        (
            "saturated splits",
            vec!["scaling=raw", "learning_rate=1000", "schedule=constant", "weight_decay=0"],
        ),
        ("dead leaves", vec!["depth=9", "trees=1", "leaf_prior=0", "scaling=raw", "learning_rate=100"]),
        ("no leaf prior, one tree", vec!["trees=1", "leaf_prior=0", "leaf_iterations=50"]),
        ("sgd", vec!["optimizer=sgd", "learning_rate=1", "weight_decay=0"]),
        ("a greedy start", vec!["init=greedy", "early_stopping=true"]),
        ("shared units", vec!["units=80", "bins=0"]),
    ];
    let presets: Vec<(&'static str, Settings)> =
        (entry.presets)().iter().map(|preset| (preset.name, preset.settings.clone())).collect();
    let short = |settings: &Settings| {
        let limits = ["iterations=60", "min_iterations=60", "leaf_every=20"];
        settings.clone().overridden_by(&Settings::parse(limits).unwrap())
    };
    let mut all: Vec<(&str, Settings)> =
        variants.drain(..).map(|(name, pairs)| (name, Settings::parse(pairs).unwrap())).collect();
    all.extend(presets);
    let hasty = ["saturated splits", "dead leaves", "released", "released-movie"];
    let mut faults = Vec::new();
    for (variant, settings) in &all {
        for (name, data) in cases() {
            match attempt(&entry, &short(settings), &data) {
                Borne::Valid => {}
                // A learning rate a hundred times too large may end in numbers that are not finite, on any data.
                Borne::Refused(sentence)
                    if hasty.contains(variant) && sentence.contains("not a finite number") => {}
                Borne::Refused(text) | Borne::Fault(text) => {
                    faults.push(format!("{variant} on {name}: {text}"))
                }
            }
        }
    }
    println!("{} settings of the forest, {} faults", all.len(), faults.len());
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn ten_thousand_labels_are_borne() {
    // Problem transformation compares every pair of labels: hours, however little memory it takes. The search fits most of the others
    // again, several times each.
    let too_slow = ["pt-svm", "sldlf-auto"];
    let many = data((6, 2, 10_000), wave, |row, label| f32::from(u8::from((row + label) % 97 == 0)));
    let mut faults = Vec::new();
    for entry in registry::learners().iter().filter(|entry| !too_slow.contains(&entry.name())) {
        let started = Instant::now();
        let settings = ldlf_reliability::learners::short_settings(entry);
        match attempt(entry, &settings, &many) {
            Borne::Valid => {}
            Borne::Refused(text) | Borne::Fault(text) => faults.push(format!("{}: {text}", entry.name())),
        }
        println!("{}: {:.1} s", entry.name(), started.elapsed().as_secs_f64());
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn numbers_too_large_for_single_precision_are_refused_with_their_place() {
    let error = read_sizes("x,a,b\n1,1,0\n1e300,0,1\n").unwrap_err().to_string();
    assert!(error.contains("sizes.csv line 3, column \"x\": 1e300 is outside the range"), "{error}");
}

/// The table of a file `sizes.csv` with the labels `a` and `b`.
fn read_sizes(text: &str) -> ldlf::internals::core::Result<Loaded> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sizes.csv");
    std::fs::write(&path, text).unwrap();
    let options = ReadOptions { labels: vec!["a".into(), "b".into()], ..Default::default() };
    read(&path, &options)
}

#[test]
fn numbers_too_small_for_single_precision_become_zero() {
    let data = read_sizes("x,y,a,b\n1e-300,1,1,0\n2,1,0,1\n").unwrap().dataset;
    let entry = registry::find("sldlf").unwrap();
    ldlf_reliability::learners::fit(&*quick(&entry).unwrap(), &data).unwrap();
}

#[test]
fn weights_that_are_all_zero_or_not_finite_are_one_sentence() {
    for weights in [vec![0.0; 40], vec![f32::NAN; 40], vec![-1.0; 40], vec![1.0; 39]] {
        let error = small_data().with_weights(weights).unwrap_err().to_string();
        assert!(error.len() > 20 && !error.contains('\n'), "{error}");
    }
}

/// Ends every fit at its first report.
fn at_once(_: &FitEvent, _: &dyn ldlf::InProgress) -> std::ops::ControlFlow<ldlf::StopReason> {
    std::ops::ControlFlow::Break(ldlf::StopReason::Interrupted)
}

#[test]
fn enormous_whole_numbers_are_borne_or_refused_by_every_parameter() {
    // That many iterations of a leaf update are valid, but would take for ever.
    let asks_for_work = ["leaf_iterations"];
    let (sender, receiver) = std::sync::mpsc::channel();
    let worker = std::thread::spawn(move || {
        let data = small_data();
        for entry in registry::learners() {
            for parameter in (entry.parameters)() {
                if parameter.kind != ldlf::internals::core::parameters::Kind::Integer
                    || asks_for_work.contains(&parameter.name)
                {
                    continue;
                }
                let mut settings = ldlf_reliability::learners::short_settings(&entry);
                settings.set(parameter.name, 1_000_000_000_000_000u64);
                let attempt = catch_unwind(AssertUnwindSafe(|| -> Result<(), Error> {
                    let mut observer = at_once;
                    let mut context = FitContext::new(0, Threads::one(), &mut observer);
                    TrainedModel::fit(&*(entry.build)(&settings)?, &data, &mut context).map(drop)
                }));
                let fault = match attempt {
                    Err(_) => Some("panicked".to_string()),
                    // The observer ends every fit: a learner may have nothing to give by then.
                    Ok(Err(Error::Interrupted)) => None,
                    Ok(Err(error)) if !is_sentence(&error.to_string()) => Some(error.to_string()),
                    Ok(_) => None,
                };
                sender.send((format!("{}.{}", entry.name(), parameter.name), fault)).unwrap();
            }
        }
    });
    let (mut tried, mut faults, mut last) = (0, Vec::new(), String::new());
    loop {
        match receiver.recv_timeout(std::time::Duration::from_secs(60)) {
            Ok((name, fault)) => {
                tried += 1;
                faults.extend(fault.map(|fault| format!("{name}: {fault}")));
                last = name;
            }
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("hangs after {last}"),
        }
    }
    worker.join().unwrap();
    println!("{tried} odd parameters, {} faults", faults.len());
    assert!(tried > 40 && faults.is_empty(), "{tried} tried; faults: {faults:?}");
}
