//! What every pair pays, over a row of similarities at a time: the loop that
//! visits all pairs.

use super::series::Series;
use super::{Formula, Score, Table, Term};
use crate::processor::vectorised;
use crate::real::Real;

/// A score's all-pairs part in the precision of a fit.
#[derive(Debug, Clone)]
pub struct Kernel<T> {
    form: Form<T>,
    cap: T,
}

#[derive(Debug, Clone)]
enum Form<T> {
    /// `e^{a s}/a`.
    Power(T),
    /// The table, and in single precision the series below its limit.
    Probability(Table, Series<T>),
}

impl<T: Real> Kernel<T> {
    /// The kernel of a score.
    pub fn new(score: &Score) -> Kernel<T> {
        let form = match &score.formula {
            Formula::Moment => Form::Power(T::of(1.0 + score.beta)),
            Formula::Probability(table) => {
                Form::Probability(table.clone(), Series::new(score.beta))
            }
        };
        Kernel {
            form,
            cap: T::of(score.caps.map_or(f64::INFINITY, |caps| caps.unlinked)),
        }
    }

    /// Turns inner products into slopes in place, `s -> l'(s - gamma; 0)`, and
    /// returns the sums of values (less the score's constant) and slopes.
    /// With a mask, each pair counts by its factor: 1 to keep it, 0 to leave
    /// it out.
    pub fn apply(&self, s: &mut [T], gamma: T, mask: Option<&[T]>) -> Term {
        match &self.form {
            Form::Power(a) => power(s, gamma, mask, *a, self.cap),
            Form::Probability(table, series) => look_up(s, gamma, mask, (table, series), self.cap),
        }
    }
}

vectorised!(fn power<T>(s: &mut [T], gamma: T, mask: Option<&[T]>, a: T, cap: T) -> Term = power_row);
vectorised!(fn look_up<T>(s: &mut [T], gamma: T, mask: Option<&[T]>, forms: (&Table, &Series<T>), cap: T) -> Term = look_up_row);

#[inline(always)]
fn power_row<T: Real, const FMA: bool>(
    s: &mut [T],
    gamma: T,
    mask: Option<&[T]>,
    a: T,
    cap: T,
) -> Term {
    let inverse = T::ONE / a;
    row::<T, FMA>(
        s,
        mask,
        &Power {
            gamma,
            a,
            inverse,
            cap,
        },
    )
}

#[inline(always)]
fn look_up_row<T: Real, const FMA: bool>(
    s: &mut [T],
    gamma: T,
    mask: Option<&[T]>,
    (table, series): (&Table, &Series<T>),
    cap: T,
) -> Term {
    // The series is as exact as single precision, not as double.
    let limit = if T::IS_SINGLE {
        series.limit().min(cap)
    } else {
        T::of(f64::NEG_INFINITY)
    };
    let form = Probability {
        gamma,
        table,
        series,
        limit,
        cap: cap.to_f64(),
    };
    row::<T, FMA>(s, mask, &form)
}

/// Value and slope of similarities. (A trait rather than closures: what is
/// not inlined would be compiled without the wide registers.)
trait Pay<T> {
    fn one<const FMA: bool>(&self, s: T) -> (T, T);

    /// Turns a chunk of similarities into slopes and writes the values beside.
    fn many<const FMA: bool>(&self, chunk: &mut [T; LANES], values: &mut [T; LANES]);
}

/// `e^{as}/a` and `e^{as}`, continued linearly above the cap.
struct Power<T> {
    gamma: T,
    a: T,
    inverse: T,
    cap: T,
}

impl<T: Real> Pay<T> for Power<T> {
    #[inline(always)]
    fn one<const FMA: bool>(&self, s: T) -> (T, T) {
        let s = s - self.gamma;
        let at = s.min(self.cap);
        let slope = (self.a * at).exp_inline::<FMA>();
        let beyond = (s - at).max(T::ZERO);
        (slope * (self.inverse + beyond), slope)
    }

    #[inline(always)]
    fn many<const FMA: bool>(&self, chunk: &mut [T; LANES], values: &mut [T; LANES]) {
        for lane in 0..LANES {
            (values[lane], chunk[lane]) = self.one::<FMA>(chunk[lane]);
        }
    }
}

/// The table, and below a limit the series.
struct Probability<'a, T> {
    gamma: T,
    table: &'a Table,
    series: &'a Series<T>,
    limit: T,
    cap: f64,
}

impl<T: Real> Pay<T> for Probability<'_, T> {
    #[inline(always)]
    fn one<const FMA: bool>(&self, s: T) -> (T, T) {
        let term = self.table.continued((s - self.gamma).to_f64(), self.cap);
        (T::of(term.value), T::of(term.slope))
    }

    #[inline(always)]
    fn many<const FMA: bool>(&self, chunk: &mut [T; LANES], values: &mut [T; LANES]) {
        let mut largest = chunk[0];
        for &s in chunk.iter() {
            largest = largest.max(s);
        }
        // Most pairs expect next to nothing: the series serves them all.
        if largest - self.gamma <= self.limit {
            for lane in 0..LANES {
                (values[lane], chunk[lane]) = self.series.evaluate::<FMA>(chunk[lane] - self.gamma);
            }
        } else {
            for lane in 0..LANES {
                (values[lane], chunk[lane]) = self.one::<FMA>(chunk[lane]);
            }
        }
    }
}

const LANES: usize = 16;

/// Replaces each entry by its slope and sums up values and slopes, in
/// interleaved sums so that the loop vectorises.
#[inline(always)]
fn row<T: Real, const FMA: bool>(s: &mut [T], mask: Option<&[T]>, form: &impl Pay<T>) -> Term {
    let (mut values, mut slopes) = ([T::ZERO; LANES], [T::ZERO; LANES]);
    let mut paid = [T::ZERO; LANES];
    let (chunks, rest) = s.as_chunks_mut::<LANES>();
    let done = chunks.len() * LANES;
    match mask {
        None => {
            for chunk in chunks.iter_mut() {
                form.many::<FMA>(chunk, &mut paid);
                for lane in 0..LANES {
                    values[lane] += paid[lane];
                    slopes[lane] += chunk[lane];
                }
            }
        }
        Some(mask) => {
            for (chunk, mask) in chunks.iter_mut().zip(mask.as_chunks::<LANES>().0) {
                form.many::<FMA>(chunk, &mut paid);
                for lane in 0..LANES {
                    chunk[lane] *= mask[lane];
                    values[lane] += mask[lane] * paid[lane];
                    slopes[lane] += chunk[lane];
                }
            }
        }
    }
    let total = |lanes: [T; LANES]| lanes.iter().map(|lane| lane.to_f64()).sum::<f64>();
    let mut sum = Term {
        value: total(values),
        slope: total(slopes),
    };
    for (index, place) in rest.iter_mut().enumerate() {
        let factor = mask.map_or(T::ONE, |mask| mask[done + index]);
        let (value, slope) = form.one::<FMA>(*place);
        *place = factor * slope;
        sum.value += (factor * value).to_f64();
        sum.slope += (factor * slope).to_f64();
    }
    sum
}
