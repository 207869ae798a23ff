//! Errors of the library as Python's exceptions, in words for Python users.

use linkproof::Error;
use linkproof::error::{TOO_HEAVY, quote, shown, shown_path};
use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{
    PyFileExistsError, PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError,
};

create_exception!(
    linkproof,
    FitError,
    PyRuntimeError,
    "A fit that failed for numerical reasons: it left the range of numbers.\n\n\
     Data and parameters that cannot be used raise ``ValueError`` instead."
);

/// The exception for an error: `OSError` for files, `FitError` for numbers that
/// ran away, `ValueError` for everything that the caller gave.
pub fn exception(error: Error) -> PyErr {
    match &error {
        Error::Read { path, source } | Error::Write { path, source } => {
            let path = path.display().to_string();
            match source.raw_os_error() {
                // With a number Python chooses the class, such as FileNotFoundError.
                Some(number) => PyOSError::new_err((number, words(&error), path)),
                None => PyOSError::new_err(words(&error)),
            }
        }
        Error::Output { path, .. } if path.exists() => PyFileExistsError::new_err(words(&error)),
        Error::Output { .. } | Error::Input { .. } => PyOSError::new_err(words(&error)),
        Error::Diverged { .. } => FitError::new_err(words(&error)),
        Error::Interrupted { .. } => PyKeyboardInterrupt::new_err(()),
        _ => PyValueError::new_err(words(&error)),
    }
}

/// The message, with arguments named as Python's callers know them.
fn words(error: &Error) -> String {
    match error {
        Error::Data {
            what,
            found,
            expected,
        } => format!(
            "{}: found {}; expected {}",
            shown(&argument(what)),
            shown(found),
            shown(&in_python(expected))
        ),
        Error::Input {
            path,
            line,
            found,
            expected,
        } => {
            let line = line.map_or_else(String::new, |line| format!(", line {line}"));
            format!(
                "{}{line}: found {}; expected {}",
                shown_path(path),
                shown(found),
                shown(&in_python(expected))
            )
        }
        Error::Output {
            path,
            found,
            expected,
        } => format!(
            "{}: {}; {}",
            shown_path(path),
            shown(found),
            shown(&in_python(expected))
        ),
        Error::Param {
            name,
            accepted,
            given,
        } => format!(
            "{}: accepted is {}; given was {}",
            python_name(name),
            in_python(accepted),
            shown(given)
        ),
        Error::UnknownNode { id } => format!(
            "links: found node {}, which is none of the model's nodes; \
             expected only ids of its nodes (see nodes_)",
            quote(id)
        ),
        Error::DuplicateLink {
            src,
            dst,
            first,
            second,
        } => format!(
            "links: found the pair {}, {} more than once (weights {first} and {second}); \
             expected each pair once, or duplicates=\"sum\", \"max\" or \"first\"",
            quote(src),
            quote(dst)
        ),
        Error::Asymmetric {
            src,
            dst,
            forward,
            backward,
        } => format!(
            "links: found a matrix that is not symmetric: {forward} from {} to {} and \
             {backward} back; expected a symmetric or triangular matrix. Symmetrise it, as in \
             links.maximum(links.T) or links + links.T, or say duplicates=\"max\" or \
             duplicates=\"sum\"",
            quote(src),
            quote(dst)
        ),
        Error::TooHeavy {
            src,
            dst,
            weight,
            limit,
            precision,
        } => format!(
            "links: found weight {weight:e} between {} and {}; expected weights that add up to \
             {limit:e} at most, as a fit in {precision} precision needs: {}",
            quote(src),
            quote(dst),
            in_python(TOO_HEAVY)
        ),
        Error::Diverged { step, detail } => format!(
            "the fit diverged at step {step}: {detail}. Try a smaller learning_rate, a larger \
             ridge or clip=1"
        ),
        // Nothing but paths and what the system says.
        other => other.to_string(),
    }
}

/// What the library calls features is `X` to a Python user.
fn argument(what: &str) -> String {
    match what.strip_prefix("features of view ") {
        Some(view) => format!("X[{view}]"),
        None if what == "features" => "X".to_owned(),
        None => what.to_owned(),
    }
}

fn python_name(name: &str) -> String {
    match name {
        "lambda" => "lambda_".to_owned(),
        "seed" => "random_state".to_owned(),
        name => name.replace('-', "_"),
    }
}

/// Options of the command line as arguments: `--self-links drop` becomes
/// `self_links="drop"`, and `--validation` alone `validation`. For what the library
/// says itself, not for what users write.
pub fn in_python(text: &str) -> String {
    const VALUES: [(&str, &str); 7] = [
        ("--self-links drop", "self_links=\"drop\""),
        ("--duplicates sum", "duplicates=\"sum\""),
        ("--weights log1p", "weights=\"log1p\""),
        ("--score probability", "score=\"probability\""),
        ("--solver sgd", "solver=\"sgd\""),
        ("--sampler pairs", "sampler=\"pairs\""),
        ("--force", "overwrite=True"),
    ];
    let mut text = text.replace("'linkproof select'", "linkproof.select");
    for (option, argument) in VALUES {
        text = text.replace(option, argument);
    }
    let mut parts = text.split("--");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_lowercase() && c != '-');
        let (name, rest) = part.split_at(end.unwrap_or(part.len()));
        out.push_str(&python_name(name));
        out.push_str(rest);
    }
    out
}
