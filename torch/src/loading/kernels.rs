//! Open kernel libraries.

#![allow(unsafe_code, reason = "dlclose")]

use std::collections::HashMap;
use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

use super::cuda_runtime::open_listed_runtime;
use super::dynamic_loader::{is_open, open};
use super::process::{missing, needs_runtime, prepare};
use super::symbols::{Symbols, symbols};
use crate::error::{Error, Result};
use crate::handle_kind::HandleKind;
use crate::registry::exports::while_opening;
use crate::registry::table::{self, Owner};

/// Files that the system's loader closes when this goes, the last one first: a kernel library after those that it
/// needs. Calls of its kernels keep them.
#[derive(Default)]
struct KernelFile(Vec<*mut c_void>);

// SAFETY: the system's loader takes a handle on any thread.
unsafe impl Send for KernelFile {}
// SAFETY: nothing is done through a shared reference.
unsafe impl Sync for KernelFile {}

impl Drop for KernelFile {
    fn drop(&mut self) {
        for handle in self.0.drain(..).rev() {
            // SAFETY: the handle is open, and closed once.
            unsafe { libc::dlclose(handle) };
        }
    }
}

/// What keeps a file; empty until the system's loader has opened it.
type FileSlot = Mutex<Option<KernelFile>>;

#[derive(Default)]
struct Open {
    /// The number of the next handle.
    next: u64,
    /// Handles of the caller and their files.
    handles: HashMap<usize, String>,
    files: HashMap<String, (Owner, usize)>,
}

impl Open {
    /// Another handle of a file that is open.
    fn another_use(&mut self, file: &str) -> Option<usize> {
        let (_, uses) = self.files.get_mut(file)?;
        *uses += 1;
        let handle = HandleKind::KernelLibrary.numbered(self.next) as usize;
        self.next += 1;
        self.handles.insert(handle, file.to_owned());
        Some(handle)
    }
}

static OPEN: LazyLock<Mutex<Open>> = LazyLock::new(Mutex::default);

fn opened() -> Result<MutexGuard<'static, Open>> {
    OPEN.lock().map_err(|_| Error::internal("a thread panicked while it opened a kernel library"))
}

/// Opens a kernel library and returns its handle. A file that is open already is not opened anew.
pub fn load(path: &Path) -> Result<usize> {
    let whole = std::fs::canonicalize(path)
        .map_err(|why| Error::io(format!("{} could not be opened: {why}", path.display())))?;
    let file = whole.to_string_lossy().into_owned();
    if let Some(handle) = opened()?.another_use(&file) {
        return Ok(handle);
    }
    // Initialisers may load other libraries, and the system's loader lets one thread open at a time: no lock may be held.
    let owner = open_file(&whole, &file)?;
    let mut now = opened()?;
    if let Some(handle) = now.another_use(&file) {
        // Another thread, or an initialiser of the file, was faster. What opened it here goes after the lock.
        drop(now);
        drop(owner);
        return Ok(handle);
    }
    // A file that the loader had kept does not run its initialisers again.
    let mut table = table::write()?;
    if table.count_of(&file) == 0 {
        table.show(&file, &owner);
    }
    let registered = table.count_of(&file) > 0;
    drop(table);
    if !registered {
        drop(now);
        return Err(Error::invalid_argument(format!(
            "{file} registers no operators: it is no kernel library of PyTorch's stable ABI"
        )));
    }
    now.files.insert(file.clone(), (owner, 0));
    now.another_use(&file).ok_or_else(|| Error::internal("a file went while it was opened"))
}

fn open_file(path: &Path, file: &str) -> Result<Owner> {
    let beside = beside(path)?;
    let mut undefined: Vec<String> =
        beside.iter().flat_map(|(_, symbols)| symbols.undefined.iter().cloned()).collect();
    undefined.sort_unstable();
    undefined.dedup();
    for (_, symbols) in &beside {
        open_listed_runtime(&symbols.libraries);
    }
    prepare(needs_runtime(&undefined))?;
    let missing = missing(&undefined);
    if !missing.is_empty() {
        return Err(refusal(file, &missing));
    }
    open_products(&undefined)?;
    let slot: Arc<FileSlot> = Arc::default();
    let owner: Owner = Arc::<FileSlot>::clone(&slot);
    // Functions of Python stay unresolved: nothing here calls them.
    let (kept, failures) = while_opening(file, &owner, || {
        let mut kept = KernelFile::default();
        for (path, _) in &beside {
            kept.0.push(open(&path.to_string_lossy(), libc::RTLD_LAZY | libc::RTLD_LOCAL)?);
        }
        Ok(kept)
    });
    let kept = kept.map_err(|why: String| {
        Error::not_supported(format!("{file} could not be opened: {why}"))
    })?;
    if !failures.is_empty() {
        // What it registered goes before its code.
        let owners = table::write()?.remove_file(file);
        drop((owners, owner, kept));
        let texts: Vec<&str> = failures.iter().map(|error| error.message.as_str()).collect();
        return Err(Error::invalid_argument(format!(
            "{file} could not register its operators: {}",
            texts.join("; ")
        )));
    }
    *slot.lock().map_err(|_| Error::internal("a thread panicked"))? = Some(kept);
    Ok(owner)
}

