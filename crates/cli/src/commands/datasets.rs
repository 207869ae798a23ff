//! `linkproof datasets`: public data sets, fetched, checked and made ready.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use linkproof::Error;
use linkproof::io::{self, FolderKind, OutputFolder, OutputLock};
use serde_json::{Value, json};

use crate::args::quoted;
use crate::catalogue::{DATA_SETS, DataSet};
use crate::download::{KnownFile, Network};
use crate::exit::Usage;
use crate::progress::Progress;
use crate::session::Session;

/// Fetch a public data set, ready to fit
///
/// Data sets to try the program on, or to compare it with others: downloaded
/// from where they are published, checked by their SHA-256 digests, and turned
/// into links, features and labels.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  \
    linkproof datasets list\n  \
    linkproof datasets fetch cora --out cora\n  \
    linkproof fit --links cora/edges.csv --features cora/features.mtx --out model")]
pub struct DatasetsArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the data sets that can be fetched
    #[command(after_help = "EXAMPLE\n  linkproof datasets list")]
    List,
    Fetch(FetchArgs),
}

/// Fetch a data set into a folder of its own
///
/// Writes edges.csv, features.mtx, labels.csv, nodes.csv, a README and the
/// published files (raw/). A folder that already holds the data set is checked and
/// left as it is. HTTPS_PROXY and its like are obeyed.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  \
    linkproof datasets fetch cora --out cora\n  \
    linkproof datasets fetch cora --from https://mirror.example.org/cora\n  \
    linkproof datasets fetch cora --from downloads   # cora.content and cora.cites lie there")]
struct FetchArgs {
    /// The data set
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(DATA_SETS.iter().map(|set| set.name)))]
    name: String,
    /// Folder to write [default: the data set's name]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Where the published files are instead: the address of a folder on a
    /// mirror (http or https), or a folder on this machine
    #[arg(long, value_name = "URL|DIR", hide_short_help = true)]
    from: Option<String>,
    /// Fetch again and replace the folder, if it holds nothing but the data set
    #[arg(long)]
    force: bool,
}

/// Runs the command.
pub fn run(args: &DatasetsArgs, session: &Session) -> anyhow::Result<()> {
    match &args.command {
        Command::List => list(session),
        Command::Fetch(args) => {
            let known = DATA_SETS.iter().find(|set| set.name == args.name);
            let set = known.ok_or_else(|| Usage::new(format!("no data set '{}'", args.name)))?;
            fetch(set, args, session)
        }
    }
}

fn list(session: &Session) -> anyhow::Result<()> {
    let mut words = Vec::new();
    let mut sets = Vec::new();
    for set in &DATA_SETS {
        let bytes: u64 = set.raw.iter().map(|file| file.bytes).sum();
        words.push(format!(
            "{:8}{} nodes, {} links, {} features, {} classes, {:.1} MB to fetch\n        {}",
            set.name,
            set.nodes,
            set.links,
            set.features,
            set.classes,
            bytes as f64 / 1e6,
            set.about
        ));
        sets.push(json!({
            "name": set.name, "about": set.about, "citation": set.citation,
            "nodes": set.nodes, "links": set.links,
            "features": set.features, "classes": set.classes,
            "download_bytes": bytes, "addresses": set.addresses,
        }));
    }
    session.finish(&json!({ "datasets": sets }), &words.join("\n"))
}

