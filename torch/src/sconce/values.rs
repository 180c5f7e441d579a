//! Numbers and options as libsconce.so takes them.

use super::api;

/// A whole number.
pub fn integer(value: i64) -> api::sconce_scalar {
    api::sconce_scalar {
        kind: api::SCONCE_SCALAR_INTEGER,
        reserved: 0,
        integer: value,
        real: 0.0,
        imaginary: 0.0,
    }
}

/// A real number.
pub fn real(value: f64) -> api::sconce_scalar {
    api::sconce_scalar { kind: api::SCONCE_SCALAR_REAL, real: value, ..integer(0) }
}

/// A number of the ABI, which has no other type for whole ones: these fit tensors of integers, too.
pub fn number(value: f64) -> api::sconce_scalar {
    let is_whole = value.fract() == 0.0 && value.abs() < 9e15;
    if is_whole { integer(value as i64) } else { real(value) }
}

/// A truth value.
pub fn truth(value: bool) -> api::sconce_scalar {
    api::sconce_scalar { kind: api::SCONCE_SCALAR_BOOL, ..integer(i64::from(value)) }
}

/// A complex number.
pub fn complex(re: f64, imaginary: f64) -> api::sconce_scalar {
    api::sconce_scalar { kind: api::SCONCE_SCALAR_COMPLEX, imaginary, ..real(re) }
}

/// The options of a new tensor on a device, with Sconce's numbers.
pub fn options(dtype: i32, device: i32) -> api::sconce_tensor_options {
    api::sconce_tensor_options {
        struct_size: size_of::<api::sconce_tensor_options>() as u32,
        dtype,
        device,
        memory_format: api::SCONCE_MEMORY_FORMAT_PRESERVE,
        pinned: false,
        reserved: [0; 7],
    }
}
