//! Numbers as they lie in binary files: any storage type, either byte order, a piece at a time.

use std::io::{ErrorKind, Read};

use flate2::Crc;
use ldlf_math::memory::Growth;

/// The type in which one number is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Storage {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Storage {
    /// Bytes per number.
    pub fn size(self) -> usize {
        match self {
            Storage::I8 | Storage::U8 => 1,
            Storage::I16 | Storage::U16 => 2,
            Storage::I32 | Storage::U32 | Storage::F32 => 4,
            Storage::I64 | Storage::U64 | Storage::F64 => 8,
        }
    }
}

/// How many bytes are requested at once: memory grows with what arrives, never with what a header promises.
const PIECE: usize = 1 << 16;

/// Reads `left` numbers from `reader` in pieces.
pub(super) struct Numbers<R> {
    reader: R,
    storage: Storage,
    big_endian: bool,
    left: u64,
    bytes: Vec<u8>,
    values: Vec<f64>,
}

impl<R: Read> Numbers<R> {
    pub fn new(reader: R, storage: Storage, big_endian: bool, count: u64) -> Self {
        Numbers { reader, storage, big_endian, left: count, bytes: Vec::new(), values: Vec::new() }
    }

    /// The next numbers, or `None` after the last. An early end is [`ErrorKind::UnexpectedEof`].
    pub fn piece(&mut self) -> std::io::Result<Option<&[f64]>> {
        self.piece_of(PIECE / self.storage.size())
    }

    /// As [`Numbers::piece`], of at most `most` numbers.
    pub fn piece_of(&mut self, most: usize) -> std::io::Result<Option<&[f64]>> {
        if self.left == 0 {
            return Ok(None);
        }
        let size = self.storage.size();
        let most = most.clamp(1, PIECE / size);
        let count = usize::try_from(self.left).unwrap_or(usize::MAX).min(most);
        self.bytes.resize(count * size, 0);
        self.reader.read_exact(&mut self.bytes)?;
        self.left -= count as u64;
        self.values.clear();
        decode(&self.bytes, self.storage, self.big_endian, &mut self.values);
        Ok(Some(&self.values))
    }

    /// All numbers that are left.
    pub fn rest(&mut self) -> std::io::Result<Vec<f64>> {
        let mut all = Vec::new();
        let mut growth = Growth::default();
        while let Some(piece) = self.piece()? {
            all.extend_from_slice(piece);
            growth.reached(size_of_val(&all[..])).map_err(out_of_memory)?;
        }
        Ok(all)
    }

    /// Reads to the end of what holds the numbers, where a reader with a checksum compares it.
    pub fn finish(&mut self) -> std::io::Result<()> {
        drain(&mut self.reader)
    }
}

/// Appends the numbers in `bytes` to `out`.
fn decode(bytes: &[u8], storage: Storage, big_endian: bool, out: &mut Vec<f64>) {
    macro_rules! each {
        ($type:ty) => {
            out.extend(bytes.chunks_exact(size_of::<$type>()).map(|chunk| {
                let mut raw = [0u8; size_of::<$type>()];
                raw.copy_from_slice(chunk);
                (if big_endian { <$type>::from_be_bytes(raw) } else { <$type>::from_le_bytes(raw) }) as f64
            }))
        };
    }
    match storage {
        Storage::I8 => each!(i8),
        Storage::U8 => each!(u8),
        Storage::I16 => each!(i16),
        Storage::U16 => each!(u16),
        Storage::I32 => each!(i32),
        Storage::U32 => each!(u32),
        Storage::I64 => each!(i64),
        Storage::U64 => each!(u64),
        Storage::F32 => each!(f32),
        Storage::F64 => each!(f64),
    }
}

/// Compares the checksum of a zip entry once its last byte was read, as the zip reader does for entries it lends.
pub(super) struct Checked<R> {
    reader: R,
    checksum: Crc,
    expected: u32,
}

impl<R: Read> Checked<R> {
    pub fn new(reader: R, expected: u32) -> Self {
        Checked { reader, checksum: Crc::new(), expected }
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.checksum.update(&buffer[..read]);
        if read == 0 && !buffer.is_empty() && self.checksum.sum() != self.expected {
            return Err(std::io::Error::new(ErrorKind::InvalidData, "Invalid checksum"));
        }
        Ok(read)
    }
}

/// The error of a reader for which there is no more room.
pub(super) fn out_of_memory(reason: String) -> std::io::Error {
    std::io::Error::new(ErrorKind::OutOfMemory, reason)
}

/// Reads and forgets everything that is left.
pub(super) fn drain(mut reader: impl Read) -> std::io::Result<()> {
    std::io::copy(&mut reader, &mut std::io::sink()).map(drop)
}

/// Whether the file ended, or its compressed data broke, before all promised bytes came.
pub(super) fn is_damage(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::InvalidData | ErrorKind::InvalidInput)
}
