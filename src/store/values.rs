//! What stores hold.

use std::ffi::{c_char, c_void};

use sconce_base::error::{Error, Result};

use super::{sconce_store, store_of, timeout_of, world_size_of};
use crate::arguments::entries;
use crate::{guard, null, sconce_status, text};

/// A caller's keys.
///
/// # Safety
/// If `keys` is neither NULL nor misaligned, it points to `count` texts or NULL, which
/// stay as they are during `'a`.
unsafe fn keys_of<'a>(keys: &'a *const *const c_char, count: usize) -> Result<Vec<&'a [u8]>> {
    if count == 0 {
        return Err(Error::invalid_argument("count is 0; name at least one key"));
    }
    // SAFETY: `count` texts or NULL, as this function demands.
    let keys = unsafe { entries(keys, count, "keys") }?;
    let named = |(index, key): (usize, &'a *const c_char)| {
        // SAFETY: an entry of `keys`: NULL or a text, as this function demands.
        unsafe { text(key, &format!("keys[{index}]")) }.map(std::ffi::CStr::to_bytes)
    };
    keys.iter().enumerate().map(named).collect()
}

/// The caller's buffer for a value.
struct ValueBuffer {
    bytes: *mut u8,
    capacity: usize,
}

impl ValueBuffer {
    fn new(buffer: *mut c_void, capacity: usize) -> Result<ValueBuffer> {
        if capacity != 0 && buffer.is_null() {
            return Err(null("buffer"));
        }
        Ok(ValueBuffer { bytes: buffer.cast(), capacity })
    }

    /// Writes as many bytes as fit.
    ///
    /// # Safety
    /// The caller has promised `capacity` writable bytes.
    unsafe fn write(self, value: &[u8]) {
        let bytes = value.len().min(self.capacity);
        if bytes != 0 {
            // SAFETY: not NULL, since the capacity is not 0, and `buffer` can hold so many bytes: this function demands
            // it.
            unsafe { self.bytes.copy_from_nonoverlapping(value.as_ptr(), bytes) };
        }
    }
}

/// Sets a key to a value. All processes can see the value when the call returns.
///
/// - `key`: a text, at most 8,192 bytes with its prefixes.
/// - `value`: any bytes; may be NULL if `bytes` is 0.
/// - `bytes`: at most 8 MiB.
/// - Errors: REMOTE: the server has ended or refuses the value, for example because it holds 256 MiB. TIMEOUT. IO.
/// - Ordering: waits for the server's acknowledgement.
/// - torch: `torch.distributed.Store.set`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_store_set(
    store: *mut sconce_store,
    key: *const c_char,
    value: *const c_void,
    bytes: usize,
) -> sconce_status {
    guard(|| {
        let store = store_of(store)?;
        let key = text!(key).to_bytes();
        store.set(key, bytes!(value, bytes))
    })
}

/// Waits until a key exists, and returns its value.
///
/// - `key`: a text, at most 8,192 bytes with its prefixes.
/// - `timeout_ms`: the timeout; 0 checks once; -1 for the store's timeout.
/// - `buffer`: receives the value, or its beginning if it has more than `capacity` bytes; may be NULL
///   if `capacity` is 0.
/// - `capacity`: bytes that `buffer` can hold.
/// - `out_bytes`: receives the size of the whole value. If it is more than `capacity`, call again with
///   a larger buffer.
/// - Errors: TIMEOUT: the key does not exist; the message names it. REMOTE: the server has ended.
///   IO. INVALID_STATE: the store was destroyed during the call.
/// - Ordering: waits for another process.
/// - torch: `torch.distributed.Store.get`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_store_get(
    store: *mut sconce_store,
    key: *const c_char,
    timeout_ms: i64,
    buffer: *mut c_void,
    capacity: usize,
    out_bytes: *mut usize,
) -> sconce_status {
    guard(|| {
        let out_bytes = out!(out_bytes);
        let store = store_of(store)?;
        let key = text!(key).to_bytes();
        let buffer = ValueBuffer::new(buffer, capacity)?;
        let value = store.get(key, timeout_of(timeout_ms)?)?;
        // SAFETY: `buffer` is that of the C call, which has not returned; it is NULL only if `capacity` is 0.
        unsafe { buffer.write(&value) };
        out_bytes.write(value.len());
        Ok(())
    })
}

/// Adds to a counter, atomically among all processes. A counter is stored as decimal text. A
/// missing counter counts as 0.
///
/// - `key`: a text, at most 8,192 bytes with its prefixes.
/// - `delta`: what to add; 0 reads the counter.
/// - `out_value`: receives the sum.
/// - Errors: INVALID_STATE: the value is not a number, or the sum has more than 64 bits, for a
///   store in a file. REMOTE: the same for a store with a server; or the server has ended, in which
///   case the addition may have happened. TIMEOUT. IO.
/// - torch: `torch.distributed.Store.add`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_store_add(
    store: *mut sconce_store,
    key: *const c_char,
    delta: i64,
    out_value: *mut i64,
) -> sconce_status {
    guard(|| {
        let out_value = out!(out_value);
        let store = store_of(store)?;
        out_value.write(store.add(text!(key).to_bytes(), delta)?);
        Ok(())
    })
}

