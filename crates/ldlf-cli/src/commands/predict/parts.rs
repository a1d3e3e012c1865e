//! An output in parts: a folder of numbered files, each whole or absent, so that an interrupted run can be resumed.
//!
//! A hidden file beside the folder says what the run was; `--resume` compares it, so that no part of another run is taken for its
//! own. It is not in the folder because some readers of such folders take every file in them for a part.

use std::io::Write;
use std::path::{Path, PathBuf};

use ldlf::internals::io::fingerprint;
use ldlf::internals::io::output::{Overwrite, write_atomically};
use ldlf::internals::io::read::files_meant;
use ldlf::{Error, Result};
use serde::{Deserialize, Serialize};

use super::Predict;
use crate::inputs::is_standard;

/// The hidden file of a folder.
fn record_of(folder: &Path) -> PathBuf {
    let name = folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    folder.with_file_name(format!(".{name}.ldlf-run.json"))
}

/// What identifies a run.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Length and checksum of the model file.
    model: (u64, u32),
    /// Length of the data and checksum of its ends, or number and checksum of the names of images; none for standard input.
    data: Option<(u64, u32)>,
    /// What is written: the values of `--write`.
    write: Vec<String>,
    features: Option<Vec<String>>,
    #[serde(default)]
    keep: Vec<String>,
    /// The value of `--bad-rows`; runs of earlier versions had none.
    #[serde(default)]
    bad_rows: Option<String>,
    safe_csv: bool,
    /// Rows of a part.
    pub part_rows: usize,
    /// Whether all rows are done.
    finished: bool,
}

/// The folder of parts.
pub struct PartFolder {
    folder: PathBuf,
    extension: String,
    run: Run,
    /// How many parts are there, from the first on.
    pub finished: usize,
}

/// How a folder of parts was found.
pub enum Begun {
    /// Rows are left to predict.
    Open(Box<PartFolder>),
    /// An earlier run predicted all rows.
    AlreadyFinished,
}

impl PartFolder {
    /// Makes the folder, or takes up the one that is there.
    pub fn begin(args: &Predict, images: Option<(u64, u32)>) -> Result<Begun> {
        let folder = args.out.clone();
        let refuse = |why: &str| Err(Error::usage(format!("{}{why}", folder.display())));
        let found = folder.symlink_metadata().is_ok();
        if found && !folder.is_dir() {
            return refuse(" is a file; name another output for the parts");
        }
        let record = if found { read_record(&folder)? } else { None };
        let part_rows = match (args.part_rows, &record) {
            (Some(rows), _) => rows,
            (None, Some(record)) => record.part_rows,
            (None, None) => return refuse(": there is nothing to resume; start with --part-rows"),
        };
        let run = Run::new(args, images, part_rows)?;
        let extension =
            folder.extension().map_or_else(String::new, |text| text.to_string_lossy().into_owned());
        let mut parts = PartFolder { folder: folder.clone(), extension, run, finished: 0 };
        match record {
            Some(record) if args.resume => {
                record.check_same(&parts.run, &folder)?;
                if record.finished {
                    return Ok(Begun::AlreadyFinished);
                }
                parts.finished = (0..).take_while(|&number| parts.path(number).is_file()).count();
            }
            _ if found && args.force => parts.clear()?,
            _ if found && entries(&folder)?.iter().any(|name| !is_leftover(name)) => {
                let advice = if args.resume { "holds no run to resume" } else { "exists" };
                return refuse(&format!(
                    " {advice}; choose another name{}, or add --force to start again",
                    if args.resume { "" } else { ", continue with --resume" }
                ));
            }
            _ => {}
        }
        std::fs::create_dir_all(&folder).map_err(|e| Error::io(&folder, e))?;
        parts.write_record()?;
        Ok(Begun::Open(Box::new(parts)))
    }

    /// Rows that are done.
    pub fn rows_done(&self) -> usize {
        self.finished.saturating_mul(self.run.part_rows)
    }

    /// Rows of a part.
    pub fn part_rows(&self) -> usize {
        self.run.part_rows
    }

    /// The file of a part, counted from 0.
    pub fn path(&self, number: usize) -> PathBuf {
        self.folder.join(format!("part-{number:06}.{}", self.extension))
    }

    /// Notes that all rows are done.
    pub fn finish(mut self) -> Result<()> {
        self.run.finished = true;
        self.write_record()
    }

    fn write_record(&self) -> Result<()> {
        let text = serde_json::to_string_pretty(&self.run).expect("a run is plain data");
        write_atomically(&record_of(&self.folder), Overwrite::Yes, |file| writeln!(file, "{text}"))
    }

    /// Removes what an earlier run wrote; refuses where there is anything else.
    fn clear(&self) -> Result<()> {
        let mut ours = Vec::new();
        for name in entries(&self.folder)? {
            let part = name.starts_with("part-") && name.ends_with(&format!(".{}", self.extension));
            if part {
                ours.push(self.folder.join(name));
            } else if !is_leftover(&name) {
                return Err(Error::usage(format!(
                    "{} holds {name}, which is no part of predictions; name another output",
                    self.folder.display()
                )));
            }
        }
        ours.iter().try_for_each(|path| std::fs::remove_file(path).map_err(|e| Error::io(path, e)))
    }
}

impl Run {
    fn new(args: &Predict, images: Option<(u64, u32)>, part_rows: usize) -> Result<Self> {
        let data = match images {
            Some(names) => Some(names),
            None if is_standard(&args.data) => None,
            None => Some(fingerprint::of_files(&files_meant(&args.data))?),
        };
        Ok(Run {
            model: fingerprint::of_file(&args.model)?,
            data,
            write: args.write.iter().map(|answer| format!("{answer:?}")).collect(),
            features: args.features.clone(),
            keep: args.keep.clone(),
            bad_rows: Some(args.bad_rows.name().to_string()),
            safe_csv: args.safe_csv,
            part_rows,
            finished: false,
        })
    }

    /// Refuses to resume a run with other inputs or options.
    fn check_same(&self, now: &Run, folder: &Path) -> Result<()> {
        let differs = [
            ("another model", self.model != now.model),
            ("other data", self.data != now.data),
            ("another --write", self.write != now.write),
            ("other --features", self.features != now.features),
            ("other --keep", self.keep != now.keep),
            ("another --bad-rows", self.bad_rows != now.bad_rows),
            ("another --safe-csv", self.safe_csv != now.safe_csv),
            ("another --part-rows", self.part_rows != now.part_rows),
        ];
        match differs.iter().find(|(_, differs)| *differs) {
            None => Ok(()),
            Some((what, _)) => Err(Error::usage(format!(
                "{} was started with {what}; resume with the same, or add --force in place of --resume to start again",
                folder.display()
            ))),
        }
    }
}

/// The names of all that a folder holds.
fn entries(folder: &Path) -> Result<Vec<String>> {
    let io = |e| Error::io(folder, e);
    let entries = std::fs::read_dir(folder).map_err(io)?;
    entries.map(|entry| Ok(entry.map_err(io)?.file_name().to_string_lossy().into_owned())).collect()
}

/// Whether a file is a temporary one of a killed run; it goes when the next part is written.
fn is_leftover(name: &str) -> bool {
    name.starts_with(".ldlf-") && name.ends_with(".tmp")
}

fn read_record(folder: &Path) -> Result<Option<Run>> {
    let path = record_of(folder);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(serde_json::from_str(&text).ok()),
        Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => Err(Error::io(&path, e)),
        Err(_) => Ok(None),
    }
}
