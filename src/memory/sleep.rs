//! Sleep and wake of device memory.

use std::ffi::{c_char, c_void};
use std::mem::{offset_of, size_of};
use std::ptr::with_exposed_provenance_mut;

use sconce_base::error::{Error, Result};
use sconce_runtime::memory::{SleepMode, SleepState};
use sconce_runtime::sleep::{self, SleepPlace, WakeMode};

use crate::handle::OpaqueHandle;
use crate::memory::sconce_memory_pool;
use crate::{guard, path_of, sconce_status};

/// Where the bytes of live blocks are while their pool sleeps.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_sleep_mode {
    /// The pool is awake. Only reported, never requested.
    SCONCE_SLEEP_NONE = 0,
    /// Nowhere: the bytes are lost.
    SCONCE_SLEEP_DISCARD = 1,
    /// In pinned memory of the host. Copies run at the speed of the link.
    SCONCE_SLEEP_HOST_PINNED = 2,
    /// In ordinary memory of the host.
    SCONCE_SLEEP_HOST_PAGEABLE = 3,
    /// In a file.
    SCONCE_SLEEP_FILE = 4,
}

numbers_of!(sconce_sleep_mode as i32: SCONCE_SLEEP_NONE, SCONCE_SLEEP_DISCARD, SCONCE_SLEEP_HOST_PINNED, SCONCE_SLEEP_HOST_PAGEABLE, SCONCE_SLEEP_FILE);

/// What live blocks contain after their pool has woken.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum sconce_wake_mode {
    /// The saved bytes, or those with which the program has replaced them. Undefined after
    /// `SCONCE_SLEEP_DISCARD`.
    SCONCE_WAKE_RESTORE = 0,
    /// Undefined contents: nothing is copied.
    SCONCE_WAKE_EMPTY = 1,
}

numbers_of!(sconce_wake_mode as i32: SCONCE_WAKE_RESTORE, SCONCE_WAKE_EMPTY);

/// Where the bytes of a pool are saved. Begin with `SCONCE_SLEEP_DESC_INIT`, which means pinned
/// memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sconce_sleep_desc {
    /// `sizeof(sconce_sleep_desc)`.
    pub struct_size: u32,
    /// `SCONCE_SLEEP_DISCARD`, `_HOST_PINNED`, `_HOST_PAGEABLE` or `_FILE`.
    pub mode: i32,
    /// For `SCONCE_SLEEP_FILE`: the folder in which an unnamed file is made. Otherwise NULL.
    pub path: *const c_char,
}

grows!(
    sconce_sleep_desc, "SCONCE_SLEEP_DESC_INIT", first version: 16 bytes,
    mode, path,
);

/// State of a pool on a device.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct sconce_memory_sleep_state {
    /// `sizeof(sconce_memory_sleep_state)`, set by the caller.
    pub struct_size: u32,
    /// `SCONCE_SLEEP_…`. With `SCONCE_SLEEP_NONE` the pool is awake, and the other fields are 0.
    pub mode: i32,
    /// Bytes of the pool whose memory has gone back to the driver.
    pub sleeping_bytes: u64,
    /// Bytes of live blocks that were saved.
    pub saved_bytes: u64,
}

grows!(
    sconce_memory_sleep_state, "SCONCE_MEMORY_SLEEP_STATE_INIT", first version: 24 bytes,
    mode, sleeping_bytes, saved_bytes,
);

const _: () = {
    assert!(size_of::<sconce_sleep_desc>() == 16);
    assert!(offset_of!(sconce_sleep_desc, path) == 8);
    assert!(size_of::<sconce_memory_sleep_state>() == 24);
    assert!(offset_of!(sconce_memory_sleep_state, sleeping_bytes) == 8);
};

