//! The choice of a law, by links that a fit did not see.
//!
//! 1. What kind of numbers weights are: signed where one is negative (`signed`); counts
//!    where all but the heaviest are whole multiples of one step; else positive numbers.
//! 2. Each family is fitted to four fifths of the links and asked what the others
//!    pay; the one that asks least is taken.
//! 3. The same with a slope, which must gain by two standard errors.

use rayon::prelude::*;

use super::estimate::{BETA, Cell, Problem, Theta};
use super::{Family, SizeLaw, rank_of};
use linkproof_numeric::math;

/// A link by which the law of sizes is told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizedLink {
    /// Its weight.
    pub weight: f64,
    /// How far it is believed.
    pub belief: f64,
    /// The similarity of its ends.
    pub similarity: f64,
}

/// So many links tell a law of three numbers.
const MOST_LINKS: usize = 20_000;
const FOLDS: usize = 5;
/// Similarities are told apart in so many groups of equally many links.
const GROUPS: usize = 32;
/// Counts of which a quarter is beyond this are as good as positive numbers.
const LARGEST_COUNT: f64 = 1_000.0;
/// A slope must gain so many standard errors.
const LEAST_ERRORS: f64 = 2.0;
/// A law is no narrower than this share of the middle four fifths of the sizes,
/// so that many links of one size do not hide all others.
const NARROWEST: f64 = 0.25;

impl SizeLaw {
    /// The law of the sizes of links; with a slope, if that is asked for and the
    /// links ask for it. None where there is no link that is believed.
    ///
    /// ```
    /// use linkproof::size::{Family, SizeLaw, SizedLink};
    ///
    /// // Links that weigh 1, 2 or 3, and a false one.
    /// let link = |place: u32| SizedLink {
    ///     weight: f64::from(1 + place % 3),
    ///     belief: 0.9,
    ///     similarity: 0.0,
    /// };
    /// let mut links: Vec<SizedLink> = (0..300).map(link).collect();
    /// links.push(SizedLink { weight: 1000.0, belief: 0.1, similarity: 0.0 });
    /// let law = SizeLaw::estimate(&links, false).unwrap();
    /// assert_eq!(law.unit, 1.0);
    /// assert!((law.mean(0.0) - 2.0).abs() < 0.1);
    /// assert!(law.log_chance(3.0, 0.0) > 0.1f64.ln());
    /// assert!(law.log_chance(1000.0, 0.0) < 1e-20f64.ln());
    /// ```
    pub fn estimate(links: &[SizedLink], with_slope: bool) -> Option<SizeLaw> {
        let links: Vec<SizedLink> = links.iter().copied().filter(|it| it.belief > 0.0).collect();
        let some = links.len().min(MOST_LINKS);
        let place = |at: usize| at * links.len() / some.max(1);
        let links: Vec<SizedLink> = (0..some).map(|at| links[place(at)]).collect();
        match links.iter().any(|link| link.weight < 0.0) {
            true => super::signed::estimate(&links, with_slope),
            false => SizeLaw::of_one_form(&links, with_slope),
        }
    }

    /// The same of numbers that are positive, or of signed ones around one place.
    pub(super) fn of_one_form(links: &[SizedLink], with_slope: bool) -> Option<SizeLaw> {
        let sample = Sample::new(links, with_slope)?;
        let tried = sample
            .families
            .iter()
            .map(|&family| sample.trial(family, false));
        let best = tried.reduce(|best, next| match next.loss() < best.loss() {
            true => next,
            false => best,
        })?;
        let mut law = sample.law(&best);
        if sample.deviation > 0.0 {
            let sloped = sample.trial(best.family, true);
            let gain = sloped.gain_over(&best);
            let found = sample.law(&sloped);
            if gain.0 > LEAST_ERRORS * gain.1 {
                law = found;
            }
            law.estimated_slope = found.estimated_slope;
            law.slope_gain = Some(gain);
        }
        Some(law)
    }
}

/// Links in folds and groups, and how their sizes are measured.
struct Sample {
    families: &'static [Family],
    unit: f64,
    /// For each family the cells of each fold.
    cells: Vec<Vec<Vec<Cell>>>,
    /// Similarities of the groups, in deviations from the mean.
    groups: Vec<f64>,
    mean: f64,
    deviation: f64,
    range: (f64, f64),
    n_folds: usize,
}

/// A family fitted to all folds but one, each in turn, and to all.
struct Trial {
    family: Family,
    theta: Theta,
    /// That of the slope, in deviations of the similarity.
    error: Option<f64>,
    /// For each cell of each fold what its links pay, with their weights.
    losses: Vec<(f64, f64, f64)>,
    distance: f64,
}

impl Trial {
    fn loss(&self) -> f64 {
        let (sum, all) = self
            .losses
            .iter()
            .fold((0.0, 0.0), |(sum, all), it| (sum + it.0 * it.1, all + it.1));
        sum / f64::max(all, f64::MIN_POSITIVE)
    }

