//! The one error type of the library. Every variant carries its data, so that
//! a caller can act on it and a message can name file, line, value and fix.

mod made;
mod shown;
mod words;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use linkproof_numeric::processor::UnknownInstructions;

pub use shown::{path as shown_path, plain, quote, shown, shown_line};
pub use words::in_bytes;
pub(crate) use words::in_words;
pub use words::{Dialect, Fields, Remedy, Subject};

pub use crate::schema::any_of;

/// What `linkproof` functions return.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong.
///
/// ```
/// use linkproof::error::{Dialect, Error, Remedy, Subject};
/// use linkproof::params::Param;
///
/// let error = Error::param(Param::LearningRate, "a finite number above 0", -1.0);
/// assert!(matches!(error, Error::Param { subject: Subject::Param(Param::LearningRate), .. }));
/// // In the library's own words, and in those of a front end.
/// let said = "learning_rate must be a finite number above 0, but is -1";
/// assert_eq!(error.to_string(), said);
/// struct Options;
/// impl Dialect for Options {
///     fn name(&self, name: &str) -> String {
///         format!("--{name}")
///     }
///     fn with(&self, name: &str, values: &[&str]) -> String {
///         format!("--{name} {}", values.join("|"))
///     }
///     fn selection(&self) -> &str {
///         "--select"
///     }
/// }
/// assert!(error.told(&Options).starts_with("--learning-rate must be"));
/// assert_eq!(Remedy::ExactSolver.told(&Options), "or set --solver exact");
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// An input file could not be opened or read.
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Writing an output failed midway (disk full, say); the old output is intact.
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The place chosen for an output cannot be used.
    Output {
        /// The file or folder.
        path: PathBuf,
        /// What is the matter with it.
        found: String,
        /// What would do instead.
        expected: String,
        /// What to do about it.
        remedy: Option<Remedy>,
    },
    /// The content of an input file is wrong.
    Input {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1, where the format has lines.
        line: Option<u64>,
        /// What stands there.
        found: String,
        /// What should.
        expected: String,
        /// What to do about it.
        remedy: Option<Remedy>,
    },
    /// Data handed over in memory is wrong.
    Data {
        /// What it is.
        subject: Subject,
        /// What it holds.
        found: String,
        /// What it should.
        expected: String,
        /// What to do about it.
        remedy: Option<Remedy>,
    },
    /// A link names a node that has no data vector.
    UnknownNode {
        /// The id, as written.
        id: String,
        /// How many nodes of the links have none.
        missing: usize,
        /// How many nodes the links have.
        of: usize,
        /// The file of the links and the line of the first such link, if they are known.
        file: Option<(PathBuf, Option<u64>)>,
    },
    /// A pair of nodes is listed more than once.
    DuplicateLink {
        /// One end, as written.
        src: String,
        /// The other end.
        dst: String,
        /// The weight of the first listing.
        first: f64,
        /// The weight of the second.
        second: f64,
        /// The places of both in the list of links.
        listed: [usize; 2],
    },
    /// A matrix of links differs from its mirror image.
    Asymmetric {
        /// The row, as written.
        src: String,
        /// The column.
        dst: String,
        /// The entry there; 0 where none is stored.
        forward: f64,
        /// The entry on the other side of the diagonal.
        backward: f64,
    },
    /// A setting, or another argument, is outside its accepted range.
    Param {
        /// Which one.
        subject: Subject,
        /// What it must be.
        accepted: String,
        /// What it is.
        given: String,
        /// What to do about it.
        remedy: Option<Remedy>,
    },
    /// The environment asks for instructions that the machine does not have.
    Instructions {
        /// What was asked for.
        given: String,
        /// What there is, separated by commas.
        here: String,
    },
    /// A device cannot compute, or no longer can.
    Device {
        /// Which one.
        device: String,
        /// What is the matter with it, and what would do.
        found: String,
    },
    /// Work on another machine failed.
    Backend {
        /// Why. What a Python program raises there travels as it is.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A weight with which the arithmetic of a fit leaves the range of numbers.
    TooHeavy {
        /// One end, as written.
        src: String,
        /// The other end.
        dst: String,
        /// The largest weight.
        weight: f64,
        /// What all weights may add up to.
        limit: f64,
        /// The precision of the fit: single or double.
        precision: &'static str,
    },
    /// A negative weight where a fit is to weights themselves.
    Negative {
        /// One end, as written.
        src: String,
        /// The other end.
        dst: String,
        /// The weight.
        weight: f64,
    },
    /// The optimisation left the range of numbers.
    Diverged {
        /// The step at which it was noticed.
        step: usize,
        /// What was seen.
        detail: String,
    },
    /// A fit would need more memory than there is.
    Memory {
        /// The bytes that it would hold, about.
        needed: u64,
        /// The bytes that it can.
        available: u64,
        /// What says so.
        by: String,
    },
    /// The caller's observer asked to stop.
    Interrupted {
        /// The last finished step.
        step: usize,
    },
}

