//! A tensor: a storage seen through a type, sizes, strides and an offset.

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_driver::RawAddress;

use super::dim_list::Dims;
use super::dims;
use super::layout::{TensorLayout, reaches};
use super::place::Place;
use super::shared_storage::StorageRef;
use super::storage::Storage;

/// A tensor. The default is the undefined one, which has no storage; its type and its layout mean nothing. Every
/// element lies in the storage.
///
/// No `Option` of all parts: one would be filled by a copy of 200 bytes, and each look at a part would ask for it.
#[derive(Clone)]
pub struct Tensor {
    storage: Option<StorageRef>,
    dtype: Dtype,
    layout: TensorLayout,
}

impl Default for Tensor {
    #[inline]
    fn default() -> Tensor {
        Tensor { storage: None, dtype: Dtype::U8, layout: TensorLayout::default() }
    }
}

impl Tensor {
    /// A tensor whose elements all lie in the storage, as the caller has made sure.
    #[inline]
    pub(super) fn of(
        storage: StorageRef,
        dtype: Dtype,
        sizes: Dims,
        strides: Dims,
        offset: i64,
    ) -> Tensor {
        let layout = TensorLayout::new(&sizes, &strides, offset);
        debug_assert!(layout.is_within(storage.bytes(), dtype));
        Tensor { storage: Some(storage), dtype, layout }
    }

    /// A tensor of given sizes, strides and offset, checked against the storage.
    pub fn checked(
        storage: StorageRef,
        dtype: Dtype,
        sizes: &[i64],
        strides: &[i64],
        offset: i64,
    ) -> Result<Tensor> {
        if sizes.len() != strides.len() {
            return Err(Error::invalid_argument(format!(
                "mismatch in length of strides and shape: {} sizes, but {} strides",
                sizes.len(),
                strides.len()
            )));
        }
        dims::count(sizes)?;
        if let Some(stride) = strides.iter().find(|stride| **stride < 0) {
            return Err(Error::invalid_argument(format!(
                "as_strided: Negative strides are not supported at the moment, got strides: \
                 {strides:?} (one is {stride})"
            )));
        }
        if offset < 0 {
            return Err(Error::invalid_argument(format!(
                "Tensor: invalid storage offset {offset}; it must be at least 0"
            )));
        }
        match reaches(sizes, strides, offset, dtype) {
            Some(bytes) if bytes <= storage.bytes() as i64 => {
                let (sizes, strides) = (Dims::from_slice(sizes), Dims::from_slice(strides));
                Ok(Tensor::of(storage, dtype, sizes, strides, offset))
            }
            reaches => Err(out_of_bounds(&storage, dtype, sizes, strides, offset, reaches)),
        }
    }

    /// The same view of another storage, which is as large.
    pub fn over(&self, storage: StorageRef) -> Tensor {
        Tensor { storage: Some(storage), dtype: self.dtype(), layout: self.layout().clone() }
    }

    /// Becomes a tensor whose layout the caller writes then, all of it, so that it reaches only elements of the
    /// storage.
    #[inline(always)]
    pub(super) fn begin(&mut self, storage: StorageRef, dtype: Dtype) -> &mut TensorLayout {
        self.storage = Some(storage);
        self.dtype = dtype;
        &mut self.layout
    }

    /// Takes the storage out: the tensor is then the undefined one, with the layout that it had.
    #[inline]
    pub(super) fn take_storage(&mut self) -> Option<StorageRef> {
        self.storage.take()
    }

    /// Another view of the same memory. `change` changes the layout so that it reaches no element that it did not
    /// reach before.
    #[inline]
    pub(super) fn viewed(
        &self,
        change: impl FnOnce(&mut TensorLayout) -> Result<()>,
    ) -> Result<Tensor> {
        let mut view = self.clone();
        change(&mut view.layout)?;
        view.layout.check_within(view.storage().bytes(), view.dtype)?;
        Ok(view)
    }

    /// Where the elements lie.
    #[inline(always)]
    pub(super) fn layout(&self) -> &TensorLayout {
        debug_assert!(self.is_defined(), "the undefined tensor has no layout");
        &self.layout
    }

    /// Whether it has a storage.
    #[inline]
    pub fn is_defined(&self) -> bool {
        self.storage.is_some()
    }

