//! Copies and fills: which are refused at once, which are staged, and which calls wait. A range of bytes
//! is one row.
#![forbid(unsafe_code)]

use std::sync::Arc;

use sconce_base::error::{Error, Result};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{Copies, RawAddress, StreamRef};

use crate::call::Call;
use crate::codes;
use crate::host::pages::is_mapped;
use crate::host::place::HostPlace;
use crate::machine::engine::Engine;
use crate::memory::{Accessor, AddressSpace, Intent};
use crate::state::{Simulator, State};
use crate::work::copy::{CopySide, CopyWork};
use crate::work::fill::FillWork;
use crate::work::rows::ByteRows;

/// No host memory lies below this address; null pointers with an offset do.
const LOWEST_HOST_ADDRESS: usize = 4096;

/// Copies from pageable memory to a device up to this size are staged: the call reads the source
/// and returns. An H200 with driver 580 does so for 2 MiB, and not for 4 MiB.
const STAGED_BYTES: usize = 2 << 20;

impl Copies for Simulator {
    fn copy_async(&self, dst: RawAddress, src: RawAddress, n: usize, at: StreamRef) -> Result<()> {
        self.inner.enter_context(Call::CopyAsync, at.device)?;
        self.inner.copy(Call::CopyAsync, dst, src, n, at)
    }

    /// Checks that both ranges belong to the named devices, and copies as `copy_async` does: a driver
    /// stages what the devices cannot pass on directly.
    fn copy_peer_async(
        &self,
        dst: (DeviceIndex, DevicePtr),
        src: (DeviceIndex, DevicePtr),
        bytes: usize,
        stream: StreamRef,
    ) -> Result<()> {
        let (inner, call) = (&self.inner, Call::CopyPeerAsync);
        inner.enter_context(call, stream.device)?;
        for (name, (device, ptr)) in [("dst", dst), ("src", src)] {
            inner.check_device(call, device)?;
            // `copy` refuses memory that is not mapped.
            let space = inner.space.read();
            let owner = space.mapping_at(ptr.0).map(|(_, mapping)| mapping.physical.device);
            if !space.is_device_address(ptr.0 as usize) || owner.is_some_and(|of| of != device) {
                return Err(refused(
                    call,
                    format!("{name} {ptr} is not memory of device {device}"),
                ));
            }
        }
        inner.copy(call, RawAddress::from(dst.1), RawAddress::from(src.1), bytes, stream)
    }

    fn copy_2d_async(
        &self,
        dst: (RawAddress, usize),
        src: (RawAddress, usize),
        width: usize,
        height: usize,
        stream: StreamRef,
    ) -> Result<()> {
        self.inner.enter_context(Call::Copy2dAsync, stream.device)?;
        self.inner.copy_rows(Call::Copy2dAsync, dst, src, width, height, stream)
    }

    fn fill_async(&self, dst: DevicePtr, value: u8, bytes: usize, stream: StreamRef) -> Result<()> {
        self.inner.enter_context(Call::FillAsync, stream.device)?;
        self.inner.fill(Call::FillAsync, dst.0, value, ByteRows::single(bytes), stream)
    }

    fn fill_2d_async(
        &self,
        (dst, pitch): (DevicePtr, usize),
        value: u8,
        width: usize,
        height: usize,
        stream: StreamRef,
    ) -> Result<()> {
        self.inner.enter_context(Call::Fill2dAsync, stream.device)?;
        self.inner.fill(Call::Fill2dAsync, dst.0, value, ByteRows { width, height, pitch }, stream)
    }
}

fn refused(call: Call, why: String) -> Error {
    codes::failure_because(call, codes::INVALID_VALUE, why)
}

impl State {
    /// One end of a copy, and whether it is pageable.
    fn side(
        &self,
        call: Call,
        name: &str,
        address: RawAddress,
        rows: ByteRows,
        intent: Intent,
        device: DeviceIndex,
    ) -> Result<(CopySide, bool)> {
        let number = address.get();
        let refuse = |asleep: Option<String>| {
            let ByteRows { width, height, pitch } = rows;
            let what = match height {
                1 => format!("{width} bytes"),
                _ => format!("{height} rows of {width} bytes, {pitch} bytes apart,"),
            };
            let why = match asleep {
                Some(words) => format!("{name} is {words}"),
                None => format!("{name} {number:#x} is not {what} of host or device memory"),
            };
            Err(refused(call, why))
        };
        let Some(span) = rows.span(number).filter(|_| number >= LOWEST_HOST_ADDRESS) else {
            return refuse(None);
        };
        let space = self.space.read();
        if space.is_device_address(number) {
            let accessor = Accessor::copy_engine(device);
            let usable =
                |at, bytes| space.is_usable(accessor, (number + at) as u64, bytes as u64, intent);
            if !rows.each(span, usable) {
                return refuse(space.sleeping.words(number as u64, span as u64));
            }
            return Ok((CopySide::Device(number as u64), false));
        }
        let pinned = is_pinned(&space, number, rows, span);
        if !pinned && !rows.each(span, |at, bytes| is_mapped(number + at, bytes)) {
            return refuse(None);
        }
        let Ok(range) = address.host(span) else { return refuse(None) };
        Ok((CopySide::Host(HostPlace::of_host(range)), !pinned))
    }

