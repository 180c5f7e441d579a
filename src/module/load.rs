//! The program's modules, and the kernels in them. See `docs/design/module.md`.

use std::ffi::{c_char, c_void};

use sconce_base::error::Error;
use sconce_runtime::module;

use crate::handle::OpaqueHandle;
use crate::{guard, null, sconce_status};

/// Code with kernels of the program. Opaque; created by `sconce_module_load`, `sconce_module_load_file`
/// and `sconce_kernel_source_compile`.
pub struct sconce_module {
    _private: [u8; 0],
}

impl OpaqueHandle for sconce_module {
    const SOURCE: &'static str = "load modules with sconce_module_load or sconce_module_load_file, or \
        compile them with sconce_kernel_source_compile";
}

/// A kernel of a module. Opaque; returned by `sconce_kernel_get`, and valid as long as its module.
pub struct sconce_kernel {
    _private: [u8; 0],
}

impl OpaqueHandle for sconce_kernel {
    const SOURCE: &'static str = "find kernels with sconce_kernel_get";
}

/// Creates a module from code in memory: PTX, machine code (the ELF file that `nvcc -cubin`
/// writes), or a fat binary (`nvcc -fatbin`).
///
/// Checks the code and copies it. Needs no device and makes no driver call: a device loads the
/// module when one of its kernels is first used there, even during a stream capture.
///
/// - `image`: the code.
/// - `image_bytes`: its size. PTX needs no NUL byte at its end.
/// - `out_module`: receives the module.
/// - Errors: INVALID_ARGUMENT: the code is of no known kind, or is cut off. OUT_OF_MEMORY: too many
///   modules.
/// - Ownership: the caller unloads the module with `sconce_module_unload`.
/// - torch: `cuModuleLoadData`; torch's inductor and NVRTC fuser load their kernels with it.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_module_load(
    image: *const c_void,
    image_bytes: usize,
    out_module: *mut *mut sconce_module,
) -> sconce_status {
    guard(|| {
        let out_module = out!(out_module);
        if image.is_null() {
            return Err(null("image"));
        }
        let code = bytes!(image, image_bytes);
        out_module.write(sconce_module::from_key(module::load("image", code)?));
        Ok(())
    })
}

/// Creates a module from the code in a file. Otherwise as `sconce_module_load`.
///
/// - `path`: the file.
/// - `out_module`: receives the module.
/// - Errors: IO: the file cannot be read. Otherwise as `sconce_module_load`.
/// - Ownership: the caller unloads the module with `sconce_module_unload`.
/// - torch: `cuModuleLoad`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_module_load_file(
    path: *const c_char,
    out_module: *mut *mut sconce_module,
) -> sconce_status {
    guard(|| {
        let out_module = out!(out_module);
        let path = path!(path);
        out_module.write(sconce_module::from_key(module::load_file(path)?));
        Ok(())
    })
}

/// Unloads a module. The handles of its kernels become invalid.
///
/// Queued launches of its kernels still run. If a launch was captured into a graph, the module
/// stays loaded until the process ends, because the graph may be launched at any time. The same
/// holds on a device with a stream that is being captured.
///
/// - `module`: NULL is a no-op. The handle is invalid afterwards, even if the call fails.
/// - Ordering: waits for calls that use the module, and for the devices that have loaded it.
/// - torch: `cuModuleUnload`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_module_unload(module: *mut sconce_module) -> sconce_status {
    guard(|| {
        if module.is_null() {
            return Ok(());
        }
        module::unload(sconce_module::key(module, "module")?)
    })
}

/// Finds a kernel of a module. The current device loads the module unless it has done so; other
/// devices load it at the first use of the kernel there.
///
/// - `name`: the name of the entry point in the code, which is mangled unless the kernel is
///   `extern "C"`. For a module that was compiled from a source, also an expression that was passed
///   to `sconce_kernel_source_add_kernel`.
/// - `out_kernel`: receives the kernel; the same one for each call with this name.
/// - Errors: INVALID_ARGUMENT: the module has no kernel of that name, or the device cannot load the
///   code; the message contains that of the driver's compiler. On the simulator also: no function
///   is registered for the kernel (`sconce_sim_register_kernel`). OUT_OF_MEMORY: of the device.
/// - Ownership: borrowed; valid until the module is unloaded.
/// - Ordering: the first use of a module on a device may wait for the device and take the time of a
///   compilation.
/// - torch: `cuModuleGetFunction`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_kernel_get(
    module: *mut sconce_module,
    name: *const c_char,
    out_kernel: *mut *mut sconce_kernel,
) -> sconce_status {
    guard(|| {
        let out_kernel = out!(out_kernel);
        let name = text!(name);
        let name = name.to_str().map_err(|_| Error::invalid_argument("name is not UTF-8"))?;
        let kernel = module::kernel(sconce_module::key(module, "module")?, name)?;
        out_kernel.write(sconce_kernel::from_key(kernel));
        Ok(())
    })
}
