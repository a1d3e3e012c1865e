//! Small valid files of every kind that is read.

use std::io::{Cursor, Write};
use std::ops::ControlFlow;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, Int32Array, RecordBatch, StringArray};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use ldlf::internals::core::evaluate::{Build, Plan, Protocol, cross_validate};
use ldlf::internals::core::stored::Parts;
use ldlf::internals::io::journal::Journal;
use ldlf::internals::io::results;
use ldlf::{FitContext, FitEvent, InProgress, StopReason, Threads, folds, registry};
use parquet::arrow::ArrowWriter;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::learners::{checkpoint_settings, quick, small_data, small_models};

/// A valid file, in a form that can be damaged within.
#[derive(Clone, Debug)]
pub enum Sample {
    /// Just bytes.
    Bytes(Vec<u8>),
    /// A zip archive of named members.
    Archive(Vec<(String, Vec<u8>)>),
    /// A model file or a checkpoint.
    Model(Parts),
}

impl Sample {
    /// The file.
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Sample::Bytes(bytes) => bytes.clone(),
            Sample::Archive(members) => zipped(members, true),
            Sample::Model(parts) => parts.to_bytes().expect("a whole model has bytes"),
        }
    }
}

/// A zip archive of the members, in their order.
pub fn zipped(members: &[(String, Vec<u8>)], deflated: bool) -> Vec<u8> {
    let method = if deflated { CompressionMethod::Deflated } else { CompressionMethod::Stored };
    let options = SimpleFileOptions::default().compression_method(method);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        // The writer refuses a second member of the same name.
        if archive.start_file(name.as_str(), options).is_ok() {
            archive.write_all(bytes).expect("memory can be written");
        }
    }
    archive.finish().expect("memory can be written").into_inner()
}

/// Tables of the rows of [`small_data`] as text, with all roles that a column can have.
pub fn table(separator: char) -> Vec<Sample> {
    let data = small_data();
    let line = |cells: Vec<String>| cells.join(&separator.to_string()) + "\n";
    let heads = ["x_1", "x_2", "x_3", "x_4", "label_1", "label_2", "label_3", "age", "w", "part", "who"];
    let mut text = line(heads.map(String::from).to_vec());
    let features = data.features().expect("the rows are a table");
    for row in 0..data.rows() {
        let mut cells = Vec::new();
        features.for_each_in_row(row, |_, value| cells.push(value.to_string()));
        cells.extend(data.targets().row(row).iter().map(f32::to_string));
        cells.push((1 + row % 3).to_string());
        cells.push((row % 4).to_string());
        cells.push(["train", "valid", "test"][row % 3].to_string());
        cells.push(format!("\"person {}\"", row % 5));
        text += &line(cells);
    }
    let votes = format!("\u{feff}a{separator}label_1{separator}label_2\r\n1{separator}3{separator}4\r\n");
    vec![Sample::Bytes(text.into_bytes()), Sample::Bytes(votes.into_bytes())]
}

/// JSON lines: numbers, texts, flags, and keys that come late.
pub fn json_lines() -> Vec<Sample> {
    let line = |row: usize| {
        let (a, b) = (row as f64 * 0.5, ["red", "blue"][row % 2]);
        format!(
            "{{\"a\": {a}, \"b\": \"{b}\", \"c\": {}, \"label_1\": 1, \"label_2\": 3}}\n",
            row.is_multiple_of(3)
        )
    };
    let late =
        "{\"a\": null, \"label_1\": 1, \"label_2\": 1}\n\n{\"label_2\": 2, \"a\": 2, \"label_1\": 1}\n";
    let text: String = (0..20).map(line).collect();
    vec![
        Sample::Bytes(text.into_bytes()),
        Sample::Bytes(format!("{late}{}", late.replace("null", "7")).into_bytes()),
    ]
}

