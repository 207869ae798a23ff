//! The paper's Table 1 and Figure 1: clusters found in the synthetic graph.

use super::demo;
use super::job::{Experiment, Job, Place, Reading, Row, Table};
use super::synthetic::{CLUSTERS, Noise, Synthetic, synthetic};
use linkproof_method::engine::runtime::Runtime;
use linkproof_method::error::{Error, Result};
use linkproof_method::measure::{KMeans, purity};
use linkproof_method::model::fit;
use linkproof_method::params::{Params, Precision, ScoreKind};
use linkproof_method::select::{Candidate, Grid, Search, candidates, select};
use linkproof_pictures::drawing::{Drawing, Panel, panels};

const NAME: &str = "table1";
const XIS: [f64; 3] = [0.01, 0.02, 0.03];
/// The ridge of the rows that the paper has.
const RIDGE: f64 = 10.0;
const PAPER: [(f64, [f64; 3]); 4] = [
    (0.0, [0.72, 0.66, 0.58]),
    (0.1, [0.71, 0.72, 0.60]),
    (0.5, [0.71, 0.69, 0.64]),
    (1.0, [0.70, 0.64, 0.64]),
];
const BEST: &str = "best candidate on average (by labels)";
const CANDIDATE: &str = "candidate ";
const AVERAGE: &str = "average candidate";
const VECTORS: &str = "k-means on the data vectors";

/// Families of candidates among which one is chosen.
const FAMILIES: [(&str, &[ScoreKind]); 4] = [
    ("likelihood, ridge chosen", &[ScoreKind::Likelihood]),
    ("moment, beta and ridge chosen", &[ScoreKind::Moment]),
    (
        "probability, beta and ridge chosen",
        &[ScoreKind::Probability],
    ),
    ("chosen without labels, of all candidates", &demo::SCORES),
];

fn paper_row(beta: f64) -> String {
    match beta {
        0.0 => format!("likelihood, ridge {RIDGE}"),
        beta => format!("moment, beta {beta}, ridge {RIDGE}"),
    }
}

fn column(xi: f64) -> String {
    format!("xi = {xi}")
}

/// A job for each column and data set.
pub fn experiment(runs: u64, seed: u64) -> Experiment<'static> {
    let mut rows: Vec<Row> = PAPER
        .iter()
        .map(|(beta, paper)| Row::paper(paper_row(*beta), paper))
        .collect();
    rows.extend(FAMILIES.iter().map(|(name, _)| Row::new(*name)));
    let best = Row {
        best_of: Some(CANDIDATE),
        ..Row::new(BEST)
    };
    rows.extend([best, Row::new(AVERAGE), Row::new(VECTORS)]);
    let jobs = (0..runs).flat_map(|run| XIS.map(|xi| (run, xi)));
    let job = |(run, xi): (u64, f64)| Job {
        key: format!("xi{xi}-run{run}"),
        cost: 1.0,
        work: Box::new(move |runtime| one(xi, seed, run, runtime)),
    };
    let table = Table {
        name: NAME.into(),
        caption: format!(
            "Purity of the clusters found in the paper's synthetic graph ({runs} data sets, \
             mean ± standard error; in brackets the paper)."
        ),
        measure: "purity".into(),
        digits: 3,
        runs,
        columns: XIS.map(column).into(),
        rows,
        takes_others: false,
    };
    Experiment {
        jobs: jobs.map(job).collect(),
        tables: vec![table],
    }
}

fn base() -> Params {
    Params {
        ridge: Some(RIDGE),
        precision: Precision::F32,
        ..demo::params(ScoreKind::Moment, 0)
    }
}

/// Every candidate: three scores, exponents .1, .5 and 1, eight ridges.
fn grid(base: &Params, scores: &[ScoreKind]) -> Grid {
    Grid {
        scores: scores.to_vec(),
        betas: vec![0.1, 0.5, 1.0],
        ..Grid::around(base)
    }
}

