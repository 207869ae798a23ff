//! What is done with a model: embed, score, neighbors, cluster, evaluate.

use crate::lab::{Lab, links_csv, planted};

fn fitted(options: &str) -> Lab {
    let lab = Lab::with_graph();
    lab.ok(&format!(
        "fit --links links.csv --features x.csv --dim 4 --out m {options}"
    ));
    lab
}

fn rows(text: &str) -> Vec<Vec<String>> {
    let row = |line: &str| line.split(',').map(str::to_owned).collect();
    text.lines().skip(1).map(row).collect()
}

#[test]
fn training_rows_embed_as_they_were() {
    for options in [
        "",
        "--precision f64 --normalize l2",
        "--encoder mlp --hidden 8,5 --batch-norm --dropout 0.3 --steps 20",
        "--propagate 2",
        "--solver sgd --steps 20 --encoder mlp --hidden 8 --activation relu --output-activation tanh",
    ] {
        let lab = fitted(options);
        let found = lab.json("embed --model m --features x.csv --out e.npy");
        assert_eq!((&found["nodes"], &found["dim"]), (&60.into(), &4.into()));
        let (expected, found) = (lab.read_npy("m/embeddings.npy"), lab.read_npy("e.npy"));
        assert_eq!((found.0, found.1), (60, 4));
        for (a, b) in expected.2.iter().zip(&found.2) {
            assert!(
                (a - b).abs() <= 1e-6 * a.abs().max(1.0),
                "{options}: {a} {b}"
            );
        }
    }
}

#[test]
fn embeddings_of_unseen_nodes_in_every_format() {
    let lab = fitted("");
    lab.write("new.csv", "u,1,0,0,0,0\nv,0,1,0,0,0\n");
    lab.write_npy(
        "new.npy",
        &[vec![1.0, 0.0, 0.0, 0.0, 0.0], vec![0.0, 1.0, 0.0, 0.0, 0.0]],
    );
    lab.write("names.csv", "id\nu\nv\n");
    for name in ["e.npy", "e.csv", "e.parquet", "e.txt"] {
        lab.ok(&format!("embed --model m --features new.csv --out {name}"));
    }
    assert_eq!(lab.read("e.nodes.csv"), "node\nu\nv\n");
    let expected = lab.read_npy("e.npy").2;
    for name in ["e.csv", "e.parquet"] {
        let found = linkproof::io::read_embeddings(lab.path(name)).unwrap();
        let values: Vec<f64> = found.values.iter().map(|&x| f64::from(x)).collect();
        assert_eq!(values, expected, "{name}");
        assert_eq!(found.ids.name(1), "v");
    }
    assert!(lab.read("e.txt").starts_with("2 4\nu "));
    lab.ok("embed --model m --features new.npy --out rows.npy");
    assert_eq!(lab.read_npy("rows.npy").2, expected);
    assert!(!lab.path("rows.nodes.csv").exists());
    lab.ok("embed --model m --features new.npy --nodes names.csv --out named.npy");
    assert_eq!(lab.read("named.nodes.csv"), "node\nu\nv\n");

    lab.refused(
        "embed --model m --features new.csv --out e.xyz",
        &["e.xyz", ".npy"],
    );
    lab.write("narrow.csv", "u,1,0\n");
    let narrow = ["narrow.csv", "2 entries", "5 entries"];
    lab.refused("embed --model m --features narrow.csv --out n.npy", &narrow);
    lab.refused(
        "embed --model none --features new.csv --out n.npy",
        &["none"],
    );
    lab.refused(
        "embed --model m --features new.csv --view v --out n.npy",
        &["view"],
    );
    lab.write("few.csv", "id\nu\n");
    lab.refused(
        "embed --model m --features new.npy --nodes few.csv --out n.npy",
        &["new.npy", "2 rows", "few.csv", "1"],
    );
}

