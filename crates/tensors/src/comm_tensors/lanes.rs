//! Copies that arrive on streams of their own, so that they wait neither for each other nor for the work that uses
//! them.

use std::cell::RefCell;

use sconce_base::collections::per_device::{PerDevice, per_device};
use sconce_base::error::Result;
use sconce_base::lock::{Mutex, rank};
use sconce_base::types::DeviceIndex;
use sconce_runtime::context::{Runtime, runtime};
use sconce_runtime::event::wait_stream;
use sconce_runtime::stream::{self, Stream};

use crate::tensor::transfer::copy_into;
use crate::tensor::{Place, Tensor};

/// From this size on a copy is worth a stream of its own.
pub(super) const LEAST_BYTES: usize = 1 << 20;

/// Which lane: copies of one source take turns on two, so that the next one does not wait for the one before to be
/// noticed on the destination.
type LaneName = (DeviceIndex, Turn);

/// One of a source's two lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Even,
    Odd,
}

impl Turn {
    /// That of the copy with a number.
    pub(super) fn of(number: usize) -> Turn {
        if number.is_multiple_of(2) { Turn::Even } else { Turn::Odd }
    }
}

/// The lanes of each destination, which are streams of the destination.
static LANES: PerDevice<Mutex<rank::Lanes, Vec<(LaneName, Stream)>>> =
    per_device!(Mutex::new(Vec::new()));

/// The lanes that lead to a device during one call. When it is dropped, the device's current stream waits for all.
pub(super) struct Lanes<'a> {
    runtime: &'a Runtime,
    destination: DeviceIndex,
    main: Stream,
    /// Captured work stays on the captured stream.
    is_captured: bool,
    open: RefCell<Vec<(LaneName, Stream)>>,
    /// The current stream of each source, and the one that sends for it.
    senders: RefCell<Vec<(Stream, Stream)>>,
}

impl Lanes<'_> {
    /// No lane is open at first.
    pub(super) fn to(destination: DeviceIndex) -> Result<Lanes<'static>> {
        let runtime = runtime()?;
        let main = stream::current_on(runtime, destination)?;
        let is_captured = stream::is_capturing(runtime, main)?;
        Ok(Lanes {
            runtime,
            destination,
            main,
            is_captured,
            open: RefCell::default(),
            senders: RefCell::default(),
        })
    }

    /// The lane for a copy of so many bytes; `None`: the current stream is as good.
    fn lane(&self, source: Place, turn: Turn, bytes: usize) -> Result<Option<Stream>> {
        let Some(source) = source.device() else { return Ok(None) };
        if self.is_captured || source == self.destination || bytes < LEAST_BYTES {
            return Ok(None);
        }
        if let Some((_, lane)) = self.open.borrow().iter().find(|(name, _)| *name == (source, turn))
        {
            return Ok(Some(*lane));
        }
        // Captured work of the source stays on its stream, too: a lane is in no capture.
        if stream::is_capturing(self.runtime, stream::current_on(self.runtime, source)?)? {
            return Ok(None);
        }
        let lane = lane_between(self.destination, (source, turn))?;
        self.open.borrow_mut().push(((source, turn), lane));
        wait_stream(self.runtime, lane, self.main)?;
        Ok(Some(lane))
    }

    /// Whether a copy of so many bytes has a lane.
    pub(super) fn has_lane(&self, source: Place, bytes: usize) -> Result<bool> {
        Ok(self.lane(source, Turn::Even, bytes)?.is_some())
    }

    /// Copies to a tensor of the destination. The current stream does not wait for it if there is a lane.
    pub(super) fn copy(&self, dst: &Tensor, src: &Tensor, turn: Turn) -> Result<()> {
        let bytes = src.packed_bytes();
        match self.lane(src.place(), turn, bytes)? {
            None => copy_into(dst, src, true),
            Some(lane) => {
                let _restore = Current::set(self.main, lane);
                let (current, sender) = self.sender(src.place())?;
                let _restore_source = Current::set(current, sender);
                copy_into(dst, src, true)
            }
        }
    }

    /// The current stream of a source, and the one that sends instead of it: CUDA does not start a copy between
    /// devices on a default stream before all that either device has been given is done.
    fn sender(&self, source: Place) -> Result<(Stream, Stream)> {
        let device = source.device().unwrap_or(self.destination);
        let current = stream::current_on(self.runtime, device)?;
        if let Some(known) = self.senders.borrow().iter().find(|(of, _)| *of == current) {
            return Ok(*known);
        }
        let sender = lane_between(device, (device, Turn::Even))?;
        self.senders.borrow_mut().push((current, sender));
        wait_stream(self.runtime, sender, current)?;
        Ok((current, sender))
    }

    /// Lets the current stream wait for what has arrived from a source.
    pub(super) fn arrive(&self, source: Place, turn: Turn) -> Result<()> {
        self.each(source, turn, |lane| wait_stream(self.runtime, self.main, lane))
    }

    /// Lets later copies from a source wait for what the current stream does so far.
    pub(super) fn follow(&self, source: Place, turn: Turn) -> Result<()> {
        self.each(source, turn, |lane| wait_stream(self.runtime, lane, self.main))
    }

    fn each(
        &self,
        source: Place,
        turn: Turn,
        act: impl FnOnce(Stream) -> Result<()>,
    ) -> Result<()> {
        let open = self.open.borrow();
        let found =
            open.iter().find(|((from, of), _)| Some(*from) == source.device() && *of == turn);
        found.map_or(Ok(()), |(_, lane)| act(*lane))
    }

    /// Lets the current stream wait for all lanes, before memory that they write to goes back.
    pub(super) fn close(&self) -> Result<()> {
        let lanes = std::mem::take(&mut *self.open.borrow_mut());
        let mut result = Ok(());
        for (_, lane) in lanes {
            let waits = wait_stream(self.runtime, self.main, lane)
                // Memory that a lane still writes to must not go back.
                .or_else(|_| stream::synchronize(self.runtime, lane));
            result = result.and(waits);
        }
        // What the sources' streams do next may overwrite what is still being sent.
        for (current, sender) in std::mem::take(&mut *self.senders.borrow_mut()) {
            let waits = wait_stream(self.runtime, current, sender)
                .or_else(|_| stream::synchronize(self.runtime, sender));
            result = result.and(waits);
        }
        result
    }
}

impl Drop for Lanes<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.close() {
            sconce_base::log::warn(format_args!(
                "a copy between devices was not waited for: {error}"
            ));
        }
    }
}

/// The stream of `destination` on which copies arrive: one of the library's own, always the same.
fn lane_between(destination: DeviceIndex, name: LaneName) -> Result<Stream> {
    let mut lanes = LANES[destination].lock();
    if let Some((_, lane)) = lanes.iter().find(|(of, _)| *of == name) {
        return Ok(*lane);
    }
    let lane = stream::for_lane(runtime()?, destination)?;
    lanes.push((name, lane));
    Ok(lane)
}

/// Makes a stream the current one of its device until it is dropped.
pub(super) struct Current(Stream);

impl Current {
    /// `before` is the current stream.
    pub(super) fn set(before: Stream, stream: Stream) -> Current {
        stream::set_current(stream);
        Current(before)
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        stream::set_current(self.0);
    }
}
