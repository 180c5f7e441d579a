//! The checker: every call that orders or uses memory, in the order in which the program made them.
#![forbid(unsafe_code)]

mod blocks;
mod graphs;
mod hangs;
mod kept;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use sconce_base::types::DeviceIndex;
use sconce_driver::{StreamRef, announce_work};

use crate::clock::{Clock, Epoch, HOST, Lane};
use crate::collective::Calls;
use crate::meetings::Part;
use crate::memory::{Block, Conflict, NewAccess, Shadow, Trouble};
use crate::operation::Operation;
use crate::order::{Order, Record, Waited};
use crate::page::{History, WaitKind};
use crate::pattern::Pattern;
use crate::pending::{Awaited, Pending};
use crate::report::{Finding, FindingKind, Hang, Reports};
use crate::site::{Callers, Site};
use crate::unwritten::Unwritten;

/// Memory that an operation reads or writes.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    pub(crate) writes: bool,
    pub(crate) pattern: Pattern,
    pub(crate) reading: Reading,
}

/// What the checker makes of work that is queued.
pub(crate) struct Told {
    /// The operation's number.
    pub(crate) number: u64,
    /// An address that it must not use, as its memory was given back to the driver: the device would fault.
    pub(crate) released: Option<u64>,
}

/// What precedes the next call of a rank: its last one, outside of captures and in one.
#[derive(Default)]
pub(crate) struct LastCall {
    clock: Option<Clock>,
    captured: Option<(u64, Clock)>,
}

/// What is known of a block whose end is looked at.
pub(crate) struct Overwritten {
    block: Option<Arc<Block>>,
    /// What was queued last on its stream.
    last: Arc<Operation>,
}

/// What becomes of bytes that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// They are not read.
    None,
    /// They are copied to other memory of a device: that is no error if nobody has written them.
    Moves,
    /// Results depend on them.
    Uses,
    /// They go along with whatever lies there, read or written, also between blocks.
    Anything,
}

impl Use {
    pub(crate) fn new(writes: bool, pattern: Pattern) -> Use {
        Use { writes, pattern, reading: if writes { Reading::None } else { Reading::Uses } }
    }

    pub(crate) fn reads(address: u64, bytes: u64) -> Use {
        Use::new(false, Pattern::range(address, bytes))
    }

    pub(crate) fn writes(address: u64, bytes: u64) -> Use {
        Use::new(true, Pattern::range(address, bytes))
    }
}

/// What an operation of a graph uses.
#[derive(Clone)]
struct NodeUse {
    uses: Use,
    by: Arc<Operation>,
    /// The number of the allocation that made the block, unless that is of a pool of graphs: such memory is the graph's
    /// between launches, whether a block is there or not.
    block: Option<u64>,
}

/// A capture that has not ended.
#[derive(Default)]
struct Capture {
    shadow: Shadow,
    clocks: HashMap<Lane, Clock>,
    work: Graph,
}

/// What a captured graph does.
#[derive(Clone, Default)]
struct Graph {
    nodes: Vec<NodeUse>,
    bodies: Vec<usize>,
    /// Whether nothing is known of the memory that some of its operations use.
    has_unknown: bool,
}

/// A graph that can be launched.
struct Executable {
    work: Arc<Graph>,
    /// What precedes the next launch: launches of one graph run one after the other.
    last: Clock,
}

/// A block with the streams that were recorded for it.
struct LiveBlock {
    lane: Lane,
    bytes: u64,
    used_by: Vec<Lane>,
    /// It belongs to a pool of graphs: it is handed out again when launches have ended.
    is_of_graphs: bool,
}

/// The state of the checker.
#[derive(Default)]
pub(crate) struct Checker {
    pub(crate) order: Order,
    shadow: Shadow,
    captures: HashMap<u64, Capture>,
    /// What precedes the end of all launches of graphs.
    launches: Clock,
    captures_begun: u64,
    /// The numbers of captures that the driver has given them, also of captures by other code.
    numbers: HashMap<u64, u64>,
    /// Captures by other code, which nothing announces.
    of_others: HashSet<u64>,
    graphs: HashMap<usize, Graph>,
    executables: HashMap<usize, Executable>,
    blocks: HashMap<u64, LiveBlock>,
    /// Ranges that other processes share with this one: their bytes by their addresses.
    imports: HashMap<u64, u64>,
    processes: Option<Lane>,
    operations: u64,
    unknown: u64,
    /// The last operation that may have written any memory.
    last_unknown: u64,
    /// What was queued last on each lane.
    last: HashMap<Lane, Arc<Operation>>,
    /// Bytes that nobody has written: followed where all operations are known to the checker, on simulated devices.
    unwritten: Option<Unwritten>,
    pub(crate) callers: Callers,
    /// The operation that was made last.
    pub(crate) newest: Option<Arc<Operation>>,
    pub(crate) pending: Pending,
    pub(crate) calls: Calls,
    pub(crate) reports: Reports,
    /// What is kept for the page, if there is to be one.
    pub(crate) history: Option<Box<History>>,
}

