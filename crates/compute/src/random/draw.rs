//! From a generator to the piece of its sequence that a launch draws from.

use std::sync::Arc;

use sconce_base::collections::slab::Key;
use sconce_base::error::Result;
use sconce_driver::StreamRef;

use super::device::{new_place, prepare};
use super::generator::{Draw, StateAt, with_state};
use super::graph_draws::CapturedDraw;
use super::stream_capture::{CapturingWork, StreamCapture};

/// What a launch needs of a generator.
#[derive(Clone, Copy)]
pub(super) struct DrawRequest {
    /// How much it draws.
    pub(super) increment: u64,
    /// It reads seed and offset where they lie, and cannot add to the offset.
    pub(super) is_whole: bool,
}

impl DrawRequest {
    /// The request of a kernel of this library.
    pub(super) fn of_kernel(increment: u64) -> DrawRequest {
        DrawRequest { increment, is_whole: false }
    }
}

/// Reserves a piece of the sequence and calls `launch`, which queues the draw on a stream of the generator's
/// device.
pub(super) fn with_draw(
    key: Key,
    work: &dyn CapturingWork,
    stream: StreamRef,
    request: DrawRequest,
    launch: impl FnOnce(Draw) -> Result<()>,
) -> Result<()> {
    let is_captured = work.is_capturing(stream)?;
    if let Err(error) = prepare(work, stream.device) {
        if is_captured && work.arena(stream.device).is_empty() {
            return Err(error.context("no device memory for a captured fill"));
        }
        sconce_base::log::debug(format_args!("not ready for graph captures: {}", error.message()));
    }
    let DrawRequest { increment, is_whole } = request;
    if !is_captured {
        return draw_now(key, work, stream, increment, launch);
    }
    match work.capture(stream)? {
        StreamCapture::Graph { draws, is_in_body } => {
            let draw = CapturedDraw { increment, is_in_body, is_whole };
            draws.draw(work, key, stream, draw, launch)
        }
        StreamCapture::Other => draw_for_other_code(key, work, stream, increment, launch),
    }
}

/// A draw outside of captures.
fn draw_now(
    key: Key,
    work: &dyn CapturingWork,
    stream: StreamRef,
    increment: u64,
    launch: impl FnOnce(Draw) -> Result<()>,
) -> Result<()> {
    // The lock is held until the launch is queued if the piece is in a slot, which all fills of a stream share.
    let mut launch = Some(launch);
    let mut launch_once = |draw| launch.take().map_or(Ok(()), |launch| launch(draw));
    let numbers = with_state(key, |state| match state.draw(work, stream, increment)? {
        draw @ Draw::Host { .. } => Ok(Some(draw)),
        draw @ Draw::Device { .. } => launch_once(draw).map(|()| None),
    })?;
    numbers.map_or(Ok(()), launch_once)
}

/// A draw in a capture of other code, whose graph is launched without a call of this library. From now on the
/// generator's state is on the device.
fn draw_for_other_code(
    key: Key,
    work: &dyn CapturingWork,
    stream: StreamRef,
    increment: u64,
    launch: impl FnOnce(Draw) -> Result<()>,
) -> Result<()> {
    let mut launch = Some(launch);
    loop {
        let pending = with_state(key, |state| {
            state.return_to_host_if_done(work)?;
            let record = match &state.at {
                StateAt::Launch(record) => return Ok(Some(Arc::clone(record))),
                StateAt::Device(record) => record,
                StateAt::Host => state.move_to_device(work)?,
            };
            // Every launch of the graph writes the slot anew, for ever.
            let slot = new_place(work, stream.device)?;
            record.take(work, stream, increment, slot)?;
            let draw = Draw::Device { state: slot, ahead: 0 };
            launch.take().map_or(Ok(()), |launch| launch(draw)).map(|()| None)
        })?;
        match pending {
            None => return Ok(()),
            Some(record) => record.wait(work)?,
        }
    }
}
