//! What messages speak of, and how a front end names it. The library writes the
//! sentences; a command line, a file of settings and Python each spell names their own
//! way.

use crate::schema::{EncoderKind, Param, any_of};

/// What an error is about ([example](super::Error)).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Subject {
    /// A setting of a fit.
    Param(Param),
    /// Another argument, by its name in kebab case.
    Argument(&'static str),
    /// The links.
    Links,
    /// Data vectors, of all nodes or of a view.
    Features {
        /// The view, where it is known.
        view: Option<String>,
    },
    /// Anything else that was handed over, in words.
    Data(String),
}

impl From<Param> for Subject {
    fn from(param: Param) -> Subject {
        Subject::Param(param)
    }
}

impl From<&str> for Subject {
    fn from(what: &str) -> Subject {
        Subject::Data(what.to_owned())
    }
}

impl From<String> for Subject {
    fn from(what: String) -> Subject {
        Subject::Data(what)
    }
}

impl Subject {
    /// In the words of a front end.
    pub fn told(&self, dialect: &dyn Dialect) -> String {
        if let Some(words) = dialect.subject(self) {
            return words;
        }
        match self {
            Subject::Param(param) => dialect.name(param.name()),
            Subject::Argument(name) => dialect.name(name),
            Subject::Links => "links".to_owned(),
            Subject::Features { view: None } => "features".to_owned(),
            Subject::Features { view: Some(view) } => format!("features of view '{view}'"),
            Subject::Data(what) => what.clone(),
        }
    }
}

/// What a user can do about an error ([example](super::Error)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Drop self-links.
    DropSelfLinks,
    /// Say what becomes of repeated pairs.
    MergeDuplicates,
    /// Symmetrise a matrix, or say how to.
    Symmetrise,
    /// Look for a header line or for other ids.
    CheckIds,
    /// Take links out, or give data vectors to more nodes.
    LeaveOut,
    /// Make weights smaller.
    TameWeights,
    /// Fit to the pattern of links, whatever the sign of their weights.
    FitPattern,
    /// Take shorter steps or hold the weights back.
    Steady,
    /// Leave more links to train on.
    TrainOnMore,
    /// Take part with other pairs of views.
    OtherViewPairs,
    /// Take fewer folds.
    FewerFolds,
    /// Give data vectors, or name the encoder for other views only.
    TableForView,
    /// Choose the exact solver.
    ExactSolver,
    /// Fit with an encoder of data vectors.
    FitWithVectors,
    /// Fit with averages over links.
    FitWithPropagation,
    /// Replace what a folder holds.
    Overwrite,
    /// Choose another format.
    OtherFormat,
    /// Give unseen nodes ids of their own.
    OwnIds,
    /// Fit anew instead of bringing a model up to date.
    FitAgain,
    /// Give the ids of data vectors.
    GiveIds,
    /// Give data vectors of new nodes.
    GiveVectors,
    /// Take less memory, or allow more.
    LessMemory,
    /// Unpack a file first, or allow it to become larger.
    UnpackMore,
}

/// An amount of memory in words.
pub fn in_bytes(bytes: u64) -> String {
    let scaled = |unit: f64| {
        let number = bytes as f64 / unit;
        match number < 10.0 {
            true => format!("{}", (number * 10.0).round() / 10.0),
            false => format!("{number:.0}"),
        }
    };
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", scaled(1e3)),
        1_000_000..1_000_000_000 => format!("{} MB", scaled(1e6)),
        _ => format!("{} GB", scaled(1e9)),
    }
}

