//! What models report of themselves where they were compiled for it: ranges for profiling tools, values of tensors,
//! checks for numbers that are not finite.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use std::ffi::c_void;
use std::io::Write;

use super::arguments::{CText, Out, array, object, with_tensors};
use super::errors::text_of;
use crate::error::{Error, guard, shim};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, check, operations};

/// A value that a model names with a range. Ranges of profiling tools have names alone, so it is kept and not read.
#[allow(dead_code, reason = "owned until the model deletes it")]
pub enum Reported {
    /// A whole number.
    Int(i64),
    /// A text.
    Text(String),
    /// Several texts.
    Texts(Vec<String>),
    /// A tensor.
    Tensor(Tensor),
}

/// Returns a value, which the caller owns.
fn return_value(
    place: Out<'_, Box<Reported>>,
    value: impl FnOnce() -> crate::error::Result<Reported>,
) -> i32 {
    shim(|| {
        place.check("ivalue")?;
        place.write("ivalue", Box::new(value()?))
    })
}

/// Returns a whole number as a value of a range.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_int64_to_ivalue(val: i64, ivalue: Out<'_, Box<Reported>>) -> i32 {
    return_value(ivalue, || Ok(Reported::Int(val)))
}

/// Returns a text as a value of a range.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_str_to_ivalue(val: CText<'_>, ivalue: Out<'_, Box<Reported>>) -> i32 {
    let text = || Ok(Reported::Text(val.text()));
    return_value(ivalue, text)
}

/// Returns texts as a value of a range.
///
/// # Safety
/// There are `len` texts, each NULL or with a NUL at its end; the result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_strlist_to_ivalue(
    val: *const CText<'_>,
    len: i64,
    ivalue: Out<'_, Box<Reported>>,
) -> i32 {
    let texts = || {
        let count = usize::try_from(len).map_err(|_| {
            Error::invalid_argument(format!("len is {len}, but must not be negative"))
        })?;
        // SAFETY: the model passes an array of `len` texts.
        let texts = unsafe { array(val, count, "val") }?;
        Ok(Reported::Texts(texts.iter().map(|text| text.text()).collect()))
    };
    return_value(ivalue, texts)
}

/// Returns a tensor as a value of a range.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_tensor_to_ivalue(
    val: TensorHandle,
    ivalue: Out<'_, Box<Reported>>,
) -> i32 {
    return_value(ivalue, || {
        with_tensors(&[("val", val)], || Tensor::retained(val)).map(Reported::Tensor)
    })
}

/// Deletes a value of a range.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_delete_c10_value_object(handle: Option<Box<Reported>>) -> i32 {
    shim(|| object(handle, "handle").map(drop))
}

/// Begins a range for profiling tools, as `sconce_nvtx_range_start` does.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_record_function_start(
    name: CText<'_>,
    _kwargs: *mut c_void,
    _inputs: *const *mut Reported,
    _n_inputs: u64,
    guard: Out<'_, Box<u64>>,
) -> i32 {
    shim(|| {
        guard.check("guard")?;
        let (name, mut number) = (name.required("name")?, 0);
        // SAFETY: the name is a text of C; the place is valid for a write.
        check(unsafe { api::sconce_nvtx_range_start(name.as_ptr(), &mut number) })?;
        guard.write("guard", Box::new(number))
    })
}

/// Ends a range.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_record_function_end(guard: Option<Box<u64>>) -> i32 {
    shim(|| check(api::sconce_nvtx_range_end(*object(guard, "guard")?)))
}

/// Fails if a tensor has a NaN or an infinity.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_check_inf_and_nan(
    tensor_name: CText<'_>,
    tensor: TensorHandle,
) -> i32 {
    shim(|| {
        let finite = operations::unary(api::SCONCE_UNARY_IS_FINITE, &Tensor::retained(tensor)?)?;
        if operations::all_true(&finite)? {
            return Ok(());
        }
        let name = tensor_name.text();
        Err(Error::invalid_argument(format!("the tensor {name} has a NaN or an infinity")))
    })
}

/// Prints a tensor, as models do that were compiled with `aot_inductor.debug_intermediate_value_printer`.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_print_tensor_handle(this: TensorHandle, msg: CText<'_>) {
    guard(|| {
        let mut text = std::ptr::null_mut();
        check(api::sconce_tensor_to_string(this, &mut text))?;
        // SAFETY: the call succeeded, so it is a text, which is copied before it is freed.
        let values = unsafe { text_of(text) };
        // SAFETY: a text of libsconce.so, freed once.
        unsafe { api::sconce_string_free(text) };
        let message = msg.text();
        let printed = writeln!(std::io::stdout(), "[ {message} ]:\n{values}");
        printed.map_err(|why| Error::io(format!("a tensor could not be printed: {why}")))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::newest;
    use crate::testing::{Dense, live};

    #[test]
    fn numbers_that_are_not_finite_are_found() {
        let of = |values: Vec<f64>, dtype| {
            Dense { sizes: vec![values.len() as i64], values }.tensor(dtype)
        };
        let check = |tensor: &Tensor| aoti_torch_check_inf_and_nan(c"buf0".into(), tensor.handle());
        let f32 = api::SCONCE_DTYPE_F32;
        assert_eq!(check(&of(vec![1.0, -2.0], f32)), 0);
        assert_eq!(check(&of(vec![], f32)), 0);
        assert_eq!(check(&of(vec![3.0], api::SCONCE_DTYPE_I64)), 0);
        for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(check(&of(vec![1.0, wrong], f32)), 1);
            assert!(newest().unwrap().contains("the tensor buf0 has a NaN or an infinity"));
        }
    }

    #[test]
    fn values_of_ranges_own_what_they_hold() {
        let before = live();
        let tensor = Dense { sizes: vec![1], values: vec![1.0] }.tensor(api::SCONCE_DTYPE_F32);
        let mut values = [const { None }; 4];
        let texts = [CText::from(c"a"), CText::from(c"b")];
        let mut range = None;
        assert_eq!(aoti_torch_int64_to_ivalue(7, Out::of_box(&mut values[0])), 0);
        assert_eq!(aoti_torch_str_to_ivalue(c"text".into(), Out::of_box(&mut values[1])), 0);
        let list = |length, value: &mut Option<Box<Reported>>| {
            // SAFETY: the array has two texts; a negative length is refused.
            unsafe { aoti_torch_strlist_to_ivalue(texts.as_ptr(), length, Out::of_box(value)) }
        };
        assert_eq!(list(2, &mut values[2]), 0);
        assert_eq!(aoti_torch_tensor_to_ivalue(tensor.handle(), Out::of_box(&mut values[3])), 0);
        assert_ne!(list(-1, &mut values[2]), 0);
        let none = std::ptr::null_mut();
        let status = aoti_record_function_start(
            c"range".into(),
            none,
            std::ptr::null(),
            0,
            Out::of_box(&mut range),
        );
        assert_eq!(status, 0);
        assert_eq!(aoti_record_function_end(range), 0);
        assert_ne!(aoti_record_function_end(None), 0);
        aoti_torch_print_tensor_handle(tensor.handle(), c"a tensor".into());
        for value in values {
            assert_eq!(aoti_torch_delete_c10_value_object(value), 0);
        }
        drop(tensor);
        assert_eq!(live(), before);
    }
}
