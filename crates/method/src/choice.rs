//! Choices: closed sets of names, and lists of names in words.

/// A closed set of names.
#[macro_export]
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
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
                    _ => Err(format!("expected {}", $crate::choice::any_of(&[$($text),+]))),
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
                struct Names;
                impl serde::de::Visitor<'_> for Names {
                    type Value = $name;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(&$crate::choice::any_of(&[$($text),+]))
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> std::result::Result<$name, E> {
                        let wrong = |_| E::invalid_value(serde::de::Unexpected::Str(text), &self);
                        text.parse().map_err(wrong)
                    }
                }
                from.deserialize_str(Names)
            }
        }

        $crate::value_enum!($name);
    };
}

pub use choice;

/// A choice as the value of an option, with its names as the possible ones.
#[cfg(feature = "clap")]
#[macro_export]
macro_rules! value_enum {
    ($name:ident) => {
        impl $crate::clap::ValueEnum for $name {
            fn value_variants<'a>() -> &'a [Self] {
                Self::ALL
            }
            fn to_possible_value(&self) -> Option<$crate::clap::builder::PossibleValue> {
                Some(self.name().into())
            }
        }
    };
}

/// Nothing: without a command line a choice is a name.
#[cfg(not(feature = "clap"))]
#[macro_export]
macro_rules! value_enum {
    ($name:ident) => {};
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
