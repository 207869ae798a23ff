//! What every pair pays, over a row of similarities at a time: the loop that
//! visits all pairs.

use super::pieces::{CHUNK, Pieces};
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
    /// The table, and in single precision the pieces as far as they reach.
    Probability(Table, Pieces<T>),
}

impl<T: Real> Kernel<T> {
    /// The kernel of a score.
    pub fn new(score: &Score) -> Kernel<T> {
        let form = match &score.formula {
            Formula::Moment => Form::Power(T::of(1.0 + score.beta)),
            Formula::Probability(table) => {
                Form::Probability(table.clone(), Pieces::new(score.beta, table))
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
            Form::Probability(table, pieces) => look_up(s, gamma, mask, (table, pieces), self.cap),
        }
    }
}

vectorised!(fn power<T>(s: &mut [T], gamma: T, mask: Option<&[T]>, a: T, cap: T) -> Term = power_row);
vectorised!(fn look_up<T>(s: &mut [T], gamma: T, mask: Option<&[T]>, forms: (&Table, &Pieces<T>), cap: T) -> Term = look_up_row);

#[inline(always)]
fn power_row<T: Real, const FMA: bool>(
    s: &mut [T],
    gamma: T,
    mask: Option<&[T]>,
    a: T,
    cap: T,
) -> Term {
    let inverse = T::ONE / a;
    // Nearly always no pair of the row is above the cap, and then value and
    // slope are the same exponential.
    if range(s).1 - gamma <= cap.min(T::of(T::EXP_MAX) * inverse) {
        let shift = -a * gamma;
        let mut sum = row::<T, FMA>(s, mask, &Exponential { a, shift });
        sum.value = sum.slope * inverse.to_f64();
        return sum;
    }
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
    (table, pieces): (&Table, &Pieces<T>),
    cap: T,
) -> Term {
    // Pieces are as exact as single precision, not as double.
    let limit = if !T::IS_SINGLE {
        f64::NEG_INFINITY
    } else if cap.to_f64() < pieces.top() {
        f64::INFINITY
    } else {
        pieces.top()
    };
    let form = Probability {
        gamma,
        table,
        pieces,
        limit: T::of(limit),
        cap,
    };
    row::<T, FMA>(s, mask, &form)
}

/// Value and slope of similarities. (A trait rather than closures: what is
/// not inlined would be compiled without the wide registers.)
trait Pay<T> {
    /// Turns similarities into slopes and writes the values beside.
    fn pay<const FMA: bool>(&self, chunk: &mut [T; CHUNK], values: &mut [T; CHUNK]);
}

/// `e^{as}` as slope, where no cap is near; the value is left to the caller.
struct Exponential<T> {
    a: T,
    /// `-a gamma`.
    shift: T,
}

impl<T: Real> Pay<T> for Exponential<T> {
    #[inline(always)]
    fn pay<const FMA: bool>(&self, chunk: &mut [T; CHUNK], _values: &mut [T; CHUNK]) {
        for s in chunk {
            *s = s.fma::<FMA>(self.a, self.shift).exp_below::<FMA>();
        }
    }
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
    fn pay<const FMA: bool>(&self, chunk: &mut [T; CHUNK], values: &mut [T; CHUNK]) {
        for lane in 0..CHUNK {
            let s = chunk[lane] - self.gamma;
            let at = s.min(self.cap);
            let slope = (self.a * at).exp_inline::<FMA>();
            let beyond = (s - at).max(T::ZERO);
            chunk[lane] = slope;
            values[lane] = slope * (self.inverse + beyond);
        }
    }
}

/// The pieces up to a limit, the table above.
struct Probability<'a, T> {
    gamma: T,
    table: &'a Table,
    pieces: &'a Pieces<T>,
    limit: T,
    cap: T,
}

