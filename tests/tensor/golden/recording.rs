//! The recordings of `tests/golden/tensor`, read: operations on small tensors and what PyTorch returned.
//!
//! `operations` is of PyTorch 2.11 on an H200. `layouts`, of PyTorch 2.15 on the CPU, is about where results lie in
//! memory; `benches/tensors/record_layouts.py` records it.

use std::io::Read as _;

use sconce::*;
use sconce_base::element::{bf16_bits, bf16_value, f16_bits, f16_value};
use testkit::json::Json;

use crate::api::dtype_of;

/// More than the decoder needs for a dictionary of 64 MiB.
const DECODER_KIB: u32 = 1 << 17;

/// A tensor of the recording.
pub(crate) struct Recorded {
    pub(crate) dtype: i32,
    pub(crate) sizes: Vec<i64>,
    pub(crate) strides: Vec<i64>,
    /// Those of a result on a device, if they differ.
    pub(crate) device_strides: Option<Vec<i64>>,
    pub(crate) values: Vec<f64>,
}

/// An operation, and its results or the first line of its error.
pub(crate) struct Case {
    pub(crate) op: String,
    pub(crate) attributes: Json,
    pub(crate) inputs: Vec<Recorded>,
    pub(crate) expected: Result<Vec<Recorded>, String>,
}

pub(crate) fn real_number(json: &Json) -> f64 {
    match json {
        Json::Integer(number) => *number as f64,
        Json::Float(number) => *number,
        // "inf", "-inf", "nan"
        Json::Text(text) => text.parse().unwrap(),
        other => panic!("no number: {other:?}"),
    }
}

fn numbers(json: &Json) -> Vec<i64> {
    json.items().iter().map(Json::number).collect()
}

fn tensors(json: &Json) -> Vec<Recorded> {
    let tensor = |json: &Json| Recorded {
        dtype: dtype_of(json["dtype"].text()),
        sizes: numbers(&json["size"]),
        strides: numbers(&json["stride"]),
        device_strides: json.get("device_stride").map(numbers),
        values: json["values"].items().iter().map(real_number).collect(),
    };
    json.items().iter().map(tensor).collect()
}

/// A layout, and what PyTorch says about it.
pub(crate) struct Classified {
    pub(crate) sizes: Vec<i64>,
    pub(crate) strides: Vec<i64>,
    pub(crate) is_dense: bool,
    /// The formats in which the elements lie one after another.
    pub(crate) contiguous_as: Vec<i64>,
}

fn open(name: &str) -> Json {
    let path = testkit::root().join(format!("tests/golden/tensor/{name}.json.lzma"));
    let packed = std::fs::read(path).unwrap();
    let mut text = String::new();
    let reader = lzma_rust2::LzmaReader::new_mem_limit(&packed[..], DECODER_KIB, None);
    reader.unwrap().read_to_string(&mut text).unwrap();
    Json::read(&text)
}

/// Every case of a recording.
pub(crate) fn read(name: &str) -> Vec<Case> {
    let case = |json: &Json| Case {
        op: json["op"].text().to_owned(),
        attributes: json["attrs"].clone(),
        inputs: tensors(&json["inputs"]),
        expected: match json.get("error") {
            Some(error) => Err(error.text().to_owned()),
            None => Ok(tensors(&json["outputs"])),
        },
    };
    open(name)["cases"].items().iter().map(case).collect()
}

/// The layouts that were classified.
pub(crate) fn classified() -> Vec<Classified> {
    let classified = |json: &Json| Classified {
        sizes: numbers(&json["size"]),
        strides: numbers(&json["stride"]),
        is_dense: json["is_dense"] == Json::Boolean(true),
        contiguous_as: numbers(&json["contiguous_as"]),
    };
    open("layouts")["classified"].items().iter().map(classified).collect()
}

/// The bytes of a value in a type, which holds it exactly.
pub(crate) fn encode(dtype: i32, value: f64) -> Vec<u8> {
    match dtype {
        SCONCE_DTYPE_F32 => (value as f32).to_le_bytes().to_vec(),
        SCONCE_DTYPE_F64 => value.to_le_bytes().to_vec(),
        SCONCE_DTYPE_F16 => f16_bits(value as f32).to_le_bytes().to_vec(),
        SCONCE_DTYPE_BF16 => bf16_bits(value as f32).to_le_bytes().to_vec(),
        SCONCE_DTYPE_I8 => (value as i8).to_le_bytes().to_vec(),
        SCONCE_DTYPE_I16 => (value as i16).to_le_bytes().to_vec(),
        SCONCE_DTYPE_I32 => (value as i32).to_le_bytes().to_vec(),
        SCONCE_DTYPE_I64 => (value as i64).to_le_bytes().to_vec(),
        SCONCE_DTYPE_U8 => (value as u8).to_le_bytes().to_vec(),
        SCONCE_DTYPE_BOOL => vec![u8::from(value != 0.0)],
        other => panic!("dtype {other}"),
    }
}

/// The value that an element holds.
pub(crate) fn decode(dtype: i32, bytes: &[u8]) -> f64 {
    let short = || u16::from_le_bytes(bytes.try_into().unwrap());
    match dtype {
        SCONCE_DTYPE_F32 => f32::from_le_bytes(bytes.try_into().unwrap()).into(),
        SCONCE_DTYPE_F64 => f64::from_le_bytes(bytes.try_into().unwrap()),
        SCONCE_DTYPE_F16 => f16_value(short()).into(),
        SCONCE_DTYPE_BF16 => bf16_value(short()).into(),
        SCONCE_DTYPE_I8 => (bytes[0] as i8).into(),
        SCONCE_DTYPE_I16 => (short() as i16).into(),
        SCONCE_DTYPE_I32 => i32::from_le_bytes(bytes.try_into().unwrap()).into(),
        SCONCE_DTYPE_I64 => i64::from_le_bytes(bytes.try_into().unwrap()) as f64,
        SCONCE_DTYPE_U8 | SCONCE_DTYPE_BOOL => bytes[0].into(),
        other => panic!("dtype {other}"),
    }
}
