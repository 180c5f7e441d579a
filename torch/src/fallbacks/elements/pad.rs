//! Tensors with more elements, or fewer, at the ends of dimensions: `pad`.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use crate::abi::arguments::{CText, list, optional, with_tensors};
use crate::abi::handles::return_tensor;
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::fallbacks::{Place, give};
use crate::operations::tensors::format_of;
use crate::sconce::operations::{self, Operand};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::{number, options};
use crate::sconce::{Tensor, api};

/// What is added at the begin and the end of a dimension; less than 0 takes away.
struct Ends {
    dim: i64,
    begin: i64,
    end: i64,
}

/// The pairs of a list, which begins with the last dimension.
fn ends(pad: &[i64], sizes: &[i64]) -> Result<Vec<Ends>> {
    if !pad.len().is_multiple_of(2) || pad.len() > 2 * sizes.len() {
        return Err(Error::invalid_argument(format!(
            "pad has {} entries; it needs two for each of at most {} dimensions",
            pad.len(),
            sizes.len()
        )));
    }
    let mut found = Vec::new();
    for (pair, (dim, &size)) in pad.chunks_exact(2).zip(sizes.iter().enumerate().rev()) {
        let (begin, end) = (pair[0], pair[1]);
        let length = size.checked_add(begin).and_then(|length| length.checked_add(end));
        if length.is_none_or(|length| length < 0) {
            return Err(Error::invalid_argument(format!(
                "pad takes {begin} and {end} elements from dimension {dim}, which has {size}"
            )));
        }
        found.push(Ends { dim: dim as i64, begin, end });
    }
    Ok(found)
}

/// The value around the tensor; the order of its dimensions stays.
fn constant(tensor: TensorHandle, pad: &[i64], value: f64) -> Result<Tensor> {
    let sizes = sizes_of(tensor)?;
    let ends = ends(pad, &sizes)?;
    let mut whole = sizes.clone();
    for end in &ends {
        // `ends` has checked the sum in this order.
        let size = &mut whole[end.dim as usize];
        *size = *size + end.begin + end.end;
    }
    let mut options = options(dtype_of_tensor(tensor)?, device_of_tensor(tensor)?);
    options.memory_format = format_of(tensor)?;
    let result = operations::full(&whole, &number(value), &options)?;
    let (mut from, mut into) = (Tensor::retained(tensor)?, Tensor::retained(result.handle())?);
    for Ends { dim, begin, end } in ends {
        let size = sizes[dim as usize];
        let kept = size.saturating_add(begin.min(0)).saturating_add(end.min(0)).max(0);
        // Where more is taken away at one end than there is, what is added at the other one is all that is left.
        let first = begin.saturating_neg().clamp(0, size - kept);
        let place = begin.max(0).min(whole[dim as usize] - kept);
        from = operations::narrow(from.handle(), dim, first, kept)?;
        into = operations::narrow(into.handle(), dim, place, kept)?;
    }
    operations::copy(&into, from.handle())?;
    Ok(result)
}

/// Which element of a dimension each place of the result shows.
#[derive(Clone, Copy)]
enum PaddingMode {
    Reflect,
    Replicate,
    Circular,
}

impl PaddingMode {
    fn index(self, size: i64, ends: &Ends, device: i32) -> Result<Tensor> {
        let options = options(api::SCONCE_DTYPE_I64, device);
        let first = ends.begin.saturating_neg();
        let places = operations::arange(first, size.saturating_add(ends.end), 1, &options)?;
        let with = |operation, tensor: &Tensor, number: i64| {
            operations::binary(operation, tensor, Operand::Whole(number))
        };
        match self {
            PaddingMode::Replicate => {
                let least = with(api::SCONCE_BINARY_MAXIMUM, &places, 0)?;
                with(api::SCONCE_BINARY_MINIMUM, &least, size - 1)
            }
            PaddingMode::Circular => with(api::SCONCE_BINARY_REMAINDER, &places, size),
            PaddingMode::Reflect => {
                // The distance from the last element, twice: |last - |last - |place|||.
                let last = size - 1;
                let place = operations::unary(api::SCONCE_UNARY_ABS, &places)?;
                let beyond = with(api::SCONCE_BINARY_SUB, &place, last)?;
                let beyond = operations::unary(api::SCONCE_UNARY_ABS, &beyond)?;
                let back = operations::unary(api::SCONCE_UNARY_NEG, &beyond)?;
                with(api::SCONCE_BINARY_ADD, &back, last)
            }
        }
    }

