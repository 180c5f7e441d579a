//! Tensors over memory of the caller.

#![allow(unsafe_code, reason = "functions of C over pointers of the caller")]

use std::cell::RefCell;
use std::ffi::c_void;

use super::arguments::Out;
use super::constants::{LAYOUT_STRIDED, device_of, dtype_of};
use super::errors::not_null;
use super::handles::{another_handle, count, return_tensor};
use crate::error::{Error, Result};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, check};

/// The constants that a model is making.
struct Making {
    names: Vec<String>,
    /// Those that were asked for so far; `None` for one that could not be made.
    made: Vec<Option<Tensor>>,
}

thread_local! {
    static MAKING: RefCell<Option<Making>> = const { RefCell::new(None) };
}

/// Runs a function and returns handles of the tensors that it made over memory of others: a model makes its constants
/// so, in the order of these names, as far as they are known.
pub fn constants_made<R>(
    names: Vec<String>,
    function: impl FnOnce() -> R,
) -> (R, Vec<Option<Tensor>>) {
    let outer = MAKING.replace(Some(Making { names, made: Vec::new() }));
    let result = function();
    let making = MAKING.replace(outer);
    (result, making.map(|making| making.made).unwrap_or_default())
}

/// Makes a tensor of memory of others, which is a constant if a model is making those.
pub fn constant(make: impl FnOnce() -> Result<Tensor>) -> Result<Tensor> {
    let place = MAKING.with_borrow_mut(|making| {
        let made = &mut making.as_mut()?.made;
        made.push(None);
        Some(made.len() - 1)
    });
    let tensor = make()?;
    if let Some(place) = place {
        let another = another_handle(tensor.handle())?;
        MAKING.with_borrow_mut(|making| {
            if let Some(place) = making.as_mut().and_then(|making| making.made.get_mut(place)) {
                *place = Some(another);
            }
        });
    }
    Ok(tensor)
}

/// What to call the constant that is being made.
pub fn name_of_constant() -> String {
    let name = MAKING.with_borrow(|making| {
        let making = making.as_ref()?;
        making.names.get(making.made.len().checked_sub(1)?).cloned()
    });
    name.map_or_else(|| "a constant of the model".to_owned(), |name| format!("the constant {name}"))
}

/// A tensor over memory of the caller, who keeps it alive. `data` is where the memory begins.
struct Blob {
    data: *mut c_void,
    ndim: i64,
    sizes: *const i64,
    strides: *const i64,
    storage_offset: i64,
    dtype: i32,
    device: i32,
}

impl Blob {
    /// # Safety
    /// Sizes and strides have `ndim` entries, and the memory has the elements that they reach. If there is a deleter,
    /// the memory lives until it is called, else as long as all tensors over it.
    unsafe fn tensor(&self, deleter: api::sconce_deleter, context: *mut c_void) -> Result<Tensor> {
        if deleter.is_some() {
            // SAFETY: sizes and strides have `ndim` entries, and the memory lives until the deleter is called.
            return unsafe { self.made(deleter, context) };
        }
        // SAFETY: sizes and strides have `ndim` entries, and the memory lives as long as tensors over it.
        constant(|| unsafe { self.made(None, context) })
    }

    /// # Safety
    /// As [`Blob::tensor`].
    unsafe fn made(&self, deleter: api::sconce_deleter, context: *mut c_void) -> Result<Tensor> {
        let (rank, dtype) = (count(self.ndim)?, dtype_of(self.dtype)?);
        let mut element = 0;
        check(api::sconce_dtype_get_bytes(dtype, &mut element))?;
        let (sizes, strides): (&[i64], &[i64]) = match rank {
            0 => (&[], &[]),
            _ => {
                not_null(self.sizes, "sizes_ptr")?;
                not_null(self.strides, "strides_ptr")?;
                // SAFETY: the pointer is not NULL, and C passed an array of `ndim` entries.
                let sizes = unsafe { std::slice::from_raw_parts(self.sizes, rank) };
                // SAFETY: the pointer is not NULL, and C passed an array of `ndim` entries.
                (sizes, unsafe { std::slice::from_raw_parts(self.strides, rank) })
            }
        };
        let too_large = || Error::invalid_argument("the sizes are too large to be counted");
        let reach = reach(sizes, strides).ok_or_else(too_large)?;
        let elements = usize::try_from(self.storage_offset).map_err(|_| {
            Error::invalid_argument(format!("storage_offset is {}", self.storage_offset))
        })?;
        let first = elements.checked_mul(element).ok_or_else(too_large)?;
        let bytes = reach.checked_mul(element).ok_or_else(too_large)?;
        // SAFETY: the memory has the elements that sizes and strides reach, and lives as long as tensors over it: the
        // functions below demand that of C.
        Tensor::made(|made| unsafe {
            api::sconce_tensor_from_memory(
                self.data.wrapping_byte_add(first),
                bytes,
                sizes.as_ptr(),
                strides.as_ptr(),
                rank,
                dtype,
                self.device,
                deleter,
                context,
                made,
            )
        })
    }
}

/// Elements from the first to behind the last one that sizes and strides reach.
fn reach(sizes: &[i64], strides: &[i64]) -> Option<usize> {
    let mut last: i64 = 0;
    for (&size, &stride) in sizes.iter().zip(strides) {
        if size == 0 {
            return Some(0);
        }
        last = last.checked_add(size.checked_sub(1)?.checked_mul(stride)?)?;
    }
    usize::try_from(last.checked_add(1)?).ok()
}

