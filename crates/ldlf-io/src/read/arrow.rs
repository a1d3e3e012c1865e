//! Apache Arrow tables (IPC): files (`.arrow`, Feather version 2) and streams.
//!
//! A file is a stream between two marks, so that both are read in one way, from front to end, and a pipe will do. One batch is in
//! memory at a time, as large as its writer made it.

use std::collections::HashMap;
use std::io::{BufReader, Read, copy, sink};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{RecordBatchDecoder, read_dictionary};
use arrow_ipc::{CompressionType, Message, MessageHeader, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};
use ldlf_core::{Error, Result};
use ldlf_math::memory;

use super::columnar::{BatchSource, Choose, ColumnRows, ColumnTable, guarded};
use super::{Source, empty, read_error};
use crate::format::{FileFormat, Reads};
use crate::write;

/// Arrow files, and streams under `.arrows`.
pub(crate) const FORMAT: FileFormat = FileFormat {
    reads: Reads::Table(|source| ColumnRows::boxed(open(source)?)),
    seeks: false,
    open_ended: false,
    tables: &write::arrow::FORMS,
    dataset: None,
};

/// What messages call the kind of file.
const KIND: &str = "Arrow";

/// The front of a file, its mark filled up to eight bytes; a stream has none.
const FRONT: [u8; 8] = *b"ARROW1\0\0";

/// How far writers fill up the front.
const LONGEST_FRONT: usize = 64;

/// What stands before the length of a message, but for old writers.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// What one byte can stand for at most in each codec: a byte more of a match's length; a block of one value in four bytes.
const MOST_BY_LZ4: u64 = 255;
const MOST_BY_ZSTD: u64 = (128 << 10) / 4;

/// Opens a table and reads its header.
pub(super) fn open(source: Source) -> Result<ColumnTable> {
    let file = source.file.clone();
    let mut packets = Packets::new(&file, source.into_reader()?)?;
    let Some(packet) = packets.next()? else {
        return Err(unusable(&file, "it holds no columns"));
    };
    packets.pass(packet.body_length)?;
    let message = packet.message(&file)?;
    let schema =
        message.header_as_schema().ok_or_else(|| unusable(&file, "it does not begin with its columns"))?;
    let schema = guarded(&file, KIND, || try_fb_to_schema(schema))?.map_err(|e| unreadable(&file, &e))?;
    Ok(ColumnTable {
        header: schema.fields().iter().map(|field| field.name().clone()).collect(),
        types: schema.fields().iter().map(|field| field.data_type().clone()).collect(),
        rows: None,
        source: Box::new(Batches {
            packets,
            schema: schema.into(),
            columns: Vec::new(),
            dictionaries: HashMap::new(),
            rest: None,
        }),
        file,
    })
}

/// What a file consists of, before it is understood.
struct Packets {
    file: String,
    reader: BufReader<Box<dyn Read + Send>>,
    /// Bytes that were read ahead and belong to the first packet.
    ahead: Vec<u8>,
    /// Whether the last packet was read; a file has its table of contents behind it.
    ended: bool,
}

/// The head of a packet: a message that says what its body is.
struct Packet {
    head: Vec<u8>,
    body_length: u64,
}

impl Packet {
    fn message(&self, file: &str) -> Result<Message<'_>> {
        root_as_message(&self.head).map_err(|e| unusable(file, &e.to_string()))
    }
}

impl Packets {
    fn new(file: &str, reader: Box<dyn Read + Send>) -> Result<Self> {
        let reader = BufReader::new(reader);
        let mut packets = Packets { file: file.to_string(), reader, ahead: Vec::new(), ended: false };
        let front = packets.read(FRONT.len() as u64)?;
        match &front[..] {
            [] => return Err(empty(file)),
            [b'F', b'E', b'A', b'1', ..] => {
                return Err(unusable(file, "Feather version 1; save it anew as version 2"));
            }
            front if *front == FRONT => packets.pass_padding()?,
            front if front.starts_with(&CONTINUATION) => packets.ahead = front.to_vec(),
            _ => return Err(unusable(file, "it begins neither as a file nor as a stream")),
        }
        Ok(packets)
    }

