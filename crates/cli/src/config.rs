//! Settings in a TOML file, by the names of the options of `fit`: each entry is read as
//! that option would be.

use std::error::Error as _;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, value_parser};
use linkproof::error::{Style, any_of, quote, shown_path};
use linkproof::io::read_text;
use linkproof::{Error, Params};
use toml::de::{DeTable, DeValue};

use crate::settings::{apply, options};

const EXPECTED: &str = "the names and values of the options of 'linkproof fit' as TOML";

/// A setting in a file.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its name.
    pub name: String,
    path: PathBuf,
    line: u64,
    /// The line, as it stands there.
    text: String,
    /// The same as options.
    options: Vec<String>,
}

/// The entries of a file.
pub fn read(path: &Path) -> Result<Vec<Entry>, Error> {
    parse(path, &read_text(path)?)
}

fn parse(path: &Path, text: &str) -> Result<Vec<Entry>, Error> {
    let line = |span: Range<usize>| {
        let before = text.get(..span.start).unwrap_or(text);
        let line = before.matches('\n').count();
        let shown = text.lines().nth(line).unwrap_or_default().trim();
        (line as u64 + 1, shown.to_owned())
    };
    let table = DeTable::parse(text).map_err(|error| match error.span() {
        None => Error::input(path, None, error.message(), EXPECTED),
        Some(span) => {
            let (line, shown) = line(span);
            wrong(path, line, &shown, error.message())
        }
    })?;
    let entries = table.get_ref().iter().map(|(name, value)| {
        let (line, text) = line(name.span());
        let name = name.get_ref().to_string();
        Entry {
            options: as_options(&name, value.get_ref()),
            name,
            path: path.to_owned(),
            line,
            text,
        }
    });
    Ok(entries.collect())
}

fn wrong(path: &Path, line: u64, shown: &str, message: &str) -> Error {
    Error::input(
        path,
        line,
        format!("{} ({message})", quote(shown)),
        EXPECTED,
    )
}

fn as_options(name: &str, value: &DeValue<'_>) -> Vec<String> {
    match value {
        DeValue::Table(encoders) if name == "view-encoders" => {
            let option = |(view, kind): (_, &toml::Spanned<DeValue<'_>>)| {
                format!("--encoder={view}={}", words(kind.get_ref(), ","))
            };
            let named = encoders.iter().map(|(view, kind)| (view.get_ref(), kind));
            named.map(option).collect()
        }
        value => vec![format!("--{name}={}", words(value, ","))],
    }
}

/// A value as it would be typed: lists with commas, lists in lists with colons.
fn words(value: &DeValue<'_>, between: &str) -> String {
    match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Datetime(time) => time.to_string(),
        DeValue::Array(values) => {
            let words = values.iter().map(|value| words(value.get_ref(), ":"));
            words.collect::<Vec<String>>().join(between)
        }
        DeValue::Table(_) => "a table".to_owned(),
    }
}

impl Entry {
    /// Where it stands.
    pub fn place(&self) -> String {
        format!("{}, line {}", shown_path(&self.path), self.line)
    }

    /// Makes it a setting.
    pub fn apply(&self, params: &mut Params) -> Result<(), Error> {
        let seed = Arg::new("seed").long("seed");
        let command = Command::new("settings")
            .no_binary_name(true)
            .disable_help_flag(true)
            .args(options())
            .arg(seed.value_parser(value_parser!(u64)));
        let read = command.try_get_matches_from(&self.options);
        let read = read.and_then(|options| {
            params.seed = *options.get_one("seed").unwrap_or(&params.seed);
            apply(params, &options)
        });
        read.map_err(|error| wrong(&self.path, self.line, &self.text, &reason(&error)))
    }
}

/// Why an entry is no option.
fn reason(error: &clap::Error) -> String {
    match (error.kind(), error.source()) {
        (ErrorKind::UnknownArgument, _) => match error.get(ContextKind::SuggestedArg) {
            Some(ContextValue::String(option)) => {
                format!(
                    "no setting; did you mean '{}'?",
                    option.trim_start_matches('-')
                )
            }
            _ => "no setting has this name".to_owned(),
        },
        (_, Some(source)) => source.to_string(),
        _ => match error.get(ContextKind::ValidValue) {
            Some(ContextValue::Strings(names)) => format!("expected {}", any_of(names)),
            _ => error.kind().to_string(),
        },
    }
}

