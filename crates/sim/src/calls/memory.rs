//! Device memory.
#![forbid(unsafe_code)]

use sconce_base::error::{Error, Result};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{Memory, MemoryInfo, PointerInfo};

use crate::call::Call;
use crate::codes;
use crate::memory::AddressSpace;
use crate::state::{Simulator, State};

impl Memory for Simulator {
    fn memory_info(&self, device: DeviceIndex) -> Result<MemoryInfo> {
        let (inner, call) = (&self.inner, Call::MemoryInfo);
        inner.enter_context(call, device)?;
        inner.check_error(call, device)?;
        let space = inner.space.read();
        let total_bytes = space.total() as usize;
        Ok(MemoryInfo { free_bytes: total_bytes - space.used(device) as usize, total_bytes })
    }

    fn memory_alloc(&self, device: DeviceIndex, bytes: usize) -> Result<DevicePtr> {
        let (inner, call) = (&self.inner, Call::MemoryAlloc);
        inner.enter_context(call, device)?;
        check_size(call, bytes)?;
        inner.check_error(call, device)?;
        inner.check_held_back(call)?;
        let allocated = if inner.faults.of_allocation() {
            Err(codes::OUT_OF_MEMORY)
        } else {
            inner.space.write().alloc(device, bytes as u64)
        };
        allocated.map(DevicePtr).map_err(out_of_memory(call, device, bytes))
    }

    fn memory_free(&self, device: DeviceIndex, ptr: DevicePtr) -> Result<()> {
        let (inner, call) = (&self.inner, Call::MemoryFree);
        inner.enter_context(call, device)?;
        let check = |space: &AddressSpace| {
            if space.is_plain(device, ptr.0) {
                return Ok(());
            }
            let why = format!("ptr {ptr} is not the start of a live allocation of device {device}");
            Err(codes::failure_because(call, codes::INVALID_VALUE, why))
        };
        check(&inner.space.read())?;
        inner.await_device(call, device)?;
        inner.forget_export(ptr.0);
        let mut space = inner.space.write();
        // Another thread may have freed it during the wait.
        check(&space)?;
        space.remove(ptr.0).map_err(|code| codes::failure(call, code))
    }

    fn pointer_info(&self, address: usize) -> Result<PointerInfo> {
        self.inner.enter(Call::PointerInfo)?;
        Ok(self.inner.space.read().pointer_info(address))
    }
}

impl State {
    /// Changes the address space. An error code becomes the failure of `call`.
    pub(crate) fn in_space<T>(
        &self,
        call: Call,
        change: impl FnOnce(&mut AddressSpace) -> std::result::Result<T, i32>,
    ) -> Result<T> {
        change(&mut self.space.write()).map_err(|code| codes::failure(call, code))
    }
}

pub(super) fn check_size(call: Call, bytes: usize) -> Result<()> {
    if bytes > 0 {
        return Ok(());
    }
    Err(codes::failure_because(call, codes::INVALID_VALUE, "bytes must not be 0"))
}

pub(super) fn out_of_memory(
    call: Call,
    device: DeviceIndex,
    bytes: usize,
) -> impl FnOnce(i32) -> Error {
    move |code| {
        let what = format!("{bytes} bytes on device {device}");
        codes::failure_because(call, code, what)
    }
}
