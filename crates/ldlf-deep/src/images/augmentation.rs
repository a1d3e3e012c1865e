//! Random changes of training images.

use ldlf_core::images::Image;
use ldlf_core::{Error, Result, Seed};
use ldlf_math::random::Generator;
use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::preparation::{LUMA, Preparation};

/// The random changes of an image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Augmentation {
    /// Whether images are mirrored with probability 1/2.
    pub flip: bool,
    /// The crop has a side between `1 - crop` and `1 + crop` times that of a prediction and is shifted by at most `crop` times its
    /// side from the centre; beyond the edge an image is mirrored. From 0 to 0.5.
    pub crop: f64,
    /// Brightness, contrast and saturation, in this order, are each multiplied by a factor between `1 - jitter` and
    /// `1 + jitter`. From 0 to 1.
    pub jitter: f64,
    /// Every second image loses a rectangle of at most this fraction of its area: it becomes the mean colour (random erasing, Zhong et
    /// al. 2020). From 0 to 0.9.
    pub erasing: f64,
}

impl Augmentation {
    /// Nothing changes.
    pub fn none() -> Self {
        Augmentation { flip: false, crop: 0.0, jitter: 0.0, erasing: 0.0 }
    }

    /// Refuses values out of range.
    pub fn check(&self) -> Result<()> {
        let limits = [("crop", self.crop, 0.5), ("jitter", self.jitter, 1.0), ("erasing", self.erasing, 0.9)];
        for (name, value, most) in limits {
            if !(0.0..=most).contains(&value) {
                return Err(Error::parameter(name, format!("from 0 to {most}"), value));
            }
        }
        Ok(())
    }

    /// Prepares an image for training, into `out`, `[channels, side, side]`. The same seed gives the same result.
    ///
    /// # Panics
    /// When `out` has another length, or the image no pixels.
    pub fn prepare(&self, image: &Image, preparation: &Preparation, seed: Seed, out: &mut [f32]) {
        assert_eq!(out.len(), preparation.len(), "room for one image");
        let mut generator = seed.generator();
        // Every number is drawn, used or not: switching one change off leaves the others as they were.
        let window = self.draw_window(image, preparation.side, &mut generator);
        let factors = [(); 3].map(|()| 1.0 + self.jitter * draw(&mut generator)).map(|factor| factor as f32);
        let mut rgb = window.pixels(image, preparation.side);
        if self.jitter > 0.0 {
            jitter(&mut rgb, factors);
        }
        preparation.scale(&rgb, out);
        if self.erasing > 0.0 {
            self.erase(preparation.side, &mut seed.named("erasing").generator(), out);
        }
    }

    /// Sets a rectangle to 0, the mean colour of a scaled image. Its area is uniform up to `erasing`, its sides differ by up to a factor of 3.
    fn erase(&self, side: usize, generator: &mut Generator, out: &mut [f32]) {
        let erases = generator.random::<bool>();
        let area = self.erasing * generator.random::<f64>();
        let stretch = 3f64.powf(draw(generator) / 2.0);
        let length = |fraction: f64| ((fraction.min(1.0) * side as f64).round() as usize).min(side);
        let (width, height) = (length(area.sqrt() * stretch), length(area.sqrt() / stretch));
        let mut start = |length: usize| generator.random_range(0..=(side - length) as u64) as usize;
        let (left, top) = (start(width), start(height));
        if erases {
            for plane in out.chunks_exact_mut(side * side) {
                for line in plane.chunks_exact_mut(side).skip(top).take(height) {
                    line[left..left + width].fill(0.0);
                }
            }
        }
    }

    fn draw_window(&self, image: &Image, side: usize, generator: &mut Generator) -> Window {
        let middle = Window::in_the_middle(image, side);
        let flip = generator.random::<bool>() && self.flip;
        let step = 1.0 + self.crop * draw(generator);
        let (right, down) = (draw(generator), draw(generator));
        let (side, margin) = (side as f64, self.crop * side as f64);
        let start = |length: usize, shift: f64| (length as f64 - step * side) / 2.0 + margin * shift;
        if self.crop == 0.0 {
            return Window { flip, ..middle };
        }
        Window { left: start(image.width, right), top: start(image.height, down), step, flip }
    }
}

/// Uniform from -1 to 1.
fn draw(generator: &mut Generator) -> f64 {
    2.0 * generator.random::<f64>() - 1.0
}

/// A square of an image: where it starts, and how far one pixel of the result is from the next.
#[derive(Clone, Debug)]
pub(super) struct Window {
    left: f64,
    top: f64,
    step: f64,
    flip: bool,
}

impl Window {
    /// The crop of a prediction.
    pub(super) fn in_the_middle(image: &Image, side: usize) -> Self {
        let start = |length: usize| ((length as f64 - side as f64) / 2.0).floor();
        Window { left: start(image.width), top: start(image.height), step: 1.0, flip: false }
    }

