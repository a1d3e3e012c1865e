//! Training on virtual shards: whoever holds them, the model is the same to the bit, and it is as good as that of one process.

use ldlf_core::stored::Parts;
use ldlf_core::{Csr, Dataset, Features, FitContext, LearnerEntry, Matrix, Settings, Threads, TrainedModel};
use ldlf_forest::Forest;
use ldlf_forest::shards::{Coordinator, Holding, Table, division};

const SHARDS: usize = 6;

/// Rows on a curve whose labels follow the first two columns.
fn rows(count: usize, features: usize) -> Dataset {
    let value =
        |row: usize, column: usize| ((row * (column + 3) * 7919 + column * 31) % 1000) as f32 / 500.0 - 1.0;
    let x = (0..count).flat_map(|row| (0..features).map(move |column| value(row, column))).collect();
    let y = (0..count).flat_map(|row| {
        let scores = [value(row, 0), value(row, 1), value(row, 0) * value(row, 1)].map(|v| (2.0 * v).exp());
        let sum: f32 = scores.iter().sum();
        scores.map(|score| score / sum)
    });
    let targets = Matrix::new(count, 3, y.collect()).unwrap();
    Dataset::new(Features::Dense(Matrix::new(count, features, x).unwrap()), targets).unwrap()
}

/// The same rows with few entries stored, and one numeric column.
fn sparse_rows(count: usize) -> Dataset {
    let dense = rows(count, 8);
    let mut sparse = Csr::with_columns(8);
    for row in 0..count {
        let mut entries = Vec::new();
        dense.features().unwrap().for_each_in_row(row, |column, v| {
            if column == 0 || v > 0.5 {
                entries.push((column as u32, v));
            }
        });
        sparse.push_row(entries);
    }
    dense.with_inputs(Features::Sparse(sparse)).unwrap()
}

const SMALL: [&str; 9] = [
    "choose=false",
    "trees=3",
    "depth=4",
    "batch_size=64",
    "epochs=4",
    "min_iterations=0",
    "leaf_every=5",
    "leaf_iterations=3",
    "dropout=0.2",
];

fn settings(more: &[&str]) -> Settings {
    Settings::parse([&SMALL[..], more].concat()).unwrap()
}

/// Holdings of which each has the virtual shards that `owner` gives it.
fn holdings(data: &Dataset, workers: usize, threads: usize, owner: impl Fn(usize) -> usize) -> Vec<Holding> {
    let mut holdings: Vec<Holding> =
        (0..workers).map(|_| Holding::new(Threads::new(threads).unwrap())).collect();
    for (number, rows) in division(data.rows(), SHARDS).enumerate() {
        let first = rows.start as u64;
        let own = data.select(&rows.collect::<Vec<_>>());
        holdings[owner(number)].add(number, first, own).unwrap();
    }
    holdings
}

/// Trains to the end; `disturb(round, holdings)` may replace holdings before every round.
fn train(
    data: &Dataset,
    settings: &Settings,
    mut holdings: Vec<Holding>,
    mut disturb: impl FnMut(usize, &mut Vec<Holding>),
) -> TrainedModel {
    let table = Table::of(data, SHARDS);
    let mut coordinator = Coordinator::new(settings, table, 3, Threads::one()).unwrap();
    let mut round = 0;
    while let Some(question) = coordinator.question().unwrap() {
        disturb(round, &mut holdings);
        let answers: Vec<Vec<u8>> = holdings
            .iter_mut()
            .map(|holding| {
                holding.answer(&question).unwrap().unwrap_or_else(|| {
                    let anew = coordinator.question_for_newcomer().unwrap().unwrap();
                    holding.answer(&anew).unwrap().expect("a question with everything can be answered")
                })
            })
            .collect();
        coordinator.hear(&answers).unwrap();
        round += 1;
    }
    coordinator.model().unwrap()
}

fn bytes(model: &TrainedModel) -> Vec<u8> {
    model.to_parts().to_bytes().unwrap()
}

#[test]
fn the_model_is_the_same_to_the_bit_whoever_holds_the_shards() {
    let weights = (0..500).map(|row| 0.5 + (row % 3) as f32).collect();
    let weighted = rows(500, 5).with_weights(weights).unwrap();
    let options: [&[&str]; 3] =
        [&[], &["early_stopping=false", "scaling=common"], &["leaf_rows=batches", "loss=forest"]];
    for data in [rows(500, 5), sparse_rows(500), weighted] {
        for more in options {
            let settings = settings(more);
            let of = |workers: usize, threads: usize, owner: fn(usize) -> usize| {
                bytes(&train(&data, &settings, holdings(&data, workers, threads, owner), |_, _| {}))
            };
            let alone = of(1, 1, |_| 0);
            assert!(alone == of(1, 3, |_| 0), "three threads");
            assert!(alone == of(2, 1, |shard| shard / 3), "two workers with neighbouring shards");
            assert!(
                alone == of(4, 2, |shard| shard % 3),
                "a worker without shards, the others with scattered ones"
            );
        }
    }
}

