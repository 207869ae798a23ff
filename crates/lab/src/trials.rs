//! Graphs on which a verdict can be right or wrong: what it said, and what known classes
//! say. Beside the graphs of the contamination suite there are counts whose sizes spread
//! widely, links that follow something else than data vectors tell, links that mean
//! nothing, and data vectors that tell nothing.
//!
//! `cargo run --release -p linkproof-lab --example verdicts` prints the table.

use rand::RngExt;

use super::bloggers::Bloggers;
use super::contamination::Column;
use super::labelled::Labelled;
use super::planted::{BlockModel, Random};
use linkproof_method::data::dataset::Dataset;
use linkproof_method::data::features::{Features, Matrix};
use linkproof_method::data::graph::Graph;
use linkproof_method::engine::runtime::Runtime;
use linkproof_method::error::Result;
use linkproof_method::inspect::plain_verdict;
use linkproof_method::params::{Normalize, Params};
use linkproof_method::robust::{Recipe, fit_model};
use linkproof_method::verdict::{Advice, Said, Topic};
use linkproof_method::{CheckedParams, fit};
use linkproof_numeric::math;

/// How a graph of a trial comes about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planted {
    /// Classes, counts and uneven degrees ([`BlockModel`]).
    Blocks,
    /// Many links, of which fewer than half stay inside a class ([`Bloggers`]).
    Bloggers,
    /// Counts that spread widely and are larger inside a class.
    Contacts,
    /// Counts of words by their frequencies: the frequent ones meet everywhere.
    CoOccurrences,
    /// Links inside of sites alone, which know nothing of the classes that words tell.
    Web,
    /// Links inside of subjects alone, which the data vectors tell as well as classes.
    Subjects,
    /// Data vectors that tell the classes, and links that know little of them.
    Blurred,
    /// Links between classes alone, at random.
    Across,
    /// The links of [`Planted::Blocks`], and noise for data vectors.
    Noise,
}

impl Planted {
    /// All of them.
    pub const ALL: [Planted; 9] = [
        Planted::Blocks,
        Planted::Bloggers,
        Planted::Contacts,
        Planted::CoOccurrences,
        Planted::Web,
        Planted::Subjects,
        Planted::Blurred,
        Planted::Across,
        Planted::Noise,
    ];

    /// Its name in tables and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Planted::Blocks => "blocks",
            Planted::Bloggers => "bloggers",
            Planted::Contacts => "contacts",
            Planted::CoOccurrences => "co-occurrences",
            Planted::Web => "web pages",
            Planted::Subjects => "subjects, not classes",
            Planted::Blurred => "clear data vectors, blurred links",
            Planted::Across => "links at random between classes",
            Planted::Noise => "blocks, noise for data vectors",
        }
    }

    /// The damage of its trials: none where the links are the damage.
    pub fn damage(self) -> &'static [&'static str] {
        match self {
            Planted::Blocks => &["clean", "u90", "w10x100"],
            Planted::Contacts | Planted::CoOccurrences => &["clean", "u30"],
            _ => &["clean"],
        }
    }

    /// Makes it.
    ///
    /// # Errors
    /// None but those of the data themselves.
    pub fn make(self, seed: u64) -> Result<Labelled> {
        let blocks = BlockModel::default();
        let graph = match self {
            Planted::Blocks => blocks.make(seed)?,
            Planted::Bloggers => Bloggers::default().make(seed)?,
            Planted::Noise => {
                let made = blocks.make(seed)?;
                let (n, mut random) = (made.labels.len(), Random::new(seed + 1));
                let noise = Matrix::dense(n, blocks.features, random.normals(n * blocks.features))?;
                let data = Dataset::new(made.data.graph().clone(), Features::new(noise))?;
                Labelled { data, ..made }
            }
            other => linked_anew(&blocks.make(seed)?, other, seed)?,
        };
        let name = self.name().to_owned();
        Ok(Labelled { name, ..graph })
    }
}

/// The deviation of the logarithms of contacts, and of the frequencies of words.
const CONTACTS: f64 = 1.2;
const FREQUENCIES: f64 = 1.0;
/// How many sites web pages have.
const SITES: usize = 20;
/// The mean number of links of a page, and of links at random.
const DEGREE: f64 = 8.0;

