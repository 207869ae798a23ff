//! The paper's Table 2: clusters of Cora's test nodes.
//!
//! (A) fits to all nodes and links. (B) fits to the training nodes and the links
//! among them and embeds the test nodes from their data vectors alone; in the
//! third column they bring their links too. k-means sees the test rows only.

use super::job::{Experiment, Job, Place, Reading, Row, Table};
use super::labelled::Labelled;
use linkproof_method::data::dataset::Dataset;
use linkproof_method::engine::runtime::Runtime;
use linkproof_method::error::Result;
use linkproof_method::model::{Fitted, fit};
use linkproof_method::params::{
    Activation, EncoderKind, Mlp, OptimizerKind, OutputActivation, Params, Sampler, Sampling,
    ScoreKind, SolverKind,
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

/// A row of the table.
#[derive(Clone)]
struct Recipe {
    /// Its part of the keys of jobs.
    key: String,
    name: String,
    paper: &'static [f64],
    /// How long it takes, about, in fits of the defaults.
    cost: f64,
    params: Params,
    /// Whether links are judged.
    robust: bool,
}

impl Recipe {
    fn new(key: String, name: &str, cost: f64, params: Params) -> Recipe {
        Recipe {
            robust: key == "robust",
            key,
            name: name.to_owned(),
            paper: &[],
            cost,
            params,
        }
    }
}

/// The paper's network: 3,000 tanh units, 100 tanh outputs, batch normalisation
/// and dropout of one half. Steps and learning rates are not the paper's, which
/// does not give them. `quick`: a small one, to see that everything works.
fn network(quick: bool) -> Params {
    Params {
        dim: 100,
        encoder: Some(EncoderKind::Mlp),
        mlp: Mlp {
            hidden: vec![if quick { 32 } else { 3000 }],
            activation: Activation::Tanh,
            output_activation: OutputActivation::Tanh,
            batch_norm: true,
            dropout: 0.5,
        },
        solver: Some(SolverKind::Sgd),
        optimizer: Some(OptimizerKind::Adam),
        ridge: Some(0.0),
        steps: Some(if quick { 20 } else { 300 }),
        ..Params::default()
    }
}

/// The robust fit and fits of given parameters.
fn recipes(quick: bool) -> Vec<Recipe> {
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
    let (name, params) = ("Linkproof, fit --robust", Params::default());
    let mut recipes = vec![Recipe::new("robust".into(), name, 15.0, params)];
    for (place, (name, cost, propagate, walks, ridge)) in LINEAR.into_iter().enumerate() {
        let params = Params {
            propagate,
            walks,
            ridge: Some(ridge),
            ..Params::default()
        };
        recipes.push(Recipe::new(format!("plain{place}"), name, cost, params));
    }
    for (place, (name, paper, score, beta, sampler)) in NETWORKS.into_iter().enumerate() {
        let params = Params {
            score,
            beta,
            sampling: Sampling {
                sampler,
                ..Sampling::default()
            },
            ..network(quick)
        };
        let name = format!("paper's network, {name}");
        recipes.push(Recipe {
            paper,
            ..Recipe::new(format!("network{place}"), &name, 8.0, params)
        });
    }
    recipes
}

/// Two jobs for each split and recipe of a method that is wanted: (A) and (B). The rows of
/// rivals come after ours.
pub fn experiment(
    graph: &Labelled,
    quick: bool,
    runs: u64,
    seed: u64,
    rivals: Vec<Row>,
    wanted: impl Fn(&str) -> bool,
) -> Experiment<'_> {
    let recipes = recipes(quick);
    let ours = recipes.iter().map(|it| Row::paper(&it.name, it.paper));
    let table = Table {
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
        rows: ours.chain(rivals).collect(),
        takes_others: false,
    };
    let method = |key: &str| wanted(key.trim_end_matches(|c: char| c.is_ascii_digit()));
    let recipes: Vec<Recipe> = recipes.into_iter().filter(|it| method(&it.key)).collect();
    let mut jobs = Vec::new();
    for run in 0..runs {
        for recipe in &recipes {
            for (setting, work) in [("A", known as Measure), ("B", unseen as Measure)] {
                let mut recipe = recipe.clone();
                recipe.params.seed = seed.wrapping_add(run);
                jobs.push(Job {
                    key: format!("{}-{setting}-run{run}", recipe.key),
                    cost: recipe.cost,
                    work: Box::new(move |runtime| work(graph, &recipe, run, runtime)),
                });
            }
        }
    }
    Experiment {
        jobs,
        tables: vec![table],
    }
}

type Measure = fn(&Labelled, &Recipe, u64, Runtime<'_>) -> Result<Vec<Reading>>;

fn fit_to(recipe: &Recipe, data: &Dataset, runtime: Runtime<'_>) -> Result<Fitted> {
    let params = recipe.params.clone().check()?;
    if recipe.robust {
        return Ok(fit_model(&params, data, &robust::Recipe::default(), runtime)?.model);
    }
    fit(&params, data)
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
