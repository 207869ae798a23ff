//! Signals end the program soon, wherever it is, and leave nothing.

#![cfg(target_os = "linux")]

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::lab::{Lab, links_csv, planted};
use crate::server::{Manner, Server};

/// So long at most, on a machine with much else to do. By itself the program
/// waits for half a second.
const SOON: Duration = Duration::from_secs(8);

fn signal(child: &Child, name: &str) {
    let mut kill = Command::new("kill");
    let sent = kill.args([&format!("-{name}"), &child.id().to_string()]);
    assert!(sent.status().unwrap().success());
}

/// Waits until the program has its handlers.
fn wait_for_handlers(child: &Child) {
    let status = format!("/proc/{}/status", child.id());
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        // SIGINT is the second bit.
        if caught.is_some_and(|mask| mask & 2 != 0) {
            return;
        }
        assert!(Instant::now() < until, "{text}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Expects that a program at work ends by a signal, with code 130, one line of words
/// and nothing left.
fn ends(lab: &Lab, line: &str, more: Duration) {
    let before = lab.snapshot();
    let mut child = lab.start(line);
    wait_for_handlers(&child);
    std::thread::sleep(more);
    assert!(
        child.try_wait().unwrap().is_none(),
        "{line}: ended by itself"
    );
    let clock = Instant::now();
    signal(&child, "INT");
    let output = child.wait_with_output().unwrap();
    assert!(clock.elapsed() < SOON, "{line}: {:?}", clock.elapsed());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{line}: {said}");
    assert!(
        said.starts_with("error: stopped by the user"),
        "{line}: {said}"
    );
    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    assert!(lab.snapshot() == before, "{line} left something behind");
}

fn lab() -> Lab {
    let lab = Lab::new();
    let graph = planted(1500, 4, 8);
    lab.write(
        "links.csv",
        links_csv(&graph.links, |node| node.to_string()),
    );
    lab
}

const LONG: &str = "fit --links links.csv --dim 64 --validation 0 --optimizer adam --steps 1000000";

#[test]
fn while_reading() {
    let lab = Lab::new();
    let pipe = lab.path("links.pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let before = fs::read_dir(lab.path("")).unwrap().count();
    // Both ends are open, and nothing ever comes.
    let mut child = lab.start("fit --links links.pipe --out a/b/m");
    let _writer = fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    wait_for_handlers(&child);
    assert!(child.try_wait().unwrap().is_none());
    signal(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(fs::read_dir(lab.path("")).unwrap().count(), before);
}

#[test]
fn while_fitting_and_judging() {
    let lab = lab();
    let soon = Duration::from_millis(300);
    ends(&lab, &format!("{LONG} --out m"), soon);
    ends(
        &lab,
        "fit --links links.csv --dim 64 --robust --out m",
        soon,
    );
    ends(&lab, "select --links links.csv --dim 64 --out s.toml", soon);
    let line = "fit --links links.csv --dim 64 --bootstrap 1000 --out m";
    ends(&lab, line, soon);
}

#[test]
fn while_a_model_is_brought_up_to_date() {
    let lab = lab();
    lab.ok("fit --links links.csv --dim 64 --steps 3 --quiet --out m");
    let all: String = (0..1500)
        .map(|node| format!("{node},new {}\n", node % 700))
        .collect();
    lab.write("new.csv", all);
    // With a pipe for the links that go, reading waits until the signal comes.
    let pipe = lab.path("gone.pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let before = fs::read_dir(lab.path("")).unwrap().count();
    let line = "update --model m --links new.csv --withdrawn gone.pipe --out u";
    let child = lab.start(line);
    let _writer = fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    wait_for_handlers(&child);
    let clock = Instant::now();
    signal(&child, "INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(clock.elapsed() < SOON);
    assert_eq!(fs::read_dir(lab.path("")).unwrap().count(), before);
}

#[test]
fn while_clustering() {
    let lab = Lab::new();
    let rows: Vec<Vec<f64>> = (0..3000u32)
        .map(|x| vec![f64::from(x % 997), f64::from(x % 331)])
        .collect();
    lab.write_npy("y.npy", &rows);
    let line = "cluster --embeddings y.npy --clusters 50 --restarts 100000 --out c.csv";
    ends(&lab, line, Duration::from_millis(200));
}

#[test]
fn while_a_download_stalls() {
    let lab = Lab::new();
    let server = Server::start(b"", &[Manner::Silent, Manner::Silent]);
    let line = format!("datasets fetch cora --from {}", server.file(""));
    ends(&lab, &line, Duration::from_millis(300));
}

#[test]
fn a_second_signal_ends_at_once_and_so_does_a_hangup_unless_it_is_ignored() {
    let lab = lab();
    let before = lab.snapshot();
    let line = format!("{LONG} --out m");
    let mut child = lab.start(&line);
    wait_for_handlers(&child);
    signal(&child, "INT");
    signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(lab.snapshot() == before);

    let program = assert_cmd::cargo::cargo_bin("linkproof");
    let shell = format!("trap '' HUP; exec {} {line}", program.display());
    let mut child = Command::new("sh")
        .args(["-c", &shell])
        .current_dir(lab.path(""))
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for_handlers(&child);
    // The handler comes first, and then the hangup is ignored again.
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, "HUP");
    std::thread::sleep(Duration::from_millis(1500));
    assert!(child.try_wait().unwrap().is_none(), "outlives the terminal");
    signal(&child, "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(lab.snapshot() == before);
}

#[test]
fn kills_leave_nothing_that_the_next_run_does_not_remove() {
    let lab = lab();
    let names = || {
        let entries = fs::read_dir(lab.path("")).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    for _ in 0..3 {
        let mut child = lab.start(&format!("{LONG} --out m --force"));
        wait_for_handlers(&child);
        wait_for_entries(&lab, 3);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(names().len() > 1, "something is left of the last");
    lab.ok("fit --links links.csv --dim 2 --steps 2 --quiet --out m");
    assert_eq!(names(), ["links.csv", "m"]);
}

/// Waits until a run has made something beside the links: a lock, and a folder.
fn wait_for_entries(lab: &Lab, count: usize) {
    let until = Instant::now() + Duration::from_secs(60);
    while fs::read_dir(lab.path("")).unwrap().count() < count {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn two_runs_do_not_write_to_one_place() {
    let lab = lab();
    let mut child = lab.start(&format!("{LONG} --out m"));
    wait_for_handlers(&child);
    wait_for_entries(&lab, 3);
    // The first run writes on meanwhile, so that what is there is not compared.
    let second = lab.run("fit --links links.csv --dim 2 --steps 2 --out m");
    let errors = String::from_utf8(second.stderr).unwrap();
    assert_eq!(second.status.code(), Some(2), "{errors}");
    let what = "m: is being written by another process";
    assert!(
        errors.starts_with("error: ") && errors.contains(what),
        "{errors}"
    );
    child.kill().unwrap();
    child.wait().unwrap();
    lab.ok("fit --links links.csv --dim 2 --steps 2 --quiet --out m");
}