    /// The window's pixels in 0..1, `[3, side, side]`, by bilinear interpolation.
    pub(super) fn pixels(&self, image: &Image, side: usize) -> Vec<f32> {
        let columns: Vec<Tap> = (0..side)
            .map(|x| Tap::at(self.left, self.step, if self.flip { side - 1 - x } else { x }, image.width))
            .collect();
        let area = side * side;
        let mut out = vec![0.0; 3 * area];
        for y in 0..side {
            let line = Tap::at(self.top, self.step, y, image.height);
            let upper = &image.rgb[3 * line.first * image.width..][..3 * image.width];
            let lower = &image.rgb[3 * line.second * image.width..][..3 * image.width];
            for (x, column) in columns.iter().enumerate() {
                for channel in 0..3 {
                    let across = |from: &[u8]| {
                        let at = |x: usize| f32::from(from[3 * x + channel]);
                        at(column.first) * (1.0 - column.weight) + at(column.second) * column.weight
                    };
                    let value = across(upper) * (1.0 - line.weight) + across(lower) * line.weight;
                    out[channel * area + y * side + x] = value / 255.0;
                }
            }
        }
        out
    }
}

/// Two neighbouring pixels and the weight of the second in the interpolation.
struct Tap {
    first: usize,
    second: usize,
    weight: f32,
}

impl Tap {
    fn at(start: f64, step: f64, pixel: usize, length: usize) -> Self {
        // The centre of a pixel is half a pixel from its edge.
        let place = start + (pixel as f64 + 0.5) * step - 0.5;
        let below = place.floor();
        let mirrored = |place: i64| {
            let period = 2 * (length as i64 - 1);
            let within = if period == 0 { 0 } else { place.rem_euclid(period) };
            within.min(period - within) as usize
        };
        Tap {
            first: mirrored(below as i64),
            second: mirrored(below as i64 + 1),
            weight: (place - below) as f32,
        }
    }
}

