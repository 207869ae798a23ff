//! `linkproof audit`: which links not to trust.

use std::path::{Path, PathBuf};

use clap::Args;
use linkproof::audit::{
    Baseline, Contest, CrossFit, Discovery, Missing, Thresholds, Verdict, contest, discover, judge,
    missing,
};
use linkproof::graph::Graph;
use linkproof::io::{self, Field};
use linkproof::model::held_out_pairs;
use linkproof::{Dataset, Error, Fitted};
use serde_json::{Value, json};

use crate::args::{real, whole};
use crate::exit::Usage;
use crate::judged::{Judged, JudgedArgs};
use crate::progress::Progress;
use crate::session::{Session, counted};

/// Say which links not to trust, and which are missing
///
/// Writes every link with its weight, the weight that the model expects, and
/// how far it is to be believed, least trusted first:
///
///   trust      p(w|mu)/p(w|w) where the weight is larger than expected, else 1
///   influence  the link's weight in the model's estimating equation
///   surprise   -log10 of the chance of a weight as large, by Poisson
///   fdr        chance that it is sound although it is called a suspect
///   suspect    1 where fdr is at most --fdr, or trust below --min-trust
///   cosine     of the data vectors, the plain baseline (with --features)
///
/// A link is suspect because the pair is no better than a random one, or because
/// the weight is too large for a pair that is linked. A fit has seen its links
/// and is a little too kind to them: --cross-fit judges each by one that has not.
///
/// A fit with --walks saw weights averaged over walks and expects such weights, so
/// trust and surprise compare the link's weight averaged over the walks of all links;
/// the column weight shows what was observed.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  \
    linkproof audit --model model --links links.csv --out audit.csv\n  \
    linkproof audit --model model --links links.csv --features x.npy --cross-fit \\\n      \
    --out audit.csv --clean kept.csv --fdr 0.1 --missing 20")]
pub struct AuditArgs {
    #[command(flatten)]
    judged: JudgedArgs,
    /// CSV file to write: src,dst,weight,mu,trust,influence,surprise,fdr,suspect
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// File to write with the links worth keeping: all but the suspects
    #[arg(long, value_name = "FILE")]
    clean: Option<PathBuf>,
    /// Links of less trust than this are suspects, whatever their fdr
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = real)]
    min_trust: Option<f64>,
    /// Links are suspects where the chance that they are sound is at most this
    /// [default: 0.1, or none with --min-trust]
    #[arg(long, value_name = "Q", allow_negative_numbers = true, value_parser = real)]
    fdr: Option<f64>,
    /// Judge each link by a fit that did not see it: one fit for each fold, from
    /// --features
    #[arg(long)]
    cross_fit: bool,
    /// Folds of --cross-fit [default: 5]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    folds: Option<usize>,
    /// List this many pairs of largest expected weight that have no link
    #[arg(long, value_name = "N", default_value = "0", allow_negative_numbers = true, value_parser = whole)]
    missing: usize,
    /// CSV file for them: src,dst,mu [default: missing.csv beside --out]
    #[arg(long, value_name = "FILE", requires = "missing")]
    missing_out: Option<PathBuf>,
}

/// Fewer links that a fit did not see say too little about it.
const FEWEST_UNSEEN: usize = 50;

/// What was found.
struct Findings {
    verdicts: Vec<Verdict>,
    discovery: Discovery,
    contest: Option<Contest>,
    missing: Vec<Missing>,
}

/// Runs the command.
pub fn run(args: &AuditArgs, session: &Session) -> anyhow::Result<()> {
    audit(args, session).map_err(|error| args.judged.in_links(error))
}

fn audit(args: &AuditArgs, session: &Session) -> anyhow::Result<()> {
    let thresholds = Thresholds::new(args.fdr, args.min_trust)?;
    let missing = (args.missing > 0).then(|| missing_path(args));
    let files = args.judged.files().writes([&args.out]);
    files.writes(&args.clean).writes(missing).check()?;
    let progress = Progress::start(session, "reading");
    let judged = args.judged.read()?;
    Session::stop_on_interrupt()?;
    progress.say("judging");
    let found = find(args, &judged, &progress)?;
    progress.end();
    let Judged { model, data } = &judged;
    let suspect =
        |place: usize| thresholds.call(&found.verdicts[place], found.discovery.rates[place]);
    let suspects: Vec<bool> = (0..found.verdicts.len()).map(suspect).collect();
    let baseline = Baseline::new(data);
    write_verdicts(&args.out, model, &found, &suspects, baseline.as_ref())?;
    if let Some(clean) = &args.clean {
        io::write_links(clean, &kept(data, &found.verdicts, &suspects)?)?;
    }
    if args.missing > 0 {
        write_missing(&missing_path(args), model, &found.missing)?;
    }
    let json = as_json(args, model, &found, &suspects, &thresholds);
    session.finish(&json, &words(args, model, &found, &suspects, &thresholds))
}

