//! Copies of bytes that lie one after another.

use sconce_base::error::Result;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{RawAddress, StreamRef};
use sconce_runtime::context::{Runtime, runtime};
use sconce_runtime::operand::address_range::{self, MemoryKind};
use sconce_runtime::stream::Stream;

use super::host_copy;
use super::on_host;
use super::staged;
use super::transfer::{self, Transfer};

struct ByteTransfer {
    dst: RawAddress,
    src: RawAddress,
    bytes: usize,
}

fn on_device(address: RawAddress) -> DevicePtr {
    DevicePtr(address.get() as u64)
}

impl Transfer for ByteTransfer {
    fn dst(&self) -> RawAddress {
        self.dst
    }

    fn src(&self) -> RawAddress {
        self.src
    }

    fn carry_out(&self) -> Result<()> {
        on_host::copy_packed(self.dst, self.src, self.bytes)
    }

    fn queue(&self, runtime: &Runtime, stream: StreamRef) -> Result<()> {
        runtime.driver().copy_direct_async(self.dst, self.src, self.bytes, stream)
    }

    fn queue_from_ordinary(&self, runtime: &Runtime, stream: Stream) -> Result<()> {
        staged::to_device(runtime, stream, self.dst, self.src, self.bytes)
    }

    fn copy_to_ordinary(&self, runtime: &Runtime, stream: Stream) -> Result<()> {
        staged::to_host(runtime, stream, self.dst, self.src, self.bytes)
    }

    fn queue_between(
        &self,
        runtime: &Runtime,
        to: DeviceIndex,
        from: DeviceIndex,
        stream: StreamRef,
    ) -> Result<()> {
        let (dst, src) = ((to, on_device(self.dst)), (from, on_device(self.src)));
        runtime.driver().copy_peer_async(dst, src, self.bytes, stream)
    }
}

/// Copies bytes; what each side is, is found from the addresses.
pub fn copy(dst: RawAddress, src: RawAddress, bytes: usize, non_blocking: bool) -> Result<()> {
    let runtime = runtime()?;
    if bytes == 0 {
        return Ok(());
    }
    let to = address_range::kind_of(runtime, dst.get(), bytes, "dst")?;
    let from = address_range::kind_of(runtime, src.get(), bytes, "src")?;
    let (dst, src) = (found(dst, to), found(src, from));
    transfer::run(runtime, &ByteTransfer { dst, src, bytes }, to, from, non_blocking)
}

/// An address, with what is known about it.
fn found(address: RawAddress, kind: MemoryKind) -> RawAddress {
    match kind {
        MemoryKind::Device(_) => host_copy::device_memory(address.get()),
        MemoryKind::Ordinary | MemoryKind::Pinned | MemoryKind::Managed(_) => address,
    }
}