impl From<Option<SleepState>> for sconce_memory_sleep_state {
    fn from(state: Option<SleepState>) -> Self {
        let mode = match state.map(|state| state.mode) {
            None => SCONCE_SLEEP_NONE,
            Some(SleepMode::Discard) => SCONCE_SLEEP_DISCARD,
            Some(SleepMode::HostPinned) => SCONCE_SLEEP_HOST_PINNED,
            Some(SleepMode::HostPageable) => SCONCE_SLEEP_HOST_PAGEABLE,
            Some(SleepMode::File) => SCONCE_SLEEP_FILE,
        };
        sconce_memory_sleep_state {
            struct_size: size_of::<Self>() as u32,
            mode,
            sleeping_bytes: state.map_or(0, |state| state.sleeping_bytes),
            saved_bytes: state.map_or(0, |state| state.saved_bytes),
        }
    }
}

/// The place that a description names.
///
/// # Safety
/// `desc` is NULL or points to `desc.struct_size` readable bytes, and its path is NULL or a NUL-terminated string.
unsafe fn sleep_place(desc: *const sconce_sleep_desc) -> Result<SleepPlace> {
    let sconce_sleep_desc { mode, path, .. } = described!(desc);
    let place = match mode {
        SCONCE_SLEEP_DISCARD => SleepPlace::Discard,
        SCONCE_SLEEP_HOST_PINNED => SleepPlace::HostPinned,
        SCONCE_SLEEP_HOST_PAGEABLE => SleepPlace::HostPageable,
        SCONCE_SLEEP_FILE => {
            // SAFETY: C passes `path` as NULL, which is refused, or as a NUL-terminated text that stays as it is
            // during the call.
            let path = unsafe { path_of(&path, "desc.path") }?;
            if path.as_os_str().is_empty() {
                return Err(Error::invalid_argument(
                    "desc.path is empty; pass the folder for the file, \".\" for the current one",
                ));
            }
            return Ok(SleepPlace::File(path.to_owned()));
        }
        _ => {
            return Err(Error::invalid_argument(format!(
                "desc.mode is {mode}; it is SCONCE_SLEEP_DISCARD, _HOST_PINNED, _HOST_PAGEABLE or _FILE (1 to 4)"
            )));
        }
    };
    if path.is_null() {
        return Ok(place);
    }
    Err(Error::invalid_argument(
        "desc.path is not NULL, but only SCONCE_SLEEP_FILE has a folder; pass NULL, or that mode",
    ))
}

fn wake_mode(mode: i32) -> Result<WakeMode> {
    match mode {
        SCONCE_WAKE_RESTORE => Ok(WakeMode::Restore),
        SCONCE_WAKE_EMPTY => Ok(WakeMode::Empty),
        _ => Err(Error::invalid_argument(format!(
            "mode is {mode}; it is SCONCE_WAKE_RESTORE or SCONCE_WAKE_EMPTY (0 or 1)"
        ))),
    }
}

/// Puts a pool to sleep on a device: its memory returns to the driver, and its addresses stay
/// reserved. The bytes of live blocks are saved; unused memory is dropped. The pool's memory must
/// consist of pages (`SCONCE_MEMORY_POLICY_PAGES`, or `policy:pages` in the settings).
///
/// Until the pool wakes, its memory must not be used, but blocks may be freed. Calls of this
/// library with such addresses, allocations from the pool, and launches of graphs that use the
/// pool's memory fail with INVALID_STATE. Addresses that kernels use are not checked.
///
/// - `pool`: NULL is the default pool.
/// - `desc`: where the bytes are saved.
/// - Errors: INVALID_STATE: the pool is asleep; its memory is fixed (`sconce_memory_pool_set_fixed`); another
///   process has a block of it open; or a stream of the device is being captured. NOT_SUPPORTED: memory of the
///   pool is in use and does not consist of pages; the message names a block. OUT_OF_MEMORY: the host has too little
///   memory. IO: the file cannot be written. After an error the pool is awake, with its bytes unless they were to be
///   discarded. In rare cases the message says that the pool is asleep all the same; then no data is lost.
/// - Ordering: waits for the device, and for devices with access to its memory.
/// - Threads: any. Only one thread at a time puts pools of a device to sleep or wakes them; others
///   wait for it. A thread that destroys a pool waits as well, and so does one that begins a
///   capture while a pool is being put to sleep.
/// - torch: vLLM's `CuMemAllocator.sleep`, `torch_memory_saver.pause`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_pool_sleep(
    pool: *mut sconce_memory_pool,
    device: i32,
    desc: *const sconce_sleep_desc,
) -> sconce_status {
    guard(|| {
        let place = checked!(sleep_place(desc));
        sleep::sleep(sconce_memory_pool::optional(pool), device, &place)
    })
}

