//! Images on the way from a folder or a zip file to a network, in the order of the flow:
//! list ([`open`]) -> decode, upright, resized and kept ([`ImageFiles`]) -> cut, jittered ([`Augmentation`]) and scaled
//! ([`Preparation`]) -> batches ahead of the training step ([`batches_ahead`]).
//!
//! Whatever is drawn follows from a seed, the row and how often it was seen; no thread has a say in it.

mod ahead;
mod archive;
mod augmentation;
mod decode;
mod files;
mod folder;
mod kept;
mod preparation;
mod table;

pub use ahead::{Batch, BatchesAhead, batches_ahead};
pub use augmentation::Augmentation;
pub use files::{ImageFiles, open, unreadable};
pub use preparation::{Preparation, prepare};
pub use table::{BadImages, check_readable, join, named};

/// The first bytes of the kinds of image that are read.
const MAGIC: [&[u8]; 2] = [&[0xff, 0xd8, 0xff], b"\x89PNG\r\n\x1a\n"];

/// Whether a file is an image, by the end of its name; `None` where the name has no extension and the content must say it.
fn is_image_by_name(name: &str) -> Option<bool> {
    let file = name.rsplit('/').next().unwrap_or(name);
    let (_, extension) = file.rsplit_once('.')?;
    Some(["jpg", "jpeg", "jpe", "jfif", "png"].iter().any(|known| extension.eq_ignore_ascii_case(known)))
}

/// Whether these are the first bytes of an image.
fn is_image_by_content(start: &[u8]) -> bool {
    MAGIC.iter().any(|magic| start.starts_with(magic))
}

/// Hidden files and what a Mac leaves in archives are nobody's images.
fn is_hidden(part: &str) -> bool {
    part.starts_with('.') || part == "__MACOSX"
}
