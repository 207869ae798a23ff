//! `linkproof fit --robust`, and what the other commands make of its folder.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::lab::{Lab, Numbers, Planted, features_csv, links_csv};

pub const NODES: usize = 180;
/// Node `i` is in group `i % GROUPS`.
const GROUPS: usize = 9;
pub const FIT: &str = "fit --robust --links links.csv --features x.csv --dim 10";

pub fn name(node: usize) -> String {
    format!("node {node}")
}

/// Groups with about eight links a node, all inside a group. Data vectors tell
/// the group by four columns each, and noise.
pub fn graph() -> Planted {
    let mut random = Numbers::new(5);
    let mut links = BTreeMap::new();
    for node in 0..NODES {
        for _ in 0..5 {
            let member = (random.next() * (NODES / GROUPS) as f64) as usize;
            let other = GROUPS * member + node % GROUPS;
            if other != node {
                links.insert((node.min(other), node.max(other)), 1.0);
            }
        }
    }
    let features = (0..NODES).map(|node| {
        let entry = |column: usize| f64::from(u8::from(column % GROUPS == node % GROUPS));
        let row = (0..4 * GROUPS).map(|column| entry(column) + 1.6 * (random.next() - 0.5));
        row.collect()
    });
    Planted {
        features: features.collect(),
        links: links.into_iter().map(|((a, b), w)| (a, b, w)).collect(),
    }
}

/// Adds so many links between groups, and says which.
pub fn add_false(graph: &mut Planted, number: usize, weight: f64) -> Vec<(usize, usize)> {
    let mut random = Numbers::new(6);
    let mut wrong = Vec::new();
    while wrong.len() < number {
        let mut end = || (random.next() * NODES as f64) as usize;
        let (a, b) = (end(), end());
        let pair = (a.min(b), a.max(b));
        if a % GROUPS != b % GROUPS && !wrong.contains(&pair) {
            wrong.push(pair);
            graph.links.push((pair.0, pair.1, weight));
        }
    }
    wrong
}

/// Links that join anything with anything, and data vectors of noise.
pub fn noise() -> Planted {
    let mut random = Numbers::new(7);
    let mut links = BTreeMap::new();
    while links.len() < 600 {
        let mut end = || (random.next() * NODES as f64) as usize;
        let (a, b) = (end(), end());
        if a != b {
            links.insert((a.min(b), a.max(b)), 1.0);
        }
    }
    let row = |_| (0..8).map(|_| random.next() - 0.5).collect();
    let features = (0..NODES).map(row).collect();
    Planted {
        links: links.into_iter().map(|((a, b), w)| (a, b, w)).collect(),
        features,
    }
}

pub fn write(graph: &Planted) -> Lab {
    let lab = Lab::new();
    lab.write("links.csv", links_csv(&graph.links, name));
    lab.write("x.csv", features_csv(&graph.features, name));
    let labels = (0..NODES).map(|node| format!("{},{}\n", name(node), node % GROUPS));
    lab.write("labels.csv", labels.collect::<String>());
    lab
}

/// The rows of a table, without its header.
pub fn rows(text: &str) -> Vec<Vec<String>> {
    let row = |line: &str| line.split(',').map(str::to_owned).collect();
    text.lines().skip(1).map(row).collect()
}

pub fn number(text: &str) -> f64 {
    text.parse().unwrap()
}

/// By ends, whatever their order.
pub fn by_ends(rows: &[Vec<String>], column: usize) -> BTreeMap<[String; 2], f64> {
    let one = |row: &Vec<String>| {
        let mut ends = [row[0].clone(), row[1].clone()];
        ends.sort();
        (ends, number(&row[column]))
    };
    rows.iter().map(one).collect()
}

fn fit_json(lab: &Lab, folder: &str) -> Value {
    serde_json::from_str(&lab.read(&format!("{folder}/fit.json"))).unwrap()
}

fn nmi(lab: &Lab, file: &str) -> f64 {
    let line = format!("evaluate --embeddings {file} --labels labels.csv");
    lab.json(&line)["nmi"].as_f64().unwrap()
}

