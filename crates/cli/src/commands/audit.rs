//! `linkproof audit`: which links of a model look false, and which are missing.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use linkproof::audit::{Audit, AuditSettings, ExpectedLink, Missing, audit, discovery_rates};
use linkproof::io::{
    self, Check, Field, JudgedTable, Stored, check_files, check_json, implanted_json, model_files,
};
use linkproof::judge::JudgeSpec;
use linkproof::text::{Reader, Said, Style, Topic, figures, judged, topics};
use linkproof::{Error, Fitted, Graph};
use serde_json::{Map, Value, json};

use crate::args::{quoted, whole};
use crate::exit::Usage;
use crate::judged::JudgedArgs;
use crate::judging::{EvidenceArgs, SuspectArgs};
use crate::nodes::{called, named_by};
use crate::progress::Progress;
use crate::session::Session;
use crate::suspects::Suspects;

/// Say which links of a model look false, and which are missing
///
/// Ranks the links of the model, the most suspicious first, and prints the first ones. A
/// robust fit has judged its links; those of another fit, and the links of another file
/// (--links), are judged now. Without features (--features) they are judged by links
/// alone. --out writes all links:
///
///   rank       suspicion rank: what to verify first
///   belief     the estimated probability that the link is real; empty if the links look
///              random to everything that is known
///   suspect    1 if the link is flagged
///   why        the reasons in words
///   mu         the weight that the model expects
///   trust      p(w|mu)/p(w|w) if the weight is larger than expected, else 1
///   influence  the link's weight in the model's estimating equation
///   false_discovery_rate
///              the mean belief in the links that are believed no more
///
/// --sample 30 draws links to verify into sample.csv in the model folder; --checked reads
/// the answers. They are kept there, in checked.csv, and count in every later audit; a new
/// fit with --checked counts them in the embedding, too.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "EXAMPLE\n  \
    linkproof audit --model model\n  \
    linkproof audit --model model --out audit.csv --clean kept.csv --missing 20\n  \
    linkproof audit --model model --sample 30\n  \
    linkproof audit --model model --checked model/sample.csv\n  \
    linkproof audit --model model --links new.csv --features x.npy --out audit.csv"
)]
pub struct AuditArgs {
    #[command(flatten)]
    judged: JudgedArgs,
    #[command(flatten)]
    evidence: EvidenceArgs,
    /// Column of the model's nodes.csv to show beside ids [default: name, if there is one]
    #[arg(long, value_name = "COLUMN")]
    name: Option<String>,
    /// CSV file to write with all links, by rank
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    suspects: SuspectArgs,
    /// List this many unlinked pairs that the model expects most
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
    args.suspects.check()?;
    let missing_out = args.missing_out.clone().or_else(|| beside(&args.out));
    let missing_out = missing_out.filter(|_| args.missing > 0);
    let files = args.judged.files().reads(&args.suspects.checks.checked);
    let files = files.writes(&args.out).writes(&args.suspects.clean);
    files.writes(&missing_out).check()?;
    let began = Instant::now();
    let progress = Progress::start(session, "reading");
    let Stored { model, record, .. } = args.judged.model()?;
    let model = named_by(model, args.name.as_deref())?;
    let (data, evidence) = args.judged.data(&model, &args.evidence.evidence)?;
    let answered = model.believed().and_then(|it| it.judgment(model.links()));
    let is_own = match &data {
        None => true,
        Some(data) => is_same(&data.user_graph()?, model.links()),
    };
    // Of its own links a robust fit has the judgment.
    let is_known = is_own && answered.is_some() && args.evidence.given().is_none();
    let data = data.filter(|_| !is_known);
    let folder = is_own.then(|| args.judged.folder());
    if folder.is_none() && args.suspects.checks.sample.is_some() {
        return Err(Usage::new(
            "--sample: draws from the model's own links; for others use 'linkproof check --links \
             FILE --out DIR', then --sample on its folder",
        )
        .into());
    }
    let verified = args.suspects.checks.read(folder)?;
    let mut notes = notes_before(&model, is_known);
    let settings = AuditSettings {
        judge: match (&data, args.judged.links()) {
            (Some(_), Some(_)) => args.evidence.spec(evidence, model.params().seed),
            _ => JudgeSpec::default(),
        },
        missing: args.missing,
    };
    progress.say("judging");
    let found = audit(&model, data.as_ref(), &settings, session.runtime(&progress))?;
    if found.by_links_alone {
        notes.push(
            "The links are judged by links alone: give the features that the model was fitted \
             with, --features FILE, for more."
                .to_owned(),
        );
    }
    let Audit {
        judgment,
        expected,
        missing,
        by_links_alone,
        ..
    } = found;
    let mut check = Check::of_model(&model, judgment, recorded(&record, is_own));
    let merged = verified.merged(|| check.all_links())?;
    let mut used = check.judgment.recalibrate(&merged.checks);
    used.not_links += merged.not_links;
    args.suspects.flag(&mut check);
    let typed = record.get("links_typed").and_then(Value::as_str);
    if let Some(folder) = folder {
        let seed = session.seed().unwrap_or(0);
        args.suspects.checks.write_sample(&check, seed, folder)?;
        if verified.is_extended() {
            merged.write(folder.join(check_files::CHECKED))?;
            if model.believed().is_some() {
                let table = JudgedTable::of(&check);
                table.write_suspects(folder.join(model_files::SUSPECTS))?;
            }
        }
    }
    progress.end();
    if let Some(out) = &args.out {
        JudgedTable::of(&check).write_all(out, &columns(&model, &check, &expected))?;
    }
    if let Some(path) = &missing_out {
        write_missing(path, &model, &missing)?;
    }
    let list = args.list(folder.filter(|_| answered.is_some()));
    args.suspects.write_clean(&check, &list)?;
    let told = Suspects {
        check: &check,
        args: &args.suspects,
        checks: (used, merged.replaced),
        command: format!("linkproof audit {}", args.judged.typed(is_own)),
        folder: args.judged.folder(),
        list,
        seconds: began.elapsed().as_secs_f64(),
        fit: typed.filter(|_| used.verified > 0).map(|typed| {
            let model = quoted(&args.judged.folder().display().to_string());
            format!("linkproof fit {typed} --robust --force --out {model}")
        }),
        notes,
    };
    let json = as_json(args, &told, &missing, by_links_alone)?;
    let mut words = told.words();
    words.push_str(&missing_in_words(&model, &missing, missing_out.as_deref()));
    session.finish(&json, &words)
}

