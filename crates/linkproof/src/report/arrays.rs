//! Arrays for a page: numbers in base64, which a browser turns into a typed
//! array without reading them one by one.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// Single-precision numbers.
pub fn f32s(values: impl IntoIterator<Item = f32>) -> Value {
    let bytes: Vec<u8> = values.into_iter().flat_map(f32::to_le_bytes).collect();
    json!({ "f32": STANDARD.encode(bytes) })
}

/// Numbers in the smaller precision that holds them all.
pub fn reals(values: &[f64]) -> Value {
    let fits = |&value: &f64| value == 0.0 || (1e-37..1e38).contains(&value.abs());
    if values.iter().all(fits) {
        return f32s(values.iter().map(|&value| value as f32));
    }
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    json!({ "f64": STANDARD.encode(bytes) })
}

/// Whole numbers of zero or more.
pub fn u32s(values: impl IntoIterator<Item = u32>) -> Value {
    let bytes: Vec<u8> = values.into_iter().flat_map(u32::to_le_bytes).collect();
    json!({ "u32": STANDARD.encode(bytes) })
}

/// Whole numbers.
pub fn i32s(values: impl IntoIterator<Item = i32>) -> Value {
    let bytes: Vec<u8> = values.into_iter().flat_map(i32::to_le_bytes).collect();
    json!({ "i32": STANDARD.encode(bytes) })
}

/// Whole numbers below 256.
pub fn u8s(values: impl IntoIterator<Item = u8>) -> Value {
    let bytes: Vec<u8> = values.into_iter().collect();
    json!({ "u8": STANDARD.encode(bytes) })
}

/// JSON as it may stand inside a page: nothing in it can end its element.
pub fn inside_a_page(json: &Value) -> String {
    let text = json.to_string();
    let mut safe = String::with_capacity(text.len() + text.len() / 64);
    for character in text.chars() {
        match character {
            // Within JSON these stand in texts alone, where they may be escaped.
            '<' => safe.push_str("\\u003c"),
            '>' => safe.push_str("\\u003e"),
            '&' => safe.push_str("\\u0026"),
            '\u{2028}' => safe.push_str("\\u2028"),
            '\u{2029}' => safe.push_str("\\u2029"),
            other => safe.push(other),
        }
    }
    safe
}

/// Text as it may stand in HTML.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_little_endian() {
        assert_eq!(u32s([1, 258]), json!({ "u32": "AQAAAAIBAAA=" }));
        assert_eq!(f32s([1.0]), json!({ "f32": "AACAPw==" }));
        assert_eq!(i32s([-1]), json!({ "i32": "/////w==" }));
        assert_eq!(reals(&[1.0, 0.0]), f32s([1.0, 0.0]));
        assert_eq!(
            reals(&[1e300])["f64"],
            STANDARD.encode(1e300f64.to_le_bytes())
        );
        assert_eq!(u8s([255]), json!({ "u8": "/w==" }));
    }

    #[test]
    fn hostile_text_stays_text() {
        let hostile = "</script><script>alert(1)</script><!-- \u{2028}&";
        let page = inside_a_page(&json!({ "id": hostile }));
        assert!(!page.contains(['<', '>', '&', '\u{2028}']));
        let back: Value = serde_json::from_str(&page).unwrap();
        assert_eq!(back["id"], hostile);
        assert_eq!(escaped("<b a='\"&'>"), "&lt;b a=&#39;&quot;&amp;&#39;&gt;");
    }
}
