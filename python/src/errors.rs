//! Errors of the library as Python's exceptions, in words for Python users.

use std::fmt::Display;
use std::str::FromStr;

use linkproof::Error;
use linkproof::error::{Dialect, Remedy, Subject, any_of, quote};
use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{
    PyFileExistsError, PyKeyboardInterrupt, PyMemoryError, PyOSError, PyRuntimeError, PyValueError,
};

create_exception!(
    linkproof,
    FitError,
    PyRuntimeError,
    "A fit that failed for numerical reasons: it left the range of numbers.\n\n\
     Data and parameters that cannot be used raise ``ValueError`` instead."
);

/// The exception for an error: `OSError` for files, `FitError` for numbers that
/// ran away, `RuntimeError` for a device that cannot compute, `ValueError` for
/// everything that the caller gave.
pub fn exception(error: Error) -> PyErr {
    let error = match error {
        // What Python raised while it worked for us.
        Error::Backend { source } => match source.downcast::<PyErr>() {
            Ok(raised) => return *raised,
            Err(source) => Error::Backend { source },
        },
        error => error,
    };
    let words = error.told(&Keywords);
    match &error {
        Error::Read { path, source } | Error::Write { path, source } => {
            let path = path.display().to_string();
            match source.raw_os_error() {
                // With a number Python chooses the class, such as FileNotFoundError.
                Some(number) => PyOSError::new_err((number, words, path)),
                None => PyOSError::new_err(words),
            }
        }
        Error::Output { path, .. } if path.exists() => PyFileExistsError::new_err(words),
        Error::Output { .. } | Error::Input { .. } => PyOSError::new_err(words),
        Error::Diverged { .. } => FitError::new_err(words),
        Error::Device { .. } | Error::Backend { .. } => PyRuntimeError::new_err(words),
        Error::Memory { .. } => PyMemoryError::new_err(words),
        Error::Interrupted { .. } => PyKeyboardInterrupt::new_err(()),
        _ => PyValueError::new_err(words),
    }
}

/// One of a closed set of names.
pub fn choice<T: FromStr + Display + Copy>(
    name: &'static str,
    text: &str,
    all: &[T],
) -> Result<T, PyErr> {
    text.parse().map_err(|_| {
        let all: Vec<String> = all.iter().map(|one| format!("'{one}'")).collect();
        exception(Error::argument(name, any_of(&all), quote(text)))
    })
}

/// Arguments as Python's callers know them.
pub struct Keywords;

impl Dialect for Keywords {
    fn name(&self, name: &str) -> String {
        match name {
            "lambda" => "lambda_".to_owned(),
            "seed" => "random_state".to_owned(),
            "force" => "overwrite".to_owned(),
            "view-encoders" => "encoder".to_owned(),
            name => name.replace('-', "_"),
        }
    }

    fn with(&self, name: &str, values: &[&str]) -> String {
        let value = |value: &&str| match *value {
            "true" => "True".to_owned(),
            number if number.parse::<f64>().is_ok() => number.to_owned(),
            text => format!("\"{text}\""),
        };
        let values: Vec<String> = values.iter().map(value).collect();
        format!("{}={}", self.name(name), any_of(&values))
    }

    fn selection(&self) -> &str {
        "linkproof.select"
    }

    fn subject(&self, subject: &Subject) -> Option<String> {
        match subject {
            Subject::Features { view: None } => Some("X".to_owned()),
            Subject::Features { view: Some(view) } => Some(format!("X[{}]", quote(view))),
            _ => None,
        }
    }

    fn remedy(&self, remedy: Remedy) -> Option<String> {
        match remedy {
            Remedy::Symmetrise => Some(format!(
                "symmetrise it, as in links.maximum(links.T) or links + links.T, or set {}",
                self.with("duplicates", &["max", "sum"])
            )),
            Remedy::LessMemory => Some(format!(
                "set a smaller {}, {}, or LINKPROOF_MAX_MEMORY in the environment if there is more",
                self.name("dim"),
                self.with("solver", &["sgd"])
            )),
            Remedy::UnpackMore => Some(
                "if it is meant to be so large, unpack it first, or set LINKPROOF_MAX_UNPACKED in \
                 the environment"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}