    /// The tensor, unless it is the undefined one.
    #[inline]
    pub fn defined(&self, name: &str) -> Result<&Tensor> {
        if self.is_defined() { Ok(self) } else { Err(Tensor::undefined(name)) }
    }

    /// Why the undefined tensor is refused.
    #[cold]
    #[inline(never)]
    pub fn undefined(name: &str) -> Error {
        Error::invalid_argument(format!("{name} is an undefined tensor; pass one that has memory"))
    }

    /// The memory.
    #[inline]
    pub fn storage(&self) -> &StorageRef {
        match &self.storage {
            Some(storage) => storage,
            None => no_storage(),
        }
    }

    /// The type of its elements.
    #[inline]
    pub(crate) fn dtype(&self) -> Dtype {
        debug_assert!(self.is_defined(), "the undefined tensor has no type");
        self.dtype
    }

    /// Elements along each dimension.
    #[inline]
    pub(crate) fn sizes(&self) -> &[i64] {
        self.layout().sizes()
    }

    /// Elements from one index of a dimension to the next.
    #[inline]
    pub(crate) fn strides(&self) -> &[i64] {
        self.layout().strides()
    }

    /// Elements from the storage's begin to the first element.
    #[inline]
    pub(crate) fn offset(&self) -> i64 {
        self.layout().offset
    }

    /// How many elements it has.
    #[inline]
    pub(crate) fn numel(&self) -> i64 {
        self.layout().numel
    }

    /// How many dimensions it has.
    #[inline]
    pub(crate) fn rank(&self) -> usize {
        self.layout().rank()
    }

    /// The CPU or its device.
    #[inline]
    pub fn place(&self) -> Place {
        self.storage().place()
    }

    /// The bytes of an element.
    #[inline]
    pub(crate) fn element(&self) -> usize {
        self.dtype().bytes()
    }

    /// The bytes of all elements, one after another. A tensor that repeats its elements may have more than any memory;
    /// it has `usize::MAX` then.
    #[inline]
    pub(crate) fn packed_bytes(&self) -> usize {
        (self.numel() as usize).saturating_mul(self.element())
    }

    /// May wrap around where there are no elements, since the offset is then not checked.
    fn offset_bytes(&self) -> usize {
        (self.offset() as usize).wrapping_mul(self.element())
    }

    /// The address of the first element; 0 if the storage has no bytes.
    #[inline]
    pub(crate) fn address(&self) -> usize {
        match self.storage().address() {
            0 => 0,
            address => address.wrapping_add(self.offset_bytes()),
        }
    }

    /// The first element, for a copy.
    #[inline]
    pub(crate) fn raw(&self) -> RawAddress {
        self.storage().raw(self.offset_bytes())
    }

    /// Whether both are the same elements in the same order; the undefined tensor is the same as itself.
    pub fn is_same_view(&self, other: &Tensor) -> bool {
        match (&self.storage, &other.storage) {
            (Some(one), Some(others)) => {
                let (own, its) = (&self.layout, &other.layout);
                one.is(others)
                    && self.dtype == other.dtype
                    && own.offset == its.offset
                    && dims::are_equal(own.sizes(), its.sizes())
                    && dims::are_equal(own.strides(), its.strides())
            }
            (one, others) => one.is_none() && others.is_none(),
        }
    }

    /// Whether elements lie one after another, the last dimension first.
    #[inline]
    pub(crate) fn is_contiguous(&self) -> bool {
        dims::is_contiguous(self.sizes(), self.strides())
    }

    /// Whether each place from the first to the last element holds exactly one.
    pub(crate) fn is_dense(&self) -> bool {
        dims::is_dense(self.sizes(), self.strides())
    }
}

#[cold]
#[inline(never)]
fn no_storage() -> ! {
    panic!("an undefined tensor was used where only defined ones come")
}

#[cold]
fn out_of_bounds(
    storage: &Storage,
    dtype: Dtype,
    sizes: &[i64],
    strides: &[i64],
    offset: i64,
    reaches: Option<i64>,
) -> Error {
    let bytes = reaches.map_or("more than can be counted".to_owned(), |bytes| bytes.to_string());
    Error::invalid_argument(format!(
        "setStorage: sizes {sizes:?}, strides {strides:?}, storage offset {offset}, and itemsize {} \
         requiring a storage size of {bytes} are out of bounds for storage of size {}",
        dtype.bytes(),
        storage.bytes()
    ))
}
