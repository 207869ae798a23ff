//! The same bits at any number of threads.

use crate::lab::{Lab, links_csv, planted};

/// More nodes than one tile of pairs (384), than one block of the sampler and
/// than one chunk of rows.
fn lab() -> Lab {
    let lab = Lab::new();
    let graph = planted(700, 4, 3);
    lab.write(
        "links.csv",
        links_csv(&graph.links, |node| node.to_string()),
    );
    lab.write_npy("x.npy", &graph.features);
    lab
}

fn same_bits(options: &str) {
    let lab = lab();
    let mut first: Option<(Vec<u8>, Vec<u8>, serde_json::Value)> = None;
    for threads in 1..=3 {
        let out = format!("m{threads}");
        let json = lab.json(&format!(
            "fit --links links.csv --out {out} --threads {threads} --seed 5 {options}"
        ));
        let found = (
            lab.bytes(&format!("{out}/embeddings.npy")),
            lab.bytes(&format!("{out}/model.safetensors")),
            json["value"].clone(),
        );
        match &first {
            None => first = Some(found),
            Some(first) => assert!(*first == found, "{options} with {threads} threads"),
        }
    }
}

#[test]
fn exact() {
    same_bits("--features x.npy --dim 9 --solver exact --steps 15");
    same_bits(
        "--features x.npy --dim 4 --solver exact --optimizer adam --steps 5 --score probability \
               --encoder mlp --hidden 20 --batch-norm --dropout 0.2 --precision f64",
    );
}

#[test]
fn stochastic() {
    same_bits("--features x.npy --dim 9 --solver sgd --block 300 --steps 15");
    same_bits("--dim 6 --solver sgd --sampler pairs --steps 15");
}

#[test]
fn clusters() {
    let lab = lab();
    let text = |threads: u32| {
        let out = format!("c{threads}.csv");
        let line =
            format!("cluster --embeddings x.npy --clusters 4 --threads {threads} --out {out}");
        lab.ok(&line);
        lab.read(&out)
    };
    assert_eq!(text(1), text(2));
    assert_eq!(text(1), text(3));
}

#[test]
fn another_seed_is_another_fit() {
    let lab = lab();
    let fit = |out: &str, seed: &str| {
        lab.ok(&format!(
            "fit --links links.csv --dim 4 --steps 3 --out {out} {seed}"
        ));
        lab.bytes(&format!("{out}/embeddings.npy"))
    };
    assert_eq!(fit("a", ""), fit("b", "--seed 0"));
    assert_ne!(fit("c", "--seed 1"), fit("d", "--seed 2"));
}
