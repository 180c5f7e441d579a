//! The allocator's blocks, and the driver's memory.
#![forbid(unsafe_code)]

use super::*;
use crate::memory::{Dropped, Forgotten, Unmapped};

impl Checker {
    pub(crate) fn handed_out(&mut self, stream: StreamRef, address: u64, bytes: u64) {
        let lane = self.order.lane(stream);
        self.hand_out(lane, address, bytes);
    }

    /// A block of pinned memory is handed out: the host may use it at once.
    pub(crate) fn pinned_handed_out(&mut self, address: u64, bytes: u64) {
        self.hand_out(HOST, address, bytes);
    }

    fn hand_out(&mut self, lane: Lane, address: u64, bytes: u64) {
        let by = self.operation("the allocation", lane);
        let is_captured = self.order.capture_of(lane).is_some();
        let used_by = Vec::new();
        // Launches may use a pinned block that was freed since the capture: the graph keeps it.
        let is_of_graphs = is_captured || lane == HOST;
        let live = LiveBlock { lane, bytes, used_by, is_of_graphs };
        self.blocks.insert(address, live);
        let epoch = if is_captured { Epoch { lane, count: 0 } } else { self.order.begin(lane) };
        let mut clock = self.order.clock(lane).clone();
        // The program's next use follows the hand-out alone.
        clock.join(self.order.library());
        let settled = self.order.host().clone();
        let pattern = Pattern::range(address, bytes);
        if let Some(history) = &mut self.history {
            history.block(address, bytes);
        }
        let block = Block { address, bytes, allocated: Arc::clone(&by), freed: None };
        let new = NewAccess {
            epoch,
            writes: true,
            pattern: &pattern,
            by: &by,
            clock: &clock,
            settled: &settled,
        };
        let (conflicts, early) = self.shadow.hand_out(block, &new);
        if is_captured {
            self.shared(address, bytes);
            return;
        }
        // What the host writes is not known.
        if let Some(unwritten) = self.unwritten.as_mut().filter(|_| lane != HOST) {
            self.shadow.places(&pattern).iter().for_each(|(part, _)| unwritten.add(part));
        }
        if let Some(old) = early {
            let second = (Arc::clone(&by), true);
            self.after_free(FindingKind::EarlyReuse, (address, bytes), old, second);
        }
        self.conflicts(conflicts, FindingKind::EarlyReuse, true, &by);
    }

    pub(crate) fn block_used(&mut self, stream: StreamRef, address: u64) {
        let lane = self.order.lane(stream);
        if let Some(block) = self.blocks.get_mut(&address)
            && !block.used_by.contains(&lane)
        {
            block.used_by.push(lane);
        }
    }

    pub(crate) fn taken_back(&mut self, address: u64) {
        let Some(LiveBlock { lane, bytes, used_by, is_of_graphs }) = self.blocks.remove(&address)
        else {
            return;
        };
        let by = self.operation("the free", lane);
        let mut clock = self.order.host().clone();
        clock.join(self.order.clock(lane));
        for other in &used_by {
            clock.join(self.order.clock(*other));
        }
        let before = clock.clone();
        if is_of_graphs {
            clock.join(&self.launches);
        }
        if let Some(history) = &mut self.history {
            history.learns(WaitKind::Recorded, &used_by, lane, Some(&by), &by.site);
        }
        let epoch = Epoch { lane, count: self.order.clock(lane).of(lane) };
        let settled = self.order.host().clone();
        let pattern = Pattern::range(address, bytes);
        if let Some(history) = &mut self.history {
            history.block(address, bytes);
        }
        let new = NewAccess {
            epoch,
            writes: true,
            pattern: &pattern,
            by: &by,
            clock: &clock,
            settled: &settled,
        };
        self.shared(address, bytes);
        let conflicts = self.shadow.take_back(&new, &before);
        self.conflicts(conflicts, FindingKind::MissingRecordStream, true, &by);
    }

    /// The checks are switched off.
    pub(crate) fn pauses(&mut self) {
        if let Some(history) = &mut self.history {
            history.switched_off();
        }
    }

    /// The checks were off for a while: what was done to memory until now counts as done, and the blocks that are live
    /// now are not known.
    pub(crate) fn begin_again(&mut self) {
        self.devices_done(None);
        self.shadow.forget_all();
        self.blocks.clear();
        self.unwritten.iter_mut().for_each(Unwritten::clear);
    }

    /// Other memory is given back. Returns what [`Checker::not_released`] takes.
    pub(crate) fn forget(&mut self, address: u64, bytes: u64) -> Forgotten {
        self.shared(address, bytes);
        self.shadow.forget(address, bytes)
    }

