//! The same answer: in every process, for any number of threads, and to five digits on every kind of processor.

use crate::call::Folder;

const TRAIN: &str = "train votes.csv --labels votes_* --set iterations=120 --set epochs=none --set trees=4 --set depth=5 --quiet";

/// Runs a call with the instructions of one level of the processor.
fn at_level(folder: &Folder, level: Option<&str>, call: &str) {
    let mut command = folder.command(call);
    command.env_remove("LDLF_SIMD");
    if let Some(level) = level {
        command.env("LDLF_SIMD", level);
    }
    let output = command.output().expect("ldlf starts");
    assert!(output.status.success(), "{}", crate::call::shown(&output));
}

fn numbers(folder: &Folder, name: &str) -> Vec<f64> {
    let text = folder.read(name);
    text.lines()
        .skip(1)
        .flat_map(|line| line.split(','))
        .map(|cell| cell.parse().expect("a number"))
        .collect()
}

#[test]
fn processes_and_threads_give_the_same_bytes_on_every_level_of_the_processor() {
    let folder = Folder::with_votes();
    for level in [None, Some("portable"), Some("v3")] {
        let mut models = Vec::new();
        for threads in [1, 1, 2, 3, 8] {
            at_level(&folder, level, &format!("{TRAIN} --threads {threads} --out m --force"));
            models.push(folder.bytes("m"));
        }
        assert!(models.windows(2).all(|pair| pair[0] == pair[1]), "level {level:?}");
    }
}

#[test]
fn levels_of_the_processor_agree_to_five_digits() {
    let folder = Folder::with_votes();
    for learner in ["sldlf", "bfgs-ldl", "aa-bp", "ldsvr", "random-forest"] {
        at_level(
            &folder,
            None,
            &format!("train votes.csv --labels votes_* --learner {learner} --out m --force --quiet"),
        );
        for level in ["portable", "v3"] {
            at_level(&folder, Some(level), "predict m votes.csv --out p.csv --force --quiet");
            at_level(&folder, None, "predict m votes.csv --out best.csv --force --quiet");
            let (here, best) = (numbers(&folder, "p.csv"), numbers(&folder, "best.csv"));
            assert_eq!(here.len(), 240);
            let far = here.iter().zip(&best).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            println!("{learner} at {level}: at most {far:.1e} from the best level");
            assert!(far < 1e-5, "{learner} at {level}: {far}");
        }
    }
}
