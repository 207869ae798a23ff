//! Random links, features and numbers of planted graphs.

use std::collections::HashSet;

use rand::RngExt;

use super::super::planted::Random;
use super::{Ends, False, FalseWeight, Weights};
use linkproof_method::data::features::Matrix;
use linkproof_method::error::Result;
use linkproof_numeric::math;

/// Draws for each false link before the search ends.
const DRAWS: usize = 400;
/// The most alike of so many pairs.
const CANDIDATES: usize = 40;
/// No pair is likelier to have a link.
const MOST_LIKELY: f64 = 0.95;

/// Whether real links join two nodes.
type Joins = Box<dyn Fn(usize, usize) -> bool>;

/// A graph as it is drawn: real links, then false ones.
pub(super) struct Drawn {
    pub n: usize,
    pub views: Vec<Matrix>,
    pub links: Vec<[u32; 2]>,
    pub is_false: Vec<bool>,
    /// The group of each node that false links may join.
    pub group: Vec<usize>,
    /// How likely each real link was.
    pub likelihood: Vec<f64>,
    pub directed: bool,
    /// False links do not join such nodes.
    pub joins: Option<Joins>,
}

impl Drawn {
    pub fn new(n: usize, views: Vec<Matrix>, links: Vec<[u32; 2]>, group: Vec<usize>) -> Drawn {
        Drawn {
            n,
            views,
            is_false: vec![false; links.len()],
            links,
            group,
            likelihood: Vec::new(),
            directed: false,
            joins: None,
        }
    }

    /// False links do not join nodes that real links join.
    pub fn linking(self, joins: impl Fn(usize, usize) -> bool) -> Drawn {
        let n = self.group.len();
        let table: Vec<bool> = (0..n * n).map(|at| joins(at / n, at % n)).collect();
        Drawn {
            joins: Some(Box::new(move |i, j| table[i * n + j])),
            ..self
        }
    }

    /// Reverses a share of the links.
    pub fn reverse(&mut self, share: f64, random: &mut Random) {
        let mut known = HashSet::new();
        let mut kept = Vec::new();
        let mut is_false = Vec::new();
        for &[i, j] in &self.links {
            let reversed = random.0.random::<f64>() < share;
            let ends = if reversed { [j, i] } else { [i, j] };
            if known.insert(ends) {
                kept.push(ends);
                is_false.push(reversed);
            }
        }
        (self.links, self.is_false) = (kept, is_false);
    }

    /// Each node twice, with all links of both.
    pub fn double(&mut self, weights: &mut Vec<f64>) {
        let n = self.n as u32;
        let once = (self.links.clone(), self.is_false.clone(), weights.clone());
        for [a, b] in [[n, n], [0, n], [n, 0]] {
            self.links
                .extend(once.0.iter().map(|&[i, j]| [i + a, j + b]));
            self.is_false.extend(&once.1);
            weights.extend(&once.2);
        }
        let rows: Vec<u32> = (0..2 * n).map(|row| row % n).collect();
        self.views
            .iter_mut()
            .for_each(|view| *view = view.select(&rows));
        self.n *= 2;
    }

