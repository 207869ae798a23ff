//! Axes: where values stand and which of them are named.

use linkproof_numeric::math;

/// The level axis of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Where the points of a series stand, in the order of the series.
    pub(super) places: Vec<f64>,
    /// What is named.
    pub(super) ticks: Vec<(f64, String)>,
    /// The ends of the axis.
    pub(super) range: (f64, f64),
    /// Whether places are names rather than quantities, so that points may stand
    /// a little beside them.
    pub(super) is_categorical: bool,
}

impl Axis {
    /// Names at equal distances.
    pub fn categories<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Axis {
        let names = names.into_iter().map(Into::into);
        let ticks: Vec<(f64, String)> = (0..).map(f64::from).zip(names).collect();
        let end = ticks.len().max(1) as f64 - 0.5;
        Axis {
            places: ticks.iter().map(|tick| tick.0).collect(),
            ticks,
            range: (-0.5, end),
            is_categorical: true,
        }
    }

    /// Quantities with a name each, such as logarithms that are to be read as
    /// the values themselves.
    pub fn labelled(places: Vec<(f64, String)>) -> Axis {
        let (low, high) = span(places.iter().map(|place| place.0));
        let margin = (high - low) * 0.05;
        Axis {
            // Room for the first and the last marker.
            range: (low - margin, high + margin),
            places: places.iter().map(|place| place.0).collect(),
            ticks: places,
            is_categorical: false,
        }
    }
}

/// The range of values, opened where there is one value or none.
pub(super) fn span(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.fold(f64::NEG_INFINITY, f64::max);
    let magnitude = low.abs().max(high.abs());
    if !magnitude.is_finite() {
        return (0.0, 1.0);
    }
    // Ranges that rounding has made are no ranges.
    match high - low > magnitude * 1e-9 {
        true => (low, high),
        false if magnitude == 0.0 => (-1.0, 1.0),
        false => (low - magnitude * 0.1, high + magnitude * 0.1),
    }
}

/// The distance of ticks: 1, 2 or 5 times a power of 10, of which three to eight
/// fill the range.
pub(super) fn step((low, high): (f64, f64)) -> f64 {
    let least = (high - low) / 8.0;
    let power = math::pow(10.0, math::log10(least).floor());
    let steps = [1.0, 2.0, 5.0].map(|factor| factor * power);
    let fitting = steps.into_iter().find(|step| *step >= least);
    fitting.unwrap_or(10.0 * power)
}

/// The multiples of a step within a range, and their names.
pub(super) fn ticks((low, high): (f64, f64), step: f64) -> Vec<(f64, String)> {
    // A thousandth of a step, for numbers that binary fractions miss.
    let first = (low / step - 1e-3).ceil();
    let n_steps = (high / step + 1e-3).floor() - first;
    let largest = low.abs().max(high.abs());
    let named = (0..=n_steps as u32).map(|number| {
        let value = (first + f64::from(number)) * step;
        (value, name(value, step, largest))
    });
    named.collect()
}

/// A multiple of a step with as many digits as the step needs.
fn name(value: f64, step: f64, largest: f64) -> String {
    // Zero comes without a sign.
    let value = if value == 0.0 { 0.0 } else { value };
    let smallest_digit = math::log10(step * (1.0 + 1e-9)).floor();
    if smallest_digit < -5.0 || largest >= 1e6 {
        let digits = math::log10(largest).floor() - smallest_digit;
        return format!("{value:.*e}", digits.max(0.0) as usize);
    }
    format!("{value:.*}", (-smallest_digit).max(0.0) as usize)
}
