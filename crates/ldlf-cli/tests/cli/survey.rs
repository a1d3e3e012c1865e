//! A survey as people have it, from its file to predictions that can be used.

use std::fmt::Write;

use snapbox::{assert_data_eq, str};

use crate::call::Folder;

/// Sixty respondents: with semicolons and decimal commas, with commas and thousands, and as JSON lines.
fn with_survey() -> Folder {
    let folder = Folder::new();
    let mut semicolons = "id;day;city;member;income;score;vote_très_bien;vote_mauvais\n".to_string();
    let mut commas = semicolons.replace(';', ",");
    let mut lines = String::new();
    for row in 0..60 {
        let (day, city, member) = (1 + row % 28, ["Köln", "Łódź"][row % 2], row % 3 == 0);
        let (income, score) = (20_000 + 137 * row, 10.25 + row as f64);
        let (good, bad) = (20 + row, 80 - row);
        let thousands = |mark: char| format!("{}{mark}{:03}", income / 1000, income % 1000);
        let yes = if member { "yes" } else { "no" };
        let missing = row % 7 == 5;
        let decimal = format!("{score}").replace('.', ",");
        let (shown, decimal) = match missing {
            true => ("NA".to_string(), "n/a".to_string()),
            false => (format!("{score}"), decimal),
        };
        let points = thousands('.');
        writeln!(semicolons, "R{row};{day:02}.03.2021;{city};{yes};{points};{decimal};{good} %;{bad} %")
            .unwrap();
        let quoted = thousands(',');
        let word = if member { "True" } else { "False" };
        writeln!(commas, "R{row},2021-03-{day:02},{city},{word},\"{quoted}\",{shown},{good}%,{bad}%")
            .unwrap();
        let mut object = serde_json::json!({
            "id": format!("R{row}"), "day": format!("2021-03-{day:02}"), "city": city, "member": member,
            "income": income, "score": score, "vote_très_bien": good, "vote_mauvais": bad,
        });
        if missing {
            object["score"] = serde_json::Value::Null;
        }
        writeln!(lines, "{object}").unwrap();
    }
    folder.write("survey.csv", &semicolons);
    folder.write("survey2.csv", &commas);
    folder.write("survey.jsonl", &lines);
    folder
}

/// The same respondents packed, as a workbook with dates of its own, and as typed columns.
#[cfg(all(feature = "parquet", feature = "xlsx"))]
fn with_typed_survey() -> Folder {
    use std::io::Write as _;
    use std::sync::Arc;

    use arrow_array::{
        ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray,
    };

    use crate::workbook::{self, Cell};

    let folder = with_survey();
    let packed = std::fs::File::create(folder.path("survey.csv.gz")).unwrap();
    let mut packed = flate2::write::GzEncoder::new(packed, flate2::Compression::fast());
    packed.write_all(&folder.bytes("survey.csv")).unwrap();
    packed.finish().unwrap();

    let text = folder.read("survey.jsonl");
    let rows: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let heads = ["id", "day", "city", "member", "income", "score", "vote_très_bien", "vote_mauvais"];
    let day_of_march = |row: &serde_json::Value| row["day"].as_str().unwrap()[8..].parse::<i32>().unwrap();
    let mut sheet: Vec<Vec<Cell<'_>>> = vec![heads.map(Cell::Text).into()];
    for row in &rows {
        let number = |head: &str| row[head].as_f64().map_or(Cell::Empty, Cell::Number);
        sheet.push(vec![
            Cell::Text(row["id"].as_str().unwrap()),
            Cell::Date(f64::from(44_255 + day_of_march(row))),
            Cell::Text(row["city"].as_str().unwrap()),
            Cell::Boolean(row["member"].as_bool().unwrap()),
            number("income"),
            number("score"),
            number("vote_très_bien"),
            number("vote_mauvais"),
        ]);
    }
    workbook::write(&folder.path("survey.xlsx"), false, &sheet);

    let texts = |head: &str| -> ArrayRef {
        Arc::new(rows.iter().map(|row| row[head].as_str()).collect::<StringArray>())
    };
    let whole = |head: &str| -> ArrayRef {
        Arc::new(rows.iter().map(|row| row[head].as_i64()).collect::<Int64Array>())
    };
    let columns: [ArrayRef; 8] = [
        texts("id"),
        Arc::new(Date32Array::from_iter_values(rows.iter().map(|row| 18_686 + day_of_march(row)))),
        texts("city"),
        Arc::new(rows.iter().map(|row| row["member"].as_bool()).collect::<BooleanArray>()),
        whole("income"),
        Arc::new(rows.iter().map(|row| row["score"].as_f64()).collect::<Float64Array>()),
        whole("vote_très_bien"),
        whole("vote_mauvais"),
    ];
    let batch = RecordBatch::try_from_iter(heads.into_iter().zip(columns)).unwrap();
    let file = std::fs::File::create(folder.path("survey.parquet")).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    folder
}

