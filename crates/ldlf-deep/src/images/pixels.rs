//! Images that are decoded already: pixels in memory.

use std::sync::Arc;

use ldlf_core::images::{Image, ImageSource};
use ldlf_core::{Error, Result};

use super::cache::ImageCache;
use super::decode::resize;

/// Images in memory; those of another size than a network wants are resized when they are asked for.
///
/// ```
/// use ldlf_core::images::{Image, Images};
/// use ldlf_deep::images::PixelImages;
/// let grey = Image { width: 4, height: 2, rgb: vec![7; 24] };
/// let images = Images::all(PixelImages::new(vec![grey], 0));
/// assert_eq!(images.resized(0, 1)?.width, 2);
/// # Ok::<(), ldlf_core::Error>(())
/// ```
#[derive(Debug)]
pub struct PixelImages {
    images: Vec<Arc<Image>>,
    names: Vec<String>,
    cache: ImageCache,
}

impl PixelImages {
    /// These images, called by their numbers; at most `cache_bytes` of resized ones are cached.
    pub fn new(images: Vec<Image>, cache_bytes: usize) -> Arc<Self> {
        let names = (0..images.len()).map(|number| format!("image {number}")).collect();
        let cache = ImageCache::new(images.len(), cache_bytes);
        Arc::new(PixelImages { images: images.into_iter().map(Arc::new).collect(), names, cache })
    }
}

impl ImageSource for PixelImages {
    fn len(&self) -> usize {
        self.images.len()
    }

    fn name(&self, image: usize) -> &str {
        &self.names[image]
    }

    fn resized(&self, image: usize, side: usize) -> Result<Arc<Image>> {
        if side == 0 {
            return Err(Error::parameter("side", "at least 1", 0));
        }
        let given = &self.images[image];
        if given.width.min(given.height) == side {
            return Ok(Arc::clone(given));
        }
        if let Some(cached) = self.cache.get(image, side) {
            return Ok(cached);
        }
        let resized = resize(given, side).map(Arc::new).map_err(|reason| {
            Error::data(format!("{} cannot be used ({reason})", self.names[image]))
                .with_remedy("leave it out")
        })?;
        self.cache.put(image, &resized);
        Ok(resized)
    }
}

#[cfg(test)]
mod tests {
    use image::RgbImage;

    use super::super::open;
    use super::*;

    /// Columns of different colours, eight by six.
    fn stripes() -> RgbImage {
        RgbImage::from_fn(8, 6, |x, y| image::Rgb([x as u8 * 30, y as u8 * 40, 100]))
    }

    #[test]
    fn pixels_in_memory_are_resized_as_those_of_a_file() {
        let folder = tempfile::tempdir().unwrap();
        stripes().save(folder.path().join("a.png")).unwrap();
        let files = open(folder.path(), 0).unwrap();
        let image = Image { width: 8, height: 6, rgb: stripes().into_raw() };
        let pixels = PixelImages::new(vec![image], 1 << 20);
        for side in [3, 6, 12, 3] {
            assert_eq!(pixels.resized(0, side).unwrap(), files.resized(0, side).unwrap(), "side {side}");
        }
    }

    #[test]
    fn an_image_without_a_square_in_its_middle_is_refused_by_its_number() {
        let thin = Image { width: 100, height: 1, rgb: vec![0; 300] };
        let refused = PixelImages::new(vec![thin], 0).resized(0, 4).unwrap_err().to_string();
        assert!(refused.starts_with("image 0 cannot be used (it has 100 x 1 pixels"), "{refused}");
    }
}
