//! The table of `ldlf sweep --out`: swept parameters, then `<measure>_mean` and `<measure>_std`.

use std::path::Path;

use ldlf_core::error::Subject;
use ldlf_core::parameters::parse_value;
use ldlf_core::{Result, Settings, message};

use super::folder::{CsvTable, Record};
use super::{Evaluation, LearnerRun, NamedScores};

/// Reads the table; the file's stem stands for the data and the learner, which the table does not name.
pub(super) fn read(path: &Path) -> Result<Evaluation> {
    let table = CsvTable::read(path.to_path_buf())?;
    let table = table.ok_or_else(|| ldlf_core::Error::data(format!("{} does not exist", path.display())))?;
    let axes = table.columns.iter().take_while(|column| !column.ends_with("_mean")).count();
    if axes == 0 || axes == table.columns.len() {
        return Err(table.wrong(
            1,
            message![
                "not a table of ",
                Subject::SweepTable,
                ", whose columns are parameters and then measures such as kl_mean"
            ],
        ));
    }
    let stem = path.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned());
    let run = |record: &Record| {
        let mut parameters = Settings::new();
        for (column, cell) in table.columns.iter().zip(&record.cells).take(axes) {
            parameters.set(column, parse_value(cell));
        }
        let part = |ending: &str| -> Result<NamedScores> {
            let named = table.columns.iter().enumerate().skip(axes);
            let of_ending = named.filter_map(|(place, column)| Some((place, column.strip_suffix(ending)?)));
            let number = |(place, name): (usize, &str)| {
                let empty = record.cells[place].is_empty();
                let value = (!empty).then(|| table.number(record, place)).transpose()?;
                Ok((name.to_string(), value))
            };
            of_ending.map(number).collect::<Result<_>>().map(NamedScores)
        };
        Ok(LearnerRun {
            learner: stem.clone(),
            parameters,
            folds: Vec::new(),
            mean: part("_mean")?,
            std: part("_std")?,
            name: String::new(),
            curves: Vec::new(),
        })
    };
    let runs = table.records.iter().map(run).collect::<Result<_>>()?;
    let evaluation = Evaluation {
        dataset: stem.clone(),
        rows: None,
        features: None,
        labels: Vec::new(),
        label_values: None,
        protocol: String::new(),
        seed: None,
        runs,
        experiment: String::new(),
        division: String::new(),
        file: String::new(),
        folder: None,
    };
    Ok(evaluation.named())
}
