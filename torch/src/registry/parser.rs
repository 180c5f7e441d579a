//! Reads schemas.

use super::schema::{Argument, Default, Schema, Type};
use crate::error::{Error, Result};

/// The largest count of a list type. PyTorch's own are at most 6.
const MOST_COUNT: usize = 1024;

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

/// Reads a schema, or the name of one: then there is `None` instead of arguments and results.
pub fn parse(text: &str) -> Result<(String, String, Option<Schema>)> {
    let mut parser = Parser { text, at: 0 };
    let (name, overload) = parser.name()?;
    if parser.is_at_end() {
        return Ok((name, overload, None));
    }
    let arguments = parser.arguments()?;
    parser.expect("->")?;
    let results = parser.results()?;
    if !parser.is_at_end() {
        return Err(parser.wrong("the end"));
    }
    let schema = Schema { name: name.clone(), overload: overload.clone(), arguments, results };
    Ok((name, overload, Some(schema)))
}

/// A name and an overload, from `ns::name.overload`.
pub fn split_name(text: &str) -> (&str, &str) {
    text.split_once('.').unwrap_or((text, ""))
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn is_at_end(&mut self) -> bool {
        self.skip_blanks();
        self.rest().is_empty()
    }

    fn wrong(&self, wanted: &str) -> Error {
        Error::invalid_argument(format!(
            "the schema {:?} is not understood at byte {}: {wanted} is expected",
            self.text, self.at
        ))
    }

    fn take(&mut self, token: &str) -> bool {
        self.skip_blanks();
        let is_next = self.rest().starts_with(token);
        self.at += if is_next { token.len() } else { 0 };
        is_next
    }

    fn expect(&mut self, token: &str) -> Result<()> {
        if self.take(token) { Ok(()) } else { Err(self.wrong(token)) }
    }

    fn while_matches(&mut self, matches: impl Fn(char) -> bool) -> &'a str {
        self.skip_blanks();
        let rest = self.rest();
        let end = rest.find(|character| !matches(character)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn word(&mut self) -> Result<String> {
        let word = self.while_matches(is_word);
        if word.is_empty() { Err(self.wrong("a name")) } else { Ok(word.to_owned()) }
    }

    fn name(&mut self) -> Result<(String, String)> {
        let mut name = self.word()?;
        if self.take("::") {
            name = format!("{name}::{}", self.word()?);
        }
        let overload = if self.take(".") { self.word()? } else { String::new() };
        Ok((name, overload))
    }

    fn arguments(&mut self) -> Result<Vec<Argument>> {
        self.expect("(")?;
        let mut arguments = Vec::new();
        let mut keyword_only = false;
        if self.take(")") {
            return Ok(arguments);
        }
        loop {
            if self.take("*") {
                if keyword_only {
                    return Err(self.wrong("one * only"));
                }
                keyword_only = true;
            } else {
                arguments.push(self.argument(keyword_only)?);
            }
            if self.take(")") {
                return Ok(arguments);
            }
            self.expect(",")?;
        }
    }

    fn argument(&mut self, keyword_only: bool) -> Result<Argument> {
        let (kind, alias) = self.kind()?;
        let name = self.word()?;
        let default = if self.take("=") { Some(self.default(0)?) } else { None };
        Ok(Argument { name, kind, alias, default, keyword_only })
    }

    fn results(&mut self) -> Result<Vec<Argument>> {
        if !self.take("(") {
            return Ok(vec![self.result()?]);
        }
        let mut results = Vec::new();
        if self.take(")") {
            return Ok(results);
        }
        loop {
            results.push(self.result()?);
            if self.take(")") {
                return Ok(results);
            }
            self.expect(",")?;
        }
    }

    fn result(&mut self) -> Result<Argument> {
        let (kind, alias) = self.kind()?;
        let name = self.while_matches(is_word).to_owned();
        Ok(Argument { name, kind, alias, default: None, keyword_only: false })
    }

    fn kind(&mut self) -> Result<(Type, Option<String>)> {
        let word = self.word()?;
        let mut kind = match word.as_str() {
            "Tensor" => Type::Tensor,
            "int" | "SymInt" => Type::Int,
            "float" => Type::Float,
            "bool" => Type::Bool,
            "str" => Type::Str,
            "ScalarType" => Type::ScalarType,
            "Layout" => Type::Layout,
            "MemoryFormat" => Type::MemoryFormat,
            "Device" => Type::Device,
            "Scalar" => Type::Scalar,
            "Generator" => Type::Generator,
            _ => Type::Other(word),
        };
        let mut alias = None;
        if self.take("(") {
            let inside = self
                .while_matches(|c| is_word(c) || matches!(c, '!' | '|' | '-' | '>' | ' ' | '*'));
            alias = Some(inside.to_owned());
            self.expect(")")?;
        } else if self.take("!") {
            // `Tensor!` is `Tensor(a!)` with a letter that nothing else has.
            alias = Some("!".to_owned());
        }
        // The depth is limited: a value of the type is read with as many calls.
        for _ in 0..8 {
            if self.take("?") {
                kind = Type::Optional(Box::new(kind));
            } else if self.take("[") {
                let digits = self.while_matches(|c| c.is_ascii_digit());
                // The count is limited: one number is repeated as often.
                let is_small = |count: &usize| *count <= MOST_COUNT;
                let count = match digits {
                    "" => None,
                    digits => match digits.parse().ok().filter(is_small) {
                        Some(count) => Some(count),
                        None => return Err(self.wrong("a count of at most 1024")),
                    },
                };
                self.expect("]")?;
                kind = Type::List(Box::new(kind), count);
            } else {
                return Ok((kind, alias));
            }
        }
        Err(self.wrong("a type of less depth"))
    }

    fn default(&mut self, depth: usize) -> Result<Default> {
        if self.take("[") {
            if depth > 8 {
                return Err(self.wrong("a list of less depth"));
            }
            let mut values = Vec::new();
            if self.take("]") {
                return Ok(Default::List(values));
            }
            loop {
                values.push(self.default(depth + 1)?);
                if self.take("]") {
                    return Ok(Default::List(values));
                }
                self.expect(",")?;
            }
        }
        for quote in ['"', '\''] {
            if self.take(if quote == '"' { "\"" } else { "'" }) {
                return self.quoted(quote);
            }
        }
        let word = self.while_matches(|c| is_word(c) || matches!(c, '.' | '-' | '+'));
        if let Ok(value) = word.parse::<i64>() {
            return Ok(Default::Int(value));
        }
        let is_number = word
            .starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.' | '+'))
            || matches!(word, "inf" | "nan");
        match word {
            "" => Err(self.wrong("a value")),
            "None" => Ok(Default::None),
            "True" | "true" => Ok(Default::Bool(true)),
            "False" | "false" => Ok(Default::Bool(false)),
            _ if is_number => word.parse().map(Default::Float).map_err(|_| self.wrong("a number")),
            _ => Ok(Default::Name(word.to_owned())),
        }
    }

    fn quoted(&mut self, quote: char) -> Result<Default> {
        let mut value = String::new();
        let mut characters = self.rest().char_indices();
        while let Some((at, character)) = characters.next() {
            if character == quote {
                self.at += at + 1;
                return Ok(Default::Str(value));
            }
            match (character, characters.clone().next()) {
                ('\\', Some((_, next))) => {
                    value.push(next);
                    characters.next();
                }
                _ => value.push(character),
            }
        }
        Err(self.wrong("the end of the text"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(text: &str) -> Schema {
        let schema = parse(text).unwrap().2.unwrap();
        let written = schema.to_string();
        assert_eq!(parse(&written).unwrap().2.unwrap(), schema, "{written}");
        schema
    }

    #[test]
    fn schemas_are_read_and_written_the_same() {
        for text in [
            "a::f() -> ()",
            "roi_align(Tensor input, Tensor rois, float scale, int h, bool aligned) -> Tensor",
            "n.out(Tensor(a!) self, *, ScalarType? dtype=None, Device? device=None) -> Tensor(a!)",
            "f(Tensor[] xs, int[2] size=[1, -2], str mode=\"a\\\"b\", float eps=1e-06) -> (Tensor values, Tensor i)",
            "g(Tensor(a! -> *) x, float[]? w=None, bool b=True, Layout l=strided) -> Tensor[]",
            "h(Tensor?[] indices, Generator? g=None, MemoryFormat m=contiguous_format) -> int",
        ] {
            let schema = round_trip(text);
            assert_eq!(schema.to_string(), text);
        }
        let schema = round_trip("f(Tensor! x, SymInt n=3, float y=.5, *, Scalar s=1) -> ()");
        assert!(schema.arguments[0].is_written() && schema.arguments[3].keyword_only);
        assert_eq!(schema.arguments[1].kind, Type::Int);
        assert_eq!(schema.arguments[2].default, Some(Default::Float(0.5)));
        assert_eq!(schema.arguments[3].kind, Type::Scalar);
    }

    #[test]
    fn what_is_no_schema_is_refused_with_its_place() {
        for text in [
            "",
            "f(",
            "f(Tensor",
            "f(Tensor x",
            "f(Tensor x,) -> ()",
            "f() ->",
            "f() -> (",
            "f() -> () x",
            "f(int[ n) -> ()",
            "f(int[1025] n) -> ()",
            "f(int[99999999999999999999] n) -> ()",
            "f(str s=\"a) -> ()",
            "f(*, *, int a) -> ()",
            "f(int a=1e) -> ()",
            "f(int[][][][][][][][][][] a) -> ()",
            "f.(int a)",
            "f(int\u{e9} a) -> ()",
        ] {
            let message = parse(text).unwrap_err().message;
            assert!(message.contains("is not understood at byte"), "{text}: {message}");
        }
        assert_eq!(parse("a::b.c").unwrap(), ("a::b".to_owned(), "c".to_owned(), None));
    }

    /// Every text of a small alphabet, up to a length: none may panic, and what is read is written the same.
    #[test]
    fn arbitrary_texts_do_not_panic() {
        let tokens =
            ["f", "(", ")", "->", "Tensor", " ", "*", ",", "?", "[", "]", "=", "1", "\"", "!", "."];
        let mut state = 88_172_645_463_325_252_u64;
        let mut read = 0;
        for _ in 0..200_000 {
            let mut text =
                String::from(if state.is_multiple_of(2) { "f() -> Tensor" } else { "f(Tensor x" });
            for _ in 0..state % 7 {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                text.push_str(tokens[(state >> 20) as usize % tokens.len()]);
            }
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            if let Ok((_, _, Some(schema))) = parse(&text) {
                read += 1;
                assert_eq!(parse(&schema.to_string()).unwrap().2.unwrap(), schema, "{text}");
            }
        }
        assert!(read > 1000, "{read}");
    }
}
