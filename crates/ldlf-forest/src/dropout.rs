//! Dropout of the inputs of the linear map.

use ldlf_math::Seed;
use ldlf_math::random::Generator;
use rand::RngExt;

/// Inputs that are dropped at random, for one step of training.
pub struct Dropout<'a> {
    /// The fraction dropped; the rest is scaled up by `1 / (1 - share)`.
    pub share: f32,
    /// Where the randomness comes from.
    pub generator: &'a mut Generator,
    /// The seed of all rows and the number of the first, where every row draws by its own number and the generator starts anew.
    pub by_row: Option<(Seed, u64)>,
}

impl Dropout<'_> {
    /// Starts a row, which may draw by its own number.
    #[inline]
    pub(crate) fn begin(&mut self, row: usize) {
        if let Some((seed, first)) = self.by_row {
            *self.generator = seed.numbered(first + row as u64).generator();
        }
    }

    /// One value, dropped or scaled up.
    #[inline]
    pub(crate) fn one(&mut self, value: f32) -> f32 {
        if self.generator.random::<f32>() < self.share { 0.0 } else { value / (1.0 - self.share) }
    }

    /// Four decisions from every 64 random bits: a share is exact to 1/65536.
    #[inline]
    pub(crate) fn apply(&mut self, values: &mut [f32]) {
        let threshold = (self.share * 65536.0) as u32;
        let scale = 1.0 / (1.0 - self.share);
        for values in values.chunks_mut(4) {
            let bits: u64 = self.generator.random();
            for (index, value) in values.iter_mut().enumerate() {
                let keep = ((bits >> (16 * index)) & 0xffff) as u32 >= threshold;
                *value *= if keep { scale } else { 0.0 };
            }
        }
    }
}
