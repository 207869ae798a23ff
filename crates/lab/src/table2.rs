//! The paper's Table 2: clusters of Cora's test nodes.
//!
//! (A) fits to all nodes and links. (B) fits to the training nodes and the links
//! among them and embeds the test nodes from their data vectors alone; in the
//! third column they bring their links too. k-means sees the test rows only.

use super::job::{Job, Place, Reading, Row, Table};
use super::labelled::Labelled;
use super::method::{choose, embed_unseen, embed_unseen_smoothly, smoother};
use linkproof_method::data::dataset::Dataset;
use linkproof_method::engine::runtime::Runtime;
use linkproof_method::error::Result;
use linkproof_method::model::{Fitted, fit};
use linkproof_method::params::{
    Activation, EncoderKind, OptimizerKind, OutputActivation, Params, Sampler, ScoreKind,
    SolverKind,
};

/// The name of the table.
pub const NAME: &str = "table2";
/// The columns: the setting of a rival's run, and its heading.
pub const COLUMNS: [(&str, &str); 3] = [
    ("all", "(A)"),
    ("unseen", "(B)"),
    ("unseen-links", "(B), with links"),
];

/// How large the paper's network is here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Its hidden units.
    pub hidden: usize,
    /// The most steps.
    pub steps: usize,
}

impl Sizes {
    /// The paper's.
    pub const PAPER: Sizes = Sizes {
        hidden: 3000,
        steps: 300,
    };
    /// To see that everything works.
    pub const QUICK: Sizes = Sizes {
        hidden: 32,
        steps: 20,
    };
}

/// A row of the table, or two.
#[derive(Clone)]
struct Recipe {
    name: String,
    paper: &'static [f64],
    /// How long (A) and (B) take, about, in fits of the defaults.
    cost: [f64; 2],
    params: Params,
    /// The scores among which settings are chosen; a second row has the averages
    /// over believed links.
    scores: Option<&'static [ScoreKind]>,
}

impl Recipe {
    fn smoothed(&self) -> Option<String> {
        let name = || format!("{}, averaged over believed links", self.name);
        self.scores.map(|_| name())
    }
}

/// The paper's network: 3,000 tanh units, 100 tanh outputs, batch normalisation
/// and dropout of one half. Steps and learning rates are not the paper's, which
/// does not give them.
fn network(sizes: Sizes, score: ScoreKind, beta: f64, sampler: Sampler) -> Params {
    Params {
        dim: 100,
        score,
        beta,
        encoder: Some(EncoderKind::Mlp),
        hidden: vec![sizes.hidden],
        activation: Activation::Tanh,
        output_activation: OutputActivation::Tanh,
        batch_norm: true,
        dropout: 0.5,
        solver: Some(SolverKind::Sgd),
        optimizer: Some(OptimizerKind::Adam),
        sampler,
        ridge: 0.0,
        steps: Some(sizes.steps),
        ..Params::default()
    }
}

/// Fits of given parameters, and of settings that are chosen, with their keys.
fn recipes(sizes: Sizes) -> Vec<(String, Recipe)> {
    #[rustfmt::skip]
    const NETWORKS: [(&str, &[f64], ScoreKind, f64, Sampler); 4] = [
        ("likelihood, blocks", &[35.9, 30.5], ScoreKind::Likelihood, 0.0, Sampler::Block),
        ("beta 0.1, blocks", &[36.2, 30.7], ScoreKind::Moment, 0.1, Sampler::Block),
        ("beta 0.5, blocks", &[36.1, 31.0], ScoreKind::Moment, 0.5, Sampler::Block),
        ("beta 0.1, paper's sampler", &[36.2, 30.7], ScoreKind::Moment, 0.1, Sampler::Pairs),
    ];
    #[rustfmt::skip]
    const LINEAR: [(&str, f64, usize, usize, f64); 3] = [
        ("linear, defaults (moment, beta 0.1, ridge 2)", 1.0, 0, 0, 2.0),
        ("the same, data vectors averaged before the fit (--propagate 2)", 2.0, 2, 0, 2.0),
        ("linear, --walks 4 --ridge 1 (found while looking at classes)", 3.0, 0, 4, 1.0),
    ];
    #[rustfmt::skip]
    const CHOSEN: [(&str, &[ScoreKind]); 3] = [
        ("likelihood, ridge chosen", &[ScoreKind::Likelihood]),
        ("moment, beta and ridge chosen", &[ScoreKind::Moment]),
        ("score, beta and ridge chosen", &[ScoreKind::Likelihood, ScoreKind::Probability]),
    ];
    let networks = NETWORKS.map(|(name, paper, score, beta, sampler)| Recipe {
        name: format!("paper's network, {name}"),
        paper,
        cost: [8.0; 2],
        params: network(sizes, score, beta, sampler),
        scores: None,
    });
    let linear = LINEAR.map(|(name, cost, propagate, walks, ridge)| Recipe {
        name: name.into(),
        paper: &[],
        cost: [cost; 2],
        params: Params {
            propagate,
            walks,
            ridge,
            ..Params::default()
        },
        scores: None,
    });
    let chosen = CHOSEN.map(|(name, scores)| Recipe {
        name: name.into(),
        paper: &[],
        cost: [(10.0, 8.0), (8.0, 6.0)].map(|(once, each)| once + each * scores.len() as f64),
        params: Params::default(),
        scores: Some(scores),
    });
    let named = |kind: &'static str| move |(place, recipe)| (format!("{kind}{place}"), recipe);
    let plain = networks.into_iter().chain(linear).enumerate();
    let chosen = chosen.into_iter().enumerate().map(named("chosen"));
    plain.map(named("plain")).chain(chosen).collect()
}

