//! Settings in a TOML file, by the names of the options of `fit`.

use std::ops::Range;
use std::path::Path;
use std::str::FromStr;

use linkproof::error::quote;
use linkproof::io::read_text;
use linkproof::{Error, Params};
use serde::Deserialize;
use toml::de::DeTable;

use crate::settings::{EncoderChoice, Lambda, ViewPairs};

/// Reads settings; those that the file does not name are the defaults.
pub fn read(path: &Path) -> Result<Params, Error> {
    let text = read_text(path)?;
    parse(&text).map_err(|wrong| wrong.in_file(path, &text))
}

/// The names that a file of settings has, each with its line.
pub fn names(path: &Path) -> Result<Vec<(String, u64)>, Error> {
    let text = read_text(path)?;
    let table = DeTable::parse(&text).map_err(|error| Wrong::from(error).in_file(path, &text))?;
    let names = table.get_ref().keys().map(|name| {
        let name = name.get_ref().to_string();
        let line = line_of(&text, &name).unwrap_or(1);
        (name, line)
    });
    Ok(names.collect())
}

/// Says where in a file a setting stands that cannot be.
pub fn in_file(path: &Path, error: Error) -> Error {
    let Error::Param {
        name,
        accepted,
        given,
    } = error
    else {
        return error;
    };
    // The file has been read once; without a line the message stands.
    let line = read_text(path).ok().and_then(|text| line_of(&text, name));
    Error::input(path, line, format!("{name} = {given}"), accepted)
}

/// The line on which a setting stands.
fn line_of(text: &str, name: &str) -> Option<u64> {
    let table = DeTable::parse(text).ok()?;
    let (key, _) = table.get_ref().get_key_value(name)?;
    let before = text.get(..key.span().start)?;
    Some(before.matches('\n').count() as u64 + 1)
}

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
    // These have a spelling of their own on the command line, which is
    // understood here too.
    let lambda = take_spelled::<Lambda>(table.get_mut(), "lambda")?;
    let pairs = take_spelled::<ViewPairs>(table.get_mut(), "view-pairs")?;
    let encoder = take_spelled::<EncoderChoice>(table.get_mut(), "encoder")?;
    let mut params = Params::deserialize(toml::de::Deserializer::from(table))?;
    if let Some(lambda) = lambda {
        params.lambda = lambda.0;
    }
    if let Some(pairs) = pairs {
        params.view_pairs = Some(pairs.0);
    }
    if let Some(encoder) = encoder {
        encoder.apply(&mut params);
    }
    Ok(params)
}

/// Takes an entry out of the table, if it is a string, and parses it as the
/// command line does.
fn take_spelled<T: FromStr<Err = String>>(
    table: &mut DeTable<'_>,
    name: &str,
) -> Result<Option<T>, Wrong> {
    let is_text = table
        .get(name)
        .is_some_and(|value| value.get_ref().is_str());
    let Some(value) = is_text.then(|| table.remove(name)).flatten() else {
        return Ok(None);
    };
    let text = value.get_ref().as_str().unwrap_or_default();
    text.parse().map(Some).map_err(|message| Wrong {
        span: Some(value.span()),
        message,
    })
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
            ("lambda = \"none\"\n", 1, "neither 'auto' nor"),
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
