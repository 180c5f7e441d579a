//! Bytes of the tensors that a run of a model makes, counted on the thread that runs it.
//!
//! Other threads allocate at the same time, so the allocator's figures do not say what one run needs. A run that has
//! the model alone counts the handles that it is given and those that it deletes. Memory is counted once, however many
//! views of it there are. Memory of inputs and constants is not the run's: views of it are told from new tensors where
//! they are made.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use super::tensors::storage_of;
use crate::sconce::tensor::TensorHandle;

/// What is alive in a run.
#[derive(Default)]
struct Live {
    /// The memory of each handle, and how often the handle is owned.
    handles: HashMap<usize, (usize, usize)>,
    /// Bytes of each memory, and how many handles see it.
    memories: HashMap<usize, (usize, usize)>,
    /// Memory that is not the run's.
    others: HashSet<usize>,
    bytes: usize,
    most: usize,
}

thread_local! {
    /// Read by each call of a model, so that nothing else is where nothing is counted.
    static COUNTS: Cell<bool> = const { Cell::new(false) };
    static LIVE: RefCell<Option<Live>> = const { RefCell::new(None) };
}

/// Where a tensor's memory begins, and its bytes; `None` for a tensor without memory.
fn memory_of(tensor: TensorHandle) -> Option<(usize, usize)> {
    let (address, bytes) = storage_of(tensor).ok()?;
    (!address.is_null()).then(|| (address.addr(), bytes))
}

impl Live {
    fn add(&mut self, handle: usize, (address, bytes): (usize, usize)) {
        if let Some((_, owned)) = self.handles.get_mut(&handle) {
            *owned += 1;
            return;
        }
        self.handles.insert(handle, (address, 1));
        let (_, views) = self.memories.entry(address).or_insert((bytes, 0));
        *views += 1;
        if *views == 1 {
            self.bytes += bytes;
            self.most = self.most.max(self.bytes);
        }
    }

    fn remove(&mut self, handle: usize) {
        let Some((address, owned)) = self.handles.get_mut(&handle) else { return };
        *owned -= 1;
        if *owned > 0 {
            return;
        }
        let address = *address;
        self.handles.remove(&handle);
        if let Some((bytes, views)) = self.memories.get_mut(&address) {
            *views -= 1;
            if *views == 0 {
                self.bytes -= *bytes;
                self.memories.remove(&address);
            }
        }
    }
}

fn with_live(count: impl FnOnce(&mut Live)) {
    LIVE.with_borrow_mut(|live| {
        if let Some(live) = live {
            count(live);
        }
    });
}

/// Notes a new tensor that the model owns.
#[inline]
pub fn made(tensor: TensorHandle) {
    if COUNTS.get() {
        with_live(|live| {
            if let Some(memory) = memory_of(tensor)
                && !live.others.contains(&memory.0)
            {
                live.add(tensor.addr(), memory);
            }
        });
    }
}

/// Notes a view that the model owns: of memory that is counted, or of memory that is not the run's.
#[inline]
pub fn viewed(tensor: TensorHandle) {
    if COUNTS.get() {
        with_live(|live| {
            let Some(memory) = memory_of(tensor) else { return };
            if live.memories.contains_key(&memory.0) {
                live.add(tensor.addr(), memory);
            } else {
                live.others.insert(memory.0);
            }
        });
    }
}

/// Notes that the model gives up a handle, which is still valid.
#[inline]
pub fn gone(tensor: TensorHandle) {
    if COUNTS.get() {
        with_live(|live| live.remove(tensor.addr()));
    }
}

/// Runs a function, and returns the most bytes that tensors had at the same time that it made by functions of the ABI.
/// Memory of `others` is not counted.
pub fn counted<R>(others: &[TensorHandle], function: impl FnOnce() -> R) -> (R, usize) {
    let others = others.iter().filter_map(|tensor| memory_of(*tensor)).map(|memory| memory.0);
    let live = Live { others: others.collect(), ..Live::default() };
    let before = (COUNTS.replace(true), LIVE.replace(Some(live)));
    let result = function();
    COUNTS.set(before.0);
    let most = LIVE.replace(before.1).map_or(0, |live| live.most);
    (result, most)
}

#[cfg(test)]
#[allow(unsafe_code, reason = "calls functions of the ABI")]
mod tests {
    use super::*;
    use crate::abi::arguments::Out;
    use crate::abi::constants::{DEVICE_TYPE_CPU, aoti_torch_dtype_float32};
    use crate::abi::handles::{
        aoti_torch__reinterpret_tensor, aoti_torch_delete_tensor_object, aoti_torch_empty_strided,
        aoti_torch_new_tensor_handle,
    };

    fn floats(count: i64) -> TensorHandle {
        let (stride, mut made) = (1, std::ptr::null_mut());
        let (dtype, device) = (aoti_torch_dtype_float32(), DEVICE_TYPE_CPU);
        // SAFETY: one size, one stride, and a place for the result.
        let status = unsafe {
            aoti_torch_empty_strided(1, &count, &stride, dtype, device, 0, Out::from(&mut made))
        };
        assert_eq!(status, 0);
        made
    }

    fn part(of: TensorHandle, count: i64) -> TensorHandle {
        let (stride, mut made) = (1, std::ptr::null_mut());
        // SAFETY: one size, one stride, and a place for the result.
        let status = unsafe {
            aoti_torch__reinterpret_tensor(of, 1, &count, &stride, 0, Out::from(&mut made))
        };
        assert_eq!(status, 0);
        made
    }

    fn delete(tensors: &[TensorHandle]) {
        for tensor in tensors {
            assert_eq!(aoti_torch_delete_tensor_object(*tensor), 0);
        }
    }

    #[test]
    fn memory_counts_once_and_as_long_as_a_handle_sees_it() {
        let input = floats(1000);
        let constant = floats(5000);
        let ((), most) = counted(&[input], || {
            let seen = [part(input, 10), part(constant, 10)];
            let first = floats(100);
            let view = part(first, 50);
            let mut other = std::ptr::null_mut();
            assert_eq!(aoti_torch_new_tensor_handle(view, Out::from(&mut other)), 0);
            delete(&[first]);
            let second = floats(20);
            delete(&[second, view, other]);
            // The first memory is free now: nothing grows.
            let third = floats(60);
            delete(&[third, seen[0], seen[1]]);
        });
        assert_eq!(most, 4 * 120);
        let (nothing, most) = counted(&[], || input);
        assert_eq!(most, 0);
        // Outside of a count nothing is counted.
        delete(&[nothing, constant]);
        assert!(LIVE.take().is_none() && !COUNTS.get());
    }
}
