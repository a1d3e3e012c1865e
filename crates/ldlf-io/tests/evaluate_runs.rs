//! Whole runs of the evaluation loop with `mean` and a small learner that iterates.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use ldlf_core::early_stopping::hold_out;
use ldlf_core::evaluate::{
    Build, CrossValidation, FoldResult, JobId, Plan, Protocol, Watcher, cross_validate, fold_seed,
};
use ldlf_core::folds::{self, Fold};
use ldlf_core::learner::Summary;
use ldlf_core::measures::{KL, mean_over_rows};
use ldlf_core::stored::Parts;
use ldlf_core::{
    Dataset, Error, Facts, FitContext, FitEvent, Fitted, InProgress, Inputs, Learner, Matrix, Model,
    Prediction, Result, Settings, StopReason, Threads, generate, mean::Mean,
};
use ldlf_io::journal::Journal;
use ldlf_io::results;
use rand::RngExt;

/// Comes closer to the mean training distribution until iteration 20 and then walks away from it, with a little noise
/// that the seed decides.
struct Walk {
    iterations: usize,
    fails_on_fewer_rows_than: usize,
}

struct WalkModel(Vec<f32>);

impl WalkModel {
    fn at(iteration: usize, mean: &[f64], noise: f64) -> Self {
        let away = (iteration.abs_diff(20) as f64 + noise) / 100.0;
        let toward_uniform = |m: &f64| ((1.0 - away) * m + away / mean.len() as f64) as f32;
        WalkModel(mean.iter().map(toward_uniform).collect())
    }
}

impl InProgress for WalkModel {
    fn predict(&self, inputs: &Inputs, _: &Threads) -> Result<Prediction> {
        let rows = inputs.rows();
        Ok(Prediction::Distributions(Matrix::new(rows, self.0.len(), self.0.repeat(rows))?))
    }
}

impl Model for WalkModel {
    fn predict(&self, inputs: &Inputs, threads: &Threads) -> Result<Prediction> {
        InProgress::predict(self, inputs, threads)
    }

    fn store(&self, _: &mut Parts) {}
}

impl Learner for Walk {
    fn facts(&self) -> &'static Facts {
        const { &Facts { iterates: true, ..Facts::new("walk", "a walk past the mean", "") } }
    }

    fn settings(&self) -> Settings {
        let mut settings = Settings::new();
        settings.set("iterations", self.iterations as u64);
        settings
    }

    fn fit(&self, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
        if data.rows() < self.fails_on_fewer_rows_than {
            return Err(Error::training("the loss is not finite; try a smaller step"));
        }
        let mean = data.mean_target();
        let noise: f64 = context.seed.named("noise").generator().random();
        let mut stopped = StopReason::Finished;
        let mut done = 0;
        for iteration in 1..=self.iterations {
            done = iteration;
            let event = FitEvent::Iteration {
                iteration,
                total: self.iterations,
                loss: Some(noise / iteration as f64),
            };
            if let ControlFlow::Break(reason) = context.report(event, &WalkModel::at(iteration, &mean, noise))
            {
                stopped = reason;
                break;
            }
            if iteration % 10 == 0
                && context.report(FitEvent::LeafUpdate { iteration }, &WalkModel(vec![])).is_break()
            {
                stopped = StopReason::Interrupted;
                break;
            }
        }
        let summary = Summary { iterations: done, stopped, ..Summary::at_once() };
        Ok(Fitted::new(Box::new(WalkModel::at(done, &mean, noise)), summary))
    }
}

fn walk(iterations: usize) -> Box<dyn Learner> {
    Box::new(Walk { iterations, fails_on_fewer_rows_than: 0 })
}

fn mean() -> Box<dyn Learner> {
    Box::new(Mean::params().check().unwrap())
}

fn plan<'a>(data: &'a Dataset, learners: &'a [Box<dyn Learner>], folds: &'a [Fold]) -> Plan<'a> {
    Plan {
        data,
        learners,
        folds,
        protocol: Protocol::Clean,
        seed: 7,
        threads: 1,
        journal: None,
        build: Build { id: "1", commit: None },
    }
}

