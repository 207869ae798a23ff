//! `linkproof check`.

use serde_json::Value;

use crate::lab::{Lab, Numbers, Planted, features_csv, links_csv, planted};

fn name(node: usize) -> String {
    format!("n{node}")
}

/// 300 nodes in three groups, and the links that join nodes of different groups.
pub fn corrupted() -> (Lab, Vec<(usize, usize)>) {
    let mut graph = planted(300, 3, 5);
    let wrong = add_false(&mut graph, 60);
    assert!(wrong.len() >= 120);
    let lab = Lab::new();
    lab.write("links.csv", links_csv(&graph.links, name));
    lab.write("x.csv", features_csv(&graph.features, name));
    let names = (0..300).map(|node| format!("n{node},Node no. {node}\n"));
    lab.write(
        "nodes.csv",
        format!("id,name\n{}", names.collect::<String>()),
    );
    (lab, wrong)
}

fn add_false(graph: &mut Planted, count: usize) -> Vec<(usize, usize)> {
    let mut random = Numbers::new(8);
    let joins = graph.links.iter().map(|link| (link.0, link.1));
    let mut wrong: Vec<_> = joins.filter(|(a, b)| a % 3 != b % 3).collect();
    let all = wrong.len() + count;
    while wrong.len() < all {
        let mut node = || (random.next() * graph.features.len() as f64) as usize;
        let (a, b) = (node(), node());
        let (a, b) = (a.min(b), a.max(b));
        let known = graph.links.iter().any(|link| (link.0, link.1) == (a, b));
        if a % 3 != b % 3 && !known {
            graph.links.push((a, b, 1.0));
            wrong.push((a, b));
        }
    }
    wrong
}

/// Links and features that have nothing to do with each other.
fn random() -> Lab {
    let mut random = Numbers::new(3);
    let mut pairs = std::collections::BTreeSet::new();
    while pairs.len() < 700 {
        let mut node = || (random.next() * 200.0) as usize;
        let (a, b) = (node(), node());
        if a != b {
            pairs.insert((a.min(b), a.max(b)));
        }
    }
    let links: Vec<_> = pairs.into_iter().map(|(a, b)| (a, b, 1.0)).collect();
    let lab = Lab::new();
    lab.write("links.csv", links_csv(&links, name));
    let row = |_| (0..5).map(|_| random.next()).collect();
    let features: Vec<Vec<f64>> = (0..200).map(row).collect();
    lab.write("x.csv", features_csv(&features, name));
    lab
}

pub fn rows(text: &str) -> Vec<Vec<String>> {
    let row = |line: &str| line.split(',').map(str::to_owned).collect();
    text.lines().skip(1).map(row).collect()
}

pub fn is_false(row: &[String], at: usize, wrong: &[(usize, usize)]) -> bool {
    let node = |text: &str| text[1..].parse::<usize>().unwrap();
    let (a, b) = (node(&row[at]), node(&row[at + 1]));
    wrong.contains(&(a.min(b), a.max(b)))
}

/// One object, whatever is said beside it.
fn number(found: &Value, name: &str) -> f64 {
    found[name]
        .as_f64()
        .unwrap_or_else(|| panic!("{name}: {found}"))
}

pub const LINE: &str = "check --links links.csv --features x.csv --out chk";

