//! Texts as JSON has them.

use std::fmt::Write as _;

/// Appends a text in quotation marks.
pub fn push(json: &mut String, text: &str) {
    json.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => json.extend(['\\', character]),
            '\0'..'\x20' => {
                let _ = write!(json, "\\u{:04x}", character as u32);
            }
            _ => json.push(character),
        }
    }
    json.push('"');
}

/// A text in quotation marks.
pub fn quoted(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    push(&mut json, text);
    json
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn what_json_reserves_is_escaped() {
        assert_eq!(quoted("a\"b\\c\n\u{1f}é"), "\"a\\\"b\\\\c\\u000a\\u001fé\"");
        assert_eq!(quoted(""), "\"\"");
    }
}