    /// Adds false links; views have `first` nodes each.
    pub fn add_false(&mut self, listed: &False, first: usize, random: &mut Random) {
        let wanted = (listed.share * self.links.len() as f64) as usize;
        let n = self.group.len();
        let two_sides = self.views.len() > 1;
        let directed = self.directed;
        let code = |[a, b]: [u32; 2]| {
            if directed {
                [a, b]
            } else {
                [a.min(b), a.max(b)]
            }
        };
        let mut known: HashSet<[u32; 2]> = self.links.iter().map(|&ends| code(ends)).collect();
        let ends: Vec<u32> = self.links.concat();
        let rows: Vec<Vec<(u32, f64)>> = match listed.ends {
            Ends::Alike => (0..n).map(|node| self.views[0].row(node)).collect(),
            _ => Vec::new(),
        };
        let few = match listed.ends {
            Ends::FewNodes(count) | Ends::Clique(count) => count,
            _ => 1,
        };
        let few = rand::seq::index::sample(&mut random.0, n, few).into_iter();
        let few: Vec<u32> = few.map(|node| node as u32).collect();
        let of_group = |group: usize| -> Vec<u32> {
            let nodes = 0..n as u32;
            nodes.filter(|&i| self.group[i as usize] == group).collect()
        };
        let sides = [of_group(0), of_group(1)];
        let mut found = Vec::new();
        for _ in 0..wanted * DRAWS {
            if found.len() == wanted {
                break;
            }
            let mut of = |nodes: &[u32]| nodes[random.0.random_range(0..nodes.len())];
            let pair = match listed.ends {
                Ends::ByDegree => [of(&ends), of(&ends)],
                Ends::Clique(_) => [of(&few), of(&few)],
                Ends::TwoGroups => [of(&sides[0]), of(&sides[1])],
                Ends::FewNodes(_) => [of(&few), random.0.random_range(0..n) as u32],
                Ends::Uniform | Ends::Between => {
                    [(); 2].map(|()| random.0.random_range(0..n) as u32)
                }
                Ends::Alike => {
                    let pairs =
                        (0..CANDIDATES).map(|_| [(); 2].map(|()| random.0.random_range(0..n)));
                    let pairs: Vec<[usize; 2]> = pairs.filter(|[i, j]| i != j).collect();
                    let near = |[i, j]: &[usize; 2]| cosine(&rows[*i], &rows[*j]);
                    let best = pairs.iter().max_by(|a, b| near(a).total_cmp(&near(b)));
                    best.map_or([0, 0], |pair| pair.map(|node| node as u32))
                }
            };
            // The second view's nodes follow those of the first.
            let first = first as u32;
            let pair = if two_sides {
                [pair[0] % first, first + pair[1] % first]
            } else {
                pair
            };
            let [i, j] = pair.map(|node| node as usize);
            let same = listed.ends == Ends::Between && self.group[i] == self.group[j];
            let joins = self.joins.as_ref().is_some_and(|joins| joins(i, j));
            if i != j && !same && !joins && known.insert(code(pair)) {
                found.push(pair);
            }
        }
        self.is_false.extend(found.iter().map(|_| true));
        self.links.extend(found);
    }
}

/// The inner product of two rows of dense features, over their lengths.
fn cosine(a: &[(u32, f64)], b: &[(u32, f64)]) -> f64 {
    let product = |a: &[(u32, f64)], b: &[(u32, f64)]| crate::contamination::product(a, b);
    product(a, b) / (product(a, a) * product(b, b)).sqrt().max(1e-12)
}

/// Factors of the nodes with mean 1: exponentials of normal numbers.
pub(super) fn factors(n: usize, deviation: f64, random: &mut Random) -> Vec<f64> {
    if deviation == 0.0 {
        return vec![1.0; n];
    }
    let drawn: Vec<f64> = random
        .normals(n)
        .iter()
        .map(|z| math::exp(deviation * z))
        .collect();
    let mean = drawn.iter().sum::<f64>() / n as f64;
    drawn.into_iter().map(|x| x / mean).collect()
}

/// A link for each pair with its probability.
pub(super) fn links_by(
    n: usize,
    random: &mut Random,
    probability: impl Fn(usize, usize) -> f64,
) -> Vec<[u32; 2]> {
    let mut links = Vec::new();
    for i in 0..n {
        for j in i + 1..n {
            if random.0.random::<f64>() < probability(i, j) {
                links.push([i as u32, j as u32]);
            }
        }
    }
    links
}

/// So many links on average, of which a share is inside groups, by the nodes' factors.
pub(super) fn block_links(
    group: &[usize],
    factors: &[f64],
    links: f64,
    share_inside: f64,
    random: &mut Random,
) -> Vec<[u32; 2]> {
    let n = group.len();
    let (mut same, mut other) = (0.0, 0.0);
    for i in 0..n {
        for j in i + 1..n {
            let sum = if group[i] == group[j] {
                &mut same
            } else {
                &mut other
            };
            *sum += factors[i] * factors[j];
        }
    }
    links_by(n, random, |i, j| {
        let rate = if group[i] == group[j] {
            links * share_inside / same
        } else {
            links * (1.0 - share_inside) / other
        };
        (factors[i] * factors[j] * rate).min(MOST_LIKELY)
    })
}