impl Checker {
    fn operation(&mut self, name: &str, lane: Lane) -> Arc<Operation> {
        self.operations += 1;
        let (number, name) = (self.operations, name.to_owned());
        let by = Arc::new(Operation { number, name, lane, site: self.callers.site() });
        announce_work(number);
        self.newest = Some(Arc::clone(&by));
        if let Some(history) = &mut self.history {
            let is_captured = self.order.capture_of(lane).is_some();
            history.operation(&by, is_captured);
            if !is_captured {
                let news = self.order.news_by_legacy(lane);
                history.learns(WaitKind::Legacy, &news, lane, Some(&by), &by.site);
            }
        }
        by
    }

    fn report(&mut self, finding: Finding) {
        let named = self.history.as_ref().map(|_| finding.operations());
        let is_new = self.reports.add(finding, &self.order);
        if let (true, Some(history), Some(named)) = (is_new, &mut self.history, named) {
            history.report(&named);
        }
    }

    /// Reports a wait that does not end.
    pub(crate) fn report_hang(&mut self, hang: Hang) {
        let named: Vec<Arc<Operation>> = hang.by.iter().cloned().collect();
        let is_new = self.reports.add_hang(hang, &self.order);
        if let (true, Some(history)) = (is_new, &mut self.history) {
            history.report(&named);
        }
    }

    /// From now on reads of memory are reported that nobody has written.
    pub(crate) fn follow_unwritten(&mut self) {
        self.unwritten = Some(Unwritten::default());
    }

    /// How many operations there were of which nothing is known.
    pub(crate) fn unknown(&self) -> u64 {
        self.unknown
    }

    /// Kernels that nobody has seen may have written what has been allocated so far.
    pub(crate) fn may_write_elsewhere(&mut self) {
        self.last_unknown = self.operations + 1;
    }

    /// How many pieces of memory are followed.
    #[cfg(test)]
    pub(crate) fn pieces(&self) -> usize {
        self.shadow.pieces()
    }

    /// How many graphs are known.
    #[cfg(test)]
    pub(crate) fn graphs(&self) -> usize {
        self.graphs.len()
    }

    /// How many operations there were.
    pub(crate) fn operations(&self) -> u64 {
        self.operations
    }
}

/// Streams and events.
impl Checker {
    pub(crate) fn stream_created(&mut self, stream: StreamRef, non_blocking: bool) {
        // The page names streams by their lanes.
        if self.history.is_none() {
            let blocks = &self.blocks;
            let is_named = |lane: Lane| {
                blocks.values().any(|live| live.lane == lane || live.used_by.contains(&lane))
            };
            if let Some(lane) = self.order.created_in_place_of(stream, !non_blocking, is_named) {
                self.last.remove(&lane);
                self.pending.forget(lane);
                return;
            }
        }
        self.order.created(stream, !non_blocking);
    }

    pub(crate) fn stream_destroyed(&mut self, stream: StreamRef) {
        self.order.destroyed(stream);
    }

    /// Returns the event's record before, which [`Checker::not_recorded`] takes.
    pub(crate) fn recorded(&mut self, event: usize, stream: StreamRef) -> Option<Record> {
        let lane = self.order.lane(stream);
        self.pending.stream(lane, stream);
        if self.order.capture_of(lane).is_none() {
            self.keep_legacy(lane);
        }
        if let Some(history) = &mut self.history {
            history.recorded(event, lane);
        }
        match self.order.capture_of(lane) {
            Some(number) => {
                let captured = self.captures.get(&number);
                let clock = captured.and_then(|capture| capture.clocks.get(&lane)).cloned();
                self.order.record(event, clock.unwrap_or_default(), Some(number))
            }
            None => {
                self.order.begin(lane);
                let clock = self.order.clock(lane).clone();
                self.order.record(event, clock, None)
            }
        }
    }

