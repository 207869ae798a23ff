//! Distribution functions and quantiles: of the standard normal distribution and of
//! the beta distribution.

use std::f64::consts::{PI, SQRT_2};

use crate::math::{erfc, exp, ln, ln_1p, ln_gamma};

/// The probability that a standard normal number is at most `x`.
pub fn normal_cdf(x: f64) -> f64 {
    0.5 * erfc(-x / SQRT_2)
}

/// The number that a standard normal one exceeds with probability `1 - p`, to 15
/// digits or so (Wichura, algorithm AS 241); infinite for 0 and 1, NaN outside.
pub fn normal_quantile(p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    let centered = p - 0.5;
    if centered.abs() <= 0.425 {
        let r = 0.180_625 - centered * centered;
        return centered * ratio(r, &MIDDLE);
    }
    let tail = if centered < 0.0 { p } else { 1.0 - p };
    if tail == 0.0 {
        return centered * f64::INFINITY;
    }
    let r = (-ln(tail)).sqrt();
    let size = match r <= 5.0 {
        true => ratio(r - 1.6, &TAIL),
        false => ratio(r - 5.0, &FAR),
    };
    if centered < 0.0 { -size } else { size }
}

/// Coefficients of a numerator and a denominator, the lowest power first.
type Ratio = [[f64; 8]; 2];

/// A ratio of polynomials.
fn ratio(x: f64, [above, below]: &Ratio) -> f64 {
    let value = |of: &[f64; 8]| of.iter().rev().fold(0.0, |sum, c| sum * x + c);
    value(above) / value(below)
}

/// For probabilities from 0.075 to 0.925.
const MIDDLE: Ratio = [
    [
        3.387_132_872_796_366_5,
        1.331_416_678_917_843_8e2,
        1.971_590_950_306_551_3e3,
        1.373_169_376_550_946e4,
        4.592_195_393_154_987e4,
        6.726_577_092_700_87e4,
        3.343_057_558_358_813e4,
        2.509_080_928_730_122_7e3,
    ],
    [
        1.0,
        4.231_333_070_160_091e1,
        6.871_870_074_920_579e2,
        5.394_196_021_424_751e3,
        2.121_379_430_158_659_7e4,
        3.930_789_580_009_271e4,
        2.872_908_573_572_194_3e4,
        5.226_495_278_852_854e3,
    ],
];

/// For tails down to `exp(-25)`.
const TAIL: Ratio = [
    [
        1.423_437_110_749_683_5,
        4.630_337_846_156_546,
        5.769_497_221_460_691,
        3.647_848_324_763_204_5,
        1.270_458_252_452_368_4,
        2.417_807_251_774_506e-1,
        2.272_384_498_926_918_4e-2,
        7.745_450_142_783_414e-4,
    ],
    [
        1.0,
        2.053_191_626_637_759,
        1.676_384_830_183_803_8,
        6.897_673_349_851e-1,
        1.481_039_764_274_800_8e-1,
        1.519_866_656_361_645_7e-2,
        5.475_938_084_995_345e-4,
        1.050_750_071_644_416_9e-9,
    ],
];

/// For tails below that.
const FAR: Ratio = [
    [
        6.657_904_643_501_103,
        5.463_784_911_164_114,
        1.784_826_539_917_291_3,
        2.965_605_718_285_048_7e-1,
        2.653_218_952_657_612_4e-2,
        1.242_660_947_388_078_4e-3,
        2.711_555_568_743_487_6e-5,
        2.010_334_399_292_288_1e-7,
    ],
    [
        1.0,
        5.998_322_065_558_88e-1,
        1.369_298_809_227_358e-1,
        1.487_536_129_085_061_5e-2,
        7.868_691_311_456_133e-4,
        1.846_318_317_510_054_8e-5,
        1.421_511_758_316_446e-7,
        2.044_263_103_389_939_8e-15,
    ],
];

/// The probability that a number of the beta distribution with the parameters `a` and
/// `b` is at most `x`, to 10 digits or so for parameters up to millions. If `b` is 0,
/// the number is 1; if `a` is 0, it is 0.
pub fn beta_cdf(x: f64, a: f64, b: f64) -> f64 {
    beta_tails(x, a, b).0
}

