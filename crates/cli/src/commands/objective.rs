//! `linkproof objective`: the plain objective of given embeddings.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::bail;
use clap::Args;
use linkproof::data::features::Matrix;
use linkproof::data::ids::Ids;
use linkproof::engine::Real;
use linkproof::engine::objective::evaluate;
use linkproof::error::quote;
use linkproof::io::{self, Files, NpyNumber};
use linkproof::params::{Precision, ScoreKind};
use linkproof::score::Score;
use linkproof::{Dataset, Error, Graph, Params};
use serde_json::json;

use crate::args::{LinkRuleArgs, real};
use crate::session::Session;

/// Evaluate the objective of given embeddings, and its gradient
///
/// The sum over all pairs i < j of the score of <y_i, y_j> - gamma against the
/// link weight: no ridge, no cap, no held-out pairs. Ids are row numbers.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  \
    linkproof objective --embeddings y.npy --links links.csv --gamma 2.5 \\\n      \
    --score moment --beta 0.5 --gradient dy.npy --json")]
pub struct ObjectiveArgs {
    /// Embeddings, one row per node
    #[arg(long, value_name = "Y.npy")]
    embeddings: PathBuf,
    /// Links between row numbers: CSV or TSV src,dst[,weight], Parquet or .mtx
    #[arg(long, value_name = "FILE")]
    links: PathBuf,
    /// The gamma of s = <y_i, y_j> - gamma
    #[arg(long, value_name = "G", allow_negative_numbers = true, value_parser = real)]
    gamma: f64,
    /// The score
    #[arg(long)]
    score: ScoreKind,
    /// Exponent of the robust scores; 0 is the likelihood
    #[arg(long, value_name = "B", allow_negative_numbers = true, value_parser = real)]
    beta: f64,
    /// Precision of the arithmetic and of the gradient file
    #[arg(long, default_value = "f64")]
    precision: Precision,
    /// File for the gradient in the embeddings
    #[arg(long, value_name = "OUT.npy")]
    gradient: Option<PathBuf>,
    #[command(flatten)]
    rules: LinkRuleArgs,
}

/// Runs the command.
pub fn run(args: &ObjectiveArgs, session: &Session) -> anyhow::Result<()> {
    let params = Params {
        score: args.score,
        beta: args.beta,
        ..Params::default()
    };
    let score = params.check()?.score();
    if !args.gamma.is_finite() {
        return Err(Error::argument("gamma", "a finite number", args.gamma).into());
    }
    let files = Files::default().reads([&args.embeddings, &args.links]);
    files.writes(&args.gradient).check()?;
    let y = io::read_npy(&args.embeddings)?;
    let (n, dim) = (y.n_rows(), y.n_columns());
    if n < 2 || dim == 0 {
        let found = format!("{n} x {dim} numbers");
        let expected = "at least two rows and a column";
        return Err(Error::input(&args.embeddings, None, found, expected).into());
    }
    // An .npy file is never sparse.
    let y = match y {
        Matrix::Dense(dense) => dense.into_values(),
        Matrix::Sparse(sparse) => sparse.values().clone(),
    };
    let graph = read_graph(args, n)?;
    match args.precision {
        Precision::F32 => evaluate_in::<f32>(args, session, &y.cast(), dim, (&graph, &score)),
        Precision::F64 => evaluate_in::<f64>(args, session, &y.cast(), dim, (&graph, &score)),
    }
}

/// The links between rows of the embeddings.
fn read_graph(args: &ObjectiveArgs, n: usize) -> Result<Graph, Error> {
    let graph = io::read_links(&args.links, &args.rules.rules())?;
    let data = Dataset::with_nodes(graph, Ids::Rows(n)).map_err(|error| match error {
        Error::UnknownNode { id, file, .. } => {
            let line = file.and_then(|(_, line)| line);
            let expected = format!("row numbers, 0 to {}", n - 1);
            Error::input(&args.links, line, format!("node {}", quote(&id)), expected)
        }
        other => other,
    })?;
    if let Some(link) = data.graph().negative() {
        let found = format!("weight {}", link.weight);
        let error = Error::links(found, "weights of zero or more");
        return Err(data.graph().located(error, |other| *other == link));
    }
    Ok(data.graph().clone())
}

fn evaluate_in<T: Real + NpyNumber>(
    args: &ObjectiveArgs,
    session: &Session,
    y: &[T],
    dim: usize,
    (graph, score): (&Graph, &Score),
) -> anyhow::Result<()> {
    let clock = Instant::now();
    let with_gradient = args.gradient.is_some();
    let found = evaluate(y, dim, graph, args.gamma, score, with_gradient)?;
    let seconds = clock.elapsed().as_secs_f64();
    if !found.is_finite() {
        bail!(
            "the objective is not finite: value {}, derivative in gamma {}; some expected weights \
             lie beyond {}; nothing was written",
            found.value,
            found.gamma_gradient,
            args.precision
        );
    }
    if let (Some(path), Some(gradient)) = (&args.gradient, &found.gradient) {
        io::write_npy(path, gradient.len() / dim, dim, gradient)?;
    }
    let words = format!(
        "value {} over {} pairs\nderivative in gamma {}\n{seconds:.3} s",
        found.value, found.pairs, found.gamma_gradient
    );
    let json = json!({
        "value": found.value,
        "gamma_gradient": found.gamma_gradient,
        "pairs": found.pairs,
        "seconds": seconds,
        "precision": args.precision,
    });
    session.finish(&json, &words)
}
