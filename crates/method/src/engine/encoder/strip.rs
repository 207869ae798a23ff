//! Loops over a strip of a hidden layer: rows of at most [`STRIP`] numbers,
//! one a unit. Each is compiled once more for full strips, whose constant
//! width keeps a row's numbers in registers.

use super::dropout::Draws;
use super::layout::STRIP;
use crate::params::Activation;
use linkproof_numeric::processor::vectorised;
use linkproof_numeric::real::Real;

/// One number for each unit of a strip.
pub(super) type Units<V> = [V; STRIP];

/// Rows that are summed in the precision of a fit before they go into a sum in
/// double precision.
const RUN: usize = 16;

/// The mean of each unit over some rows and the sum of its squared deviations.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moments {
    pub(super) mean: Units<f64>,
    pub(super) squares: Units<f64>,
}

vectorised!(pub(super) fn moments<T>(values: &[T], width: usize) -> Moments = moments_body);

#[inline(always)]
fn moments_body<T: Real, const FMA: bool>(values: &[T], width: usize) -> Moments {
    if width == STRIP {
        moments_of(values, STRIP)
    } else {
        moments_of(values, width.min(STRIP))
    }
}

#[inline(always)]
fn moments_of<T: Real>(values: &[T], width: usize) -> Moments {
    let n = (values.len() / width) as f64;
    let mut mean = [0.0; STRIP];
    for run in values.chunks(RUN * width) {
        let mut sums = [T::ZERO; STRIP];
        for row in run.chunks_exact(width) {
            for unit in 0..width {
                sums[unit] += row[unit];
            }
        }
        add_run(&mut mean, &sums);
    }
    mean.iter_mut().for_each(|mean| *mean /= n);
    let centre = mean.map(T::of);
    let mut squares = [0.0; STRIP];
    for run in values.chunks(RUN * width) {
        let mut sums = [T::ZERO; STRIP];
        for row in run.chunks_exact(width) {
            for unit in 0..width {
                let difference = row[unit] - centre[unit];
                sums[unit] += difference * difference;
            }
        }
        add_run(&mut squares, &sums);
    }
    for unit in 0..STRIP {
        let rounding = mean[unit] - centre[unit].to_f64();
        squares[unit] = (squares[unit] - n * rounding * rounding).max(0.0);
    }
    Moments { mean, squares }
}

#[inline(always)]
fn add_run<T: Real>(totals: &mut Units<f64>, sums: &Units<T>) {
    for (total, sum) in totals.iter_mut().zip(sums) {
        *total += sum.to_f64();
    }
}

/// The normalisation of a strip and the affine map after it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Normalisation<T> {
    pub(super) mean: Units<T>,
    pub(super) inverse_deviation: Units<T>,
    pub(super) scale: Units<T>,
    pub(super) shift: Units<T>,
}

/// The numbers of a strip's units, and zeros up to the full width.
pub(super) fn padded<T: Real>(values: &[T]) -> Units<T> {
    let mut units = [T::ZERO; STRIP];
    for (unit, value) in units.iter_mut().zip(values) {
        *unit = *value;
    }
    units
}

vectorised!(
    /// Normalises the values in place, and writes what function and dropout
    /// make of their scaled and shifted selves to `outputs`.
    pub(super) fn normalise_and_activate<T>(
        values: &mut [T],
        outputs: &mut [T],
        width: usize,
        norm: &Normalisation<T>,
        function: Option<Activation>,
        draws: Option<Draws<'_, T>>
    ) -> () = normalise_body
);

#[inline(always)]
fn normalise_body<T: Real, const FMA: bool>(
    values: &mut [T],
    outputs: &mut [T],
    width: usize,
    norm: &Normalisation<T>,
    function: Option<Activation>,
    draws: Option<Draws<'_, T>>,
) {
    let width = if width == STRIP {
        return normalise_rows::<T, FMA>(values, outputs, STRIP, norm, function, draws);
    } else {
        width.min(STRIP)
    };
    normalise_rows::<T, FMA>(values, outputs, width, norm, function, draws);
}

#[inline(always)]
fn normalise_rows<T: Real, const FMA: bool>(
    values: &mut [T],
    outputs: &mut [T],
    width: usize,
    norm: &Normalisation<T>,
    function: Option<Activation>,
    draws: Option<Draws<'_, T>>,
) {
    let rows = values.chunks_exact_mut(width);
    for ((row, values), outputs) in rows.enumerate().zip(outputs.chunks_exact_mut(width)) {
        for unit in 0..width {
            let normed = (values[unit] - norm.mean[unit]) * norm.inverse_deviation[unit];
            values[unit] = normed;
            outputs[unit] = normed.fma::<FMA>(norm.scale[unit], norm.shift[unit]);
        }
        activate_row::<T, FMA>(outputs, row, function, draws);
    }
}

vectorised!(
    /// Function and dropout of a layer, in place, on rows of `width` numbers.
    pub(super) fn activate<T>(
        outputs: &mut [T],
        width: usize,
        function: Option<Activation>,
        draws: Option<Draws<'_, T>>
    ) -> () = activate_body
);

#[inline(always)]
fn activate_body<T: Real, const FMA: bool>(
    outputs: &mut [T],
    width: usize,
    function: Option<Activation>,
    draws: Option<Draws<'_, T>>,
) {
    for (row, outputs) in outputs.chunks_exact_mut(width).enumerate() {
        activate_row::<T, FMA>(outputs, row, function, draws);
    }
}