/// The number that one of the beta distribution exceeds with probability `1 - p`: the
/// upper limit of Clopper and Pearson for `k` of `n` is the quantile of `p` for
/// `k + 1` and `n - k`. If `b` is 0, it is 1; if `a` is 0, it is 0.
pub fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    if !((0.0..=1.0).contains(&p) && a >= 0.0 && b >= 0.0 && a + b > 0.0) {
        return f64::NAN;
    }
    if b == 0.0 || p == 1.0 {
        return 1.0;
    }
    if a == 0.0 || p == 0.0 {
        return 0.0;
    }
    // Newton's steps by the smaller tail, and the middle of the bracket in place of
    // those that leave it.
    let (mut low, mut high) = (0.0, 1.0);
    let mut x = a / (a + b);
    for _ in 0..200 {
        let (lower, upper) = beta_tails(x, a, b);
        let excess = match p <= 0.5 {
            true => lower - p,
            false => (1.0 - p) - upper,
        };
        match excess > 0.0 {
            true => high = x,
            false => low = x,
        }
        let slope = exp(log_power(x, a, b)) / (x * (1.0 - x));
        let newton = x - excess / slope;
        if (newton - x).abs() <= f64::EPSILON * x {
            return newton.clamp(low, high);
        }
        let middle = 0.5 * (low + high);
        if !(low < middle && middle < high) {
            break;
        }
        x = match low < newton && newton < high {
            true => newton,
            false => middle,
        };
    }
    x
}

/// The probabilities of at most `x`, and of more.
fn beta_tails(x: f64, a: f64, b: f64) -> (f64, f64) {
    if !(a >= 0.0 && b >= 0.0 && a + b > 0.0) || x.is_nan() {
        return (f64::NAN, f64::NAN);
    }
    if x >= 1.0 || (a == 0.0 && x >= 0.0) {
        return (1.0, 0.0);
    }
    if x <= 0.0 || b == 0.0 {
        return (0.0, 1.0);
    }
    let power = exp(log_power(x, a, b));
    // The continued fraction converges fast on this side of the mean.
    if x < (a + 1.0) / (a + b + 2.0) {
        let lower = (power * fraction(x, a, b) / a).clamp(0.0, 1.0);
        (lower, 1.0 - lower)
    } else {
        let upper = (power * fraction(1.0 - x, b, a) / b).clamp(0.0, 1.0);
        (1.0 - upper, upper)
    }
}

/// `ln(x^a (1 - x)^b / B(a, b))`, without the difference of large logarithms.
fn log_power(x: f64, a: f64, b: f64) -> f64 {
    let n = a + b;
    let off = b * x - a * (1.0 - x);
    let powers = a * ln_1p_less(off / a, n / a * x) + b * ln_1p_less(-off / b, n / b * (1.0 - x));
    let stirling = stirling(n) - stirling(a) - stirling(b);
    powers + stirling + 0.5 * ln(a / n * b / (2.0 * PI))
}

/// `ln(1 + u) - u`, given `1 + u` too.
fn ln_1p_less(u: f64, one_more: f64) -> f64 {
    if u < -0.5 {
        return ln(one_more) - u;
    }
    if u.abs() > 0.1 {
        return ln_1p(u) - u;
    }
    // ln(1 + u) = 2 artanh(r) for r = u / (2 + u), and 2 r - u = -r u.
    let r = u / (2.0 + u);
    let square = r * r;
    let series = (1..=8)
        .rev()
        .fold(0.0, |sum, k| (sum + 1.0 / f64::from(2 * k + 1)) * square);
    2.0 * r * series - r * u
}

/// What Stirling's formula leaves of `ln_gamma(a)`:
/// `ln_gamma(a) - (a - 1/2) ln(a) + a - ln(2 pi) / 2`.
fn stirling(a: f64) -> f64 {
    if a < 12.0 {
        return ln_gamma(a) - (a - 0.5) * ln(a) + a - 0.5 * ln(2.0 * PI);
    }
    let r = 1.0 / (a * a);
    let series = 1.0 / 12.0
        - r * (1.0 / 360.0 - r * (1.0 / 1260.0 - r * (1.0 / 1680.0 - r * (1.0 / 1188.0))));
    series / a
}

