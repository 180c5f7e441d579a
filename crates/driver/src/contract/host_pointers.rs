//! Host addresses and functions that enter the contract: a caller vouches for each in an unsafe
//! constructor, so that the methods of the traits are safe to call.

use std::ffi::c_void;
use std::sync::atomic::AtomicU64;

use sconce_base::error::{Error, Result, Status};
use sconce_base::program_code::{ProgramCode, ProgramCodeKind};
use sconce_base::types::DevicePtr;

/// An address that a driver may read or write: device, pinned or pageable memory.
///
/// A host address comes from a caller, who promises that the memory stays valid until the work that
/// uses it has finished; hence the unsafe constructors. The address carries the range that the
/// promise covers, and only [`host`](Self::host) makes something of it that the processor may
/// follow. A device address converts freely and carries no promise: drivers ask what it is, and refuse it if it is
/// neither memory of a device nor managed memory. Whoever has found that out vouches for it
/// ([`of_device_memory`](Self::of_device_memory)), and no driver asks again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawAddress {
    address: usize,
    /// The caller's promise covers the addresses from `low` up to, but not including, `high`. Two empty ranges stand
    /// for device addresses.
    low: usize,
    high: usize,
}

/// The promise of a device address that nobody has looked up: no byte may be followed.
const NO_PROMISE: (usize, usize) = (1, 0);
/// The promise of a device address that is memory of a device. The processor may not follow it either.
const DEVICE_MEMORY: (usize, usize) = (3, 2);

impl RawAddress {
    /// An address that a caller vouches for, whatever is reached from it.
    ///
    /// # Safety
    /// If it is host memory, it must stay valid for the accesses of the work it is handed to until
    /// that work has finished.
    #[allow(unsafe_code, reason = "marks the promise; the body does nothing unsafe")]
    pub const unsafe fn from_caller(address: usize) -> RawAddress {
        RawAddress { address, low: 0, high: usize::MAX }
    }

    /// An address that a caller vouches for, with `below` bytes before it and `above` bytes from it
    /// on.
    ///
    /// # Safety
    /// If it is host memory, those bytes must stay valid for the accesses of the work it is handed
    /// to until that work has finished.
    #[allow(unsafe_code, reason = "marks the promise; the body does nothing unsafe")]
    pub const unsafe fn from_caller_within(
        address: usize,
        below: usize,
        above: usize,
    ) -> RawAddress {
        let (low, high) = (address.saturating_sub(below), address.saturating_add(above));
        RawAddress { address, low, high }
    }

    /// An address that a caller knows to be memory of a device, or managed memory.
    ///
    /// # Safety
    /// It is not memory of the host: a driver may not ask what it is.
    #[allow(unsafe_code, reason = "marks the promise; the body does nothing unsafe")]
    pub const unsafe fn of_device_memory(address: usize) -> RawAddress {
        let (low, high) = DEVICE_MEMORY;
        RawAddress { address, low, high }
    }

    /// Whether a caller knows that it is memory of a device.
    #[inline]
    pub fn is_known_device_memory(self) -> bool {
        (self.low, self.high) == DEVICE_MEMORY
    }

    /// The number.
    pub const fn get(self) -> usize {
        self.address
    }

    /// The address that is `bytes` higher, under the same promise.
    #[must_use]
    pub const fn offset(self, bytes: usize) -> RawAddress {
        RawAddress { address: self.address.wrapping_add(bytes), ..self }
    }

    /// Whether a caller has vouched for the `bytes` from the address on: never for one that was made
    /// of a [`DevicePtr`].
    #[inline]
    pub fn is_vouched_for(self, bytes: usize) -> bool {
        let end = self.address.checked_add(bytes);
        self.low <= self.address && end.is_some_and(|end| end <= self.high)
    }

    /// The `bytes` from the address on, as host memory. Fails if no caller has vouched for all of
    /// them: for a device address always.
    pub fn host(self, bytes: usize) -> Result<HostRange> {
        match self.is_vouched_for(bytes) {
            true => Ok(HostRange { address: self.address, bytes }),
            false => Err(self.not_host(bytes)),
        }
    }