#[test]
fn a_worker_that_is_replaced_in_any_round_leaves_the_same_model() {
    let (data, settings) = (rows(300, 5), settings(&[]));
    let two = || holdings(&data, 2, 1, |shard| shard / 3);
    let alone = bytes(&train(&data, &settings, two(), |_, _| {}));
    for period in [1, 2, 7] {
        let replaced = train(&data, &settings, two(), |round, holdings| {
            if round % period == 0 {
                holdings[1] = two().pop().unwrap();
            }
        });
        assert!(bytes(&replaced) == alone, "every {period} rounds");
    }
}

#[test]
fn answers_that_are_missing_change_nothing() {
    let data = rows(100, 3);
    let mut coordinator =
        Coordinator::new(&settings(&[]), Table::of(&data, SHARDS), 0, Threads::one()).unwrap();
    let mut holdings = holdings(&data, 2, 1, |shard| shard / 3);
    let question = coordinator.question().unwrap().unwrap();
    let one = holdings[0].answer(&question).unwrap().unwrap();
    let other = holdings[1].answer(&question).unwrap().unwrap();
    let error = coordinator.hear(&[&one]).unwrap_err().to_string();
    assert_eq!(error, "the workers' answers do not cover every virtual shard once");
    assert_eq!(coordinator.question().unwrap().unwrap(), question);
    coordinator.hear(&[other, one]).unwrap();
    assert_ne!(coordinator.question().unwrap().unwrap(), question);
}

#[test]
fn shards_learn_as_well_as_one_process_does() {
    let (data, test) = (rows(2000, 5), rows(2400, 5).select(&(2000..2400).collect::<Vec<_>>()));
    let settings = settings(&["epochs=20", "dropout=0"]);
    let here = {
        let learner = (LearnerEntry::of::<Forest>().build)(&settings).unwrap();
        TrainedModel::fit(&*learner, &data, &mut FitContext::new(3, Threads::one(), &mut ())).unwrap()
    };
    let there = train(&data, &settings, holdings(&data, 2, 1, |shard| shard / 3), |_, _| {});
    let kl = |model: &TrainedModel| {
        let found = model.predict_with(test.inputs(), &Threads::one()).unwrap().into_distributions().unwrap();
        let of_row = |row| ldlf_core::measures::kl(test.targets().row(row), found.row(row));
        (0..test.rows()).map(of_row).sum::<f64>() / test.rows() as f64
    };
    let (here, there) = (kl(&here), kl(&there));
    assert!(there < 0.05 && (there - here).abs() < 0.3 * here, "{here} in one process, {there} on shards");
}

#[test]
fn the_model_is_an_ordinary_one() {
    let data = rows(200, 4);
    let model = train(&data, &settings(&[]), holdings(&data, 1, 1, |_| 0), |_, _| {});
    let parts = Parts::from_bytes(&bytes(&model)).unwrap();
    let read = TrainedModel::from_parts(parts, &[LearnerEntry::of::<Forest>()]).unwrap();
    assert_eq!(read.learner, "sldlf");
    let predicted = |model: &TrainedModel| model.predict_with(data.inputs(), &Threads::one()).unwrap();
    assert_eq!(predicted(&read), predicted(&model));
}

#[test]
fn what_cannot_be_trained_on_shards_is_one_sentence() {
    let data = rows(20, 2);
    let refused = |settings: &[&str], table: Table| {
        let settings = Settings::parse(settings).unwrap();
        Coordinator::new(&settings, table, 0, Threads::one()).err().unwrap().to_string()
    };
    assert_eq!(
        refused(&["init=greedy"], Table::of(&data, 2)),
        "init=greedy grows trees on all rows in one place; use init=random here"
    );
    assert_eq!(refused(&[], Table::of(&data, 0)), "virtual_shards must be at least 1, got 0");
    assert_eq!(refused(&["trees=0"], Table::of(&data, 2)), "trees must be at least 1, got 0");
    let empty = Table { rows: 0, ..Table::of(&data, 2) };
    assert_eq!(refused(&[], empty), "there are no rows to learn from");
}

#[test]
fn a_training_that_is_stopped_keeps_what_it_has_learnt() {
    let data = rows(200, 4);
    let mut coordinator =
        Coordinator::new(&settings(&[]), Table::of(&data, SHARDS), 0, Threads::one()).unwrap();
    let mut holdings = holdings(&data, 1, 1, |_| 0);
    let mut events = 0;
    while let Some(question) = coordinator.question().unwrap() {
        let answer = holdings[0].answer(&question).unwrap().unwrap();
        events += coordinator.hear(&[answer]).unwrap().len();
        if events == 3 {
            coordinator.stop();
        }
    }
    let model = coordinator.model().unwrap();
    assert_eq!((model.summary.iterations, model.summary.stopped), (3, ldlf_core::StopReason::Interrupted));
}

#[test]
fn more_virtual_shards_than_rows_are_fine() {
    let data = rows(4, 2);
    let model = train(
        &data,
        &settings(&["early_stopping=true", "validation_fraction=0.9"]),
        holdings(&data, 1, 1, |_| 0),
        |_, _| {},
    );
    assert!(model.summary.iterations > 0);
}