    /// The driver has refused to record an event: its record before is the newest still.
    pub(crate) fn not_recorded(&mut self, event: usize, before: Option<Record>) {
        self.order.not_recorded(event, before);
    }

    pub(crate) fn waits(&mut self, stream: StreamRef, event: usize) {
        let lane = self.order.lane(stream);
        self.pending.stream(lane, stream);
        if self.order.capture_of(lane).is_none() {
            self.keep_legacy(lane);
        }
        self.keep_wait(WaitKind::Event, event, lane);
        match self.order.recorded(event) {
            // The stream joins the capture, or is in it.
            Some((clock, Some(number))) => {
                if let Some(capture) = self.captures.get_mut(&number) {
                    self.order.set_capture(lane, Some(number));
                    capture.clocks.entry(lane).or_default().join(&clock);
                }
            }
            _ if self.order.capture_of(lane).is_some() => {}
            _ => {
                if let Some(clock) = self.order.of_event(event) {
                    self.order.begin(lane);
                    self.order.join(lane, &clock);
                }
            }
        }
    }

    /// The host has waited for what was queued when it began, or has asked and heard that it is done: `target` is what
    /// [`Checker::target`] returned then. What other threads have queued since may still run.
    pub(crate) fn waited(&mut self, awaited: Awaited, target: &Clock) {
        match awaited {
            Awaited::Event(event) => self.keep_wait(WaitKind::Host, event, HOST),
            Awaited::Stream(stream) => {
                let lane = self.order.lane(stream);
                self.keep_host_wait(Waited::Stream(lane));
            }
            Awaited::Device(device) => self.keep_host_wait(Waited::Device(device)),
            Awaited::AllDevices => self.keep_host_wait(Waited::All),
        }
        self.order.join(HOST, target);
    }

    /// The library has asked for its own sake, and `target` is done.
    pub(crate) fn library_learns(&mut self, target: &Clock) {
        self.order.library_learns(target);
    }

    /// All that is queued is done, and the host knows.
    fn done(&mut self, awaited: Awaited) {
        if let Some(target) = self.target(awaited) {
            self.waited(awaited, &target);
        }
    }

    pub(crate) fn event_destroyed(&mut self, event: usize) {
        self.order.forget_event(event);
        if let Some(history) = &mut self.history {
            history.event_destroyed(event);
        }
    }

    #[cfg(test)]
    pub(crate) fn event_done(&mut self, event: usize) {
        self.done(Awaited::Event(event));
    }

    #[cfg(test)]
    pub(crate) fn stream_done(&mut self, stream: StreamRef) {
        self.done(Awaited::Stream(stream));
    }

    pub(crate) fn devices_done(&mut self, device: Option<DeviceIndex>) {
        self.done(device.map_or(Awaited::AllDevices, Awaited::Device));
    }
}

/// Work.
impl Checker {
    /// An operation is queued. `None`: nothing is known of the memory that it uses.
    pub(crate) fn queued(&mut self, stream: StreamRef, name: &str, uses: Option<Vec<Use>>) -> Told {
        let lane = self.order.lane(stream);
        let by = self.operation(name, lane);
        self.last.insert(lane, Arc::clone(&by));
        let capture = self.order.capture_of(lane);
        if uses.is_none() {
            self.unknown += 1;
            if capture.is_none() {
                self.last_unknown = by.number;
            }
        }
        let released = self.lives(uses.as_deref().unwrap_or_default(), &by);
        if released.is_some() {
            return Told { number: by.number, released };
        }
        match capture {
            Some(number) => self.captured(number, lane, &by, uses),
            None => {
                let uses = uses.unwrap_or_default();
                self.reads_written(&uses, &by);
                let epoch = self.order.begin(lane);
                self.is_pending(epoch, &by, stream);
                let clock = self.order.clock(lane).clone();
                for it in &uses {
                    self.access(epoch, &clock, it, &by);
                }
            }
        }
        Told { number: by.number, released: None }
    }

