//! What can be asked of `ldlf`: one struct a verb, options that several verbs share stand once.

mod data;
mod images;
mod reproduce;
mod values;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use ldlf::write::estimates::Estimate;

pub use data::{ColumnOptions, DataOptions, read_with};
pub use images::{BadImages, ImageOptions, NetworkOptions};
pub use reproduce::{REPRODUCE, Reproduce};
pub use values::Axis;

/// Learn and predict label distributions: how much each label describes each row.
#[derive(Parser)]
#[command(name = "ldlf", version, after_help = OVERVIEW, max_term_width = 100)]
pub struct Cli {
    /// No progress and no messages; results and errors only.
    #[arg(short, long, global = true, display_order = 900)]
    pub quiet: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const OVERVIEW: &str = "\
Start here:
  ldlf demo                                                    no file needed
  ldlf train votes.csv --labels 'votes_*' --out votes.ldlf     learn from a table
  ldlf predict votes.ldlf new.csv --out predicted.csv          predict new rows
  ldlf cv votes.csv --labels 'votes_*' --learner sldlf,mean    compare learners

Exit codes: 0 ok, 2 usage, 3 bad data, 4 bad model file, 5 training failed, 130 interrupted, 1 anything else.";

/// The verbs.
#[derive(Subcommand)]
pub enum Command {
    /// Learn from a table and write a model file
    #[command(after_help = TRAIN)]
    Train(Train),
    /// Predict the rows of a table, in bounded memory
    #[command(after_help = PREDICT)]
    Predict(Predict),
    /// Measure a model on a table
    #[command(after_help = EVALUATE)]
    Evaluate(Evaluate),
    /// Compare learners by cross-validation
    #[command(after_help = CV)]
    Cv(Cv),
    /// Cross-validate a learner over values of its parameters
    #[command(after_help = SWEEP)]
    Sweep(Sweep),
    /// Run a table of the paper again, its published rows beside
    #[command(after_help = REPRODUCE)]
    Reproduce(Reproduce),
    /// List the learners, or describe one with its parameters
    #[command(after_help = LEARNERS)]
    Learners(Learners),
    /// List known public datasets and how to get them
    Datasets(Datasets),
    /// Write an artificial dataset
    #[command(after_help = GENERATE)]
    Generate(Generate),
    /// Show what a model file holds
    #[command(after_help = INSPECT)]
    Inspect(Inspect),
    /// Write a model for other runtimes, as ONNX
    #[command(after_help = EXPORT)]
    Export(Export),
    /// Write what a layer of a network makes of images, as a table
    #[cfg(feature = "deep")]
    #[command(after_help = FEATURES)]
    Features(Features),
    /// Make one self-contained HTML page of results and models
    #[command(after_help = REPORT)]
    Report(Report),
    /// Draw a single picture as SVG or PNG
    #[command(after_help = PLOT)]
    Plot(Plot),
    /// See it work on built-in data, within a minute
    #[command(after_help = DEMO)]
    Demo(Demo),
    /// Print a completion script for a shell
    #[command(after_help = COMPLETIONS)]
    Completions(Completions),
}

/// Randomness and threads.
#[derive(Args)]
pub struct Compute {
    /// The seed of everything random
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    /// Threads to use; 0 means one for every core. Results do not depend on it
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub threads: usize,
}

/// `ldlf train`.
#[derive(Args)]
pub struct Train {
    #[arg(help = format!(
        "The table to learn from ({}), - for standard input, or a folder or zip file of images with --table",
        values::read_extensions()
    ))]
    pub data: PathBuf,
    /// The learner; `ldlf learners` lists them
    #[arg(long, default_value = "sldlf", value_name = "NAME")]
    pub learner: String,
    /// A named set of parameters, which --set overrides
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// A parameter; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Where to write the model
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
    /// Replace an existing output
    #[arg(long)]
    pub force: bool,
    /// Stop after this many seconds and keep the best so far
    #[arg(long, value_name = "SECONDS", value_parser = values::seconds)]
    pub time_limit: Option<f64>,
    /// Write the state of the training here, to go on from with --resume
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Iterations between two checkpoints
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = values::at_least_one, requires = "checkpoint")]
    pub checkpoint_every: usize,
    /// Go on from a checkpoint; the parameters must be those it was started with, but `iterations` may grow
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
    /// Stop after this iteration, write the checkpoint if asked, and the model so far
    #[arg(long, value_name = "N", value_parser = values::at_least_one)]
    pub stop_after: Option<usize>,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub compute: Compute,
    #[command(flatten)]
    pub network: NetworkOptions,
    #[command(flatten)]
    pub options: DataOptions,
}

