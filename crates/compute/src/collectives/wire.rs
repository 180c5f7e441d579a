//! How element types and reductions travel.
//!
//! | type | copied | reduced |
//! |---|---|---|
//! | those of the library | as they are | as they are |
//! | bool | as bytes | the sum is the maximum, the product the minimum, as in torch |
//! | complex | as pairs of reals | as pairs of reals: sum, average, sum with a factor |
//! | `F8_E4M3FN`, `F8_E5M2` | as bytes | as they are, on devices of compute capability 9.0 or later |
//! | others | as bytes | not |

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_driver::CommOp;

/// A type in the library's types: so many of them are one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wire {
    pub(super) dtype: Dtype,
    pub(super) per_element: usize,
}

/// The type as which elements are reduced, or `None`.
fn reducible(dtype: Dtype) -> Option<Wire> {
    let (dtype, per_element) = match dtype {
        Dtype::I8
        | Dtype::U8
        | Dtype::I32
        | Dtype::U32
        | Dtype::I64
        | Dtype::U64
        | Dtype::F16
        | Dtype::Bf16
        | Dtype::F32
        | Dtype::F64
        | Dtype::F8E4M3Fn
        | Dtype::F8E5M2 => (dtype, 1),
        Dtype::Bool => (Dtype::U8, 1),
        Dtype::C32 => (Dtype::F16, 2),
        Dtype::C64 => (Dtype::F32, 2),
        Dtype::C128 => (Dtype::F64, 2),
        _ => return None,
    };
    Some(Wire { dtype, per_element })
}

/// Whether elements are reduced on newer devices only. Releases of the library that cannot reduce them have no such
/// type, so they are copied as bytes.
fn is_narrow(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::F8E4M3Fn | Dtype::F8E5M2)
}

/// How elements are copied.
pub(super) fn to_copy(dtype: Dtype) -> Wire {
    let bytes = Wire { dtype: Dtype::U8, per_element: dtype.bytes() };
    reducible(dtype).filter(|wire| !is_narrow(wire.dtype)).unwrap_or(bytes)
}

/// Refuses to reduce 8-bit floating-point numbers on a device that cannot. `capability` returns the major and minor
/// part of the device's compute capability.
pub(super) fn check_capability(
    dtype: Dtype,
    capability: impl FnOnce() -> Result<(i32, i32)>,
) -> Result<()> {
    if !is_narrow(dtype) {
        return Ok(());
    }
    match capability()? {
        (9.., _) => Ok(()),
        (major, minor) => Err(Error::not_supported(format!(
            "elements of {} are reduced on devices of compute capability 9.0 or later, and this one has \
             {major}.{minor}; convert them",
            dtype.name()
        ))),
    }
}

/// How elements are reduced by an operation, and by which operation they are.
pub(super) fn to_reduce(dtype: Dtype, op: CommOp) -> Result<(Wire, CommOp)> {
    let Some(wire) = reducible(dtype) else {
        return Err(Error::not_supported(format!(
            "elements of {} cannot be reduced; convert them, or gather them and reduce them there",
            dtype.name()
        )));
    };
    let op = match (dtype, op) {
        (Dtype::Bool, CommOp::Sum) => CommOp::Max,
        (Dtype::Bool, CommOp::Prod) => CommOp::Min,
        (Dtype::Bool, CommOp::Avg | CommOp::PremulSum(_)) => {
            return Err(Error::invalid_argument("Cannot use ReduceOp.AVG with boolean inputs"));
        }
        (Dtype::C32 | Dtype::C64 | Dtype::C128, CommOp::Prod | CommOp::Min | CommOp::Max) => {
            return Err(Error::invalid_argument(
                "op is not supported for complex numbers; they support sum, average and sum with a factor",
            ));
        }
        (_, op) => op,
    };
    Ok((wire, op))
}

#[cfg(test)]
mod tests {
    use sconce_base::error::Status;

    use super::*;

    #[test]
    fn bools_and_complex_numbers_travel_as_torch_sends_them() {
        let of =
            |dtype, op| to_reduce(dtype, op).map(|(wire, op)| (wire.dtype, wire.per_element, op));
        assert_eq!(of(Dtype::Bool, CommOp::Sum), Ok((Dtype::U8, 1, CommOp::Max)));
        assert_eq!(of(Dtype::Bool, CommOp::Prod), Ok((Dtype::U8, 1, CommOp::Min)));
        assert_eq!(of(Dtype::C64, CommOp::Avg), Ok((Dtype::F32, 2, CommOp::Avg)));
        assert_eq!(of(Dtype::C128, CommOp::Sum), Ok((Dtype::F64, 2, CommOp::Sum)));
        let status = |dtype, op| of(dtype, op).map_err(|error| error.status());
        assert_eq!(status(Dtype::Bool, CommOp::Avg), Err(Status::InvalidArgument));
        assert_eq!(status(Dtype::C32, CommOp::Max), Err(Status::InvalidArgument));
        assert_eq!(status(Dtype::I16, CommOp::Sum), Err(Status::NotSupported));
    }

    #[test]
    fn narrow_floats_are_reduced_where_devices_can_and_copied_everywhere() {
        for dtype in [Dtype::F8E4M3Fn, Dtype::F8E5M2] {
            assert_eq!(to_copy(dtype), Wire { dtype: Dtype::U8, per_element: 1 });
            let reduced = Wire { dtype, per_element: 1 };
            assert_eq!(to_reduce(dtype, CommOp::Avg), Ok((reduced, CommOp::Avg)));
            assert_eq!(check_capability(dtype, || Ok((9, 0))), Ok(()));
            assert_eq!(check_capability(dtype, || Ok((10, 3))), Ok(()));
            let old = check_capability(dtype, || Ok((8, 9))).unwrap_err();
            assert_eq!(old.status(), Status::NotSupported);
            assert!(old.message().contains("this one has 8.9"), "{old}");
        }
        let not_asked = || -> Result<(i32, i32)> { unreachable!() };
        assert_eq!(check_capability(Dtype::F32, not_asked), Ok(()));
        assert!(to_reduce(Dtype::F8E4M3Fnuz, CommOp::Sum).is_err());
    }

    #[test]
    fn every_type_can_be_copied_byte_for_byte() {
        for dtype in Dtype::ALL {
            let wire = to_copy(dtype);
            assert_eq!(wire.dtype.bytes() * wire.per_element, dtype.bytes(), "{dtype:?}");
        }
    }
}
