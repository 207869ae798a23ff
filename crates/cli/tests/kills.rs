//! Kills the program at every system call that writes, and at random moments: what was
//! there before or what was to come is whole, and the next run succeeds.
//!
//! Kills at system calls need `strace`; without it they say that they are skipped.
//! `LINKPROOF_KILLS=1000` makes so many at random moments, and one at every call;
//! without it there are few of each.

// A test may fail.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "cli/lab.rs"]
// Shared with the tests of commands, which need more of it.
#[allow(dead_code)]
mod lab;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lab::{Lab, links_csv, planted};

/// System calls that change what is on disk, or lock it.
const WRITING: &str = "write,pwrite64,openat,fsync,fdatasync,rename,renameat,renameat2,unlink,\
                       unlinkat,mkdir,mkdirat,rmdir,ftruncate,fchmod,chmod,flock,linkat";

fn wanted() -> Option<usize> {
    let text = std::env::var("LINKPROOF_KILLS").ok()?;
    Some(text.parse().unwrap())
}

fn program() -> PathBuf {
    assert_cmd::cargo::cargo_bin("linkproof")
}

fn has_strace() -> bool {
    let tried = Command::new("strace")
        .args(["-f", "-o", "/dev/null", "true"])
        .stderr(Stdio::null())
        .status();
    let has = tried.is_ok_and(|status| status.success());
    if !has {
        eprintln!("skipped: no strace, or it may not trace");
    }
    has
}

fn traced(lab: &Lab, line: &str, options: &[String]) -> Command {
    let mut command = Command::new("strace");
    command.args(["-f", "-o"]).arg(lab.path("trace.log"));
    command.args(options).arg(program());
    command
        .args(line.split_whitespace())
        .args(["--threads", "2"]);
    command
        .current_dir(lab.path(""))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// The places of writing calls: the name of the call, and which of a thread's calls
/// of that name it is.
fn places(log: &str) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut found = Vec::new();
    for line in log.lines() {
        let Some((thread, rest)) = line.split_once(' ') else {
            continue;
        };
        let rest = rest.trim_start();
        // Continuations and ends of threads are no calls.
        let Some((name, arguments)) = rest.split_once('(') else {
            continue;
        };
        if !WRITING.split(',').any(|writing| writing == name) {
            continue;
        }
        let count = counts.entry((thread, name)).or_default();
        *count += 1;
        let reads = name == "openat" && !arguments.contains("O_CREAT");
        let place = (name.to_owned(), *count);
        if !reads && !found.contains(&place) {
            found.push(place);
        }
    }
    found
}

/// Kills a line at its writing calls and checks what is left after each; returns at
/// how many.
fn kill_at_calls(
    line: &str,
    inject: Option<&str>,
    prepare: impl Fn(&Lab),
    check: impl Fn(&Lab, &str),
) -> usize {
    let more: Vec<String> = inject
        .map(|rule| format!("inject={rule}"))
        .into_iter()
        .collect();
    let options = |rules: Vec<String>| -> Vec<String> {
        rules
            .into_iter()
            .flat_map(|rule| ["-e".to_owned(), rule])
            .collect()
    };
    let lab = lab();
    prepare(&lab);
    let mut rules = vec![format!("trace={WRITING}")];
    rules.extend(more.clone());
    let status = traced(&lab, line, &options(rules)).status().unwrap();
    assert!(status.success(), "{line}");
    let all = places(&lab.read("trace.log"));
    assert!(all.len() > 10, "{line}: {all:?}");
    let step = match wanted() {
        Some(_) => 1,
        None => all.len().div_ceil(9),
    };
    let mut kills = 0;
    for (name, count) in all.iter().step_by(step) {
        let lab = self::lab();
        prepare(&lab);
        let mut rules = vec![
            format!("trace={WRITING}"),
            format!("inject={name}:signal=SIGKILL:when={count}"),
        ];
        // A rule for the same call would replace the other.
        rules.extend(
            more.iter()
                .filter(|rule| !rule.contains(&format!("={name}:")))
                .cloned(),
        );
        let status = traced(&lab, line, &options(rules)).status().unwrap();
        // Which thread writes may change from run to run, so some are never reached.
        kills += usize::from(!status.success());
        let _ = fs::remove_file(lab.path("trace.log"));
        check(&lab, &format!("{line} killed at {name} {count}"));
    }
    println!(
        "{line}: {kills} kills at {} writing calls",
        all.len().div_ceil(step)
    );
    kills
}