const TRAIN: &str = "\
Examples:
  ldlf train votes.csv --labels 'votes_*' --out votes.ldlf
  ldlf train faces.csv --label-column age --sigma 3 --label-values 0..100 --out age.ldlf
  ldlf train Movie.mat --preset paper --set trees=10 --out movie.ldlf
  ldlf train big.parquet --labels y1,y2 --out m.ldlf --checkpoint m.ckpt --stop-after 500
  ldlf train big.parquet --labels y1,y2 --out m.ldlf --force --checkpoint m.ckpt --resume m.ckpt
  ldlf train faces.zip --table labels.csv --image-column file --label-column age --sigma 2 --label-values 0..100 \
    --learner dldlf --backbone resnet18 --weights resnet18.safetensors --out faces.ldlf

Ctrl-C stops cleanly: the best model so far is written and the exit code is 130.";

/// `ldlf predict`.
#[derive(Args)]
pub struct Predict {
    /// The model file
    pub model: PathBuf,
    /// The rows to predict, - for standard input with --format, or a folder or zip file of images; label columns are not needed
    pub data: PathBuf,
    #[arg(long, short, value_name = "FILE", help = format!(
        "Where to write ({}), or - for CSV on standard output",
        values::table_extensions()
    ))]
    pub out: PathBuf,
    /// Make --out a folder of files of so many rows each, from which --resume can go on
    #[arg(long, value_name = "N", value_parser = values::at_least_one)]
    pub part_rows: Option<usize>,
    /// Go on after the finished parts of a run that was stopped; begins where there is none
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,
    /// The format of DATA, where its name does not tell
    #[arg(long, value_name = "FORMAT", value_parser = values::format)]
    pub format: Option<ldlf::read::Format>,
    /// Columns to read as features, in the model's order; by default those the model names
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub features: Option<Vec<String>>,
    /// What to write: distribution, mode, mean, median, quantile=Q, interval=SHARE, entropy
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "distribution")]
    pub write: Vec<Estimate>,
    /// Also predict one image after the other, and say how long one takes
    #[arg(long)]
    pub latency: bool,
    /// In .csv and .tsv, put ' before names of labels that a spreadsheet would take for a formula
    #[arg(long)]
    pub safe_csv: bool,
    /// Replace an existing output
    #[arg(long)]
    pub force: bool,
    /// Threads to use; 0 means one for every core. Results do not depend on it
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub threads: usize,
    #[command(flatten)]
    pub images: ImageOptions,
}

const PREDICT: &str = "\
Rows are read, predicted and written a few blocks at a time, in their order: a table may be larger than the memory.

One file is written whole or not at all. With --part-rows the output is a folder of numbered files (part-000000.parquet, ...),
each whole, which pandas, polars, Spark and others read as one table; after Ctrl-C, a crash or a full disk the same call with
--resume goes on after the last finished part and leaves the same bytes as one unbroken run.

