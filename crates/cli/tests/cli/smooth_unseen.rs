//! `linkproof smooth` for unseen nodes and for several views.

use crate::lab::{Lab, features_csv, links_csv, planted};
use crate::smooth::{NODES, SMOOTH, fitted, graph, name, nmi, write};

/// The squared distance of a row of a file from the mean of a group of the
/// model's nodes, after smoothing.
fn distance(lab: &Lab, file: &str, row: usize, group: usize) -> f64 {
    let (y, known) = (lab.read_npy(file).2, lab.read_npy("y.npy").2);
    let members = (group..NODES).step_by(3);
    let n = members.clone().count() as f64;
    (0..3)
        .map(|k| {
            let mean: f64 = members.clone().map(|node| known[node * 3 + k] / n).sum();
            (y[row * 3 + k] - mean).powi(2)
        })
        .sum()
}

#[test]
fn unseen_nodes_without_and_with_links() {
    let lab = fitted(&graph());
    lab.ok(&format!("{SMOOTH} --out y.npy"));
    // Like the nodes of group 0, of group 1, and like those of none.
    lab.write(
        "new.csv",
        "u,1.4,.4,.4,.4,.4\nv,.4,1.4,.4,.4,.4\nw,.7,.7,.7,.4,.4\n",
    );
    let line = format!("{SMOOTH} --new-features new.csv");
    let found = lab.json(&format!("{line} --out alone.npy"));
    assert_eq!((&found["nodes"], &found["dim"]), (&3.into(), &3.into()));
    assert!(found["ridge"].as_f64().unwrap() > 0.0, "{found}");
    assert!(found["new_links"].is_null());
    assert_eq!(lab.read("alone.nodes.csv"), "node\nu\nv\nw\n");
    for (row, group) in [(0, 0), (1, 1)] {
        let own = distance(&lab, "alone.npy", row, group);
        assert!(own < 0.5 * distance(&lab, "alone.npy", row, 2), "{row}");
    }
    // Links of group 0 for w; v has none.
    lab.write("ties.csv", "w,node 0\nnode 3,w\nw,node 6\nu,node 9\nu,w\n");
    let found = lab.json(&format!("{line} --new-links ties.csv --out tied.npy"));
    assert_eq!(found["new_links"], 5);
    assert!(found["ridge"].is_f64());
    let (alone, tied) = (lab.read_npy("alone.npy").2, lab.read_npy("tied.npy").2);
    assert_eq!(alone[3..6], tied[3..6], "v has no link");
    assert_ne!(alone[..3], tied[..3]);
    lab.ok("embed --model m --features new.csv --out plain.npy");
    assert!(distance(&lab, "tied.npy", 2, 0) < distance(&lab, "plain.npy", 2, 0));
    let words = lab.ok(&format!("{line} --new-links ties.csv --out tied.npy"));
    assert!(
        words.starts_with("3 nodes embedded from averages, 2 times over "),
        "{words}"
    );
    assert!(words.contains("and over 5 links of their own"), "{words}");
    // By the model alone there is nothing to learn from: v stays as embedded.
    let line = "smooth --model m --links links.csv --as-fitted --averaging always \
                --new-features new.csv";
    let found = lab.json(&format!("{line} --new-links ties.csv --out fitted.npy"));
    assert!(found["ridge"].is_null() && found["cross_fit"] == false);
    let (plain, fitted) = (lab.read_npy("plain.npy").2, lab.read_npy("fitted.npy").2);
    assert_eq!(plain[3..6], fitted[3..6]);
    lab.refused(
        &format!("{line} --out t.npy"),
        &["--new-features", "--features", "--new-links"],
    );
}

