//! Nothing of the user's is lost: neither inputs, nor models, nor folders.

use std::fs;

use crate::lab::Lab;

/// A folder with a graph, a model `m` and files for every command.
fn lab() -> Lab {
    let lab = Lab::with_graph();
    lab.ok("fit --links links.csv --features x.csv --labels labels.csv --dim 3 --out m --quiet");
    lab.write("pairs.csv", "n1,n2\n");
    lab.write("c.toml", "dim = 3\n");
    lab.write("0.csv", "0,1\n1,2\n");
    lab.write_npy("y.npy", &[vec![0.1, 0.2], vec![0.3, 0.1], vec![0.2, 0.2]]);
    lab.write("y.nodes.csv", "node\na\nb\nc\n");
    lab
}

#[test]
fn force_replaces_models_and_nothing_else() {
    let lab = Lab::with_graph();
    fs::create_dir(lab.path("data")).unwrap();
    fs::copy(lab.path("links.csv"), lab.path("data/links.csv")).unwrap();
    lab.write("data/thesis.tex", "years of work");
    let inside = "fit --links data/links.csv --dim 2 --out data --force";
    lab.refused(inside, &["data: holds data/links.csv, which is read"]);
    let line = "fit --links links.csv --dim 2 --out data";
    let foreign = ["data: holds 'thesis.tex', which is no part of a model"];
    lab.refused(&format!("{line} --force"), &foreign);
    let output = lab.run(line);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("already holds 'thesis.tex'"), "{said}");
    assert!(!said.contains("--force"), "{said}");
    // Names that a model has too make no model.
    fs::remove_file(lab.path("data/thesis.tex")).unwrap();
    lab.refused(&format!("{line} --force"), &["'links.csv'"]);

    lab.ok("fit --links links.csv --dim 2 --out m --quiet");
    lab.write("m/notes.txt", "mine");
    let line = "fit --links links.csv --dim 2 --out m";
    lab.refused(&format!("{line} --force"), &["'notes.txt'"]);
    let output = lab.run(line);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!said.contains("--force"), "{said}");
}

#[test]
fn a_model_with_everything_that_we_write_is_replaced() {
    let lab = Lab::with_graph();
    let line = "fit --links links.csv --features x.csv --labels labels.csv --dim 2 \
                --report --plot m/nodes.svg --format csv --format parquet \
                --format word2vec --quiet --out m";
    lab.ok(line);
    lab.ok("report m --quiet");
    let before = fs::read_dir(lab.path("m")).unwrap().count();
    assert_eq!(before, 11);
    lab.refused(line, &["m: already holds a model", "--force"]);
    lab.ok(&format!("{line} --force"));
    assert_eq!(fs::read_dir(lab.path("m")).unwrap().count(), before);
}

#[test]
fn no_output_is_an_input() {
    let lab = lab();
    let fit = "--links links.csv --features x.csv";
    for (line, at) in [
        (
            "audit --model m --links links.csv --out links.csv",
            "links.csv",
        ),
        (
            "audit --model m --links links.csv --out a.csv --clean ./links.csv",
            "./links.csv",
        ),
        (
            "audit --model m --links links.csv --missing 2 --out a.csv --missing-out x.csv \
             --features x.csv",
            "x.csv",
        ),
        (
            "cluster --embeddings y.npy --clusters 2 --out y.npy",
            "y.npy",
        ),
        (
            "cluster --embeddings y.npy --clusters 2 --out y.nodes.csv",
            "y.nodes.csv",
        ),
        ("embed --model m --features x.csv --out x.csv", "x.csv"),
        // The ids of y.npy go to y.nodes.csv.
        (
            "embed --model m --features x.csv --nodes y.nodes.csv --out y.npy",
            "y.nodes.csv",
        ),
        ("neighbors --model m --features x.csv --out x.csv", "x.csv"),
        (
            "score --model m --pairs pairs.csv --out pairs.csv",
            "pairs.csv",
        ),
        (
            "objective --embeddings y.npy --links 0.csv --gamma 1 --score moment --beta 0.5 \
             --gradient y.npy",
            "y.npy",
        ),
        (&format!("select {fit} --out links.csv"), "links.csv"),
        (&format!("select {fit} --table x.csv"), "x.csv"),
        (
            &format!("select {fit} --config c.toml --table c.toml"),
            "c.toml",
        ),
        (
            "report m --labels labels.csv --out labels.csv",
            "labels.csv",
        ),
    ] {
        lab.refused(line, &[at, "is read as well"]);
    }
    // The fit's own.
    fs::create_dir(lab.path("n")).unwrap();
    fs::copy(lab.path("links.csv"), lab.path("n/l.svg")).unwrap();
    lab.refused(
        "fit --links n/l.svg --dim 2 --out k --plot n/l.svg",
        &["n/l.svg: is read as well"],
    );
}

#[test]
fn no_output_is_a_file_of_a_model() {
    let lab = lab();
    lab.ok("fit --links links.csv --dim 2 --out other --quiet");
    for line in [
        "cluster --embeddings m/embeddings.npy --clusters 2 --out m/embeddings.npy",
        "cluster --embeddings m/embeddings.npy --clusters 2 --out m/labels.csv",
        "cluster --embeddings y.npy --clusters 2 --out other/nodes.csv",
        "score --model m --pairs pairs.csv --out m/model.safetensors",
        "score --model m --pairs pairs.csv --out other/model.safetensors",
        "neighbors --model m --node n1 --out m/nodes.csv",
        "embed --model m --features x.csv --out other/embeddings.npy",
        "audit --model m --links links.csv --out other/beliefs.csv",
        "audit --model m --links links.csv --out a.csv --clean m/links.parquet",
        "select --links links.csv --out other/fit.json",
        "report m --out m/fit.json",
    ] {
        lab.refused(line, &["expected another file to write"]);
    }
    lab.ok("report m --out m/report.html --quiet");
    lab.ok("report m --plot m/nodes.svg --quiet");
}

