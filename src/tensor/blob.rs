//! Tensors over memory of others.

use std::ffi::c_void;

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result, Status};
use sconce_runtime::operand::address_range::{MemoryKind, kind_of, refuse_device_memory};
use sconce_tensors::tensor::promotion::DEFAULT_FLOAT;
use sconce_tensors::tensor::{
    ForeignOwner, MemoryFormat, Place, ReservedStorage, Storage, StorageRef, Tensor, extent,
};

use super::handle::{returned, sconce_tensor};
use super::options::sconce_tensor_options;
use crate::handle::OpaqueHandle;
use crate::{guard, sconce_status};

/// Returns memory to its owner. Called once, with the `context` that was passed with the function,
/// on any thread, possibly at exit.
pub type sconce_deleter = Option<unsafe extern "C" fn(context: *mut c_void)>;

/// Creates a tensor over memory of another owner.
///
/// - `address`: the first element, in memory of a device or of the host; may be NULL if there are
///   no elements.
/// - `bytes`: the size of the memory that begins there.
/// - `sizes`, `rank`: as in `sconce_tensor_empty`.
/// - `strides`: in elements; NULL if the elements are contiguous.
/// - `dtype`: `SCONCE_DTYPE_…`.
/// - `device`: the device of the memory, or `SCONCE_DEVICE_CPU`.
/// - `deleter`: called with `context` when no tensor uses the memory any more; NULL if the memory outlives all
///   of them. It is not called if this call fails.
/// - `context`: the deleter's argument.
/// - `out_tensor`: receives the tensor.
/// - Errors: INVALID_ARGUMENT: an element lies outside of the memory, the memory is not on that
///   device, memory of a device is declared as the CPU's, or device memory is not aligned to the elements.
/// - Ownership: the caller releases the tensor with `sconce_tensor_release`. The memory is valid until the
///   deleter is called.
/// - Ordering: the caller must order earlier work on the memory before the device's current stream.
///   A deleter that frees the memory out of stream order must wait for later work on it.
/// - Threads: the deleter is called once, on the thread that releases the last tensor.
/// - torch: `torch::from_blob`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_from_memory(
    address: *mut c_void,
    bytes: usize,
    sizes: *const i64,
    strides: *const i64,
    rank: usize,
    dtype: i32,
    device: i32,
    deleter: sconce_deleter,
    context: *mut c_void,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let out_tensor = out!(out_tensor);
        let dtype = Dtype::try_from(dtype)?;
        let place = Place::resolve(device)?;
        let sizes = entries!(sizes, rank);
        let strides = if strides.is_null() { None } else { Some(entries!(strides, rank)) };
        let memory = ForeignMemory { address, name: "address", bytes, dtype, place };
        // SAFETY: the memory is valid until the deleter is called, or without one as long as a tensor uses it:
        // the function's comment demands it.
        out_tensor.write(unsafe { memory.tensor(sizes, strides, deleter, context) }?);
        Ok(())
    })
}

/// Creates a tensor over memory of another owner, whose size follows from the sizes and strides. Otherwise as
/// `sconce_tensor_from_memory`.
///
/// - `data`: the first element, in memory of a device or of the host; may be NULL if there are no
///   elements.
/// - `sizes`: as in `sconce_tensor_empty`.
/// - `strides`: in elements; NULL if the elements are contiguous.
/// - `dims`: number of dimensions.
/// - `options`: type and device of the elements; NULL or fields at their defaults: F32, on the device that the memory
///   belongs to, or on the CPU.
/// - `deleter`: called with `user` when no tensor uses the memory any more; NULL if the memory outlives all of
///   them. It is not called if this call fails.
/// - `user`: the deleter's argument.
/// - `out_tensor`: receives the tensor.
/// - Errors: INVALID_ARGUMENT: a size or a stride is negative, the memory is not on that device, device
///   memory is not aligned to the elements, or `options` request pinned memory or a memory format.
/// - torch: `torch::from_blob`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_tensor_from_blob(
    data: *mut c_void,
    sizes: *const i64,
    strides: *const i64,
    dims: usize,
    options: *const sconce_tensor_options,
    deleter: sconce_deleter,
    user: *mut c_void,
    out_tensor: *mut *mut sconce_tensor,
) -> sconce_status {
    guard(|| {
        let out_tensor = out!(out_tensor);
        let sizes = entries!(sizes, dims);
        let strides = if strides.is_null() { None } else { Some(entries!(strides, dims)) };
        let asked = asked!(options);
        let fixed = [MemoryFormat::Preserve, MemoryFormat::Contiguous];
        if asked.pinned || !fixed.contains(&asked.format) {
            return Err(Error::invalid_argument(
                "options ask for pinned memory or for an order in memory, but the memory is there already; leave \
                 both at their defaults, and describe the order by strides",
            ));
        }
        let dtype = asked.dtype.unwrap_or(DEFAULT_FLOAT);
        sconce_tensors::tensor::count(sizes)?;
        let bytes = reached(sizes, strides, dtype);
        let place = asked.place.map_or_else(|| place_of(data, bytes), Ok)?;
        let memory = ForeignMemory { address: data, name: "data", bytes, dtype, place };
        // SAFETY: the memory is valid until the deleter is called, or without one as long as a tensor uses it:
        // the function's comment demands it.
        out_tensor.write(unsafe { memory.tensor(sizes, strides, deleter, user) }?);
        Ok(())
    })
}

