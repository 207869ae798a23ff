//! `linkproof fit`: from links and data vectors to a model folder.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use linkproof::folds::Watcher;
use linkproof::io::{self, EmbeddingFormat, Field, Files, FolderKind, OutputFolder, model_files};
use linkproof::refine::{Refinement, Suspects, find_suspects};
use linkproof::select::Selection;
use linkproof::{CheckedParams, Dataset, Error, Fitted};
use serde_json::{Map, Value, json};

use crate::args::{choice, quoted};
use crate::commands::report::title;
use crate::data::DataArgs;
use crate::exit::Usage;
use crate::inputs::Inputs;
use crate::labels::KnownLabels;
use crate::picture::{OnLayout, Pictured, classes, picture_file};
use crate::progress::Progress;
use crate::robust::{self, Recommended};
use crate::search::{self, SearchArgs};
use crate::session::{Session, counted, peak_memory_bytes};
use crate::settings::SettingArgs;
use crate::words::Flags;

/// Fit embeddings to a graph and write a model folder
///
/// Reads links, and data vectors where there are any, and writes a folder with
/// the embeddings and everything that the other commands need. The folder
/// appears whole or not at all.
///
/// Start with --robust. It judges every link by fits that did not see it, fits to
/// walks over the links that it believes, and chooses the ridge, all without
/// labels. Where that helps, it averages the embeddings over believed links. It
/// writes how far it believes each link to beliefs.csv.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  \
    linkproof fit --links links.csv --features x.npy --robust --out model\n  \
    linkproof fit --links links.csv --features x.npy --out model\n  \
    linkproof fit --links links.csv --score probability --dim 16 --out model\n  \
    linkproof fit --links links.csv --features x.npy --select --refine --out model\n  \
    linkproof fit --links links.csv --nodes nodes.csv --features text=t.mtx \\\n      \
    --features image=i.npy --encoder image=mlp --out model")]
pub struct FitArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Labels node,label to keep in the folder for reports; the fit does not use
    /// them
    #[arg(long, value_name = "FILE", help_heading = "Inputs")]
    labels: Option<PathBuf>,
    /// Folder to write
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: PathBuf,
    /// Replace the model that the folder holds, if it holds nothing else
    #[arg(long, help_heading = "Output")]
    force: bool,
    /// Further formats of the embeddings; may be repeated [default: npy alone]
    #[arg(long, value_name = "FORMAT", value_parser = choice!(EmbeddingFormat), help_heading = "Output")]
    format: Vec<EmbeddingFormat>,
    /// Write the model as a page too, report.html in the folder, as 'linkproof
    /// report' does
    #[arg(long, help_heading = "Output")]
    report: bool,
    /// Picture of the nodes to write too, .svg or .png
    #[arg(long, value_name = "FILE", help_heading = "Output", value_parser = picture_file)]
    plot: Option<PathBuf>,
    /// How more than two dimensions become two in --report and --plot
    #[arg(
        long,
        value_name = "HOW",
        value_enum,
        default_value = "auto",
        help_heading = "Output"
    )]
    layout: OnLayout,
    /// Believe each link as far as the evidence goes: choose the ridge, judge the
    /// links, fit to walks over believed links, and average where that helps.
    /// Takes several times as long as a plain fit. Keeps a --ridge that is given
    #[arg(long, help_heading = "Without labels", conflicts_with_all = ["select", "refine"])]
    robust: bool,
    /// Choose score, exponent and ridge without labels first, as 'linkproof
    /// select' does; those that are given here are kept
    #[arg(long, help_heading = "Without labels")]
    select: bool,
    /// Set suspect links aside and fit without them: as many as the held-out
    /// criterion says, none where that is best. Writes suspects.csv
    #[arg(long, help_heading = "Without labels")]
    refine: bool,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    settings: SettingArgs,
}

/// What was found out before the fit itself.
struct Findings {
    inputs: Inputs,
    selection: Option<Selection>,
    suspects: Option<Suspects>,
    robust: Option<Recommended>,
}

impl Findings {
    fn new(inputs: Inputs) -> Findings {
        Findings {
            inputs,
            selection: None,
            suspects: None,
            robust: None,
        }
    }
}

