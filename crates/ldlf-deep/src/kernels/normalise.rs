//! Batch normalisation and the rectifier after it, forward and backward in two passes each.

use ldlf_math::vectorise;
use rayon::prelude::*;

/// The sizes `[rows, channels, pixels]` and the operation.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Images.
    pub rows: usize,
    /// Channels of an image.
    pub channels: usize,
    /// Pixels of a channel.
    pub pixels: usize,
    /// Added to the variance.
    pub epsilon: f64,
    /// The range 0 to this that values are clipped to after scaling, if any.
    pub ceiling: Option<f32>,
}

/// The factor and the offset of a channel's values.
#[derive(Clone, Copy, Default)]
struct Scale {
    factor: f32,
    summand: f32,
}

/// The output, and mean and variance of every channel.
pub fn forward(shape: &Shape, x: &[f32], weight: &[f32], bias: &[f32]) -> (Vec<f32>, Vec<f32>, Vec<f32>) {
    let statistics: Vec<(f32, f32)> =
        (0..shape.channels).into_par_iter().map(|channel| shape.statistics(x, channel)).collect();
    let scales: Vec<Scale> = (0..shape.channels)
        .map(|channel| {
            shape.scale(statistics[channel].0, statistics[channel].1, weight[channel], bias[channel])
        })
        .collect();
    let mut out = vec![0.0; x.len()];
    if !out.is_empty() {
        out.par_chunks_mut(shape.pixels)
            .with_min_len(8)
            .zip(x.par_chunks(shape.pixels))
            .enumerate()
            .for_each(|(plane, (out, x))| {
                let scale = scales[plane % shape.channels];
                vectorise!(match shape.ceiling {
                    None => out.iter_mut().zip(x).for_each(|(out, &x)| *out = scale.of(x)),
                    Some(most) => out.iter_mut().zip(x).for_each(|(out, &x)| *out = cut(scale.of(x), most)),
                });
            });
    }
    let (mean, variance) = statistics.into_iter().unzip();
    (out, mean, variance)
}

/// The result of [`backward`].
pub struct Backward {
    /// With respect to `x`.
    pub x: Vec<f32>,
    /// With respect to the weights.
    pub weight: Vec<f32>,
    /// With respect to the biases.
    pub bias: Vec<f32>,
}

/// The gradients, given that of the output. With `z = (x - mean) / sqrt(variance + epsilon)` and `g` the gradient where the rectifier
/// passes it, that of `x` is `weight / sqrt(variance + epsilon) (g - mean(g) - z mean(g z))`.
pub fn backward(
    shape: &Shape,
    (x, weight, bias): (&[f32], &[f32], &[f32]),
    (mean, variance): (&[f32], &[f32]),
    gradient: &[f32],
) -> Backward {
    let count = (shape.rows * shape.pixels).max(1) as f64;
    let scale =
        |channel: usize| shape.scale(mean[channel], variance[channel], weight[channel], bias[channel]);
    let deviation = |channel: usize| (f64::from(variance[channel]) + shape.epsilon).sqrt();
    let sums: Vec<(f64, f64)> = (0..shape.channels)
        .into_par_iter()
        .map(|channel| {
            let (scale, mean) = (scale(channel), mean[channel]);
            let (mut plain, mut by_value) = (0.0, 0.0);
            for row in 0..shape.rows {
                let plane = shape.plane(row, channel);
                let (of_plain, of_value) =
                    vectorise!(shape.sums(&x[plane.clone()], &gradient[plane], scale, mean));
                plain += f64::from(of_plain);
                by_value += f64::from(of_value);
            }
            (plain, by_value / deviation(channel))
        })
        .collect();
    let mut out = vec![0.0; x.len()];
    if !out.is_empty() {
        out.par_chunks_mut(shape.pixels)
            .with_min_len(8)
            .zip(x.par_chunks(shape.pixels).zip(gradient.par_chunks(shape.pixels)))
            .enumerate()
            .for_each(|(plane, (out, (x, gradient)))| {
                let channel = plane % shape.channels;
                let (scale, mean, deviation) = (scale(channel), mean[channel], deviation(channel));
                let (plain, by_value) = sums[channel];
                // factor (g - plain / count - (x - mean) by_value / (count deviation))
                let (constant, slope) = ((plain / count) as f32, (by_value / count / deviation) as f32);
                vectorise!(for ((out, &x), &gradient) in out.iter_mut().zip(x).zip(gradient) {
                    *out = scale.factor * (shape.through(gradient, x, scale) - constant - (x - mean) * slope);
                });
            });
    }
    let (bias, weight) = sums.iter().map(|&(plain, by_value)| (plain as f32, by_value as f32)).unzip();
    Backward { x: out, weight, bias }
}

