//! Graphs with planted structure and known false links, on which a judge can be wrong.

mod draw;

use rand::RngExt;
use rand::seq::SliceRandom;

use self::draw::{Drawn, block_links, clipped, links_by, rows_of_words};
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weights {
    One,
    /// Geometric with mean 5.
    Geometric,
    /// The rounded exponential of a normal number.
    LogNormal,
    /// Geometric, heavier for likelier links; false links have those of average links.
    ByLikelihood,
}

/// The weights of false links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FalseWeight {
    /// As those of the others.
    Same,
    /// Ten times the 99% quantile.
    Spike,
    One,
    Ten,
}

/// False links: as many as a share of the real ones.
#[derive(Debug, Clone, Copy, PartialEq)]
struct False {
    share: f64,
    ends: Ends,
    weight: FalseWeight,
}

/// The structure of real links and of features.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Structure {
    /// Groups; a share of the links inside. `popularity` is the deviation of the
    /// logarithms of the nodes' factors, `signal` what words of a group are likelier by.
    /// `doubled`: each node is there twice.
    Groups {
        inside: f64,
        signal: f64,
        popularity: f64,
        doubled: bool,
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
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    /// Its name: that of its family and of its false links.
    pub name: String,
    family: Family,
    false_links: False,
}

/// Real links and features.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Family {
    structure: Structure,
    n: usize,
    groups: usize,
    degree: f64,
    weights: Weights,
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

const fn groups(inside: f64, signal: f64, popularity: f64) -> Structure {
    Structure::Groups {
        inside,
        signal,
        popularity,
        doubled: false,
    }
}

const DOUBLED: Structure = Structure::Groups {
    inside: 1.0,
    signal: 0.45,
    popularity: 0.0,
    doubled: true,
};
const FULL: Structure = groups(1.0, 0.45, 0.0);
const CROSS15: Structure = groups(0.85, 0.45, 0.0);
const LATENT: Structure = Structure::Positions { shown: 4 };
const LATENT2: Structure = Structure::Positions { shown: 2 };
const POPULAR: Structure = groups(1.0, 0.45, 1.0);
const POPULAR15: Structure = groups(0.85, 0.45, 1.0);
const NOISE: Structure = Structure::GroupsAndNoise;

const fn null(popularity: f64, lengths: bool) -> Structure {
    Structure::Random {
        popularity,
        lengths,
    }
}

use Ends::{Alike, Between, ByDegree, Clique, FewNodes, TwoGroups, Uniform};
use FalseWeight::{Same, Spike, Ten};
use Weights::{ByLikelihood, Geometric, LogNormal, One};

const fn planted(share: f64, ends: Ends, weight: FalseWeight) -> False {
    False {
        share,
        ends,
        weight,
    }
}

/// The kinds of false links, by the end of a design's name.
const FALSE: [(&str, False); 18] = [
    ("", planted(0.0, Uniform, Same)),
    ("-clean", planted(0.0, Uniform, Same)),
    ("-u20", planted(0.2, Uniform, Same)),
    ("-u30", planted(0.3, Uniform, Same)),
    ("-u90", planted(0.9, Uniform, Same)),
    ("-b10", planted(0.1, Between, Same)),
    ("-b30", planted(0.3, Between, Same)),
    ("-d30", planted(0.3, ByDegree, Same)),
    ("-d90", planted(0.9, ByDegree, Same)),
    ("-sim30", planted(0.3, Alike, Same)),
    ("-mal30", planted(0.3, FewNodes(5), Same)),
    ("-mal30x50", planted(0.3, FewNodes(50), Same)),
    ("-clique", planted(0.05, Clique(25), Same)),
    ("-pair30", planted(0.3, TwoGroups, Same)),
    ("-spike10", planted(0.1, Uniform, Spike)),
    ("-one30", planted(0.3, Uniform, FalseWeight::One)),
    ("-reversed10", planted(0.1, Uniform, Same)),
    ("-w50x10", planted(0.5, Uniform, Ten)),
];

const fn family(
    structure: Structure,
    n: usize,
    groups: usize,
    degree: f64,
    weights: Weights,
) -> Family {
    Family {
        structure,
        n,
        groups,
        degree,
        weights,
    }
}

/// A family of the usual size.
const fn usual(structure: Structure) -> Family {
    family(structure, 1000, 5, 10.0, One)
}

const BOTH: &[&str] = &["-clean", "-u30"];
const UNLIKE: &[&str] = &["-clean", "-u20"];

