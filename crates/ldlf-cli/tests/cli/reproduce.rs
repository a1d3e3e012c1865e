//! `ldlf reproduce`.

use snapbox::{assert_data_eq, str};

use crate::call::Folder;

/// A folder with `data/morph/NAME.csv`: forty people whose age is twice their feature.
fn with_ages(name: &str) -> Folder {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path("data/morph")).unwrap();
    let rows: String = (0..40).map(|i| format!("{},{},{}\n", 3 * i, i / 2, 20 + i / 2)).collect();
    folder.write(&format!("data/morph/{name}.csv"), &format!("x,person,age\n{rows}"));
    folder
}

#[test]
fn a_table_has_the_published_rows_beside_the_measured_ones() {
    let folder = with_ages("MORPH");
    let page = folder.succeed("reproduce table2 --learner mean,aa-knn --quiet");
    for line in [
        "# Table 2: age estimation, ten-fold cross-validation",
        "40 rows, 2 features, 20 labels.",
        "10 clean folds:",
        "| *CPNN* | *4.87 ± 0.31* | - | - | - | - | |",
        "Not run: the dataset is missing. Features of the FG-NET ageing database",
    ] {
        assert!(page.contains(line), "{line}\n{page}");
    }
    assert!(page.contains("\n| aa-knn | **"), "neighbours are best\n{page}");
    assert_eq!(folder.read("reproduce-table2/table2.md"), page);
    assert!(folder.path("reproduce-table2/MORPH-tenfolds/cumulative_scores.csv").is_file());
}

#[test]
fn what_was_finished_is_not_fitted_again() {
    let folder = with_ages("MORPH");
    let call = "reproduce table2 --learner mean --json --quiet";
    let first = folder.succeed(call);
    let journal = folder.read("reproduce-table2/journal.jsonl");
    assert_eq!(journal.lines().count(), 10);
    // The times in the answer are those of the first run: nothing was fitted.
    assert_eq!(folder.succeed(call), first);
    assert_eq!(folder.read("reproduce-table2/journal.jsonl"), journal);
}

#[test]
fn finished_folds_make_a_page_that_names_the_rest() {
    let folder = with_ages("MORPH");
    let nothing = folder.succeed("reproduce table2 --learner mean --finished --quiet");
    assert!(nothing.contains("No results yet."), "{nothing}");
    folder.succeed("reproduce table2 --learner mean --quiet");
    let page = folder.succeed("reproduce table2 --learner aa-knn,mean --finished --quiet");
    assert!(page.contains("\n| mean | **") && !page.contains("\n| aa-knn |"), "{page}");
    assert!(page.contains("\nNot run: aa-knn.\n"), "{page}");
    assert_eq!(folder.read("reproduce-table2/journal.jsonl").lines().count(), 10, "nothing was fitted");
}

#[test]
fn a_report_reads_what_reproduce_wrote() {
    let folder = with_ages("MORPH_Sub");
    folder.succeed("reproduce table3 --learner mean,aa-knn --repeats 2 --quiet");
    folder.succeed("report reproduce-table3/table3.json --out r.html --quiet");
    let page = folder.read("r.html");
    for heading in ["MORPH_Sub: table3, 10 %", "MORPH_Sub: table3, 60 %"] {
        assert!(page.contains(&format!(">{heading}</h2>")), "{heading}");
    }
    assert!(!page.contains("Over 6 datasets"), "shares of one set are not several sets");
}

#[test]
fn shares_are_columns_of_one_table() {
    let folder = with_ages("MORPH_Sub");
    let page = folder.succeed("reproduce table3 --learner mean,larr --repeats 2 --out here --quiet");
    assert!(page.contains("| MAE of the mode | 10 % | 20 % | 30 % | 40 % | 50 % | 60 % |"), "{page}");
    assert!(page.contains("| *D2LDL* | *4.108* | *3.9857* |"), "{page}");
    assert!(page.contains("2 random splits that train on 60 % of the rows:"), "{page}");
    let object = folder.json("reproduce table3 --learner mean,larr --repeats 2 --out here --quiet --json");
    let section = &object["sections"][0];
    assert_eq!(section["division"], "10 %");
    assert_eq!(section["evaluation"]["results"][1]["folds"].as_array().unwrap().len(), 2);
    assert!(section["evaluation"]["results"][1]["mean"]["kl"].is_null(), "larr gives numbers only");
    assert_eq!(section["published"][4]["numbers"]["mae_mode"]["mean"], 3.8495);
}

#[test]
fn a_table_of_ones_own_takes_the_place_of_the_sets() {
    let folder = with_ages("MORPH");
    let own = "--table data/morph/MORPH.csv --label-column age --sigma 2 --group person";
    let object = folder.json(&format!("reproduce table2 {own} --learner mean --json --quiet"));
    assert_eq!(object["sections"].as_array().unwrap().len(), 1);
    let evaluation = &object["sections"][0]["evaluation"];
    assert_eq!((&evaluation["dataset"], &evaluation["features"]), (&"MORPH".into(), &1.into()));
}

#[test]
fn absent_sets_are_named_with_where_to_get_them() {
    let folder = Folder::new();
    assert_data_eq!(
        folder.call("reproduce table1 --data nowhere --sets Movie"),
        str![[r#"
exit 3
-- stderr
error: nowhere holds none of the sets; they belong in
  ldl/Movie.*: the LDL page of Xin Geng's lab (palm.seu.edu.cn/xgeng/LDL) has it as a .mat file

"#]]
    );
}

#[test]
fn mistakes_are_one_sentence() {
    let folder = with_ages("MORPH");
    let last = |call: &str| folder.call(call).lines().last().unwrap().to_string();
    assert_eq!(
        last("reproduce table9"),
        "error: unknown experiment \"table9\"; expected one of table1, table2, table3, figure3, complexity"
    );
    assert_eq!(
        last("reproduce table2 --sets Movie"),
        "error: table2 has no set \"Movie\"; it has MORPH, FG-Net"
    );
    assert_eq!(
        last("reproduce table2 --label-column age"),
        "error: options for columns describe a table of your own; name it with --table"
    );
    assert_eq!(
        last("reproduce table2 --learner mean --set trees=3"),
        "error: --set trees=3: write LEARNER.NAME=VALUE with one of the learners mean"
    );
}