/// The bytes from the first element to the end of the last; 0 for strides that `ForeignMemory::tensor` refuses.
fn reached(sizes: &[i64], strides: Option<&[i64]>, dtype: Dtype) -> usize {
    let packed = sconce_tensors::tensor::contiguous_strides(sizes);
    let strides = strides.unwrap_or(&packed);
    if strides.iter().any(|stride| *stride < 0) {
        return 0;
    }
    extent(sizes, strides)
        .and_then(|elements| usize::try_from(elements).ok()?.checked_mul(dtype.bytes()))
        .unwrap_or(0)
}

/// The device whose memory lies at an address; the CPU for memory of the host.
fn place_of(data: *mut c_void, bytes: usize) -> Result<Place> {
    // Without a backend all memory is the host's.
    let (Ok(runtime), false) = (sconce_runtime::context::runtime(), bytes == 0 || data.is_null())
    else {
        return Ok(Place::Cpu);
    };
    match kind_of(runtime, data.expose_provenance(), bytes, "data")? {
        MemoryKind::Device(device) => Ok(Place::Device(device)),
        MemoryKind::Managed(_) | MemoryKind::Pinned | MemoryKind::Ordinary => Ok(Place::Cpu),
    }
}

/// Memory of others that a tensor is to view.
struct ForeignMemory<'a> {
    address: *mut c_void,
    /// The argument that has the address.
    name: &'a str,
    bytes: usize,
    dtype: Dtype,
    place: Place,
}

impl ForeignMemory<'_> {
    /// Makes the tensor, and returns its handle.
    ///
    /// # Safety
    /// The memory is valid until the deleter is called, or, without one, as long as a tensor uses it. The deleter may be
    /// called once with `context`, on any thread.
    unsafe fn tensor(
        &self,
        sizes: &[i64],
        strides: Option<&[i64]>,
        deleter: sconce_deleter,
        context: *mut c_void,
    ) -> Result<*mut sconce_tensor> {
        let ForeignMemory { bytes, dtype, place, .. } = *self;
        sconce_tensors::tensor::count(sizes)?;
        let packed = sconce_tensors::tensor::contiguous_strides(sizes);
        let address = self.address.expose_provenance();
        self.check_place(address)?;
        // Made without an owner first, so that a refusal does not call the deleter.
        // SAFETY: nobody calls the deleter before the tensor has its owner, and without a deleter the memory
        // outlives the tensors, so the bytes are valid; `check_place` has looked up where they are.
        let plain = unsafe { Storage::foreign(address, bytes, place, None) };
        let strides = strides.unwrap_or(&packed);
        let checked = Tensor::checked(StorageRef::new(plain)?, dtype, sizes, strides, 0)?;
        let Some(deleter) = deleter else { return returned(checked) };
        // The places of storage and handle come first: nothing after the owner can fail.
        let reserved = ReservedStorage::new()?;
        let handle = returned(Tensor::default())?;
        // SAFETY: `deleter` may be called with `context` once, on any thread: this function demands it.
        let owner = Some(unsafe { ForeignOwner::new(deleter, context) });
        // SAFETY: the bytes are valid until `deleter` is called. The owner calls it once, on the thread that
        // releases the last tensor, which the function's comment says.
        let owned = unsafe { Storage::foreign(address, bytes, place, owner) };
        let tensor = checked.over(reserved.fill(owned));
        sconce_tensors::tensor::handle::assign(
            sconce_tensor::key(handle, "tensor")?,
            "tensor",
            tensor,
        )?;
        Ok(handle)
    }

    /// Refuses memory that is not where the caller says.
    fn check_place(&self, address: usize) -> Result<()> {
        let ForeignMemory { name, bytes, place, .. } = *self;
        if bytes == 0 {
            return Ok(());
        }
        if address == 0 {
            return Err(sconce_runtime::operand::address_range::null(bytes, name));
        }
        let Place::Device(device) = place else { return refuse_device_memory(address, name) };
        self.check_alignment(address)?;
        let found = kind_of(sconce_runtime::context::runtime()?, address, bytes, name)?;
        match found {
            MemoryKind::Device(found) if found == device => Ok(()),
            MemoryKind::Managed(_) | MemoryKind::Pinned => Ok(()),
            MemoryKind::Device(found) => Err(Error::new(
                Status::CrossDevice,
                format!("{name} {address:#x} is memory of device {found}, but device is {device}"),
            )),
            MemoryKind::Ordinary => Err(Error::invalid_argument(format!(
                "{name} {address:#x} is not memory of device {device}; pass SCONCE_DEVICE_CPU for memory of the host"
            ))),
        }
    }

    /// Kernels read whole elements: what is not aligned to them would make the device fail.
    fn check_alignment(&self, address: usize) -> Result<()> {
        let (bytes, element) = (self.dtype.bytes(), self.dtype.name());
        address.is_multiple_of(bytes).then_some(()).ok_or_else(|| {
            Error::invalid_argument(format!(
                "{} {address:#x} is not aligned to the {bytes} bytes of {element}; copy the elements first",
                self.name
            ))
        })
    }
}