/// Families, each with its kinds of false links.
#[rustfmt::skip]
const FAMILIES: [(&str, Family, &[&str]); 45] = [
    ("sbm-full", usual(FULL), &["-clean", "-u30", "-u90", "-b30", "-d30", "-d90", "-sim30",
        "-mal30", "-mal30x50", "-clique", "-pair30"]),
    ("sbm-part", usual(groups(1.0, 0.15, 0.0)), &["-clean", "-u30", "-u90"]),
    ("sbm-none", usual(NOISE), BOTH),
    ("cross5", usual(groups(0.95, 0.45, 0.0)), BOTH),
    ("cross15", usual(CROSS15), BOTH),
    ("cross30", usual(groups(0.7, 0.45, 0.0)), BOTH),
    ("cross50", usual(groups(0.5, 0.45, 0.0)), BOTH),
    ("sbm-K2", family(FULL, 1000, 2, 10.0, One), &["-u30"]),
    ("sbm-K20", family(FULL, 1000, 20, 10.0, One), &["-u30"]),
    ("latent-f4", usual(LATENT), BOTH),
    ("latent-f2", usual(LATENT2), BOTH),
    ("latent-f0", usual(Structure::Positions { shown: 0 }), BOTH),
    ("latent-f4", usual(LATENT), &["-d30", "-sim30"]),
    ("dcsbm", usual(POPULAR), &["-clean", "-u30", "-d30", "-d90"]),
    ("dcsbm-cross15", usual(POPULAR15), &["-clean", "-u30", "-d30"]),
    ("hidden20", usual(Structure::HiddenGroups(20)), BOTH),
    ("hidden5", usual(Structure::HiddenGroups(5)), BOTH),
    ("dup", family(DOUBLED, 500, 5, 10.0, One), BOTH),
    ("w-geom", family(FULL, 1000, 5, 10.0, Geometric), &["-u30", "-clean"]),
    ("w-logn", family(FULL, 1000, 5, 10.0, LogNormal), &["-u30", "-clean"]),
    ("w-geom", family(FULL, 1000, 5, 10.0, Geometric), &["-spike10"]),
    ("w-logn", family(FULL, 1000, 5, 10.0, LogNormal), &["-spike10"]),
    ("w-geom-cross15", family(CROSS15, 1000, 5, 10.0, Geometric), &["-clean"]),
    ("w-geom", family(FULL, 1000, 5, 10.0, Geometric), &["-one30"]),
    ("wdep-latent", family(LATENT, 1000, 5, 10.0, ByLikelihood), BOTH),
    ("wdep-latent-f2", family(LATENT2, 1000, 5, 10.0, ByLikelihood), BOTH),
    ("tree", usual(Structure::Trees), &["-clean", "-u30", "-u90"]),
    ("views", family(Structure::TwoViews, 400, 5, 6.0, One), BOTH),
    ("small60", family(FULL, 60, 3, 8.0, One), BOTH),
    ("small200", family(FULL, 200, 4, 8.0, One), BOTH),
    ("dense", family(FULL, 400, 4, 70.0, One), BOTH),
    ("sparse", family(FULL, 1500, 5, 2.5, One), BOTH),
    ("null-er-gauss", usual(null(0.0, false)), &[""]),
    ("null-er-len", usual(null(0.0, true)), &[""]),
    ("null-conf-gauss", usual(null(1.2, false)), &[""]),
    ("null-conf-len", usual(null(1.2, true)), &[""]),
    ("null-er-sparse", family(null(0.0, false), 1000, 5, 3.0, One), &[""]),
    ("null-conf-dense", family(null(1.2, false), 1000, 5, 40.0, One), &[""]),
    ("unlike2", family(Structure::NextGroup, 900, 2, 10.0, One), UNLIKE),
    ("unlike4", family(Structure::NextGroup, 900, 4, 10.0, One), UNLIKE),
    ("unlike6", family(Structure::NextGroup, 900, 6, 10.0, One), UNLIKE),
    ("directed", family(Structure::Directed { reversed: true }, 900, 6, 10.0, One), &["-reversed10"]),
    ("directed", family(Structure::Directed { reversed: false }, 900, 6, 10.0, One), &["-u20"]),
    ("pendants", family(Structure::Pendants, 400, 6, 10.0, One), &["-b10"]),
    ("dense", family(FULL, 400, 4, 70.0, One), &["-w50x10"]),
];

impl Design {
    /// All designs.
    pub fn all() -> Vec<Design> {
        let mut all = Vec::new();
        for (name, family, kinds) in FAMILIES {
            for kind in kinds {
                let found = FALSE.iter().filter(|listed| listed.0 == *kind);
                all.extend(found.map(|&(_, false_links)| Design {
                    name: format!("{name}{kind}"),
                    family,
                    false_links,
                }));
            }
        }
        all
    }

    /// What the judge should do.
    pub fn promise(&self) -> Promise {
        let at_random = matches!(self.false_links.ends, Uniform | Between | ByDegree);
        match self.family.structure {
            Structure::Random { .. } => Promise::Abstains,
            _ if self.false_links.share == 0.0 => Promise::Clean,
            // Reversed links do not fall like random pairs.
            Structure::Directed { reversed: true } => Promise::NotAtRandom,
            Structure::Groups { doubled: true, .. } => Promise::NotAtRandom,
            _ if at_random => Promise::Holds,
            _ => Promise::NotAtRandom,
        }
    }

