//! What every pair pays, over a row of similarities at a time: the loop that
//! visits all pairs.

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
    Table(Table<T>),
}

impl<T: Real> Kernel<T> {
    /// The kernel of a score.
    pub fn new(score: &Score) -> Kernel<T> {
        let form = match &score.formula {
            Formula::Moment => Form::Power(T::of(1.0 + score.beta)),
            Formula::Probability(_) => Form::Table(Table::new(score.beta)),
        };
        Kernel {
            form,
            cap: T::of(score.caps.map_or(f64::INFINITY, |caps| caps.unlinked)),
        }
    }

    /// Turns inner products into slopes in place, `s -> l'(s - gamma; 0)`, and
    /// returns the sums of values (less the score's constant) and slopes.
    pub fn apply(&self, s: &mut [T], gamma: T) -> Term {
        match &self.form {
            Form::Power(a) => power(s, gamma, *a, self.cap),
            Form::Table(table) => look_up(s, gamma, table, self.cap),
        }
    }

    /// As [`Kernel::apply`] with a factor for each pair: 1 to keep it, 0 to
    /// leave it out.
    pub fn apply_masked(&self, s: &mut [T], gamma: T, mask: &[T]) -> Term {
        match &self.form {
            Form::Power(a) => power_masked(s, gamma, mask, *a, self.cap),
            Form::Table(table) => look_up_masked(s, gamma, mask, table, self.cap),
        }
    }
}

vectorised!(fn power<T>(s: &mut [T], gamma: T, a: T, cap: T) -> Term = power_row);
vectorised!(fn power_masked<T>(s: &mut [T], gamma: T, mask: &[T], a: T, cap: T) -> Term = power_row_masked);
vectorised!(fn look_up<T>(s: &mut [T], gamma: T, table: &Table<T>, cap: T) -> Term = look_up_row);
vectorised!(fn look_up_masked<T>(s: &mut [T], gamma: T, mask: &[T], table: &Table<T>, cap: T) -> Term = look_up_row_masked);

#[inline(always)]
fn power_row<T: Real, const FMA: bool>(s: &mut [T], gamma: T, a: T, cap: T) -> Term {
    let inverse = T::ONE / a;
    row(s, |_, s| power_one::<T, FMA>(s - gamma, a, inverse, cap))
}

#[inline(always)]
fn power_row_masked<T: Real, const FMA: bool>(
    s: &mut [T],
    gamma: T,
    mask: &[T],
    a: T,
    cap: T,
) -> Term {
    let inverse = T::ONE / a;
    let mask = &mask[..s.len()];
    row(s, |place, s| {
        let (value, slope) = power_one::<T, FMA>(s - gamma, a, inverse, cap);
        (mask[place] * value, mask[place] * slope)
    })
}

#[inline(always)]
fn look_up_row<T: Real, const FMA: bool>(s: &mut [T], gamma: T, table: &Table<T>, cap: T) -> Term {
    row(s, |_, s| table.continued(s - gamma, cap))
}

#[inline(always)]
fn look_up_row_masked<T: Real, const FMA: bool>(
    s: &mut [T],
    gamma: T,
    mask: &[T],
    table: &Table<T>,
    cap: T,
) -> Term {
    let mask = &mask[..s.len()];
    row(s, |place, s| {
        let (value, slope) = table.continued(s - gamma, cap);
        (mask[place] * value, mask[place] * slope)
    })
}

const LANES: usize = 16;

/// Replaces each entry by the slope that `term` gives and sums up both, in
/// interleaved sums so that the loop vectorises.
#[inline(always)]
fn row<T: Real>(s: &mut [T], term: impl Fn(usize, T) -> (T, T)) -> Term {
    let (mut values, mut slopes) = ([T::ZERO; LANES], [T::ZERO; LANES]);
    let (chunks, rest) = s.as_chunks_mut::<LANES>();
    let done = chunks.len() * LANES;
    for (index, chunk) in chunks.iter_mut().enumerate() {
        for lane in 0..LANES {
            let (value, slope) = term(index * LANES + lane, chunk[lane]);
            chunk[lane] = slope;
            values[lane] += value;
            slopes[lane] += slope;
        }
    }
    let total = |lanes: [T; LANES]| lanes.iter().map(|lane| lane.to_f64()).sum::<f64>();
    let mut sum = Term {
        value: total(values),
        slope: total(slopes),
    };
    for (index, place) in rest.iter_mut().enumerate() {
        let (value, slope) = term(done + index, *place);
        *place = slope;
        sum.value += value.to_f64();
        sum.slope += slope.to_f64();
    }
    sum
}

/// `e^{as}/a` and `e^{as}`, continued linearly above the cap.
#[inline(always)]
fn power_one<T: Real, const FMA: bool>(s: T, a: T, inverse: T, cap: T) -> (T, T) {
    let at = s.min(cap);
    let slope = (a * at).exp_inline::<FMA>();
    let beyond = (s - at).max(T::ZERO);
    (slope * (inverse + beyond), slope)
}
