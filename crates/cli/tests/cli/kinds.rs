//! Offsets, signed similarities, directed and bipartite graphs.

use crate::lab::Lab;

/// The numbers of a column of a CSV file.
fn column(lab: &Lab, file: &str, name: &str) -> Vec<f64> {
    let text = lab.read(file);
    let mut lines = text.lines();
    let place = lines.next().unwrap().split(',').position(|it| it == name);
    let place = place.unwrap();
    let number = |line: &str| line.split(',').nth(place).unwrap().parse().unwrap();
    lines.map(number).collect()
}

#[test]
fn offsets_are_part_of_expected_weights() {
    let lab = Lab::with_graph();
    // A hub that half of all nodes are linked to.
    let hub: String = (1..30)
        .map(|node| format!("n0,n{},1\n", 2 * node + 1))
        .collect();
    lab.write("links.csv", lab.read("links.csv") + &hub);
    let fit = "fit --links links.csv --features x.csv --dim 4 --ridge 0.5 --duplicates first";
    lab.ok(&format!("{fit} --offsets --out m"));
    let offsets = column(&lab, "m/offsets.csv", "offset");
    assert_eq!(offsets.len(), 60);
    let mean = offsets.iter().sum::<f64>() / 60.0;
    assert!(offsets[0] > mean + 0.5, "{} {mean}", offsets[0]);
    assert_eq!(
        lab.read("m/offsets.csv")
            .lines()
            .nth(1)
            .unwrap()
            .split(',')
            .next(),
        Some("n0")
    );

    lab.ok(&format!("{fit} --offsets --format csv --out m --force"));
    let embeddings = lab.read("m/embeddings.csv");
    let first = embeddings.lines().nth(1).unwrap();
    assert_eq!(first.split(',').count(), 5, "an id and four dimensions");

    lab.write("pairs.csv", "src,dst\nn0,n1\nn0,n2\nn4,n7\n");
    lab.ok("score --model m --pairs pairs.csv --out scores.csv");
    let gamma = lab.json("neighbors --model m --node n0 --top 1 --out near.csv");
    assert_eq!(gamma["neighbors"], 1);
    let fit = serde_json::from_str::<serde_json::Value>(&lab.read("m/fit.json")).unwrap();
    let gamma = fit["gamma"].as_f64().unwrap();
    let y: Vec<Vec<f64>> = lab
        .read("m/embeddings.csv")
        .lines()
        .skip(1)
        .map(|line| {
            line.split(',')
                .skip(1)
                .map(|x| x.parse().unwrap())
                .collect()
        })
        .collect();
    for (mu, (i, j)) in column(&lab, "scores.csv", "mu")
        .iter()
        .zip([(0, 1), (0, 2), (4, 7)])
    {
        let product: f64 = y[i].iter().zip(&y[j]).map(|(a, b)| a * b).sum();
        let s = product + offsets[i] + offsets[j] - gamma;
        assert!((mu.ln() - s).abs() < 1e-4, "{mu} {s}");
    }
    // An unseen node has the offset that its data vector tells.
    let vectors = lab.read("x.csv");
    let vector = vectors.lines().next().unwrap().replace("n0,", "new,");
    lab.write("new.csv", format!("{vector}\n"));
    lab.write("pairs.csv", "new,n1\nn0,n1\n");
    lab.ok("score --model m --pairs pairs.csv --features new.csv --out scores.csv");
    let mu = column(&lab, "scores.csv", "mu");
    assert!(mu[0] > 0.0 && mu[0] < mu[1], "{mu:?}");
}

