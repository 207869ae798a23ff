//! Settings in a TOML file, by the names of the options of `fit`.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use linkproof::error::{Style, quote, shown_path};
use linkproof::io::read_text;
use linkproof::params::{Kind, Param};
use linkproof::{Error, Params};
use serde::Deserialize;
use toml::de::DeTable;

/// Reads settings; those that the file does not name are the defaults.
pub fn read(path: &Path) -> Result<Params, Error> {
    let text = read_text(path)?;
    parse(&text).map_err(|wrong| wrong.in_file(path, &text))
}

/// The settings that a file has, each with its line.
pub fn names(path: &Path) -> Result<Vec<(Param, u64)>, Error> {
    let text = read_text(path)?;
    let table = DeTable::parse(&text).map_err(|error| Wrong::from(error).in_file(path, &text))?;
    let names = table.get_ref().keys().filter_map(|name| {
        let param = Param::named(name.get_ref())?;
        let before = text.get(..name.span().start)?;
        Some((param, before.matches('\n').count() as u64 + 1))
    });
    Ok(names.collect())
}

/// A setting in a file that cannot be.
#[derive(Debug)]
pub struct InConfig {
    path: PathBuf,
    line: u64,
    error: Error,
}

impl InConfig {
    /// An error of the setting on a line.
    pub fn new(path: &Path, line: u64, error: Error) -> InConfig {
        let path = path.to_owned();
        InConfig { path, line, error }
    }
}

impl fmt::Display for InConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, line) = (shown_path(&self.path), self.line);
        write!(
            f,
            "{path}, line {line}: {}",
            self.error.in_style(Style::Toml)
        )
    }
}

impl std::error::Error for InConfig {}

/// What is wrong, and where.
struct Wrong {
    span: Option<Range<usize>>,
    message: String,
}

impl Wrong {
    fn in_file(self, path: &Path, text: &str) -> Error {
        let Some(span) = self.span else {
            return Error::input(path, None, self.message, EXPECTED);
        };
        let before = text.get(..span.start).unwrap_or(text);
        let line = before.matches('\n').count();
        let shown = text.lines().nth(line).unwrap_or_default().trim();
        let found = format!("{} ({})", quote(shown), self.message);
        Error::input(path, line as u64 + 1, found, EXPECTED)
    }
}

const EXPECTED: &str = "the names and values of the options of 'linkproof fit' as TOML";

impl From<toml::de::Error> for Wrong {
    fn from(error: toml::de::Error) -> Wrong {
        Wrong {
            span: error.span(),
            message: error.message().to_owned(),
        }
    }
}

fn parse(text: &str) -> Result<Params, Wrong> {
    let mut table = DeTable::parse(text)?;
    // Text where a file would have numbers or lists is read as on the command line:
    // "auto", "a:b,c:d" or "VIEW=KIND".
    let mut spelled = Vec::new();
    for &param in Param::ALL {
        let is_choice = matches!(param.setting().kind, Kind::Choice(_));
        let entries = table.get_mut();
        let is_text = entries
            .get(param.name())
            .is_some_and(|value| value.get_ref().is_str());
        if is_text && (!is_choice || param == Param::Encoder) {
            spelled.extend(entries.remove(param.name()).map(|value| (param, value)));
        }
    }
    let mut params = Params::deserialize(toml::de::Deserializer::from(table))?;
    for (param, value) in spelled {
        let text = value.get_ref().as_str().unwrap_or_default();
        params.set(param, text).map_err(|message| Wrong {
            span: Some(value.span()),
            message,
        })?;
    }
    Ok(params)
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkproof::params::{EncoderKind, ScoreKind};

    #[test]
    fn names_are_those_of_the_options() {
        let params = parse(
            "dim = 8\nscore = \"likelihood\"\nlambda = \"auto\"\nview-pairs = \"a:b,b:b\"\n\
             encoder = \"mlp\"\nhidden = [3, 4]\nbatch-norm = true\n[view-encoders]\na = \"table\"\n",
        );
        let Ok(params) = params else {
            panic!("refused")
        };
        assert_eq!((params.dim, params.score), (8, ScoreKind::Likelihood));
        assert_eq!(params.encoder, Some(EncoderKind::Mlp));
        assert_eq!(params.view_encoders["a"], EncoderKind::Table);
        let pairs = [("a", "b"), ("b", "b")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(params.view_pairs, Some(pairs.to_vec()));
        assert_eq!(params.beta, Params::default().beta);
    }

    #[test]
    fn errors_name_line_and_field() {
        for (text, line, what) in [
            ("dim = 8\nbetta = 1\n", 2, "betta"),
            ("\n\ndim = \"x\"\n", 3, "dim"),
            ("dim = 8\nscore = \"best\"\n", 2, "score"),
            ("lambda = \"none\"\n", 1, "expected a number, or 'auto'"),
            ("dim = = 8\n", 1, "dim"),
            ("dim = 8\ndim = 9\n", 2, "dim"),
        ] {
            let Err(wrong) = parse(text) else {
                panic!("{text}")
            };
            let error = wrong.in_file(Path::new("c.toml"), text).to_string();
            assert!(
                error.starts_with(&format!("c.toml, line {line}:")),
                "{error}"
            );
            assert!(error.contains(what), "{error}");
        }
    }
}
