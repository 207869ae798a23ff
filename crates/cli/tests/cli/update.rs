//! `linkproof update`.

use crate::lab::{Lab, features_csv, links_csv, planted};

fn name(node: usize) -> String {
    format!("node {node}")
}

/// A graph of 60 nodes in three groups of which the last two nodes are not yet known.
fn before() -> Lab {
    let lab = Lab::new();
    let graph = planted(60, 3, 2);
    let is_old = |link: &&(usize, usize, f64)| link.0 < 58 && link.1 < 58;
    let (old, new): (Vec<_>, Vec<_>) = graph.links.iter().copied().partition(|link| is_old(&link));
    lab.write("links.csv", links_csv(&old, name));
    lab.write("new.csv", links_csv(&new, name));
    lab.write("x.csv", features_csv(&graph.features[..58], name));
    let all = features_csv(&graph.features, name);
    let header = usize::from(!all.starts_with("node 0"));
    let last: Vec<&str> = all.lines().skip(58 + header).collect();
    let head: String = all
        .lines()
        .take(header)
        .map(|line| format!("{line}\n"))
        .collect();
    lab.write("new_x.csv", format!("{head}{}\n", last.join("\n")));
    lab
}

#[test]
fn new_nodes_join_and_old_ones_stay() {
    let lab = before();
    lab.ok("fit --links links.csv --features x.csv --dim 3 --out m");
    let found = lab.json("update --model m --links new.csv --features new_x.csv --out m2");
    assert_eq!(
        (&found["nodes"], &found["new_nodes"]),
        (&60.into(), &2.into())
    );
    assert_eq!(found["moved_nodes"], 0);
    let (old, new) = (
        lab.read_npy("m/embeddings.npy").2,
        lab.read_npy("m2/embeddings.npy").2,
    );
    assert_eq!(new[..old.len()], old);
    let fit: serde_json::Value = serde_json::from_str(&lab.read("m2/fit.json")).unwrap();
    assert_eq!(fit["updates"]["times"], 1);
    assert_eq!(fit["update"]["new_nodes"], 2);
    // What an update wrote is a model like any other.
    lab.ok("cluster --embeddings m2/embeddings.npy --clusters 3 --out c.csv");
    lab.ok("update --model m2 --withdrawn new.csv --out m3");
    assert_eq!(lab.read_npy("m3/embeddings.npy").0, 60);
}

#[test]
fn without_data_vectors_the_ends_of_new_links_move() {
    let lab = before();
    lab.ok("fit --links links.csv --dim 3 --ridge 0.05 --out m");
    let text = lab.ok("update --model m --links new.csv --out m2");
    assert!(
        text.contains("2 nodes and") && text.contains("moved "),
        "{text}"
    );
    assert!(text.contains("No full fit is due yet"), "{text}");
    assert!(
        text.contains("nodes with the links that they had moved by"),
        "{text}"
    );
    let found = lab.json("update --model m --links new.csv --out m3");
    assert!(found["untouched_nodes"].as_u64().unwrap() > 30, "{found}");
    assert_eq!(found["untouched_most"], 0.0);
}

#[test]
fn links_with_directions_or_of_two_kinds_need_a_full_fit() {
    let lab = before();
    for how in ["--directed", "--bipartite"] {
        lab.ok(&format!(
            "fit --links links.csv --dim 3 {how} --out m --force"
        ));
        let refused = ["model", "a model that can be updated", "fit again"];
        lab.refused("update --model m --links new.csv --out m2", &refused);
    }
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_is_written() {
    let lab = before();
    lab.ok("fit --links links.csv --features x.csv --dim 3 --out m");
    lab.refused(
        "update --model m --out m2",
        &["--links, --withdrawn or --features"],
    );
    let stranger = ["new.csv", "which is new", "--features"];
    lab.refused("update --model m --links new.csv --out m2", &stranger);
    let unknown = ["new.csv", "among those withdrawn"];
    lab.refused("update --model m --withdrawn new.csv --out m2", &unknown);
    lab.write("bad.csv", "node 58,1,2\n");
    lab.refused("update --model m --features bad.csv --out m2", &["bad.csv"]);
    assert!(!lab.path("m2").exists());
}