/// Classes and data vectors of blocks, with other links.
fn linked_anew(blocks: &Labelled, how: Planted, seed: u64) -> Result<Labelled> {
    let mut random = Random::new(seed + 2);
    let n = blocks.labels.len();
    let same = |i: usize, j: usize| blocks.labels[i] == blocks.labels[j];
    let frequency: Vec<f64> = random.normals(n);
    let frequency: Vec<f64> = frequency
        .iter()
        .map(|z| math::exp(FREQUENCIES * z - FREQUENCIES * FREQUENCIES / 2.0))
        .collect();
    let mut groups =
        |count: usize| -> Vec<usize> { (0..n).map(|_| random.0.random_range(0..count)).collect() };
    let (site, subject) = (groups(SITES), groups(blocks.n_classes()));
    let n_classes = blocks.n_classes() as f64;
    let outside = n as f64 * (1.0 - 1.0 / n_classes);
    let mut links = Vec::new();
    for i in 0..n {
        for j in i + 1..n {
            let weight = match how {
                Planted::Contacts => {
                    // Seven contacts inside a class and one outside, lasting ten times less.
                    let (mean, lasts) = match same(i, j) {
                        true => (7.0 * n_classes / n as f64, 3.0),
                        false => (1.0 / outside, 0.7),
                    };
                    match random.count(mean) > 0.0 {
                        true => math::exp(lasts + CONTACTS * random.normals(1)[0]).ceil(),
                        false => 0.0,
                    }
                }
                Planted::CoOccurrences => {
                    let often = frequency[i] * frequency[j];
                    let mean = match same(i, j) {
                        true => 9.0 * n_classes / n as f64,
                        false => 6.0 / outside,
                    };
                    random.count(often * mean)
                }
                Planted::Web if site[i] == site[j] && !same(i, j) => f64::from(u8::from(
                    random.count(DEGREE * SITES as f64 / outside) > 0.0,
                )),
                Planted::Subjects if subject[i] == subject[j] => {
                    f64::from(u8::from(random.count(DEGREE * n_classes / n as f64) > 0.0))
                }
                Planted::Blurred => {
                    // A quarter inside a class, where a sixth would be chance.
                    let inside = if same(i, j) { 0.25 * n_classes } else { 0.9 };
                    f64::from(u8::from(random.count(DEGREE * inside / n as f64) > 0.0))
                }
                Planted::Across if !same(i, j) => {
                    f64::from(u8::from(random.count(DEGREE / outside) > 0.0))
                }
                _ => 0.0,
            };
            if weight > 0.0 {
                links.push((i as u32, j as u32, weight));
            }
        }
    }
    let graph = Graph::from_rows(n, &links)?;
    let data = match how {
        Planted::Subjects => Dataset::new(graph, moved(blocks, &subject, 0.6, &mut random)?)?,
        Planted::Blurred => {
            let class: Vec<usize> = blocks.labels.iter().map(|&class| class as usize).collect();
            Dataset::new(graph, moved(blocks, &class, 1.0, &mut random)?)?
        }
        _ => blocks.data.with_graph(graph),
    };
    Ok(Labelled {
        data,
        ..blocks.clone()
    })
}

/// Data vectors, each moved to the place of its group: groups lie so far apart, against
/// noise of 1.
fn moved(blocks: &Labelled, groups: &[usize], apart: f64, random: &mut Random) -> Result<Features> {
    let matrix = blocks.matrix()?;
    let (n, p) = (matrix.n_rows(), matrix.n_columns());
    let centres = random.normals((groups.iter().max().map_or(0, |&most| most + 1)) * p);
    let mut x = Vec::with_capacity(n * p);
    for (row, &group) in groups.iter().enumerate() {
        let mut own = centres[group * p..][..p].to_vec();
        own.iter_mut().for_each(|c| *c *= apart);
        matrix
            .row(row)
            .into_iter()
            .for_each(|(column, value)| own[column as usize] += value);
        x.extend(own);
    }
    Ok(Features::new(Matrix::dense(n, p, x)?))
}