impl FitArgs {
    /// The files that are read.
    fn inputs(&self) -> impl Iterator<Item = &Path> {
        let more = self.labels.iter().chain(&self.settings.config);
        self.data.paths().chain(more.map(PathBuf::as_path))
    }

    fn files(&self) -> Files {
        Files::default()
            .reads(self.inputs())
            .writes_folder(&self.out)
            .writes(&self.plot)
    }
}

/// Runs the command.
pub fn run(args: &FitArgs, session: &Session) -> anyhow::Result<()> {
    let outcome = fit(args, session);
    outcome.map_err(|error| args.settings.in_config(args.data.in_links(error)))
}

fn fit(args: &FitArgs, session: &Session) -> anyhow::Result<()> {
    let recipe = match args.robust {
        true => Some(robust::recipe(&args.settings)?),
        false => None,
    };
    let mut params = args.settings.params(session.seed())?.check()?;
    args.data.check()?;
    if args.search.is_given() && !args.select {
        return Err(
            Usage::new("lists of candidates and --hold-out need a search: add --select").into(),
        );
    }
    args.files().check()?;
    let mut kind = FolderKind::model();
    if let Some(plot) = &args.plot {
        kind = kind.and(&args.out, plot)?;
    }
    let folder = OutputFolder::create(&args.out, kind, args.force)?;
    let mut progress = Progress::start(session, "reading");
    let mut inputs = Inputs::before(args.inputs())?;
    let data = args.data.read()?;
    for format in &args.format {
        format.check(data.ids())?;
    }
    let labels = args.labels.as_deref();
    let labels = labels
        .map(|path| KnownLabels::read(path, &data))
        .transpose()?;
    inputs.after();
    Session::stop_on_interrupt()?;
    let mut findings = Findings::new(inputs);
    if args.select {
        progress.say("choosing settings");
        let base = params.given();
        let selection = args.search.run(base, &args.settings, &data, &progress)?;
        params = selection.chosen.params(base).check()?;
        findings.selection = Some(selection);
    }
    if args.refine {
        progress.say("looking for suspects");
        findings.suspects = Some(suspects(args, &params, &data, &progress)?);
    }
    let fitted = match recipe {
        Some(recipe) => {
            progress.say("judging links");
            let (model, found) = robust::fit(&params, &data, recipe, &progress)?;
            params = model.params().clone().check()?;
            findings.robust = Some(found);
            model
        }
        None => {
            progress.say("starting the fit");
            let suspects = findings.suspects.as_ref();
            let aside = suspects.and_then(|found| found.aside.as_ref());
            linkproof::model::fit_without(&params, &data, aside, &mut |record, most| {
                progress.step(record, most);
                !Session::is_stopped()
            })?
        }
    };
    let links = data.user_graph()?;
    let record = record(&findings);
    fitted.save(&links, &folder, record.clone())?;
    write_more(args, &fitted, labels.as_ref(), &findings, &folder)?;
    let pictured = Pictured {
        model: &fitted,
        links: &links,
        classes: labels.as_ref().map(|known| classes(&known.labels, &fitted)),
        seed: params.seed,
    };
    let layout = (args.report || args.plot.is_some())
        .then(|| pictured.layout(args.layout, &mut progress))
        .transpose()?;
    if let Some(layout) = layout.as_ref().filter(|_| args.report) {
        let page = folder.file(model_files::REPORT);
        pictured.write_page(&page, &title(&args.out), &record, layout)?;
    }
    progress.end();
    folder.commit()?;
    // With the model in place: the picture may be meant for the same folder.
    if let (Some(path), Some(layout)) = (&args.plot, &layout) {
        pictured.write_plot(path, layout)?;
    }
    let peak = peak_memory_bytes();
    let words = summary(args, &params, &fitted, labels.as_ref(), &findings, peak);
    session.finish(&as_json(args, &fitted, &findings, peak), &words)
}

/// The links to fit without.
fn suspects(
    args: &FitArgs,
    params: &CheckedParams,
    data: &Dataset,
    progress: &Progress,
) -> Result<Suspects, Error> {
    let settings = Refinement {
        folds: args.search.folds(),
        criterion: args.search.criterion(),
        ..Refinement::default()
    };
    let watcher = Watcher {
        after_fit: &|done, all| progress.fits(done, all),
        goes_on: &|| !Session::is_stopped(),
    };
    find_suspects(params, data, &settings, watcher)
}