/// A line of a file, or all of it.
fn place_in_file(path: &Path, line: Option<u64>) -> String {
    let line = line.map_or_else(String::new, |line| format!(", line {line}"));
    shown_path(path) + &line
}

/// What is wrong with some data: what it is, what was found and expected, what to do.
type Wrong = (Subject, String, String, Option<Remedy>);

fn found_expected(
    place: &str,
    (found, expected): (&str, &str),
    remedy: Option<Remedy>,
    dialect: &dyn Dialect,
) -> String {
    let (found, expected) = (shown(found), shown(expected));
    let remedy = in_brackets(remedy, dialect);
    format!("{place}: found {found}; expected {expected}{remedy}")
}

fn in_brackets(remedy: Option<Remedy>, dialect: &dyn Dialect) -> String {
    remedy.map_or_else(String::new, |remedy| format!(" ({})", remedy.told(dialect)))
}

impl From<UnknownInstructions> for Error {
    fn from(unknown: UnknownInstructions) -> Self {
        Error::Instructions {
            given: unknown.given,
            here: unknown.here,
        }
    }
}

impl Error {
    /// The message in the words of a front end.
    pub fn told(&self, dialect: &dyn Dialect) -> String {
        if let Some((subject, found, expected, remedy)) = self.wrong() {
            let subject = match self {
                Error::UnknownNode {
                    file: Some((path, line)),
                    ..
                } => place_in_file(path, *line),
                _ => subject.told(dialect),
            };
            return found_expected(&shown(&subject), (&found, &expected), remedy, dialect);
        }
        match self {
            Error::Read { path, source } => {
                format!("{}: cannot be read: {source}", shown_path(path))
            }
            Error::Write { path, source } => format!(
                "{}: cannot be written: {source}; what stood there before is untouched",
                shown_path(path)
            ),
            Error::Output {
                path,
                found,
                expected,
                remedy,
            } => format!(
                "{}: {}; {}{}",
                shown_path(path),
                shown(found),
                shown(expected),
                in_brackets(*remedy, dialect)
            ),
            Error::Input {
                path,
                line,
                found,
                expected,
                remedy,
            } => {
                let place = place_in_file(path, *line);
                found_expected(&place, (found, expected), *remedy, dialect)
            }
            Error::Param {
                subject,
                accepted,
                given,
                remedy,
            } => format!(
                "{} must be {}, but is {}{}",
                subject.told(dialect),
                shown(accepted),
                shown(given),
                in_brackets(*remedy, dialect)
            ),
            Error::Instructions { given, here } => format!(
                "LINKPROOF_INSTRUCTIONS={}: this machine does not have it; expected one of {here}, \
                 or the variable unset",
                quote(given)
            ),
            Error::Device { device, found } => format!("{device}: {}", shown(found)),
            Error::Backend { source } => {
                format!(
                    "work on another machine failed: {}",
                    shown(&source.to_string())
                )
            }
            Error::Diverged { step, detail } => format!(
                "the fit diverged at step {step}: {detail}; {}",
                Remedy::Steady.told(dialect)
            ),
            Error::Memory {
                needed,
                available,
                by,
            } => format!(
                "the fit needs about {} of memory, and {} can be had ({}); {}",
                in_bytes(*needed),
                in_bytes(*available),
                shown(by),
                Remedy::LessMemory.told(dialect)
            ),
            Error::Interrupted { step } => {
                format!("stopped by the user after step {step}; nothing was written")
            }
            // These are wrong data, told above.
            Error::Data { .. }
            | Error::UnknownNode { .. }
            | Error::DuplicateLink { .. }
            | Error::Asymmetric { .. }
            | Error::TooHeavy { .. }
            | Error::Negative { .. } => String::new(),
        }
    }

