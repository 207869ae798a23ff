use super::probability::{Pieces, Table, log_poisson_of_large};
use super::*;
use crate::support::on_every_path;
use crate::support::{cases, is_derivative};
use proptest::prelude::*;

/// beta, s, `l(s;0) - 1/(1+beta)` and its derivative, to 18 digits, by direct
/// summation in 60-digit arithmetic.
#[rustfmt::skip]
#[allow(clippy::excessive_precision)]
const GOLDEN: &[(f64, f64, f64, f64)] = &[
    (1e-8, -30.0, 9.35762006797750437e-14, 9.35762016155370505e-14),
    (1e-8, -9.3, 0.0000914242220614072256, 0.0000914242229755786871),
    (1e-8, -2.1, 0.122456424330748915, 0.122456425430078772),
    (1e-8, -0.4, 0.670320032978593221, 0.670320036128602587),
    (1e-8, 0.7, 2.01375267010662115, 2.01375266122469632),
    (1e-8, 2.2, 9.02501306708887902, 9.0250126798192336),
    (1e-8, 4.1, 60.3402693579386376, 60.3402511828558342),
    (1e-8, 6.3, 544.570427290106311, 544.568944543349377),
    (1e-8, 9.9, 19928.3844717765854, 19926.3986373776969),
    (1e-8, 15.2, 3914125.50226123798, 3836504.14744301751),
    (1e-8, 21.5, 99999999.9639522711, 0.783804586084105209),
    (1e-3, -30.0, 9.07199142331855948e-14, 9.0810634147418777e-14),
    (1e-3, -9.3, 0.0000904874335188555337, 0.0000905779142889414801),
    (1e-3, -2.1, 0.122064956230341569, 0.122174557596820205),
    (1e-3, -0.4, 0.669016305962693186, 0.669330539419246581),
    (1e-3, 0.7, 2.01002105455681504, 2.00913376635689696),
    (1e-3, 2.2, 8.98190710573982626, 8.94342024715458945),
    (1e-3, 4.1, 58.5524248515404153, 56.806509626257568),
    (1e-3, 6.3, 419.905385563221817, 315.900255119457462),
    (1e-3, 9.9, 999.993655684886701, -0.000452291754242504865),
    (1e-3, 15.2, 999.991030826883666, -0.00049501593359494073),
    (1e-3, 21.5, 999.987917133253649, -0.000493459066165129268),
    (0.1, -30.0, 4.23535104100704001e-15, 4.65888614511125861e-15),
    (0.1, -9.3, 0.000032793951111989091, 0.000036074416621185122),
    (0.1, -2.1, 0.0897707582652431605, 0.0979660341700350369),
    (0.1, -0.4, 0.557111726329886442, 0.581968455743310144),
    (0.1, 0.7, 1.68264685842613167, 1.60288539040337945),
    (0.1, 2.2, 5.74435102254042358, 3.62397457116629704),
    (0.1, 4.1, 9.71116359697475912, 0.112267728548180917),
    (0.1, 6.3, 9.66794862174537257, -0.0288604194558734087),
    (0.1, 9.9, 9.57288616803087808, -0.0240990462300079603),
    (0.1, 15.2, 9.46068462537855626, -0.0184887774601509537),
    (0.1, 21.5, 9.36076716140516895, -0.0134929035257911346),
    (0.5, -30.0, 1.9083461581915327e-20, 2.86251945619980025e-20),
    (0.5, -9.3, 5.86873945110644865e-7, 8.82320494604956738e-7),
    (0.5, -2.1, 0.0310525128511288242, 0.0455973637533525727),
    (0.5, -0.4, 0.309575749375120643, 0.362771636470548175),
    (0.5, 0.7, 0.897773842029201032, 0.653457359324959372),
    (0.5, 2.2, 1.51054826255300688, 0.0483914176420456994),
    (0.5, 4.1, 1.45676244680488553, -0.0309291048570706484),
    (0.5, 6.3, 1.40450908186482353, -0.0177984809077527076),
    (0.5, 9.9, 1.36226943743869045, -0.00723407643982506674),
    (0.5, 15.2, 1.34102462209610987, -0.00192282225757941753),
    (0.5, 21.5, 1.33492548818325942, -0.000398038712506946952),
    (1.0, -30.0, 8.75651076269529124e-27, 1.75130215253893534e-26),
    (1.0, -9.3, 8.35724396125298551e-9, 1.67133418813431677e-8),
    (1.0, -2.1, 0.0125330240859474447, 0.0228706429041083163),
    (1.0, -0.4, 0.185027125603432183, 0.22541601910969186),
    (1.0, 0.7, 0.469627855262192031, 0.212566795630323914),
    (1.0, 2.2, 0.547166153902497805, -0.0229043898399108202),
    (1.0, 4.1, 0.518176618968824147, -0.00910729474881511314),
    (1.0, 6.3, 0.506044874946308445, -0.00302313187559764713),
    (1.0, 9.9, 0.500999099516573269, -0.000499552891459025229),
    (1.0, 15.2, 0.500070587372559604, -0.0000352936873847224301),
    (1.0, 21.5, 0.500003024818996874, -1.51240949852392223e-6),
    (2.0, -30.0, 4.37825538134785047e-27, 8.75651076269529124e-27),
    (2.0, -9.3, 4.17881295644299811e-9, 8.35724380409919794e-9),
    (2.0, -2.1, 0.00655558562491321506, 0.0121644396719852642),
    (2.0, -0.4, 0.0943985831941816789, 0.101029072820939842),
    (2.0, 0.7, 0.173905100330710244, 0.0187202244062406678),
    (2.0, 2.2, 0.17010333325482233, -0.00348047235432700724),
    (2.0, 4.1, 0.167175215666216886, -0.000509490647595801148),
    (2.0, 6.3, 0.166722923029677926, -0.0000562678482445112743),
    (2.0, 9.9, 0.166668203494792042, -1.5368366932811184e-6),
    (2.0, 15.2, 0.16666667433784602, -7.6711795665086767e-9),
    (2.0, 21.5, 0.16666666668075329, -1.40866229008620779e-11),
    (5.0, -30.0, 4.37825538134675793e-27, 8.75651076269201363e-27),
    (5.0, -9.3, 4.17779435666335663e-9, 8.35418828412735593e-9),
    (5.0, -2.1, 0.00484961910659337395, 0.00765267407645555334),
    (5.0, -0.4, 0.0295854087353992525, 0.0120079664098615212),
    (5.0, 0.7, 0.0334602913555897412, -0.000277284813307048579),
    (5.0, 2.2, 0.0333362207193036285, -7.29759802496311603e-6),
    (5.0, 4.1, 0.0333333577427158955, -6.11220493809540654e-8),
    (5.0, 6.3, 0.0333333334327316957, -2.48540283385325118e-10),
    (5.0, 9.9, 0.0333333333333455947, -3.06536680420253596e-14),
    (5.0, 15.2, 0.0333333333333333334, -5.39601547989023996e-20),
    (5.0, 21.5, 0.0333333333333333333, -7.79713511286503475e-27),
];

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * b.abs()
}

