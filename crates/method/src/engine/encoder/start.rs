//! Random starts, scaled to the data.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use super::input::Input;
use super::layout::Network;
use linkproof_numeric::real::{Real, dot_f64};

/// Rows that the scale of the start is measured on.
const SAMPLE: usize = 4096;

impl Network {
    /// Normal random weights, each layer scaled to outputs of mean square 1,
    /// the last one so that the mean of `||f(x)||^2` is the square of `scale`.
    pub fn start<T: Real>(
        &self,
        input: &Input<'_, T>,
        seed: u64,
        stream: u64,
        scale: f64,
    ) -> Vec<T> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(stream);
        let mut params = vec![T::ZERO; self.n_params()];
        if self.is_table() {
            let deviation = scale / (self.outputs() as f64).sqrt();
            fill(&mut params, deviation, &mut random);
            return params;
        }
        for layer in self.layers() {
            let deviation = 1.0 / (layer.inputs as f64).sqrt();
            let mut rows = vec![T::ZERO; layer.weights.len()];
            fill(&mut rows, deviation, &mut random);
            params[layer.weights.clone()].copy_from_slice(&layer.in_strips(&rows));
            if let Some(norm) = &layer.norm {
                params[norm.scale.clone()].fill(T::ONE);
            }
        }
        let sample = sample(input);
        let n = sample.n_rows();
        for depth in 1..=self.layers().len() {
            let last = depth == self.layers().len();
            let target = if last {
                scale * scale
            } else {
                self.layers()[depth - 1].outputs as f64
            };
            // A bounded output bends the scale: a few rounds reach the target.
            let bends = last && self.layers()[depth - 1].function.is_some();
            for _ in 0..if bends { 8 } else { 1 } {
                let statistics = self.statistics(&params, &sample);
                let mean_square = if last {
                    let out = self.embed(&params, &sample, &statistics);
                    dot_f64(&out, &out) / n as f64
                } else {
                    let (mean, variance) =
                        self.layer_moments(&params, &sample, &statistics, depth - 1);
                    let squares = mean.iter().zip(&variance).map(|(mean, v)| mean * mean + v);
                    squares.sum()
                };
                if mean_square > 0.0 && mean_square.is_finite() {
                    let factor = T::of((target / mean_square).sqrt());
                    for weight in &mut params[self.layers()[depth - 1].weights.clone()] {
                        *weight *= factor;
                    }
                }
            }
        }
        params
    }
}

fn fill<T: Real>(weights: &mut [T], deviation: f64, random: &mut ChaCha8Rng) {
    for weight in weights {
        let draw: f64 = StandardNormal.sample(random);
        *weight = T::of(deviation * draw);
    }
}

/// Evenly spaced rows, [`SAMPLE`] at most.
fn sample<'a, T: Real>(input: &Input<'a, T>) -> Input<'a, T> {
    let n = input.n_rows();
    if n <= SAMPLE {
        return input.clone();
    }
    let rows: Vec<u32> = (0..SAMPLE)
        .map(|place| (place * n / SAMPLE) as u32)
        .collect();
    input.select(&rows).into_input()
}
