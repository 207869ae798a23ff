//! `linkproof check`: which links look false, without an embedding.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use linkproof::Error;
use linkproof::data::graph::LinkCounts;
use linkproof::error::in_bytes;
use linkproof::io::{
    self, Check, Files, FolderKind, OutputFolder, check_files, check_json, load_check,
};
use linkproof::judge::{MissingLink, judge, missing_links};
use linkproof::text::{self, counted};
use serde_json::{Value, json};

use crate::args::{quoted, whole};
use crate::data::DataArgs;
use crate::exit::Usage;
use crate::inputs;
use crate::judging::{EvidenceArgs, SuspectArgs};
use crate::progress::Progress;
use crate::session::{Session, peak_memory_bytes};
use crate::suspects::Suspects;

/// Say which links look false, in seconds and without a fit
///
/// Compares every link with sampled non-links (unlinked pairs) by everything that is known of
/// its ends but the link itself: features, common neighbors, positions in the graph. Ranks
/// all links, estimates the share of false ones, and tests itself with false links that it
/// plants. Writes a folder:
///
///   suspects.csv   flagged links and the 1,000 most suspicious, by rank, and why
///   beliefs.csv    the estimated probability that a link is real, for all links
///   check.json     shares with their interval, the test, contradictions, duplicates
///
/// A link that looks random is not necessarily false: that, a person must say. --sample 30
/// draws links to verify into sample.csv, whose column 'real' takes 1 or 0; --checked reads
/// it and makes beliefs and shares sharper. Both work on a finished check, without --links.
/// Verified links stay in the folder, in checked.csv.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "EXAMPLE\n  \
    linkproof check --links links.csv --features x.npy --out chk\n  \
    linkproof check --out chk --sample 30\n  \
    linkproof check --out chk --checked chk/sample.csv --clean kept.csv\n  \
    linkproof check --links pairs.csv --features shop.csv --bipartite --one-to-one --out chk\n  \
    linkproof check --links links.csv --evidence score,votes --out chk"
)]
pub struct CheckArgs {
    #[command(flatten)]
    data: NewLinks,
    /// Column of --nodes to show beside ids [default: name, if there is one]
    #[arg(
        long,
        value_name = "COLUMN",
        requires = "nodes",
        help_heading = "Inputs"
    )]
    name: Option<String>,
    #[command(flatten)]
    evidence: EvidenceArgs,
    /// Folder to write, or the folder of a finished check
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: PathBuf,
    /// Replace the check that the folder holds; sample.csv and checked.csv stay
    #[arg(long, help_heading = "Output")]
    force: bool,
    #[command(flatten)]
    suspects: SuspectArgs,
    /// List this many unlinked pairs that look most like links, in missing.csv in the
    /// folder
    #[arg(long, value_name = "N", default_value = "0", requires = "links",
          allow_negative_numbers = true, value_parser = whole)]
    missing: usize,
}

/// The files of a check that is to be made; none if a finished one is to go on.
#[derive(Debug)]
struct NewLinks(Option<DataArgs>);

/// The other options of [`DataArgs`], which mean nothing without links.
const OF_LINKS: [&str; 6] = [
    "features",
    "nodes",
    "directed",
    "bipartite",
    "duplicates",
    "self_links",
];

impl Args for NewLinks {
    fn augment_args(command: Command) -> Command {
        let command = DataArgs::augment_args_for_update(command);
        let needs = |command: Command, id| command.mut_arg(id, |arg| arg.requires("links"));
        OF_LINKS.into_iter().fold(command, needs)
    }

    fn augment_args_for_update(command: Command) -> Command {
        NewLinks::augment_args(command)
    }
}

