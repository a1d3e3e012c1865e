//! `ldlf features`: what a layer of a network makes of pictures, as a table.

use std::time::Instant;

use ldlf::deep::model::FeatureNetwork;
use ldlf::model_file::{Parts, write_atomically};
use ldlf::{Error, Images, Matrix, Result, Schema, Threads};

use super::Ending;
use crate::args::{BadImages, Features};
use crate::inputs::{check_apart, check_destination, check_input, is_standard};
use crate::pictures::{readable_rows, to_predict};
use crate::prediction_table::{BoxedWriter, Column, Formulas, Kind};
use crate::printer::{Printer, counted};
use crate::progress::{Progress, interrupted, listen_for_ctrl_c};

/// Pictures that are in memory at a time.
const AT_ONCE: usize = 128;

/// The column of names where no model and no option gives it a name.
const COLUMN: &str = "file";

/// Writes a line a picture: its name and the outputs of the layer.
pub fn run(args: &Features, printer: &Printer) -> Result<Ending> {
    check_input(&args.data)?;
    if is_standard(&args.out) {
        return Err(Error::usage("features are not written to standard output; name a file with --out"));
    }
    let overwrite = check_destination(&args.out, args.force)?;
    check_apart(&args.out, &[&args.data, &args.network])?;
    let kind = Kind::of(&args.out)?;
    let (network, column) = open(args, printer)?;
    let layers = network.layers();
    let layer = args.layer.as_deref().or(layers.last().copied()).unwrap_or_default();
    let images = to_predict(&args.data, &args.pictures, args.format, &column, printer)?;
    let threads = Threads::joined_by_caller(args.threads)?;
    listen_for_ctrl_c();
    let mut work = Work {
        args,
        network: &network,
        layer,
        threads,
        progress: Progress::new(printer, "picture"),
        left_out: 0,
    };
    let started = Instant::now();
    let written = write_atomically(&args.out, overwrite, |file| {
        work.write(&images, &column, kind.writer(file, Formulas::Kept))
    });
    work.progress.finish();
    written?;
    let (seconds, done) = (started.elapsed().as_secs_f64(), images.rows() - work.left_out);
    printer.message(format_args!(
        "wrote {layer} of {} in {seconds:.2} s ({:.0} pictures/s)",
        counted(done, "picture"),
        done as f64 / seconds.max(1e-9)
    ));
    if work.left_out > 0 {
        let pictures = counted(work.left_out, "picture");
        printer.message(format_args!("note: left out {pictures} that could not be read"));
    }
    Ok(Ending::Done)
}

/// The network, and what the column of names is called.
fn open(args: &Features, printer: &Printer) -> Result<(FeatureNetwork, String)> {
    let column = args.pictures.image_column.clone();
    let Some(weights) = &args.weights else {
        check_input(&args.network)?;
        let network = FeatureNetwork::of_model(&args.network)?;
        let schema: Schema = Parts::read(&args.network)?.detail("schema")?;
        return Ok((network, column.or(schema.image_column).unwrap_or_else(|| COLUMN.into())));
    };
    check_input(weights)?;
    let backbone = args.network.display().to_string();
    let (network, report) = FeatureNetwork::of_weights(&backbone, weights, args.side)?;
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
    progress: Progress,
    left_out: usize,
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
            let (block, features) = self.features(images.select(chunk))?;
            if block.rows() == 0 {
                continue;
            }
            if heads.is_empty() {
                heads = (0..features.cols()).map(|feature| format!("f_{feature}")).collect();
            }
            let names: Vec<String> = (0..block.rows()).map(|row| block.name(row).to_string()).collect();
            let columns = [Column::Names(column, &names), Column::Matrix("features", &heads, &features)];
            writer.block(&columns).map_err(io)?;
            self.progress.step(number * AT_ONCE + chunk.len(), 0.0, rows.len(), String::new);
        }
        writer.finish().map_err(io)
    }

    /// The features of some pictures, without those that cannot be read where that is allowed.
    fn features(&mut self, images: Images) -> Result<(Images, Matrix<f32>)> {
        match self.network.features(&images, self.layer, &self.threads) {
            Ok(features) => Ok((images, features)),
            Err(Error::Data(reason)) if self.args.pictures.bad_images == BadImages::Skip => {
                let good = readable_rows(&images, &self.threads);
                if good.len() == images.rows() {
                    return Err(Error::Data(reason));
                }
                self.left_out += images.rows() - good.len();
                let images = images.select(&good);
                let features = match good.len() {
                    0 => Matrix::zeros(0, 0),
                    _ => self.network.features(&images, self.layer, &self.threads)?,
                };
                Ok((images, features))
            }
            Err(error) => Err(error),
        }
    }
}
