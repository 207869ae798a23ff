//! `linkproof fit`: from links and data vectors to a model folder.

mod next;
mod summary;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use linkproof::inspect::{PlainVerdict, plain_verdict};
use linkproof::io::{
    self, EmbeddingFormat, Files, FolderKind, Input, MergedChecks, OutputFolder, Sources,
    check_files, model_files, robust_json, write_model,
};
use linkproof::model::{check_replicate_memory, check_replicates, foreseen};
use linkproof::robust::{Recipe, RobustSummary, bootstrap, fit_model};
use linkproof::select::{SearchOptions, Selection, select};
use linkproof::text::{Style, note};
use linkproof::verdict::Advice;
use linkproof::{Error, Fit, Fitted};
use serde_json::{Map, Value, json};

use self::summary::{as_json, judged, summary};
use crate::args::whole;
use crate::commands::report::title;
use crate::data::DataArgs;
use crate::exit::Usage;
use crate::inputs;
use crate::judging::{ChecksArgs, EvidenceArgs};
use crate::kept::{self, KeptArgs};
use crate::labels::KnownLabels;
use crate::picture::{OnLayout, Pictured, picture_file};
use crate::progress::Progress;
use crate::robust;
use crate::search;
use crate::session::{Session, peak_memory_bytes};
use crate::settings::SettingArgs;

/// Fit embeddings to a graph and write a model folder
///
/// Reads links, and data vectors where there are any, and writes a folder with
/// the embeddings and everything that the other commands need. The folder
/// appears whole or not at all.
///
/// Start with --robust. It estimates for each link how likely it is real, as 'linkproof
/// check' does, fits to walks over believed links, and chooses the ridge, all without
/// labels. If the smoothing check passes, it smooths the embeddings over believed links.
/// It writes the most suspicious links to suspects.csv and all beliefs to beliefs.csv.
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
    #[arg(long, value_name = "FORMAT", help_heading = "Output")]
    format: Vec<EmbeddingFormat>,
    /// Write the model as a page too, report.html in the folder, as 'linkproof
    /// report' does
    #[arg(long, help_heading = "Output")]
    report: bool,
    /// Picture of the nodes to write too, .svg
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
    /// Count each link by the belief that it is real, choose the ridge, and smooth
    /// embeddings over believed links if the smoothing check passes. Takes several times
    /// as long as a plain fit. Keeps a --ridge that is given
    #[arg(long, help_heading = "Without labels", conflicts_with = "select")]
    robust: bool,
    /// Choose score, exponent and ridge without labels first, as 'linkproof
    /// select' does, which has more options; those that are given here are kept
    #[arg(long, help_heading = "Without labels")]
    select: bool,
    /// Tell how sure the model is: so many fits to parts of the nodes, 5 or more, which
    /// 'score', 'neighbors', 'audit', 'cluster' and 'report' read; 30 are usual. With
    /// --robust, beliefs stay as they are
    #[arg(long, value_name = "B", allow_negative_numbers = true, value_parser = whole)]
    bootstrap: Option<usize>,
    /// Print everything that was found
    #[arg(long)]
    verbose: bool,
    #[command(flatten)]
    evidence: EvidenceArgs,
    #[command(flatten)]
    checks: ChecksArgs,
    #[command(flatten)]
    kept: KeptArgs,
    #[command(flatten)]
    settings: SettingArgs,
}

/// What was found out beside the fit itself.
struct Findings {
    sources: Sources,
    /// The first line of the links, if it was taken for a header.
    header: Option<String>,
    selection: Option<Selection>,
    robust: Option<RobustSummary>,
    look: Option<PlainVerdict>,
    /// Links that a person has verified.
    checks: MergedChecks,
    began: Instant,
}

