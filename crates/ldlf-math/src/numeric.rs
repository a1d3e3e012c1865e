//! The only implementation of sigmoid, log-sum-exp, softmax, `x ln y` and simplex checks.

/// The smallest probability whose logarithm is taken.
pub const SMALLEST_PROBABILITY: f64 = 1e-12;

/// `1 / (1 + exp(-x))`, exact at the ends: 0 at `-inf`, 1 at `+inf`.
pub fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 {
        1.0 / (1.0 + (-x).exp())
    } else {
        let e = x.exp();
        e / (1.0 + e)
    }
}

/// `x ln y`, with `0 ln y = 0` and `y` floored at [`SMALLEST_PROBABILITY`].
pub fn xlogy(x: f64, y: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x * y.max(SMALLEST_PROBABILITY).ln() }
}

/// `ln sum exp(x_i)` without overflow, summed in double precision.
pub fn log_sum_exp(x: &[f32]) -> f64 {
    let largest = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    if largest == f32::NEG_INFINITY {
        return largest.into();
    }
    f64::from(largest) + x.iter().map(|&v| f64::from(v - largest).exp()).sum::<f64>().ln()
}

/// The quantile function of the standard normal distribution, for `0 < p < 1`: relative error about 1e-16 (Wichura 1988, AS 241).
pub fn normal_quantile(p: f64) -> f64 {
    const A: [f64; 8] = [
        3.387_132_872_796_366_5,
        1.331_416_678_917_843_8e2,
        1.971_590_950_306_551_3e3,
        1.373_169_376_550_946e4,
        4.592_195_393_154_987e4,
        6.726_577_092_700_87e4,
        3.343_057_558_358_813e4,
        2.509_080_928_730_122_7e3,
    ];
    const B: [f64; 8] = [
        1.0,
        4.231_333_070_160_091e1,
        6.871_870_074_920_579e2,
        5.394_196_021_424_751e3,
        2.121_379_430_158_659_7e4,
        3.930_789_580_009_271e4,
        2.872_908_573_572_194_3e4,
        5.226_495_278_852_545e3,
    ];
    const C: [f64; 8] = [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        2.417_807_251_774_506e-1,
        2.272_384_498_926_918_4e-2,
        7.745_450_142_783_414e-4,
    ];
    const D: [f64; 8] = [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        6.897_673_349_851e-1,
        1.481_039_764_274_800_8e-1,
        1.519_866_656_361_645_7e-2,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ];
    const E: [f64; 8] = [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        2.965_605_718_285_048_7e-1,
        2.653_218_952_657_612_4e-2,
        1.242_660_947_388_078_4e-3,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ];
    const F: [f64; 8] = [
        1.0,
        5.998_322_065_558_88e-1,
        1.369_298_809_227_358e-1,
        1.487_536_129_085_061_5e-2,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ];
    let ratio = |top: &[f64; 8], bottom: &[f64; 8], x: f64| {
        let horner = |c: &[f64; 8]| c.iter().rev().fold(0.0, |sum, c| sum * x + c);
        horner(top) / horner(bottom)
    };
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        return q * ratio(&A, &B, 0.180625 - q * q);
    }
    let r = (-p.min(1.0 - p).ln()).sqrt();
    let size = if r <= 5.0 { ratio(&C, &D, r - 1.6) } else { ratio(&E, &F, r - 5.0) };
    size.copysign(q)
}

/// Replaces scores by `exp(x_i) / sum exp(x_j)`.
pub fn softmax_in_place(x: &mut [f64]) {
    softmax_and_log_sum(x);
}

/// As [`softmax_in_place`], and gives `ln sum exp(x_i)`.
pub fn softmax_and_log_sum(x: &mut [f64]) -> f64 {
    let largest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for v in x.iter_mut() {
        *v = (*v - largest).exp();
        sum += *v;
    }
    x.iter_mut().for_each(|v| *v /= sum);
    largest + sum.ln()
}