    pub(crate) fn copy(
        &self,
        call: Call,
        dst: RawAddress,
        src: RawAddress,
        bytes: usize,
        stream: StreamRef,
    ) -> Result<()> {
        self.copy_rows(call, (dst, bytes), (src, bytes), bytes, 1, stream)
    }

    pub(crate) fn copy_rows(
        &self,
        call: Call,
        (dst, dst_pitch): (RawAddress, usize),
        (src, src_pitch): (RawAddress, usize),
        width: usize,
        height: usize,
        stream: StreamRef,
    ) -> Result<()> {
        let is_captured = self.accepts_work(call, stream)?;
        if width == 0 || height == 0 {
            return Ok(());
        }
        let device = stream.device;
        let dst_rows = ByteRows { width, height, pitch: dst_pitch };
        let mut src_rows = ByteRows { width, height, pitch: src_pitch };
        let (dst, dst_pageable) = self.side(call, "dst", dst, dst_rows, Intent::Write, device)?;
        let (mut src, src_pageable) =
            self.side(call, "src", src, src_rows, Intent::Read, device)?;
        let mut blocks = dst_pageable || src_pageable;
        if let (CopySide::Device(_), CopySide::Host(place)) = (&dst, &src)
            && src_pageable
            && !is_captured
            && width.checked_mul(height).is_some_and(|bytes| bytes <= STAGED_BYTES)
        {
            let mut staged = vec![0; width * height].into_boxed_slice();
            for (row, into) in staged.chunks_exact_mut(width).enumerate() {
                place.offset(row * src_pitch).read(into);
            }
            src = CopySide::Staged(staged);
            src_rows.pitch = width;
            blocks = false;
        }
        let space = Arc::clone(&self.space);
        let work = CopyWork::new(space, device, (dst, dst_rows), (src, src_rows));
        let token = self.submit(call, stream, work, self.latency_ns())?;
        // A captured copy happens when the graph is launched, which no call here can wait for.
        if let Some(token) = token.filter(|_| blocks) {
            let mut engine = self.machine.engine.lock();
            engine.refuse_held_back(call)?;
            Engine::wait(&mut engine, &token);
            engine.check(call, device)?;
        }
        Ok(())
    }

    pub(crate) fn fill(
        &self,
        call: Call,
        dst: u64,
        value: u8,
        rows: ByteRows,
        stream: StreamRef,
    ) -> Result<()> {
        self.accepts_work(call, stream)?;
        let (device, ByteRows { width, height, pitch }) = (stream.device, rows);
        if width == 0 || height == 0 {
            return Ok(());
        }
        let accessor = Accessor::kernel(device);
        let usable = rows.span(dst as usize).is_some_and(|span| {
            let space = self.space.read();
            rows.each(span, |at, bytes| {
                space.is_usable(accessor, dst + at as u64, bytes as u64, Intent::Write)
            })
        });
        if !usable {
            let what = match height {
                1 => format!("{width} bytes"),
                _ => format!("{height} rows of {width} bytes, {pitch} bytes apart,"),
            };
            let span = rows.span(dst as usize).unwrap_or(1) as u64;
            let why = match self.space.read().sleeping.words(dst, span) {
                Some(words) => format!("dst is {words}"),
                None => format!("dst {dst:#x} is not {what} that device {device} may write"),
            };
            return Err(refused(call, why));
        }
        self.check_known(call, dst)?;
        let work = FillWork::new(Arc::clone(&self.space), device, dst, value, rows);
        self.submit(call, stream, work, self.latency_ns()).map(drop)
    }

    /// Refuses an address that no allocation holds, as CUDA does before it queues a fill.
    fn check_known(&self, call: Call, dst: u64) -> Result<()> {
        let space = self.space.read();
        if space.mapping_at(dst).is_some() || space.pinned.at(dst as usize).is_some() {
            return Ok(());
        }
        let why = format!("{dst:#x} is neither device memory nor page-locked memory");
        Err(refused(call, why))
    }
}

/// Whether every row begins in page-locked memory.
fn is_pinned(space: &AddressSpace, address: usize, rows: ByteRows, span: usize) -> bool {
    let range = |at: usize| space.pinned.at(address + at).map(|(base, _)| base);
    let first = range(0);
    first.is_some()
        && (first == range(span - 1)
            || (0..rows.height).all(|row| range(row * rows.pitch).is_some()))
}