/// A setting in a file that cannot be.
#[derive(Debug)]
pub struct InConfig {
    place: String,
    error: Error,
}

impl InConfig {
    /// An error of an entry.
    pub fn new(entry: &Entry, error: Error) -> InConfig {
        let place = entry.place();
        InConfig { place, error }
    }
}

impl fmt::Display for InConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.error.in_style(Style::Toml))
    }
}

impl std::error::Error for InConfig {}

#[cfg(test)]
mod tests {
    use super::*;
    use linkproof::params::{EncoderKind, ScoreKind};

    fn settings(text: &str) -> Result<Params, Error> {
        let mut params = Params::default();
        for entry in parse(Path::new("c.toml"), text)? {
            entry.apply(&mut params)?;
        }
        Ok(params)
    }

    #[test]
    fn names_are_those_of_the_options() {
        let text = "dim = 8\nscore = \"likelihood\"\nlambda = \"auto\"\nview-pairs = \"a:b,b:b\"\n\
                    encoder = \"mlp\"\nhidden = [3, 4]\nbatch-norm = true\nridge = 1e-3\nseed = 9\n\
                    [view-encoders]\na = \"table\"\n";
        let params = settings(text).unwrap();
        assert_eq!((params.dim, params.score), (8, ScoreKind::Likelihood));
        assert_eq!(params.encoder, Some(EncoderKind::Mlp));
        assert_eq!(params.view_encoders["a"], EncoderKind::Table);
        let pairs = [("a", "b"), ("b", "b")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        assert_eq!(params.view_pairs, Some(pairs.to_vec()));
        assert_eq!(params.mlp.hidden, [3, 4]);
        assert_eq!((params.ridge, params.seed), (Some(0.001), 9));
        assert_eq!(params.beta, Params::default().beta);
        // Settings are read as they are written.
        let written = toml::to_string(&params).unwrap();
        assert_eq!(settings(&written).unwrap(), params, "{written}");
        let defaults = toml::to_string(&Params::default()).unwrap();
        assert_eq!(settings(&defaults).unwrap(), Params::default());
    }

    #[test]
    fn damaged_files_are_refused_by_name() {
        let whole = "dim = 3\nscore = \"moment\"\nhidden = [5, 4]\nlambda = \"auto\"\n# c\n\
                     encoder = \"a=mlp\"\nview-pairs = [[\"a\", \"b\"]]\n[view-encoders]\nb = 1\n";
        for place in 0..whole.len() {
            for put in ["", "\"", "[", "=", "\n", "9"] {
                let damaged = format!("{}{put}{}", &whole[..place], &whole[place + 1..]);
                let error = settings(&damaged).unwrap_err().to_string();
                assert!(error.starts_with("c.toml, line "), "{damaged}\n{error}");
            }
        }
    }

    #[test]
    fn errors_name_line_and_field() {
        for (text, line, what) in [
            (
                "dim = 8\nbetta = 1\n",
                2,
                "'betta = 1' (no setting; did you mean 'beta'?)",
            ),
            (
                "\n\ndim = \"x\"\n",
                3,
                "'dim = \"x\"' (expected a whole number of 0 or more)",
            ),
            (
                "dim = 8\nscore = \"best\"\n",
                2,
                "expected moment, probability or likelihood",
            ),
            ("lambda = \"none\"\n", 1, "expected a number, or 'auto'"),
            ("batch-norm = 1\n", 1, "expected true or false"),
            ("dim = = 8\n", 1, "dim"),
            ("dim = 8\ndim = 9\n", 2, "dim"),
            ("dim = { a = 3 }\n", 1, "dim"),
        ] {
            let error = settings(text).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("c.toml, line {line}:")),
                "{error}"
            );
            assert!(error.contains(what), "{error}");
        }
    }
}
