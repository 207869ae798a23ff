//! `linkproof check`: which links look false, without an embedding.

mod told;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use linkproof::data::graph::LinkCounts;
use linkproof::error::in_bytes;
use linkproof::io::{
    self, Check, Files, FolderKind, MergedChecks, OutputFolder, check_files, load_check,
    read_checks,
};
use linkproof::judge::{ChecksUsed, JudgeSpec, MissingLink, judge, missing_links};
use linkproof::{Dataset, Error};
use serde_json::json;

use crate::args::{quoted, real, whole};
use crate::data::DataArgs;
use crate::evidence;
use crate::exit::Usage;
use crate::inputs::Inputs;
use crate::progress::Progress;
use crate::session::{Session, peak_memory_bytes};
use told::Told;

/// Say which links look false, in seconds and without a fit
///
/// Compares every link with sampled pairs without a link by everything that is known of
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
    /// Columns of the links' file that are evidence about each link, too: larger is
    /// likelier real, or the other way round. An empty cell is no evidence
    #[arg(
        long,
        value_name = "COL[,COL]",
        value_delimiter = ',',
        requires = "links",
        help_heading = "Inputs"
    )]
    evidence: Vec<String>,
    /// Each node has at most one real partner: records of one thing in two catalogues
    #[arg(long, requires = "links", help_heading = "Inputs")]
    one_to_one: bool,
    /// Folder to write, or the folder of a finished check
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: PathBuf,
    /// Replace the check that the folder holds; sample.csv and checked.csv stay
    #[arg(long, help_heading = "Output")]
    force: bool,
    /// Leave out the test with planted links
    #[arg(long, requires = "links")]
    no_test: bool,
    /// Print this many of the most suspicious links
    #[arg(long, value_name = "N", default_value = "20", allow_negative_numbers = true, value_parser = whole)]
    top: usize,
    /// Flag links by belief, as long as at most this share of the flagged is real
    /// [default: all with a belief below 0.5]
    #[arg(long, value_name = "R", allow_negative_numbers = true, value_parser = real)]
    rate: Option<f64>,
    /// File to write with the links worth keeping: all that are not flagged
    #[arg(long, value_name = "FILE")]
    clean: Option<PathBuf>,
    /// Leave the N most suspicious links out of --clean instead
    #[arg(long, value_name = "N", requires = "clean", conflicts_with_all = ["rate", "min_belief"],
          allow_negative_numbers = true, value_parser = whole)]
    drop: Option<usize>,
    /// Leave links with a smaller belief out of --clean instead
    #[arg(long, value_name = "B", requires = "clean", conflicts_with = "rate",
          allow_negative_numbers = true, value_parser = real)]
    min_belief: Option<f64>,
    /// List this many pairs without a link that look most like links, in missing.csv in the
    /// folder
    #[arg(long, value_name = "N", default_value = "0", requires = "links",
          allow_negative_numbers = true, value_parser = whole)]
    missing: usize,
    /// Draw this many links to verify, into sample.csv in the folder; 30 are a good start
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    sample: Option<usize>,
    /// Verified links: src,dst,real, where real is 1, 0 or empty; other columns are
    /// ignored
    #[arg(long, value_name = "FILE")]
    checked: Option<PathBuf>,
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
    /// What was left out of the links.
    left_out: Vec<(usize, String)>,
    /// Inputs that changed while they were read.
    changed: Vec<PathBuf>,
    missing: Vec<MissingLink>,
    checks: ChecksUsed,
    replaced: usize,
}

