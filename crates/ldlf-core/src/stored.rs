//! The model file: one safetensors file that holds arrays and, in its metadata, one JSON document.
//!
//! The document names the format version, the learner, its parameters, the schema and a training summary; nothing in
//! it depends on the time, the machine or the number of threads, so that equal trainings give equal bytes.

use std::collections::{BTreeMap, HashMap};

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use crate::conformal::{Conformal, StoredConformal};
use crate::error::Subject;
use crate::familiarity::Familiarity;
use crate::learner::Summary;
use crate::spread::Spread;
use crate::{
    Error, LearnerEntry, Matrix, Provenance, Result, Schema, Settings, TrainedModel, Value, message,
};

/// The format this version writes. Every released version stays readable.
pub const FORMAT_VERSION: u32 = 1;

/// The metadata key of the JSON document.
const DOCUMENT: &str = "ldlf";

/// How a document with a checksum begins; its sixteen digits, a quotation mark and a comma follow, then the entries of the document.
const CHECKED: &str = "{\"checksum\":\"";

/// The entry of the document that says where a model comes from; files that have it have a checksum.
const PROVENANCE: &str = "provenance";

/// Numbers with a shape.
#[derive(Clone, Debug, PartialEq)]
pub enum Array {
    /// Single precision.
    F32(Vec<usize>, Vec<f32>),
    /// Double precision.
    F64(Vec<usize>, Vec<f64>),
    /// Whole numbers.
    U32(Vec<usize>, Vec<u32>),
}

impl Array {
    fn is_finite(&self) -> bool {
        match self {
            Array::F32(_, numbers) => numbers.iter().all(|number| number.is_finite()),
            Array::F64(_, numbers) => numbers.iter().all(|number| number.is_finite()),
            Array::U32(..) => true,
        }
    }
}

/// What a model (or a checkpoint) consists of: named arrays and a JSON object of details.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    arrays: BTreeMap<String, Array>,
    /// Everything that is not an array.
    pub details: serde_json::Map<String, Value>,
}

impl Parts {
    /// Nothing yet.
    pub fn new() -> Self {
        Parts::default()
    }

    /// Adds an array; its shape must fit its values.
    pub fn put(&mut self, name: &str, array: Array) {
        let (shape, len) = match &array {
            Array::F32(shape, data) => (shape, data.len()),
            Array::F64(shape, data) => (shape, data.len()),
            Array::U32(shape, data) => (shape, data.len()),
        };
        assert_eq!(shape.iter().product::<usize>(), len, "array {name} does not fit its shape");
        self.arrays.insert(name.to_string(), array);
    }

    /// Adds a dense matrix.
    pub fn put_matrix(&mut self, name: &str, matrix: &Matrix<f32>) {
        self.put(name, Array::F32(vec![matrix.rows(), matrix.cols()], matrix.as_slice().to_vec()));
    }

    /// Adds a detail.
    pub fn put_detail(&mut self, name: &str, value: impl Serialize) {
        let value = serde_json::to_value(value).expect("details are plain data");
        self.details.insert(name.to_string(), value);
    }

    /// Adds all of other parts under a name of their own.
    pub fn put_within(&mut self, name: &str, parts: Parts) {
        for (inner, array) in parts.arrays {
            self.put(&format!("{name}.{inner}"), array);
        }
        self.put_detail(name, parts.details);
    }

    /// The parts that [`Parts::put_within`] added under a name.
    pub fn within(&self, name: &str) -> Result<Parts> {
        let mut parts = Parts { arrays: BTreeMap::new(), details: self.detail(name)? };
        let prefix = format!("{name}.");
        for (full, array) in &self.arrays {
            if let Some(inner) = full.strip_prefix(&prefix) {
                parts.arrays.insert(inner.to_string(), array.clone());
            }
        }
        Ok(parts)
    }

    /// Whether there is an array of that name.
    pub fn has(&self, name: &str) -> bool {
        self.arrays.contains_key(name)
    }

