//! How a message spells what its reader gives: an option, an entry of a file, an argument.

use crate::choice::any_of;

/// How messages spell settings and commands.
///
/// ```
/// use linkproof::error::Style;
///
/// let hint = "try a smaller {learning-rate}, or {clip=1}";
/// assert_eq!(Style::Rust.spell(hint), "try a smaller learning_rate, or clip = 1");
/// assert_eq!(Style::Cli.spell(hint), "try a smaller --learning-rate, or --clip 1");
/// assert_eq!(Style::Toml.spell("{score=moment}"), "score = \"moment\"");
/// assert_eq!(Style::Python.spell("set {solver=exact|sgd}"), "set solver=\"exact\" or \"sgd\"");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// Fields of Rust's types.
    #[default]
    Rust,
    /// Options of the command line.
    Cli,
    /// Entries of a file of settings.
    Toml,
    /// Keywords of Python.
    Python,
}

impl Style {
    /// An argument, by its name in kebab case.
    pub fn name(self, name: &str) -> String {
        match (self, name) {
            (Style::Cli | Style::Toml, "selection") => "'linkproof select'".to_owned(),
            (Style::Cli, _) => format!("--{name}"),
            (Style::Toml, _) => name.to_owned(),
            (Style::Rust, "selection") => "select".to_owned(),
            (Style::Python, "selection") => "linkproof.select".to_owned(),
            (Style::Python, "lambda") => "lambda_".to_owned(),
            (Style::Python, "seed") => "random_state".to_owned(),
            (Style::Python, "force") => "overwrite".to_owned(),
            (Style::Python, "view-encoders") => "encoder".to_owned(),
            (Style::Python, "max-memory") => "LINKPROOF_MAX_MEMORY in the environment".to_owned(),
            (Style::Python, "max-unpacked") => {
                "LINKPROOF_MAX_UNPACKED in the environment".to_owned()
            }
            _ => name.replace('-', "_"),
        }
    }

    /// An argument with a value, or with one of several; `true` alone for a flag.
    pub fn with(self, name: &str, values: &[&str]) -> String {
        let name = self.name(name);
        let quoted = values.iter().map(|value| match *value {
            "true" if self == Style::Python => "True".to_owned(),
            bare if matches!(self, Style::Rust | Style::Cli) => bare.to_owned(),
            number if number.parse::<f64>().is_ok() => number.to_owned(),
            text => format!("\"{text}\""),
        });
        let values = any_of(&quoted.collect::<Vec<_>>());
        match self {
            Style::Cli if values == "true" => name,
            Style::Cli => format!("{name} {values}"),
            Style::Python => format!("{name}={values}"),
            Style::Rust | Style::Toml => format!("{name} = {values}"),
        }
    }

    /// A text whose braces hold arguments, `{ridge}`, and arguments with one of some
    /// values, `{weights=log1p|binary}`. `{selection}` is the search for settings.
    pub fn spell(self, template: &str) -> String {
        let mut text = String::new();
        for (place, part) in template.split(['{', '}']).enumerate() {
            text += &match part.split_once('=') {
                _ if place % 2 == 0 => part.to_owned(),
                None => self.name(part),
                Some((name, values)) => self.with(name, &values.split('|').collect::<Vec<_>>()),
            };
        }
        text
    }
}

/// What an error is about ([example](super::Error)).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Subject {
    /// A setting of a fit or another argument, by its name in kebab case.
    Argument(&'static str),
    /// The links.
    Links,
    /// Data vectors, of all nodes or of a view.
    Features {
        /// The view, if it is known.
        view: Option<String>,
    },
    /// Anything else that was handed over, in words.
    Data(String),
}

impl<S: Into<String>> From<S> for Subject {
    fn from(what: S) -> Subject {
        Subject::Data(what.into())
    }
}

impl Subject {
    /// As a front end calls it.
    pub fn in_style(&self, style: Style) -> String {
        match (self, style) {
            (Subject::Argument(name), _) => style.name(name),
            (Subject::Links, _) => "links".to_owned(),
            (Subject::Features { view: None }, Style::Python) => "X".to_owned(),
            (Subject::Features { view: None }, _) => "features".to_owned(),
            (Subject::Features { view: Some(view) }, Style::Python) => {
                format!("X[{}]", super::quote(view))
            }
            (Subject::Features { view: Some(view) }, _) => format!("features of view '{view}'"),
            (Subject::Data(what), _) => what.clone(),
        }
    }
}

/// An amount of memory in words.
pub fn in_bytes(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..1_000 => return format!("{bytes} bytes"),
        1_000..1_000_000 => (1e3, "kB"),
        1_000_000..1_000_000_000 => (1e6, "MB"),
        _ => (1e9, "GB"),
    };
    match bytes as f64 / unit {
        number if number < 10.0 => format!("{} {name}", (number * 10.0).round() / 10.0),
        number => format!("{number:.0} {name}"),
    }
}