/// What `fit.json` records beside the fit itself.
fn record(findings: &Findings) -> Map<String, Value> {
    let command: Vec<String> = std::env::args_os()
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    let mut record = Map::from_iter([
        ("inputs".to_owned(), findings.inputs.json()),
        (
            "versions".to_owned(),
            json!({ "linkproof": env!("CARGO_PKG_VERSION"),
                    "system": std::env::consts::OS,
                    "processor": std::env::consts::ARCH,
                    "instructions": linkproof::instructions().ok() }),
        ),
        ("peak_memory_bytes".to_owned(), json!(peak_memory_bytes())),
        ("command".to_owned(), json!(command)),
    ]);
    if let Some(selection) = &findings.selection {
        record.insert("selection".to_owned(), search::as_json(selection));
    }
    if let Some(suspects) = &findings.suspects {
        record.insert("refine".to_owned(), refine_json(suspects));
    }
    if let Some(robust) = &findings.robust {
        record.insert("robust".to_owned(), json!(robust.summary));
        // Of all its fits.
        record.insert("seconds".to_owned(), json!(robust.seconds));
    }
    record
}

fn refine_json(suspects: &Suspects) -> Value {
    json!({ "share": suspects.share, "set_aside": suspects.links.len(), "tried": suspects.tried })
}

fn write_more(
    args: &FitArgs,
    fitted: &Fitted,
    labels: Option<&KnownLabels>,
    findings: &Findings,
    folder: &OutputFolder,
) -> Result<(), Error> {
    if let Some(suspects) = &findings.suspects {
        write_suspects(&folder.file(model_files::SUSPECTS), fitted, suspects)?;
    }
    if let Some(robust) = &findings.robust {
        let path = folder.file(model_files::BELIEFS);
        robust.robust.write_beliefs(&path, fitted.ids())?;
    }
    if let Some(labels) = labels {
        labels.write(&folder.file(model_files::LABELS), fitted)?;
    }
    for format in &args.format {
        if *format == EmbeddingFormat::Npy {
            continue; // always there
        }
        let file = folder.file(&format!("embeddings.{format}"));
        let (n, dim) = (fitted.n_nodes(), fitted.dim());
        io::write_embeddings(file, *format, fitted.ids(), n, dim, fitted.recommended())?;
    }
    Ok(())
}

fn write_suspects(path: &Path, fitted: &Fitted, suspects: &Suspects) -> Result<(), Error> {
    let columns = ["src", "dst", "weight", "mu", "trust"];
    io::write_table(path, &columns, |rows| {
        for link in &suspects.links {
            let [src, dst] = [link.src, link.dst].map(|row| fitted.ids().name(row as usize));
            rows.row(&[
                Field::Text(&src),
                Field::Text(&dst),
                Field::Real(link.weight),
                Field::Real(link.mu),
                Field::Real(link.trust),
            ])?;
        }
        Ok(())
    })
}

/// Of all fits together.
fn seconds(fitted: &Fitted, findings: &Findings) -> f64 {
    let of_recipe = findings.robust.as_ref().map(|found| found.seconds);
    of_recipe.unwrap_or(fitted.report().seconds)
}

fn n_links(fitted: &Fitted) -> usize {
    let counts = fitted.report().counts;
    counts.training_links + counts.held_out_links + counts.ignored_links + counts.set_aside_links
}

fn as_json(args: &FitArgs, fitted: &Fitted, findings: &Findings, peak: Option<u64>) -> Value {
    let report = fitted.report();
    let params = fitted.params();
    json!({
        "score": params.score,
        "beta": params.beta,
        "ridge": params.ridge,
        "selection": findings.selection.as_ref().map(search::as_json),
        "refine": findings.suspects.as_ref().map(refine_json),
        "robust": findings.robust.as_ref().map(|found| &found.summary),
        "out": args.out.display().to_string(),
        "nodes": fitted.n_nodes(),
        "links": n_links(fitted),
        "dim": fitted.dim(),
        "gamma": fitted.gamma_json(),
        "value": report.value,
        "value_is_estimated": report.value_is_estimated,
        "k": report.k,
        "notes": report.notes,
        "stop_reason": report.stop_reason,
        "steps": report.steps,
        "best_step": report.best_step,
        "held_out": report.held_out,
        "held_out_is_estimated": report.held_out_is_estimated,
        "seconds": seconds(fitted, findings),
        "peak_memory_bytes": peak,
    })
}