#[test]
fn unseen_nodes_may_bring_links_to_a_model_that_averages() {
    let lab = fitted("--propagate 1");
    lab.write("new.csv", "u,1,0,0,0,0\nv,0,1,0,0,0\n");
    lab.write("ties.csv", "u,n0\nu,n3\nv,n1\n");
    let line = "embed --model m --features new.csv";
    lab.ok(&format!("{line} --out alone.npy"));
    lab.ok(&format!("{line} --links ties.csv --out tied.npy"));
    assert_ne!(lab.read_npy("alone.npy"), lab.read_npy("tied.npy"));
    // What training nodes have among themselves is settled.
    lab.write("ties.csv", "u,n0\nu,n3\nv,n1\nu,v\nn0,n1\n");
    lab.ok(&format!("{line} --links ties.csv --out more.npy"));
    assert_eq!(lab.read_npy("more.npy"), lab.read_npy("tied.npy"));
    lab.write("ties.csv", "u,n0\nu,nobody\n");
    lab.refused(
        &format!("{line} --links ties.csv --out t.npy"),
        &["ties.csv, line 2", "'nobody'"],
    );
}

#[test]
fn pairs_keep_their_order_and_their_spelling() {
    let lab = fitted("");
    lab.write("new.csv", "u,1,0,0,0,0\nn5,9,9,9,9,9\n");
    lab.write("pairs.csv", "src,dst\nn4,n1\nn1,n4\nu,n0\nn1,n5\n");
    let found = lab.json("score --model m --pairs pairs.csv --features new.csv --out s.csv");
    assert_eq!(found["pairs"], 4);
    let text = lab.read("s.csv");
    assert!(text.starts_with("src,dst,p_link,size,mu\nn4,n1,"), "{text}");
    let rows = rows(&text);
    assert_eq!(rows[0][2], rows[1][2]);
    assert_eq!(rows[2][..2], ["u", "n0"]);
    let y = lab.read_npy("m/embeddings.npy").2;
    let fit: serde_json::Value = serde_json::from_str(&lab.read("m/fit.json")).unwrap();
    let gamma = fit["gamma"].as_f64().unwrap();
    // n5 has been seen: its embedding is that of the fit.
    for (row, (i, j)) in [(0, (4, 1)), (3, (1, 5))] {
        let product: f64 = (0..4).map(|k| y[i * 4 + k] * y[j * 4 + k]).sum();
        let [p_link, size, mu] = [2, 3, 4].map(|place| rows[row][place].parse::<f64>().unwrap());
        assert!((mu / (product - gamma).exp() - 1.0).abs() < 1e-9);
        // A Poisson count, and the same given that it is not zero.
        assert!((p_link - (1.0 - (-mu).exp())).abs() < 1e-9);
        assert!((p_link * size / mu - 1.0).abs() < 1e-9);
    }
    lab.refused(
        "score --model m --pairs pairs.csv --out t.csv",
        &["pairs.csv, line 4", "'u'"],
    );
    lab.write("pairs.csv", "n1,n2\nn3\n");
    lab.refused(
        "score --model m --pairs pairs.csv --out t.csv",
        &["pairs.csv, line 2", "1 column"],
    );
}

#[test]
fn rows_that_would_pass_for_training_nodes_are_refused() {
    let lab = Lab::new();
    let graph = planted(30, 2, 4);
    lab.write(
        "links.csv",
        links_csv(&graph.links, |node| node.to_string()),
    );
    lab.write_npy("x.npy", &graph.features);
    lab.ok("fit --links links.csv --features x.npy --dim 2 --out m");
    lab.write_npy("new.npy", &graph.features[..2]);
    lab.write("pairs.csv", "0,1\n");
    lab.write("names.csv", "id\nu\nv\n");
    let line = "score --model m --pairs pairs.csv --features new.npy --out s.csv";
    lab.refused(line, &["new.npy", "0 to 1", "--nodes"]);
    lab.write("pairs.csv", "0,u\nv,u\n");
    lab.ok(&format!("{line} --nodes names.csv"));
    assert_eq!(lab.read("s.csv").lines().count(), 3);
}

