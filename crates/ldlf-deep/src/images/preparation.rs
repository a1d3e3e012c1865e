//! From the pixels of an image to the input of a network.

use ldlf_core::graph::{Attribute, Flow, Graph};
use ldlf_core::images::Image;
use ldlf_core::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::backbones::ChannelOrder;

/// The weights of red, green and blue in a grey value (ITU-R BT.601, as Pillow converts).
pub(super) const LUMA: [f32; 3] = [0.299, 0.587, 0.114];

/// How the pixels of an image become the input of a network: a square of `side` pixels from its centre, with every channel
/// `c` in 0..1 scaled to `(c - mean) / deviation`, or in 0..`range` where that is another. Stored in the model, so that predictions and training prepare images alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Preparation {
    /// Pixels of a side of the square.
    pub side: usize,
    /// 3 for colours, 1 for grey.
    pub channels: usize,
    /// What is subtracted from each channel.
    pub mean: Vec<f32>,
    /// What each channel is divided by.
    pub deviation: Vec<f32>,
    /// The largest value of a channel, in whose units mean and deviation are.
    #[serde(default = "one")]
    pub range: f32,
    /// The order of the channels in the input of the network; mean and deviation are those of red, green and blue.
    #[serde(default)]
    pub order: ChannelOrder,
    /// The fraction of the shorter side that is cut off at each edge of an image, so that a face fills the square.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub margin: f64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(margin: &f64) -> bool {
    *margin == 0.0
}

/// The shorter side to which an image is resized, so that `side` pixels are left once a fraction `margin` is cut off at each edge.
///
/// ```
/// assert_eq!(ldlf_deep::images::whole_side(224, 0.15), 320);
/// ```
pub fn whole_side(side: usize, margin: f64) -> usize {
    (side as f64 / (1.0 - 2.0 * margin)).round() as usize
}

fn one() -> f32 {
    1.0
}

impl Preparation {
    /// Checks sizes and scales.
    pub fn check(&self) -> Result<()> {
        if self.side == 0 {
            return Err(Error::parameter("side", "at least 1", 0));
        }
        if self.channels != 1 && self.channels != 3 {
            return Err(Error::parameter("channels", "1 (grey) or 3 (colours)", self.channels));
        }
        if self.mean.len() != self.channels || self.deviation.len() != self.channels {
            return Err(Error::usage(format!(
                "mean and deviation must have a number for each of {} channels, got {} and {}",
                self.channels,
                self.mean.len(),
                self.deviation.len()
            )));
        }
        if !(0.0..0.5).contains(&self.margin) {
            return Err(Error::parameter("input_crop", "at least 0 and below 0.5", self.margin));
        }
        let sound = self.mean.iter().all(|m| m.is_finite());
        if !sound || !self.deviation.iter().all(|d| d.is_normal() && *d > 0.0) {
            return Err(Error::usage(
                "mean must be finite, and deviation finite and above 0, in every channel",
            ));
        }
        Ok(())
    }

