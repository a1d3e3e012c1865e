//! From the bytes of a file to an upright image of the requested size.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fast_image_resize::images::{TypedImage, TypedImageRef};
use fast_image_resize::pixels::U8x3;
use fast_image_resize::{FilterType, ResizeAlg, ResizeOptions, Resizer};
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits, RgbImage};
use ldlf_core::images::Image;
use ldlf_math::memory;

/// More pixels than any camera gives: a small file that claims more is a decompression bomb.
const MOST_PIXELS: u64 = 250_000_000;

/// Maximum number of pixels per byte: in PNG eight of one bit in each of the 1032 bytes that deflate makes of one; in JPEG a
/// block of 64 takes a bit at least, and there are up to twice as many pixels as those of the finest channel would be. A file that claims more
/// is damaged, and nothing is allocated for it.
const MOST_IN_A_BYTE_OF_PNG: u64 = 8 * 1032;
const MOST_IN_A_BYTE_OF_JPEG: u64 = 2 * 8 * 64;

/// Maximum ratio of the longer to the shorter side of an image; a network sees the square in its centre.
const MOST_SLENDER: u64 = 50;

/// Decodes JPEG or PNG, by its content: grey, palette, alpha and 16 bits become three channels of bytes (alpha is left out, as
/// `convert("RGB")` of Pillow does), the shorter side becomes `side` pixels (bilinear, averaging where it shrinks, as Pillow
/// resizes), and the image is turned as its EXIF orientation says. An error is the reason, without the image's name.
pub(super) fn decode(bytes: &[u8], side: usize) -> Result<Image, String> {
    // A decoder may panic on damaged bytes; that must not end the program.
    catch_unwind(AssertUnwindSafe(|| attempt(bytes, side)))
        .unwrap_or_else(|_| Err("its decoder gave up".into()))
}

fn attempt(bytes: &[u8], side: usize) -> Result<Image, String> {
    if bytes.is_empty() {
        return Err("the file is empty".into());
    }
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().map_err(|e| e.to_string())?;
    let most_in_a_byte = match reader.format() {
        Some(ImageFormat::Png) => MOST_IN_A_BYTE_OF_PNG,
        Some(ImageFormat::Jpeg) if is_cut_short(bytes) => return Err("it is cut short".into()),
        Some(ImageFormat::Jpeg) => MOST_IN_A_BYTE_OF_JPEG,
        _ => return Err("it is neither JPEG nor PNG".into()),
    };
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(8 * MOST_PIXELS);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(|e| e.to_string())?;
    let (width, height) = decoder.dimensions();
    check_size(width, height, decoder.color_type().bytes_per_pixel())?;
    if u64::from(width) * u64::from(height) > most_in_a_byte * bytes.len() as u64 {
        return Err(format!(
            "it claims {width} x {height} pixels, more than its {} bytes can hold",
            bytes.len()
        ));
    }
    let orientation = decoder.orientation().map_err(|e| e.to_string())?;
    let whole = DynamicImage::from_decoder(decoder).map_err(|e| e.to_string())?.into_rgb8();
    upright(resized(whole, side)?, orientation)
}

/// Resizes pixels that are already decoded, as [`decode`] does.
pub(super) fn resize(image: &Image, side: usize) -> Result<Image, String> {
    let too_large = |_| "it has more pixels than can be counted".to_string();
    let width = u32::try_from(image.width).map_err(too_large)?;
    let height = u32::try_from(image.height).map_err(too_large)?;
    check_size(width, height, 3)?;
    let whole = RgbImage::from_raw(width, height, image.rgb.clone()).ok_or("it lacks pixels")?;
    upright(resized(whole, side)?, Orientation::NoTransforms)
}

fn check_size(width: u32, height: u32, bytes_per_pixel: u8) -> Result<(), String> {
    let (long, short) = (u64::from(width.max(height)), u64::from(width.min(height)));
    if short == 0 {
        return Err("it has no pixels".into());
    }
    if long * short > MOST_PIXELS {
        return Err(format!("it has {width} x {height} pixels, more than the {MOST_PIXELS} that are read"));
    }
    if long > MOST_SLENDER * short {
        return Err(format!(
            "it has {width} x {height} pixels and no square in its middle to look at; crop it"
        ));
    }
    // As it is stored, and converted to three channels.
    let bytes = usize::from(bytes_per_pixel) + 3;
    memory::check("it", &[("columns", width as usize), ("lines", height as usize)], bytes)
        .map_err(|e| e.to_string())
}

