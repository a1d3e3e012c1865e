//! `ldlf report` and `ldlf plot`. How the page behaves in a browser is tested in `ldlf-report/tests/browser`.

use snapbox::{assert_data_eq, str};

use crate::call::Folder;

/// A forest that is trained in no time.
const SMALL: &str = "--set sldlf.choose=false --set sldlf.leave_out=0 --set sldlf.trees=2 --set sldlf.depth=3 --set sldlf.iterations=120";

/// A folder with `results` of two learners, and a forest.
fn with_results() -> Folder {
    let folder = Folder::with_votes();
    let labels = "--labels votes_* --label-values 1..4";
    folder.succeed(&format!(
        "cv votes.csv {labels} --folds 3 --learner sldlf,mean {SMALL} --results results -q"
    ));
    let small = SMALL.replace("sldlf.", "");
    folder.succeed(&format!("train votes.csv {labels} {small} --out forest.ldlf -q"));
    folder
}

#[test]
fn results_and_a_model_become_one_page_without_links() {
    let folder = with_results();
    folder.succeed("report results --model forest.ldlf --data votes.csv --row 5 --title Votes -o page.html");
    let page = folder.read("page.html");
    for part in [
        "<h1>Votes</h1>",
        "votes, clean protocol",
        "Model forest",
        "Tree 1 of 2",
        "Leaf usage",
        "Cumulative score",
    ] {
        assert!(page.contains(part), "{part} is not on the page");
    }
    let elsewhere = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!elsewhere.contains("http:") && !elsewhere.contains("https:"), "the page links elsewhere");
    let again = page.clone();
    folder.succeed("report results --model forest.ldlf --data votes.csv --row 5 --title Votes -o page.html --force --threads 2");
    assert!(folder.read("page.html") == again, "the same call gives the same bytes");
}

/// Rows that a forest of [`with_results`] did not learn from, two countries of them.
fn add_new_rows(folder: &Folder) {
    folder.succeed("generate mixture --rows 40 --features 3 --labels 4 --votes 10 --seed 9 --out new.csv -q");
    let text = folder.read("new.csv");
    let countries = text.lines().enumerate().map(|(line, text)| match line {
        0 => format!("{text},country\n"),
        line => format!("{text},{}\n", ["Chile", "Norway"][line % 2]),
    });
    folder.write("new.csv", &countries.collect::<String>());
}

#[test]
fn training_rows_are_never_shown_as_if_they_were_new() {
    let folder = with_results();
    let call = folder.call("report --model forest.ldlf --data votes.csv -o page.html");
    let note =
        "note: the model was trained on these rows, which are not shown; name --out-of-fold, or other rows";
    assert!(call.contains(note), "{call}");
    let page = folder.read("page.html");
    assert!(page.contains("trained on these rows") && page.contains("They are not shown"), "{page}");
    assert!(!page.contains("Reliability by label") && !page.contains("Median row"));
}

#[test]
fn training_rows_are_shown_as_predicted_out_of_fold() {
    let folder = with_results();
    let small = "--labels votes_* --label-values 1..4 --set trees=4 --set depth=3 --set iterations=60 --set leave_out=2";
    folder.succeed(&format!("train votes.csv {small} --out-of-fold unseen.csv --out checked.ldlf -q"));
    folder.succeed(
        "report --model checked.ldlf --data votes.csv --out-of-fold unseen.csv --row 5 -o page.html",
    );
    let page = folder.read("page.html");
    for part in
        ["predicted out of fold", "Chosen row 5", "Reliability by label", "(PIT)", "made by the other half"]
    {
        assert!(page.contains(part), "{part} is not on the page");
    }
    let text = folder.read("unseen.csv");
    folder.write("short.csv", &text.lines().take(11).collect::<Vec<_>>().join("\n"));
    folder.write("odd.csv", &text.replacen("0.", "x", 1));
    let of = |file: &str| {
        folder.call(&format!("report --model checked.ldlf --data votes.csv --out-of-fold {file} -o no.html"))
    };
    let short = of("short.csv");
    assert!(
        short.starts_with("exit 2") && short.contains("--out-of-fold has 10 rows, the data 60 rows"),
        "{short}"
    );
    let odd = of("odd.csv");
    assert!(odd.starts_with("exit 3") && odd.contains("is not a share between 0 and 1"), "{odd}");
    assert!(!folder.path("no.html").exists());
}

#[test]
fn new_rows_show_how_far_a_model_can_be_trusted_and_for_whom() {
    let folder = with_results();
    add_new_rows(&folder);
    folder.succeed("report --model forest.ldlf --data new.csv --by country -o page.html");
    let page = folder.read("page.html");
    for part in [
        "Trust",
        "calibration",
        "quantiles, no promise",
        "(PIT)",
        "By country",
        "Chile",
        "Norway",
        "Median row",
    ] {
        assert!(page.contains(part), "{part} is not on the page");
    }
    assert!(!page.contains("trained on these rows"));
    let absent = folder.call("report --model forest.ldlf --data new.csv --by oak -o no.html");
    assert!(absent.starts_with("exit 3") || absent.starts_with("exit 2"), "{absent}");
}

