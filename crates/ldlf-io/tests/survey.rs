//! A survey as people have it (ids, dates, categories, yes and no, missing cells, thousands, percent signs, names beyond ASCII) gives the
//! same rows from every format, with nothing said but which columns are the labels.
#![cfg(all(feature = "parquet", feature = "xlsx"))]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Date32Array, Float64Array, RecordBatch, StringArray};
use ldlf_core::Dataset;
use ldlf_io::read::{ReadOptions, read};

use self::workbook::Cell;

#[path = "fixtures/workbook.rs"]
mod workbook;

const ROWS: usize = 40;

/// One respondent.
struct Answer {
    respondent: String,
    day: usize,
    city: &'static str,
    member: Option<bool>,
    income: Option<f64>,
    share: f64,
    votes: [usize; 3],
}

const LABELS: [&str; 3] = ["vote_très bien", "vote_moyen", "vote_mauvais"];

fn answers() -> Vec<Answer> {
    let answer = |row: usize| Answer {
        respondent: format!("R{:04}", row * 7),
        day: 1 + row % 28,
        city: ["Köln", "Nantes", "Łódź"][row % 3],
        member: (row % 9 != 4).then_some(row.is_multiple_of(2)),
        income: (row % 7 != 3).then_some(1500.0 + 111.5 * row as f64),
        share: (row % 20) as f64 / 100.0,
        votes: [1 + row % 3, row % 4, 10 - row % 5],
    };
    (0..ROWS).map(answer).collect()
}

fn header() -> String {
    format!("respondent;day;city;member;income;share;{};{};{}", LABELS[0], LABELS[1], LABELS[2])
}

/// Semicolons, decimal commas, thousands with points, percent signs.
fn as_csv() -> String {
    let mut text = header() + "\n";
    for a in answers() {
        let member = a.member.map_or("", |member| if member { "yes" } else { "no" });
        let income = a.income.map_or("n/a".to_string(), |income| {
            let (whole, rest) = (income as u64, (income.fract() * 10.0) as u64);
            format!("{}.{:03},{rest}", whole / 1000, whole % 1000)
        });
        let share = format!("{} %", (a.share * 100.0).round());
        let [first, second, third] = a.votes;
        let (respondent, day, city) = (&a.respondent, a.day, a.city);
        writeln!(
            text,
            "{respondent};2021-03-{day:02};{city};{member};{income};{share};{first};{second};{third}"
        )
        .unwrap();
    }
    text
}

fn as_json_lines() -> String {
    let mut text = String::new();
    for a in answers() {
        let line = serde_json::json!({
            "respondent": a.respondent, "day": format!("2021-03-{:02}", a.day), "city": a.city, "member": a.member,
            "income": a.income, "share": a.share,
            LABELS[0]: a.votes[0], LABELS[1]: a.votes[1], LABELS[2]: a.votes[2],
        });
        writeln!(text, "{line}").unwrap();
    }
    text
}