#[test]
fn outputs_are_different_files() {
    let lab = lab();
    for line in [
        "audit --model m --links links.csv --out a.csv --clean a.csv",
        "audit --model m --links links.csv --out missing.csv --missing 3",
        "select --links links.csv --out s.csv --table new/../s.csv",
        "report m --out r.svg --plot r.svg",
        "fit --links links.csv --out k.svg --plot k.svg",
        "fit --links links.csv --out k.svg/m --plot k.svg",
    ] {
        lab.refused(line, &["is written twice"]);
    }
}

#[cfg(unix)]
#[test]
fn links_between_files_hide_nothing() {
    use std::os::unix::fs::symlink;
    let lab = lab();
    symlink("links.csv", lab.path("soft.csv")).unwrap();
    fs::hard_link(lab.path("links.csv"), lab.path("hard.csv")).unwrap();
    fs::hard_link(lab.path("m/nodes.csv"), lab.path("model-nodes.csv")).unwrap();
    symlink("m", lab.path("model")).unwrap();
    for name in ["soft.csv", "hard.csv", "model-nodes.csv"] {
        let line = format!("audit --model m --links links.csv --out {name}");
        lab.refused(&line, &[name, "is read as well"]);
    }
    lab.refused(
        "cluster --embeddings y.npy --clusters 2 --out model/nodes.csv",
        &["is a file of a model"],
    );
    // A device is no file to lose.
    lab.ok("score --model m --pairs pairs.csv --out /dev/null --quiet");
}

#[cfg(unix)]
#[test]
fn the_current_folder_and_links_to_nothing_are_refused() {
    use std::os::unix::fs::symlink;
    let lab = Lab::with_graph();
    fs::create_dir_all(lab.path("work/here")).unwrap();
    symlink("here", lab.path("work/link")).unwrap();
    symlink("gone", lab.path("work/here/dangling")).unwrap();
    let refused = |folder: &str, out: &str, what: &str| {
        let before = lab.snapshot();
        let mut command = lab.command("fit --links ../../links.csv --dim 2 --force --out");
        let output = command.arg(out).current_dir(lab.path(folder)).output();
        let output = output.unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(what), "{said}");
        assert!(lab.snapshot() == before, "{said}");
    };
    fs::remove_file(lab.path("work/here/dangling")).unwrap();
    for out in [".", "../here", "../link", "..", "../../work"] {
        refused("work/here", out, "the current folder");
    }
    symlink("gone", lab.path("dangling")).unwrap();
    for line in [
        "fit --links links.csv --dim 2 --out dangling",
        "fit --links links.csv --dim 2 --out dangling/m",
        "fit --links links.csv --dim 2 --out k --plot dangling/p.svg",
        "select --links links.csv --out dangling",
    ] {
        let output = lab.run(line);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("is a symbolic link to nothing"), "{said}");
        assert!(!lab.path("k").exists(), "{line}");
    }
}

/// What cannot be written is found before the work, here before bad links are.
#[test]
fn outputs_are_tried_before_inputs_are_read() {
    let lab = lab();
    lab.write("bad.csv", "a,b,c,d\n");
    lab.write("file", "");
    for line in [
        "select --links bad.csv --out file/s.toml",
        "select --links bad.csv --table file/t.csv",
        "fit --links bad.csv --out file/m",
        "fit --links bad.csv --out k --plot file/p.svg",
        "audit --model m --links bad.csv --out file/a.csv",
        "audit --model m --links bad.csv --out a.csv --clean file/c.csv",
        "objective --embeddings y.npy --links bad.csv --gamma 1 --score moment --beta 0.5 \
         --gradient file/g.npy",
    ] {
        lab.refused(line, &["file/", "cannot be written"]);
    }
}

#[test]
fn demonstrations_and_data_sets_replace_only_their_own() {
    let lab = Lab::new();
    fs::create_dir(lab.path("d")).unwrap();
    lab.write("d/demo.json", "{}");
    lab.write("d/thesis.tex", "years of work");
    lab.refused("demo --out d", &["'thesis.tex'", "a demonstration"]);
    fs::create_dir(lab.path("cora")).unwrap();
    lab.write("cora/mine.txt", "mine");
    lab.refused(
        "datasets fetch cora --force --from http://127.0.0.1:9/",
        &["'mine.txt'", "a data set"],
    );
}

/// The digest is of the file as it was read, whatever becomes of it during the fit.
#[cfg(unix)]
#[test]
fn digests_are_those_of_the_files_that_were_read() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let lab = Lab::with_graph();
    let digest = linkproof::io::digest(lab.path("links.csv")).unwrap();
    let pipe = lab.path("labels.pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let child = Command::new(assert_cmd::cargo::cargo_bin("linkproof"))
        .args("fit --links links.csv --dim 2 --labels labels.pipe --quiet --out m".split(' '))
        .current_dir(lab.path(""))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Labels are read after links: the pipe opens when the links have been read.
    let mut labels = fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    lab.write("links.csv", "n0,n1\nn1,n2,and,no,more,a,links,file\n");
    labels.write_all(b"n1,a\nn2,b\n").unwrap();
    drop(labels);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), said.as_str()), (Some(0), ""));
    let fit: serde_json::Value = serde_json::from_str(&lab.read("m/fit.json")).unwrap();
    assert_eq!(fit["inputs"][0]["path"], "links.csv");
    assert_eq!(fit["inputs"][0]["sha256"], digest);
}