fn lab() -> Lab {
    let lab = Lab::new();
    let graph = planted(60, 3, 1);
    lab.write(
        "links.csv",
        links_csv(&graph.links, |node| node.to_string()),
    );
    lab.write("pairs.csv", "0,1\n");
    lab
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

const FIT: &str = "fit --links links.csv --dim 3 --steps 20 --seed 2 --format csv --quiet --out m";
const OLD: &str = "fit --links links.csv --dim 2 --steps 2 --quiet --out m";

/// The embeddings of a whole run.
fn embeddings(line: &str) -> Vec<u8> {
    let lab = lab();
    lab.ok(line);
    lab.bytes("m/embeddings.npy")
}

/// The model is one of these, and whole; then the next run succeeds and nothing else
/// is there.
fn old_or_new(lab: &Lab, all: &[&Vec<u8>], may_be_absent: bool, what: &str) {
    if may_be_absent && !lab.path("m").exists() {
        // Whoever reads would find what has to be finished.
        let recovered = lab.run("score --model m --pairs pairs.csv --quiet --out s.csv");
        assert!(
            !recovered.status.success() || lab.path("m").exists(),
            "{what}"
        );
    } else {
        lab.ok("score --model m --pairs pairs.csv --quiet --out s.csv");
        let found = lab.bytes("m/embeddings.npy");
        assert!(all.iter().any(|one| **one == found), "{what}");
    }
    let _ = fs::remove_file(lab.path("s.csv"));
    lab.ok(&format!("{FIT} --force"));
    assert!(
        lab.bytes("m/embeddings.npy") == **all.last().unwrap(),
        "{what}"
    );
    assert_eq!(
        names(&lab.path("")),
        ["links.csv", "m", "pairs.csv"],
        "{what}"
    );
}

#[test]
fn a_new_model() {
    if !has_strace() {
        return;
    }
    let new = embeddings(FIT);
    let kills = kill_at_calls(
        FIT,
        None,
        |_| {},
        |lab, what| old_or_new(lab, &[&new], true, what),
    );
    assert!(kills > 0);
}

#[test]
fn a_model_that_replaces_another() {
    if !has_strace() {
        return;
    }
    let (old, new) = (embeddings(OLD), embeddings(FIT));
    let line = format!("{FIT} --force");
    let prepare = |lab: &Lab| {
        lab.ok(OLD);
    };
    let check = |lab: &Lab, what: &str| old_or_new(lab, &[&old, &new], false, what);
    assert!(kill_at_calls(&line, None, prepare, check) > 0);
    // As on file systems that cannot exchange two names: a reader finds one of them.
    let check = |lab: &Lab, what: &str| old_or_new(lab, &[&old, &new], false, what);
    let cannot = Some("renameat2:error=EINVAL");
    assert!(kill_at_calls(&line, cannot, prepare, check) > 0);
}

#[test]
fn a_checkpoint() {
    if !has_strace() {
        return;
    }
    let new = embeddings(FIT);
    let line = format!("{FIT} --force --every 0");
    let check = |lab: &Lab, what: &str| {
        if lab.path("c/checkpoint.json").exists() {
            lab.ok(&format!("{line} --resume c"));
        } else {
            lab.ok(&format!("{line} --checkpoint c"));
        }
        assert!(lab.bytes("m/embeddings.npy") == new, "{what}");
        let found = names(&lab.path(""));
        assert_eq!(found, ["links.csv", "m", "pairs.csv"], "{what}");
    };
    let kills = kill_at_calls(&format!("{line} --checkpoint c"), None, |_| {}, check);
    assert!(kills > 0);
}

#[test]
fn an_update() {
    if !has_strace() {
        return;
    }
    let line = "update --model m --links new.csv --quiet --out u --force";
    let before = |lab: &Lab| {
        lab.write("new.csv", "0,new\n1,new\n2,new\n");
        lab.ok(OLD);
        lab.ok("fit --links links.csv --dim 2 --steps 3 --quiet --out u");
    };
    let whole = lab();
    before(&whole);
    let (model, old) = (
        whole.bytes("m/embeddings.npy"),
        whole.bytes("u/embeddings.npy"),
    );
    whole.ok(line);
    let new = whole.bytes("u/embeddings.npy");
    assert!(old != new);
    let check = |lab: &Lab, what: &str| {
        lab.ok("score --model u --pairs pairs.csv --quiet --out s.csv");
        let found = lab.bytes("u/embeddings.npy");
        assert!(found == old || found == new, "{what}");
        assert!(lab.bytes("m/embeddings.npy") == model, "{what}");
        fs::remove_file(lab.path("s.csv")).unwrap();
        lab.ok(line);
        assert!(lab.bytes("u/embeddings.npy") == new, "{what}");
        let expected = ["links.csv", "m", "new.csv", "pairs.csv", "u"];
        assert_eq!(names(&lab.path("")), expected, "{what}");
    };
    assert!(kill_at_calls(line, None, before, check) > 0);
}

#[test]
fn an_experiment() {
    if !has_strace() {
        return;
    }
    let line = "reproduce figure1 --quick --quiet --runs 1 --out r";
    let check = |lab: &Lab, what: &str| {
        lab.ok(line);
        let found = names(&lab.path(""));
        assert_eq!(found, ["links.csv", "pairs.csv", "r"], "{what}");
        let inside = names(&lab.path("r"));
        assert!(
            !inside.iter().any(|name| name.starts_with('.')),
            "{what}: {inside:?}"
        );
    };
    assert!(kill_at_calls(line, None, |_| {}, check) > 0);
}

#[test]
fn a_data_set() {
    let Ok(cora) = std::env::var("LINKPROOF_CORA") else {
        println!("skipped: LINKPROOF_CORA is not set");
        return;
    };
    let raw = Path::new(&cora).join("raw");
    if !has_strace() || !raw.is_dir() {
        return;
    }
    let line = format!("datasets fetch cora --quiet --from {}", raw.display());
    let check = |lab: &Lab, what: &str| {
        lab.ok(&line);
        let found = names(&lab.path(""));
        assert_eq!(found, ["cora", "links.csv", "pairs.csv"], "{what}");
    };
    assert!(kill_at_calls(&line, None, |_| {}, check) > 0);
}

/// Numbers that look random and are the same on every machine.
fn random(state: &mut u64) -> f64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1);
    (*state >> 11) as f64 / (1u64 << 53) as f64
}

