//! A case of the recording, called.

use sconce::*;
use testkit::json::Json;

use super::recording::{Case, Recorded, encode, real_number};
use crate::api::{self, Handle, Outcome, dtype_of, integer, options, real, truth};
use crate::create;
use crate::operations::{self, Operand};

/// A tensor with the recorded elements at the recorded strides; places in between hold 1.
fn input(recorded: &Recorded, device: i32) -> Handle {
    let element = api::bytes_of(recorded.dtype);
    let steps = recorded.sizes.iter().zip(&recorded.strides);
    let extent: i64 = 1 + steps.map(|(size, stride)| (size - 1).max(0) * stride).sum::<i64>();
    let mut bytes = encode(recorded.dtype, 1.0).repeat(extent as usize);
    for (mut rest, value) in recorded.values.iter().enumerate() {
        let mut at = 0;
        for (size, stride) in recorded.sizes.iter().zip(&recorded.strides).rev() {
            at += (rest as i64 % size * stride) as usize;
            rest /= *size as usize;
        }
        bytes[at * element..][..element].copy_from_slice(&encode(recorded.dtype, *value));
    }
    let memory = create::from_bytes(&bytes, &[extent], recorded.dtype, device).unwrap();
    memory.as_strided(&recorded.sizes, &recorded.strides, 0).unwrap()
}

fn scalar(json: &Json) -> sconce_scalar {
    match json {
        Json::Boolean(value) => truth(*value),
        Json::Integer(value) => integer(*value as i64),
        other => real(real_number(other)),
    }
}

fn binary_operation(op: &str) -> Option<i32> {
    Some(match op {
        "add" => SCONCE_BINARY_ADD,
        "sub" => SCONCE_BINARY_SUB,
        "mul" => SCONCE_BINARY_MUL,
        "div" => SCONCE_BINARY_DIV,
        "pow" => SCONCE_BINARY_POW,
        "minimum" => SCONCE_BINARY_MINIMUM,
        "maximum" => SCONCE_BINARY_MAXIMUM,
        "eq" => SCONCE_BINARY_EQ,
        "ne" => SCONCE_BINARY_NE,
        "lt" => SCONCE_BINARY_LT,
        "le" => SCONCE_BINARY_LE,
        "gt" => SCONCE_BINARY_GT,
        "ge" => SCONCE_BINARY_GE,
        _ => return None,
    })
}

fn unary_operation(op: &str) -> Option<i32> {
    Some(match op {
        "neg" => SCONCE_UNARY_NEG,
        "abs" => SCONCE_UNARY_ABS,
        "exp" => SCONCE_UNARY_EXP,
        "log" => SCONCE_UNARY_LOG,
        "sqrt" => SCONCE_UNARY_SQRT,
        "tanh" => SCONCE_UNARY_TANH,
        "sigmoid" => SCONCE_UNARY_SIGMOID,
        "relu" => SCONCE_UNARY_RELU,
        "gelu" => SCONCE_UNARY_GELU,
        "silu" => SCONCE_UNARY_SILU,
        "logical_not" => SCONCE_UNARY_LOGICAL_NOT,
        _ => return None,
    })
}

fn reduction(op: &str) -> Option<i32> {
    Some(match op {
        "sum" => SCONCE_REDUCE_SUM,
        "mean" => SCONCE_REDUCE_MEAN,
        "amax" => SCONCE_REDUCE_AMAX,
        "argmax" => SCONCE_REDUCE_ARGMAX,
        _ => return None,
    })
}

/// New tensors, from numbers alone.
fn factory(case: &Case, device: i32) -> Outcome<Handle> {
    let attributes = &case.attributes;
    let number = |key: &str| scalar(&attributes[key]);
    let dtype = attributes.get("dtype").map_or(SCONCE_DTYPE_DEFAULT, |name| dtype_of(name.text()));
    let options = &options(dtype, device);
    match case.op.as_str() {
        "arange" => create::arange(["start", "end", "step"].map(number), options),
        "linspace" => {
            create::linspace(["start", "end"].map(number), attributes["steps"].number(), options)
        }
        "eye" => create::eye(attributes["n"].number(), attributes["m"].number(), options),
        "full" => {
            let sizes: Vec<i64> = attributes["size"].items().iter().map(Json::number).collect();
            create::full(&sizes, number("value"), options)
        }
        op => panic!("no operation {op}"),
    }
}

