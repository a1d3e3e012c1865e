//! `ldlf search`: settings drawn at random, the worse half of them given up again and again, the best trained on all rows.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use ldlf::folds;
use ldlf::internals::core::evaluate::{CrossValidation, FoldStore, Plan, Protocol};
use ldlf::internals::core::parameters::parse_value;
use ldlf::internals::io::model_file;
use ldlf::{Error, FitContext, Learner, Result, Seed, Settings, StopReason, TrainedModel, Value, registry};
use serde_json::json;

use super::Ending;
use super::cv::{open_journal, say_what_is_kept, watched};
use crate::args::{FitOptions, values};
use crate::built_from::BUILD;
use crate::contenders::share_out;
use crate::inputs::{check_destination, check_input, is_standard};
use crate::printer::{Printer, Table, number, word};
use crate::progress::{TrainingWatcher, listen_for_ctrl_c};

/// `ldlf search`.
#[derive(Args)]
pub struct Search {
    #[arg(help = format!("The table ({}), or - for standard input", values::read_extensions()))]
    pub data: PathBuf,
    /// The learner
    #[arg(long, default_value = "sldlf", value_name = "NAME")]
    pub learner: String,
    /// A parameter and where its values are drawn from: a list or a range; may be repeated
    #[arg(long, value_name = "NAME=V1,V2,...|LOW..HIGH", required = true)]
    pub over: Vec<Space>,
    /// How many settings to draw
    #[arg(long, default_value_t = 16, value_name = "N", value_parser = values::at_least_one)]
    pub trials: usize,
    /// The number of folds that the last settings are compared on
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub folds: usize,
    /// A named set of parameters, which --set and --over override
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// A parameter; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Where to write the model: the best settings, trained on all rows
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
    /// Keep finished folds in this file; by default beside --out until the search is done
    #[arg(long, value_name = "FILE")]
    pub journal: Option<PathBuf>,
    /// Replace an existing output
    #[arg(long)]
    pub force: bool,
    /// Print the trials as JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub fit: FitOptions,
}

/// What `--help` says after the options.
pub const HELP: &str = "\
Settings are drawn at random, the default ones first. All are compared on one fold, the better half on two, the better half of
these on four, and so on (successive halving); those that reach the last round are compared by their mean K-L over all folds.
Ranges of whole numbers give whole numbers; a range whose ends are positive and at least ten times apart is drawn evenly in the
logarithm. The choice uses the training rows alone, but the K-L of the winner is that of the best of many, and a little
better than new rows will show: measure the model on rows of its own. With --split-column only rows marked train and valid are
used. An interrupted search resumes with the same command.

Examples:
  ldlf search votes.csv --labels 'votes_*' --over trees=5..100 --over depth=4..9 --trials 20 --out best.ldlf
  ldlf search votes.csv --labels 'votes_*' --learner random-forest --over max_features=0.05..1 --over leaf_weight=1..20 --out rf.ldlf
  ldlf search Movie.mat --learner bfgs-ldl --over l2=0.0001..10 --trials 30 --journal search.jsonl --out m.ldlf";

/// A parameter and where its values are drawn from.
#[derive(Clone, Debug, PartialEq)]
pub struct Space {
    name: String,
    from: Draws,
}

#[derive(Clone, Debug, PartialEq)]
enum Draws {
    /// One of these.
    List(Vec<Value>),
    /// Whole numbers, both ends among them.
    Whole(i64, i64),
    /// Numbers.
    Real(f64, f64),
}

impl FromStr for Space {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let wrong = || "give a parameter and its values, such as trees=1,5,20 or trees=1..20".to_string();
        let (name, drawn) = text.split_once('=').ok_or_else(wrong)?;
        if name.trim().is_empty() || drawn.split(',').any(|value| value.trim().is_empty()) {
            return Err(wrong());
        }
        let from = match drawn.split_once("..") {
            None => Draws::List(drawn.split(',').map(|value| parse_value(value.trim())).collect()),
            Some((low, high)) => match (low.trim().parse::<i64>(), high.trim().parse::<i64>()) {
                (Ok(low), Ok(high)) if low < high => Draws::Whole(low, high),
                _ => match (low.trim().parse::<f64>(), high.trim().parse::<f64>()) {
                    (Ok(low), Ok(high)) if low < high && low.is_finite() && high.is_finite() => {
                        Draws::Real(low, high)
                    }
                    _ => return Err(format!("{drawn} is no range from a lower to a higher number")),
                },
            },
        };
        Ok(Space { name: name.trim().to_string(), from })
    }
}