    /// Numbers in a prepared image: `channels * side * side`.
    pub fn len(&self) -> usize {
        self.channels * self.side * self.side
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where red (0), green or blue (2) stands in the input of the network.
    fn place(&self, channel: usize) -> usize {
        match self.order {
            ChannelOrder::Rgb => channel,
            ChannelOrder::Bgr => 2 - channel,
        }
    }

    /// Adds what follows the cutting of an image to a graph: `images` are red, green and blue in 0..255, `[rows, 3, side, side]`; the
    /// result is `[rows, channels, side, side]`.
    pub(crate) fn add_to_graph(&self, graph: &mut Graph, images: &Flow) -> Flow {
        let mut x = images.clone();
        if self.channels == 1 {
            let luma = graph.f32s("luma", &[3, 1, 1], LUMA.to_vec());
            let weighed = graph.node("Mul", "weighed", &[&x, &luma]);
            x = graph.row_sums("grey", &weighed);
        }
        let to_bytes = 255.0 / self.range;
        let per_channel = |values: &[f32], of: &dyn Fn(f32) -> f32| values.iter().map(|&v| of(v)).collect();
        let shape = [self.channels, 1, 1];
        let mean = graph.f32s("mean", &shape, per_channel(&self.mean, &|mean| mean * to_bytes));
        let factor = graph.f32s("factor", &shape, per_channel(&self.deviation, &|d| 1.0 / (d * to_bytes)));
        let shifted = graph.node("Sub", "shifted", &[&x, &mean]);
        let scaled = graph.node("Mul", "scaled", &[&shifted, &factor]);
        match self.order {
            ChannelOrder::Bgr if self.channels == 3 => {
                let order = graph.i64s("bgr", vec![2, 1, 0]);
                graph.node_with("Gather", "in_order", &[&scaled, &order], &[("axis", Attribute::Int(1))])
            }
            _ => scaled,
        }
    }

    /// Scales planes of red, green and blue in 0..1, `[3, side, side]`, into `out`, `[channels, side, side]`.
    pub(super) fn scale(&self, rgb: &[f32], out: &mut [f32]) {
        let area = self.side * self.side;
        let scaled =
            |channel: usize, value: f32| (value * self.range - self.mean[channel]) / self.deviation[channel];
        if self.channels == 1 {
            for (place, out) in out.iter_mut().enumerate() {
                let grey = (0..3).map(|c| LUMA[c] * rgb[c * area + place]).sum();
                *out = scaled(0, grey);
            }
        } else {
            for (channel, plane) in rgb.chunks_exact(area).enumerate() {
                let out = &mut out[self.place(channel) * area..][..area];
                out.iter_mut().zip(plane).for_each(|(out, &value)| *out = scaled(channel, value));
            }
        }
    }
}

/// Prepares an image for a prediction: the square in the centre, scaled, into `out`, `[channels, side, side]`.
///
/// # Panics
/// When `out` has another length, or the image no pixels.
pub fn prepare(image: &Image, preparation: &Preparation, out: &mut [f32]) {
    let side = preparation.side;
    assert_eq!(out.len(), preparation.len(), "room for one image");
    if image.width < side || image.height < side {
        // An image smaller than requested is mirrored beyond its edge.
        let window = super::augmentation::Window::in_the_middle(image, side);
        preparation.scale(&window.pixels(image, side), out);
        return;
    }
    let (left, top) = ((image.width - side) / 2, (image.height - side) / 2);
    let lines = (0..side).map(|y| &image.rgb[3 * ((top + y) * image.width + left)..][..3 * side]);
    let scale = |channel: usize, value: f32| {
        (value / 255.0 * preparation.range - preparation.mean[channel]) / preparation.deviation[channel]
    };
    if preparation.channels == 1 {
        for (line, out) in lines.zip(out.chunks_exact_mut(side)) {
            for (pixel, out) in line.chunks_exact(3).zip(out) {
                *out = scale(0, (0..3).map(|c| LUMA[c] * f32::from(pixel[c])).sum());
            }
        }
        return;
    }
    // A byte has 256 values: each is scaled once.
    let table: Vec<[f32; 256]> =
        (0..3).map(|c| std::array::from_fn(|value| scale(c, value as f32))).collect();
    for (y, line) in lines.enumerate() {
        for (channel, table) in table.iter().enumerate() {
            let out = &mut out[(preparation.place(channel) * side + y) * side..][..side];
            for (pixel, out) in line.chunks_exact(3).zip(out) {
                *out = table[usize::from(pixel[channel])];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(side: usize, channels: usize) -> Preparation {
        Preparation {
            side,
            channels,
            mean: vec![0.0; channels],
            deviation: vec![1.0; channels],
            range: 1.0,
            order: ChannelOrder::Rgb,
            margin: 0.0,
        }
    }

    /// Red counts columns, green counts lines, blue is full.
    fn counting(width: usize, height: usize) -> Image {
        let pixel = |at: usize| [(at % width) as u8, (at / width) as u8, 255];
        Image { width, height, rgb: (0..width * height).flat_map(pixel).collect() }
    }

    #[test]
    fn the_square_in_the_middle_is_laid_out_by_channels() {
        let mut out = vec![0.0; 12];
        prepare(&counting(6, 2), &plain(2, 3), &mut out);
        let bytes: Vec<f32> = out.iter().map(|v| (v * 255.0).round()).collect();
        assert_eq!(bytes, [2.0, 3.0, 2.0, 3.0, 0.0, 0.0, 1.0, 1.0, 255.0, 255.0, 255.0, 255.0]);
    }

    #[test]
    fn channels_are_scaled_by_their_own_mean_and_deviation() {
        let preparation =
            Preparation { mean: vec![0.5, 0.0, 0.25], deviation: vec![0.5, 0.25, 0.5], ..plain(1, 3) };
        let mut out = [0.0; 3];
        let image = Image { width: 1, height: 1, rgb: vec![255, 51, 0] };
        prepare(&image, &preparation, &mut out);
        assert!(
            (out[0] - 1.0).abs() < 1e-6 && (out[1] - 0.8).abs() < 1e-6 && (out[2] + 0.5).abs() < 1e-6,
            "{out:?}"
        );
    }

    #[test]
    fn bytes_without_their_mean_in_the_order_of_caffe() {
        let image = Image { width: 1, height: 1, rgb: vec![255, 51, 0] };
        let caffe = Preparation {
            mean: vec![120.0, 100.0, 90.0],
            range: 255.0,
            order: ChannelOrder::Bgr,
            ..plain(1, 3)
        };
        let (mut out, mut augmented) = ([0.0; 3], [0.0; 3]);
        prepare(&image, &caffe, &mut out);
        caffe.scale(&[1.0, 0.2, 0.0], &mut augmented);
        for (found, expected) in out.iter().chain(&augmented).zip([-90.0, -49.0, 135.0].repeat(2)) {
            assert!((found - expected).abs() < 1e-3, "{out:?} {augmented:?}");
        }
    }

    #[test]
    fn grey_weighs_the_colours_as_eyes_do() {
        let mut out = [0.0];
        prepare(&Image { width: 1, height: 1, rgb: vec![255, 0, 0] }, &plain(1, 1), &mut out);
        assert!((out[0] - 0.299).abs() < 1e-6, "{out:?}");
    }

    #[test]
    fn an_image_smaller_than_the_square_is_continued_by_its_mirror_image() {
        let mut out = vec![0.0; 3 * 4];
        prepare(&counting(1, 2), &plain(2, 3), &mut out);
        assert!(out.iter().all(|v| v.is_finite()));
        assert_eq!(out[4..6], [0.0, 0.0], "the first line is the first");
    }

    #[test]
    fn a_preparation_that_cannot_work_is_refused_in_one_sentence() {
        let refused = |preparation: Preparation| preparation.check().unwrap_err().to_string();
        assert_eq!(refused(plain(0, 3)), "side must be at least 1, got 0");
        assert_eq!(refused(plain(8, 2)), "channels must be 1 (grey) or 3 (colours), got 2");
        let mut flat = plain(8, 3);
        flat.deviation[1] = 0.0;
        assert!(refused(flat).contains("above 0"));
        plain(8, 1).check().unwrap();
    }
}
