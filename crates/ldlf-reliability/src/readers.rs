//! One entry point to every reader, for the mutation run and the fuzz targets: bytes in, an error or something valid out.

use std::path::PathBuf;

use ldlf::internals::core::LearnerEntry;
use ldlf::internals::core::images::ImageSource;
use ldlf::internals::core::stored::Parts;
use ldlf::internals::core::targets::Spread;
use ldlf::internals::deep::images;
use ldlf::internals::io::read::{Format, LongColumns, ReadOptions, read, stream};
use ldlf::internals::io::{fold_file, journal};
use ldlf::internals::math::numeric::on_simplex;
use ldlf::{
    Dataset, Features, FitContext, Inputs, Matrix, Prediction, Result, Schema, Settings, Threads,
    TrainedModel, registry,
};

use crate::corpus::{self, Sample};
use crate::learners::{checkpoint_settings, small_data};

/// The readers of files that are no tables.
const OTHERS: [&str; 8] =
    ["model", "checkpoint", "journal", "results", "sweep", "images", "folds", "settings"];

/// The names of all readers: those of every format of tables, and the others.
pub fn names() -> impl Iterator<Item = &'static str> {
    OTHERS.into_iter().chain(Format::ALL.iter().map(|format| format.name()))
}

/// A reader that can be run on many inputs.
pub struct Reader {
    /// One of [`names`].
    pub name: &'static str,
    folder: tempfile::TempDir,
    learners: Vec<LearnerEntry>,
    data: Dataset,
}

impl Reader {
    /// The reader of a name out of [`names`].
    ///
    /// # Panics
    /// When there is no such reader, or no temporary folder.
    pub fn new(name: &str) -> Self {
        let name = names().find(|known| *known == name).expect("a known name");
        Reader {
            name,
            folder: tempfile::tempdir().expect("a temporary folder"),
            learners: registry::learners(),
            data: small_data(),
        }
    }

    /// Valid files of this kind.
    ///
    /// # Panics
    /// When the corpus has none of them.
    pub fn corpus(&self) -> Vec<Sample> {
        match self.name {
            "model" => corpus::models(),
            "checkpoint" => corpus::checkpoints(),
            "journal" => corpus::evaluations().0,
            "results" => corpus::evaluations().1,
            "sweep" => corpus::sweep_tables(),
            "csv" => corpus::table(','),
            "tsv" => corpus::table('\t'),
            "parquet" => corpus::parquet_tables(),
            "arrow" => corpus::arrow_tables(),
            "jsonl" => corpus::json_lines(),
            "xlsx" => corpus::workbooks(),
            "npz" => corpus::npz(),
            "mat" => corpus::mat(),
            "svm" => corpus::svm(),
            "images" => corpus::images(),
            "folds" => corpus::fold_file(),
            "settings" => corpus::settings(),
            other => panic!("the corpus has no whole {other} files; add some"),
        }
    }

    /// Reads the bytes in every way that this reader has. Errors are allowed; a result must be valid.
    ///
    /// # Panics
    /// When what was read is not valid: numbers that are not finite, distributions off the simplex.
    pub fn try_bytes(&self, bytes: &[u8]) -> Result<()> {
        match self.name {
            "model" => self.model(bytes),
            "checkpoint" => self.checkpoint(bytes),
            "journal" => {
                let path = self.file("journal", bytes);
                journal::read(&path)?;
                ldlf_report::load::read(&path)?;
                journal::Journal::open(&path).map(drop)
            }
            "results" => ldlf_report::load::read(&self.file("results.json", bytes)).map(drop),
            "sweep" => ldlf_report::load::read(&self.file("sweep.csv", bytes)).map(drop),
            "images" => self.images(bytes),
            "folds" => fold_file::read(&self.file("folds", bytes), &self.data).map(drop),
            "settings" => {
                let text = String::from_utf8_lossy(bytes);
                let settings = Settings::parse(text.lines())?;
                // Each learner has some of the names: all learners are tried, and any error will do.
                self.learners.iter().map(|entry| (entry.build)(&settings).map(drop)).fold(Ok(()), Result::and)
            }
            format => self.table(format.parse()?, bytes),
        }
    }

