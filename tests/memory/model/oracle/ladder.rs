//! What happens when no free block fits, and what gives memory back.

use super::{Answer, Block, Kind, Oracle, Request, State, change, figure};

/// How asking the driver ended.
enum Driver {
    Gave(usize),
    HasNone,
    Failed,
}

impl Oracle {
    /// Step after step, until there is a block.
    pub(super) fn climb(&mut self, request: &Request) -> Result<usize, Answer> {
        self.collect_old();
        match self.ask_driver(request) {
            Driver::Gave(id) => return Ok(id),
            Driver::Failed => return Err(Answer::DriverFailed),
            Driver::HasNone => {}
        }
        // One request counts as one wait.
        let waits = self.has_pending();
        if waits {
            self.wait_for_pending();
            if let Some(id) = self.search(request) {
                return Ok(id);
            }
        }
        if self.release_oversize(request) {
            match self.ask_driver(request) {
                Driver::Gave(id) => return Ok(id),
                Driver::Failed => return Err(Answer::DriverFailed),
                Driver::HasNone => {}
            }
        }
        if !waits {
            self.wait_for_pending();
        }
        self.release_all();
        self.stats.num_alloc_retries += 1;
        match self.ask_driver(request) {
            Driver::Gave(id) => Ok(id),
            Driver::Failed => Err(Answer::DriverFailed),
            Driver::HasNone => {
                self.stats.num_ooms += 1;
                Err(Answer::OutOfMemory)
            }
        }
    }

    fn reserved(&self) -> usize {
        self.stats.reserved_bytes.all.current as usize
    }

    fn ask_driver(&mut self, request: &Request) -> Driver {
        let bytes = self.rules.segment(request.rounded);
        if self.limit.is_some_and(|limit| self.reserved() + bytes > limit) {
            return Driver::HasNone;
        }
        if let Some(fault) = &mut self.fault {
            fault.nth -= 1;
            let fault = *fault;
            if fault.nth == 0 {
                self.fault = None;
                return if fault.out_of_memory { Driver::HasNone } else { Driver::Failed };
            }
        }
        if self.reserved() + bytes > self.device_bytes {
            return Driver::HasNone;
        }
        let segment = self.segments;
        self.segments += 1;
        self.stats.num_device_alloc += 1;
        figure(&mut self.stats.segment, request.kind, 1);
        figure(&mut self.stats.reserved_bytes, request.kind, bytes as i64);
        if bytes >= self.rules.max_split {
            change(&mut self.stats.oversize_segments, 1);
        }
        self.blocks.push(Block {
            segment,
            offset: 0,
            bytes,
            requested: 0,
            stream: request.stream,
            pool: request.pool,
            kind: request.kind,
            state: State::Held,
            used_on: Default::default(),
            before: None,
            after: None,
            shelved_at: 0,
        });
        Driver::Gave(self.blocks.len() - 1)
    }

    /// Gives a whole free segment back; the driver waits for the device.
    fn release(&mut self, id: usize) {
        self.unshelve(id);
        let block = &mut self.blocks[id];
        assert!(!block.is_cut());
        block.state = State::Gone;
        let (kind, bytes) = (block.kind, block.bytes);
        self.stats.num_device_free += 1;
        figure(&mut self.stats.segment, kind, -1);
        figure(&mut self.stats.reserved_bytes, kind, -(bytes as i64));
        if bytes >= self.rules.max_split {
            change(&mut self.stats.oversize_segments, -1);
        }
        self.finish_all_work();
    }

    /// With a fraction and a threshold, blocks older than the average go until enough has gone.
    fn collect_old(&mut self) {
        let Some(limit) = self.limit.filter(|_| self.rules.collect_at > 0.0) else { return };
        let threshold = (self.rules.collect_at * limit as f64) as usize;
        let Some(target) = self.reserved().checked_sub(threshold).filter(|target| *target > 0)
        else {
            return;
        };
        let Some(shelf) = self.shelves.get(&(0, Kind::Large)) else { return };
        let searches = shelf.searches;
        let ids = shelf.free.iter().map(|&(.., id)| id);
        let mut old: Vec<usize> = ids.filter(|id| !self.blocks[*id].is_cut()).collect();
        let age = |blocks: &[Block], id: usize| searches - blocks[id].shelved_at;
        let mut reclaimed = 0;
        while reclaimed < target && !old.is_empty() {
            let sum: u64 = old.iter().map(|id| age(&self.blocks, *id)).sum();
            let average = sum as f64 / old.len() as f64;
            let (leaving, staying): (Vec<usize>, Vec<usize>) =
                old.iter().partition(|id| age(&self.blocks, **id) as f64 >= average);
            for &id in &leaving {
                reclaimed += self.blocks[id].bytes;
                self.release(id);
            }
            old = staying;
        }
    }

    /// With a size that is not cut: one free block of that size and enough, or as many of the
    /// largest of the stream as are together enough.
    fn release_oversize(&mut self, request: &Request) -> bool {
        if self.rules.max_split == usize::MAX {
            return false;
        }
        let wanted = request.rounded.max(self.rules.max_split);
        let Some(shelf) = self.shelves.get(&(request.pool, request.kind)) else { return false };
        let sizes = self.rules.max_split..;
        let oversize: Vec<(usize, usize)> = shelf
            .free
            .iter()
            .filter(|(stream, bytes, ..)| *stream == request.stream && sizes.contains(bytes))
            .map(|&(_, bytes, .., id)| (bytes, id))
            .filter(|(_, id)| !self.blocks[*id].is_cut())
            .collect();
        if let Some(&(_, id)) = oversize.iter().find(|(bytes, _)| *bytes >= wanted) {
            self.release(id);
            return true;
        }
        let mut released = 0;
        for (bytes, id) in oversize.into_iter().rev() {
            if released >= wanted {
                break;
            }
            released += bytes;
            self.release(id);
        }
        released >= wanted
    }

    /// Every free segment of the device goes, except those of private pools in use.
    fn release_all(&mut self) {
        let pools: Vec<usize> =
            std::iter::once(0).chain(self.released_pools.iter().copied()).collect();
        for pool in pools {
            self.release_pool(pool);
        }
    }

    fn release_pool(&mut self, pool: usize) -> usize {
        let mut bytes = 0;
        for kind in [Kind::Large, Kind::Small] {
            let Some(shelf) = self.shelves.get(&(pool, kind)) else { continue };
            let ids: Vec<usize> = shelf.free.iter().map(|&(.., id)| id).collect();
            for id in ids {
                if !self.blocks[id].is_cut() {
                    bytes += self.blocks[id].bytes;
                    self.release(id);
                }
            }
        }
        bytes
    }

    pub fn empty_cache(&mut self) {
        self.wait_for_pending();
        self.release_all();
    }

    /// Gives back what is free in a private pool.
    pub fn trim_pool(&mut self, pool: usize) -> usize {
        if !self.blocks().any(|block| block.pool == pool) {
            return 0;
        }
        self.wait_for_pending();
        self.release_pool(pool)
    }

    /// Nobody keeps the pool any more: what is free goes, the rest when it is released.
    pub fn destroy_pool(&mut self, pool: usize) {
        self.trim_pool(pool);
        self.released_pools.insert(pool);
    }

    /// Whether a fraction of the device is all that may be used.
    pub fn set_fraction(&mut self, fraction: f64, total: usize) {
        self.limit = (fraction < 1.0).then_some((fraction * total as f64) as usize);
    }
}