#[test]
fn a_robust_folder_has_beliefs_and_serves_all_commands() {
    let mut graph = graph();
    let wrong = add_false(&mut graph, 200, 1.0);
    let lab = write(&graph);
    let found = lab.json(&format!("{FIT} --labels labels.csv --format csv --out m"));
    let robust = &found["robust"];
    assert_eq!(robust["abstained"], false, "{robust}");
    let share = robust["share_false"].as_f64().unwrap();
    let truth = wrong.len() as f64 / graph.links.len() as f64;
    assert!((share - truth).abs() < 0.1, "{share} {truth}");
    assert!(robust["auc_decoys"].as_f64().unwrap() > 0.75, "{robust}");
    assert!(robust["chosen"]["ridge"].as_f64().unwrap() > 0.0);
    for check in robust["implanted"].as_array().unwrap() {
        assert!(check["kind"].is_string() && check["claimed"].is_number());
        assert!(check["realised"].is_number(), "{check}");
    }
    assert_eq!(&fit_json(&lab, "m")["robust"], robust);
    assert_eq!(found["links"], graph.links.len());
    // Groups differ in all columns, so averages tell them better.
    let gate = robust["gate"].as_f64().unwrap();
    let opens_at = robust["gate_opens_at"].as_f64().unwrap();
    assert_eq!(robust["averaged"], gate >= opens_at, "{robust}");
    let averaged = lab.path("m/embeddings-plain.npy").exists();
    assert_eq!(robust["averaged"], averaged);

    let beliefs = lab.read("m/beliefs.csv");
    assert!(beliefs.starts_with("src,dst,weight,belief\n"), "{beliefs}");
    let beliefs = by_ends(&rows(&beliefs), 3);
    assert_eq!(beliefs.len(), graph.links.len());
    let mean = |of_wrong: bool| {
        let links = graph.links.iter();
        let links = links.filter(|link| wrong.contains(&(link.0, link.1)) == of_wrong);
        let all: Vec<f64> = links
            .map(|link| {
                let mut ends = [name(link.0), name(link.1)];
                ends.sort();
                beliefs[&ends]
            })
            .collect();
        all.iter().sum::<f64>() / all.len() as f64
    };
    assert!(
        mean(false) > mean(true) + 0.4,
        "{} {}",
        mean(false),
        mean(true)
    );
    assert!(nmi(&lab, "m/embeddings.npy") > 0.7);

    // The other formats hold the recommended embeddings too.
    let csv = linkproof::io::read_embeddings(lab.path("m/embeddings.csv")).unwrap();
    let (n, dim, recommended) = lab.read_npy("m/embeddings.npy");
    assert_eq!((n, dim), (NODES, 10));
    assert!(
        csv.values
            .iter()
            .zip(&recommended)
            .all(|(a, b)| f64::from(*a) == *b)
    );
    lab.ok("cluster --embeddings m/embeddings.npy --clusters 9 --out c.csv");
    lab.ok("report m");
    let mut neighbors = lab.command("neighbors --model m --top 5 --out n.csv --node");
    assert!(neighbors.arg("node 4").output().unwrap().status.success());
    assert_eq!(rows(&lab.read("n.csv")).len(), 5);
    // It can be replaced as a whole.
    lab.ok(&format!("{FIT} --force --quiet --out m"));
}

