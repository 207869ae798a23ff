//! `linkproof audit`.

use crate::lab::{Lab, features_csv, links_csv, planted};

/// 90 nodes in three groups, some links of which join groups at weight 50.
fn corrupted() -> Lab {
    let lab = Lab::new();
    let mut graph = planted(90, 3, 2);
    for node in 0..8 {
        graph
            .links
            .retain(|link| (link.0, link.1) != (node, node + 31));
        graph.links.push((node, node + 31, 50.0));
    }
    let name = |node: usize| format!("node {node}");
    lab.write("links.csv", links_csv(&graph.links, name));
    lab.write("x.csv", features_csv(&graph.features, name));
    lab
}

fn table(text: &str) -> Vec<Vec<String>> {
    let row = |line: &str| line.split(',').map(str::to_owned).collect();
    text.lines().map(row).collect()
}

#[test]
fn corrupted_links_come_first_and_clean_leaves_them_out() {
    let lab = corrupted();
    let fit = "fit --links links.csv --features x.csv --dim 3 --score probability --beta 0.1";
    lab.ok(&format!("{fit} --ridge 1 --out m"));
    let line =
        "audit --model m --links links.csv --no-judge --out a.csv --clean kept.csv --missing 4";
    let found = lab.json(line);
    let rows = table(&lab.read("a.csv"));
    let header = "src,dst,weight,mu,trust,influence,surprise,fdr,suspect,weight_fdr,why";
    assert_eq!(rows[0].join(","), header);
    let links = table(&lab.read("links.csv")).len() - 1;
    assert_eq!((rows.len() - 1, &found["links"]), (links, &links.into()));
    for row in &rows[1..9] {
        assert_eq!((row[2].as_str(), row[8].as_str()), ("50", "1"), "{row:?}");
        assert!(row[4].parse::<f64>().unwrap() < 1e-9);
    }
    let trusts: Vec<f64> = rows[1..]
        .iter()
        .map(|row| row[4].parse().unwrap())
        .collect();
    assert!(trusts.is_sorted() && trusts.iter().all(|trust| (0.0..=1.0).contains(trust)));
    let suspects = found["suspects"].as_u64().unwrap() as usize;
    let kept = lab.read("kept.csv");
    assert_eq!(kept.lines().count() - 1, links - suspects);
    assert!(
        !kept.contains(",50\n") && kept.contains("node 1,"),
        "{kept}"
    );
    assert_eq!(lab.read("missing.csv").lines().count(), 5);
    assert_eq!(found["missing"].as_array().unwrap().len(), 4);
    assert_eq!(found["too_heavy"], 8);
    // By trust alone.
    let found = lab.json(
        "audit --model m --links links.csv --no-judge --out b.csv --clean k.csv --min-trust 1e-9",
    );
    assert_eq!(found["suspects"], 8);
    assert_eq!(lab.read("k.csv").lines().count() - 1, links - 8);
    // The same without having seen the links, beside the baseline.
    let line = "audit --model m --links links.csv --features x.csv --no-judge --cross-fit --folds 4 \
         --out c.csv";
    let found = lab.json(line);
    let rows = table(&lab.read("c.csv"));
    assert_eq!(
        rows[0].join(","),
        header.replace("suspect", "suspect,cosine")
    );
    assert!(rows[1..9].iter().all(|row| row[2] == "50"));
    let auc = &found["auc_against_random_pairs"];
    assert!(auc["fit"].as_f64().unwrap() > 0.5 && auc["cosine"].as_f64().unwrap() > 0.5);
    let words = lab.ok(line);
    assert!(
        words.contains("least trusted") && words.contains("AUC"),
        "{words}"
    );
}

#[test]
fn audits_that_cannot_be_are_refused() {
    let lab = corrupted();
    lab.ok("fit --links links.csv --features x.csv --dim 3 --quiet --out m");
    let line = "audit --model m --links links.csv --out a.csv";
    for (options, what) in [
        ("--min-trust 2", ["min-trust", "between 0 and 1"]),
        ("--fdr nan", ["fdr", "between 0 and 1"]),
        (
            "--false-discovery-rate 2",
            ["false-discovery-rate", "between 0 and 1"],
        ),
        (
            "--false-discovery-rate .1 --no-judge",
            ["--false-discovery-rate", "--no-judge"],
        ),
        ("--folds 1", ["folds", "2 to 100"]),
        ("--cross-fit", ["--cross-fit", "--features"]),
        (
            "--cross-fit --features x.csv --folds 1",
            ["folds", "2 to 100"],
        ),
        ("--missing -1", ["--missing", "-1"]),
    ] {
        lab.refused(&format!("{line} {options}"), &what);
    }
    lab.write("other.csv", "src,dst\nnode 1,node 2\nnode 1,stranger\n");
    let what = ["other.csv, line 3", "'stranger'", "nodes.csv"];
    lab.refused("audit --model m --links other.csv --out a.csv", &what);
    lab.refused(
        "audit --model none --links links.csv --out a.csv",
        &["none"],
    );
}

#[test]
fn links_of_several_views_keep_their_ends() {
    let lab = corrupted();
    // Nodes that stand in another order inside.
    let names = (0..90).map(|node| format!("node {node},{}\n", ["a", "b"][node % 2]));
    lab.write(
        "nodes.csv",
        format!("node,view\n{}", names.collect::<String>()),
    );
    lab.ok("fit --links links.csv --nodes nodes.csv --dim 3 --score likelihood --ridge 1 --out v");
    lab.ok("audit --model v --links links.csv --out va.csv --missing 3");
    let links = lab.read("links.csv");
    for row in &table(&lab.read("va.csv"))[1..] {
        assert!(
            links.contains(&format!("{},{},{}\n", row[0], row[1], row[2])),
            "{row:?}"
        );
    }
}
