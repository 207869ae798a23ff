//! `linkproof inspect`: a look at the data before the fit.

use clap::Args;
use linkproof::Params;
use linkproof::inspect::{Report, inspect as look};
use linkproof::io::Input;
use linkproof::text::{Style, figures, inspection, inspection_json, left_out};
use serde_json::{Value, json};

use crate::args::whole;
use crate::data::DataArgs;
use crate::progress::Progress;
use crate::session::Session;

/// Look at links and data vectors before a fit
///
/// Prints how many nodes, links and components there are, how degrees and weights
/// are distributed, which weights a Poisson model would call impossible, about how
/// many links look random, whether features and links agree, what each solver would
/// cost on this machine, and which settings to begin with, and why. Writes nothing.
///
/// Features and links agree if linked nodes have more similar features than random
/// pairs of the same degrees. If they do not agree, k-means on the features alone is
/// the better choice.
///
/// A weight is impossible where a Poisson count with the expected weight of its
/// pair reaches it with a chance below one in a million (or less in graphs of
/// more than 10,000 links). Expected is the median of all weights, or that of the
/// other links of one of its nodes if that is larger.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  \
    linkproof inspect --links links.csv --features x.npy\n  \
    linkproof inspect --links counts.csv --dim 16 --json")]
pub struct InspectArgs {
    #[command(flatten)]
    data: DataArgs,
    /// Dimension of the embedding that a fit would have, for its cost
    /// [default: 64]
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = whole)]
    dim: Option<usize>,
}

/// Runs the command.
pub fn run(args: &InspectArgs, session: &Session) -> anyhow::Result<()> {
    let defaults = Params::default();
    let params = Params {
        dim: args.dim.unwrap_or(defaults.dim),
        seed: session.seed().unwrap_or(defaults.seed),
        ..defaults
    }
    .check()?;
    args.data.check()?;
    let progress = Progress::start(session, "reading");
    let Input { data, header, .. } = args.data.read(&[])?.0;
    progress.say("looking");
    let report = look(&data, &params)?;
    progress.end();
    let device = session.device(data.n_nodes())?;
    let forecast = match device.card() {
        Some(card) => {
            let score = params.score().capped::<f32>();
            let forecast = card.forecast(data.n_nodes(), params.dim, &score)?;
            Some((card.name(), forecast))
        }
        None => None,
    };
    let next = Next::new(args, &report);
    let mut json = inspection_json(&report, Style::Cli);
    if let Value::Object(fields) = &mut json {
        fields.insert("dim".to_owned(), params.dim.into());
        if let Some((name, cost)) = forecast {
            let cost = json!({
                "name": name, "pass_seconds": cost.seconds,
                "memory_bytes": cost.bytes, "free_bytes": cost.free,
            });
            fields.insert("device".to_owned(), cost);
        }
        fields.insert("command".to_owned(), next.robust.clone().into());
        fields.insert("plain_command".to_owned(), next.plain.clone().into());
    }
    let device = forecast.map(|(name, cost)| {
        let fact = format!(
            "{} ms for all pairs once, {} MB of its memory ({} MB free)",
            figures(1e3 * cost.seconds),
            (cost.bytes >> 20).max(1),
            cost.free >> 20
        );
        (name, fact)
    });
    let left_out = left_out(report.read, header.as_deref().unwrap_or_default(), &[]);
    let words = inspection(&report, params.dim, &left_out, device, Style::Cli);
    session.finish(&json, &(words + &next.words()))
}

/// The fits to run next. What a fit chooses by itself is left to it.
struct Next {
    robust: String,
    plain: String,
    /// Where the data vectors alone are the better choice: to cluster these.
    vectors: Vec<String>,
}

impl Next {
    fn new(args: &InspectArgs, report: &Report) -> Next {
        let advice = &report.advice;
        let dim = args.dim.map(|dim| format!(" --dim {dim}"));
        let fit = format!(
            "linkproof fit {}{}",
            args.data.typed(),
            dim.unwrap_or_default()
        );
        let (score, beta, weights) = (advice.score, advice.beta, advice.weights);
        let files = args.data.feature_files();
        let cluster =
            |file| format!("linkproof cluster --features {file} --clusters K --out clusters.csv");
        let alone = report.agreement.as_ref().is_some_and(|it| it.vectors_alone);
        Next {
            vectors: files.filter(|_| alone).map(cluster).collect(),
            robust: format!("{fit} --robust --out model"),
            plain: format!("{fit} --score {score} --beta {beta} --weights {weights} --out model"),
        }
    }

    fn words(&self) -> String {
        let what = match self.vectors.as_slice() {
            [] => "a robust fit, which judges links and needs no settings, or a plain one",
            _ => "clusters of the features (K: how many you want); or a fit, robust or plain",
        };
        let lines = self.vectors.iter().chain([&self.robust, &self.plain]);
        let lines = lines.map(|line| format!("\n  {line}"));
        format!("Next: {what}{}", lines.collect::<String>())
    }
}