impl Findings {
    /// What the verdict advises.
    fn advice(&self) -> Option<Advice> {
        let robust = self.robust.as_ref().map(|found| found.advice);
        robust.or(self.look.as_ref().map(|found| found.advice))
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

    /// Refuses outputs that would destroy an input. Verified links may stand in the folder,
    /// where they stay.
    fn check_files(&self) -> Result<(), Error> {
        let files = Files::default().reads(self.inputs()).writes(&self.plot);
        files.writes_folder(&self.out).check()?;
        let checked = Files::default().reads(&self.checks.checked);
        checked.writes(&self.plot).check()
    }

    /// Refuses options of a robust fit without one.
    fn check_robust(&self) -> Result<(), Usage> {
        self.checks.check()?;
        match self.evidence.given().or(self.checks.given()) {
            Some(flag) if !self.robust => Err(Usage::new(format!(
                "{flag}: only a robust fit judges links; expected --robust too"
            ))),
            _ => Ok(()),
        }
    }
}

/// Runs the command.
pub fn run(args: &FitArgs, session: &Session) -> anyhow::Result<()> {
    let outcome = fit(args, session);
    outcome.map_err(|error| kept::told(args.settings.in_config(error)))
}

fn fit(args: &FitArgs, session: &Session) -> anyhow::Result<()> {
    let began = Instant::now();
    args.check_robust()?;
    let mut recipe = None;
    if args.robust {
        robust::check(&args.settings)?;
        recipe = Some(Recipe::default());
    }
    let params = args.settings.params(session.seed())?.check()?;
    args.data.check()?;
    args.bootstrap.map(check_replicates).transpose()?;
    args.check_files()?;
    args.kept.check(&args.out)?;
    let mut kind = FolderKind::model();
    if let Some(plot) = &args.plot {
        kind = kind.and(&args.out, plot)?;
    }
    let folder = OutputFolder::create(&args.out, kind, args.force)?;
    let mut progress = Progress::start(session, "reading");
    let device = session.begin_device();
    let verified = args.checks.read(args.robust.then_some(&*args.out))?;
    let (input, sources) = args.data.read(&args.evidence.evidence)?;
    let Input {
        data,
        attributes,
        evidence,
        header,
    } = input;
    let checks = verified.merged(|| data.user_graph())?;
    if let Some(recipe) = &mut recipe {
        recipe.judge = args.evidence.spec(evidence, params.seed);
        recipe.judge.checks.clone_from(&checks.checks);
    }
    let attributes = match &args.name {
        Some(column) => Some(attributes.unwrap_or_default().shown_by(column)?),
        None => attributes,
    };
    for format in &args.format {
        format.check(data.ids())?;
    }
    let labels = args.labels.as_deref();
    let labels = labels.map(|path| KnownLabels::read(&sources, path, data.ids(), "graph"));
    let labels = labels.transpose()?;
    let config = args.settings.config.iter().filter(|path| path.is_file());
    config.into_iter().try_for_each(|path| sources.note(path))?;
    // What can be known before the fit is not kept until its end.
    if recipe.is_none() && !args.select {
        for known in foreseen(params.given(), &data) {
            progress.aside(|| session.warn(&note(&known, Style::Cli)));
        }
    }
    let is_typed = |name: &str| args.settings.is_typed(name);
    let wanted = SearchOptions::default().search(&params, is_typed);
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
    if let Some(count) = args.bootstrap {
        check_replicate_memory(&params, &data, count, runtime)?;
    }
    let mut findings = Findings {
        sources,
        header,
        selection: None,
        robust: None,
        look: None,
        checks,
        began,
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
    let record = record(args, &fitted, &findings);
    if verified.is_extended() {
        findings.checks.write(folder.file(check_files::CHECKED))?;
    }
    let check = judged(&fitted, &record);
    if let Some(check) = &check {
        args.checks
            .write_sample(check, fitted.params().seed, folder.path())?;
    }
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
    let words = summary(args, &fitted, check.as_ref(), n_unknown, &findings, peak);
    session.finish(&as_json(args, &fitted, &record, peak)?, &words)
}

/// What `fit.json` records beside the fit itself.
fn record(args: &FitArgs, fitted: &Fitted, findings: &Findings) -> Map<String, Value> {
    let mut record = inputs::record(&findings.sources);
    if let Some(selection) = &findings.selection {
        record.insert("selection".to_owned(), search::as_json(selection));
    }
    if let Some(robust) = &findings.robust {
        for (name, value) in [
            ("robust", robust_json(robust)),
            ("test", json!(args.evidence.tests())),
            ("evidence", json!(args.evidence.evidence)),
            ("links_typed", json!(args.data.typed())),
        ] {
            record.insert(name.to_owned(), value);
        }
    }
    if let Some(look) = &findings.look {
        record.insert("look".to_owned(), json!(look));
    }
    record.insert("verdict".to_owned(), findings.recorded_verdict(fitted));
    record
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
