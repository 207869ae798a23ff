//! The probability score's `l(s; 0)` in single precision: wide polynomials, so
//! that a row of pairs needs no look-up and its loop vectorises.
//!
//! Value and slope are `e^{ks}` times something that varies slowly, with
//! `k = min(1 + beta, 2)`: as `s` falls, they tend to `e^{(1+beta)s}` or
//! `e^{2s}`. That something is covered by overlapping pieces on each of which a
//! polynomial holds it, so that one piece nearly always serves a whole row: of
//! degree 7 where the similarities are close to each other, of degree 11 or 21
//! on longer pieces where they are not.

use super::Table;
use super::chebyshev::{Fit, horner};
use linkproof_numeric::math;
use linkproof_numeric::real::Real;

/// Below this similarity, where less than 1e-17 is expected, the slow factors
/// are taken as constant.
const LOW: f64 = -40.0;
/// No piece reaches beyond this similarity: more than 50 expected.
const HIGH: f64 = 4.0;
/// Coefficients of the polynomials on short, middling and long pieces.
const FEW: usize = 8;
const SOME: usize = 12;
const MANY: usize = 22;
/// Relative error of a polynomial, rounding aside.
const TOLERANCE: f64 = 4e-8;
/// The terms of a polynomial may be so many times its value, all together.
const CANCELLATION: f64 = 6.0;
/// Pieces are this wide at least; where the factors are steeper, they end.
const NARROWEST: f64 = 0.25;
/// How many pieces a similarity lies on.
const OVERLAPPING: f64 = 4.0;
/// Rows for which no piece serves are cut into chunks of this size.
pub const CHUNK: usize = 64;

/// The pieces for one beta.
#[derive(Debug, Clone)]
pub struct Pieces<T> {
    short: Cover<T, FEW>,
    middling: Cover<T, SOME>,
    long: Cover<T, MANY>,
}

impl<T: Real> Pieces<T> {
    /// Covers the range of the table, from below, by pieces as wide as the
    /// tolerance allows.
    pub fn new(beta: f64, table: &Table) -> Pieces<T> {
        Pieces {
            short: Cover::new(beta, table),
            middling: Cover::new(beta, table),
            long: Cover::new(beta, table),
        }
    }

    /// The same in another precision.
    pub fn cast<U: Real>(&self) -> Pieces<U> {
        Pieces {
            short: self.short.cast(),
            middling: self.middling.cast(),
            long: self.long.cast(),
        }
    }

    /// The largest similarity that the pieces reach.
    pub fn top(&self) -> f64 {
        let top = self.middling.pieces.last().map(|piece| piece.high.to_f64());
        top.unwrap_or(f64::NEG_INFINITY)
    }

    /// Turns the inner products of similarities between `least` and `most`
    /// into slopes and writes the values beside, if one piece serves all.
    #[inline(always)]
    pub fn serve<const FMA: bool>(
        &self,
        (least, most): (T, T),
        gamma: T,
        s: &mut [T],
        values: &mut [T],
    ) -> bool {
        if let Some(piece) = self.short.over(least, most) {
            piece.evaluate::<FMA>(gamma, s, values);
        } else if let Some(piece) = self.middling.over(least, most) {
            piece.evaluate::<FMA>(gamma, s, values);
        } else if let Some(piece) = self.long.over(least, most) {
            piece.evaluate::<FMA>(gamma, s, values);
        } else {
            return false;
        }
        true
    }

    /// As [`Pieces::serve`] where several pieces are needed, for at most 64
    /// similarities, none of them above [`Pieces::top`]: they stand in `s`
    /// themselves.
    #[inline(always)]
    pub fn share<const FMA: bool>(&self, (least, most): (T, T), s: &mut [T], values: &mut [T]) {
        let cover = &self.middling;
        let mut place = cover.reaching(most);
        let (mut similarities, mut slopes) = ([T::ZERO; CHUNK], [T::ZERO; CHUNK]);
        let similarities = &mut similarities[..s.len()];
        let slopes = &mut slopes[..s.len()];
        similarities.copy_from_slice(s);
        slopes.copy_from_slice(s);
        cover.pieces[place].evaluate::<FMA>(T::ZERO, slopes, values);
        // Lower pieces take over what is theirs.
        while place > 0 && least <= cover.pieces[place].low {
            let border = cover.pieces[place].low;
            place = cover.reaching(border);
            let (mut lower_values, mut lower_slopes) = ([T::ZERO; CHUNK], [T::ZERO; CHUNK]);
            let lower_values = &mut lower_values[..s.len()];
            let lower_slopes = &mut lower_slopes[..s.len()];
            lower_slopes.copy_from_slice(similarities);
            cover.pieces[place].evaluate::<FMA>(T::ZERO, lower_slopes, lower_values);
            take_below(similarities, border, values, lower_values);
            take_below(similarities, border, slopes, lower_slopes);
        }
        s.copy_from_slice(slopes);
    }
}

