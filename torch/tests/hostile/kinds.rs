//! What a parameter takes, of schemas and of functions in C.

/// The kind of an argument or a result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Tensor,
    Int,
    Float,
    Bool,
    Scalar,
    /// c10's number of a type, a layout or a memory format.
    Code,
    Device,
    Text,
    Generator,
    Optional(Box<Kind>),
    List(Box<Kind>, Option<usize>),
    /// A parameter that receives a result: whether that is a tensor.
    Out(bool),
}

/// Something that can be called with arguments.
#[derive(Clone, Debug)]
pub(crate) struct Callable {
    pub(crate) name: String,
    pub(crate) overload: String,
    pub(crate) arguments: Vec<Kind>,
    pub(crate) results: Vec<Kind>,
}

/// The parts of a text between commas that are in no brackets.
pub(crate) fn parts(text: &str) -> Vec<&str> {
    let (mut depth, mut begin, mut found) = (0, 0, Vec::new());
    for (at, character) in text.char_indices() {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                found.push(text[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    found.push(text[begin..].trim());
    found.retain(|part| !part.is_empty());
    found
}

/// The kind of a type in a schema, such as `Tensor(a!)[]?`; `None` for one that no operation here has.
fn of_type(text: &str) -> Option<Kind> {
    if let Some(inner) = text.strip_suffix('?') {
        return Some(Kind::Optional(Box::new(of_type(inner)?)));
    }
    if let Some(inner) = text.strip_suffix(']') {
        let (inner, count) = inner.rsplit_once('[')?;
        return Some(Kind::List(Box::new(of_type(inner)?), count.parse().ok()));
    }
    Some(match text.split('(').next()? {
        "Tensor" => Kind::Tensor,
        "int" | "SymInt" => Kind::Int,
        "float" => Kind::Float,
        "bool" => Kind::Bool,
        "Scalar" => Kind::Scalar,
        "ScalarType" | "Layout" | "MemoryFormat" => Kind::Code,
        "Device" => Kind::Device,
        "str" => Kind::Text,
        "Generator" => Kind::Generator,
        _ => return None,
    })
}

/// The end of the bracket that a text begins with.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.char_indices().find_map(|(at, character)| {
        depth += i32::from(character == '(') - i32::from(character == ')');
        (depth == 0).then_some(at)
    })
}

/// Reads a schema of `schemas.txt`; `None` if a type of it is unknown.
pub(crate) fn of_schema(line: &str) -> Option<Callable> {
    let (name, rest) = line.split_at(line.find('(')?);
    let end = closing(rest)?;
    let (arguments, results) = (&rest[1..end], rest[end + 1..].trim().strip_prefix("->")?.trim());
    let typed = |part: &&str| !part.is_empty() && *part != "*";
    let kind = |part: &str| {
        let declared = part.split('=').next()?.trim();
        of_type(declared.rsplit_once(' ').map_or(declared, |(kind, _)| kind))
    };
    let results = results.strip_prefix('(').map_or(results, |rest| rest.trim_end_matches(')'));
    let of_result = |part: &str| {
        // `Tensor(a -> *)` has blanks, too; names of results are words behind the last bracket.
        let named = part.rsplit_once(' ').filter(|(_, name)| !name.contains([')', '*', ']']));
        of_type(named.map_or(part, |(kind, _)| kind))
    };
    let (name, overload) = name.split_once('.').unwrap_or((name, ""));
    Some(Callable {
        name: if name.contains("::") { name.to_owned() } else { format!("aten::{name}") },
        overload: overload.to_owned(),
        arguments: parts(arguments)
            .iter()
            .filter(|p| typed(p))
            .map(|p| kind(p))
            .collect::<Option<_>>()?,
        results: parts(results).iter().map(|part| of_result(part)).collect::<Option<_>>()?,
    })
}
