//! Links that a person or another source has verified.

use hashbrown::HashMap;
use linkproof_numeric::linear::{inverse, solve};
use linkproof_numeric::math;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::claims::logistic;
use super::outcome::{Check, ChecksUsed, Judgment, Share, Status};

/// Without labels: the mean and the variance of the intercept, and of the slope.
const MEANS: [f64; 2] = [1.5, 1.0];
const VARIANCES: [f64; 2] = [4.0, 0.25];
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
    let mut covariance = [VARIANCES[0], 0.0, 0.0, VARIANCES[1]];
    let value = |t: [f64; 2]| {
        let of_one = |it: &Seen| {
            let z = t[0] + t[1] * it.x + it.prior;
            let z = if it.real > 0.5 { -z } else { z };
            z.max(0.0) + math::ln_1p(math::exp(-z.abs()))
        };
        let prior = |at: usize| (t[at] - MEANS[at]).powi(2) / (2.0 * VARIANCES[at]);
        seen.iter().map(of_one).sum::<f64>() + prior(0) + prior(1)
    };
    for _ in 0..NEWTON_STEPS {
        let mut gradient = [0, 1].map(|at| (t[at] - MEANS[at]) / VARIANCES[at]);
        let mut hessian = [1.0 / VARIANCES[0], 0.0, 0.0, 1.0 / VARIANCES[1]];
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
        let pair = |src: u32, dst: u32| (src.min(dst), src.max(dst));
        let pairs = checks.iter().map(|it| (pair(it.src, it.dst), None));
        let mut places: HashMap<(u32, u32), Option<usize>> = pairs.collect();
        for (place, link) in self.links.iter().enumerate() {
            if let Some(found) = places.get_mut(&pair(link.src, link.dst)) {
                *found = Some(place);
            }
        }
        let mut used = ChecksUsed::default();
        for check in checks {
            match places[&pair(check.src, check.dst)] {
                Some(place) => self.links[place].verified = Some(check.real),
                None => used.not_links += 1,
            }
        }
        let verified = self.links.iter().filter_map(|link| link.verified);
        used.verified = verified.clone().count();
        used.real = verified.filter(|real| *real).count();
        if used.verified > 0 && !self.facts.abstained {
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
        let judged = |status| status == Status::Judged;
        let verified = self.links.iter().filter(|link| judged(link.status));
        let seen = verified.filter_map(|link| {
            Some(Seen {
                x: link.log_density,
                prior: link.vote,
                real: f64::from(u8::from(link.verified?)),
            })
        });
        let ([a, g], covariance) = fit(&seen.collect::<Vec<_>>());
        let n = self.links.len().max(1) as f64;
        let (mut along_a, mut along_g) = (0.0, 0.0);
        let (mut sum, mut count) = (0.0, 0usize);
        for link in self.links.iter_mut().filter(|link| judged(link.status)) {
            let p = logistic(a + g * link.log_density + link.vote);
            along_a += p * (1.0 - p) / n;
            along_g += p * (1.0 - p) * link.log_density / n;
            link.belief = p;
            link.suspect = p < 0.5;
            sum += p;
            count += 1;
        }
        let mut believed = 0.0;
        for link in &mut self.links {
            if link.status == Status::Blind {
                link.belief = sum / count.max(1) as f64;
            }
            let verified = link.verified.map(|real| f64::from(u8::from(real)));
            believed += verified.unwrap_or(link.belief);
        }
        let share = (1.0 - believed / n).clamp(0.0, 1.0);
        let variance = along_a * along_a * covariance[0]
            + 2.0 * along_a * along_g * covariance[1]
            + along_g * along_g * covariance[3];
        let wide = WIDE * variance.max(0.0).sqrt();
        let before = self.facts.share;
        self.facts.share = Some(Share {
            low: (share - wide).max(0.0),
            estimate: Some(share),
            high: (share + wide).min(1.0),
            high_unchecked: before.map(|it| it.high_unchecked.unwrap_or(it.high)),
        });
    }

    /// The places of links that a person should verify: two thirds evenly from the more
    /// suspicious 40% of the ranks, a third from the rest, none that is verified.
    pub fn sample(&self, count: usize, seed: u64) -> Vec<usize> {
        let mut open = self.by_rank();
        open.retain(|&place| {
            let link = &self.links[place];
            link.verified.is_none() && link.status != Status::Duplicate
        });
        let count = count.min(open.len());
        let middle = (SUSPICIOUS * open.len() as f64) as usize;
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(SAMPLE_STREAM);
        let (first, rest) = open.split_at(middle);
        let parts = even_parts(first, SUSPICIOUS_PARTS).chain(even_parts(rest, OTHER_PARTS));
        let number = SUSPICIOUS_PARTS + OTHER_PARTS;
        let (mut chosen, mut left) = (Vec::new(), Vec::new());
        for (at, part) in parts.enumerate() {
            let mut part = part.to_vec();
            part.shuffle(&mut random);
            let want = count * (at + 1) / number - count * at / number;
            let rest = part.split_off(want.min(part.len()));
            chosen.extend(part);
            left.extend(rest);
        }
        // Small parts may hold too few.
        left.truncate(count - chosen.len());
        chosen.extend(left);
        chosen.sort_unstable_by_key(|&place| self.links[place].rank);
        chosen
    }

    /// The places of the links by their beliefs, ties by rank.
    pub(crate) fn by_belief(&self) -> Vec<usize> {
        let mut places = self.by_rank();
        places.sort_by(|&a, &b| self.links[a].belief.total_cmp(&self.links[b].belief));
        places
    }

    /// The places of the links that are taken for false at a rate: by belief, ties by
    /// rank, while their mean belief stays at most `rate`.
    pub fn at_rate(&self, rate: f64) -> Vec<usize> {
        let mut places = self.by_belief();
        places.retain(|&place| self.links[place].status == Status::Judged);
        let mut sum = 0.0;
        let mut is_below = |(before, &place): (usize, &usize)| {
            sum += self.links[place].belief;
            !self.facts.abstained && sum <= rate * (before + 1) as f64
        };
        let count = places.iter().enumerate().take_while(|it| is_below(*it));
        places.truncate(count.count());
        places
    }
}

fn even_parts(places: &[usize], number: usize) -> impl Iterator<Item = &[usize]> {
    let cut = move |at: usize| places.len() * at / number;
    (0..number).map(move |at| &places[cut(at)..cut(at + 1)])
}
