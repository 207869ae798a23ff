//! `fit`: the model folder, its inputs and its settings.

use std::io::Write;

use serde_json::Value;

use crate::lab::{Lab, links_csv, planted};

fn fit_json(lab: &Lab, folder: &str) -> Value {
    serde_json::from_str(&lab.read(&format!("{folder}/fit.json"))).unwrap()
}

#[test]
fn a_model_folder_has_all_its_files() {
    let lab = Lab::with_graph();
    let found =
        lab.json("fit --links links.csv --features x.csv --labels labels.csv --dim 4 --validation 0.1 --out m");
    for (name, value) in [("nodes", 60), ("dim", 4)] {
        assert_eq!(found[name], value, "{name}");
    }
    assert_eq!(found["out"], "m");
    let n_links = lab.read("links.csv").lines().count() - 1;
    assert_eq!(found["links"], n_links);
    for name in ["gamma", "value", "steps", "best_step", "seconds"] {
        assert!(found[name].is_number(), "{name}: {found}");
    }
    assert!(found["stop_reason"].is_string());
    assert!(!found["held_out"].is_null());
    if cfg!(target_os = "linux") {
        assert!(found["peak_memory_bytes"].as_u64().unwrap() > 1 << 20);
    }
    let (n, dim, values) = lab.read_npy("m/embeddings.npy");
    assert_eq!((n, dim), (60, 4));
    assert!(values.iter().all(|x| x.is_finite()));
    let nodes = lab.read("m/nodes.csv");
    assert!(nodes.starts_with("node\nn0\nn1\n"), "{nodes}");
    assert!(
        lab.read("m/labels.csv")
            .starts_with("node,label\nn0,a\nn1,b\n")
    );
    let fit = fit_json(&lab, "m");
    assert_eq!(fit["gamma"], found["gamma"]);
    assert_eq!(fit["value"], found["value"]);
    assert_eq!(fit["inputs"].as_array().unwrap().len(), 3);
    assert_eq!(fit["inputs"][0]["path"], "links.csv");
    assert_eq!(fit["inputs"][0]["sha256"].as_str().unwrap().len(), 64);
    assert_eq!(fit["versions"]["linkproof"], env!("CARGO_PKG_VERSION"));
    assert_eq!(fit["command"][1], "fit");
    assert_eq!(fit["params"]["dim"], 4);
    assert!(fit["history"].as_array().unwrap().len() > 1);
    assert!(lab.path("m/model.safetensors").exists());
    assert!(lab.path("m/links.parquet").exists());
}

#[test]
fn a_person_reads_a_summary_and_what_to_do_next() {
    let lab = Lab::with_graph();
    let words = lab.ok("fit --links links.csv --features x.csv --dim 3 --out m");
    assert!(words.contains("60 nodes"), "{words}");
    assert!(
        words.contains("\nNext        linkproof report m\n")
            && words.contains("linkproof neighbors --model m"),
        "{words}"
    );
    assert_eq!(
        lab.ok("fit --links links.csv --dim 3 --out quiet --quiet"),
        ""
    );
}

#[test]
fn force_replaces_and_nothing_else_does() {
    let lab = Lab::with_graph();
    lab.ok("fit --links links.csv --dim 2 --out m");
    let line = "fit --links links.csv --dim 3 --out m";
    lab.refused(line, &["m: already holds", "--force"]);
    lab.ok(&format!("{line} --force"));
    assert_eq!(lab.read_npy("m/embeddings.npy").1, 3);
}

#[test]
fn every_format_holds_the_same_embeddings() {
    let lab = Lab::with_graph();
    lab.ok(
        "fit --links links.csv --features x.csv --dim 3 --out m --format csv --format parquet \
         --format word2vec --format npy",
    );
    let (n, dim, values) = lab.read_npy("m/embeddings.npy");
    for name in ["m/embeddings.csv", "m/embeddings.parquet"] {
        let found = linkproof::io::read_embeddings(lab.path(name)).unwrap();
        let found_values: Vec<f64> = found.values.iter().map(|&x| f64::from(x)).collect();
        assert_eq!(found_values, values, "{name}");
        assert_eq!(found.ids.name(7), "n7");
    }
    let text = lab.read("m/embeddings.word2vec");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(format!("{n} {dim}").as_str()));
    let fields: Vec<&str> = lines.next().unwrap().split(' ').collect();
    assert_eq!(fields[0], "n0");
    assert_eq!(fields[3].parse::<f32>().unwrap(), values[2] as f32);

    lab.write("spaced.csv", "a b,c\nc,d\n");
    let line = "fit --links spaced.csv --validation 0 --out s --format word2vec";
    lab.refused(line, &["word2vec", "'a b'"]);
}

