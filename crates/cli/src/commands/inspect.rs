//! `linkproof inspect`: a look at the data before the fit.

use std::fmt::{Display, Write};

use clap::Args;
use linkproof::Params;
use linkproof::inspect::{
    Report, SolverCost, Tail, Vectors, Way, Weights, advise, in_percent, inspect as look,
};
use linkproof::io::Input;
use linkproof::verdict::auc;
use linkproof_cuda::Forecast;
use serde_json::{Value, json};

use crate::args::whole;
use crate::data::DataArgs;
use crate::progress::Progress;
use crate::session::{Session, counted, counted_kinds, figure, left_out, wrapped};
use crate::words::Flags;

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
    let next = Next::new(args, &report, header.unwrap_or_default());
    let mut json = json!(report);
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
    session.finish(&json, &words(&report, params.dim, forecast, &next))
}

/// The fits to run next. What a fit chooses by itself is left to it.
struct Next {
    robust: String,
    plain: String,
    /// The first line of the links, where it was taken for a header.
    header: String,
    /// Where the data vectors alone are the better choice: to cluster these.
    vectors: Vec<String>,
}

impl Next {
    fn new(args: &InspectArgs, report: &Report, header: String) -> Next {
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
            header,
            vectors: files.filter(|_| alone).map(cluster).collect(),
            robust: format!("{fit} --robust --out model"),
            plain: format!("{fit} --score {score} --beta {beta} --weights {weights} --out model"),
        }
    }
}

fn words(report: &Report, dim: usize, forecast: Option<(&str, Forecast)>, next: &Next) -> String {
    let mut text = format!(
        "{} and {}\n",
        counted(report.nodes, "node"),
        counted(report.links, "link")
    );
    shape(&mut text, report, next);
    weights(&mut text, &report.weights);
    paragraphs(&mut text, "Links and features", &links(report));
    let _ = writeln!(
        text,
        "Estimated cost of a fit in {}, with {} of this machine",
        counted(dim, "dimension"),
        counted(report.threads, "thread"),
    );
    for cost in &report.solvers {
        line(&mut text, &solver(cost), &price(cost));
    }
    if let Some((name, cost)) = forecast {
        let fact = format!(
            "{} ms for all pairs once, {} MB of its memory ({} MB free)",
            figure(1e3 * cost.seconds),
            (cost.bytes >> 20).max(1),
            cost.free >> 20
        );
        line(&mut text, name, &fact);
    }
    let advice = advise(report, &Flags);
    paragraphs(&mut text, "Settings of a plain fit", &advice.reasons);
    paragraphs(&mut text, "Keep in mind", &advice.cautions);
    let what = match next.vectors.as_slice() {
        [] => "a robust fit, which judges links and needs no settings, or a plain one",
        _ => "clusters of the data vectors (K: how many you want); or a fit, robust or plain",
    };
    let _ = write!(text, "Next: {what}");
    for line in next.vectors.iter().chain([&next.robust, &next.plain]) {
        let _ = write!(text, "\n  {line}");
    }
    text
}

/// A heading and what stands below it, each item broken into lines.
fn paragraphs(text: &mut String, heading: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    let _ = writeln!(text, "{heading}");
    for item in items {
        let _ = writeln!(text, "{}", wrapped("  -", item));
    }
}

/// One fact: its name and what there is to say.
fn line(text: &mut String, name: &str, fact: &str) {
    let _ = writeln!(text, "  {name:<15} {fact}");
}

fn shape(text: &mut String, report: &Report, next: &Next) {
    let pairs = format!(
        "{}, {} of them linked",
        report.pairs,
        in_percent(report.linked_share)
    );
    line(text, "pairs", &pairs);
    for view in report.views.iter().filter(|_| report.views.len() > 1) {
        let isolated = format!(
            "{}, {} of them isolated",
            counted(view.nodes, "node"),
            view.isolated
        );
        line(text, &format!("view {}", view.name), &isolated);
    }
    for pair in report.view_pairs.iter().filter(|_| report.views.len() > 1) {
        let name = format!("{}:{}", pair.views.0, pair.views.1);
        let links = format!(
            "{} between {} pairs",
            counted(pair.links, "link"),
            pair.pairs
        );
        line(text, &name, &links);
    }
    let d = &report.degrees;
    let degrees = format!(
        "{:.1} links a node; min {}, 25% {}, median {}, 75% {}, 99% {}, max {}",
        d.mean, d.min, d.q25, d.median, d.q75, d.q99, d.max
    );
    line(text, "degree", &degrees);
    let largest = d.largest.iter();
    let largest = largest.map(|hub| format!("{} ({})", hub.node, hub.degree));
    line(text, "most links", &joined(largest));
    let isolated = &report.isolated;
    if isolated.count > 0 {
        let more = if isolated.count > isolated.examples.len() {
            ", .."
        } else {
            ""
        };
        let examples = joined(isolated.examples.iter());
        let isolated = format!("{}: {examples}{more}", counted(isolated.count, "node"));
        line(text, "isolated", &isolated);
    }
    line(text, "components", &components(report));
    for view in &report.views {
        let name = match view.name.as_str() {
            "" => "data vectors".to_owned(),
            name => format!("vectors {name}"),
        };
        line(text, &name, &vectors(view.vectors.as_ref()));
    }
    let left_out = counted_kinds(&left_out(report.read, &next.header));
    if !left_out.is_empty() {
        line(text, "left out", &left_out);
    }
}

