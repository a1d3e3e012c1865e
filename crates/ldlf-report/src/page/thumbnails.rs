//! The images of the rows that a page shows, small and inside the page.

use ldlf_core::Images;
use ldlf_core::images::Image;

use crate::load::PredictedRow;
use crate::markup::Element;
use crate::rows::example_rows;

/// Pixels of an image's shorter side.
const SIDE: usize = 96;

/// Pixels of the longer side at most: the middle is shown.
const LONGEST: usize = 192;

/// An image of a row, with why it is shown.
#[derive(Clone, Debug)]
pub struct Thumbnail {
    why: &'static str,
    name: String,
    /// A bitmap, which needs no encoder and which every browser shows.
    bitmap: Vec<u8>,
}

/// The images of the example rows; those that cannot be read are left out.
pub fn thumbnails(images: &Images, rows: &[PredictedRow], chosen: &[usize]) -> Vec<Thumbnail> {
    let shown = example_rows(rows, chosen).into_iter().filter_map(|example| {
        let row = example.row.row;
        let image = images.resized(row, SIDE).ok()?;
        Some(Thumbnail { why: example.why, name: images.name(row).to_string(), bitmap: bitmap(&image) })
    });
    shown.collect()
}

/// Images side by side, each with its name.
pub(super) fn html(thumbnails: &[Thumbnail]) -> Element {
    let each = thumbnails.iter().map(|Thumbnail { why, name, bitmap }| {
        let source = format!("data:image/bmp;base64,{}", base64(bitmap));
        let image = Element::new("img").attr("alt", name).attr("src", source);
        let caption = Element::new("figcaption").text(format!("{why}: {name}"));
        Element::new("figure").child(image).child(caption)
    });
    Element::new("div").class("thumbnails").children(each.collect::<Vec<_>>())
}

/// A bitmap of 24 bits per pixel: rows from the bottom, each filled up to whole words.
fn bitmap(image: &Image) -> Vec<u8> {
    const HEADERS: usize = 54;
    let (width, height) = (image.width.min(LONGEST), image.height.min(LONGEST));
    let (left, top) = ((image.width - width) / 2, (image.height - height) / 2);
    let line = (3 * width).next_multiple_of(4);
    let size = HEADERS + line * height;
    let mut bytes = b"BM".to_vec();
    let numbers = [size, 0, HEADERS, 40, width, height, 1 + (24 << 16), 0, line * height, 0, 0, 0, 0];
    numbers.iter().for_each(|&number| bytes.extend((number as u32).to_le_bytes()));
    for row in (top..top + height).rev() {
        let start = 3 * (row * image.width + left);
        let pixels = image.rgb[start..start + 3 * width].chunks_exact(3);
        pixels.for_each(|rgb| bytes.extend([rgb[2], rgb[1], rgb[0]]));
        bytes.resize(bytes.len() + line - 3 * width, 0);
    }
    bytes
}

/// Bytes as text (RFC 4648).
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for part in bytes.chunks(3) {
        let byte = |at: usize| u32::from(part.get(at).copied().unwrap_or(0));
        let all = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let letter = LETTERS[(all >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= part.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_written_as_in_the_standard() {
        let pairs = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (bytes, text) in pairs {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn a_bitmap_holds_the_pixels_from_the_bottom_up_in_lines_of_whole_words() {
        // Red above blue.
        let image = Image { width: 1, height: 2, rgb: vec![255, 0, 0, 0, 0, 255] };
        let bytes = bitmap(&image);
        assert_eq!((bytes.len(), &bytes[..2], bytes[2]), (62, &b"BM"[..], 62));
        assert_eq!(bytes[54..], [255, 0, 0, 0, 0, 0, 255, 0]);
    }

    #[test]
    fn of_a_long_image_the_middle_is_shown() {
        let image = Image { width: 4 * LONGEST, height: 1, rgb: vec![7; 12 * LONGEST] };
        assert_eq!(bitmap(&image).len(), 54 + 3 * LONGEST);
    }
}
