//! Too little memory, too much to unpack, too many threads: refused or failed with
//! words, never aborted.

use std::io::Write;

use crate::lab::{Lab, links_csv, planted};

#[test]
fn a_fit_under_any_limit_is_done_or_says_why_not() {
    let lab = Lab::new();
    let graph = planted(3000, 4, 8);
    lab.write(
        "links.csv",
        links_csv(&graph.links, |node| node.to_string()),
    );
    let mut done = 0;
    let limits = ["64kB", "300kB", "1MB", "4MB", "12MB", "20MB", "40MB", "2GB"];
    for (place, limit) in limits.iter().enumerate() {
        let line = format!(
            "fit --links links.csv --dim 64 --steps 3 --optimizer lbfgs --max-memory {limit} --out m{place}"
        );
        let before = lab.snapshot();
        let output = lab.run(&line);
        let said = String::from_utf8(output.stderr).unwrap();
        match output.status.code() {
            Some(0) => done += 1,
            code => {
                assert_eq!(code, Some(1), "{limit}: {said}");
                let early = said.contains("error: out of memory while reading");
                let before_it = said.contains("error: the fit needs about");
                assert!(early || before_it, "{limit}: {said}");
                assert!(
                    said.contains("--max-memory") && said.contains("--dim"),
                    "{said}"
                );
                assert_eq!(said.trim_end().lines().count(), 1, "{said}");
                assert!(lab.snapshot() == before, "{limit} left something behind");
            }
        }
    }
    assert!((1..8).contains(&done), "{done}");
    lab.ok("fit --links links.csv --dim 64 --steps 3 --max-memory 2GB --quiet --out enough");
}

/// The system itself gives no more: no limit was told.
#[cfg(target_os = "linux")]
#[test]
fn memory_that_the_system_does_not_give_is_an_error() {
    use std::process::Command;
    let lab = Lab::new();
    let graph = planted(3000, 4, 8);
    lab.write(
        "links.csv",
        links_csv(&graph.links, |node| node.to_string()),
    );
    let program = assert_cmd::cargo::cargo_bin("linkproof");
    let before = lab.snapshot();
    let mut codes = Vec::new();
    for kilobytes in [32_000, 42_000, 60_000, 90_000, 200_000, 4_000_000] {
        let line = format!(
            "ulimit -v {kilobytes}; exec {} fit --links links.csv --dim 64 --steps 3 \
             --threads 1 --max-memory 4GB --quiet --out m --force",
            program.display()
        );
        let mut shell = Command::new("sh");
        let output = shell.args(["-c", &line]).current_dir(lab.path("")).output();
        let output = output.unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let code = output.status.code();
        assert!(matches!(code, Some(0 | 1)), "{kilobytes}: {code:?} {said}");
        if code == Some(1) {
            assert!(said.starts_with("error: "), "{said}");
            assert!(
                lab.snapshot() == before,
                "{kilobytes} left something behind"
            );
        }
        codes.push(code);
        // Where pages lie decides what is enough: a run that had less may have been done.
        if code == Some(0) {
            std::fs::remove_dir_all(lab.path("m")).unwrap();
        }
    }
    assert_eq!(codes.first().copied().flatten(), Some(1));
    assert_eq!(codes.last().copied().flatten(), Some(0));
}

#[test]
fn packed_files_have_a_bound() {
    let lab = Lab::with_graph();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut text = lab.read("links.csv").into_bytes();
    text.resize(3_000_000, b'\n');
    gz.write_all(&text).unwrap();
    lab.write("links.csv.gz", gz.finish().unwrap());
    lab.write(
        "links.csv.zst",
        zstd::encode_all(text.as_slice(), 1).unwrap(),
    );
    for name in ["links.csv.gz", "links.csv.zst"] {
        let line = format!("fit --links {name} --dim 2 --steps 2 --quiet --out {name}.m");
        let what = [name, "more than 2 MB unpacked", "--max-unpacked"];
        lab.refused(&format!("{line} --max-unpacked 2MB"), &what);
        lab.ok(&format!("{line} --max-unpacked 4MB"));
    }
}

#[test]
fn absurd_numbers_are_refused() {
    let lab = Lab::with_graph();
    lab.write_npy("y.npy", &[vec![0.1], vec![0.3], vec![0.2]]);
    let line = "cluster --embeddings y.npy --clusters 2 --out c.csv";
    lab.refused(
        &format!("{line} --restarts 4294967295"),
        &["--restarts must be 1 to 100000"],
    );
    lab.refused(
        &format!("{line} --threads 4000"),
        &["--threads", "4000", "1024"],
    );
    lab.refused(
        &format!("{line} --max-memory lots"),
        &["--max-memory", "lots", "500MB"],
    );
}