#[test]
fn a_signed_similarity_and_its_settings() {
    let lab = Lab::with_graph();
    let fit = "fit --links links.csv --dim 4 --steps 30";
    lab.ok(&format!(
        "{fit} --similarity signed --negative-share 0.25 --out m"
    ));
    let params = serde_json::from_str::<serde_json::Value>(&lab.read("m/fit.json")).unwrap();
    assert_eq!(params["params"]["similarity"], "signed");
    assert_eq!(params["params"]["negative-share"], 0.25);
    lab.ok("audit --model m --links links.csv --out audit.csv");
    lab.ok("report m");
    lab.refused(
        &format!("{fit} --similarity other --out x"),
        &["--similarity", "signed"],
    );
    lab.refused(
        &format!("{fit} --similarity signed --negative-share 1 --out x"),
        &["negative-share"],
    );
    lab.refused(&format!("{fit} --offsets=maybe --out x"), &["--offsets"]);
    let robust = "fit --links links.csv --dim 4 --robust --similarity signed --out x";
    lab.ok(robust);
}

/// Links from nodes of three groups to those of the next group.
fn directed_lab() -> Lab {
    let lab = Lab::new();
    let mut links = "src,dst\n".to_owned();
    for src in 0..30 {
        for step in [1, 4, 7] {
            links += &format!("n{src},n{}\n", (src + step) % 30);
        }
    }
    lab.write("links.csv", links);
    let vector = |node: usize| {
        let entry = |k: usize| if k == node % 3 { "1" } else { "0.1" };
        format!("n{node},{},{},{}\n", entry(0), entry(1), entry(2))
    };
    let vectors: String = (0..30).map(vector).collect();
    lab.write("x.csv", format!("node,a,b,c\n{vectors}"));
    lab.write("new.csv", "node,a,b,c\nnew,1,0.1,0.1\n");
    lab
}

#[test]
fn directed_links_from_end_to_end() {
    let lab = directed_lab();
    let fit = "fit --links links.csv --dim 3 --ridge 0.1 --directed";
    let text = lab.ok(&format!(
        "{fit} --features x.csv --offsets --format csv --out m"
    ));
    assert!(text.starts_with("30 nodes, "), "{text}");
    assert_eq!(lab.read("m/nodes.csv").lines().count(), 31);
    let fields = |file: &str| lab.read(file).lines().nth(1).unwrap().split(',').count();
    assert_eq!(fields("m/embeddings.csv"), 1 + 2 * 3);
    assert!(lab.read("m/offsets.csv").starts_with("node,out,in\n"));
    lab.write("pairs.csv", "n0,n1\nn1,n0\n");
    lab.ok("score --model m --pairs pairs.csv --out scores.csv");
    let mu = column(&lab, "scores.csv", "mu");
    assert!(mu[0] > 3.0 * mu[1], "{mu:?}");
    let near = |way: &str| -> Vec<usize> {
        lab.ok(&format!(
            "neighbors --model m --node n3 --top 5 {way} --out near.csv"
        ));
        let text = lab.read("near.csv");
        let name = |line: &str| line.split(',').nth(1).unwrap()[1..].parse().unwrap();
        text.lines().skip(1).map(name).collect()
    };
    assert!(near("--direction out").iter().all(|node| node % 3 == 1));
    assert!(near("--direction in").iter().all(|node| node % 3 == 2));
    assert_eq!(near(""), near("--direction out"));
    // Every link is judged as it was written.
    lab.ok("audit --model m --links links.csv --features x.csv --out audit.csv --missing 3");
    let (audit, listed) = (lab.read("audit.csv"), lab.read("links.csv"));
    assert_eq!(audit.lines().count(), 91);
    for line in audit.lines().skip(1) {
        let ends: Vec<&str> = line.split(',').skip(1).take(2).collect();
        assert!(listed.lines().any(|line| line == ends.join(",")), "{line}");
    }
    lab.ok("report m");
    // Unseen nodes are sources and targets too.
    lab.ok("embed --model m --features new.csv --out new_y.csv");
    assert_eq!(fields("new_y.csv"), 7);
    lab.ok("embed --model m --features new.csv --view target --out new_y.csv");
    assert_eq!(fields("new_y.csv"), 4);
    lab.write("pairs.csv", "new,n1\nn1,new\n");
    lab.ok("score --model m --pairs pairs.csv --features new.csv --out scores.csv");
    let mu = column(&lab, "scores.csv", "mu");
    assert!(mu[0] > 3.0 * mu[1], "{mu:?}");
    lab.ok("neighbors --model m --features new.csv --direction in --top 3 --out near.csv");
    assert_eq!(lab.read("near.csv").lines().count(), 4);
}

