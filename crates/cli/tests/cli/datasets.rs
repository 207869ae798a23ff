//! `linkproof datasets`, from a server of our own and from folders. The real
//! files are not ours to keep here: tests that need them read them from the
//! folder that `LINKPROOF_CORA` names, and say that they are skipped.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use crate::lab::Lab;
use crate::server::{Manner, Server};

const FILES: [&str; 4] = ["edges.csv", "features.mtx", "labels.csv", "nodes.csv"];

fn cora() -> Option<PathBuf> {
    let folder = std::env::var_os("LINKPROOF_CORA").map(PathBuf::from);
    let folder = folder.filter(|folder| folder.join("raw/cora.content").is_file());
    if folder.is_none() {
        eprintln!("skipped: LINKPROOF_CORA is unset, or has no folder raw");
    }
    folder
}

/// A program that asks no proxy for this machine's own server.
fn direct(lab: &Lab, line: &str) -> assert_cmd::Command {
    let mut command = lab.command(line);
    command.env("NO_PROXY", "*").env("no_proxy", "*");
    command
}

fn is_cora(lab: &Lab, name: &str, cora: &Path) {
    for file in FILES {
        let expected = fs::read(cora.join(file)).unwrap();
        assert!(lab.bytes(&format!("{name}/{file}")) == expected, "{file}");
    }
    assert!(lab.read(&format!("{name}/README.md")).contains("Sen"));
}

#[test]
fn the_list() {
    let lab = Lab::new();
    assert!(lab.ok("datasets list").contains("2708 nodes, 5278 links"));
    let list = lab.json("datasets list");
    assert_eq!(list["datasets"][0]["name"], "cora");
    assert_eq!(list["datasets"][0]["download_bytes"], 7_893_355);
}

#[test]
fn wrong_usage() {
    let lab = Lab::new();
    lab.refused("datasets", &["no command", "linkproof datasets --help"]);
    lab.refused("datasets fetch", &["NAME", "linkproof datasets --help"]);
    lab.refused("datasets fetch pubmed", &["pubmed", "cora"]);
    let line = "datasets fetch cora --from";
    lab.refused(&format!("{line} nowhere"), &["--from", "nowhere", "https"]);
    lab.refused(&format!("{line} ftp://x/y"), &["--from", "ftp://x/y"]);
}

#[test]
fn files_that_are_not_the_published_ones() {
    let lab = Lab::new();
    fs::create_dir(lab.path("files")).unwrap();
    let line = "datasets fetch cora --from files";
    lab.refused(line, &["files/cora.content", "cannot be read"]);
    lab.write("files/cora.content", "31336\t0\t1\tTheory\n");
    lab.refused(
        line,
        &["files/cora.content", "17 bytes", "7823427", "b8ebed"],
    );
}

#[test]
fn a_folder_that_holds_something_else() {
    let lab = Lab::new();
    fs::create_dir(lab.path("cora")).unwrap();
    lab.write("cora/mine.txt", "mine");
    lab.refused("datasets fetch cora", &["cora", "mine.txt"]);
    for file in FILES {
        lab.write(&format!("cora/{file}"), "mine");
    }
    let what = ["cora/edges.csv", "4 bytes", "58047", "--force"];
    lab.refused("datasets fetch cora", &what);
}

#[test]
fn no_connection() {
    let lab = Lab::new();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/mirror", closed.local_addr().unwrap());
    drop(closed);
    let line = format!("datasets fetch cora --out a/b/c --from {address}/");
    let output = direct(&lab, &line).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert_eq!(error.trim_end().lines().count(), 1, "{error}");
    let asked = format!("{address}/cora.content: ");
    for what in [asked.as_str(), "refused", "--from", "cora.cites", "by hand"] {
        assert!(error.contains(what), "{what}: {error}");
    }
    assert!(lab.snapshot().is_empty(), "nothing is left");
}

#[test]
fn a_server_with_another_file() {
    let lab = Lab::new();
    let server = Server::start(b"something else", &[]);
    let line = format!("datasets fetch cora --from {}", server.file("mirror"));
    let output = direct(&lab, &line).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(
        error.contains("offers 14 bytes, expected 7823427"),
        "{error}"
    );
    assert!(lab.snapshot().is_empty(), "nothing is left");
}

#[test]
fn cora_from_a_folder() {
    let Some(cora) = cora() else {
        return;
    };
    let lab = Lab::new();
    let line = format!("datasets fetch cora --from {}", cora.join("raw").display());
    let made = lab.json(&line);
    assert_eq!(
        (&made["out"], &made["fetched"]),
        (&"cora".into(), &true.into())
    );
    assert_eq!(
        (&made["nodes"], &made["links"]),
        (&2708.into(), &5278.into())
    );
    for (file, name) in made["files"].as_array().unwrap().iter().zip(FILES) {
        assert_eq!(file["path"], format!("cora/{name}"));
        let digest = linkproof::io::digest(lab.path(&format!("cora/{name}"))).unwrap();
        assert_eq!(file["sha256"], digest);
    }
    is_cora(&lab, "cora", &cora);
    let before = lab.snapshot();
    assert_eq!(lab.json("datasets fetch cora")["fetched"], false);
    assert!(lab.ok("datasets fetch cora").contains("there already"));
    assert!(lab.snapshot() == before);
    lab.write("cora/nodes.csv", "mine");
    lab.refused("datasets fetch cora", &["cora/nodes.csv", "--force"]);
    // Its own published files serve to mend it.
    lab.ok("datasets fetch cora --from cora/raw --force");
    assert!(lab.snapshot() == before);
}

#[test]
fn cora_from_a_server_with_a_bad_line() {
    let Some(cora) = cora() else {
        return;
    };
    let raw = cora.join("raw");
    let manners = [Manner::Cut(1_000_000), Manner::Status(503)];
    let server = Server::start_with(&manners, move |path| {
        let name = path.rsplit('/').next().unwrap();
        fs::read(raw.join(name)).unwrap()
    });
    let lab = Lab::new();
    let line = format!(
        "datasets fetch cora --out data --from {}",
        server.file("cora/")
    );
    let output = direct(&lab, &line).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    is_cora(&lab, "data", &cora);
    assert_eq!(server.requests(), 4);
}
