//! Tables from a pipe.
#![cfg(unix)]

use ldlf_core::{Features, Matrix, Schema};
use ldlf_io::read::{Format, stream};
use tempfile::TempDir;

#[test]
fn a_pipe_is_streamed_where_no_file_is_needed() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let send = |content: &'static str| {
        let path = path.clone();
        std::thread::spawn(move || std::fs::write(path, content))
    };
    let writer = send("a\n1\n2\n");
    let mut rows = stream(&path, Some(Format::Csv), &Schema::default(), 1).unwrap();
    let expected = Features::Dense(Matrix::from_rows(&[[1.0], [2.0]]));
    assert_eq!(rows.next_block(9).unwrap(), Some(expected));
    assert!(rows.next_block(9).unwrap().is_none());
    writer.join().unwrap().unwrap();
    // Nothing may be read from this one, so the writer's result does not matter.
    let writer = send("PK");
    let error = stream(&path, Some(Format::Npz), &Schema::default(), 1).err().unwrap();
    assert!(error.to_string().ends_with("pipe: npz files are not read from a pipe; save it to a file first"));
    let _ = writer.join();
}
