//! A look at data before a fit: a report, and the settings to begin with.

use std::fmt::Display;

use linkproof_method::error::Style;
use linkproof_method::inspect::{
    Agreement, Components, Relation, Report, SolverCost, Tail, Vectors, Way, Weights,
};
use serde_json::{Value, json};

use crate::advice::advice;
use crate::figures::{counted, figures, grouped, in_seconds, percent};
use crate::judge::{Reader, auc, links};
use crate::layout::wrapped;

/// Whether features and links agree.
pub(crate) fn agreement(found: &Agreement) -> String {
    let cases = format!(
        "a link outranks a random pair by features {:.0}% of the time (AUC {:.2} ± {:.2}, chance \
         0.5)",
        100.0 * found.alike,
        found.alike,
        found.error
    );
    let alone = if found.vectors_alone {
        "For groups of similar nodes, k-means on the features alone is the better choice."
    } else {
        "The features show no groups either, as noise would: fit to the links alone."
    };
    match found.relation {
        Relation::Agree => format!("Features and links agree: {cases}."),
        Relation::Unclear => format!(
            "There are too few links to compare with features: of {}, {cases}.",
            grouped(found.links)
        ),
        Relation::Unrelated => format!(
            "Features and links have nothing in common: {cases}. Is this the right feature file, in \
             the right row order? {alone}"
        ),
        Relation::Opposed => format!(
            "Links join nodes with unlike features: {cases}. An embedding puts linked nodes close \
             together. {alone}"
        ),
    }
}

/// That the links were not judged, and why.
pub(crate) fn not_judged(cause: &str) -> String {
    format!("The links were not judged: {cause}.")
}

/// What the judge found, and whether features agree.
fn judged(report: &Report, style: Style) -> Vec<String> {
    let reader = Reader {
        style,
        name: &|row| format!("row {row}"),
        suspects: None,
        sample: None,
    };
    let mut says: Vec<String> = report
        .not_judged
        .as_deref()
        .map(not_judged)
        .into_iter()
        .collect();
    if let Some(found) = &report.judged {
        says.extend(links(&found.facts, &found.tally, &reader));
        says.push(auc(&found.facts));
    }
    says.extend(report.agreement.as_ref().map(agreement));
    says
}

/// A report as JSON, with its sentences.
pub fn inspection_json(report: &Report, style: Style) -> Value {
    let mut json = json!(report);
    let [reasons, cautions] = advice(report, style);
    json["advice"]["reasons"] = reasons.into();
    json["advice"]["cautions"] = cautions.into();
    json["says"] = judged(report, style).into();
    json
}

/// A report in words. `left_out` is what was read and not used; `extra`, what a device would
/// cost, by its name.
pub fn inspection(
    report: &Report,
    dim: usize,
    left_out: &str,
    extra: Option<(&str, String)>,
    style: Style,
) -> String {
    let mut text = format!(
        "{} and {}\n",
        counted(report.nodes, "node"),
        counted(report.links, "link")
    );
    text += &rows(shape(report, left_out));
    text += "Weights\n";
    text += &rows(weights(&report.weights));
    text += &paragraphs("Links and features", &judged(report, style));
    text += &format!(
        "Estimated cost of a fit in {}, with {} of this machine\n",
        counted(dim, "dimension"),
        counted(report.threads, "thread"),
    );
    text += &rows(report.solvers.iter().map(cost));
    text += &rows(extra.map(|(name, fact)| (name.to_owned(), fact)));
    let [reasons, cautions] = advice(report, style);
    text += &paragraphs("Settings of a plain fit", &reasons);
    text + &paragraphs("Keep in mind", &cautions)
}

/// A name and a fact.
type Row = (String, String);

fn row(name: &str, fact: impl Into<String>) -> Row {
    (name.to_owned(), fact.into())
}

fn rows(rows: impl IntoIterator<Item = Row>) -> String {
    let line = |(name, fact): Row| format!("  {name:<15} {fact}\n");
    rows.into_iter().map(line).collect()
}

/// A heading and what stands below it, each item broken into lines.
fn paragraphs(heading: &str, items: &[String]) -> String {
    if items.is_empty() {
        return String::new();
    }
    let items = items.iter().map(|item| wrapped("  -", item) + "\n");
    format!("{heading}\n{}", items.collect::<String>())
}

