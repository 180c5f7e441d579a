//! Where the elements of a tensor lie.

use std::ffi::c_void;

use crate::abi::tensors::{data_of, device_of_tensor, dtype_of_tensor, sizes_of, strides_of};
use crate::error::{Error, Result};
use crate::sconce::api;
use crate::sconce::operations::dimension_place;
use crate::sconce::tensor::TensorHandle;

/// Where the elements of a tensor lie, which has to live as long as this is used.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The address of the first element.
    pub data: *mut c_void,
    /// Sconce's data type.
    pub dtype: i32,
    /// Sconce's device.
    pub device: i32,
    /// Elements along each dimension.
    pub sizes: Vec<i64>,
    /// Elements from one to the next along each dimension.
    pub strides: Vec<i64>,
}

impl Layout {
    /// That of a tensor.
    pub fn of(tensor: TensorHandle) -> Result<Layout> {
        Ok(Layout {
            data: data_of(tensor)?,
            dtype: dtype_of_tensor(tensor)?,
            device: device_of_tensor(tensor)?,
            sizes: sizes_of(tensor)?,
            strides: strides_of(tensor)?,
        })
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// The number of elements.
    pub fn numel(&self) -> i64 {
        self.sizes.iter().product()
    }

    /// Whether the tensor is in memory of the CPU.
    pub fn is_on_cpu(&self) -> bool {
        self.device == api::SCONCE_DEVICE_CPU
    }
}

/// The place of a dimension, with PyTorch's words if there is no such dimension.
pub fn dimension(dim: i64, rank: usize) -> Result<usize> {
    let most = rank.max(1) as i64;
    dimension_place(dim, rank).ok_or_else(|| {
        Error::invalid_argument(format!(
            "Dimension out of range (expected to be in range of [{}, {}], but got {dim})",
            -most,
            most - 1
        ))
    })
}

fn too_large(name: &str) -> Error {
    Error::invalid_argument(format!("{name} is too large to be counted"))
}

/// The number of elements of sizes that a caller names. A negative one is an error.
pub fn count_of(sizes: &[i64], name: &str) -> Result<i64> {
    if let Some(size) = sizes.iter().find(|size| **size < 0) {
        return Err(Error::invalid_argument(format!(
            "{name} is {sizes:?}, and {size} is negative; sizes must be at least 0"
        )));
    }
    if sizes.contains(&0) {
        return Ok(0);
    }
    let count = sizes.iter().try_fold(1_i64, |count, size| count.checked_mul(*size));
    count.ok_or_else(|| too_large(name))
}

/// The sum of numbers of which a caller names one.
pub fn sum_of(first: i64, second: i64, name: &str) -> Result<i64> {
    first.checked_add(second).ok_or_else(|| too_large(name))
}

/// The sizes that tensors have when each is repeated to fit the others.
pub fn broadcast(all: &[&[i64]]) -> Result<Vec<i64>> {
    let rank = all.iter().map(|sizes| sizes.len()).max().unwrap_or(0);
    let mut common = vec![1; rank];
    for sizes in all {
        for (at, &size) in (rank - sizes.len()..).zip(*sizes) {
            if common[at] == 1 {
                common[at] = size;
            } else if size != 1 && size != common[at] {
                return Err(Error::invalid_argument(format!(
                    "shape mismatch: sizes {all:?} cannot be broadcast together"
                )));
            }
        }
    }
    Ok(common)
}

/// The strides of a contiguous tensor. Those of an empty one that are too large to be counted are the largest number.
pub fn contiguous_strides(sizes: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; sizes.len()];
    for at in (1..sizes.len()).rev() {
        strides[at - 1] = i64::saturating_mul(strides[at], sizes[at].max(1));
    }
    strides
}

/// Whether a batch of images lies in memory with its channels innermost: the rule of `suggest_memory_format`.
pub fn has_channels_last(sizes: &[i64], strides: &[i64]) -> bool {
    // From the innermost to the outermost dimension: channels, width, height (and depth), batch.
    let order = std::iter::once(1).chain((2..sizes.len()).rev()).chain([0]);
    let mut least = 0;
    if strides[1] == 0 {
        return false;
    }
    for dim in order {
        // Sizes of 1 say nothing of the order: a stride as in a contiguous tensor decides.
        let is_ambiguous = dim == 0 && least == strides[1];
        if sizes[dim] == 0 || strides[dim] < least || is_ambiguous {
            return false;
        }
        least = strides[dim] * sizes[dim].max(1);
    }
    true
}

/// The memory format of a batch of images of so many dimensions, whose channels are innermost or not.
pub fn format_of_images(has_channels_last: bool, rank: usize) -> i32 {
    match (has_channels_last, rank) {
        (false, _) => api::SCONCE_MEMORY_FORMAT_CONTIGUOUS,
        (true, 4) => api::SCONCE_MEMORY_FORMAT_CHANNELS_LAST,
        (true, _) => api::SCONCE_MEMORY_FORMAT_CHANNELS_LAST_3D,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn dimensions_count_from_both_ends() {
        assert_eq!(dimension(-1, 3).unwrap(), 2);
        assert_eq!(dimension(0, 0).unwrap(), 0);
        assert_eq!(
            dimension(3, 3).unwrap_err().message,
            "Dimension out of range (expected to be in range of [-3, 2], but got 3)"
        );
        assert!(dimension(-2, 1).is_err());
    }

    #[test]
    fn sizes_are_repeated_to_a_common_one() {
        assert_eq!(broadcast(&[&[3, 1], &[4]]).unwrap(), [3, 4]);
        assert_eq!(broadcast(&[&[0], &[1]]).unwrap(), [0]);
        assert_eq!(broadcast(&[]).unwrap(), Vec::<i64>::new());
        assert!(broadcast(&[&[3], &[4]]).is_err());
    }

    #[test]
    fn contiguous_strides_count_elements_of_the_dimensions_behind() {
        assert_eq!(contiguous_strides(&[2, 3, 4]), [12, 4, 1]);
        assert_eq!(contiguous_strides(&[2, 0, 4]), [4, 4, 1]);
        assert!(contiguous_strides(&[]).is_empty());
    }

    #[test]
    fn the_order_of_channels_is_read_as_pytorch_reads_it() {
        assert!(has_channels_last(&[2, 3, 4, 5], &[60, 1, 15, 3]));
        assert!(!has_channels_last(&[2, 3, 4, 5], &[60, 20, 5, 1]));
        // One channel, and one place: contiguous.
        assert!(!has_channels_last(&[2, 1, 4, 5], &[20, 20, 5, 1]));
        assert!(!has_channels_last(&[1, 3, 1, 1], &[3, 1, 1, 1]));
        assert!(has_channels_last(&[2, 3, 1, 1], &[3, 1, 3, 3]));
        assert!(has_channels_last(&[2, 3, 2, 4, 5], &[120, 1, 60, 15, 3]));
        assert!(!has_channels_last(&[2, 0, 4, 5], &[0, 1, 0, 0]));
    }
}
