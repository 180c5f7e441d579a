//! The version-3 injection handshake, by which a profiling tool receives the marks of a process.
//!
//! The program opens the tool's library and calls its `InitializeInjectionNvtx2` with one function, which
//! returns numbered *export tables*. The table of callbacks has a function that returns, for a module of the
//! interface, an array of addresses of *slots*; the tool writes its functions into slots. An empty slot is a
//! no-op.
//!
//! Layouts and numbers are those of NVTX 3's `nvtxTypes.h`. They are a binary interface and fixed.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use crate::config::Config;
use crate::dynlib::Library;
use crate::error::{Error, Result, Status};
use crate::lock::{OnceCell, rank};
use crate::{log, process};

/// A function that the tool wrote, or null.
type ToolSlot = AtomicPtr<c_void>;

/// The address of a slot. The tool may change it, hence the atomic.
type SlotAddress = AtomicPtr<ToolSlot>;

/// The slots of one module and the array that lists their addresses.
///
/// Slot 0 is never used. The array has one null entry past the last slot, for a tool that reads too far.
macro_rules! module {
    ($slots:ident, $table:ident, $count:literal) => {
        static $slots: [ToolSlot; $count] = [const { ToolSlot::new(ptr::null_mut()) }; $count];
        static $table: [SlotAddress; $count + 1] = {
            let mut table = [const { SlotAddress::new(ptr::null_mut()) }; $count + 1];
            let mut id = 1;
            while id < $count {
                table[id] = SlotAddress::new((&raw const $slots[id]).cast_mut());
                id += 1;
            }
            table
        };
    };
}

module!(CORE, CORE_TABLE, 16);
module!(CUDA, CUDA_TABLE, 9);
module!(OPENCL, OPENCL_TABLE, 15);
module!(CUDART, CUDART_TABLE, 7);
module!(CORE2, CORE2_TABLE, 16);
module!(SYNC, SYNC_TABLE, 7);

/// The numbers of the CORE slots that Sconce calls.
mod core_slot {
    pub(super) const MARK_A: usize = 2;
    pub(super) const RANGE_START_A: usize = 5;
    pub(super) const RANGE_END: usize = 7;
    pub(super) const RANGE_PUSH_A: usize = 9;
    pub(super) const RANGE_POP: usize = 11;
}

/// The number of the CORE2 slot that Sconce calls.
const DOMAIN_CREATE_A: usize = 12;

#[repr(C)]
struct CallbacksTable {
    struct_size: usize,
    get_module_function_table:
        unsafe extern "C" fn(c_int, *mut *const SlotAddress, *mut c_uint) -> c_int,
}

#[repr(C)]
struct VersionTable {
    struct_size: usize,
    version: u32,
    reserved: u32,
    set_injection_version: extern "C" fn(u32),
}

type GetExportTable = extern "C" fn(u32) -> *const c_void;
type InitializeInjection = unsafe extern "C" fn(GetExportTable) -> c_int;

static CALLBACKS: CallbacksTable = CallbacksTable {
    struct_size: size_of::<CallbacksTable>(),
    get_module_function_table: module_function_table,
};

static VERSION: VersionTable = VersionTable {
    struct_size: size_of::<VersionTable>(),
    version: 3,
    reserved: 0,
    set_injection_version,
};

/// The tool's version of the interface, for the log.
static TOOL_VERSION: AtomicU32 = AtomicU32::new(0);

extern "C" fn export_table(id: u32) -> *const c_void {
    match id {
        1 => (&raw const CALLBACKS).cast(),
        3 => (&raw const VERSION).cast(),
        _ => ptr::null(),
    }
}

extern "C" fn set_injection_version(version: u32) {
    TOOL_VERSION.store(version, Ordering::Relaxed);
}

/// Writes the array of a module and its length. Returns 0 for a module that version 3 does not have.
///
/// # Safety
/// Each pointer is null or writable.
unsafe extern "C" fn module_function_table(
    module: c_int,
    out_table: *mut *const SlotAddress,
    out_size: *mut c_uint,
) -> c_int {
    let (table, size): (*const SlotAddress, usize) = match module {
        1 => (CORE_TABLE.as_ptr(), CORE.len()),
        2 => (CUDA_TABLE.as_ptr(), CUDA.len()),
        3 => (OPENCL_TABLE.as_ptr(), OPENCL.len()),
        4 => (CUDART_TABLE.as_ptr(), CUDART.len()),
        5 => (CORE2_TABLE.as_ptr(), CORE2.len()),
        6 => (SYNC_TABLE.as_ptr(), SYNC.len()),
        _ => return 0,
    };
    if !out_size.is_null() {
        // SAFETY: not null, so writable by this function's contract.
        unsafe { out_size.write(size as c_uint) };
    }
    if !out_table.is_null() {
        // SAFETY: the pointer is not null, so `out_table` is writable, as this function demands.
        unsafe { out_table.write(table) };
    }
    1
}

/// A tool that has accepted the handshake. Its functions are read from the slots at every call, since a tool
/// may change them while the program runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tool(());