Examples:
  ldlf predict votes.ldlf new.csv --out predicted.csv
  ldlf predict age.ldlf faces.parquet --write mean,interval=0.9,entropy --out ages.parquet
  ldlf predict votes.ldlf big.parquet --out scored.parquet --part-rows 1000000 --resume
  ldlf predict faces.ldlf photos --write mode,mean,interval=0.9 --out ages.csv
  zcat rows.csv.gz | ldlf predict votes.ldlf - --format csv --out - | head";

/// `ldlf evaluate`.
#[derive(Args)]
pub struct Evaluate {
    /// The model file
    pub model: PathBuf,
    /// The rows to measure it on, or - for standard input with --format
    pub data: PathBuf,
    /// Print the measures as JSON
    #[arg(long)]
    pub json: bool,
    /// Threads to use; 0 means one for every core. Results do not depend on it
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub threads: usize,
    #[command(flatten)]
    pub options: DataOptions,
}

const EVALUATE: &str = "\
Feature and label columns are those the model names, unless told otherwise. With --split-column only the rows marked
test are measured.

Examples:
  ldlf evaluate votes.ldlf test.csv
  ldlf evaluate movie.ldlf Movie.mat --json";

/// Which rules an evaluation follows.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProtocolName {
    /// Disjoint folds; whatever is chosen is chosen inside the training rows
    Clean,
    /// Rows drawn with replacement, best test iteration: reproduces the published row, says nothing about new data
    Released,
}

/// `ldlf cv`.
#[derive(Args)]
pub struct Cv {
    #[arg(help = format!("The table ({}), or - for standard input", values::read_extensions()))]
    pub data: PathBuf,
    /// The learners to compare
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "sldlf,mean")]
    pub learner: Vec<String>,
    /// A named set of parameters for the learners that have it
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// A parameter; with several learners sldlf.trees=10 names its learner; may be repeated
    #[arg(long, value_name = "[LEARNER.]NAME=VALUE")]
    pub set: Vec<String>,
    /// The number of folds
    #[arg(long, default_value_t = 10, value_name = "N", conflicts_with = "split_column")]
    pub folds: usize,
    /// A file with the fold in which each row is tested: one number a line, from 0, no header
    #[arg(long, value_name = "FILE", conflicts_with = "folds")]
    pub fold_file: Option<PathBuf>,
    /// Instead of folds, random splits that learn from this share of the rows and test on the rest
    #[arg(long, value_name = "SHARE", conflicts_with_all = ["folds", "fold_file"])]
    pub train_share: Option<f64>,
    /// Cross-validations with other folds each, 1 by default; with --train-share random splits, 10 by default
    #[arg(long, value_name = "N", value_parser = values::at_least_one, conflicts_with = "fold_file")]
    pub repeats: Option<usize>,
    /// The rules of the evaluation
    #[arg(long, value_enum, default_value = "clean")]
    pub protocol: ProtocolName,
    /// Stop each fit after this many seconds and keep its best so far
    #[arg(long, value_name = "SECONDS", value_parser = values::seconds, conflicts_with = "journal")]
    pub time_limit: Option<f64>,
    /// Keep results, predictions and learning curves in this folder
    #[arg(long, value_name = "DIR")]
    pub results: Option<PathBuf>,
    /// Keep finished folds in this file: a run that was stopped goes on from there
    #[arg(long, value_name = "FILE")]
    pub journal: Option<PathBuf>,
    /// Replace existing results
    #[arg(long)]
    pub force: bool,
    /// Print the table as a Markdown section, sorted by average rank, with times
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    /// Print all measures of every fold as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub compute: Compute,
    #[command(flatten)]
    pub network: NetworkOptions,
    #[command(flatten)]
    pub options: DataOptions,
}

const CV: &str = "\
With --split-column the given split takes the place of folds. Rows of one --group stay on one side. The preset released has
3,000 iterations whatever the data; released-movie has the 2,000 of the released script for Movie.

