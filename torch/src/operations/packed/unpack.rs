//! The elements of a packed constant in the order of their dimensions, in memory of this library.

#![allow(unsafe_code, reason = "reads memory of a model, and gives memory to libsconce.so")]

use std::collections::HashSet;
use std::ffi::c_void;
use std::sync::{LazyLock, Mutex, PoisonError};

use super::description::PackedLayout;
use crate::abi::tensors::data_of;
use crate::error::{Error, Result};
use crate::operations::layout::contiguous_strides;
use crate::operations::tensors::bytes_of;
use crate::operations::walk::walk;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// Addresses of the elements of tensors that were packed, while these are alive.
static UNPACKED: LazyLock<Mutex<HashSet<usize>>> = LazyLock::new(Mutex::default);

fn with_unpacked<R>(of: impl FnOnce(&mut HashSet<usize>) -> R) -> R {
    of(&mut UNPACKED.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Whether a tensor was packed: its sizes are then those that oneDNN has, which differ for transposed convolutions,
/// and results of convolutions have their channels innermost.
pub fn was_packed(tensor: TensorHandle) -> Result<bool> {
    let address = data_of(tensor)?.addr();
    Ok(with_unpacked(|unpacked| unpacked.contains(&address)))
}

/// Memory of an unpacked tensor, aligned for vectors of the processor.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

unsafe extern "C" fn give_up(lines: *mut c_void) {
    // SAFETY: the context is the box that `unpacked` made, and this is called once.
    let lines = unsafe { Box::from_raw(lines.cast::<Vec<Line>>()) };
    with_unpacked(|unpacked| unpacked.remove(&lines.as_ptr().addr()));
}

/// Filters of convolutions over two and three dimensions have their channels innermost, as the images that they meet:
/// nothing has to be copied then when the model runs.
fn strides_of(sizes: &[i64]) -> Vec<i64> {
    let mut strides = contiguous_strides(sizes);
    if matches!(sizes.len(), 4 | 5) {
        let mut next = 1;
        for dim in std::iter::once(1).chain((2..sizes.len()).rev()).chain([0]) {
            strides[dim] = next;
            next *= sizes[dim].max(1);
        }
    }
    strides
}

/// A tensor with the elements of a packed one.
///
/// # Safety
/// The memory has the elements that the description reaches.
pub unsafe fn unpacked(
    data: *const c_void,
    description: &PackedLayout,
    sizes: &[i64],
) -> Result<Tensor> {
    let element = bytes_of(description.dtype)?;
    let too_large = || Error::invalid_argument("the sizes are too large to be counted");
    let count = sizes.iter().try_fold(element as i64, |all, &size| all.checked_mul(size));
    let bytes = count.and_then(|bytes| usize::try_from(bytes).ok()).ok_or_else(too_large)?;
    // Memory without elements has an address of its own, too.
    let mut lines = vec![Line([0; 64]); bytes.div_ceil(64).max(1)];
    let base = lines.as_mut_ptr().cast::<u8>();
    let strides = strides_of(sizes);
    let (within, counted) = (contiguous_strides(&description.sizes), contiguous_strides(sizes));
    let mut index = vec![0; description.sizes.len()];
    walk(&description.sizes, [&within], |[number]| {
        let mut rest = number;
        for (at, stride) in index.iter_mut().zip(&within) {
            *at = rest / stride;
            rest %= stride;
        }
        let (mut to, mut rest) = (0, number);
        for (stride, counted) in strides.iter().zip(&counted) {
            to += rest / counted * stride;
            rest %= counted;
        }
        let from = description.place(&index) as usize * element;
        let from = data.cast::<u8>().wrapping_add(from);
        let into = base.wrapping_add(to as usize * element);
        // SAFETY: `unpacked` demands that the memory has the elements which the description reaches, and there are as
        // many places as elements.
        unsafe { std::ptr::copy_nonoverlapping(from, into, element) };
    });
    let address = base.cast::<c_void>();
    with_unpacked(|unpacked| unpacked.insert(address.addr()));
    let lines = Box::into_raw(Box::new(lines)).cast::<c_void>();
    // SAFETY: the memory has the elements, and lives until the deleter is called; the place is valid for a write.
    let made = Tensor::made(|made| unsafe {
        api::sconce_tensor_from_memory(
            address,
            bytes,
            sizes.as_ptr(),
            strides.as_ptr(),
            sizes.len(),
            description.dtype,
            api::SCONCE_DEVICE_CPU,
            Some(give_up),
            lines,
            made,
        )
    });
    if made.is_err() {
        // SAFETY: no tensor has the memory, so the deleter was not called.
        unsafe { give_up(lines) };
    }
    made
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::abi::tensors::strides_of;
    use crate::operations::packed::description::tests::Written;
    use crate::sconce::operations::narrow;
    use crate::testing::{Cases, Dense, live};

    /// Memory in blocks, made by a loop that asks for each place of memory which element is there.
    fn packed(of: &Dense, in_memory: [i64; 2], block: [i64; 2], is_inner_first: bool) -> Vec<f32> {
        let across = in_memory[1] / block[1];
        (0..in_memory[0] * in_memory[1])
            .map(|place| {
                let (within, outer) =
                    (place % (block[0] * block[1]), place / (block[0] * block[1]));
                let (row, column) = match is_inner_first {
                    true => (within % block[0], within / block[0]),
                    false => (within / block[1], within % block[1]),
                };
                let at = [outer / across * block[0] + row, outer % across * block[1] + column];
                let is_padding = at[0] >= of.sizes[0] || at[1] >= of.sizes[1];
                if is_padding { f32::NAN } else { of.at(&at) as f32 }
            })
            .collect()
    }

    #[test]
    fn elements_come_out_of_blocks() {
        let before = live();
        let mut cases = Cases::new(71);
        for turn in 0..40 {
            let sizes = [cases.int(1, 20), cases.int(1, 20)];
            let block = [cases.one(&[1, 2, 8]), cases.one(&[1, 4, 16])];
            let up = |size: i64, block: i64| (size + block - 1) / block * block;
            let in_memory = [up(sizes[0], block[0]), up(sizes[1], block[1])];
            let is_inner_first = turn % 2 == 0;
            let of = Dense::quarters(&mut cases, &sizes);
            let memory = packed(&of, in_memory, block, is_inner_first);
            let strides = [in_memory[1] * block[0], block[0] * block[1]];
            let mut levels = [(0, block[0]), (1, block[1])];
            if is_inner_first {
                levels.reverse();
            }
            let written = Written::new(3, &sizes, &in_memory, &strides, &levels);
            let description = PackedLayout::read(&written.0, &sizes).unwrap();
            // SAFETY: the memory has all blocks.
            let tensor = unsafe { unpacked(memory.as_ptr().cast(), &description, &sizes) }.unwrap();
            of.assert_near(tensor.handle(), 0.0, &format!("turn {turn}"));
        }
        assert_eq!(live(), before);
    }

    #[test]
    fn filters_have_their_channels_innermost() {
        let mut cases = Cases::new(72);
        for (sizes, strides) in
            [(vec![4, 3, 2, 5], vec![30, 1, 15, 3]), (vec![2, 3, 2, 1, 4], vec![24, 1, 12, 12, 3])]
        {
            let of = Dense::quarters(&mut cases, &sizes);
            let memory: Vec<f32> = of.values.iter().map(|value| *value as f32).collect();
            let written = Written::new(3, &sizes, &sizes, &contiguous_strides(&sizes), &[]);
            let description = PackedLayout::read(&written.0, &sizes).unwrap();
            // SAFETY: the memory has all elements.
            let tensor = unsafe { unpacked(memory.as_ptr().cast(), &description, &sizes) }.unwrap();
            of.assert_near(tensor.handle(), 0.0, "a filter");
            assert_eq!(strides_of(tensor.handle()).unwrap(), strides);
        }
    }

    #[test]
    fn a_tensor_is_known_to_have_been_packed_as_long_as_it_lives() {
        let memory = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
        let written = Written::new(3, &[1, 3, 2], &[1, 3, 2], &[6, 1, 3], &[]);
        let description = PackedLayout::read(&written.0, &[3, 2]).unwrap();
        // SAFETY: the memory has six elements.
        let tensor = unsafe { unpacked(memory.as_ptr().cast(), &description, &[3, 2]) }.unwrap();
        let expected = Dense { sizes: vec![3, 2], values: vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0] };
        expected.assert_near(tensor.handle(), 0.0, "columns");
        assert!(was_packed(tensor.handle()).unwrap());
        let address = data_of(tensor.handle()).unwrap().addr();
        // A view from the begin is the same weights; it keeps the memory.
        let view = narrow(tensor.handle(), 0, 0, 2).unwrap();
        drop(tensor);
        assert!(was_packed(view.handle()).unwrap());
        let other = expected.tensor(api::SCONCE_DTYPE_F32);
        assert!(!was_packed(other.handle()).unwrap());
        drop(view);
        assert!(!with_unpacked(|unpacked| unpacked.contains(&address)));
    }
}
