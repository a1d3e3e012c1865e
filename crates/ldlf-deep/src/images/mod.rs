//! From a folder or a zip file of images to the input of a network, in the order of the flow:
//! list ([`open`]) -> decode, turn upright, resize, cache ([`ImageFiles`]) -> crop, jitter ([`Augmentation`]) and scale
//! ([`Preparation`]) -> batches, prefetched while the network trains ([`prefetch`]).
//!
//! Random changes follow from a seed, the row and how often it was seen, whatever the threads.

mod archive;
mod augmentation;
mod cache;
mod decode;
mod files;
mod folder;
mod pixels;
mod prefetch;
mod preparation;
mod table;
mod thumbnail;

pub use ldlf_core::images::BadImages;

pub use augmentation::Augmentation;
pub use files::{ImageFiles, open, unreadable};
pub use pixels::PixelImages;
pub use prefetch::{Batch, PrefetchedBatches, prefetch};
pub use preparation::{Preparation, prepare, whole_side};
pub use table::{check_readable, join, named, side_of};
pub use thumbnail::thumbnail;

/// The first bytes of the kinds of image that are read.
const MAGIC: [&[u8]; 2] = [&[0xff, 0xd8, 0xff], b"\x89PNG\r\n\x1a\n"];

/// Whether a file is an image, by its extension; `None` where it has none and the content decides.
fn is_image_by_name(name: &str) -> Option<bool> {
    let file = name.rsplit('/').next().unwrap_or(name);
    let (_, extension) = file.rsplit_once('.')?;
    Some(["jpg", "jpeg", "jpe", "jfif", "png"].iter().any(|known| extension.eq_ignore_ascii_case(known)))
}

/// Whether these are the first bytes of an image.
fn is_image_by_content(start: &[u8]) -> bool {
    MAGIC.iter().any(|magic| start.starts_with(magic))
}

/// Hidden files and the files that macOS adds to archives are no images.
fn is_hidden(part: &str) -> bool {
    part.starts_with('.') || part == "__MACOSX"
}
