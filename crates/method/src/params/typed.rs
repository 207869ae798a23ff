//! How settings are read from the text of an option.

use super::Open;

/// A whole number.
///
/// # Errors
/// What was expected.
pub fn whole(text: &str) -> Result<usize, String> {
    let number = text.parse();
    number.map_err(|_| "expected a whole number of 0 or more".to_owned())
}

/// A number; whether it is in range is for [`Params::check`](super::Params::check).
///
/// # Errors
/// What was expected.
pub fn real(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "expected a number".to_owned())
}

pub(super) fn open_whole(text: &str) -> Result<Open<usize>, String> {
    open(text, whole)
}

pub(super) fn open_real(text: &str) -> Result<Open<f64>, String> {
    open(text, real)
}

fn open<T>(text: &str, read: fn(&str) -> Result<T, String>) -> Result<Open<T>, String> {
    match text {
        "auto" => Ok(None),
        _ => read(text)
            .map(Some)
            .map_err(|message| format!("{message}, or 'auto'")),
    }
}

/// Pairs of views, as `a:b,c:d`.
pub(super) fn view_pairs(text: &str) -> Result<Open<Vec<(String, String)>>, String> {
    let pair = |text: &str| match text.trim().split_once(':') {
        Some((a, b)) if !a.is_empty() && !b.is_empty() && !b.contains(':') => {
            Ok((a.to_owned(), b.to_owned()))
        }
        _ => Err("expected pairs of views, such as a:b,c:d".to_owned()),
    };
    match text {
        "auto" => Ok(None),
        _ => text
            .split(',')
            .map(pair)
            .collect::<Result<_, _>>()
            .map(Some),
    }
}