    /// Some writers fill the front up further; no message begins with zeros.
    fn pass_padding(&mut self) -> Result<()> {
        for _ in (FRONT.len()..LONGEST_FRONT).step_by(4) {
            self.ahead = self.read(4)?;
            if self.ahead != [0; 4] {
                break;
            }
            self.ahead.clear();
        }
        Ok(())
    }

    /// So many bytes, or fewer where the file ends: memory is taken as they come.
    fn read(&mut self, length: u64) -> Result<Vec<u8>> {
        let split = usize::try_from(length).unwrap_or(usize::MAX).min(self.ahead.len());
        let rest = self.ahead.split_off(split);
        let mut bytes = std::mem::replace(&mut self.ahead, rest);
        let wanted = length - bytes.len() as u64;
        (&mut self.reader).take(wanted).read_to_end(&mut bytes).map_err(|e| read_error(&self.file, e))?;
        Ok(bytes)
    }

    /// So many bytes, no fewer.
    fn read_all(&mut self, length: u64) -> Result<Vec<u8>> {
        let bytes = self.read(length)?;
        if bytes.len() as u64 == length { Ok(bytes) } else { Err(self.cut_short()) }
    }

    /// Passes over so many bytes.
    fn pass(&mut self, length: u64) -> Result<()> {
        let before = self.read(length.min(self.ahead.len() as u64))?.len() as u64;
        let mut rest = (&mut self.reader).take(length - before);
        let passed = copy(&mut rest, &mut sink()).map_err(|e| read_error(&self.file, e))?;
        if before + passed == length { Ok(()) } else { Err(self.cut_short()) }
    }

    /// The next head, or `None` at the end.
    fn next(&mut self) -> Result<Option<Packet>> {
        if self.ended {
            return Ok(None);
        }
        let mut length = self.read(4)?;
        if length == CONTINUATION {
            length = self.read_all(4)?;
        }
        let length = match <[u8; 4]>::try_from(length) {
            Ok(bytes) => u32::from_le_bytes(bytes),
            // A stream may end without saying so.
            Err(none) if none.is_empty() => 0,
            Err(_) => return Err(self.cut_short()),
        };
        if length == 0 {
            self.ended = true;
            return Ok(None);
        }
        let mut packet = Packet { head: self.read_all(length.into())?, body_length: 0 };
        let body_length = packet.message(&self.file)?.bodyLength();
        packet.body_length =
            u64::try_from(body_length).map_err(|_| unusable(&self.file, "a batch of negative length"))?;
        Ok(Some(packet))
    }

    fn body(&mut self, packet: &Packet) -> Result<Buffer> {
        self.check_memory(packet.body_length)?;
        Ok(Buffer::from_vec(self.read_all(packet.body_length)?))
    }

    fn check_memory(&self, bytes: u64) -> Result<()> {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        memory::check("a batch of rows", &[("bytes", bytes)], 1)
            .map_err(|e| Error::from(e).recast(Error::Data).in_file(&self.file))
    }

    /// Refuses compressed columns that claim to hold more than can be packed into their bytes, or more than the memory: the library
    /// believes what they say.
    fn check_unpacked(&self, batch: arrow_ipc::RecordBatch<'_>, body: &Buffer) -> Result<()> {
        let (Some(compression), Some(buffers)) = (batch.compression(), batch.buffers()) else {
            return Ok(());
        };
        let most = if compression.codec() == CompressionType::LZ4_FRAME { MOST_BY_LZ4 } else { MOST_BY_ZSTD };
        let mut total = 0u64;
        for buffer in buffers {
            let start = usize::try_from(buffer.offset()).unwrap_or(usize::MAX);
            let said = body.get(start..).and_then(|rest| rest.first_chunk::<8>());
            // What lies outside of the body is for the library to refuse.
            let Some(said) = said.filter(|_| buffer.length() > 0) else { continue };
            let said = u64::try_from(i64::from_le_bytes(*said)).unwrap_or(0);
            if said / most > buffer.length().unsigned_abs() {
                return Err(unusable(&self.file, &format!("a column that claims {said} bytes")));
            }
            total = total.saturating_add(said);
        }
        self.check_memory(total)
    }