#[test]
fn names_of_rows_that_have_none() {
    let lab = Lab::new();
    let graph = planted(60, 3, 1);
    lab.write(
        "links.csv",
        links_csv(&graph.links, |node| node.to_string()),
    );
    lab.write_npy("x.npy", &graph.features);
    lab.write_npy("new.npy", &graph.features[..2]);
    lab.ok("fit --links links.csv --features x.npy --dim 3 --out m");
    let line = "smooth --model m --links links.csv --features x.npy";
    lab.ok(&format!("{line} --out y.npy"));
    assert!(!lab.path("y.nodes.csv").exists());
    let line = format!("{line} --new-features new.npy --new-links ties.csv --out n.npy");
    lab.write("ties.csv", "1,40\n");
    let what = ["ties.csv, line 1", "'1'", "--new-nodes"];
    lab.refused(&line, &what);
    lab.write("names.csv", "id\nu\nv\n");
    lab.write("ties.csv", "u,40\nu,v\n");
    lab.ok(&format!("{line} --new-nodes names.csv"));
    assert_eq!(lab.read("n.nodes.csv"), "node\nu\nv\n");
}

#[test]
fn views_each_with_their_own_vectors() {
    let lab = Lab::new();
    let graph = graph();
    write(&lab, &graph);
    let view = |node: usize| {
        if node.is_multiple_of(2) {
            "even"
        } else {
            "odd"
        }
    };
    let nodes = (0..NODES).map(|node| format!("{},{}\n", name(node), view(node)));
    lab.write(
        "nodes.csv",
        format!("node,view\n{}", nodes.collect::<String>()),
    );
    let part = |odd: usize| {
        let rows = graph.features[odd..].iter().step_by(2);
        // Odd nodes have an entry less.
        let rows = rows.map(|row| row[..5 - odd].to_vec());
        rows.collect::<Vec<_>>()
    };
    lab.write("even.csv", features_csv(&part(0), |place| name(2 * place)));
    lab.write(
        "odd.csv",
        features_csv(&part(1), |place| name(2 * place + 1)),
    );
    let files = "--links links.csv --features odd=odd.csv --features even=even.csv";
    let fit = format!("fit {files} --nodes nodes.csv --dim 3 --ridge 1");
    lab.ok(&format!("{fit} --out m"));
    let smooth = format!("smooth --model m {files} --averaging always");
    lab.ok(&format!("{smooth} --out y.npy"));
    assert!(
        lab.read("y.nodes.csv")
            .starts_with("node\nnode 0\nnode 1\n")
    );
    assert!(nmi(&lab, "y.npy") >= nmi(&lab, "m/embeddings.npy"));
    // What an odd node of group 1 looks like.
    lab.write("new.csv", "u,.4,1.4,.4,.4\n");
    let line = format!("{smooth} --new-features odd=new.csv");
    lab.ok(&format!("{line} --out n.npy"));
    assert!(distance(&lab, "n.npy", 0, 1) < 0.5 * distance(&lab, "n.npy", 0, 0));
    let other = format!("{smooth} --new-features new.csv");
    lab.ok(&format!("{other} --view odd --out named.npy"));
    assert_eq!(lab.bytes("n.npy"), lab.bytes("named.npy"));
    lab.refused(&format!("{other} --out n.npy"), &["view", "odd, even"]);
    lab.refused(
        &format!("{other} --view even --out n.npy"),
        &["new.csv", "4 entries", "5 entries"],
    );
    lab.refused(
        &format!("{smooth} --features odd=odd.csv --out y.npy"),
        &["odd.csv", "one for each view"],
    );
    // Links between views that took no part are no links here either.
    lab.ok(&format!("{fit} --view-pairs odd:even --out m --force"));
    let across = graph.links.iter().filter(|link| (link.0 + link.1) % 2 == 1);
    let found = lab.json(&format!("{smooth} --out y.npy"));
    assert_eq!(found["links"], across.count());
    let ignored = found["ignored_links"].as_u64().unwrap() as usize;
    assert!(ignored > 0 && found["links"] == graph.links.len() - ignored);
    lab.write("ties.csv", "u,node 4\nu,node 1\n");
    lab.refused(
        &format!("{line} --new-links ties.csv --out n.npy"),
        &["ties.csv, line 2", "'u'", "'node 1'", "'odd' and 'odd'"],
    );
}
