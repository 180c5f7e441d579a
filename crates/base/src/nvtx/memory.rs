//! The memory extension of NVTX 3, by which a checker of memory learns which parts of an allocator's memory are blocks.
//!
//! The library of the tool has one more entry point, `InitializeInjectionNvtxExtension`. It is passed a module with an
//! array of slots, and writes its functions there. A *heap* is memory that is divided; a *region* is a part of it that
//! may be used. Whatever lies in a heap and in no region must not be used.
//!
//! Layouts and numbers are those of NVTX 3's `nvToolsExtMem.h` and `nvtxExtTypes.h`.

use std::ffi::{c_int, c_void};
use std::mem::size_of;
use std::num::NonZero;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, Ordering};

use super::injection;
use crate::config::Config;
use crate::dynlib::Library;
use crate::error::{Error, Result, Status};
use crate::lock::{OnceCell, rank};
use crate::log;

/// The numbers of the module and of its only segment, and the version of its structures.
const MODULE: u16 = 1;
const SEGMENT: usize = 1;
const COMPATIBILITY: u16 = 0x0102;
/// The version of NVTX.
const VERSION: u16 = 3;

/// A heap whose regions alone may be used.
const SUB_ALLOCATOR: u32 = 1;
/// Addresses of the process.
const VIRTUAL_ADDRESS: u32 = 1;
/// A region is named by its first address.
const BY_POINTER: u32 = 1;

/// How many functions the module has, and the places of those that are called here.
const FUNCTIONS: usize = 16;
mod slot {
    pub(super) const HEAP_REGISTER: usize = 0;
    pub(super) const HEAP_UNREGISTER: usize = 1;
    pub(super) const REGIONS_REGISTER: usize = 3;
    pub(super) const REGIONS_UNREGISTER: usize = 5;
}

static SLOTS: [AtomicPtr<c_void>; FUNCTIONS] =
    [const { AtomicPtr::new(ptr::null_mut()) }; FUNCTIONS];

#[repr(C)]
struct Segment {
    id: usize,
    slot_count: usize,
    slots: *const AtomicPtr<c_void>,
}

#[repr(C)]
struct Module {
    version: u16,
    struct_size: u16,
    id: u16,
    compatibility: u16,
    segment_count: usize,
    segments: *const Segment,
    get_export_function: extern "C" fn(u32) -> isize,
    information: *const c_void,
}

#[repr(C)]
struct Range {
    bytes: usize,
    start: usize,
}

#[repr(C)]
struct HeapDescription {
    compatibility: u16,
    struct_size: u16,
    reserved: u32,
    usage: u32,
    kind: u32,
    description_size: usize,
    description: *const Range,
    category: u32,
    message_kind: u32,
    message: *const c_void,
}

#[repr(C)]
struct Registration {
    compatibility: u16,
    struct_size: u16,
    kind: u32,
    heap: usize,
    count: usize,
    description_size: usize,
    descriptions: *const Range,
    out_handles: *const c_void,
}

#[repr(C)]
struct Unregistration {
    compatibility: u16,
    struct_size: u16,
    reference_kind: u32,
    count: usize,
    reference_size: usize,
    references: *const usize,
}

type Domain = usize;
type InitializeExtension = unsafe extern "C" fn(*const Module) -> c_int;
type HeapRegister = unsafe extern "C" fn(Domain, *const HeapDescription) -> usize;
type HeapUnregister = unsafe extern "C" fn(Domain, usize);
type RegionsRegister = unsafe extern "C" fn(Domain, *const Registration);
type RegionsUnregister = unsafe extern "C" fn(Domain, *const Unregistration);

/// The module has no functions of its own for the tool.
extern "C" fn no_export_function(_id: u32) -> isize {
    0
}

/// A tool that follows memory.
#[derive(Clone, Copy, Debug)]
pub struct MemoryTool {
    domain: Domain,
    heap_register: HeapRegister,
    heap_unregister: HeapUnregister,
    regions_register: RegionsRegister,
    regions_unregister: RegionsUnregister,
}

/// A heap, by the tool's handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryHeap(NonZero<usize>);

/// The tool, if `SCONCE_NVTX_MEMORY` is set and the profiling tool of the process follows memory. The first call
/// attaches it. A checker expects that the driver is initialised by then.
pub fn memory_tool() -> Option<MemoryTool> {
    static TOOL: OnceCell<rank::NvtxTool, Option<MemoryTool>> = OnceCell::new();
    if !Config::get().nvtx_memory {
        return None;
    }
    if let Some(tool) = TOOL.get() {
        return *tool;
    }
    let path = Config::get().nvtx_injection.as_deref();
    // Not within the cell: both wait for a tool that is being attached.
    let _marks = injection::tool();
    *TOOL.get_or_init(|| match attach(path) {
        Ok(tool) => Some(tool),
        Err(error) => {
            log::warn(format_args!(
                "SCONCE_NVTX_MEMORY: {}; no tool learns of blocks of memory",
                error.message()
            ));
            None
        }
    })
}

