use super::super::outcome::{Facts, JudgedLink, Status};
use super::*;
use crate::error::Fields;

fn judgment(share: Option<Share>) -> Judgment {
    let link = |at: u32| JudgedLink {
        src: at,
        dst: at + 1,
        weight: 1.0,
        belief: if at < 40 { 0.2 } else { 0.9 },
        rank: at as usize + 1,
        suspect: share.is_some() && at < 40,
        status: Status::Judged,
        worse: 0.5,
        log_density: 0.0,
        vote: 0.0,
        times: 1.0,
        has_common: false,
        share: None,
        end: at,
        verified: None,
    };
    Judgment {
        links: (0..1000).map(link).collect(),
        tails: Vec::new(),
        facts: Facts {
            kinds: Vec::new(),
            loadings: Vec::new(),
            share,
            auc: 0.9,
            auc_error: 0.01,
            abstained: share.is_none(),
            candidates: 0.0,
            one_to_one: false,
            weight_agreement: None,
            detection: Vec::new(),
            contradictions: Vec::new(),
            duplicates: Vec::new(),
            unused: Vec::new(),
        },
    }
}

fn share(low: f64, estimate: Option<f64>, high: f64) -> Option<Share> {
    Some(Share {
        low,
        estimate,
        high,
        high_unchecked: None,
    })
}

fn lines(judgment: &Judgment, tested: bool) -> Vec<String> {
    let context = CheckContext {
        nodes: 2708,
        seconds: 8.2,
        suspects: "chk/suspects.csv",
        sample: "draw 30",
        next: &["report".to_owned()],
        tested,
        name: &|row| format!("n{row}"),
        dialect: &Fields,
    };
    let lines = check_lines(judgment, &context);
    let topics: Vec<&str> = lines.iter().map(|line| line.topic).collect();
    assert_eq!(topics, ["", "Links", "Test", "Next"]);
    lines.iter().map(|line| line.says.join(" ")).collect()
}

#[test]
fn the_share_is_told_with_its_interval() {
    let mut found = judgment(share(0.0, Some(0.043), 0.09));
    let detection = |kind, flagged, found| Detection {
        kind,
        planted: 166,
        flagged,
        found,
        own: 0.11,
        claimed: 0.8,
        realised: 0.8,
    };
    found.facts.detection = vec![
        detection(PlantedKind::Uniform, 0.32, 0.89),
        detection(PlantedKind::Alike, 0.0, 0.31),
    ];
    let told = lines(&found, true);
    assert_eq!(told[0], "2,708 nodes, 1,000 links, 8.2 s");
    assert_eq!(
        told[1],
        "About 4% look random and are probably false (0% to 9%): 40 are flagged in \
         chk/suspects.csv. 30 checks by hand make this sharper: draw 30"
    );
    assert_eq!(
        told[2],
        "We planted 332 false links. Flagged / ranked high: random 32% / 89%, between similar \
         nodes 0% / 31%. Of your own links 11% rank as high."
    );
    assert_eq!(told[3], "report");
    assert_eq!(lines(&judgment(found.facts.share), false)[2], "Left out.");
}

#[test]
fn other_cases_have_their_own_sentences() {
    let told = lines(&judgment(None), true);
    assert_eq!(
        told[1],
        "The links look random to everything that is known; their order is in chk/suspects.csv."
    );
    assert_eq!(told[2], "Not made: the links look random.");
    let told = lines(&judgment(share(0.04, None, 1.0)), true);
    assert!(
        told[1].starts_with("At least 4% look random and are flagged. The others look as if"),
        "{}",
        told[1]
    );
    assert!(told[1].contains("use one_to_one."), "{}", told[1]);
    let mut found = judgment(share(0.89, Some(0.9), 1.0));
    found.facts.one_to_one = true;
    let says = "If each node has at most one real partner, about 90% are false (89% or more).";
    assert!(lines(&found, true)[1].starts_with(says));
    found.facts.weight_agreement = Some(-0.2);
    found.links[3].weight = -1.0;
    found.facts.contradictions.push(Contradiction {
        src: 1,
        dst: 2,
        core: 9,
        usual: 4,
        nodes: 25,
    });
    found.facts.duplicates = vec![vec![4, 5, 6], vec![7, 8]];
    let told = &lines(&found, true)[1];
    for part in [
        "Heavy links look less real than light ones. If the weights are distances",
        "Shares are of positive links. 1 negative link is ranked",
        "25 nodes with at least 9 links each among them have features that contradict these \
         links, such as n1 and n2.",
        "4 pairs of nodes look like records of one node, such as n4 and n5",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn checks_that_exceed_the_bound_are_told() {
    let mut found = judgment(share(0.04, Some(0.06), 0.08));
    found.links[0].verified = Some(false);
    found.links[1].verified = Some(true);
    let told = &lines(&found, true)[1];
    assert!(told.starts_with("About 6% are false (4% to 8%, by 2 checks). 40 are flagged"));
    found.facts.share = Some(Share {
        high_unchecked: Some(0.03),
        ..found.facts.share.unwrap()
    });
    let told = &lines(&found, true)[1];
    assert!(told.contains("(at most 3%): false links do not fall at random here."));
}

#[test]
fn reasons_become_a_sentence() {
    let name = |row: u32| format!("n{row}");
    let reasons = [
        Reason::Unlike {
            kind: Kind::Features,
            better: 0.9,
        },
        Reason::NoCommonNeighbors,
        Reason::Heavy { times: 40.2 },
    ];
    assert_eq!(
        why(&reasons, &name),
        "features unlike; no common neighbors; weight 40 times the usual for these nodes"
    );
    let one = |reason| why(&[reason], &name);
    assert_eq!(
        one(Reason::NothingKnown { node: 7 }),
        "nothing else is known of n7"
    );
    assert_eq!(
        one(Reason::Verified { real: false }),
        "checked by hand: false"
    );
    assert_eq!(one(Reason::Duplicate), "duplicate");
    let traits = [Kind::SharedTraits, Kind::TraitPairs];
    let traits = traits.map(|kind| Reason::Unlike { kind, better: 0.8 });
    assert_eq!(
        why(&traits, &name),
        "features of kinds that are seldom linked"
    );
    assert_eq!(why(&[], &name), "");
}

#[test]
fn figures_are_short() {
    let shares = [0.0, 0.0004, 0.004, 0.012, 0.956, 1.0].map(percent);
    assert_eq!(
        shares,
        ["0%", "less than 0.1%", "0.4%", "1%", "96%", "100%"]
    );
    assert_eq!(
        ["1", "999", "1,000", "1,234,567"],
        [1, 999, 1000, 1_234_567].map(grouped)
    );
}
