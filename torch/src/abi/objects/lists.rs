//! Lists and strings: values of the ABI that take more than a word, and words of its own.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use std::ffi::{CString, c_char};

use crate::abi::errors::not_null;
use crate::error::{Error, Result, shim, write_boxed, write_out};
use crate::foreign::words;

/// A list of words. Values that own something are owned by whoever reads them: deleting a list deletes its words alone.
pub type List = Vec<u64>;

/// A handle's list.
///
/// # Safety
/// The handle is NULL or a live list that nothing else uses during `'a`.
pub unsafe fn list_of<'a>(list: *mut List) -> Result<&'a mut List> {
    // SAFETY: the caller's promise.
    unsafe { list.as_mut() }.ok_or_else(|| Error::invalid_argument("the list is NULL"))
}

/// Creates an empty list with room for `size` words.
///
/// # Safety
/// The result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_new_list_reserve_size(size: usize, ret: *mut *mut List) -> i32 {
    shim(|| {
        let mut list = List::new();
        list.try_reserve(size)
            .map_err(|_| Error::invalid_argument(format!("no room for a list of {size}")))?;
        // SAFETY: the caller's promise.
        unsafe { write_boxed(ret, "ret", Box::new(list)) }
    })
}

/// Returns the number of words.
///
/// # Safety
/// The list is NULL or alive; the result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_list_size(list_handle: *mut List, size: *mut usize) -> i32 {
    shim(|| {
        // SAFETY: the caller's promise.
        let list = unsafe { list_of(list_handle) }?;
        // SAFETY: as above.
        unsafe { write_out(size, "size", list.len()) }
    })
}

fn out_of_range(index: usize, list: &List) -> Error {
    Error::invalid_argument(format!("index {index} is out of range of a list of {}", list.len()))
}

/// Returns a word.
///
/// # Safety
/// As for [`torch_list_size`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_list_get_item(
    list_handle: *mut List,
    index: usize,
    element: *mut u64,
) -> i32 {
    shim(|| {
        // SAFETY: the caller's promise.
        let list = unsafe { list_of(list_handle) }?;
        let word = *list.get(index).ok_or_else(|| out_of_range(index, list))?;
        // SAFETY: as above.
        unsafe { write_out(element, "element", word) }
    })
}

/// Replaces a word.
///
/// # Safety
/// The list is NULL or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_list_set_item(
    list_handle: *mut List,
    index: usize,
    element: u64,
) -> i32 {
    shim(|| {
        // SAFETY: the caller's promise.
        let list = unsafe { list_of(list_handle) }?;
        let error = out_of_range(index, list);
        *list.get_mut(index).ok_or(error)? = element;
        Ok(())
    })
}

/// Adds a word.
///
/// # Safety
/// The list is NULL or alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_list_push_back(list_handle: *mut List, element: u64) -> i32 {
    // SAFETY: the caller's promise.
    shim(|| unsafe { list_of(list_handle) }.map(|list| list.push(element)))
}

/// Deletes a list, and nothing that its words own.
///
/// # Safety
/// The list is NULL or alive, and not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_delete_list(list_handle: *mut List) -> i32 {
    shim(|| {
        not_null(list_handle, "list_handle")?;
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(list_handle) });
        Ok(())
    })
}

/// A string: its bytes with a NUL, which is not counted. The bytes may contain NULs.
#[derive(Debug)]
pub struct Text(Vec<u8>);

impl Text {
    /// A new string.
    pub fn new(bytes: &[u8]) -> Box<Text> {
        let mut with_end = bytes.to_vec();
        with_end.push(0);
        Box::new(Text(with_end))
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        self.0.split_last().map_or(&[], |(_, bytes)| bytes)
    }
}

/// A handle's string.
///
/// # Safety
/// The handle is NULL or a live string.
unsafe fn text_at<'a>(handle: *mut Text) -> Result<&'a Text> {
    // SAFETY: the caller's promise.
    unsafe { handle.as_ref() }.ok_or_else(|| Error::invalid_argument("the string is NULL"))
}

