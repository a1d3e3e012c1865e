//! Plain loops, compiled for several instruction sets and dispatched at run time: a stock build runs AVX2, AVX-512 or NEON code where it can.

use std::sync::OnceLock;

pub use pulp::{Simd, WithSimd, bytemuck};

/// An instruction set that a loop may be compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The baseline of the architecture.
    Portable,
    /// NEON (64-bit ARM).
    Neon,
    /// AVX2 and FMA (x86-64-v3).
    V3,
    /// AVX-512 (x86-64-v4).
    V4,
}

/// The level in use: the best that the processor has, or less where the environment variable `LDLF_SIMD` says
/// `portable`, `neon` or `v3`. One that the architecture does not have is the next lower one that it has.
pub fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(|| {
        let most = match std::env::var("LDLF_SIMD").as_deref() {
            Ok("portable") => Level::Portable,
            Ok("neon") => Level::Neon,
            Ok("v3") => Level::V3,
            _ => Level::V4,
        };
        best().min(most)
    })
}

/// Whether `LDLF_SIMD` asks for [`Level::Portable`] on a processor that has more: then nothing else may choose a higher level
/// by itself, and `product` does not use the `gemm` crate.
pub fn is_forced_portable() -> bool {
    level() == Level::Portable && best() > Level::Portable
}

#[cfg(target_arch = "x86_64")]
fn best() -> Level {
    if pulp::x86::V4::try_new().is_some() {
        Level::V4
    } else if pulp::x86::V3::try_new().is_some() {
        Level::V3
    } else {
        Level::Portable
    }
}

#[cfg(target_arch = "aarch64")]
fn best() -> Level {
    if pulp::aarch64::Neon::try_new().is_some() { Level::Neon } else { Level::Portable }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn best() -> Level {
    Level::Portable
}

/// Runs `kernel` with the widest vectors of the level in use. Everything that its `with_simd` calls must be
/// `#[inline(always)]` to be compiled for that level.
#[inline(always)]
pub fn dispatch<K: WithSimd>(kernel: K) -> K::Output {
    dispatch_at(level(), kernel)
}

/// Runs `kernel` at `level`, or at less where the processor lacks it.
#[inline(always)]
pub fn dispatch_at<K: WithSimd>(level: Level, kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if level >= Level::V4
            && let Some(v4) = pulp::x86::V4::try_new()
        {
            return Simd::vectorize(v4, kernel);
        }
        if level >= Level::V3
            && let Some(v3) = pulp::x86::V3::try_new()
        {
            return Simd::vectorize(v3, kernel);
        }
    }
    #[cfg(target_arch = "aarch64")]
    {
        if level >= Level::Neon
            && let Some(neon) = pulp::aarch64::Neon::try_new()
        {
            return Simd::vectorize(neon, kernel);
        }
    }
    let _ = level;
    Simd::vectorize(pulp::Scalar128b, kernel)
}

/// Runs an expression of plain loops compiled for the level in use. The functions that it calls must be `#[inline(always)]`
/// to be compiled with it.
///
/// ```
/// let mut x = vec![1.0f32; 1000];
/// ldlf_math::vectorise!(x.iter_mut().for_each(|v| *v *= 2.0));
/// assert_eq!(x[999], 2.0);
/// ```
// A macro, because the closure must be inlined too: one that the compiler leaves as a separate function is compiled for the
// baseline, and slow.
#[macro_export]
macro_rules! vectorise {
    ($work:expr $(,)?) => {
        $crate::simd::vectorise_at(
            $crate::simd::level(),
            #[inline(always)]
            || $work,
        )
    };
}

/// Runs a closure compiled for `level`, or for less where the processor lacks it. It must be `#[inline(always)]`; see
/// `vectorise!`.
#[inline(always)]
pub fn vectorise_at<R>(level: Level, work: impl FnOnce() -> R) -> R {
    dispatch_at(level, work)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_gives_the_same_bits_for_loops_without_fused_operations() {
        let at = |level| {
            let mut x: Vec<f32> = (0..1003).map(|i| i as f32 * 0.37 - 90.0).collect();
            vectorise_at(
                level,
                #[inline(always)]
                || x.iter_mut().for_each(|v| *v = *v * *v + 0.1 * *v),
            );
            x
        };
        for level in [Level::Neon, Level::V3, Level::V4] {
            assert_eq!(at(Level::Portable), at(level), "{level:?}");
        }
    }
}
