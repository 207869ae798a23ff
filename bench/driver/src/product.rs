//! The machine's ceiling: a plain product of square matrices.

use std::time::Instant;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::Failure;

/// `size^3` in single precision, on all threads.
#[derive(Debug, Deserialize)]
pub struct Product {
    size: usize,
    /// How many times, one after the other.
    count: u32,
}

impl Product {
    /// The mean time of a product.
    pub fn run(&self) -> Result<Value, Failure> {
        let n = self.size;
        let stride = n as isize;
        let a: Vec<f32> = (0..n * n).map(|place| (place % 7) as f32).collect();
        let b: Vec<f32> = (0..n * n).map(|place| (place % 5) as f32).collect();
        let mut out = vec![0.0f32; n * n];
        let clock = Instant::now();
        for _ in 0..self.count {
            // SAFETY: each pointer is to n x n numbers, rows `n` apart, and `out`
            // overlaps neither of the others.
            unsafe {
                gemm::gemm(
                    n,
                    n,
                    n,
                    out.as_mut_ptr(),
                    1,
                    stride,
                    false,
                    a.as_ptr(),
                    1,
                    stride,
                    b.as_ptr(),
                    1,
                    stride,
                    0.0,
                    1.0,
                    false,
                    false,
                    false,
                    gemm::Parallelism::Rayon(0),
                );
            }
        }
        let seconds = clock.elapsed().as_secs_f64() / f64::from(self.count);
        Ok(json!({ "seconds": seconds, "value": out.get(n) }))
    }
}
