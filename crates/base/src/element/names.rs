//! The names that PyTorch has for the types.

use super::dtype::Dtype;

impl Dtype {
    /// The name of c10's `ScalarType`, which PyTorch's messages have.
    pub const fn c10_name(self) -> &'static str {
        match self {
            Dtype::U8 => "Byte",
            Dtype::I8 => "Char",
            Dtype::I16 => "Short",
            Dtype::I32 => "Int",
            Dtype::I64 => "Long",
            Dtype::F16 => "Half",
            Dtype::F32 => "Float",
            Dtype::F64 => "Double",
            Dtype::C32 => "ComplexHalf",
            Dtype::C64 => "ComplexFloat",
            Dtype::C128 => "ComplexDouble",
            Dtype::Bool => "Bool",
            Dtype::Bf16 => "BFloat16",
            Dtype::U16 => "UInt16",
            Dtype::U32 => "UInt32",
            Dtype::U64 => "UInt64",
            Dtype::F8E4M3Fn => "Float8_e4m3fn",
            Dtype::F8E4M3Fnuz => "Float8_e4m3fnuz",
            Dtype::F8E5M2 => "Float8_e5m2",
            Dtype::F8E5M2Fnuz => "Float8_e5m2fnuz",
            Dtype::F8E8M0Fnu => "Float8_e8m0fnu",
            Dtype::F4E2M1FnX2 => "Float4_e2m1fn_x2",
        }
    }

    /// The name in the module `torch`.
    pub const fn torch_name(self) -> &'static str {
        match self {
            Dtype::F32 => "float32",
            Dtype::F64 => "float64",
            Dtype::F16 => "float16",
            Dtype::Bf16 => "bfloat16",
            Dtype::I8 => "int8",
            Dtype::I16 => "int16",
            Dtype::I32 => "int32",
            Dtype::I64 => "int64",
            Dtype::U8 => "uint8",
            Dtype::Bool => "bool",
            Dtype::C64 => "complex64",
            Dtype::C128 => "complex128",
            Dtype::U16 => "uint16",
            Dtype::U32 => "uint32",
            Dtype::U64 => "uint64",
            Dtype::C32 => "complex32",
            Dtype::F8E4M3Fn => "float8_e4m3fn",
            Dtype::F8E4M3Fnuz => "float8_e4m3fnuz",
            Dtype::F8E5M2 => "float8_e5m2",
            Dtype::F8E5M2Fnuz => "float8_e5m2fnuz",
            Dtype::F8E8M0Fnu => "float8_e8m0fnu",
            Dtype::F4E2M1FnX2 => "float4_e2m1fn_x2",
        }
    }

    /// The type with a name in the module `torch`. `None` for a type that this library lacks.
    pub fn from_torch_name(name: &str) -> Option<Dtype> {
        Dtype::ALL.into_iter().find(|dtype| dtype.torch_name() == name)
    }
}
