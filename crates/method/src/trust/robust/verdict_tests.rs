//! Every sentence on planted graphs, where it is right and where it would be wrong.

use super::*;
use crate::engine::runtime::Runtime;
use crate::trust::judge::tests::{Planted, Rows, small};
use crate::trust::robust::{Recipe, fit_model, judge_links};

/// The verdict of the judge alone.
fn judged(plan: &Planted, links: &Rows, vectors: Vec<f64>) -> Trust {
    let data = plan.data(links, vectors);
    let recipe = Recipe::at_ridge(3.0);
    let (judgement, _) = judge_links(&small(), &data, &recipe, Runtime::default()).unwrap();
    Trust::new(&judgement)
}

fn fitted(plan: &Planted, links: &Rows, vectors: Vec<f64>) -> RobustSummary {
    let data = plan.data(links, vectors);
    let recipe = Recipe::at_ridge(3.0);
    fit_model(&small(), &data, &recipe, Runtime::default())
        .unwrap()
        .summary
}

fn about(said: &[Said], topic: Topic) -> String {
    let found = said.iter().find(|one| one.about == topic);
    found.map_or_else(String::new, |one| one.says.clone())
}

/// Nearly all links are inside a class.
fn clean() -> Planted {
    Planted {
        inside: 0.97,
        ..Planted::default()
    }
}

/// Weights with a long tail, whatever the link.
fn geometric(links: &mut Rows) {
    for (place, link) in links.iter_mut().enumerate() {
        let u = (place * 7919 % 10_007) as f64 / 10_007.0;
        link.2 = 1.0 + (-5.0 * (1.0 - u).ln()).floor();
    }
}

#[test]
fn honest_weights_with_a_long_tail_do_not_speak_against_their_links() {
    let plan = clean();
    for seed in 1..4 {
        let mut links = plan.links(seed);
        geometric(&mut links);
        let found = judged(&plan, &links, plan.vectors(seed));
        assert_eq!(
            found.weights.says,
            WeightsSay::Nothing,
            "{:?}",
            found.weights
        );
        assert!(found.weights.heavy > 0.9, "{:?}", found.weights);
        let said = about(&found.verdict(), Topic::Weights);
        assert_eq!(said, "Weights say nothing about which links are false.");
        let apart = (found.share_false_weight - found.share_false).abs();
        assert!(apart < 0.02, "{found:?}");
    }
}

#[test]
fn weights_speak_where_false_links_weigh_otherwise_in_any_unit() {
    let plan = clean();
    for (false_weight, expected, words) in [
        (40.0, WeightsSay::AgainstHeavy, "against heavy links"),
        (0.5, WeightsSay::ForHeavy, "for heavy links"),
    ] {
        let mut links = plan.links(5);
        geometric(&mut links);
        let sound = links.len();
        plan.add_false(&mut links, 0.25, false, 6);
        links[sound..]
            .iter_mut()
            .for_each(|link| link.2 = false_weight);
        let found = judged(&plan, &links, plan.vectors(5));
        assert_eq!(found.weights.says, expected, "{:?}", found.weights);
        assert!(about(&found.verdict(), Topic::Weights).contains(words));
        let said = about(&found.verdict(), Topic::Judged);
        assert!(said.starts_with("About 2"), "{said}");
        // A fifth of the links, and by their weight most of it, or next to nothing.
        let share = found.share_false_weight;
        let (least, most) = if false_weight > 1.0 {
            (0.5, 0.8)
        } else {
            (0.0, 0.05)
        };
        assert!((least..most).contains(&share), "{share}");
        let weight = format!("with {} of the weight", share_in_words(share));
        assert!(said.contains(&weight), "{said}");
        for unit in [1000.0, 0.001] {
            let other = links.iter().map(|link| (link.0, link.1, unit * link.2));
            let other = judged(&plan, &other.collect(), plan.vectors(5));
            assert_eq!(other.verdict(), found.verdict());
        }
    }
    let same = judged(&plan, &plan.links(5), plan.vectors(5));
    assert_eq!(same.weights.says, WeightsSay::Equal);
    assert!(!about(&same.verdict(), Topic::Judged).contains("weight"));
}

