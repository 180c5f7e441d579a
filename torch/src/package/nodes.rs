//! The custom operators that a model calls: the file of the package that names them and their arguments.
//!
//! A model passes whole numbers and tensors when it runs, one after the other. Everything else is in the file.

use serde_json::Value;

use super::json;
use crate::error::{Error, Result};

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// A tensor, passed by the model.
    Tensor,
    /// So many tensors, passed by the model.
    Tensors(usize),
    /// Tensors, passed by the model where this is true; `None` elsewhere.
    OptionalTensors(Vec<bool>),
    /// A whole number, passed by the model.
    Int,
    /// So many whole numbers, passed by the model.
    Ints(usize),
    /// `None`.
    None,
    /// A truth value.
    Bool(bool),
    /// Truth values.
    Bools(Vec<bool>),
    /// A real number.
    Float(f64),
    /// A complex number.
    Complex(f64, f64),
    /// Real numbers.
    Floats(Vec<f64>),
    /// A text.
    Text(String),
    /// Texts.
    Texts(Vec<String>),
    /// c10's number of a type, a layout or a memory format.
    Code(i32),
    /// The device of the model, or the CPU.
    Device {
        /// Whether it is the CPU.
        is_cpu: bool,
    },
}

/// What a call returns in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// A tensor, for which the model passes a handle.
    Tensor,
    /// So many tensors.
    Tensors(usize),
    /// Nothing that the model uses.
    None,
}

/// A call of an operator.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The operator, such as `ns::name`.
    pub name: String,
    /// Its overload; empty for the default one.
    pub overload: String,
    /// The arguments by their names.
    pub inputs: Vec<(String, Input)>,
    /// What it returns.
    pub outputs: Vec<Output>,
}

/// The calls in a file of a package; `None` if it is another file of JSON.
pub fn nodes(text: &str) -> Result<Option<Vec<Node>>> {
    let file = json::parse(text)?;
    let nodes = file.get("nodes").and_then(Value::as_array);
    nodes.map(|nodes| nodes.iter().map(node).collect()).transpose()
}

fn node(entry: &Value) -> Result<Node> {
    let unknown =
        || Error::not_supported("the file of the model's custom operators is not understood");
    let node = entry.get("node").ok_or_else(unknown)?;
    let target = node.get("target").and_then(Value::as_str).ok_or_else(unknown)?;
    let (name, overload) = target.split_once('.').unwrap_or((target, ""));
    let list = |what: &str| node.get(what).and_then(Value::as_array).ok_or_else(unknown);
    let mut inputs = Vec::new();
    for entry in list("inputs")? {
        let name = entry.get("name").and_then(Value::as_str).unwrap_or_default();
        let value = entry.get("arg").and_then(input);
        let value = value.ok_or_else(|| {
            Error::not_supported(format!(
                "the model passes the argument {name} of {target} in a way that is not understood: {}",
                entry["arg"]
            ))
        })?;
        inputs.push((name.to_owned(), value));
    }
    let outputs = list("outputs")?.iter().map(|entry| {
        output(entry).ok_or_else(|| {
            Error::not_supported(format!(
                "{target} returns a value that is no tensor, which compiled models cannot use here: {entry}"
            ))
        })
    });
    let overload = if overload == "default" { "" } else { overload };
    let outputs = outputs.collect::<Result<_>>()?;
    Ok(Node { name: name.to_owned(), overload: overload.to_owned(), inputs, outputs })
}

/// The only member of an object, and its name.
fn only(value: &Value) -> Option<(&str, &Value)> {
    let Value::Object(members) = value else { return None };
    let mut members = members.iter();
    let (name, value) = members.next()?;
    members.next().is_none().then_some((name.as_str(), value))
}

fn input(argument: &Value) -> Option<Input> {
    let (kind, value) = only(argument)?;
    Some(match kind {
        "as_none" => Input::None,
        "as_tensor" => Input::Tensor,
        "as_optional_tensor" => {
            is_tensor(value).map(|is| if is { Input::Tensor } else { Input::None })?
        }
        "as_tensors" => Input::Tensors(value.as_array()?.len()),
        "as_optional_tensors" => {
            Input::OptionalTensors(value.as_array()?.iter().map(is_tensor).collect::<Option<_>>()?)
        }
        "as_int" | "as_sym_int" => Input::Int,
        "as_ints" | "as_sym_ints" => Input::Ints(value.as_array()?.len()),
        "as_bool" => Input::Bool(value.as_bool()?),
        "as_bools" => {
            Input::Bools(value.as_array()?.iter().map(Value::as_bool).collect::<Option<_>>()?)
        }
        "as_float" => Input::Float(real(value)?),
        "as_complex" => Input::Complex(real(value.get("real")?)?, real(value.get("imag")?)?),
        "as_floats" => Input::Floats(value.as_array()?.iter().map(real).collect::<Option<_>>()?),
        "as_string" => Input::Text(value.as_str()?.to_owned()),
        "as_strings" => {
            let text = |entry: &Value| entry.as_str().map(str::to_owned);
            Input::Texts(value.as_array()?.iter().map(text).collect::<Option<_>>()?)
        }
        "as_scalar_type" => Input::Code(scalar_type(value.as_i64()?)?),
        "as_memory_format" => Input::Code(memory_format(value.as_i64()?)?),
        // Strided, the only one that there is here.
        "as_layout" => (value.as_i64()? == 7).then_some(Input::Code(0))?,
        "as_device" => match value.get("type")?.as_str()? {
            "cpu" => Input::Device { is_cpu: true },
            "cuda" => Input::Device { is_cpu: false },
            _ => return None,
        },
        _ => return None,
    })
}