#[test]
fn directed_tables_searches_and_robust_fits() {
    let lab = directed_lab();
    lab.ok("fit --links links.csv --dim 3 --ridge 0.1 --directed --out table");
    let data = "--links links.csv --features x.csv --directed --dim 3";
    lab.ok(&format!("select {data} --ridges 0.1,1 --out chosen.toml"));
    lab.ok(&format!("fit {data} --robust --out robust"));
    let beliefs = lab.read("robust/beliefs.csv");
    assert!(beliefs.lines().any(|line| line.starts_with("n0,n1,")));
    assert!(!beliefs.lines().any(|line| line.starts_with("n1,n0,")));
}

#[test]
fn nodes_of_two_kinds_may_have_the_same_ids() {
    let lab = Lab::new();
    let mut links = "src,dst,weight\n".to_owned();
    for user in 0..20 {
        for step in [0, 2, 4] {
            links += &format!("{user},{},1\n", (user + step) % 10);
        }
    }
    lab.write("links.csv", links);
    let vectors: String = (0..10)
        .map(|item| format!("{item},{},1\n", item % 2))
        .collect();
    lab.write("items.csv", format!("node,odd,one\n{vectors}"));
    let fit = "fit --links links.csv --bipartite --dim 2 --ridge 0.1";
    lab.ok(&format!("{fit} --features target=items.csv --out m"));
    let nodes = lab.read("m/nodes.csv");
    assert!(nodes.starts_with("node,view\n0,source\n"), "{nodes}");
    assert_eq!(
        nodes
            .lines()
            .filter(|line| line.ends_with(",target"))
            .count(),
        10
    );
    lab.write("pairs.csv", "3,3\n3,4\n");
    lab.ok("score --model m --pairs pairs.csv --out scores.csv");
    let mu = column(&lab, "scores.csv", "mu");
    assert!(mu[0] > 2.0 * mu[1], "{mu:?}");
    lab.ok("neighbors --model m --node 3 --direction in --top 30 --out near.csv");
    assert_eq!(lab.read("near.csv").lines().count(), 21, "every user");
    lab.ok("audit --model m --links links.csv --features target=items.csv --out audit.csv");
    assert_eq!(lab.read("audit.csv").lines().count(), 61);
    lab.ok("report m");
    lab.ok(&format!("{fit} --out table"));
}

#[test]
fn what_ends_of_links_cannot_be_is_refused() {
    let lab = directed_lab();
    let fit = "fit --links links.csv --dim 2";
    let refused = |line: &str, what: &[&str]| lab.refused(&format!("{fit} {line} --out x"), what);
    refused("--directed --bipartite", &["--bipartite"]);
    refused(
        "--bipartite --features x.csv",
        &["--features", "source=FILE"],
    );
    refused("--bipartite --nodes x.csv", &["--nodes", "--bipartite"]);
    refused(
        "--directed --features a=x.csv",
        &["--features", "--directed"],
    );
    refused("--directed --propagate 1 --features x.csv", &["propagate"]);
    lab.write("twice.csv", "n0,n1\nn0,n1\n");
    lab.refused(
        "fit --links twice.csv --directed --out x",
        &["twice.csv", "n0"],
    );
    lab.write("self.csv", "n0,n1\nn2,n2\n");
    lab.refused(
        "fit --links self.csv --directed --out x",
        &["self.csv", "line 2"],
    );
    lab.ok(&format!("{fit} --out plain"));
    let ask = "neighbors --model plain --node n0 --out near.csv";
    lab.refused(&format!("{ask} --direction in"), &["--direction"]);
    lab.refused(&format!("{ask} --direction up"), &["--direction"]);
    lab.ok(&format!("{fit} --directed --features x.csv --out m"));
    lab.write("ties.csv", "new,n1\n");
    let embed = "embed --model m --features new.csv --links ties.csv --out y.npy";
    lab.refused(embed, &["ties.csv", "data vectors alone"]);
}
