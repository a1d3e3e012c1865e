//! `ldlf features`: a layer's activations for images, as a table.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use ldlf::internals::deep::model::FeatureNetwork;
use ldlf::internals::io::write::{BoxedWriter, Column, Formulas, TableForm, save_table};
use ldlf::{Error, Images, Matrix, Result, Schema, Threads};

use super::Ending;
use crate::args::{ImageOptions, ThreadOptions, values};
use crate::images::{Skipping, to_predict};
use crate::inputs::{check_destination, check_input, is_standard};
use crate::printer::{Printer, counted};
use crate::progress::{ProgressLine, interrupted, listen_for_ctrl_c};

/// `ldlf features`.
#[derive(Args)]
pub struct Features {
    /// A model of a deep learner; with --weights the name of a backbone
    #[arg(value_name = "MODEL|BACKBONE")]
    pub network: PathBuf,
    /// The folder or zip file of images
    pub data: PathBuf,
    /// The layer, such as fc7; by default the input of the network's head
    #[arg(long, value_name = "NAME")]
    pub layer: Option<String>,
    /// Pretrained weights (.safetensors, .pth) for a backbone without a model
    #[arg(long, value_name = "FILE")]
    pub weights: Option<PathBuf>,
    /// With --weights, the side of the network's square input; by default the backbone's own
    #[arg(long, value_name = "N", requires = "weights", value_parser = values::at_least_one)]
    pub side: Option<usize>,
    /// With --weights, the fraction cut off at each edge of an image
    #[arg(long, value_name = "F", requires = "weights", default_value_t = 0.0)]
    pub input_crop: f64,
    #[arg(long, short, value_name = "FILE", help = format!("Where to write ({})", values::table_extensions()))]
    pub out: PathBuf,
    /// The format of --table, if its extension does not say
    #[arg(long, value_name = "FORMAT", value_parser = values::format)]
    pub format: Option<ldlf::internals::io::read::Format>,
    /// Replace an existing output
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub threads: ThreadOptions,
    #[command(flatten)]
    pub images: ImageOptions,
}

/// What `--help` says after the options.
pub const HELP: &str = "\
The first column is the name of the image, the others are f_0, f_1, ...: features for learners that read tables.

Examples:
  ldlf features faces.ldlf photos --out features.parquet
  ldlf features alexnet photos.zip --weights alexnet.pth --layer fc7 --out fc7.csv
  ldlf features mobilenet-v1 faces.zip --weights faceres.safetensors --input-crop 0.15 --out faces.csv";

/// Images that are in memory at a time.
const AT_ONCE: usize = 128;

/// The column of names where no model and no option gives it a name.
const COLUMN: &str = "file";

/// Writes a line per image: its name and the outputs of the layer.
pub fn run(args: &Features, printer: &Printer) -> Result<Ending> {
    check_input(&args.data)?;
    if is_standard(&args.out) {
        return Err(Error::usage("features are not written to standard output; name a file with --out"));
    }
    let overwrite = check_destination(&args.out, args.force)?;
    let form = TableForm::of(&args.out)?;
    let (network, column) = open(args, printer)?;
    let layers = network.layers();
    let layer = args.layer.as_deref().or(layers.last().copied()).unwrap_or_default();
    let images = to_predict(&args.data, &args.images, args.format, &column, printer)?;
    let threads = args.threads.pool()?;
    listen_for_ctrl_c();
    let mut work = Work {
        args,
        network: &network,
        layer,
        threads,
        progress: ProgressLine::new(printer, "image"),
        skipping: Skipping::new(&args.images),
    };
    let started = Instant::now();
    let written =
        save_table(&args.out, overwrite, form, Formulas::Kept, |writer| work.write(&images, &column, writer));
    work.progress.finish();
    written?;
    let (seconds, done) = (started.elapsed().as_secs_f64(), images.rows() - work.skipping.left_out);
    printer.message(format_args!(
        "wrote {layer} of {} in {seconds:.2} s ({:.0} images/s)",
        counted(done, "image"),
        done as f64 / seconds.max(1e-9)
    ));
    work.skipping.say(printer);
    Ok(Ending::Done)
}

/// The network, and what the column of names is called.
fn open(args: &Features, printer: &Printer) -> Result<(FeatureNetwork, String)> {
    let column = args.images.image_column.clone();
    let Some(weights) = &args.weights else {
        if !args.network.exists() {
            return Err(Error::data(format!("{} does not exist", args.network.display()))
                .with_remedy("name a model file, or a backbone and its weights with --weights FILE"));
        }
        let network = FeatureNetwork::of_model(&args.network)?;
        let schema: Schema = ldlf::internals::io::model_file::read_parts(&args.network)?.detail("schema")?;
        return Ok((network, column.or(schema.image_column).unwrap_or_else(|| COLUMN.into())));
    };
    check_input(weights)?;
    let backbone = args.network.display().to_string();
    let (network, report) = FeatureNetwork::of_weights(&backbone, weights, args.side, args.input_crop)?;
    printer.message(format_args!(
        "{}: {} arrays found, {} missing, {} unused",
        weights.display(),
        report.matched.len(),
        report.missing.len(),
        report.unused.len()
    ));
    Ok((network, column.unwrap_or_else(|| COLUMN.into())))
}

struct Work<'a> {
    args: &'a Features,
    network: &'a FeatureNetwork,
    layer: &'a str,
    threads: Threads,
    progress: ProgressLine,
    skipping: Skipping,
}

impl Work<'_> {
    fn write(&mut self, images: &Images, column: &str, mut writer: BoxedWriter<'_>) -> Result<()> {
        let io = |e| Error::io(&self.args.out, e);
        let rows: Vec<usize> = (0..images.rows()).collect();
        let mut heads = Vec::new();
        for (number, chunk) in rows.chunks(AT_ONCE).enumerate() {
            if interrupted() {
                return Err(Error::Interrupted);
            }
            let (network, layer, threads) = (self.network, self.layer, &self.threads);
            let read = |images: &Images| network.features(images, layer, threads);
            let (block, features) =
                self.skipping.run(images.select(chunk), threads, || Matrix::zeros(0, 0), read)?;
            if block.rows() == 0 {
                continue;
            }
            if heads.is_empty() {
                heads = (0..features.cols()).map(|feature| format!("f_{feature}")).collect();
            }
            let names: Vec<String> = block.names().map(str::to_string).collect();
            let columns = [Column::Names(column, &names), Column::Matrix("features", &heads, &features)];
            writer.block(&columns).map_err(io)?;
            self.progress.step(number * AT_ONCE + chunk.len(), 0.0, rows.len(), String::new);
        }
        writer.finish().map_err(io)
    }
}
