//! A temporary folder with small data, and the program run in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};

use assert_cmd::Command;
use linkproof::data::features::Matrix;
use serde_json::Value;

/// A folder of its own for each test.
pub struct Lab {
    folder: tempfile::TempDir,
}

impl Lab {
    pub fn new() -> Lab {
        Lab {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// A folder with `links.csv`, `x.csv` and `labels.csv`: 60 nodes `n0..n59`
    /// in three groups.
    pub fn with_graph() -> Lab {
        let lab = Lab::new();
        let graph = planted(60, 3, 1);
        let name = |node: usize| format!("n{node}");
        lab.write("links.csv", links_csv(&graph.links, name));
        lab.write("x.csv", features_csv(&graph.features, name));
        let labels = (0..60).map(|node| format!("n{node},{}\n", ["a", "b", "c"][node % 3]));
        lab.write("labels.csv", labels.collect::<String>());
        lab
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::cargo_bin("linkproof").unwrap();
        command.current_dir(self.folder.path());
        command.args(line.split_whitespace());
        command
    }

    /// Starts and does not wait; standard error can be read.
    pub fn start(&self, line: &str) -> Child {
        std::process::Command::new(assert_cmd::cargo::cargo_bin("linkproof"))
            .args(line.split_whitespace())
            .current_dir(self.folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    pub fn run(&self, line: &str) -> Output {
        self.command(line).output().unwrap()
    }

    /// Runs and expects success; returns standard output.
    pub fn ok(&self, line: &str) -> String {
        let output = self.run(line);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{line}\n{errors}");
        assert_eq!(errors, "", "{line}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs with `--json` and expects one object, alone on one line.
    pub fn json(&self, line: &str) -> Value {
        let text = self.ok(&format!("{line} --json"));
        assert_eq!(text.lines().count(), 1, "{text}");
        let value: Value = serde_json::from_str(&text).unwrap();
        assert!(value.is_object(), "{text}");
        value
    }

    /// Runs and expects exit code 2, one paragraph of error that names all of
    /// `what`, and nothing written.
    pub fn refused(&self, line: &str, what: &[&str]) {
        self.ends_with(2, line, what);
    }

    /// As [`Lab::refused`] with another exit code.
    pub fn ends_with(&self, code: i32, line: &str, what: &[&str]) {
        let before = self.snapshot();
        let output = self.run(line);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{line}\n{errors}");
        assert!(errors.starts_with("error: "), "{line}\n{errors}");
        assert_eq!(errors.trim_end().lines().count(), 1, "{line}\n{errors}");
        for what in what {
            assert!(
                errors.contains(what),
                "{line}\nexpected {what} in\n{errors}"
            );
        }
        assert_eq!(output.stdout, b"", "{line}");
        assert!(self.snapshot() == before, "{line} left something behind");
    }

    /// Every file below the folder with its content, and every folder.
    pub fn snapshot(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path.clone());
                    found.insert(path, None);
                } else {
                    let content = fs::read(&path).unwrap();
                    found.insert(path, Some(content));
                }
            }
        }
        found
    }

    /// Writes an `.npy` file of any header.
    pub fn write_npy_with(&self, name: &str, header: &str, numbers: &[u8]) {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16 + 1).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.push(b'\n');
        bytes.extend(numbers);
        self.write(name, bytes);
    }

    pub fn write_npy(&self, name: &str, rows: &[Vec<f64>]) {
        let values: Vec<f64> = rows.iter().flatten().copied().collect();
        linkproof::io::write_npy(self.path(name), rows.len(), rows[0].len(), &values).unwrap();
    }

    pub fn read_npy(&self, name: &str) -> (usize, usize, Vec<f64>) {
        read_npy(&self.path(name))
    }
}

pub fn read_npy(path: &Path) -> (usize, usize, Vec<f64>) {
    let matrix = linkproof::io::read_npy(path).unwrap();
    let (n, k) = (matrix.n_rows(), matrix.n_columns());
    let Matrix::Dense(dense) = matrix else {
        panic!("sparse")
    };
    let values = (0..n * k).map(|place| dense.values().get(place)).collect();
    (n, k, values)
}

/// Numbers that look random and are always the same.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Numbers {
        Numbers(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    /// The next number between 0 and 1.
    pub fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

pub struct Planted {
    pub links: Vec<(usize, usize, f64)>,
    pub features: Vec<Vec<f64>>,
}

/// A graph of `groups` groups (node `i` is in group `i % groups`), and data
/// vectors that tell the groups apart.
pub fn planted(n: usize, groups: usize, seed: u64) -> Planted {
    let mut random = Numbers::new(seed);
    let inside = 6.0 * groups as f64 / n as f64;
    let mut links = Vec::new();
    for i in 0..n {
        for j in i + 1..n {
            let chance = if i % groups == j % groups {
                inside
            } else {
                inside / 20.0
            };
            if random.next() < chance {
                links.push((i, j, 1.0));
            }
        }
    }
    let features = (0..n)
        .map(|node| {
            let entry = |column: usize| f64::from(u8::from(node % groups == column));
            (0..groups + 2)
                .map(|column| entry(column) + 0.3 * (random.next() - 0.5))
                .collect()
        })
        .collect();
    Planted { links, features }
}

pub fn links_csv(links: &[(usize, usize, f64)], name: impl Fn(usize) -> String) -> String {
    let mut text = "src,dst,weight\n".to_owned();
    for &(i, j, weight) in links {
        text.push_str(&format!("{},{},{weight}\n", name(i), name(j)));
    }
    text
}

pub fn features_csv(features: &[Vec<f64>], name: impl Fn(usize) -> String) -> String {
    let row = |(node, row): (usize, &Vec<f64>)| {
        let numbers: Vec<String> = row.iter().map(f64::to_string).collect();
        format!("{},{}\n", name(node), numbers.join(","))
    };
    features.iter().enumerate().map(row).collect()
}