#[cfg(all(feature = "parquet", feature = "xlsx"))]
#[test]
fn a_survey_trains_without_further_options_to_the_same_model_from_every_format() {
    let folder = with_typed_survey();
    let mut first: Option<(Vec<u8>, String)> = None;
    for end in ["csv", "csv.gz", "xlsx", "jsonl", "parquet"] {
        folder.succeed(&format!("train survey.{end} --labels vote_* --out {end}.ldlf"));
        folder.succeed(&format!("predict csv.ldlf survey.{end} --keep id --out {end}.predicted.csv"));
        let found = (folder.bytes(&format!("{end}.ldlf")), folder.read(&format!("{end}.predicted.csv")));
        let wanted = first.get_or_insert_with(|| found.clone());
        assert!(found.0 == wanted.0, "the model of {end}");
        assert_eq!(found.1, wanted.1, "the predictions of {end}");
    }
    let (_, predicted) = first.expect("five formats");
    assert!(predicted.starts_with("id,vote_très_bien,vote_mauvais\nR0,0."), "{predicted}");
    let ids = predicted.lines().skip(1).map(|line| line.split(',').next().unwrap_or_default());
    assert!(ids.eq((0..60).map(|row| format!("R{row}"))), "{predicted}");
}

#[test]
fn a_survey_of_other_spellings_is_the_same_to_other_learners() {
    let folder = with_survey();
    for (number, file) in ["survey.csv", "survey2.csv", "survey.jsonl"].iter().enumerate() {
        folder.succeed(&format!("train {file} --labels vote_* --learner bfgs-ldl --out m{number}"));
        folder.succeed(&format!("predict m0 {file} --keep id --out p{number}.csv"));
    }
    assert!(folder.bytes("m0") == folder.bytes("m1") && folder.bytes("m0") == folder.bytes("m2"));
    assert!(folder.read("p0.csv").starts_with("id,vote_très_bien,vote_mauvais\nR0,0."));
    assert!(folder.read("p0.csv") == folder.read("p1.csv") && folder.read("p0.csv") == folder.read("p2.csv"));
}

#[test]
fn labels_are_measured_by_name_in_any_order_and_other_columns_are_refused() {
    let folder = with_survey();
    folder.succeed("train survey2.csv --labels vote_* --learner bfgs-ldl --out m");
    let own = folder.json("-q evaluate m survey2.csv --json")["measures"].clone();
    let turned = folder.json("-q evaluate m survey2.csv --json --labels vote_mauvais,vote_très_bien");
    assert_eq!(turned["measures"], own);
    let other = folder.call("evaluate m survey2.csv --labels vote_mauvais,income");
    assert!(other.contains("\"income\" is no label of the model; its labels are vote_"), "{other}");
}

#[test]
fn numbers_whose_decimal_mark_nothing_tells_are_noted() {
    let folder = Folder::new();
    let rows: String = (0..12).map(|row| format!("{}.345;{};2\n", 10 + row, 1 + row % 3)).collect();
    folder.write("open.csv", &format!("x;a;b\n{rows}"));
    assert_data_eq!(
        folder.call("train open.csv --labels a,b --learner mean --out m"),
        str![[r#"
exit 0
-- stdout
learner  mean
data     open, 12 rows, 1 feature, 2 labels
numbers  x
stopped  completed
model    m
-- stderr
note: open.csv: "10.345" is read as 10345: no number of the file tells its decimal mark; write 10345 to be sure
note: open.csv: the labels are vote counts, 3 to 5 votes per row

"#]]
    );
    folder.write("clear.csv", &format!("x;a;b\n{rows}9.5;1;2\n"));
    assert!(!folder.call("predict m clear.csv --out -").contains("decimal mark"));
}

#[test]
fn a_folder_of_parts_needs_the_ending_of_its_files() {
    let folder = with_survey();
    folder.succeed("train survey2.csv --labels vote_* --learner mean --out m");
    let refused = folder.call("predict m survey2.csv --out parts --part-rows 20");
    assert!(
        refused.starts_with("exit 2\n") && refused.contains("end the name of the folder so"),
        "{refused}"
    );
    folder.succeed(
        "predict m survey2.csv --out parts.jsonl --part-rows 20 --keep day,city,member,income,score",
    );
    assert_eq!(folder.succeed("predict m parts.jsonl --write mode --out -").lines().count(), 61);
}
