//! Links that a person or another source has verified.

use std::collections::BTreeMap;

use linkproof_numeric::linear::{inverse, solve};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::claims::logistic;
use super::outcome::{Check, ChecksUsed, Judgment, Share, Status};

/// Without labels: the mean and the variance of the intercept, and of the slope.
const INTERCEPT: (f64, f64) = (1.5, 4.0);
const SLOPE: (f64, f64) = (1.0, 0.25);
const LEAST_SLOPE: f64 = 0.05;
const NEWTON_STEPS: usize = 50;
/// The standard normal quantile of 95%.
const WIDE: f64 = 1.645;
/// Two thirds of a sample come from this share of the ranks.
const SUSPICIOUS: f64 = 0.4;
const SUSPICIOUS_PARTS: usize = 4;
const OTHER_PARTS: usize = 2;
const SAMPLE_STREAM: u64 = 0x7361_6d70;

/// A verified link, as the regression sees it.
struct Seen {
    x: f64,
    prior: f64,
    real: f64,
}

/// Intercept and slope by the labels and their priors, and the covariance of both.
fn fit(seen: &[Seen]) -> ([f64; 2], [f64; 4]) {
    let mut t = [1.0, 1.0];
    let mut covariance = [INTERCEPT.1, 0.0, 0.0, SLOPE.1];
    let value = |t: [f64; 2]| {
        let of_one = |it: &Seen| {
            let z = t[0] + t[1] * it.x + it.prior;
            let z = if it.real > 0.5 { -z } else { z };
            z.max(0.0) + linkproof_numeric::math::ln_1p(linkproof_numeric::math::exp(-z.abs()))
        };
        seen.iter().map(of_one).sum::<f64>()
            + (t[0] - INTERCEPT.0).powi(2) / (2.0 * INTERCEPT.1)
            + (t[1] - SLOPE.0).powi(2) / (2.0 * SLOPE.1)
    };
    for _ in 0..NEWTON_STEPS {
        let mut gradient = [
            (t[0] - INTERCEPT.0) / INTERCEPT.1,
            (t[1] - SLOPE.0) / SLOPE.1,
        ];
        let mut hessian = [1.0 / INTERCEPT.1, 0.0, 0.0, 1.0 / SLOPE.1];
        for it in seen {
            let p = logistic(t[0] + t[1] * it.x + it.prior);
            let (along, across) = (p - it.real, p * (1.0 - p));
            gradient[0] += along;
            gradient[1] += along * it.x;
            hessian[0] += across;
            hessian[1] += across * it.x;
            hessian[3] += across * it.x * it.x;
        }
        hessian[2] = hessian[1];
        if let Some(found) = inverse(&hessian, 2) {
            covariance.copy_from_slice(&found);
        }
        let Some(step) = solve(&hessian, 2, &gradient) else {
            break;
        };
        let before = value(t);
        let mut length = 1.0;
        let mut next = t;
        while length > 1e-6 {
            next = [t[0] - length * step[0], t[1] - length * step[1]];
            if value(next) <= before {
                break;
            }
            length /= 2.0;
        }
        let moved = (next[0] - t[0]).abs().max((next[1] - t[1]).abs());
        t = next;
        if moved < 1e-9 {
            break;
        }
    }
    ([t[0], t[1].max(LEAST_SLOPE)], covariance)
}

impl Judgment {
    /// Takes verified links into account: beliefs, flags and the share follow. Later
    /// checks replace earlier ones. Checks on pairs that are no links are counted and
    /// not used. If the judge abstains, only the verified links change.
    pub fn recalibrate(&mut self, checks: &[Check]) -> ChecksUsed {
        let by_ends: BTreeMap<(u32, u32), usize> = self
            .links
            .iter()
            .enumerate()
            .flat_map(|(place, link)| {
                [((link.src, link.dst), place), ((link.dst, link.src), place)]
            })
            .collect();
        let mut used = ChecksUsed::default();
        for check in checks {
            // The order of the ends counts only if both orders are links.
            match by_ends.get(&(check.src, check.dst)) {
                Some(&place) => self.links[place].verified = Some(check.real),
                None => used.not_links += 1,
            }
        }
        for place in 0..self.links.len() {
            if let Some(real) = self.links[place].verified {
                used.verified += 1;
                used.real += usize::from(real);
            }
        }
        if used.verified == 0 {
            return used;
        }
        if !self.facts.abstained {
            self.believe_by_checks();
        }
        for link in &mut self.links {
            if let Some(real) = link.verified {
                link.belief = f64::from(u8::from(real));
                link.suspect = !real;
            }
        }
        used
    }

