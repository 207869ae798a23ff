//! `linkproof smooth`.

use crate::lab::{Lab, Planted, features_csv, links_csv, planted};

pub const NODES: usize = 90;
pub const SMOOTH: &str = "smooth --model m --links links.csv --features x.csv --averaging always";

pub fn name(node: usize) -> String {
    format!("node {node}")
}

/// 90 nodes in three groups, the data vectors of which tell little: the last
/// two entries are all but noise.
pub fn graph() -> Planted {
    let mut graph = planted(NODES, 3, 2);
    for (node, row) in graph.features.iter_mut().enumerate() {
        for (column, x) in row.iter_mut().enumerate() {
            *x += 0.8 * ((node * 7 + column * 5) % 11) as f64 / 11.0;
        }
    }
    graph
}

pub fn write(lab: &Lab, graph: &Planted) {
    lab.write("links.csv", links_csv(&graph.links, name));
    lab.write("x.csv", features_csv(&graph.features, name));
    let labels = (0..NODES).map(|node| format!("{},{}\n", name(node), node % 3));
    lab.write("labels.csv", labels.collect::<String>());
}

pub fn fitted(graph: &Planted) -> Lab {
    let lab = Lab::new();
    write(&lab, graph);
    let fit = "fit --links links.csv --features x.csv --dim 3 --score probability --beta 0.1";
    lab.ok(&format!("{fit} --ridge 1 --out m"));
    lab
}

pub fn nmi(lab: &Lab, file: &str) -> f64 {
    let found = lab.json(&format!("evaluate --embeddings {file} --labels labels.csv"));
    found["nmi"].as_f64().unwrap()
}

/// How far each row of a file is from that of another, by the size of the rows.
fn moves(lab: &Lab, from: &str, to: &str) -> Vec<f64> {
    let (from, to) = (lab.read_npy(from).2, lab.read_npy(to).2);
    let size = from.iter().map(|y| y.abs()).fold(0.0, f64::max);
    let apart = |(a, b): (&[f64], &[f64])| {
        let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
        differences.fold(0.0, f64::max) / size
    };
    from.chunks(3).zip(to.chunks(3)).map(apart).collect()
}

#[test]
fn clusters_are_no_worse_and_rows_are_the_models() {
    let graph = graph();
    let lab = fitted(&graph);
    let found = lab.json(&format!("{SMOOTH} --out y.npy"));
    let links = graph.links.len();
    assert_eq!((&found["nodes"], &found["dim"]), (&NODES.into(), &3.into()));
    assert_eq!(
        (&found["links"], &found["times"]),
        (&links.into(), &2.into())
    );
    assert_eq!(
        (&found["cross_fit"], &found["out"]),
        (&true.into(), &"y.npy".into())
    );
    let believed = found["believed"].as_f64().unwrap();
    assert!(
        believed > 0.4 * links as f64 && believed <= links as f64,
        "{found}"
    );
    assert!(found["ridge"].is_null() && found["new_links"].is_null());
    let (before, after) = (nmi(&lab, "m/embeddings.npy"), nmi(&lab, "y.npy"));
    // A node or two may change sides.
    assert!(after > before - 0.1 && after > 0.8, "{before} {after}");
    // Ids as they were, in the model's order.
    assert_eq!(lab.read("y.nodes.csv"), lab.read("m/nodes.csv"));
    for name in ["y.csv", "y.parquet"] {
        lab.ok(&format!("{SMOOTH} --out {name}"));
        let read = linkproof::io::read_embeddings(lab.path(name)).unwrap();
        assert_eq!(read.ids.name(17), "node 17");
        let values: Vec<f64> = read.values.iter().map(|&y| f64::from(y)).collect();
        assert_eq!(values, lab.read_npy("y.npy").2);
    }
    lab.refused(&format!("{SMOOTH} --out y.txt"), &["node 0"]);
    lab.ok(&format!("{SMOOTH} --times 0 --out same.npy"));
    assert_eq!(lab.bytes("same.npy"), lab.bytes("m/embeddings.npy"));
    let words = lab.ok(&format!("{SMOOTH} --times 1 --out once.npy"));
    let expected = format!("90 nodes averaged 1 time over {links} links, of which about ");
    assert!(words.starts_with(&expected), "{words}");
    assert!(
        words.contains("are believed; written to once.npy"),
        "{words}"
    );
}

#[test]
fn the_gate_is_obeyed_and_told() {
    // Every column four times, so that those left tell of those held back.
    let mut graph = graph();
    for row in &mut graph.features {
        *row = row.repeat(4);
    }
    let lab = fitted(&graph);
    let line = "smooth --model m --links links.csv";
    // Without data vectors there is nothing to try averages with.
    let found = lab.json(&format!("{line} --as-fitted --out y.npy"));
    assert_eq!(
        (&found["averaged"], &found["averaging"]),
        (&false.into(), &"gate".into())
    );
    assert!(found["gate"].is_null() && found["gate_opens_at"] == 0.985);
    assert_eq!(lab.bytes("y.npy"), lab.bytes("m/embeddings.npy"));
    let words = lab.ok(&format!("{line} --as-fitted --out y.npy"));
    assert!(words.starts_with("90 nodes not averaged"), "{words}");
    for part in ["gate      shut", "no data vectors", "--averaging always"] {
        assert!(words.contains(part), "{part}: {words}");
    }
    // With them it says what it found, and does so.
    let line = format!("{line} --features x.csv");
    let found = lab.json(&format!("{line} --out y.npy"));
    let gate = found["gate"].as_f64().unwrap();
    assert_eq!(found["averaged"], gate >= 0.985, "{found}");
    lab.ok(&format!("{SMOOTH} --out always.npy"));
    let like = match gate >= 0.985 {
        true => "always.npy",
        false => "m/embeddings.npy",
    };
    assert_eq!(lab.bytes("y.npy"), lab.bytes(like));
    let words = lab.ok(&format!("{line} --out y.npy"));
    assert!(words.contains("times as well"), "{words}");
    let found = lab.json(&format!("{line} --averaging never --out y.npy"));
    assert!(found["averaged"] == false && found["gate"].is_null());
    assert_eq!(lab.bytes("y.npy"), lab.bytes("m/embeddings.npy"));
}

