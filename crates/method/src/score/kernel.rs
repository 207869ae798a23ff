//! What every pair pays, over a row of similarities at a time: the loop that
//! visits all pairs.

use std::sync::Arc;

use super::probability::{CHUNK, Pieces};
use super::{Formula, Score, Term};
use linkproof_numeric::processor::vectorised;
use linkproof_numeric::real::{Real, range, sum, sum_of_products};

/// A score's all-pairs part in the precision of a fit.
#[derive(Debug, Clone)]
pub struct Kernel<T> {
    score: Score,
    form: Form<T>,
    cap: T,
}

#[derive(Debug, Clone)]
enum Form<T> {
    /// `e^{a s}/a`.
    Power(T),
    /// The formula, and in single precision its pieces as far as they reach.
    Formula(Arc<dyn Formula>, Option<Pieces<T>>),
}

impl<T: Real> Kernel<T> {
    /// The kernel of a score.
    pub fn new(score: &Score) -> Kernel<T> {
        let formula = &score.formula;
        let form = match formula.is_power() {
            true => Form::Power(T::of(formula.growth())),
            // Pieces are as exact as single precision, not as double.
            false => {
                let pieces = formula.pieces().filter(|_| T::IS_SINGLE);
                Form::Formula(Arc::clone(formula), pieces.map(Pieces::cast))
            }
        };
        let cap = score.caps.as_ref().map_or(f64::INFINITY, |caps| caps.0);
        Kernel {
            score: score.clone(),
            form,
            cap: T::of(cap),
        }
    }

    /// The score whose kernel it is.
    pub fn score(&self) -> &Score {
        &self.score
    }

    /// Turns inner products into slopes in place, `s -> l'(s - gamma; 0)`, and
    /// returns the sums of values (less the score's constant) and slopes.
    /// With a mask, each pair counts by its factor: 1 to keep it, 0 to leave
    /// it out.
    pub fn apply(&self, s: &mut [T], gamma: T, mask: Option<&[T]>) -> Term {
        let masks = Masks {
            counted: mask,
            watched: None,
        };
        self.apply_masked(s, gamma, masks).0
    }

    /// The same, and beside it the sum of the values of the pairs that are
    /// watched; their slopes are left out unless they are counted too.
    pub fn apply_masked(&self, s: &mut [T], gamma: T, masks: Masks<'_, T>) -> (Term, f64) {
        match &self.form {
            Form::Power(a) => power(s, gamma, masks, *a, self.cap),
            Form::Formula(formula, pieces) => {
                let forms = (&**formula, pieces.as_ref());
                look_up(s, gamma, masks, forms, self.cap)
            }
        }
    }
}

/// Factors of the pairs of a row, 1 or 0.
#[derive(Debug, Clone, Copy)]
pub struct Masks<'a, T> {
    /// Which pairs count; unset: all of them.
    pub counted: Option<&'a [T]>,
    /// Which pairs' values are summed up beside.
    pub watched: Option<&'a [T]>,
}

/// A formula and its pieces.
type Forms<'a, T> = (&'a dyn Formula, Option<&'a Pieces<T>>);

vectorised!(fn power<T>(s: &mut [T], gamma: T, masks: Masks<'_, T>, a: T, cap: T) -> (Term, f64) = power_row);
vectorised!(fn look_up<T>(s: &mut [T], gamma: T, masks: Masks<'_, T>, forms: Forms<'_, T>, cap: T) -> (Term, f64) = look_up_row);

/// How many pairs are handled together: their values wait for their sum.
const SEGMENT: usize = 384;

#[inline(always)]
fn power_row<T: Real, const FMA: bool>(
    s: &mut [T],
    gamma: T,
    masks: Masks<'_, T>,
    a: T,
    cap: T,
) -> (Term, f64) {
    let inverse = T::ONE / a;
    // Nearly always no pair of the row is above the cap, and then value and
    // slope are the same exponential.
    if range(s).1 - gamma <= cap.min(T::of(T::EXP_MAX) * inverse) {
        let shift = -a * gamma;
        for s in s.iter_mut() {
            *s = s.fma::<FMA>(a, shift).exp_below::<FMA>();
        }
        let watched = masks
            .watched
            .map_or(T::ZERO, |mask| sum_of_products(s, mask));
        if let Some(mask) = masks.counted {
            multiply_by(s, mask);
        }
        let slope = sum(s).to_f64();
        let term = Term::new(slope * inverse.to_f64(), slope);
        return (term, watched.to_f64() * inverse.to_f64());
    }
    let form = Power {
        gamma,
        a,
        inverse,
        cap,
    };
    row::<T, FMA>(s, masks, &form)
}

#[inline(always)]
fn look_up_row<T: Real, const FMA: bool>(
    s: &mut [T],
    gamma: T,
    masks: Masks<'_, T>,
    (formula, pieces): Forms<'_, T>,
    cap: T,
) -> (Term, f64) {
    let limit = match pieces {
        None => f64::NEG_INFINITY,
        Some(pieces) if cap.to_f64() < pieces.top() => f64::INFINITY,
        Some(pieces) => pieces.top(),
    };
    let form = Piecewise {
        gamma,
        formula,
        pieces,
        limit: T::of(limit),
        cap,
    };
    row::<T, FMA>(s, masks, &form)
}

/// Value and slope of similarities. (A trait rather than closures: what is
/// not inlined would be compiled without the wide registers.)
trait Pay<T> {
    /// Turns similarities into slopes and writes the values beside.
    fn pay<const FMA: bool>(&self, s: &mut [T], values: &mut [T]);
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
    fn pay<const FMA: bool>(&self, s: &mut [T], values: &mut [T]) {
        for (place, value) in s.iter_mut().zip(values) {
            let s = *place - self.gamma;
            let at = s.min(self.cap);
            let slope = (self.a * at).exp_inline::<FMA>();
            let beyond = (s - at).max(T::ZERO);
            *place = slope;
            *value = slope * (self.inverse + beyond);
        }
    }
}

/// The pieces up to a limit, the formula above.
struct Piecewise<'a, T> {
    gamma: T,
    formula: &'a dyn Formula,
    pieces: Option<&'a Pieces<T>>,
    limit: T,
    cap: T,
}

impl<T: Real> Pay<T> for Piecewise<'_, T> {
    #[inline(always)]
    fn pay<const FMA: bool>(&self, s: &mut [T], values: &mut [T]) {
        // Nearly always one piece serves all, and none is above the cap.
        if self.by_one_piece::<FMA>(s, values) {
            return;
        }
        for (s, values) in s.chunks_mut(CHUNK).zip(values.chunks_mut(CHUNK)) {
            if self.by_one_piece::<FMA>(s, values) {
                continue;
            }
            let range = self.range(s);
            match self.pieces {
                Some(pieces) if range.1 <= self.limit => {
                    self.by_pieces::<FMA>(pieces, range, s, values);
                }
                _ => self.by_formula(s, values),
            }
        }
    }
}

