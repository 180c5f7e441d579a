//! Sources of kernels that are compiled at run time. See `docs/design/module.md`.

use std::ffi::c_char;

use sconce_driver::CompiledForm;
use sconce_runtime::module::source;

use crate::handle::OpaqueHandle;
use crate::{CBool, guard, sconce_module, sconce_status, string};

/// CUDA C++ with kernels of the program, to be compiled at run time. Opaque; created by
/// `sconce_kernel_source_create`.
pub struct sconce_kernel_source {
    _private: [u8; 0],
}

impl OpaqueHandle for sconce_kernel_source {
    const SOURCE: &'static str = "create sources with sconce_kernel_source_create";
}

/// Creates a source of CUDA C++. Compiles nothing and needs no backend.
///
/// The source can include `sconce/cuda/device.cuh` without an include path, and the headers of a CUDA
/// toolkit (such as `cuda_fp16.h`) if one is in `CUDA_HOME` or /usr/local/cuda.
///
/// - `code`: the text. NVRTC compiles device code only.
/// - `name`: the name in the compiler's messages; NULL stands for `source.cu`.
/// - `out_source`: receives the source.
/// - Errors: OUT_OF_MEMORY: too many sources.
/// - Ownership: the texts are copied. The caller destroys the source with
///   `sconce_kernel_source_destroy`.
/// - torch: `nvrtcCreateProgram`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_kernel_source_create(
    code: *const c_char,
    name: *const c_char,
    out_source: *mut *mut sconce_kernel_source,
) -> sconce_status {
    guard(|| {
        let out_source = out!(out_source);
        let code = text!(code).to_owned();
        let name = match name.is_null() {
            true => c"source.cu".to_owned(),
            false => text!(name).to_owned(),
        };
        out_source.write(sconce_kernel_source::from_key(source::create(name, code)?));
        Ok(())
    })
}

/// Destroys a source. Modules that were compiled from it stay.
///
/// - `source`: NULL is a no-op.
/// - torch: `nvrtcDestroyProgram`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_kernel_source_destroy(source: *mut sconce_kernel_source) -> sconce_status {
    guard(|| match sconce_kernel_source::optional(source) {
        None => Ok(()),
        Some(key) => source::destroy(key),
    })
}

/// Adds a header that the source may include.
///
/// - `source`: the source.
/// - `name`: the name that the source includes: `mine.cuh` for `#include "mine.cuh"`. The header
///   replaces an earlier one of that name; it may also replace `sconce/cuda/device.cuh`.
/// - `code`: its text.
/// - Ownership: the texts are copied.
/// - torch: the headers of `nvrtcCreateProgram`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_kernel_source_add_header(
    source: *mut sconce_kernel_source,
    name: *const c_char,
    code: *const c_char,
) -> sconce_status {
    guard(|| {
        let key = sconce_kernel_source::key(source, "source")?;
        let name = text!(name).to_owned();
        source::add_header(key, name, text!(code).to_owned())
    })
}

/// Adds an option of the compiler: `--use_fast_math`, `--std=c++20`, `-DN=4`,
/// `--include-path=folder`. Options are passed in the order in which they were added. The library
/// chooses the architecture, unless `--gpu-architecture` is among the options.
///
/// - `source`: the source.
/// - `option`: an option of NVRTC, not one of nvcc.
/// - Ownership: the text is copied.
/// - torch: the options of `nvrtcCompileProgram`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_kernel_source_add_option(
    source: *mut sconce_kernel_source,
    option: *const c_char,
) -> sconce_status {
    guard(|| {
        let key = sconce_kernel_source::key(source, "source")?;
        source::add_option(key, text!(option).to_owned())
    })
}

/// Adds a kernel by a C++ expression that names it. The compiler instantiates the templates that
/// expressions name, and `sconce_kernel_get` accepts the expression as the kernel's name. Kernels
/// that are `extern "C"` need no expression.
///
/// - `source`: the source.
/// - `expression`: for example `scale<float>` or `mine::step`. `sconce_kernel_get` accepts the same
///   text.
/// - Errors: INVALID_ARGUMENT: `expression` is empty.
/// - Ownership: the text is copied.
/// - torch: `nvrtcAddNameExpression`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_kernel_source_add_kernel(
    source: *mut sconce_kernel_source,
    expression: *const c_char,
) -> sconce_status {
    guard(|| {
        let key = sconce_kernel_source::key(source, "source")?;
        source::add_kernel(key, text!(expression).to_owned())
    })
}

/// Compiles a source into a module with an installed NVRTC.
///
/// The result is machine code for the device, or PTX if NVRTC does not know the device's
/// architecture yet. On the simulator nothing is compiled: functions that are registered under the
/// kernels' names (`sconce_sim_register_kernel`) run instead, and the source is only searched for
/// these names.
///
/// - `source`: the source; it may be compiled again, also after additions.
/// - `device`: the device; -1 for the current one. Its context is not made.
/// - `ptx`: whether to produce PTX, which newer architectures accept too. A device compiles it at
///   the first use of a kernel.
/// - `out_module`: receives the module.
/// - Errors: INVALID_ARGUMENT: the source does not compile, an option is unknown, or an expression
///   names no kernel; the message and the log contain those of the compiler. LIBRARY_NOT_FOUND: NVRTC
///   is not installed; the message names what was searched, and `SCONCE_LIBNVRTC` names another place.
///   NOT_SUPPORTED: the installed NVRTC no longer knows the device's architecture.
/// - Ownership: the caller unloads the module with `sconce_module_unload`.
/// - Ordering: compiles on the calling thread, also during a stream capture.
/// - Threads: threads that compile the same source do not wait for each other; the log is that of
///   the compilation that finished last.
/// - torch: `nvrtcCompileProgram`, `nvrtcGetCUBIN`, `nvrtcGetLoweredName`; torch's NVRTC fuser.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_kernel_source_compile(
    source: *mut sconce_kernel_source,
    device: i32,
    ptx: CBool,
    out_module: *mut *mut sconce_module,
) -> sconce_status {
    guard(|| {
        let out_module = out!(out_module);
        let key = sconce_kernel_source::key(source, "source")?;
        let form = match ptx.field("ptx")? {
            true => CompiledForm::Ptx,
            false => CompiledForm::MachineCode,
        };
        out_module.write(sconce_module::from_key(source::compile(key, device, form)?));
        Ok(())
    })
}

/// Returns the compiler's messages of the last compilation of a source: its errors, or its warnings
/// if it succeeded.
///
/// - `source`: the source.
/// - `out_log`: receives the text; empty if there are no messages.
/// - Ownership: the caller frees the text with `sconce_string_free`.
/// - torch: `nvrtcGetProgramLog`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_kernel_source_get_log(
    source: *mut sconce_kernel_source,
    out_log: *mut *mut c_char,
) -> sconce_status {
    guard(|| {
        let out_log = out!(out_log);
        let log = source::log(sconce_kernel_source::key(source, "source")?)?;
        out_log.write(string::into_raw(log));
        Ok(())
    })
}