#[test]
fn neighbors_are_ranked_by_expected_weight() {
    let lab = fitted("");
    lab.ok("neighbors --model m --node n1 --node n2 --top 4 --out n.csv");
    let text = lab.read("n.csv");
    assert!(text.starts_with("node,neighbor,rank,mu\nn1,"), "{text}");
    let found = rows(&text);
    assert_eq!(found.len(), 8);
    let mu = |row: &[String]| row[3].parse::<f64>().unwrap();
    for (rank, pair) in (1..4).zip(found.windows(2)) {
        assert_eq!(pair[0][2], rank.to_string());
        assert!(mu(&pair[0]) >= mu(&pair[1]));
        assert_ne!(pair[0][1], "n1");
    }
    assert_eq!(found[4][0], "n2");
    lab.write("new.csv", "u,1,0,0,0,0\n");
    let json = lab.json("neighbors --model m --features new.csv --out u.csv");
    assert_eq!(json["neighbors"], 10);
    let nearest = &rows(&lab.read("u.csv"))[0][1];
    let node: usize = nearest[1..].parse().unwrap();
    assert_eq!(node % 3, 0, "the nearest of u is {nearest}");
    lab.refused(
        "neighbors --model m --node x --out t.csv",
        &["--node x", "nodes.csv"],
    );
    lab.refused("neighbors --model m --out t.csv", &["--node"]);
    lab.refused(
        "neighbors --model m --node n1 --top 0 --out t.csv",
        &["--top"],
    );
    lab.refused(
        "neighbors --model m --node n1 --within v --out t.csv",
        &["--within must be", "but is 'v'"],
    );
}

#[test]
fn clusters_find_the_groups_and_labels_measure_them() {
    let lab = fitted("--seed 1");
    let found = lab.json("cluster --embeddings m/embeddings.npy --clusters 3 --out c.csv");
    assert_eq!(
        (&found["nodes"], &found["clusters"]),
        (&60.into(), &3.into())
    );
    assert!(lab.read("c.csv").starts_with("node,cluster\nn0,"));
    let by_kmeans = lab.json("evaluate --embeddings m/embeddings.npy --labels labels.csv");
    let purity = by_kmeans["purity"].as_f64().unwrap();
    assert!(purity > 0.9, "{by_kmeans}");
    for name in ["nmi", "ari", "accuracy"] {
        assert!(by_kmeans[name].is_number(), "{name}");
    }
    let line = "evaluate --embeddings m/embeddings.npy --labels labels.csv --predicted c.csv";
    assert_eq!(lab.json(line)["purity"], by_kmeans["purity"]);
    let alone = lab.json("evaluate --predicted c.csv --labels labels.csv");
    assert_eq!(alone["n"], 60);
    let words = lab.ok("evaluate --embeddings m/embeddings.npy --labels labels.csv --clusters 2");
    assert!(
        words.contains("60 labelled nodes, 3 labels, 2 clusters"),
        "{words}"
    );
    // The model's own embeddings, and data vectors.
    let words = lab.ok("cluster --model m --clusters 3 --out own.csv");
    assert_eq!(lab.read("own.csv"), lab.read("c.csv"));
    assert!(
        words.contains("60 nodes in 3 clusters\n    0  20 nodes: n"),
        "{words}"
    );
    let found = lab.json("cluster --features x.csv --clusters 3 --out x3.csv");
    let sizes = found["groups"].as_array().unwrap().iter();
    let sizes: u64 = sizes.map(|group| group["nodes"].as_u64().unwrap()).sum();
    assert_eq!(sizes, 60);
    let of_vectors = lab.json("evaluate --predicted x3.csv --labels labels.csv");
    let beside = lab.json(
        "evaluate --embeddings m/embeddings.npy --features x.csv --labels labels.csv --clusters 3",
    );
    assert_eq!(of_vectors["nmi"], beside["features"]["nmi"]);
    lab.refused(
        "cluster --embeddings m --clusters 3 --out t.csv",
        &["found a folder", "--model m"],
    );
    lab.refused("cluster --clusters 3 --out t.csv", &["--model"]);
    lab.refused(
        "cluster --features x.csv --model m --clusters 3 --out t.csv",
        &["--features"],
    );
    lab.refused(
        "cluster --embeddings m/embeddings.npy --clusters 61 --out t.csv",
        &["clusters", "61"],
    );
    lab.refused(
        "cluster --embeddings m/embeddings.npy --clusters 0 --out t.csv",
        &["clusters", "0"],
    );
}

