//! Which line of a text a byte lies on, as an editor counts: blank lines and line ends within quotes count, and
//! LF, CR LF and CR end a line.

use std::collections::VecDeque;
use std::io::Read;

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
}

impl<R: Read> LineStarts<R> {
    pub fn new(reader: R) -> Self {
        LineStarts { reader, bytes: 0, lines: 0, after_return: false, blank: true, starts: VecDeque::new() }
    }

    /// The number, from 1, of the first line that starts at or after `byte` and is not blank. Earlier lines are
    /// forgotten, so `byte` may only rise from call to call.
    pub fn line_from(&mut self, byte: u64) -> u64 {
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
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.reader.read(buffer)?;
        buffer[..read].iter().for_each(|&byte| self.pass(byte));
        Ok(read)
    }
}
