//! The functions with which static initialisers of kernel libraries register.

#![allow(unsafe_code, reason = "functions of C over texts of the caller")]

use std::cell::RefCell;
use std::ffi::{c_char, c_void};

use super::parser::{parse, split_name};
use super::table::{self, LibraryKind, Owner};
use crate::abi::arguments::{CText, Out};
use crate::error::{Error, Result, shim};
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

fn init(kind: LibraryKind, texts: [CText<'_>; 3], line: u32, ret: Out<'_, LibraryHandle>) -> i32 {
    register(|| {
        texts[0].required("ns")?;
        ret.check("ret_new_torch_lib")?;
        let [namespace, key, file] = texts.map(CText::text);
        let place = format!("{file}:{line}");
        let number = table::write()?.add_library(kind, namespace, key, place, current());
        ret.write("ret_new_torch_lib", number as LibraryHandle)
    })
}

/// Creates a library object that implements operators of a namespace for a key, such as `CUDA`.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_library_init_impl(
    ns: CText<'_>,
    k: CText<'_>,
    file: CText<'_>,
    line: u32,
    ret_new_torch_lib: Out<'_, LibraryHandle>,
) -> i32 {
    init(LibraryKind::Impl, [ns, k, file], line, ret_new_torch_lib)
}

/// Creates a library object that defines operators of a namespace.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_library_init_def(
    ns: CText<'_>,
    file: CText<'_>,
    line: u32,
    ret_new_torch_lib: Out<'_, LibraryHandle>,
) -> i32 {
    init(LibraryKind::Def, [ns, CText::none(), file], line, ret_new_torch_lib)
}

/// Creates a library object that defines more operators of a namespace.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_library_init_fragment(
    ns: CText<'_>,
    file: CText<'_>,
    line: u32,
    ret_new_torch_lib: Out<'_, LibraryHandle>,
) -> i32 {
    init(LibraryKind::Fragment, [ns, CText::none(), file], line, ret_new_torch_lib)
}

/// Defines an operator by its schema.
#[unsafe(no_mangle)]
pub extern "C" fn aoti_torch_library_def(this: LibraryHandle, schema: CText<'_>) -> i32 {
    register(|| {
        let (name, overload, schema) = parse(&schema.required("schema")?.to_string_lossy())?;
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
    schema: CText<'_>,
    _tags: *const i32,
    _num_tags: i32,
) -> i32 {
    aoti_torch_library_def(this, schema)
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
/// The function is a boxed kernel, which takes the words of the operator's schema.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_library_impl(
    this: LibraryHandle,
    name: CText<'_>,
    function: Option<BoxedKernel>,
) -> i32 {
    register(|| {
        let name = name.required("name")?.to_string_lossy();
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
    name: CText<'_>,
    function: Option<BoxedKernel>,
    _extension_build_version: u64,
) -> i32 {
    // SAFETY: C passed a boxed kernel, which the function without a version demands as well.
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
