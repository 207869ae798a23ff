//! Keeps the house rules true: crates and modules import what the picture in
//! ARCHITECTURE.md shows and nothing else, files stay short, and no library panics,
//! prints or speaks of command-line options.

// The helpers of a test may fail the test.
#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates of the house, and which of them each is built from.
const CRATES: [(&str, &[&str]); 9] = [
    ("numeric", &[]),
    ("method", &["numeric"]),
    ("cuda", &["method", "numeric"]),
    ("text", &["method"]),
    ("files", &["method", "text"]),
    ("pictures", &["method", "numeric", "text"]),
    ("lab", &["files", "method", "numeric", "pictures"]),
    ("linkproof", &["files", "method", "text"]),
    ("cli", &["cuda", "lab", "linkproof", "pictures"]),
];

/// The modules of the method, and which of them each imports: no more, no fewer.
fn listed() -> BTreeMap<String, BTreeSet<String>> {
    let entry = |line: &str| {
        let mut words = line.split_whitespace().map(str::to_owned);
        let module = words.next().unwrap();
        (module.trim_end_matches(':').to_owned(), words.collect())
    };
    include_str!("imports.txt").lines().map(entry).collect()
}

/// What stands apart in the room of the engine.
const ENGINE: [&str; 3] = ["encoder", "objective", "pairs"];

const MAX_LINES: usize = 500;

/// What library code must not contain; tests may.
const FORBIDDEN: [&str; 4] = ["unwrap()", "expect(", "panic!(", "println!("];

/// Whether a line names an option of a command line.
fn names_option(line: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_lowercase();
    line.contains('"')
        && line
            .split("--")
            .skip(1)
            .any(|rest| rest.starts_with(is_letter))
}

struct Source {
    crate_name: &'static str,
    path: PathBuf,
    text: String,
}

impl Source {
    /// The module that the file belongs to: its room and its name there. None for
    /// the roots of crates and of rooms, which only list what is inside.
    fn module(&self) -> Option<String> {
        let parts: Vec<&str> = self
            .path
            .iter()
            .map(|part| part.to_str().unwrap())
            .collect();
        let stem = |part: &str| part.trim_end_matches(".rs").to_owned();
        let rooms = ["data", "engine"];
        match parts.as_slice() {
            ["lib.rs"] => None,
            ["engine", "mod.rs"] => Some("engine".into()),
            [room, "mod.rs"] if rooms.contains(room) => None,
            ["engine", module, ..] if !ENGINE.contains(&stem(module).as_str()) => {
                Some("engine".into())
            }
            [room, module, ..] if rooms.contains(room) => Some(format!("{room}::{}", stem(module))),
            ["model", "folds.rs"] => Some("model::folds".into()),
            [module, ..] => Some(stem(module)),
            [] => None,
        }
    }

    /// Whether the file holds nothing but tests.
    fn is_test(&self) -> bool {
        let stem = self.path.file_stem().and_then(|stem| stem.to_str());
        stem.is_some_and(|stem| stem == "tests" || stem.ends_with("_tests"))
            || self.path.iter().any(|part| part == "tests")
    }

    /// The lines before the tests, without line comments.
    fn code(&self) -> Vec<&str> {
        if self.is_test() {
            return Vec::new();
        }
        let before_tests = |line: &&str| {
            let line = line.trim_start();
            !(line.starts_with("mod tests") || line.starts_with("pub(crate) mod tests"))
        };
        let lines = self.text.lines().take_while(before_tests);
        let comment = |line: &str| line.trim_start().starts_with("//");
        lines
            .map(|line| if comment(line) { "" } else { line })
            .collect()
    }
}

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn sources() -> Vec<Source> {
    let mut found = Vec::new();
    for (crate_name, _) in CRATES {
        let root = crates().join(crate_name).join("src");
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let text = fs::read_to_string(&path).unwrap();
                    let path = path.strip_prefix(&root).unwrap().to_owned();
                    found.push(Source {
                        crate_name,
                        path,
                        text,
                    });
                }
            }
        }
    }
    found.sort_by(|a, b| (a.crate_name, &a.path).cmp(&(b.crate_name, &b.path)));
    assert!(!found.is_empty());
    found
}