fn fetch(set: &DataSet, args: &FetchArgs, session: &Session) -> anyhow::Result<()> {
    let out = args.out.clone().unwrap_or_else(|| set.name.into());
    let origin = Origin::of(set, args.from.as_deref())?;
    let fetched = args.force || !set.is_in(&out)?;
    let (title, place) = (set.title, out.display());
    let words = if fetched {
        // Published files mark the folder: those that are made from them may be gone or wrong.
        let raw = set.raw.iter().map(|file| format!("raw/{}", file.name));
        let made = set.files.iter().map(|file| file.name.to_owned());
        let kind = FolderKind::new("a data set", raw, made.chain(["README.md".to_owned()]));
        let folder = OutputFolder::create(&out, kind, args.force)?;
        make(set, &origin, &folder, session)?;
        folder.commit()?;
        let file = |name: &str| quoted(&out.join(name).display().to_string());
        format!(
            "{title}: {} nodes, {} links, written to {place}\nNext:\n  \
             linkproof fit --links {} --features {} --out model\n  \
             linkproof evaluate --embeddings model/embeddings.npy --labels {}",
            set.nodes,
            set.links,
            file("edges.csv"),
            file("features.mtx"),
            file("labels.csv")
        )
    } else {
        // A run that was killed at its very end may have left something.
        drop(OutputLock::take(&out)?);
        format!("{title} is there already, and its files are right: {place}")
    };
    let file = |file: &KnownFile<'_>| {
        let path = out.join(file.name).display().to_string();
        json!({ "path": path, "sha256": file.sha256 })
    };
    let json = json!({
        "out": place.to_string(), "dataset": set.name, "fetched": fetched,
        "files": set.files.iter().map(file).collect::<Vec<Value>>(),
        "nodes": set.nodes, "links": set.links,
    });
    session.finish(&json, &words)
}

/// Where the published files come from.
enum Origin {
    Folder(PathBuf),
    Addresses(Vec<String>),
}

impl Origin {
    fn of(set: &DataSet, from: Option<&str>) -> anyhow::Result<Origin> {
        let Some(from) = from else {
            let addresses = set.addresses.iter().map(|&address| address.to_owned());
            return Ok(Origin::Addresses(addresses.collect()));
        };
        let lower = from.to_ascii_lowercase();
        if lower.starts_with("http://") || lower.starts_with("https://") {
            let address = from.trim_end_matches('/').to_owned();
            return Ok(Origin::Addresses(vec![address]));
        }
        let folder = Path::new(from);
        if !folder.is_dir() {
            return Err(Usage::new(format!(
                "--from must be an address that begins with http:// or https://, or a folder that \
                 holds {} and {}, but is '{from}'",
                set.raw[0].name, set.raw[1].name
            ))
            .into());
        }
        for file in &set.raw {
            let path = folder.join(file.name);
            if let Some(found) = file.differs(&path)? {
                let expected = format!("{} as published: {}", file.name, file.expected());
                return Err(Error::input(&path, None, found, expected).into());
            }
        }
        Ok(Origin::Folder(folder.to_owned()))
    }
}

/// Brings the published files and turns them into those that the other commands read.
fn make(
    set: &DataSet,
    origin: &Origin,
    folder: &OutputFolder,
    session: &Session,
) -> anyhow::Result<()> {
    let raw = folder.file("raw");
    fs::create_dir(&raw).map_err(|source| Error::write(&raw, source))?;
    let progress = Progress::start(session, "connecting");
    let network = Network::default();
    for file in &set.raw {
        let target = raw.join(file.name);
        match origin {
            Origin::Folder(place) => {
                let copied = fs::copy(place.join(file.name), &target);
                copied.map_err(|source| Error::write(&target, source))?;
            }
            Origin::Addresses(addresses) => {
                let watch = |done| progress.bytes(done, file.bytes, file.name);
                if let Err(why) = network.fetch(file, addresses, &target, &watch)? {
                    bail!(
                        "{why}; check the connection, name a mirror with --from URL, or copy {} \
                         and {} by hand into a folder and say --from with that folder",
                        set.raw[0].name,
                        set.raw[1].name
                    );
                }
            }
        }
    }
    progress.end();
    let [content, cites] = set.raw.map(|file| raw.join(file.name));
    io::read_citations(content, cites)?.write(folder.path(), set.title)?;
    for file in &set.files {
        if let Some(found) = file.differs(&folder.file(file.name))? {
            bail!(
                "{}: made {found}, expected {}; this is a fault of the program, please report it",
                file.name,
                file.expected()
            );
        }
    }
    io::write_file(folder.file("README.md"), |file| {
        std::io::Write::write_all(file, set.readme().as_bytes())
    })?;
    Ok(())
}
