//! `linkproof audit`: which links not to trust.

mod told;

use std::path::{Path, PathBuf};

use clap::Args;
use linkproof::data::graph::{Graph, Link};
use linkproof::io;
use linkproof::trust::audit::can_fit;
use linkproof::trust::robust::{Audit, AuditSettings, Limits, audit};
use linkproof::{Dataset, Error};

use crate::args::{real, whole};
use crate::exit::Usage;
use crate::judged::{FOLDS, JudgedArgs};
use crate::nodes::named_by;
use crate::progress::Progress;
use crate::session::Session;
use told::{as_json, words, write_links, write_missing};

/// Say which links not to trust, and which are missing
///
/// Judges every link by fits that did not see it, and writes it with its weight
/// and the weight that the model expects, least believed first:
///
///   trust      p(w|mu)/p(w|w) where the weight is larger than expected, else 1
///   influence  the link's weight in the model's estimating equation
///   surprise   -log10 of the chance of a weight as large: that of a link, times that
///              of such a size by the law of the links' sizes
///   fdr        chance that it is sound, by the model's own expected weights
///   suspect    1 where false_discovery_rate or weight_fdr is at most
///              --false-discovery-rate
///   cosine     of the data vectors, the plain baseline (with --features)
///   belief     chance that the link is sound
///   false_discovery_rate
///              share of sound links among those that are believed no more
///   rank       share of pairs without a link, of degrees like its own, that have
///              more to say for them; rank_embeddings, rank_averages,
///              rank_data_vectors, rank_common_neighbors: the same by one kind of
///              evidence
///   weight_odds
///              what its weight multiplied the odds by: above 1 it speaks for the
///              link, below 1 against it
///   weight_fdr rate of error of calling the weight too large for a link
///   why        of a suspect: belief, weight, belief and weight, or model (trust or fdr)
///   src_name, dst_name
///              what the nodes are called, where the model knows
///
/// Give the data vectors that the model was fitted with (--features); without
/// them links are judged by links alone. To check itself, the judge puts in links
/// that it knows to be false, and the summary says what became of them. Where
/// links cannot be told from pairs without a link it says so: then no link is
/// called false, and the least trusted come first.
///
/// --no-judge is faster: it leaves the last columns out and goes by trust and fdr.
/// The model has seen its links and is a little too kind to them: --cross-fit takes
/// mu, trust and fdr from fits that have not.
///
/// A fit with --walks saw weights averaged over walks and expects such weights, so
/// trust compares the link's weight averaged over the walks of all links; the column
/// weight shows what was observed, which surprise and weight_fdr are of.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "EXAMPLE\n  \
    linkproof audit --model model --links links.csv --features x.npy --out audit.csv\n  \
    linkproof audit --model model --links links.csv --features x.npy --out audit.csv \\\n      \
    --clean kept.csv --false-discovery-rate 0.05 --missing 20\n  \
    linkproof audit --model model --links links.csv --no-judge --min-trust 1e-6 \\\n      \
    --out audit.csv --clean kept.csv"
)]
pub struct AuditArgs {
    #[command(flatten)]
    judged: JudgedArgs,
    /// Column of the model's nodes.csv to show beside ids [default: name, if there is one]
    #[arg(long, value_name = "COLUMN")]
    name: Option<String>,
    /// CSV file to write: src,dst,weight,mu,trust,influence and more
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// File to write with the links worth keeping: all but the suspects. Not written
    /// where links could not be judged, unless --min-trust or --fdr make suspects, or
    /// with --force
    #[arg(long, value_name = "FILE")]
    clean: Option<PathBuf>,
    /// Write --clean although the links could not be judged: then it holds all of them
    #[arg(long, requires = "clean")]
    force: bool,
    /// Links with less trust than this are suspects, whatever their fdr
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = real)]
    min_trust: Option<f64>,
    /// The least believed links are suspects, with at most this share of sound
    /// links among them (none where links could not be judged), and those whose
    /// weights are too large at this rate of error
    /// [default: 0.1, or none with --min-trust or --fdr]
    #[arg(long, value_name = "Q", conflicts_with = "no_judge", allow_negative_numbers = true, value_parser = real)]
    false_discovery_rate: Option<f64>,
    /// Do not judge: trust and fdr alone
    #[arg(long)]
    no_judge: bool,
    /// Links are suspects where fdr is at most this [default: none, or 0.1 with
    /// --no-judge and without --min-trust]
    #[arg(long, value_name = "Q", allow_negative_numbers = true, value_parser = real)]
    fdr: Option<f64>,
    /// Take mu, trust and fdr from fits that did not see the link: one for each
    /// fold, from --features
    #[arg(long)]
    cross_fit: bool,
    /// Folds of the judge and of --cross-fit [default: 5]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    folds: Option<usize>,
    /// List this many pairs of largest expected weight that have no link
    #[arg(long, value_name = "N", default_value = "0", allow_negative_numbers = true, value_parser = whole)]
    missing: usize,
    /// CSV file for them: src,dst,mu [default: missing.csv beside --out]
    #[arg(long, value_name = "FILE", requires = "missing")]
    missing_out: Option<PathBuf>,
}