    /// As an archive of images, each of them decoded.
    fn images(&self, bytes: &[u8]) -> Result<()> {
        let files = images::open(&self.file("images.zip", bytes), 0)?;
        for image in 0..files.len() {
            let image = files.resized(image, 8)?;
            assert!(image.width.min(image.height) == 8 && image.rgb.len() == 3 * image.width * image.height);
        }
        Ok(())
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).expect("the folder can be written");
        path
    }

    fn model(&self, bytes: &[u8]) -> Result<()> {
        let model = TrainedModel::from_parts(Parts::from_bytes(bytes)?, &self.learners)?;
        model.model.inspect();
        if model.features > 1000 {
            return Ok(());
        }
        let rows = (0..3 * model.features).map(|i| (i % 7) as f32 - 3.0).collect();
        let inputs = Inputs::Table(Features::Dense(Matrix::new(3, model.features, rows)?));
        check_prediction(&model.predict_with(&inputs, &Threads::one())?);
        model.model.look_inside(inputs.table()?, &[0], &Threads::one());
        // Not every model can be exported; those that can must not panic.
        let _ = ldlf::internals::onnx::to_bytes(&model, ldlf::internals::onnx::Takes::Auto);
        Ok(())
    }

    fn checkpoint(&self, bytes: &[u8]) -> Result<()> {
        let entry = registry::find("sldlf")?;
        let learner = (entry.build)(&checkpoint_settings())?;
        let mut silent = ();
        let mut context = FitContext::new(0, Threads::one(), &mut silent);
        context.resume = Some(Parts::from_bytes(bytes)?);
        let model = TrainedModel::fit(&*learner, &self.data, &mut context)?;
        check_prediction(&model.predict_with(self.data.inputs(), &Threads::one())?);
        Ok(())
    }

    /// As a table to learn from, with several sets of roles, and as a stream of rows to predict.
    fn table(&self, format: Format, bytes: &[u8]) -> Result<()> {
        let path = self.file("table", bytes);
        let plain = ReadOptions { format: Some(format), ..ReadOptions::default() };
        let named = ReadOptions { labels: vec!["label_*".into()], ..plain.clone() };
        let without_text = ReadOptions { ignore: vec!["who".into()], ..named.clone() };
        let roles = ReadOptions {
            ignore: vec!["age".into()],
            sample_weights: Some("w".into()),
            split_column: Some("part".into()),
            group: Some("who".into()),
            ..named.clone()
        };
        let single = ReadOptions {
            label_column: Some(
                if format == Format::Csv || format == Format::Tsv { "age" } else { "w" }.into(),
            ),
            spread: Some(Spread::Gaussian { sigma: 1.0 }),
            ignore: if matches!(format, Format::Csv | Format::Tsv) {
                vec!["part".into(), "who".into()]
            } else {
                vec![]
            },
            ..plain.clone()
        };
        let long = LongColumns { item: "who".into(), annotator: Some("part".into()), label: "age".into() };
        let votes = ReadOptions {
            long: Some(long),
            weigh_annotators: true,
            ignore: vec!["w".into()],
            ..plain.clone()
        };
        let classes = ReadOptions { label_column: Some("who".into()), ..plain.clone() };
        // Not every set of roles fits every table: one that does is enough.
        let (mut read_once, mut last) = (false, Ok(()));
        let spread = ReadOptions { spread: single.spread.clone(), ..plain.clone() };
        for options in [&plain, &spread, &named, &without_text, &roles, &single, &votes, &classes] {
            match read(&path, options) {
                Ok(loaded) => {
                    check_dataset(&loaded.dataset);
                    read_once = true;
                }
                Err(error) => last = Err(error),
            }
        }
        for features in [2, 3, 4, 7] {
            let mut rows = match stream(&path, Some(format), &Schema::default(), features) {
                Ok(rows) => rows,
                Err(error) => {
                    last = Err(error);
                    continue;
                }
            };
            loop {
                match rows.next_block(16) {
                    Ok(Some(block)) => check_features(&block),
                    Ok(None) => break,
                    Err(error) => {
                        last = Err(error);
                        break;
                    }
                }
            }
        }
        if read_once { Ok(()) } else { last }
    }
}

fn check_features(features: &Features) {
    for row in 0..features.rows() {
        features.for_each_in_row(row, |column, value| {
            assert!(value.is_finite() && column < features.cols(), "row {row}, feature {column}: {value}");
        });
    }
}

fn check_dataset(data: &Dataset) {
    assert!(data.rows() > 0 && data.inputs().rows() == data.targets().rows());
    check_features(data.features().expect("no column of images was asked for"));
    assert!(data.targets().iter_rows().all(|row| on_simplex(row, 1e-3)), "a target off the simplex");
    if let Some(weights) = data.weights() {
        assert!(weights.len() == data.rows() && weights.iter().all(|w| w.is_finite() && *w >= 0.0));
    }
}

/// Refuses a prediction that is no distribution, or a value that is not finite.
///
/// # Panics
/// On such a prediction.
pub fn check_prediction(prediction: &Prediction) {
    match prediction {
        Prediction::Distributions(rows) => {
            let odd = rows.iter_rows().find(|row| !on_simplex(row, 1e-3));
            assert!(odd.is_none(), "a prediction off the simplex: {odd:?}");
        }
        Prediction::Values(values) => {
            assert!(values.iter().all(|value| value.is_finite()), "a prediction that is not finite");
        }
    }
}
