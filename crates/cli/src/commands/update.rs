//! `linkproof update`: a model brought up to date with new nodes and links.

use std::path::{Path, PathBuf};

use clap::Args;
use linkproof::error::Subject;
use linkproof::io::{Files, FolderKind, InputReader, OutputFolder, ViewFile, load, write_model};
use linkproof::text::{counted, full_fit_due, update_json};
use linkproof::update::{Changes, UpdateReport, update};
use linkproof::{Error, Fitted};

use crate::args::LinkRuleArgs;
use crate::exit::Usage;
use crate::inputs;
use crate::progress::Progress;
use crate::session::Session;
use crate::unseen::new_vectors;

/// Bring a model up to date with new nodes, new links and links withdrawn
///
/// Costs what changed, not what is there. Nodes with data vectors are embedded by the
/// encoder as it is, and no other node moves. Without data vectors, the new nodes and
/// the ends of changed links move, all others stay where they are. A robust model
/// judges new links by embeddings and data vectors, and averages anew.
///
/// --links has new links, and known ones whose weight is another now; --withdrawn those
/// that are no more. --features has the data vectors of new nodes, and of known ones
/// where they are others now. A .npy or .mtx file without --nodes is of new nodes,
/// numbered on from the model's; one with more rows than the model has nodes is of all.
///
/// Old nodes keep their ids, rows and coordinates, so that what was built on them still
/// holds. The command says when so much has changed that a full fit is due.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  \
    linkproof update --model model --links new.csv --out model2\n  \
    linkproof update --model model --links new.csv --features new_x.csv --out model2\n  \
    linkproof update --model model --withdrawn gone.csv --out model2")]
pub struct UpdateArgs {
    /// Model folder
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// Links that are new, or have another weight now
    #[arg(long, value_name = "FILE")]
    links: Option<PathBuf>,
    /// Links that are no more
    #[arg(long, value_name = "FILE")]
    withdrawn: Option<PathBuf>,
    /// Data vectors of new nodes, or new ones of known nodes; once for each view
    #[arg(long, value_name = "[NAME=]FILE")]
    features: Vec<ViewFile>,
    /// Ids of the rows of --features: CSV with a header, the id first, optional columns
    /// view and row; NAME=FILE for a view. Other columns, such as names, go into the model
    #[arg(long, value_name = "[NAME=]FILE")]
    nodes: Vec<ViewFile>,
    /// Model folder to write
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Replace the folder if it holds a model
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    rules: LinkRuleArgs,
}

impl UpdateArgs {
    fn inputs(&self) -> impl Iterator<Item = &Path> {
        let features = self.features.iter().map(|file| &file.path);
        let nodes = self.nodes.iter().map(|file| &file.path);
        let others = [&self.links, &self.withdrawn].into_iter().flatten();
        others.chain(nodes).chain(features).map(PathBuf::as_path)
    }

    /// The library knows ids and views, and we know their files.
    fn in_files(&self, error: Error) -> Error {
        let of_withdrawn = error.to_string().contains("among those withdrawn");
        match &error {
            Error::Data {
                subject: Subject::Links,
                ..
            } => {
                let file = if of_withdrawn {
                    &self.withdrawn
                } else {
                    &self.links
                };
                match file {
                    Some(path) => error.in_file(path, None),
                    None => error,
                }
            }
            Error::Data {
                subject: Subject::Features { .. },
                ..
            } => match &self.features[..] {
                [only] => error.in_file(&only.path, None),
                _ => error,
            },
            _ => error,
        }
    }
}

/// Runs the command.
pub fn run(args: &UpdateArgs, session: &Session) -> anyhow::Result<()> {
    if args.links.is_none() && args.withdrawn.is_none() && args.features.is_empty() {
        let words = "nothing to change; expected --links, --withdrawn or --features";
        return Err(Usage::new(words).into());
    }
    let files = Files::default()
        .reads_model(&args.model)
        .reads(args.inputs());
    files.writes_folder(&args.out).check()?;
    let folder = OutputFolder::create(&args.out, FolderKind::model(), args.force)?;
    let progress = Progress::start(session, "reading");
    let stored = load(&args.model)?;
    let mut reader = InputReader::new(&args.features);
    let read = |path: &Option<PathBuf>| {
        let links = path.as_ref();
        let links = links.map(|path| reader.sources.read_links(path, &args.rules.rules(), &[]));
        links
            .transpose()
            .map(|links| links.map(|links| links.graph))
    };
    let (links, withdrawn) = (read(&args.links)?, read(&args.withdrawn)?);
    reader.read_tables(&args.nodes, false)?;
    let vectors = new_vectors(&stored.model, &mut reader, &args.features)?;
    progress.say("fitting what changed");
    let changes = Changes {
        links: links.as_ref(),
        withdrawn: withdrawn.as_ref(),
        vectors,
    };
    let found = update(&stored.model, &changes, session.runtime(&progress));
    let found = found.map_err(|error| args.in_files(error))?;
    let model = match args.nodes.is_empty() {
        false => {
            let known = found.model.attributes().cloned().unwrap_or_default();
            let all = reader.attributes_of(found.model.node_ids(), &known);
            found.model.with_attributes(Some(all))?
        }
        true => found.model,
    };
    let mut record = inputs::record(&reader.sources);
    for name in ["robust", "selection", "look", "verdict"] {
        if let Some(found) = stored.record.get(name) {
            record.insert(name.to_owned(), found.clone());
        }
    }
    record.insert("update".to_owned(), update_json(&found.report));
    write_model(&model, &folder, &record)?;
    progress.end();
    folder.commit()?;
    let mut json = update_json(&found.report);
    json["out"] = args.out.display().to_string().into();
    json["nodes"] = model.n_nodes().into();
    json["links"] = model.links().n_links().into();
    session.finish(&json, &words(args, &model, &found.report))
}

fn words(args: &UpdateArgs, model: &Fitted, report: &UpdateReport) -> String {
    let mut text = format!(
        "{} and {} now: {} and {} are new, {} changed weight, {} withdrawn",
        counted(model.n_nodes(), "node"),
        counted(model.links().n_links(), "link"),
        counted(report.new_nodes, "node"),
        counted(report.new_links, "link"),
        report.changed_links,
        report.withdrawn_links,
    );
    if let Some(believed) = report.believed_links.filter(|_| report.new_links > 0) {
        text.push_str(&format!(
            "\n  judged    about {believed:.0} of the new links are believed"
        ));
    }
    text.push_str(&match report.moved_nodes {
        0 => "\n  moved     no node that was there before".to_owned(),
        n => format!(
            "\n  moved     {} of those that were there before, by {:.1}% of their length on average",
            counted(n, "node"),
            100.0 * report.moved
        ),
    });
    if report.moved_nodes > 0 && report.untouched_nodes > 0 {
        text.push_str(&format!(
            "\n  untouched {} with the links that they had moved by {:.2}% on average, {:.1}% at most",
            counted(report.untouched_nodes, "node"),
            100.0 * report.untouched_moved,
            100.0 * report.untouched_most
        ));
    }
    match &report.full_fit_due {
        Some(due) => {
            let why = full_fit_due(*due);
            text.push_str(&format!("\n  due       A full fit is due: {why}."));
        }
        None => text.push_str("\n  due       No full fit is due yet."),
    }
    text.push_str(&format!("\nWritten to {}", args.out.display()));
    text
}
