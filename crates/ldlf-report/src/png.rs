//! From SVG to PNG. Text is set in DejaVu Sans, which is built in, so that a figure has the same pixels on every machine.

use std::sync::Arc;

use ldlf_core::{Error, Result};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};

use crate::Figure;

/// Pixels per pixel of the figure: sharp on dense screens and in print.
const DENSITY: f32 = 2.0;

/// The figure as the bytes of a PNG file.
pub fn encode(figure: &Figure) -> Result<Vec<u8>> {
    let failed = |why: String| {
        Error::usage(format!("the figure cannot be drawn as PNG: {why}")).with_remedy("write it as .svg")
    };
    if figure.has_images {
        return Err(failed("it shows images".into()));
    }
    let mut fonts = Database::new();
    for face in [dejavu::sans::regular(), dejavu::sans::bold()] {
        fonts.load_font_data(face.to_vec());
    }
    fonts.set_sans_serif_family("DejaVu Sans");
    let options =
        Options { fontdb: Arc::new(fonts), font_family: "DejaVu Sans".into(), ..Options::default() };
    let tree = Tree::from_str(&figure.alone(), &options).map_err(|e| failed(e.to_string()))?;
    let size = |length: f64| (length as f32 * DENSITY).ceil() as u32;
    let mut pixels = Pixmap::new(size(figure.width), size(figure.height))
        .ok_or_else(|| failed(format!("{} x {} is no size", figure.width, figure.height)))?;
    resvg::render(&tree, Transform::from_scale(DENSITY, DENSITY), &mut pixels.as_mut());
    pixels.encode_png().map_err(|e| failed(e.to_string()))
}
