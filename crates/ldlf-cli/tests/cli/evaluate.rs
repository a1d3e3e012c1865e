//! `ldlf evaluate`: measures on request, and row by row.

use crate::call::Folder;

/// A folder with a model of votes for 1 to 4 stars.
fn stars() -> Folder {
    let folder = Folder::with_votes();
    folder.succeed("train votes.csv --labels votes_* --label-values 1..4 --learner mean --out stars.ldlf");
    folder
}

#[test]
fn further_measures_stand_after_the_usual_ones() {
    let folder = stars();
    let usual = folder.json("evaluate stars.ldlf votes.csv --json")["measures"].clone();
    let more =
        folder.json("evaluate stars.ldlf votes.csv --measures crps,kl,kappa --json")["measures"].clone();
    let (usual, more) = (usual.as_object().unwrap(), more.as_object().unwrap());
    let names: Vec<&String> = more.keys().collect();
    assert_eq!(names[..usual.len()], usual.keys().collect::<Vec<_>>());
    assert_eq!(names[usual.len()..], ["crps", "kappa"]);
    let all = folder.json("evaluate stars.ldlf votes.csv --measures all --json")["measures"].clone();
    assert_eq!(all.as_object().unwrap().len(), 29);
    assert!(all.as_object().unwrap().values().all(|value| value.is_number()), "{all}");
}

#[test]
fn rows_have_a_line_each_whose_mean_is_the_measure() {
    let folder = stars();
    let measured =
        folder.json("evaluate stars.ldlf votes.csv --measures crps,kappa --per-row rows.csv --json");
    let text = folder.read("rows.csv");
    let mut lines = text.lines();
    let heads: Vec<&str> = lines.next().unwrap().split(',').collect();
    assert!(heads.contains(&"kl") && heads.contains(&"crps") && !heads.contains(&"kappa"), "{heads:?}");
    let column = heads.iter().position(|head| *head == "crps").unwrap();
    let values: Vec<f64> = lines.map(|line| line.split(',').nth(column).unwrap().parse().unwrap()).collect();
    assert_eq!(values.len(), 60);
    let mean = values.iter().sum::<f64>() / 60.0;
    assert!((mean - measured["measures"]["crps"].as_f64().unwrap()).abs() < 1e-12);
    let again = folder.call("evaluate stars.ldlf votes.csv --per-row rows.csv");
    assert!(again.contains("rows.csv exists") && again.contains("--force"), "{again}");
    let over = folder.call("evaluate stars.ldlf votes.csv --per-row votes.csv --force");
    assert!(over.contains("votes.csv would overwrite votes.csv"), "{over}");
}

#[test]
fn measures_that_do_not_apply_or_do_not_exist_are_refused_by_name() {
    let folder = Folder::with_model();
    assert_eq!(
        folder.call("evaluate mean.ldlf votes.csv --measures crps -q"),
        "exit 2\n-- stderr\nerror: crps needs labels that stand for numbers; train with --label-values\n"
    );
    let unknown = folder.call("evaluate mean.ldlf votes.csv --measures crsp");
    assert!(
        unknown.contains("no measure is called \"crsp\"; give all, or some of kl, euclidean,"),
        "{unknown}"
    );
    // All that apply.
    assert_eq!(
        folder.json("evaluate mean.ldlf votes.csv --measures all --json -q")["measures"]
            .as_object()
            .unwrap()
            .len(),
        16
    );
}

