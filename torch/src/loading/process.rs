//! What a process needs before a model or a kernel library is opened.

#![allow(unsafe_code, reason = "dlopen and dlsym")]

use std::ffi::{CStr, CString, c_int, c_void};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::dynamic_loader::{global_symbol, open};
use crate::error::{Error, Result};
use crate::package::unnamed::LibraryFile;

include!(concat!(env!("OUT_DIR"), "/aliases.rs"));

/// Whether the names that libraries need are there, and whether the CUDA runtime is.
static NAMES: AtomicBool = AtomicBool::new(false);
static RUNTIME: AtomicBool = AtomicBool::new(false);
/// Held while one of them is made.
static PREPARING: Mutex<()> = Mutex::new(());

/// Makes the functions of PyTorch's ABI visible to libraries that are opened later, and the names present that they
/// list as needed. With `needs_runtime`, the CUDA runtime as well.
pub fn prepare(needs_runtime: bool) -> Result<()> {
    refuse_libtorch()?;
    // An initialiser may be here, to which the system's loader belongs: it must not wait for a thread that waits for the
    // loader. What it was opened with is ready.
    if NAMES.load(Ordering::Acquire) && (!needs_runtime || RUNTIME.load(Ordering::Acquire)) {
        return Ok(());
    }
    let _one = PREPARING.lock().map_err(|_| Error::internal("a thread panicked"))?;
    if !NAMES.load(Ordering::Acquire) {
        show_this_library()?;
        open_aliases()?;
        NAMES.store(true, Ordering::Release);
    }
    if needs_runtime && !RUNTIME.load(Ordering::Acquire) {
        super::cuda_runtime::open_cuda_runtime()?;
        RUNTIME.store(true, Ordering::Release);
    }
    Ok(())
}

/// The file that contains an address.
fn file_of(address: *const c_void) -> Option<String> {
    // SAFETY: a struct of pointers, for which 0 is a value.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: the place is valid for a write.
    if unsafe { libc::dladdr(address, &mut info) } == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: not NULL, so it is a text that lives as long as the library.
    Some(unsafe { CStr::from_ptr(info.dli_fname) }.to_string_lossy().into_owned())
}

/// Libraries of PyTorch that tell whether it is in a process.
const OF_PYTORCH: [&str; 2] = ["libtorch_cpu.so", "libc10.so"];

/// The paths of open libraries with one of these names. By its name alone the loader finds the first of several, which
/// may be an empty one of this library.
fn opened() -> Vec<String> {
    unsafe extern "C" fn note(
        info: *mut libc::dl_phdr_info,
        _bytes: usize,
        paths: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader passes a struct, which is valid for the call.
        let name = unsafe { (*info).dlpi_name };
        if !name.is_null() {
            // SAFETY: not NULL, so it is a text that lives as long as the library.
            let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
            if OF_PYTORCH.iter().any(|known| name.rsplit('/').next() == Some(*known)) {
                // SAFETY: `opened` passes its vector, which nobody else uses until `dl_iterate_phdr` returns.
                unsafe { &mut *paths.cast::<Vec<String>>() }.push(name.into_owned());
            }
        }
        0
    }
    let mut paths = Vec::new();
    // SAFETY: the function takes a vector, and does not call the loader.
    unsafe { libc::dl_iterate_phdr(Some(note), (&raw mut paths).cast()) };
    paths
}

/// Two runtimes with the same names and other tensors cannot live in one process.
fn refuse_libtorch() -> Result<()> {
    for path in opened().into_iter().chain(OF_PYTORCH.map(str::to_owned)) {
        let Ok(handle) = open(&path, libc::RTLD_LAZY | libc::RTLD_NOLOAD) else { continue };
        // SAFETY: the handle is open, the name ends with NUL.
        let symbol = unsafe { libc::dlsym(handle, c"aoti_torch_abi_version".as_ptr()) };
        // The type information of c10::Error has this name in each version.
        // SAFETY: `handle` is open until the process ends, and the name ends with NUL.
        let c10 = unsafe { libc::dlsym(handle, c"_ZTIN3c105ErrorE".as_ptr()) };
        let theirs = !c10.is_null()
            || (!symbol.is_null() && file_of(symbol) != file_of(refuse_libtorch as *const c_void));
        if theirs {
            let name = path.rsplit('/').next().unwrap_or(&path);
            return Err(Error::new(
                crate::sconce::api::SCONCE_ERROR_INVALID_STATE,
                format!(
                    "{name} of PyTorch is in this process; its functions have the names that libsconce_torch has. Use \
                     one of the two: run the model in a process without PyTorch, or with PyTorch's own loader"
                ),
            ));
        }
    }
    Ok(())
}

/// A program may have opened this library for itself alone, as Python does.
fn show_this_library() -> Result<()> {
    let ours = crate::abi::constants::aoti_torch_abi_version as *const c_void;
    if global_symbol("aoti_torch_abi_version").is_some_and(|found| found.cast_const() == ours) {
        return Ok(());
    }
    let file = file_of(ours).unwrap_or_default();
    let flags = libc::RTLD_NOW | libc::RTLD_GLOBAL | libc::RTLD_NOLOAD;
    open(&file, flags).map(|_| ()).map_err(|why| {
        Error::not_supported(format!(
            "{file} could not be made visible to models: {why}. Models need the shared library libsconce_torch.so"
        ))
    })
}

fn open_aliases() -> Result<()> {
    // Functions that newer C libraries have, if this one does not.
    let has_newer = global_symbol("__isoc23_strtol").is_some();
    for (name, bytes) in ALIASES.iter().filter(|(name, _)| !has_newer || *name != NEWER_FUNCTIONS) {
        let file = LibraryFile::with(name, bytes)?;
        open(&file.path().to_string_lossy(), libc::RTLD_LAZY | libc::RTLD_GLOBAL).map_err(|why| {
            Error::io(format!(
                "{name}, which models list as needed, could not be opened: {why}. Set TMPDIR to a folder on a file \
                 system without noexec"
            ))
        })?;
    }
    Ok(())
}

