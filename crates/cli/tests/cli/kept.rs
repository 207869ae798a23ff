//! Runs that are cut short go on to the same bits.

#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::lab::{Lab, features_csv, links_csv, planted};

fn lab() -> Lab {
    let lab = Lab::new();
    let graph = planted(300, 4, 8);
    let name = |node: usize| node.to_string();
    lab.write("links.csv", links_csv(&graph.links, name));
    lab.write("x.csv", features_csv(&graph.features, name));
    lab
}

/// Waits until a state has been kept that was not there before.
fn wait_for_state(child: &mut Child, folder: &Path) -> bool {
    let states = || {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let stamp =
            |entry: fs::DirEntry| Some((entry.path(), entry.metadata().ok()?.modified().ok()?));
        let kept = entries.filter_map(stamp).filter(|(path, _)| {
            let extension = path.extension().and_then(|extension| extension.to_str());
            matches!(extension, Some("running" | "done"))
        });
        let mut kept: Vec<_> = kept.collect();
        kept.sort();
        kept
    };
    let before = states();
    let until = Instant::now() + Duration::from_secs(60);
    while child.try_wait().unwrap().is_none() {
        let now = states();
        if !now.is_empty() && now != before {
            return true;
        }
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(2));
    }
    false
}

/// Runs a line that is killed or interrupted again and again, until it is done; how
/// often it was.
fn by_pieces(lab: &Lab, line: &str, signal: &str, most: usize) -> usize {
    let folder = lab.path("c");
    for ends in 0..most {
        let how = match folder.join("checkpoint.json").exists() {
            true => "--resume c",
            false => "--checkpoint c",
        };
        let mut child = lab.start(&format!("{line} --every 0 {how}"));
        let is_at_work = wait_for_state(&mut child, &folder);
        if is_at_work {
            let mut kill = Command::new("kill");
            let kill = kill
                .args([signal, &child.id().to_string()])
                .stderr(Stdio::null());
            let _ = kill.status().unwrap();
        }
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        match output.status.code() {
            Some(0) => return ends,
            Some(130) => {
                assert!(said.contains("stopped by the user"), "{said}");
                assert!(said.contains("--resume c"), "{said}");
            }
            None => {}
            code => panic!("{line}: {code:?} {said}"),
        }
    }
    lab.ok(&format!("{line} --every 0 --resume c --quiet"));
    most
}

fn goes_on(line: &str, most: usize) {
    let lab = lab();
    let line = format!("{line} --links links.csv");
    lab.ok(&format!("{line} --out whole --quiet"));
    for signal in ["-KILL", "-INT"] {
        let ends = by_pieces(&lab, &format!("{line} --out m --force"), signal, most);
        assert!(ends > 0, "{line}: never cut short");
        for file in ["embeddings.npy", "model.safetensors"] {
            let same = lab.bytes(&format!("m/{file}")) == lab.bytes(&format!("whole/{file}"));
            assert!(same, "{line}: {file} after {ends} ends by {signal}");
        }
        let entries = fs::read_dir(lab.path("")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        assert_eq!(names, ["links.csv", "m", "whole", "x.csv"]);
    }
}

#[test]
fn plain_fits() {
    goes_on("fit --features x.csv --dim 24 --steps 60", 6);
    goes_on("fit --dim 16 --optimizer adam --steps 80", 6);
    goes_on("fit --dim 8 --solver sgd --steps 300", 6);
}

#[test]
fn robust_fits_and_searches() {
    goes_on("fit --features x.csv --dim 4 --robust", 4);
    goes_on("fit --features x.csv --dim 4 --select", 4);
}

#[test]
fn what_differs_is_refused_by_name() {
    let lab = lab();
    let line = "fit --links links.csv --dim 8 --optimizer adam --validation 0 --steps 100000 \
                --every 0 --out m";
    let mut child = lab.start(&format!("{line} --checkpoint c"));
    assert!(wait_for_state(&mut child, &lab.path("c")));
    child.kill().unwrap();
    child.wait().unwrap();
    // The lock of the dead process goes with the next run.
    lab.run("fit --links links.csv --resume c --out m --dim 9");
    let other = line.replace("--dim 8", "--dim 9");
    lab.refused(
        &format!("{other} --resume c"),
        &["checkpoint.json", "dim 8 and not 9", "same data, settings"],
    );
    lab.refused(&format!("{line} --robust --resume c"), &["--robust"]);
    let text = lab.read("links.csv").replacen(",1\n", ",2\n", 1);
    lab.write("other.csv", text);
    let other = line.replace("links.csv", "other.csv");
    lab.refused(&format!("{other} --resume c"), &["data "]);
    lab.refused(
        &format!("{line} --resume nothing"),
        &["nothing/checkpoint.json"],
    );
    lab.refused(&format!("{line} --checkpoint c --resume c"), &["--resume"]);
    lab.refused(&format!("{line} --checkpoint m/c"), &["beside"]);
    lab.refused(&format!("{line} --every -1"), &["--every"]);
    // A run that begins anew says that there is something to go on from.
    let output = lab.run(&line.replace("100000 --every 0", "2 --checkpoint c"));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("warning: c holds") && said.contains("--resume c"),
        "{said}"
    );
}