fn components(report: &Report) -> String {
    let components = &report.components;
    let mut text = format!(
        "{}, the largest of {}",
        components.count,
        counted(components.largest, "node")
    );
    if !components.next.is_empty() {
        let more = components.count > components.next.len() + 1;
        let more = if more { ", .." } else { "" };
        let _ = write!(text, ", then {}{more}", joined(components.next.iter()));
    }
    text
}

fn vectors(vectors: Option<&Vectors>) -> String {
    let Some(vectors) = vectors else {
        return "none: each node gets a free vector (table)".to_owned();
    };
    let mut text = format!(
        "{}, {} of the entries not zero",
        counted(vectors.dim, "dimension"),
        in_percent(vectors.density)
    );
    if vectors.zero > 0 {
        let _ = write!(
            text,
            "; {} zero throughout",
            counted(vectors.zero, "vector")
        );
    }
    text
}

fn weights(text: &mut String, weights: &Weights) {
    text.push_str("Weights\n");
    if weights.all_equal {
        line(text, "all equal", &figure(weights.max));
        return;
    }
    if weights.negative > 0.0 {
        let share = in_percent(weights.negative);
        let said = format!(
            "{share} of the weights; below are sizes without signs, but for min, max and mean"
        );
        line(text, "negative", &said);
    }
    let kind = if weights.whole {
        "whole numbers"
    } else {
        "with fractions"
    };
    let quantiles = format!(
        "{kind}; min {}, median {}, 90% {}, 99% {}, 99.9% {}, max {}; mean {}",
        figure(weights.min),
        figure(weights.median),
        figure(weights.q90),
        figure(weights.q99),
        figure(weights.q999),
        figure(weights.max),
        figure(weights.mean)
    );
    line(text, "values", &quantiles);
    let share = in_percent(weights.heaviest_tenth);
    line(
        text,
        "heaviest 10%",
        &format!("{share} of the total weight"),
    );
    if weights.negative > 0.0 {
        return;
    }
    let found = &weights.impossible;
    let tail = match found.tail {
        Tail::None => "",
        Tail::Isolated => ", apart from the rest",
        Tail::Smooth => ", the end of a smooth tail",
    };
    let impossible = format!(
        "{} ({}) to a Poisson model{tail}; from {} on where {} is expected",
        counted(found.count, "weight"),
        in_percent(found.share),
        figure(found.beyond),
        figure(weights.median),
    );
    line(text, "impossible", &impossible);
    for link in &found.heaviest {
        let what = format!(
            "{} -- {}: {} where {} is expected (a chance of {})",
            link.src,
            link.dst,
            figure(link.weight),
            figure(link.expected),
            power_of_ten(link.log10_chance)
        );
        line(text, "", &what);
    }
}

/// What the judge found, and whether features agree.
fn links(report: &Report) -> Vec<String> {
    let mut items: Vec<String> = report.not_judged.iter().cloned().collect();
    if let Some(judged) = &report.judged {
        items.extend(judged.says.iter().map(|said| said.says.clone()));
        items.push(auc(&judged.facts));
    }
    items.extend(report.agreement.iter().map(|it| it.says.clone()));
    items
}

fn power_of_ten(exponent: f64) -> String {
    if exponent < -9999.0 {
        return "less than 1e-9999".to_owned();
    }
    format!("1e{exponent:.0}")
}

fn solver(cost: &SolverCost) -> String {
    let way = match cost.way {
        Way::AllPairs => "",
        Way::Blocks => " blocks",
        Way::Sweeps => " sweeps",
    };
    format!("{} {}{way}", cost.solver, cost.optimizer)
}

fn price(cost: &SolverCost) -> String {
    let default = if cost.is_default {
        "  <- what fit chooses"
    } else {
        ""
    };
    let most = if cost.most_steps > cost.usual_steps {
        format!(" (at most {})", duration(cost.most_seconds))
    } else {
        String::new()
    };
    format!(
        "{} for {}{most}, {} MB{default}",
        duration(cost.seconds),
        counted(cost.usual_steps, "step"),
        (cost.memory_bytes >> 20).max(1)
    )
}

fn duration(seconds: f64) -> String {
    match seconds {
        ..1.0 => "less than 1 s".to_owned(),
        ..120.0 => format!("{seconds:.0} s"),
        ..7200.0 => format!("{:.0} min", seconds / 60.0),
        ..172_800.0 => format!("{:.0} h", seconds / 3600.0),
        _ => format!("{:.0} days", seconds / 86_400.0),
    }
}

fn joined(items: impl Iterator<Item = impl Display>) -> String {
    let items: Vec<String> = items.map(|item| item.to_string()).collect();
    items.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_beyond_words_are_not_spelt_out() {
        assert_eq!(power_of_ten(-158.3), "1e-158");
        assert_eq!(power_of_ten(-1e302), "less than 1e-9999");
        assert_eq!(power_of_ten(f64::NEG_INFINITY), "less than 1e-9999");
    }

    #[test]
    fn durations_in_units_that_people_use() {
        let found = [0.2, 3.4, 300.0, 1e4, 1e6].map(duration);
        assert_eq!(found, ["less than 1 s", "3 s", "5 min", "3 h", "12 days"]);
    }
}
