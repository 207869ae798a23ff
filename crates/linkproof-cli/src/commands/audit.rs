//! `linkproof audit`: which links not to trust.

mod told;

use std::path::PathBuf;

use clap::Args;
use linkproof::audit::{
    Baseline, Contest, CrossFit, Discovery, Missing, Thresholds, Verdict, contest, discover, judge,
    missing,
};
use linkproof::graph::Graph;
use linkproof::io;
use linkproof::model::held_out_pairs;
use linkproof::{Dataset, Error, Fitted};

use crate::args::{real, whole};
use crate::beliefs::Beliefs;
use crate::exit::Usage;
use crate::judged::{Judged, JudgedArgs};
use crate::progress::Progress;
use crate::session::Session;
use told::{as_json, words, write_missing, write_verdicts};

/// Say which links not to trust, and which are missing
///
/// Judges every link by fits that did not see it, and writes it with its weight
/// and the weight that the model expects, least believed first:
///
///   trust      p(w|mu)/p(w|w) where the weight is larger than expected, else 1
///   influence  the link's weight in the model's estimating equation
///   surprise   -log10 of the chance of a weight as large, by Poisson
///   fdr        chance that it is sound, by the model's own expected weights
///   suspect    1 where false_discovery_rate is at most --false-discovery-rate
///   cosine     of the data vectors, the plain baseline (with --features)
///   belief     chance that the link is sound
///   false_discovery_rate
///              share of sound links among those that are believed no more
///   rank       share of pairs without a link, of degrees like its own, that have
///              more to say for them; rank_embeddings, rank_averages,
///              rank_data_vectors, rank_common_neighbors: the same by one kind of
///              evidence
///   weight_odds
///              what its weight multiplied the odds by: above 1 it speaks for the
///              link, below 1 against it
///
/// Give the data vectors that the model was fitted with (--features); without
/// them links are judged by links alone. To check itself, the judge puts in links
/// that it knows to be false, and the summary says what became of them. Where
/// links cannot be told from pairs without a link it says so: then no link is
/// called false, and the least trusted come first.
///
/// --no-judge is faster: it leaves the last columns out and goes by trust and fdr.
/// The model has seen its links and is a little too kind to them: --cross-fit takes
/// mu, trust and fdr from fits that have not.
///
/// A fit with --walks saw weights averaged over walks and expects such weights, so
/// trust and surprise compare the link's weight averaged over the walks of all links;
/// the column weight shows what was observed.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "EXAMPLE\n  \
    linkproof audit --model model --links links.csv --features x.npy --out audit.csv\n  \
    linkproof audit --model model --links links.csv --features x.npy --out audit.csv \\\n      \
    --clean kept.csv --false-discovery-rate 0.05 --missing 20\n  \
    linkproof audit --model model --links links.csv --no-judge --min-trust 1e-6 \\\n      \
    --out audit.csv --clean kept.csv"
)]
pub struct AuditArgs {
    #[command(flatten)]
    judged: JudgedArgs,
    /// CSV file to write: src,dst,weight,mu,trust,influence and more
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// File to write with the links worth keeping: all but the suspects
    #[arg(long, value_name = "FILE")]
    clean: Option<PathBuf>,
    /// Links with less trust than this are suspects, whatever their fdr
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = real)]
    min_trust: Option<f64>,
    /// The least believed links are suspects, with at most this share of sound
    /// links among them; none where links could not be judged
    /// [default: 0.1, or none with --min-trust or --fdr]
    #[arg(long, value_name = "Q", conflicts_with = "no_judge", allow_negative_numbers = true, value_parser = real)]
    false_discovery_rate: Option<f64>,
    /// Do not judge: trust and fdr alone
    #[arg(long)]
    no_judge: bool,
    /// Links are suspects where fdr is at most this [default: none, or 0.1 with
    /// --no-judge and without --min-trust]
    #[arg(long, value_name = "Q", allow_negative_numbers = true, value_parser = real)]
    fdr: Option<f64>,
    /// Take mu, trust and fdr from fits that did not see the link: one for each
    /// fold, from --features
    #[arg(long)]
    cross_fit: bool,
    /// Folds of the judge and of --cross-fit [default: 5]
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
    /// How far they are believed; none where they were not judged.
    beliefs: Option<Beliefs>,
    discovery: Discovery,
    contest: Option<Contest>,
    missing: Vec<Missing>,
}

/// Runs the command.
pub fn run(args: &AuditArgs, session: &Session) -> anyhow::Result<()> {
    audit(args, session).map_err(|error| args.judged.in_links(error))
}