/// Creates a string.
///
/// # Safety
/// `data` has `length` bytes; the result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_new_string_handle(
    data: *const c_char,
    length: usize,
    handle: *mut *mut Text,
) -> i32 {
    shim(|| {
        let bytes = if length == 0 {
            &[]
        } else {
            not_null(data, "data")?;
            // SAFETY: the caller's promise; it is not NULL.
            unsafe { std::slice::from_raw_parts(data.cast::<u8>(), length) }
        };
        // SAFETY: the caller's promise.
        unsafe { write_boxed(handle, "handle", Text::new(bytes)) }
    })
}

/// Deletes a string.
///
/// # Safety
/// The string is NULL or alive, and not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_delete_string(handle: *mut Text) -> i32 {
    shim(|| {
        not_null(handle, "handle")?;
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(handle) });
        Ok(())
    })
}

/// Returns the number of bytes.
///
/// # Safety
/// The string is NULL or alive; the result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_string_length(handle: *mut Text, length: *mut usize) -> i32 {
    shim(|| {
        // SAFETY: the caller's promise.
        let text = unsafe { text_at(handle) }?;
        // SAFETY: as above.
        unsafe { write_out(length, "length", text.bytes().len()) }
    })
}

/// Returns the bytes, which live as long as the string.
///
/// # Safety
/// As for [`torch_string_length`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_string_c_str(handle: *mut Text, data: *mut *const c_char) -> i32 {
    shim(|| {
        // SAFETY: the caller's promise.
        let text = unsafe { text_at(handle) }?;
        // SAFETY: as above.
        unsafe { write_out(data, "data", text.0.as_ptr().cast()) }
    })
}

/// Allocates a word, as optional values take it.
///
/// # Safety
/// The result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_new_stable_ivalue(ret_value: *mut *mut u64) -> i32 {
    shim(|| {
        not_null(ret_value, "ret_value")?;
        // SAFETY: the caller's promise.
        unsafe { write_out(ret_value, "ret_value", words::new(0)?) }
    })
}

/// Frees a word.
///
/// # Safety
/// The word is NULL or one of [`torch_new_stable_ivalue`] or of C++ `new`, and not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_delete_stable_ivalue(value: *mut u64) -> i32 {
    shim(|| {
        not_null(value, "value")?;
        // SAFETY: the caller's promise.
        unsafe { words::delete(value) };
        Ok(())
    })
}

/// Returns the text of an error of the CUDA runtime in `error_msg`, NULL for none; `torch_c10_cuda_free_error_msg` frees
/// it. The error is no longer the thread's newest one afterwards, as in PyTorch: later kernels ask for that, too.
///
/// # Safety
/// Texts are NULL or end with NUL; the result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_c10_cuda_check_msg(
    err: i32,
    filename: *const c_char,
    function_name: *const c_char,
    line_number: u32,
    _include_device_assertions: bool,
    error_msg: *mut *mut c_char,
) -> i32 {
    shim(|| {
        not_null(error_msg, "error_msg")?;
        if err == 0 {
            // SAFETY: the caller's promise.
            return unsafe { write_out(error_msg, "error_msg", std::ptr::null_mut()) };
        }
        words::forget_cuda_error();
        // SAFETY: the caller's promise.
        let file = unsafe { crate::abi::errors::text_of(filename) };
        // SAFETY: as above.
        let function = unsafe { crate::abi::errors::text_of(function_name) };
        let text = format!(
            "CUDA error {err}: {} ({function}, {file}:{line_number})",
            words::cuda_error_text(err)
        );
        let text = CString::new(text.replace('\0', "\\0")).unwrap_or_default();
        // SAFETY: the caller's promise.
        unsafe { write_out(error_msg, "error_msg", text.into_raw()) }
    })
}

/// Frees a text of [`torch_c10_cuda_check_msg`].
///
/// # Safety
/// The text is NULL or one of that function, and not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_c10_cuda_free_error_msg(error_msg: *mut c_char) {
    if !error_msg.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { CString::from_raw(error_msg) });
    }
}
