//! Small images inside figures.

use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder};
use ldlf_core::{Error, Images, Result};

/// The square in the centre of an image, `side` pixels wide, as the bytes of a PNG file.
pub fn thumbnail(images: &Images, row: usize, side: usize) -> Result<Vec<u8>> {
    let image = images.resized(row, side)?;
    let side = side.min(image.width).min(image.height);
    let (left, top) = ((image.width - side) / 2, (image.height - side) / 2);
    let lines = (0..side).map(|y| &image.rgb[3 * ((top + y) * image.width + left)..][..3 * side]);
    let square = lines.collect::<Vec<_>>().concat();
    let mut bytes = Vec::new();
    PngEncoder::new(&mut bytes)
        .write_image(&square, side as u32, side as u32, ExtendedColorType::Rgb8)
        .map_err(|error| Error::data(format!("{} cannot be made small: {error}", images.name(row))))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ldlf_core::images::{Image, ImageSource};

    use super::*;

    /// One image: four columns of different colours.
    #[derive(Debug)]
    struct Columns;

    impl ImageSource for Columns {
        fn len(&self) -> usize {
            1
        }
        fn name(&self, _: usize) -> &str {
            "columns.png"
        }
        fn resized(&self, _: usize, side: usize) -> Result<Arc<Image>> {
            let pixel = |at: usize| [(60 * (at % (2 * side)) / side) as u8, 7, 9];
            let rgb = (0..2 * side * side).flat_map(pixel).collect();
            Ok(Arc::new(Image { width: 2 * side, height: side, rgb }))
        }
    }

    #[test]
    fn a_thumbnail_is_the_square_in_the_centre() {
        let png = thumbnail(&Images::all(Arc::new(Columns)), 0, 4).unwrap();
        let read = image::load_from_memory(&png).unwrap().to_rgb8();
        assert_eq!(read.dimensions(), (4, 4));
        let line: Vec<u8> = (0..4).map(|x| read.get_pixel(x, 1).0[0]).collect();
        assert_eq!(line, [30, 45, 60, 75]);
    }
}