Examples:
  ldlf cv votes.csv --labels 'votes_*' --learner sldlf,mean --folds 5
  ldlf cv Movie.mat --learner sldlf,mean --fold-file Movie.txt --json
  ldlf cv Movie.mat --learner sldlf --protocol released --preset released-movie
  ldlf cv faces.csv --label-column age --sigma 2 --group person --train-share 0.1 --repeats 5 --learner sldlf,larr
  ldlf cv votes.csv --labels 'votes_*' --learner sldlf,mean --set sldlf.trees=10 --results results";

/// `ldlf sweep`.
#[derive(Args)]
pub struct Sweep {
    #[arg(help = format!("The table ({}), or - for standard input", values::read_extensions()))]
    pub data: PathBuf,
    /// The learner
    #[arg(long, default_value = "sldlf", value_name = "NAME")]
    pub learner: String,
    /// A parameter and its values; repeated: every combination
    #[arg(long, value_name = "NAME=V1,V2,...", required = true)]
    pub over: Vec<Axis>,
    /// A named set of parameters, which --set and --over override
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// A parameter; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// The number of folds
    #[arg(long, default_value_t = 10, value_name = "N", conflicts_with = "split_column")]
    pub folds: usize,
    /// A file with the fold in which each row is tested: one number a line, from 0, no header
    #[arg(long, value_name = "FILE", conflicts_with = "folds")]
    pub fold_file: Option<PathBuf>,
    /// Keep finished folds in this file: a sweep that was stopped goes on from there
    #[arg(long, value_name = "FILE")]
    pub journal: Option<PathBuf>,
    /// Write every measure of every combination as a table (.csv)
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Replace an existing output
    #[arg(long)]
    pub force: bool,
    /// Print the results as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub compute: Compute,
    #[command(flatten)]
    pub network: NetworkOptions,
    #[command(flatten)]
    pub options: DataOptions,
}

const SWEEP: &str = "\
Examples:
  ldlf sweep Movie.mat --over trees=1,2,5,10,20 --folds 5
  ldlf sweep votes.csv --labels 'votes_*' --over trees=5,10 --over depth=4,6 --journal sweep.journal --out sweep.csv";

/// `ldlf learners`.
#[derive(Args)]
pub struct Learners {
    /// Describe this learner with its parameters and presets
    pub name: Option<String>,
    /// Print everything as JSON
    #[arg(long)]
    pub json: bool,
}

const LEARNERS: &str = "\
Examples:
  ldlf learners
  ldlf learners sldlf
  ldlf learners --json";

/// `ldlf datasets`.
#[derive(Args)]
pub struct Datasets {
    /// Print the list as JSON
    #[arg(long)]
    pub json: bool,
}

/// `ldlf generate`.
#[derive(Args)]
pub struct Generate {
    /// artificial: the set of Geng 2016, three features and three labels. mixture: mixtures of distributions, any size
    pub name: String,
    /// Rows
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = values::at_least_one)]
    pub rows: usize,
    /// Features (mixture; 20 by default)
    #[arg(long, value_name = "N", value_parser = values::at_least_one)]
    pub features: Option<usize>,
    /// Labels (mixture; 5 by default)
    #[arg(long, value_name = "N", value_parser = values::at_least_one)]
    pub labels: Option<usize>,
    /// Share of features that are not zero (mixture; dense by default)
    #[arg(long, value_name = "SHARE")]
    pub density: Option<f64>,
    /// Draw this many votes a row and write their counts, instead of exact distributions (mixture)
    #[arg(long, value_name = "N", value_parser = values::at_least_one)]
    pub votes: Option<usize>,
    /// The seed
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    #[arg(long, short, value_name = "FILE", help = format!(
        "Where to write ({}), or - for CSV on standard output",
        values::dataset_extensions()
    ))]
    pub out: PathBuf,
    /// Replace an existing output
    #[arg(long)]
    pub force: bool,
}

const GENERATE: &str = "\
Feature columns are called x_1, x_2, ..., label columns label_1, label_2, ...; vote counts votes_1, votes_2, ...

