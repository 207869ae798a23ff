//! Weights of two signs, from links to pages.

use crate::lab::{Lab, Numbers, features_csv, links_csv};
use crate::robust::graph;

fn name(node: usize) -> String {
    format!("n{node}")
}

/// Groups whose links weigh as correlations do, times a factor.
fn lab(factor: f64) -> Lab {
    let lab = Lab::new();
    let mut planted = graph();
    let mut random = Numbers::new(8);
    for link in &mut planted.links {
        let sum: f64 = (0..6).map(|_| random.next() - 0.5).sum();
        link.2 = factor * (0.1 + 0.3 * sum);
    }
    lab.write("links.csv", links_csv(&planted.links, name));
    lab.write("x.csv", features_csv(&planted.features, name));
    lab
}

fn numbers(lab: &Lab, file: &str, name: &str) -> Vec<f64> {
    let text = lab.read(file);
    let mut lines = text.lines();
    let place = lines.next().unwrap().split(',').position(|it| it == name);
    let number = |line: &str| {
        line.split(',')
            .nth(place.unwrap())
            .unwrap()
            .parse()
            .unwrap()
    };
    lines.map(number).collect()
}

const DATA: &str = "--links links.csv --features x.csv";

#[test]
fn a_fit_to_weights_names_the_line_and_the_remedy() {
    let lab = Lab::new();
    lab.write("links.csv", "a,b,1\nb,c,2\nc,a,-0.5\n");
    let said = [
        "links.csv, line 3",
        "weight -0.5",
        "--weights binary or --robust",
    ];
    lab.refused("fit --links links.csv --out m", &said);
    lab.refused("fit --links links.csv --weights log1p --out m", &said);
    lab.ok("fit --links links.csv --weights binary --dim 2 --out m");
    lab.write("rows.csv", "0,1,1\n1,2,-0.5\n");
    lab.refused(
        "objective --embeddings m/embeddings.npy --links rows.csv --gamma 0 --score moment --beta 0.1",
        &["rows.csv, line 2", "weight -0.5"],
    );
    lab.ok("select --links links.csv --dims 2 --ridges 1 --folds 2 --json --criterion likelihood");
}

#[test]
fn signed_weights_go_through_every_command() {
    let lab = lab(1.0);
    let said = lab.ok(&format!("inspect {DATA}"));
    assert!(
        said.contains("negative") && said.contains("--weights binary"),
        "{said}"
    );
    lab.ok(&format!(
        "fit {DATA} --robust --dim 10 --report --out robust"
    ));
    lab.ok(&format!(
        "fit {DATA} --weights binary --dim 10 --report --out binary"
    ));
    lab.write(
        "pairs.csv",
        format!("{},{}\n{},{}\n", name(0), name(9), name(0), name(1)),
    );
    for model in ["robust", "binary"] {
        lab.ok(&format!(
            "score --model {model} --pairs pairs.csv --out s.csv"
        ));
        let [p, size, mu] = ["p_link", "size", "mu"].map(|it| numbers(&lab, "s.csv", it));
        for place in 0..2 {
            assert!((p[place] * size[place] - mu[place]).abs() < 1e-6);
            assert!(size[place].abs() < 0.5, "{size:?}");
        }
        assert!(p[0] > p[1], "{p:?}");
        lab.ok(&format!(
            "audit --model {model} {DATA} --missing 3 --out audit.csv"
        ));
        let trust = numbers(&lab, "audit.csv", "trust");
        assert!(trust.iter().all(|it| (0.0..=1.0).contains(it)));
        let near = lab.json(&format!(
            "neighbors --model {model} --node {} --out n.csv",
            name(3)
        ));
        assert_eq!(near["neighbors"], 10);
        let fit: serde_json::Value =
            serde_json::from_str(&lab.read(&format!("{model}/fit.json"))).unwrap();
        assert!(
            fit["sizes"]["distance"].as_f64().unwrap() < 0.1,
            "{}",
            fit["sizes"]
        );
    }
    // New links may be negative where the model's are.
    lab.write("new.csv", format!("{},{},-0.3\n", name(0), name(1)));
    lab.ok("update --model binary --links new.csv --out later");
    let ones = lab.read("links.csv").replace(",-", ",");
    lab.write("ones.csv", ones);
    lab.ok("fit --links ones.csv --features x.csv --dim 10 --out plain");
    lab.refused(
        "update --model plain --links new.csv --out later --force",
        &["new.csv", "weight -0.3", "fit again"],
    );
    lab.refused(
        "audit --model plain --links links.csv --out audit.csv",
        &["links.csv, line", "weight -", "--weights binary"],
    );
}

#[test]
fn the_unit_of_signed_weights_changes_no_belief() {
    let one = lab(1.0);
    let other = lab(1000.0);
    for lab in [&one, &other] {
        lab.ok(&format!("fit {DATA} --robust --dim 10 --out m"));
    }
    let [a, b] = [&one, &other].map(|lab| numbers(lab, "m/beliefs.csv", "belief"));
    let apart = a.iter().zip(&b).map(|(a, b)| (a - b).abs());
    assert!(apart.fold(0.0, f64::max) < 1e-6);
}
