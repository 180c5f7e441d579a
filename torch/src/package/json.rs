//! JSON, as packages contain it.

use serde_json::Value;

use crate::error::{Error, Result};

/// Reads a whole text.
pub fn parse(text: &str) -> Result<Value> {
    serde_json::from_str(text).map_err(|why| {
        let lines = text.split_inclusive('\n').take(why.line().saturating_sub(1));
        let byte = lines.map(str::len).sum::<usize>() + why.column();
        Error::io(format!("JSON that is not understood at byte {byte}: {why}"))
    })
}

/// The whole numbers of a list of them.
pub fn ints(value: &Value) -> Option<Vec<i64>> {
    value.as_array()?.iter().map(Value::as_i64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read() {
        let text = r#" {"a": [1, -2.5, 1e3, true, false, null], "b\n\u00e9\ud83d\ude00": {"c": "d"}, "e": [], "f": {}} "#;
        let read = parse(text).unwrap();
        assert_eq!(read["a"].to_string(), "[1,-2.5,1000.0,true,false,null]");
        assert_eq!(read["b\né😀"]["c"].as_str(), Some("d"));
        assert_eq!((read["e"].to_string(), read["f"].to_string()), ("[]".into(), "{}".into()));
        assert_eq!(ints(&parse("[3, 4]").unwrap()), Some(vec![3, 4]));
        // A name that stands twice has its last value, as in Python.
        assert_eq!(parse(r#"{"a": 1, "a": 2}"#).unwrap()["a"], 2);
    }

    #[test]
    fn numbers_are_exact_or_refused() {
        for number in [i64::MIN, -(1 << 53) - 1, 0, (1 << 53) + 1, i64::MAX] {
            assert_eq!(ints(&parse(&format!("[{number}]")).unwrap()), Some(vec![number]));
        }
        // The first two and the last one are not the nearest number without `float_roundtrip`.
        for text in ["31.245270191439438", "100.78399658203125", "0.1", "2.2250738585072011e-308"] {
            assert_eq!(parse(text).unwrap().as_f64(), text.parse().ok(), "{text}");
        }
        for beyond in ["4.5", "9223372036854775808", "1e3", "\"3\"", "18446744073709551616"] {
            assert_eq!(ints(&parse(&format!("[3, {beyond}]")).unwrap()), None, "{beyond}");
        }
        assert!(parse("1e999").is_err());
    }

    #[test]
    fn what_is_not_json_is_refused_and_never_read_beyond_its_end() {
        let whole = r#"{"a": [1, "b\u0041\\"], "c": {"d": null}}"#;
        assert!(parse(whole).is_ok());
        for end in 0..whole.len() {
            assert!(parse(&whole[..end]).is_err(), "{end}");
        }
        for text in [
            "",
            "[1,]",
            "[1 2]",
            "{1: 2}",
            "{\"a\" 1}",
            "nul",
            "NaN",
            "-Infinity",
            "\"\\x\"",
            "\"\\ud800\"",
            "1 2",
            "--1",
            "01",
            "1.",
            "\"\\u12",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse(&"[".repeat(100_000)).unwrap_err().message.contains("recursion limit"));
        assert!(
            parse(&r#"{"a":"#.repeat(100_000)).unwrap_err().message.contains("recursion limit")
        );
    }
}
