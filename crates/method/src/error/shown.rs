//! What others wrote, as it appears in messages: short, on one line and without
//! characters that a terminal obeys.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

/// Characters of a quoted piece that are shown.
const PIECE: usize = 72;

/// Characters of a part of a message that are shown, at its start and at its end.
const MESSAGE: (usize, usize) = (320, 160);

/// The same for a line of a summary, which may be a command to be typed.
const LINE: (usize, usize) = (3000, 1000);

/// The text with an escape in place of each character that a terminal would obey
/// rather than show: control characters, and those that turn the direction of text.
pub fn plain(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_plain) {
        return text.into();
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_plain(c) {
            true => escaped.push(c),
            false => escaped.extend(c.escape_default()),
        }
    }
    escaped.into()
}

fn is_plain(c: char) -> bool {
    !c.is_control()
        && !matches!(
            c,
            '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
        )
}

/// A piece of input between quotes: `'n17'`, or the start of a long one with its
/// length, `'aaaa…' (1048576 characters)`.
pub fn quote(text: &str) -> String {
    match text.char_indices().nth(PIECE) {
        None => format!("'{}'", plain(text)),
        Some((end, _)) => {
            let length = text.chars().count();
            format!("'{}…' ({length} characters)", plain(&text[..end]))
        }
    }
}

/// A part of a message. One that is too long for a reader loses its middle.
pub fn shown(text: &str) -> Cow<'_, str> {
    without_middle(text, MESSAGE)
}

/// A line of a summary.
pub fn shown_line(text: &str) -> Cow<'_, str> {
    without_middle(text, LINE)
}

fn without_middle(text: &str, ends: (usize, usize)) -> Cow<'_, str> {
    let Some(cut) = middle(text, ends) else {
        return plain(text);
    };
    let length = text.chars().count();
    let (start, end) = (plain(&text[..cut.start]), plain(&text[cut.end..]));
    format!("{start}… ({length} characters) …{end}").into()
}

/// What a message that is too long can do without.
fn middle(text: &str, (start, end): (usize, usize)) -> Option<Range<usize>> {
    if text.len() <= start + end {
        return None;
    }
    let (from, _) = text.char_indices().nth(start)?;
    let (to, _) = text.char_indices().rev().nth(end - 1)?;
    (from < to).then_some(from..to)
}

/// A path, whole, as a path is of use only so.
pub fn path(path: &Path) -> String {
    plain(&path.to_string_lossy()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_escaped() {
        assert!(matches!(plain("naïve 節点"), Cow::Borrowed(_)));
        assert_eq!(plain("a\u{1b}[31mb\r\n\0"), "a\\u{1b}[31mb\\r\\n\\u{0}");
        assert_eq!(plain("x\u{202e}y\u{9b}"), "x\\u{202e}y\\u{9b}");
        assert_eq!(quote("a\tb"), "'a\\tb'");
        assert_eq!(path(Path::new("a\nb")), "a\\nb");
    }

    #[test]
    fn long_pieces_are_cut_and_tell_their_length() {
        let short = "é".repeat(72);
        assert_eq!(quote(&short), format!("'{short}'"));
        let long = "é".repeat(1000);
        assert_eq!(quote(&long), format!("'{short}…' (1000 characters)"));
    }

    #[test]
    fn long_messages_lose_their_middle() {
        let text = format!("weight '{}' in row 7", "9é".repeat(1000));
        let found = shown(&text);
        assert!(found.starts_with("weight '9é9é"), "{found}");
        assert!(found.ends_with("9é' in row 7"), "{found}");
        assert!(found.contains("… (2018 characters) …"), "{found}");
        assert!(found.chars().count() < 520, "{found}");
        let whole = "x".repeat(480);
        assert_eq!(shown(&whole), whole);
    }
}