#[test]
fn random_moments() {
    let lab = lab();
    let kills = wanted().unwrap_or(20);
    let line = format!("{FIT} --force --every 0 --threads 1");
    lab.ok(&line);
    let new = lab.bytes("m/embeddings.npy");
    lab.ok(&format!("{OLD} --force"));
    let old = lab.bytes("m/embeddings.npy");
    let (mut state, mut whole, mut reached, mut resumed) = (7, Duration::from_millis(60), 0, 0);
    let mut runs = 0;
    while reached < kills {
        runs += 1;
        let kill = reached + 1;
        let how = match lab.path("c/checkpoint.json").exists() {
            true => "--resume c",
            false => "--checkpoint c",
        };
        resumed += usize::from(how == "--resume c");
        let clock = Instant::now();
        let mut child = Command::new(program())
            .args(format!("{line} {how}").split_whitespace())
            .current_dir(lab.path(""))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(whole.mul_f64(random(&mut state)));
        let ended = child.try_wait().unwrap();
        match ended {
            // Done before its time: it takes less long than thought.
            Some(status) => {
                assert!(status.success(), "kill {kill}: {status}");
                whole = whole.mul_f64(0.9);
            }
            None => {
                child.kill().unwrap();
                child.wait().unwrap();
                reached += 1;
                whole = whole.max(clock.elapsed()).mul_f64(1.02);
            }
        }
        let found = lab.bytes("m/embeddings.npy");
        assert!(found == old || found == new, "kill {kill}");
        if found == new {
            // Begins again with the old one.
            if lab.path("c/checkpoint.json").exists() {
                lab.ok(&format!("{line} --resume c"));
                assert!(lab.bytes("m/embeddings.npy") == new, "kill {kill}");
            }
            lab.ok(&format!("{OLD} --force"));
        }
    }
    let how = match lab.path("c/checkpoint.json").exists() {
        true => "--resume c",
        false => "--checkpoint c",
    };
    lab.ok(&format!("{line} {how}"));
    assert!(lab.bytes("m/embeddings.npy") == new);
    assert_eq!(names(&lab.path("")), ["links.csv", "m", "pairs.csv"]);
    println!("{kills} kills in {runs} runs, of which {resumed} went on from a checkpoint");
}