#[test]
fn averages_serve_unseen_nodes_and_expected_weights_stay_those_of_the_encoder() {
    let graph = graph();
    let lab = write(&graph);
    let found = lab.json(&format!("{FIT} --out m"));
    assert_eq!(found["robust"]["averaged"], true, "{}", found["robust"]);
    let plain = lab.read_npy("m/embeddings-plain.npy").2;
    let averaged = lab.read_npy("m/embeddings.npy").2;
    assert_ne!(plain, averaged);

    // The encoder makes the plain embeddings; `embed` gives the others.
    let embedded = lab.json("embed --model m --features x.csv --out e.npy");
    assert_eq!(embedded["averaged"], true);
    let words = lab.ok("embed --model m --features x.csv --out e.npy");
    assert!(words.contains("averaged over believed links"), "{words}");
    let (n, dim, told) = lab.read_npy("e.npy");
    assert_eq!((n, dim), (NODES, 10));
    let distance =
        |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum() };
    // The encoder is a linear map too, and not the one that tells averages best.
    assert!(distance(&told, &averaged) < distance(&plain, &averaged));
    lab.write("narrow.csv", "u,1,2\n");
    lab.refused(
        "embed --model m --features narrow.csv --out e.npy",
        &["narrow.csv", "2 entries", "36 entries"],
    );
    lab.write("ties.csv", "u,node 1\n");
    lab.refused(
        "embed --model m --features x.csv --links ties.csv --out e.npy",
        &["ties.csv, line 1", "'u'"],
    );

    // 1 - e^-nu with nu = k e^(<y, z> - gamma), by the plain embeddings; links weigh 1.
    lab.write("pairs.csv", "node 0,node 9\nnode 0,node 1\n");
    lab.ok("score --model m --pairs pairs.csv --out mu.csv");
    let mu = rows(&lab.read("mu.csv"));
    let (gamma, k) = (
        found["gamma"].as_f64().unwrap(),
        found["k"].as_f64().unwrap(),
    );
    for (row, other) in mu.iter().zip([9, 1]) {
        let product: f64 = (0..10).map(|e| plain[e] * plain[other * 10 + e]).sum();
        let expected = 1.0 - (-k * (product - gamma).exp()).exp();
        let [p_link, size, mu] = [2, 3, 4].map(|place| number(&row[place]));
        assert!((p_link / expected - 1.0).abs() < 1e-4, "{row:?} {expected}");
        assert!((size - 1.0).abs() < 0.01, "{row:?}");
        assert!((mu / (p_link * size) - 1.0).abs() < 1e-9, "{row:?}");
    }
    // The encoder again, for a node that is given by its data vector.
    let first = lab
        .read("x.csv")
        .lines()
        .next()
        .unwrap()
        .replace("node 0", "new");
    lab.write("new.csv", first + "\n");
    lab.write("pairs.csv", "new,node 9\n");
    lab.ok("score --model m --pairs pairs.csv --features new.csv --out again.csv");
    let again = &rows(&lab.read("again.csv"))[0];
    assert!((number(&again[2]) / number(&mu[0][2]) - 1.0).abs() < 1e-4);
    // Expected weights are the encoder's, which reads no links.
    lab.write("ties.csv", "new,node 9\n");
    lab.refused(
        "score --model m --pairs pairs.csv --features new.csv --links ties.csv --out no.csv",
        &["--propagate"],
    );
    // Embeddings are averages, and by its links it comes closer to its neighbours.
    let place = |file: &str| lab.read_npy(file).2;
    let embed = "embed --model m --features new.csv";
    assert!(lab.json(&format!("{embed} --out alone.npy"))["links"].is_null());
    lab.write(
        "ties.csv",
        "node 9,new\nnew,node 18\nnew,node 27\nnode 1,node 2\n",
    );
    let found = lab.json(&format!("{embed} --links ties.csv --out tied.npy"));
    assert_eq!(
        (&found["links"], &found["by_links"]),
        (&3.into(), &1.into()),
        "{found}"
    );
    assert!(found["believed"].as_f64().unwrap() > 2.0, "{found}");
    assert_ne!(place("alone.npy"), place("tied.npy"));
    let words = lab.ok(&format!("{embed} --links ties.csv --out tied.npy"));
    assert!(words.contains("1 node embedded by them"), "{words}");
    lab.write("ties.csv", "new,node 1\nnew,nobody\n");
    let what = ["ties.csv, line 2", "'nobody'"];
    lab.refused(&format!("{embed} --links ties.csv --out no.npy"), &what);
    // Damaged folders are refused, not used by halves.
    let whole = lab.bytes("m/embeddings-plain.npy");
    lab.write("m/embeddings-plain.npy", &whole[..whole.len() - 8]);
    lab.refused(
        "score --model m --pairs pairs.csv --features new.csv --out mu.csv",
        &["embeddings-plain.npy"],
    );
}