/// The paths that some code names by `crate::`, alone or as a list in braces, as
/// far as they are modules.
fn imports(code: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for (place, start) in code.match_indices("crate::") {
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        if !code[..place].ends_with(is_word) {
            branches("", &code[place + start.len()..], &mut paths);
        }
    }
    paths
}

/// Adds the paths of `a::{b::C, d}` behind a prefix; returns what follows them.
fn branches<'c>(prefix: &str, code: &'c str, paths: &mut Vec<String>) -> &'c str {
    if let Some(mut list) = code.strip_prefix('{') {
        loop {
            list = branches(prefix, list.trim_start(), paths).trim_start();
            match list.strip_prefix(',') {
                Some(rest) => list = rest.trim_start(),
                None => return list.strip_prefix('}').unwrap_or(list),
            }
            if let Some(rest) = list.strip_prefix('}') {
                return rest;
            }
        }
    }
    let end = code.find(|c: char| !c.is_alphanumeric() && c != '_');
    let (name, rest) = code.split_at(end.unwrap_or(code.len()));
    match rest.strip_prefix("::") {
        Some(rest) if name.starts_with(|c: char| c.is_lowercase()) => {
            branches(&format!("{prefix}{name}::"), rest, paths)
        }
        _ => {
            paths.push(format!("{prefix}{name}"));
            rest
        }
    }
}

#[test]
fn crates_are_built_from_what_the_picture_shows() {
    for (name, allowed) in CRATES {
        let manifest = fs::read_to_string(crates().join(name).join("Cargo.toml")).unwrap();
        let dependencies = manifest.split("\n[dependencies]").nth(1).unwrap_or("");
        let dependencies = dependencies.split("\n[").next().unwrap();
        let found: BTreeSet<&str> = dependencies
            .lines()
            .filter_map(|line| line.strip_prefix("linkproof"))
            .map(|line| line.split(['.', ' ']).next().unwrap())
            .map(|name| name.strip_prefix('-').unwrap_or("linkproof"))
            .collect();
        assert_eq!(found, allowed.iter().copied().collect(), "crates/{name}");
    }
}

#[test]
fn modules_import_what_the_picture_shows() {
    let modules: BTreeSet<String> = sources()
        .iter()
        .filter(|source| source.crate_name == "method")
        .filter_map(Source::module)
        .collect();
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in sources() {
        let (Some(module), "method") = (source.module(), source.crate_name) else {
            continue;
        };
        let entry = found.entry(module.clone()).or_default();
        for path in imports(&source.code().join("\n")) {
            if path.starts_with("support") {
                continue;
            }
            let inside = |name: &&String| path == **name || path.starts_with(&format!("{name}::"));
            let target = modules.iter().filter(inside).max_by_key(|name| name.len());
            let target = target.unwrap_or_else(|| {
                let file = source.path.display();
                panic!("{file} imports crate::{path}: say which module it is from")
            });
            if *target != module {
                entry.insert(target.clone());
            }
        }
    }
    let lines = found.iter().map(|(module, imports)| {
        let imports: Vec<&str> = imports.iter().map(String::as_str).collect();
        format!("{module}: {}", imports.join(" "))
    });
    let lines = lines.collect::<Vec<_>>().join("\n");
    assert_eq!(found, listed(), "imports.txt as it would be true:\n{lines}");
}

/// No module imports, by others or itself, what imports it.
#[test]
fn imports_run_in_one_direction() {
    let mut left = listed();
    while !left.is_empty() {
        let free: Vec<String> = left
            .iter()
            .filter(|(_, imports)| imports.iter().all(|import| !left.contains_key(import)))
            .map(|(module, _)| module.clone())
            .collect();
        assert!(!free.is_empty(), "a circle among {:?}", left.keys());
        left.retain(|module, _| !free.contains(module));
    }
}

#[test]
fn files_stay_short() {
    for source in sources().iter().filter(|source| !source.is_test()) {
        let n_lines = source.text.lines().count();
        assert!(
            n_lines <= MAX_LINES,
            "crates/{}/src/{}: {n_lines} lines; past {MAX_LINES}, split it by concept",
            source.crate_name,
            source.path.display()
        );
    }
}

