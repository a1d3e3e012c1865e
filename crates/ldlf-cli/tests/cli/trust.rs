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

#[test]
fn spreads_tell_how_far_shares_are_off() {
    let folder = stars();
    folder.succeed(&format!("-q train votes.csv {LABELS} --set trees=10 --set iterations=100 --out m"));
    assert!(folder.succeed("inspect m").contains("\nspread"));
    let found = folder.succeed("-q predict m new.csv --write distribution,spread --out -");
    let new = folder.read("new.csv");
    let (mut errors, mut spreads) = (0.0, 0.0);
    for star in 1..=4 {
        let name = format!("votes_{star}");
        let truth = numbers(&new, &name).into_iter().map(|votes| votes / 10.0);
        let predicted = numbers(&found, &name);
        errors += truth.zip(&predicted).map(|(d, p)| (d - p).powi(2)).sum::<f64>();
        spreads += numbers(&found, &format!("spread_{name}")).iter().map(|s| s * s).sum::<f64>();
    }
    // As standard deviations they are right on average over 1,200 shares of new rows.
    assert!((0.75..1.33).contains(&(errors / spreads)), "{errors} {spreads}");
}

#[test]
fn rows_of_another_kind_are_unfamiliar_and_counted_in_a_note() {
    let folder = stars();
    folder.succeed(&format!("train votes.csv {LABELS} --learner aa-knn --out m"));
    let said = folder.call("predict m new.csv --write familiarity --out same.csv");
    let usual = numbers(&folder.read("same.csv"), "familiarity");
    let unlike = |of_rows: &[f64], level: f64| of_rows.iter().filter(|of_row| **of_row <= level).count();
    assert!(usual.iter().all(|of_row| *of_row > 0.0 && *of_row <= 1.0), "{usual:?}");
    assert!((6..=60).contains(&unlike(&usual, 0.1)), "{} of 300 at 0.1", unlike(&usual, 0.1));
    assert!(unlike(&usual, 0.01) < 15, "{said}");
    // The same rows, each feature moved by three of its deviations, more or less.
    let shifted: Vec<String> = folder
        .read("new.csv")
        .lines()
        .enumerate()
        .map(|(line, text)| {
            let cells = text.split(',').enumerate();
            let moved = cells.map(|(at, cell)| match cell.parse::<f64>() {
                Ok(value) if line > 0 && at < 3 => (value + 12.0).to_string(),
                _ => cell.to_string(),
            });
            moved.collect::<Vec<_>>().join(",")
        })
        .collect();
    folder.write("shifted.csv", &shifted.join("\n"));
    let said = folder.call("predict m shifted.csv --write familiarity --out shifted-found.csv");
    let found = numbers(&folder.read("shifted-found.csv"), "familiarity");
    assert!(unlike(&found, 0.01) > 270, "{} of 300", unlike(&found, 0.01));
    let note = format!(
        "note: {} rows are unlike the training rows (familiarity at most 0.01;",
        unlike(&found, 0.01)
    );
    assert!(said.contains(&note), "{said}");
}

#[test]
fn a_model_that_cannot_tell_refuses_spread_and_familiarity() {
    let folder = Folder::with_votes();
    folder.write("few.csv", &folder.read("votes.csv").lines().take(20).collect::<Vec<_>>().join("\n"));
    folder.succeed(&format!("train few.csv {LABELS} --learner mean --out m"));
    let spread = folder.call("predict m votes.csv --write spread --out -");
    assert!(
        spread.starts_with("exit 2") && spread.contains("--write spread needs calibration data"),
        "{spread}"
    );
    let familiarity = folder.call("predict m votes.csv --write familiarity --out -");
    assert!(
        familiarity.starts_with("exit 2") && familiarity.contains("a table of at least 40 rows"),
        "{familiarity}"
    );
}