/// As [`softmax_in_place`], in single precision.
pub fn softmax_in_place_f32(x: &mut [f32]) {
    let largest = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    x.iter_mut().for_each(|v| *v = (*v - largest).exp());
    let sum: f32 = x.iter().sum();
    x.iter_mut().for_each(|v| *v /= sum);
}

/// Divides non-negative numbers by their sum; all zeros become the uniform distribution.
pub fn normalise(x: &mut [f32]) {
    let sum: f64 = x.iter().map(|&v| f64::from(v)).sum();
    if sum > 0.0 {
        x.iter_mut().for_each(|v| *v = (f64::from(*v) / sum) as f32);
    } else {
        let uniform = 1.0 / x.len() as f32;
        x.fill(uniform);
    }
}

/// Whether the numbers are finite, not negative, and sum to 1 within `tolerance`.
pub fn on_simplex(x: &[f32], tolerance: f64) -> bool {
    let sum: f64 = x.iter().map(|&v| f64::from(v)).sum();
    x.iter().all(|v| v.is_finite() && *v >= 0.0) && (sum - 1.0).abs() <= tolerance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sigmoid_is_exact_at_the_ends() {
        assert_eq!((sigmoid(-1e3), sigmoid(0.0), sigmoid(1e3)), (0.0, 0.5, 1.0));
    }

    #[test]
    fn sigmoid_is_symmetric() {
        for x in [-30.0, -2.0, -0.1, 0.3, 5.0, 40.0] {
            assert!((sigmoid(x) + sigmoid(-x) - 1.0).abs() < 1e-15, "{x}");
        }
    }

    #[test]
    fn zero_times_the_logarithm_of_zero_is_zero() {
        assert_eq!(xlogy(0.0, 0.0), 0.0);
        assert_eq!(xlogy(1.0, 1.0), 0.0);
        assert_eq!(xlogy(0.5, 0.0), 0.5 * 1e-12f64.ln());
    }

    #[test]
    fn log_sum_exp_does_not_overflow() {
        assert_eq!(log_sum_exp(&[1e3, 1e3]), 1e3 + 2f64.ln());
        assert_eq!(log_sum_exp(&[-1e3, -1e3]), -1e3 + 2f64.ln());
        assert_eq!(softmax_and_log_sum(&mut [-1e3, -1e3]), -1e3 + 2f64.ln());
    }

    #[test]
    fn softmax_gives_distributions_at_large_scores() {
        for scores in [[1e3, 0.0, -1e3], [1e3; 3], [-1e3; 3], [0.0, 1.0, 2.0]] {
            let mut p = scores;
            softmax_in_place(&mut p);
            assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{scores:?}");
            assert!(p.iter().all(|v| (0.0..=1.0).contains(v)));
            let mut single = scores.map(|score| score as f32);
            softmax_in_place_f32(&mut single);
            assert!(single.iter().zip(p).all(|(&q, p)| (f64::from(q) - p).abs() < 1e-6), "{scores:?}");
        }
    }

    #[test]
    fn normal_quantiles_are_those_of_scipy() {
        // scipy.special.ndtri of these.
        for (p, expected) in [
            (0.5, 0.0),
            (0.975, 1.959963984540054),
            (0.9, 1.2815515655446004),
            (1e-3, -3.090232306167813),
            (1e-12, -7.034483825301131),
        ] {
            let found = normal_quantile(p);
            assert!((found - expected).abs() <= 1e-13 * (1.0 + expected.abs()), "{p}: {found} {expected}");
        }
    }

    #[test]
    fn normalising_nothing_gives_the_uniform_distribution() {
        let mut x = [0.0f32; 4];
        normalise(&mut x);
        assert_eq!(x, [0.25; 4]);
        let mut votes = [1.0f32, 3.0];
        normalise(&mut votes);
        assert_eq!(votes, [0.25, 0.75]);
        assert!(
            on_simplex(&votes, 1e-6) && !on_simplex(&[0.5, 0.4], 1e-6) && !on_simplex(&[1.5, -0.5], 1e-6)
        );
    }
}
