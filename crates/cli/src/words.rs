//! How messages name what users give: options, and entries of a file of settings.

use linkproof::error::{Dialect, any_of};

/// Options of the command line.
pub struct Flags;

impl Dialect for Flags {
    fn name(&self, name: &str) -> String {
        format!("--{name}")
    }

    fn with(&self, name: &str, values: &[&str]) -> String {
        match values {
            ["true"] => self.name(name),
            values => format!("{} {}", self.name(name), any_of(values)),
        }
    }

    fn selection(&self) -> &str {
        "'linkproof select'"
    }
}

/// Entries of a file of settings.
pub struct Entries;

impl Dialect for Entries {
    fn name(&self, name: &str) -> String {
        name.to_owned()
    }

    fn with(&self, name: &str, values: &[&str]) -> String {
        let values: Vec<String> = values.iter().map(|value| format!("\"{value}\"")).collect();
        format!("{name} = {}", any_of(&values))
    }

    fn selection(&self) -> &str {
        Flags.selection()
    }
}
