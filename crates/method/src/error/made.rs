//! How errors are made.

use std::fmt;
use std::io;
use std::path::Path;

use super::{Error, Subject};

impl Error {
    /// Wrong content at a line of a file.
    pub fn input(
        path: &Path,
        line: impl Into<Option<u64>>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Error::Input {
            path: path.to_owned(),
            line: line.into(),
            found: found.into(),
            expected: expected.into(),
            remedy: None,
        }
    }

    /// Wrong data in memory.
    pub fn data(
        subject: impl Into<Subject>,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Self {
        Error::Data {
            subject: subject.into(),
            found: found.into(),
            expected: expected.into(),
            remedy: None,
        }
    }

    /// Wrong links in memory.
    pub fn links(found: impl Into<String>, expected: impl Into<String>) -> Self {
        Error::data(Subject::Links, found, expected)
    }

    /// Wrong data vectors in memory.
    pub fn features(found: impl Into<String>, expected: impl Into<String>) -> Self {
        Error::data(Subject::Features { view: None }, found, expected)
    }

    /// Something given that must be something else, in words that follow "must be".
    pub fn param(
        subject: impl Into<Subject>,
        accepted: impl Into<String>,
        given: impl fmt::Display,
    ) -> Self {
        Error::Param {
            subject: subject.into(),
            accepted: accepted.into(),
            given: given.to_string(),
            remedy: None,
        }
    }

    /// The same of a setting or another argument, by its name in kebab case.
    pub fn argument(
        name: &'static str,
        accepted: impl Into<String>,
        given: impl fmt::Display,
    ) -> Self {
        Error::param(Subject::Argument(name), accepted, given)
    }

    /// The same error with what can be done about it, as [`Style::spell`](super::Style::spell)
    /// reads it, if it has a place for that.
    pub fn or(mut self, what: &'static str) -> Self {
        if let Error::Output { remedy, .. }
        | Error::Input { remedy, .. }
        | Error::Data { remedy, .. }
        | Error::Param { remedy, .. } = &mut self
        {
            *remedy = Some(what);
        }
        self
    }

    /// An input file that cannot be read.
    pub fn read(path: &Path, source: io::Error) -> Self {
        Error::Read {
            path: path.to_owned(),
            source,
        }
    }

    /// An output file that cannot be written.
    pub fn write(path: &Path, source: io::Error) -> Self {
        Error::Write {
            path: path.to_owned(),
            source,
        }
    }
}