/// What a fit said, and how good its embeddings are.
#[derive(Debug, Clone)]
pub struct Spoken {
    /// The verdict.
    pub verdict: Vec<Said>,
    /// What it advises.
    pub advice: Advice,
    /// The share of false links as estimated; none if no share can be given.
    pub share_false: Option<f64>,
    /// NMI (x 100) of clusters of the embeddings.
    pub nmi: f64,
}

impl Spoken {
    /// The sentence that says it in short.
    pub fn in_short(&self) -> &str {
        let short = self.verdict.iter().find(|said| said.about == Topic::Use);
        let says = short.map_or("", |said| &said.says);
        says.trim_start_matches("In short: ")
    }
}

/// What was said of a graph, and what is true of it.
#[derive(Debug, Clone)]
pub struct Trial {
    /// The graph and its damage.
    pub name: String,
    /// The share of links that join two classes, and of the weight.
    pub across: [f64; 2],
    /// The share of links that were put in, and of the weight.
    pub put_in: [f64; 2],
    /// NMI (x 100) of k-means on the data vectors.
    pub vectors: f64,
    /// NMI (x 100) of a robust fit to the links alone, where the verdict advises it.
    pub links_alone: Option<f64>,
    /// The robust fit.
    pub robust: Spoken,
    /// The plain fit.
    pub plain: Spoken,
}

/// Figures that differ by less, in points of NMI, are as good as each other.
const AS_GOOD: f64 = 3.0;

impl Trial {
    /// Fits a damaged graph with default settings and asks classes.
    ///
    /// # Errors
    /// Those of the fits, and a damage of another name.
    pub fn run(graph: &Labelled, damage: &str, seed: u64) -> Result<Trial> {
        let column = Column::named(damage)?;
        let made = column.damage.apply(&graph.data, &graph.labels, seed)?;
        let data = &made.data;
        let (mut across, mut put_in, mut all) = ([0.0; 2], [0.0; 2], [0.0; 2]);
        for link in data.graph().links() {
            let of = [1.0, link.weight];
            let joins = graph.labels[link.src as usize] != graph.labels[link.dst as usize];
            let is_false = made.false_links.contains(&(link.src, link.dst));
            for place in 0..2 {
                all[place] += of[place];
                across[place] += of[place] * f64::from(u8::from(joins));
                put_in[place] += of[place] * f64::from(u8::from(is_false));
            }
        }
        let share = |of: [f64; 2]| [of[0] / all[0], of[1] / all[1]];
        let params = Params {
            seed,
            ..Params::default()
        };
        let params = params.check()?;
        let (robust, plain) = (robust(graph, data, &params)?, plain(graph, data, &params)?);
        let links_alone = match robust.advice {
            Advice::LinksAlone => {
                let alone = Dataset::with_nodes(data.graph().clone(), data.ids().clone())?;
                Some(self::robust(graph, &alone, &params)?.nmi)
            }
            _ => None,
        };
        Ok(Trial {
            name: match damage {
                "clean" => graph.name.clone(),
                _ => format!("{}, {}", graph.name, column.heading),
            },
            across: share(across),
            put_in: share(put_in),
            vectors: graph.whole_nmi(&points(graph)?, seed)?,
            links_alone,
            robust,
            plain,
        })
    }

    /// Whether classes bear the advice of a fit out; none where it gives none.
    pub fn is_right(&self, said: &Spoken) -> Option<bool> {
        let ahead = said.nmi - self.vectors;
        match said.advice {
            Advice::Use | Advice::Either => Some(ahead > -AS_GOOD),
            Advice::VectorsAlone => Some(ahead < AS_GOOD),
            Advice::LinksAlone => self.links_alone.map(|alone| alone > said.nmi),
            // Nodes on a line have no clusters worth the name.
            Advice::FitAgain => Some(ahead < 0.0),
            Advice::FitRobustly => Some(self.robust.nmi > said.nmi),
            Advice::Unknown => None,
        }
    }
}

fn robust(graph: &Labelled, data: &Dataset, params: &CheckedParams) -> Result<Spoken> {
    let found = fit_model(params, data, &Recipe::default(), Runtime::default())?;
    Ok(Spoken {
        share_false: found.summary.share_false,
        nmi: graph.whole_nmi(found.model.recommended(), params.given().seed)?,
        advice: found.summary.advice,
        verdict: found.summary.verdict,
    })
}

