//! The settings to begin with, and why.

use linkproof_method::error::Style;
use linkproof_method::inspect::{Advice, Look, Report, Tail, Way};

use crate::figures::{counted, figures, grouped, percent};

/// If so many weights are equal, the others are all that weights say.
const NEARLY_ALL: f64 = 0.85;
/// Isolated heavy weights above this share look like a second kind of link.
const SECOND_KIND: f64 = 0.1;

/// The settings to begin with and why, and when to choose otherwise.
pub fn advice(report: &Report, style: Style) -> [Vec<String>; 2] {
    let Advice {
        score,
        beta,
        weights,
        solver,
        optimizer,
        ..
    } = report.advice;
    let settings = style.spell(&format!(
        "{{score={score}}}, {{beta={beta}}}, {{weights={weights}}}"
    ));
    let why = style.spell(&why_weights(report));
    let mut reasons = vec![format!("{settings}: {why}")];
    if let Some(default) = report.solvers.iter().find(|cost| cost.is_default) {
        let why = match default.way {
            Way::AllPairs => "are few enough to visit all pairs at every step",
            Way::Blocks => "have too many pairs to visit all at every step",
            Way::Sweeps => {
                "have too many pairs to visit all at every step, and free vectors can move a block \
                 at a time"
            }
        };
        let settings = style.spell(&format!("{{solver={solver}}}, {{optimizer={optimizer}}}"));
        reasons.push(format!(
            "{settings}: {} {why}; a fit chooses this by itself.",
            counted(report.nodes, "node")
        ));
    }
    let cautions = cautions(report).map(|caution| style.spell(&caution));
    [reasons, cautions.collect()]
}

/// Why the score and the transform of the weights.
fn why_weights(report: &Report) -> String {
    let (weights, advice) = (&report.weights, &report.advice);
    let median = figures(weights.median);
    let judged = report.judged.as_ref();
    let agreement = judged.and_then(|it| it.facts.weight_agreement);
    let by_evidence = format!(
        "by the rest of the evidence (correlation {:.2})",
        agreement.unwrap_or(0.0)
    );
    let large = format!(
        "{} of the weights are larger than a Poisson count can be",
        percent(weights.impossible.share)
    );
    let apart = match advice.because {
        Look::Unlikely => format!("heavier links are less likely {by_evidence}"),
        _ => "they stand apart from the rest".to_owned(),
    };
    match advice.because {
        Look::Signed => format!(
            "{} of the weights are negative, like correlations. Expected weights are positive, so \
             a fit to the pattern of links is safer. {{robust=true}} fits the pattern too, and \
             estimates sizes of either sign.",
            percent(weights.negative)
        ),
        Look::Equal => "all weights are equal, so no weight can be wrong; the moment score with a \
                        small beta keeps false links from pulling hard. Or let {selection} choose \
                        score, beta and ridge, without labels."
            .to_owned(),
        Look::Counts => format!(
            "no weight is larger than a Poisson count can be (median {median}, largest {}).",
            figures(weights.max)
        ),
        Look::Signal => format!(
            "{large}, and heavier links are likelier {by_evidence}: they are signal. \
             {{weights=log1p}} keeps the order and tames the size."
        ),
        Look::Tail => format!(
            "{large}, at the end of a smooth tail: that is how real counts (contacts, \
             co-occurrences) look. {{weights=log1p}} keeps the order and tames the size."
        ),
        Look::Unlikely | Look::Apart if advice.too_heavy_for_probability => format!(
            "{large}, and {apart}. The probability score would not follow them, but neither can it \
             follow correct weights above 1 on a sparse graph (half of the weights are {median} or \
             more). {{weights=log1p}} tames them all."
        ),
        Look::Unlikely | Look::Apart => format!(
            "{large}, and {apart}. They may be errors, and the probability score does not follow \
             them; the moment score and the likelihood are linear in the weights and would."
        ),
    }
}

