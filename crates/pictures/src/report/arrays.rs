//! Arrays for a page: numbers in base64, which a browser turns into a typed
//! array without reading them one by one.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// Numbers by the name of their type, in the order of bytes that browsers have.
pub trait Number {
    /// What the page knows the type by.
    const NAME: &'static str;
    /// Adds the bytes.
    fn push(self, bytes: &mut Vec<u8>);
}

macro_rules! numbers {
    ($($type:ident)*) => {$(
        impl Number for $type {
            const NAME: &'static str = stringify!($type);

            fn push(self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_le_bytes());
            }
        }
    )*};
}
numbers!(f32 f64 u32 i32 u8);

/// An array of numbers.
pub fn array<T: Number>(values: impl IntoIterator<Item = T>) -> Value {
    let mut bytes = Vec::new();
    values.into_iter().for_each(|value| value.push(&mut bytes));
    json!({ T::NAME: STANDARD.encode(bytes) })
}

/// Numbers in the smaller precision that holds them all.
pub fn reals(values: &[f64]) -> Value {
    let fits = |&value: &f64| value == 0.0 || (1e-37..1e38).contains(&value.abs());
    match values.iter().all(fits) {
        true => array(values.iter().map(|&value| value as f32)),
        false => array(values.iter().copied()),
    }
}

/// JSON as it may stand inside a page: nothing in it can end its element.
pub fn inside_a_page(json: &Value) -> String {
    // Within JSON these stand in texts alone, where they may be escaped.
    ['<', '>', '&', '\u{2028}', '\u{2029}']
        .into_iter()
        .fold(json.to_string(), |text, character| {
            text.replace(character, &format!("\\u{:04x}", u32::from(character)))
        })
}

/// Text as it may stand in HTML.
pub fn escaped(text: &str) -> String {
    // The mark of escapes first.
    ['&', '<', '>', '"', '\'']
        .into_iter()
        .fold(text.to_owned(), |text, character| {
            text.replace(character, &format!("&#{};", u32::from(character)))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_little_endian() {
        assert_eq!(array([1u32, 258]), json!({ "u32": "AQAAAAIBAAA=" }));
        assert_eq!(array([1.0f32]), json!({ "f32": "AACAPw==" }));
        assert_eq!(array([-1i32]), json!({ "i32": "/////w==" }));
        assert_eq!(reals(&[1.0, 0.0]), array([1.0f32, 0.0]));
        assert_eq!(
            reals(&[1e300])["f64"],
            STANDARD.encode(1e300f64.to_le_bytes())
        );
        assert_eq!(array([255u8]), json!({ "u8": "/w==" }));
    }

    #[test]
    fn hostile_text_stays_text() {
        let hostile = "</script><script>alert(1)</script><!-- \u{2028}&";
        let page = inside_a_page(&json!({ "id": hostile }));
        assert!(!page.contains(['<', '>', '&', '\u{2028}']));
        let back: Value = serde_json::from_str(&page).unwrap();
        assert_eq!(back["id"], hostile);
        assert_eq!(escaped("<b a='\"&'>"), "&#60;b a=&#39;&#34;&#38;&#39;&#62;");
    }
}