/// What makes a link a suspect.
fn thresholds_in_words(thresholds: &Thresholds) -> String {
    let fdr = thresholds
        .fdr
        .map(|fdr| format!("sound with a chance of {fdr} or less"));
    let trust = thresholds
        .trust
        .map(|trust| format!("of a trust below {trust}"));
    let both: Vec<String> = fdr.into_iter().chain(trust).collect();
    both.join(", or ")
}

fn find(args: &AuditArgs, judged: &Judged, progress: &Progress) -> anyhow::Result<Findings> {
    let Judged { model, data } = judged;
    let random = judged.random_pairs();
    let baseline = Baseline::new(data);
    let links = data.user_graph()?;
    let unseen = unseen_links(model, data);
    // Few links are told from random pairs by fits of their own.
    let compare = baseline.is_some() && unseen.len() < FEWEST_UNSEEN && links.n_links() < 2000;
    if args.cross_fit && !judged.can_fit() {
        return Err(Usage::new(
            "--cross-fit: fits anew and needs the data vectors that the model was fitted with: \
             --features FILE",
        )
        .into());
    }
    let crossed = if args.cross_fit || (compare && judged.can_fit()) {
        match judged.cross_fit(args.folds, &random, progress) {
            Ok(crossed) => Some(crossed),
            Err(error) if args.cross_fit || matches!(error, Error::Interrupted { .. }) => {
                return Err(error.into());
            }
            // The comparison was our idea.
            Err(_) => None,
        }
    } else {
        None
    };
    let plain = judged.as_fitted(&random)?;
    let (told, mus) = match &crossed {
        Some(crossed) => (Some(&crossed.verdicts), &crossed.random),
        None => (None, &plain.random),
    };
    let contest = match &baseline {
        Some(baseline) if told.is_some() || unseen.len() >= FEWEST_UNSEEN => {
            let told = told.unwrap_or(&unseen).iter();
            let links: Vec<_> = told
                .map(|verdict| (verdict.mu, baseline.cosine(verdict.src, verdict.dst)))
                .collect();
            let pairs = random.iter().zip(mus);
            let pairs: Vec<_> = pairs
                .map(|(pair, &mu)| (mu, baseline.cosine(pair.src, pair.dst)))
                .collect();
            contest(&links, &pairs)?
        }
        _ => None,
    };
    let CrossFit { verdicts, random } = match crossed {
        Some(crossed) if args.cross_fit => crossed,
        _ => plain,
    };
    Ok(Findings {
        discovery: discover(&verdicts, model.params().weights, &random),
        verdicts,
        contest,
        missing: missing(model, &links, args.missing),
    })
}

/// The links that the model's fit held out, as the model judges them. With
/// several views the order of nodes inside that fit is not known here.
fn unseen_links(model: &Fitted, data: &Dataset) -> Vec<Verdict> {
    if model.views().len() > 1 {
        return Vec::new();
    }
    let Ok(params) = model.params().clone().check() else {
        return Vec::new();
    };
    let counts = model.report().counts;
    let n_links = counts.training_links + counts.held_out_links + counts.ignored_links;
    let Some(split) = held_out_pairs(&params, n_links + counts.set_aside_links) else {
        return Vec::new();
    };
    let links = data.graph().links();
    let held = links.filter(|link| split.holds_out(link.src, link.dst));
    judge(model, held)
}

/// The links that are no suspects, with the user's ids.
fn kept(data: &Dataset, verdicts: &[Verdict], suspects: &[bool]) -> Result<Graph, Error> {
    let kept = verdicts
        .iter()
        .zip(suspects)
        .filter(|(_, suspect)| !**suspect);
    let links = kept.map(|(verdict, _)| linkproof::graph::Link {
        src: verdict.src,
        dst: verdict.dst,
        weight: verdict.weight,
    });
    Graph::new(data.ids().clone(), links.collect(), Default::default())
}

fn write_verdicts(
    path: &Path,
    model: &Fitted,
    found: &Findings,
    suspects: &[bool],
    baseline: Option<&Baseline<'_>>,
) -> Result<(), Error> {
    let mut columns = vec![
        "src",
        "dst",
        "weight",
        "mu",
        "trust",
        "influence",
        "surprise",
        "fdr",
        "suspect",
    ];
    columns.extend(baseline.map(|_| "cosine"));
    io::write_table(path, &columns, |rows| {
        for (place, verdict) in found.verdicts.iter().enumerate() {
            let [src, dst] = [verdict.src, verdict.dst].map(|row| model.ids().name(row as usize));
            let mut fields = vec![
                Field::Text(&src),
                Field::Text(&dst),
                Field::Real(verdict.weight),
                Field::Real(verdict.mu),
                Field::Real(verdict.trust),
                Field::Real(verdict.influence),
                Field::Real(verdict.surprise),
                Field::Real(found.discovery.rates[place]),
                Field::Whole(u64::from(suspects[place])),
            ];
            if let Some(baseline) = baseline {
                let cosine = baseline.cosine(verdict.src, verdict.dst);
                fields.push(cosine.map_or(Field::Text(""), Field::Real));
            }
            rows.row(&fields)?;
        }
        Ok(())
    })
}

