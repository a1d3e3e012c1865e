//! Our errors as Python exceptions: `OSError` for what the system refused, `KeyboardInterrupt` for Ctrl-C, `ValueError` for
//! the rest, worded with Python's arguments. (`TypeError` is raised where a parameter is of the wrong kind, see `training`.)
//!
//! The place of an error is also data: `file`, `line`, `row` and `column`, or `parameter`, `allowed` and `got`, are
//! attributes of the exception where they are known.

use ldlf::Error;
use ldlf::internals::core::error::{Column, Subject};
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::prelude::*;

/// The exception of an error.
pub fn raise(error: impl Into<Error>) -> PyErr {
    match error.into() {
        Error::Io { path, source } => match source.raw_os_error() {
            // With a number, Python itself picks the subclass: PermissionError, FileNotFoundError, ...
            Some(number) => {
                let reason = source.to_string();
                let reason = reason.split(" (os error").next().unwrap_or(&reason).to_string();
                PyOSError::new_err((number, reason, path))
            }
            None => PyOSError::new_err(format!("{}: {source}", path.display())),
        },
        Error::Interrupted => PyKeyboardInterrupt::new_err(()),
        other => {
            let exception = PyValueError::new_err(other.worded(&in_python));
            // An attribute that cannot be set is missed, not a reason to hide the error itself.
            let _ = Python::attach(|py| add_attributes(exception.value(py), &other));
            exception
        }
    }
}

fn add_attributes(exception: &Bound<'_, PyAny>, error: &Error) -> PyResult<()> {
    if let Some(place) = error.place() {
        if let Some(file) = &place.file {
            exception.setattr("file", file)?;
        }
        if let Some(line) = place.line {
            exception.setattr("line", line)?;
        }
        if let Some(row) = place.row {
            exception.setattr("row", row)?;
        }
        match &place.column {
            Some(Column::Named(name) | Column::Array(name)) => exception.setattr("column", name)?,
            Some(Column::Numbered(number) | Column::Feature(number) | Column::Label(number)) => {
                exception.setattr("column", number)?;
            }
            _ => {}
        }
    }
    if let Some(fault) = error.fault() {
        exception.setattr("parameter", fault.parameter)?;
        exception.setattr("allowed", &fault.allowed)?;
        exception.setattr("got", &fault.got)?;
    }
    Ok(())
}

/// What Python calls a subject.
fn in_python(subject: &Subject) -> String {
    let word = match subject {
        Subject::Format => "format",
        Subject::Labels => "labels",
        Subject::LabelColumn => "a 1-D y",
        Subject::Sigma => "sigma",
        Subject::LabelValues => "label_values",
        Subject::Features => "features",
        Subject::Categories => "categories",
        Subject::Numeric => "numeric",
        Subject::Dates => "dates",
        Subject::Ignore => "ignore",
        Subject::SampleWeights => "sample_weight",
        Subject::SplitColumn => "split_column",
        Subject::Group => "groups",
        Subject::ImageColumn => "image_column",
        Subject::Votes => "votes",
        Subject::Long => "`ldlf train --long`",
        Subject::WeightByVotes => "sample_weight=\"votes\"",
        Subject::WeighAnnotators => "`ldlf train --weigh-annotators`",
        Subject::MissingLabels => "`ldlf train --missing-labels`",
        Subject::Strict => "strict",
        Subject::Table => "table",
        Subject::SkipBadImages => "bad_images=\"skip\"",
        Subject::Keep => "keep",
        Subject::BadRows => "bad_rows=\"skip\"",
        Subject::Seed => "random_state",
        Subject::Overwrite => "overwrite=True",
        Subject::By => "by",
        Subject::OutOfFold => "oof_prediction_",
        Subject::Calibrate => "`fit(X, y, calibrate=0.2)`",
        Subject::Parameter(name) => name,
        Subject::DeviceBuild(name) => return format!("a build with the feature `{name}`"),
        Subject::Learners => "`ldlf.LEARNERS`",
        Subject::ResumeTraining => "`ldlf train --resume`",
        Subject::ExtractFeatures => "`ldlf features`",
        Subject::Evaluations => "`ldlf cv`, `ldlf sweep` or `ldlf reproduce`",
        Subject::ResultsFolder => "`ldlf cv --results`",
        Subject::SweepTable => "`ldlf sweep --out`",
    };
    word.to_string()
}
