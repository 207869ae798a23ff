//! Options that several commands share, as typed.

pub use linkproof::params::typed::{real, whole};

use clap::Args;
use linkproof::Fitted;
use linkproof::data::graph::{Duplicates, Ends, LinkRules, SelfLinks};
use linkproof::error::quote;
use linkproof::io::ViewFile;

use crate::exit::Usage;

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-.:/@=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// How listed links become a graph.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Inputs")]
pub struct LinkRuleArgs {
    /// What to do with a pair that is listed more than once
    #[arg(long, value_name = "RULE", default_value = "error")]
    duplicates: Duplicates,
    /// What to do with a link from a node to itself
    #[arg(long, value_name = "RULE", default_value = "error")]
    self_links: SelfLinks,
}

impl LinkRuleArgs {
    /// The rules that are not the usual ones, as options.
    pub fn typed(&self) -> String {
        let mut text = String::new();
        if self.duplicates != Duplicates::default() {
            text.push_str(&format!(" --duplicates {}", self.duplicates));
        }
        if self.self_links != SelfLinks::default() {
            text.push_str(&format!(" --self-links {}", self.self_links));
        }
        text
    }

    /// As the reader of links wants it.
    pub fn rules(&self) -> LinkRules {
        LinkRules {
            duplicates: self.duplicates,
            self_links: self.self_links,
            ends: Ends::Alike,
        }
    }

    /// The same for links between nodes of a model, whose ends are what they are there.
    pub fn rules_of(&self, model: &Fitted) -> LinkRules {
        LinkRules {
            ends: match model.ids().sides() {
                Some(sides) if sides.same => Ends::Directed,
                Some(_) => Ends::Bipartite,
                None => Ends::Alike,
            },
            ..self.rules()
        }
    }
}

/// Refuses files that do not go together: one without a view, or one for each view.
pub fn check_views(flag: &str, files: &[ViewFile]) -> Result<(), Usage> {
    let (named, plain): (Vec<_>, Vec<_>) = files.iter().partition(|file| file.view.is_some());
    if plain.len() > 1 || (!plain.is_empty() && !named.is_empty()) {
        return Err(Usage::new(format!(
            "{flag}: several files need the names of their views: {flag} NAME=FILE"
        )));
    }
    for (place, file) in named.iter().enumerate() {
        if named[..place].iter().any(|other| other.view == file.view) {
            let name = quote(file.view.as_deref().unwrap_or_default());
            return Err(Usage::new(format!(
                "{flag}: view {name} is given more than once"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn feature_files_with_and_without_a_view() {
        let parse = |text: &str| text.parse::<ViewFile>().unwrap();
        let named = parse("text=dir/x.npy");
        assert_eq!(named.view.as_deref(), Some("text"));
        assert_eq!(named.path, Path::new("dir/x.npy"));
        assert_eq!(parse("x.npy").view, None);
        assert_eq!(parse("=x").path, Path::new("=x"));
        assert!("text=".parse::<ViewFile>().is_err());
        let folder = tempfile::tempdir().unwrap();
        let odd = folder.path().join("a=b.npy");
        std::fs::write(&odd, "").unwrap();
        let found = parse(odd.to_str().unwrap());
        assert_eq!((found.view, found.path), (None, odd));
    }
}
