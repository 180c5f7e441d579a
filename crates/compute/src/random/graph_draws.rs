//! What a graph draws from generators.
//!
//! A fill that is captured outside of conditional bodies reads seed and offset from the *cell* that the graph has for
//! the generator, and adds what the fills captured before it draw. Each launch of the graph reserves the sum from the
//! generator, on the host, and writes the begin to the cell: replays and ordinary fills continue one sequence in the
//! order of the host's calls, as in torch.
//!
//! From the first fill in a body on, the fills of the graph take their pieces from a record on the device. Each launch
//! sets the record to where the generator is, and the generator's state is in the record until the launch is done.

use std::sync::Arc;

use sconce_base::collections::slab::Key;
use sconce_base::error::Result;
use sconce_base::lock::{Mutex, rank};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::StreamRef;
use sconce_runtime::context::runtime;
use sconce_runtime::stream::{LaunchMember, Stream};

use super::device::{
    Arena, DeviceRecord, DeviceWork, NewestUse, ProcessDevices, Retired, new_place, queue_take,
};
use super::generator::{Draw, SharedGenerator};

/// What a graph draws from all its generators.
pub(super) struct GraphDraws {
    draws: Mutex<rank::GeneratorDraws, Draws>,
    arena: &'static Arena,
}

#[derive(Default)]
struct Draws {
    /// By generator, in the order of their keys, in which a launch locks them.
    generators: Vec<DrawsOfGenerator>,
    /// Memory for the caller's kernels, and for fills that take from a record.
    slots: Vec<DevicePtr>,
    /// The newest launch, also of another graph that took over the nodes.
    newest: NewestUse,
}

/// What a graph draws from one generator.
struct DrawsOfGenerator {
    generator: SharedGenerator,
    device: DeviceIndex,
    /// Where the launch finds seed and offset.
    cell: DevicePtr,
    /// How much the fills draw that read the cell.
    drawn: u64,
    /// What later fills take from.
    record: Option<Arc<DeviceRecord>>,
}

/// A fill that is captured.
#[derive(Clone, Copy)]
pub(super) struct CapturedDraw {
    pub(super) increment: u64,
    /// It is in a body of a conditional node.
    pub(super) is_in_body: bool,
    /// It needs seed and offset as they are: it cannot add to the offset.
    pub(super) is_whole: bool,
}

impl GraphDraws {
    /// Nothing yet. Makes places spare that ended graphs have left.
    pub(super) fn new(work: &dyn DeviceWork, device: DeviceIndex) -> GraphDraws {
        let arena = work.arena(device);
        arena.collect(|newest| work.is_past(newest).unwrap_or(false));
        GraphDraws { draws: Mutex::default(), arena }
    }

    /// Notes what a captured fill draws, and calls `launch`, which queues the fill.
    pub(super) fn draw(
        &self,
        work: &dyn DeviceWork,
        key: Key,
        stream: StreamRef,
        draw: CapturedDraw,
        launch: impl FnOnce(Draw) -> Result<()>,
    ) -> Result<()> {
        let mut draws = self.draws.lock();
        let draws = &mut *draws;
        let at = draws.place_of(work, key, stream.device)?;
        let CapturedDraw { increment, is_in_body, is_whole } = draw;
        let of = &mut draws.generators[at];
        if of.record.is_none() && is_in_body {
            of.record = Some(Arc::new(DeviceRecord::of_launches(work, stream.device)?));
        }
        if of.record.is_none() && !is_whole {
            let ahead = of.drawn;
            of.drawn = ahead.wrapping_add(increment);
            return launch(Draw::Device { state: of.cell, ahead });
        }
        let slot = new_place(work, stream.device)?;
        draws.slots.push(slot);
        match &of.record {
            Some(record) => record.take(work, stream, increment, slot)?,
            None => {
                queue_take(work, stream, (of.cell, (0, of.drawn)), 0, slot)?;
                of.drawn = of.drawn.wrapping_add(increment);
            }
        }
        launch(Draw::Device { state: slot, ahead: 0 })
    }

    /// Queues a launch on a stream, and gives the graph its pieces of the sequences.
    pub(super) fn launch_on(
        &self,
        work: &dyn DeviceWork,
        stream: StreamRef,
        queue: &mut dyn FnMut() -> Result<()>,
    ) -> Result<()> {
        let mut draws = self.draws.lock();
        let Draws { generators, newest, .. } = &mut *draws;
        // The cells are written once the last launch has read them.
        work.follow(stream, newest)?;
        let launched = serve(work, stream, generators, queue);
        let marked = work.mark(stream, newest);
        launched.and(marked)
    }
}

impl Draws {
    /// The place of a generator in the list. The generator is alive.
    fn place_of(&mut self, work: &dyn DeviceWork, key: Key, device: DeviceIndex) -> Result<usize> {
        // Fails for a generator that was destroyed and whose key is in the list.
        let generator = SharedGenerator::of(key)?;
        let found =
            self.generators.binary_search_by_key(&key.bits(), |of| of.generator.key().bits());
        found.or_else(|at| {
            let cell = new_place(work, device)?;
            let of = DrawsOfGenerator { generator, device, cell, drawn: 0, record: None };
            self.generators.insert(at, of);
            Ok(at)
        })
    }
}

/// Gives a launch its pieces of the sequences of all generators, and queues it.
fn serve(
    work: &dyn DeviceWork,
    stream: StreamRef,
    generators: &[DrawsOfGenerator],
    queue: &mut dyn FnMut() -> Result<()>,
) -> Result<()> {
    let Some((of, rest)) = generators.split_first() else { return queue() };
    // The stream of the launch, unless the generator is of another device.
    let beside = work.companion(stream, of.device)?;
    order(work, stream, beside)?;
    let Some(record) = &of.record else {
        of.generator.with(|state| state.give(work, beside, of.drawn, of.cell))?;
        order(work, beside, stream)?;
        return serve(work, stream, rest, queue);
    };
    // The generator is locked until the launch is queued, so that the fills after it follow it.
    of.generator.with(|state| {
        state.lend(work, beside, record, || {
            if of.drawn != 0 {
                record.take(work, beside, of.drawn, of.cell)?;
            }
            order(work, beside, stream)?;
            serve(work, stream, rest, queue)?;
            order(work, stream, beside)
        })
    })
}

/// Orders later work of a stream behind what is queued on another one.
fn order(work: &dyn DeviceWork, first: StreamRef, then: StreamRef) -> Result<()> {
    if first == then {
        return Ok(());
    }
    let mut newest = NewestUse::default();
    work.mark(first, &mut newest)?;
    work.follow(then, &newest)
}

impl LaunchMember for GraphDraws {
    fn launch(&self, stream: Stream, queue: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        self.launch_on(&ProcessDevices(runtime()?), stream.driver_ref(), queue)
    }
}

impl Drop for GraphDraws {
    fn drop(&mut self) {
        let Draws { generators, slots: mut places, newest } =
            std::mem::take(&mut *self.draws.lock());
        places.extend(generators.iter().map(|of| of.cell));
        self.arena.retire(Retired { places, pair: None, newest });
    }
}
