//! For tests: reads the JSON that is written here, and what torch recorded.

use std::ops::Index;

/// A value of JSON.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Boolean(bool),
    Integer(i128),
    Float(f64),
    Text(String),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
}

impl Value {
    /// Reads a whole text.
    pub(super) fn read(text: &str) -> Value {
        let mut rest = text;
        let value = value(&mut rest);
        assert_eq!(rest.trim(), "");
        value
    }

    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        let Value::Map(entries) = self else { panic!("{key} of what is no map: {self:?}") };
        assert!(entries.iter().filter(|(name, _)| name == key).count() < 2, "{key} twice");
        entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub(super) fn items(&self) -> &[Value] {
        let Value::List(items) = self else { panic!("no list: {self:?}") };
        items
    }

    pub(super) fn text(&self) -> &str {
        let Value::Text(text) = self else { panic!("no text: {self:?}") };
        text
    }

    pub(super) fn number<T: TryFrom<i128>>(&self) -> T {
        let Value::Integer(number) = self else { panic!("no whole number: {self:?}") };
        T::try_from(*number).unwrap_or_else(|_| panic!("out of range: {number}"))
    }
}

impl Index<&str> for Value {
    type Output = Value;
    fn index(&self, key: &str) -> &Value {
        self.get(key).unwrap_or_else(|| panic!("no {key}"))
    }
}

impl Index<usize> for Value {
    type Output = Value;
    fn index(&self, index: usize) -> &Value {
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

fn value(rest: &mut &str) -> Value {
    if take(rest, "{") {
        return Value::Map(sequence(rest, "}", |rest| {
            assert!(take(rest, "\""), "a key without quotes");
            let key = text(rest);
            assert!(take(rest, ":"), "no colon after {key}");
            (key, value(rest))
        }));
    }
    if take(rest, "[") {
        return Value::List(sequence(rest, "]", value));
    }
    if take(rest, "\"") {
        return Value::Text(text(rest));
    }
    for (token, boolean) in [("true", true), ("false", false)] {
        if take(rest, token) {
            return Value::Boolean(boolean);
        }
    }
    *rest = rest.trim_start();
    let end = rest.find([',', '}', ']']).unwrap_or(rest.len());
    let (digits, after) = rest.split_at(end);
    *rest = after;
    match digits.parse() {
        Ok(number) => Value::Integer(number),
        Err(_) => Value::Float(digits.parse().unwrap()),
    }
}
