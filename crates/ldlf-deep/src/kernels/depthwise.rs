//! Depthwise convolutions: too few products per channel for a matrix product, so plain loops along the lines of pixels.
//!
//! Where the kernel moves by one pixel, a channel is first padded with zeros, so that eight neighbours at a time are summed over
//! the whole kernel without checks at the edges; the gradient of the input is the same with the kernel rotated by 180 degrees.

use ldlf_math::vectorise;
use rayon::prelude::*;

use super::geometry::Geometry;

/// Neighbours summed at a time.
const LANES: usize = 8;
/// Minimum number of channels per task: one alone is too little work.
const CHANNELS: usize = 8;

/// As [`super::columns::forward`], channel by channel.
pub fn forward(geometry: &Geometry, x: &[f32], weight: &[f32], bias: &[f32]) -> Vec<f32> {
    let (pixels, plane) = (geometry.pixels(), geometry.input[1] * geometry.input[2]);
    let mut out = vec![0.0; geometry.rows * geometry.output_len()];
    if out.is_empty() {
        return out;
    }
    let planes = out.par_chunks_mut(pixels).with_min_len(CHANNELS).enumerate();
    planes.for_each_init(Vec::new, |frame, (place, out)| {
        let channel = place % geometry.groups;
        let (image, kernel) = (&x[place * plane..][..plane], kernel(geometry, weight, channel));
        out.fill(bias[channel]);
        if geometry.stride == [1, 1] {
            let [_, height, width] = geometry.input;
            vectorise!({
                let pitch = framed(image, [height, width], geometry.padding, geometry, frame);
                sum_over_kernel(frame, pitch, kernel, geometry.kernel, out, geometry.output[2]);
            });
        } else {
            vectorise!(each_tap(
                geometry,
                #[inline(always)]
                |tap, line, valid, source| {
                    let from = image[source..].iter().step_by(geometry.stride[1]);
                    let out = out[line..][valid.0..valid.1].iter_mut().zip(from);
                    out.for_each(|(out, &value)| *out += kernel[tap] * value);
                }
            ));
        }
    });
    out
}

/// As [`super::columns::input_gradient`], channel by channel.
pub fn input_gradient(geometry: &Geometry, weight: &[f32], gradient: &[f32]) -> Vec<f32> {
    let [_, height, width] = geometry.input;
    let [down, right] = geometry.kernel;
    let is_turned = geometry.stride == [1, 1] && geometry.padding[0] < down && geometry.padding[1] < right;
    if is_turned {
        let turned: Vec<f32> =
            weight.chunks_exact(down * right).flat_map(|kernel| kernel.iter().rev().copied()).collect();
        let [channels, lines, across] = geometry.output;
        let other = Geometry {
            input: [channels, lines, across],
            output: [channels, height, width],
            padding: [down - 1 - geometry.padding[0], right - 1 - geometry.padding[1]],
            ..*geometry
        };
        return forward(&other, gradient, &turned, &vec![0.0; channels]);
    }
    let (pixels, plane) = (geometry.pixels(), height * width);
    let mut all = vec![0.0; geometry.rows * geometry.input_len()];
    if all.is_empty() {
        return all;
    }
    all.par_chunks_mut(plane).with_min_len(CHANNELS).enumerate().for_each(|(place, image)| {
        let gradient = &gradient[place * pixels..][..pixels];
        let kernel = kernel(geometry, weight, place % geometry.groups);
        vectorise!(each_tap(
            geometry,
            #[inline(always)]
            |tap, line, valid, source| {
                let target = image[source..].iter_mut().step_by(geometry.stride[1]);
                let target = target.zip(&gradient[line..][valid.0..valid.1]);
                target.for_each(|(target, &value)| *target += kernel[tap] * value);
            }
        ));
    });
    all
}

