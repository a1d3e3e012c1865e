//! Intervals and label sets with a promise: `ldlf train --calibrate`, `ldlf predict --write interval=...`.

use crate::call::Folder;

/// A folder with 300 rows to learn from and 300 others, of votes for 1 to 4 stars.
fn stars() -> Folder {
    let folder = Folder::new();
    folder.succeed("generate mixture --rows 600 --features 3 --labels 4 --votes 10 --out all.csv");
    let text = folder.read("all.csv");
    let lines: Vec<&str> = text.lines().collect();
    folder.write("votes.csv", &lines[..301].join("\n"));
    folder.write("new.csv", &[&lines[..1], &lines[301..]].concat().join("\n"));
    folder
}

const LABELS: &str = "--labels votes_* --label-values 1..4";

/// Heads and numbers of a table; sets as how many labels they have.
fn column(text: &str, head: &str) -> Vec<String> {
    let mut lines = text.lines();
    let place = lines
        .next()
        .unwrap()
        .split(',')
        .position(|name| name == head)
        .unwrap_or_else(|| panic!("{head}: {text}"));
    lines.map(|line| line.split(',').nth(place).unwrap().to_string()).collect()
}

fn numbers(text: &str, head: &str) -> Vec<f64> {
    column(text, head).iter().map(|cell| cell.parse().unwrap()).collect()
}

/// Coverage of values, votes and sets at 0.8 on the new rows.
fn covered(folder: &Folder, model: &str) -> [f64; 3] {
    let call = format!("-q predict {model} new.csv --write interval=0.8,vote_interval=0.8,set=0.8 --out -");
    let found = folder.succeed(&call);
    let new = folder.read("new.csv");
    let votes: Vec<Vec<f64>> = (1..=4).map(|star| numbers(&new, &format!("votes_{star}"))).collect();
    let ends = ["interval_0.8_low", "interval_0.8_high", "vote_interval_0.8_low", "vote_interval_0.8_high"];
    let [low, high, vote_low, vote_high] = ends.map(|head| numbers(&found, head));
    let sets = column(&found, "set_0.8");
    let mut sums = [0.0; 3];
    for row in 0..300 {
        let of = |star: usize| votes[star][row] / 10.0;
        let mean: f64 = (0..4).map(|star| of(star) * (star + 1) as f64).sum();
        sums[0] += f64::from(u8::from(low[row] <= mean && mean <= high[row]));
        for star in 0..4 {
            let value = (star + 1) as f64;
            sums[1] += of(star) * f64::from(u8::from(vote_low[row] <= value && value <= vote_high[row]));
            let inside = sets[row].split('|').any(|name| name == format!("votes_{}", star + 1));
            sums[2] += of(star) * f64::from(u8::from(inside));
        }
    }
    sums.map(|sum| sum / 300.0)
}

#[test]
fn a_forest_promises_intervals_and_sets_without_further_data() {
    let folder = stars();
    let said =
        folder.succeed(&format!("-q train votes.csv {LABELS} --set trees=10 --set iterations=100 --out m"));
    assert!(said.contains("calibrated by   300 training rows or groups, out of fold"), "{said}");
    assert!(folder.succeed("inspect m").contains("300 training rows or groups, out of fold"));
    for covered in covered(&folder, "m") {
        assert!((0.72..1.0).contains(&covered), "{covered}");
    }
}

#[test]
fn held_out_rows_calibrate_any_learner() {
    let folder = stars();
    let said =
        folder.succeed(&format!("-q train votes.csv {LABELS} --learner aa-knn --calibrate 0.4 --out m"));
    assert!(said.contains("calibrated by   120 held-out rows or groups"), "{said}");
    for covered in covered(&folder, "m") {
        assert!((0.70..1.0).contains(&covered), "{covered}");
    }
    let all = folder.call("predict m new.csv --write interval=0.9,set=0.995 --out all-of-it.csv");
    assert!(all.contains("note: 120 rows or groups can promise no more than 0.992: what is asked for 0.995 holds everything"), "{all}");
    assert_eq!(column(&folder.read("all-of-it.csv"), "set_0.995")[0], "votes_1|votes_2|votes_3|votes_4");
    let bad = folder.call(&format!("train votes.csv {LABELS} --calibrate 1.5 --out n"));
    assert!(bad.contains("give a fraction above 0 and below 1, such as 0.2"), "{bad}");
}

#[test]
fn a_model_without_calibration_data_promises_nothing() {
    let folder = Folder::with_votes();
    folder.succeed(&format!("train votes.csv {LABELS} --learner mean --out m"));
    assert_eq!(
        folder.call("predict m votes.csv --write interval=0.9 --out -"),
        "exit 2\n-- stderr\nerror: --write interval needs calibration data, which this model lacks; train with --calibrate 0.2, or write \
         quantile_interval, which promises nothing\n"
    );
    let set = folder.call("predict m votes.csv --write set=0.9 --out -");
    assert!(set.ends_with("which this model lacks; train with --calibrate 0.2\n"), "{set}");
    folder.succeed("predict m votes.csv --write quantile_interval=0.9 --out -");
}
