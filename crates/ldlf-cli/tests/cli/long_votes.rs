//! Votes as they are collected: one vote per line, classes in a column, rows of many and of few votes, missing labels.

use serde_json::Value;

use crate::call::Folder;

/// 24 texts with one feature, three careful annotators and one who always says yes; `seconds` belongs to the vote, not to the text.
fn with_long_votes() -> Folder {
    let folder = Folder::new();
    let (mut long, mut items, mut wide) = (
        String::from("text,who,says,length,seconds\n"),
        String::from("text,length\n"),
        String::from("text,length,no,yes\n"),
    );
    for text in 0..24 {
        let length = 10 + text;
        let truth = if text % 2 == 0 { "yes" } else { "no" };
        let other = if text % 2 == 0 { "no" } else { "yes" };
        // Bob is wrong on every sixth.
        let bob = if text % 6 == 0 { other } else { truth };
        let votes = [("Ann", truth), ("Bob", bob), ("Cem", truth), ("Yes", "yes")];
        for (at, (who, says)) in votes.iter().enumerate() {
            long += &format!("t{text},{who},{says},{length},{}\n", at + text);
        }
        let yes = votes.iter().filter(|(_, says)| *says == "yes").count();
        items += &format!("t{text},{length}\n");
        wide += &format!("t{text},{length},{},{yes}\n", 4 - yes);
    }
    folder.write("long.csv", &long);
    folder.write("items.csv", &items);
    folder.write("wide.csv", &wide);
    folder
}

fn predictions(folder: &Folder, model: &str) -> String {
    folder.succeed(&format!("predict {model} items.csv --out - --format csv"))
}

#[test]
fn one_vote_per_line_gives_the_model_of_counts() {
    let folder = with_long_votes();
    let fit = "--learner bfgs-ldl --force";
    folder.succeed(&format!("train wide.csv --labels no,yes {fit} --out wide.ldlf"));
    let said = folder.call(&format!("train long.csv --long text,who,says {fit} --out long.ldlf"));
    assert!(said.starts_with("exit 0"), "{said}");
    assert!(said.contains("note: long.csv: 96 votes by 4 annotators on 24 items, 2 labels"), "{said}");
    assert!(said.contains("left out seconds: they differ between the votes of an item"), "{said}");
    let beside = "train items.csv --votes long.csv --long text,who,says";
    folder.succeed(&format!("{beside} {fit} --out beside.ldlf"));
    let wide = predictions(&folder, "wide.ldlf");
    assert_eq!(predictions(&folder, "long.ldlf"), wide);
    assert_eq!(predictions(&folder, "beside.ldlf"), wide);
}

#[test]
fn a_model_of_votes_is_measured_on_votes_with_its_own_labels() {
    let folder = with_long_votes();
    folder.succeed("train wide.csv --labels no,yes --learner bfgs-ldl --out m.ldlf");
    let of = |line: &str| folder.json(line)["measures"]["kl"].clone();
    let wide = of("evaluate m.ldlf wide.csv --json");
    assert_eq!(of("evaluate m.ldlf long.csv --long text,who,says --json"), wide);
    // Labels that nobody gave here are still those of the model; others are not.
    folder.write("few.csv", "text,says,length\na,yes,11\nb,yes,12\n");
    folder.succeed("evaluate m.ldlf few.csv --long text,says");
    folder.write("other.csv", "text,says,length\na,yes,11\nb,perhaps,12\n");
    let said = folder.call("evaluate m.ldlf other.csv --long text,says");
    assert!(said.starts_with("exit 3") && said.contains("\"perhaps\" is none of the labels"), "{said}");
}

#[test]
fn items_without_votes_and_lines_without_a_label_are_counted() {
    let folder = Folder::new();
    folder.write("items.csv", "id,x\n1,0.5\n2.0,1.5\n3,2.5\n4,0.1\n");
    folder.write("votes.csv", "id,who,v\n1.0,a,1\n1,b,2\n2,a,\n2,b,5\n3,a,1\n3,a,5\n9,a,1\n");
    let said = folder.call("train items.csv --votes votes.csv --long id,who,v --learner mean --out m.ldlf");
    assert!(said.starts_with("exit 0"), "{said}");
    for note in [
        "votes.csv: 1 lines without a label are no votes",
        "votes.csv: 1 votes are a further one of the same annotator on the same item; all count",
        "items.csv: left out 1 of 4 rows, on which nobody voted",
        "items.csv: has no row for 1 items that have votes",
    ] {
        assert!(said.contains(note), "{note}\n{said}");
    }
    // Labels that are numbers are ordered.
    let schema = folder.json("inspect m.ldlf --json")["document"]["schema"].clone();
    assert_eq!(schema["label_values"], serde_json::json!([1.0, 2.0, 5.0]), "{schema}");
    assert!(folder.succeed("predict m.ldlf items.csv --write mean --out - --format csv").starts_with("mean"));
}