/// The continued fraction of the incomplete beta function, by Lentz's method (Press et
/// al., Numerical Recipes, 6.4).
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut result = d;
    // The number of terms grows as the root of the parameters.
    for term in 1..100_000 {
        let m = f64::from(term);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away(1.0 + even * d);
        c = away(1.0 + even / c);
        result *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away(1.0 + odd * d);
        c = away(1.0 + odd / c);
        result *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By mpmath with 30 digits.
    #[test]
    fn normal_quantiles_and_probabilities_have_their_known_values() {
        let quantiles = [
            (1e-300, -37.047_096_299_361_2),
            (1e-20, -9.262_340_089_798_408),
            (1e-5, -4.264_890_793_922_825),
            (0.025, -1.959_963_984_540_054_2),
            (0.2, -0.841_621_233_572_914_2),
            (0.4999, -2.506_628_300_880_075e-4),
            (0.6, 0.253_347_103_135_799_7),
            (0.95, 1.644_853_626_951_472_3),
            (0.999_999, 4.753_424_308_817_087),
        ];
        for (p, expected) in quantiles {
            assert!((normal_quantile(p) / expected - 1.0).abs() < 1e-12, "{p}");
        }
        let probabilities = [
            (-10.0, 7.619_853_024_160_526e-24),
            (-1.5, 0.066_807_201_268_858_07),
            (0.3, 0.617_911_422_188_952_6),
            (5.0, 0.999_999_713_348_428_1),
        ];
        for (x, expected) in probabilities {
            assert!((normal_cdf(x) / expected - 1.0).abs() < 1e-13, "{x}");
        }
        assert_eq!(normal_quantile(0.5), 0.0);
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
        assert!(normal_quantile(-0.1).is_nan() && normal_quantile(f64::NAN).is_nan());
        for step in -700..50 {
            let x = f64::from(step) * 0.05;
            let back = normal_quantile(normal_cdf(x));
            assert!((back - x).abs() < 1e-13 * x.abs().max(1.0), "{x} {back}");
        }
    }

    /// By mpmath with 30 digits.
    #[test]
    fn beta_probabilities_have_their_known_values() {
        let known = [
            (0.3, 2.0, 5.0, 0.579_825),
            (0.9, 1.5, 0.5, 0.604_181_303_590_592_2),
            (0.01, 3.0, 500.0, 0.878_281_801_639_268_9),
            (0.7, 1200.0, 520.0, 0.580_573_489_754_917_1),
            (0.5, 1.0, 1.0, 0.5),
            (1e-6, 1.0, 2e6, 0.864_664_852_098_693_1),
            (0.5, 2e6, 2e6, 0.5),
            (0.4995, 2e6, 2e6, 0.022_750_111_701_560_553),
            (0.0101, 2e4, 2e6, 0.997_746_693_940_036_8),
            (0.999, 2000.0, 1.5, 0.261_194_140_810_46),
            (0.96, 40.0, 3.0, 0.764_272_384_884_412_2),
            (1e-9, 5.0, 7.0, 4.619_999_976_900_001_5e-43),
        ];
        for (x, a, b, expected) in known {
            let found = beta_cdf(x, a, b);
            assert!(
                (found / expected - 1.0).abs() < 1e-10,
                "{x} {a} {b} {found}"
            );
            let found = beta_cdf(1.0 - x, b, a);
            let error = (found + expected - 1.0).abs();
            assert!(error < 1e-9, "{x} {a} {b} {found}");
        }
        assert_eq!(beta_cdf(0.0, 2.0, 3.0), 0.0);
        assert_eq!(beta_cdf(1.0, 2.0, 3.0), 1.0);
        assert_eq!(beta_cdf(0.999, 2.0, 0.0), 0.0);
        assert_eq!(beta_cdf(0.0, 0.0, 2.0), 1.0);
        assert!(beta_cdf(0.5, -1.0, 2.0).is_nan() && beta_cdf(f64::NAN, 1.0, 2.0).is_nan());
    }

    #[test]
    fn beta_quantiles_are_the_inverse() {
        for (a, b) in [
            (1.0, 1.0),
            (1.0, 2e6),
            (2e6, 1.0),
            (2e6, 2e6),
            (4.0, 97.0),
            (101.0, 1_999_900.0),
            (1.5, 0.5),
            (30.0, 30.0),
        ] {
            for p in [1e-9, 0.01, 0.025, 0.3, 0.5, 0.9, 0.975, 0.999_999] {
                let x = beta_quantile(p, a, b);
                let back = beta_cdf(x, a, b);
                // `x` itself is rounded.
                let bit = exp(log_power(x, a, b)) / (1.0 - x) * f64::EPSILON;
                let error = (back - p).abs();
                assert!(
                    error < 1e-8 * p.min(1.0 - p) + bit,
                    "{p} {a} {b}: {x} {back}"
                );
            }
        }
        // The upper limit of Clopper and Pearson for none of m.
        for m in [1.0, 100.0, 5000.0, 2e6] {
            let expected = -(0.01f64.ln() / m).exp_m1();
            let found = beta_quantile(0.99, 1.0, m);
            assert!((found / expected - 1.0).abs() < 1e-12, "{m} {found}");
        }
        // By scipy.
        assert!((beta_quantile(0.975, 4.0, 97.0) / 0.085_176_052_974_280_02 - 1.0).abs() < 1e-11);
        assert!(
            (beta_quantile(0.975, 101.0, 1_999_900.0) / 6.081_306_809_371_635e-5 - 1.0).abs()
                < 1e-11
        );
        assert_eq!(beta_quantile(0.99, 3.0, 0.0), 1.0);
        assert_eq!(beta_quantile(0.99, 0.0, 3.0), 0.0);
        assert_eq!(beta_quantile(0.0, 2.0, 3.0), 0.0);
        assert_eq!(beta_quantile(1.0, 2.0, 3.0), 1.0);
        assert!(beta_quantile(1.5, 2.0, 3.0).is_nan() && beta_quantile(0.5, 0.0, 0.0).is_nan());
    }
}