/// Wakes a pool on a device: takes memory from the driver, and restores the pool's bytes at their
/// addresses.
///
/// - `pool`: NULL is the default pool.
/// - `mode`: `SCONCE_WAKE_…`.
/// - Errors: INVALID_STATE: the pool is awake. OUT_OF_MEMORY: the device or the limit has too
///   little memory, even after the cache was emptied. IO: the file cannot be read. After an error
///   the pool sleeps as before, and can be woken later.
/// - Ordering: returns when the memory can be used on every stream.
/// - torch: vLLM's `CuMemAllocator.wake_up`, `torch_memory_saver.resume`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_memory_pool_wake(
    pool: *mut sconce_memory_pool,
    device: i32,
    mode: i32,
) -> sconce_status {
    guard(|| sleep::wake(sconce_memory_pool::optional(pool), device, wake_mode(mode)?))
}

/// Reports whether a pool is asleep on a device, and how much of it. Does not wait for a thread that puts it to sleep
/// or wakes it.
///
/// - `pool`: NULL is the default pool.
/// - `out_state`: receives the state; begin with `SCONCE_MEMORY_SLEEP_STATE_INIT`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_pool_get_sleep_state(
    pool: *mut sconce_memory_pool,
    device: i32,
    out_state: *mut sconce_memory_sleep_state,
) -> sconce_status {
    guard(|| {
        let out_state = out_struct!(out_state);
        out_state.write(sleep::state(sconce_memory_pool::optional(pool), device)?.into());
        Ok(())
    })
}

/// Returns the host address of the saved bytes of a live block while its pool sleeps, so that a
/// program can replace them: the pool wakes with the bytes that are there at that time.
///
/// - `pool`: NULL is the default pool.
/// - `ptr`: an address in the block.
/// - `out_host`: receives the host address of the byte at `ptr`. The bytes up to the end of the
///   block follow it.
/// - Errors: INVALID_ARGUMENT: `ptr` is in no live block of the pool. INVALID_STATE: the block is not asleep, or its
///   bytes are not in memory of the host.
/// - Ownership: borrowed. The address is valid until the pool wakes.
/// - torch: `tms_get_cpu_backup_pointer` of torch_memory_saver.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_pool_backup_pointer(
    pool: *mut sconce_memory_pool,
    ptr: *const c_void,
    out_host: *mut *mut c_void,
) -> sconce_status {
    guard(|| {
        let out_host = out!(out_host);
        let place = sleep::backup_pointer(sconce_memory_pool::optional(pool), ptr as usize)?;
        out_host.write(with_exposed_provenance_mut(place));
        Ok(())
    })
}

/// Puts all memory of a device to sleep: the default pool, and every pool that has memory there and is awake.
///
/// - `desc`: as in `sconce_memory_pool_sleep`.
/// - Errors: as in `sconce_memory_pool_sleep`; pools that this call has put to sleep are woken again.
/// - Ordering: as `sconce_memory_pool_sleep`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_memory_sleep(
    device: i32,
    desc: *const sconce_sleep_desc,
) -> sconce_status {
    guard(|| {
        let place = checked!(sleep_place(desc));
        sleep::sleep_device(device, &place)
    })
}

/// Wakes every sleeping pool of a device, including pools that have been destroyed but still have
/// live blocks.
///
/// - `mode`: as in `sconce_memory_pool_wake`.
/// - Errors: OUT_OF_MEMORY, IO: as in `sconce_memory_pool_wake`. Pools are woken in the order of
///   their numbers; the pool that failed and those after it stay asleep.
/// - Ordering: as `sconce_memory_pool_wake`.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_memory_wake(device: i32, mode: i32) -> sconce_status {
    guard(|| sleep::wake_device(device, wake_mode(mode)?))
}
