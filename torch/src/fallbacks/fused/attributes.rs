//! What follows a convolution or a product, and how a filter moves, as the ABI passes them.

#![allow(unsafe_code, reason = "reads through pointers of the caller")]

use std::borrow::Cow;
use std::ffi::c_char;

use crate::abi::arguments::{IntList, array, numbers, optional};
use crate::abi::errors::text_of;
use crate::abi::tensors::rank_of;
use crate::error::{Error, Result};
use crate::operations::convolution::Steps;
use crate::operations::fused::activation::Activation;
use crate::sconce::tensor::TensorHandle;

/// A function of one element: its name, its numbers, of which each may be missing, and an algorithm.
#[derive(Clone, Copy)]
pub struct ElementFunction {
    /// Its name.
    pub name: *const c_char,
    /// Its numbers.
    pub numbers: *const *const f64,
    /// How many there are.
    pub count: i64,
    /// Its algorithm.
    pub algorithm: *const c_char,
}

impl ElementFunction {
    /// The function.
    ///
    /// # Safety
    /// Texts are NULL or end with NUL; the array has so many entries, which are NULL or valid for a read.
    pub unsafe fn read(self) -> Result<Activation> {
        let count = usize::try_from(self.count)
            .map_err(|_| Error::invalid_argument(format!("scalars have {} entries", self.count)))?;
        // SAFETY: the ABI gives `self.numbers` as many entries as `count` says.
        let places = unsafe { array(self.numbers, count, "scalars") }?;
        // SAFETY: `place` is an optional argument of the ABI: NULL, or the address of a value.
        let numbers = places.iter().map(|&place| unsafe { optional(place) });
        let numbers: Vec<Option<f64>> = numbers.collect();
        // SAFETY: `self.name` is a text of the ABI: NULL, or bytes that end with NUL.
        let name = unsafe { text_of(self.name) };
        // SAFETY: `self.algorithm` is a text of the ABI: NULL, or bytes that end with NUL.
        let algorithm = unsafe { text_of(self.algorithm) };
        Activation::of(&name, &numbers, &algorithm)
    }
}

/// The text behind a pointer. Either may be NULL.
///
/// # Safety
/// The pointer is NULL or valid for a read of a text that is NULL or ends with NUL.
pub unsafe fn optional_text(place: *const *const c_char) -> *const c_char {
    // SAFETY: `place` is an optional argument of the ABI: NULL, or the address of a value.
    unsafe { optional(place) }.unwrap_or(std::ptr::null())
}

/// How a filter moves, with an entry for each spatial dimension of the images.
pub struct Movement<'a> {
    stride: Cow<'a, [i64]>,
    padding: Cow<'a, [i64]>,
    dilation: Cow<'a, [i64]>,
    groups: i64,
}

impl Movement<'_> {
    /// Reads it. A list of one entry stands for all dimensions.
    ///
    /// # Safety
    /// The lists have as many entries as is said beside them, for as long as the result is used.
    pub unsafe fn read<'a>(
        images: TensorHandle,
        stride: IntList,
        padding: IntList,
        dilation: IntList,
        groups: i64,
    ) -> Result<Movement<'a>> {
        let spatial = rank_of(images)?.saturating_sub(2);
        // SAFETY: `list` is a list of the ABI with its number of entries.
        let list = |list, name| unsafe { spread(list, spatial, name) };
        Ok(Movement {
            stride: list(stride, "stride")?,
            padding: list(padding, "padding")?,
            dilation: list(dilation, "dilation")?,
            groups,
        })
    }

    /// For calls.
    pub fn steps(&self) -> Steps<'_> {
        let (stride, padding) = (&*self.stride, &*self.padding);
        Steps { stride, padding, dilation: &self.dilation, groups: self.groups }
    }
}

/// A list with an entry for each dimension; one entry stands for all.
///
/// # Safety
/// The list has as many entries as is said beside it.
pub unsafe fn spread<'a>(list: IntList, count: usize, name: &str) -> Result<Cow<'a, [i64]>> {
    // SAFETY: the ABI has the number of entries of `list.0` in `list.1`.
    let found = unsafe { numbers(list.0, list.1, name) }?;
    match found {
        [one] if count > 1 => Ok(vec![*one; count].into()),
        _ if found.len() == count => Ok(found.into()),
        _ => Err(Error::invalid_argument(format!(
            "{name} has {} entries, but the images {count} spatial dimensions",
            found.len()
        ))),
    }
}