/// The tool, if there is one. The first call of the process attaches it.
#[inline]
pub(super) fn tool() -> Option<Tool> {
    static TOOL: OnceCell<rank::NvtxTool, Option<Tool>> = OnceCell::new();
    match TOOL.get() {
        Some(tool) => *tool,
        None => first_use(&TOOL),
    }
}

#[cold]
#[inline(never)]
fn first_use(cell: &OnceCell<rank::NvtxTool, Option<Tool>>) -> Option<Tool> {
    thread_local! {
        static ATTACHING: Cell<bool> = const { Cell::new(false) };
    }
    // A tool that marks while it is being attached must not wait for itself.
    if ATTACHING.get() {
        return None;
    }
    // Counted, since this waits for a thread that is attaching: a forked child would wait for ever.
    let _call = process::CountedCall::begin().ok()?;
    ATTACHING.set(true);
    let tool = *cell.get_or_init(|| {
        let path = Config::get().nvtx_injection.as_deref()?;
        match attach(path) {
            Ok(tool) => Some(tool),
            Err(error) => {
                log::warn(format_args!(
                    "NVTX_INJECTION64_PATH={path}: {}; profiling marks do nothing",
                    error.message()
                ));
                None
            }
        }
    });
    ATTACHING.set(false);
    tool
}

fn attach(path: &str) -> Result<Tool> {
    let library = Library::open("the profiling tool", &[path])?;
    let initialize = library.symbol(c"InitializeInjectionNvtx2").ok_or_else(|| {
        Error::new(
            Status::LibraryNotFound,
            "the library has no InitializeInjectionNvtx2, so it is not a profiling tool for NVTX 3",
        )
    })?;
    // SAFETY: the symbol of that name has this type by the NVTX 3 interface.
    let initialize: InitializeInjection = unsafe { std::mem::transmute(initialize) };
    // SAFETY: the interface asks for exactly this call; export_table lives as long as the process.
    let accepted = unsafe { initialize(export_table) };
    if accepted == 0 {
        return Err(Error::not_supported("InitializeInjectionNvtx2 of the library returned 0"));
    }
    log::debug(format_args!(
        "profiling marks go to {path} (tool version {})",
        TOOL_VERSION.load(Ordering::Relaxed)
    ));
    Ok(Tool(()))
}

impl Tool {
    pub(super) fn mark(self, message: &CStr) {
        type Function = unsafe extern "C" fn(*const c_char);
        if let Some(function) = function(core_slot::MARK_A) {
            // SAFETY: the tool wrote a function of this type into the slot.
            let function: Function = unsafe { std::mem::transmute(function) };
            // SAFETY: the message is NUL-terminated and lives through the call.
            unsafe { function(message.as_ptr()) };
        }
    }

    pub(super) fn range_push(self, message: &CStr) -> Option<i32> {
        type Function = unsafe extern "C" fn(*const c_char) -> c_int;
        let function = function(core_slot::RANGE_PUSH_A)?;
        // SAFETY: the tool wrote a function of this type into the slot.
        let function: Function = unsafe { std::mem::transmute(function) };
        // SAFETY: the message is NUL-terminated and lives through the call.
        Some(unsafe { function(message.as_ptr()) })
    }

    pub(super) fn range_pop(self) -> Option<i32> {
        type Function = unsafe extern "C" fn() -> c_int;
        let function = function(core_slot::RANGE_POP)?;
        // SAFETY: the tool wrote a function of this type into the slot.
        let function: Function = unsafe { std::mem::transmute(function) };
        // SAFETY: the function takes nothing and is callable on any thread.
        Some(unsafe { function() })
    }

    pub(super) fn range_start(self, message: &CStr) -> Option<u64> {
        type Function = unsafe extern "C" fn(*const c_char) -> u64;
        let function = function(core_slot::RANGE_START_A)?;
        // SAFETY: the tool wrote a function of this type into the slot.
        let function: Function = unsafe { std::mem::transmute(function) };
        // SAFETY: the message is NUL-terminated and lives through the call.
        Some(unsafe { function(message.as_ptr()) })
    }

    pub(super) fn range_end(self, id: u64) {
        type Function = unsafe extern "C" fn(u64);
        if let Some(function) = function(core_slot::RANGE_END) {
            // SAFETY: the tool wrote a function of this type into the slot.
            let function: Function = unsafe { std::mem::transmute(function) };
            // SAFETY: the interface lets any number be passed; the tool owns its meaning.
            unsafe { function(id) };
        }
    }
}

/// A domain of the tool's, which tells this library's calls from others; 0 without a tool, or if it has none.
pub(super) fn domain(name: &CStr) -> usize {
    type Function = unsafe extern "C" fn(*const c_char) -> usize;
    let Some(function) = tool().and(NonNull::new(CORE2[DOMAIN_CREATE_A].load(Ordering::Acquire)))
    else {
        return 0;
    };
    // SAFETY: the tool wrote a function of this type into the slot.
    let function: Function = unsafe { std::mem::transmute(function) };
    // SAFETY: the name is NUL-terminated and lives through the call.
    unsafe { function(name.as_ptr()) }
}

/// The function in a slot of the CORE module.
fn function(slot: usize) -> Option<NonNull<c_void>> {
    NonNull::new(CORE[slot].load(Ordering::Acquire))
}
