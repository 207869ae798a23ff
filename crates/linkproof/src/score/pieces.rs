//! The probability score's `l(s; 0)` in single precision: few and wide
//! polynomials, so that a row of pairs needs no look-up and its loop
//! vectorises.
//!
//! Value and slope are `e^{ks}` times something that varies slowly, with
//! `k = min(1 + beta, 2)`: as `s` falls, they tend to `e^{(1+beta)s}` or
//! `e^{2s}`. That something is covered by pieces on each of which a polynomial of
//! degree 11 holds it; each piece starts in the middle of the one before, so
//! that similarities close to each other nearly always share one.

use super::Table;
use super::chebyshev::{Fit, horner};
use crate::math;
use crate::real::Real;

/// Below this similarity, where less than 1e-17 is expected, the slow factors
/// are taken as constant.
const LOW: f64 = -40.0;
/// No piece reaches beyond this similarity: more than 50 expected.
const HIGH: f64 = 4.0;
/// Coefficients of each polynomial.
const TERMS: usize = 12;
/// Relative error of a polynomial, rounding aside.
const TOLERANCE: f64 = 4e-8;
/// Pieces are this wide at least; where the factors are steeper, they end.
const NARROWEST: f64 = 0.25;
/// How many similarities are evaluated together, at most.
pub const CHUNK: usize = 64;

/// The pieces for one beta.
#[derive(Debug, Clone)]
pub struct Pieces<T> {
    exponent: T,
    /// From below.
    pieces: Vec<Piece<T>>,
}

#[derive(Debug, Clone)]
struct Piece<T> {
    low: T,
    high: T,
    middle: T,
    inverse_half: T,
    value: [T; TERMS],
    slope: [T; TERMS],
}

impl<T: Real> Pieces<T> {
    /// Covers the range of the table, from below, by pieces as wide as the
    /// tolerance allows.
    pub fn new(beta: f64, table: &Table) -> Pieces<T> {
        let exponent = (1.0 + beta).min(2.0);
        let slow = |s: f64| {
            let term = table.evaluate(s);
            let factor = math::exp(-exponent * s);
            (term.value * factor, term.slope * factor)
        };
        let fit = Fit::<TERMS>::new();
        let mut pieces = Vec::new();
        let mut low = LOW;
        while low < HIGH {
            let mut width = HIGH - low;
            let (middle, half, [value, slope]) = loop {
                let (middle, half) = (low + 0.5 * width, 0.5 * width);
                let function = |u: f64| slow(middle + half * u);
                let found = fit.coefficients(function);
                if width < NARROWEST || holds(&found, function) {
                    break (middle, half, found);
                }
                width *= 0.8;
            };
            if width < NARROWEST {
                break;
            }
            pieces.push(Piece {
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
            low += 0.5 * width;
        }
        Pieces {
            exponent: T::of(exponent),
            pieces,
        }
    }

    /// The largest similarity that the pieces reach.
    pub fn top(&self) -> f64 {
        let top = self.pieces.last().map(|piece| piece.high.to_f64());
        top.unwrap_or(f64::NEG_INFINITY)
    }

    /// The lowest piece that reaches up to a similarity, at or below `place`.
    #[inline(always)]
    fn reaching(&self, s: T, mut place: usize) -> usize {
        while place > 0 && s <= self.pieces[place - 1].high {
            place -= 1;
        }
        place
    }

    /// Turns at most 64 similarities, all of them between `least` and
    /// `most` and none above [`Pieces::top`], into slopes, and writes the
    /// values beside.
    #[inline(always)]
    pub fn evaluate<const FMA: bool>(&self, (least, most): (T, T), s: &mut [T], values: &mut [T]) {
        let mut place = self.reaching(most, self.pieces.len() - 1);
        let mut slopes = [T::ZERO; CHUNK];
        let slopes = &mut slopes[..s.len()];
        self.pieces[place].at::<FMA>(s, values, slopes);
        // Nearly always one piece serves all; else lower ones take over what is
        // theirs.
        while place > 0 && least <= self.pieces[place].low {
            let border = self.pieces[place].low;
            place = self.reaching(border, place - 1);
            let (mut lower_values, mut lower_slopes) = ([T::ZERO; CHUNK], [T::ZERO; CHUNK]);
            let lower_values = &mut lower_values[..s.len()];
            let lower_slopes = &mut lower_slopes[..s.len()];
            self.pieces[place].at::<FMA>(s, lower_values, lower_slopes);
            take_below(s, border, values, lower_values);
            take_below(s, border, slopes, lower_slopes);
        }
        for ((s, slope), value) in s.iter_mut().zip(slopes).zip(values) {
            let scale = (self.exponent * *s).exp_below::<FMA>();
            *value *= scale;
            *s = *slope * scale;
        }
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

impl<T: Real> Piece<T> {
    /// The slow factors at similarities not above the piece.
    #[inline(always)]
    fn at<const FMA: bool>(&self, s: &[T], values: &mut [T], slopes: &mut [T]) {
        for ((s, value_out), slope_out) in s.iter().zip(values).zip(slopes) {
            let u = ((*s - self.middle) * self.inverse_half).max(-T::ONE);
            let (mut value, mut slope) = (self.value[TERMS - 1], self.slope[TERMS - 1]);
            for term in (0..TERMS - 1).rev() {
                value = value.fma::<FMA>(u, self.value[term]);
                slope = slope.fma::<FMA>(u, self.slope[term]);
            }
            *value_out = value;
            *slope_out = slope;
        }
    }
}

/// Whether polynomials keep to the tolerance between their nodes.
fn holds(found: &[[f64; TERMS]; 2], function: impl Fn(f64) -> (f64, f64)) -> bool {
    let n = 5 * TERMS;
    (0..=n).all(|step| {
        let u = 2.0 * step as f64 / n as f64 - 1.0;
        let (value, slope) = function(u);
        let scale = value.abs().max(slope.abs());
        (horner(&found[0], u) - value).abs() <= TOLERANCE * value.abs()
            && (horner(&found[1], u) - slope).abs() <= TOLERANCE * scale
    })
}