    /// What is wrong, where it is data in memory.
    fn wrong(&self) -> Option<Wrong> {
        let links = |found: String, expected: &str, remedy| {
            (Subject::Links, found, expected.to_owned(), Some(remedy))
        };
        Some(match self {
            Error::Data {
                subject,
                found,
                expected,
                remedy,
            } => (subject.clone(), found.clone(), expected.clone(), *remedy),
            Error::UnknownNode {
                id, missing, of, ..
            } => {
                let (others, remedy) = match missing {
                    0 | 1 => (String::new(), Remedy::CheckIds),
                    _ if missing == of => (
                        format!(" (none of the {of} nodes of the links has one)"),
                        Remedy::CheckIds,
                    ),
                    _ => (
                        format!(" ({missing} of the {of} nodes of the links have none)"),
                        Remedy::LeaveOut,
                    ),
                };
                links(
                    format!("node {}, which has no data vector{others}", quote(id)),
                    "only ids of nodes with data vectors, or of the list of nodes",
                    remedy,
                )
            }
            Error::DuplicateLink {
                src,
                dst,
                first,
                second,
                ..
            } => links(
                format!(
                    "the pair {}, {} more than once (weights {first} and {second})",
                    quote(src),
                    quote(dst)
                ),
                "each pair once",
                Remedy::MergeDuplicates,
            ),
            Error::Asymmetric {
                src,
                dst,
                forward,
                backward,
            } => links(
                format!(
                    "a matrix that is not symmetric: {forward} from {} to {} and {backward} back",
                    quote(src),
                    quote(dst)
                ),
                "a symmetric or a triangular matrix",
                Remedy::Symmetrise,
            ),
            Error::TooHeavy {
                src,
                dst,
                weight,
                limit,
                precision,
            } => links(
                format!(
                    "weight {weight:e} between {} and {}",
                    quote(src),
                    quote(dst)
                ),
                &format!(
                    "weights that add up to {limit:e} at most, as a fit in {precision} precision \
                     needs"
                ),
                Remedy::TameWeights,
            ),
            Error::Negative { src, dst, weight } => links(
                format!("weight {weight} between {} and {}", quote(src), quote(dst)),
                "weights of zero or more, as a fit to weights needs",
                Remedy::FitPattern,
            ),
            _ => return None,
        })
    }

    /// Says in which file, and on which line, wrong data stands; other errors stay as
    /// they are.
    pub fn in_file(self, path: &Path, line: impl Into<Option<u64>>) -> Error {
        match self.wrong() {
            Some((_, found, expected, remedy)) => Error::Input {
                path: path.to_owned(),
                line: line.into(),
                found,
                expected,
                remedy,
            },
            None => self,
        }
    }

    /// Whether the caller's input or parameters are at fault (exit code 2)
    /// rather than the run itself (exit code 1).
    pub fn is_bad_input(&self) -> bool {
        !matches!(
            self,
            Error::Write { .. }
                | Error::Device { .. }
                | Error::Backend { .. }
                | Error::Diverged { .. }
                | Error::Memory { .. }
                | Error::Interrupted { .. }
        )
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told(&Fields))
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Read { source, .. } | Error::Write { source, .. } => Some(source),
            Error::Backend { source } => Some(&**source),
            _ => None,
        }
    }
}
