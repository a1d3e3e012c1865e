//! Text in UTF-8, whatever a file has: UTF-16 by its mark, and Windows-1252 (Latin-1) where the first character that is not plain
//! is none of UTF-8.

use std::io::{Read, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use ldlf_core::error::Message;
use ldlf_core::message;

/// How a text turned out to be written.
#[derive(Clone, Default)]
pub(super) struct TextEncoding(Arc<AtomicU8>);

const PLAIN: u8 = 0;
const UTF_8: u8 = 1;
const LATIN_1: u8 = 2;
const UTF_16_LITTLE: u8 = 3;
const UTF_16_BIG: u8 = 4;

impl TextEncoding {
    /// A sentence where the text is not UTF-8.
    pub fn notice(&self, file: &str) -> Option<Message> {
        match self.0.load(Ordering::Relaxed) {
            LATIN_1 => Some(message!["{file}: the text is not UTF-8 and was read as Windows-1252 (Latin-1)"]),
            UTF_16_LITTLE | UTF_16_BIG => Some(message!["{file}: the text was read as UTF-16"]),
            _ => None,
        }
    }
}

/// Passes text on in UTF-8.
pub(super) struct Utf8<R> {
    reader: R,
    encoding: TextEncoding,
    began: bool,
    ended: bool,
    /// Bytes as they were read, not yet passed on.
    raw: Vec<u8>,
    /// Bytes to pass on, and how many were.
    ready: Vec<u8>,
    given: usize,
}

/// Bytes that are looked at together.
const PIECE: usize = 1 << 16;

impl<R: Read> Utf8<R> {
    pub fn new(reader: R) -> (Self, TextEncoding) {
        let encoding = TextEncoding::default();
        let text = Utf8 {
            reader,
            encoding: encoding.clone(),
            began: false,
            ended: false,
            raw: Vec::new(),
            ready: Vec::new(),
            given: 0,
        };
        (text, encoding)
    }

    fn state(&self) -> u8 {
        self.encoding.0.load(Ordering::Relaxed)
    }

    fn set(&self, state: u8) {
        self.encoding.0.store(state, Ordering::Relaxed);
    }

    /// Reads a piece and turns what is complete of it into UTF-8.
    fn refill(&mut self) -> Result<()> {
        let read = (&mut self.reader).take(PIECE as u64).read_to_end(&mut self.raw)?;
        self.ended = read == 0;
        if !self.began {
            self.began = true;
            match self.raw[..] {
                [0xff, 0xfe, ..] => self.set(UTF_16_LITTLE),
                [0xfe, 0xff, ..] => self.set(UTF_16_BIG),
                // Without a mark, plain characters tell.
                [1..=0x7f, 0, 1..=0x7f, 0, ..] => self.set(UTF_16_LITTLE),
                [0, 1..=0x7f, 0, 1..=0x7f, ..] => self.set(UTF_16_BIG),
                _ => {}
            }
            if matches!(self.raw[..], [0xff, 0xfe, ..] | [0xfe, 0xff, ..]) {
                self.raw.drain(..2);
            }
        }
        if self.state() == PLAIN
            && let Some(first) = self.raw.iter().position(|byte| !byte.is_ascii())
        {
            let rest = &self.raw[first..];
            // A character may go on in the next piece.
            let cut = rest.len() < 4 && !self.ended;
            match std::str::from_utf8(&rest[..rest.len().min(4)]) {
                Err(wrong) if cut && wrong.error_len().is_none() => {
                    let rest = self.raw.split_off(first);
                    let plain = std::mem::replace(&mut self.raw, rest);
                    self.pass(plain);
                    return Ok(());
                }
                Err(wrong) if wrong.valid_up_to() == 0 => self.set(LATIN_1),
                _ => self.set(UTF_8),
            }
        }
        match self.state() {
            PLAIN | UTF_8 => {
                let raw = std::mem::take(&mut self.raw);
                self.pass(raw);
            }
            LATIN_1 => {
                let text: String = self.raw.drain(..).map(from_windows_1252).collect();
                self.pass(text.into_bytes());
            }
            order => {
                let units = if self.ended { self.raw.len().div_ceil(2) } else { self.raw.len() / 2 };
                let unit = |pair: &[u8]| match (order, pair) {
                    (UTF_16_LITTLE, [low, high]) | (_, [high, low]) => u16::from_be_bytes([*high, *low]),
                    _ => 0xfffd,
                };
                let mut all: Vec<u16> = self.raw.chunks(2).take(units).map(unit).collect();
                // The first half of a pair waits for the second.
                if !self.ended && all.last().is_some_and(|last| (0xd800..0xdc00).contains(last)) {
                    all.pop();
                }
                self.raw.drain(..(2 * all.len()).min(self.raw.len()));
                self.pass(String::from_utf16_lossy(&all).into_bytes());
            }
        }
        Ok(())
    }

    fn pass(&mut self, bytes: Vec<u8>) {
        (self.ready, self.given) = (bytes, 0);
    }
}

impl<R: Read> Read for Utf8<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        // What is known to be UTF-8 goes through as it is.
        while self.given == self.ready.len() {
            if self.state() == UTF_8 && self.raw.is_empty() {
                return self.reader.read(buffer);
            }
            if self.ended && self.raw.is_empty() {
                return Ok(0);
            }
            self.refill()?;
        }
        let count = buffer.len().min(self.ready.len() - self.given);
        buffer[..count].copy_from_slice(&self.ready[self.given..self.given + count]);
        self.given += count;
        Ok(count)
    }
}

/// A character of Windows-1252, which is Latin-1 with characters in place of some controls.
fn from_windows_1252(byte: u8) -> char {
    const OTHERS: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
        '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
    ];
    if (0x80..0xa0).contains(&byte) { OTHERS[usize::from(byte - 0x80)] } else { char::from(byte) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> (String, Option<String>) {
        let (mut text, encoding) = Utf8::new(bytes);
        let mut all = String::new();
        text.read_to_string(&mut all).unwrap();
        (all, encoding.notice("f").map(|notice| notice.to_string()))
    }

    #[test]
    fn any_usual_encoding_becomes_utf_8() {
        let long = "plain,".repeat(20_000);
        for text in ["très bien €", "", "plain", &format!("{long}é\u{1f600}{long}")] {
            assert_eq!(read(text.as_bytes()), (text.to_string(), None));
            let units: Vec<u16> = std::iter::once(0xfeff).chain(text.encode_utf16()).collect();
            for bytes in [
                units.iter().flat_map(|u| u.to_le_bytes()).collect::<Vec<u8>>(),
                units.iter().flat_map(|u| u.to_be_bytes()).collect(),
            ] {
                assert_eq!(read(&bytes), (text.to_string(), Some("f: the text was read as UTF-16".into())));
                if text.starts_with("plain") {
                    assert_eq!(read(&bytes[2..]).0, text, "without its mark");
                }
            }
        }
        let (text, said) = read(b"tr\xe8s bien \x80");
        assert_eq!(text, "très bien €");
        assert_eq!(said.unwrap(), "f: the text is not UTF-8 and was read as Windows-1252 (Latin-1)");
    }
}