#[test]
fn an_existing_page_stays_unless_forced() {
    let folder = Folder::new();
    folder.write("page.html", "mine");
    assert_data_eq!(
        folder.call("report results -o page.html"),
        str![[r#"
exit 2
-- stderr
error: page.html exists; choose another name or add --force

"#]]
    );
    assert_eq!(folder.read("page.html"), "mine");
}

#[test]
fn what_is_no_result_is_refused_in_one_sentence() {
    let folder = Folder::with_model();
    folder.write("notes.json", "{\"a\": 1}");
    folder.write("table.csv", "a,b\n1,2\n");
    let calls = ["absent", "mean.ldlf", "notes.json", "table.csv", "votes.csv", "."];
    let shown: String = calls.map(|path| folder.call(&format!("report {path} -o page.html"))).concat();
    assert_data_eq!(
        shown,
        str![[r#"
exit 3
-- stderr
error: absent does not exist
exit 2
-- stderr
error: mean.ldlf is a model file; name it with --model and its data with --data
exit 3
-- stderr
error: notes.json: not the results of `ldlf cv`, `ldlf sweep` or `ldlf reproduce` (missing field `dataset` at line 1 column 8); give a folder of `ldlf cv --results`, a JSON file of these commands, or a journal
exit 3
-- stderr
error: table.csv line 1: not a table of `ldlf sweep --out`, whose columns are parameters and then measures such as kl_mean
exit 3
-- stderr
error: votes.csv line 1: not a table of `ldlf sweep --out`, whose columns are parameters and then measures such as kl_mean
exit 3
-- stderr
error: . has no results.json; give a folder that `ldlf cv --results` wrote

"#]]
    );
    assert!(folder.call("report -o page.html").contains("there is nothing to report"));
}

#[test]
fn every_kind_of_figure_is_drawn() {
    let folder = with_results();
    folder.succeed("generate artificial --rows 60 --out other.csv -q");
    folder.succeed(&format!(
        "cv other.csv --labels label_* --folds 3 --learner sldlf,mean {SMALL} --results other -q"
    ));
    folder.succeed(
        "sweep votes.csv --labels votes_* --over trees=1,2,4 --set depth=3 --set iterations=10 --folds 2 --journal sweep.jsonl --out sweep.csv -q",
    );
    add_new_rows(&folder);
    let of_model = "--model forest.ldlf --data votes.csv";
    let of_predictions = "--model forest.ldlf --data new.csv";
    for (place, kind) in [
        "folds results".to_string(),
        "distributions results --learner mean --row 3".into(),
        "learning-curve results --learner sldlf --fold 1".into(),
        "label-error results".into(),
        "cumulative-score results".into(),
        "sweep sweep.csv".into(),
        "sweep sweep.jsonl".into(),
        "critical-difference results other".into(),
        format!("tree {of_model} --tree 2 --row 0"),
        format!("leaf-usage {of_model}"),
        format!("importance {of_model}"),
        format!("coverage {of_predictions}"),
        format!("reliability {of_predictions}"),
        format!("pit {of_predictions}"),
    ]
    .iter()
    .enumerate()
    {
        folder.succeed(&format!("plot {kind} -o {place}.svg"));
        let figure = folder.read(&format!("{place}.svg"));
        assert!(figure.starts_with("<svg ") && figure.contains("<desc id=\"d\">"), "{kind}");
    }
    folder.succeed("plot folds results -o figure.png");
    assert!(folder.bytes("figure.png").starts_with(b"\x89PNG"));
}

#[test]
fn a_figure_that_cannot_be_drawn_says_why() {
    let folder = with_results();
    let calls = [
        "folds results -o x.gif",
        "folds results --measure oak -o x.svg",
        "learning-curve results --learner mean -o x.svg",
        "distributions results --learner oak -o x.svg",
        "sweep results -o x.svg",
        "critical-difference results -o x.svg",
        "tree results -o x.svg",
        "tree --model forest.ldlf --data votes.csv --tree 3 -o x.svg",
        "tree --model forest.ldlf --data votes.csv --row 60 -o x.svg",
        "pit --model forest.ldlf --data votes.csv -o x.svg",
    ];
    let shown: String = calls.map(|call| folder.call(&format!("plot {call}"))).concat();
    assert_data_eq!(
        shown,
        str![[r#"
exit 2
-- stderr
error: x.gif: a figure ends with .svg or .png
exit 2
-- stderr
error: --measure oak: the results of votes have kl, euclidean, sorensen, squared_chi2, fidelity, intersection, chebyshev, clark, canberra, cosine, mae_mode, mae_mean, mae_median, cs_5, cs_1
exit 2
-- stderr
error: mean on votes: no learning curve was kept; does the learner iterate?
exit 2
-- stderr
error: --learner oak: the results have sldlf, mean
exit 2
-- stderr
error: votes: no number was swept over; give the results of `ldlf sweep`
exit 2
-- stderr
error: ranks are compared over at least two datasets that share at least two learners; give more results
exit 2
-- stderr
error: this figure is drawn from a model; give --model and --data
exit 2
-- stderr
note: votes.csv: the labels are vote counts, 10 votes per row
error: --tree 3: the forest has 2 trees
exit 2
-- stderr
note: votes.csv: the labels are vote counts, 10 votes per row
error: --row 60: votes has 60 rows counted from 0
exit 2
-- stderr
note: votes.csv: the labels are vote counts, 10 votes per row
error: these are the rows that the model was trained on, which say too much good of it; give others with --data

"#]]
    );
}
