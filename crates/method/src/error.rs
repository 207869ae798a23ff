//! The one error type of the library. Every variant carries its data, so that
//! a caller can act on it and a message can name file, line, value and fix.

mod made;
mod shown;
mod style;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use linkproof_numeric::processor::UnknownInstructions;

pub use shown::{path as shown_path, plain, quote, shown, shown_line};
pub use style::{Style, Subject, in_bytes};

pub use crate::choice::any_of;

/// What `linkproof` functions return.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong.
///
/// ```
/// use linkproof::error::{Error, Style, Subject};
///
/// let error = Error::argument("learning-rate", "a finite number above 0", -1.0);
/// assert!(matches!(error, Error::Param { subject: Subject::Argument("learning-rate"), .. }));
/// // As the fields of Rust's types, and as another front end spells settings.
/// let message = "learning_rate must be a finite number above 0, but is -1";
/// assert_eq!(error.to_string(), message);
/// assert!(error.in_style(Style::Cli).starts_with("--learning-rate must be"));
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
        /// What to do about it, as [`Style::spell`] reads it.
        remedy: Option<&'static str>,
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
        /// What to do about it, as [`Style::spell`] reads it.
        remedy: Option<&'static str>,
    },
    /// Data handed over in memory is wrong.
    Data {
        /// What it is.
        subject: Subject,
        /// What it holds.
        found: String,
        /// What it should.
        expected: String,
        /// What to do about it, as [`Style::spell`] reads it.
        remedy: Option<&'static str>,
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
        /// What to do about it, as [`Style::spell`] reads it.
        remedy: Option<&'static str>,
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

impl From<UnknownInstructions> for Error {
    fn from(unknown: UnknownInstructions) -> Self {
        let accepted = format!("one of {}, or unset, on this machine", unknown.here);
        Error::param("LINKPROOF_INSTRUCTIONS", accepted, quote(&unknown.given))
    }
}

impl Error {
    /// The message, with settings as a front end spells them.
    pub fn in_style(&self, style: Style) -> String {
        let brackets = |remedy: &Option<&str>| {
            remedy.map_or_else(String::new, |remedy| format!(" ({})", style.spell(remedy)))
        };
        let wrong = |place: &str, found: &str, expected: &str, remedy| {
            let (found, expected, remedy) = (shown(found), shown(expected), brackets(remedy));
            format!("{place}: found {found}; expected {expected}{remedy}")
        };
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
            } => {
                let (found, expected, remedy) = (shown(found), shown(expected), brackets(remedy));
                format!("{}: {found}; {expected}{remedy}", shown_path(path))
            }
            Error::Input {
                path,
                line,
                found,
                expected,
                remedy,
            } => {
                let line = line.map_or_else(String::new, |line| format!(", line {line}"));
                wrong(&(shown_path(path) + &line), found, expected, remedy)
            }
            Error::Data {
                subject,
                found,
                expected,
                remedy,
            } => wrong(&shown(&subject.in_style(style)), found, expected, remedy),
            Error::Param {
                subject,
                accepted,
                given,
                remedy,
            } => {
                let (accepted, given, remedy) = (shown(accepted), shown(given), brackets(remedy));
                let subject = subject.in_style(style);
                format!("{subject} must be {accepted}, but is {given}{remedy}")
            }
            Error::Device { device, found } => format!("{device}: {}", shown(found)),
            Error::Backend { source } => {
                format!(
                    "work on another machine failed: {}",
                    shown(&source.to_string())
                )
            }
            Error::Diverged { step, detail } => {
                let remedy = "try a smaller {learning-rate}, a larger {ridge} or {clip=1}";
                let remedy = style.spell(remedy);
                format!("the fit diverged at step {step}: {detail}; {remedy}")
            }
            Error::Memory {
                needed,
                available,
                by,
            } => format!(
                "the fit needs about {} of memory, and {} can be had ({}); {}",
                in_bytes(*needed),
                in_bytes(*available),
                shown(by),
                style.spell(
                    "set a smaller {dim}, {solver=sgd}, or a larger {max-memory} if there is more"
                )
            ),
            Error::Interrupted { step } => {
                format!("stopped by the user after step {step}; nothing was written")
            }
            of_links => {
                let links = of_links.of_links();
                links.map_or_else(String::new, |error| error.in_style(style))
            }
        }
    }

    /// An error about links as one about data, in words.
    fn of_links(&self) -> Option<Error> {
        let (found, expected, remedy) = match self {
            Error::UnknownNode {
                id, missing, of, ..
            } => {
                let ids = "is there a header line, or are other ids used in the links?";
                let (others, remedy) = match missing {
                    0 | 1 => (String::new(), ids),
                    _ if missing == of => (
                        format!(" (none of the {of} nodes of the links has one)"),
                        ids,
                    ),
                    _ => (
                        format!(" ({missing} of the {of} nodes of the links have none)"),
                        "take the links of nodes without data vectors out, or give these nodes \
                         data vectors, of zeros where nothing is known",
                    ),
                };
                (
                    format!("node {}, which has no data vector{others}", quote(id)),
                    "only ids of nodes with data vectors, or of the list of nodes".to_owned(),
                    remedy,
                )
            }
            Error::DuplicateLink {
                src,
                dst,
                first,
                second,
                ..
            } => {
                let [src, dst] = [src, dst].map(|id| quote(id));
                (
                    format!("the pair {src}, {dst} more than once (weights {first} and {second})"),
                    "each pair once".to_owned(),
                    "or set {duplicates=sum|max|first}",
                )
            }
            Error::Asymmetric {
                src,
                dst,
                forward,
                backward,
            } => {
                let [src, dst] = [src, dst].map(|id| quote(id));
                (
                    format!(
                        "a matrix that is not symmetric: {forward} from {src} to {dst} and \
                         {backward} back"
                    ),
                    "a symmetric or a triangular matrix".to_owned(),
                    "or set {duplicates=sum|max}",
                )
            }
            Error::TooHeavy {
                src,
                dst,
                weight,
                limit,
                precision,
            } => (
                format!(
                    "weight {weight:e} between {} and {}",
                    quote(src),
                    quote(dst)
                ),
                format!(
                    "weights that add up to {limit:e} at most, as a fit in {precision} precision \
                     needs"
                ),
                "divide all weights by a constant, set {weights=log1p}, or take \
                 {score=probability}, which an absurd weight does not move",
            ),
            Error::Negative { src, dst, weight } => (
                format!("weight {weight} between {} and {}", quote(src), quote(dst)),
                "weights of zero or more, as a fit to weights needs".to_owned(),
                "set {weights=binary} or {robust=true}: both fit which pairs are linked, and tell \
                 sizes of either sign apart from that",
            ),
            _ => return None,
        };
        let error = Error::links(found, expected).or(remedy);
        Some(match self {
            Error::UnknownNode {
                file: Some((path, line)),
                ..
            } => error.in_file(path, *line),
            _ => error,
        })
    }

    /// Says in which file, and on which line, wrong data stands; other errors stay as
    /// they are.
    pub fn in_file(self, path: &Path, line: impl Into<Option<u64>>) -> Error {
        match self.of_links().unwrap_or(self) {
            Error::Data {
                found,
                expected,
                remedy,
                ..
            } => Error::Input {
                path: path.to_owned(),
                line: line.into(),
                found,
                expected,
                remedy,
            },
            other => other,
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
        f.write_str(&self.in_style(Style::default()))
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
