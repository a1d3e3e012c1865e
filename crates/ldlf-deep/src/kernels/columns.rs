//! Convolutions as matrix products (im2col, Chellapilla et al. 2006): the pixels under the kernel at a position become a column, and
//! the weights are multiplied with many columns at once, a few rows of pixels at a time, so that the columns stay in the cache.

use std::ops::Range;

use ldlf_math::product::{Accumulate, View, ViewMut, product};
use rayon::prelude::*;

use super::geometry::Geometry;

/// Numbers in the columns of a tile: a quarter of a megabyte.
const AT_ONCE: usize = 1 << 16;
/// Minimum number of columns of a tile: it amortises the packing of all weights in a product.
const LEAST: usize = 256;
/// Chunks of images for the gradient of the weights, each with its own sum.
const PARTS: usize = 8;

/// `[rows, inputs, height, width]` convolved with `[outputs, inputs / groups, kernel, kernel]`, plus the bias.
pub fn forward(geometry: &Geometry, x: &[f32], weight: &[f32], bias: &[f32]) -> Vec<f32> {
    let (depth, outputs, pixels) = (geometry.depth(), geometry.group_outputs(), geometry.pixels());
    let mut out = vec![0.0; geometry.rows * geometry.output_len()];
    if out.is_empty() {
        return out;
    }
    out.par_chunks_mut(geometry.output_len()).enumerate().for_each_init(Vec::new, |scratch, (row, out)| {
        out.chunks_exact_mut(pixels).zip(bias).for_each(|(channel, &bias)| channel.fill(bias));
        let image = &x[row * geometry.input_len()..][..geometry.input_len()];
        for (group, out) in out.chunks_exact_mut(outputs * pixels).enumerate() {
            let weight =
                View::row_major(&weight[group * outputs * depth..][..outputs * depth], outputs, depth);
            for lines in tiles(geometry) {
                let (start, count) = span(geometry, &lines);
                let columns = columns(geometry, image, group, lines, scratch);
                product(
                    Accumulate::Add,
                    ViewMut::strided(&mut out[start..], outputs, count, pixels, 1),
                    weight,
                    columns,
                );
            }
        }
    });
    out
}

/// The gradient with respect to the images, given that of the output.
pub fn input_gradient(geometry: &Geometry, weight: &[f32], gradient: &[f32]) -> Vec<f32> {
    let (depth, outputs, pixels) = (geometry.depth(), geometry.group_outputs(), geometry.pixels());
    let group_len = geometry.input_len() / geometry.groups;
    let mut all = vec![0.0; geometry.rows * geometry.input_len()];
    if all.is_empty() {
        return all;
    }
    all.par_chunks_mut(geometry.input_len()).enumerate().for_each_init(Vec::new, |scratch, (row, image)| {
        let gradient = &gradient[row * geometry.output_len()..][..geometry.output_len()];
        for (group, image) in image.chunks_exact_mut(group_len).enumerate() {
            let weight =
                View::row_major(&weight[group * outputs * depth..][..outputs * depth], outputs, depth);
            let gradient = &gradient[group * outputs * pixels..][..outputs * pixels];
            for lines in tiles(geometry) {
                let (start, count) = span(geometry, &lines);
                let given = View::strided(&gradient[start..], outputs, count, pixels, 1);
                if geometry.is_pointwise() {
                    let out = ViewMut::strided(&mut image[start..], depth, count, pixels, 1);
                    product(Accumulate::Replace, out, weight.transposed(), given);
                } else {
                    scratch.resize(depth * count, 0.0);
                    product(
                        Accumulate::Replace,
                        ViewMut::row_major(scratch, depth, count),
                        weight.transposed(),
                        given,
                    );
                    add_columns(geometry, image, lines, scratch);
                }
            }
        }
    });
    all
}

/// The gradient with respect to the weights, given that of the output.
pub fn weight_gradient(geometry: &Geometry, x: &[f32], gradient: &[f32]) -> Vec<f32> {
    let (depth, outputs, pixels) = (geometry.depth(), geometry.group_outputs(), geometry.pixels());
    let rows_of_part = geometry.rows.div_ceil(PARTS).max(1);
    let parts: Vec<Vec<f32>> = (0..geometry.rows.div_ceil(rows_of_part))
        .into_par_iter()
        .map_init(Vec::new, |scratch, part| {
            let mut sum = vec![0.0; geometry.output[0] * depth];
            for row in part * rows_of_part..((part + 1) * rows_of_part).min(geometry.rows) {
                let image = &x[row * geometry.input_len()..][..geometry.input_len()];
                let gradient = &gradient[row * geometry.output_len()..][..geometry.output_len()];
                for (group, sum) in sum.chunks_exact_mut(outputs * depth).enumerate() {
                    let gradient = &gradient[group * outputs * pixels..][..outputs * pixels];
                    for lines in tiles(geometry) {
                        let (start, count) = span(geometry, &lines);
                        let given = View::strided(&gradient[start..], outputs, count, pixels, 1);
                        let columns = columns(geometry, image, group, lines, scratch);
                        product(
                            Accumulate::Add,
                            ViewMut::row_major(sum, outputs, depth),
                            given,
                            columns.transposed(),
                        );
                    }
                }
            }
            sum
        })
        .collect();
    let mut parts = parts.into_iter();
    let mut sum = parts.next().unwrap_or_else(|| vec![0.0; geometry.output[0] * depth]);
    parts.for_each(|part| sum.iter_mut().zip(&part).for_each(|(sum, value)| *sum += value));
    sum
}

