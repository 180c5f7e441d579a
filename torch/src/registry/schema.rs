//! Schemas of operators: `ns::name.overload(Tensor self, int[2] size, *, float? scale=None) -> (Tensor, Tensor)`.

use std::fmt;

/// The kind of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// `Tensor`.
    Tensor,
    /// `int`, `SymInt`.
    Int,
    /// `float`.
    Float,
    /// `bool`.
    Bool,
    /// `str`.
    Str,
    /// `ScalarType`.
    ScalarType,
    /// `Layout`.
    Layout,
    /// `MemoryFormat`.
    MemoryFormat,
    /// `Device`.
    Device,
    /// `Scalar`.
    Scalar,
    /// `Generator`.
    Generator,
    /// A type whose values are not passed through the ABI; its name.
    Other(String),
    /// `T?`.
    Optional(Box<Type>),
    /// `T[]` or `T[N]`.
    List(Box<Type>, Option<usize>),
}

/// What an argument is if the caller leaves it out.
#[derive(Clone, Debug, PartialEq)]
pub enum Default {
    /// `None`.
    None,
    /// A number without a point.
    Int(i64),
    /// A number with one.
    Float(f64),
    /// `True`, `False`.
    Bool(bool),
    /// A text in quotation marks.
    Str(String),
    /// A name, such as `contiguous_format`.
    Name(String),
    /// `[1, 2]`.
    List(Vec<Default>),
}

/// An argument or a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// Empty for results without a name.
    pub name: String,
    /// The kind of its values.
    pub kind: Type,
    /// Letters and marks within the brackets of `Tensor(a!)`.
    pub alias: Option<String>,
    /// What it is if it is left out.
    pub default: Option<Default>,
    /// Whether it comes after `*`.
    pub keyword_only: bool,
}

impl Argument {
    /// Whether the operator writes to it.
    pub fn is_written(&self) -> bool {
        self.alias.as_ref().is_some_and(|alias| alias.contains('!'))
    }
}

/// What an operator takes and returns.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    /// With the namespace, if the text has one.
    pub name: String,
    /// Empty for the default one.
    pub overload: String,
    /// In the order of the call.
    pub arguments: Vec<Argument>,
    /// In the order of the call.
    pub results: Vec<Argument>,
}

/// The name of an operator with its overload, if that is not the default one.
pub fn full_name(name: &str, overload: &str) -> String {
    let point = if overload.is_empty() { "" } else { "." };
    format!("{name}{point}{overload}")
}

impl Type {
    /// The kind itself, or that within `?`.
    pub fn required(&self) -> &Type {
        match self {
            Type::Optional(inner) => inner,
            other => other,
        }
    }
}

fn write_type(to: &mut fmt::Formatter<'_>, kind: &Type, alias: Option<&str>) -> fmt::Result {
    let name = match kind {
        Type::Tensor => "Tensor",
        Type::Int => "int",
        Type::Float => "float",
        Type::Bool => "bool",
        Type::Str => "str",
        Type::ScalarType => "ScalarType",
        Type::Layout => "Layout",
        Type::MemoryFormat => "MemoryFormat",
        Type::Device => "Device",
        Type::Scalar => "Scalar",
        Type::Generator => "Generator",
        Type::Other(name) => name,
        Type::Optional(inner) => {
            write_type(to, inner, alias)?;
            return to.write_str("?");
        }
        Type::List(inner, count) => {
            write_type(to, inner, alias)?;
            return match count {
                Some(count) => write!(to, "[{count}]"),
                None => to.write_str("[]"),
            };
        }
    };
    to.write_str(name)?;
    alias.map_or(Ok(()), |alias| write!(to, "({alias})"))
}

impl fmt::Display for Type {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_type(to, self, None)
    }
}

impl fmt::Display for Default {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Default::None => to.write_str("None"),
            Default::Int(value) => write!(to, "{value}"),
            Default::Float(value) => {
                // Exponents have two digits, as in Python.
                let text = format!("{value:?}");
                match text.split_once("e-") {
                    Some((digits, exponent)) => write!(to, "{digits}e-{exponent:0>2}"),
                    None => to.write_str(&text),
                }
            }
            Default::Bool(value) => to.write_str(if *value { "True" } else { "False" }),
            Default::Str(value) => {
                write!(to, "\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
            }
            Default::Name(value) => to.write_str(value),
            Default::List(values) => {
                let values: Vec<String> = values.iter().map(ToString::to_string).collect();
                write!(to, "[{}]", values.join(", "))
            }
        }
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_type(to, &self.kind, self.alias.as_deref())?;
        if !self.name.is_empty() {
            write!(to, " {}", self.name)?;
        }
        self.default.as_ref().map_or(Ok(()), |default| write!(to, "={default}"))
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}(", full_name(&self.name, &self.overload))?;
        let mut after_star = false;
        for (at, argument) in self.arguments.iter().enumerate() {
            to.write_str(if at == 0 { "" } else { ", " })?;
            if argument.keyword_only && !after_star {
                to.write_str("*, ")?;
                after_star = true;
            }
            write!(to, "{argument}")?;
        }
        to.write_str(") -> ")?;
        if let [one] = self.results.as_slice() {
            return write!(to, "{one}");
        }
        let results: Vec<String> = self.results.iter().map(ToString::to_string).collect();
        write!(to, "({})", results.join(", "))
    }
}