impl Draws {
    fn draw(&self, seed: Seed) -> Value {
        // A number from 0 to 1 with the 53 bits of its precision.
        let share = (seed.value() >> 11) as f64 / (1u64 << 53) as f64;
        match self {
            Draws::List(values) => values[(share * values.len() as f64) as usize].clone(),
            Draws::Whole(low, high) => {
                // Half a step beyond both ends, so that these are drawn as often as the others.
                let drawn = between(*low as f64 - 0.5, *high as f64 + 0.5, *low as f64, *high as f64, share);
                Value::from((drawn.round() as i64).clamp(*low, *high))
            }
            Draws::Real(low, high) => Value::from(between(*low, *high, *low, *high, share)),
        }
    }
}

/// A number between two ends, evenly, or evenly in the logarithm where `low` and `high` are positive and far apart.
fn between(from: f64, to: f64, low: f64, high: f64, share: f64) -> f64 {
    if low > 0.0 && high >= 10.0 * low && from > 0.0 {
        return (from.ln() + share * (to.ln() - from.ln())).exp();
    }
    from + share * (to - from)
}

/// One draw of settings.
struct Trial {
    settings: Settings,
    /// Folds it was compared on, and its mean K-L over them.
    folds: usize,
    kl: f64,
}

/// Searches, trains the winner on all rows and writes it.
pub fn run(args: &Search, printer: &Printer) -> Result<Ending> {
    check_input(&args.data)?;
    if is_standard(&args.out) {
        return Err(Error::usage("a model is not written to standard output; name a file with --out"));
    }
    let overwrite = check_destination(&args.out, args.force)?;
    let names = std::slice::from_ref(&args.learner);
    let base = &share_out(names, args.preset.as_deref(), &args.fit.network.with(&args.set, names)?)?[0];
    let build = |drawn: &Settings| -> Result<Box<dyn Learner>> {
        registry::build(&base.name, base.preset.as_deref(), &base.settings.clone().overridden_by(drawn))
    };
    let mut trials = draw(args)?;
    // All are checked before the first is fitted.
    trials.iter().try_for_each(|trial| build(&trial.settings).map(drop))?;
    let mut data = args.fit.options.read(&args.data, printer)?;
    if args.fit.options.has_split() {
        // What missing values are filled with is learnt from the training rows alone.
        data = data.select(&folds::split_parts(&data)?.training).refilled()?;
    }
    let seed = args.fit.compute.seed;
    let all_folds = folds::seeded(&data, args.folds, seed)?;
    let own_journal = args.journal.is_none();
    let path = args.journal.clone().unwrap_or_else(|| {
        let mut name = args.out.clone().into_os_string();
        name.push(".search.jsonl");
        name.into()
    });
    let journal = open_journal(&path, printer)?;
    let mut remaining: Vec<usize> = (0..trials.len()).collect();
    let mut count = 1;
    loop {
        let last = remaining.len() <= 2 || count >= all_folds.len();
        count = if last { all_folds.len() } else { count };
        let learners =
            remaining.iter().map(|&trial| build(&trials[trial].settings)).collect::<Result<Vec<_>>>()?;
        let plan = Plan {
            data: &data,
            learners: &learners,
            folds: &all_folds[..count],
            protocol: Protocol::Clean,
            seed,
            threads: args.fit.compute.threads.count,
            journal: Some(&journal as &dyn FoldStore),
            build: BUILD,
        };
        let compared: CrossValidation = watched(&plan, Some(&path), printer)?;
        for (&trial, result) in remaining.iter().zip(&compared.results) {
            (trials[trial].folds, trials[trial].kl) = (count, result.mean.get("kl").unwrap_or(f64::INFINITY));
        }
        // Of equals the one that was drawn first.
        remaining.sort_by(|&a, &b| trials[a].kl.total_cmp(&trials[b].kl).then(a.cmp(&b)));
        if last {
            break;
        }
        remaining.truncate(remaining.len().div_ceil(2));
        count *= 2;
    }
    let winner = remaining[0];
    listen_for_ctrl_c();
    let learner = build(&trials[winner].settings)?;
    let mut watcher = TrainingWatcher::new(printer, None, None, "row");
    let mut context = FitContext::new(seed, args.fit.compute.threads.pool()?, &mut watcher);
    let fitted = TrainedModel::fit(learner.as_ref(), &data, &mut context);
    watcher.finish();
    // A model that was cut short is not the winner that was measured; the folds are there, and so the next call comes here at once.
    let fitted = match fitted {
        Ok(model) if model.summary.stopped == StopReason::Interrupted => Err(Error::Interrupted),
        other => other,
    };
    say_what_is_kept(&fitted, Some(&path), printer);
    let model = fitted?;
    model_file::save(&model, &args.out, overwrite)?;
    drop(journal);
    if own_journal {
        std::fs::remove_file(&path).map_err(|e| Error::io(&path, e))?;
    }
    report(args, printer, &trials, winner)?;
    Ok(Ending::Done)
}