/// Excel workbooks with one sheet of numbers and texts.
pub fn workbooks() -> Vec<Sample> {
    const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n";
    const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";
    const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let text = |at: &str, text: &str| format!("<c r=\"{at}\" t=\"inlineStr\"><is><t>{text}</t></is></c>");
    let number = |at: &str, number: f64| format!("<c r=\"{at}\"><v>{number}</v></c>");
    let mut rows = format!(
        "<row r=\"1\">{}{}{}{}</row>",
        text("A1", "a"),
        text("B1", "b"),
        text("C1", "label_1"),
        text("D1", "label_2")
    );
    for row in 2..8 {
        let at = |column: char| format!("{column}{row}");
        let cells = [
            number(&at('A'), f64::from(row) * 0.5),
            text(&at('B'), ["red", "blue"][row as usize % 2]),
            number(&at('C'), 1.0),
            number(&at('D'), 3.0),
        ];
        rows += &format!("<row r=\"{row}\">{}</row>", cells.concat());
    }
    let members = [
        (
            "[Content_Types].xml",
            format!(
                "{HEAD}<Types xmlns=\"{PACKAGE}/content-types\"><Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/><Default Extension=\"xml\" ContentType=\"application/xml\"/></Types>"
            ),
        ),
        (
            "_rels/.rels",
            format!(
                "{HEAD}<Relationships xmlns=\"{PACKAGE}/relationships\"><Relationship Id=\"r1\" Type=\"{OFFICE}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/workbook.xml",
            format!(
                "{HEAD}<workbook xmlns=\"{MAIN}\" xmlns:r=\"{OFFICE}\"><sheets><sheet name=\"votes\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>"
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            format!(
                "{HEAD}<Relationships xmlns=\"{PACKAGE}/relationships\"><Relationship Id=\"r1\" Type=\"{OFFICE}/worksheet\" Target=\"worksheets/sheet1.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/worksheets/sheet1.xml",
            format!("{HEAD}<worksheet xmlns=\"{MAIN}\"><sheetData>{rows}</sheetData></worksheet>"),
        ),
    ];
    vec![Sample::Archive(
        members.into_iter().map(|(name, text)| (name.to_string(), text.into_bytes())).collect(),
    )]
}

/// Archives of small images: colours as JPEG, grey with alpha as PNG.
pub fn images() -> Vec<Sample> {
    let colour = |x, y| image::Rgb([(x * 9) as u8, (y * 7) as u8, (x * y) as u8]);
    let encoded = |image: image::DynamicImage, format| {
        let mut bytes = Cursor::new(Vec::new());
        image.write_to(&mut bytes, format).expect("memory can be written");
        bytes.into_inner()
    };
    let photo = image::RgbImage::from_fn(24, 20, colour);
    let drawing =
        image::GrayAlphaImage::from_fn(12, 17, |x, y| image::LumaA([(x * y) as u8, (x * 20) as u8]));
    vec![Sample::Archive(vec![
        ("a/photo.jpg".into(), encoded(photo.into(), image::ImageFormat::Jpeg)),
        ("drawing.png".into(), encoded(drawing.into(), image::ImageFormat::Png)),
    ])]
}

/// svmlight lines with distributions, votes and single labels.
pub fn svm() -> Vec<Sample> {
    let texts = ["# three labels\n0.2,0.3,0.5 1:0.5 7:1\n12,0,3 2:1.5\n0,0,1\n", "21 1:0.5\n30 2:1 3:2\n"];
    texts.map(|text| Sample::Bytes(text.as_bytes().to_vec())).to_vec()
}

/// A fold file for 40 rows.
pub fn fold_file() -> Vec<Sample> {
    let text: String = (0..40).map(|row| format!("{}\n", row % 5)).collect();
    vec![Sample::Bytes(text.into_bytes())]
}

/// An array as NumPy writes it.
pub fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(data);
    bytes
}

fn f32s(numbers: impl IntoIterator<Item = f32>) -> Vec<u8> {
    numbers.into_iter().flat_map(f32::to_le_bytes).collect()
}

fn f64s(numbers: impl IntoIterator<Item = f64>) -> Vec<u8> {
    numbers.into_iter().flat_map(f64::to_le_bytes).collect()
}

fn i32s(numbers: impl IntoIterator<Item = i32>) -> Vec<u8> {
    numbers.into_iter().flat_map(i32::to_le_bytes).collect()
}

/// Archives of NumPy arrays: dense rows, dense columns, sparse rows.
pub fn npz() -> Vec<Sample> {
    let labels = npy("<f8", false, "(4, 2)", &f64s([0.5, 0.5, 1.0, 0.0, 0.25, 0.75, 0.0, 1.0]));
    let names: Vec<u8> = "no\0yes".chars().flat_map(|c| (c as u32).to_le_bytes()).collect();
    let archive = |members: Vec<(&str, Vec<u8>)>| {
        Sample::Archive(members.into_iter().map(|(name, bytes)| (format!("{name}.npy"), bytes)).collect())
    };
    vec![
        archive(vec![
            ("features", npy("<f4", false, "(4, 3)", &f32s((0..12).map(|i| i as f32)))),
            ("labels", labels.clone()),
            ("label_names", npy("<U3", false, "(2,)", &names)),
            ("w", npy("<f8", false, "(4,)", &f64s([1.0, 2.0, 0.0, 1.0]))),
        ]),
        archive(vec![
            ("features", npy(">i2", true, "(4, 3)", &(0..24).collect::<Vec<u8>>())),
            ("labels", labels.clone()),
        ]),
        archive(vec![
            ("features_data", npy("<f4", false, "(3,)", &f32s([1.0, 2.0, 3.0]))),
            ("features_indices", npy("<i4", false, "(3,)", &i32s([0, 2, 1]))),
            ("features_indptr", npy("<i4", false, "(5,)", &i32s([0, 2, 2, 3, 3]))),
            ("features_shape", npy("<i4", false, "(2,)", &i32s([4, 3]))),
            ("labels", labels),
        ]),
    ]
}

fn mat_element(kind: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = [kind.to_le_bytes(), (data.len() as u32).to_le_bytes()].concat();
    bytes.extend(data);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

fn mat_variable(name: &str, class: u32, sizes: [i32; 2], arrays: &[Vec<u8>]) -> Vec<u8> {
    let mut body = mat_element(6, &[class.to_le_bytes(), 0u32.to_le_bytes()].concat());
    body.extend(mat_element(5, &i32s(sizes)));
    body.extend(mat_element(1, name.as_bytes()));
    arrays.iter().for_each(|array| body.extend(array));
    mat_element(14, &body)
}

fn mat_file(variables: &[Vec<u8>], compressed: bool) -> Sample {
    let mut bytes = b"MATLAB 5.0 MAT-file".to_vec();
    bytes.resize(124, b' ');
    bytes.extend([0x00, 0x01, b'I', b'M']);
    for variable in variables {
        if compressed {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(variable).expect("memory can be written");
            let packed = encoder.finish().expect("memory can be written");
            bytes.extend([15u32.to_le_bytes(), (packed.len() as u32).to_le_bytes()].concat());
            bytes.extend(packed);
        } else {
            bytes.extend(variable);
        }
    }
    Sample::Bytes(bytes)
}

/// MATLAB files: dense, compressed, sparse.
pub fn mat() -> Vec<Sample> {
    let double = |numbers: &[f64]| mat_element(9, &f64s(numbers.iter().copied()));
    let dense = mat_variable("features", 6, [3, 2], &[double(&[1.0, 0.0, 3.0, 4.0, 5.0, 6.0])]);
    let labels = mat_variable("labels", 6, [3, 2], &[double(&[0.5, 0.2, 1.0, 0.5, 0.8, 0.0])]);
    let values = mat_variable("x", 6, [1, 2], &[double(&[1.0, 2.0])]);
    let sparse = mat_variable(
        "features",
        5,
        [3, 2],
        &[mat_element(5, &i32s([0, 2, 1])), mat_element(5, &i32s([0, 2, 3])), double(&[1.0, 2.0, 3.0])],
    );
    vec![
        mat_file(&[dense.clone(), labels.clone(), values], false),
        mat_file(&[dense, labels.clone()], true),
        mat_file(&[sparse, labels], false),
    ]
}

/// The columns of the tables below.
fn record_batch() -> RecordBatch {
    let rows = 40;
    let column = |name: &'static str, array: ArrayRef| (name, array);
    let probabilities: Vec<f64> = (0..rows).map(|i| f64::from(i) / 40.0).collect();
    RecordBatch::try_from_iter([
        column("x_1", Arc::new(Float32Array::from_iter_values((0..rows).map(|i| i as f32)))),
        column("x_2", Arc::new(Int32Array::from_iter_values((0..rows).map(|i| i % 3)))),
        column("label_1", Arc::new(Float64Array::from(probabilities.clone()))),
        column("label_2", Arc::new(Float64Array::from_iter_values(probabilities.iter().map(|p| 1.0 - p)))),
        column("who", Arc::new(StringArray::from_iter_values((0..rows).map(|i| format!("p{}", i % 4))))),
    ])
    .expect("columns of one length")
}

/// Parquet tables in two row groups, plain and compressed.
pub fn parquet_tables() -> Vec<Sample> {
    let batch = record_batch();
    let compressions = [
        parquet::basic::Compression::UNCOMPRESSED,
        parquet::basic::Compression::SNAPPY,
        parquet::basic::Compression::ZSTD(Default::default()),
        parquet::basic::Compression::GZIP(Default::default()),
        parquet::basic::Compression::BROTLI(Default::default()),
        parquet::basic::Compression::LZ4_RAW,
    ];
    let file = |compression| {
        let properties = parquet::file::properties::WriterProperties::builder()
            .set_compression(compression)
            .set_max_row_group_row_count(Some(25))
            .build();
        let mut bytes = Vec::new();
        let mut writer =
            ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).expect("a writer");
        writer.write(&batch).expect("memory can be written");
        writer.close().expect("memory can be written");
        Sample::Bytes(bytes)
    };
    compressions.into_iter().map(file).collect()
}

/// Arrow tables in two batches, as files and streams, plain and compressed.
pub fn arrow_tables() -> Vec<Sample> {
    let batch = record_batch();
    let batches = [batch.slice(0, 25), batch.slice(25, 15)];
    let compressions = [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)];
    let table = |compression: Option<CompressionType>, file: bool| {
        let options = IpcWriteOptions::default().try_with_compression(compression).expect("a known codec");
        let mut bytes = Vec::new();
        if file {
            let mut writer =
                FileWriter::try_new_with_options(&mut bytes, &batch.schema(), options).expect("a writer");
            batches.iter().for_each(|batch| writer.write(batch).expect("memory can be written"));
            writer.finish().expect("memory can be written");
        } else {
            let mut writer =
                StreamWriter::try_new_with_options(&mut bytes, &batch.schema(), options).expect("a writer");
            batches.iter().for_each(|batch| writer.write(batch).expect("memory can be written"));
            writer.finish().expect("memory can be written");
        }
        Sample::Bytes(bytes)
    };
    compressions.into_iter().flat_map(|codec| [table(codec, true), table(codec, false)]).collect()
}

/// One small model file of every learner.
pub fn models() -> Vec<Sample> {
    small_models().iter().map(|(_, model)| Sample::Model(model.to_parts())).collect()
}

/// A checkpoint of the forest, made in the middle of its training, after a validation.
pub fn checkpoints() -> Vec<Sample> {
    let entry = registry::find("sldlf").expect("the forest is registered");
    let data = small_data();
    let mut kept = None;
    let mut keep = |event: &FitEvent, state: &dyn InProgress| match event {
        FitEvent::Iteration { iteration: 7, .. } => {
            kept = state.checkpoint();
            ControlFlow::Break(StopReason::Interrupted)
        }
        _ => ControlFlow::Continue(()),
    };
    let learner = (entry.build)(&checkpoint_settings()).expect("the settings are allowed");
    let mut context = FitContext::new(0, Threads::one(), &mut keep);
    learner.fit(&data, &mut context).expect("a short fit");
    let kept = kept.expect("seven iterations are done");
    assert!(kept.has("best_leaves"), "the best model so far is part of it");
    vec![Sample::Model(kept)]
}

/// A journal of a short evaluation, and the results that `ldlf report` reads.
pub fn evaluations() -> (Vec<Sample>, Vec<Sample>) {
    let data = small_data();
    let learner = |name: &str| {
        quick(&registry::find(name).expect("it is registered")).expect("the settings are allowed")
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let journal = Journal::open(folder.path().join("journal")).expect("a new journal");
    let plan = Plan {
        data: &data,
        learners: &[learner("mean"), learner("sldlf")],
        folds: &folds::seeded(&data, 2, 0).expect("forty rows have two folds"),
        protocol: Protocol::Clean,
        seed: 0,
        threads: 1,
        journal: Some(&journal),
        build: Build::VERSION,
    };
    let evaluation = cross_validate(&plan, &()).expect("a short evaluation");
    results::save(folder.path(), &evaluation, &data).expect("the folder can be written");
    let read = |name: &str| Sample::Bytes(std::fs::read(folder.path().join(name)).expect("it was written"));
    (vec![read("journal")], vec![read("results.json")])
}

/// A table of `ldlf sweep --out`.
pub fn sweep_tables() -> Vec<Sample> {
    vec![Sample::Bytes(b"trees,depth,kl_mean,kl_std\n1,2,0.5,0.1\n2,2,0.4,0.05\n".to_vec())]
}

/// Settings as `--set` takes them, one per line.
pub fn settings() -> Vec<Sample> {
    vec![Sample::Bytes(b"trees=5\nlearning_rate=1e-3\nunits=none\nbias=false\nscaling=raw\n".to_vec())]
}