#[test]
fn packed_and_other_formats_are_the_same_data() {
    let lab = Lab::new();
    let graph = planted(40, 2, 9);
    let csv = links_csv(&graph.links, |node| node.to_string());
    lab.write("links.csv", &csv);
    lab.write_npy("x.npy", &graph.features);
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(csv.as_bytes()).unwrap();
    lab.write("links.csv.gz", packer.finish().unwrap());
    let packed = zstd::encode_all(lab.bytes("x.npy").as_slice(), 1).unwrap();
    lab.write("x.npy.zst", packed);
    lab.write("links.tsv", csv.replace(',', "\t"));
    let mut mtx = format!(
        "%%MatrixMarket matrix coordinate real symmetric\n40 40 {}\n",
        graph.links.len()
    );
    for (i, j, weight) in &graph.links {
        mtx.push_str(&format!("{} {} {weight}\n", j + 1, i + 1));
    }
    lab.write("links.mtx", mtx);
    let mut names = "node\n".to_owned();
    names.extend((0..40).map(|node| format!("{node}\n")));
    lab.write("nodes.csv", names);

    let mut expected = None;
    for (place, inputs) in [
        "--links links.csv --features x.npy",
        "--links links.csv.gz --features x.npy.zst",
        "--links links.tsv --features x.npy --nodes nodes.csv",
        "--links links.mtx --features x.npy",
    ]
    .iter()
    .enumerate()
    {
        lab.ok(&format!("fit {inputs} --dim 3 --out m{place}"));
        let found = lab.bytes(&format!("m{place}/embeddings.npy"));
        assert!(
            *expected.get_or_insert_with(|| found.clone()) == found,
            "{inputs}"
        );
    }
}

#[test]
fn links_alone_need_no_features() {
    let lab = Lab::with_graph();
    lab.ok("fit --links links.csv --dim 3 --out m");
    assert_eq!(lab.read_npy("m/embeddings.npy").0, 60);
    lab.write("nodes.csv", "node\nlonely\nb\na\n");
    lab.write("few.csv", "a,b,2\n");
    lab.ok("fit --links few.csv --nodes nodes.csv --validation 0 --dim 2 --out few");
    assert_eq!(lab.read("few/nodes.csv"), "node\nlonely\nb\na\n");
    lab.refused(
        "embed --model m --features x.csv --out e.npy",
        &["table encoder"],
    );
}

#[test]
fn the_command_line_wins_over_the_configuration() {
    let lab = Lab::with_graph();
    lab.write(
        "c.toml",
        "dim = 3\nbeta = 0.5\nseed = 7\nbatch-norm = true\nencoder = \"mlp\"\nhidden = [4]\nlambda = \"auto\"\n",
    );
    let line = "fit --links links.csv --features x.csv --steps 3 --config c.toml";
    lab.ok(&format!("{line} --dim 2 --batch-norm=false --out a"));
    let params = fit_json(&lab, "a")["params"].clone();
    assert_eq!(params["dim"], 2);
    assert_eq!(params["beta"], 0.5);
    assert_eq!(params["seed"], 7);
    assert_eq!(params["batch-norm"], false);
    assert_eq!(params["encoder"], "mlp");
    assert_eq!(params["hidden"][0], 4);
    lab.ok(&format!("{line} --seed 1 --hidden 5,6 --out b"));
    let params = fit_json(&lab, "b")["params"].clone();
    assert_eq!(params["seed"], 1);
    assert_eq!(params["hidden"], serde_json::json!([5, 6]));
    assert_eq!(params["batch-norm"], true);

    for (text, what) in [
        ("dim = 3\nbetta = 1\n", ["c.toml, line 2", "betta"]),
        ("\ndim = \"x\"\n", ["c.toml, line 2", "dim"]),
        ("beta = nan\n", ["beta", "NaN"]),
        ("dim = \n", ["c.toml, line 1", "dim"]),
    ] {
        lab.write("c.toml", text);
        lab.refused(&format!("{line} --out c"), &what);
    }
    let line = line.replace("c.toml", "none.toml");
    lab.refused(&format!("{line} --out c"), &["none.toml"]);
}

