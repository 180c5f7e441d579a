//! The grammar: `key:value` and `key:[name:value,…]`, with commas between.
//!
//! Blanks mean nothing, wherever they stand, and so do commas with nothing between them.

use sconce_base::error::{Error, Result};

/// What stands behind a key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SettingValue<'a> {
    Word(&'a str),
    List(Vec<(&'a str, &'a str)>),
}

impl<'a> SettingValue<'a> {
    /// The word, unless it is a list.
    pub(super) fn word(&self) -> Option<&'a str> {
        match self {
            SettingValue::Word(word) => Some(word),
            SettingValue::List(_) => None,
        }
    }
}

/// A key, its value, and how the value was written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SettingEntry<'a> {
    pub(super) key: &'a str,
    pub(super) value: SettingValue<'a>,
    pub(super) written: &'a str,
}

/// The text without its blanks.
pub(super) fn without_blanks(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// The entries of a text without blanks, in their order.
pub(super) fn entries(text: &str) -> Result<Vec<SettingEntry<'_>>> {
    let mut entries = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(',');
        if rest.is_empty() {
            return Ok(entries);
        }
        let (key, behind) = word(rest);
        if key.is_empty() {
            return Err(malformed(rest, "stands where a key is expected; write key:value"));
        }
        let Some(behind) = behind.strip_prefix(':') else {
            return Err(malformed(key, "has no value; write key:value"));
        };
        let (value, next) = match behind.strip_prefix('[') {
            Some(inside) => {
                let Some((inside, next)) = inside.split_once(']') else {
                    return Err(malformed(key, "has a list without its closing ]"));
                };
                (SettingValue::List(pairs(key, inside)?), next)
            }
            None => {
                let (value, next) = word(behind);
                if value.is_empty() {
                    return Err(malformed(key, "has no value; write key:value"));
                }
                (SettingValue::Word(value), next)
            }
        };
        let written = &behind[..behind.len() - next.len()];
        if !next.is_empty() && !next.starts_with(',') {
            return Err(malformed(next, "stands where a comma is expected"));
        }
        entries.push(SettingEntry { key, value, written });
        rest = next;
    }
}

const SEPARATORS: [char; 4] = [',', ':', '[', ']'];

/// The characters before the next separator, and the others.
fn word(text: &str) -> (&str, &str) {
    text.split_at(text.find(SEPARATORS).unwrap_or(text.len()))
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(SEPARATORS)
}

fn pairs<'a>(key: &str, inside: &'a str) -> Result<Vec<(&'a str, &'a str)>> {
    let pair = |text: &'a str| match text.split_once(':') {
        Some((name, value)) if is_word(name) && is_word(value) => Ok((name, value)),
        _ => Err(malformed(text, format_args!("in the list of {key} is not name:value"))),
    };
    inside.split(',').filter(|text| !text.is_empty()).map(pair).collect()
}

fn malformed(what: &str, how: impl std::fmt::Display) -> Error {
    Error::invalid_argument(format!("`{what}` {how}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(String, String)>> {
        let text = without_blanks(text);
        let own = |entry: &SettingEntry<'_>| (entry.key.to_owned(), entry.written.to_owned());
        entries(&text).map(|entries| entries.iter().map(own).collect())
    }

    #[test]
    fn entries_are_read_in_order_with_blanks_and_spare_commas_ignored() {
        let pairs = |pairs: &[(&str, &str)]| {
            Ok(pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect::<Vec<_>>())
        };
        assert_eq!(read(""), pairs(&[]));
        assert_eq!(read(" , ,"), pairs(&[]));
        assert_eq!(read(" a : 1 ,, b:x,"), pairs(&[("a", "1"), ("b", "x")]));
        assert_eq!(read("a:[6 4:8, >:1,],b:2"), pairs(&[("a", "[64:8,>:1,]"), ("b", "2")]));
        assert_eq!(read("a:[]"), pairs(&[("a", "[]")]));
    }

    #[test]
    fn lists_become_pairs() {
        let entries = entries("a:[64:8,>:1]").unwrap();
        assert_eq!(entries[0].value, SettingValue::List(vec![("64", "8"), (">", "1")]));
        assert_eq!(entries[0].value.word(), None);
    }

    #[test]
    fn what_is_malformed_is_named() {
        for (text, named) in [
            ("a", "`a` has no value"),
            ("a,b:1", "`a` has no value"),
            ("a:", "`a` has no value"),
            ("a:,b:1", "`a` has no value"),
            (":1", "`:1` stands where a key"),
            ("[a:1]", "`[a:1]` stands where a key"),
            ("a:1:2", "`:2` stands where a comma"),
            ("a:1]", "`]` stands where a comma"),
            ("a:1[2:3]", "`[2:3]` stands where a comma"),
            ("a:[1:2", "`a` has a list without"),
            ("a:[1:2]b:3", "`b:3` stands where a comma"),
            ("a:[1]", "`1` in the list of a"),
            ("a:[:1]", "`:1` in the list of a"),
            ("a:[1:]", "`1:` in the list of a"),
            ("a:[1:2:3]", "`1:2:3` in the list of a"),
            ("a:[[1:2]]", "`[1:2` in the list of a"),
        ] {
            let message = read(text).unwrap_err().to_string();
            assert!(message.contains(named), "{text}: {message}");
        }
    }
}