#[test]
fn probability_formula_and_table_match_golden_values() {
    for &(beta, s, value, slope) in GOLDEN {
        let exact = probability::unlinked(beta, s);
        assert!(
            close(exact.0, value, 1e-12),
            "{beta} {s} {} {value}",
            exact.0
        );
        assert!(
            close(exact.1, slope, 1e-11),
            "{beta} {s} {} {slope}",
            exact.1
        );
        let term = Score::new(ScoreKind::Probability, beta).unlinked(s);
        assert!(close(term.value, value, 1e-10), "{beta} {s} {term:?}");
        assert!(close(term.slope, slope, 1e-10), "{beta} {s} {term:?}");
    }
}

#[test]
fn table_stays_within_its_bound_everywhere() {
    for beta in [1e-8, 1e-3, 0.1, 0.5, 0.99, 1.0, 2.0, 4.0, 10.0] {
        let table = Table::new(beta);
        let mut last = f64::NAN;
        for step in 0..9000 {
            let s = -41.0 + f64::from(step) * 0.006_217;
            let (value, slope) = probability::unlinked(beta, s);
            let term = table.evaluate(s);
            assert!(close(term.value, value, 1e-10), "{beta} {s}");
            // Where the slope changes sign no relative bound can hold.
            let sign_change = last * slope < 0.0;
            last = slope;
            if !sign_change {
                assert!(
                    close(term.slope, slope, 1e-10),
                    "{beta} {s} {} {slope}",
                    term.slope
                );
            }
        }
    }
}

