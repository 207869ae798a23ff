use super::*;
use crate::judge::{Contradiction, Detection, Kind, PlantedKind, Share};

fn facts() -> Facts {
    Facts {
        kinds: vec![Kind::Features, Kind::CommonNeighbors],
        loadings: vec![1.0, 1.0],
        share: Some(Share {
            low: 0.0,
            estimate: Some(0.042),
            high: 0.09,
            high_unchecked: None,
        }),
        auc: 0.95,
        auc_error: 0.003,
        abstained: false,
        candidates: 0.0,
        one_to_one: false,
        weight_agreement: None,
        detection: Vec::new(),
        contradictions: Vec::new(),
        duplicates: Vec::new(),
        unused: Vec::new(),
    }
}

fn abstained() -> Facts {
    Facts {
        share: None,
        abstained: true,
        ..facts()
    }
}

/// What is said of an embedding of 64 dimensions that uses so many, and explains so much.
fn said(judged: &Facts, used: f64, explained: Option<[f64; 3]>) -> (Advice, Vec<Said>) {
    robust(&RobustFacts {
        judged,
        n_links: 5542,
        n_flagged: 121,
        dim: 64,
        effective_dimension: used,
        explained: explained.map(|[embedding, smoothed, features]| Explained {
            embedding,
            smoothed,
            features,
        }),
        averaged: true,
    })
}