impl<T: Real> Pay<T> for Probability<'_, T> {
    #[inline(always)]
    fn pay<const FMA: bool>(&self, chunk: &mut [T; CHUNK], values: &mut [T; CHUNK]) {
        let (least, most) = range(chunk);
        let (least, most) = (least - self.gamma, most - self.gamma);
        if !(most <= self.limit) {
            let cap = self.cap.to_f64();
            for lane in 0..CHUNK {
                let s = (chunk[lane] - self.gamma).to_f64();
                let term = self.table.continued(s, cap);
                values[lane] = T::of(term.value);
                chunk[lane] = T::of(term.slope);
            }
            return;
        }
        let mut beyond = [T::ZERO; CHUNK];
        for lane in 0..CHUNK {
            let s = chunk[lane] - self.gamma;
            chunk[lane] = s.min(self.cap);
            beyond[lane] = (s - self.cap).max(T::ZERO);
        }
        let range = (least.min(self.cap), most.min(self.cap));
        self.pieces.evaluate::<FMA>(range, chunk, values);
        for lane in 0..CHUNK {
            values[lane] = beyond[lane].fma::<FMA>(chunk[lane], values[lane]);
        }
    }
}

/// The least and the largest of some numbers.
#[inline(always)]
fn range<T: Real>(s: &[T]) -> (T, T) {
    let infinity = T::of(f64::INFINITY);
    let (mut least, mut most) = ([infinity; LANES], [-infinity; LANES]);
    let (chunks, rest) = s.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            least[lane] = chunk[lane].min(least[lane]);
            most[lane] = chunk[lane].max(most[lane]);
        }
    }
    for &s in rest {
        least[0] = s.min(least[0]);
        most[0] = s.max(most[0]);
    }
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            least[lane] = least[lane + half].min(least[lane]);
            most[lane] = most[lane + half].max(most[lane]);
        }
        half /= 2;
    }
    (least[0], most[0])
}

/// Interleaved sums, so that adding up vectorises.
const LANES: usize = 16;

/// Replaces each entry by its slope and sums up values and slopes.
#[inline(always)]
fn row<T: Real, const FMA: bool>(s: &mut [T], mask: Option<&[T]>, form: &impl Pay<T>) -> Term {
    let (mut values, mut slopes) = ([T::ZERO; LANES], [T::ZERO; LANES]);
    let mut paid = [T::ZERO; CHUNK];
    let (chunks, rest) = s.as_chunks_mut::<CHUNK>();
    let masks = mask.map(|mask| mask.as_chunks::<CHUNK>());
    for (place, chunk) in chunks.iter_mut().enumerate() {
        form.pay::<FMA>(chunk, &mut paid);
        if let Some((masks, _)) = masks {
            multiply_by(chunk, &masks[place]);
            multiply_by(&mut paid, &masks[place]);
        }
        add_up(&mut values, &paid);
        add_up(&mut slopes, chunk);
    }
    if let Some(&first) = rest.first() {
        // The rest in the company of copies that do not count.
        let mut chunk = [first; CHUNK];
        chunk[..rest.len()].copy_from_slice(rest);
        form.pay::<FMA>(&mut chunk, &mut paid);
        let mut counts = [T::ZERO; CHUNK];
        match masks {
            Some((_, mask)) => counts[..rest.len()].copy_from_slice(mask),
            None => counts[..rest.len()].fill(T::ONE),
        }
        multiply_by(&mut chunk, &counts);
        multiply_by(&mut paid, &counts);
        add_up(&mut values, &paid);
        add_up(&mut slopes, &chunk);
        rest.copy_from_slice(&chunk[..rest.len()]);
    }
    let total = |lanes: [T; LANES]| lanes.iter().map(|lane| lane.to_f64()).sum::<f64>();
    Term {
        value: total(values),
        slope: total(slopes),
    }
}

#[inline(always)]
fn multiply_by<T: Real>(chunk: &mut [T; CHUNK], factors: &[T; CHUNK]) {
    for lane in 0..CHUNK {
        chunk[lane] *= factors[lane];
    }
}

#[inline(always)]
fn add_up<T: Real>(sums: &mut [T; LANES], chunk: &[T; CHUNK]) {
    for part in chunk.as_chunks::<LANES>().0 {
        for lane in 0..LANES {
            sums[lane] += part[lane];
        }
    }
}