Examples:
  ldlf generate artificial --rows 2500 --out artificial.csv
  ldlf generate mixture --rows 5000 --features 20 --labels 5 --votes 30 --out votes.csv
  ldlf generate mixture --rows 5000 --features 2000 --density 0.01 --out sparse.svm";

/// `ldlf inspect`.
#[derive(Args)]
pub struct Inspect {
    /// The model file
    pub model: PathBuf,
    /// Print everything as JSON
    #[arg(long)]
    pub json: bool,
}

const INSPECT: &str = "\
Examples:
  ldlf inspect votes.ldlf
  ldlf inspect votes.ldlf --json";

/// `ldlf export`.
#[derive(Args)]
pub struct Export {
    /// The model file
    pub model: PathBuf,
    /// Where to write the model as ONNX
    #[arg(long, value_name = "FILE")]
    pub onnx: PathBuf,
    /// Replace an existing output
    #[arg(long)]
    pub force: bool,
}

const EXPORT: &str = "\
The file holds everything between a table's numbers and its distributions, scaling included, in standard operators (opset 17).
It reads `features`, single precision, [rows, features] in the model's order, and gives `distributions`, [rows, labels]; for
labels that stand for numbers also `mean` and `mode`. Names are in its metadata. A row with a missing value gives NaN.

Example:
  ldlf export votes.ldlf --onnx votes.onnx";

/// `ldlf features`.
#[cfg(feature = "deep")]
#[derive(Args)]
pub struct Features {
    /// A model of a deep learner; with --weights the name of a backbone
    #[arg(value_name = "MODEL|BACKBONE")]
    pub network: PathBuf,
    /// The folder or zip file of images
    pub data: PathBuf,
    /// The layer, such as fc7; by default what the head of the network sees
    #[arg(long, value_name = "NAME")]
    pub layer: Option<String>,
    /// A file of weights (.safetensors, .pth) for a backbone without a model
    #[arg(long, value_name = "FILE")]
    pub weights: Option<PathBuf>,
    /// With --weights, the side of the square that the network sees; by default its usual one
    #[arg(long, value_name = "N", requires = "weights", value_parser = values::at_least_one)]
    pub side: Option<usize>,
    #[arg(long, short, value_name = "FILE", help = format!("Where to write ({})", values::table_extensions()))]
    pub out: PathBuf,
    /// The format of --table, where its name does not tell
    #[arg(long, value_name = "FORMAT", value_parser = values::format)]
    pub format: Option<ldlf::read::Format>,
    /// Replace an existing output
    #[arg(long)]
    pub force: bool,
    /// Threads to use; 0 means one for every core. Results do not depend on it
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub threads: usize,
    #[command(flatten)]
    pub images: ImageOptions,
}

#[cfg(feature = "deep")]
const FEATURES: &str = "\
The first column is the name of the image, the others are f_0, f_1, ...: features for learners that read tables.

Examples:
  ldlf features faces.ldlf photos --out features.parquet
  ldlf features alexnet photos.zip --weights alexnet.pth --layer fc7 --out fc7.csv";

/// A model with the data that it is looked at with.
#[derive(Args)]
pub struct ModelOptions {
    /// A model file to lay open; needs --data
    #[arg(long, value_name = "FILE", requires = "data")]
    pub model: Option<PathBuf>,
    /// The table that the model is looked at with
    #[arg(long, value_name = "FILE", requires = "model")]
    pub data: Option<PathBuf>,
    #[command(flatten)]
    pub options: DataOptions,
}

