//! The values of settings: how they are written, and which are accepted; and choices,
//! which are sets of names.

use std::collections::BTreeMap;

/// A closed set of names.
#[macro_export]
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$variant_doc])* #[serde(rename = $text)] $variant),+ }

        impl $name {
            /// Every choice.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The name used in files and on the command line.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;
            fn from_str(text: &str) -> std::result::Result<Self, String> {
                match text {
                    $($text => Ok($name::$variant),)+
                    _ => Err(format!("expected {}", $crate::schema::any_of(&[$($text),+]))),
                }
            }
        }

        impl $crate::schema::Value for $name {
            const KIND: $crate::schema::Kind = $crate::schema::Kind::Choice(&[$($text),+]);
            fn read(text: &str) -> std::result::Result<Self, String> {
                text.parse()
            }
            fn show(&self) -> String {
                self.name().to_owned()
            }
        }
    };
}

pub use choice;

/// What the value of a setting is ([example](crate::params)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A whole number.
    Count,
    /// Whole numbers, as `300,100`.
    Counts,
    /// A number.
    Real,
    /// Yes or no.
    Flag,
    /// One of some names.
    Choice(&'static [&'static str]),
    /// Pairs of views, as `a:b,c:d`.
    ViewPairs,
    /// A choice for each of some views, as `a=mlp,b=table`.
    ByView(&'static [&'static str]),
}

/// The numbers that a setting accepts ([example](crate::params)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// Any.
    Any,
    /// These and those between them.
    Between(f64, f64),
    /// This and larger ones.
    AtLeast(f64),
    /// 0 or more and below 1.
    Share,
    /// Finite numbers above 0.
    Positive,
}

impl Range {
    /// Whether a number is accepted; NaN never is.
    pub(crate) fn holds(self, number: f64) -> bool {
        match self {
            Range::Any => true,
            Range::Between(least, most) => (least..=most).contains(&number),
            Range::AtLeast(least) => number >= least && number.is_finite(),
            Range::Share => (0.0..1.0).contains(&number),
            Range::Positive => number > 0.0 && number.is_finite(),
        }
    }
}

/// What is accepted, in words that follow "must be".
pub(super) fn accepted(kind: Kind, range: Range) -> String {
    match (kind, range) {
        (Kind::Count, Range::Between(a, b)) => format!("a whole number from {a} to {b}"),
        (Kind::Count, Range::AtLeast(a)) => format!("a whole number of {a} or more"),
        (Kind::Count, _) => "a whole number".to_owned(),
        (Kind::Counts, Range::Between(a, b)) => format!("whole numbers from {a} to {b}"),
        (Kind::Counts, _) => "whole numbers".to_owned(),
        (Kind::Real, Range::Between(a, b)) => format!("between {a} and {b}"),
        (Kind::Real, Range::AtLeast(a)) => format!("a finite number of {a} or more"),
        (Kind::Real, Range::Share) => "at least 0 and below 1".to_owned(),
        (Kind::Real, Range::Positive) => "a finite number above 0".to_owned(),
        (Kind::Real, Range::Any) => "a number".to_owned(),
        (Kind::Flag, _) => "true or false".to_owned(),
        (Kind::Choice(names), _) => any_of(names),
        (Kind::ViewPairs, _) => "pairs of views".to_owned(),
        (Kind::ByView(names), _) => format!("{} for each view", any_of(names)),
    }
}

/// `a, b or c`.
pub fn any_of<S: AsRef<str>>(values: &[S]) -> String {
    let mut text = String::new();
    for (place, value) in values.iter().enumerate() {
        text.push_str(match place {
            0 => "",
            place if place + 1 == values.len() => " or ",
            _ => ", ",
        });
        text.push_str(value.as_ref());
    }
    text
}

