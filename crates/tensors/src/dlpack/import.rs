//! A struct as a tensor over its memory.

use sconce_base::element::{DlpackType, Dtype};
use sconce_base::error::{Error, Result};
use sconce_runtime::context::runtime;
use sconce_runtime::operand::address_range::{MemoryKind, kind_of, refuse_device_memory};
use sconce_runtime::stream::{self, Stream};

use super::device::wait;
use super::layout::{DlpackDevice, IS_COPIED, READ_ONLY, SUBBYTE_PADDED};
use super::loan::{Loan, LoanOrder};
use crate::tensor::{
    Dims, ForeignOwner, Place, ReservedStorage, Storage, StorageRef, Tensor, contiguous_strides,
    count, extent,
};

/// What a producer offers: the fields of its struct, read.
#[derive(Clone, Copy, Debug)]
pub struct Offer<'a> {
    pub data: usize,
    pub byte_offset: u64,
    pub device: DlpackDevice,
    pub dtype: DlpackType,
    pub sizes: &'a [i64],
    /// `None`: the elements lie one after another.
    pub strides: Option<&'a [i64]>,
    pub flags: u64,
}

/// An offer that was found in order. It owns nothing yet.
pub struct DlpackImport {
    /// The tensor, over memory without an owner.
    plain: Tensor,
    /// For the storage with an owner.
    storage: ReservedStorage,
    read_only: bool,
    order: Option<LoanOrder>,
}

/// Checks an offer.
pub fn check(offer: &Offer<'_>) -> Result<DlpackImport> {
    let known = READ_ONLY | IS_COPIED | SUBBYTE_PADDED;
    if offer.flags & !known != 0 {
        return Err(Error::not_supported(format!(
            "managed.flags is {:#x}, of which this version knows only {known:#x}; use a newer library",
            offer.flags
        )));
    }
    let dtype = dtype_of(offer)?;
    let place = offer.device.place("dl_tensor.device")?;
    let strides = strides_of(offer)?;
    let bytes = extent(offer.sizes, &strides)
        .and_then(|elements| usize::try_from(elements).ok()?.checked_mul(dtype.bytes()))
        .filter(|bytes| *bytes <= isize::MAX as usize)
        .ok_or_else(|| {
            Error::invalid_argument(format!(
                "dl_tensor reaches further than memory does: shape {:?}, strides {strides:?}",
                offer.sizes
            ))
        })?;
    let address = address_of(offer, dtype, place, bytes)?;
    // SAFETY: nothing uses this storage; `DlpackImport::accept` replaces it.
    let storage = unsafe { Storage::foreign(address, bytes, place, None) };
    let plain = Tensor::checked(StorageRef::new(storage)?, dtype, offer.sizes, &strides, 0)?;
    let storage = ReservedStorage::new()?;
    Ok(DlpackImport { plain, storage, read_only: offer.flags & READ_ONLY != 0, order: None })
}

fn dtype_of(offer: &Offer<'_>) -> Result<Dtype> {
    let DlpackType { code, bits, lanes } = offer.dtype;
    let found = Dtype::from_dlpack(offer.dtype).ok_or_else(|| {
        let remedy = match Dtype::from_dlpack(DlpackType { lanes: 1, ..offer.dtype }) {
            Some(_) => "pass a tensor of one lane with one dimension more",
            None => "convert the tensor to a type of SCONCE_DTYPE_… first",
        };
        Error::not_supported(format!(
            "dl_tensor.dtype has code {code}, {bits} bits and {lanes} lanes, which is not a type of this \
             library; {remedy}"
        ))
    })?;
    if bits < 8 && offer.flags & SUBBYTE_PADDED != 0 {
        return Err(Error::not_supported(format!(
            "managed.flags says that values of {bits} bits have a byte each, but this library packs them; \
             pack the tensor first"
        )));
    }
    Ok(found)
}

