//! Graphs with planted structure and known false links, on which a judge can be wrong.

mod draw;
mod weights;

use rand::RngExt;
use rand::seq::SliceRandom;

use self::draw::{add_false, block_links, clipped, links_by, rows_of_words};
use super::planted::Random;
use linkproof_method::data::dataset::{Dataset, NodeViews};
use linkproof_method::data::features::{Features, Matrix};
use linkproof_method::data::graph::{self, Graph, Link, LinkRules};
use linkproof_method::data::ids::Ids;
use linkproof_method::error::Result;

/// How the ends of false links are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    Uniform,
    /// Uniform, of two groups.
    Between,
    ByDegree,
    /// The most similar of 40 pairs.
    Alike,
    /// One end is one of so many nodes.
    FewNodes(usize),
    /// Both ends are among so many nodes.
    Clique(usize),
    /// One end in the first group, the other in the second.
    TwoGroups,
}

/// Which weights links have.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Weights {
    One,
    /// Geometric with mean 5, or the rounded exponential of a normal number.
    Drawn {
        geometric: bool,
        of_false: FalseWeight,
    },
    /// Geometric, heavier for likelier links; false links have those of average links.
    ByLikelihood,
    /// False links have weight 10.
    FalseAtTen,
}

/// The weight of false links if weights are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FalseWeight {
    /// As that of the others.
    Same,
    /// Ten times the 99% quantile.
    Spike,
    One,
}

/// The structure of real links and of features.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Structure {
    /// Groups; a share of the links inside. `popularity` is the deviation of the
    /// logarithms of the nodes' factors, `signal` what words of a group are likelier by.
    Groups {
        inside: f64,
        signal: f64,
        popularity: f64,
    },
    /// Groups, with features that are noise.
    GroupsAndNoise,
    /// Groups without features, and as many nodes with a single link as there are others.
    Pendants,
    /// Near positions, of which the features show some coordinates.
    Positions { shown: usize },
    /// Two fifths of the links inside of so many groups that the features do not show.
    HiddenGroups(usize),
    /// No structure; node factors of that deviation, features of noise or only of length.
    Random { popularity: f64, lengths: bool },
    /// A tree in each group.
    Trees,
    /// Near positions, seen by two kinds of nodes with features of their own.
    TwoViews,
    /// Each group with the next one.
    NextGroup,
    /// As that, from a group to the next one; false links are reversed ones if so.
    Directed { reversed: bool },
}

/// A planted graph.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Design {
    /// Its name.
    pub name: &'static str,
    structure: Structure,
    n: usize,
    groups: usize,
    degree: f64,
    /// False links, as a share of the number of real ones.
    false_share: f64,
    ends: Ends,
    weights: Weights,
    /// Each node is there twice.
    doubled: bool,
}

/// What is known of false links in a design, and how the judge should do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// High holds.
    Holds,
    /// There are false links that do not fall at random: High may fail.
    NotAtRandom,
    /// Nothing is false.
    Clean,
    /// The judge abstains.
    Abstains,
}

const FULL: Structure = Structure::Groups {
    inside: 1.0,
    signal: 0.45,
    popularity: 0.0,
};
const PART: Structure = Structure::Groups {
    inside: 1.0,
    signal: 0.15,
    popularity: 0.0,
};

const fn design(name: &'static str, structure: Structure, false_share: f64) -> Design {
    Design {
        name,
        structure,
        n: 1000,
        groups: 5,
        degree: 10.0,
        false_share,
        ends: Ends::Uniform,
        weights: Weights::One,
        doubled: false,
    }
}

const fn full(name: &'static str, false_share: f64, ends: Ends) -> Design {
    Design {
        ends,
        ..design(name, FULL, false_share)
    }
}

const fn groups(
    name: &'static str,
    (inside, popularity): (f64, f64),
    false_share: f64,
    ends: Ends,
) -> Design {
    let structure = Structure::Groups {
        inside,
        signal: 0.45,
        popularity,
    };
    Design {
        ends,
        ..design(name, structure, false_share)
    }
}

