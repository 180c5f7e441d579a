//! JSON, as packages contain it.

use std::collections::BTreeMap;

use crate::error::{Error, Result};

/// Objects within objects: more are no file of a package.
const MOST_DEPTH: usize = 64;

/// A value of JSON.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number without a point or an exponent.
    Int(i64),
    /// Any other number.
    Real(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Json>),
    /// Members by their names.
    Object(BTreeMap<String, Json>),
}

impl Json {
    /// Reads a whole text.
    pub fn parse(text: &str) -> Result<Json> {
        let mut reader = Reader { bytes: text.as_bytes(), at: 0 };
        let value = reader.value(0)?;
        reader.space();
        if reader.at == text.len() { Ok(value) } else { Err(reader.wrong("its end")) }
    }

    /// A member of an object; `None` for any other value.
    pub fn member(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.get(name),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The whole number, if it is one.
    pub fn int(&self) -> Option<i64> {
        match self {
            Json::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// The entries, if it is a list.
    pub fn list(&self) -> Option<&[Json]> {
        match self {
            Json::List(entries) => Some(entries),
            _ => None,
        }
    }

    /// The whole numbers of a list of them.
    pub fn ints(&self) -> Option<Vec<i64>> {
        self.list()?.iter().map(Json::int).collect()
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn wrong(&self, expected: &str) -> Error {
        Error::io(format!("JSON that is not understood at byte {}: expected {expected}", self.at))
    }

    fn space(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Skips space and returns the next byte, which stays.
    fn next(&mut self) -> Option<u8> {
        self.space();
        self.bytes.get(self.at).copied()
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return Err(self.wrong(word));
        }
        self.at += word.len();
        Ok(value)
    }

    fn value(&mut self, depth: usize) -> Result<Json> {
        if depth > MOST_DEPTH {
            return Err(self.wrong("fewer values within values"));
        }
        match self.next() {
            Some(b'n') => self.word("null", Json::Null),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'"') => self.text().map(Json::Text),
            Some(b'[') => self.list(depth),
            Some(b'{') => self.object(depth),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(self.wrong("a value")),
        }
    }

    /// Whether another entry follows; skips the comma or the end.
    fn more(&mut self, end: u8, first: bool) -> Result<bool> {
        match self.next() {
            Some(byte) if byte == end => {
                self.at += 1;
                Ok(false)
            }
            Some(b',') if !first => {
                self.at += 1;
                Ok(true)
            }
            Some(_) if first => Ok(true),
            _ => Err(self.wrong("a comma or the end")),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Json> {
        self.at += 1;
        let mut entries = Vec::new();
        while self.more(b']', entries.is_empty())? {
            entries.push(self.value(depth + 1)?);
        }
        Ok(Json::List(entries))
    }

    fn object(&mut self, depth: usize) -> Result<Json> {
        self.at += 1;
        let mut members = BTreeMap::new();
        while self.more(b'}', members.is_empty())? {
            if self.next() != Some(b'"') {
                return Err(self.wrong("a name"));
            }
            let name = self.text()?;
            if self.next() != Some(b':') {
                return Err(self.wrong("a colon"));
            }
            self.at += 1;
            members.insert(name, self.value(depth + 1)?);
        }
        Ok(Json::Object(members))
    }

    fn number(&mut self) -> Result<Json> {
        let begin = self.at;
        while matches!(
            self.bytes.get(self.at),
            Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')
        ) {
            self.at += 1;
        }
        let text = std::str::from_utf8(&self.bytes[begin..self.at]).unwrap_or_default();
        if let Ok(number) = text.parse() {
            return Ok(Json::Int(number));
        }
        text.parse().map(Json::Real).map_err(|_| self.wrong("a number before it"))
    }

    fn text(&mut self) -> Result<String> {
        self.at += 1;
        let mut text = Vec::new();
        loop {
            let byte = *self.bytes.get(self.at).ok_or_else(|| self.wrong("a quotation mark"))?;
            self.at += 1;
            match byte {
                b'"' => break,
                b'\\' => {
                    let letter = self.escaped()?;
                    text.extend(letter.encode_utf8(&mut [0; 4]).bytes());
                }
                byte => text.push(byte),
            }
        }
        String::from_utf8(text).map_err(|_| self.wrong("UTF-8 before it"))
    }

    fn escaped(&mut self) -> Result<char> {
        let byte = *self.bytes.get(self.at).ok_or_else(|| self.wrong("a letter"))?;
        self.at += 1;
        Ok(match byte {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'"' | b'\\' | b'/' => char::from(byte),
            b'u' => {
                let first = self.four_digits()?;
                let code = match first {
                    // The first half of a letter beyond 16 bits.
                    0xd800..=0xdbff if self.bytes[self.at..].starts_with(b"\\u") => {
                        self.at += 2;
                        let second = self.four_digits()?;
                        if !(0xdc00..=0xdfff).contains(&second) {
                            return Err(self.wrong("the second half of a letter before it"));
                        }
                        0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00)
                    }
                    first => first,
                };
                char::from_u32(code).ok_or_else(|| self.wrong("a letter before it"))?
            }
            _ => return Err(self.wrong("a known letter behind the backslash before it")),
        })
    }

    fn four_digits(&mut self) -> Result<u32> {
        let digits =
            self.bytes.get(self.at..self.at + 4).and_then(|four| std::str::from_utf8(four).ok());
        let code = digits.and_then(|four| u32::from_str_radix(four, 16).ok());
        let code = code.ok_or_else(|| self.wrong("four digits"))?;
        self.at += 4;
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read() {
        let text = r#" {"a": [1, -2.5, 1e3, true, false, null], "b\n\u00e9\ud83d\ude00": {"c": "d"}, "e": [], "f": {}} "#;
        let read = Json::parse(text).unwrap();
        let list = read.member("a").unwrap().list().unwrap();
        assert_eq!(list[..3], [Json::Int(1), Json::Real(-2.5), Json::Real(1000.0)]);
        assert_eq!(list[3..], [Json::Bool(true), Json::Bool(false), Json::Null]);
        let inner = read.member("b\né😀").unwrap();
        assert_eq!(inner.member("c").and_then(Json::text), Some("d"));
        assert_eq!(read.member("e"), Some(&Json::List(Vec::new())));
        assert_eq!(Json::parse("[3, 4]").unwrap().ints(), Some(vec![3, 4]));
        assert_eq!(Json::parse("[3, 4.5]").unwrap().ints(), None);
    }

    #[test]
    fn what_is_no_json_is_refused_and_never_read_beyond_its_end() {
        let whole = r#"{"a": [1, "b\u0041\\"], "c": {"d": null}}"#;
        assert!(Json::parse(whole).is_ok());
        for end in 0..whole.len() {
            assert!(Json::parse(&whole[..end]).is_err(), "{end}");
        }
        for text in [
            "",
            "[1,]",
            "[1 2]",
            "{1: 2}",
            "{\"a\" 1}",
            "nul",
            "\"\\x\"",
            "\"\\ud800\"",
            "1 2",
            "--1",
            "\"\\u12",
        ] {
            assert!(Json::parse(text).is_err(), "{text}");
        }
        assert!(Json::parse(&"[".repeat(100_000)).unwrap_err().message.contains("fewer values"));
    }
}