fn missing_path(args: &AuditArgs) -> PathBuf {
    let beside = || args.out.with_file_name("missing.csv");
    args.missing_out.clone().unwrap_or_else(beside)
}

fn write_missing(path: &Path, model: &Fitted, missing: &[Missing]) -> Result<(), Error> {
    io::write_table(path, &["src", "dst", "mu"], |rows| {
        for pair in missing {
            let [src, dst] = [pair.src, pair.dst].map(|row| model.ids().name(row as usize));
            rows.row(&[Field::Text(&src), Field::Text(&dst), Field::Real(pair.mu)])?;
        }
        Ok(())
    })
}

fn as_json(
    args: &AuditArgs,
    model: &Fitted,
    found: &Findings,
    suspects: &[bool],
    thresholds: &Thresholds,
) -> Value {
    let name = |row: u32| model.ids().name(row as usize).into_owned();
    let missing: Vec<Value> = found
        .missing
        .iter()
        .map(|pair| json!({ "src": name(pair.src), "dst": name(pair.dst), "mu": pair.mu }))
        .collect();
    let contest = found.contest.map(|contest| {
        json!({ "fit": contest.fit, "cosine": contest.baseline, "links": contest.links,
                "cosine_is_better": contest.baseline_is_better() })
    });
    json!({
        "out": args.out.display().to_string(),
        "clean": args.clean.as_ref().map(|path| path.display().to_string()),
        "links": found.verdicts.len(),
        "suspects": suspects.iter().filter(|suspect| **suspect).count(),
        "fdr": thresholds.fdr, "min_trust": thresholds.trust,
        "cross_fit": args.cross_fit,
        "random_share": found.discovery.random_share,
        "too_heavy": found.discovery.too_heavy,
        "auc_against_random_pairs": contest,
        "missing": missing,
    })
}

fn words(
    args: &AuditArgs,
    model: &Fitted,
    found: &Findings,
    suspects: &[bool],
    thresholds: &Thresholds,
) -> String {
    use std::fmt::Write;
    const SHOWN: usize = 5;
    let n = found.verdicts.len();
    let called = suspects.iter().filter(|suspect| **suspect).count();
    let share = 100.0 * found.discovery.random_share;
    let mut text = format!(
        "{called} of {} are suspects ({})\n  existence about {share:.0}% of the links look no better than random pairs\n  \
         weights   {} too large for the pair (at an error rate of 5%)",
        counted(n, "link"),
        thresholds_in_words(thresholds),
        found.discovery.too_heavy,
    );
    if found.discovery.too_heavy * 10 > n {
        text.push_str(
            "\n            So many are rather the signal than noise: try a fit with --weights log1p.",
        );
    }
    if let Some(contest) = &found.contest {
        let _ = write!(
            text,
            "\n  baseline  links that no fit saw against random pairs, AUC: model {:.3}, cosine of the \
             data vectors {:.3}",
            contest.fit, contest.baseline
        );
        if contest.baseline_is_better() {
            text.push_str(
                "\n            The data vectors alone do better here: rank by the column cosine instead.",
            );
        }
    }
    let name = |row: u32| model.ids().name(row as usize);
    text.push_str("\n  least trusted");
    for verdict in found.verdicts.iter().take(SHOWN) {
        let _ = write!(
            text,
            "\n    {} - {}  weight {}, expected {:.3e}, trust {:.2e}",
            name(verdict.src),
            name(verdict.dst),
            verdict.weight,
            verdict.mu,
            verdict.trust
        );
    }
    if !found.missing.is_empty() {
        text.push_str("\n  strongest pairs without a link");
        for pair in found.missing.iter().take(SHOWN) {
            let (src, dst) = (name(pair.src), name(pair.dst));
            let _ = write!(text, "\n    {src} - {dst}  expected {:.3}", pair.mu);
        }
    }
    let _ = write!(text, "\nWritten to {}", args.out.display());
    if let Some(clean) = &args.clean {
        let _ = write!(
            text,
            ", {} kept in {}",
            counted(n - called, "link"),
            clean.display()
        );
    }
    if args.missing > 0 {
        let _ = write!(text, ", missing pairs in {}", missing_path(args).display());
    }
    text.push('.');
    text
}
