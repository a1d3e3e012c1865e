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

#[test]
fn a_survey_trains_without_further_options_to_the_same_model_from_every_format() {
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