#[test]
fn corrupted_links_carry_nothing() {
    let mut graph = graph();
    // The first four nodes have no others.
    graph.links.retain(|link| link.0 > 3);
    for node in 0..4 {
        graph.links.push((node, node + 31, 50.0));
        graph.links.push((node, node + 44, 50.0));
    }
    let lab = fitted(&graph);
    for options in ["--features x.csv", "--as-fitted"] {
        lab.ok(&format!(
            "smooth --model m --links links.csv --averaging always {options} --out y.npy"
        ));
        let moves = moves(&lab, "m/embeddings.npy", "y.npy");
        assert!(
            moves[..4].iter().all(|&far| far < 1e-3),
            "{options}: {moves:?}"
        );
        let others = moves[4..].iter().filter(|&&far| far > 0.01);
        assert!(others.count() > 40, "{options}: {moves:?}");
    }
    assert!(nmi(&lab, "y.npy") > 0.8);
}

#[test]
fn a_model_without_data_vectors_needs_none() {
    let lab = Lab::with_graph();
    lab.ok("fit --links links.csv --dim 3 --ridge 0.1 --out m");
    let line = "smooth --model m --links links.csv";
    let found = lab.json(&format!("{line} --out y.csv"));
    assert_eq!(found["cross_fit"], true);
    let first = |text: String| {
        text.lines()
            .nth(1)
            .unwrap()
            .split(',')
            .next()
            .map(str::to_owned)
    };
    let nodes = first(lab.read("m/nodes.csv"));
    assert_eq!(first(lab.read("y.csv")), nodes);
    lab.write("new.csv", "u,1,0,0,0,0\n");
    lab.refused(
        &format!("{line} --new-features new.csv --out n.npy"),
        &["table encoder"],
    );
}

#[test]
fn the_same_bits_at_any_number_of_threads() {
    let lab = fitted(&graph());
    lab.write("new.csv", "u,1.4,.4,.4,.4,.4\nv,.4,1.4,.4,.4,.4\n");
    lab.write("ties.csv", "u,node 0\nu,node 3\n");
    let new = "--new-features new.csv --new-links ties.csv";
    for threads in 1..=2 {
        let line = format!("{SMOOTH} --threads {threads}");
        lab.ok(&format!("{line} --out y{threads}.npy"));
        lab.ok(&format!("{line} {new} --out n{threads}.npy"));
    }
    assert_eq!(lab.bytes("y1.npy"), lab.bytes("y2.npy"));
    assert_eq!(lab.bytes("n1.npy"), lab.bytes("n2.npy"));
}

#[test]
fn averages_that_cannot_be_are_refused() {
    let lab = fitted(&graph());
    let plain = "smooth --model m --links links.csv";
    lab.refused(
        &format!("{plain} --out y.npy"),
        &["--features", "--as-fitted"],
    );
    lab.refused(
        &format!("{plain} --features x.csv --averaging sometimes --out y.npy"),
        &["--averaging", "gate, always, never"],
    );
    for (options, what) in [
        ("--times 101", ["--times", "101"]),
        ("--times -1", ["--times", "-1"]),
        ("--folds 1", ["folds", "2 to 100"]),
        ("--folds 3 --as-fitted", ["--folds", "--as-fitted"]),
        ("--new-links links.csv", ["--new-features", "required"]),
    ] {
        lab.refused(&format!("{SMOOTH} {options} --out y.npy"), &what);
    }
    lab.refused(&format!("{SMOOTH} --out y.xyz"), &["y.xyz", ".npy"]);
    let other = |name: &str| format!("smooth --model m --links {name} --as-fitted --out y.npy");
    lab.write("other.csv", "src,dst\nnode 1,node 2\nnode 1,stranger\n");
    let what = ["other.csv, line 3", "'stranger'", "nodes.csv"];
    lab.refused(&other("other.csv"), &what);
    lab.write("twice.csv", "node 1,node 2,1\nnode 1,node 2,3\n");
    lab.refused(&other("twice.csv"), &["twice.csv", "--duplicates"]);
    lab.ok(&format!("{} --duplicates max", other("twice.csv")));
    // Data vectors of the wrong width, and too few of them.
    lab.write("narrow.csv", "node 0,1,2\n");
    let with = |file: &str| format!("{plain} --features {file} --out y.npy");
    let narrow = ["narrow.csv", "2 entries", "5 entries"];
    lab.refused(&with("narrow.csv"), &narrow);
    lab.write("few.csv", "node 0,1,2,3,4,5\n");
    lab.refused(&with("few.csv"), &["few.csv", "no row for node 'node 1'"]);
    let new = format!("{SMOOTH} --out y.npy --new-features");
    lab.refused(&format!("{new} narrow.csv"), &narrow);
    lab.write("new.csv", "u,1,0,0,0,0\n");
    let tied = format!("{new} new.csv --new-links ties.csv");
    lab.write("ties.csv", "u,node 1\nu,nobody\n");
    lab.refused(&tied, &["ties.csv, line 2", "'nobody'"]);
    // Links of training nodes say nothing of u.
    lab.write("ties.csv", "u,node 1\nnode 2,u\nnode 2,node 1\n");
    assert_eq!(lab.json(&tied)["new_links"], 2);
}