/// Whether the end of a JPEG is missing, which its decoder would fill with grey: after the head of the first scan, a marker says
/// that it ends. Segments before that are passed over, for they may hold small images of their own.
fn is_cut_short(bytes: &[u8]) -> bool {
    let mut at = 2;
    while let Some(&[0xff, kind]) = bytes.get(at..at + 2) {
        match kind {
            0xda => return !bytes[at..].windows(2).any(|pair| pair == [0xff, 0xd9]),
            // Fill bytes and markers without a length.
            0xff => at += 1,
            0x01 | 0xd0..=0xd8 => at += 2,
            _ => {
                let Some(&[high, low]) = bytes.get(at + 2..at + 4) else { return true };
                at += 2 + usize::from(u16::from_be_bytes([high, low]));
            }
        }
    }
    // The decoder reports any other damage.
    at >= bytes.len()
}

fn resized(whole: RgbImage, side: usize) -> Result<RgbImage, String> {
    let (width, height) = whole.dimensions();
    let short = u64::from(width.min(height));
    let scaled = |length: u32| {
        let rounded = (u64::from(length) * side as u64 + short / 2) / short;
        u32::try_from(rounded.max(1)).map_err(|_| format!("{side} pixels are too many for its shorter side"))
    };
    let (new_width, new_height) = (scaled(width)?, scaled(height)?);
    if (new_width, new_height) == (width, height) {
        return Ok(whole);
    }
    memory::check("resized, it", &[("columns", new_width as usize), ("lines", new_height as usize)], 3)
        .map_err(|e| e.to_string())?;
    let source =
        TypedImageRef::<U8x3>::from_buffer(width, height, whole.as_raw()).map_err(|e| e.to_string())?;
    let mut resized = vec![0; 3 * new_width as usize * new_height as usize];
    let mut target =
        TypedImage::<U8x3>::from_buffer(new_width, new_height, &mut resized).map_err(|e| e.to_string())?;
    let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Bilinear));
    // The untyped call would be compiled for every pixel type.
    Resizer::new().resize_typed(&source, &mut target, &options).map_err(|e| e.to_string())?;
    RgbImage::from_raw(new_width, new_height, resized).ok_or_else(|| "resizing failed".to_string())
}

fn upright(image: RgbImage, orientation: Orientation) -> Result<Image, String> {
    let mut image = DynamicImage::ImageRgb8(image);
    image.apply_orientation(orientation);
    let image = image.into_rgb8();
    let (width, height) = (image.width() as usize, image.height() as usize);
    Ok(Image { width, height, rgb: image.into_raw() })
}

#[cfg(test)]
mod tests {
    use image::{GrayImage, ImageBuffer, ImageEncoder, Luma, Rgb, Rgba};

    use super::*;