    #[cold]
    fn not_host(self, bytes: usize) -> Error {
        Error::new(
            Status::Internal,
            format!(
                "the {bytes} bytes from {:#x} on are not host memory that a caller has passed; \
                 please report it",
                self.address
            ),
        )
    }
}

/// Host memory that the processor may follow: a caller vouches that it is valid until the work that
/// it was passed for has finished. Other threads and devices may use it at the same time, so it is
/// read and written through raw pointers only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostRange {
    address: usize,
    bytes: usize,
}

impl HostRange {
    /// Memory that a caller vouches for.
    ///
    /// # Safety
    /// The bytes are valid for the accesses of the work they are handed to until it has finished.
    #[allow(unsafe_code, reason = "marks the promise; the body does nothing unsafe")]
    pub const unsafe fn new(address: usize, bytes: usize) -> HostRange {
        HostRange { address, bytes }
    }

    /// A range of memory that is never freed and may change at any time; it needs no promise.
    pub fn of_static(memory: &'static [AtomicU64]) -> HostRange {
        HostRange { address: memory.as_ptr().expose_provenance(), bytes: size_of_val(memory) }
    }

    /// The address of the first byte.
    pub const fn get(self) -> usize {
        self.address
    }

    /// How many bytes it has.
    pub const fn bytes(self) -> usize {
        self.bytes
    }

    /// The `bytes` from `offset` on; what lies beyond the range is cut off.
    #[must_use]
    pub fn part(self, offset: usize, bytes: usize) -> HostRange {
        let offset = offset.min(self.bytes);
        HostRange { address: self.address + offset, bytes: bytes.min(self.bytes - offset) }
    }

    /// The address, for a driver.
    pub fn raw(self) -> RawAddress {
        let HostRange { address, bytes } = self;
        RawAddress { address, low: address, high: address.saturating_add(bytes) }
    }
}

impl From<DevicePtr> for RawAddress {
    fn from(ptr: DevicePtr) -> RawAddress {
        let (low, high) = NO_PROMISE;
        RawAddress { address: ptr.0 as usize, low, high }
    }
}

/// A function of the caller that a driver runs in stream order, with the caller's pointer.
#[derive(Clone, Copy, Debug)]
pub struct HostFunction {
    function: unsafe extern "C" fn(*mut c_void),
    /// Called instead if the function will not run.
    otherwise: Option<unsafe extern "C" fn(*mut c_void)>,
    user: *mut c_void,
}

#[allow(unsafe_code, reason = "the constructor's promise covers other threads")]
// SAFETY: all constructors are unsafe and demand that the function may run with its pointer on any thread.
unsafe impl Send for HostFunction {}

#[allow(unsafe_code, reason = "the constructor's promise covers other threads")]
// SAFETY: a shared reference allows no more than a copy, which may be used on any thread like the original.
unsafe impl Sync for HostFunction {}

impl HostFunction {
    /// A function that a caller vouches for.
    ///
    /// # Safety
    /// `function` may be called once with `user` from any thread, until it has run, and does not
    /// unwind. If it is queued on a stream that is captured, that holds for each launch of the graph.
    #[allow(unsafe_code, reason = "marks the promise; the body does nothing unsafe")]
    pub const unsafe fn new(
        function: unsafe extern "C" fn(*mut c_void),
        user: *mut c_void,
    ) -> HostFunction {
        HostFunction { function, otherwise: None, user }
    }

    /// A function that a caller vouches for, and another that is called instead if the work before it fails.
    ///
    /// # Safety
    /// As [`new`](Self::new), for whichever of the two is called.
    #[allow(unsafe_code, reason = "marks the promise; the body does nothing unsafe")]
    pub const unsafe fn with_alternative(
        function: unsafe extern "C" fn(*mut c_void),
        otherwise: unsafe extern "C" fn(*mut c_void),
        user: *mut c_void,
    ) -> HostFunction {
        HostFunction { function, otherwise: Some(otherwise), user }
    }