#[test]
fn data_vectors_are_measured_beside_the_embeddings() {
    let lab = fitted("--seed 1");
    let line = "evaluate --embeddings m/embeddings.npy --labels labels.csv";
    let found = lab.json(&format!("{line} --features x.csv"));
    assert_eq!(found["purity"], lab.json(line)["purity"]);
    let vectors = &found["features"];
    assert_eq!(
        (&vectors["n"], &vectors["classes"]),
        (&60.into(), &3.into())
    );
    for name in ["nmi", "purity", "ari", "accuracy"] {
        assert!(vectors[name].is_number(), "{name}");
    }
    let words = lab.ok(&format!("{line} --features x.csv"));
    assert!(words.contains("embeddings  data vectors alone"), "{words}");
    // The same vectors as a sparse matrix, whose rows a table names.
    let rows: Vec<Vec<String>> = lab
        .read("x.csv")
        .lines()
        .filter(|line| line.starts_with('n'))
        .map(|line| line.split(',').map(str::to_owned).collect())
        .collect();
    let entries: Vec<String> = rows
        .iter()
        .enumerate()
        .flat_map(|(row, fields)| {
            let entries = fields[1..].iter().enumerate();
            entries.map(move |(column, x)| format!("{} {} {x}", row + 1, column + 1))
        })
        .collect();
    let (n, dim) = (rows.len(), rows[0].len() - 1);
    lab.write(
        "x.mtx",
        format!(
            "%%MatrixMarket matrix coordinate real general\n{n} {dim} {}\n{}\n",
            entries.len(),
            entries.join("\n")
        ),
    );
    let names: Vec<&str> = rows.iter().map(|fields| fields[0].as_str()).collect();
    lab.write("order.csv", format!("node\n{}\n", names.join("\n")));
    let sparse = lab.json(&format!("{line} --features x.mtx --nodes order.csv"));
    assert_eq!(sparse["features"], found["features"]);
    lab.refused(
        &format!("{line} --features x.mtx"),
        &["x.mtx", "no data vector of any labelled node", "--nodes"],
    );
    lab.refused(&format!("{line} --nodes order.csv"), &["--features"]);
}

#[test]
fn only_labelled_rows_count() {
    let lab = Lab::new();
    // The unlabelled rows would pull k-means apart.
    let place = |x: f64| vec![x, 0.0];
    let y: Vec<Vec<f64>> = [0.0, 0.1, 1.0, 1.1, 900.0, -900.0].map(place).to_vec();
    lab.write_npy("y.npy", &y);
    lab.write(
        "labels.csv",
        "0,red\n1,red\n2,blue\n3,blue\n4,-1\n5,\n77,red\n",
    );
    let found = lab.json("evaluate --embeddings y.npy --labels labels.csv");
    assert_eq!((&found["nmi"], &found["n"]), (&1.0.into(), &4.into()));
    lab.write("p.csv", "node,cluster\n0,0\n1,0\n2,1\n");
    lab.refused(
        "evaluate --embeddings y.npy --labels labels.csv --predicted p.csv",
        &["p.csv", "no cluster for node '3'"],
    );
    lab.write("other.csv", "a,1\nb,2\n");
    lab.refused(
        "evaluate --embeddings y.npy --labels other.csv",
        &["other.csv", "no label of any"],
    );
    lab.write("nodes.csv", "node\na\nb\n");
    lab.refused(
        "evaluate --embeddings y.npy --labels labels.csv",
        &["y.npy", "6 rows", "nodes.csv", "2"],
    );
}