fn audit(args: &AuditArgs, session: &Session) -> anyhow::Result<()> {
    let limits = Limits::new(args)?;
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
    let suspects: Vec<bool> = (0..found.verdicts.len())
        .map(|place| limits.call(&found, place))
        .collect();
    let baseline = Baseline::new(data);
    write_verdicts(&args.out, model, &found, &suspects, baseline.as_ref())?;
    if let Some(clean) = &args.clean {
        io::write_links(clean, &kept(data, &found.verdicts, &suspects)?)?;
    }
    if args.missing > 0 {
        write_missing(&missing_path(args), model, &found.missing)?;
    }
    let json = as_json(args, model, &found, &suspects, &limits);
    session.finish(&json, &words(args, model, &found, &suspects, &limits))
}

/// What makes a link a suspect.
struct Limits {
    /// The share of sound links among the least believed ones.
    beliefs: Option<f64>,
    /// By the model's own expected weights.
    own: Option<Thresholds>,
}

impl Limits {
    fn new(args: &AuditArgs) -> Result<Limits, Error> {
        let own = Thresholds::new(args.fdr, args.min_trust)?;
        let is_given = args.fdr.is_some() || args.min_trust.is_some();
        let rate = args.false_discovery_rate;
        if let Some(given) = rate.filter(|rate| !(0.0..=1.0).contains(rate)) {
            let name = "false-discovery-rate";
            return Err(Error::argument(name, "between 0 and 1", given));
        }
        Ok(Limits {
            beliefs: rate.or((!args.no_judge && !is_given).then_some(0.1)),
            own: (is_given || args.no_judge).then_some(own),
        })
    }

    fn call(&self, found: &Findings, place: usize) -> bool {
        let beliefs = found.beliefs.as_ref().filter(|beliefs| beliefs.speak());
        let link = beliefs.and_then(|beliefs| beliefs.links[place]);
        let by_belief = self
            .beliefs
            .zip(link)
            .is_some_and(|(limit, link)| link.false_discovery_rate <= limit);
        let own = self.own.as_ref();
        let (verdict, rate) = (&found.verdicts[place], found.discovery.rates[place]);
        by_belief || own.is_some_and(|own| own.call(verdict, rate))
    }

    fn in_words(&self) -> String {
        let beliefs = self.beliefs.map(|rate| {
            let percent = 100.0 * rate;
            format!("the least believed, at most {percent}% of them sound")
        });
        let own = self.own.iter();
        let fdr = own.clone().filter_map(|own| own.fdr);
        let fdr = fdr.map(|fdr| format!("sound with a chance of {fdr} or less"));
        let trust = own.filter_map(|own| own.trust);
        let trust = trust.map(|trust| format!("of a trust below {trust}"));
        let all: Vec<String> = beliefs.into_iter().chain(fdr).chain(trust).collect();
        all.join(", or ")
    }
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
    let discovery = discover(&verdicts, model.params().weights, &random);
    let beliefs = match args.no_judge {
        true => None,
        false => Some(judged.believe(args.judged.folder(), args.folds, progress)?),
    };
    let found = Findings {
        beliefs: beliefs.map(|beliefs| beliefs.of(&verdicts)),
        discovery,
        verdicts,
        contest,
        missing: missing(model, &links, args.missing),
    };
    Ok(found.ordered())
}

impl Findings {
    /// The least believed first, where beliefs say something; they come least
    /// trusted first.
    fn ordered(mut self) -> Findings {
        let Some(beliefs) = self.beliefs.as_mut().filter(|beliefs| beliefs.speak()) else {
            return self;
        };
        let belief = |place: &usize| {
            let link = &beliefs.links[*place];
            link.as_ref().map_or(f64::INFINITY, |link| link.belief)
        };
        let mut order: Vec<usize> = (0..self.verdicts.len()).collect();
        order.sort_by(|a, b| belief(a).total_cmp(&belief(b)));
        beliefs.links = order.iter().map(|&place| beliefs.links[place]).collect();
        self.verdicts = order.iter().map(|&place| self.verdicts[place]).collect();
        let rates = &mut self.discovery.rates;
        *rates = order.iter().map(|&place| rates[place]).collect();
        self
    }

    /// By what the links are in order.
    fn order(&self) -> &'static str {
        let beliefs = self.beliefs.as_ref();
        match beliefs.is_some_and(Beliefs::speak) {
            true => "belief",
            false => "trust",
        }
    }
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

fn missing_path(args: &AuditArgs) -> PathBuf {
    let beside = || args.out.with_file_name("missing.csv");
    args.missing_out.clone().unwrap_or_else(beside)
}