    /// Makes the graph; the second is for each link of the data whether it is false.
    pub fn make(&self, seed: u64) -> Result<(Dataset, Vec<bool>)> {
        let random = &mut Random::new(1000 + seed);
        let family = &self.family;
        let mut made = family.draw(random)?;
        let real = made.links.len();
        match family.structure {
            Structure::Directed { reversed: true } => made.reverse(self.false_links.share, random),
            _ => made.add_false(&self.false_links, family.n, random),
        }
        let mut weights = family.weights.draw(&made, real, random);
        self.false_links.weight.put(&mut weights, real);
        if let Structure::Groups { doubled: true, .. } = family.structure {
            made.double(&mut weights);
        }
        let is_directed = matches!(family.structure, Structure::Directed { .. });
        let links: Vec<Link> = made
            .links
            .iter()
            .zip(weights)
            .map(|(&[src, dst], weight)| Link { src, dst, weight })
            .collect();
        let rules = LinkRules {
            ends: if is_directed {
                graph::Ends::Directed
            } else {
                graph::Ends::Alike
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
                    views: (0..made.n).map(|node| name(node / family.n)).collect(),
                    rows: None,
                };
                let views = views.iter().enumerate();
                let features = views.map(|(at, view)| (name(at), Features::new(view.clone())));
                Dataset::with_views(graph, nodes, features.collect())?
            }
        };
        let order = |[a, b]: [u32; 2]| {
            if is_directed {
                [a, b]
            } else {
                [a.min(b), a.max(b)]
            }
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
}

impl Family {
    /// Real links and features.
    fn draw(&self, random: &mut Random) -> Result<Drawn> {
        let (n, k) = (self.n, self.groups);
        let mut group: Vec<usize> = (0..n).map(|node| node % k).collect();
        group.shuffle(&mut random.0);
        let pairs = self.degree * n as f64 / 2.0;
        match self.structure {
            Structure::Groups {
                inside,
                signal,
                popularity,
                ..
            } => {
                let words = rows_of_words(&group, k, signal, random)?;
                let factors = draw::factors(n, popularity, random);
                let links = block_links(&group, &factors, pairs, inside, random);
                Ok(Drawn::new(n, vec![words], links, group))
            }
            Structure::GroupsAndNoise => {
                let noise = Matrix::dense(n, 150, random.normals(n * 150))?;
                let links = block_links(&group, &vec![1.0; n], pairs, 1.0, random);
                Ok(Drawn::new(n, vec![noise], links, group))
            }
            Structure::Pendants => {
                let mut links = block_links(&group, &vec![1.0; n], pairs, 1.0, random);
                for node in n..2 * n {
                    links.push([random.0.random_range(0..n) as u32, node as u32]);
                }
                // False links stay among the first nodes.
                Ok(Drawn {
                    n: 2 * n,
                    ..Drawn::new(n, Vec::new(), links, group)
                })
            }
            Structure::Positions { shown } => draw::positions(n, shown, self.degree, random),
            Structure::HiddenGroups(hidden) => {
                let words = rows_of_words(&group, k, 0.25, random)?;
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
                Ok(Drawn::new(n, vec![words], links, group))
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
                Ok(Drawn::new(n, vec![features], links, vec![0; n]))
            }
            Structure::Trees => {
                let words = rows_of_words(&group, k, 0.25, random)?;
                let mut links = Vec::new();
                for own in 0..k {
                    let nodes: Vec<u32> = (0..n as u32)
                        .filter(|&i| group[i as usize] == own)
                        .collect();
                    for at in 1..nodes.len() {
                        links.push([nodes[random.0.random_range(0..at)], nodes[at]]);
                    }
                }
                Ok(Drawn::new(n, vec![words], links, group))
            }
            Structure::TwoViews => draw::two_views(n, self.degree, random),
            Structure::NextGroup => {
                let words = rows_of_words(&group, k, 0.3, random)?;
                let p = if k > 2 { 0.04 } else { 0.02 };
                let next = |i: usize, j: usize| {
                    (group[i] + 1) % k == group[j] || (group[j] + 1) % k == group[i]
                };
                let links = links_by(n, random, |i, j| if next(i, j) { p } else { 0.0005 });
                Ok(Drawn::new(n, vec![words], links, group.clone()).linking(next))
            }
            Structure::Directed { .. } => {
                let words = rows_of_words(&group, k, 0.3, random)?;
                let next = |i: usize, j: usize| (group[i] + 1) % k == group[j];
                let mut links = Vec::new();
                for i in 0..n {
                    for j in (0..n).filter(|&j| i != j) {
                        if random.0.random::<f64>() < if next(i, j) { 0.06 } else { 0.0005 } {
                            links.push([i as u32, j as u32]);
                        }
                    }
                }
                let made = Drawn::new(n, vec![words], links, group.clone()).linking(next);
                Ok(Drawn {
                    directed: true,
                    ..made
                })
            }
        }
    }
}