#[test]
fn pieces_stay_within_their_bound_up_to_their_top() {
    for beta in [1e-8, 0.1, 0.5, 0.99, 1.0, 2.0, 4.0, 10.0] {
        let table = Table::new(beta);
        let (single, double) = (table.pieces().clone(), Pieces::<f64>::new(beta, &table));
        assert!(single.top() > 0.3, "{beta} {}", single.top());
        let steps = ((single.top() + 40.0) / 0.0058) as u32;
        for step in 0..steps {
            let s = single.top() - f64::from(step) * 0.0058;
            let (value, slope) = probability::unlinked(beta, s);
            let scale = value.abs().max(slope.abs());
            for (v, d) in at(&double, s) {
                assert!(close(v, value, 1e-7), "{beta} {s} {v} {value}");
                assert!((d - slope).abs() < 1e-7 * scale, "{beta} {s} {d} {slope}");
            }
            // In f32 a similarity s is known to 6e-8 |s|, and so is log mu.
            let rounded = s as f32;
            let (value, slope) = probability::unlinked(beta, f64::from(rounded));
            let bound = 6e-7 + 1.3e-7 * (1.0 + beta) * s.abs();
            for (v, d) in at(&single, rounded).into_iter().filter(|_| slope > 1e-36) {
                assert!(close(v.into(), value, bound), "{beta} {s} {v} {value}");
                assert!(
                    (f64::from(d) - slope).abs() < bound * scale,
                    "{beta} {s} {d} {slope}"
                );
            }
        }
    }
}

/// Value and slope at one similarity, in the company of others that are close,
/// further and far away, so that pieces of each length serve it, and several
/// pieces at once.
fn at<T: Real>(pieces: &Pieces<T>, s: T) -> Vec<(T, T)> {
    let mut found = Vec::new();
    for distance in [0.1, 1.5, 3.0, 6.0] {
        let other = s - T::of(distance);
        let mut slopes = [s; 64];
        slopes[5] = other;
        let mut values = [T::ZERO; 64];
        if pieces.serve::<true>((other, s), T::ZERO, &mut slopes, &mut values) {
            found.push((values[9], slopes[9]));
        }
        let mut slopes = [s; 64];
        slopes[5] = other;
        pieces.share::<true>((other, s), &mut slopes, &mut values);
        found.push((values[9], slopes[9]));
    }
    found
}

#[test]
fn kernels_have_the_same_bits_on_every_path() {
    let mask: Vec<f32> = (0..500)
        .map(|place| f32::from(u8::from(place % 3 > 0)))
        .collect();
    for kind in [
        ScoreKind::Likelihood,
        ScoreKind::Moment,
        ScoreKind::Probability,
    ] {
        let kernel = Kernel::<f32>::new(&Score::new(kind, 0.4).capped::<f32>());
        let double = Kernel::<f64>::new(&Score::new(kind, 0.4).capped::<f64>());
        for (n, scale) in [(1, 1.0), (63, 0.1), (384, 2.0), (500, 8.0), (130, 60.0)] {
            let row: Vec<f64> = (0..n).map(|i| (f64::from(i) * 1.7).sin() * scale).collect();
            for mask in [None, Some(&mask[..n as usize])] {
                on_every_path(|| {
                    let mut s: Vec<f32> = row.iter().map(|&x| x as f32).collect();
                    let term = kernel.apply(&mut s, 5.0, mask);
                    let mut wide = row.clone();
                    let of_wide = double.apply(&mut wide, 5.0, None);
                    (term, s, of_wide, wide)
                });
            }
        }
    }
}

#[test]
fn beta_one_is_a_bessel_function() {
    // A = e^{-2 mu} I_0(2 mu), by the power series of I_0.
    let score = Score::new(ScoreKind::Probability, 1.0);
    for step in -60..30 {
        let s = f64::from(step) * 0.1;
        let mu = s.exp();
        let (mut term, mut bessel) = (1.0, 1.0);
        for k in 1..200 {
            term *= (mu / f64::from(k)).powi(2);
            bessel += term;
        }
        let value = 1.0 - (-mu).exp() + (-2.0 * mu).exp() * bessel / 2.0;
        assert!(close(score.pair(s, 0.0).value, value, 1e-12), "{s}");
    }
}