impl FromArgMatches for NewLinks {
    fn from_arg_matches(matches: &ArgMatches) -> Result<NewLinks, clap::Error> {
        Ok(NewLinks(match matches.contains_id("links") {
            true => Some(DataArgs::from_arg_matches(matches)?),
            false => None,
        }))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = NewLinks::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A check and what of its run is not kept.
struct Outcome {
    check: Check,
    notes: Vec<String>,
    missing: Vec<MissingLink>,
}

/// Runs the command.
pub fn run(args: &CheckArgs, session: &Session) -> anyhow::Result<()> {
    let outcome = check(args, session);
    outcome.map_err(|error| match error.downcast() {
        Ok(error @ Error::Memory { .. }) => too_large(&error),
        Ok(error) => error.into(),
        Err(other) => other,
    })
}

/// Says what a check can do about memory: it has no settings of a fit.
fn too_large(error: &Error) -> anyhow::Error {
    let Error::Memory {
        needed,
        available,
        by,
    } = error
    else {
        return anyhow::anyhow!("{error}");
    };
    anyhow::anyhow!(
        "the check needs about {} of memory, and {} can be had ({by}); give fewer links, or a larger \
         --max-memory if there is more",
        in_bytes(*needed),
        in_bytes(*available)
    )
}

fn check(args: &CheckArgs, session: &Session) -> anyhow::Result<()> {
    let suspects = &args.suspects;
    suspects.check()?;
    let is_new = args.data.0.is_some();
    if !is_new && !args.out.exists() {
        return Err(Usage::new(format!(
            "--out {}: holds no check yet; expected --links FILE, or the folder of a finished check",
            args.out.display()
        ))
        .into());
    }
    check_files_of(args)?;
    // A finished check is only read, unless something about it changes.
    let changes = is_new || suspects.checks.checked.is_some() || suspects.rate.is_some();
    let folder = changes.then(|| output_folder(args)).transpose()?;
    let progress = Progress::start(session, "reading");
    let verified = suspects.checks.read(Some(&args.out))?;
    let Outcome {
        mut check,
        mut notes,
        missing,
    } = match &args.data.0 {
        Some(data) => new_check(args, data, session, &progress)?,
        None => Outcome {
            check: load_check(&args.out)?,
            notes: Vec::new(),
            missing: Vec::new(),
        },
    };
    progress.say("writing");
    let merged = verified.merged(|| check.all_links())?;
    let mut used = check.judgment.recalibrate(&merged.checks);
    used.not_links += merged.not_links;
    suspects.flag(&mut check);
    let seed = session.seed().unwrap_or(0);
    let write_sample = |folder: &Path| suspects.checks.write_sample(&check, seed, folder);
    match folder {
        Some(folder) => {
            if verified.is_extended() {
                merged.write(folder.file(check_files::CHECKED))?;
            }
            write_sample(folder.path())?;
            if args.missing > 0 {
                io::write_missing(folder.file(check_files::MISSING), &check, &missing)?;
            }
            io::write_check(&check, &folder)?;
            folder.commit()?;
        }
        None => write_sample(&args.out)?,
    }
    progress.end();
    let shown = |name: &str| args.out.join(name).display().to_string();
    let list = shown(check_files::SUSPECTS);
    suspects.write_clean(&check, &list)?;
    if args.missing > 0 {
        notes.push(format!(
            "{} without a link that look most like links: {}.",
            counted(missing.len(), "pair"),
            quoted(&shown(check_files::MISSING))
        ));
    }
    let recorded = |name: &str| check.record.get(name);
    let typed = recorded("links_typed").and_then(Value::as_str);
    let told = Suspects {
        check: &check,
        args: suspects,
        checks: (used, merged.replaced),
        command: format!(
            "linkproof check --out {}",
            quoted(&args.out.display().to_string())
        ),
        folder: &args.out,
        list: quoted(&list),
        seconds: recorded("seconds").and_then(Value::as_f64).unwrap_or(0.0),
        fit: typed.map(|typed| format!("linkproof fit {typed} --robust --out model")),
        notes,
    };
    let mut json = check_json(&check)?;
    if let Value::Object(fields) = &mut json {
        fields.remove("facts");
        let out = json!(args.out.display().to_string());
        let id = |row: u32| check.ids.name(row as usize).into_owned();
        let pair = |it: &MissingLink| json!({ "src": id(it.src), "dst": id(it.dst), "agreement": it.agreement });
        let more = [
            ("out", out),
            ("suspects", json!(check.judgment.n_flagged())),
            ("suspects_file", json!(list)),
            ("missing", missing.iter().map(pair).collect()),
        ];
        let more = more.into_iter();
        fields.extend(
            more.chain(told.fields())
                .map(|(name, value)| (name.to_owned(), value)),
        );
    }
    session.finish(&json, &told.words())
}

/// Refuses outputs that would destroy an input. Verified links may stand in the folder,
/// where they stay.
fn check_files_of(args: &CheckArgs) -> anyhow::Result<()> {
    let mut files = Files::default().writes(&args.suspects.clean);
    if let Some(data) = &args.data.0 {
        data.check()?;
        files = files.reads(data.paths()).writes_folder(&args.out);
    }
    files.check()?;
    let parts = check_files::parts().map(|name| args.out.join(name));
    let read = Files::default()
        .reads(&args.suspects.checks.checked)
        .reads(parts);
    Ok(read.writes(&args.suspects.clean).check()?)
}

fn output_folder(args: &CheckArgs) -> Result<OutputFolder, Error> {
    let mut kind = FolderKind::check();
    if let Some(clean) = &args.suspects.clean {
        kind = kind.and(&args.out, clean)?;
    }
    // Both are about the check that the folder holds.
    let goes_on = args.data.0.is_none() || args.suspects.checks.given().is_some();
    OutputFolder::create(&args.out, kind, args.force || goes_on)
}

/// Reads the files and judges the links.
fn new_check(
    args: &CheckArgs,
    data: &DataArgs,
    session: &Session,
    progress: &Progress,
) -> anyhow::Result<Outcome> {
    let began = Instant::now();
    let (input, sources) = data.read(&args.evidence.evidence)?;
    let known = input.data;
    let attributes = input.attributes.unwrap_or_default();
    let attributes = match &args.name {
        Some(column) => attributes.shown_by(column)?,
        None => attributes,
    };
    let seed = session.seed().unwrap_or(0);
    let spec = args.evidence.spec(input.evidence, seed);
    progress.say("judging links");
    let judgment = judge(&known, &spec, session.runtime(progress))?;
    let missing = match args.missing {
        0 => Vec::new(),
        count => missing_links(&known, &spec, count, session.runtime(progress))?,
    };
    let counts = known.graph().counts();
    let mut record = inputs::record(&sources);
    for (name, value) in [
        ("seed", json!(seed)),
        ("test", json!(spec.test)),
        ("evidence", json!(args.evidence.evidence)),
        ("read", json!(counts)),
        ("seconds", json!(began.elapsed().as_secs_f64())),
        ("peak_memory_bytes", json!(peak_memory_bytes())),
        ("links_typed", json!(data.typed())),
    ] {
        record.insert(name.to_owned(), value);
    }
    let header = input.header.unwrap_or_default();
    let notes = left_out(counts, args.evidence.evidence.len(), &header);
    Ok(Outcome {
        notes,
        missing,
        check: Check::new(&known, attributes, judgment, record),
    })
}

/// What was read of the links and not used. Columns that are evidence were used.
fn left_out(mut counts: LinkCounts, evidence: usize, header: &str) -> Vec<String> {
    counts.columns = counts.columns.saturating_sub(evidence);
    let kinds = text::left_out(counts, header, &[]);
    let note = (!kinds.is_empty()).then(|| format!("Left out: {kinds}."));
    note.into_iter().collect()
}
