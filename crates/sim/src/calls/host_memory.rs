//! Page-locked host memory.
#![forbid(unsafe_code)]

use sconce_base::error::{Error, Result};
use sconce_base::types::DeviceIndex;
use sconce_driver::{HostMemory, RawAddress};

use super::memory::check_size;
use crate::call::Call;
use crate::codes;
use crate::host::pages::is_mapped;
use crate::memory::AddressSpace;
use crate::state::{Simulator, State};

impl HostMemory for Simulator {
    fn host_alloc(&self, device: DeviceIndex, bytes: usize) -> Result<usize> {
        let (inner, call) = (&self.inner, Call::HostAlloc);
        inner.enter_context(call, device)?;
        check_size(call, bytes)?;
        inner.check_error(call, device)?;
        inner.check_held_back(call)?;
        inner.in_space(call, |space| space.pinned.allocate(bytes))
    }

    fn host_free(&self, address: usize) -> Result<()> {
        self.inner.enter(Call::HostFree)?;
        self.inner.unpin(Call::HostFree, address, true)
    }

    fn host_register(&self, device: DeviceIndex, address: RawAddress, bytes: usize) -> Result<()> {
        let (inner, call) = (&self.inner, Call::HostRegister);
        inner.enter_context(call, device)?;
        check_size(call, bytes)?;
        inner.check_error(call, device)?;
        inner.check_held_back(call)?;
        let mut space = inner.space.write();
        let number = address.get();
        if number == 0 || space.is_device_address(number) || !is_mapped(number, bytes) {
            let why = "the range is not all host memory";
            return Err(codes::failure_because(call, codes::INVALID_VALUE, why));
        }
        let memory = address.host(bytes)?;
        space.pinned.register(memory).map_err(|code| {
            codes::failure_because(call, code, "the range cannot be registered as a whole")
        })
    }

    fn host_unregister(&self, address: usize) -> Result<()> {
        self.inner.enter(Call::HostUnregister)?;
        self.inner.unpin(Call::HostUnregister, address, false)
    }
}

impl State {
    /// Waits for work that may use the range, then forgets it.
    fn unpin(&self, call: Call, address: usize, made: bool) -> Result<()> {
        let check = |space: &AddressSpace| {
            if space.pinned.is_start(address, made) {
                return Ok(());
            }
            Err(if made {
                not_pinned(call, codes::INVALID_VALUE, address, "host_alloc")
            } else {
                not_pinned(call, codes::MEMORY_NOT_REGISTERED, address, "host_register")
            })
        };
        check(&self.space.read())?;
        self.await_all_devices(call)?;
        let mut space = self.space.write();
        check(&space)?;
        space.pinned.remove(address);
        Ok(())
    }
}

fn not_pinned(call: Call, code: i32, address: usize, by: &str) -> Error {
    codes::failure_because(call, code, format_args!("{address:#x} did not come from {by}"))
}