    fn check(self, size: i64, ends: &Ends) -> Result<()> {
        let most = match self {
            PaddingMode::Reflect => size - 1,
            PaddingMode::Circular => size,
            PaddingMode::Replicate => i64::MAX,
        };
        if size < 1 {
            return Err(Error::invalid_argument(format!(
                "dimension {} has no elements to show",
                ends.dim
            )));
        }
        if ends.begin > most || ends.end > most {
            return Err(Error::invalid_argument(format!(
                "pad adds {} and {} elements to dimension {}, which has {size}; at most {most} can be added",
                ends.begin, ends.end, ends.dim
            )));
        }
        Ok(())
    }
}

/// The tensor's own elements around it.
fn repeated(tensor: TensorHandle, pad: &[i64], mode: PaddingMode) -> Result<Tensor> {
    let sizes = sizes_of(tensor)?;
    let spatial = pad.len() / 2;
    if !(1..=3).contains(&spatial) || !(spatial + 1..=spatial + 2).contains(&sizes.len()) {
        return Err(Error::invalid_argument(format!(
            "pad has {} entries and the tensor {} dimensions; this mode pads the last 1 to 3 of dimensions, before \
             which there are one or two others",
            pad.len(),
            sizes.len()
        )));
    }
    let device = device_of_tensor(tensor)?;
    let mut result = operations::contiguous_copy(tensor)?;
    for ends in ends(pad, &sizes)? {
        let size = sizes[ends.dim as usize];
        mode.check(size, &ends)?;
        let index = mode.index(size, &ends, device)?;
        result = operations::index_select(result.handle(), ends.dim, index.handle())?;
    }
    Ok(result)
}

/// The tensor with `value` around it where the mode is `constant`, else with its own elements.
fn padded(tensor: TensorHandle, pad: &[i64], mode: &str, value: Option<f64>) -> Result<Tensor> {
    let mode = match mode {
        "constant" => return constant(tensor, pad, value.unwrap_or(0.0)),
        "reflect" => PaddingMode::Reflect,
        "replicate" => PaddingMode::Replicate,
        "circular" => PaddingMode::Circular,
        other => {
            return Err(Error::invalid_argument(format!(
                "mode is \"{other}\"; the modes are constant, reflect, replicate and circular"
            )));
        }
    };
    if value.is_some_and(|value| value != 0.0) {
        return Err(Error::invalid_argument("a value is given, which the mode constant alone has"));
    }
    repeated(tensor, pad, mode)
}

/// As [`padded`], in a mode as the ABI has it.
fn padded_as(
    tensor: TensorHandle,
    pad: &[i64],
    mode: CText<'_>,
    value: Option<f64>,
) -> Result<Tensor> {
    padded(tensor, pad, &mode.required("mode")?.to_string_lossy(), value)
}

abi_functions! {
    /// As [`aoti_torch_aten_pad`].
    aoti_torch_cpu_pad | aoti_torch_cuda_pad(
        tensor as self: TensorHandle, pad: &[i64], mode: CText, value: Option<f64>, ret0: Place,
    ) {
        give(ret0, padded_as(tensor, pad, mode, value)?)
    }
}