/// Probabilities of all ordered pairs that add up to a total, with none above a limit.
pub(super) fn clipped(
    n: usize,
    total: f64,
    most: f64,
    rounds: usize,
    weight: impl Fn(usize, usize) -> f64,
) -> Vec<f64> {
    let weight = |at: usize| {
        if at / n == at % n {
            0.0
        } else {
            weight(at / n, at % n)
        }
    };
    let mut p: Vec<f64> = (0..n * n).map(weight).collect();
    for _ in 0..=rounds {
        let factor = total / p.iter().sum::<f64>();
        p.iter_mut().for_each(|p| *p = (*p * factor).min(most));
    }
    p
}

/// Rows of 150 words, of which the first 60 lean to a group each: they are likelier by
/// `more` there.
pub(super) fn rows_of_words(
    group: &[usize],
    n_groups: usize,
    more: f64,
    random: &mut Random,
) -> Result<Matrix> {
    const COLUMNS: usize = 150;
    let mut x = Vec::with_capacity(group.len() * COLUMNS);
    for &group in group {
        for column in 0..COLUMNS {
            let leans = column < 60 && column % n_groups == group;
            let p = if leans { 0.05 + more } else { 0.05 };
            x.push(f64::from(u8::from(random.0.random::<f64>() < p)));
        }
    }
    Matrix::dense(group.len(), COLUMNS, x)
}

/// Rows of words that are longer for nodes with more links, and show nothing else.
pub(super) fn lengths(p: &[f64], n: usize, random: &mut Random) -> Result<Matrix> {
    let expected: Vec<f64> = p.chunks_exact(n).map(|row| row.iter().sum()).collect();
    let mean = expected.iter().sum::<f64>() / n as f64;
    let mut x = Vec::new();
    for expected in expected {
        let rate = (0.03 * expected / mean).clamp(0.005, 0.6);
        let row: Vec<f64> = (0..50)
            .map(|_| f64::from(u8::from(random.0.random::<f64>() < rate)))
            .collect();
        let empty = row.iter().all(|&x| x == 0.0);
        x.extend(row);
        if empty {
            let first = x.len() - 50;
            x[first] = 1.0;
        }
    }
    Matrix::dense(n, 50, x)
}

/// `x b + noise` for rows of latent numbers.
fn shown(
    x: &[f64],
    width: usize,
    columns: usize,
    noise: f64,
    random: &mut Random,
) -> Result<Matrix> {
    let b = random.normals(width * columns);
    let n = x.len() / width.max(1);
    let mut out = random.normals(n * columns);
    for (out, x) in out.chunks_exact_mut(columns).zip(x.chunks_exact(width)) {
        for (column, out) in out.iter_mut().enumerate() {
            let sum: f64 = x
                .iter()
                .zip(b.iter().skip(column).step_by(columns))
                .map(|(x, b)| x * b)
                .sum();
            *out = sum + noise * *out;
        }
    }
    Matrix::dense(n, columns, out)
}

fn squared_distance(position: &[f64], width: usize, i: usize, j: usize) -> f64 {
    let row = |node: usize| &position[node * width..(node + 1) * width];
    row(i)
        .iter()
        .zip(row(j))
        .map(|(x, y)| (x - y).powi(2))
        .sum()
}