    /// Every array with its name, in the order of the names.
    pub fn arrays(&self) -> impl Iterator<Item = (&str, &Array)> {
        self.arrays.iter().map(|(name, array)| (name.as_str(), array))
    }

    /// A detail of the given type.
    pub fn detail<T: for<'de> Deserialize<'de>>(&self, name: &str) -> Result<T> {
        let value = self.details.get(name).cloned().unwrap_or(Value::Null);
        serde_json::from_value(value)
            .map_err(|e| Error::model_file(format!("the model file's {name:?} cannot be used: {e}")))
    }

    /// The finite single-precision values of an array of the given shape.
    pub fn f32s(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        match self.arrays.get(name) {
            Some(Array::F32(found, data)) if found == shape => {
                if data.iter().all(|v| v.is_finite()) {
                    Ok(data.clone())
                } else {
                    Err(Error::model_file(format!(
                        "the model file's array {name:?} holds a number that is not finite"
                    )))
                }
            }
            other => Err(self.wrong(name, "single-precision", shape, other)),
        }
    }

    /// The finite double-precision values of an array of the given shape.
    pub fn f64s(&self, name: &str, shape: &[usize]) -> Result<Vec<f64>> {
        match self.arrays.get(name) {
            Some(Array::F64(found, data)) if found == shape => {
                if data.iter().all(|v| v.is_finite()) {
                    Ok(data.clone())
                } else {
                    Err(Error::model_file(format!(
                        "the model file's array {name:?} holds a number that is not finite"
                    )))
                }
            }
            other => Err(self.wrong(name, "double-precision", shape, other)),
        }
    }

    /// The whole numbers of an array of the given shape.
    pub fn u32s(&self, name: &str, shape: &[usize]) -> Result<Vec<u32>> {
        match self.arrays.get(name) {
            Some(Array::U32(found, data)) if found == shape => Ok(data.clone()),
            other => Err(self.wrong(name, "whole-number", shape, other)),
        }
    }

    /// The shape of an array.
    pub fn shape(&self, name: &str) -> Result<&[usize]> {
        match self.arrays.get(name) {
            Some(Array::F32(shape, _) | Array::F64(shape, _) | Array::U32(shape, _)) => Ok(shape),
            None => Err(self.wrong(name, "any", &[], None)),
        }
    }

    fn wrong(&self, name: &str, kind: &str, shape: &[usize], found: Option<&Array>) -> Error {
        let found = match found {
            None => {
                return Error::model_file(format!("the model file has no array {name:?}; it may be damaged"));
            }
            Some(Array::F32(shape, _)) => format!("single-precision {shape:?}"),
            Some(Array::F64(shape, _)) => format!("double-precision {shape:?}"),
            Some(Array::U32(shape, _)) => format!("whole-number {shape:?}"),
        };
        Error::model_file(format!(
            "the model file's array {name:?} should be {kind} {shape:?}, found {found}"
        ))
    }

    /// The bytes of a safetensors file; equal parts give equal bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let raw: Vec<(String, Dtype, Vec<usize>, Vec<u8>)> = self
            .arrays
            .iter()
            .map(|(name, array)| match array {
                Array::F32(s, d) => {
                    (name.clone(), Dtype::F32, s.clone(), d.iter().flat_map(|v| v.to_le_bytes()).collect())
                }
                Array::F64(s, d) => {
                    (name.clone(), Dtype::F64, s.clone(), d.iter().flat_map(|v| v.to_le_bytes()).collect())
                }
                Array::U32(s, d) => {
                    (name.clone(), Dtype::U32, s.clone(), d.iter().flat_map(|v| v.to_le_bytes()).collect())
                }
            })
            .collect();
        let views: Vec<(&str, TensorView<'_>)> = raw
            .iter()
            .map(|(name, dtype, shape, bytes)| {
                let view = TensorView::new(*dtype, shape.clone(), bytes)
                    .map_err(|e| Error::model_file(format!("cannot store array {name:?}: {e}")))?;
                Ok((name.as_str(), view))
            })
            .collect::<Result<_>>()?;
        let document = serde_json::to_string(&self.details).expect("details are plain data");
        // Of two entries a hash map would choose the order, so that the checksum stands within the one.
        let entries = &document[1..];
        let comma = if entries == "}" { "" } else { "," };
        let checksum = checksum(entries, &views);
        let checked = format!("{CHECKED}{checksum}\"{comma}{entries}");
        let metadata = HashMap::from([(DOCUMENT.to_string(), checked)]);
        safetensors::serialize(views, Some(metadata))
            .map_err(|e| Error::model_file(format!("cannot build the model file: {e}")))
    }

