//! The handles and flags that cross the seam. All are plain numbers: only a driver knows what is behind.

use std::ffi::c_void;

use crate::types::{DeviceIndex, DevicePtr};

/// A driver's stream; 0 is the legacy default stream of whichever device it is used with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamHandle(pub usize);

impl StreamHandle {
    /// The legacy default stream.
    pub const DEFAULT: StreamHandle = StreamHandle(0);
}

/// A stream and the device it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamRef {
    /// The device of the stream.
    pub device: DeviceIndex,
    /// The driver's handle.
    pub handle: StreamHandle,
}

impl StreamRef {
    /// The legacy default stream of a device.
    pub const fn default_of(device: DeviceIndex) -> StreamRef {
        StreamRef { device, handle: StreamHandle::DEFAULT }
    }
}

/// How a stream is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamFlags {
    /// No implicit ordering with the legacy default stream.
    pub non_blocking: bool,
}

/// A driver's event; never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventHandle(pub usize);

/// How an event is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EventFlags {
    /// Records take a time stamp.
    pub timing: bool,
    /// Waiting on the host sleeps rather than spins.
    pub blocking_sync: bool,
    /// The event can be opened by another process; excludes `timing`.
    pub interprocess: bool,
}

/// Physical device memory without an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PhysicalHandle(pub u64);

/// A loaded set of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModuleHandle(pub usize);

/// One kernel of a module, on one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KernelHandle(pub usize);

/// An address that a driver may read or write: device, pinned or pageable memory.
///
/// Device addresses convert freely, since a driver checks them. Host addresses come from a caller,
/// who promises that the memory stays valid until the work that uses it has finished; hence the
/// unsafe constructor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawAddress(usize);

impl RawAddress {
    /// An address that a caller vouches for.
    ///
    /// # Safety
    /// If it is host memory, it must stay valid for the accesses of the work it is handed to until
    /// that work has finished.
    #[allow(unsafe_code, reason = "marks the promise; the body does nothing unsafe")]
    pub const unsafe fn from_caller(address: usize) -> RawAddress {
        RawAddress(address)
    }

    /// The number.
    pub const fn get(self) -> usize {
        self.0
    }

    /// The address so many bytes on, in the same memory.
    #[must_use]
    pub const fn offset(self, bytes: usize) -> RawAddress {
        RawAddress(self.0.wrapping_add(bytes))
    }
}

impl From<DevicePtr> for RawAddress {
    fn from(ptr: DevicePtr) -> RawAddress {
        RawAddress(ptr.0 as usize)
    }
}

/// A function of the caller that a driver runs in stream order, with the caller's pointer.
#[derive(Clone, Copy, Debug)]
pub struct HostFunction {
    function: unsafe extern "C" fn(*mut c_void),
    user: *mut c_void,
}

#[allow(unsafe_code, reason = "the constructor's promise covers other threads")]
// SAFETY: whoever makes a `HostFunction` promises that it may run on any thread (see `new`).
unsafe impl Send for HostFunction {}

#[allow(unsafe_code, reason = "the constructor's promise covers other threads")]
// SAFETY: sharing gives nothing beyond copying; the same promise covers it.
unsafe impl Sync for HostFunction {}

impl HostFunction {
    /// A function that a caller vouches for.
    ///
    /// # Safety
    /// `function` may be called once with `user` from any thread, until it has run, and does not
    /// unwind.
    #[allow(unsafe_code, reason = "marks the promise; the body does nothing unsafe")]
    pub const unsafe fn new(
        function: unsafe extern "C" fn(*mut c_void),
        user: *mut c_void,
    ) -> HostFunction {
        HostFunction { function, user }
    }

    /// The two halves, for a driver that passes them on.
    pub fn into_parts(self) -> (unsafe extern "C" fn(*mut c_void), *mut c_void) {
        (self.function, self.user)
    }
}