/// Some items of a list, with dots if there are more.
fn some(items: &[impl Display], all: usize) -> String {
    let mut shown: Vec<String> = items.iter().map(ToString::to_string).collect();
    shown.extend((all > items.len()).then(|| "..".to_owned()));
    shown.join(", ")
}

fn shape(report: &Report, left_out: &str) -> Vec<Row> {
    let pairs = grouped(report.pairs as usize);
    let linked = percent(report.linked_share);
    let mut rows = vec![row("pairs", format!("{pairs}, {linked} of them linked"))];
    if report.views.len() > 1 {
        rows.extend(report.views.iter().map(|view| {
            let nodes = counted(view.nodes, "node");
            let fact = format!("{nodes}, {} of them isolated", grouped(view.isolated));
            row(&format!("view {}", view.name), fact)
        }));
        rows.extend(report.view_pairs.iter().map(|pair| {
            let name = format!("{}:{}", pair.views.0, pair.views.1);
            let links = counted(pair.links, "link");
            row(
                &name,
                format!("{links} between {} pairs", grouped(pair.pairs as usize)),
            )
        }));
    }
    let d = &report.degrees;
    rows.push(row(
        "degree",
        format!(
            "{:.1} links a node; min {}, 25% {}, median {}, 75% {}, 99% {}, max {}",
            d.mean, d.min, d.q25, d.median, d.q75, d.q99, d.max
        ),
    ));
    let hubs = d.largest.iter();
    let hubs: Vec<String> = hubs
        .map(|hub| format!("{} ({})", hub.node, hub.degree))
        .collect();
    rows.push(row("most links", hubs.join(", ")));
    let isolated = &report.isolated;
    if isolated.count > 0 {
        let nodes = counted(isolated.count, "node");
        let examples = some(&isolated.examples, isolated.count);
        rows.push(row("isolated", format!("{nodes}: {examples}")));
    }
    rows.push(row("components", components(&report.components)));
    for view in &report.views {
        let name = match view.name.as_str() {
            "" => "features".to_owned(),
            name => format!("features {name}"),
        };
        rows.push(row(&name, vectors(view.vectors.as_ref())));
    }
    rows.extend((!left_out.is_empty()).then(|| row("left out", left_out)));
    rows
}

fn components(found: &Components) -> String {
    let largest = counted(found.largest, "node");
    let text = format!("{}, the largest of {largest}", grouped(found.count));
    match found.next.is_empty() {
        true => text,
        false => format!("{text}, then {}", some(&found.next, found.count - 1)),
    }
}

fn vectors(vectors: Option<&Vectors>) -> String {
    let Some(vectors) = vectors else {
        return "none: each node gets a free vector (table)".to_owned();
    };
    let text = format!(
        "{}, {} of the entries not zero",
        counted(vectors.dim, "column"),
        percent(vectors.density)
    );
    match vectors.zero {
        0 => text,
        zero => format!("{text}; {} zero throughout", counted(zero, "row")),
    }
}

fn weights(weights: &Weights) -> Vec<Row> {
    if weights.all_equal {
        return vec![row("all equal", figures(weights.max))];
    }
    let mut rows = Vec::new();
    if weights.negative > 0.0 {
        let share = percent(weights.negative);
        let fact = "of the weights; below are sizes without signs, but for min, max and mean";
        rows.push(row("negative", format!("{share} {fact}")));
    }
    let kind = if weights.whole {
        "whole numbers"
    } else {
        "with fractions"
    };
    let median = figures(weights.median);
    let values = format!(
        "{kind}; min {}, median {median}, 90% {}, 99% {}, 99.9% {}, max {}; mean {}",
        figures(weights.min),
        figures(weights.q90),
        figures(weights.q99),
        figures(weights.q999),
        figures(weights.max),
        figures(weights.mean)
    );
    rows.push(row("values", values));
    let share = percent(weights.heaviest_tenth);
    rows.push(row("heaviest 10%", format!("{share} of the total weight")));
    if weights.negative > 0.0 {
        return rows;
    }
    let found = &weights.impossible;
    let tail = match found.tail {
        Tail::None => "",
        Tail::Isolated => ", apart from the rest",
        Tail::Smooth => ", the end of a smooth tail",
    };
    let impossible = format!(
        "{} ({}) to a Poisson model{tail}; from {} on where {median} is expected",
        counted(found.count, "weight"),
        percent(found.share),
        figures(found.beyond),
    );
    rows.push(row("impossible", impossible));
    rows.extend(found.heaviest.iter().map(|link| {
        let fact = format!(
            "{} -- {}: {} where {} is expected (a chance of {})",
            link.src,
            link.dst,
            figures(link.weight),
            figures(link.expected),
            power_of_ten(link.log10_chance)
        );
        row("", fact)
    }));
    rows
}