    /// Reads the bytes of a safetensors file written by [`Parts::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let damaged =
            |why: String| Error::model_file(format!("not an ldlf model file, or a damaged one: {why}"));
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(|e| damaged(e.to_string()))?;
        let document = header
            .metadata()
            .as_ref()
            .and_then(|metadata| metadata.get(DOCUMENT))
            .ok_or_else(|| damaged("its metadata has no entry \"ldlf\"".into()))?;
        let mut details: serde_json::Map<String, Value> =
            serde_json::from_str(document).map_err(|e| damaged(format!("its JSON document: {e}")))?;
        let tensors = SafeTensors::deserialize(bytes).map_err(|e| damaged(e.to_string()))?;
        // Files of earlier versions have no checksum, and do not say where they come from either.
        if document.starts_with(CHECKED) || details.contains_key(PROVENANCE) {
            check(document, &tensors)?;
            details.shift_remove("checksum");
        }
        let mut arrays = BTreeMap::new();
        for (name, view) in tensors.tensors() {
            let shape = view.shape().to_vec();
            let data = view.data();
            let array = match view.dtype() {
                Dtype::F32 => Array::F32(shape, decode(data, f32::from_le_bytes)),
                Dtype::F64 => Array::F64(shape, decode(data, f64::from_le_bytes)),
                Dtype::U32 => Array::U32(shape, decode(data, u32::from_le_bytes)),
                other => return Err(damaged(format!("array {name:?} has the type {other:?}"))),
            };
            arrays.insert(name, array);
        }
        Ok(Parts { arrays, details })
    }
}

