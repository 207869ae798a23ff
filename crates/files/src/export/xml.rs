//! Text inside XML.

use std::fmt;

/// A text as the value of an attribute or the content of an element. Characters that XML
/// has no place for are shown as the replacement character.
pub(super) struct Escaped<'t>(pub(super) &'t str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                // As they stand, a reader would take them for spaces.
                '\t' | '\n' | '\r' => write!(f, "&#{};", u32::from(character))?,
                _ if is_foreign(character) => f.write_str("\u{fffd}")?,
                _ => fmt::Write::write_char(f, character)?,
            }
        }
        Ok(())
    }
}

/// How many characters of a text XML has no place for.
pub(super) fn foreign(text: &str) -> usize {
    text.chars()
        .filter(|&character| is_foreign(character))
        .count()
}

fn is_foreign(character: char) -> bool {
    let control = character < ' ' && !matches!(character, '\t' | '\n' | '\r');
    control || matches!(character, '\u{fffe}' | '\u{ffff}')
}