    /// The driver has refused an operation: nothing that comes later conflicts with it.
    pub(crate) fn refused(&mut self, number: u64) {
        self.shadow.withdraw(number);
        self.pending.withdraw(number);
        self.calls.withdraw(number);
        for capture in self.captures.values_mut() {
            capture.shadow.withdraw(number);
            capture.work.nodes.retain(|node| node.by.number != number);
        }
    }

    fn is_pending(&mut self, epoch: Epoch, by: &Arc<Operation>, stream: StreamRef) {
        self.pending.stream(epoch.lane, stream);
        self.pending.add(epoch, by, self.order.library());
    }

    /// Reports uses of memory that is no live block's. Returns the first address whose memory was given back to the
    /// driver.
    fn lives(&mut self, uses: &[Use], by: &Arc<Operation>) -> Option<u64> {
        let mut gone = None;
        for it in uses.iter().filter(|it| it.reading != Reading::Anything) {
            let Some((trouble, address)) = self.shadow.trouble(&it.pattern) else { continue };
            let bytes = it.pattern.end() - address.max(it.pattern.start());
            let (kind, first, block) = match trouble {
                Trouble::Released(by) => {
                    gone.get_or_insert(address);
                    (FindingKind::UseAfterFree, Some((by, true)), None)
                }
                Trouble::Freed(block) => (FindingKind::UseAfterFree, block.freed_by(), Some(block)),
                Trouble::Outside(block) => (FindingKind::OutOfBounds, None, block),
            };
            let second = (Arc::clone(by), it.writes);
            let finding = Finding { kind, address, bytes, first, second, block };
            self.report(finding);
        }
        gone
    }

    /// Reports reads of bytes that nobody has written, and notes what is written.
    fn reads_written(&mut self, uses: &[Use], by: &Arc<Operation>) {
        let Some(unwritten) = &self.unwritten else { return };
        let mut found = Vec::new();
        for it in uses.iter().filter(|it| it.reading == Reading::Uses) {
            let first = |(part, delta): (Pattern, u64)| {
                unwritten.first(&part).map(|(at, bytes)| (at.wrapping_sub(delta), bytes))
            };
            found.extend(self.shadow.places(&it.pattern).into_iter().find_map(first));
        }
        for it in uses.iter().filter(|it| it.writes) {
            self.written(&it.pattern);
        }
        for (address, bytes) in found {
            let Some(block) = self.shadow.block_at(address) else { continue };
            if block.allocated.number < self.last_unknown {
                continue;
            }
            let (kind, second) = (FindingKind::UninitializedRead, (Arc::clone(by), false));
            let finding = Finding { kind, address, bytes, first: None, second, block: Some(block) };
            self.report(finding);
        }
    }

    /// Whether a stream was made by this library, and is not destroyed.
    pub(crate) fn knows_stream(&self, stream: StreamRef) -> bool {
        self.order.knows(stream)
    }

    /// Something was queued on a stream that uses no memory of the program. The library learns when it is done.
    pub(crate) fn mark(&mut self, stream: StreamRef) -> Epoch {
        let lane = self.order.lane(stream);
        self.order.begin(lane)
    }

    /// What the library knows to be done.
    pub(crate) fn library(&self) -> &Clock {
        self.order.library()
    }

    /// The end of a block is about to be looked at.
    pub(crate) fn overwritten(&mut self, stream: StreamRef, block: u64) -> Overwritten {
        let lane = self.order.lane(stream);
        let block = self.shadow.block_at(block);
        let last = self.last.get(&lane).map(Arc::clone);
        let last =
            last.unwrap_or_else(|| self.operation("work that the library did not queue", lane));
        Overwritten { block, last }
    }

    /// Bytes behind the end of a block were written, or of a block that was freed before.
    pub(crate) fn found_overwritten(
        &mut self,
        address: u64,
        bytes: u64,
        what: Overwritten,
        is_freed: bool,
    ) {
        let Overwritten { block, last } = what;
        let kind = FindingKind::Overwritten;
        let first = block.as_ref().filter(|_| is_freed).and_then(|block| block.freed_by());
        let finding = Finding { kind, address, bytes, first, second: (last, true), block };
        self.report(finding);
    }

    /// Nothing more is known of who writes a piece of memory: others may.
    pub(crate) fn shared(&mut self, address: u64, bytes: u64) {
        self.written(&Pattern::range(address, bytes));
    }

