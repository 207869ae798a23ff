//! Sums and ranges of many numbers, in several registers at once; the order of
//! operations depends on the length alone.

use super::Real;
use super::register::{Register, Task};

/// Registers that take turns, so that none waits for its last result.
const TURNS: usize = 4;

/// The sum.
pub fn sum<T: Real>(numbers: &[T]) -> T {
    T::with_registers(Sum(numbers))
}

/// The least and the largest, NaN aside; infinite ends where there are none.
pub fn range<T: Real>(numbers: &[T]) -> (T, T) {
    T::with_registers(Range(numbers))
}

struct Sum<'a, T>(&'a [T]);

impl<T: Real> Task<T> for Sum<'_, T> {
    type Output = T;

    #[inline(always)]
    unsafe fn run<V: Register<T>, const ROWS: usize>(self) -> T {
        let chunks = self.0.chunks_exact(TURNS * V::LANES);
        let mut total = T::ZERO;
        for &number in chunks.remainder() {
            total += number;
        }
        // SAFETY: each chunk holds as many numbers as are loaded.
        unsafe {
            let mut sums = [V::splat(T::ZERO); TURNS];
            for chunk in chunks {
                for (turn, sum) in sums.iter_mut().enumerate() {
                    *sum = V::load(chunk.as_ptr().add(turn * V::LANES)).add(*sum);
                }
            }
            let sum = sums[0].add(sums[1]).add(sums[2].add(sums[3]));
            for &number in spilled(sum, &mut [T::ZERO; MAX_LANES]) {
                total += number;
            }
        }
        total
    }
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
            for &number in spilled(low, &mut [T::ZERO; MAX_LANES]) {
                least = number.min(least);
            }
            for &number in spilled(high, &mut [T::ZERO; MAX_LANES]) {
                most = number.max(most);
            }
        }
        (least, most)
    }
}

/// The numbers of the widest register.
const MAX_LANES: usize = 16;

/// The numbers of a register, in memory.
///
/// # Safety
/// The machine must have the register.
#[inline(always)]
unsafe fn spilled<T: Real, V: Register<T>>(register: V, memory: &mut [T; MAX_LANES]) -> &[T] {
    // SAFETY: no register holds more numbers than the memory.
    unsafe { register.store(memory.as_mut_ptr()) };
    &memory[..V::LANES]
}

#[cfg(test)]
mod tests {
    use super::*;

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
