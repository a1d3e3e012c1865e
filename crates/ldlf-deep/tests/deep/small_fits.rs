//! Small data, images and tables, and short fits of the deep learners on them.

use std::ops::ControlFlow;
use std::sync::Arc;

use ldlf_core::images::{Image, ImageSource};
use ldlf_core::measures::{KL, mean_over_rows};
use ldlf_core::stored::Parts;
use ldlf_core::{
    Dataset, Features, FitContext, FitEvent, Images, InProgress, LearnerEntry, Matrix, Observer, Result,
    Settings, StopReason, Threads, TrainedModel,
};
use ldlf_deep::entries;

/// Squares of one colour each, from dark red to bright blue.
#[derive(Debug)]
pub struct Squares(pub Vec<String>);

impl Squares {
    pub fn images(count: usize) -> Images {
        Images::all(Arc::new(Squares((0..count).map(|number| format!("square-{number:03}.png")).collect())))
    }
}

pub fn colour(number: usize, count: usize) -> f64 {
    ((number * 37) % count) as f64 / count as f64
}

impl ImageSource for Squares {
    fn len(&self) -> usize {
        self.0.len()
    }
    fn name(&self, image: usize) -> &str {
        &self.0[image]
    }
    fn resized(&self, image: usize, side: usize) -> Result<Arc<Image>> {
        let blue = (255.0 * colour(image, self.len())) as u8;
        let rgb = [255 - blue, 30, blue].repeat(side * side);
        Ok(Arc::new(Image { width: side, height: side, rgb }))
    }
}

pub const ROWS: usize = 96;

/// Targets that follow the colour: how blue, how red, and a constant rest.
pub fn targets() -> Matrix<f32> {
    let row = |number| {
        let blue = colour(number, ROWS) as f32;
        [0.8 * blue, 0.8 * (1.0 - blue), 0.2]
    };
    Matrix::from_rows(&(0..ROWS).map(row).collect::<Vec<_>>())
}

pub fn squares() -> Dataset {
    Dataset::new(Squares::images(ROWS), targets()).unwrap().with_label_values(vec![0.0, 1.0, 2.0]).unwrap()
}

/// The same targets over a table whose first column is the colour.
pub fn table() -> Dataset {
    let row = |number: usize| [colour(number, ROWS) as f32 * 10.0, (number % 7) as f32];
    let features = Features::Dense(Matrix::from_rows(&(0..ROWS).map(row).collect::<Vec<_>>()));
    Dataset::new(features, targets()).unwrap()
}

pub fn entry(name: &str) -> LearnerEntry {
    entries().into_iter().find(|entry| entry.name() == name).unwrap()
}

/// A small network and few, large steps: enough for squares of one colour.
pub const QUICK: [&str; 7] =
    ["side=8", "channels=3", "epochs=6", "batch_size=16", "learning_rate=0.01", "jitter=0", "crop=0"];
pub const FEW_TREES: [&str; 3] = ["trees=3", "depth=3", "leaf_every=3"];

pub fn settings(learner: &str, more: &[&str]) -> Settings {
    let trees: &[&str] = if learner == "dldl" { &[] } else { &FEW_TREES };
    Settings::parse([&QUICK[..], trees, more].concat()).unwrap()
}

pub fn fit_with(
    learner: &str,
    more: &[&str],
    data: &Dataset,
    context: &mut FitContext<'_>,
) -> Result<TrainedModel> {
    TrainedModel::fit(&*(entry(learner).build)(&settings(learner, more))?, data, context)
}

pub fn fit(learner: &str, more: &[&str], data: &Dataset) -> TrainedModel {
    fit_with(learner, more, data, &mut FitContext::new(0, Threads::one(), &mut ())).unwrap()
}

pub fn bytes(model: &TrainedModel) -> Vec<u8> {
    model.to_parts().to_bytes().unwrap()
}

pub fn kl(model: &TrainedModel, data: &Dataset) -> f64 {
    let predicted = model.predict_with(data.inputs(), &Threads::one()).unwrap().into_distributions().unwrap();
    mean_over_rows(&KL, data.targets(), &predicted, None)
}

/// The K-L divergence of the mean distribution.
pub fn kl_of_mean(data: &Dataset) -> f64 {
    let mean: Vec<f32> = data.mean_target().iter().map(|&p| p as f32).collect();
    mean_over_rows(&KL, data.targets(), &Matrix::new(ROWS, mean.len(), mean.repeat(ROWS)).unwrap(), None)
}

/// Stops after an iteration and keeps a checkpoint of it.
pub struct StopAt(pub usize, pub Option<Parts>);

impl Observer for StopAt {
    fn observe(&mut self, event: &FitEvent, state: &dyn InProgress) -> ControlFlow<StopReason> {
        match event {
            FitEvent::Iteration { iteration, .. } if *iteration == self.0 => {
                self.1 = state.checkpoint();
                ControlFlow::Break(StopReason::Interrupted)
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

pub fn ends_with_the_same_bytes_when_resumed(learner: &str, more: &[&str], data: &Dataset) {
    let whole = bytes(&fit(learner, more, data));
    // In the middle of an epoch, between two leaf updates.
    let mut stop = StopAt(8, None);
    fit_with(learner, more, data, &mut FitContext::new(0, Threads::one(), &mut stop)).unwrap();
    let checkpoint = Parts::from_bytes(&stop.1.unwrap().to_bytes().unwrap()).unwrap();
    let mut observer = ();
    let mut context = FitContext::new(0, Threads::one(), &mut observer);
    context.resume = Some(checkpoint);
    assert_eq!(whole, bytes(&fit_with(learner, more, data, &mut context).unwrap()), "{learner} {more:?}");
}