/// Multiplies brightness, then contrast (around the mean grey), then saturation (around each pixel's grey); values are clipped to 0..1.
fn jitter(rgb: &mut [f32], [brightness, contrast, saturation]: [f32; 3]) {
    let area = rgb.len() / 3;
    let grey = |rgb: &[f32], place: usize| (0..3).map(|c| LUMA[c] * rgb[c * area + place]).sum::<f32>();
    rgb.iter_mut().for_each(|v| *v = (*v * brightness).clamp(0.0, 1.0));
    let mean = (0..area).map(|place| f64::from(grey(rgb, place))).sum::<f64>() / area as f64;
    rgb.iter_mut().for_each(|v| *v = (mean as f32 + (*v - mean as f32) * contrast).clamp(0.0, 1.0));
    for place in 0..area {
        let grey = grey(rgb, place);
        for channel in 0..3 {
            let v = &mut rgb[channel * area + place];
            *v = (grey + (*v - grey) * saturation).clamp(0.0, 1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::prepare;
    use super::*;

    fn plain(side: usize) -> Preparation {
        Preparation {
            margin: 0.0,
            side,
            channels: 3,
            mean: vec![0.0; 3],
            deviation: vec![1.0; 3],
            range: 1.0,
            order: Default::default(),
        }
    }

    fn slope(width: usize, height: usize) -> Image {
        let pixel = |at: usize| [(10 * (at % width)) as u8, (10 * (at / width)) as u8, 40];
        Image { width, height, rgb: (0..width * height).flat_map(pixel).collect() }
    }

    fn look(augmentation: &Augmentation, image: &Image, seed: u64) -> Vec<f32> {
        let preparation = plain(8);
        let mut out = vec![0.0; preparation.len()];
        augmentation.prepare(image, &preparation, Seed::new(seed), &mut out);
        out
    }

    fn prediction(image: &Image) -> Vec<f32> {
        let mut out = vec![0.0; plain(8).len()];
        prepare(image, &plain(8), &mut out);
        out
    }

    #[test]
    fn without_changes_training_sees_what_a_prediction_sees() {
        for image in [slope(8, 8), slope(11, 8), slope(8, 13)] {
            let seen = look(&Augmentation::none(), &image, 3);
            assert!(seen.iter().zip(prediction(&image)).all(|(a, b)| (a - b).abs() < 1e-6));
        }
    }

    #[test]
    fn a_flip_mirrors_about_half_of_the_images() {
        let image = slope(8, 8);
        let straight = prediction(&image);
        let mirrored: Vec<f32> = straight.chunks(8).flat_map(|line| line.iter().rev().copied()).collect();
        let flip = Augmentation { flip: true, ..Augmentation::none() };
        let close = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
        let looks: Vec<Vec<f32>> = (0..200).map(|seed| look(&flip, &image, seed)).collect();
        let flipped = looks.iter().filter(|seen| close(seen, &mirrored)).count();
        assert!(looks.iter().all(|seen| close(seen, &mirrored) || close(seen, &straight)));
        assert!((70..130).contains(&flipped), "{flipped}");
    }

    #[test]
    fn a_crop_moves_the_window_within_its_margin() {
        let crop = Augmentation { crop: 0.25, ..Augmentation::none() };
        // On a gradient the value gives the position: red is ten times the column.
        let image = slope(24, 24);
        let middles: Vec<f32> = (0..200)
            .map(|seed| {
                let seen = look(&crop, &image, seed);
                (seen[3 * 8 + 3] + seen[3 * 8 + 4]) / 2.0 * 25.5 - 11.5
            })
            .collect();
        let (low, high) = middles.iter().fold((0.0f32, 0.0f32), |(l, h), &m| (l.min(m), h.max(m)));
        assert!(low < -1.5 && high > 1.5, "it moves: {low} to {high}");
        assert!(low > -2.01 && high < 2.01, "by a quarter of eight at most: {low} to {high}");
    }

    #[test]
    fn jitter_keeps_colours_within_their_bounds() {
        let strong = Augmentation { jitter: 1.0, ..Augmentation::none() };
        let image = slope(8, 8);
        let looks: Vec<Vec<f32>> = (0..50).map(|seed| look(&strong, &image, seed)).collect();
        assert!(looks.iter().flatten().all(|v| (0.0..=1.0).contains(v)));
    }

    #[test]
    fn jitter_changes_colours() {
        let strong = Augmentation { jitter: 1.0, ..Augmentation::none() };
        assert_ne!(look(&strong, &slope(8, 8), 0), look(&strong, &slope(8, 8), 1));
    }

    #[test]
    fn jitter_does_what_its_three_factors_say() {
        let mut brighter = vec![0.2, 0.4, 0.6];
        jitter(&mut brighter, [1.5, 1.0, 1.0]);
        assert!((brighter[0] - 0.3).abs() < 1e-6 && (brighter[2] - 0.9).abs() < 1e-6, "{brighter:?}");
        let mut grey = vec![0.2, 0.4, 0.6];
        jitter(&mut grey, [1.0, 1.0, 0.0]);
        let expected = 0.299 * 0.2 + 0.587 * 0.4 + 0.114 * 0.6;
        assert!(grey.iter().all(|v| (v - expected).abs() < 1e-6), "{grey:?}");
        let mut flat = vec![0.2, 0.8, 0.2, 0.8, 0.2, 0.8];
        jitter(&mut flat, [1.0, 0.0, 1.0]);
        assert!(flat.iter().all(|v| (v - 0.5).abs() < 1e-6), "{flat:?}");
    }

    #[test]
    fn every_second_image_loses_a_rectangle_that_is_not_too_large() {
        let erasing = Augmentation { erasing: 0.4, ..Augmentation::none() };
        // No colour of this image is 0.
        let image = Image { width: 8, height: 8, rgb: vec![100; 3 * 64] };
        let erased: Vec<usize> = (0..400)
            .map(|seed| {
                let seen = look(&erasing, &image, seed);
                let zeros = |plane: &[f32]| plane.iter().filter(|&&v| v == 0.0).count();
                assert_eq!(zeros(&seen[..64]), zeros(&seen[128..]), "all channels alike");
                zeros(&seen[..64])
            })
            .collect();
        let hit = erased.iter().filter(|&&pixels| pixels > 0).count();
        // Rounding to whole pixels loses the smallest rectangles and lets the largest grow a little.
        assert!((140..=220).contains(&hit), "{hit}");
        let largest = erased.iter().max().unwrap();
        assert!((20..=30).contains(largest), "{largest} of 64 pixels");
    }

    #[test]
    fn random_changes_follow_from_the_seed() {
        let all = Augmentation { flip: true, crop: 0.2, jitter: 0.3, erasing: 0.3 };
        let image = slope(9, 12);
        assert_eq!(look(&all, &image, 5), look(&all, &image, 5));
        assert_ne!(look(&all, &image, 5), look(&all, &image, 6));
    }

    #[test]
    fn a_value_out_of_range_is_refused() {
        let refused = |augmentation: Augmentation| augmentation.check().unwrap_err().to_string();
        assert_eq!(
            refused(Augmentation { crop: 0.7, ..Augmentation::none() }),
            "crop must be from 0 to 0.5, got 0.7"
        );
        assert_eq!(
            refused(Augmentation { jitter: f64::NAN, ..Augmentation::none() }),
            "jitter must be from 0 to 1, got NaN"
        );
    }
}