fn plain(graph: &Labelled, data: &Dataset, params: &CheckedParams) -> Result<Spoken> {
    let model = fit(params, data)?;
    let found = plain_verdict(&model, data, Runtime::default())?;
    let share = found.judged.and_then(|judged| judged.facts.share);
    Ok(Spoken {
        share_false: share.and_then(|share| share.estimate),
        nmi: graph.whole_nmi(model.embeddings(), params.given().seed)?,
        advice: found.advice,
        verdict: found.verdict,
    })
}

/// The data vectors as `linkproof evaluate` clusters them: of unit length, unless some
/// entries are negative.
fn points(graph: &Labelled) -> Result<Vec<f32>> {
    let given = graph.points(Normalize::None)?;
    match given.iter().any(|&x| x < 0.0) {
        true => Ok(given),
        false => graph.points(Normalize::L2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of links, and of the weight, between classes.
    fn across(graph: &Labelled) -> [f64; 2] {
        let (mut found, mut all) = ([0.0; 2], [0.0; 2]);
        for link in graph.data.graph().links() {
            let joins = graph.labels[link.src as usize] != graph.labels[link.dst as usize];
            for (place, of) in [1.0, link.weight].into_iter().enumerate() {
                all[place] += of;
                found[place] += if joins { of } else { 0.0 };
            }
        }
        [found[0] / all[0], found[1] / all[1]]
    }

    #[test]
    fn graphs_are_as_said() {
        let made = Planted::ALL.map(|one| one.make(1).unwrap());
        let [_, _, contacts, words, web, subjects, blurred, random, noise] = &made;
        let [links, weight] = across(contacts);
        assert!(
            (0.05..0.25).contains(&links) && weight < 0.5 * links,
            "{links} {weight}"
        );
        let [links, weight] = across(words);
        assert!(
            (0.3..0.5).contains(&links) && weight < links,
            "{links} {weight}"
        );
        assert_eq!(across(web), [1.0; 2]);
        assert_eq!(across(random), [1.0; 2]);
        for graph in [web, random] {
            let degree = 2.0 * graph.data.graph().n_links() as f64 / graph.labels.len() as f64;
            assert!((0.8..1.2).contains(&(degree / DEGREE)), "{degree}");
        }
        let [links, _] = across(subjects);
        assert!((0.8..0.87).contains(&links), "{links}");
        let [links, _] = across(blurred);
        assert!((0.72..0.78).contains(&links), "{links}");
        assert!(blurred.vectors_nmi(0).unwrap() > 90.0);
        // Noise tells nothing of the classes, the other data vectors do.
        assert!(noise.vectors_nmi(0).unwrap() < 20.0);
        assert!(web.vectors_nmi(0).unwrap() > 40.0);
        for (one, made) in Planted::ALL.iter().zip(&made) {
            let again = one.make(1).unwrap();
            assert!(again.data.graph().links().eq(made.data.graph().links()));
        }
    }

    #[test]
    fn advice_is_right_where_classes_bear_it_out() {
        let said = |advice, nmi| Spoken {
            verdict: Vec::new(),
            share_false: None,
            advice,
            nmi,
        };
        let trial = Trial {
            name: String::new(),
            across: [0.0; 2],
            put_in: [0.0; 2],
            vectors: 50.0,
            links_alone: Some(60.0),
            robust: said(Advice::Use, 0.0),
            plain: said(Advice::Use, 0.0),
        };
        for (advice, nmi, right) in [
            (Advice::Use, 51.0, Some(true)),
            (Advice::Use, 46.0, Some(false)),
            (Advice::Either, 48.0, Some(true)),
            (Advice::Either, 40.0, Some(false)),
            (Advice::VectorsAlone, 49.0, Some(true)),
            (Advice::VectorsAlone, 54.0, Some(false)),
            (Advice::LinksAlone, 59.0, Some(true)),
            (Advice::LinksAlone, 61.0, Some(false)),
            (Advice::FitRobustly, 1.0, Some(false)),
            (Advice::Unknown, 10.0, None),
        ] {
            assert_eq!(
                trial.is_right(&said(advice, nmi)),
                right,
                "{advice:?} {nmi}"
            );
        }
    }
}
