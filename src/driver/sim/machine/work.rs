//! What operations do when they run.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::time::Duration;

use crate::driver::{HostFunction, LaunchShape};
use crate::types::DeviceIndex;

use crate::driver::sim::Inner;
use crate::driver::sim::codes;
use crate::driver::sim::host::host_call;
use crate::driver::sim::host::place::Place;
use crate::driver::sim::kernels::{DeviceMemory, Kernel};
use crate::driver::sim::libraries::compute::Compute;
use crate::driver::sim::memory::{Accessor, Intent};
use crate::driver::sim::processes::event_page::{RemoteRecord, SharedTicket};

/// Copies give the address space back after each such piece, so that they hold up no allocation.
const PIECE_BYTES: usize = 4 << 20;

/// Rows that lie a pitch apart; a range of bytes is one row.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// Bytes from the beginning of a row to that of the next.
    pub(crate) pitch: usize,
}

impl Rows {
    pub(crate) fn single(bytes: usize) -> Rows {
        Rows { width: bytes, height: 1, pitch: bytes }
    }
}

/// One end of a copy.
pub(crate) enum Side {
    /// An address of the window, looked up when the copy runs.
    Device(u64),
    /// Host memory.
    Host(Place),
    /// What host memory held when the copy was queued; only ever a source.
    Staged(Box<[u8]>),
}

pub(crate) enum Work {
    /// An event's record; with the ticket that other processes see.
    Record(Option<SharedTicket>),
    /// A wait for an event of this process. Its token is among the operation's dependencies.
    Wait,
    /// A wait for another process's record.
    WaitRemote(RemoteRecord),
    Host(HostFunction),
    Copy {
        device: DeviceIndex,
        dst: (Side, Rows),
        src: (Side, Rows),
    },
    Fill {
        device: DeviceIndex,
        dst: u64,
        value: u8,
        rows: Rows,
    },
    Kernel {
        device: DeviceIndex,
        kernel: &'static Kernel,
        shape: LaunchShape,
        /// As many slots as the kernel takes.
        arguments: Box<[u64]>,
    },
    /// What a library calculates.
    Compute {
        device: DeviceIndex,
        compute: Arc<dyn Compute>,
    },
}

impl Work {
    /// Does it. An error is the driver's code; the device then fails for good.
    pub(crate) fn carry_out(&self, inner: &Inner) -> Result<(), i32> {
        match self {
            Work::Record(_) | Work::Wait => Ok(()),
            Work::WaitRemote(record) => {
                record.wait();
                Ok(())
            }
            Work::Host(function) => {
                host_call::call(*function);
                Ok(())
            }
            Work::Copy { device, dst, src } => (0..dst.1.height).try_for_each(|row| {
                let from = (&src.0, row * src.1.pitch);
                copy(inner, *device, (&dst.0, row * dst.1.pitch), from, dst.1.width)
            }),
            Work::Fill { device, dst, value, rows } => (0..rows.height).try_for_each(|row| {
                fill(inner, *device, dst + (row * rows.pitch) as u64, *value, rows.width)
            }),
            Work::Kernel { device, kernel, shape, arguments } => {
                let memory = DeviceMemory::new(inner, *device);
                (kernel.run)(&memory, *shape, arguments)
            }
            Work::Compute { device, compute } => compute.run(&DeviceMemory::new(inner, *device)),
        }
    }

    /// Whether nothing outside this process holds it back.
    pub(crate) fn remote_condition_holds(&self) -> bool {
        match self {
            Work::WaitRemote(record) => record.is_done(),
            _ => true,
        }
    }

    /// Tells other processes, if they can know of it, that it has ended.
    pub(crate) fn announce_end(&self) {
        if let Work::Record(Some(ticket)) = self {
            ticket.complete();
        }
    }
}

/// Copies bytes between two sides, each from so many bytes on.
fn copy(
    inner: &Inner,
    device: DeviceIndex,
    dst: (&Side, usize),
    src: (&Side, usize),
    bytes: usize,
) -> Result<(), i32> {
    let accessor = Accessor::copy_engine(device);
    let mut done = 0;
    while done < bytes {
        let part = PIECE_BYTES.min(bytes - done);
        let space = inner.space.read();
        let place = |(side, start): (&Side, usize), intent: Intent| match side {
            Side::Device(address) => {
                space.resolve(accessor, address + (start + done) as u64, part as u64, intent)
            }
            Side::Host(place) => Ok(place.offset(start + done)),
            Side::Staged(_) => Err(codes::ILLEGAL_ADDRESS),
        };
        if let (Side::Staged(bytes), start) = src {
            place(dst, Intent::Write)?.write(&bytes[start + done..start + done + part]);
        } else {
            let from = place(src, Intent::Read)?;
            place(dst, Intent::Write)?.copy_from(from, part);
        }
        done += part;
    }
    Ok(())
}

fn fill(inner: &Inner, device: DeviceIndex, dst: u64, value: u8, bytes: usize) -> Result<(), i32> {
    let accessor = Accessor::kernel(device);
    let mut done = 0;
    while done < bytes {
        let part = PIECE_BYTES.min(bytes - done);
        let space = inner.space.read();
        let at = dst.checked_add(done as u64).ok_or(codes::ILLEGAL_ADDRESS)?;
        space.resolve(accessor, at, part as u64, Intent::Write)?.fill(value, part);
        done += part;
    }
    Ok(())
}

/// How long pollers of other processes' events rest between two looks.
pub(crate) const POLL: Duration = Duration::from_micros(100);
