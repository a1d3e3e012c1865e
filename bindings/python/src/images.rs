//! Images that stand for rows, as Python hands them over: a folder, a zip file, files, or pixels in memory.

use std::path::PathBuf;

use ldlf::internals::core::images::{Image, ImageSource};
use ldlf::{Inputs, Result, Settings, Threads};
use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::raise;
use crate::inputs::features;

/// One image per row, decoded when it is needed.
#[pyclass(frozen, module = "ldlf._engine")]
pub struct Images {
    images: ldlf::Images,
}

#[pymethods]
impl Images {
    /// All images of a folder or a zip file in the order of their names, or a single image.
    #[staticmethod]
    fn of_folder(path: PathBuf) -> PyResult<Self> {
        source::of_folder(path).map(|images| Images { images }).map_err(raise)
    }

    /// The images of these files.
    #[staticmethod]
    fn of_files(paths: Vec<PathBuf>) -> PyResult<Self> {
        source::of_files(paths).map(|images| Images { images }).map_err(raise)
    }

    /// Images in memory: arrays of bytes, `[height, width]` or `[height, width, channels]` with 1, 3 or 4 channels, of which the
    /// fourth is left out.
    #[staticmethod]
    fn of_pixels(arrays: Vec<PyReadonlyArrayDyn<'_, u8>>) -> PyResult<Self> {
        let decoded =
            arrays.iter().enumerate().map(|(row, array)| image(row, array)).collect::<PyResult<_>>()?;
        source::of_pixels(decoded).map(|images| Images { images }).map_err(raise)
    }

    /// These images, then others.
    fn followed_by(&self, others: &Images) -> Self {
        let parts = vec![self.images.clone(), others.images.clone()];
        let starts = vec![0, self.images.rows()];
        Images { images: ldlf::Images::all(std::sync::Arc::new(Joined { parts, starts })) }
    }

    /// What messages call the images: paths, or their numbers.
    fn names(&self) -> Vec<String> {
        self.images.names().map(String::from).collect()
    }

    /// The number of images, as the shape of an array of them.
    #[getter]
    fn shape(&self) -> (usize,) {
        (self.images.rows(),)
    }

    fn __len__(&self) -> usize {
        self.images.rows()
    }
}

/// Rows as Python hands them over: images, or whatever [`features`] reads.
pub fn inputs(given: &Bound<'_, PyAny>) -> PyResult<Inputs> {
    match given.cast::<Images>() {
        Ok(images) => Ok(images.get().images.clone().into()),
        Err(_) => features(given).map(Into::into),
    }
}

/// Decodes every image once before a fit, so that a bad one is named at once, and is cached for the first epoch.
pub fn check_readable(data: ldlf::Dataset, settings: &Settings, threads: &Threads) -> Result<ldlf::Dataset> {
    match data.inputs() {
        Inputs::Table(_) => Ok(data),
        Inputs::Images(_) => source::check_readable(data, settings, threads),
    }
}

fn image(row: usize, array: &PyReadonlyArrayDyn<'_, u8>) -> PyResult<Image> {
    let (height, width, channels) = match *array.shape() {
        [height, width] => (height, width, 1),
        [height, width, channels @ (1 | 3 | 4)] => (height, width, channels),
        ref other => {
            return Err(PyValueError::new_err(format!(
                "X row {row}: an image has the shape (height, width) or (height, width, channels) with 1, 3 or 4 channels, got {other:?}"
            )));
        }
    };
    let mut rgb = Vec::with_capacity(3 * height * width);
    let mut pixels = array.as_array().into_iter().copied();
    for _ in 0..height * width {
        let mut next = || pixels.next().unwrap_or(0);
        let pixel = match channels {
            1 => [next(); 3],
            _ => [next(), next(), next()],
        };
        if channels == 4 {
            next();
        }
        rgb.extend(pixel);
    }
    Ok(Image { width, height, rgb })
}

/// Images of several sources, one after the other.
#[derive(Debug)]
struct Joined {
    parts: Vec<ldlf::Images>,
    /// The number of the first image of every part.
    starts: Vec<usize>,
}

impl Joined {
    /// The part that an image belongs to, and its number there.
    fn place(&self, image: usize) -> (&ldlf::Images, usize) {
        let part = self.starts.partition_point(|&start| start <= image) - 1;
        (&self.parts[part], image - self.starts[part])
    }
}

impl ImageSource for Joined {
    fn len(&self) -> usize {
        self.parts.iter().map(ldlf::Images::rows).sum()
    }

    fn name(&self, image: usize) -> &str {
        let (part, row) = self.place(image);
        part.name(row)
    }

    fn resized(&self, image: usize, side: usize) -> Result<std::sync::Arc<Image>> {
        let (part, row) = self.place(image);
        part.resized(row, side)
    }
}

#[cfg(feature = "deep")]
mod source {
    use ldlf::internals::core::images::BadImages;
    use ldlf::internals::deep::images::{self, ImageFiles, PixelImages, side_of};

    use super::*;

    /// What messages call images that have no folder.
    const X: &str = "X";

    /// Memory for resized images that are kept from epoch to epoch, in bytes.
    const CACHE: usize = 1 << 30;

    pub fn of_folder(path: PathBuf) -> Result<ldlf::Images> {
        Ok(ldlf::Images::all(images::open(&path, CACHE)?))
    }

    pub fn of_files(paths: Vec<PathBuf>) -> Result<ldlf::Images> {
        Ok(ldlf::Images::all(ImageFiles::of_paths(paths, X, CACHE)?))
    }

    pub fn of_pixels(images: Vec<Image>) -> Result<ldlf::Images> {
        Ok(ldlf::Images::all(PixelImages::new(images, CACHE)))
    }

    pub fn check_readable(
        data: ldlf::Dataset,
        settings: &Settings,
        threads: &Threads,
    ) -> Result<ldlf::Dataset> {
        Ok(images::check_readable(data, side_of(settings), BadImages::Fail, threads)?.0)
    }
}

#[cfg(not(feature = "deep"))]
mod source {
    use ldlf::Error;

    use super::*;

    fn not_built_in() -> Error {
        Error::usage("this build of ldlf reads no images")
            .with_remedy("build it with deep networks: docs/install.md says how")
    }

    pub fn of_folder(_: PathBuf) -> Result<ldlf::Images> {
        Err(not_built_in())
    }

    pub fn of_files(_: Vec<PathBuf>) -> Result<ldlf::Images> {
        Err(not_built_in())
    }

    pub fn of_pixels(_: Vec<Image>) -> Result<ldlf::Images> {
        Err(not_built_in())
    }

    pub fn check_readable(_: ldlf::Dataset, _: &Settings, _: &Threads) -> Result<ldlf::Dataset> {
        Err(not_built_in())
    }
}