fn about(said: &[Said], topic: Topic) -> String {
    let of_topic = said.iter().filter(|it| it.about == topic);
    of_topic
        .map(|it| it.says.as_str())
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn a_good_fit_is_recommended_with_its_figures() {
    let (advice, said) = said(&facts(), 13.2, Some([0.20, 0.34, 0.10]));
    assert_eq!(advice, Advice::Use);
    let says = |topic| about(&said, topic);
    assert_eq!(
        says(Topic::Use),
        "Yes. Its clusters explain 3.4 times as much of hidden feature columns as k-means on the \
         features."
    );
    assert_eq!(
        says(Topic::Links),
        "About 4% look random and are probably false (0% to 9%): 121 are flagged."
    );
    assert_eq!(says(Topic::Dimensions), "13 of 64 carry information.");
    assert_eq!(
        says(Topic::Smoothing),
        "The embedding is smoothed over believed links: its clusters explain 34% of the variance \
         of hidden feature columns, clusters before smoothing 20%."
    );
    assert_eq!(says(Topic::Test), "");
    assert_eq!(said[0].about, Topic::Use);
}

#[test]
fn the_comparison_with_the_features_decides() {
    let judged = facts();
    for (explained, expected, says) in [
        (
            [0.1, 0.1, 0.1],
            Advice::Either,
            "As good as the features alone. ",
        ),
        (
            [0.1, 0.05, 0.1],
            Advice::VectorsAlone,
            "50% as much of hidden",
        ),
        (
            [0.1, 0.0, 0.1],
            Advice::VectorsAlone,
            "less than a tenth as much",
        ),
        (
            [0.0, 0.0, 0.0],
            Advice::LinksAlone,
            "features look like noise",
        ),
        (
            [0.0, 0.08, 0.0],
            Advice::Use,
            "k-means on the features explains none",
        ),
    ] {
        let (advice, said) = said(&judged, 13.0, Some(explained));
        let used = about(&said, Topic::Use);
        assert_eq!(advice, expected, "{used}");
        assert!(used.contains(says), "{used}");
    }
    let (advice, said) = said(&judged, 13.0, None);
    assert_eq!(advice, Advice::Use);
    assert_eq!(
        about(&said, Topic::Use),
        "Yes, as far as links show: a link outranks a random pair 95% of the time (AUC 0.95 ± \
         0.003). There are no features to compare with."
    );
}

#[test]
fn two_groups_on_a_line_are_of_use_only_if_they_explain_features() {
    let judged = facts();
    let (advice, found) = said(&judged, 1.2, Some([0.2, 0.3, 0.2]));
    assert_eq!(advice, Advice::Use);
    assert!(about(&found, Topic::Use).starts_with("Yes, for two groups and no more. Its"));
    assert_eq!(
        about(&found, Topic::Dimensions),
        "1.2 of 64 carry information."
    );
    for explained in [None, Some([0.0, 0.0, 0.0])] {
        let (advice, found) = said(&judged, 1.2, explained);
        assert_eq!(advice, Advice::FitAgain);
        assert!(about(&found, Topic::Use).contains("Fit again with a smaller ridge."));
    }
    assert_eq!(
        dimensions(0.0, 64),
        "None of 64 carries information: all nodes have the same embedding."
    );
    assert_eq!(dimensions(1.0, 2), "1 of 2 carries information.");
}

#[test]
fn a_judge_that_abstains_gives_no_share_and_no_flags() {
    let judged = abstained();
    for (explained, expected) in [
        (None, Advice::Unknown),
        (Some([0.1, 0.1, 0.3]), Advice::VectorsAlone),
        (Some([0.3, 0.3, 0.1]), Advice::Unknown),
    ] {
        let (advice, said) = said(&judged, 13.0, explained);
        assert_eq!(advice, expected);
        assert!(about(&said, Topic::Use).contains("look random to everything that is known"));
        let links = about(&said, Topic::Links);
        assert_eq!(links, "The links look random to everything that is known.");
    }
}

#[test]
fn each_kind_of_share_has_its_words() {
    let with = |share: Share, one_to_one: bool| {
        let judged = Facts {
            share: Some(share),
            one_to_one,
            ..facts()
        };
        about(&links(&judged, 1000, 1), Topic::Links)
    };
    let share = facts().share.unwrap();
    let picked = Share {
        low: 0.02,
        estimate: None,
        high: 1.0,
        ..share
    };
    assert!(with(picked, false).starts_with("At least 2% look random: 1 is flagged. The others"));
    let small = Share {
        estimate: Some(0.004),
        high: 0.008,
        ..share
    };
    assert_eq!(
        with(small, false),
        "Less than 1% look random (0% to 0.8%): 1 is flagged."
    );
    let alone = with(share, true);
    assert!(alone.starts_with("About 4% are false if each node has at most one real partner"));
    let checked = Share {
        low: 0.04,
        estimate: Some(0.06),
        high: 0.08,
        high_unchecked: Some(0.1),
    };
    assert_eq!(
        with(checked, false),
        "About 6% are false (4% to 8%, by checks): 1 is flagged."
    );
    let more = Share {
        high_unchecked: Some(0.03),
        ..checked
    };
    assert!(with(more, false).ends_with("false links do not fall at random here."));
}

#[test]
fn planted_links_contradictions_and_duplicates_are_told() {
    let planted = |kind, flagged, found| Detection {
        kind,
        planted: 166,
        flagged,
        found,
        own: 0.11,
        claimed: 0.9,
        realised: 0.9,
    };
    let judged = Facts {
        detection: vec![
            planted(PlantedKind::Uniform, 0.32, 0.89),
            planted(PlantedKind::ByDegree, 0.32, 0.87),
            planted(PlantedKind::Alike, 0.0, 0.31),
        ],
        contradictions: vec![Contradiction {
            src: 5,
            dst: 9,
            core: 8,
            usual: 2,
            nodes: 25,
        }],
        duplicates: vec![vec![3, 7], vec![1, 2]],
        ..facts()
    };
    let said = links(&judged, 5542, 0);
    assert_eq!(
        about(&said, Topic::Test),
        "We planted 498 false links. Flagged / ranked high: random 32% / 89%, between popular \
         nodes 32% / 87%, between similar nodes 0% / 31%. Of your own links 11% rank as high."
    );
    let links = about(&said, Topic::Links);
    let lines: Vec<&str> = links.lines().collect();
    assert!(lines[0].ends_with(": none of 5542 is flagged."), "{links}");
    assert!(lines[1].starts_with("Contradiction: 25 nodes"), "{links}");
    assert!(lines[1].contains("for example rows 5 and 9"), "{links}");
    assert!(lines[2].starts_with("2 groups of nodes look like records of one node (rows 3, 7)"));
}

#[test]
fn advice_and_topics_keep_their_names() {
    let names = |value: serde_json::Value| value.as_str().map(str::to_owned);
    let advice = [
        (Advice::Use, "use"),
        (Advice::Either, "either"),
        (Advice::VectorsAlone, "vectors-alone"),
        (Advice::LinksAlone, "links-alone"),
        (Advice::FitRobustly, "fit-robustly"),
        (Advice::FitAgain, "fit-again"),
        (Advice::Unknown, "unknown"),
    ];
    for (advice, name) in advice {
        assert_eq!(names(serde_json::json!(advice)).as_deref(), Some(name));
    }
    let said = serde_json::json!(Said::new(Topic::Links, "x"));
    assert_eq!(said, serde_json::json!({ "about": "links", "says": "x" }));
}
