//! `linkproof select`: score, exponent and ridge chosen without labels.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use linkproof::io::{self, Field, Files};
use linkproof::params::WeightTransform;
use linkproof::select::{SearchOptions, Selection, select};
use linkproof::text::compared;
use linkproof::{Error, Params};

use crate::data::DataArgs;
use crate::kept::{self, KeptArgs};
use crate::progress::Progress;
use crate::search;
use crate::session::Session;
use crate::settings::SettingArgs;

/// Choose score, exponent and ridge without labels
///
/// Cross-validation over folds of the pairs, links and zeros alike: every
/// candidate is fitted to the other folds and compared on the held-out one by
/// the same measure, whatever its own score.
///
/// By default that is how well its embeddings tell held-out links from pairs
/// without a link whose ends have as many links: the share of such pairs that are
/// further apart, on average. Fits count every link 1 then (--weights binary,
/// which the chosen settings keep), so the unit of the weights does not matter
/// and corrupted weights do no harm; --weights asis keeps weights. Of ridges that
/// this cannot tell apart the largest is chosen. A fit that expects next to no
/// links, or whose embeddings are as good as zero, is never preferred.
///
/// --criterion compares by a score of the held-out weights instead, for graphs in
/// which weights say more than links do.
///
/// Most candidates are dropped after one or two folds, unless there are too few
/// links for that. Differences come with their standard error.
///
/// Last, the graph is asked whether it wants --offsets or --similarity signed: both are
/// chosen where the chosen settings tell held-out pairs better with them, by more than
/// two standard errors. Where such an option is given, it is not asked.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  \
    linkproof select --links links.csv --features x.npy --out chosen.toml\n  \
    linkproof fit --links links.csv --features x.npy --config chosen.toml --out model\n  \
    linkproof select --links links.csv --scores moment,probability --betas 0,0.5,1 \\\n      \
    --ridges 1,10,100 --table candidates.csv")]
pub struct SelectArgs {
    #[command(flatten)]
    data: DataArgs,
    /// File to write: the chosen settings for 'fit --config', or with the
    /// ending .json everything that was found
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    out: Option<PathBuf>,
    /// CSV file to write: every candidate with its criterion
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    table: Option<PathBuf>,
    #[command(flatten)]
    search: SearchOptions,
    #[command(flatten)]
    kept: KeptArgs,
    #[command(flatten)]
    settings: SettingArgs,
}

/// Runs the command.
pub fn run(args: &SelectArgs, session: &Session) -> anyhow::Result<()> {
    let outcome = choose(args, session);
    outcome.map_err(|error| kept::told(args.settings.in_config(error)))
}

fn choose(args: &SelectArgs, session: &Session) -> anyhow::Result<()> {
    let base = args.settings.params(session.seed())?;
    base.clone().check()?;
    args.data.check()?;
    Files::default()
        .reads(args.data.paths())
        .reads(&args.settings.config)
        .writes([&args.out, &args.table].into_iter().flatten())
        .check()?;
    let progress = Progress::start(session, "reading");
    let data = args.data.read(&[])?.0.data;
    progress.say("fitting candidates");
    let wanted = args
        .search
        .search(&base, |name| args.settings.is_typed(name));
    let work = kept::work("select", &base, &data, &format!("{wanted:?}"));
    let kept = args.kept.open(None, work, session)?;
    let device = progress.aside(|| session.device(data.n_nodes()))?;
    let runtime = session.kept_runtime(&progress, kept.as_ref());
    let runtime = runtime.on(device.backend());
    let selection = select(&base, &data, &wanted, runtime)?;
    progress.end();
    let mut json = search::as_json(&selection);
    let written = [&args.out, &args.table];
    let files: Vec<String> = written
        .into_iter()
        .flatten()
        .map(|path| path.display().to_string())
        .collect();
    json["files"] = files.clone().into();
    if let Some(out) = &args.out {
        match out.extension().is_some_and(|ending| ending == "json") {
            true => write_text(out, &format!("{json:#}\n"))?,
            false => write_text(out, &config(&selection, &base)?)?,
        }
    }
    if let Some(table) = &args.table {
        write_table(table, &selection)?;
    }
    if let Some(kept) = kept {
        kept.finish();
    }
    let mut words = search::words(&selection);
    if !files.is_empty() {
        words.push_str(&format!("\nWritten to {}.", files.join(", ")));
    }
    words.push_str(&format!("\nNext:\n  {}", next(args, &selection)));
    session.finish(&json, &words)
}

/// The fit with what was chosen.
fn next(args: &SelectArgs, selection: &Selection) -> String {
    let data = args.data.typed();
    match &args.out {
        Some(out) if out.extension().is_none_or(|ending| ending != "json") => {
            format!(
                "linkproof fit {data} --config {} --out model",
                out.display()
            )
        }
        _ => {
            let chosen = &selection.chosen;
            let weights = match chosen.weights {
                WeightTransform::AsIs => String::new(),
                weights => format!(" --weights {weights}"),
            };
            format!(
                "linkproof fit {data} --score {} --beta {} --ridge {} --dim {} --walks {}{weights}{} \
                 --out model",
                chosen.score,
                chosen.beta,
                chosen.ridge,
                chosen.dim,
                chosen.walks,
                search::wanted_options(selection)
            )
        }
    }
}

/// The chosen settings, with all others as they were, for `fit --config`.
fn config(selection: &Selection, base: &Params) -> anyhow::Result<String> {
    let settings = toml::to_string(&selection.params(base))?;
    Ok(format!(
        "# Chosen by linkproof select of {} candidates on {} folds, by\n# {}.\n{settings}",
        selection.candidates.len(),
        selection.folds,
        compared(selection.criterion)
    ))
}

fn write_text(path: &Path, text: &str) -> Result<(), Error> {
    io::write_file(path, |file| file.write_all(text.as_bytes()))
}

fn write_table(path: &Path, selection: &Selection) -> Result<(), Error> {
    let columns = [
        "score",
        "beta",
        "ridge",
        "dim",
        "walks",
        "folds",
        "criterion",
        "behind",
        "standard_error",
        "steps",
        "failure",
    ];
    io::write_table(path, &columns, |rows| {
        for one in selection.ranked() {
            let candidate = &one.candidate;
            let number = |value: Option<f64>| value.map_or(Field::Text(""), Field::Real);
            rows.row(&[
                Field::Text(candidate.score.name()),
                Field::Real(candidate.beta),
                Field::Real(candidate.ridge),
                Field::Whole(candidate.dim as u64),
                Field::Whole(candidate.walks as u64),
                Field::Whole(one.folds.len() as u64),
                number(one.mean),
                number(one.behind),
                number(one.standard_error),
                Field::Whole(one.steps as u64),
                Field::Text(one.failure.as_deref().unwrap_or_default()),
            ])?;
        }
        Ok(())
    })
}