    /// How much less the same links pay, on average, and the standard error.
    fn gain_over(&self, other: &Trial) -> (f64, f64) {
        let gain = other.loss() - self.loss();
        let all: f64 = self.losses.iter().map(|it| it.1).sum();
        let pairs = self.losses.iter().zip(&other.losses);
        let squares = pairs.map(|(a, b)| a.2 * (b.0 - a.0 - gain).powi(2));
        (
            gain,
            squares.sum::<f64>().sqrt() / all.max(f64::MIN_POSITIVE),
        )
    }
}

impl Sample {
    fn new(links: &[SizedLink], with_slope: bool) -> Option<Sample> {
        if links.is_empty() {
            return None;
        }
        let weights = sorted(links, |link| link.weight);
        let signed = weights.first().is_some_and(|first| first.0 <= 0.0);
        let step = if signed { None } else { step(&weights) };
        let usual = [quantile(&weights, 0.5), weights[0].0].into_iter();
        let (families, unit): (&'static [Family], f64) = match step {
            _ if signed => (&[Family::Normal], spread(&weights)),
            Some(step) => (&[Family::NegativeBinomial, Family::RoundedLogNormal], step),
            None => (
                &[Family::LogNormal, Family::Gamma],
                usual.fold(0.0, f64::max),
            ),
        };
        let similarities = sorted(links, |link| link.similarity);
        let range = (quantile(&similarities, 0.01), quantile(&similarities, 0.99));
        let m = links.len() as f64;
        let mean = links.iter().map(|link| link.similarity).sum::<f64>() / m;
        let squares = links.iter().map(|link| (link.similarity - mean).powi(2));
        let deviation = (squares.sum::<f64>() / m).sqrt();
        let usable = with_slope && deviation.is_finite() && deviation > 1e-9 * (1.0 + mean.abs());
        let deviation = if usable { deviation } else { 0.0 };
        let standard = |s: f64| if usable { (s - mean) / deviation } else { 0.0 };
        let n_groups = if usable { GROUPS.min(links.len()) } else { 1 };
        let mut order: Vec<usize> = (0..links.len()).collect();
        order.sort_by(|&a, &b| links[a].similarity.total_cmp(&links[b].similarity));
        let (mut group_of, mut groups) = (vec![0; links.len()], vec![(0.0, 0.0); n_groups]);
        for (rank, &place) in order.iter().enumerate() {
            let group = rank * n_groups / links.len();
            group_of[place] = group;
            groups[group].0 += standard(links[place].similarity);
            groups[group].1 += 1.0;
        }
        let n_folds = FOLDS.min(links.len());
        let cells = families.iter().map(|&family| {
            let mut folds = vec![Vec::new(); n_folds];
            for (place, link) in links.iter().enumerate() {
                folds[place % n_folds].push(Cell {
                    x: family.seen(link.weight, unit),
                    group: group_of[place],
                    weight: link.belief,
                    square: link.belief * link.belief,
                });
            }
            folds.into_iter().map(merged).collect()
        });
        Some(Sample {
            families,
            unit,
            cells: cells.collect(),
            groups: groups.iter().map(|(sum, count)| sum / count).collect(),
            mean,
            deviation,
            range,
            n_folds,
        })
    }

    /// Fits a family with or without a slope.
    fn trial(&self, family: Family, slopes: bool) -> Trial {
        let of_family = self.families.iter().position(|&it| it == family);
        let folds = &self.cells[of_family.unwrap_or_default()];
        let all: Vec<&Cell> = folds.iter().flatten().collect();
        let (start, shapes) = begin(family, &all);
        let problem = |left_out: usize| Problem {
            family,
            beta: BETA,
            cells: folds
                .iter()
                .enumerate()
                .filter(|&(fold, _)| fold != left_out || self.n_folds == 1)
                .flat_map(|(_, cells)| cells)
                .collect(),
            groups: &self.groups,
            start,
            shapes,
            slopes,
        };
        let solved = |fold: usize| problem(fold).solve();
        let thetas: Vec<Theta> = (0..self.n_folds)
            .into_par_iter()
            .map(|fold| solved(fold).0)
            .collect();
        let (theta, last) = solved(self.n_folds);
        let whole = problem(self.n_folds);
        let (mut losses, mut ranks) = (Vec::new(), Vec::new());
        for (cells, &theta) in folds.iter().zip(&thetas) {
            let powers = whole.powers(theta);
            for cell in cells {
                let (loss, _) = whole.loss(theta, cell, &powers);
                losses.push((loss, cell.weight, cell.square));
                let eta = theta[0] + theta[2] * self.groups[cell.group];
                ranks.push((rank_of(family, cell.x, eta, theta[1]), cell.weight));
            }
        }
        Trial {
            family,
            theta,
            error: slopes.then(|| last.slope_error(theta)).flatten(),
            losses,
            distance: distance(&ranks),
        }
    }