/// As [`super::columns::weight_gradient`], channel by channel.
pub fn weight_gradient(geometry: &Geometry, x: &[f32], gradient: &[f32]) -> Vec<f32> {
    let (pixels, plane) = (geometry.pixels(), geometry.input[1] * geometry.input[2]);
    let mut all = vec![0.0; geometry.groups * geometry.depth()];
    let channels = all.par_chunks_mut(geometry.depth().max(1)).enumerate();
    channels.for_each_init(Default::default, |(frame, given): &mut (Vec<f32>, Vec<f32>), (channel, sums)| {
        for row in 0..geometry.rows {
            let place = row * geometry.groups + channel;
            let (image, gradient) = (&x[place * plane..][..plane], &gradient[place * pixels..][..pixels]);
            if geometry.stride == [1, 1] {
                let ([_, height, width], [_, lines, across]) = (geometry.input, geometry.output);
                vectorise!({
                    let pitch = framed(image, [height, width], geometry.padding, geometry, frame);
                    framed(gradient, [lines, across], [0, 0], geometry, given);
                    products_over_lines(frame, given, pitch, geometry, sums);
                });
            } else {
                vectorise!(each_tap(
                    geometry,
                    #[inline(always)]
                    |tap, line, valid, source| {
                        let from = image[source..].iter().step_by(geometry.stride[1]);
                        let pairs = gradient[line..][valid.0..valid.1].iter().zip(from);
                        sums[tap] += pairs.map(|(a, b)| a * b).sum::<f32>();
                    }
                ));
            }
        }
    });
    all
}

fn kernel<'a>(geometry: &Geometry, weight: &'a [f32], channel: usize) -> &'a [f32] {
    &weight[channel * geometry.depth()..][..geometry.depth()]
}

/// Copies a channel and pads it with zeros for the kernel and for lines of whole blocks; gives the length of its lines.
#[inline(always)]
fn framed(
    plane: &[f32],
    [height, width]: [usize; 2],
    [above, left]: [usize; 2],
    geometry: &Geometry,
    frame: &mut Vec<f32>,
) -> usize {
    let ([_, lines, across], [down, right]) = (geometry.output, geometry.kernel);
    let pitch = across.next_multiple_of(LANES) + right - 1;
    frame.clear();
    frame.resize((lines + down - 1) * pitch, 0.0);
    // With little padding after the last pixel the kernel does not reach all of them.
    let (height, kept) = (height.min(lines + down - 1 - above), width.min(pitch - left));
    for line in 0..height {
        frame[(line + above) * pitch + left..][..kept].copy_from_slice(&plane[line * width..][..kept]);
    }
    pitch
}

/// Adds to every output the sum of the pixels under the kernel, times the kernel.
#[inline(always)]
fn sum_over_kernel(
    frame: &[f32],
    pitch: usize,
    kernel: &[f32],
    [down, right]: [usize; 2],
    out: &mut [f32],
    across: usize,
) {
    for (line, out) in out.chunks_exact_mut(across).enumerate() {
        for (block, out) in out.chunks_mut(LANES).enumerate() {
            let mut sums = [out[0]; LANES];
            for y in 0..down {
                let from = &frame[(line + y) * pitch + block * LANES..][..right - 1 + LANES];
                for (x, weight) in kernel[y * right..][..right].iter().enumerate() {
                    let from = &from[x..x + LANES];
                    (0..LANES).for_each(|lane| sums[lane] += weight * from[lane]);
                }
            }
            out.copy_from_slice(&sums[..out.len()]);
        }
    }
}

/// Adds to every number of the kernel the sum of the products of the pixels under it with the gradient, which is padded likewise.
#[inline(always)]
fn products_over_lines(frame: &[f32], gradient: &[f32], pitch: usize, geometry: &Geometry, sums: &mut [f32]) {
    let ([_, lines, across], right) = (geometry.output, geometry.kernel[1]);
    for (tap, sum) in sums.iter_mut().enumerate() {
        let mut lanes = [0.0f32; LANES];
        for line in 0..lines {
            let from = &frame[(line + tap / right) * pitch + tap % right..];
            let gradient = &gradient[line * pitch..][..across.next_multiple_of(LANES)];
            for (from, gradient) in from.chunks_exact(LANES).zip(gradient.chunks_exact(LANES)) {
                (0..LANES).for_each(|lane| lanes[lane] += from[lane] * gradient[lane]);
            }
        }
        *sum += lanes.iter().sum::<f32>();
    }
}

/// Calls `work(tap, first pixel of the line, columns, pixel of the image under the first column)` for every line of the output and
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