/// A type of values.
pub trait Value: Sized {
    /// What they are.
    const KIND: Kind;
    /// Whether one may be left open, written `auto`.
    const OPTIONAL: bool = false;
    /// Reads one as it is written on a command line.
    fn read(text: &str) -> Result<Self, String>;
    /// Writes it so.
    fn show(&self) -> String;
    /// The numbers in it.
    fn numbers(&self) -> Vec<f64> {
        Vec::new()
    }
}

/// A whole number.
fn whole<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    let number = text.trim().parse();
    number.map_err(|_| "expected a whole number of 0 or more".to_owned())
}

macro_rules! whole_value {
    ($($kind:ty),+) => {$(
        impl Value for $kind {
            const KIND: Kind = Kind::Count;
            fn read(text: &str) -> Result<Self, String> {
                whole(text)
            }
            fn show(&self) -> String {
                self.to_string()
            }
            fn numbers(&self) -> Vec<f64> {
                vec![*self as f64]
            }
        }
    )+};
}
whole_value!(usize, u64);

impl Value for f64 {
    const KIND: Kind = Kind::Real;
    fn read(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| "expected a number".to_owned())
    }
    fn show(&self) -> String {
        self.to_string()
    }
    fn numbers(&self) -> Vec<f64> {
        vec![*self]
    }
}

impl Value for bool {
    const KIND: Kind = Kind::Flag;
    fn read(text: &str) -> Result<Self, String> {
        text.parse()
            .map_err(|_| "expected true or false".to_owned())
    }
    fn show(&self) -> String {
        self.to_string()
    }
}

impl<T: Value> Value for Option<T> {
    const KIND: Kind = T::KIND;
    const OPTIONAL: bool = true;
    fn read(text: &str) -> Result<Self, String> {
        match (text, T::KIND) {
            ("auto", _) => Ok(None),
            (_, Kind::Count | Kind::Real) => T::read(text)
                .map(Some)
                .map_err(|message| format!("{message}, or 'auto'")),
            _ => T::read(text).map(Some),
        }
    }
    fn show(&self) -> String {
        self.as_ref().map_or_else(|| "auto".to_owned(), T::show)
    }
    fn numbers(&self) -> Vec<f64> {
        self.as_ref().map(T::numbers).unwrap_or_default()
    }
}

impl Value for Vec<usize> {
    const KIND: Kind = Kind::Counts;
    fn read(text: &str) -> Result<Self, String> {
        text.split(',').map(whole).collect()
    }
    fn show(&self) -> String {
        let widths: Vec<String> = self.iter().map(usize::to_string).collect();
        widths.join(",")
    }
    fn numbers(&self) -> Vec<f64> {
        self.iter().map(|&width| width as f64).collect()
    }
}

impl Value for Vec<(String, String)> {
    const KIND: Kind = Kind::ViewPairs;
    fn read(text: &str) -> Result<Self, String> {
        let pair = |text: &str| match text.trim().split_once(':') {
            Some((a, b)) if !a.is_empty() && !b.is_empty() && !b.contains(':') => {
                Ok((a.to_owned(), b.to_owned()))
            }
            _ => Err("expected pairs of views, such as a:b,c:d".to_owned()),
        };
        text.split(',').map(pair).collect()
    }
    fn show(&self) -> String {
        let pairs: Vec<String> = self.iter().map(|(a, b)| format!("{a}:{b}")).collect();
        pairs.join(",")
    }
}

impl<T: Value> Value for BTreeMap<String, T> {
    const KIND: Kind = match T::KIND {
        Kind::Choice(names) => Kind::ByView(names),
        other => other,
    };
    fn read(text: &str) -> Result<Self, String> {
        let entry = |text: &str| match text.rsplit_once('=') {
            Some((view, kind)) if !view.is_empty() => Ok((view.to_owned(), T::read(kind)?)),
            _ => Err("expected VIEW=KIND".to_owned()),
        };
        text.split(',').map(entry).collect()
    }
    fn show(&self) -> String {
        let entries = self
            .iter()
            .map(|(view, value)| format!("{view}={}", value.show()));
        entries.collect::<Vec<String>>().join(",")
    }
}