impl<T: Real> Piecewise<'_, T> {
    /// The least and the largest similarity.
    #[inline(always)]
    fn range(&self, s: &[T]) -> (T, T) {
        let (least, most) = range(s);
        (least - self.gamma, most - self.gamma)
    }

    #[inline(always)]
    fn by_one_piece<const FMA: bool>(&self, s: &mut [T], values: &mut [T]) -> bool {
        let range = self.range(s);
        match self.pieces {
            Some(pieces) if range.1 <= self.limit.min(self.cap) => {
                pieces.serve::<FMA>(range, self.gamma, s, values)
            }
            _ => false,
        }
    }

    #[inline(always)]
    fn by_pieces<const FMA: bool>(
        &self,
        pieces: &Pieces<T>,
        range: (T, T),
        s: &mut [T],
        values: &mut [T],
    ) {
        let mut beyond = [T::ZERO; CHUNK];
        for (s, beyond) in s.iter_mut().zip(&mut beyond) {
            let similarity = *s - self.gamma;
            *s = similarity.min(self.cap);
            *beyond = (similarity - self.cap).max(T::ZERO);
        }
        let range = (range.0.min(self.cap), range.1.min(self.cap));
        pieces.share::<FMA>(range, s, values);
        for ((slope, value), beyond) in s.iter().zip(values).zip(&beyond) {
            *value = beyond.fma::<FMA>(*slope, *value);
        }
    }

    fn by_formula(&self, s: &mut [T], values: &mut [T]) {
        let (mut slopes, mut wide) = ([0.0; CHUNK], [0.0; CHUNK]);
        let (slopes, wide) = (&mut slopes[..s.len()], &mut wide[..s.len()]);
        for (slope, s) in slopes.iter_mut().zip(&*s) {
            *slope = (*s - self.gamma).to_f64();
        }
        self.formula.pay(slopes, wide, self.cap.to_f64());
        for ((s, value), (slope, wide)) in s.iter_mut().zip(values).zip(slopes.iter().zip(&*wide)) {
            (*s, *value) = (T::of(*slope), T::of(*wide));
        }
    }
}

/// Replaces each entry by its slope and sums up values and slopes.
#[inline(always)]
fn row<T: Real, const FMA: bool>(
    s: &mut [T],
    masks: Masks<'_, T>,
    form: &impl Pay<T>,
) -> (Term, f64) {
    let mut values = [T::ZERO; SEGMENT];
    let mut total = Term::ZERO;
    let mut watched = 0.0;
    let mut done = 0;
    for s in s.chunks_mut(SEGMENT) {
        let values = &mut values[..s.len()];
        let here = done..done + s.len();
        form.pay::<FMA>(s, values);
        if let Some(mask) = masks.watched {
            watched += sum_of_products(values, &mask[here.clone()]).to_f64();
        }
        if let Some(mask) = masks.counted {
            multiply_by(s, &mask[here.clone()]);
            multiply_by(values, &mask[here]);
        }
        done += s.len();
        total.value += sum(values).to_f64();
        total.slope += sum(s).to_f64();
    }
    (total, watched)
}

#[inline(always)]
fn multiply_by<T: Real>(numbers: &mut [T], factors: &[T]) {
    for (number, factor) in numbers.iter_mut().zip(factors) {
        *number *= *factor;
    }
}