#[test]
fn both_scores_tend_to_the_likelihood() {
    let likelihood = Score::new(ScoreKind::Likelihood, 0.7);
    let moment = Score::new(ScoreKind::Moment, 1e-8);
    let probability = Score::new(ScoreKind::Probability, 1e-8);
    for s in [-8.0, -1.0, 0.0, 1.5, 4.0] {
        for w in [0.0, 0.3, 1.0, 7.0, 500.0] {
            let limit = likelihood.pair(s, w);
            assert_eq!(limit.value, -w * s + s.exp());
            let m = moment.pair(s, w);
            assert!(
                (m.value - limit.value).abs() < 1e-7 * (1.0 + w) * (1.0 + s * s),
                "{s} {w}"
            );
            assert!(
                (m.slope - limit.slope).abs() < 1e-7 * (1.0 + w) * (1.0 + s.exp()),
                "{s} {w}"
            );
            let p = probability.pair(s, w);
            let constant = 1.0 + log_factorial(w);
            let log_p = constant + limit.value.abs();
            let scale = 1e-8 * (1.0 + log_p) * (1.0 + log_p + w + s.exp());
            assert!(
                (p.value - constant - limit.value).abs() < scale,
                "{s} {w} {p:?} {limit:?}"
            );
            assert!((p.slope - limit.slope).abs() < scale, "{s} {w}");
        }
    }
    let zero = Score::new(ScoreKind::Probability, 0.0);
    assert_eq!(zero.pair(0.3, 2.0), likelihood.pair(0.3, 2.0));
}

#[test]
fn extreme_pairs_stay_finite() {
    for beta in [1e-8, 0.1, 0.5, 2.0] {
        let score = Score::new(ScoreKind::Probability, beta);
        for s in [-500.0, -60.0, 0.0, 6.2, 30.0, 300.0] {
            for w in [0.3, 1.0, 500.0, 1e6] {
                let term = score.pair(s, w);
                assert!(
                    term.value.is_finite() && term.slope.is_finite(),
                    "{beta} {s} {w} {term:?}"
                );
            }
        }
    }
}

#[test]
fn kernels_match_the_formulas() {
    for (kind, beta) in [
        (ScoreKind::Likelihood, 0.0),
        (ScoreKind::Moment, 0.5),
        (ScoreKind::Probability, 0.1),
        (ScoreKind::Probability, 1.0),
    ] {
        for capped in [false, true] {
            kernel_matches::<f32>(kind, beta, capped, 3e-6);
            kernel_matches::<f64>(kind, beta, capped, 1e-10);
        }
    }
}

fn kernel_matches<T: Real>(kind: ScoreKind, beta: f64, capped: bool, tolerance: f64) {
    let mut score = Score::new(kind, beta);
    if capped {
        score = score.capped::<T>();
    }
    let kernel = Kernel::<T>::new(&score);
    let top = if capped { 200.0 } else { 20.0 };
    let similarities: Vec<f64> = (0..101)
        .map(|i| -30.0 + f64::from(i) * 0.01 * (30.0 + top))
        .collect();
    for &s in &similarities {
        for length in [1, 33] {
            let mut row = vec![T::of(s + 0.5); length];
            let sums = kernel.apply(&mut row, T::of(0.5), None);
            let value = sums.value / length as f64;
            // In f32 a similarity s is known to about 6e-8 |s|.
            let slack = tolerance * (1.0 + 0.1 * s.abs());
            let term = score.unlinked((T::of(s + 0.5) - T::of(0.5)).to_f64());
            assert!(
                (value - term.value).abs() <= slack * (term.value.abs() + 1e-30),
                "{kind} {beta} {s} {value} {term:?}"
            );
            assert!(
                (row[0].to_f64() - term.slope).abs()
                    <= slack * (term.slope.abs() + 1e-4 * term.value.abs() + 1e-30),
                "{kind} {beta} {s}"
            );
        }
    }
}

fn any_score() -> impl Strategy<Value = (ScoreKind, f64, bool)> {
    let kind = prop_oneof![
        Just(ScoreKind::Likelihood),
        Just(ScoreKind::Moment),
        Just(ScoreKind::Probability)
    ];
    (kind, 0.001..3.0f64, any::<bool>())
}