/// The lines of the output per tile.
fn tiles(geometry: &Geometry) -> impl Iterator<Item = Range<usize>> {
    let lines = geometry.output[1];
    let across = geometry.output[2].max(1);
    let at_once =
        (AT_ONCE / (geometry.depth() * across).max(1)).max(LEAST.div_ceil(across)).min(lines.max(1));
    (0..lines).step_by(at_once).map(move |start| start..(start + at_once).min(lines))
}

/// The first pixel of some lines of the output, and how many they have.
fn span(geometry: &Geometry, lines: &Range<usize>) -> (usize, usize) {
    (lines.start * geometry.output[2], lines.len() * geometry.output[2])
}

/// The pixels under the kernel at every position of some lines: `[depth, positions]`. Nothing is copied where they are the image itself.
fn columns<'a>(
    geometry: &Geometry,
    image: &'a [f32],
    group: usize,
    lines: Range<usize>,
    scratch: &'a mut Vec<f32>,
) -> View<'a, f32> {
    let (depth, [_, height, width], across) = (geometry.depth(), geometry.input, geometry.output[2]);
    let (start, count) = span(geometry, &lines);
    let image = &image[group * geometry.input_len() / geometry.groups..];
    if geometry.is_pointwise() {
        return View::strided(&image[start..], depth, count, height * width, 1);
    }
    scratch.resize(depth * count, 0.0);
    let mut out = scratch.chunks_exact_mut(across);
    for channel in image.chunks_exact(height * width).take(depth / (geometry.kernel[0] * geometry.kernel[1]))
    {
        for down in 0..geometry.kernel[0] {
            for right in 0..geometry.kernel[1] {
                let (valid, first) = geometry.valid_columns(right);
                for line in lines.clone() {
                    let Some(out) = out.next() else { return View::row_major(scratch, depth, count) };
                    match geometry.source_row(line, down) {
                        None => out.fill(0.0),
                        Some(row) => {
                            out[..valid.start].fill(0.0);
                            out[valid.end..].fill(0.0);
                            let source = &channel[row * width..][..width];
                            gather(&mut out[valid.clone()], &source[first.min(width)..], geometry.stride[1]);
                        }
                    }
                }
            }
        }
    }
    View::row_major(scratch, depth, count)
}

/// Adds columns back to the pixels that [`columns`] takes them from.
fn add_columns(geometry: &Geometry, image: &mut [f32], lines: Range<usize>, columns: &[f32]) {
    let ([_, height, width], across) = (geometry.input, geometry.output[2]);
    let mut from = columns.chunks_exact(across);
    for channel in image.chunks_exact_mut(height * width) {
        for down in 0..geometry.kernel[0] {
            for right in 0..geometry.kernel[1] {
                let (valid, first) = geometry.valid_columns(right);
                for line in lines.clone() {
                    let Some(from) = from.next() else { return };
                    if let Some(row) = geometry.source_row(line, down) {
                        let target = &mut channel[row * width..][..width][first.min(width)..];
                        scatter(target, &from[valid.clone()], geometry.stride[1]);
                    }
                }
            }
        }
    }
}

/// Every `stride`-th number.
#[inline(always)]
fn gather(out: &mut [f32], from: &[f32], stride: usize) {
    match stride {
        1 => out.copy_from_slice(&from[..out.len()]),
        _ => out.iter_mut().zip(from.iter().step_by(stride)).for_each(|(out, &value)| *out = value),
    }
}

/// Adds to every `stride`-th number.
#[inline(always)]
fn scatter(target: &mut [f32], from: &[f32], stride: usize) {
    match stride {
        1 => target.iter_mut().zip(from).for_each(|(target, &value)| *target += value),
        _ => target.iter_mut().step_by(stride).zip(from).for_each(|(target, &value)| *target += value),
    }
}