fn output(value: &Value) -> Option<Output> {
    let (kind, value) = only(value)?;
    Some(match kind {
        "as_tensor" => Output::Tensor,
        "as_tensors" => Output::Tensors(value.as_array()?.len()),
        "as_none" => Output::None,
        _ => return None,
    })
}

fn is_tensor(value: &Value) -> Option<bool> {
    match only(value)?.0 {
        "as_tensor" => Some(true),
        "as_none" => Some(false),
        _ => None,
    }
}

fn real(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        // JSON has no other way to write these.
        Value::String(text) => match text.as_str() {
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            "NaN" => Some(f64::NAN),
            _ => None,
        },
        _ => None,
    }
}

/// c10's number of a type that `torch.export` numbers in its own way.
fn scalar_type(number: i64) -> Option<i32> {
    Some(match number {
        1..=12 => number as i32 - 1,
        13 => 15,
        28 => 27,
        29 => 24,
        30 => 23,
        31 => 26,
        32 => 25,
        _ => return None,
    })
}

/// c10's number of a memory format.
fn memory_format(number: i64) -> Option<i32> {
    match number {
        1 => Some(0),
        2 => Some(2),
        3 => Some(3),
        4 => Some(1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &str, outputs: &str) -> Result<Node> {
        let text = format!(
            r#"{{"nodes": [{{"name": "buf1", "node": {{"target": "demo::mix.two", "inputs": [{arguments}],
               "outputs": [{outputs}], "metadata": {{}}}}}}]}}"#
        );
        Ok(nodes(&text)?.unwrap().remove(0))
    }

    #[test]
    fn arguments_of_every_kind_are_read() {
        let kinds = [
            (r#"{"as_tensor": {"name": "buf0"}}"#, Input::Tensor),
            (r#"{"as_tensors": [{"name": "a"}, {"name": "b"}]}"#, Input::Tensors(2)),
            (
                r#"{"as_optional_tensors": [{"as_tensor": {"name": "a"}}, {"as_none": true}]}"#,
                Input::OptionalTensors(vec![true, false]),
            ),
            (r#"{"as_optional_tensor": {"as_none": true}}"#, Input::None),
            (r#"{"as_none": true}"#, Input::None),
            (r#"{"as_int": 3}"#, Input::Int),
            (r#"{"as_sym_int": {"as_name": "2*s39"}}"#, Input::Int),
            (r#"{"as_ints": [0, 1]}"#, Input::Ints(2)),
            (r#"{"as_sym_ints": [{"as_int": 1}]}"#, Input::Ints(1)),
            (r#"{"as_float": 1.5}"#, Input::Float(1.5)),
            (r#"{"as_float": "-Infinity"}"#, Input::Float(f64::NEG_INFINITY)),
            (r#"{"as_complex": {"real": 1, "imag": -0.5}}"#, Input::Complex(1.0, -0.5)),
            (r#"{"as_floats": [1, 2.5]}"#, Input::Floats(vec![1.0, 2.5])),
            (r#"{"as_bool": true}"#, Input::Bool(true)),
            (r#"{"as_bools": [false]}"#, Input::Bools(vec![false])),
            (r#"{"as_string": "hello"}"#, Input::Text("hello".to_owned())),
            (r#"{"as_strings": ["a"]}"#, Input::Texts(vec!["a".to_owned()])),
            (r#"{"as_scalar_type": 6}"#, Input::Code(5)),
            (r#"{"as_scalar_type": 13}"#, Input::Code(15)),
            (r#"{"as_memory_format": 4}"#, Input::Code(1)),
            (r#"{"as_layout": 7}"#, Input::Code(0)),
            (r#"{"as_device": {"type": "cuda", "index": 0}}"#, Input::Device { is_cpu: false }),
        ];
        for (text, expected) in kinds {
            let node = read(&format!(r#"{{"name": "x", "arg": {text}, "kind": 1}}"#), "").unwrap();
            assert_eq!((node.name.as_str(), node.overload.as_str()), ("demo::mix", "two"));
            assert_eq!(node.inputs, [("x".to_owned(), expected)], "{text}");
        }
        let outputs =
            r#"{"as_tensor": {"name": "a"}}, {"as_tensors": [{"name": "b"}]}, {"as_none": true}"#;
        assert_eq!(
            read("", outputs).unwrap().outputs,
            [Output::Tensor, Output::Tensors(1), Output::None]
        );
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for text in [
            r#"{"as_complex": {"real": 1}}"#,
            r#"{"as_scalar_type": 0}"#,
            r#"{"as_layout": 2}"#,
            r#"{"as_float": "x"}"#,
            r#"{"as_int": 1, "as_float": 2.0}"#,
            "3",
        ] {
            let refused = read(&format!(r#"{{"name": "x", "arg": {text}}}"#), "").unwrap_err();
            assert!(refused.message.contains("the argument x of demo::mix"), "{refused:?}");
        }
        let refused = read("", r#"{"as_int": {"name": "n"}}"#).unwrap_err();
        assert!(refused.message.contains("returns a value that is no tensor"), "{refused:?}");
        assert!(nodes("[1]").unwrap().is_none());
        assert!(nodes(r#"{"AOTI_DEVICE_KEY": "cpu"}"#).unwrap().is_none());
        // One that is damaged is not another file.
        assert!(nodes(r#"{"nodes": ["#).is_err());
        assert!(nodes(r#"{"nodes": [{}]}"#).is_err());
    }
}
