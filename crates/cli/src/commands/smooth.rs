//! `linkproof smooth`: embeddings averaged over the links that are believed.

use std::path::PathBuf;

use clap::Args;
use linkproof::trust::audit::{self, Judges};
use linkproof::trust::robust::{Averaging, Gate, LEAST_COLUMNS, SMOOTHING_THRESHOLD, Smoothing};
use linkproof::trust::smooth::{NewNodes, Smoothed};
use serde_json::json;

use crate::args::{choice, whole};
use crate::exit::Usage;
use crate::judged::{FOLDS, JudgedArgs};
use crate::progress::Progress;
use crate::session::{Session, counted};
use crate::unseen::NewArgs;
use crate::vectors;

/// Average embeddings over links, each as far as it is believed, where that helps
///
/// Brings nodes closer to those that they are linked to, for clusters and
/// neighbours. A link counts by the chance that it is sound, so that one which
/// no data vector explains, or whose weight is absurd, carries nothing. Expected
/// weights stay those of the model.
///
/// Averages blur where linked nodes are unlike. So a gate is asked first: two fits
/// like the model's from four fifths of the columns of --features, whose clusters
/// must tell the other columns as well after averaging as before. Where it stays
/// shut, or there are no data vectors to try it with, the embeddings are written as
/// the model has them, and the command says so; --averaging always averages anyway.
///
/// Each link is judged by a fit that did not see it, from --features (a model
/// without data vectors needs none). --as-fitted judges by the model itself,
/// which is faster and too kind to the links that it has seen.
///
/// Writes a row for each node of the model, in its order. With --new-features it
/// writes unseen nodes instead: with --new-links their averages over these, each
/// as far as it is believed; for those without believed links, what data vectors
/// tell of the averages, learnt from --features. Where these are not given, such a
/// node among others that have links stays as the model embeds it.
///
/// The ending of --out chooses the format, as for 'embed'.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  \
    linkproof smooth --model model --links links.csv --features x.npy --out smooth.npy\n  \
    linkproof smooth --model model --links links.csv --features x.npy \\\n      \
    --new-features new.csv --new-links ties.csv --out new.npy")]
pub struct SmoothArgs {
    #[command(flatten)]
    judged: JudgedArgs,
    /// File to write: .npy, .csv, .parquet or .txt
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// How many times to average, 0 to 100
    #[arg(long, value_name = "N", default_value = "2", allow_negative_numbers = true, value_parser = clap::value_parser!(u8).range(0..=100))]
    times: u8,
    /// When to average: where the gate says so, always, or never
    #[arg(long, value_name = "WHEN", default_value = "gate", value_parser = choice!(Averaging))]
    averaging: Averaging,
    /// Judge links by the model itself
    #[arg(long)]
    as_fitted: bool,
    /// Folds of the links, each judged by a fit to the others [default: 5]
    #[arg(long, value_name = "N", conflicts_with = "as_fitted", allow_negative_numbers = true, value_parser = whole)]
    folds: Option<usize>,
    #[command(flatten)]
    new: NewArgs,
}

/// Runs the command.
pub fn run(args: &SmoothArgs, session: &Session) -> anyhow::Result<()> {
    smooth(args, session).map_err(|error| args.judged.in_links(error))
}

