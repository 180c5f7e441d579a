//! The functions with which static initialisers of kernel libraries register.

#![allow(unsafe_code, reason = "functions of C over texts of the caller")]

use std::cell::RefCell;
use std::ffi::{c_char, c_void};

use super::parser::{parse, split_name};
use super::table::{self, LibraryKind, Owner};
use crate::abi::errors::{not_null, text_of};
use crate::error::{Error, Result, shim, write_out};
use crate::foreign::BoxedKernel;

/// The file that the calling thread opens, and what failed in its initialisers.
struct Opening {
    path: String,
    owner: Owner,
    failures: Vec<Error>,
}

thread_local! {
    static OPENING: RefCell<Option<Opening>> = const { RefCell::new(None) };
}

/// Calls `open` with the calling thread's registrations counted to a file. A registration that fails then does not make
/// the library throw in its initialiser, which would end the process; it is returned.
pub fn while_opening<T>(path: &str, owner: &Owner, open: impl FnOnce() -> T) -> (T, Vec<Error>) {
    let opening =
        Opening { path: path.to_owned(), owner: Owner::clone(owner), failures: Vec::new() };
    let before = OPENING.with(|now| now.replace(Some(opening)));
    let opened = open();
    let opening = OPENING.with(|now| now.replace(before));
    (opened, opening.map(|opening| opening.failures).unwrap_or_default())
}

fn current() -> (String, Option<Owner>) {
    let seen = OPENING.try_with(|now| {
        now.borrow()
            .as_ref()
            .map(|opening| (opening.path.clone(), Some(Owner::clone(&opening.owner))))
    });
    seen.ok().flatten().unwrap_or_default()
}

/// Runs a registration: a failure within [`while_opening`] is kept there.
fn register(body: impl FnOnce() -> Result<()>) -> i32 {
    shim(|| {
        let Err(error) = body() else { return Ok(()) };
        let kept = OPENING.try_with(|now| {
            now.borrow_mut().as_mut().map(|opening| opening.failures.push(error.clone()))
        });
        if kept.is_ok_and(|kept| kept.is_some()) { Ok(()) } else { Err(error) }
    })
}

/// A library object: a number that is checked.
pub type LibraryHandle = *mut c_void;

/// # Safety
/// Texts are NULL or end with NUL; the result's place is NULL or valid for a write.
unsafe fn init(
    kind: LibraryKind,
    texts: [*const c_char; 3],
    line: u32,
    ret: *mut LibraryHandle,
) -> i32 {
    register(|| {
        not_null(texts[0], "ns")?;
        not_null(ret, "ret_new_torch_lib")?;
        // SAFETY: the caller's promise.
        let [namespace, key, file] = texts.map(|text| unsafe { text_of(text) });
        let place = format!("{file}:{line}");
        let number = table::write()?.add_library(kind, namespace, key, place, current());
        // SAFETY: as above.
        unsafe { write_out(ret, "ret_new_torch_lib", number as LibraryHandle) }
    })
}

/// Creates a library object that implements operators of a namespace for a key, such as `CUDA`.
///
/// # Safety
/// Texts are NULL or end with NUL; the result's place is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_library_init_impl(
    ns: *const c_char,
    k: *const c_char,
    file: *const c_char,
    line: u32,
    ret_new_torch_lib: *mut LibraryHandle,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { init(LibraryKind::Impl, [ns, k, file], line, ret_new_torch_lib) }
}

/// Creates a library object that defines operators of a namespace.
///
/// # Safety
/// As for [`aoti_torch_library_init_impl`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_library_init_def(
    ns: *const c_char,
    file: *const c_char,
    line: u32,
    ret_new_torch_lib: *mut LibraryHandle,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { init(LibraryKind::Def, [ns, std::ptr::null(), file], line, ret_new_torch_lib) }
}

/// Creates a library object that defines more operators of a namespace.
///
/// # Safety
/// As for [`aoti_torch_library_init_impl`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_library_init_fragment(
    ns: *const c_char,
    file: *const c_char,
    line: u32,
    ret_new_torch_lib: *mut LibraryHandle,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { init(LibraryKind::Fragment, [ns, std::ptr::null(), file], line, ret_new_torch_lib) }
}

/// Defines an operator by its schema.
///
/// # Safety
/// The text is NULL or ends with NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_library_def(this: LibraryHandle, schema: *const c_char) -> i32 {
    register(|| {
        not_null(schema, "schema")?;
        // SAFETY: the caller's promise.
        let (name, overload, schema) = parse(&unsafe { text_of(schema) })?;
        table::write()?.define(this as u64, &name, &overload, schema)
    })
}

/// As [`aoti_torch_library_def`]. Tags describe operators to compilers and change no call.
///
/// # Safety
/// As for [`aoti_torch_library_def`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_library_def_with_tags(
    this: LibraryHandle,
    schema: *const c_char,
    _tags: *const i32,
    _num_tags: i32,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { aoti_torch_library_def(this, schema) }
}

/// Accepts where Python has descriptions of a library's operators. Nothing here reads them.
#[unsafe(no_mangle)]
pub extern "C" fn torch_library_set_python_module(
    this: LibraryHandle,
    _pymodule: *const c_char,
    _context: *const c_char,
) -> i32 {
    register(|| table::read()?.library(this as u64).map(|_| ()))
}

/// As [`torch_library_impl`], of libraries that name no version.
///
/// # Safety
/// The name is NULL or ends with NUL; the function is a boxed kernel.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_library_impl(
    this: LibraryHandle,
    name: *const c_char,
    function: Option<BoxedKernel>,
) -> i32 {
    register(|| {
        not_null(name, "name")?;
        // SAFETY: the caller's promise.
        let name = unsafe { text_of(name) };
        let (name, overload) = split_name(&name);
        let function = function
            .ok_or_else(|| Error::invalid_argument(format!("the kernel of {name} is NULL")))?;
        table::write()?.implement(this as u64, name, overload, function)
    })
}

/// Implements an operator, which another library object may define later.
///
/// # Safety
/// As for [`aoti_torch_library_impl`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn torch_library_impl(
    this: LibraryHandle,
    name: *const c_char,
    function: Option<BoxedKernel>,
    _extension_build_version: u64,
) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { aoti_torch_library_impl(this, name, function) }
}

/// Deletes a library object with what it registered.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_delete_library_object(this: LibraryHandle) -> i32 {
    shim(|| {
        let removed = table::write()?.remove_library(this as u64);
        // Its owner, which may close a file, goes after the lock.
        removed.map(drop)
    })
}