/// The table without what the clock decides.
fn timeless(mut table: CrossValidation) -> CrossValidation {
    for result in &mut table.results {
        for fold in &mut result.folds {
            (fold.fit_seconds, fold.predict_seconds) = (0.0, 0.0);
        }
        *result = ldlf_core::evaluate::LearnerResult::new(
            &result.learner,
            result.parameters.clone(),
            std::mem::take(&mut result.folds),
        );
    }
    table
}

#[test]
fn folds_in_parallel_give_the_results_of_one_thread() {
    let data = generate::artificial(60, 0).unwrap();
    let folds = folds::seeded(&data, 5, 0).unwrap();
    let learners = [walk(25), mean(), walk(12)];
    let run =
        |threads| timeless(cross_validate(&Plan { threads, ..plan(&data, &learners, &folds) }, &()).unwrap());
    let serial = run(1);
    assert_eq!(serial, run(2));
    assert_eq!(serial, run(64));
    let names: Vec<&str> = serial.results.iter().map(|result| result.learner.as_str()).collect();
    assert_eq!(names, ["walk", "mean", "walk"]);
    let rows: Vec<&Vec<usize>> = serial.results[1].folds.iter().map(|fold| &fold.rows).collect();
    assert_eq!(rows, folds.iter().map(|fold| &fold.test).collect::<Vec<_>>());
}

#[test]
fn a_fold_can_be_repeated_by_hand_from_its_seed() {
    let data = generate::artificial(40, 0).unwrap();
    let folds = folds::seeded(&data, 4, 0).unwrap();
    let learners = [walk(25)];
    let table = cross_validate(&plan(&data, &learners, &folds), &()).unwrap();
    assert_ne!(fold_seed(7, 2), fold_seed(7, 3));
    assert_ne!(fold_seed(7, 3), fold_seed(8, 2));
    let mut observer = ();
    let mut context = FitContext::new(fold_seed(7, 2), Threads::one(), &mut observer);
    let fitted = learners[0].fit(&data.select(&folds[2].training), &mut context).unwrap();
    let test = data.select(&folds[2].test);
    let prediction = fitted.model.predict(test.inputs(), &Threads::one()).unwrap();
    assert_eq!(table.results[0].folds[2].prediction, prediction);
}

#[test]
fn the_json_is_the_object_of_the_design() {
    let data = generate::artificial(20, 0).unwrap();
    let folds = folds::seeded(&data, 2, 0).unwrap();
    let learners = [mean(), walk(3)];
    let table = cross_validate(&plan(&data, &learners, &folds), &()).unwrap();
    let json = serde_json::to_value(&table).unwrap();
    let keys =
        |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(keys(&json), "dataset rows features labels protocol seed results build");
    assert_eq!(json["labels"], serde_json::json!(["y1", "y2", "y3"]));
    assert_eq!((&json["protocol"], &json["rows"]), (&"clean".into(), &20.into()));
    assert_eq!(json["results"][1]["parameters"], serde_json::json!({"iterations": 3}));
    let result = &json["results"][0];
    assert_eq!(keys(result), "learner parameters folds mean std");
    let numbers = "kl euclidean sorensen squared_chi2 fidelity intersection chebyshev clark canberra cosine \
                   fit_seconds predict_seconds";
    for object in [&result["folds"][0], &result["folds"][1], &result["mean"], &result["std"]] {
        assert_eq!(keys(object), numbers);
    }
    let kl = |fold: usize| result["folds"][fold]["kl"].as_f64().unwrap();
    // The population deviation of two numbers is half their distance.
    assert!((result["mean"]["kl"].as_f64().unwrap() - (kl(0) + kl(1)) / 2.0).abs() < 1e-15);
    assert!((result["std"]["kl"].as_f64().unwrap() - (kl(0) - kl(1)).abs() / 2.0).abs() < 1e-15);
}

