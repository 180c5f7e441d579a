//! Streams as the driver's callers see them, and everything that is queued on them.
#![forbid(unsafe_code)]

use std::sync::Arc;

use crate::driver::{HostFunction, KernelArguments, KernelHandle, LaunchShape};
use crate::driver::{RawAddress, StreamRef};
use crate::error::Result;
use crate::types::{DeviceIndex, DevicePtr};

use super::Inner;
use super::calls::Call;
use super::codes;
use super::engine::{StreamKey, Submission};
use super::host_mem::is_mapped;
use super::memory::{Accessor, Intent};
use super::raw::Place;
use super::token::Token;
use super::work::{Side, Work};

/// No host memory lies below; null pointers with an offset do.
const LOWEST_HOST_ADDRESS: usize = 4096;

/// Copies from pageable memory to a device up to this size are staged: the call reads the source
/// and returns. An H200 with driver 580 does so for 2 MiB, and not for 4 MiB.
const STAGED_BYTES: usize = 2 << 20;

impl Inner {
    /// Queues an operation and gives its token; `None` when it went into a capture and will not run.
    pub(super) fn submit(
        self: &Arc<Self>,
        call: Call,
        stream: StreamRef,
        work: Work,
        duration_ns: u64,
    ) -> Result<Option<Arc<Token>>> {
        let fault = self.faults.of_operation(call);
        let mut engine = self.engine.lock();
        let key = engine.find(call, stream)?;
        engine.check(call, stream.device)?;
        if engine.capture_operation(call, key)? {
            return Ok(None);
        }
        let submission = Submission { call, work, duration_ns, after: None, fault, stuck: false };
        let token = engine.enqueue(key, submission);
        self.serve(&mut engine);
        Ok(Some(token))
    }

    pub(super) fn stream_query(&self, call: Call, stream: StreamRef) -> Result<bool> {
        let mut engine = self.engine.lock();
        let key = engine.find(call, stream)?;
        engine.check(call, stream.device)?;
        engine.refuse_captured_stream(call, key)?;
        engine.refuse_held_back(call)?;
        Ok(engine.pending_of_stream(key).is_empty())
    }

    pub(super) fn stream_synchronize(&self, call: Call, stream: StreamRef) -> Result<()> {
        let mut engine = self.engine.lock();
        let key = engine.find(call, stream)?;
        engine.check(call, stream.device)?;
        engine.refuse_captured_stream(call, key)?;
        engine.refuse_held_back(call)?;
        for token in engine.pending_of_stream(key) {
            token.wait(&mut engine);
        }
        engine.check(call, stream.device)
    }

    /// Waits until everything queued on the device before has ended.
    pub(super) fn await_device(&self, call: Call, device: DeviceIndex) -> Result<()> {
        let mut engine = self.engine.lock();
        engine.check(call, device)?;
        engine.refuse_captured_device(call, device)?;
        engine.refuse_held_back(call)?;
        for token in engine.pending_of_device(device) {
            token.wait(&mut engine);
        }
        engine.check(call, device)
    }

    /// The same for all devices; failures of their work are left to those who ask for the device.
    pub(super) fn await_all_devices(&self, call: Call) -> Result<()> {
        let mut engine = self.engine.lock();
        for device in self.device_indices() {
            engine.refuse_captured_device(call, device)?;
        }
        engine.refuse_held_back(call)?;
        let tokens: Vec<_> =
            self.device_indices().flat_map(|device| engine.pending_of_device(device)).collect();
        for token in tokens {
            token.wait(&mut engine);
        }
        Ok(())
    }

    pub(super) fn launch_host_function(
        self: &Arc<Self>,
        call: Call,
        stream: StreamRef,
        function: HostFunction,
    ) -> Result<()> {
        self.submit(call, stream, Work::Host(function), self.latency_ns()).map(drop)
    }

    /// What a call that has nothing to queue still checks.
    fn accepts_work(&self, call: Call, stream: StreamRef) -> Result<()> {
        let mut engine = self.engine.lock();
        let key = engine.find(call, stream)?;
        engine.check(call, stream.device)?;
        engine.capture_for(call, key).map(drop)
    }

    /// One end of a copy, and whether it is pageable.
    fn side(
        &self,
        call: Call,
        name: &str,
        address: RawAddress,
        bytes: usize,
        intent: Intent,
        device: DeviceIndex,
    ) -> Result<(Side, bool)> {
        let number = address.get();
        let refuse = || {
            Err(codes::failure_because(
                call,
                codes::INVALID_VALUE,
                format_args!("{name} {number:#x} is not {bytes} bytes of host or device memory"),
            ))
        };
        if number < LOWEST_HOST_ADDRESS || number.checked_add(bytes).is_none() {
            return refuse();
        }
        let space = self.space.read();
        if space.is_device_address(number) {
            let accessor = Accessor::copy_engine(device);
            if !space.is_usable(accessor, number as u64, bytes as u64, intent) {
                return refuse();
            }
            return Ok((Side::Device(number as u64), false));
        }
        let pinned = space.pinned_at(number).is_some();
        if !pinned && !is_mapped(number, bytes) {
            return refuse();
        }
        Ok((Side::Host(Place::of_host(address)), !pinned))
    }

