//! Sums and ranges of many numbers, in several registers at once. The order of
//! operations depends on the length alone, not on the width of the registers.

use super::Real;
use super::register::{Register, Task};

/// The bytes of the widest register; numbers that fill them are a group.
const GROUP_BYTES: usize = 64;
/// Groups that take turns, so that no register waits for its last result.
const TURNS: usize = 4;
/// Registers that hold all turns' sums, where they are narrowest.
const MAX_REGISTERS: usize = TURNS * MAX_LANES / 4;

/// The sum: a partial sum for each place in four groups, then the groups, then
/// the places by halves; numbers that fill no four groups first.
pub fn sum<T: Real>(numbers: &[T]) -> T {
    T::with_registers(Sum(numbers))
}

/// The least and the largest, NaN aside; infinite ends where there are none.
pub fn range<T: Real>(numbers: &[T]) -> (T, T) {
    T::with_registers(Range(numbers))
}

/// The sum of the products of two rows of numbers, in the order of [`sum`].
pub fn sum_of_products<T: Real>(numbers: &[T], factors: &[T]) -> T {
    let length = numbers.len().min(factors.len());
    T::with_registers(Products(&numbers[..length], &factors[..length]))
}

struct Sum<'a, T>(&'a [T]);

impl<T: Real> Task<T> for Sum<'_, T> {
    type Output = T;

    #[inline(always)]
    unsafe fn run<V: Register<T>, const ROWS: usize>(self) -> T {
        let rest = self.0.len() / chunk::<T>() * chunk::<T>();
        let rest = self.0[rest..].iter().fold(T::ZERO, |total, &x| total + x);
        // SAFETY: as many numbers are loaded as there are in whole chunks.
        unsafe {
            let numbers = self.0.as_ptr();
            rest + partial_sums::<T, V>(self.0.len(), |place, sum| {
                V::load(numbers.add(place)).add(sum)
            })
        }
    }
}

struct Products<'a, T>(&'a [T], &'a [T]);

impl<T: Real> Task<T> for Products<'_, T> {
    type Output = T;

    #[inline(always)]
    unsafe fn run<V: Register<T>, const ROWS: usize>(self) -> T {
        let rest = self.0.len() / chunk::<T>() * chunk::<T>();
        let rest = self.0[rest..].iter().zip(&self.1[rest..]);
        let rest = rest.fold(T::ZERO, |total, (&x, &factor)| total + x * factor);
        // SAFETY: as many numbers are loaded as there are in whole chunks of
        // both, which are of one length.
        unsafe {
            let (numbers, factors) = (self.0.as_ptr(), self.1.as_ptr());
            rest + partial_sums::<T, V>(self.0.len(), |place, sum| {
                V::load(numbers.add(place)).mul_add(V::load(factors.add(place)), sum)
            })
        }
    }
}

/// The numbers that fill all turns once.
fn chunk<T: Real>() -> usize {
    TURNS * GROUP_BYTES / size_of::<T>()
}

/// What whole chunks add up to: `add` puts the numbers at a place on top of the
/// sum of earlier ones.
///
/// # Safety
/// The machine must have the registers.
#[inline(always)]
unsafe fn partial_sums<T: Real, V: Register<T>>(length: usize, add: impl Fn(usize, V) -> V) -> T {
    let group = GROUP_BYTES / size_of::<T>();
    let mut places = [T::ZERO; MAX_LANES];
    // SAFETY: the caller's; the places are as many as those of a group.
    unsafe {
        let mut sums = [V::splat(T::ZERO); MAX_REGISTERS];
        let sums = &mut sums[..TURNS * group / V::LANES];
        for first in (0..length / chunk::<T>()).map(|number| number * chunk::<T>()) {
            for (place, sum) in sums.iter_mut().enumerate() {
                *sum = add(first + place * V::LANES, *sum);
            }
        }
        let in_group = group / V::LANES;
        for place in 0..in_group {
            let turn = |turn: usize| sums[turn * in_group + place];
            let sum = turn(0).add(turn(1)).add(turn(2).add(turn(3)));
            sum.store(places.as_mut_ptr().add(place * V::LANES));
        }
    }
    by_halves(&mut places, group, |a, b| a + b);
    places[0]
}

struct Range<'a, T>(&'a [T]);

impl<T: Real> Task<T> for Range<'_, T> {
    type Output = (T, T);

    #[inline(always)]
    unsafe fn run<V: Register<T>, const ROWS: usize>(self) -> (T, T) {
        let chunks = self.0.chunks_exact(V::LANES);
        let infinity = T::of(f64::INFINITY);
        let (mut least, mut most) = (infinity, -infinity);
        for &number in chunks.remainder() {
            least = number.min(least);
            most = number.max(most);
        }
        // SAFETY: each chunk holds as many numbers as are loaded.
        unsafe {
            let (mut low, mut high) = (V::splat(least), V::splat(most));
            for chunk in chunks {
                let numbers = V::load(chunk.as_ptr());
                low = numbers.min(low);
                high = numbers.max(high);
            }
            let (mut lows, mut highs) = ([T::ZERO; MAX_LANES], [T::ZERO; MAX_LANES]);
            low.store(lows.as_mut_ptr());
            high.store(highs.as_mut_ptr());
            by_halves(&mut lows, V::LANES, |a, b| a.min(b));
            by_halves(&mut highs, V::LANES, |a, b| a.max(b));
            (lows[0], highs[0])
        }
    }
}

/// Brings the first `count` numbers, a power of two, together in the first.
#[inline(always)]
fn by_halves<T: Copy>(numbers: &mut [T; MAX_LANES], count: usize, join: impl Fn(T, T) -> T) {
    let mut half = count / 2;
    while half > 0 {
        for place in 0..half {
            numbers[place] = join(numbers[place], numbers[place + half]);
        }
        half /= 2;
    }
}

/// The numbers of the widest register.
const MAX_LANES: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::processor::tests::on_every_path;

    #[test]
    fn sums_have_the_same_bits_on_every_path() {
        for n in (0..300).chain([1000, 4096]) {
            let numbers: Vec<f64> = (0..n).map(|i| (f64::from(i) * 0.7).sin()).collect();
            let singles: Vec<f32> = numbers.iter().map(|&x| x as f32).collect();
            on_every_path(|| {
                (
                    sum(&numbers),
                    sum(&singles),
                    range(&numbers),
                    range(&singles),
                )
            });
            let factors: Vec<f64> = numbers.iter().map(|x| 1.0 - x).collect();
            let plain: f64 = numbers.iter().zip(&factors).map(|(x, y)| x * y).sum();
            let found = on_every_path(|| sum_of_products(&numbers, &factors));
            assert!((found - plain).abs() < 1e-11);
        }
    }

    #[test]
    fn sums_and_ranges_are_those_of_plain_loops() {
        for n in 0..200 {
            let numbers: Vec<f64> = (0..n).map(|i| (f64::from(i) * 0.7).sin()).collect();
            let plain: f64 = numbers.iter().sum();
            assert!((sum(&numbers) - plain).abs() < 1e-12);
            let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
            let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert_eq!(range(&numbers), (least, most));
            let singles: Vec<f32> = numbers.iter().map(|&x| x as f32).collect();
            assert!((f64::from(sum(&singles)) - plain).abs() < 1e-4);
            assert_eq!(range(&singles), (least as f32, most as f32));
        }
    }
}
