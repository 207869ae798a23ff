//! Errors of the library as Python's exceptions, in words for Python users.

use std::fmt::Display;
use std::str::FromStr;

use linkproof::Error;
use linkproof::error::{Style, any_of, quote};
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
    let mut words = error.in_style(Style::Python);
    if matches!(error, Error::Asymmetric { .. }) {
        words += "; links.maximum(links.T) and links + links.T are symmetric";
    }
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