/// Runs the command.
pub fn run(args: &AuditArgs, session: &Session) -> anyhow::Result<()> {
    audit_links(args, session).map_err(|error| args.judged.in_links(error))
}

fn audit_links(args: &AuditArgs, session: &Session) -> anyhow::Result<()> {
    args.judged.check()?;
    let judge = !args.no_judge;
    let settings = AuditSettings {
        judge,
        cross_fit: args.cross_fit,
        folds: args.folds.unwrap_or(FOLDS),
        limits: Limits::new(judge, args.false_discovery_rate, args.fdr, args.min_trust)?,
        missing: args.missing,
        own_links: false,
    };
    let missing = (args.missing > 0).then(|| missing_path(args));
    let files = args.judged.files().writes([&args.out]);
    files.writes(&args.clean).writes(missing).check()?;
    let progress = Progress::start(session, "reading");
    let (model, data) = args.judged.read()?;
    let model = named_by(model, args.name.as_deref())?;
    if args.cross_fit && !can_fit(&model, &data) {
        return Err(Usage::new(
            "--cross-fit: fits anew and needs the data vectors that the model was fitted with: \
             --features FILE",
        )
        .into());
    }
    progress.say("judging");
    let device = progress.aside(|| session.device(model.n_nodes()))?;
    let runtime = session.runtime(&progress).on(device.backend());
    let found = audit(&model, &data, &settings, runtime)?;
    progress.end();
    write_links(&args.out, &model, &found, &settings.limits)?;
    if let Some(clean) = &args.clean {
        check_clean(args, clean, &found, &settings.limits)?;
        io::write_links(clean, &kept(&data, &found)?)?;
    }
    if args.missing > 0 {
        write_missing(&missing_path(args), &model, &found.missing)?;
    }
    let json = as_json(args, &model, &found, &settings.limits);
    session.finish(&json, &words(args, &model, &found, &settings.limits))
}

/// Refuses to call links clean that nobody could judge.
fn check_clean(
    args: &AuditArgs,
    clean: &Path,
    found: &Audit,
    limits: &Limits,
) -> anyhow::Result<()> {
    let unjudged = found.beliefs.as_ref().filter(|it| it.abstained);
    let Some(beliefs) = unjudged.filter(|_| limits.own.is_none() && !args.force) else {
        return Ok(());
    };
    let why = beliefs.why_not.as_deref();
    let why = why.unwrap_or("links cannot be told from pairs without a link");
    anyhow::bail!(
        "--clean {}: not written, since the links could not be judged ({why}), and none can be called \
         false. {} has what the model itself expects of them: give --min-trust or --fdr to drop links \
         by that, or --force to keep all",
        clean.display(),
        args.out.display()
    )
}

/// The links that are no suspects, with the user's ids.
fn kept(data: &Dataset, found: &Audit) -> Result<Graph, Error> {
    let kept = found.links.iter().filter(|link| !link.suspect);
    let links = kept.map(|link| Link {
        src: link.verdict.src,
        dst: link.verdict.dst,
        weight: link.verdict.weight,
    });
    Graph::new(data.ids().clone(), links.collect(), Default::default())
}

fn missing_path(args: &AuditArgs) -> PathBuf {
    let beside = || args.out.with_file_name("missing.csv");
    args.missing_out.clone().unwrap_or_else(beside)
}
