//! A reader of JSON, for what the library writes and what PyTorch recorded.

#![allow(missing_docs, reason = "tests read the code")]
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ops::Index;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Boolean(bool),
    Integer(i128),
    Float(f64),
    Text(String),
    List(Vec<Json>),
    Map(Vec<(String, Json)>),
}

impl Json {
    /// Reads a whole text.
    pub fn read(text: &str) -> Json {
        let mut rest = text;
        let value = value(&mut rest);
        assert_eq!(rest.trim(), "");
        value
    }

    pub fn get(&self, key: &str) -> Option<&Json> {
        let Json::Map(entries) = self else { panic!("{key} of what is no map: {self:?}") };
        assert!(entries.iter().filter(|(name, _)| name == key).count() < 2, "{key} twice");
        entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub fn items(&self) -> &[Json] {
        let Json::List(items) = self else { panic!("no list: {self:?}") };
        items
    }

    pub fn text(&self) -> &str {
        let Json::Text(text) = self else { panic!("no text: {self:?}") };
        text
    }

    pub fn number<T: TryFrom<i128>>(&self) -> T {
        let Json::Integer(number) = self else { panic!("no whole number: {self:?}") };
        T::try_from(*number).unwrap_or_else(|_| panic!("out of range: {number}"))
    }
}

impl Index<&str> for Json {
    type Output = Json;
    fn index(&self, key: &str) -> &Json {
        self.get(key).unwrap_or_else(|| panic!("no {key}"))
    }
}

impl Index<usize> for Json {
    type Output = Json;
    fn index(&self, index: usize) -> &Json {
        &self.items()[index]
    }
}

/// Takes `token` off the front, after blanks, if it is there.
fn take(rest: &mut &str, token: &str) -> bool {
    let stripped = rest.trim_start().strip_prefix(token);
    *rest = stripped.unwrap_or(rest);
    stripped.is_some()
}

/// Everything up to `end`, with commas between.
fn sequence<T>(rest: &mut &str, end: &str, mut read: impl FnMut(&mut &str) -> T) -> Vec<T> {
    let mut items = Vec::new();
    if take(rest, end) {
        return items;
    }
    loop {
        items.push(read(rest));
        if take(rest, end) {
            return items;
        }
        assert!(take(rest, ","), "neither a comma nor {end}");
    }
}

/// What follows an opening quote.
fn text(rest: &mut &str) -> String {
    let mut text = String::new();
    let mut characters = rest.chars();
    loop {
        match characters.next().unwrap() {
            '"' => break,
            '\\' => match characters.next().unwrap() {
                'u' => {
                    let digits: String = characters.by_ref().take(4).collect();
                    let code = u32::from_str_radix(&digits, 16).unwrap();
                    text.push(char::from_u32(code).unwrap());
                }
                escaped => {
                    assert!(matches!(escaped, '"' | '\\'));
                    text.push(escaped);
                }
            },
            plain => {
                assert!(plain >= ' ', "a control character stands unescaped");
                text.push(plain);
            }
        }
    }
    *rest = characters.as_str();
    text
}

fn value(rest: &mut &str) -> Json {
    if take(rest, "{") {
        return Json::Map(sequence(rest, "}", |rest| {
            assert!(take(rest, "\""), "a key without quotes");
            let key = text(rest);
            assert!(take(rest, ":"), "no colon after {key}");
            (key, value(rest))
        }));
    }
    if take(rest, "[") {
        return Json::List(sequence(rest, "]", value));
    }
    if take(rest, "\"") {
        return Json::Text(text(rest));
    }
    let words =
        [("null", Json::Null), ("true", Json::Boolean(true)), ("false", Json::Boolean(false))];
    for (token, value) in words {
        if take(rest, token) {
            return value;
        }
    }
    *rest = rest.trim_start();
    let end = rest.find([',', '}', ']']).unwrap_or(rest.len());
    let (digits, after) = rest.split_at(end);
    *rest = after;
    match digits.parse() {
        Ok(number) => Json::Integer(number),
        Err(_) => Json::Float(digits.parse().unwrap()),
    }
}
