//! What models report of themselves where they were compiled for it: ranges for profiling tools, values of tensors,
//! checks for numbers that are not finite.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use std::ffi::{c_char, c_void};
use std::io::Write;

use super::errors::{not_null, text_of};
use crate::error::{Error, guard, shim, write_boxed};
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

/// # Safety
/// The place is NULL or valid for a write.
unsafe fn return_value(
    place: *mut *mut Reported,
    value: impl FnOnce() -> crate::error::Result<Reported>,
) -> i32 {
    shim(|| {
        not_null(place, "ivalue")?;
        let value = Box::new(value()?);
        // SAFETY: the caller's promise.
        unsafe { write_boxed(place, "ivalue", value) }
    })
}

/// Returns a whole number as a value of a range.
///
/// # Safety
/// The result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_int64_to_ivalue(val: i64, ivalue: *mut *mut Reported) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { return_value(ivalue, || Ok(Reported::Int(val))) }
}

/// Returns a text as a value of a range.
///
/// # Safety
/// The text is NULL or ends with NUL; the result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_str_to_ivalue(
    val: *const c_char,
    ivalue: *mut *mut Reported,
) -> i32 {
    // SAFETY: the caller's promise.
    let text = || Ok(Reported::Text(unsafe { text_of(val) }));
    // SAFETY: as above.
    unsafe { return_value(ivalue, text) }
}

/// Returns texts as a value of a range.
///
/// # Safety
/// There are `len` texts, each NULL or with a NUL at its end; the result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_strlist_to_ivalue(
    val: *const *const c_char,
    len: i64,
    ivalue: *mut *mut Reported,
) -> i32 {
    let texts = || {
        let count = usize::try_from(len).map_err(|_| {
            Error::invalid_argument(format!("len is {len}, but must not be negative"))
        })?;
        // SAFETY: the caller's promise.
        let texts = unsafe { super::arguments::array(val, count, "val") }?;
        // SAFETY: as above.
        Ok(Reported::Texts(texts.iter().map(|text| unsafe { text_of(*text) }).collect()))
    };
    // SAFETY: the caller's promise.
    unsafe { return_value(ivalue, texts) }
}

/// Returns a tensor as a value of a range.
///
/// # Safety
/// The result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_tensor_to_ivalue(
    val: TensorHandle,
    ivalue: *mut *mut Reported,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { return_value(ivalue, || Tensor::retained(val).map(Reported::Tensor)) }
}

/// Deletes a value of a range.
///
/// # Safety
/// The value is NULL or one that has not been deleted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_delete_c10_value_object(handle: *mut Reported) -> i32 {
    shim(|| {
        not_null(handle, "handle")?;
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(handle) });
        Ok(())
    })
}

/// Begins a range for profiling tools, as `sconce_nvtx_range_start` does.
///
/// # Safety
/// The name is NULL or ends with NUL; the result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_record_function_start(
    name: *const c_char,
    _kwargs: *mut c_void,
    _inputs: *const *mut Reported,
    _n_inputs: u64,
    guard: *mut *mut u64,
) -> i32 {
    shim(|| {
        not_null(guard, "guard")?;
        not_null(name, "name")?;
        let mut number = 0;
        // SAFETY: the caller's promise for the name; the place is valid for a write.
        check(unsafe { api::sconce_nvtx_range_start(name, &mut number) })?;
        // SAFETY: the caller's promise.
        unsafe { write_boxed(guard, "guard", Box::new(number)) }
    })
}

/// Ends a range.
///
/// # Safety
/// The range is NULL or one that has not ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_record_function_end(guard: *mut u64) -> i32 {
    shim(|| {
        not_null(guard, "guard")?;
        // SAFETY: the caller's promise.
        let number = unsafe { Box::from_raw(guard) };
        check(api::sconce_nvtx_range_end(*number))
    })
}

/// Fails if a tensor has a NaN or an infinity.
///
/// # Safety
/// The text is NULL or ends with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_check_inf_and_nan(
    tensor_name: *const c_char,
    tensor: TensorHandle,
) -> i32 {
    shim(|| {
        let finite = operations::unary(api::SCONCE_UNARY_IS_FINITE, &Tensor::retained(tensor)?)?;
        if operations::all_true(&finite)? {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        let name = unsafe { text_of(tensor_name) };
        Err(Error::invalid_argument(format!("the tensor {name} has a NaN or an infinity")))
    })
}

/// Prints a tensor, as models do that were compiled with `aot_inductor.debug_intermediate_value_printer`.
///
/// # Safety
/// The text is NULL or ends with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_print_tensor_handle(this: TensorHandle, msg: *const c_char) {
    guard(|| {
        let mut text = std::ptr::null_mut();
        check(api::sconce_tensor_to_string(this, &mut text))?;
        // SAFETY: the call succeeded, so it is a text, which is copied before it is freed.
        let values = unsafe { text_of(text) };
        // SAFETY: a text of libsconce.so, freed once.
        unsafe { api::sconce_string_free(text) };
        // SAFETY: the caller's promise.
        let message = unsafe { text_of(msg) };
        let printed = writeln!(std::io::stdout(), "[ {message} ]:\n{values}");
        printed.map_err(|why| Error::io(format!("a tensor could not be printed: {why}")))
    });
}

#[cfg(test)]
#[allow(clippy::multiple_unsafe_ops_per_block, reason = "calls of one handle after another")]
mod tests {
    use super::*;
    use crate::error::newest;
    use crate::testing::{Dense, live};

    #[test]
    fn numbers_that_are_not_finite_are_found() {
        let of = |values: Vec<f64>, dtype| {
            Dense { sizes: vec![values.len() as i64], values }.tensor(dtype)
        };
        let check = |tensor: &Tensor| {
            // SAFETY: the text ends with NUL.
            unsafe { aoti_torch_check_inf_and_nan(c"buf0".as_ptr(), tensor.handle()) }
        };
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
        let mut values = [std::ptr::null_mut(); 4];
        let texts = [c"a".as_ptr(), c"b".as_ptr()];
        let mut range = std::ptr::null_mut();
        // SAFETY: places and texts are valid, and each handle is deleted once.
        unsafe {
            assert_eq!(aoti_torch_int64_to_ivalue(7, &mut values[0]), 0);
            assert_eq!(aoti_torch_str_to_ivalue(c"text".as_ptr(), &mut values[1]), 0);
            assert_eq!(aoti_torch_strlist_to_ivalue(texts.as_ptr(), 2, &mut values[2]), 0);
            assert_eq!(aoti_torch_tensor_to_ivalue(tensor.handle(), &mut values[3]), 0);
            assert_ne!(aoti_torch_strlist_to_ivalue(texts.as_ptr(), -1, &mut values[2]), 0);
            let (name, none) = (c"range".as_ptr(), std::ptr::null_mut());
            assert_eq!(aoti_record_function_start(name, none, values.as_ptr(), 4, &mut range), 0);
            assert_eq!(aoti_record_function_end(range), 0);
            assert_ne!(aoti_record_function_end(std::ptr::null_mut()), 0);
            aoti_torch_print_tensor_handle(tensor.handle(), c"a tensor".as_ptr());
            for value in values {
                assert_eq!(aoti_torch_delete_c10_value_object(value), 0);
            }
        }
        drop(tensor);
        assert_eq!(live(), before);
    }
}