    /// A trial as a law of similarities as they are.
    fn law(&self, trial: &Trial) -> SizeLaw {
        let [location, shape, slope] = trial.theta;
        let unit = if self.deviation > 0.0 {
            self.deviation
        } else {
            1.0
        };
        let slope = slope / unit;
        SizeLaw {
            family: trial.family,
            unit: self.unit,
            location: location - slope * self.mean,
            slope,
            shape,
            negative: None,
            similarities: self.range,
            estimated_slope: trial.error.map(|error| (slope, error / unit)),
            slope_gain: None,
            distance: trial.distance,
        }
    }
}

/// Where the fit of a family starts, and the shapes that it may take.
fn begin(family: Family, cells: &[&Cell]) -> (Theta, (f64, f64)) {
    let mut sizes: Vec<(f64, f64)> = cells.iter().map(|cell| (cell.x, cell.weight)).collect();
    sizes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let middle = quantile(&sizes, 0.5);
    let spread = (quantile(&sizes, 0.9) - quantile(&sizes, 0.1)) / NORMAL_SPREAD;
    let narrowest = math::ln((NARROWEST * spread).max(1e-3));
    let log_spread = math::ln(spread.max(1e-2));
    match family {
        Family::NegativeBinomial => ([math::ln(middle - 0.5), 0.0, 0.0], (-7.0, 9.0)),
        Family::RoundedLogNormal => ([math::ln(middle), -0.3, 0.0], (-3.0, 3.0)),
        Family::LogNormal | Family::Normal => ([middle, log_spread, 0.0], (narrowest, 5.0)),
        Family::Gamma => (
            [middle, -2.0 * log_spread, 0.0],
            (-5.0, (-2.0 * narrowest).max(-4.0)),
        ),
    }
}

/// The middle four fifths of a normal law, in deviations.
const NORMAL_SPREAD: f64 = 2.563;

/// Sizes and beliefs in the order of sizes.
fn sorted(links: &[SizedLink], number: fn(&SizedLink) -> f64) -> Vec<(f64, f64)> {
    let mut sorted: Vec<(f64, f64)> = links.iter().map(|it| (number(it), it.belief)).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    sorted
}

/// The number below which a share of all lies, counted by weight.
fn quantile(sorted: &[(f64, f64)], share: f64) -> f64 {
    let all: f64 = sorted.iter().map(|it| it.1).sum();
    let mut sum = 0.0;
    let found = sorted.iter().find(|it| {
        sum += it.1;
        sum >= share * all
    });
    found.or(sorted.last()).map_or(0.0, |it| it.0)
}

/// What signed weights are measured in.
fn spread(weights: &[(f64, f64)]) -> f64 {
    let spread = (quantile(weights, 0.9) - quantile(weights, 0.1)) / NORMAL_SPREAD;
    let usual = quantile(weights, 0.5).abs();
    [spread, usual, 1.0]
        .into_iter()
        .find(|&x| x > 0.0)
        .unwrap_or(1.0)
}

/// The step between counts: all but the heaviest twentieth are whole multiples of
/// it. None where there is no such step, or where weights are many steps.
fn step(weights: &[(f64, f64)]) -> Option<f64> {
    let heavy = quantile(weights, 0.95);
    let usual = || {
        weights
            .iter()
            .map(|it| it.0)
            .take_while(|&weight| weight <= heavy)
    };
    let whole = |x: f64| x.fract() == 0.0 && x <= 9e15;
    let step = match usual().all(whole) {
        true => usual().fold(0, |step, weight| common_divisor(step, weight as u64)) as f64,
        false => weights[0].0,
    };
    let near = |x: f64| (x - x.round()).abs() < 1e-6;
    let counts = usual().all(|weight| near(weight / step));
    (counts && quantile(weights, 0.75) <= LARGEST_COUNT * step).then_some(step)
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// Cells of the same size and group as one.
fn merged(mut cells: Vec<Cell>) -> Vec<Cell> {
    cells.sort_by(|a, b| a.group.cmp(&b.group).then(a.x.total_cmp(&b.x)));
    cells.dedup_by(|next, kept| {
        let same = (next.group, next.x) == (kept.group, kept.x);
        if same {
            kept.weight += next.weight;
            kept.square += next.square;
        }
        same
    });
    cells
}

/// Kolmogorov's distance of ranks from uniform ones. A rank that is told up to an
/// interval is spread over it, which is what random ones are on average.
pub(super) fn distance(ranks: &[((f64, f64), f64)]) -> f64 {
    const POINTS: usize = 400;
    let all: f64 = ranks.iter().map(|it| it.1).sum();
    let far = (1..POINTS).map(|at| {
        let u = at as f64 / POINTS as f64;
        let share = |&((from, to), weight): &((f64, f64), f64)| match u {
            u if u >= to => weight,
            u if u <= from => 0.0,
            u => weight * (u - from) / (to - from),
        };
        (ranks.iter().map(share).sum::<f64>() / all.max(f64::MIN_POSITIVE) - u).abs()
    });
    far.fold(0.0, f64::max)
}
