//! One seed for everything: every use derives its own generator from it by name and number.
//!
//! Because the generator of step 731 follows from the seed and the number 731 alone, no generator has a state that a
//! checkpoint would have to store, and rows may be processed in any order by any number of threads.

use rand::{RngExt, SeedableRng};
pub use rand_xoshiro::Xoshiro256PlusPlus as Generator;

/// A node in the tree of seeds.
///
/// ```
/// use ldlf_math::Seed;
/// use rand::RngExt;
/// let seed = Seed::new(0);
/// let a: u64 = seed.named("shuffle").numbered(3).generator().random();
/// let b: u64 = seed.named("shuffle").numbered(4).generator().random();
/// assert_ne!(a, b);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed(u64);

impl Seed {
    /// The root, from a user's number.
    pub fn new(seed: u64) -> Self {
        Seed(mix(seed ^ 0x6c64_6c66_5eed_0001))
    }

    /// The seed for one purpose.
    pub fn named(self, purpose: &str) -> Self {
        // FNV-1a is enough for short names.
        let hash = purpose
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |h, byte| (h ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        Seed(mix(self.0 ^ hash))
    }

    /// The seed for one of many: an epoch, a tree, a chunk.
    pub fn numbered(self, number: u64) -> Self {
        Seed(mix(self.0.wrapping_add(mix(number.wrapping_add(0x9e37_79b9_7f4a_7c15)))))
    }

    /// The number of this seed, to compare two seeds.
    pub fn value(self) -> u64 {
        self.0
    }

    /// The generator of this seed.
    pub fn generator(self) -> Generator {
        Generator::seed_from_u64(self.0)
    }
}

/// The finaliser of SplitMix64.
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The numbers `0..n` in random order (Fisher-Yates).
pub fn permutation(n: usize, generator: &mut Generator) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for last in (1..n).rev() {
        order.swap(last, generator.random_range(0..=last as u64) as usize);
    }
    order
}

/// A draw from the standard normal distribution (Box-Muller).
pub fn normal(generator: &mut Generator) -> f64 {
    let u: f64 = 1.0 - generator.random::<f64>();
    let v: f64 = generator.random();
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_numbers_follow_from_the_path_of_the_seed() {
        let draw = |seed: Seed| seed.generator().random::<u64>();
        assert_eq!(draw(Seed::new(7).named("a").numbered(1)), draw(Seed::new(7).named("a").numbered(1)));
        assert_ne!(draw(Seed::new(7).named("a")), draw(Seed::new(7).named("b")));
        assert_ne!(draw(Seed::new(7)), draw(Seed::new(8)));
    }

    #[test]
    fn a_permutation_holds_every_number_once() {
        let mut order = permutation(1000, &mut Seed::new(1).generator());
        assert_ne!(order, (0..1000).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn normal_draws_have_mean_zero_and_variance_one() {
        let mut generator = Seed::new(2).generator();
        let draws: Vec<f64> = (0..20_000).map(|_| normal(&mut generator)).collect();
        let mean = draws.iter().sum::<f64>() / 20_000.0;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }
}