/// Columns with types, as pandas writes them.
fn as_parquet(path: &Path) {
    let answers = answers();
    // 2021-03-01 in days since 1970.
    let days = answers.iter().map(|a| 18_687 + a.day as i32 - 1).collect::<Vec<_>>();
    let votes = |label: usize| -> ArrayRef {
        Arc::new(answers.iter().map(|a| Some(a.votes[label] as f64)).collect::<Float64Array>())
    };
    let columns: Vec<(&str, ArrayRef)> = vec![
        (
            "respondent",
            Arc::new(answers.iter().map(|a| Some(a.respondent.as_str())).collect::<StringArray>()),
        ),
        ("day", Arc::new(Date32Array::from(days))),
        ("city", Arc::new(answers.iter().map(|a| Some(a.city)).collect::<StringArray>())),
        ("member", Arc::new(answers.iter().map(|a| a.member).collect::<BooleanArray>())),
        ("income", Arc::new(answers.iter().map(|a| a.income).collect::<Float64Array>())),
        ("share", Arc::new(answers.iter().map(|a| Some(a.share)).collect::<Float64Array>())),
        (LABELS[0], votes(0)),
        (LABELS[1], votes(1)),
        (LABELS[2], votes(2)),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// A sheet of texts, numbers, yes and no, and dates as Excel stores them.
fn as_xlsx(path: &Path, from_1904: bool) {
    let header = header();
    let answers = answers();
    let mut rows: Vec<Vec<Cell<'_>>> = vec![header.split(';').map(Cell::Text).collect()];
    // 2021-03-01 in days since the end of 1899, or since 1904.
    let first = if from_1904 { 44_256 - 1462 } else { 44_256 };
    for a in &answers {
        let mut cells = vec![
            Cell::Text(&a.respondent),
            Cell::Date((first + a.day - 1) as f64),
            Cell::Text(a.city),
            a.member.map_or(Cell::Empty, Cell::Boolean),
            a.income.map_or(Cell::Empty, Cell::Number),
            Cell::Number(a.share),
        ];
        cells.extend(a.votes.iter().map(|&votes| Cell::Number(votes as f64)));
        rows.push(cells);
    }
    workbook::write(path, from_1904, &rows);
}

fn dataset(path: &Path) -> Dataset {
    let options = ReadOptions { labels: vec!["vote_*".into()], ..ReadOptions::default() };
    read(path, &options).unwrap_or_else(|error| panic!("{error}")).dataset
}

#[test]
fn a_survey_is_the_same_rows_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("survey.csv"), as_csv()).unwrap();
    let mut packed = flate2::write::GzEncoder::new(
        std::fs::File::create(at("survey.csv.gz")).unwrap(),
        flate2::Compression::fast(),
    );
    packed.write_all(as_csv().as_bytes()).unwrap();
    packed.finish().unwrap();
    let file = |name: &str| std::fs::File::create(at(name)).unwrap();
    let mut packed = zstd::Encoder::new(file("survey.csv.zst"), 0).unwrap();
    packed.write_all(as_csv().as_bytes()).unwrap();
    packed.finish().unwrap();
    let mut packed = bzip2::write::BzEncoder::new(file("survey.csv.bz2"), bzip2::Compression::fast());
    packed.write_all(as_csv().as_bytes()).unwrap();
    packed.finish().unwrap();
    std::fs::write(at("survey.jsonl"), as_json_lines()).unwrap();
    as_parquet(&at("survey.parquet"));
    as_xlsx(&at("survey.xlsx"), false);
    as_xlsx(&at("from-1904.xlsx"), true);

    let csv = dataset(&at("survey.csv"));
    let names = csv.schema().feature_names.as_ref().unwrap();
    let wanted = [
        "day year",
        "day month",
        "day weekday",
        "day days",
        "city=Köln",
        "city=Nantes",
        "city=Łódź",
        "member",
        "member is missing",
        "income",
        "income is missing",
        "share",
    ];
    assert_eq!(names, &wanted);
    assert_eq!(csv.schema().label_names, LABELS);
    let mut row = vec![0.0; wanted.len()];
    csv.features().unwrap().copy_row_into(1, &mut row);
    assert_eq!((row[9], row[11]), (1611.5, 0.01), "decimal commas, thousands and percent signs: {row:?}");
    for other in [
        "survey.csv.gz",
        "survey.csv.zst",
        "survey.csv.bz2",
        "survey.jsonl",
        "survey.parquet",
        "survey.xlsx",
        "from-1904.xlsx",
    ] {
        let other_data = dataset(&at(other));
        assert_eq!(other_data.schema(), csv.schema(), "{other}");
        assert_eq!(other_data.features().unwrap(), csv.features().unwrap(), "{other}");
        assert_eq!(other_data.targets(), csv.targets(), "{other}");
    }
}
