//! Memory that tensors share: it goes back to its owner with the last of them.

use std::alloc::Layout;
use std::ffi::c_void;

use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::refuse_held;
use sconce_base::log;
use sconce_base::types::DevicePtr;
use sconce_driver::RawAddress;
use sconce_runtime::stream::Stream;
use sconce_runtime::{host_memory, memory};

use super::place::Place;

/// What ordinary host memory is aligned to, as torch's.
const HOST_ALIGNMENT: usize = 64;

/// A function of the owner of foreign memory, and what it is called with when this is dropped.
pub struct ForeignOwner {
    deleter: unsafe extern "C" fn(*mut c_void),
    context: *mut c_void,
}

impl ForeignOwner {
    /// An owner whose `deleter` is called with `context`.
    ///
    /// # Safety
    /// `deleter` may be called with `context` once, on any thread.
    pub unsafe fn new(deleter: unsafe extern "C" fn(*mut c_void), context: *mut c_void) -> Self {
        ForeignOwner { deleter, context }
    }
}

// SAFETY: the constructor demands that the deleter may run on any thread with its context.
unsafe impl Send for ForeignOwner {}
// SAFETY: only the last owner uses it.
unsafe impl Sync for ForeignOwner {}

impl Drop for ForeignOwner {
    fn drop(&mut self) {
        refuse_held("the deleter of foreign memory");
        // SAFETY: it is dropped once, and the constructor demands that the function may be called so.
        unsafe { (self.deleter)(self.context) }
    }
}

/// The owner of memory whose return is ordered with streams. Dropping it gives the memory back.
pub trait Lender: Send + Sync {
    /// Notes that a stream uses the memory.
    fn record_stream(&self, stream: Stream) -> Result<()>;
}

/// The owner that the memory returns to.
enum Owner {
    /// The caching allocator of device memory.
    Block,
    /// The caching allocator of pinned memory.
    Pinned,
    /// The heap of the process.
    Heap(Layout),
    /// Somebody else; `None`: nobody, the memory outlives the storage.
    Foreign { _owner: Option<ForeignOwner> },
    /// A lender outside of this library; it learns which streams use the memory.
    Lent(Box<dyn Lender>),
}

/// Memory of one place. The last tensor drops it.
pub struct Storage {
    address: usize,
    bytes: usize,
    place: Place,
    read_only: bool,
    owner: Owner,
}

impl Storage {
    /// A block for a stream, on its device.
    #[inline]
    pub(crate) fn on_device(bytes: usize, stream: Stream) -> Result<Storage> {
        let address = if bytes == 0 { 0 } else { memory::alloc_on(bytes, stream)? };
        let place = Place::Device(stream.device());
        Ok(Storage { address, bytes, place, read_only: false, owner: Owner::Block })
    }

    /// Page-locked memory of the host.
    pub(crate) fn pinned(bytes: usize) -> Result<Storage> {
        let address = if bytes == 0 { 0 } else { host_memory::alloc(bytes)? };
        Ok(Storage { address, bytes, place: Place::Cpu, read_only: false, owner: Owner::Pinned })
    }

    /// Ordinary memory of the host, zeroed: what was in it before is nobody's business.
    pub(crate) fn on_host(bytes: usize) -> Result<Storage> {
        let out_of_memory = || {
            let message = format!("the host has no {bytes} bytes for a tensor; free some first");
            Error::new(Status::OutOfMemory, message)
        };
        let layout = Layout::from_size_align(bytes.max(1), HOST_ALIGNMENT);
        let layout = layout.map_err(|_| out_of_memory())?;
        // SAFETY: the size is at least 1.
        let address = unsafe { std::alloc::alloc_zeroed(layout) }.expose_provenance();
        if address == 0 {
            return Err(out_of_memory());
        }
        let owner = Owner::Heap(layout);
        Ok(Storage { address, bytes, place: Place::Cpu, read_only: false, owner })
    }

    /// Memory of others.
    ///
    /// # Safety
    /// The bytes are of that place, and stay valid until the owner's deleter is called; without an owner, as
    /// long as any tensor uses them and until that work is done. The deleter may be called on any thread.
    pub unsafe fn foreign(
        address: usize,
        bytes: usize,
        place: Place,
        owner: Option<ForeignOwner>,
    ) -> Storage {
        let owner = Owner::Foreign { _owner: owner };
        Storage { address, bytes, place, read_only: false, owner }
    }

    /// Memory of others that goes back in the order of streams, and may be read-only.
    ///
    /// # Safety
    /// The bytes are of that place, and stay valid until the lender is dropped, on any thread.
    pub(crate) unsafe fn lent(
        address: usize,
        bytes: usize,
        place: Place,
        lender: Box<dyn Lender>,
        read_only: bool,
    ) -> Storage {
        Storage { address, bytes, place, read_only, owner: Owner::Lent(lender) }
    }

    /// Whether tensors must not write to it.
    #[inline]
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Where it begins; 0 for no bytes.
    #[inline]
    pub fn address(&self) -> usize {
        self.address
    }

    /// How many bytes it has.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The CPU or its device.
    #[inline]
    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// Whether it is page-locked memory of this library.
    pub(crate) fn is_pinned_block(&self) -> bool {
        matches!(self.owner, Owner::Pinned)
    }

    /// Whether the memory comes from this library's allocators or the heap.
    pub(crate) fn is_own(&self) -> bool {
        matches!(self.owner, Owner::Block | Owner::Pinned | Owner::Heap(_))
    }

    /// The bytes from `offset` on, for a copy.
    #[inline]
    pub(crate) fn raw(&self, offset: usize) -> RawAddress {
        match self.place {
            Place::Device(_) => DevicePtr(self.address.wrapping_add(offset) as u64).into(),
            Place::Cpu => {
                let above = self.bytes - offset.min(self.bytes);
                let address = self.address.wrapping_add(offset);
                // SAFETY: the storage is host memory of so many bytes; the tensor that uses it keeps it.
                unsafe { RawAddress::from_caller_within(address, offset, above) }
            }
        }
    }

    /// Notes that a stream uses the memory.
    pub fn record_stream(&self, stream: Stream) -> Result<()> {
        match &self.owner {
            _ if self.address == 0 => Ok(()),
            Owner::Block => memory::record_stream(self.address, stream),
            Owner::Pinned => host_memory::record_stream(self.address, stream).map(drop),
            // Their owners do not ask which streams used them.
            Owner::Heap(_) | Owner::Foreign { .. } => Ok(()),
            Owner::Lent(lender) => lender.record_stream(stream),
        }
    }
}

impl Drop for Storage {
    #[inline]
    fn drop(&mut self) {
        let outcome = match self.owner {
            Owner::Block => memory::free(self.address),
            Owner::Pinned => host_memory::free(self.address),
            Owner::Heap(layout) => {
                let memory = std::ptr::with_exposed_provenance_mut(self.address);
                // SAFETY: it was allocated with this layout, and this is the last owner.
                unsafe { std::alloc::dealloc(memory, layout) };
                Ok(())
            }
            Owner::Foreign { .. } | Owner::Lent(_) => Ok(()),
        };
        if let Err(error) = outcome {
            not_freed(&error);
        }
    }
}

#[cold]
#[inline(never)]
fn not_freed(error: &Error) {
    log::warn(format_args!("the memory of a tensor was not freed: {error}"));
}