/// `ldlf report`.
#[derive(Args)]
pub struct Report {
    /// Folders of `cv --results`, JSON of `cv` or `sweep`, tables of `sweep --out`, or journals
    #[arg(value_name = "RESULTS")]
    pub results: Vec<PathBuf>,
    /// Where to write the page
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
    /// The page's heading
    #[arg(long, default_value = "Label distribution learning: results", value_name = "TEXT")]
    pub title: String,
    /// A row to show, numbered from 0; may be repeated
    #[arg(long, value_name = "N")]
    pub row: Vec<usize>,
    /// Replace an existing output
    #[arg(long)]
    pub force: bool,
    /// Threads to use; 0 means one for every core. Results do not depend on it
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub threads: usize,
    #[command(flatten)]
    pub model: ModelOptions,
}

const REPORT: &str = "\
Examples:
  ldlf cv votes.csv --labels 'votes_*' --learner sldlf,bfgs-ldl,mean --results results
  ldlf report results -o report.html
  ldlf report movie scene yeast -o all.html                    ranks and tests over the three
  ldlf report sweep.journal --model votes.ldlf --data votes.csv -o model.html";

/// Which picture.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PlotKind {
    /// Every fold of every learner by one measure
    Folds,
    /// True against predicted distributions: best, median, worst and chosen rows
    Distributions,
    /// Loss and K-L over the iterations, leaf updates marked
    LearningCurve,
    /// The mean absolute error of each label
    LabelError,
    /// The share of rows at most so far off, for ordered labels
    CumulativeScore,
    /// A measure over the values of a parameter
    Sweep,
    /// Average ranks over several datasets
    CriticalDifference,
    /// One tree of a model, with one row's way lit
    Tree,
    /// How evenly rows spread over the leaves of a model
    LeafUsage,
    /// The features that a model leans on
    Importance,
}

/// `ldlf plot`.
#[derive(Args)]
pub struct Plot {
    /// Which picture
    #[arg(value_enum)]
    pub kind: PlotKind,
    /// Results as for `ldlf report`; pictures of a model take --model and --data instead
    #[arg(value_name = "RESULTS")]
    pub results: Vec<PathBuf>,
    /// Where to write (.svg or .png)
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
    /// Whose picture; by default the best learner's
    #[arg(long, value_name = "NAME")]
    pub learner: Option<String>,
    /// The measure of folds, sweep and critical-difference
    #[arg(long, default_value = "kl", value_name = "NAME")]
    pub measure: String,
    /// A row to show or to light, numbered from 0; may be repeated
    #[arg(long, value_name = "N")]
    pub row: Vec<usize>,
    /// The fold of a learning curve, from 0; all of them without it
    #[arg(long, value_name = "N")]
    pub fold: Option<usize>,
    /// The tree to draw, from 1
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = values::at_least_one)]
    pub tree: usize,
    /// Replace an existing output
    #[arg(long)]
    pub force: bool,
    /// Threads to use; 0 means one for every core. Results do not depend on it
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub threads: usize,
    #[command(flatten)]
    pub model: ModelOptions,
}

const PLOT: &str = "\
Examples:
  ldlf plot distributions results --row 17 -o rows.svg
  ldlf plot learning-curve results --learner sldlf -o curve.png
  ldlf plot sweep sweep.csv -o trees.svg
  ldlf plot critical-difference movie scene yeast -o ranks.svg
  ldlf plot tree --model votes.ldlf --data votes.csv --row 3 -o tree.svg";

/// `ldlf demo`.
#[derive(Args)]
pub struct Demo {
    /// The folder for data, model and results
    #[arg(long, short, default_value = "ldlf-demo", value_name = "DIR")]
    pub out: PathBuf,
    /// Replace what an earlier demo wrote there
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub compute: Compute,
}

const DEMO: &str = "\
Generates a table of votes, trains sldlf on it, compares it with two baselines, writes a report, and says where everything is.

Example:
  ldlf demo --out first-look";

/// `ldlf completions`.
#[derive(Args)]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}

const COMPLETIONS: &str = "\
Examples:
  ldlf completions bash > ~/.local/share/bash-completion/completions/ldlf
  ldlf completions zsh > ~/.zfunc/_ldlf";