impl Remedy {
    /// In the words of a front end.
    pub fn told(self, dialect: &dyn Dialect) -> String {
        if let Some(words) = dialect.remedy(self) {
            return words;
        }
        let (name, with) = (
            |name: &str| dialect.name(name),
            |name: &str, values: &[&str]| dialect.with(name, values),
        );
        match self {
            Remedy::DropSelfLinks => format!("or set {}", with("self-links", &["drop"])),
            Remedy::MergeDuplicates => {
                format!("or set {}", with("duplicates", &["sum", "max", "first"]))
            }
            Remedy::Symmetrise => format!("or set {}", with("duplicates", &["sum", "max"])),
            Remedy::CheckIds => {
                "is there a header line, or are other ids used in the links?".to_owned()
            }
            Remedy::LeaveOut => {
                "take the links of nodes without data vectors out, or give these nodes \
                                 data vectors, of zeros where nothing is known"
                    .to_owned()
            }
            Remedy::TameWeights => format!(
                "divide all weights by a constant, set {}, or take {}, which an absurd weight does \
                 not move",
                with("weights", &["log1p"]),
                with("score", &["probability"])
            ),
            Remedy::FitPattern => format!(
                "set {} or {}: both fit which pairs are linked, and tell sizes of either sign \
                 apart from that",
                with("weights", &["binary"]),
                with("robust", &["true"])
            ),
            Remedy::Steady => format!(
                "try a smaller {}, a larger {} or {}",
                name("learning-rate"),
                name("ridge"),
                with("clip", &["1"])
            ),
            Remedy::TrainOnMore => format!(
                "give more links, a smaller {} or other {}",
                name("validation"),
                name("view-pairs")
            ),
            Remedy::OtherViewPairs => {
                format!("or a model fitted with other {}", name("view-pairs"))
            }
            Remedy::LessMemory => format!(
                "set a smaller {}, {}, or a larger {} if there is more",
                name("dim"),
                with("solver", &["sgd"]),
                name("max-memory")
            ),
            Remedy::UnpackMore => format!(
                "if it is meant to be so large, unpack it first, or set a larger {}",
                name("max-unpacked")
            ),
            Remedy::FewerFolds => format!("or set fewer {}", name("folds")),
            Remedy::TableForView => {
                "give them data vectors, or set it for other views only".to_owned()
            }
            Remedy::ExactSolver => format!("or set {}", with("solver", &["exact"])),
            Remedy::FitWithVectors => {
                let kinds = EncoderKind::ALL.iter().filter(|kind| kind.reads_vectors());
                let names: Vec<&str> = kinds.map(|kind| kind.name()).collect();
                format!("fit with {}", with("encoder", &names))
            }
            Remedy::FitWithPropagation => format!("fit with {}", name("propagate")),
            Remedy::Overwrite => {
                format!("{} replaces it as a whole", with("force", &["true"]))
            }
            Remedy::OwnIds => format!(
                "give the unseen nodes other ids, by {} or {}",
                name("nodes"),
                name("new-nodes")
            ),
            Remedy::FitAgain => "fit again, to all links".to_owned(),
            Remedy::GiveIds => format!("give them by {}", name("nodes")),
            Remedy::GiveVectors => {
                format!("give the data vectors of new nodes by {}", name("features"))
            }
            Remedy::OtherFormat => format!("or set another {}", name("format")),
        }
    }
}

/// How a front end names what its users give ([example](super::Error)).
pub trait Dialect {
    /// An argument, by its name in kebab case.
    fn name(&self, name: &str) -> String;

    /// An argument with a value, or with one of several; `true` alone for a flag.
    fn with(&self, name: &str, values: &[&str]) -> String;

    /// What chooses settings without labels.
    fn selection(&self) -> &str;

    /// Words of its own for what an error is about.
    fn subject(&self, _: &Subject) -> Option<String> {
        None
    }

    /// Words of its own for a remedy.
    fn remedy(&self, _: Remedy) -> Option<String> {
        None
    }
}

/// The library's own words: the names of fields ([example](super::Error)).
#[derive(Debug, Clone, Copy, Default)]
pub struct Fields;

impl Dialect for Fields {
    fn name(&self, name: &str) -> String {
        name.replace('-', "_")
    }

    fn with(&self, name: &str, values: &[&str]) -> String {
        format!("{} = {}", self.name(name), any_of(values))
    }

    fn selection(&self) -> &str {
        "select"
    }
}

/// Shows and stores what has a method `told` in the library's own words.
macro_rules! in_words {
    ($kind:ty) => {
        impl std::fmt::Display for $kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.told(&$crate::error::Fields))
            }
        }

        impl serde::Serialize for $kind {
            fn serialize<S: serde::Serializer>(
                &self,
                to: S,
            ) -> std::result::Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }
    };
}
pub(crate) use in_words;