impl AuditArgs {
    /// Where the list of suspects is; `folder` is that of a model that has one.
    fn list(&self, folder: Option<&Path>) -> String {
        let own = folder.map(|folder| folder.join(model_files::SUSPECTS));
        match self.out.clone().or(own) {
            Some(path) => quoted(&path.display().to_string()),
            None => "the list above (--out FILE writes all of it)".to_owned(),
        }
    }
}

/// The usual file of missing pairs.
fn beside(out: &Option<PathBuf>) -> Option<PathBuf> {
    Some(out.as_ref()?.with_file_name("missing.csv"))
}

/// Whether two graphs of the same nodes have the same links.
fn is_same(a: &Graph, b: &Graph) -> bool {
    a.n_links() == b.n_links() && a.links().eq(b.links())
}

/// What to know before the rows.
fn notes_before(model: &Fitted, answered: bool) -> Vec<String> {
    let is_old = model.believed().is_some_and(|it| it.facts.is_none());
    let note = (is_old && !answered).then(|| {
        "The model was written by an earlier version: its links are judged anew.".to_owned()
    });
    note.into_iter().collect()
}

/// What a fit recorded of the judgment of its links.
fn recorded(record: &Map<String, Value>, is_own: bool) -> Map<String, Value> {
    let names = ["test", "evidence"].into_iter().filter(|_| is_own);
    let known = names.filter_map(|name| Some((name.to_owned(), record.get(name)?.clone())));
    known.collect()
}