fn strides_of(offer: &Offer<'_>) -> Result<Dims> {
    if let Some(at) = offer.sizes.iter().position(|size| *size < 0) {
        return Err(Error::invalid_argument(format!(
            "dl_tensor.shape[{at}] is {}; sizes are at least 0",
            offer.sizes[at]
        )));
    }
    count(offer.sizes).map_err(|error| error.context("dl_tensor.shape"))?;
    let Some(strides) = offer.strides else { return Ok(contiguous_strides(offer.sizes)) };
    if let Some(at) = strides.iter().position(|stride| *stride < 0) {
        return Err(Error::not_supported(format!(
            "dl_tensor.strides[{at}] is {}; negative strides are not supported: copy the tensor first",
            strides[at]
        )));
    }
    Ok(Dims::from_slice(strides))
}

/// Where the first element is; 0 without elements.
fn address_of(offer: &Offer<'_>, dtype: Dtype, place: Place, bytes: usize) -> Result<usize> {
    if bytes == 0 {
        return Ok(0);
    }
    if offer.data == 0 {
        return Err(Error::invalid_argument(format!(
            "dl_tensor.data is NULL, but its elements take {bytes} bytes"
        )));
    }
    let offset = usize::try_from(offer.byte_offset).ok();
    let first = offset.and_then(|offset| offer.data.checked_add(offset));
    let address = first.filter(|first| first.checked_add(bytes).is_some()).ok_or_else(|| {
        Error::invalid_argument(format!(
            "dl_tensor reaches beyond the last address: data {:#x}, byte_offset {}, {bytes} bytes",
            offer.data, offer.byte_offset
        ))
    })?;
    if address % dtype.bytes() != 0 {
        return Err(Error::not_supported(format!(
            "dl_tensor begins at {address:#x}, which is not a multiple of the {} bytes of its elements; copy \
             the tensor first",
            dtype.bytes()
        )));
    }
    match place {
        Place::Cpu => refuse_device_memory(address, "dl_tensor.data").map(|()| address),
        Place::Device(_) => on_device(address, bytes, place).map(|()| address),
    }
}

/// Refuses memory that is not of the device, or ends before the elements.
fn on_device(address: usize, bytes: usize, place: Place) -> Result<()> {
    let found = kind_of(runtime()?, address, bytes, "dl_tensor.data")?;
    match found {
        MemoryKind::Device(device) if Place::Device(device) != place => {
            Err(Error::invalid_argument(format!(
                "dl_tensor.data {address:#x} is memory of device {device}, but dl_tensor.device is {place}"
            )))
        }
        MemoryKind::Device(_) | MemoryKind::Managed(_) | MemoryKind::Pinned => Ok(()),
        MemoryKind::Ordinary => Err(Error::invalid_argument(format!(
            "dl_tensor.data {address:#x} is memory of the host, but dl_tensor.device is {place}"
        ))),
    }
}

impl DlpackImport {
    /// Where the memory is.
    pub fn place(&self) -> Place {
        self.plain.place()
    }

    /// Makes the device's current stream wait for the producer's, if there is one.
    pub fn wait_for(&mut self, producer: Option<Stream>) -> Result<()> {
        let Some(device) = self.place().device().filter(|_| self.plain.numel() != 0) else {
            return Ok(());
        };
        let runtime = runtime()?;
        let current = stream::current_on(runtime, device)?;
        if let Some(producer) = producer {
            wait(runtime, current, producer)?;
        }
        let home = producer.unwrap_or(current);
        self.order = Some(LoanOrder::new(runtime, self.plain.address(), home, current)?);
        Ok(())
    }

    /// The tensor, which gives the memory back to its owner.
    ///
    /// # Safety
    /// The memory is what the offer said, and stays so until the owner's deleter is called, which may happen
    /// on any thread; without an owner as long as any tensor uses it.
    pub unsafe fn accept(self, owner: Option<ForeignOwner>) -> Tensor {
        let plain = self.plain.storage();
        let (address, bytes, place) = (plain.address(), plain.bytes(), plain.place());
        let loan = Box::new(Loan { order: self.order, _owner: owner });
        // SAFETY: this function demands of the memory exactly what `lent` does, and the loan drops the owner only with
        // the storage.
        let storage = unsafe { Storage::lent(address, bytes, place, loan, self.read_only) };
        self.plain.over(self.storage.fill(storage))
    }
}
