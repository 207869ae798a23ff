//! `linkproof fit`: from links and data vectors to a model folder.

mod next;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use linkproof::inspect::{PlainVerdict, plain_verdict};
use linkproof::io::{self, EmbeddingFormat, Files, FolderKind, OutputFolder, model_files};
use linkproof::io::{gamma_json, write_model};
use linkproof::model::{before_replicates, check_replicates, foreseen};
use linkproof::select::{Selection, select};
use linkproof::trust::robust::{RobustSummary, bootstrap, fit_model};
use linkproof::verdict::{Advice, Said};
use linkproof::{Error, Fit, Fitted};
use serde_json::{Map, Value, json};

use self::next::next;
use crate::args::{choice, whole};
use crate::commands::report::title;
use crate::data::DataArgs;
use crate::exit::Usage;
use crate::inputs::Inputs;
use crate::kept::{self, KeptArgs};
use crate::labels::KnownLabels;
use crate::picture::{OnLayout, Pictured, picture_file};
use crate::progress::Progress;
use crate::robust;
use crate::search::{self, SearchArgs};
use crate::session::{Session, counted, counted_kinds, left_out, peak_memory_bytes};
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
    linkproof fit --links links.csv --features x.npy --select --out model\n  \
    linkproof fit --links links.csv --nodes nodes.csv --features text=t.mtx \\\n      \
    --features image=i.npy --encoder image=mlp --out model")]
pub struct FitArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Column of --nodes to show beside ids [default: name, if there is one]
    #[arg(
        long,
        value_name = "COLUMN",
        requires = "nodes",
        help_heading = "Inputs"
    )]
    name: Option<String>,
    /// Labels node,label[,label_name] to keep in the folder for reports; the fit does
    /// not use them
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
    #[arg(long, help_heading = "Without labels", conflicts_with = "select")]
    robust: bool,
    /// Choose score, exponent and ridge without labels first, as 'linkproof
    /// select' does; those that are given here are kept
    #[arg(long, help_heading = "Without labels")]
    select: bool,
    /// Tell how sure the model is: so many fits to parts of the nodes, 5 or more, which
    /// 'score', 'neighbors', 'audit', 'cluster' and 'report' read; 30 are usual. With
    /// --robust, beliefs stay as they are
    #[arg(long, value_name = "B", allow_negative_numbers = true, value_parser = whole)]
    bootstrap: Option<usize>,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    kept: KeptArgs,
    #[command(flatten)]
    settings: SettingArgs,
}

/// What was found out beside the fit itself.
struct Findings {
    inputs: Inputs,
    selection: Option<Selection>,
    robust: Option<RobustSummary>,
    look: Option<PlainVerdict>,
}

impl Findings {
    /// What the verdict advises.
    fn advice(&self) -> Option<Advice> {
        let robust = self.robust.as_ref().map(|found| found.advice);
        robust.or(self.look.as_ref().map(|found| found.advice))
    }

    /// What was found, in sentences.
    fn verdict(&self) -> &[Said] {
        let robust = self.robust.as_ref().map(|found| &found.verdict);
        let found = robust.or(self.look.as_ref().map(|found| &found.verdict));
        found.map_or(&[], Vec::as_slice)
    }
}

impl FitArgs {
    /// The files that are read.
    fn inputs(&self) -> impl Iterator<Item = &Path> {
        let more = self.labels.iter().chain(&self.settings.config);
        self.data.paths().chain(more.map(PathBuf::as_path))
    }

    /// The usual place of a checkpoint.
    fn beside(&self) -> PathBuf {
        self.beside_with(".checkpoint")
    }