/// Returns a tensor with elements added around it: a value, or its own elements. `pad` has two numbers a dimension, and
/// begins with the last one.
///
/// # Safety
/// `pad` has `pad_len` entries; the mode ends with NUL; the value is NULL or valid for a read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_aten_pad(
    this: TensorHandle,
    pad: *const i64,
    pad_len: i64,
    mode: CText<'_>,
    value: *const f64,
    ret0: Place<'_>,
) -> i32 {
    let make = || {
        // SAFETY: the ABI has the number of entries of `pad` in `pad_len`.
        let pad = unsafe { list(pad, pad_len, "pad") };
        // SAFETY: `value` is an optional argument of the ABI: NULL, or the address of a value.
        let value = unsafe { optional(value) };
        let padded = |pad| with_tensors(&[("self", this)], || padded_as(this, pad, mode, value));
        let result = pad.and_then(padded);
        result.map_err(|error| error.within("aten::pad"))
    };
    return_tensor(ret0, "ret0", make)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::newest;
    use crate::testing::{Cases, Dense, live};
    use api::SCONCE_DTYPE_F32 as F32;

    fn pad(
        tensor: &Tensor,
        pad: &[i64],
        mode: &std::ffi::CStr,
        value: Option<f64>,
    ) -> Option<Tensor> {
        let mut made = std::ptr::null_mut();
        let value = value.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: the arguments are valid.
        let status = unsafe {
            let length = pad.len() as i64;
            aoti_torch_aten_pad(
                tensor.handle(),
                pad.as_ptr(),
                length,
                mode.into(),
                value,
                Place::from(&mut made),
            )
        };
        (status == 0).then(|| Tensor::from_handle(made))
    }

    #[test]
    fn tensors_are_padded_as_by_loops() {
        let before = live();
        let mut cases = Cases::new(31);
        for turn in 0..80 {
            let mode = cases.one(&[c"constant", c"reflect", c"replicate", c"circular"]);
            let spatial = cases.int(1, 3);
            let rank = spatial + cases.int(1, 2);
            let sizes: Vec<i64> = (0..rank).map(|_| cases.int(1, 4)).collect();
            let values = Dense::quarters(&mut cases, &sizes);
            let x = values.either(&mut cases, F32);
            let mut list = Vec::new();
            let mut whole = sizes.clone();
            let mut begins = vec![0; rank as usize];
            for dim in (0..rank as usize).rev().take(spatial as usize) {
                let size = sizes[dim];
                let most = match mode.to_bytes() {
                    b"reflect" => size - 1,
                    b"circular" => size,
                    _ => 3,
                };
                let least = -(size - 1) / 2;
                let (begin, end) = (cases.int(least, most), cases.int(least, most));
                list.extend([begin, end]);
                whole[dim] += begin + end;
                begins[dim] = begin;
            }
            let value = (mode == c"constant" && turn % 2 == 0).then_some(0.75);
            let expected = Dense::build(&whole, |index| {
                let mut place = Vec::new();
                for ((at, begin), size) in index.iter().zip(&begins).zip(&sizes) {
                    let mut at = at - begin;
                    match mode.to_bytes() {
                        b"reflect" => {
                            while !(0..*size).contains(&at) {
                                at = if at < 0 { -at } else { 2 * (size - 1) - at };
                            }
                        }
                        b"replicate" => at = at.clamp(0, size - 1),
                        b"circular" => at = at.rem_euclid(*size),
                        _ if !(0..*size).contains(&at) => return value.unwrap_or(0.0),
                        _ => {}
                    }
                    place.push(at);
                }
                values.at(&place)
            });
            let found = pad(&x, &list, mode, value);
            let found =
                found.unwrap_or_else(|| panic!("{mode:?} {list:?} of {sizes:?}: {:?}", newest()));
            expected.assert_near(found.handle(), 0.0, &format!("{mode:?} {list:?} of {sizes:?}"));
        }
        assert_eq!(live(), before);
    }

    #[test]
    fn wrong_pads_are_refused() {
        let before = live();
        let x = Dense { sizes: vec![1, 2, 3], values: vec![0.0; 6] }.tensor(F32);
        for (list, mode, value, words) in [
            (vec![1], c"constant", None, "pad has 1 entries"),
            (vec![0; 8], c"constant", None, "two for each of at most 3 dimensions"),
            (vec![-2, -2], c"constant", None, "takes -2 and -2 elements from dimension 2"),
            (vec![1, 1], c"mirror", None, "mode is \"mirror\""),
            (vec![3, 0], c"reflect", None, "at most 2 can be added"),
            (vec![0, 4], c"circular", None, "at most 3 can be added"),
            (vec![1, 1], c"reflect", Some(1.0), "the mode constant alone has"),
            (vec![1, 1, 1, 1, 1, 1], c"replicate", None, "this mode pads the last 1 to 3"),
        ] {
            assert!(pad(&x, &list, mode, value).is_none());
            let why = newest().unwrap();
            assert!(why.starts_with("aten::pad: ") && why.contains(words), "{why}");
        }
        drop(x);
        assert_eq!(live(), before);
    }
}
