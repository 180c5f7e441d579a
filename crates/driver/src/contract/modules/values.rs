//! Arguments of a launch, as a caller passes them: an address and a size for each.

use std::ffi::c_void;

use crate::HostRange;

/// The arguments of a launch in the order of the kernel's parameters. The caller vouches for each.
#[derive(Clone, Copy, Debug)]
pub struct KernelValues<'a> {
    addresses: &'a [*const c_void],
    bytes: &'a [usize],
}

impl<'a> KernelValues<'a> {
    /// Arguments that a caller vouches for; the shorter of the two lists counts.
    ///
    /// # Safety
    /// During the life of the value, as many bytes as `bytes` says can be read from each address. A kernel
    /// whose parameters the driver does not tell (`kernel_parameters`) has these and no others.
    #[allow(unsafe_code, reason = "marks the promise; the body does nothing unsafe")]
    pub unsafe fn new(addresses: &'a [*const c_void], bytes: &'a [usize]) -> KernelValues<'a> {
        let count = addresses.len().min(bytes.len());
        KernelValues { addresses: &addresses[..count], bytes: &bytes[..count] }
    }

    /// No arguments.
    pub const NONE: KernelValues<'static> = KernelValues { addresses: &[], bytes: &[] };

    /// The number of arguments.
    #[inline]
    pub fn count(&self) -> usize {
        self.addresses.len()
    }

    /// The addresses, for a driver that follows them.
    #[inline]
    pub fn addresses(&self) -> &'a [*const c_void] {
        self.addresses
    }

    /// The sizes in bytes.
    #[inline]
    pub fn bytes(&self) -> &'a [usize] {
        self.bytes
    }

    /// The memory of each argument.
    pub fn ranges(&self) -> impl Iterator<Item = HostRange> + use<'a> {
        self.addresses.iter().zip(self.bytes).map(|(address, bytes)| {
            #[allow(unsafe_code, reason = "passes the caller's promise on")]
            // SAFETY: each address is paired with its own size, for which `new` demands that so many bytes can be read
            // there.
            unsafe {
                HostRange::new(address.addr(), *bytes)
            }
        })
    }
}
