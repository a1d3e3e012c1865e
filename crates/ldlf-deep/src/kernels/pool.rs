//! Max pooling, channel by channel.

use ldlf_math::vectorise;
use rayon::prelude::*;

use super::depthwise::each_tap;
use super::geometry::Geometry;

/// The largest values, and the position of each in its channel.
pub fn forward(geometry: &Geometry, x: &[f32]) -> (Vec<f32>, Vec<u32>) {
    let (pixels, plane) = (geometry.pixels(), geometry.input[1] * geometry.input[2]);
    let count = geometry.rows * geometry.output_len();
    let (mut out, mut places) = (vec![f32::NEG_INFINITY; count], vec![0; count]);
    if count > 0 {
        let outputs = out.par_chunks_mut(pixels).zip(places.par_chunks_mut(pixels));
        outputs.with_min_len(8).zip(x.par_chunks(plane)).for_each(|((out, places), x)| {
            vectorise!(each_tap(
                geometry,
                #[inline(always)]
                |_, line, valid, source| {
                    let (out, places) =
                        (&mut out[line..][valid.0..valid.1], &mut places[line..][valid.0..valid.1]);
                    match geometry.stride[1] {
                        // A constant stride compiles to faster code.
                        1 => take_larger(out, places, &x[source..], source, 1),
                        2 => take_larger(out, places, &x[source..], source, 2),
                        stride => take_larger(out, places, &x[source..], source, stride),
                    }
                }
            ));
        });
    }
    (out, places)
}

/// The gradient with respect to the input: that of every output goes to the position of its maximum.
pub fn backward(geometry: &Geometry, places: &[u32], gradient: &[f32]) -> Vec<f32> {
    let (pixels, plane) = (geometry.pixels(), geometry.input[1] * geometry.input[2]);
    let mut all = vec![0.0; geometry.rows * geometry.input_len()];
    if !all.is_empty() && pixels > 0 {
        let given = places.par_chunks(pixels).zip(gradient.par_chunks(pixels));
        all.par_chunks_mut(plane).with_min_len(8).zip(given).for_each(|(all, (places, gradient))| {
            places.iter().zip(gradient).for_each(|(&place, &value)| all[place as usize] += value);
        });
    }
    all
}

/// NaN counts as larger, so that it is not lost. Branch-free, because the comparison is unpredictable.
#[inline(always)]
fn take_larger(out: &mut [f32], places: &mut [u32], from: &[f32], source: usize, stride: usize) {
    let from = from.iter().step_by(stride);
    for (index, ((out, place), value)) in out.iter_mut().zip(places).zip(from).enumerate() {
        let taken = u32::from(*value > *out || value.is_nan()).wrapping_neg();
        *out = f32::from_bits(value.to_bits() & taken | out.to_bits() & !taken);
        *place = (source + index * stride) as u32 & taken | *place & !taken;
    }
}