#[test]
fn who_votes_without_looking_is_found_and_counts_for_nothing() {
    let folder = with_long_votes();
    let found = folder.json("annotators long.csv --long text,who,says --json");
    let annotators = found["annotators"].as_array().expect("a list");
    assert_eq!(annotators[0]["annotator"], "Yes", "the least reliable first: {found}");
    let reliability = |at: usize| annotators[at]["reliability"].as_f64().expect("a number");
    assert!(reliability(0) < 0.1 && reliability(3) > 0.9, "{found}");
    assert!(folder.succeed("annotators long.csv --long text,who,says").contains("reliability"));
    folder.succeed("annotators long.csv --long text,who,says --out who.csv");
    assert!(folder.read("who.csv").starts_with("annotator,votes,accuracy,reliability\nYes,24,"));

    let first = |options: &str| -> f64 {
        folder.succeed(&format!(
            "train long.csv --long text,who,says {options} --learner mean --force --out m.ldlf"
        ));
        let rows = predictions(&folder, "m.ldlf");
        rows.lines().nth(1).and_then(|row| row.split(',').next()).expect("a row").parse().expect("a number")
    };
    let (plain, weighed) = (first(""), first("--weigh-annotators"));
    assert!(weighed > plain + 0.05, "votes of who always says yes count less: {plain}, {weighed}");
    let said = folder.call("train long.csv --long text,says --weigh-annotators --out n.ldlf");
    assert!(
        said.starts_with("exit 2") && said.contains("--weigh-annotators needs votes that say who"),
        "{said}"
    );
}

#[test]
fn a_column_of_texts_holds_classes() {
    let folder = Folder::new();
    let rows: String = (0..30).map(|row| format!("{row}.5,{}\n", ["red", "blue"][row / 15])).collect();
    folder.write("colours.csv", &format!("x,colour\n{rows}"));
    folder.succeed("train colours.csv --label-column colour --learner bfgs-ldl --out m.ldlf");
    let predicted = folder.succeed("predict m.ldlf colours.csv --out - --format csv");
    assert!(predicted.starts_with("blue,red\n"), "{predicted}");
    let measured = folder.json("evaluate m.ldlf colours.csv --measures top_1 --json");
    assert!(measured["measures"]["top_1"].as_f64().is_some_and(|share| share > 0.9), "{measured}");
    folder.write("new.csv", "x,colour\n1,green\n");
    let said = folder.call("evaluate m.ldlf new.csv");
    assert!(said.starts_with("exit 3") && said.contains("\"green\" is no label of the model"), "{said}");
    let said = folder.call("train colours.csv --label-column colour --sigma 1 --out n.ldlf");
    assert!(said.starts_with("exit 2") && said.contains("have no order to spread over"), "{said}");
    folder.write("ages.csv", "x,age\n1,20\n2,21\n3,old\n");
    let said = folder.call("train ages.csv --label-column age --sigma 1 --out n.ldlf");
    assert!(said.contains("\"old\" is not a number, as most labels are"), "{said}");
}

#[test]
fn rows_weigh_as_much_as_they_have_votes_on_request() {
    let folder = Folder::new();
    folder.write("votes.csv", "x,a,b\n1,1,0\n2,0,9\n3,2,2\n");
    let mean = |options: &str| -> f64 {
        folder
            .succeed(&format!("train votes.csv --labels a,b {options} --learner mean --force --out m.ldlf"));
        let rows = folder.succeed("predict m.ldlf votes.csv --out - --format csv");
        rows.lines().nth(1).and_then(|row| row.split(',').next()).expect("a row").parse().expect("a number")
    };
    assert!((mean("") - 0.5).abs() < 1e-6, "every row alike");
    assert!((mean("--weight-by-votes") - 3.0 / 14.0).abs() < 1e-6, "every vote alike");
    let effective = mean("--weight-by-votes=effective");
    assert!(effective > 3.0 / 14.0 && effective < 0.5, "between the two: {effective}");
    folder.write("shares.csv", "x,a,b\n1,0.5,0.5\n2,0.1,0.9\n");
    let said = folder.call("train shares.csv --labels a,b --weight-by-votes --learner mean --out n.ldlf");
    assert!(said.starts_with("exit 3") && said.contains("needs the number of votes"), "{said}");
}

#[test]
fn rows_with_a_missing_label_are_refused_counted_as_zero_or_left_out() {
    let folder = Folder::new();
    folder.write("pivot.csv", "x,a,b\n1,3,\n2,1,1\n3,n/a,4\n");
    let train = |options: &str| {
        folder.call(&format!("train pivot.csv --labels a,b {options} --learner mean --force --out m.ldlf"))
    };
    let refused = train("");
    assert!(refused.starts_with("exit 3"), "{refused}");
    assert!(refused.contains("pivot.csv line 2, column \"b\": the label is missing"), "{refused}");
    assert!(
        refused.contains("--missing-labels zero") && refused.contains("--missing-labels skip"),
        "{refused}"
    );
    assert!(train("--missing-labels zero").contains("in 2 rows a missing label counts as 0"));
    let zero = folder.json("inspect m.ldlf --json");
    let rows = |of: &Value| of["document"]["provenance"]["rows"].clone();
    assert!(train("--missing-labels skip").contains("left out 2 rows of which a label is missing"));
    let skipped = folder.json("inspect m.ldlf --json");
    assert_eq!((rows(&zero), rows(&skipped)), (3.into(), 1.into()));
}
