//! Values of the defaults in schemas.

use super::schema::{Default, Type};
use super::value::Value;
use crate::error::{Error, Result};

impl Value {
    /// The value of a default.
    pub fn from_default(default: &Default, kind: &Type) -> Result<Value> {
        Ok(match default {
            Default::None => Value::None,
            Default::Int(value) => Value::Int(*value),
            Default::Float(value) => Value::Float(*value),
            Default::Bool(value) => Value::Bool(*value),
            Default::Str(value) => Value::Str(value.as_bytes().to_vec()),
            Default::List(values) => {
                let inner = match kind.required() {
                    Type::List(inner, _) => inner,
                    other => other,
                };
                let values = values.iter().map(|value| Value::from_default(value, inner));
                Value::List(values.collect::<Result<_>>()?)
            }
            Default::Name(name) => named(name, kind.required())?,
        })
    }
}

/// A default that is a name: c10's number of it.
fn named(name: &str, kind: &Type) -> Result<Value> {
    let known = match (kind, name) {
        (Type::MemoryFormat, "contiguous_format") | (Type::Layout, "strided") => Some(0),
        (Type::MemoryFormat, "preserve_format") => Some(1),
        (Type::MemoryFormat, "channels_last") => Some(2),
        (Type::MemoryFormat, "channels_last_3d") => Some(3),
        (Type::Int, "Mean") => return Ok(Value::Int(1)),
        (Type::Int, "Sum") => return Ok(Value::Int(2)),
        (Type::ScalarType, name) => {
            let name = match name {
                "float" => "float32",
                "double" => "float64",
                "half" => "float16",
                "long" => "int64",
                "int" => "int32",
                name => name,
            };
            let types = crate::abi::constants::SCALAR_TYPES;
            types.iter().find(|known| known.name == name).map(|known| known.number)
        }
        _ => None,
    };
    known.map(Value::Code).ok_or_else(|| {
        Error::not_supported(format!(
            "the default {name} of the type {kind} is not known; pass the value"
        ))
    })
}
