//! Convolutions of every channel by itself: too few products for a matrix, so plain loops along the lines of pixels.

use ldlf_core::vectorise;
use rayon::prelude::*;

use super::geometry::Geometry;

/// As [`super::columns::forward`], channel by channel.
pub fn forward(geometry: &Geometry, x: &[f32], weight: &[f32], bias: &[f32]) -> Vec<f32> {
    let (pixels, plane) = (geometry.pixels(), geometry.input[1] * geometry.input[2]);
    let mut out = vec![0.0; geometry.rows * geometry.output_len()];
    if out.is_empty() {
        return out;
    }
    out.par_chunks_mut(pixels).with_min_len(8).enumerate().for_each(|(place, out)| {
        let channel = place % geometry.groups;
        let (picture, kernel) = (&x[place * plane..][..plane], kernel(geometry, weight, channel));
        out.fill(bias[channel]);
        vectorise!(each_tap(
            geometry,
            #[inline(always)]
            |tap, line, valid, source| {
                add(&mut out[line..][valid.0..valid.1], &picture[source..], kernel[tap], geometry.stride[1]);
            }
        ));
    });
    out
}

/// As [`super::columns::input_gradient`], channel by channel.
pub fn input_gradient(geometry: &Geometry, weight: &[f32], gradient: &[f32]) -> Vec<f32> {
    let (pixels, plane) = (geometry.pixels(), geometry.input[1] * geometry.input[2]);
    let mut all = vec![0.0; geometry.rows * geometry.input_len()];
    if all.is_empty() {
        return all;
    }
    all.par_chunks_mut(plane).with_min_len(8).enumerate().for_each(|(place, picture)| {
        let (gradient, kernel) =
            (&gradient[place * pixels..][..pixels], kernel(geometry, weight, place % geometry.groups));
        vectorise!(each_tap(
            geometry,
            #[inline(always)]
            |tap, line, valid, source| {
                spread(
                    &mut picture[source..],
                    &gradient[line..][valid.0..valid.1],
                    kernel[tap],
                    geometry.stride[1],
                );
            }
        ));
    });
    all
}

/// As [`super::columns::weight_gradient`], channel by channel.
pub fn weight_gradient(geometry: &Geometry, x: &[f32], gradient: &[f32]) -> Vec<f32> {
    let (pixels, plane) = (geometry.pixels(), geometry.input[1] * geometry.input[2]);
    let mut all = vec![0.0; geometry.groups * geometry.depth()];
    all.par_chunks_mut(geometry.depth().max(1)).enumerate().for_each(|(channel, sums)| {
        for row in 0..geometry.rows {
            let place = row * geometry.groups + channel;
            let (picture, gradient) = (&x[place * plane..][..plane], &gradient[place * pixels..][..pixels]);
            vectorise!(each_tap(
                geometry,
                #[inline(always)]
                |tap, line, valid, source| {
                    sums[tap] +=
                        dot(&gradient[line..][valid.0..valid.1], &picture[source..], geometry.stride[1]);
                }
            ));
        }
    });
    all
}

fn kernel<'a>(geometry: &Geometry, weight: &'a [f32], channel: usize) -> &'a [f32] {
    &weight[channel * geometry.depth()..][..geometry.depth()]
}

/// Calls `work(tap, first pixel of the line, columns, pixel of the picture under the first column)` for every line of the output and
/// number of the kernel.
#[inline(always)]
pub fn each_tap(geometry: &Geometry, mut work: impl FnMut(usize, usize, (usize, usize), usize)) {
    let [_, lines, across] = geometry.output;
    for line in 0..lines {
        for down in 0..geometry.kernel[0] {
            let Some(row) = geometry.source_row(line, down) else { continue };
            for right in 0..geometry.kernel[1] {
                let (valid, first) = geometry.valid_columns(right);
                if !valid.is_empty() {
                    let tap = down * geometry.kernel[1] + right;
                    work(tap, line * across, (valid.start, valid.end), row * geometry.input[2] + first);
                }
            }
        }
    }
}

#[inline(always)]
fn add(out: &mut [f32], from: &[f32], weight: f32, stride: usize) {
    match stride {
        1 => out.iter_mut().zip(from).for_each(|(out, &value)| *out += weight * value),
        _ => out.iter_mut().zip(from.iter().step_by(stride)).for_each(|(out, &value)| *out += weight * value),
    }
}

#[inline(always)]
fn spread(target: &mut [f32], from: &[f32], weight: f32, stride: usize) {
    match stride {
        1 => target.iter_mut().zip(from).for_each(|(target, &value)| *target += weight * value),
        _ => {
            target.iter_mut().step_by(stride).zip(from).for_each(|(target, &value)| *target += weight * value)
        }
    }
}

#[inline(always)]
fn dot(a: &[f32], b: &[f32], stride: usize) -> f32 {
    let mut sums = [0.0f32; 8];
    match stride {
        1 => {
            let whole = a.len() / 8 * 8;
            for (a, b) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
                (0..8).for_each(|lane| sums[lane] += a[lane] * b[lane]);
            }
            a[whole..].iter().zip(&b[whole..]).zip(&mut sums).for_each(|((a, b), sum)| *sum += a * b);
        }
        _ => a.iter().zip(b.iter().step_by(stride)).for_each(|(a, b)| sums[0] += a * b),
    }
    sums.iter().sum()
}