fn summary(
    args: &FitArgs,
    params: &CheckedParams,
    fitted: &Fitted,
    labels: Option<&KnownLabels>,
    findings: &Findings,
    peak: Option<u64>,
) -> String {
    let (report, out) = (fitted.report(), args.out.display());
    let mut text = format!(
        "{} and {} in {}, {} score",
        counted(fitted.n_nodes(), "node"),
        counted(n_links(fitted), "link"),
        counted(fitted.dim(), "dimension"),
        params.given().score,
    );
    if params.given().score != linkproof::params::ScoreKind::Likelihood {
        let _ = write!(text, " with beta {}", params.given().beta);
    }
    let about = |is_estimated| if is_estimated { "about " } else { "" };
    let _ = write!(
        text,
        "\n  value     {}{:.6} over the training pairs\n  stopped   {} after {} in {:.1} s",
        about(report.value_is_estimated),
        report.value,
        json!(report.stop_reason).as_str().unwrap_or_default(),
        counted(report.steps, "step"),
        seconds(fitted, findings),
    );
    if let Some(peak) = peak {
        let _ = write!(text, ", {} MB of memory at most", peak >> 20);
    }
    if let Some((start, best)) = report.held_out {
        let _ = write!(
            text,
            "\n  held out  {}{best:.6} per pair (from {start:.6}), best at step {}",
            about(report.held_out_is_estimated),
            report.best_step
        );
    }
    if let Some(selection) = &findings.selection {
        let _ = write!(
            text,
            "\n  selected  {} of {} candidates, by {} fits in {:.1} s",
            search::in_words(selection),
            selection.candidates.len(),
            selection.fits,
            selection.seconds
        );
        for warning in &selection.warnings {
            let _ = write!(text, "\n  warning   {}", warning.told(&Flags));
        }
    }
    if let Some(suspects) = &findings.suspects {
        let _ = match suspects.links.len() {
            0 => write!(
                text,
                "\n  refined   no link set aside: held-out pairs are predicted best with all links"
            ),
            n => write!(
                text,
                "\n  refined   without {} ({}%), see suspects.csv",
                counted(n, "link"),
                100.0 * suspects.share
            ),
        };
    }
    if let Some(robust) = &findings.robust {
        text.push_str(&robust.words(params));
    }
    for note in &report.notes {
        let _ = write!(text, "\n  note      {}", note.told(&Flags));
    }
    for path in findings.inputs.changed() {
        let path = path.display();
        let _ = write!(
            text,
            "\n  warning   {path} was changed while it was read: fit again"
        );
    }
    if report.k != 1.0 && findings.robust.is_none() {
        let _ = write!(
            text,
            "\n  lambda    fits the weights up to the factor k = {:.6}, which score multiplies in",
            report.k
        );
    }
    text.push_str(&left_out(fitted, labels));
    let look = match args.report {
        true => format!("open {out}/report.html"),
        false => format!("linkproof report {out}"),
    };
    let _ = write!(
        text,
        "\nWritten to {out}. Next:\n  {look}\n  linkproof neighbors --model {out} --node {} --out neighbors.csv\n  \
         linkproof cluster --embeddings {out}/embeddings.npy --clusters 8 --out clusters.csv\n  \
         linkproof audit --model {out} {} --out audit.csv",
        quoted(&fitted.ids().name(0)),
        args.data.typed(),
    );
    text
}

/// What was read and not used.
fn left_out(fitted: &Fitted, labels: Option<&KnownLabels>) -> String {
    let counts = fitted.report().counts;
    let kinds = [
        (counts.read.zero, "link of weight zero"),
        (counts.read.self_links, "self-link"),
        (counts.read.merged, "repeat that was merged"),
        (counts.ignored_links, "link between views that take no part"),
        (
            labels.map_or(0, |labels| labels.n_unknown),
            "label of nodes that are not in the graph",
        ),
    ];
    let kinds: Vec<String> = kinds
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| counted(*count, what))
        .collect();
    match kinds.as_slice() {
        [] => String::new(),
        kinds => format!("\n  left out  {}", kinds.join(", ")),
    }
}