    /// Memory that the driver has made.
    pub(crate) fn allocated(&mut self, address: u64, bytes: u64) {
        self.shadow.allocated(address, bytes);
    }

    /// Memory goes back to the driver. Returns what [`Checker::not_released`] takes.
    pub(crate) fn released(&mut self, address: u64, bytes: u64) -> Forgotten {
        let by = self.operation("the release of cached memory", HOST);
        self.shared(address, bytes);
        self.shadow.released(address, bytes, by)
    }

    /// The driver has not taken the memory back after all: what was known of it holds.
    pub(crate) fn not_released(&mut self, was: Forgotten) {
        self.shadow.not_released(was);
    }

    pub(crate) fn is_released(&self, address: u64) -> bool {
        self.shadow.is_released(address)
    }

    /// The host passes an address to a call. Reports it if the memory was given back to the driver; returns whether.
    pub(crate) fn host_passes(&mut self, address: u64) -> bool {
        if !self.shadow.is_released(address) {
            return false;
        }
        let by = self.operation("the call", HOST);
        self.lives(&[Use::reads(address, 1)], &by);
        true
    }

    /// The memory of a range of addresses is mapped again later, and its blocks stay.
    pub(crate) fn sleeps(&mut self, address: u64, bytes: u64) {
        self.shared(address, bytes);
        self.shadow.sleeps(address, bytes);
    }

    pub(crate) fn physical_created(&mut self, handle: u64, bytes: u64) {
        self.shadow.create(handle, bytes);
    }

    /// Physical memory is shared with other processes, which may write it.
    pub(crate) fn physical_shared(&mut self, handle: u64) {
        if let (Some(place), Some(unwritten)) = (self.shadow.physical(handle), &mut self.unwritten)
        {
            unwritten.remove(&place);
        }
    }

    pub(crate) fn physical_retained(&mut self, address: u64, handle: u64) {
        self.shadow.retain(address, handle);
    }

    pub(crate) fn mapped(&mut self, address: u64, bytes: u64, handle: u64, offset: u64) {
        self.shadow.map(address, bytes, handle, offset);
    }

    /// A handle of physical memory is given back. Returns what [`Checker::handle_not_dropped`] takes.
    pub(crate) fn handle_dropped(&mut self, handle: u64) -> Option<Dropped> {
        self.shadow.drop_handle(handle)
    }

    /// The driver has not taken the handle back after all.
    pub(crate) fn handle_not_dropped(&mut self, was: Dropped) {
        self.shadow.not_dropped(was);
    }

    /// Mappings are undone. Returns what [`Checker::were_unmapped`] or [`Checker::not_unmapped`] takes.
    pub(crate) fn unmapped(&mut self, address: u64, bytes: u64) -> Unmapped {
        self.shadow.unmap(address, bytes)
    }

    /// The driver has undone the mappings.
    pub(crate) fn were_unmapped(&mut self, was: Unmapped) {
        self.shadow.were_unmapped(was);
    }

    /// The driver has not undone the mappings after all.
    pub(crate) fn not_unmapped(&mut self, was: Unmapped) {
        self.shadow.not_unmapped(was);
    }

    /// The block that holds an address: its first address and its bytes.
    pub(crate) fn block_at(&self, address: u64) -> Option<(u64, u64)> {
        self.shadow.block_at(address).map(|block| (block.address, block.bytes))
    }

    fn process(&mut self) -> Lane {
        match self.processes {
            Some(lane) => lane,
            None => *self.processes.insert(self.order.add_process()),
        }
    }

    /// Memory of another process is open: that process may have written it just now.
    pub(crate) fn import_opened(&mut self, address: u64, bytes: u64) {
        let lane = self.process();
        let by = self.operation("the other process", lane);
        self.imports.insert(address, bytes);
        let epoch = self.order.begin(lane);
        let clock = self.order.clock(lane).clone();
        self.access(epoch, &clock, &Use::writes(address, bytes), &by);
    }

    /// The host has heard that other processes are done with what they did so far.
    pub(crate) fn processes_done(&mut self) {
        if let Some(lane) = self.processes {
            self.keep_host_wait(Waited::Stream(lane));
            self.order.waited_for(lane);
        }
    }

    pub(crate) fn import_closed(&mut self, address: u64) {
        if let Some(bytes) = self.imports.remove(&address) {
            self.forget(address, bytes);
        }
    }

    /// An event of another process is open: who waits for it waits for that process.
    pub(crate) fn event_opened(&mut self, event: usize) {
        let lane = self.process();
        self.order.opened_event(event, lane);
        if let Some(history) = &mut self.history {
            history.recorded(event, lane);
        }
    }
}
