//! Keeps the house rules true: imports run in one direction, files stay short,
//! and the library neither panics nor prints.

// The helpers of a test may fail the test.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

/// Each top-level module and its layer. A module may import from modules of
/// lower layers and from itself.
const LAYERS: [(&str, u32); 32] = [
    ("error", 0),
    ("buffer", 0),
    ("math", 0),
    ("processor", 1),
    ("real", 2),
    ("ids", 1),
    ("measure", 1),
    ("drawing", 1),
    ("graph", 3),
    ("features", 3),
    ("layout", 3),
    ("params", 4),
    ("dataset", 5),
    ("score", 5),
    ("io", 6),
    ("pairs", 6),
    ("encoder", 6),
    ("transform", 6),
    ("objective", 7),
    ("engine", 8),
    ("runtime", 9),
    ("solve", 10),
    ("model", 11),
    ("inspect", 12),
    ("folds", 12),
    ("audit", 13),
    ("select", 13),
    ("judge", 13),
    ("smooth", 14),
    ("report", 14),
    ("robust", 15),
    ("experiment", 16),
];

const MAX_LINES: usize = 500;

/// The experiments, whose rows are named after commands.
const OF_COMMANDS: &str = "experiment";

/// What library code must not contain; tests may.
const FORBIDDEN: [&str; 4] = ["unwrap()", "expect(", "panic!(", "println!("];

struct Source {
    path: PathBuf,
    text: String,
}

impl Source {
    /// The top-level module that the file belongs to; none for `lib.rs`.
    fn module(&self) -> Option<String> {
        let first = self.path.components().next()?;
        let name = Path::new(first.as_os_str()).file_stem()?.to_str()?;
        (name != "lib").then(|| name.to_owned())
    }

    /// Whether the file holds nothing but tests.
    fn is_test(&self) -> bool {
        let stem = self.path.file_stem().and_then(|stem| stem.to_str());
        stem.is_some_and(|stem| stem == "tests" || stem.ends_with("_tests"))
    }

    /// The lines before the tests, without line comments.
    fn code(&self) -> Vec<&str> {
        if self.is_test() {
            return Vec::new();
        }
        self.text
            .lines()
            .take_while(|line| !line.trim_start().starts_with("mod tests"))
            .map(|line| match line.trim_start().starts_with("//") {
                true => "",
                false => line,
            })
            .collect()
    }
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![root.clone()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let path = path.strip_prefix(&root).unwrap().to_owned();
                found.push(Source { path, text });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(!found.is_empty());
    found
}

fn layer(module: &str) -> Option<u32> {
    let entry = LAYERS.iter().find(|(name, _)| *name == module);
    entry.map(|(_, layer)| *layer)
}

/// The top-level modules that some code names by `crate::`, alone or as a list
/// in braces.
fn imports(code: &str) -> Vec<String> {
    let mut modules = Vec::new();
    for (place, path) in code.match_indices("crate::") {
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        if code[..place].ends_with(is_word) {
            continue;
        }
        let rest = &code[place + path.len()..];
        match rest.strip_prefix('{') {
            Some(list) => modules.extend(list_heads(list)),
            None => modules.push(head(rest)),
        }
    }
    // Upper-case names are re-exports at the crate's root; macros end in `!`.
    modules.retain(|name| name.starts_with(|c: char| c.is_lowercase()));
    modules
}

fn head(text: &str) -> String {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    text[..end.unwrap_or(text.len())].to_owned()
}

/// The first name of each item of `a::x, b::{y, z}, c}`.
fn list_heads(list: &str) -> Vec<String> {
    let mut heads = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (place, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' | ',' if depth == 0 => {
                heads.push(head(list[start..place].trim_start()));
                start = place + 1;
                if c == '}' {
                    break;
                }
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    heads
}

#[test]
fn imports_run_in_one_direction() {
    let mut faults = Vec::new();
    for source in sources() {
        let Some(module) = source.module() else {
            continue;
        };
        let Some(own) = layer(&module) else {
            faults.push(format!(
                "module `{module}` ({}) has no layer: add it to LAYERS in tests/architecture.rs",
                source.path.display()
            ));
            continue;
        };
        for import in imports(&source.code().join("\n")) {
            let fault = match layer(&import) {
                _ if import == module => continue,
                Some(other) if other < own => continue,
                Some(other) => format!("of layer {other}, which is not below {own}"),
                None => "which has no layer: add it to LAYERS".to_owned(),
            };
            faults.push(format!(
                "{}: `{module}` imports `{import}`, {fault}",
                source.path.display()
            ));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn files_stay_short() {
    for source in sources() {
        let n_lines = source.text.lines().count();
        assert!(
            n_lines <= MAX_LINES,
            "{}: {n_lines} lines; past {MAX_LINES}, split it by concept",
            source.path.display()
        );
    }
}

#[test]
fn the_library_neither_panics_nor_prints() {
    let mut faults = Vec::new();
    for source in sources() {
        for (number, line) in (1..).zip(source.code()) {
            for word in FORBIDDEN.iter().filter(|word| line.contains(**word)) {
                let path = source.path.display();
                faults.push(format!("{path}, line {number}: `{word}` in library code"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn imports_are_recognised() {
    let code = "use crate::error::{Error, Result};\n\
                use crate::{graph::Graph, io::{self, npy}, ids};\n\
                let x = crate::score::value(1); $crate::skipped::x; mycrate::skipped::y;\n\
                use crate::Error;";
    assert_eq!(imports(code), ["error", "graph", "io", "ids", "score"]);
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
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let makefile = fs::read_to_string(root.join("../../Makefile")).unwrap();
    let mut texts: Vec<String> = sources().into_iter().map(|source| source.text).collect();
    for name in ["theory", "measure"] {
        let path = root.join("tests").join(name).with_extension("rs");
        texts.push(fs::read_to_string(path).unwrap());
    }
    let mut found = 0;
    for text in &texts {
        for block in property_blocks(text) {
            assert!(
                block.contains("cases("),
                "no config of tests/support: {block}"
            );
            let tests = block
                .lines()
                .filter_map(|line| line.trim_start().strip_prefix("fn "));
            for test in tests {
                let name = head(test);
                assert!(makefile.contains(&name), "{name} is not in the Makefile");
                found += 1;
            }
        }
    }
    assert!(found >= 10, "{found}");
}

/// The library names settings by their fields; options are the words of the command
/// line.
#[test]
fn no_text_speaks_of_options() {
    let mut found = Vec::new();
    for source in sources() {
        if source.module().as_deref() == Some(OF_COMMANDS) {
            continue;
        }
        for (number, line) in source.code().iter().enumerate() {
            let mut places = line.match_indices("--");
            let is_option = |(place, _): (usize, &str)| {
                let before = line[..place].chars().next_back();
                let after = line[place + 2..].chars().next();
                before.is_none_or(|c| " \"(`'".contains(c))
                    && after.is_some_and(|c| c.is_ascii_lowercase())
            };
            if places.any(is_option) {
                found.push(format!("{}:{}", source.path.display(), number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{found:?}");
}
