//! The paper's 'Time Complexity': time against each size, with the exponent that fits.

use ldlf::internals::forest::complexity::{Growth, Part, Term, measure};
use serde_json::{Value, json};

use crate::printer::Printer;

/// The name after `ldlf reproduce`.
pub const NAME: &str = "complexity";

/// Repeats of each measurement, of which the quickest counts.
const REPEATS: usize = 5;

/// Everything measured, in Markdown and as JSON.
pub fn run(printer: &Printer) -> ldlf::Result<(String, Value)> {
    let mut growths = Vec::new();
    for part in [Part::ForwardBackward, Part::LeafUpdate] {
        for term in Term::ALL {
            printer.message(format_args!("{}: time against {}", title(part), term.letter()));
            growths.push(measure(term, part, REPEATS)?);
        }
    }
    Ok((
        page(&growths),
        json!({ "experiment": NAME, "growth": growths.iter().map(object).collect::<Vec<_>>() }),
    ))
}

fn title(part: Part) -> &'static str {
    match part {
        Part::ForwardBackward => "forward and backward",
        Part::LeafUpdate => "leaf update",
    }
}

fn object(growth: &Growth) -> Value {
    let points: Vec<Value> =
        growth.points.iter().map(|&(size, seconds)| json!({ "size": size, "seconds": seconds })).collect();
    json!({
        "part": title(growth.part),
        "term": growth.term.letter(),
        "points": points,
        "exponent": growth.exponent,
    })
}

fn page(growths: &[Growth]) -> String {
    let mut text = String::from(
        "# Time complexity\n\n\
         The paper claims O(K D C n) for forward and backward over n rows and for an iteration of the leaf update, with K trees \
         of D leaves and C labels: time linear in each. Measured on one thread, the quickest of five repeats, the other \
         sizes held fixed; an exponent of 1 is linear.\n\n\
         | part | against | sizes | milliseconds | exponent |\n|---|---|---|---|---:|\n",
    );
    for growth in growths {
        let join = |cells: Vec<String>| cells.join(", ");
        text += &format!(
            "| {} | {} | {} | {} | {:.2} |\n",
            title(growth.part),
            growth.term.letter(),
            join(growth.points.iter().map(|(size, _)| size.to_string()).collect()),
            join(growth.points.iter().map(|(_, seconds)| format!("{:.2}", 1e3 * seconds)).collect()),
            growth.exponent
        );
    }
    text
}