fn smooth(args: &SmoothArgs, session: &Session) -> anyhow::Result<()> {
    args.judged.check()?;
    let format = vectors::format_of(&args.out)?;
    let files = args.judged.files().reads(args.new.paths());
    files.writes(vectors::outputs(&args.out, format)).check()?;
    let progress = Progress::start(session, "reading");
    let (model, data) = args.judged.read()?;
    if !args.as_fitted && !audit::can_fit(&model, &data) {
        return Err(Usage::new(
            "links are judged by fits that did not see them, which need the data vectors that the \
             model was fitted with; expected --features FILE with these, or --as-fitted to judge \
             by the model itself",
        )
        .into());
    }
    let new = args.new.read(&model, &args.judged.rules.rules_of(&model))?;
    let new = new.as_ref();
    if new.is_some_and(|new| new.links.is_none() && !audit::has_vectors(&model, &data, new.view)) {
        return Err(Usage::new(
            "--new-features: without links of the unseen nodes, their averages are learnt from the \
             data vectors that the model was fitted with; expected --features FILE with these, or \
             --new-links FILE",
        )
        .into());
    }
    let ids = new.map_or(model.node_ids(), |new| new.features.ids());
    format.check(ids)?;
    progress.say("judging");
    let judges = match args.as_fitted {
        true => Judges::Model,
        false => Judges::Folds(args.folds.unwrap_or(FOLDS)),
    };
    let nodes = new.map(|new| NewNodes {
        view: new.view,
        vectors: &new.features,
        links: new.links.as_ref().map(|found| found.links.as_slice()),
    });
    let smoothing = Smoothing {
        judges,
        times: usize::from(args.times),
        averaging: args.averaging,
    };
    let device = progress.aside(|| session.device(model.n_nodes()))?;
    let runtime = session.runtime(&progress).on(device.backend());
    let (found, gate) = linkproof::trust::robust::smooth(&model, &data, smoothing, nodes, runtime)?;
    progress.end();
    let (values, dim) = match new {
        Some(_) => (found.embeddings.as_slice().into(), model.dim()),
        None => model.by_node(&found.embeddings, model.dim()),
    };
    vectors::write(&args.out, format, ids, dim, &values)?;
    let own = new
        .and_then(|new| new.links.as_ref())
        .map(|own| own.links.len());
    let json = json!({
        "out": args.out.display().to_string(),
        "nodes": ids.len(), "dim": model.dim(), "times": args.times,
        "averaged": found.averaged, "averaging": args.averaging,
        "gate": gate.and_then(|gate| gate.share()),
        "gate_opens_at": SMOOTHING_THRESHOLD,
        "links": found.links, "believed": found.believed, "ignored_links": found.ignored,
        "new_links": own, "as_encoded": found.as_encoded,
        "cross_fit": !args.as_fitted,
        "ridge": found.ridge,
    });
    let mut text = match found.averaged {
        true => words(args, ids.len(), &found, new.is_some(), own),
        false => format!(
            "{} not averaged, as the model embeds {}; written to {}",
            counted(ids.len(), "node"),
            if ids.len() == 1 { "it" } else { "them" },
            args.out.display()
        ),
    };
    text.push_str(&gate.map(gate_in_words).unwrap_or_default());
    session.finish(&json, &text)
}

/// What the gate found.
fn gate_in_words(gate: Gate) -> String {
    let least = SMOOTHING_THRESHOLD;
    let anyway = match gate.opens {
        true => "",
        false => "; --averaging always averages anyway",
    };
    let how = if gate.opens { "open" } else { "shut" };
    let found = match (gate.share(), gate.told) {
        (Some(share), _) => format!(
            "clusters of averages tell held-back data {share:.2} times as well as clusters of the \
             embeddings alone (at least {least} is needed)"
        ),
        (None, Some(_)) => "clusters of the embeddings tell nothing of held-back data".to_owned(),
        (None, None) => format!(
            "there are no data vectors to try averages with (--features FILE, of at least \
             {LEAST_COLUMNS} columns)"
        ),
    };
    format!("\n  gate      {how}: {found}{anyway}")
}

fn words(
    args: &SmoothArgs,
    nodes: usize,
    found: &Smoothed,
    are_new: bool,
    own: Option<usize>,
) -> String {
    let own = own.map(|own| format!(", and over {} of their own", counted(own, "link")));
    let ignored = match found.ignored {
        0 => String::new(),
        n => format!(" ({n} more join views that took no part in the fit)"),
    };
    let how = match are_new {
        true => "embedded from averages,",
        false => "averaged",
    };
    let mut text = format!(
        "{} {how} {} over {}{ignored}, of which about {:.0} are believed{}; written to {}",
        counted(nodes, "node"),
        counted(usize::from(args.times), "time"),
        counted(found.links, "link"),
        found.believed,
        own.unwrap_or_default(),
        args.out.display()
    );
    if found.as_encoded > 0 {
        text.push_str(&format!(
            "\n  note      {} without believed links, as the model embeds them: with the data \
             vectors of the fit, --features FILE, they would be averages too",
            counted(found.as_encoded, "node")
        ));
    }
    text
}
