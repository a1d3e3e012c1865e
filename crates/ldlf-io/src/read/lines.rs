//! Which line of a text a byte lies on, as an editor counts: blank lines and line ends within quotes count, and
//! LF, CR LF and CR end a line.

use std::collections::VecDeque;
use std::io::{BufRead, Error, ErrorKind, Read, Result};

/// The longest line, or quoted row, that is read: what has no line end is no table, and a pipe may never end.
const LONGEST: u64 = 1 << 30;

fn too_long(most: u64) -> Error {
    Error::new(ErrorKind::InvalidData, format!("a line is longer than {most} bytes"))
}

/// Adds the next line to `text`, as [`BufRead::read_line`] does, and refuses one without an end.
pub(super) fn read_line(reader: &mut impl BufRead, text: &mut String) -> Result<usize> {
    read_line_of(reader, text, LONGEST)
}

fn read_line_of(reader: &mut impl BufRead, text: &mut String, most: u64) -> Result<usize> {
    let read = reader.by_ref().take(most).read_line(text)?;
    if read as u64 == most && !text.ends_with('\n') { Err(too_long(most)) } else { Ok(read) }
}

/// Passes bytes on and remembers where the lines among them start, from the record last asked for onwards.
pub(super) struct LineStarts<R> {
    reader: R,
    /// Bytes and lines passed on so far; the current line has the number `lines + 1`.
    bytes: u64,
    lines: u64,
    /// Whether the last byte was a CR, which a LF may complete.
    after_return: bool,
    /// Whether nothing but its end was seen of the current line.
    blank: bool,
    /// The first byte and the number of each line that is not blank.
    starts: VecDeque<(u64, u64)>,
    /// Where the record last asked for starts, and how many bytes one may have.
    asked: u64,
    most: u64,
}

impl<R: Read> LineStarts<R> {
    pub fn new(reader: R) -> Self {
        LineStarts {
            reader,
            bytes: 0,
            lines: 0,
            after_return: false,
            blank: true,
            starts: VecDeque::new(),
            asked: 0,
            most: LONGEST,
        }
    }

    /// The number, from 1, of the first line that starts at or after `byte` and is not blank. Earlier lines are
    /// forgotten, so `byte` may only rise from call to call.
    pub fn line_from(&mut self, byte: u64) -> u64 {
        self.asked = byte;
        while self.starts.front().is_some_and(|&(start, _)| start < byte) {
            self.starts.pop_front();
        }
        self.starts.front().map_or(self.lines + 1, |&(_, line)| line)
    }

    fn pass(&mut self, byte: u8) {
        match byte {
            b'\n' if self.after_return => {}
            b'\n' | b'\r' => {
                self.lines += 1;
                self.blank = true;
            }
            _ if self.blank => {
                self.starts.push_back((self.bytes, self.lines + 1));
                self.blank = false;
            }
            _ => {}
        }
        self.after_return = byte == b'\r';
        self.bytes += 1;
    }
}

impl<R: Read> Read for LineStarts<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if self.bytes - self.asked > self.most {
            return Err(too_long(self.most));
        }
        let read = self.reader.read(buffer)?;
        buffer[..read].iter().for_each(|&byte| self.pass(byte));
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_line_end_is_given_up() {
        let mut table = LineStarts { most: 100_000, ..LineStarts::new(std::io::repeat(b'x')) };
        let error = std::io::copy(&mut table, &mut std::io::sink()).unwrap_err();
        assert_eq!(error.to_string(), "a line is longer than 100000 bytes");

        let mut endless = std::io::BufReader::new(std::io::repeat(b'x'));
        assert!(read_line_of(&mut endless, &mut String::new(), 100_000).is_err());
        let mut text = String::new();
        assert_eq!(read_line_of(&mut &b"ab\ncd"[..], &mut text, 3).unwrap(), 3);
        assert_eq!(text, "ab\n");
    }
}