/// The table, with the rows of rivals after ours.
pub fn table(graph: &Labelled, sizes: Sizes, runs: u64, rivals: Vec<Row>) -> Table {
    let mut rows = Vec::new();
    for (_, recipe) in recipes(sizes) {
        rows.push(Row::paper(&recipe.name, recipe.paper));
        rows.extend(recipe.smoothed().map(Row::new));
    }
    rows.extend(rivals);
    Table {
        name: NAME.into(),
        caption: format!(
            "{}: NMI (x 100) of {} clusters of the test nodes ({runs} splits, mean ± standard \
             error; in brackets the paper's figures for Cora). No label chose a setting, but for \
             the row that says so.",
            graph.name,
            graph.n_classes()
        ),
        measure: "NMI x 100".into(),
        runs,
        digits: 1,
        columns: COLUMNS.iter().map(|(_, name)| (*name).to_owned()).collect(),
        rows,
    }
}

/// Two jobs for each split and recipe: (A) and (B).
pub fn jobs(graph: &Labelled, sizes: Sizes, runs: u64, seed: u64) -> Vec<Job<'_>> {
    let mut jobs = Vec::new();
    for run in 0..runs {
        let seed = seed.wrapping_add(run);
        for (key, mut recipe) in recipes(sizes) {
            recipe.params.seed = seed;
            let other = recipe.clone();
            jobs.push(Job {
                key: format!("{key}-A-run{run}"),
                cost: recipe.cost[0],
                work: Box::new(move |runtime| known(graph, &recipe, run, runtime)),
            });
            jobs.push(Job {
                key: format!("{key}-B-run{run}"),
                cost: other.cost[1],
                work: Box::new(move |runtime| unseen(graph, &other, run, runtime)),
            });
        }
    }
    jobs
}

fn fit_to(recipe: &Recipe, data: &Dataset, runtime: Runtime<'_>) -> Result<Fitted> {
    let params = match recipe.scores {
        Some(scores) => choose(&recipe.params, data, scores, runtime)?,
        None => recipe.params.clone(),
    };
    fit(&params.check()?, data)
}

/// (A), from a fit to all nodes.
fn known(
    graph: &Labelled,
    recipe: &Recipe,
    run: u64,
    runtime: Runtime<'_>,
) -> Result<Vec<Reading>> {
    let (place, seed) = (place(0, run), recipe.params.seed);
    let model = fit_to(recipe, &graph.data, runtime)?;
    let value = graph.test_nmi(model.embeddings(), seed)?;
    let mut readings = vec![place.reading(&recipe.name, value)];
    if let Some(smoothed) = recipe.smoothed() {
        let averages = smoother(&model, &graph.data, runtime)?;
        let value = graph.test_nmi(averages.embeddings(), seed)?;
        readings.push(place.reading(&smoothed, value));
    }
    Ok(readings)
}

/// (B), from a fit to the training nodes.
fn unseen(
    graph: &Labelled,
    recipe: &Recipe,
    run: u64,
    runtime: Runtime<'_>,
) -> Result<Vec<Reading>> {
    let seed = recipe.params.seed;
    let split = graph.split(seed);
    let training = graph.training(&split)?;
    let model = fit_to(recipe, &training.data, runtime)?;
    let mut rows = vec![(recipe.name.clone(), embed_unseen(&model, &training)?)];
    if let Some(smoothed) = recipe.smoothed() {
        rows.push((smoothed, embed_unseen_smoothly(&model, &training, runtime)?));
    }
    let mut readings = Vec::new();
    for (row, found) in rows {
        for (column, y) in [(1, Some(found.alone)), (2, found.with_links)] {
            if let Some(y) = y {
                let value = graph.nmi(&y, &split.test, seed)?;
                readings.push(place(column, run).reading(&row, value));
            }
        }
    }
    Ok(readings)
}

fn place(column: usize, run: u64) -> Place<'static> {
    Place {
        table: NAME,
        column: COLUMNS[column].1,
        run,
    }
}