/// The trials: the defaults, and then different draws.
fn draw(args: &Search) -> Result<Vec<Trial>> {
    for (number, space) in args.over.iter().enumerate() {
        if args.over[..number].iter().any(|earlier| earlier.name == space.name) {
            return Err(Error::usage(format!(
                "--over names {} twice; give all its values at once",
                space.name
            )));
        }
    }
    let mut drawn = vec![Settings::new()];
    let seed = Seed::new(args.fit.compute.seed).named("search");
    // Lists may hold fewer different settings than were asked for.
    for number in 0..20 * args.trials as u64 {
        if drawn.len() == args.trials {
            break;
        }
        let own = seed.numbered(number);
        let mut settings = Settings::new();
        args.over.iter().for_each(|space| settings.set(&space.name, space.from.draw(own.named(&space.name))));
        if !drawn.contains(&settings) {
            drawn.push(settings);
        }
    }
    Ok(drawn.into_iter().map(|settings| Trial { settings, folds: 0, kl: f64::INFINITY }).collect())
}

fn report(args: &Search, printer: &Printer, trials: &[Trial], winner: usize) -> Result<()> {
    let mut order: Vec<usize> = (0..trials.len()).collect();
    order.sort_by(|&a, &b| {
        let (a_trial, b_trial) = (&trials[a], &trials[b]);
        b_trial.folds.cmp(&a_trial.folds).then(a_trial.kl.total_cmp(&b_trial.kl)).then(a.cmp(&b))
    });
    let shown = |trial: &Trial, name: &str| trial.settings.get(name).map_or("default".to_string(), word);
    if args.json {
        let trial = |&number: &usize| {
            let Trial { settings, folds, kl } = &trials[number];
            json!({ "settings": settings, "folds": folds, "kl": kl, "chosen": number == winner })
        };
        return printer.json(&json!({
            "learner": args.learner,
            "seed": args.fit.compute.seed,
            "trials": order.iter().map(trial).collect::<Vec<_>>(),
            "model": args.out.display().to_string(),
        }));
    }
    let names = args.over.iter().map(|space| space.name.as_str());
    let mut table = Table::new(names.chain(["folds", "K-L "])).left_columns(0);
    for number in order {
        let trial = &trials[number];
        let mark = if number == winner { '*' } else { ' ' };
        let cells = args.over.iter().map(|space| shown(trial, &space.name));
        table.row(cells.chain([trial.folds.to_string(), format!("{}{mark}", number_of(trial.kl))]));
    }
    printer.text(&format!(
        "{table}\n* was trained on all rows and is in {}. Its K-L is that of the best of {} settings; measure it on new rows.\n",
        args.out.display(),
        trials.len()
    ))
}

fn number_of(kl: f64) -> String {
    number(kl.is_finite().then_some(kl))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(text: &str) -> std::result::Result<Space, String> {
        text.parse()
    }

    #[test]
    fn a_space_is_a_list_or_a_range() {
        assert_eq!(space("trees=1..9").unwrap().from, Draws::Whole(1, 9));
        assert_eq!(space("rate=0.1..2").unwrap().from, Draws::Real(0.1, 2.0));
        assert!(matches!(space("loss=trees,forest").unwrap().from, Draws::List(list) if list.len() == 2));
        assert!(
            ["trees", "trees=", "=1", "trees=5..1", "trees=a..b", "trees=1,,2"]
                .iter()
                .all(|t| space(t).is_err())
        );
    }

    #[test]
    fn draws_stay_in_their_range_and_reach_both_ends() {
        let seed = |number: u64| Seed::new(0).numbered(number);
        let whole: Vec<i64> =
            (0..500).filter_map(|number| Draws::Whole(1, 20).draw(seed(number)).as_i64()).collect();
        assert_eq!((whole.iter().min(), whole.iter().max()), (Some(&1), Some(&20)));
        let small = (0..500)
            .filter_map(|number| Draws::Real(0.001, 1.0).draw(seed(number)).as_f64())
            .filter(|value| (0.001..0.0316).contains(value))
            .count();
        assert!(
            (200..300).contains(&small),
            "half of the draws lie below the middle of the logarithm: {small}"
        );
    }
}
