//! Runs `ldlf` in a temporary folder and shows all that came out.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A folder in which calls run, so that paths in messages are short and the same everywhere.
pub struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    /// An empty folder.
    pub fn new() -> Self {
        Folder { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    /// A folder with `votes.csv`: 60 rows, 3 features x_1 to x_3, ten votes each over votes_1 to votes_4.
    pub fn with_votes() -> Self {
        let folder = Folder::new();
        folder.succeed("generate mixture --rows 60 --features 3 --labels 4 --votes 10 --out votes.csv");
        folder
    }

    /// The same with `mean.ldlf`, a model of it.
    pub fn with_model() -> Self {
        let folder = Folder::with_votes();
        folder.succeed("train votes.csv --labels votes_* --learner mean --out mean.ldlf");
        folder
    }

    /// A file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file.
    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("the folder can be written");
    }

    /// Reads a file.
    pub fn read(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).expect("the file is text")
    }

    /// Reads a file that may be no text.
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// The names of all files, in order.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).expect("the folder is there");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// The call, ready to be started. Arguments are separated by spaces.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ldlf"));
        command.args(line.split_whitespace()).current_dir(self.folder.path()).stdin(Stdio::null());
        // Help is wrapped to the width that this names.
        command.env_remove("COLUMNS");
        command
    }

    /// Runs a call.
    pub fn output(&self, line: &str) -> Output {
        self.command(line).output().expect("ldlf starts")
    }

    /// Runs a call and shows exit code, stdout and stderr.
    pub fn call(&self, line: &str) -> String {
        shown(&self.output(line))
    }

    /// Runs a call with a standard input.
    pub fn call_with_input(&self, line: &str, input: &str) -> String {
        let mut child = self
            .command(line)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("ldlf starts");
        // A call that refuses its arguments closes its input early: not an error of the test.
        let _ = child.stdin.take().expect("the input is a pipe").write_all(input.as_bytes());
        shown(&child.wait_with_output().expect("ldlf ends"))
    }

    /// Runs a call that must work and gives its stdout.
    pub fn succeed(&self, line: &str) -> String {
        let output = self.output(line);
        assert!(output.status.success(), "ldlf {line}\n{}", shown(&output));
        String::from_utf8(output.stdout).expect("stdout is text")
    }

    /// Runs a call that must work and gives its stdout as JSON.
    pub fn json(&self, line: &str) -> serde_json::Value {
        serde_json::from_str(&self.succeed(line)).expect("stdout is one JSON document")
    }
}

/// Exit code, stdout and stderr in one text; what is empty is left out.
pub fn shown(output: &Output) -> String {
    let mut text = match output.status.code() {
        Some(code) => format!("exit {code}\n"),
        None => "ended by a signal\n".to_string(),
    };
    for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        if !bytes.is_empty() {
            text += &format!("-- {name}\n{}", String::from_utf8_lossy(bytes));
        }
    }
    text
}