/// What the model expects of each link, and rates of false discoveries.
fn columns(
    model: &Fitted,
    check: &Check,
    expected: &[ExpectedLink],
) -> Vec<(&'static str, Vec<f64>)> {
    let all =
        |number: &dyn Fn(&ExpectedLink) -> f64| expected.iter().map(number).collect::<Vec<f64>>();
    let mut rates = discovery_rates(&check.judgment);
    if check.judgment.facts.abstained {
        rates.fill(f64::NAN);
    }
    let mut columns = vec![
        ("mu", all(&|link| link.mu)),
        ("trust", all(&|link| link.trust)),
        ("influence", all(&|link| link.influence)),
        ("false_discovery_rate", rates),
    ];
    if model.replicates().is_some() {
        let spread = |link: &ExpectedLink| {
            let spread = model.spread(link.src as usize, link.dst as usize);
            spread.map_or(f64::NAN, |spread| spread.error)
        };
        columns.push(("log_mu_error", all(&spread)));
    }
    columns
}

fn write_missing(path: &Path, model: &Fitted, missing: &[Missing]) -> Result<(), Error> {
    let names = model.has_names().then_some(["src_name", "dst_name"]);
    let columns = ["src", "dst", "mu"].into_iter();
    let columns: Vec<&str> = columns.chain(names.into_iter().flatten()).collect();
    io::write_table(path, &columns, |rows| {
        for pair in missing {
            let ends = [pair.src, pair.dst];
            let [src, dst] = ends.map(|row| model.ids().name(row as usize));
            let mut fields = vec![Field::Text(&src), Field::Text(&dst), Field::Real(pair.mu)];
            let titles = ends.map(|row| Field::Optional(model.title(row as usize)));
            fields.extend(names.map(|_| titles).into_iter().flatten());
            rows.row(&fields)?;
        }
        Ok(())
    })
}

fn missing_in_words(model: &Fitted, missing: &[Missing], path: Option<&Path>) -> String {
    const SHOWN: usize = 5;
    if missing.is_empty() {
        return String::new();
    }
    let shown = match path {
        Some(_) => &missing[..missing.len().min(SHOWN)],
        None => missing,
    };
    let pairs = shown.iter().map(|pair| {
        let [src, dst] = [pair.src, pair.dst].map(|row| called(model, row as usize));
        format!("{src} - {dst}: expected weight {}", figures(pair.mu))
    });
    let all = path.map(|path| format!("All are in {}.", path.display()));
    let said: Vec<Said> = pairs
        .chain(all)
        .map(|it| Said::new(Topic::Missing, it))
        .collect();
    format!("\n{}", topics(&said))
}

fn as_json(
    args: &AuditArgs,
    told: &Suspects<'_>,
    missing: &[Missing],
    by_links_alone: bool,
) -> Result<Value, Error> {
    let check = told.check;
    let (judgment, facts) = (&check.judgment, &check.judgment.facts);
    let name = |row: u32| check.ids.name(row as usize).into_owned();
    let missing = missing.iter();
    let missing =
        missing.map(|pair| json!({ "src": name(pair.src), "dst": name(pair.dst), "mu": pair.mu }));
    let tested = check.record.get("test").and_then(Value::as_bool);
    let reader = Reader {
        style: Style::Cli,
        name: &|row| check.called(row),
        suspects: None,
        sample: None,
    };
    let verdict = judged(facts, &judgment.tally(), tested.unwrap_or(true), &reader);
    let out = args.out.as_ref().map(|path| path.display().to_string());
    let mut json = check_json(check)?;
    if let Value::Object(fields) = &mut json {
        for only_in_folders in ["facts", "ends", "format_version", "name_column"] {
            fields.remove(only_in_folders);
        }
        let more = [
            ("out", json!(out)),
            ("suspects", json!(judgment.n_flagged())),
            ("false_discovery_rate", json!(args.suspects.rate)),
            ("auc_decoys", json!(facts.auc)),
            ("implanted", implanted_json(facts)),
            ("judged_by_links_alone", json!(by_links_alone)),
            ("verdict", json!(verdict)),
            ("missing", missing.collect()),
        ];
        let more = more.into_iter().chain(told.fields());
        fields.extend(more.map(|(name, value)| (name.to_owned(), value)));
    }
    Ok(json)
}