#[test]
fn trust_shows_coverage_calibration_and_the_place_of_the_truth() {
    let folder = stars();
    folder.succeed(
        "train votes.csv --labels votes_* --label-values 1..4 --learner mean --calibrate 0.5 --out m",
    );
    let text = folder.succeed("-q evaluate m votes.csv --trust");
    for part in [
        "= calibration 0.",
        "vote_interval        0.90",
        "calibration error",
        "votes_4",
        "PIT, tenth by tenth",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let found = folder.json("-q evaluate m votes.csv --trust --json")["trust"].clone();
    assert_eq!(found["coverage"].as_array().unwrap().len(), 16);
    let kl = |part: &str| found["kl"][part].as_f64().unwrap();
    assert!((kl("kl") - kl("calibration") - kl("refinement")).abs() < 1e-12, "{found}");
    // Without calibration data there are the distribution's own quantiles.
    assert_eq!(
        folder.json("-q evaluate stars.ldlf votes.csv --trust --json")["trust"]["coverage"][0]["kind"],
        "quantile_interval"
    );
}

#[test]
fn subgroups_and_a_second_model_come_with_intervals() {
    let folder = stars();
    let text = folder.read("votes.csv");
    let mut lines = text.lines();
    let head = format!("{},city\n", lines.next().unwrap());
    let rows = lines.enumerate().map(|(row, line)| format!("{line},{}\n", ["Bern", "Rome"][row % 2]));
    folder.write("cities.csv", &(head + &rows.collect::<String>()));
    let table = folder.succeed("-q evaluate stars.ldlf cities.csv --by city");
    assert!(table.contains("\nBern    30  0.") && table.contains("\nRome    30  0."), "{table}");
    assert!(table.ends_with("In brackets: 95 % intervals by bootstrap over rows.\n"), "{table}");
    let found = folder.json("-q evaluate stars.ldlf cities.csv --by city --measures crps --json");
    let of = |city: &str, part: &str| found["by"][city]["measures"]["kl"][part].as_f64().unwrap();
    assert!(
        (of("Bern", "value") + of("Rome", "value") - 2.0 * found["measures"]["kl"].as_f64().unwrap()).abs()
            < 1e-9
    );
    assert!(of("Bern", "low") < of("Bern", "value") && of("Bern", "value") < of("Bern", "high"));
    assert!(found["by"]["Rome"]["measures"]["crps"]["value"].is_number());
    // A model is no better than itself, and aa-knn is better than the mean.
    folder.succeed("-q train votes.csv --labels votes_* --label-values 1..4 --learner aa-knn --out knn");
    let same = folder.json("-q evaluate stars.ldlf votes.csv --against stars.ldlf --json")["against"].clone();
    assert_eq!(same["kl"]["high"], 0.0, "{same}");
    let better = folder.succeed("-q evaluate knn votes.csv --against stars.ldlf");
    assert!(better.lines().any(|line| line.starts_with("K-L ") && line.ends_with("lower")), "{better}");
}

#[test]
fn rows_that_are_empty_are_passed_over_in_subgroups_too() {
    let folder = Folder::new();
    folder.write("d.csv", "x,city,a,b\n1,Bern,1,2\n,,,\n2,Rome,3,1\n3,Bern,2,2\n,,,\n");
    folder.succeed("-q train d.csv --labels a,b --features x --learner mean --out m");
    let found = folder.json("-q evaluate m d.csv --by city --json");
    assert_eq!(
        (&found["by"]["Bern"]["rows"], &found["by"]["Rome"]["rows"]),
        (&2.into(), &1.into()),
        "{found}"
    );
}

#[test]
fn a_column_of_subgroups_must_be_there_and_have_few_values() {
    let folder = stars();
    let missing = folder.call("-q evaluate stars.ldlf votes.csv --by city");
    assert!(missing.starts_with("exit 3") && missing.contains("city"), "{missing}");
    let many = folder.call("-q evaluate stars.ldlf votes.csv --by x_1");
    assert!(many.contains("--by x_1 has 60 different values; name a column with 50 at most"), "{many}");
    folder.write("other.csv", "x_1,x_2,x_3,yes,no\n1,2,3,0.5,0.5\n");
    folder.succeed("-q train other.csv --labels yes,no --learner mean --out other");
    let other = folder.call("-q evaluate stars.ldlf votes.csv --against other");
    assert!(other.starts_with("exit 3") || other.starts_with("exit 2"), "{other}");
}