#[test]
fn the_released_protocol_reports_the_best_iteration_on_the_test_fold() {
    let data = generate::artificial(100, 0).unwrap();
    let folds = folds::released(100, 0).unwrap();
    let learners = [walk(25), mean()];
    let table = cross_validate(&Plan { protocol: Protocol::Released, ..plan(&data, &learners, &folds) }, &())
        .unwrap();
    for fold in &table.results[0].folds {
        let iterations: Vec<usize> = fold.test_curve.iter().map(|(iteration, _)| *iteration).collect();
        assert_eq!(iterations, [10, 20, 25]);
        let best = fold.test_curve.iter().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        assert_eq!(fold.best_iteration, Some(best.0));
        assert_eq!(fold.scores.get("kl"), Some(best.1));
        let Prediction::Distributions(predicted) = &fold.prediction else {
            panic!("walk gives distributions")
        };
        let truth = data.targets().select(&fold.rows);
        assert_eq!(mean_over_rows(&KL, &truth, predicted, None), best.1);
    }
    assert!(table.results[0].folds.iter().any(|fold| fold.best_iteration == Some(20)));
    assert!(table.results[1].folds.iter().all(|fold| fold.best_iteration.is_none()));
    let clean = cross_validate(&plan(&data, &learners, &folds), &()).unwrap();
    let kl = |table: &CrossValidation| table.results[0].mean.get("kl").unwrap();
    assert!(kl(&clean) >= kl(&table), "the last iteration cannot beat the best");
}

#[test]
fn ordered_labels_are_measured_by_their_distance_too() {
    let data = generate::named("mixture", 60, 0, &Settings::new()).unwrap();
    let folds = folds::seeded(&data, 3, 0).unwrap();
    let table = cross_validate(&plan(&data, &[mean()], &folds), &()).unwrap();
    let names: Vec<&str> = table.results[0].mean.iter().map(|(name, _)| name).skip(10).collect();
    assert_eq!(
        names,
        ["mae_mode", "mae_mean", "mae_median", "cs_5", "cs_1", "fit_seconds", "predict_seconds"]
    );
    assert_eq!(table.results[0].mean.get("cs_5"), Some(1.0), "five labels are never more than 5 apart");
}

/// Interrupts at the given number of events, and counts the calls.
struct Counting {
    break_after: usize,
    events: AtomicUsize,
    fitted: AtomicUsize,
    resumed: AtomicUsize,
}

impl Counting {
    fn breaking_after(break_after: usize) -> Self {
        Counting {
            break_after,
            events: AtomicUsize::new(0),
            fitted: AtomicUsize::new(0),
            resumed: AtomicUsize::new(0),
        }
    }
}