#[test]
fn links_that_help_and_links_that_tell_nothing() {
    // Links inside classes that data vectors tell badly.
    let plan = Planted {
        spread: 0.45,
        columns: 40,
        ..clean()
    };
    let found = fitted(&plan, &plan.links(2), plan.vectors(2));
    let said = |topic| about(&found.verdict, topic);
    assert!(said(Topic::Judged).starts_with("Hardly any") || found.trust.share_false < 0.06);
    assert!(
        said(Topic::Vectors).ends_with("the links help."),
        "{:?}",
        found.verdict
    );
    assert!(said(Topic::Averages).contains("are averaged over believed links; that helped"));
    assert!(
        said(Topic::Short).contains("the links help"),
        "{:?}",
        found.verdict
    );
    assert!(
        said(Topic::Agreement).contains("agree"),
        "{:?}",
        found.verdict
    );
    assert!(
        said(Topic::Sure).contains("sure: a link"),
        "{:?}",
        found.verdict
    );
    assert!(said(Topic::Dimensions).contains("of 8 dimensions"));
    assert_eq!(
        found
            .verdict
            .iter()
            .filter(|one| one.about == Topic::Checked)
            .count(),
        3
    );
    // Clusters that tell no more of a node than those of the data vectors.
    let told = Told {
        plain: 0.5,
        plain_each: 0.5,
        plain_clusters: 0.3,
        averaged: 0.5,
        averaged_each: 0.5,
        averaged_clusters: 0.3,
        vectors_clusters: 0.3,
    };
    let mut other = found.clone();
    let neighbours = |embeddings: f64, vectors: f64| Shared {
        embeddings,
        embeddings_error: 0.01,
        vectors,
        vectors_error: 0.01,
        error: 0.01,
    };
    for (shared, own, words) in [
        (neighbours(0.2, 0.1), 0.3, "what linked nodes share"),
        (neighbours(0.2, 0.1), 0.2, "what linked nodes share"),
        (neighbours(0.2, 0.18), 0.3, "about as much"),
        (neighbours(0.2, 0.18), 0.2, "alone do better"),
        (neighbours(0.1, 0.2), 0.3, "alone do better"),
        (neighbours(0.01, 0.02), 0.3, "use them alone"),
        (neighbours(0.01, 0.02), 0.4, "the links help"),
    ] {
        other.shared = Some(shared);
        let (_, said) = other.in_short(Some((told, own)), 8);
        assert!(said.contains(words), "{shared:?} {own}: {said}");
    }
    // Where too little speaks for any link, none is called sound.
    (other.trust.auc_decoys, other.trust.share_false) = (0.6, 0.0);
    let (_, said) = other.in_short(Some((told, 0.4)), 8);
    assert!(
        said.contains("which links are false cannot be told"),
        "{said}"
    );
    assert!(other.trust.doubtful_sentence().contains("60% of cases"));
    // Two groups need one dimension alone.
    other.effective_rank = 1.0;
    for (own, words) in [
        (0.4, "for two groups and no more"),
        (0.1, "next to useless"),
    ] {
        let (_, said) = other.in_short(Some((told, own)), 64);
        assert!(said.contains(words), "{said}");
    }
    // Links at random.
    let random = Planted {
        inside: 1.0 / 6.0,
        ..Planted::default()
    };
    let found = fitted(&random, &random.links(2), random.vectors(2));
    let said = |topic| about(&found.verdict, topic);
    assert!(found.trust.abstained);
    assert!(said(Topic::Judged).contains("No link is called false"));
    assert!(said(Topic::Vectors).contains("alone is the better choice"));
    assert!(said(Topic::Short).contains("Use the data vectors alone"));
    assert!(said(Topic::Agreement).starts_with("Links do not agree"));
    assert!(said(Topic::Averages).contains("a plain fit to all links"));
    assert_eq!(said(Topic::Weights) + &said(Topic::Checked), "");
}

#[test]
fn noise_as_data_vectors_is_called_noise_and_no_link_false() {
    let plan = Planted::default();
    let noise = Planted {
        spread: 0.0,
        ..plan
    };
    let found = fitted(&plan, &plan.links(3), noise.vectors(3));
    let said = about(&found.verdict, Topic::Vectors);
    assert!(said.contains("as noise would"), "{:?}", found.verdict);
    for implanted in &found.trust.implanted {
        assert_eq!(implanted.suspects, 0, "{implanted:?}");
    }
    // Where the links know nothing either, nothing is said of any.
    let random = Planted {
        inside: 1.0 / 6.0,
        ..plan
    };
    let found = judged(&plan, &random.links(4), noise.vectors(4));
    assert!(found.abstained, "{found:?}");
    assert_eq!(found.verdict().len(), 2);
}

#[test]
fn surety_falls_with_few_links_little_evidence_and_claims_that_fail() {
    let plan = clean();
    let found = judged(&plan, &plan.links(5), plan.vectors(5));
    assert!(
        found.surety_sentence().starts_with("Quite sure"),
        "{found:?}"
    );
    let few = Trust {
        links: 100,
        ..found.clone()
    };
    assert!(few.surety_sentence().contains("few links"));
    let dim = Trust {
        auc_decoys: 0.6,
        ..found.clone()
    };
    assert!(dim.surety_sentence().contains("Not sure"));
    let many = Trust {
        share_false: 0.5,
        auc_decoys: 0.72,
        ..found.clone()
    };
    assert!(many.surety_sentence().contains("seldom all false"));
    let mut failed = found;
    for it in &mut failed.implanted {
        (it.suspects, it.realised, it.claimed) = (50, 0.4, 0.1);
    }
    assert!(failed.surety_sentence().contains("not judged as claimed"));
}

#[test]
fn a_line_in_many_dimensions_is_said_aloud() {
    let said = dimensions_sentence(1.04, 64);
    assert!(
        said.contains("nearly on a line: of 64 dimensions they use 1.0"),
        "{said}"
    );
    assert!(dimensions_sentence(0.0, 64).contains("all the same"));
    let said = dimensions_sentence(8.7, 64);
    assert_eq!(
        said,
        "The embeddings use about 9 of 64 dimensions (effective rank)."
    );
}

#[test]
fn where_no_implant_can_be_called_false_it_is_said_at_what_rate_some_can() {
    let at = |asked, suspects| Implanted {
        kind: Draw::Uniform,
        asked,
        claimed: 0.19,
        realised: 0.18,
        found: 0.39,
        suspects,
        implants: 176,
    };
    let all = [at(0.05, 0), at(0.1, 0), at(0.2, 142)];
    let said = all[1].sentence(&all);
    for part in [
        "none would be called false where",
        "10%",
        "where 20% may be, 39% would",
        "18%",
    ] {
        assert!(said.contains(part), "{said}");
    }
    let said = all[1].sentence(&all[..2]);
    assert!(said.contains("no link is doubtful enough"), "{said}");
    let said = all[2].sentence(&all);
    assert!(
        said.contains("39% would be called false") && !said.contains("none"),
        "{said}"
    );
}