/// Replaces entries by others where the similarity is not above a border.
#[inline(always)]
fn take_below<T: Real>(s: &[T], border: T, entries: &mut [T], others: &[T]) {
    for ((s, entry), other) in s.iter().zip(entries).zip(others) {
        // Sums rather than a choice, which compilers turn into slow stores.
        let above = if *s > border { T::ONE } else { T::ZERO };
        *entry = above * *entry + (T::ONE - above) * *other;
    }
}

/// Pieces with polynomials of so many coefficients, from below.
#[derive(Debug, Clone)]
struct Cover<T, const TERMS: usize> {
    pieces: Vec<Piece<T, TERMS>>,
}

impl<T: Real, const TERMS: usize> Cover<T, TERMS> {
    fn new(beta: f64, table: &Table) -> Cover<T, TERMS> {
        let exponent = (1.0 + beta).min(2.0);
        let slow = |s: f64| {
            let term = table.evaluate(s);
            let factor = math::exp(-exponent * s);
            (term.value * factor, term.slope * factor)
        };
        let fit = Fit::<TERMS>::new();
        let mut pieces = Vec::new();
        let mut low = LOW;
        let mut width = HIGH - LOW;
        while low < HIGH {
            // A piece is hardly ever much wider than the one below.
            width = (2.0 * width).min(HIGH - low);
            let (middle, half, [value, slope]) = loop {
                let (middle, half) = (low + 0.5 * width, 0.5 * width);
                let function = |u: f64| slow(middle + half * u);
                let found = fit.coefficients(function);
                if width < NARROWEST || holds(&found, function) {
                    break (middle, half, found);
                }
                width *= 0.9;
            };
            if width < NARROWEST {
                break;
            }
            pieces.push(Piece {
                exponent: T::of(exponent),
                low: T::of(low),
                high: T::of(low + width),
                middle: T::of(middle),
                inverse_half: T::of(1.0 / half),
                value: value.map(T::of),
                slope: slope.map(T::of),
            });
            if low + width >= HIGH {
                break;
            }
            low += width / OVERLAPPING;
        }
        Cover { pieces }
    }

    fn cast<U: Real>(&self) -> Cover<U, TERMS> {
        let to = |x: T| U::of(x.to_f64());
        let pieces = self.pieces.iter().map(|piece| Piece {
            exponent: to(piece.exponent),
            low: to(piece.low),
            high: to(piece.high),
            middle: to(piece.middle),
            inverse_half: to(piece.inverse_half),
            value: piece.value.map(to),
            slope: piece.slope.map(to),
        });
        Cover {
            pieces: pieces.collect(),
        }
    }

    /// The lowest piece that reaches up to a similarity, or the last.
    fn reaching(&self, s: T) -> usize {
        let last = self.pieces.len().saturating_sub(1);
        let below = |piece: &Piece<T, TERMS>| piece.high < s;
        self.pieces[..last].partition_point(below)
    }

    /// The piece that serves all similarities between two, if one does.
    fn over(&self, least: T, most: T) -> Option<&Piece<T, TERMS>> {
        let place = self.reaching(most);
        let piece = self.pieces.get(place)?;
        (most <= piece.high && (place == 0 || least > piece.low)).then_some(piece)
    }
}

#[derive(Debug, Clone)]
struct Piece<T, const TERMS: usize> {
    exponent: T,
    low: T,
    high: T,
    middle: T,
    inverse_half: T,
    value: [T; TERMS],
    slope: [T; TERMS],
}

impl<T: Real, const TERMS: usize> Piece<T, TERMS> {
    /// Turns inner products, all of them of similarities not above the piece,
    /// into slopes, and writes the values beside.
    #[inline(always)]
    fn evaluate<const FMA: bool>(&self, gamma: T, s: &mut [T], values: &mut [T]) {
        for (s, value_out) in s.iter_mut().zip(values) {
            let similarity = *s - gamma;
            let u = ((similarity - self.middle) * self.inverse_half).max(-T::ONE);
            let (mut value, mut slope) = (self.value[TERMS - 1], self.slope[TERMS - 1]);
            for term in (0..TERMS - 1).rev() {
                value = value.fma::<FMA>(u, self.value[term]);
                slope = slope.fma::<FMA>(u, self.slope[term]);
            }
            let scale = (self.exponent * similarity).exp_below::<FMA>();
            *value_out = value * scale;
            *s = slope * scale;
        }
    }
}

/// Whether polynomials keep to the tolerance between their nodes, and their
/// terms do not cancel, which single precision would feel.
fn holds<const TERMS: usize>(
    found: &[[f64; TERMS]; 2],
    function: impl Fn(f64) -> (f64, f64),
) -> bool {
    let n = 5 * TERMS;
    (0..=n).all(|step| {
        let u = 2.0 * step as f64 / n as f64 - 1.0;
        let (value, slope) = function(u);
        let scale = value.abs().max(slope.abs());
        let terms = |of: &[f64; TERMS]| horner(&of.map(f64::abs), u.abs());
        (horner(&found[0], u) - value).abs() <= TOLERANCE * value.abs()
            && (horner(&found[1], u) - slope).abs() <= TOLERANCE * scale
            && terms(&found[0]) <= CANCELLATION * value.abs()
            && terms(&found[1]) <= CANCELLATION * scale
    })
}