impl Watcher for Counting {
    fn event(&self, _: JobId, _: &FitEvent) -> ControlFlow<()> {
        match self.events.fetch_add(1, Ordering::Relaxed) + 1 >= self.break_after {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn finished(&self, _: JobId, _: &FoldResult) {
        self.fitted.fetch_add(1, Ordering::Relaxed);
    }

    fn resumed(&self, _: JobId, _: &FoldResult) {
        self.resumed.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn an_interrupted_run_resumes_from_its_journal_with_the_same_object() {
    let data = generate::artificial(60, 0).unwrap();
    let folds = folds::seeded(&data, 4, 0).unwrap();
    let learners = [walk(25), mean()];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let run = |watcher: &Counting| {
        let journal = Journal::open(&path).unwrap();
        cross_validate(&Plan { journal: Some(&journal), ..plan(&data, &learners, &folds) }, watcher)
    };
    // Each walk reports 27 events: the third fold is in the middle.
    let stopped = Counting::breaking_after(60);
    assert!(matches!(run(&stopped), Err(Error::Interrupted)));
    assert_eq!(stopped.fitted.into_inner(), 2);

    // What a kill in the middle of a line leaves behind.
    let mut bytes = std::fs::read(&path).unwrap();
    let whole = bytes.len();
    bytes.extend_from_within(..whole / 3);
    std::fs::write(&path, &bytes).unwrap();

    let going_on = Counting::breaking_after(usize::MAX);
    let resumed = run(&going_on).unwrap();
    assert_eq!((going_on.resumed.into_inner(), going_on.fitted.into_inner()), (2, 6));
    let unbroken = cross_validate(&plan(&data, &learners, &folds), &()).unwrap();
    assert_eq!(timeless(resumed.clone()), timeless(unbroken));

    let again = Counting::breaking_after(1);
    assert_eq!(run(&again).unwrap(), resumed, "a whole journal gives the object again, times included");
    assert_eq!((again.resumed.into_inner(), again.fitted.into_inner()), (8, 0));
}

#[test]
fn a_journal_is_not_taken_for_another_runs() {
    let data = generate::artificial(40, 0).unwrap();
    let folds = folds::seeded(&data, 2, 0).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path().join("journal.jsonl")).unwrap();
    let fitted = |plan: &Plan<'_>| {
        let watcher = Counting::breaking_after(usize::MAX);
        cross_validate(plan, &watcher).unwrap();
        watcher.fitted.into_inner()
    };
    let learners = [walk(12)];
    let run = Plan { journal: Some(&journal), ..plan(&data, &learners, &folds) };
    assert_eq!(fitted(&run), 2);
    assert_eq!(fitted(&run), 0);
    assert_eq!(fitted(&Plan { seed: 8, ..run }), 2, "another seed");
    assert_eq!(fitted(&Plan { learners: &[walk(13)], ..run }), 2, "other parameters");
    assert_eq!(fitted(&Plan { protocol: Protocol::Released, ..run }), 2, "another protocol");
    assert_eq!(fitted(&Plan { folds: &folds::seeded(&data, 2, 1).unwrap(), ..run }), 2, "other folds");
    let other = generate::artificial(40, 1).unwrap();
    assert_eq!(fitted(&Plan { data: &other, ..run }), 2, "other data of the same name");
    assert_eq!(fitted(&Plan { build: Build { id: "2", commit: None }, ..run }), 2, "another build");
    assert_eq!(journal.len(), 14);
    let again = Journal::open(folder.path().join("journal.jsonl")).unwrap();
    assert_eq!(["1", "2", "3"].map(|build| again.of_other_builds(build)), [2, 12, 14]);
}

#[test]
fn copies_of_a_row_are_held_out_together_in_the_released_protocol() {
    /// Holds rows out as learners do, and compares what it would learn from with them.
    struct HoldsOut;
    impl Learner for HoldsOut {
        fn facts(&self) -> &'static Facts {
            const { &Facts::new("holds-out", "a test", "") }
        }

        fn settings(&self) -> Settings {
            Settings::new()
        }

        fn fit(&self, data: &Dataset, context: &mut FitContext<'_>) -> Result<Fitted> {
            let rows = |rows: &[usize]| -> BTreeSet<Vec<u32>> {
                let bits = |row: &[f32]| row.iter().map(|value| value.to_bits()).collect();
                rows.iter().map(|&row| bits(data.targets().row(row))).collect()
            };
            let (training, held) = hold_out(data, 0.3, context.seed);
            assert!(!held.is_empty() && rows(&training).is_disjoint(&rows(&held)));
            mean().fit(data, context)
        }
    }
    let data = generate::artificial(60, 0).unwrap();
    let folds = folds::released(data.rows(), 0).unwrap();
    let learners: [Box<dyn Learner>; 1] = [Box::new(HoldsOut)];
    let run = Plan { protocol: Protocol::Released, ..plan(&data, &learners, &folds) };
    cross_validate(&run, &()).unwrap();
}

#[test]
fn damage_before_the_last_line_names_the_line() {
    let data = generate::artificial(40, 0).unwrap();
    let folds = folds::seeded(&data, 3, 0).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    let journal = Journal::open(&path).unwrap();
    cross_validate(&Plan { journal: Some(&journal), ..plan(&data, &[mean()], &folds) }, &()).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let refusal = |text: String| {
        std::fs::write(&path, text).unwrap();
        Journal::open(&path).map(|_| ()).unwrap_err().to_string()
    };
    let mut lines: Vec<&str> = text.lines().collect();
    let half = &lines[1][..40];
    lines[1] = half;
    assert!(refusal(lines.join("\n") + "\n").contains("journal.jsonl line 2: not a finished fold"));
    assert!(refusal(text.replacen("\"kl\":", "\"lk\":", 1)).contains("line 1: not a finished fold"));

    std::fs::write(&path, text.replacen("\"labels\":3", "\"labels\":2", 1)).unwrap();
    let journal = Journal::open(&path).unwrap();
    let error = cross_validate(&Plan { journal: Some(&journal), ..plan(&data, &[mean()], &folds) }, &());
    assert!(error.unwrap_err().to_string().contains("a fold in the journal is damaged"));

    assert!(refusal("my notes".to_string()).contains("line 1: not a journal"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "my notes", "a file that is not ours stays as it is");
}

#[test]
fn learners_without_events_are_interrupted_between_folds() {
    struct Impatient;
    impl Watcher for Impatient {
        fn event(&self, _: JobId, _: &FitEvent) -> ControlFlow<()> {
            ControlFlow::Continue(())
        }
        fn finished(&self, _: JobId, _: &FoldResult) {
            panic!("nothing was to be fitted");
        }
        fn interrupted(&self) -> bool {
            true
        }
    }
    let data = generate::artificial(20, 0).unwrap();
    let folds = folds::seeded(&data, 2, 0).unwrap();
    let stopped = cross_validate(&plan(&data, &[mean()], &folds), &Impatient);
    assert!(matches!(stopped, Err(Error::Interrupted)));
}

#[test]
fn a_failed_fit_names_its_learner_and_fold() {
    let data = generate::artificial(20, 0).unwrap();
    // The second fold learns from fewer rows than the first.
    let folds = folds::from_numbers(&[vec![0; 5], vec![1; 15]].concat()).unwrap();
    let fragile = Walk { iterations: 3, fails_on_fewer_rows_than: 10 };
    let learners = [mean(), Box::new(fragile) as Box<dyn Learner>];
    for threads in [1, 3] {
        let error = cross_validate(&Plan { threads, ..plan(&data, &learners, &folds) }, &()).unwrap_err();
        assert_eq!(error.to_string(), "walk, fold 1: the loss is not finite; try a smaller step");
        assert_eq!(error.kind(), ldlf_core::ErrorKind::Training);
    }
}

#[test]
fn a_plan_that_cannot_work_is_refused_before_the_first_fit() {
    let data = generate::artificial(5, 0).unwrap();
    let refusal = |learners: &[Box<dyn Learner>], folds: &[Fold]| {
        cross_validate(&plan(&data, learners, folds), &()).unwrap_err().to_string()
    };
    let fold = |training: &[usize], test: &[usize]| Fold { training: training.to_vec(), test: test.to_vec() };
    assert_eq!(refusal(&[], &[fold(&[0], &[1])]), "there is no learner to evaluate; name at least one");
    assert_eq!(refusal(&[mean()], &[]), "there is no fold to evaluate on");
    assert_eq!(refusal(&[mean()], &[fold(&[], &[1])]), "fold 0 has no rows to learn from");
    assert_eq!(
        refusal(&[mean()], &[fold(&[0], &[5])]),
        "fold 0 names row 5, artificial has 5 rows counted from 0"
    );
}

#[test]
fn the_results_folder_holds_the_object_the_predictions_and_the_curves() {
    let data = generate::artificial(20, 0).unwrap();
    let folds = folds::seeded(&data, 2, 0).unwrap();
    let learners = [walk(10), walk(3)];
    let table = cross_validate(&Plan { protocol: Protocol::Released, ..plan(&data, &learners, &folds) }, &())
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("results");
    results::save(&folder, &table, &data).unwrap();
    results::save(&folder, &table, &data).unwrap();

    let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
    let json: serde_json::Value = serde_json::from_str(&read("results.json")).unwrap();
    assert_eq!(json, serde_json::to_value(&table).unwrap());
    let predictions = read("predictions/walk-1.csv");
    let mut lines = predictions.lines();
    assert_eq!(lines.next(), Some("row,truth_y1,truth_y2,truth_y3,predicted_y1,predicted_y2,predicted_y3"));
    let numbers: Vec<f32> = lines.next().unwrap().split(',').map(|cell| cell.parse().unwrap()).collect();
    let row = folds[1].test[0];
    assert_eq!(numbers[0] as usize, row);
    assert_eq!(&numbers[1..4], data.targets().row(row));
    assert_eq!(lines.count(), folds[1].test.len() - 1);

    let curve = read("curves/walk-0.csv");
    let lines: Vec<&str> = curve.lines().collect();
    assert_eq!((lines[0], lines.len()), ("iteration,loss,validation_kl,leaf_update,test_kl", 11));
    assert!(lines[1].starts_with("1,0.") && lines[1].ends_with(",,0,"), "{}", lines[1]);
    let last: Vec<&str> = lines[10].split(',').collect();
    assert_eq!((last[0], last[3]), ("10", "1"));
    assert_eq!(last[4].parse::<f64>().unwrap(), table.results[0].folds[0].test_curve[0].1);
    assert!(
        Path::new(&folder.join("predictions/walk.2-0.csv")).exists(),
        "the second walk has its own files"
    );
}