/// When to choose otherwise, and what else to look at.
fn cautions(report: &Report) -> impl Iterator<Item = String> {
    let (weights, advice) = (&report.weights, &report.advice);
    let (share, median) = (weights.impossible.share, figures(weights.median));
    let isolated = weights.impossible.tail == Tail::Isolated;
    let errors = matches!(advice.because, Look::Unlikely | Look::Apart);
    let (counts, too_heavy) = (
        advice.because == Look::Counts,
        advice.too_heavy_for_probability,
    );
    let has_features = report.views.iter().all(|view| view.vectors.is_some());
    let zero = report.views.iter().filter_map(|view| view.vectors.as_ref());
    let zero: usize = zero.map(|vectors| vectors.zero).sum();
    let (unknown, components) = (report.isolated.without_vectors, report.components.count);
    let few = if has_features {
        "the map has to learn from few; a small {dim} and a larger {ridge} are safer."
    } else {
        "too few to learn a free vector for each node; features would help."
    };
    let all = [
        (
            counts && too_heavy,
            format!(
                "not {{score=probability}}: it cannot follow weights above 1 on a sparse graph \
                 (half of the weights are {median} or more) and takes such links for errors. If \
                 some weights are far too large, {{weights=log1p}} tames them."
            ),
        ),
        (
            counts && !too_heavy,
            "if some weights are far too large all the same, take {score=probability}: the moment \
             score is linear in the weights."
                .to_owned(),
        ),
        (
            errors && !too_heavy,
            "heavy weights can be noise or can be the signal (contacts, co-occurrence counts): \
             look at the heaviest links. If they are real, take {weights=log1p} instead: the \
             probability score takes them for errors."
                .to_owned(),
        ),
        (
            isolated && weights.at_median >= NEARLY_ALL.min(1.0 - 1.5 * share),
            format!(
                "nearly all other weights are {median}: {{weights=binary}}, which uses the links \
                 alone, does no worse if the sizes mean nothing."
            ),
        ),
        (
            isolated && share > SECOND_KIND,
            format!(
                "{} is a lot for errors: perhaps two kinds of links stand in one file.",
                percent(share)
            ),
        ),
        (
            unknown > 0,
            format!(
                "{} of the nodes have neither links nor features: nothing is known of them, and \
                 their embeddings mean nothing. Leave them out, or give them features.",
                grouped(unknown)
            ),
        ),
        (
            zero > 0,
            format!(
                "{} of the rows of features are zero: their nodes all get the same embedding.",
                grouped(zero)
            ),
        ),
        (
            !has_features && components > 1,
            format!(
                "the links fall into {}: without features, only missing links say how the vectors \
                 of one lie to those of another.",
                counted(components, "component")
            ),
        ),
        (
            report.links < report.nodes,
            format!(
                "fewer links than nodes ({} and {}): {few}",
                grouped(report.links),
                grouped(report.nodes)
            ),
        ),
    ];
    all.into_iter()
        .filter(|(is_so, _)| *is_so)
        .map(|(_, says)| says)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::tests::{look, ring};

    /// Reasons and cautions, in one text.
    fn advised(report: &Report) -> [String; 2] {
        advice(report, Style::Cli).map(|says| says.join("\n"))
    }

    #[test]
    fn weights_have_reasons_and_cautions_by_what_they_look_like() {
        let heavy = |k: u32| k.is_multiple_of(40);
        let light = |k: u32| 1.0 + f64::from(k % 3);
        let [reasons, _] = advised(&ring(|_| 1.0));
        assert!(
            reasons
                .starts_with("--score moment, --beta 0.1, --weights asis: all weights are equal")
        );
        assert!(reasons.contains("let 'linkproof select' choose"));
        let [reasons, cautions] = advised(&ring(|k| if heavy(k) { 100.0 } else { light(k) }));
        assert!(
            reasons.contains("2% of the weights are larger than a Poisson count"),
            "{reasons}"
        );
        assert!(
            reasons.contains("heavier links are less likely by the rest"),
            "{reasons}"
        );
        assert!(
            cautions.contains("take --weights log1p instead"),
            "{cautions}"
        );
        assert!(!cautions.contains("two kinds of links") && !cautions.contains("binary"));
        let [_, cautions] = advised(&ring(|k| if k % 5 == 0 { 100.0 } else { 1.0 }));
        assert!(cautions.contains("two kinds of links"), "{cautions}");
        assert!(cautions.contains("--weights binary"), "{cautions}");
        // The quantiles of Zipf's law, in mixed order.
        let zipf = ring(|k| (600.0 / (f64::from(k * 7 % 600) + 0.5)).floor());
        let [reasons, cautions] = advised(&zipf);
        assert!(reasons.contains("how real counts"), "{reasons}");
        assert!(!cautions.contains("probability"), "{cautions}");
        let [reasons, _] = advised(&ring(|k| if heavy(k) { 5000.0 } else { 19.0 + light(k) }));
        assert!(
            reasons.contains("neither can it follow correct weights"),
            "{reasons}"
        );
        let [_, sound] = advised(&ring(|k| 19.0 + light(k)));
        assert!(sound.contains("not --score probability"), "{sound}");
        let [_, light] = advised(&ring(light));
        assert!(light.contains("take --score probability"), "{light}");
    }

    #[test]
    fn few_links_and_loose_parts_are_pointed_out() {
        let [_, cautions] = advised(&look(9, &[(0, 1, 1.0), (2, 3, 1.0)]));
        for part in [
            "2 components",
            "fewer links than nodes (2 and 9)",
            "5 of the nodes have neither",
        ] {
            assert!(cautions.contains(part), "{part}: {cautions}");
        }
        let [_, cautions] = advised(&ring(|_| 1.0));
        assert!(!cautions.contains("components") && !cautions.contains("fewer links"));
    }
}