/// Sixteen hexadecimal digits over the entries of the document and over the name, type, shape and bytes of every array in the order of
/// the names. Every step is a bijection of the sum so far, so that no change of a single byte goes unnoticed.
fn checksum(entries: &str, arrays: &[(&str, TensorView<'_>)]) -> String {
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        let mut step = |word: u64| sum = (sum ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
        let words = bytes.chunks_exact(8);
        let rest = words.remainder();
        words.for_each(|word| step(u64::from_le_bytes(word.try_into().expect("chunks_exact gives 8 bytes"))));
        rest.iter().for_each(|&byte| step(u64::from(byte)));
        step(bytes.len() as u64);
    };
    add(entries.as_bytes());
    let mut arrays: Vec<&(&str, TensorView<'_>)> = arrays.iter().collect();
    arrays.sort_by_key(|(name, _)| *name);
    for (name, view) in arrays {
        add(name.as_bytes());
        add(format!("{:?} {:?}", view.dtype(), view.shape()).as_bytes());
        add(view.data());
    }
    format!("{sum:016x}")
}

/// Refuses a file that does not hold what its checksum was made of.
fn check(document: &str, tensors: &SafeTensors<'_>) -> Result<()> {
    let (found, entries) = document
        .strip_prefix(CHECKED)
        .and_then(|rest| rest.split_once('"'))
        .map(|(found, entries)| (found, entries.strip_prefix(',').unwrap_or(entries)))
        .unwrap_or_default();
    let tensors = tensors.tensors();
    let views: Vec<(&str, TensorView<'_>)> =
        tensors.iter().map(|(name, view)| (name.as_str(), view.clone())).collect();
    if checksum(entries, &views) == found {
        return Ok(());
    }
    Err(Error::model_file("the file is damaged: its contents do not fit its checksum")
        .with_remedy("copy it anew from where it came, or train the model again"))
}

fn decode<const N: usize, T>(bytes: &[u8], one: impl Fn([u8; N]) -> T) -> Vec<T> {
    bytes.chunks_exact(N).map(|chunk| one(chunk.try_into().expect("chunks_exact gives N bytes"))).collect()
}

/// The part of the document that every model has.
#[derive(Serialize, Deserialize)]
struct Document {
    /// The version of the format, now 1.
    format_version: u32,
    /// The name of the learner.
    learner: String,
    /// Every parameter with its value.
    parameters: Settings,
    /// The number of features.
    features: usize,
    /// What features and labels are called, and how columns are read.
    schema: Schema,
    /// How the training went.
    summary: Summary,
    /// Where the model comes from; models of earlier versions do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provenance: Option<Provenance>,
    /// What makes intervals and label sets of predictions; models of earlier versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    conformal: Option<StoredConformal>,
    /// What makes spreads of predictions; models of earlier versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spread: Option<Spread>,
    /// What the learner keeps beside its arrays.
    model: serde_json::Map<String, Value>,
}

impl TrainedModel {
    /// The model as arrays and a document, ready to be written.
    pub fn to_parts(&self) -> Parts {
        let mut parts = Parts::new();
        self.model.store(&mut parts);
        let conformal = self.conformal.as_ref().map(|conformal| conformal.store(&mut parts));
        if let Some(familiarity) = &self.familiarity {
            familiarity.store(&mut parts);
        }
        let document = Document {
            format_version: FORMAT_VERSION,
            learner: self.learner.clone(),
            parameters: self.parameters.clone(),
            features: self.features,
            schema: self.schema.clone(),
            summary: self.summary.clone(),
            provenance: self.provenance.clone(),
            conformal,
            spread: self.spread,
            model: std::mem::take(&mut parts.details),
        };
        match serde_json::to_value(document).expect("a document is plain data") {
            Value::Object(details) => parts.details = details,
            _ => unreachable!("a struct serialises to an object"),
        }
        parts
    }

    /// Refuses a model whose numbers are not all finite: a file of it would be refused when it is loaded.
    pub fn check_finite(&self) -> Result<()> {
        let mut parts = Parts::new();
        self.model.store(&mut parts);
        match parts.arrays().find(|(_, array)| !array.is_finite()) {
            None => Ok(()),
            Some((name, _)) => Err(Error::training(format!(
                "the training ran out of bounds ({name:?} holds numbers that are not finite)"
            ))
            .with_remedy("try smaller steps (learning_rate) or scaled features")
            .of_learner(&self.learner)),
        }
    }

    /// Rebuilds a model; `learners` are those of this program.
    pub fn from_parts(mut parts: Parts, learners: &[LearnerEntry]) -> Result<Self> {
        if parts.details.contains_key(crate::checkpoint::CHECKPOINT) {
            return Err(Error::model_file("this is a checkpoint, not a model")
                .with_remedy(message!["resume it with ", Subject::ResumeTraining]));
        }
        // The version is read on its own first: a future document may have another shape.
        let version: u32 = parts.detail("format_version")?;
        if version == 0 || version > FORMAT_VERSION {
            return Err(Error::model_file(format!(
                "the model file has format {version}, this version reads up to {FORMAT_VERSION}"
            ))
            .with_remedy("a newer ldlf is needed"));
        }
        let document: Document = serde_json::from_value(Value::Object(std::mem::take(&mut parts.details)))
            .map_err(|e| Error::model_file(format!("the model file's document cannot be used: {e}")))?;
        let entry = learners.iter().find(|entry| entry.name() == document.learner).ok_or_else(|| {
            Error::model_file(format!(
                "the model file is of the learner {:?}, which this program lacks",
                document.learner
            ))
        })?;
        let Document {
            learner,
            parameters,
            features,
            schema,
            summary,
            provenance,
            conformal,
            spread,
            model,
            ..
        } = document;
        if schema.label_names.is_empty()
            || schema.feature_names.as_ref().is_some_and(|names| names.len() != features)
            || schema.columns.as_ref().is_some_and(|of| of.width() != features || of.check().is_err())
            || schema.label_values.as_ref().is_some_and(|values| values.len() != schema.label_names.len())
        {
            return Err(Error::model_file(
                "the model file's names do not fit its numbers of features and labels",
            ));
        }
        parts.details = model;
        let shape = ModelShape { features, labels: schema.label_names.len() };
        let model = (entry.load)(&parts, &shape)?;
        let conformal = conformal.map(|stored| Conformal::load(&parts, stored)).transpose()?;
        let familiarity = Familiarity::load(&parts, features)?;
        Ok(TrainedModel {
            learner,
            parameters,
            features,
            schema,
            summary,
            provenance,
            model,
            out_of_fold: None,
            conformal,
            spread: spread.map(Spread::check).transpose()?,
            familiarity,
        })
    }
}

/// The numbers that a stored model must fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelShape {
    /// Features per row.
    pub features: usize,
    /// Labels.
    pub labels: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Parts {
        let mut parts = Parts::new();
        parts.put("weights", Array::F32(vec![2, 2], vec![1.0, 2.0, 3.0, 4.0]));
        parts.put("units", Array::U32(vec![3], vec![7, 8, 9]));
        parts.put("exact", Array::F64(vec![1], vec![0.1]));
        parts.put_detail("name", "sample");
        parts
    }

    #[test]
    fn parts_survive_a_round_trip_through_bytes() {
        let bytes = sample().to_bytes().unwrap();
        assert_eq!(Parts::from_bytes(&bytes).unwrap(), sample());
    }

    #[test]
    fn equal_parts_give_equal_bytes() {
        assert_eq!(sample().to_bytes().unwrap(), sample().to_bytes().unwrap());
    }

    #[test]
    fn a_byte_changed_anywhere_is_an_error_or_changes_nothing() {
        let mut parts = sample();
        parts.put_detail(PROVENANCE, Provenance::of_rows(2));
        let whole = parts.to_bytes().unwrap();
        for place in 0..whole.len() {
            for change in 1..=u8::MAX {
                let mut bytes = whole.clone();
                bytes[place] ^= change;
                // Blanks around the header may be other blanks.
                assert!(
                    Parts::from_bytes(&bytes).is_ok_and(|read| read == parts)
                        || Parts::from_bytes(&bytes).is_err()
                );
            }
        }
        let arrays = 7 * 4 + 8;
        let mut bytes = whole.clone();
        bytes[whole.len() - arrays] ^= 1;
        let error = Parts::from_bytes(&bytes).unwrap_err().to_string();
        assert!(error.starts_with("the file is damaged: its contents do not fit its checksum;"), "{error}");
    }

    #[test]
    fn a_file_without_a_checksum_is_read() {
        let bytes = String::from_utf8_lossy(&Parts::new().to_bytes().unwrap()).into_owned();
        let start = bytes.find("\\\"checksum").unwrap();
        let end = start + bytes[start..].find('}').unwrap();
        let mut old = format!("{}{}", &bytes[..start], &bytes[end..]);
        let padding = " ".repeat(bytes.len() - old.len());
        old.push_str(&padding);
        assert_eq!(Parts::from_bytes(old.as_bytes()).unwrap(), Parts::new());
    }

    #[test]
    fn a_file_cut_at_any_byte_is_an_error() {
        let bytes = sample().to_bytes().unwrap();
        for end in 0..bytes.len() {
            assert!(Parts::from_bytes(&bytes[..end]).is_err(), "cut at {end}");
        }
    }

    #[test]
    fn wrong_shapes_types_and_numbers_are_named() {
        let mut parts = sample();
        assert!(parts.f32s("weights", &[4]).unwrap_err().to_string().contains("\"weights\""));
        assert!(parts.f32s("units", &[3]).is_err());
        assert!(parts.u32s("absent", &[3]).unwrap_err().to_string().contains("no array \"absent\""));
        parts.put("weights", Array::F32(vec![1], vec![f32::NAN]));
        assert!(parts.f32s("weights", &[1]).unwrap_err().to_string().contains("not finite"));
    }
}
