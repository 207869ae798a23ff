//! Room for text: how wide it is and what to do when it is too wide.

/// The width of text. Letters of SVG viewers differ, so this is generous.
pub(super) fn width(words: &str, size: f32) -> f32 {
    words.chars().count() as f32 * size * 0.6
}

/// The text, cut off with dots where there is not room enough.
pub(super) fn cut(words: &str, size: f32, room: f32) -> String {
    if width(words, size) <= room {
        return words.to_owned();
    }
    let n_letters = (room / width("m", size)) as usize;
    let kept: String = words.chars().take(n_letters.saturating_sub(3)).collect();
    format!("{}...", kept.trim_end())
}

/// The text in lines, broken between words.
pub(super) fn lines(words: &str, size: f32, room: f32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(word, size) + width(" ", size) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(cut(word, size, room)),
        }
    }
    lines
}