#[test]
fn false_links_come_first_and_the_folder_is_whole() {
    let (lab, wrong) = corrupted();
    let found = lab.json(&format!("{LINE} --nodes nodes.csv"));
    assert_eq!(found["abstained"], false);
    let truth = wrong.len() as f64 / number(&found, "links");
    assert!(number(&found, "share_high") > truth * 0.8, "{found}");
    assert!(number(&found, "share_low") <= number(&found, "share_false"));
    let detection = found["detection"].as_array().unwrap();
    let kinds: Vec<&str> = detection
        .iter()
        .map(|it| it["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["uniform", "by degree", "alike"]);
    for field in ["planted", "flagged", "found", "own"] {
        assert!(detection[0][field].is_number(), "{found}");
    }
    assert_eq!(found["top"].as_array().unwrap().len(), 20);
    assert_eq!(found["top"][0]["rank"], 1);
    let suspects = lab.read("chk/suspects.csv");
    let header = "rank,src,dst,src_name,dst_name,weight,belief,suspect,why";
    assert_eq!(suspects.lines().next(), Some(header));
    let table = rows(&suspects);
    assert_eq!(
        (&*table[0][0], &*table[0][5], &*table[0][3]),
        ("1", "1", &*format!("Node no. {}", &table[0][1][1..]))
    );
    let first = table[..60]
        .iter()
        .filter(|row| is_false(row, 1, &wrong))
        .count();
    assert!(first > 42, "{first}");
    assert!(table[0][8].contains("features unlike") || table[0][8].contains("no common neighbors"));
    let flagged = table.iter().filter(|row| row[7] == "1").count();
    assert_eq!(
        (&found["flagged"], &found["suspects"]),
        (&flagged.into(), &flagged.into())
    );
    let beliefs = lab.read("chk/beliefs.csv");
    assert!(beliefs.starts_with("src,dst,weight,belief,src_name,dst_name\n"));
    assert_eq!(rows(&beliefs).len() as f64, number(&found, "links"));
    let json: Value = serde_json::from_str(&lab.read("chk/check.json")).unwrap();
    for field in [
        "seed",
        "inputs",
        "seconds",
        "versions",
        "peak_memory_bytes",
        "facts",
        "unused",
    ] {
        assert!(!json[field].is_null(), "{field}");
    }
    assert_eq!(json["share_false"], found["share_false"]);
    // The same bits again, and with another number of threads.
    lab.ok("check --links links.csv --features x.csv --nodes nodes.csv --out again --quiet --threads 1");
    assert_eq!(lab.read("again/suspects.csv"), suspects);
}

#[test]
fn four_lines_end_what_is_printed() {
    let (lab, _) = corrupted();
    let words = lab.ok(&format!("{LINE} --top 3"));
    assert!(words.starts_with("rank"), "{words}");
    let starts = ["300 nodes, ", "Links ", "Test ", "Next "];
    for start in starts {
        let count = words.lines().filter(|line| line.starts_with(start)).count();
        assert_eq!(count, 1, "{start}: {words}");
    }
    for part in [
        "chk/suspects.csv",
        "We planted ",
        "rank as high",
        "--sample 30",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    let words = lab.ok(&format!("{LINE} --force --no-test --top 0"));
    assert!(
        words.starts_with("300 nodes") && words.contains("Left out."),
        "{words}"
    );
    let found = lab.json(&format!("{LINE} --force --no-test"));
    assert!(found["detection"].is_null());
    assert_eq!(lab.ok(&format!("{LINE} --force --quiet")), "");
    // A finished check is shown again.
    let again = lab.ok("check --out chk --top 2");
    assert!(
        again.starts_with("rank") && again.contains("300 nodes"),
        "{again}"
    );
}

#[test]
fn a_sample_that_is_checked_makes_beliefs_sharper() {
    let (lab, wrong) = corrupted();
    lab.ok(&format!("{LINE} --quiet"));
    let before = lab.bytes("chk/check.json");
    let found = lab.json("check --out chk --sample 30");
    assert_eq!(found["sample"], "chk/sample.csv");
    assert_eq!(lab.bytes("chk/check.json"), before);
    let sample = lab.read("chk/sample.csv");
    assert_eq!(
        sample.lines().next(),
        Some("src,dst,src_name,dst_name,real")
    );
    assert_eq!(rows(&sample).len(), 30);
    let answered = rows(&sample).iter().fold(
        String::from("src,dst,src_name,dst_name,real\n"),
        |text, row| {
            let real = u8::from(!is_false(row, 0, &wrong));
            text + &format!("{},{},,,{real}\n", row[0], row[1])
        },
    );
    lab.write("chk/sample.csv", &answered);
    // Answers are not lost.
    lab.refused(
        "check --out chk --sample 5",
        &["30 answers", "--checked chk/sample.csv"],
    );
    let found = lab.json("check --out chk --checked chk/sample.csv");
    assert_eq!(found["checks"]["verified"], 30);
    let truth = wrong.len() as f64 / number(&found, "links");
    assert!(
        (number(&found, "share_false") - truth).abs() < 0.09,
        "{found} {truth}"
    );
    assert!(found["share_high_unchecked"].is_number());
    assert_eq!(lab.read("chk/checked.csv").lines().count(), 31);
    assert_eq!(lab.read("chk/sample.csv"), answered);
    let beliefs = rows(&lab.read("chk/beliefs.csv"));
    let sure = beliefs
        .iter()
        .filter(|row| row[3] == "0" || row[3] == "1")
        .count();
    assert!(sure >= 30);
    assert!(lab.read("chk/suspects.csv").contains("checked by hand: "));
    let words = lab.ok("check --out chk");
    assert!(words.contains("by 30 checks)"), "{words}");
    // The next sample has none of them, and a newer answer replaces an older one.
    lab.ok("check --out chk --sample 10 --quiet");
    let checked = lab.read("chk/checked.csv");
    for row in rows(&lab.read("chk/sample.csv")) {
        assert!(!checked.contains(&format!("{},{},", row[0], row[1])));
    }
    let row = rows(&checked)[0].clone();
    let other = if row[2] == "1" { 0 } else { 1 };
    lab.write(
        "new.csv",
        format!("src,dst,real\n{},{},{other}\n", row[1], row[0]),
    );
    let words = lab.ok("check --out chk --checked new.csv");
    assert!(
        words.contains("1 earlier check is replaced by newer ones."),
        "{words}"
    );
    assert_eq!(lab.json("check --out chk")["checks"]["verified"], 30);
    // A new check over the old one keeps and uses them; pairs that are gone stay.
    let kept = lab.read("chk/checked.csv");
    lab.write("chk/checked.csv", format!("{kept}gone,n1,1\n"));
    let words = lab.ok(&format!("{LINE} --force"));
    assert!(
        words.contains("1 check is about pairs that are no links any more"),
        "{words}"
    );
    assert!(words.contains("by 30 checks)"), "{words}");
    assert!(lab.read("chk/checked.csv").contains("gone,n1,1"));
}

#[test]
fn clean_lists_leave_out_what_is_asked_for() {
    let (lab, wrong) = corrupted();
    let found = lab.json(&format!("{LINE} --clean kept.csv"));
    let links = number(&found, "links") as usize;
    let flagged = number(&found, "flagged") as usize;
    let kept = |name: &str| rows(&lab.read(name)).len();
    assert_eq!(kept("kept.csv"), links - flagged);
    assert_eq!(found["kept"], links - flagged);
    lab.ok("check --out chk --clean drop.csv --drop 60 --quiet");
    assert_eq!(kept("drop.csv"), links - 60);
    let left = rows(&lab.read("drop.csv"))
        .iter()
        .filter(|row| is_false(row, 0, &wrong))
        .count();
    assert!(left < wrong.len() - 45, "{left}");
    lab.ok("check --out chk --clean least.csv --min-belief 0.9 --quiet");
    let beliefs = rows(&lab.read("chk/beliefs.csv"));
    let believed = beliefs
        .iter()
        .filter(|row| row[3].parse::<f64>().unwrap() >= 0.9);
    assert_eq!(kept("least.csv"), believed.count());
    let wide = lab.json("check --out chk --rate 0.6");
    let tight = lab.json("check --out chk --rate 0.01");
    assert!(number(&wide, "flagged") >= number(&tight, "flagged"));
    let suspects = rows(&lab.read("chk/suspects.csv"));
    let flagged = suspects.iter().filter(|row| row[7] == "1").count();
    assert_eq!(tight["flagged"], flagged);
}

#[test]
fn pairs_that_miss_a_link_are_listed() {
    let (lab, _) = corrupted();
    let found = lab.json(&format!("{LINE} --missing 40"));
    assert_eq!(found["missing"].as_array().unwrap().len(), 40);
    let missing = rows(&lab.read("chk/missing.csv"));
    let node = |text: &str| text[1..].parse::<usize>().unwrap();
    let inside = missing
        .iter()
        .filter(|row| node(&row[0]) % 3 == node(&row[1]) % 3);
    assert!(inside.count() > 36, "{missing:?}");
    let links = lab.read("links.csv");
    let is_link = |row: &Vec<String>| links.contains(&format!("\n{},{},", row[0], row[1]));
    assert!(!missing.iter().any(is_link));
    lab.refused("check --out chk --missing 3", &["--links"]);
}

#[test]
fn random_links_are_ranked_and_not_called_false() {
    let lab = random();
    let found = lab.json(LINE);
    assert_eq!(found["abstained"], true, "{found}");
    for field in ["share_false", "share_low", "share_high", "detection"] {
        assert!(found[field].is_null(), "{field}");
    }
    assert_eq!(found["flagged"], 0);
    let suspects = rows(&lab.read("chk/suspects.csv"));
    assert!(
        suspects
            .iter()
            .all(|row| row[6].is_empty() && row[7] == "0")
    );
    assert_eq!(suspects.len(), 700);
    assert!(
        rows(&lab.read("chk/beliefs.csv"))
            .iter()
            .all(|row| row[3].is_empty())
    );
    let words = lab.ok("check --out chk");
    assert!(
        words.contains("The links look random to everything that is known"),
        "{words}"
    );
    let refused = lab.run("check --out chk --clean kept.csv");
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        said.starts_with("error: --clean kept.csv: not written"),
        "{said}"
    );
    lab.ok("check --out chk --clean kept.csv --drop 10 --quiet");
    assert_eq!(rows(&lab.read("kept.csv")).len(), 690);
    // Verified links count as far as they go.
    lab.write(
        "v.csv",
        format!("src,dst,real\n{},{},0\n", suspects[0][1], suspects[0][2]),
    );
    assert_eq!(lab.json("check --out chk --checked v.csv")["flagged"], 1);
}