const fn sized(name: &'static str, (n, groups): (usize, usize), degree: f64, share: f64) -> Design {
    Design {
        n,
        groups,
        degree,
        ..design(name, FULL, share)
    }
}

const fn latent(name: &'static str, shown: usize, false_share: f64, ends: Ends) -> Design {
    Design {
        ends,
        ..design(name, Structure::Positions { shown }, false_share)
    }
}

const fn weighted(name: &'static str, base: Design, weights: Weights) -> Design {
    Design {
        name,
        weights,
        ..base
    }
}

const fn drawn(geometric: bool, of_false: FalseWeight) -> Weights {
    Weights::Drawn {
        geometric,
        of_false,
    }
}

const fn random(name: &'static str, popularity: f64, lengths: bool, degree: f64) -> Design {
    let structure = Structure::Random {
        popularity,
        lengths,
    };
    Design {
        degree,
        ..design(name, structure, 0.0)
    }
}

const fn unlike(name: &'static str, groups: usize, structure: Structure, share: f64) -> Design {
    Design {
        n: 900,
        groups,
        ..design(name, structure, share)
    }
}

use Ends::{Alike, Between, ByDegree, Clique, FewNodes, TwoGroups, Uniform};

impl Design {
    /// All designs.
    #[rustfmt::skip]
    pub const ALL: &'static [Design] = &[
        full("sbm-full-clean", 0.0, Uniform), full("sbm-full-u30", 0.3, Uniform),
        full("sbm-full-u90", 0.9, Uniform), full("sbm-full-b30", 0.3, Between),
        full("sbm-full-d30", 0.3, ByDegree), full("sbm-full-d90", 0.9, ByDegree),
        full("sbm-full-sim30", 0.3, Alike), full("sbm-full-mal30", 0.3, FewNodes(5)),
        full("sbm-full-mal30x50", 0.3, FewNodes(50)), full("sbm-full-clique", 0.05, Clique(25)),
        full("sbm-full-pair30", 0.3, TwoGroups),
        design("sbm-part-clean", PART, 0.0), design("sbm-part-u30", PART, 0.3), design("sbm-part-u90", PART, 0.9),
        design("sbm-none-clean", Structure::GroupsAndNoise, 0.0), design("sbm-none-u30", Structure::GroupsAndNoise, 0.3),
        groups("cross5-clean", (0.95, 0.0), 0.0, Uniform), groups("cross5-u30", (0.95, 0.0), 0.3, Uniform),
        groups("cross15-clean", (0.85, 0.0), 0.0, Uniform), groups("cross15-u30", (0.85, 0.0), 0.3, Uniform),
        groups("cross30-clean", (0.7, 0.0), 0.0, Uniform), groups("cross30-u30", (0.7, 0.0), 0.3, Uniform),
        groups("cross50-clean", (0.5, 0.0), 0.0, Uniform), groups("cross50-u30", (0.5, 0.0), 0.3, Uniform),
        sized("sbm-K2-u30", (1000, 2), 10.0, 0.3), sized("sbm-K20-u30", (1000, 20), 10.0, 0.3),
        latent("latent-f4-clean", 4, 0.0, Uniform), latent("latent-f4-u30", 4, 0.3, Uniform),
        latent("latent-f2-clean", 2, 0.0, Uniform), latent("latent-f2-u30", 2, 0.3, Uniform),
        latent("latent-f0-clean", 0, 0.0, Uniform), latent("latent-f0-u30", 0, 0.3, Uniform),
        latent("latent-f4-d30", 4, 0.3, ByDegree), latent("latent-f4-sim30", 4, 0.3, Alike),
        groups("dcsbm-clean", (1.0, 1.0), 0.0, Uniform), groups("dcsbm-u30", (1.0, 1.0), 0.3, Uniform),
        groups("dcsbm-d30", (1.0, 1.0), 0.3, ByDegree), groups("dcsbm-d90", (1.0, 1.0), 0.9, ByDegree),
        groups("dcsbm-cross15-clean", (0.85, 1.0), 0.0, Uniform), groups("dcsbm-cross15-u30", (0.85, 1.0), 0.3, Uniform),
        groups("dcsbm-cross15-d30", (0.85, 1.0), 0.3, ByDegree),
        design("hidden20-clean", Structure::HiddenGroups(20), 0.0), design("hidden20-u30", Structure::HiddenGroups(20), 0.3),
        design("hidden5-clean", Structure::HiddenGroups(5), 0.0), design("hidden5-u30", Structure::HiddenGroups(5), 0.3),
        Design { doubled: true, ..sized("dup-clean", (500, 5), 10.0, 0.0) },
        Design { doubled: true, ..sized("dup-u30", (500, 5), 10.0, 0.3) },
        weighted("w-geom-u30", full("", 0.3, Uniform), drawn(true, FalseWeight::Same)),
        weighted("w-geom-clean", full("", 0.0, Uniform), drawn(true, FalseWeight::Same)),
        weighted("w-logn-u30", full("", 0.3, Uniform), drawn(false, FalseWeight::Same)),
        weighted("w-logn-clean", full("", 0.0, Uniform), drawn(false, FalseWeight::Same)),
        weighted("w-geom-spike10", full("", 0.1, Uniform), drawn(true, FalseWeight::Spike)),
        weighted("w-logn-spike10", full("", 0.1, Uniform), drawn(false, FalseWeight::Spike)),
        weighted("w-geom-cross15-clean", groups("", (0.85, 0.0), 0.0, Uniform), drawn(true, FalseWeight::Same)),
        weighted("w-geom-one30", full("", 0.3, Uniform), drawn(true, FalseWeight::One)),
        weighted("wdep-latent-clean", latent("", 4, 0.0, Uniform), Weights::ByLikelihood),
        weighted("wdep-latent-u30", latent("", 4, 0.3, Uniform), Weights::ByLikelihood),
        weighted("wdep-latent-f2-clean", latent("", 2, 0.0, Uniform), Weights::ByLikelihood),
        weighted("wdep-latent-f2-u30", latent("", 2, 0.3, Uniform), Weights::ByLikelihood),
        design("tree-clean", Structure::Trees, 0.0), design("tree-u30", Structure::Trees, 0.3),
        design("tree-u90", Structure::Trees, 0.9),
        Design { n: 400, degree: 6.0, ..design("views-clean", Structure::TwoViews, 0.0) },
        Design { n: 400, degree: 6.0, ..design("views-u30", Structure::TwoViews, 0.3) },
        sized("small60-clean", (60, 3), 8.0, 0.0), sized("small60-u30", (60, 3), 8.0, 0.3),
        sized("small200-clean", (200, 4), 8.0, 0.0), sized("small200-u30", (200, 4), 8.0, 0.3),
        sized("dense-clean", (400, 4), 70.0, 0.0), sized("dense-u30", (400, 4), 70.0, 0.3),
        sized("sparse-clean", (1500, 5), 2.5, 0.0), sized("sparse-u30", (1500, 5), 2.5, 0.3),
        random("null-er-gauss", 0.0, false, 10.0), random("null-er-len", 0.0, true, 10.0),
        random("null-conf-gauss", 1.2, false, 10.0), random("null-conf-len", 1.2, true, 10.0),
        random("null-er-sparse", 0.0, false, 3.0), random("null-conf-dense", 1.2, false, 40.0),
        unlike("unlike2-clean", 2, Structure::NextGroup, 0.0), unlike("unlike2-u20", 2, Structure::NextGroup, 0.2),
        unlike("unlike4-clean", 4, Structure::NextGroup, 0.0), unlike("unlike4-u20", 4, Structure::NextGroup, 0.2),
        unlike("unlike6-clean", 6, Structure::NextGroup, 0.0), unlike("unlike6-u20", 6, Structure::NextGroup, 0.2),
        unlike("directed-reversed10", 6, Structure::Directed { reversed: true }, 0.1),
        unlike("directed-u20", 6, Structure::Directed { reversed: false }, 0.2),
        Design { n: 400, groups: 6, ends: Between, ..design("pendants-b10", Structure::Pendants, 0.1) },
        weighted("dense-w50x10", sized("", (400, 4), 70.0, 0.5), Weights::FalseAtTen),
    ];

    /// What the judge should do.
    pub fn promise(&self) -> Promise {
        let at_random = matches!(self.ends, Uniform | Between | ByDegree) && !self.doubled;
        match self.structure {
            Structure::Random { .. } => Promise::Abstains,
            _ if self.false_share == 0.0 => Promise::Clean,
            // Reversed links do not fall like random pairs.
            Structure::Directed { reversed: true } => Promise::NotAtRandom,
            _ if at_random => Promise::Holds,
            _ => Promise::NotAtRandom,
        }
    }

    /// Makes the graph; the second is for each link of the data whether it is false.
    pub fn make(&self, seed: u64) -> Result<(Dataset, Vec<bool>)> {
        let random = &mut Random::new(1000 + seed);
        let mut made = self.structure(random)?;
        let real = made.links.len();
        match self.structure {
            Structure::Directed { reversed: true } => made.reverse(self.false_share, random),
            _ => add_false(&mut made, self, random),
        }
        let mut weights = self.weights(&made, real, random);
        if self.doubled {
            made.double(&mut weights);
        }
        let links: Vec<Link> = made
            .links
            .iter()
            .zip(weights)
            .map(|(&[src, dst], weight)| Link { src, dst, weight })
            .collect();
        let rules = LinkRules {
            ends: match self.structure {
                Structure::Directed { .. } => graph::Ends::Directed,
                _ => graph::Ends::Alike,
            },
            ..LinkRules::default()
        };
        let graph = Graph::new(Ids::Rows(made.n), links, rules)?;
        let data = match &made.views[..] {
            [] => Dataset::from_links(graph)?,
            [one] => Dataset::new(graph, Features::new(one.clone()))?,
            views => {
                let name = |view: usize| ["a", "b"][view].to_owned();
                let nodes = NodeViews {
                    ids: Ids::Rows(made.n),
                    views: (0..made.n).map(|node| name(node / self.n)).collect(),
                    rows: None,
                };
                let views = views.iter().enumerate();
                let features = views.map(|(at, view)| (name(at), Features::new(view.clone())));
                Dataset::with_views(graph, nodes, features.collect())?
            }
        };
        let order = |ends: [u32; 2]| match self.structure {
            Structure::Directed { .. } => ends,
            _ => [ends[0].min(ends[1]), ends[0].max(ends[1])],
        };
        let wrong: std::collections::HashSet<[u32; 2]> = made
            .links
            .iter()
            .zip(&made.is_false)
            .filter(|(_, is_false)| **is_false)
            .map(|(ends, _)| order(*ends))
            .collect();
        let links = data.graph().links().map(|link| data.user_link(link));
        // The targets of a directed graph follow its sources.
        let row = |row: u32| row % made.n as u32;
        let is_false = links.map(|link| wrong.contains(&order([row(link.src), row(link.dst)])));
        let is_false = is_false.collect();
        Ok((data, is_false))
    }

    /// Nodes in groups of equal size, at random.
    fn groups(&self, random: &mut Random) -> Vec<usize> {
        let mut group: Vec<usize> = (0..self.n).map(|node| node % self.groups).collect();
        group.shuffle(&mut random.0);
        group
    }

    /// Real links and features.
    fn structure(&self, random: &mut Random) -> Result<draw::Drawn> {
        let (n, k) = (self.n, self.groups);
        let group = self.groups(random);
        let pairs = self.degree * n as f64 / 2.0;
        match self.structure {
            Structure::Groups {
                inside,
                signal,
                popularity,
            } => {
                let words = rows_of_words(&group, k, (150, 60), (0.05, signal), random)?;
                let factors = draw::factors(n, popularity, random);
                let links = block_links(
                    &group,
                    &factors,
                    (pairs * inside, pairs * (1.0 - inside)),
                    random,
                );
                Ok(draw::Drawn::new(n, vec![words], links, group))
            }
            Structure::GroupsAndNoise => {
                let noise = Matrix::dense(n, 150, random.normals(n * 150))?;
                let links = block_links(&group, &vec![1.0; n], (pairs, 0.0), random);
                Ok(draw::Drawn::new(n, vec![noise], links, group))
            }
            Structure::Pendants => {
                let mut links = block_links(&group, &vec![1.0; n], (pairs, 0.0), random);
                for node in n..2 * n {
                    links.push([random.0.random_range(0..n) as u32, node as u32]);
                }
                // False links stay among the first nodes.
                Ok(draw::Drawn {
                    n: 2 * n,
                    ..draw::Drawn::new(n, Vec::new(), links, group)
                })
            }
            Structure::Positions { shown } => draw::positions(n, shown, self.degree, random),
            Structure::HiddenGroups(hidden) => {
                let words = rows_of_words(&group, k, (150, 60), (0.05, 0.25), random)?;
                let mut other: Vec<usize> = (0..n).map(|node| node % hidden).collect();
                other.shuffle(&mut random.0);
                let of = |count: usize, share: f64| {
                    2.0 * pairs * share * count as f64
                        / (n as f64 * (n / count - 1) as f64 * count as f64)
                };
                let (p, q) = (of(k, 0.6), of(hidden, 0.4));
                let links = links_by(n, random, |i, j| {
                    let shares =
                        |groups: &[usize], p: f64| if groups[i] == groups[j] { p } else { 0.0 };
                    shares(&group, p) + shares(&other, q)
                });
                Ok(draw::Drawn::new(n, vec![words], links, group))
            }
            Structure::Random {
                popularity,
                lengths,
            } => {
                let factors = draw::factors(n, popularity, random);
                let total: f64 = factors.iter().sum();
                let mean = self.degree * n as f64 / (total * total);
                let p = clipped(n, 2.0 * pairs, 0.9, 10, |i, j| {
                    factors[i] * factors[j] * mean
                });
                let links = links_by(n, random, |i, j| p[i * n + j]);
                let features = if lengths {
                    draw::lengths(&p, n, random)?
                } else {
                    Matrix::dense(n, 50, random.normals(n * 50))?
                };
                Ok(draw::Drawn::new(n, vec![features], links, vec![0; n]))
            }
            Structure::Trees => {
                let words = rows_of_words(&group, k, (150, 60), (0.05, 0.25), random)?;
                let mut links = Vec::new();
                for own in 0..k {
                    let nodes: Vec<u32> = (0..n as u32)
                        .filter(|&i| group[i as usize] == own)
                        .collect();
                    for at in 1..nodes.len() {
                        links.push([nodes[random.0.random_range(0..at)], nodes[at]]);
                    }
                }
                Ok(draw::Drawn::new(n, vec![words], links, group))
            }
            Structure::TwoViews => draw::two_views(n, self.degree, random),
            Structure::NextGroup => {
                let words = rows_of_words(&group, k, (150, 60), (0.05, 0.3), random)?;
                let p = if k > 2 { 0.04 } else { 0.02 };
                let next = |i: usize, j: usize| {
                    (group[i] + 1) % k == group[j] || (group[j] + 1) % k == group[i]
                };
                let links = links_by(n, random, |i, j| if next(i, j) { p } else { 0.0005 });
                Ok(draw::Drawn::new(n, vec![words], links, group.clone()).linking(next))
            }
            Structure::Directed { .. } => {
                let words = rows_of_words(&group, k, (150, 60), (0.05, 0.3), random)?;
                let next = |i: usize, j: usize| (group[i] + 1) % k == group[j];
                let mut links = Vec::new();
                for i in 0..n {
                    for j in (0..n).filter(|&j| i != j) {
                        if random.0.random::<f64>() < if next(i, j) { 0.06 } else { 0.0005 } {
                            links.push([i as u32, j as u32]);
                        }
                    }
                }
                let made = draw::Drawn::new(n, vec![words], links, group.clone()).linking(next);
                Ok(draw::Drawn {
                    directed: true,
                    ..made
                })
            }
        }
    }
}