#[inline(always)]
fn activate_row<T: Real, const FMA: bool>(
    outputs: &mut [T],
    row: usize,
    function: Option<Activation>,
    draws: Option<Draws<'_, T>>,
) {
    match function {
        Some(Activation::Tanh) => {
            for x in outputs.iter_mut() {
                // tanh x = 1 - 2/(e^{2x} + 1), within a rounding error of 1.
                let power = (*x + *x).exp_inline::<FMA>();
                *x = T::ONE - T::of(2.0) / (power + T::ONE);
            }
        }
        Some(Activation::Relu) => {
            for x in outputs.iter_mut() {
                *x = x.max(T::ZERO);
            }
        }
        None => {}
    }
    if let Some(draws) = draws {
        let key = draws.keys[row];
        for (unit, x) in outputs.iter_mut().enumerate() {
            *x *= draws.share.factor(key, draws.first_unit + unit as u32);
        }
    }
}

/// Sums over the rows for each unit: of the derivative, and of its product
/// with the normalised values.
#[derive(Debug, Clone, Copy)]
pub(super) struct DerivativeSums {
    pub(super) sum: Units<f64>,
    pub(super) product: Units<f64>,
}

vectorised!(
    /// Multiplies each derivative by the slope of the function, which its
    /// output tells, and by the factor of its draw; sums up along the way.
    /// Without normalised values (an empty slice) the products are 0.
    pub(super) fn through_function<T>(
        derivative: &mut [T],
        outputs: &[T],
        normed: &[T],
        width: usize,
        function: Option<Activation>,
        draws: Option<Draws<'_, T>>
    ) -> DerivativeSums = through_function_body
);

#[inline(always)]
fn through_function_body<T: Real, const FMA: bool>(
    derivative: &mut [T],
    outputs: &[T],
    normed: &[T],
    width: usize,
    function: Option<Activation>,
    draws: Option<Draws<'_, T>>,
) -> DerivativeSums {
    if width == STRIP {
        through_rows::<T, FMA>(derivative, outputs, normed, STRIP, function, draws)
    } else {
        let width = width.min(STRIP);
        through_rows::<T, FMA>(derivative, outputs, normed, width, function, draws)
    }
}

#[inline(always)]
fn through_rows<T: Real, const FMA: bool>(
    derivative: &mut [T],
    outputs: &[T],
    normed: &[T],
    width: usize,
    function: Option<Activation>,
    draws: Option<Draws<'_, T>>,
) -> DerivativeSums {
    let (mut sum, mut product) = ([0.0; STRIP], [0.0; STRIP]);
    for (run, derivative) in derivative.chunks_mut(RUN * width).enumerate() {
        let (mut sums, mut products) = ([T::ZERO; STRIP], [T::ZERO; STRIP]);
        for (row, derivative) in derivative.chunks_exact_mut(width).enumerate() {
            let row = run * RUN + row;
            let place = row * width..(row + 1) * width;
            slope_row(derivative, &outputs[place.clone()], row, function, draws);
            for unit in 0..width {
                sums[unit] += derivative[unit];
            }
            if !normed.is_empty() {
                let normed = &normed[place];
                for unit in 0..width {
                    products[unit] = derivative[unit].fma::<FMA>(normed[unit], products[unit]);
                }
            }
        }
        add_run(&mut sum, &sums);
        add_run(&mut product, &products);
    }
    DerivativeSums { sum, product }
}

#[inline(always)]
fn slope_row<T: Real>(
    derivative: &mut [T],
    outputs: &[T],
    row: usize,
    function: Option<Activation>,
    draws: Option<Draws<'_, T>>,
) {
    let inverse = draws.map_or(T::ONE, |draws| draws.share.inverse_kept());
    match function {
        // A dropped unit has output 0: its draw alone stops the derivative.
        Some(Activation::Tanh) => {
            for (derivative, output) in derivative.iter_mut().zip(outputs) {
                let value = *output * inverse;
                *derivative *= T::ONE - value * value;
            }
        }
        Some(Activation::Relu) => {
            for (derivative, output) in derivative.iter_mut().zip(outputs) {
                let positive = if *output > T::ZERO { T::ONE } else { T::ZERO };
                *derivative *= positive;
            }
        }
        None => {}
    }
    if let Some(draws) = draws {
        let key = draws.keys[row];
        for (unit, derivative) in derivative.iter_mut().enumerate() {
            *derivative *= draws.share.factor(key, draws.first_unit + unit as u32);
        }
    }
}

vectorised!(
    /// Through scale, shift and normalisation by the batch:
    /// `d <- factor (d - mean - x slope)` with `x` the normalised values, where
    /// `factor = scale/sigma`, `mean = mean(d)` and `slope = mean(d x)`.
    pub(super) fn through_norm<T>(
        derivative: &mut [T],
        normed: &[T],
        width: usize,
        coefficients: &[Units<T>; 3]
    ) -> () = through_norm_body
);

#[inline(always)]
fn through_norm_body<T: Real, const FMA: bool>(
    derivative: &mut [T],
    normed: &[T],
    width: usize,
    [factor, mean, slope]: &[Units<T>; 3],
) {
    let width = width.min(STRIP);
    let rows = derivative.chunks_exact_mut(width);
    for (derivative, normed) in rows.zip(normed.chunks_exact(width)) {
        for unit in 0..width {
            let centred = derivative[unit] - mean[unit] - normed[unit] * slope[unit];
            derivative[unit] = factor[unit] * centred;
        }
    }
}

vectorised!(
    /// Multiplies each derivative by the slope of the last layer's function.
    pub(super) fn through_output<T>(
        derivative: &mut [T],
        outputs: &[T],
        function: Option<Activation>
    ) -> () = through_output_body
);

#[inline(always)]
fn through_output_body<T: Real, const FMA: bool>(
    derivative: &mut [T],
    outputs: &[T],
    function: Option<Activation>,
) {
    slope_row(derivative, outputs, 0, function, None);
}
