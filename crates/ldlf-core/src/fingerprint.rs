//! Sixteen hexadecimal digits that identify data.

use std::fmt;

/// A hash of numbers in their order. It tells data apart, and is no protection against forgery.
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    /// Begins with sizes.
    pub fn of_shape<const N: usize>(sizes: [usize; N]) -> Self {
        let mut hash = Fingerprint(0xcbf2_9ce4_8422_2325);
        sizes.into_iter().for_each(|size| hash.add(size as u64));
        hash
    }

    /// Adds a number.
    pub fn add(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