fn clusters_purity(made: &Synthetic, y: &[f32]) -> Result<f64> {
    let n = made.labels.len();
    let found = KMeans::new(CLUSTERS, 0).fit(y, n, y.len() / n)?;
    purity(&made.labels, &found.labels)
}

fn fit_purity(made: &Synthetic, params: Params) -> Result<f64> {
    let model = fit(&params.check()?, &made.data)?;
    clusters_purity(made, model.embeddings())
}

fn one(xi: f64, seed: u64, run: u64, runtime: Runtime<'_>) -> Result<Vec<Reading>> {
    let made = synthetic(seed.wrapping_add(run), Noise::false_links(xi))?;
    let mut readings = Vec::new();
    let place = Place {
        table: NAME,
        column: &column(xi),
        run,
    };
    let mut add = |row: &str, value: f64| readings.push(place.reading(row, value));
    let base = base();
    for (beta, _) in PAPER {
        let params = Params {
            beta,
            ..base.clone()
        };
        add(&paper_row(beta), fit_purity(&made, params)?);
    }
    for (name, scores) in FAMILIES {
        let search = Search {
            grid: grid(&base, scores),
            ..Search::around(&base)
        };
        let choice = select(&base, &made.data, &search, runtime)?.chosen;
        add(name, fit_purity(&made, choice.params(&base))?);
    }
    let mut sum = 0.0;
    let all = candidates(&grid(&base, &demo::SCORES), &base)?;
    for (candidate, params) in &all {
        let purity = match fit_purity(&made, params.given().clone()) {
            // A candidate that cannot be fitted finds one cluster.
            Err(Error::Diverged { .. }) => 1.0 / CLUSTERS as f64,
            purity => purity?,
        };
        sum += purity;
        let Candidate {
            score, beta, ridge, ..
        } = candidate;
        add(&format!("{CANDIDATE}{score} {beta} {ridge}"), purity);
    }
    add(AVERAGE, sum / all.len() as f64);
    let matrix = made.data.views()[0].matrix.as_ref();
    let matrix = matrix.ok_or_else(|| Error::data("data", "no data vectors", "some"))?;
    let rows = (0..made.labels.len()).flat_map(|row| matrix.row(row));
    let x: Vec<f32> = rows.map(|(_, x)| x as f32).collect();
    add(VECTORS, clusters_purity(&made, &x)?);
    Ok(readings)
}

/// The exponents of Figure 1's panels.
const FIGURE: [f64; 3] = [0.0, 0.5, 1.0];
/// Its ridge: at that of the table, beta = 1 leaves one dimension of two.
const FIGURE_RIDGE: f64 = 1.0;

/// Figure 1: embeddings of one synthetic graph (xi = .03) by the likelihood and
/// the moment score; exponents and purities.
pub fn figure1(seed: u64) -> Result<(Drawing, Vec<(f64, f64)>)> {
    let made = synthetic(seed, Noise::false_links(0.03))?;
    let mut found = Vec::new();
    for beta in FIGURE {
        let params = Params {
            beta,
            ridge: Some(FIGURE_RIDGE),
            ..base()
        };
        let model = fit(&params.check()?, &made.data)?;
        found.push((beta, clusters_purity(&made, model.embeddings())?, model));
    }
    let links = made.data.graph().links();
    let links: Vec<(u32, u32, bool)> = links.map(|link| (link.src, link.dst, false)).collect();
    let drawn = found.iter().map(|(beta, purity, model)| Panel {
        title: match *beta {
            0.0 => format!("likelihood: purity {purity:.2}"),
            beta => format!("beta = {beta}: purity {purity:.2}"),
        },
        points: model.embeddings(),
        clusters: &made.labels,
        links: links.clone(),
        names: Vec::new(),
    });
    let title = "Embeddings of the synthetic graph, xi = 0.03, ridge 1";
    let drawing = panels(title, 3, &drawn.collect::<Vec<_>>());
    let purities = found.iter().map(|(beta, purity, _)| (*beta, *purity));
    Ok((drawing, purities.collect()))
}