/// Sets a key to `desired` if its value is `expected`, atomically among all processes, and returns
/// the value of the key afterwards. A missing key counts as an empty value. If the key is missing
/// and `expected` is not empty, nothing is set, and `expected` is returned.
///
/// - `key`: a text, at most 8,192 bytes with its prefixes.
/// - `expected`, `desired`: any bytes; may be NULL if they have none.
/// - `expected_bytes`, `desired_bytes`: their sizes, at most 8 MiB.
/// - `buffer`, `capacity`: receive the value; as for `sconce_store_get`.
/// - `out_bytes`: receives the size of the value.
/// - Errors: as `sconce_store_set`.
/// - torch: `torch.distributed.Store.compare_set`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_store_compare_set(
    store: *mut sconce_store,
    key: *const c_char,
    expected: *const c_void,
    expected_bytes: usize,
    desired: *const c_void,
    desired_bytes: usize,
    buffer: *mut c_void,
    capacity: usize,
    out_bytes: *mut usize,
) -> sconce_status {
    guard(|| {
        let out_bytes = out!(out_bytes);
        let store = store_of(store)?;
        let key = text!(key).to_bytes();
        let buffer = ValueBuffer::new(buffer, capacity)?;
        let expected = bytes!(expected, expected_bytes);
        let desired = bytes!(desired, desired_bytes);
        let value = store.compare_set(key, expected, desired)?;
        // SAFETY: `buffer` is that of the C call, which has not returned; it is NULL only if `capacity` is 0.
        unsafe { buffer.write(&value) };
        out_bytes.write(value.len());
        Ok(())
    })
}

/// Reports whether all of the given keys exist.
///
/// - `keys`: texts.
/// - `count`: number of keys, at least 1.
/// - `out_present`: receives the answer.
/// - torch: `torch.distributed.Store.check`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_store_check(
    store: *mut sconce_store,
    keys: *const *const c_char,
    count: usize,
    out_present: *mut bool,
) -> sconce_status {
    guard(|| {
        let out_present = out!(out_present);
        let store = store_of(store)?;
        out_present.write(store.check(&checked!(keys_of(&keys, count)))?);
        Ok(())
    })
}

/// Waits until all of the given keys exist.
///
/// - `keys`: texts.
/// - `count`: number of keys, at least 1.
/// - `timeout_ms`: the timeout; 0 checks once; -1 for the store's timeout.
/// - Errors: TIMEOUT: a key does not exist. REMOTE: the server has ended. IO. INVALID_STATE: the
///   store was destroyed during the call.
/// - Ordering: waits for other processes.
/// - torch: `torch.distributed.Store.wait`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_store_wait(
    store: *mut sconce_store,
    keys: *const *const c_char,
    count: usize,
    timeout_ms: i64,
) -> sconce_status {
    guard(|| {
        let store = store_of(store)?;
        store.wait(&checked!(keys_of(&keys, count)), timeout_of(timeout_ms)?)
    })
}

/// Deletes a key.
///
/// - `key`: a text, at most 8,192 bytes with its prefixes.
/// - `out_deleted`: receives whether the key existed.
/// - torch: `torch.distributed.Store.delete_key`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_store_delete_key(
    store: *mut sconce_store,
    key: *const c_char,
    out_deleted: *mut bool,
) -> sconce_status {
    guard(|| {
        let out_deleted = out!(out_deleted);
        let store = store_of(store)?;
        out_deleted.write(store.delete_key(text!(key).to_bytes())?);
        Ok(())
    })
}

/// Returns the number of keys of the table, those of other prefixes and the table's own (such as `init/`) included.
///
/// - `out_count`: receives the number.
/// - torch: `torch.distributed.Store.num_keys`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_store_get_num_keys(
    store: *mut sconce_store,
    out_count: *mut i64,
) -> sconce_status {
    guard(|| {
        let out_count = out!(out_count);
        out_count.write(store_of(store)?.num_keys()?);
        Ok(())
    })
}

/// Waits until `world_size` processes, or threads, have called this function with the same name. The name can be used
/// again at once.
///
/// - `name`: names the barrier; its keys are `name/barrier/…`.
/// - `world_size`: at least 1, and the same in all calls.
/// - `timeout_ms`: the timeout; -1 for the store's timeout.
/// - Errors: TIMEOUT: not all have called; the message states how many have. The name cannot be
///   used again then.
/// - Ordering: waits for other processes.
/// - torch: `torch.distributed.barrier`, over a store.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_store_barrier(
    store: *mut sconce_store,
    name: *const c_char,
    world_size: i32,
    timeout_ms: i64,
) -> sconce_status {
    guard(|| {
        let store = store_of(store)?;
        let name = text!(name);
        store.barrier(name.to_bytes(), world_size_of(world_size, 1)?, timeout_of(timeout_ms)?)
    })
}
