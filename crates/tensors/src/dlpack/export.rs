//! A tensor as a struct that shares its memory.

use std::ffi::c_void;
use std::ptr::null_mut;

use sconce_base::error::{Error, Result};
use sconce_runtime::context::runtime;
use sconce_runtime::stream::{self, Stream};

use super::device::wait;
use super::layout::{
    DlpackDeleter, DlpackDevice, DlpackManaged, DlpackManagedHead, DlpackManagedVersioned,
    DlpackTensor, READ_ONLY, VERSION,
};
use crate::tensor::{Dims, Tensor};

/// A struct that another library is handed, with what it points to. The deleter drops it.
#[repr(C)]
pub struct DlpackExport<M> {
    /// First, so that a pointer to it is one to all of this.
    managed: M,
    sizes: Dims,
    strides: Dims,
    /// Keeps the memory.
    _tensor: Tensor,
}

impl<M> DlpackExport<M> {
    /// Makes the struct on the heap, where `sizes` and `strides` do not move.
    fn made(
        tensor: Tensor,
        device: DlpackDevice,
        managed: impl FnOnce(DlpackTensor) -> M,
        place: impl FnOnce(&mut M) -> &mut DlpackTensor,
    ) -> *mut M {
        let data = if tensor.numel() == 0 { 0 } else { tensor.address() };
        let sizes = Dims::from_slice(tensor.sizes());
        let described = DlpackTensor {
            data: std::ptr::with_exposed_provenance_mut(data),
            device,
            ndim: sizes.len() as i32,
            dtype: tensor.dtype().dlpack(),
            shape: null_mut(),
            strides: null_mut(),
            byte_offset: 0,
        };
        let strides = exported_strides(&tensor);
        let export = DlpackExport { managed: managed(described), sizes, strides, _tensor: tensor };
        let raw = Box::into_raw(Box::new(export));
        // SAFETY: it was made above, and nobody else has it yet.
        let export = unsafe { &mut *raw };
        let described = place(&mut export.managed);
        described.shape = export.sizes.as_mut_ptr();
        described.strides = export.strides.as_mut_ptr();
        raw.cast()
    }

    /// Gives the struct and its count of the memory back.
    ///
    /// # Safety
    /// The pointer comes from this type, and is not used any more.
    pub unsafe fn delete(managed: *mut c_void) {
        // SAFETY: a pointer that `made` returned came from `Box::into_raw` of this type, whose first field (`repr(C)`)
        // it points to; it is passed here once, as this function demands.
        drop(unsafe { Box::from_raw(managed.cast::<DlpackExport<M>>()) });
    }
}

impl DlpackExport<DlpackManagedVersioned> {
    /// The struct with a version.
    pub fn versioned(
        tensor: Tensor,
        device: Option<DlpackDevice>,
        deleter: DlpackDeleter,
    ) -> Result<*mut DlpackManagedVersioned> {
        check(&tensor)?;
        let flags = if tensor.storage().is_read_only() { READ_ONLY } else { 0 };
        let head = DlpackManagedHead { version: VERSION, manager_ctx: null_mut(), deleter, flags };
        let device = device.unwrap_or_else(|| DlpackDevice::of(tensor.place()));
        let managed = |dl_tensor| DlpackManagedVersioned { head, dl_tensor };
        Ok(DlpackExport::made(tensor, device, managed, |managed| &mut managed.dl_tensor))
    }
}

impl DlpackExport<DlpackManaged> {
    /// The struct without a version, which cannot say that memory is read-only.
    pub fn unversioned(tensor: Tensor, deleter: DlpackDeleter) -> Result<*mut DlpackManaged> {
        check(&tensor)?;
        if tensor.storage().is_read_only() {
            return Err(Error::invalid_argument(
                "tensor is read-only, which the unversioned struct cannot say; use \
                 sconce_tensor_to_dlpack, or export a clone",
            ));
        }
        let device = DlpackDevice::of(tensor.place());
        let managed = |dl_tensor| DlpackManaged { dl_tensor, manager_ctx: null_mut(), deleter };
        Ok(DlpackExport::made(tensor, device, managed, |managed| &mut managed.dl_tensor))
    }
}

fn check(tensor: &Tensor) -> Result<()> {
    if i32::try_from(tensor.rank()).is_err() {
        return Err(Error::invalid_argument("tensor has more dimensions than DLPack can count"));
    }
    Ok(())
}

/// A tensor's strides; 1 where they mean nothing, unless the elements lie one after another: some consumers
/// compare such strides with their own, and PyTorch exports them so.
fn exported_strides(tensor: &Tensor) -> Dims {
    if tensor.is_contiguous() {
        return Dims::from_slice(tensor.strides());
    }
    let sizes = tensor.sizes().iter();
    sizes.zip(tensor.strides()).map(|(size, stride)| if *size < 2 { 1 } else { *stride }).collect()
}

/// Makes the consumer's stream wait for the work on a tensor that was queued so far, and notes that it uses
/// the memory.
pub fn export_stream(tensor: &Tensor, consumer: Option<Stream>) -> Result<()> {
    let Some((consumer, device)) = consumer.zip(tensor.place().device()) else { return Ok(()) };
    let runtime = runtime()?;
    wait(runtime, consumer, stream::current_on(runtime, device)?)?;
    tensor.storage().record_stream(consumer)
}