/// Returns a tensor over memory of the caller, who keeps it alive as long as any tensor over it.
///
/// # Safety
/// Sizes and strides have `ndim` entries, and the memory has the elements that they reach.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_create_tensor_from_blob(
    data: *mut c_void,
    ndim: i64,
    sizes_ptr: *const i64,
    strides_ptr: *const i64,
    storage_offset: i64,
    dtype: i32,
    device_type: i32,
    device_index: i32,
    ret: Out<'_, TensorHandle>,
) -> i32 {
    let make = || {
        let device = device_of(device_type, device_index)?;
        let (sizes, strides) = (sizes_ptr, strides_ptr);
        let blob = Blob { data, ndim, sizes, strides, storage_offset, dtype, device };
        // SAFETY: C keeps the memory as long as any tensor over it, as the ABI demands without a deleter.
        unsafe { blob.tensor(None, std::ptr::null_mut()) }
    };
    return_tensor(ret, "ret", make)
}

/// Refuses tensors that are not strided.
pub fn check_strided(layout: i32) -> Result<()> {
    if layout == LAYOUT_STRIDED {
        return Ok(());
    }
    Err(Error::not_supported(format!(
        "the layout {layout} is not offered; tensors are strided ({LAYOUT_STRIDED})"
    )))
}

/// Gives up memory: its address, and a value of the caller.
pub type Deleter = unsafe extern "C" fn(*mut c_void, *mut c_void);

/// Memory of the caller, and how it is given up.
struct Given {
    data: *mut c_void,
    context: *mut c_void,
    deleter: Deleter,
}

/// Gives up the memory of a box.
unsafe extern "C" fn give_up(given: *mut c_void) {
    // SAFETY: the context is the box that `torch_from_blob` made, and this is called once.
    let given = unsafe { Box::from_raw(given.cast::<Given>()) };
    // SAFETY: C passed the deleter together with the address and the value that it takes.
    unsafe { (given.deleter)(given.data, given.context) };
}

/// Returns a tensor over memory of the caller, which `deleter` gives up when no tensor uses it any more.
///
/// # Safety
/// As [`aoti_torch_create_tensor_from_blob`]; the deleter is a function of C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_from_blob(
    data: *mut c_void,
    ndim: i64,
    sizes_ptr: *const i64,
    strides_ptr: *const i64,
    storage_offset: i64,
    dtype: i32,
    device_type: i32,
    device_index: i32,
    ret: Out<'_, TensorHandle>,
    layout: i32,
    _opaque_metadata: *const u8,
    _opaque_metadata_size: i64,
    deleter: Option<Deleter>,
    deleter_ctx: *mut c_void,
) -> i32 {
    let make = || {
        check_strided(layout)?;
        let device = device_of(device_type, device_index)?;
        let (sizes, strides) = (sizes_ptr, strides_ptr);
        let blob = Blob { data, ndim, sizes, strides, storage_offset, dtype, device };
        let Some(deleter) = deleter else {
            // SAFETY: C keeps the memory as long as any tensor over it, as the ABI demands without a deleter.
            return unsafe { blob.tensor(None, std::ptr::null_mut()) };
        };
        let given = Box::into_raw(Box::new(Given { data, context: deleter_ctx, deleter })).cast();
        // SAFETY: C keeps the memory until its deleter is called, which `give_up` does once.
        let made = unsafe { blob.tensor(Some(give_up), given) };
        if made.is_err() {
            // The memory stays the caller's, as the call fails.
            // SAFETY: nobody else has the box.
            drop(unsafe { Box::from_raw(given.cast::<Given>()) });
        }
        made
    };
    return_tensor(ret, "ret", make)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::newest;
    use crate::testing::{Dense, live};

    unsafe extern "C" fn note(data: *mut c_void, context: *mut c_void) {
        // SAFETY: the context is the list of the test below, which outlives its tensors.
        unsafe { &mut *context.cast::<Vec<usize>>() }.push(data.addr());
    }

    #[test]
    fn memory_is_given_up_once_with_its_address_and_the_callers_value() {
        let before = live();
        let mut numbers = [1.0_f32, 2.0, 3.0, 4.0];
        let data: *mut c_void = numbers.as_mut_ptr().cast();
        let mut given_up: Vec<usize> = Vec::new();
        let mut make = |layout, size: i64| {
            let (sizes, strides, mut made) = ([size], [2], std::ptr::null_mut());
            // SAFETY: the numbers and the list outlive the tensors.
            let status = unsafe {
                torch_from_blob(
                    data,
                    1,
                    sizes.as_ptr(),
                    strides.as_ptr(),
                    1,
                    6,
                    0,
                    0,
                    Out::from(&mut made),
                    layout,
                    std::ptr::null(),
                    0,
                    Some(note),
                    (&raw mut given_up).cast(),
                )
            };
            (status == 0).then(|| Tensor::from_handle(made))
        };
        let tensor = make(0, 2).unwrap();
        Dense { sizes: vec![2], values: vec![2.0, 4.0] }.assert_near(tensor.handle(), 0.0, "blob");
        assert!(make(1, 2).is_none());
        assert!(newest().unwrap().contains("the layout 1 is not offered"));
        assert!(make(0, -2).is_none());
        drop(tensor);
        assert_eq!(given_up, [data.addr()]);
        assert_eq!(live(), before);
    }
}