/// What to say of missing functions.
fn refusal(file: &str, missing: &[&str]) -> Error {
    let mut text = format!(
        "{file} needs functions that libsconce_torch does not offer: {}",
        missing.join(", ")
    );
    if missing.iter().any(|name| name.starts_with("_Z")) {
        text += ". Names that begin with _Z are C++ of PyTorch: use a version of the library that was built against \
                 PyTorch's stable ABI";
    }
    if missing.iter().any(|name| name.trim_start_matches('_').starts_with("cuda")) {
        text += ". Names that begin with cuda are of the CUDA runtime: install the version that the library was built for \
                 (the packages nvidia-cuda-runtime and nvidia-cuda-runtime-cu12 have it) where the system's loader finds \
                 it, or name the file with SCONCE_LIBCUDART";
    }
    Error::not_supported(text)
}

/// A library, after the libraries of its folder that it needs and that the process does not have. PyTorch's packages
/// open those one after another; the system's loader does not look in the folder, but it knows an open library by the
/// name that the library has in itself.
fn beside(path: &Path) -> Result<Vec<(PathBuf, Symbols)>> {
    fn add(
        path: &Path,
        found: &mut Vec<(PathBuf, Symbols)>,
        under_way: &mut Vec<PathBuf>,
    ) -> Result<()> {
        under_way.push(path.to_owned());
        let symbols = symbols(path)?;
        for name in &symbols.libraries {
            let other = path.with_file_name(name);
            let known = under_way.contains(&other) || found.iter().any(|(path, _)| *path == other);
            if !known && other.is_file() && !is_open(name) {
                add(&other, found, under_way)?;
            }
        }
        found.push((path.to_owned(), symbols));
        Ok(())
    }
    let mut found = Vec::new();
    add(path, &mut found, &mut Vec::new())?;
    Ok(found)
}

/// Some libraries call cuBLAS without listing it as needed: PyTorch has it open.
fn open_products(undefined: &[String]) -> Result<()> {
    for (prefix, names) in [
        ("cublasLt", ["libcublasLt.so.13", "libcublasLt.so.12"]),
        ("cublas", ["libcublas.so.13", "libcublas.so.12"]),
        ("nvrtc", ["libnvrtc.so.13", "libnvrtc.so.12"]),
    ] {
        if !undefined.iter().any(|name| name.starts_with(prefix)) {
            continue;
        }
        // The older one only where the newer one is missing: each takes 150 MB.
        let open = |name| open(name, libc::RTLD_LAZY | libc::RTLD_GLOBAL);
        let [newer, older] = names;
        let opened = open(newer).or_else(|first| open(older).map_err(|second| (first, second)));
        if let Err((first, second)) = opened {
            return Err(Error::new(
                crate::sconce::api::SCONCE_ERROR_LIBRARY_NOT_FOUND,
                format!(
                    "{newer}, which the kernel library calls, could not be opened: {first}; {second}"
                ),
            ));
        }
    }
    Ok(())
}

/// Ends a handle. The last one of a file unregisters its operators; the file is closed when no call uses it any more.
pub fn unload(handle: usize) -> Result<()> {
    let mut now = opened()?;
    let file = now.handles.remove(&handle).ok_or_else(|| {
        let otherwise = "is no open kernel library; use the handle of sconce_torch_load once";
        let kind = HandleKind::KernelLibrary;
        Error::invalid_handle(kind.refusal(handle as u64, "library", otherwise))
    })?;
    let Some((_, uses)) = now.files.get_mut(&file) else {
        return Err(Error::internal("a file without a use"));
    };
    *uses -= 1;
    if *uses > 0 {
        return Ok(());
    }
    let removed = now.files.remove(&file);
    let owners = table::write()?.hide(&file);
    // Closing runs code of the library, which registers and deletes: no lock may be held.
    drop(now);
    drop((removed, owners));
    Ok(())
}