fn power_of_ten(exponent: f64) -> String {
    if exponent < -9999.0 {
        return "less than 1e-9999".to_owned();
    }
    format!("1e{exponent:.0}")
}

/// A solver, and its price.
fn cost(cost: &SolverCost) -> Row {
    let way = match cost.way {
        Way::AllPairs => "",
        Way::Blocks => " blocks",
        Way::Sweeps => " sweeps",
    };
    let chosen = if cost.is_default {
        "  <- what fit chooses"
    } else {
        ""
    };
    let most = match cost.most_steps > cost.usual_steps {
        true => format!(" (at most {})", in_seconds(cost.most_seconds)),
        false => String::new(),
    };
    let price = format!(
        "{} for {}{most}, {} MB{chosen}",
        in_seconds(cost.seconds),
        counted(cost.usual_steps, "step"),
        grouped((cost.memory_bytes >> 20).max(1) as usize)
    );
    (format!("{} {}{way}", cost.solver, cost.optimizer), price)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use linkproof_method::inspect::inspect;
    use linkproof_method::{Dataset, Graph, Params};

    pub(crate) fn look(nodes: usize, links: &[(u32, u32, f64)]) -> Report {
        let data = Dataset::from_links(Graph::from_rows(nodes, links).unwrap()).unwrap();
        let params = Params {
            dim: 2,
            ..Params::default()
        };
        inspect(&data, &params.check().unwrap()).unwrap()
    }

    /// 200 nodes in a ring, each linked to the next three.
    pub(crate) fn ring(weight: impl Fn(u32) -> f64) -> Report {
        let pairs = (0..200).flat_map(|i| (1..4).map(move |step| (i, (i + step) % 200)));
        let links = (0..).zip(pairs).map(|(k, (i, j))| (i, j, weight(k)));
        look(200, &links.collect::<Vec<_>>())
    }

    #[test]
    fn a_report_has_its_sections() {
        let report = ring(|k| if k == 7 { 400.0 } else { f64::from(1 + k % 3) });
        let text = inspection(&report, 2, "", None, Style::Cli);
        for part in [
            "200 nodes and 600 links\n",
            "\n  pairs           19,900, 3% of them linked\n",
            "\n  degree          6.0 links a node; min 6, 25% 6, median 6, 75% 6, 99% 6, max 6\n",
            "\n  components      1, the largest of 200 nodes\n",
            "\n  features        none: each node gets a free vector (table)\n",
            "\nWeights\n  values          whole numbers; min 1, median 2, ",
            ", apart from the rest; from 13 on where 2 is expected\n",
            ": 400 where 2 is expected (a chance of 1e-",
            "\nLinks and features\n  - ",
            "\nEstimated cost of a fit in 2 dimensions, with ",
            "\nSettings of a plain fit\n  - ",
            "\nKeep in mind\n  - ",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let json = inspection_json(&report, Style::Python);
        let reason = json["advice"]["reasons"][0].as_str().unwrap();
        assert!(
            reason.starts_with("score=\"probability\", beta=0.1"),
            "{reason}"
        );
    }

    #[test]
    fn agreement_and_chances_are_in_words() {
        let found = |relation, vectors_alone| {
            agreement(&Agreement {
                alike: 0.5,
                error: 0.01,
                links: 1500,
                relation,
                vectors_alone,
            })
        };
        assert_eq!(
            found(Relation::Agree, false),
            "Features and links agree: a link outranks a random pair by features 50% of the time \
             (AUC 0.50 ± 0.01, chance 0.5)."
        );
        assert!(found(Relation::Unclear, false).contains("too few links"));
        let unrelated = found(Relation::Unrelated, true);
        assert!(unrelated.contains("in the right row order?"), "{unrelated}");
        assert!(unrelated.ends_with("k-means on the features alone is the better choice."));
        assert!(found(Relation::Opposed, false).ends_with("fit to the links alone."));
        assert_eq!(power_of_ten(-158.3), "1e-158");
        assert_eq!(power_of_ten(f64::NEG_INFINITY), "less than 1e-9999");
    }
}