    fn cut_short(&self) -> Error {
        Error::data("the file is damaged or cut short (it ends within a batch)").in_file(&self.file)
    }
}

struct Batches {
    packets: Packets,
    schema: SchemaRef,
    columns: Vec<usize>,
    dictionaries: HashMap<i64, ArrayRef>,
    /// What is left of a batch whose front was passed over.
    rest: Option<RecordBatch>,
}

impl Choose for Batches {
    fn choose(mut self: Box<Self>, columns: &[usize]) -> Result<Box<dyn BatchSource>> {
        self.columns = columns.to_vec();
        Ok(self)
    }
}

impl Batches {
    /// The next batch with more than `skip` rows; what is shorter is passed over and taken off `skip`.
    fn batch_beyond(&mut self, skip: &mut usize) -> Result<Option<RecordBatch>> {
        let file = self.packets.file.clone();
        while let Some(packet) = self.packets.next()? {
            let message = packet.message(&file)?;
            let version = message.version();
            match message.header_type() {
                MessageHeader::RecordBatch => {
                    let batch = message.header_as_record_batch();
                    let batch = batch.ok_or_else(|| unusable(&file, "a batch without a head"))?;
                    let rows = usize::try_from(batch.length()).unwrap_or(0);
                    if rows <= *skip {
                        *skip -= rows;
                        self.packets.pass(packet.body_length)?;
                        continue;
                    }
                    let body = self.packets.body(&packet)?;
                    self.packets.check_unpacked(batch, &body)?;
                    let decode = || {
                        let (schema, known) = (self.schema.clone(), &self.dictionaries);
                        RecordBatchDecoder::try_new(&body, batch, schema, known, &version)?
                            .with_projection(Some(&self.columns))
                            .read_record_batch()
                    };
                    return guarded(&file, KIND, decode)?.map(Some).map_err(|e| unreadable(&file, &e));
                }
                MessageHeader::DictionaryBatch => {
                    let dictionary = message.header_as_dictionary_batch();
                    let dictionary =
                        dictionary.ok_or_else(|| unusable(&file, "a dictionary without a head"))?;
                    let body = self.packets.body(&packet)?;
                    if let Some(values) = dictionary.data() {
                        self.packets.check_unpacked(values, &body)?;
                    }
                    let (schema, known) = (&self.schema, &mut self.dictionaries);
                    guarded(&file, KIND, || read_dictionary(&body, dictionary, schema, known, &version))?
                        .map_err(|e| unreadable(&file, &e))?;
                }
                _ => self.packets.pass(packet.body_length)?,
            }
        }
        Ok(None)
    }
}

impl BatchSource for Batches {
    fn next(&mut self) -> Result<Option<RecordBatch>> {
        match self.rest.take() {
            Some(rest) => Ok(Some(rest)),
            // A batch of no rows is passed over: it would look like the end.
            None => self.batch_beyond(&mut 0),
        }
    }

    fn skip(&mut self, rows: usize) -> Result<()> {
        let mut left = rows;
        if left > 0
            && let Some(batch) = self.batch_beyond(&mut left)?
        {
            self.rest = Some(batch.slice(left, batch.num_rows() - left));
        }
        Ok(())
    }
}

fn unusable(file: &str, why: &str) -> Error {
    // The library's words may come in several lines.
    let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
    Error::data(format!("not a usable Arrow file ({why})")).in_file(file)
}

fn unreadable(file: &str, error: &ArrowError) -> Error {
    unusable(file, &error.to_string())
}
