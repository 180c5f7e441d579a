//! Lists and strings: values of the ABI that take more than a word, and words of its own.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use std::ffi::{CString, c_char};

use crate::abi::arguments::{CText, Out, object};
use crate::abi::bits::CBool;
use crate::abi::errors::not_null;
use crate::error::{Error, shim};
use crate::foreign::words;

/// A list of words. Values that own something belong to the code that reads them: deleting a list deletes its words alone.
pub type List = Vec<u64>;

/// Creates an empty list with the capacity of `size` words.
#[unsafe(no_mangle)]
pub extern "C" fn torch_new_list_reserve_size(size: usize, ret: Out<'_, Box<List>>) -> i32 {
    shim(|| {
        let mut list = List::new();
        list.try_reserve(size).map_err(|_| {
            Error::invalid_argument(format!("there is no memory for a list of {size}"))
        })?;
        ret.write("ret", Box::new(list))
    })
}

/// Returns the number of words.
#[unsafe(no_mangle)]
pub extern "C" fn torch_list_size(list_handle: Option<&List>, size: Out<'_, usize>) -> i32 {
    shim(|| {
        let list = object(list_handle, "the list")?;
        size.write("size", list.len())
    })
}

fn out_of_range(index: usize, list: &List) -> Error {
    Error::invalid_argument(format!("index {index} is out of range of a list of {}", list.len()))
}

/// Returns a word.
#[unsafe(no_mangle)]
pub extern "C" fn torch_list_get_item(
    list_handle: Option<&List>,
    index: usize,
    element: Out<'_, u64>,
) -> i32 {
    shim(|| {
        let list = object(list_handle, "the list")?;
        let word = *list.get(index).ok_or_else(|| out_of_range(index, list))?;
        element.write("element", word)
    })
}

/// Replaces a word.
#[unsafe(no_mangle)]
pub extern "C" fn torch_list_set_item(
    list_handle: Option<&mut List>,
    index: usize,
    element: u64,
) -> i32 {
    shim(|| {
        let list = object(list_handle, "the list")?;
        let error = out_of_range(index, list);
        *list.get_mut(index).ok_or(error)? = element;
        Ok(())
    })
}

/// Adds a word.
#[unsafe(no_mangle)]
pub extern "C" fn torch_list_push_back(list_handle: Option<&mut List>, element: u64) -> i32 {
    shim(|| object(list_handle, "the list").map(|list| list.push(element)))
}

/// Deletes a list, and nothing that its words own.
#[unsafe(no_mangle)]
pub extern "C" fn torch_delete_list(list_handle: Option<Box<List>>) -> i32 {
    shim(|| object(list_handle, "list_handle").map(drop))
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

/// Creates a string.
///
/// # Safety
/// `data` has `length` bytes; the result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_new_string_handle(
    data: *const c_char,
    length: usize,
    handle: Out<'_, Box<Text>>,
) -> i32 {
    shim(|| {
        let bytes = if length == 0 {
            &[]
        } else {
            not_null(data, "data")?;
            // SAFETY: the bytes are not NULL, and C passed their number.
            unsafe { std::slice::from_raw_parts(data.cast::<u8>(), length) }
        };
        handle.write("handle", Text::new(bytes))
    })
}

/// Deletes a string.
#[unsafe(no_mangle)]
pub extern "C" fn torch_delete_string(handle: Option<Box<Text>>) -> i32 {
    shim(|| object(handle, "handle").map(drop))
}

/// Returns the number of bytes.
#[unsafe(no_mangle)]
pub extern "C" fn torch_string_length(handle: Option<&Text>, length: Out<'_, usize>) -> i32 {
    shim(|| {
        let text = object(handle, "the string")?;
        length.write("length", text.bytes().len())
    })
}

/// Returns the bytes, which live as long as the string.
#[unsafe(no_mangle)]
pub extern "C" fn torch_string_c_str(handle: Option<&Text>, data: Out<'_, *const c_char>) -> i32 {
    shim(|| {
        let text = object(handle, "the string")?;
        data.write("data", text.0.as_ptr().cast())
    })
}

/// Allocates a word, as optional values take it.
#[unsafe(no_mangle)]
pub extern "C" fn torch_new_stable_ivalue(ret_value: Out<'_, *mut u64>) -> i32 {
    shim(|| {
        ret_value.check("ret_value")?;
        ret_value.write("ret_value", words::new(0)?)
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
        // SAFETY: C passed a word of `torch_new_stable_ivalue` or of `new`, and uses it no more.
        unsafe { words::delete(value) };
        Ok(())
    })
}

/// Returns the text of an error of the CUDA runtime in `error_msg`, NULL for none; `torch_c10_cuda_free_error_msg` frees
/// it. The error is no longer the thread's newest one afterwards, as in PyTorch: later kernels query that, too.
#[unsafe(no_mangle)]
pub extern "C" fn torch_c10_cuda_check_msg(
    err: i32,
    filename: CText<'_>,
    function_name: CText<'_>,
    line_number: u32,
    _include_device_assertions: CBool,
    error_msg: Out<'_, *mut c_char>,
) -> i32 {
    shim(|| {
        error_msg.check("error_msg")?;
        if err == 0 {
            return error_msg.write("error_msg", std::ptr::null_mut());
        }
        words::forget_cuda_error();
        let [file, function] = [filename, function_name].map(CText::text);
        let text = format!(
            "CUDA error {err}: {} ({function}, {file}:{line_number})",
            words::cuda_error_text(err)
        );
        let text = CString::new(text.replace('\0', "\\0")).unwrap_or_default();
        error_msg.write("error_msg", text.into_raw())
    })
}

/// Frees a text of [`torch_c10_cuda_check_msg`].
///
/// # Safety
/// The text is NULL or one of that function, and not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_c10_cuda_free_error_msg(error_msg: *mut c_char) {
    if !error_msg.is_null() {
        // SAFETY: `torch_c10_cuda_check_msg` gave the text to C, which passes it once.
        drop(unsafe { CString::from_raw(error_msg) });
    }
}