    fn encoded(image: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        image.into().write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    /// Left half red, right half blue, six by four.
    fn two_halves() -> RgbImage {
        RgbImage::from_fn(6, 4, |x, _| if x < 3 { Rgb([255, 0, 0]) } else { Rgb([0, 0, 255]) })
    }

    fn pixel(image: &Image, x: usize, y: usize) -> [u8; 3] {
        let at = 3 * (y * image.width + x);
        [image.rgb[at], image.rgb[at + 1], image.rgb[at + 2]]
    }

    #[test]
    fn the_shorter_side_gets_the_size_that_is_asked_for() {
        let image = decode(&encoded(RgbImage::new(60, 40), ImageFormat::Png), 10).unwrap();
        assert_eq!((image.width, image.height, image.rgb.len()), (15, 10, 450));
        let tall = decode(&encoded(RgbImage::new(3, 9), ImageFormat::Png), 6).unwrap();
        assert_eq!((tall.width, tall.height), (6, 18));
    }

    #[test]
    fn shrinking_averages_what_falls_together() {
        let checks = RgbImage::from_fn(64, 64, |x, y| Rgb([if (x + y) % 2 == 0 { 0 } else { 200 }; 3]));
        let image = decode(&encoded(checks, ImageFormat::Png), 8).unwrap();
        let (low, high) = (image.rgb.iter().min().unwrap(), image.rgb.iter().max().unwrap());
        assert!(*low >= 95 && *high <= 105, "{low} to {high}");
    }

    #[test]
    fn every_pixel_format_becomes_three_bytes_per_pixel() {
        let grey = GrayImage::from_pixel(4, 4, Luma([77]));
        let clear = ImageBuffer::from_pixel(4, 4, Rgba([10u8, 20, 30, 0]));
        let deep = ImageBuffer::from_pixel(4, 4, Rgb([0xffffu16, 0x8080, 0]));
        let of =
            |image: DynamicImage| decode(&encoded(image, ImageFormat::Png), 4).unwrap().rgb[..3].to_vec();
        assert_eq!(of(grey.into()), [77, 77, 77]);
        assert_eq!(of(clear.into()), [10, 20, 30]);
        assert_eq!(of(deep.into()), [255, 128, 0]);
    }

    #[test]
    fn an_image_that_was_taken_sideways_is_turned_upright() {
        // EXIF orientation 6: rotate by 90 degrees clockwise, so that the left side becomes the top.
        let exif = b"II\x2a\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00";
        let mut bytes = Vec::new();
        let mut encoder = image::codecs::png::PngEncoder::new(&mut bytes);
        encoder.set_exif_metadata(exif.to_vec()).unwrap();
        encoder.write_image(two_halves().as_raw(), 6, 4, image::ExtendedColorType::Rgb8).unwrap();
        let image = decode(&bytes, 4).unwrap();
        assert_eq!((image.width, image.height), (4, 6));
        assert_eq!((pixel(&image, 1, 0), pixel(&image, 1, 5)), ([255, 0, 0], [0, 0, 255]));
    }

    #[test]
    fn a_jpeg_without_its_end_is_refused() {
        let whole = jpeg();
        assert_eq!(decode(&whole[..whole.len() / 2], 8).unwrap_err(), "it is cut short");
    }

    #[test]
    fn bytes_after_the_end_of_a_jpeg_are_ignored() {
        let mut whole = jpeg();
        whole.extend([0xff, 0xda, 1, 2, 3]);
        decode(&whole, 8).unwrap();
    }

    fn jpeg() -> Vec<u8> {
        let noise = RgbImage::from_fn(64, 64, |x, y| {
            Rgb([(x * y % 251) as u8, (x * 7 % 256) as u8, (y * 5 % 256) as u8])
        });
        encoded(noise, ImageFormat::Jpeg)
    }

    #[test]
    fn what_is_no_image_says_so() {
        assert_eq!(decode(b"", 8).unwrap_err(), "the file is empty");
        assert_eq!(decode(b"GIF89a and so on", 8).unwrap_err(), "it is neither JPEG nor PNG");
        assert_eq!(decode(b"words", 8).unwrap_err(), "it is neither JPEG nor PNG");
    }

    #[test]
    fn an_image_that_claims_absurd_sizes_is_refused_before_its_pixels_are_asked_for() {
        let mut bytes = encoded(RgbImage::new(2, 2), ImageFormat::Png);
        // Width and height follow the name of the first chunk; its checksum follows them.
        bytes[16..24].copy_from_slice(&[0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00]);
        let mut crc = flate2::Crc::new();
        crc.update(&bytes[12..29]);
        bytes[29..33].copy_from_slice(&crc.sum().to_be_bytes());
        let error = decode(&bytes, 8).unwrap_err();
        assert_eq!(error, "it has 65536 x 65536 pixels, more than the 250000000 that are read");
    }

    #[test]
    fn an_image_that_claims_more_pixels_than_its_bytes_can_hold_is_refused() {
        let mut bytes = encoded(RgbImage::new(16, 16), ImageFormat::Jpeg);
        // Height and width follow the length and the precision in the frame header.
        let frame = bytes.windows(2).position(|pair| pair == [0xff, 0xc0]).unwrap();
        bytes[frame + 5..frame + 9].copy_from_slice(&[0x20, 0x00, 0x20, 0x00]);
        let error = decode(&bytes, 8).unwrap_err();
        assert!(error.starts_with("it claims 8192 x 8192 pixels, more than its "), "{error}");
        let blank = decode(&encoded(RgbImage::new(2000, 2000), ImageFormat::Jpeg), 8);
        blank.expect("an empty page is no damage");
        decode(&encoded(RgbImage::new(2000, 2000), ImageFormat::Png), 8).expect("nor in the other format");
    }

    #[test]
    fn a_strip_without_a_middle_is_refused() {
        let error = decode(&encoded(RgbImage::new(200, 2), ImageFormat::Png), 8).unwrap_err();
        assert!(error.starts_with("it has 200 x 2 pixels"), "{error}");
    }

    #[test]
    fn damaged_bytes_are_refused_or_read_but_never_end_the_program() {
        let noise =
            RgbImage::from_fn(24, 24, |x, y| Rgb([(x * y % 251) as u8, (x * 11) as u8, (y * 9) as u8]));
        let mut state = 1u64;
        for format in [ImageFormat::Png, ImageFormat::Jpeg] {
            let whole = encoded(noise.clone(), format);
            for _ in 0..1500 {
                let mut bytes = whole.clone();
                for _ in 0..3 {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let at = (state >> 33) as usize % bytes.len();
                    bytes[at] = (state >> 24) as u8;
                    if state.is_multiple_of(7) {
                        bytes.truncate(at.max(1));
                    }
                }
                if let Ok(image) = decode(&bytes, 8) {
                    assert_eq!(image.rgb.len(), 3 * image.width * image.height);
                }
            }
        }
    }
}