    fn believe_by_checks(&mut self) {
        let prior = |vote: f64| if self.facts.one_to_one { 0.0 } else { vote };
        let judged: Vec<usize> = (0..self.links.len())
            .filter(|&place| self.links[place].status == Status::Judged)
            .collect();
        let seen: Vec<Seen> = judged
            .iter()
            .map(|&place| &self.links[place])
            .filter_map(|link| {
                Some(Seen {
                    x: link.log_density,
                    prior: prior(link.vote),
                    real: f64::from(u8::from(link.verified?)),
                })
            })
            .collect();
        let ([a, g], covariance) = fit(&seen);
        let n = self.links.len().max(1) as f64;
        let (mut along_a, mut along_g) = (0.0, 0.0);
        let mut sum = 0.0;
        for &place in &judged {
            let link = &mut self.links[place];
            let vote = if self.facts.one_to_one {
                0.0
            } else {
                link.vote
            };
            let p = logistic(a + g * link.log_density + vote);
            along_a += p * (1.0 - p) / n;
            along_g += p * (1.0 - p) * link.log_density / n;
            link.belief = p;
            link.suspect = p < 0.5;
            sum += p;
        }
        let mean = sum / judged.len().max(1) as f64;
        let mut believed = 0.0;
        for link in &mut self.links {
            if link.status == Status::Blind {
                link.belief = mean;
            }
            believed += match link.verified {
                Some(real) => f64::from(u8::from(real)),
                None => link.belief,
            };
        }
        let share = (1.0 - believed / n).clamp(0.0, 1.0);
        let variance = along_a * along_a * covariance[0]
            + 2.0 * along_a * along_g * covariance[1]
            + along_g * along_g * covariance[3];
        let wide = WIDE * variance.max(0.0).sqrt();
        let before = self
            .facts
            .share
            .map(|share| share.high_unchecked.unwrap_or(share.high));
        self.facts.share = Some(Share {
            low: (share - wide).max(0.0),
            estimate: Some(share),
            high: (share + wide).min(1.0),
            high_unchecked: before,
        });
    }

    /// The places of links that a person should verify: two thirds evenly from the more
    /// suspicious 40% of the ranks, a third from the rest, none that is verified.
    pub fn sample(&self, count: usize, seed: u64) -> Vec<usize> {
        let open: Vec<usize> = self
            .by_rank()
            .into_iter()
            .filter(|&place| {
                let link = &self.links[place];
                link.verified.is_none() && link.status != Status::Duplicate
            })
            .collect();
        let count = count.min(open.len());
        let middle = (SUSPICIOUS * open.len() as f64) as usize;
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(SAMPLE_STREAM);
        let mut chosen = Vec::new();
        let first = even_parts(&open[..middle], SUSPICIOUS_PARTS);
        let rest = even_parts(&open[middle..], OTHER_PARTS);
        let parts: Vec<Vec<usize>> = first.into_iter().chain(rest).collect();
        let mut left: Vec<Vec<usize>> = Vec::new();
        let number = parts.len();
        for (at, mut part) in parts.into_iter().enumerate() {
            part.shuffle(&mut random);
            let want = count * (at + 1) / number - count * at / number;
            let want = want.min(part.len());
            chosen.extend(part.drain(..want));
            left.push(part);
        }
        // Small parts may hold too few.
        let more = count - chosen.len();
        chosen.extend(left.concat().into_iter().take(more));
        chosen.sort_unstable_by_key(|&place| self.links[place].rank);
        chosen
    }

    /// The places of the links that are taken for false at a rate: by belief, ties by
    /// rank, while their mean belief stays at most `rate`.
    pub fn at_rate(&self, rate: f64) -> Vec<usize> {
        if self.facts.abstained {
            return Vec::new();
        }
        let mut places: Vec<usize> = (0..self.links.len())
            .filter(|&place| self.links[place].status == Status::Judged)
            .collect();
        places.sort_by(|&a, &b| {
            let (a, b) = (&self.links[a], &self.links[b]);
            a.belief.total_cmp(&b.belief).then(a.rank.cmp(&b.rank))
        });
        let mut sum = 0.0;
        let count = places
            .iter()
            .enumerate()
            .take_while(|&(before, &place)| {
                sum += self.links[place].belief;
                sum <= rate * (before + 1) as f64
            })
            .count();
        places.truncate(count);
        places
    }
}

fn even_parts(places: &[usize], number: usize) -> Vec<Vec<usize>> {
    let cut = |at: usize| places.len() * at / number;
    (0..number)
        .map(|at| places[cut(at)..cut(at + 1)].to_vec())
        .collect()
}