#[test]
fn libraries_neither_panic_nor_print_nor_speak_of_options() {
    let mut faults = Vec::new();
    for source in sources().iter().filter(|source| source.crate_name != "cli") {
        for (number, line) in (1..).zip(source.code()) {
            let (name, path) = (source.crate_name, source.path.display());
            for word in FORBIDDEN.iter().filter(|word| line.contains(**word)) {
                faults.push(format!("crates/{name}/src/{path}, line {number}: {word}"));
            }
            // Experiments are named by the commands that they stand for.
            if name != "lab" && names_option(line) {
                faults.push(format!(
                    "crates/{name}/src/{path}, line {number}: an option"
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn imports_are_recognised() {
    let code = "use crate::error::{Error, Result};\n\
                use crate::{data::{graph::Graph, ids}, model::fit};\n\
                let x = crate::score::value(1); $crate::skipped::x; mycrate::skipped::y;\n\
                use crate::Error;";
    let expected = [
        "error::Error",
        "error::Result",
        "data::graph::Graph",
        "data::ids",
        "model::fit",
        "score::value",
        "Error",
    ];
    assert_eq!(imports(code), expected);
}

/// The bodies of the `proptest!` blocks of a text.
fn property_blocks(text: &str) -> Vec<&str> {
    let starts = text.match_indices("proptest! {");
    let block = |(place, head): (usize, &str)| {
        let body = &text[place + head.len()..];
        let mut depth = 1;
        let end = body.find(|c: char| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            depth == 0
        });
        // This file names the macro too.
        end.map(|end| &body[..end])
    };
    starts.filter_map(block).collect()
}

#[test]
fn property_tests_have_a_fixed_seed_and_run_on_fresh_cases_too() {
    let makefile = fs::read_to_string(crates().join("../Makefile")).unwrap();
    let mut texts: Vec<String> = sources().into_iter().map(|source| source.text).collect();
    for name in ["theory.rs", "measure.rs"] {
        texts.push(fs::read_to_string(crates().join("method/tests").join(name)).unwrap());
    }
    let mut found = 0;
    for text in &texts {
        for block in property_blocks(text) {
            assert!(
                block.contains("cases("),
                "no config of tests/support: {block}"
            );
            let tests = block.lines();
            for test in tests.filter_map(|line| line.trim_start().strip_prefix("fn ")) {
                let end = test.find(|c: char| !c.is_alphanumeric() && c != '_');
                let name = &test[..end.unwrap()];
                assert!(makefile.contains(name), "{name} is not in the Makefile");
                found += 1;
            }
        }
    }
    assert!(found >= 10, "{found}");
}

/// The files of the library, and of the Python package, whose code has some words.
fn files_with(words: &str) -> Vec<String> {
    let mut found: Vec<String> = sources()
        .iter()
        .filter(|source| source.code().iter().any(|line| line.contains(words)))
        .map(|source| format!("{}/{}", source.crate_name, source.path.display()))
        .collect();
    for entry in fs::read_dir(crates().join("../python/src")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() && fs::read_to_string(&path).unwrap().contains(words) {
            found.push(format!("python/{}", path.file_name().unwrap().display()));
        }
    }
    found.sort();
    found
}

#[test]
fn one_place_calls_the_optimizers() {
    let train = ["method/engine/solve/mod.rs"];
    // First-order steps, L-BFGS on an engine, and the engine that a precision needs.
    assert_eq!(files_with("engine.step("), train);
    assert_eq!(files_with("backend.single("), train);
    assert_eq!(files_with("backend.double("), train);
    let descents = [train[0], "method/engine/solve/lbfgs.rs"];
    let mut found = files_with("Descent::start(");
    found.sort_by_key(|path| path.ends_with("lbfgs.rs"));
    assert_eq!(found, descents);
    // An update has an objective of its own: vectors that move against all others.
    assert_eq!(files_with("minimize(&"), ["method/update/local.rs"]);
}

#[test]
fn no_error_waits_in_a_mutex() {
    for words in [
        "Mutex<Option<Error>>",
        "Mutex<Option<PyErr>>",
        "Mutex<Result<",
    ] {
        assert_eq!(files_with(words), [""; 0], "{words}");
    }
}
