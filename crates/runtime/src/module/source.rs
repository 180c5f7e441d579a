//! Sources of kernels, and modules that are compiled from them.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::Arc;

use sconce_base::collections::handle_kind::HandleKind;
use sconce_base::collections::slab::{Key, Slab};
use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{Mutex, rank};
use sconce_driver::{CompiledForm, SourceCode, looks_like_path};

use super::modules;
use crate::context::runtime;
use crate::device;

static SOURCES: Slab<SourceCell> = Slab::new(HandleKind::KernelSource);

/// The memory of a source. Cleared when the source is destroyed, and then used for another.
#[derive(Default)]
struct SourceCell {
    state: Mutex<rank::ModuleSource, Option<KernelSource>>,
}

/// A source of the program.
struct KernelSource {
    /// Copied before it changes, if it is being compiled.
    code: Arc<SourceCode>,
    /// What the compiler said at the last compilation.
    log: String,
}

/// Makes a source of CUDA C++, `name` for messages of the compiler. Needs no backend.
pub fn create(name: CString, text: CString) -> Result<Key> {
    if looks_like_path(text.as_bytes()) {
        return Err(Error::invalid_argument(format!(
            "text is {text:?}, which is not a source but looks like a path; pass what the file contains"
        )));
    }
    let full = || Error::new(Status::OutOfMemory, "too many sources are alive");
    let (key, cell) = SOURCES.insert().ok_or_else(full)?;
    let code = Arc::new(SourceCode { name, text, ..SourceCode::default() });
    *cell.state.lock() = Some(KernelSource { code, log: String::new() });
    Ok(key)
}

/// Ends a source. A compilation that is under way is not disturbed.
pub fn destroy(key: Key) -> Result<()> {
    let alive = SOURCES.remove(key, |cell| drop(cell.state.lock().take()));
    if alive { Ok(()) } else { Err(dead(key)) }
}

fn dead(key: Key) -> Error {
    let otherwise = "is not alive: never created, or destroyed";
    Error::invalid_handle(HandleKind::KernelSource.refusal(key.bits(), "source", otherwise))
}

fn with<R>(key: Key, action: impl FnOnce(&mut KernelSource) -> R) -> Result<R> {
    let cell = SOURCES.get(key).ok_or_else(|| dead(key))?;
    let mut state = cell.state.lock();
    // Between the look-up and the lock the source may have been destroyed, and the cell used again.
    if !cell.still() {
        return Err(dead(key));
    }
    state.as_mut().map(action).ok_or_else(|| dead(key))
}

/// Adds a header that the source may include under a name. One of the same name is replaced.
pub fn add_header(key: Key, name: CString, text: CString) -> Result<()> {
    with(key, |source| {
        let headers = &mut Arc::make_mut(&mut source.code).headers;
        headers.retain(|(other, _)| *other != name);
        headers.push((name, text));
    })
}

/// Adds an option of the compiler.
pub fn add_option(key: Key, option: CString) -> Result<()> {
    with(key, |source| Arc::make_mut(&mut source.code).options.push(option))
}

/// Adds an expression that names a kernel.
pub fn add_kernel(key: Key, expression: CString) -> Result<()> {
    if expression.is_empty() {
        return Err(Error::invalid_argument(
            "expression is empty; it names a kernel, as scale<float> does",
        ));
    }
    with(key, |source| {
        let kernels = &mut Arc::make_mut(&mut source.code).kernels;
        if !kernels.contains(&expression) {
            kernels.push(expression);
        }
    })
}

/// What the compiler said at the last compilation.
pub fn log(key: Key) -> Result<String> {
    with(key, |source| source.log.clone())
}

/// Compiles a source for a device (-1: the current one) into a module. Makes no context.
pub fn compile(key: Key, index: i32, form: CompiledForm) -> Result<Key> {
    let code = with(key, |source| Arc::clone(&source.code))?;
    let runtime = runtime()?;
    let device = device::resolve(runtime, index)?;
    // Without the lock: a compilation takes its time.
    let done = runtime.driver().compile_source(device, &code, form)?;
    // A source that was destroyed meanwhile has no log.
    let _ = with(key, |source| source.log.clone_from(&done.log));
    let compiled = done.code?;
    let names = code.kernels.iter().map(|name| name.to_string_lossy().into_owned());
    let entries: BTreeMap<String, String> = names.zip(compiled.entries).collect();
    modules::insert(compiled.code, entries)
}