fn attach(path: Option<&str>) -> Result<MemoryTool> {
    let Some(path) = path else {
        return Err(Error::new(
            Status::LibraryNotFound,
            "NVTX_INJECTION64_PATH names no tool; run the program under one, such as compute-sanitizer",
        ));
    };
    let library = Library::open("the profiling tool", &[path])?;
    let initialize = library.symbol(c"InitializeInjectionNvtxExtension").ok_or_else(|| {
        Error::not_supported(format!(
            "{path} has no InitializeInjectionNvtxExtension, so it does not follow memory"
        ))
    })?;
    // SAFETY: the symbol of that name has this type by the NVTX 3 interface.
    let initialize: InitializeExtension = unsafe { std::mem::transmute(initialize) };
    let segment = Segment { id: SEGMENT, slot_count: FUNCTIONS, slots: SLOTS.as_ptr() };
    let module = Module {
        version: VERSION,
        struct_size: size_of::<Module>() as u16,
        id: MODULE,
        compatibility: COMPATIBILITY,
        segment_count: 1,
        segments: &raw const segment,
        get_export_function: no_export_function,
        information: ptr::null(),
    };
    // SAFETY: the interface asks for exactly this call. The slots live as long as the process, the rest until the call
    // has returned, as in NVIDIA's headers.
    let accepted = unsafe { initialize(&raw const module) };
    if accepted == 0 {
        return Err(Error::not_supported(format!(
            "InitializeInjectionNvtxExtension of {path} returned 0"
        )));
    }
    let missing = || Error::not_supported(format!("{path} does not follow regions of memory"));
    let function = |at: usize| NonNull::new(SLOTS[at].load(Ordering::Acquire)).ok_or_else(missing);
    let heap_register = function(slot::HEAP_REGISTER)?;
    let heap_unregister = function(slot::HEAP_UNREGISTER)?;
    let regions_register = function(slot::REGIONS_REGISTER)?;
    let regions_unregister = function(slot::REGIONS_UNREGISTER)?;
    log::debug(format_args!("blocks of memory are registered with {path}"));
    Ok(MemoryTool {
        domain: injection::domain(c"sconce"),
        // SAFETY: the tool wrote a function of this type into the slot.
        heap_register: unsafe {
            std::mem::transmute::<NonNull<c_void>, HeapRegister>(heap_register)
        },
        // SAFETY: a function of this type is in that slot once the tool has accepted.
        heap_unregister: unsafe {
            std::mem::transmute::<NonNull<c_void>, HeapUnregister>(heap_unregister)
        },
        // SAFETY: a function of this type is in that slot once the tool has accepted.
        regions_register: unsafe {
            std::mem::transmute::<NonNull<c_void>, RegionsRegister>(regions_register)
        },
        // SAFETY: a function of this type is in that slot once the tool has accepted.
        regions_unregister: unsafe {
            std::mem::transmute::<NonNull<c_void>, RegionsUnregister>(regions_unregister)
        },
    })
}

impl MemoryTool {
    /// Memory that is divided into regions: until they are registered, none of it may be used. `None` if the tool
    /// refuses.
    pub fn register_heap(self, start: u64, bytes: u64) -> Option<MemoryHeap> {
        let range = Range { bytes: bytes as usize, start: start as usize };
        let description = HeapDescription {
            compatibility: COMPATIBILITY,
            struct_size: size_of::<HeapDescription>() as u16,
            reserved: 0,
            usage: SUB_ALLOCATOR,
            kind: VIRTUAL_ADDRESS,
            description_size: size_of::<Range>(),
            description: &raw const range,
            category: 0,
            message_kind: 0,
            message: ptr::null(),
        };
        // SAFETY: the description and its range live through the call.
        let heap = unsafe { (self.heap_register)(self.domain, &raw const description) };
        NonZero::new(heap).map(MemoryHeap)
    }

    /// The heap and its regions are gone.
    pub fn unregister_heap(self, heap: MemoryHeap) {
        // SAFETY: the handle is the tool's own.
        unsafe { (self.heap_unregister)(self.domain, heap.0.get()) };
    }

    /// A part of a heap may be used.
    pub fn register_region(self, heap: MemoryHeap, start: u64, bytes: u64) {
        let range = Range { bytes: bytes as usize, start: start as usize };
        let registration = Registration {
            compatibility: COMPATIBILITY,
            struct_size: size_of::<Registration>() as u16,
            kind: VIRTUAL_ADDRESS,
            heap: heap.0.get(),
            count: 1,
            description_size: size_of::<Range>(),
            descriptions: &raw const range,
            out_handles: ptr::null(),
        };
        // SAFETY: the registration and its range live through the call.
        unsafe { (self.regions_register)(self.domain, &raw const registration) };
    }

    /// The region that begins at an address may not be used any more.
    pub fn unregister_region(self, start: u64) {
        let start = start as usize;
        let unregistration = Unregistration {
            compatibility: COMPATIBILITY,
            struct_size: size_of::<Unregistration>() as u16,
            reference_kind: BY_POINTER,
            count: 1,
            reference_size: size_of::<usize>(),
            references: &raw const start,
        };
        // SAFETY: the list and its address live through the call.
        unsafe { (self.regions_unregister)(self.domain, &raw const unregistration) };
    }
}