/// Runs the command.
pub fn run(args: &CheckArgs, session: &Session) -> anyhow::Result<()> {
    let outcome = check(args, session);
    outcome.map_err(|error| match (&args.data.0, error.downcast()) {
        (_, Ok(error @ Error::Memory { .. })) => too_large(&error),
        (Some(data), Ok(error)) => data.in_links(error.into()),
        (None, Ok(error)) => error.into(),
        (_, Err(other)) => other,
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
    check_numbers(args)?;
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
    let changes = is_new || args.checked.is_some() || args.rate.is_some();
    let folder = changes.then(|| output_folder(args)).transpose()?;
    let progress = Progress::start(session, "reading");
    let new = args.checked.as_ref().map(read_checks).transpose()?;
    let kept = args.out.join(check_files::CHECKED);
    let kept = kept.exists().then(|| read_checks(&kept)).transpose()?;
    let mut outcome = match &args.data.0 {
        Some(data) => new_check(args, data, session, &progress)?,
        None => finished(load_check(&args.out)?),
    };
    progress.say("writing");
    let merged = MergedChecks::new(&outcome.check, kept.as_ref(), new.as_ref())?;
    outcome.checks = outcome.check.judgment.recalibrate(&merged.checks);
    outcome.checks.not_links += merged.not_links;
    outcome.replaced = merged.replaced;
    flag(args, &mut outcome.check);
    check_sample(args, &outcome.check, &merged)?;
    if let Some(folder) = folder {
        if new.is_some() {
            merged.write(folder.file(check_files::CHECKED))?;
        }
        if args.sample.is_some() {
            write_sample(args, session, &outcome.check, folder.path())?;
        }
        if args.missing > 0 {
            let path = folder.file(check_files::MISSING);
            io::write_missing(path, &outcome.check, &outcome.missing)?;
        }
        io::write_check(&outcome.check, &folder)?;
        folder.commit()?;
    } else if args.sample.is_some() {
        write_sample(args, session, &outcome.check, &args.out)?;
    }
    progress.end();
    write_clean(args, &outcome.check)?;
    let told = Told::new(args, &outcome);
    session.finish(&told.json()?, &told.words())
}

fn check_numbers(args: &CheckArgs) -> Result<(), Usage> {
    for (name, share) in [("rate", args.rate), ("min-belief", args.min_belief)] {
        if let Some(share) = share
            && !(0.0..=1.0).contains(&share)
        {
            return Err(Usage::new(format!(
                "--{name} must be a number between 0 and 1, but is {share}"
            )));
        }
    }
    if args.sample == Some(0) {
        return Err(Usage::new(
            "--sample must be a whole number of 1 or more, but is 0",
        ));
    }
    Ok(())
}

/// Refuses outputs that would destroy an input. Verified links may stand in the folder,
/// where they stay.
fn check_files_of(args: &CheckArgs) -> anyhow::Result<()> {
    let mut files = Files::default().writes(&args.clean);
    if let Some(data) = &args.data.0 {
        data.check()?;
        files = files.reads(data.paths()).writes_folder(&args.out);
    }
    files.check()?;
    let parts = check_files::parts().map(|name| args.out.join(name));
    let read = Files::default().reads(&args.checked).reads(parts);
    Ok(read.writes(&args.clean).check()?)
}

fn output_folder(args: &CheckArgs) -> Result<OutputFolder, Error> {
    let mut kind = FolderKind::check();
    if let Some(clean) = &args.clean {
        kind = kind.and(&args.out, clean)?;
    }
    // Both are about the check that the folder holds.
    let goes_on = args.data.0.is_none() || args.checked.is_some() || args.sample.is_some();
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
    let mut inputs = Inputs::before(data.paths())?;
    let (known, attributes) = data.read_with_evidence(&args.evidence)?;
    let attributes = attributes.unwrap_or_default();
    let attributes = match &args.name {
        Some(column) => attributes.shown_by(column)?,
        None => attributes,
    };
    let seed = session.seed().unwrap_or(0);
    let spec = JudgeSpec {
        seed,
        one_to_one: args.one_to_one,
        columns: evidence::read(data.links(), &args.evidence, &known)?,
        test: !args.no_test,
        ..JudgeSpec::default()
    };
    inputs.after();
    progress.say("judging links");
    let mut judgment = judge(&known, &spec, session.runtime(progress))?;
    judgment.sort_by_ends();
    let missing = match args.missing {
        0 => Vec::new(),
        count => missing_links(&known, &spec, count, session.runtime(progress))?,
    };
    let counts = known.graph().counts();
    let mut record = inputs.record();
    for (name, value) in [
        ("seed", json!(seed)),
        ("test", json!(spec.test)),
        ("evidence", json!(args.evidence)),
        ("read", json!(counts)),
        ("seconds", json!(began.elapsed().as_secs_f64())),
        ("peak_memory_bytes", json!(peak_memory_bytes())),
        ("links_typed", json!(data.typed())),
    ] {
        record.insert(name.to_owned(), value);
    }
    Ok(Outcome {
        left_out: left_out(data, counts, args.evidence.len()),
        changed: inputs.changed().map(Path::to_owned).collect(),
        check: Check {
            ids: known.ids().clone(),
            views: views_of(&known),
            attributes,
            judgment,
            record,
        },
        missing,
        checks: ChecksUsed::default(),
        replaced: 0,
    })
}

/// The kinds of links that were read and not used. Columns that are evidence were used.
fn left_out(data: &DataArgs, mut counts: LinkCounts, evidence: usize) -> Vec<(usize, String)> {
    counts.columns = counts.columns.saturating_sub(evidence);
    crate::session::left_out(counts, &data.header(counts))
}

/// The view of each node in the user's order, if there are several views.
fn views_of(data: &Dataset) -> Option<Vec<String>> {
    if data.ids().sides().is_some() || data.views().iter().all(|view| view.name.is_empty()) {
        return None;
    }
    let mut views = vec![String::new(); data.n_nodes()];
    for row in 0..data.n_nodes() {
        let view = data.view_of(row as u32);
        views[data.user_row(row)].clone_from(&data.views()[view].name);
    }
    Some(views)
}

fn finished(check: Check) -> Outcome {
    Outcome {
        check,
        left_out: Vec::new(),
        changed: Vec::new(),
        missing: Vec::new(),
        checks: ChecksUsed::default(),
        replaced: 0,
    }
}

/// Flags links by `--rate`; verified ones keep their flags.
fn flag(args: &CheckArgs, check: &mut Check) {
    let Some(rate) = args.rate else { return };
    let flagged = check.judgment.at_rate(rate);
    for link in &mut check.judgment.links {
        link.suspect = link.verified == Some(false);
    }
    for place in flagged {
        let link = &mut check.judgment.links[place];
        link.suspect = link.verified != Some(true);
    }
}

/// Refuses to replace a sample with answers that nobody has read.
fn check_sample(args: &CheckArgs, check: &Check, merged: &MergedChecks) -> anyhow::Result<()> {
    let path = args.out.join(check_files::SAMPLE);
    if args.sample.is_none() || !path.exists() {
        return Ok(());
    }
    let answers = read_checks(&path)?.checks;
    let unread = answers.iter().filter(|it| !merged.has(check, it)).count();
    if unread == 0 {
        return Ok(());
    }
    let shown = path.display().to_string();
    Err(Usage::new(format!(
        "--sample: {shown} holds {unread} answers that no check has read, and would be replaced; \
         expected --checked {} too",
        quoted(&shown)
    ))
    .into())
}

fn write_sample(
    args: &CheckArgs,
    session: &Session,
    check: &Check,
    folder: &Path,
) -> anyhow::Result<()> {
    let Some(count) = args.sample else {
        return Ok(());
    };
    let seed = session.seed().unwrap_or(0);
    let places = check.judgment.sample(count, seed);
    Ok(io::write_sample(folder, check, &places)?)
}

/// The places of the links that `--clean` keeps.
fn kept_places(args: &CheckArgs, check: &Check) -> Vec<usize> {
    let links = &check.judgment.links;
    let is_kept = |place: &usize| {
        let link = &links[*place];
        match (args.drop, args.min_belief) {
            (Some(count), _) => link.rank > count,
            (None, Some(least)) => link.belief >= least,
            (None, None) => !link.suspect,
        }
    };
    (0..links.len()).filter(is_kept).collect()
}

/// Writes the links worth keeping, unless nobody could judge them.
fn write_clean(args: &CheckArgs, check: &Check) -> anyhow::Result<()> {
    let Some(path) = &args.clean else {
        return Ok(());
    };
    if check.judgment.facts.abstained && args.drop.is_none() {
        anyhow::bail!(
            "--clean {}: not written, since the links look random to everything that is known, and \
             none can be called false. {} has their order: give --drop N to leave out the first N",
            path.display(),
            args.out.join(check_files::SUSPECTS).display()
        )
    }
    let kept = kept_places(args, check);
    if kept.is_empty() {
        anyhow::bail!(
            "--clean {}: not written, since no link is left; give a smaller --drop or --min-belief",
            path.display()
        )
    }
    Ok(io::write_links(path, &check.graph(kept.into_iter())?)?)
}
