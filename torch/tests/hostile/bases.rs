//! Calls that succeed, of functions and operations for which random arguments find none: `bases.txt`.

use super::kinds::{Callable, Kind, parts};
use super::values::{Case, Filling, Handle, Order, TensorCase};

const BASES: &str = include_str!("bases.txt");

/// c10's number of a type's short name.
fn dtype(name: &str) -> i32 {
    match name {
        "f32" => 6,
        "f64" => 7,
        "f16" => 5,
        "bf16" => 15,
        "i64" => 4,
        "i32" => 3,
        "i16" => 2,
        "u16" => 27,
        "u32" => 28,
        "u64" => 29,
        "i8" => 1,
        "u8" => 0,
        "bool" => 11,
        "c64" => 9,
        "f8" => 24,
        other => panic!("{other} is no type of bases.txt"),
    }
}

/// `f32(2,3)`, or `i64(3)=1` with one value everywhere, or `i64(3)%2` with 0, 1, 0 and so on.
fn tensor(text: &str) -> TensorCase {
    let (name, rest) = text.split_once('(').unwrap();
    let (sizes, filling) = rest.split_once(')').unwrap();
    let number = |text: &str| text.parse::<f64>().unwrap();
    let filling = match (filling.strip_prefix('='), filling.strip_prefix('%')) {
        (Some(value), _) => Filling::All(number(value)),
        (_, Some(modulo)) => Filling::Count(number(modulo) as u32),
        _ => Filling::Count(7),
    };
    TensorCase {
        handle: Handle::Tensor,
        dtype: dtype(name),
        sizes: parts(sizes).iter().map(|size| size.parse().unwrap()).collect(),
        order: Order::Contiguous,
        filling,
        is_on_device: false,
    }
}

fn case(kind: &Kind, text: &'static str) -> Case {
    match kind {
        Kind::Optional(_) if text == "-" => Case::None,
        Kind::Optional(inner) => case(inner, text),
        Kind::Tensor if text == "undefined" => {
            Case::Tensor(TensorCase { handle: Handle::Undefined, ..tensor("f32()") })
        }
        Kind::Tensor => Case::Tensor(tensor(text)),
        Kind::Int => Case::Int(text.parse().unwrap()),
        Kind::Float => Case::Float(text.parse().unwrap()),
        Kind::Scalar => text.parse().map_or_else(|_| Case::Float(text.parse().unwrap()), Case::Int),
        Kind::Bool => Case::Bool(text == "1"),
        Kind::Code => Case::Code(text.parse().unwrap()),
        Kind::Text => Case::Text(if text == "''" { b"" } else { text.as_bytes() }),
        Kind::List(inner, _) => {
            let inside = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap();
            Case::List(parts(inside).iter().map(|text| case(inner, text)).collect())
        }
        other => panic!("{other:?} is not in bases.txt"),
    }
}

/// The calls of a function or operation.
pub(crate) fn bases(what: &Callable) -> Vec<Vec<Case>> {
    let name = ["aoti_torch_cpu_", "aoti_torch_cuda_"]
        .iter()
        .find_map(|prefix| what.name.strip_prefix(prefix))
        .unwrap_or(&what.name);
    let full =
        format!("{name}{}{}", if what.overload.is_empty() { "" } else { "." }, what.overload);
    let lines = BASES.lines().filter_map(|line| line.split_once(' '));
    let of_name = lines.filter(|(name, _)| *name == full);
    let wanted = what.arguments.iter().filter(|kind| !matches!(kind, Kind::Out(_))).count();
    // The CPU's function and that of CUDA may take others.
    let fitting = of_name.filter(|(_, texts)| texts.split_whitespace().count() == wanted);
    let made = |(_, texts): (&str, &'static str)| {
        let mut texts = texts.split_whitespace();
        let one = |kind: &Kind| match kind {
            Kind::Out(_) => Case::Out(true),
            kind => case(kind, texts.next().unwrap_or_default()),
        };
        what.arguments.iter().map(one).collect()
    };
    fitting.map(made).collect()
}
