//! The work whose instructions `benches/counts.py` counts: `counts` lists the names, `counts NAME` does the work once, on one thread.
//!
//! Only what happens inside [`counted`] counts: data and models are made before.

use std::hint::black_box;

use ldlf_baselines::entries;
use ldlf_benches::{Bench, SMALL, Sizes};
use ldlf_core::{Dataset, Error, FitContext, Model, Result, RowPredictor, Settings, Threads};
use ldlf_forest::single_row::SingleRow;

/// Rows like those of Movie: few inputs of many differ from zero.
const SPARSE: Sizes = Sizes { n: 1024, m: 1869, tau: 64, K: 5, h: 7, C: 5, batch: 256 };

/// Rows for grown trees.
const GROWN: Sizes = Sizes { n: 600, m: 60, tau: 1, K: 1, h: 1, C: 6, batch: 1 };

/// Every piece of work with its name.
const WORKS: [(&str, fn() -> Result<()>); 9] = [
    ("step, dense", || step(SMALL.dense(), &SMALL)),
    ("step, sparse", || step(SPARSE.sparse(0.01), &SPARSE)),
    ("leaf update", leaf_update),
    ("prediction", prediction),
    ("single row", single_row),
    ("random-forest, fit", || fit("random-forest", &["trees=4"])),
    ("extra-trees, fit", || fit("extra-trees", &["trees=4"])),
    ("ldlogitboost, fit", || fit("ldlogitboost", &["rounds=4", "validation_fraction=0", "max_features=1"])),
    ("random-forest, prediction", grown_prediction),
];

/// Where instructions are counted.
#[inline(never)]
fn counted(work: &mut dyn FnMut()) {
    work();
}

fn main() -> Result<()> {
    let Some(name) = std::env::args().nth(1) else {
        WORKS.iter().for_each(|(name, _)| println!("{name}"));
        return Ok(());
    };
    match WORKS.iter().find(|(own, _)| *own == name) {
        Some((_, work)) => work(),
        None => Err(Error::usage(format!("there is no work {name:?}; without a name they are listed"))),
    }
}

fn step(data: Dataset, sizes: &Sizes) -> Result<()> {
    let mut bench = Bench::new(data, sizes, Threads::one());
    // The first steps touch memory for the first time.
    bench.step();
    counted(&mut || {
        black_box(bench.step());
    });
    Ok(())
}

fn leaf_update() -> Result<()> {
    let sizes = Sizes { n: 512, ..SMALL };
    let mut bench = Bench::new(sizes.dense(), &sizes, Threads::one());
    counted(&mut || bench.update_leaves(5));
    Ok(())
}

fn prediction() -> Result<()> {
    let sizes = Sizes { n: 1024, ..SMALL };
    let (forest, data) = Bench::new(sizes.dense(), &sizes, Threads::one()).forest();
    counted(&mut || {
        black_box(forest.predict(data.inputs(), &Threads::one()).expect("its own features fit"));
    });
    Ok(())
}

fn single_row() -> Result<()> {
    let sizes = Sizes { n: 256, ..SMALL };
    let (forest, data) = Bench::new(sizes.dense(), &sizes, Threads::one()).forest();
    let (mut predictor, features) = (SingleRow::new(&forest), data.features()?);
    counted(&mut || {
        for row in 0..100 {
            black_box(predictor.predict(features.row(row)).expect("its own rows fit"));
        }
    });
    Ok(())
}

fn fitted(name: &str, settings: &[&str], data: &Dataset) -> Result<Box<dyn Model>> {
    let entry = entries().into_iter().find(|entry| entry.name() == name).expect("a learner of that name");
    let learner = (entry.build)(&Settings::parse(settings)?)?;
    Ok(learner.fit(data, &mut FitContext::new(0, Threads::one(), &mut ()))?.model)
}

fn fit(name: &str, settings: &[&str]) -> Result<()> {
    let data = GROWN.dense();
    let mut outcome = Ok(());
    counted(&mut || outcome = fitted(name, settings, &data).map(|_| ()));
    outcome
}

fn grown_prediction() -> Result<()> {
    let data = GROWN.dense();
    let model = fitted("random-forest", &["trees=20"], &data)?;
    counted(&mut || {
        black_box(model.predict(data.inputs(), &Threads::one()).expect("its own features fit"));
    });
    Ok(())
}