#[test]
fn every_setting_reaches_the_fit() {
    let lab = Lab::with_graph();
    lab.ok(
        "fit --links links.csv --features x.csv --out m --dim 5 --score probability --beta 0.3 \
         --weights log1p --encoder mlp --hidden 6,7 --activation relu --output-activation tanh \
         --batch-norm --dropout 0.1 --input-dropout 0.2 --normalize l2 --propagate 1 --walks 2 \
         --walks-weighted --ridge 0.5 --solver sgd --optimizer sgd --sampler pairs --steps 4 \
         --validation 0.1 --patience 3 --learning-rate 0.001 --schedule-alpha 0.7 \
         --schedule-t0 50 --momentum 0.5 --clip 2 --link-batch 30 --pair-batch 40 --block 20 \
         --lambda auto --radius 9 --init-scale 0.8 --precision f64 --seed 3 \
         --offsets --similarity signed --negative-share 0.4",
    );
    let params = fit_json(&lab, "m")["params"].clone();
    let expected = serde_json::json!({
        "dim": 5, "score": "probability", "beta": 0.3, "weights": "log1p", "encoder": "mlp",
        "view-encoders": {}, "view-pairs": null, "hidden": [6, 7], "activation": "relu",
        "output-activation": "tanh", "batch-norm": true, "dropout": 0.1, "input-dropout": 0.2,
        "normalize": "l2", "propagate": 1, "walks": 2, "walks-weighted": true, "ridge": 0.5,
        "solver": "sgd", "optimizer": "sgd", "sampler": "pairs", "steps": 4, "validation": 0.1,
        "patience": 3, "learning-rate": 0.001, "schedule-alpha": 0.7, "schedule-t0": 50.0,
        "momentum": 0.5, "clip": 2.0, "link-batch": 30, "pair-batch": 40, "block": 20,
        "lambda": null, "radius": 9.0, "init-scale": 0.8, "precision": "f64", "seed": 3,
        "offsets": true, "similarity": "signed", "negative-share": 0.4,
    });
    assert_eq!(params, expected);
}

#[test]
fn rules_for_repeats_and_self_links() {
    let lab = Lab::new();
    lab.write("links.csv", "a,b,1\nb,a,3\nc,c,1\nb,c,2\nc,d,0\n");
    let line = "fit --links links.csv --validation 0 --dim 2 --steps 2";
    lab.refused(
        &format!("{line} --out m"),
        &["links.csv, line 3", "'c' to itself"],
    );
    lab.refused(
        &format!("{line} --self-links drop --out m"),
        &["links.csv, line 2", "'a', 'b' again"],
    );
    let words = lab.ok(&format!(
        "{line} --self-links drop --duplicates sum --out m"
    ));
    assert!(
        words.contains("1 link of weight zero, 1 self-link, 1 merged repeat"),
        "{words}"
    );
}

/// What the probability score cannot do is said before the fit, and what it did after.
#[test]
fn the_probability_score_warns_of_heavy_weights_on_sparse_graphs() {
    let lab = Lab::new();
    let mut text = "src,dst,weight\n".to_owned();
    for node in 0..300 {
        for step in 1..4 {
            text += &format!("{node},{},12\n", (node + step) % 300);
        }
    }
    lab.write("links.csv", text);
    let fit = "fit --links links.csv --dim 8 --score probability --beta 0.5 --force --out m";
    let output = lab.run(fit);
    let (said, warned) = [output.stdout, output.stderr]
        .map(|text| String::from_utf8(text).unwrap())
        .into();
    assert!(output.status.success());
    assert!(
        warned.starts_with("warning: the probability score cannot follow"),
        "{warned}"
    );
    assert!(warned.contains("--weights binary"), "{warned}");
    assert!(said.contains("expects only"), "{said}");
    assert_eq!(lab.ok(&format!("{fit} --quiet")), "");
    let found = lab.json(&format!("{fit} --weights binary"));
    assert!(
        !found["notes"].to_string().contains("probability"),
        "{found}"
    );
    // So large a ridge leaves one dimension, and a small one more.
    assert_eq!(found["effective_rank"], 1.0);
    let line = lab.ok(&format!("{fit} --weights binary"));
    assert!(
        line.contains("1.0 of 8 carry information. Try a smaller --ridge"),
        "{line}"
    );
    let found = lab.json(&format!("{fit} --weights binary --ridge 0.01"));
    let used = found["effective_rank"].as_f64().unwrap();
    assert!((2.0..=8.0).contains(&used), "{used}");
}
