//! Ends that are out of the program's hands: full disks, closed pipes, kills.

#![cfg(target_os = "linux")]

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::lab::{Lab, links_csv, planted};

#[test]
fn a_full_disk_is_a_failed_run() {
    let lab = Lab::with_graph();
    lab.ok("fit --links links.csv --dim 2 --out m");
    lab.write("pairs.csv", "n1,n2\n");
    let line = "score --model m --pairs pairs.csv --out /dev/full";
    lab.ends_with(1, line, &["/dev/full", "cannot be written"]);
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let lab = Lab::with_graph();
    for options in ["--json", "--help"] {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("linkproof"))
            .args("fit --links links.csv --dim 2 --out m --force".split(' '))
            .arg(options)
            .current_dir(lab.path(""))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
        assert_eq!(output.status.code(), Some(0));
    }
}

#[test]
fn a_kill_leaves_the_old_model() {
    let lab = Lab::new();
    let graph = planted(400, 4, 8);
    lab.write(
        "links.csv",
        links_csv(&graph.links, |node| node.to_string()),
    );
    lab.ok("fit --links links.csv --dim 2 --steps 2 --out m");
    let before = lab.bytes("m/embeddings.npy");
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("linkproof"))
        .args("fit --links links.csv --dim 64 --validation 0 --optimizer adam".split(' '))
        .args("--steps 1000000 --out m --force".split(' '))
        .current_dir(lab.path(""))
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(400));
    assert!(child.try_wait().unwrap().is_none(), "still at work");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(lab.bytes("m/embeddings.npy") == before);
    lab.write("pairs.csv", "0,1\n");
    lab.ok("score --model m --pairs pairs.csv --out s.csv");
}