/// The sum of every channel of `[rows, channels, pixels]`.
pub fn channel_sums(channels: usize, pixels: usize, values: &[f32]) -> Vec<f32> {
    let rows = values.len() / (channels * pixels).max(1);
    let sum = |channel: usize| {
        let planes = (0..rows).map(|row| &values[(row * channels + channel) * pixels..][..pixels]);
        planes.map(|plane| f64::from(vectorise!(sum_of(plane, |x| x)))).sum::<f64>() as f32
    };
    (0..channels).into_par_iter().map(sum).collect()
}

impl Scale {
    #[inline(always)]
    fn of(self, x: f32) -> f32 {
        x * self.factor + self.summand
    }
}

impl Shape {
    fn plane(&self, row: usize, channel: usize) -> std::ops::Range<usize> {
        let start = (row * self.channels + channel) * self.pixels;
        start..start + self.pixels
    }

    fn scale(&self, mean: f32, variance: f32, weight: f32, bias: f32) -> Scale {
        let factor = f64::from(weight) / (f64::from(variance) + self.epsilon).sqrt();
        Scale { factor: factor as f32, summand: (f64::from(bias) - f64::from(mean) * factor) as f32 }
    }

    /// Mean and variance of a channel.
    fn statistics(&self, x: &[f32], channel: usize) -> (f32, f32) {
        let count = (self.rows * self.pixels).max(1) as f64;
        let over_planes = |of: &dyn Fn(&[f32]) -> f32| {
            (0..self.rows).map(|row| f64::from(of(&x[self.plane(row, channel)]))).sum::<f64>() / count
        };
        let mean = over_planes(&|plane| vectorise!(sum_of(plane, |x| x))) as f32;
        let variance = over_planes(&|plane| vectorise!(sum_of(plane, |x| (x - mean) * (x - mean))));
        (mean, variance as f32)
    }

    /// The gradient where the rectifier passes it.
    #[inline(always)]
    fn through(&self, gradient: f32, x: f32, scale: Scale) -> f32 {
        match self.ceiling {
            None => gradient,
            Some(most) => {
                let y = scale.of(x);
                if y > 0.0 && y < most { gradient } else { 0.0 }
            }
        }
    }

    /// The sums of the gradient and of its product with `x - mean` over a plane.
    #[inline(always)]
    fn sums(&self, x: &[f32], gradient: &[f32], scale: Scale, mean: f32) -> (f32, f32) {
        let (mut plain, mut by_value) = ([0.0f32; LANES], [0.0f32; LANES]);
        let whole = x.len() / LANES * LANES;
        for (x, gradient) in x.chunks_exact(LANES).zip(gradient.chunks_exact(LANES)) {
            for lane in 0..LANES {
                let through = self.through(gradient[lane], x[lane], scale);
                plain[lane] += through;
                by_value[lane] += through * (x[lane] - mean);
            }
        }
        for (lane, (&x, &gradient)) in x[whole..].iter().zip(&gradient[whole..]).enumerate() {
            let through = self.through(gradient, x, scale);
            plain[lane] += through;
            by_value[lane] += through * (x - mean);
        }
        (plain.iter().sum(), by_value.iter().sum())
    }
}

/// A value clipped to `0..=most`; NaN stays NaN.
#[inline(always)]
fn cut(y: f32, most: f32) -> f32 {
    let y = if y < 0.0 { 0.0 } else { y };
    if y > most { most } else { y }
}

/// Independent partial sums.
const LANES: usize = 16;

#[inline(always)]
fn sum_of(values: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let mut sums = [0.0f32; LANES];
    let whole = values.len() / LANES * LANES;
    for values in values.chunks_exact(LANES) {
        (0..LANES).for_each(|lane| sums[lane] += of(values[lane]));
    }
    values[whole..].iter().zip(&mut sums).for_each(|(&value, sum)| *sum += of(value));
    sums.iter().sum()
}