    /// What distinguishes it from other functions: the addresses of the function and of the caller's pointer.
    pub fn key(self) -> (usize, usize) {
        (self.function as usize, self.user.addr())
    }

    /// Whether another function is called if this one will not run.
    pub fn has_alternative(self) -> bool {
        self.otherwise.is_some()
    }

    /// Calls the function. The library may not be called meanwhile.
    ///
    /// # Safety
    /// Once for each time that it was queued, or its graph launched, and not if the alternative is called.
    #[allow(unsafe_code, reason = "calls what a caller vouches for")]
    pub unsafe fn call(self) {
        let _code = ProgramCode::enter(ProgramCodeKind::HostFunction);
        // SAFETY: the constructor demands that the function may be called with this pointer on any thread, and this
        // function that it is called no more often than that allows.
        unsafe { (self.function)(self.user) }
    }

    /// Calls the alternative, if there is one. The library may not be called meanwhile.
    ///
    /// # Safety
    /// Once for each time that the function was queued, and not if the function is called.
    #[allow(unsafe_code, reason = "calls what a caller vouches for")]
    pub unsafe fn call_alternative(self) {
        let Some(otherwise) = self.otherwise else { return };
        let _code = ProgramCode::enter(ProgramCodeKind::HostFunction);
        // SAFETY: the constructor demands of the alternative what it demands of the function, and this function that
        // only one of them is called.
        unsafe { otherwise(self.user) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_follows_only_what_a_caller_has_vouched_for() {
        let word = [0_u64; 4];
        let start = word.as_ptr() as usize;
        #[allow(unsafe_code, reason = "the array outlives the test")]
        // SAFETY: the array has 16 bytes on both sides.
        let middle = unsafe { RawAddress::from_caller_within(start + 16, 16, 16) };
        assert_eq!(middle.host(16).map(HostRange::get), Ok(start + 16));
        assert_eq!(middle.offset(16_usize.wrapping_neg()).host(32).map(HostRange::bytes), Ok(32));
        assert_eq!(middle.offset(16).host(0).map(HostRange::bytes), Ok(0));
        for (offset, bytes) in [(0, 17), (1, 16), (17_usize.wrapping_neg(), 1), (0, usize::MAX)] {
            assert!(middle.offset(offset).host(bytes).is_err(), "{offset} {bytes}");
        }
        // No caller vouches for the address of a device, nor for addresses derived from it.
        let device = RawAddress::from(DevicePtr(start as u64));
        #[allow(unsafe_code, reason = "nothing follows the addresses")]
        // SAFETY: no driver is handed them.
        let known = [start, 0, 2, 3].map(|at| unsafe { RawAddress::of_device_memory(at) });
        let unknown = [device, device.offset(1), RawAddress::from(DevicePtr(0))];
        for (address, is_known) in
            known.map(|known| (known, true)).into_iter().chain(unknown.map(|one| (one, false)))
        {
            assert!(address.host(0).is_err() && address.host(1).is_err());
            assert!(!address.is_vouched_for(0) && !address.is_vouched_for(1));
            assert_eq!(address.is_known_device_memory(), is_known);
            assert_eq!(address.offset(8).is_known_device_memory(), is_known);
        }
        assert!(!middle.is_known_device_memory());
    }

    #[test]
    fn parts_of_a_range_stay_inside_it() {
        #[allow(unsafe_code, reason = "nothing follows the address")]
        // SAFETY: no work is handed the range.
        let range = unsafe { HostRange::new(1000, 100) };
        let bounds = |part: HostRange| (part.get(), part.bytes());
        assert_eq!(bounds(range.part(10, 20)), (1010, 20));
        assert_eq!(bounds(range.part(90, 20)), (1090, 10));
        assert_eq!(bounds(range.part(200, usize::MAX)), (1100, 0));
        assert!(range.raw().host(101).is_err() && range.raw().host(100).is_ok());
    }
}