    /// The folder of another name beside the model's.
    fn beside_with(&self, ending: &str) -> PathBuf {
        let mut name = self.out.file_name().unwrap_or_default().to_owned();
        name.push(ending);
        self.out.with_file_name(name)
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
    outcome.map_err(|error| kept::told(args.settings.in_config(args.data.in_links(error))))
}

fn fit(args: &FitArgs, session: &Session) -> anyhow::Result<()> {
    let recipe = match args.robust {
        true => Some(robust::recipe(&args.settings)?),
        false => None,
    };
    let params = args.settings.params(session.seed())?.check()?;
    args.data.check()?;
    args.bootstrap.map(check_replicates).transpose()?;
    if args.search.is_given() && !args.select {
        return Err(Usage::new(
            "lists of candidates, --criterion and --hold-out need a search: add --select",
        )
        .into());
    }
    args.files().check()?;
    args.kept.check(&args.out)?;
    let mut kind = FolderKind::model();
    if let Some(plot) = &args.plot {
        kind = kind.and(&args.out, plot)?;
    }
    let folder = OutputFolder::create(&args.out, kind, args.force)?;
    let mut progress = Progress::start(session, "reading");
    let device = session.begin_device();
    let mut inputs = Inputs::before(args.inputs())?;
    let (data, attributes) = args.data.read_all()?;
    let attributes = match &args.name {
        Some(column) => Some(attributes.unwrap_or_default().shown_by(column)?),
        None => attributes,
    };
    for format in &args.format {
        format.check(data.ids())?;
    }
    let labels = args.labels.as_deref();
    let labels = labels.map(|path| KnownLabels::read(path, data.ids(), "graph"));
    let labels = labels.transpose()?;
    inputs.after();
    // What can be known before the fit is not kept until its end.
    if recipe.is_none() && !args.select {
        for note in foreseen(params.given(), &data) {
            progress.aside(|| session.warn(&note.told(&Flags)));
        }
    }
    let wanted = args.search.search(params.given(), &args.settings);
    let (what, more) = match &recipe {
        Some(recipe) => ("fit --robust", format!("{recipe:?}")),
        None if args.select => ("fit --select", format!("{wanted:?}")),
        None => ("fit", String::new()),
    };
    let work = kept::work(what, params.given(), &data, &more);
    let kept = args.kept.open(Some(args.beside()), work, session)?;
    let device = progress.aside(|| session.opened(device, data.n_nodes()))?;
    let runtime = session.kept_runtime(&progress, kept.as_ref());
    let runtime = runtime.on(device.backend());
    let runtime = match args.bootstrap {
        Some(count) => before_replicates(runtime, &data, &params, count),
        None => runtime,
    };
    let mut findings = Findings {
        inputs,
        selection: None,
        robust: None,
        look: None,
    };
    let fitted = match &recipe {
        Some(recipe) => {
            progress.say("judging links");
            let found = fit_model(&params, &data, recipe, runtime)?;
            findings.robust = Some(found.summary);
            found.model
        }
        None => {
            let mut params = params;
            if args.select {
                progress.say("choosing settings");
                let found = select(params.given(), &data, &wanted, runtime)?;
                params = found.params(params.given()).check()?;
                findings.selection = Some(found);
            }
            progress.say("starting the fit");
            Fit::new(&params).runtime(runtime).run(&data)?
        }
    };
    let fitted = match args.bootstrap {
        Some(count) => {
            progress.say("fitting to parts of the nodes");
            let runtime = session.runtime(&progress).on(device.backend());
            let recipe = recipe.unwrap_or_default();
            let found = bootstrap(&fitted, &data, &recipe, count, runtime)?;
            fitted.with_replicates(found)?
        }
        None => fitted,
    };
    if findings.robust.is_none() {
        progress.say("looking at the fit");
        findings.look = Some(plain_verdict(&fitted, &data, runtime)?);
    }
    let classes = labels.as_ref().map(|known| known.classes.clone());
    let fitted = fitted.with_classes(classes)?.with_attributes(attributes)?;
    let record = record(&findings);
    write_model(&fitted, &folder, &record)?;
    write_formats(args, &fitted, &folder)?;
    let pictured = Pictured {
        model: &fitted,
        classes: fitted.classes(),
        seed: fitted.params().seed,
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
    if let Some(kept) = kept {
        kept.finish();
    }
    // With the model in place: the picture may be meant for the same folder.
    if let (Some(path), Some(layout)) = (&args.plot, &layout) {
        pictured.write_plot(path, layout)?;
    }
    let peak = peak_memory_bytes();
    let n_unknown = labels.map_or(0, |labels| labels.n_unknown);
    let words = summary(args, &fitted, n_unknown, &findings, peak);
    session.finish(&as_json(args, &fitted, &findings, peak), &words)
}

/// What `fit.json` records beside the fit itself.
fn record(findings: &Findings) -> Map<String, Value> {
    let mut record = findings.inputs.record();
    if let Some(selection) = &findings.selection {
        record.insert("selection".to_owned(), search::as_json(selection));
    }
    if let Some(robust) = &findings.robust {
        record.insert("robust".to_owned(), json!(robust));
    }
    if let Some(look) = &findings.look {
        record.insert("look".to_owned(), json!(look));
    }
    record.insert("verdict".to_owned(), json!(findings.verdict()));
    record
}

/// How sure the model is of its links, the middle one of them.
fn surety(model: &Fitted) -> Option<String> {
    let count = model.replicates()?.parts.len();
    let links = model.links().links();
    let errors = links.filter_map(|link| model.spread(link.src as usize, link.dst as usize));
    let mut errors: Vec<f64> = errors.map(|spread| spread.error).collect();
    errors.sort_by(f64::total_cmp);
    let middle = errors.get(errors.len() / 2)?;
    Some(format!(
        "\n  sure      The logarithms of expected weights of links have a standard error of {middle:.2} \
         (the middle one; {count} fits to parts of the nodes)"
    ))
}

fn write_formats(args: &FitArgs, fitted: &Fitted, folder: &OutputFolder) -> Result<(), Error> {
    for format in &args.format {
        if *format == EmbeddingFormat::Npy {
            continue; // always there
        }
        let file = folder.file(&format!("embeddings.{format}"));
        let (values, dim) = fitted.by_node(fitted.recommended(), fitted.dim());
        let ids = fitted.node_ids();
        io::write_embeddings(file, *format, ids, ids.len(), dim, &values)?;
    }
    Ok(())
}

fn as_json(args: &FitArgs, fitted: &Fitted, findings: &Findings, peak: Option<u64>) -> Value {
    let report = fitted.report();
    let params = fitted.params();
    json!({
        "score": params.score,
        "beta": params.beta,
        "ridge": params.ridge,
        "selection": findings.selection.as_ref().map(search::as_json),
        "robust": findings.robust,
        "look": findings.look,
        "verdict": findings.verdict(),
        "out": args.out.display().to_string(),
        "nodes": fitted.node_ids().len(),
        "links": fitted.links().n_links(),
        "dim": fitted.dim(),
        "effective_rank": fitted.effective_rank(),
        "gamma": gamma_json(fitted),
        "value": report.value,
        "value_is_estimated": report.value_is_estimated,
        "k": report.k,
        "notes": report.notes,
        "stop_reason": report.stop_reason,
        "steps": report.steps,
        "best_step": report.best_step,
        "held_out": report.held_out,
        "held_out_is_estimated": report.held_out_is_estimated,
        "seconds": report.seconds,
        "peak_memory_bytes": peak,
    })
}

fn summary(
    args: &FitArgs,
    fitted: &Fitted,
    n_unknown: usize,
    findings: &Findings,
    peak: Option<u64>,
) -> String {
    let (report, params) = (fitted.report(), fitted.params());
    let mut text = format!(
        "{} and {} in {}, {} score",
        counted(fitted.node_ids().len(), "node"),
        counted(fitted.links().n_links(), "link"),
        counted(fitted.dim(), "dimension"),
        params.score,
    );
    for (param, value) in params.of_score() {
        let _ = write!(text, " with {param} {value}");
    }
    text.push_str(&robust::verdict_in_words(findings.verdict()));
    if let Some(robust) = &findings.robust {
        text.push_str(&robust::words(fitted, robust));
    }
    let about = |is_estimated| if is_estimated { "about " } else { "" };
    let _ = write!(
        text,
        "\n  value     {}{:.6} over the training pairs\n  stopped   {} after {} in {:.1} s",
        about(report.value_is_estimated),
        report.value,
        json!(report.stop_reason).as_str().unwrap_or_default(),
        counted(report.steps, "step"),
        report.seconds,
    );
    if let Some(peak) = peak {
        let _ = write!(text, ", {} of memory at most", io::memory::in_words(peak));
    }
    if let Some((start, best)) = report.held_out {
        let _ = write!(
            text,
            "\n  held out  {}{best:.6} per pair (from {start:.6}), best at step {}",
            about(report.held_out_is_estimated),
            report.best_step
        );
    }
    text.push_str(&surety(fitted).unwrap_or_default());
    if let Some(selection) = &findings.selection {
        let _ = write!(
            text,
            "\n  selected  {} of {} candidates, by {} ({} fits, {:.1} s)",
            search::in_words(selection),
            selection.candidates.len(),
            selection.compared,
            selection.fits,
            selection.seconds
        );
        for note in search::notes(selection) {
            let _ = write!(text, "\n  note      {note}");
        }
        for warning in &selection.warnings {
            let _ = write!(text, "\n  warning   {}", warning.told(&Flags));
        }
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
    let counts = report.counts;
    let mut kinds = left_out(counts.read, &args.data.header(counts.read));
    let others = [
        (counts.ignored_links, "link between views that take no part"),
        (n_unknown, "label of nodes that are not in the graph"),
    ];
    kinds.extend(others.map(|(count, what)| (count, what.to_owned())));
    let kinds = counted_kinds(&kinds);
    if !kinds.is_empty() {
        let _ = write!(text, "\n  left out  {kinds}");
    }
    text.push_str(&next(args, fitted, findings.advice()));
    text
}