#[test]
fn the_unit_of_the_weights_does_not_matter() {
    let mut graph = graph();
    for (place, link) in graph.links.iter_mut().enumerate() {
        link.2 = 1.0 + (place % 4) as f64;
    }
    add_false(&mut graph, 60, 100.0);
    let lab = write(&graph);
    let found = lab.json(&format!("{FIT} --out m"));
    for link in &mut graph.links {
        link.2 *= 1000.0;
    }
    lab.write("links.csv", links_csv(&graph.links, name));
    let scaled = lab.json(&format!("{FIT} --out s"));
    assert_eq!(found["robust"], scaled["robust"]);
    let [a, b] = ["m", "s"].map(|folder| lab.read(&format!("{folder}/beliefs.csv")));
    assert_eq!(by_ends(&rows(&a), 3), by_ends(&rows(&b), 3));
    assert_eq!(lab.bytes("m/embeddings.npy"), lab.bytes("s/embeddings.npy"));
    assert_eq!(scaled["k"], found["k"]);
    let [a, b] = ["m", "s"].map(|folder| {
        let fit: Value = serde_json::from_str(&lab.read(&format!("{folder}/fit.json"))).unwrap();
        fit["sizes"].clone()
    });
    assert_eq!(
        (&a["family"], &a["unit"]),
        (&"negative-binomial".into(), &1.0.into())
    );
    assert_eq!(
        (&b["unit"], &b["location"]),
        (&1000.0.into(), &a["location"])
    );
}

#[test]
fn what_is_advised_is_proposed() {
    // Data vectors of groups, and links at random.
    let lab = write(&graph());
    lab.write("links.csv", links_csv(&noise().links, name));
    let found = lab.json(&format!("{FIT} --out m"));
    assert_eq!(found["robust"]["advice"], "vectors-alone", "{found}");
    let words = lab.ok(&format!("{FIT} --force --out m"));
    assert!(!words.contains("linkproof neighbors"), "{words}");
    assert!(!words.contains("cluster --model"), "{words}");
    let cluster = "linkproof cluster --features x.csv --clusters K --out clusters.csv";
    assert!(words.contains(cluster), "{words}");
}

#[test]
fn links_that_say_nothing_are_not_judged() {
    let lab = write(&noise());
    let found = lab.json(&format!("{FIT} --out m"));
    let robust = &found["robust"];
    assert_eq!(robust["abstained"], true, "{robust}");
    assert_eq!(
        (&robust["averaged"], &robust["gate"]),
        (&false.into(), &Value::Null)
    );
    assert_eq!(robust["share_false"], Value::Null);
    assert_eq!(robust["implanted"].as_array().unwrap().len(), 0);
    assert!(!lab.path("m/embeddings-plain.npy").exists());
    let beliefs = rows(&lab.read("m/beliefs.csv"));
    assert!(beliefs.iter().all(|row| row[3].is_empty()));
    let suspects = rows(&lab.read("m/suspects.csv"));
    assert!(
        suspects
            .iter()
            .all(|row| row[6].is_empty() && row[7] == "0")
    );
    // The model is the plain fit.
    lab.ok("fit --links links.csv --features x.csv --dim 10 --out p");
    assert_eq!(lab.bytes("m/embeddings.npy"), lab.bytes("p/embeddings.npy"));
    let words = lab.ok(&format!("{FIT} --force --out m"));
    let words: Vec<&str> = words.split_whitespace().collect();
    let words = words.join(" ");
    let part =
        "The links look random to everything that is known; their order is in m/suspects.csv.";
    assert!(words.contains(part), "{words}");
}

#[test]
fn the_same_bytes_at_any_number_of_threads() {
    let mut graph = graph();
    add_false(&mut graph, 100, 1.0);
    let lab = write(&graph);
    for threads in 1..=3 {
        lab.ok(&format!(
            "{FIT} --threads {threads} --quiet --out m{threads}"
        ));
    }
    for file in ["embeddings.npy", "beliefs.csv", "model.safetensors"] {
        let one = lab.bytes(&format!("m1/{file}"));
        for threads in 2..=3 {
            assert!(
                one == lab.bytes(&format!("m{threads}/{file}")),
                "{file} {threads}"
            );
        }
    }
}