/// The result of a case with a number if it were a tensor without dimensions.
pub(crate) fn with_number_as_tensor(case: &Case, device: i32) -> Outcome<Handle> {
    let number = scalar(&case.attributes["scalar"]);
    let number = create::full(&[], number, &options(number_dtype(number), device))?;
    let first = input(&case.inputs[0], device);
    let operation = binary_operation(&case.op).unwrap();
    operations::binary(operation, Operand::Tensor(&first), Operand::Tensor(&number))
}

/// The type of a tensor that is made of a number.
fn number_dtype(number: sconce_scalar) -> i32 {
    match number.kind {
        SCONCE_SCALAR_REAL => SCONCE_DTYPE_F32,
        SCONCE_SCALAR_BOOL => SCONCE_DTYPE_BOOL,
        _ => SCONCE_DTYPE_I64,
    }
}

/// The results of a case on a device, or on the CPU.
pub(crate) fn call(case: &Case, device: i32) -> Outcome<Vec<Handle>> {
    let inputs: Vec<Handle> = case.inputs.iter().map(|tensor| input(tensor, device)).collect();
    let attributes = &case.attributes;
    let int = |key: &str| attributes[key].number::<i64>();
    let list =
        |key: &str| -> Vec<i64> { attributes[key].items().iter().map(Json::number).collect() };
    let is = |key: &str| attributes.get(key) == Some(&Json::Boolean(true));
    let one = |result: Outcome<Handle>| result.map(|tensor| vec![tensor]);
    let op = case.op.as_str();
    let Some(first) = inputs.first() else { return one(factory(case, device)) };
    if let Some(operation) = unary_operation(op) {
        return one(operations::unary(operation, first));
    }
    if let Some(operation) = binary_operation(op) {
        let second = match attributes.get("scalar") {
            Some(number) => Operand::Number(scalar(number)),
            None => Operand::Tensor(&inputs[1]),
        };
        return one(operations::binary(operation, Operand::Tensor(first), second));
    }
    if let Some(operation) = reduction(op) {
        let dim = attributes.get("dim").map(Json::number);
        return one(operations::reduce(operation, first, dim, is("keepdim")));
    }
    let all: Vec<&Handle> = inputs.iter().collect();
    let number = |key: &str| Operand::Number(scalar(&attributes[key]));
    match op {
        "clamp" => one(operations::clamp(first, number("min"), number("max"))),
        "where" => {
            one(operations::choose(first, Operand::Tensor(&inputs[1]), Operand::Tensor(&inputs[2])))
        }
        "cumsum" => one(operations::along(SCONCE_LINE_CUMSUM, first, int("dim"))),
        "softmax" => one(operations::along(SCONCE_LINE_SOFTMAX, first, int("dim"))),
        "cat" => one(operations::cat(&all, int("dim"))),
        "stack" => one(operations::stack(&all, int("dim"))),
        "index_select" => one(operations::index_select(first, int("dim"), &inputs[1])),
        "nonzero" => one(operations::nonzero(first)),
        "sort" => operations::sort(first, int("dim"), is("descending")).map(Vec::from),
        "matmul" => one(operations::matmul(first, &inputs[1])),
        "bmm" => one(operations::bmm(first, &inputs[1])),
        "addmm" => one(operations::addmm(&inputs[2], first, &inputs[1])),
        "to" => one(first.to(&options(dtype_of(attributes["dtype"].text()), -1), false)),
        "clone" => one(first.clone_as(int("format") as i32)),
        "contiguous" => one(first.contiguous(int("format") as i32)),
        "full_like" => {
            let memory_format = int("format") as i32;
            let like = sconce_tensor_options { memory_format, ..options(-1, -1) };
            one(create::full_like(first, integer(1), &like))
        }
        "chunk" => first.chunk(int("chunks"), int("dim")),
        "split" => first.split(int("size"), int("dim")),
        "expand" => one(first.expand(&list("size"))),
        "view" => one(first.view(&list("size"))),
        "reshape" => one(first.reshape(&list("size"))),
        "flatten" => one(first.flatten(int("start"), int("end"))),
        "squeeze" => one(first.squeeze(&[int("dim")])),
        "unsqueeze" => one(first.unsqueeze(int("dim"))),
        "narrow" => one(first.narrow(int("dim"), int("start"), int("length"))),
        "select" => one(first.select(int("dim"), int("index"))),
        "slice" => one(first.slice(int("dim"), int("start"), int("end"), int("step"))),
        "transpose" => one(first.transpose(int("dim0"), int("dim1"))),
        "permute" => one(first.permute(&list("dims"))),
        "diagonal" => one(first.diagonal(int("offset"), int("dim1"), int("dim2"))),
        op => panic!("no operation {op}"),
    }
}