    fn written(&mut self, pattern: &Pattern) {
        if let Some(unwritten) = &mut self.unwritten {
            for (part, _) in self.shadow.places(pattern) {
                unwritten.remove(&part);
            }
        }
    }

    fn access(&mut self, epoch: Epoch, clock: &Clock, it: &Use, by: &Arc<Operation>) {
        if let Some(history) = &mut self.history {
            history.uses(by.number, it.writes, &it.pattern);
        }
        let settled = self.order.host().clone();
        let new = NewAccess {
            epoch,
            writes: it.writes,
            pattern: &it.pattern,
            by,
            clock,
            settled: &settled,
        };
        let conflicts = self.shadow.access(&new);
        self.conflicts(conflicts, FindingKind::Race, it.writes, by);
    }

    fn conflicts(
        &mut self,
        all: Vec<Conflict>,
        kind: FindingKind,
        writes: bool,
        by: &Arc<Operation>,
    ) {
        for Conflict { address, bytes, first, block } in all {
            // A capture does not know the blocks.
            let block = block.or_else(|| self.shadow.block_at(address));
            let finding = Finding {
                kind,
                address,
                bytes,
                first: Some((Arc::clone(&first.by), first.writes)),
                second: (Arc::clone(by), writes),
                block,
            };
            self.report(finding);
        }
    }

    /// A use of a block, or of its memory, after `block` was freed.
    fn after_free(
        &mut self,
        kind: FindingKind,
        (address, bytes): (u64, u64),
        block: Arc<Block>,
        second: (Arc<Operation>, bool),
    ) {
        let first = block.freed_by();
        let finding = Finding { kind, address, bytes, first, second, block: Some(block) };
        self.report(finding);
    }

    /// The host reads or writes memory that devices use, too.
    pub(crate) fn host_uses(&mut self, name: &str, it: &Use) {
        let by = self.operation(name, HOST);
        let epoch = self.order.begin(HOST);
        let clock = self.order.host().clone();
        self.lives(std::slice::from_ref(it), &by);
        self.access(epoch, &clock, it, &by);
    }

    /// A call of one rank, which ends when those of all ranks have begun: what precedes any of them precedes what
    /// follows each, also what follows the calls of ranks that came before.
    pub(crate) fn joined(&mut self, stream: StreamRef, before: &[Part]) -> Option<Part> {
        let Part { lane, clock: own } = self.part(stream)?;
        for Part { lane: other, clock } in before {
            self.follows_call(lane, clock);
            self.follows_call(*other, &own);
        }
        Some(Part { lane, clock: own })
    }

    /// A rank's part of a call that its stream has queued, unless that is captured.
    pub(crate) fn part(&mut self, stream: StreamRef) -> Option<Part> {
        let lane = self.order.lane(stream);
        let is_captured = self.order.capture_of(lane).is_some();
        (!is_captured).then(|| Part { lane, clock: self.order.clock(lane).clone() })
    }

    pub(crate) fn follows_call(&mut self, lane: Lane, clock: &Clock) {
        if let Some(history) = &mut self.history {
            let news = self.order.news_in(lane, clock);
            history.learns(WaitKind::Collective, &news, lane, None, &Site::default());
        }
        self.order.join(lane, clock);
    }

    /// A rank is about to call: its calls run one after the other, on whatever streams.
    pub(crate) fn follows_rank(&mut self, stream: StreamRef, last: &LastCall) {
        let lane = self.order.lane(stream);
        match self.order.capture_of(lane) {
            None => {
                if let Some(clock) = &last.clock {
                    self.follows_call(lane, clock);
                }
            }
            Some(number) => {
                let captured = self.captures.get_mut(&number);
                let last = last.captured.as_ref().filter(|(of, _)| *of == number);
                if let (Some(capture), Some((_, clock))) = (captured, last) {
                    capture.clocks.entry(lane).or_default().join(clock);
                }
            }
        }
    }

    /// A rank has called.
    pub(crate) fn rank_called(&self, stream: StreamRef, last: &mut LastCall) {
        let Some(lane) = self.order.known(stream) else { return };
        match self.order.capture_of(lane) {
            None => last.clock = Some(self.order.clock(lane).clone()),
            Some(number) => {
                let captured = self.captures.get(&number);
                let clock = captured.and_then(|capture| capture.clocks.get(&lane)).cloned();
                last.captured = clock.map(|clock| (number, clock));
            }
        }
    }
}