/// Whether a function is one of PyTorch's ABI, of the CUDA runtime or of the vector functions, which come from here and
/// from what `prepare` opened. Others come with the libraries that a model lists.
pub fn is_of_torch(name: &str) -> bool {
    ["aoti_", "torch_", "Sleef_", "cuda", "__cuda"].iter().any(|prefix| name.starts_with(prefix))
        || is_cpp_of_torch(name)
}

/// Whether a mangled name of C++ is in a namespace of PyTorch. A function of another namespace is not, even if it takes
/// a tensor of the stable ABI: a library may split into several files that call each other.
fn is_cpp_of_torch(name: &str) -> bool {
    let Some(name) = name.strip_prefix("_Z") else { return false };
    // Type information, tables and guards of initialisation.
    let special = ["TI", "TS", "TV", "TT", "GV"];
    let name = special.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    let Some(nested) = name.strip_prefix('N') else { return false };
    let nested = nested.trim_start_matches(['K', 'V', 'r', 'R', 'O']);
    ["3c10", "2at", "5torch"].iter().any(|namespace| nested.starts_with(namespace))
}

/// Functions of a library that nobody in the process has, of those that are looked for here.
pub fn missing(undefined: &[String]) -> Vec<&str> {
    undefined
        .iter()
        .map(String::as_str)
        .filter(|name| is_of_torch(name) && global_symbol(name).is_none())
        .collect()
}

/// Whether this library has a function for models, or will open one that has it. Nothing is prepared.
pub fn offers(name: &str) -> bool {
    let ours = crate::abi::constants::aoti_torch_abi_version as *const c_void;
    let file = file_of(ours).unwrap_or_default();
    let own = open(&file, libc::RTLD_LAZY | libc::RTLD_NOLOAD).ok().and_then(|handle| {
        let name = CString::new(name).ok()?;
        // SAFETY: the handle is open, and the name ends with NUL.
        let address = unsafe { libc::dlsym(handle, name.as_ptr()) };
        // SAFETY: opened above; the library stays, since this function is in it.
        unsafe { libc::dlclose(handle) };
        (!address.is_null()).then_some(address)
    });
    own.or_else(|| global_symbol(name)).is_some() || crate::runtime::function(name).is_some()
}

/// Whether a library calls the CUDA runtime.
pub fn needs_runtime(undefined: &[String]) -> bool {
    undefined.iter().any(|name| name.starts_with("cuda") || name.starts_with("__cuda"))
}

/// A function with the operation that it is.
pub fn operation_of(name: &str) -> String {
    let operation = ["aoti_torch_cuda_", "aoti_torch_cpu_", "aoti_torch_"]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix));
    match operation {
        _ if name.starts_with("_Z") => {
            format!("{name} (C++ of PyTorch: the library was not built against the stable ABI)")
        }
        Some(operation) => {
            format!("{name} (the operation aten::{})", operation.trim_end_matches("_out"))
        }
        None => name.to_owned(),
    }
}

/// What to say of missing functions of a model.
pub fn refusal(path: &Path, missing: &[&str]) -> Error {
    let is_cpp = |name: &&&str| name.starts_with("_Z");
    if let Some(first) = missing.iter().find(is_cpp) {
        return Error::not_supported(format!(
            "{} needs C++ functions of PyTorch ({}), such as {first}, which are not part of its ABI for models. Options \
             of torch._inductor.config cause this, such as aot_inductor.allow_stack_allocation and \
             aot_inductor.use_minimal_arrayref_interface: compile the model without them",
            path.display(),
            missing.iter().filter(is_cpp).count()
        ));
    }
    let lines: Vec<String> = missing.iter().map(|name| operation_of(name)).collect();
    Error::not_supported(format!(
        "{} needs functions that libsconce_torch does not offer: {}. Let the compiler generate kernels for these \
         operations: export with a decomposition table (run_decompositions), or set \
         torch._inductor.config.max_autotune_gemm_backends and max_autotune_conv_backends to \"TRITON\" with max_autotune",
        path.display(),
        lines.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_cpp_belong_to_their_namespace() {
        for name in [
            "_ZN3c105ErrorC1Ev",
            "_ZNK2at6Tensor4dataEv",
            "_ZNKR5torch3jit6Module4nameEv",
            "_ZTIN3c105ErrorE",
            "_ZGVN5torch8autograd1xE",
        ] {
            assert!(is_of_torch(name), "{name}");
        }
        for name in [
            "_ZN8facebook10torchcodec13PacketDecoder4takeERKN5torch6stable6TensorE",
            "_ZN9torchvis4loadEN3c104HalfE",
            "_Z4loadRKN5torch6stable6TensorE",
            "_ZNSt6vectorIN3c104HalfESaIS1_EE4pushES1_",
            "_ZTIN7example5ErrorE",
            "PyModule_Create2",
        ] {
            assert!(!is_of_torch(name), "{name}");
        }
    }

    /// A test program that held a copy of libsconce would use it beside the loaded one: handles and messages of the one
    /// are unknown to the other.
    #[test]
    fn the_functions_of_sconce_are_those_of_the_shared_library() {
        let functions = [
            crate::api::sconce_tensor_empty as *const c_void,
            crate::api::sconce_last_error_message as *const c_void,
        ];
        for function in functions {
            let file = file_of(function).unwrap();
            assert!(file.contains("libsconce.so"), "{file}");
        }
    }
}