proptest! {
    #![proptest_config(cases(256))]
    #[test]
    fn slopes_are_derivatives((kind, beta, capped) in any_score(), s in -12.0..9.0f64, w in prop_oneof![Just(0.0), 0.3..500.0f64]) {
        let mut score = Score::new(kind, beta);
        if capped {
            score = score.capped::<f32>();
        }
        let slope = score.pair(s, w).slope;
        // Value and slope are tabulated apart, each within 1e-10 of itself.
        let size = score.pair(s, w).value.abs() + slope.abs();
        let found = is_derivative(slope, 1e-6 * size + 1e-12, |by| score.pair(s + by, w).value);
        prop_assert!(found.is_ok(), "{kind} {beta} {s} {w}: {found:?}");
    }

    #[test]
    fn no_pair_pays_less_and_less_beyond_its_cap(
        (kind, beta, single) in any_score(),
        log_w in -7.0..9.3f64,
        far in 0.0..80.0f64,
    ) {
        let plain = Score::new(kind, beta);
        let capped = match single {
            true => plain.clone().capped::<f32>(),
            false => plain.clone().capped::<f64>(),
        };
        let w = log_w.exp();
        let cap = capped.caps.as_ref().unwrap().1.of(w);
        // Beyond the cap the slope is one and the same, and not negative.
        let (near, there) = (capped.pair(cap + 1e-6, w), capped.pair(cap + far + 1e-6, w));
        prop_assert!(near.slope >= 0.0 && there.slope >= 0.0, "{near:?} {there:?}");
        prop_assert!((near.slope - there.slope).abs() <= 1e-9 * (1.0 + there.value.abs()));
        prop_assert!(there.value >= near.value - 1e-9 * (1.0 + near.value.abs()));
        let end = capped.pair(1e30, w);
        prop_assert!(end.value >= near.value && end.slope >= 0.0, "{end:?}");
        // Value and slope go on where they were, if the slope was not negative.
        let at = capped.pair(cap, w);
        prop_assert!((at.value - near.value).abs() <= 1e-5 * (1.0 + at.value.abs() + at.slope.abs()));
        // A link that was thrown far out comes back, and one of a weight that
        // the precision can hold is followed to its weight and beyond.
        if kind == ScoreKind::Probability || cap > log_w + 1.0 {
            prop_assert!(near.slope > 0.0, "{near:?}");
            prop_assert!(cap > log_w, "{cap} {log_w}");
            let below = [log_w - 3.0, log_w - 0.1, log_w, 0.5 * (log_w + cap)];
            for s in below {
                let (a, b) = (plain.pair(s, w), capped.pair(s, w));
                prop_assert!((a.value - b.value).abs() <= 1e-9 * (1.0 + a.value.abs()));
                prop_assert!((a.slope - b.slope).abs() <= 1e-9 * (1.0 + a.slope.abs() + a.value.abs()));
            }
        }
    }

    #[test]
    fn capped_scores_agree_below_the_cap_and_grow_above((kind, beta, _) in any_score(), w in 0.3..50.0f64) {
        let plain = Score::new(kind, beta);
        let capped = plain.clone().capped::<f32>();
        prop_assert_eq!(plain.pair(-2.0, w), capped.pair(-2.0, w));
        // Unlinked pairs are always pushed down.
        for s in [-5.0, 0.0, 5.0, 50.0, 500.0] {
            let term = capped.unlinked(s);
            prop_assert!(term.slope > 0.0 && term.value.is_finite());
        }
    }
}

#[test]
fn the_probability_score_stays_finite_where_mu_is_not() {
    for beta in [0.1, 0.5, 2.0] {
        let score = Score::new(ScoreKind::Probability, beta);
        for w in [0.0, 3.0] {
            let term = score.pair(800.0, w);
            assert!((term.value - 1.0 / beta).abs() < 1e-6, "{term:?}");
            assert!(term.slope.abs() < 1e-6, "{term:?}");
        }
    }
}

#[test]
fn large_weights_keep_their_digits() {
    // Both formulas where they meet, and the largest chance far beyond.
    for w in [1.0e6, 1.7e6] {
        for step in -20..=20 {
            let mu: f64 = w + f64::from(step) * 0.3 * f64::sqrt(w);
            let direct = w * mu.ln() - mu - log_factorial(w);
            let found = log_poisson_of_large(mu.ln(), w);
            assert!((found - direct).abs() < 1e-7, "{w} {mu} {found} {direct}");
        }
    }
    for w in [1e9f64, 1e30, 1e200, 1e305] {
        let peak = -0.5 * (std::f64::consts::TAU.ln() + w.ln());
        assert!((log_poisson_of_large(w.ln(), w) - peak).abs() < 1e-9);
        for s in [-800.0, 0.0, 30.0, 300.0, 705.0] {
            assert!(log_poisson_of_large(s, w) <= peak + 1e-9, "{w} {s}");
            for (term, limit) in [
                (
                    Score::new(ScoreKind::Probability, 0.5)
                        .capped::<f32>()
                        .pair(s, w),
                    1e30,
                ),
                (
                    Score::new(ScoreKind::Probability, 0.5)
                        .capped::<f64>()
                        .pair(s, w),
                    1e200,
                ),
            ] {
                assert!(
                    term.value.abs() < limit && term.slope.abs() < limit,
                    "{w} {s} {term:?}"
                );
            }
        }
    }
}
