//! The paper's Table 2: clusters of Cora's test nodes.
//!
//! (A) fits to all nodes and links. (B) fits to the training nodes and the links
//! among them and embeds the test nodes from their data vectors alone; in the
//! third column they bring their links too. k-means sees the test rows only.

use super::job::{Job, Place, Reading, Row, Table};
use super::labelled::Labelled;
use linkproof_method::data::dataset::Dataset;
use linkproof_method::engine::runtime::Runtime;
use linkproof_method::error::Result;
use linkproof_method::model::{Fitted, fit};
use linkproof_method::params::{
    Activation, EncoderKind, OptimizerKind, OutputActivation, Params, Sampler, ScoreKind,
    SolverKind,
};
use linkproof_method::robust::{self, embed_new, fit_model};

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

/// A row of the table.
#[derive(Clone)]
struct Recipe {
    name: String,
    paper: &'static [f64],
    /// How long it takes, about, in fits of the defaults.
    cost: f64,
    params: Params,
    /// Whether links are judged.
    robust: bool,
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

/// Fits of given parameters and the robust one, with their keys.
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
        ("Linkproof, fit (moment, beta 0.1, ridge 2)", 1.0, 0, 0, 2.0),
        ("the same, data vectors averaged before the fit (--propagate 2)", 2.0, 2, 0, 2.0),
        ("the same, --walks 4 --ridge 1 (found while looking at classes)", 3.0, 0, 4, 1.0),
    ];
    let robust = Recipe {
        name: "Linkproof, fit --robust".into(),
        paper: &[],
        cost: 15.0,
        params: Params::default(),
        robust: true,
    };
    let networks = NETWORKS.map(|(name, paper, score, beta, sampler)| Recipe {
        name: format!("paper's network, {name}"),
        paper,
        cost: 8.0,
        params: network(sizes, score, beta, sampler),
        robust: false,
    });
    let linear = LINEAR.map(|(name, cost, propagate, walks, ridge)| Recipe {
        name: name.into(),
        paper: &[],
        cost,
        params: Params {
            propagate,
            walks,
            ridge,
            ..Params::default()
        },
        robust: false,
    });
    let named = |kind: &'static str| move |(place, recipe)| (format!("{kind}{place}"), recipe);
    let linear = linear.into_iter().enumerate().map(named("plain"));
    let networks = networks.into_iter().enumerate().map(named("network"));
    let robust = std::iter::once(("robust".to_owned(), robust));
    robust.chain(linear).chain(networks).collect()
}

/// The table, with the rows of rivals after ours.
pub fn table(graph: &Labelled, sizes: Sizes, runs: u64, rivals: Vec<Row>) -> Table {
    let mut rows = Vec::new();
    for (_, recipe) in recipes(sizes) {
        rows.push(Row::paper(&recipe.name, recipe.paper));
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

/// Two jobs for each split and recipe that is wanted by its key: (A) and (B).
pub fn jobs(
    graph: &Labelled,
    sizes: Sizes,
    runs: u64,
    seed: u64,
    wanted: impl Fn(&str) -> bool,
) -> Vec<Job<'_>> {
    let mut jobs = Vec::new();
    for run in 0..runs {
        let seed = seed.wrapping_add(run);
        for (key, mut recipe) in recipes(sizes) {
            if !wanted(&key) {
                continue;
            }
            recipe.params.seed = seed;
            let other = recipe.clone();
            jobs.push(Job {
                key: format!("{key}-A-run{run}"),
                cost: recipe.cost,
                work: Box::new(move |runtime| known(graph, &recipe, run, runtime)),
            });
            jobs.push(Job {
                key: format!("{key}-B-run{run}"),
                cost: other.cost,
                work: Box::new(move |runtime| unseen(graph, &other, run, runtime)),
            });
        }
    }
    jobs
}

fn fit_to(recipe: &Recipe, data: &Dataset, runtime: Runtime<'_>) -> Result<Fitted> {
    let params = recipe.params.clone().check()?;
    match recipe.robust {
        true => Ok(fit_model(&params, data, &robust::Recipe::default(), runtime)?.model),
        false => fit(&params, data),
    }
}

/// (A), from a fit to all nodes.
fn known(
    graph: &Labelled,
    recipe: &Recipe,
    run: u64,
    runtime: Runtime<'_>,
) -> Result<Vec<Reading>> {
    let model = fit_to(recipe, &graph.data, runtime)?;
    let value = graph.test_nmi(model.recommended(), recipe.params.seed)?;
    Ok(vec![place(0, run).reading(&recipe.name, value)])
}

/// (B), from a fit to the training nodes. Links are brought to models that have
/// a use for them.
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
    let reads_links = recipe.robust || recipe.params.propagate > 0;
    let mut readings = Vec::new();
    for (column, links) in [(1, None), (2, Some(&training.links[..]))] {
        if links.is_none() || reads_links {
            let y = embed_new(&model, 0, &training.unseen, links)?.embeddings;
            let value = graph.nmi(&y, &split.test, seed)?;
            readings.push(place(column, run).reading(&recipe.name, value));
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
