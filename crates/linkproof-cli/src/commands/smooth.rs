//! `linkproof smooth`: embeddings averaged over the links that are believed.

use std::path::PathBuf;

use clap::Args;
use linkproof::audit::CrossFit;
use linkproof::smooth::Smoother;
use serde_json::{Value, json};

use crate::args::whole;
use crate::exit::Usage;
use crate::judged::{Judged, JudgedArgs};
use crate::new_nodes::{NewArgs, NewNodes, Smoothed};
use crate::progress::Progress;
use crate::session::{Session, counted};
use crate::vectors;

/// Average embeddings over links, each as far as it is believed
///
/// Brings nodes closer to those that they are linked to, for clusters and
/// neighbours. A link counts by the chance that it is sound, so that one which
/// no data vector explains, or whose weight is absurd, carries nothing. Expected
/// weights stay those of the model.
///
/// Each link is judged by a fit that did not see it, from --features (a model
/// without data vectors needs none). --as-fitted judges by the model itself,
/// which is faster and too kind to the links that it has seen.
///
/// Writes a row for each node of the model, in its order. With --new-features it
/// writes unseen nodes instead: with --new-links their averages over these, each
/// as far as it is believed; for those without a link, what data vectors tell of
/// the averages, learnt from --features. Where these are not given, a node
/// without a link among others that have some stays as the model embeds it.
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
    /// Judge links by the model itself
    #[arg(long)]
    as_fitted: bool,
    /// Folds of the links, each judged by a fit to the others [default: 5]
    #[arg(long, value_name = "N", conflicts_with = "as_fitted", allow_negative_numbers = true, value_parser = whole)]
    folds: Option<usize>,
    #[command(flatten)]
    new: NewArgs,
}

/// What the averages are over.
struct Links {
    number: usize,
    /// The sum of the chances that they are sound.
    believed: f64,
    /// How many join views that took no part in the fit, and were left out.
    ignored: usize,
}

/// Runs the command.
pub fn run(args: &SmoothArgs, session: &Session) -> anyhow::Result<()> {
    smooth(args, session).map_err(|error| args.judged.in_links(error))
}

fn smooth(args: &SmoothArgs, session: &Session) -> anyhow::Result<()> {
    let format = vectors::format_of(&args.out)?;
    let files = args.judged.files().reads(args.new.paths());
    files.writes(vectors::outputs(&args.out, format)).check()?;
    let progress = Progress::start(session, "reading");
    let (judged, ignored) = args.judged.taking_part(args.judged.read()?)?;
    if !args.as_fitted && !judged.can_fit() {
        return Err(Usage::new(
            "links are judged by fits that did not see them, which need the data vectors that the \
             model was fitted with; expected --features FILE with these, or --as-fitted to judge \
             by the model itself",
        )
        .into());
    }
    let new = args.new.read(&judged, &args.judged.rules.options())?;
    let new = new.as_ref();
    let ids = new.map_or(judged.model.ids(), |new| new.unseen.features.ids());
    format.check(ids)?;
    Session::stop_on_interrupt()?;
    progress.say("judging");
    let CrossFit { verdicts, random } = judge(args, &judged, &progress)?;
    progress.say("averaging");
    let links = verdicts.len();
    let smoother = Smoother::new(&judged.model, verdicts, random, usize::from(args.times));
    let found = match new {
        Some(new) => new.embed(&smoother, &judged)?,
        None => Smoothed {
            values: smoother.embeddings().to_vec(),
            ridge: None,
        },
    };
    progress.end();
    let dim = judged.model.dim();
    vectors::write(&args.out, format, ids, dim, &found.values)?;
    let links = Links {
        number: links,
        believed: smoother.beliefs().map(|(_, sound)| sound).sum(),
        ignored,
    };
    let json = as_json(args, (ids.len(), dim), &links, new, found.ridge);
    session.finish(&json, &words(args, ids.len(), &links, new))
}

fn judge(args: &SmoothArgs, judged: &Judged, progress: &Progress) -> linkproof::Result<CrossFit> {
    let random = judged.random_pairs();
    match args.as_fitted {
        true => judged.as_fitted(&random),
        false => judged.cross_fit(args.folds, &random, progress),
    }
}

fn as_json(
    args: &SmoothArgs,
    (nodes, dim): (usize, usize),
    links: &Links,
    new: Option<&NewNodes>,
    ridge: Option<f64>,
) -> Value {
    json!({
        "out": args.out.display().to_string(),
        "nodes": nodes, "dim": dim, "times": args.times,
        "links": links.number, "believed": links.believed, "ignored_links": links.ignored,
        "new_links": new.and_then(|new| new.links.as_ref()).map(Vec::len),
        "cross_fit": !args.as_fitted,
        "ridge": ridge,
    })
}

fn words(args: &SmoothArgs, nodes: usize, links: &Links, new: Option<&NewNodes>) -> String {
    let own = new.and_then(|new| new.links.as_ref());
    let own = own.map(|own| format!(", and over {} of their own", counted(own.len(), "link")));
    let ignored = match links.ignored {
        0 => String::new(),
        n => format!(" ({n} more join views that took no part in the fit)"),
    };
    let how = match new {
        Some(_) => "embedded from averages,",
        None => "averaged",
    };
    format!(
        "{} {how} {} over {}{ignored}, of which about {:.0} are believed{}; written to {}",
        counted(nodes, "node"),
        counted(usize::from(args.times), "time"),
        counted(links.number, "link"),
        links.believed,
        own.unwrap_or_default(),
        args.out.display()
    )
}