    pub(super) fn copy(
        self: &Arc<Self>,
        call: Call,
        dst: RawAddress,
        src: RawAddress,
        bytes: usize,
        stream: StreamRef,
    ) -> Result<()> {
        self.accepts_work(call, stream)?;
        if bytes == 0 {
            return Ok(());
        }
        let device = stream.device;
        let (dst, dst_pageable) = self.side(call, "dst", dst, bytes, Intent::Write, device)?;
        let (mut src, src_pageable) = self.side(call, "src", src, bytes, Intent::Read, device)?;
        let mut blocks = dst_pageable || src_pageable;
        if let (Side::Device(_), Side::Host(place)) = (&dst, &src)
            && src_pageable
            && bytes <= STAGED_BYTES
        {
            let mut staged = vec![0; bytes].into_boxed_slice();
            place.read(&mut staged);
            src = Side::Staged(staged);
            blocks = false;
        }
        let work = Work::Copy { device, dst, src, bytes };
        let token = self.submit(call, stream, work, self.latency_ns())?;
        // A captured copy happens when the graph is launched; nobody can wait for that here.
        if let Some(token) = token.filter(|_| blocks) {
            let mut engine = self.engine.lock();
            token.wait(&mut engine);
            engine.check(call, device)?;
        }
        Ok(())
    }

    /// The driver stages what the devices cannot pass on directly, so this is `copy` with both ends
    /// said to be of certain devices.
    pub(super) fn copy_peer(
        self: &Arc<Self>,
        call: Call,
        dst: (DeviceIndex, DevicePtr),
        src: (DeviceIndex, DevicePtr),
        bytes: usize,
        stream: StreamRef,
    ) -> Result<()> {
        for (name, (device, ptr)) in [("dst", dst), ("src", src)] {
            self.check_device(call, device)?;
            // What is not mapped is refused by `copy`.
            let space = self.space.read();
            let owner = space.mapping_at(ptr.0).map(|(_, mapping)| mapping.physical.device);
            if !space.is_device_address(ptr.0 as usize) || owner.is_some_and(|of| of != device) {
                let why = format!("{name} {ptr} is no memory of device {device}");
                return Err(codes::failure_because(call, codes::INVALID_VALUE, why));
            }
        }
        self.copy(call, RawAddress::from(dst.1), RawAddress::from(src.1), bytes, stream)
    }

    pub(super) fn stream_destroy(&self, call: Call, stream: StreamRef) -> Result<()> {
        let mut engine = self.engine.lock();
        let key = engine.find(call, stream)?;
        if key == StreamKey::legacy(stream.device) {
            let why = "the default stream cannot be destroyed";
            return Err(codes::failure_because(call, codes::INVALID_HANDLE, why));
        }
        engine.destroy_stream(key);
        Ok(())
    }

    pub(super) fn fill(
        self: &Arc<Self>,
        call: Call,
        dst: u64,
        value: u8,
        bytes: usize,
        stream: StreamRef,
    ) -> Result<()> {
        self.accepts_work(call, stream)?;
        if bytes == 0 {
            return Ok(());
        }
        let accessor = Accessor::kernel(stream.device);
        if !self.space.read().is_usable(accessor, dst, bytes as u64, Intent::Write) {
            return Err(codes::failure_because(
                call,
                codes::INVALID_VALUE,
                format_args!(
                    "dst {dst:#x} is not {bytes} bytes that device {} may write",
                    stream.device
                ),
            ));
        }
        self.check_known(call, dst)?;
        let work = Work::Fill { device: stream.device, dst, value, bytes };
        self.submit(call, stream, work, self.latency_ns()).map(drop)
    }

    /// Refuses an address of which nothing is known, as CUDA does before it queues a fill.
    fn check_known(&self, call: Call, dst: u64) -> Result<()> {
        let space = self.space.read();
        if space.mapping_at(dst).is_some() || space.pinned_at(dst as usize).is_some() {
            return Ok(());
        }
        Err(codes::failure_because(
            call,
            codes::INVALID_VALUE,
            format_args!("{dst:#x} is neither device memory nor page-locked memory"),
        ))
    }

    pub(super) fn kernel_launch(
        self: &Arc<Self>,
        call: Call,
        handle: KernelHandle,
        shape: LaunchShape,
        arguments: &KernelArguments,
        stream: StreamRef,
    ) -> Result<()> {
        let (device, kernel) = self.kernel(call, handle)?;
        if device != stream.device {
            return Err(codes::failure_because(
                call,
                codes::INVALID_HANDLE,
                format_args!(
                    "{} was loaded for device {device}, the stream is of device {}",
                    kernel.name, stream.device
                ),
            ));
        }
        kernel
            .check(shape, arguments)
            .map_err(|why| codes::failure_because(call, codes::INVALID_VALUE, why))?;
        let duration_ns = (kernel.duration_ns)(arguments.slots(), self.latency_ns());
        let arguments = *arguments;
        let work = Work::Kernel { device, kernel, shape, arguments };
        self.submit(call, stream, work, duration_ns).map(drop)
    }
}
