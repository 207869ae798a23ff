//! A small logistic model, `P(link) = 1 / (1 + e^-(a + <c, z>))`.

use linkproof_numeric::math;

/// The largest number of Newton steps.
const STEPS: usize = 25;
/// What holds coefficients down, against the mean over examples: enough for
/// evidence that tells links and decoys apart without a fault.
const RIDGE: f64 = 1e-4;

/// The coefficients.
#[derive(Debug, Clone, PartialEq)]
pub struct Logistic {
    constant: f64,
    slopes: Vec<f64>,
}

/// Something to learn from.
#[derive(Debug, Clone, Copy)]
pub struct Example<'e> {
    /// What is known of it.
    pub z: &'e [f64],
    /// Whether it is a link.
    pub is_link: bool,
    /// How much it counts.
    pub weight: f64,
}

impl Logistic {
    /// As [`Logistic::learn`], with no slope below zero: an entry that would get
    /// one is left out.
    pub fn learn_rising<'e>(
        width: usize,
        examples: impl Iterator<Item = Example<'e>> + Clone,
    ) -> Self {
        let mut used: Vec<usize> = (0..width).collect();
        loop {
            let found = match used.len() == width {
                true => Logistic::learn(width, examples.clone()),
                false => {
                    let used = &used;
                    let entries = examples
                        .clone()
                        .flat_map(|e| used.iter().map(move |&k| e.z[k]));
                    let entries: Vec<f64> = entries.collect();
                    let those = examples.clone().enumerate().map(|(place, e)| Example {
                        z: &entries[place * used.len()..][..used.len()],
                        ..e
                    });
                    Logistic::learn(used.len(), those)
                }
            };
            let least =
                (0..used.len()).min_by(|&a, &b| found.slopes[a].total_cmp(&found.slopes[b]));
            match least.filter(|&place| found.slopes[place] < 0.0) {
                Some(place) => {
                    used.remove(place);
                }
                None => {
                    let mut slopes = vec![0.0; width];
                    for (&k, &slope) in used.iter().zip(&found.slopes) {
                        slopes[k] = slope;
                    }
                    return Logistic { slopes, ..found };
                }
            }
        }
    }

    /// Learns from examples of `width` entries each by Newton's method; links
    /// and decoys count the same as a whole.
    pub fn learn<'e>(width: usize, examples: impl Iterator<Item = Example<'e>> + Clone) -> Self {
        let mut totals = [0.0; 2];
        for example in examples.clone() {
            totals[usize::from(example.is_link)] += example.weight;
        }
        let shares = totals.map(|total| if total > 0.0 { 0.5 / total } else { 0.0 });
        let mut model = Logistic {
            constant: 0.0,
            slopes: vec![0.0; width],
        };
        let size = width + 1;
        for _ in 0..STEPS {
            let mut gradient = vec![0.0; size];
            let mut curvature = vec![0.0; size * size];
            for place in 1..size {
                gradient[place] = RIDGE * model.slopes[place - 1];
                curvature[place * size + place] = RIDGE;
            }
            curvature[0] = 1e-9;
            for example in examples.clone() {
                let p = 1.0 / (1.0 + math::exp(-model.score(example.z)));
                let target = if example.is_link { 1.0 } else { 0.0 };
                let weight = example.weight * shares[usize::from(example.is_link)];
                let (slope, bend) = (weight * (p - target), weight * (p * (1.0 - p)).max(1e-6));
                let entry = |place: usize| match place {
                    0 => 1.0,
                    _ => example.z[place - 1],
                };
                for a in 0..size {
                    gradient[a] += slope * entry(a);
                    for b in 0..=a {
                        curvature[a * size + b] += bend * entry(a) * entry(b);
                    }
                }
            }
            let step = solve(curvature, gradient);
            // Far from the minimum a whole step may go too far.
            let length = step.iter().map(|s| s * s).sum::<f64>().sqrt();
            let factor = (3.0 / length.max(f64::MIN_POSITIVE)).min(1.0);
            model.constant -= factor * step[0];
            for (slope, step) in model.slopes.iter_mut().zip(&step[1..]) {
                *slope -= factor * step;
            }
            if length < 1e-7 {
                break;
            }
        }
        model
    }

    /// The logarithm of the odds of a link.
    pub fn score(&self, z: &[f64]) -> f64 {
        let sum: f64 = self.slopes.iter().zip(z).map(|(c, z)| c * z).sum();
        self.constant + sum
    }
}

/// `A^-1 b` for a positive definite `A`, of which the lower triangle is given.
pub fn solve(mut a: Vec<f64>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for i in 0..n {
        for j in 0..=i {
            let mut sum = a[i * n + j];
            for k in 0..j {
                sum -= a[i * n + k] * a[j * n + k];
            }
            a[i * n + j] = if i == j {
                sum.max(1e-300).sqrt()
            } else {
                sum / a[j * n + j]
            };
        }
    }
    for i in 0..n {
        for k in 0..i {
            b[i] -= a[i * n + k] * b[k];
        }
        b[i] /= a[i * n + i];
    }
    for i in (0..n).rev() {
        for k in i + 1..n {
            b[i] -= a[k * n + i] * b[k];
        }
        b[i] /= a[i * n + i];
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_equations_are_solved() {
        let a = vec![4.0, 0.0, 0.0, 2.0, 5.0, 0.0, 1.0, 3.0, 6.0];
        let x = solve(a, vec![11.0, 21.0, 25.0]);
        for (x, expected) in x.iter().zip([1.0, 2.0, 3.0]) {
            assert!((x - expected).abs() < 1e-12, "{x}");
        }
    }

    #[test]
    fn the_gradient_vanishes_at_what_is_learnt() {
        let z: Vec<[f64; 2]> = (0..200)
            .map(|i| {
                [
                    f64::from(i % 17) / 8.0 - 1.0,
                    f64::from(i * i % 23) / 11.0 - 1.0,
                ]
            })
            .collect();
        let is_link =
            |place: usize| (z[place][0] + 0.3 * z[place][1] > 0.2) != place.is_multiple_of(5);
        let examples = || {
            z.iter().enumerate().map(|(place, z)| Example {
                z,
                is_link: is_link(place),
                weight: 1.0,
            })
        };
        let model = Logistic::learn(2, examples());
        assert!(model.slopes[0] > 1.0);
        let n_links = examples().filter(|example| example.is_link).count() as f64;
        let mut gradient = [0.0, RIDGE * model.slopes[0], RIDGE * model.slopes[1]];
        for example in examples() {
            let p = 1.0 / (1.0 + math::exp(-model.score(example.z)));
            let (target, n) = match example.is_link {
                true => (1.0, n_links),
                false => (0.0, 200.0 - n_links),
            };
            gradient[0] += 0.5 / n * (p - target);
            gradient[1] += 0.5 / n * (p - target) * example.z[0];
            gradient[2] += 0.5 / n * (p - target) * example.z[1];
        }
        assert!(gradient.iter().all(|g| g.abs() < 1e-6), "{gradient:?}");
    }
}