#[test]
fn tables_networks_and_views() {
    let mut graph = graph();
    add_false(&mut graph, 100, 1.0);
    let lab = write(&graph);
    let found = lab.json("fit --robust --links links.csv --dim 10 --out t");
    assert_eq!(found["robust"]["gate"], Value::Null);
    assert_eq!(found["robust"]["averaged"], false);
    assert_eq!(rows(&lab.read("t/beliefs.csv")).len(), graph.links.len());
    let options = "--encoder mlp --hidden 12 --normalize none --ridge 1 --seed 3";
    let found = lab.json(&format!("{FIT} {options} --out n"));
    let chosen = &found["robust"]["chosen"];
    assert_eq!(chosen["ridge"], 1.0);
    let nodes = (0..NODES).map(|node| format!("{},{}\n", name(node), ["a", "b"][node % 2]));
    lab.write(
        "nodes.csv",
        format!("node,view\n{}", nodes.collect::<String>()),
    );
    for (view, odd) in [("a", 0), ("b", 1)] {
        let of_view = graph.features.iter().skip(odd).step_by(2).cloned();
        let text = features_csv(&of_view.collect::<Vec<_>>(), |row| name(2 * row + odd));
        lab.write(&format!("{view}.csv"), text);
    }
    let views = "--features a=a.csv --features b=b.csv";
    let line = format!("fit --robust --links links.csv --nodes nodes.csv {views} --dim 10 --out v");
    assert_eq!(lab.json(&line)["robust"]["abstained"], false);
    // Each link with its own ends and weight.
    let links = lab.read("links.csv");
    for row in rows(&lab.read("v/beliefs.csv")) {
        let [a, b, w] = [&row[0], &row[1], &row[2]];
        let known = [format!("{a},{b},{w}\n"), format!("{b},{a},{w}\n")];
        assert!(known.iter().any(|line| links.contains(line)), "{row:?}");
    }
    lab.ok("embed --model v --view b --features b.csv --out e.npy");
    lab.ok(&format!(
        "audit --model v --links links.csv {views} --out audit.csv"
    ));
}

#[test]
fn settings_of_the_recipe_are_refused() {
    let lab = write(&graph());
    for (options, what) in [
        ("--score moment", "--score"),
        ("--beta 0.5", "--beta"),
        ("--weights log1p", "--weights"),
        ("--walks 2", "--walks"),
        ("--walks-weighted", "--walks-weighted"),
        ("--propagate 1", "--propagate"),
        ("--validation 0.1", "--validation"),
        ("--lambda 3", "--lambda"),
        ("--select", "--select"),
        ("--ridge -1", "ridge"),
    ] {
        lab.refused(&format!("{FIT} {options} --out m"), &[what]);
    }
    lab.write("set.toml", "dim = 5\n# other\nscore = \"moment\"\n");
    let what = ["set.toml, line 3", "score", "--robust"];
    lab.refused(&format!("{FIT} --config set.toml --out m"), &what);
    lab.write("set.toml", "dim = 5\nridge = 2.0\n");
    let line = "fit --robust --links links.csv --features x.csv --config set.toml --out m";
    let found = lab.json(line);
    assert_eq!(found["dim"], 5);
    assert_eq!(found["robust"]["chosen"]["ridge"], 2.0);
    // Options of the judge need a robust fit.
    for option in [
        "--sample 3",
        "--one-to-one",
        "--no-test",
        "--evidence weight",
    ] {
        let line = format!("fit --links links.csv --features x.csv {option} --out p");
        lab.refused(&line, &[option.split(' ').next().unwrap(), "--robust"]);
    }
    lab.refused(
        &format!("{FIT} --sample 0 --out p"),
        &["--sample", "1 or more"],
    );
}
