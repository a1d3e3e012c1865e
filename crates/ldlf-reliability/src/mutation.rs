//! Reproducible damage: the same number always changes the same file in the same way.

use ldlf::Value;
use ldlf::internals::core::stored::{Array, Parts};

use crate::corpus::{Sample, zipped};

/// A separate generator (SplitMix64), so that damage does not depend on the library's generators.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The generator of one input.
    pub fn new(reader: u64, number: u64) -> Self {
        let mut dice = Dice(reader.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number);
        dice.roll();
        dice
    }

    /// The next 64 bits.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, 0 where there is none.
    pub fn below(&mut self, end: usize) -> usize {
        (self.roll() % end.max(1) as u64) as usize
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// Words that are difficult for readers of text.
const WORDS: [&str; 18] = [
    "-1",
    "0",
    "1e999",
    "-1e308",
    "1e-320",
    "nan",
    "inf",
    "18446744073709551616",
    "4294967295",
    "\"",
    ",",
    "\n",
    "\r",
    ":",
    "\u{0}",
    "{",
    "[[[[[[[[",
    "\u{feff}",
];

/// Numbers that are difficult where a length or a shape is expected.
const NUMBERS: [u64; 14] = [
    0,
    1,
    2,
    0x7f,
    0xff,
    0x100,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    1 << 32,
    1 << 40,
    u64::MAX / 2,
    u64::MAX,
];

/// The bytes of a damaged `sample`; `others` are files of the same kind to graft pieces from.
pub fn damaged(sample: &Sample, others: &[Sample], dice: &mut Dice) -> Vec<u8> {
    match sample {
        Sample::Archive(members) if dice.below(3) > 0 => {
            let mut members = members.clone();
            let place = dice.below(members.len());
            damage(&mut members[place].1, &[], dice);
            if dice.below(8) == 0 {
                let other = dice.below(members.len());
                let name = members[other].0.clone();
                members[place].0 = name;
            }
            zipped(&members, dice.below(2) == 0)
        }
        Sample::Model(parts) if dice.below(3) > 0 => {
            let mut parts = parts.clone();
            for _ in 0..=dice.below(2) {
                damage_parts(&mut parts, dice);
            }
            parts.to_bytes().unwrap_or_default()
        }
        whole => {
            let mut bytes = whole.bytes();
            let graft = others.get(dice.below(others.len())).map_or(Vec::new(), Sample::bytes);
            damage(&mut bytes, &graft, dice);
            bytes
        }
    }
}

/// One to four kinds of damage, one after the other.
fn damage(bytes: &mut Vec<u8>, graft: &[u8], dice: &mut Dice) {
    for _ in 0..=dice.below(4) {
        damage_once(bytes, graft, dice);
    }
}

fn damage_once(bytes: &mut Vec<u8>, graft: &[u8], dice: &mut Dice) {
    let place = dice.below(bytes.len());
    match dice.below(10) {
        0 => bytes.truncate(place),
        1 if !bytes.is_empty() => bytes[place] ^= 1 << dice.below(8),
        2 if !bytes.is_empty() => bytes[place] = *dice.pick(&[0, 1, 0x7f, 0x80, 0xff]),
        3 => {
            let end = (place + 1 + dice.below(16)).min(bytes.len());
            bytes.drain(place.min(end)..end);
        }
        4 => {
            let end = (place + 1 + dice.below(64)).min(bytes.len());
            let again = bytes[place.min(end)..end].to_vec();
            bytes.splice(place..place, again);
        }
        5 => {
            let number = *dice.pick(&NUMBERS);
            let width = *dice.pick(&[2usize, 4, 8]);
            let raw = match dice.below(2) {
                0 => number.to_le_bytes()[..width].to_vec(),
                _ => number.to_be_bytes()[8 - width..].to_vec(),
            };
            let end = (place + width).min(bytes.len());
            bytes.splice(place.min(end)..end, raw);
        }
        6 => {
            let from = dice.below(graft.len());
            let piece = &graft[from..(from + dice.below(64)).min(graft.len())];
            bytes.splice(place..place, piece.iter().copied());
        }
        // A number in the text is replaced.
        7 | 8 => {
            let digit = |byte: &u8| byte.is_ascii_digit();
            let Some(start) = bytes[place.min(bytes.len())..].iter().position(digit) else { return };
            let start = place + start;
            let end = bytes[start..].iter().position(|byte| !digit(byte)).map_or(bytes.len(), |n| start + n);
            bytes.splice(start..end, dice.pick(&WORDS).bytes());
        }
        _ => {
            bytes.splice(place..place, dice.pick(&WORDS).bytes());
        }
    }
}

/// Damage within a valid safetensors file: a number, a shape, a name or the document is wrong.
fn damage_parts(parts: &mut Parts, dice: &mut Dice) {
    let names: Vec<String> = parts.arrays().map(|(name, _)| name.to_string()).collect();
    if names.is_empty() || dice.below(2) == 0 {
        let mut details = Value::Object(std::mem::take(&mut parts.details));
        damage_value(&mut details, dice);
        if let Value::Object(details) = details {
            parts.details = details;
        }
        return;
    }
    let name = dice.pick(&names).clone();
    let Some(array) = parts.arrays().find(|(known, _)| *known == name).map(|(_, array)| array.clone()) else {
        return;
    };
    parts.put(&name, damaged_array(array, dice));
}

fn damaged_array(array: Array, dice: &mut Dice) -> Array {
    const ODD: [f64; 10] =
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, 1e-30, 3e38, -3e38, 1e300, 0.5];
    fn reshaped(shape: Vec<usize>, count: usize, dice: &mut Dice) -> (Vec<usize>, usize) {
        match dice.below(4) {
            0 => (vec![count], count),
            1 => (vec![1, 1, count], count),
            2 => (vec![0, usize::MAX], 0),
            _ => {
                let mut shape: Vec<usize> = shape.into_iter().rev().collect();
                if let Some(first) = shape.first_mut() {
                    *first = first.saturating_sub(1);
                }
                let count = shape.iter().product();
                (shape, count)
            }
        }
    }
    let change_shape = dice.below(3) == 0;
    macro_rules! change {
        ($kind:ident, $shape:expr, $data:expr, $odd:expr) => {{
            let (mut shape, mut data) = ($shape, $data);
            if change_shape {
                let (new, count) = reshaped(shape, data.len(), dice);
                data.resize(count, Default::default());
                shape = new;
            } else if !data.is_empty() {
                let place = dice.below(data.len());
                data[place] = $odd;
            }
            Array::$kind(shape, data)
        }};
    }
    match array {
        Array::F32(shape, data) => change!(F32, shape, data, *dice.pick(&ODD) as f32),
        Array::F64(shape, data) => change!(F64, shape, data, *dice.pick(&ODD)),
        Array::U32(shape, data) => change!(U32, shape, data, *dice.pick(&NUMBERS) as u32),
    }
}

/// Replaces or removes a value somewhere in a JSON document.
fn damage_value(value: &mut Value, dice: &mut Dice) {
    match value {
        Value::Object(map) if !map.is_empty() && dice.below(8) > 0 => {
            let name = map.keys().nth(dice.below(map.len())).cloned().unwrap_or_default();
            if dice.below(6) == 0 {
                map.remove(&name);
            } else if let Some(inner) = map.get_mut(&name) {
                damage_value(inner, dice);
            }
        }
        Value::Array(list) if !list.is_empty() && dice.below(4) > 0 => {
            let place = dice.below(list.len());
            match dice.below(4) {
                0 => drop(list.remove(place)),
                1 => list.insert(place, list[place].clone()),
                _ => damage_value(&mut list[place], dice),
            }
        }
        other => {
            *other = match dice.below(7) {
                0 => Value::Null,
                1 => Value::from(*dice.pick(&NUMBERS)),
                2 => Value::from(-1),
                3 => Value::from(*dice.pick(&[1e308, -1e308, 1e-308, 0.5])),
                4 => Value::from(*dice.pick(&WORDS)),
                5 => Value::Array(vec![]),
                _ => Value::Bool(dice.below(2) == 0),
            }
        }
    }
}