/// Links between nodes at near positions in four dimensions; features show some of them.
pub(super) fn positions(
    n: usize,
    coordinates: usize,
    degree: f64,
    random: &mut Random,
) -> Result<Drawn> {
    const WIDTH: usize = 4;
    const COLUMNS: usize = 40;
    let position = random.normals(n * WIDTH);
    let features = match coordinates {
        0 => Matrix::dense(n, COLUMNS, random.normals(n * COLUMNS))?,
        _ => {
            let scale = 1.0 / (coordinates as f64).sqrt();
            let rows = position.chunks_exact(WIDTH);
            let x: Vec<f64> = rows
                .flat_map(|row| row[..coordinates].iter().map(|x| x * scale))
                .collect();
            shown(&x, coordinates, COLUMNS, 0.3, random)?
        }
    };
    let near = |i, j| math::exp(-squared_distance(&position, WIDTH, i, j) / (0.36 * WIDTH as f64));
    let p = clipped(n, degree * n as f64, MOST_LIKELY, 5, near);
    let links = links_by(n, random, |i, j| p[i * n + j]);
    let likelihood = links
        .iter()
        .map(|&[i, j]| p[i as usize * n + j as usize])
        .collect();
    Ok(Drawn {
        likelihood,
        ..Drawn::new(n, vec![features], links, vec![0; n])
    })
}

/// Links from `n` nodes of a first view to those of a second one at near positions, of which
/// each view shows features of its own.
pub(super) fn two_views(n: usize, degree: f64, random: &mut Random) -> Result<Drawn> {
    const WIDTH: usize = 3;
    let position = random.normals(n * WIDTH);
    let views = vec![
        shown(&position, WIDTH, 60, 0.9, random)?,
        shown(&position, WIDTH, 30, 0.9, random)?,
    ];
    let mut p: Vec<f64> = (0..n * n)
        .map(|at| math::exp(-squared_distance(&position, WIDTH, at / n, at % n) / 2.0))
        .collect();
    for _ in 0..5 {
        let factor = degree * n as f64 / p.iter().sum::<f64>();
        p.iter_mut()
            .for_each(|p| *p = (*p * factor).min(MOST_LIKELY));
    }
    let mut links = Vec::new();
    for (at, p) in p.iter().enumerate() {
        if random.0.random::<f64>() < *p {
            links.push([(at / n) as u32, (n + at % n) as u32]);
        }
    }
    Ok(Drawn::new(2 * n, views, links, vec![0; 2 * n]))
}

/// The number of tries until the first success.
fn tries_until(p: f64, random: &mut Random) -> f64 {
    let u: f64 = 1.0 - random.0.random::<f64>();
    (math::ln(u) / math::ln(1.0 - p)).ceil().max(1.0)
}

impl Weights {
    /// The weights of all links, of which the first are real.
    pub(super) fn draw(self, made: &Drawn, real: usize, random: &mut Random) -> Vec<f64> {
        let links = 0..made.links.len();
        match self {
            Weights::One => vec![1.0; links.len()],
            Weights::Geometric => links.map(|_| tries_until(0.2, random)).collect(),
            Weights::LogNormal => links
                .map(|_| math::exp(1.5 * random.normals(1)[0] + 1.0).ceil())
                .collect(),
            Weights::ByLikelihood => {
                let mut order: Vec<usize> = (0..real).collect();
                order.sort_by(|&a, &b| made.likelihood[a].total_cmp(&made.likelihood[b]));
                let mut rank = vec![0.0; links.len()];
                for (before, at) in order.into_iter().enumerate() {
                    rank[at] = (before as f64 + 0.5) / real as f64;
                }
                rank[real..].iter_mut().for_each(|x| *x = random.0.random());
                let mean = |rank: &f64| 4.0 * math::exp(2.0 * (rank - 0.5));
                rank.iter()
                    .map(|rank| tries_until(1.0 / mean(rank).max(1.01), random))
                    .collect()
            }
        }
    }
}

impl FalseWeight {
    /// Gives false links, those behind the real ones, their weights.
    pub(super) fn put(self, weights: &mut [f64], real: usize) {
        let weight = match self {
            FalseWeight::Same => return,
            FalseWeight::Spike => {
                let mut sorted = weights.to_vec();
                sorted.sort_unstable_by(f64::total_cmp);
                10.0 * sorted[(sorted.len() - 1) * 99 / 100]
            }
            FalseWeight::One => 1.0,
            FalseWeight::Ten => 10.0,
        };
        weights[real..].fill(weight);
    }
}
