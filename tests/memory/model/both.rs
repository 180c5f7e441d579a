//! Every script on both policies, with data: each block holds a value that its own stream writes, and that is read when
//! another stream begins to use it and before it is freed, through whatever mapping it has then. The figures of requests
//! are those of [`Requests`] under each policy, and as long as memory suffices the two policies answer alike.

use std::collections::BTreeMap;

use sconce_base::error::{Error, Status};
use sconce_base::types::DeviceIndex;
use sconce_runtime::context::runtime;
use sconce_runtime::event;
use sconce_runtime::memory::size_class::PoolKind;
use sconce_runtime::memory::snapshot::BlockState;
use sconce_runtime::memory::{
    self,
    pool::{self, Key},
};

use super::journal::{Held, Journal, settings, waits};
use super::oracle::{Kind, MIB, Rules};
use super::play::{Stage, on_thread};
use super::requests::Requests;
use super::script::{POOLS, Script, Step};
use crate::queued::{copy_to_host, fill, host_bytes};
use testkit::memory::structure;

/// Room for what is read.
const SINK: usize = 96 * MIB;

struct Play<'a> {
    stage: &'a Stage,
    paged: bool,
    requests: Requests,
    held: Vec<Held>,
    next: usize,
    pools: [Key; POOLS],
    begun: Vec<usize>,
    limit: usize,
    /// Calls of the driver that waited, so far.
    waits: u64,
    /// The call that is to fail, and at which count.
    fault: Option<(&'static str, u64)>,
    /// The driver has refused pages once, so segments may serve.
    fell_back: bool,
    sink: usize,
    end: usize,
    expected: Vec<(usize, u8)>,
    journal: Journal,
}

/// Plays a script under both policies. `Err` says what was wrong; otherwise how many aliases the pages had.
pub fn play(script: &Script) -> Result<u64, String> {
    let stage = &Stage::new();
    let segments = play_on(stage, script, false).map_err(|wrong| format!("segments: {wrong}"))?;
    let pages = play_on(stage, script, true).map_err(|wrong| format!("pages: {wrong}"))?;
    // Until one of them lacks memory that the other has.
    let same = segments.served.iter().zip(&pages.served).take_while(|(one, other)| one == other);
    let same = same.count();
    for (step, requests) in segments.requests.iter().enumerate() {
        if *requests > same {
            break;
        }
        let (ours, theirs) = (pages.figures[step], segments.figures[step]);
        // A segment in place of pages counts small blocks as large ones.
        if ours.all != theirs.all || (ours != theirs && !pages.fell_back) {
            return Err(format!("step {step}: {ours:?} with pages, {theirs:?} with segments"));
        }
    }
    Ok(memory::page_figures(0).map_err(text)?.aliases_made)
}

fn text(error: Error) -> String {
    error.to_string()
}

fn play_on(stage: &Stage, script: &Script, paged: bool) -> Result<Journal, String> {
    memory::configure(&settings(script.text, paged)).map_err(text)?;
    memory::reset_peak_stats(0).map_err(text)?;
    memory::reset_accumulated_stats(0).map_err(text)?;
    let driver = runtime().unwrap().driver();
    let sink = driver.host_alloc(DeviceIndex::ZERO, SINK).map_err(text)?;
    let mut play = Play {
        stage,
        paged,
        requests: Requests::new(Rules::read(script.text)),
        held: Vec::new(),
        next: 0,
        pools: [(); POOLS].map(|()| pool::create().unwrap()),
        begun: Vec::new(),
        limit: 0,
        waits: 0,
        fault: None,
        fell_back: false,
        sink,
        end: sink,
        expected: Vec::new(),
        journal: Journal::default(),
    };
    play.set_fraction(script.percent);
    for (number, step) in script.steps.iter().enumerate() {
        play.step(step)
            .and_then(|()| play.compare())
            .map_err(|wrong| format!("step {number}, {step:?}: {wrong}"))?;
    }
    play.finish()
}

impl Play<'_> {
    fn set_fraction(&mut self, percent: u32) {
        let fraction = f64::from(percent) / 100.0;
        memory::set_fraction(fraction, 0).unwrap();
        self.limit = (fraction * self.stage.total_bytes as f64) as usize;
    }

    /// Makes a call that may wait for what is pending.
    fn waiting<T>(&mut self, call: impl FnOnce() -> T) -> T {
        let runtime = runtime().unwrap();
        let pending = |on: &_| sconce::sim_controls::pending(runtime, *on).unwrap() > 0;
        let any = self.stage.streams.iter().any(pending);
        let result = self.stage.stepper.during(any, call);
        let now = waits();
        if now != self.waits {
            self.waits = now;
            self.requests.go_on();
        }
        result
    }

    fn step(&mut self, step: &Step) -> Result<(), String> {
        match *step {
            Step::Alloc { bytes, stream, elsewhere } => self.alloc(bytes, stream, elsewhere)?,
            Step::Free { pick, elsewhere } => {
                if let Some(place) = pick.checked_rem(self.held.len()) {
                    self.free(place, elsewhere)?;
                }
            }
            Step::RecordStream { pick, stream } => {
                if let Some(place) = pick.checked_rem(self.held.len()) {
                    self.use_on(place, stream)?;
                }
            }
            Step::Complete { stream } => {
                let (runtime, on) = (runtime().unwrap(), self.stage.streams[stream]);
                let steps = 1 + sconce::sim_controls::pending(runtime, on).unwrap() / 3;
                for _ in 0..steps {
                    if !sconce::sim_controls::step(runtime, on).unwrap() {
                        break;
                    }
                }
                self.requests.go_on();
            }
            Step::CompleteAll => {
                sconce::sim_controls::run_until_idle().unwrap();
                self.requests.finish_all();
            }
            Step::EmptyCache => {
                self.waiting(memory::empty_cache).map_err(text)?;
                self.requests.finish_all();
                self.requests.take_up();
            }
            Step::ResetPeaks => {
                self.requests.reset_peaks();
                memory::reset_peak_stats(0).map_err(text)?;
            }
            Step::ResetAccumulated => {
                self.requests.reset_accumulated();
                memory::reset_accumulated_stats(0).map_err(text)?;
            }
            Step::BeginPool { pool } => {
                if !self.begun.contains(&pool) {
                    self.begun.push(pool);
                    pool::begin(self.pools[pool], 0).map_err(text)?;
                }
            }
            Step::EndPool => {
                if let Some(pool) = self.begun.pop() {
                    pool::end(self.pools[pool], 0).map_err(text)?;
                }
            }
            Step::TrimPool { pool } => {
                let key = self.pools[pool];
                self.waiting(|| pool::trim(key)).map_err(text)?;
            }
            Step::ReplacePool { pool } => {
                if !self.begun.contains(&pool) {
                    let key = self.pools[pool];
                    self.waiting(|| pool::destroy(key)).map_err(text)?;
                    self.pools[pool] = pool::create().map_err(text)?;
                }
            }
            Step::SetFraction { percent } => self.set_fraction(percent),
            Step::Fault { nth, out_of_memory } => {
                sconce::sim_controls::clear_faults().unwrap();
                let code = if out_of_memory { 2 } else { 999 };
                let call = match (self.paged, nth) {
                    (false, _) => "memory_alloc",
                    (true, 1) => "physical_create",
                    (true, _) => "virtual_map",
                };
                sconce::sim_controls::fail_call(call, 1, code).unwrap();
                self.fault = Some((call, sconce::sim_controls::call_count(call).unwrap()));
            }
            Step::Configure { text: keys } => {
                memory::configure(&settings(keys, self.paged)).map_err(text)?;
                self.requests.rules = Rules::read(keys);
            }
            Step::RecordHistory { enabled } => memory::record_history(enabled, 10).map_err(text)?,
        }
        Ok(())
    }

    /// Whether the call that was to fail has been made.
    fn has_struck(&mut self) -> bool {
        let Some((call, before)) = self.fault else { return false };
        let struck = sconce::sim_controls::call_count(call).unwrap() > before;
        if struck {
            self.fault = None;
            self.fell_back |= self.paged;
        }
        struck
    }

    fn alloc(&mut self, bytes: usize, stream: usize, elsewhere: bool) -> Result<(), String> {
        let on = self.stage.streams[stream];
        let answer = self.waiting(|| on_thread(elsewhere, || memory::alloc_on(bytes, on)));
        if bytes == 0 {
            return if answer == Ok(0) { Ok(()) } else { Err(format!("{answer:x?} of 0 bytes")) };
        }
        self.requests.take_up();
        let struck = self.has_struck();
        let served = match answer {
            Ok(address) => {
                let usable = memory::usable_bytes(address).map_err(text)?;
                let rounded = self.requests.rules.rounded(bytes);
                if usable < rounded || (usable != rounded && self.paged && !self.fell_back) {
                    return Err(format!("{usable} bytes are usable, not {rounded}"));
                }
                let (id, value) = (self.next, 1 + (self.next % 250) as u8);
                self.next += 1;
                let kind = self.kind(address, bytes)?;
                self.requests.alloc(id, bytes, usable, kind);
                let held = Held { id, address, bytes: usable, value, stream, shared: false };
                held.parts().for_each(|(at, bytes)| fill(address + at, value, bytes, on));
                self.held.push(held);
                true
            }
            Err(error) if error.status() == Status::OutOfMemory => {
                if self.paged && !struck && !self.fell_back {
                    self.check_refusal(bytes)?;
                }
                false
            }
            Err(error) if error.status() == Status::Driver && struck => false,
            Err(error) => return Err(error.to_string()),
        };
        self.journal.served.push(served);
        Ok(())
    }

    /// What a block counts as: in memory of pages, and in segments that are not in their place, that goes by its size.
    fn kind(&self, address: usize, bytes: usize) -> Result<Kind, String> {
        let by_size = self.requests.kind(bytes);
        if !self.fell_back {
            return Ok(by_size);
        }
        let (snapshot, at) = (memory::snapshot().map_err(text)?, address as u64);
        let mut segments = snapshot.segments.iter();
        let found = segments.find(|it| (it.address..it.address + it.bytes).contains(&at));
        match found.map(|segment| (segment.is_expandable, segment.pool)) {
            Some((true, _)) => Ok(by_size),
            // One pool, as for pages.
            Some((false, PoolKind::Large)) => Ok(Kind::Large),
            other => Err(format!("a block in place of pages lies in {other:?}")),
        }
    }

    /// A request may only fail if its pages do not fit, and nothing could be given back.
    fn check_refusal(&self, bytes: usize) -> Result<(), String> {
        let need = self.requests.rules.rounded(bytes).next_multiple_of(2 * MIB);
        let reserved = memory::stats(0).map_err(text)?.reserved_bytes.all.current as usize;
        let limit = self.limit.min(self.stage.total_bytes);
        if reserved + need <= limit {
            return Err(format!("no {need} bytes, with {reserved} of {limit} reserved"));
        }
        // A page has at most a 256th of what there is, as a power of two, and no less than 2 MiB.
        let page = (self.stage.total_bytes / 256).max(2 * MIB);
        let snapshot = memory::snapshot().map_err(text)?;
        let common = snapshot.segments.iter().filter(|segment| segment.pool_id.1 == 0);
        let blocks = common.flat_map(|segment| &snapshot.blocks[segment.blocks.clone()]);
        let mut free = blocks.filter(|block| block.state == BlockState::Inactive);
        match free.find(|block| block.bytes as usize >= 2 * page) {
            Some(block) => Err(format!("no {need} bytes, with {block:x?} free")),
            None => Ok(()),
        }
    }

    /// Reads a block's parts, as work of a stream.
    fn take(&mut self, place: usize, stream: usize) -> Result<(), String> {
        let block = &self.held[place];
        let mut bytes = 0;
        for (at, part) in block.parts() {
            if self.end + bytes + part > self.sink + SINK {
                return Err("the test has too little room for what it reads".to_owned());
            }
            copy_to_host(self.end + bytes, block.address + at, part, self.stage.streams[stream]);
            bytes += part;
        }
        self.expected.push((bytes, block.value));
        self.end += bytes;
        Ok(())
    }

    fn free(&mut self, place: usize, elsewhere: bool) -> Result<(), String> {
        self.take(place, self.held[place].stream)?;
        let block = self.held.swap_remove(place);
        self.requests.free(block.id, block.shared);
        on_thread(elsewhere, || memory::free(block.address)).map_err(text)
    }

    /// Another stream reads a block, after what was queued before.
    fn use_on(&mut self, place: usize, stream: usize) -> Result<(), String> {
        let (runtime, streams) = (runtime().unwrap(), self.stage.streams);
        let own = self.held[place].stream;
        memory::record_stream(self.held[place].address, streams[stream]).map_err(text)?;
        if own != stream {
            event::wait_stream(runtime, streams[stream], streams[own]).map_err(text)?;
            self.held[place].shared = true;
        }
        self.take(place, stream)
    }

    fn compare(&mut self) -> Result<(), String> {
        let stats = memory::stats(0).map_err(text)?;
        self.requests.compare(&stats)?;
        self.journal.figures.push(self.requests.allocation());
        self.journal.requests.push(self.journal.served.len());
        let snapshot = memory::snapshot().map_err(text)?;
        let mut wrong = structure::faults(&snapshot);
        wrong.extend(structure::compare(&snapshot, &stats, 0));
        wrong.extend(memory::check::walk().err());
        let pages = memory::page_figures(0).map_err(text)?;
        if pages.mappings > 4 * pages.pages {
            wrong.push(format!("{pages:?}"));
        }
        let live: BTreeMap<u64, u64> = snapshot
            .blocks
            .iter()
            .filter(|block| block.state == BlockState::Allocated)
            .map(|block| (block.address, block.bytes))
            .collect();
        let ours: BTreeMap<u64, u64> =
            self.held.iter().map(|held| (held.address as u64, held.bytes as u64)).collect();
        if live != ours {
            wrong.push(format!("{live:x?} are live, not {ours:x?}"));
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
    }

    /// Frees everything, looks at all that was read, and sees that the device has all of its memory back.
    fn finish(mut self) -> Result<Journal, String> {
        sconce::sim_controls::clear_faults().unwrap();
        while let Some(pool) = self.begun.pop() {
            pool::end(self.pools[pool], 0).map_err(text)?;
        }
        while !self.held.is_empty() {
            self.free(0, false)?;
        }
        sconce::sim_controls::run_until_idle().unwrap();
        for pool in self.pools {
            pool::destroy(pool).map_err(text)?;
        }
        memory::empty_cache().map_err(text)?;
        let data = host_bytes(self.sink, self.end - self.sink);
        let mut rest = &data[..];
        for (number, (bytes, value)) in self.expected.iter().enumerate() {
            let (these, later) = rest.split_at(*bytes);
            rest = later;
            if let Some(other) = these.iter().find(|byte| *byte != value) {
                return Err(format!("reading {number} found {other}, not {value}"));
            }
        }
        let driver = runtime().unwrap().driver();
        driver.host_free(self.sink).map_err(text)?;
        let info = sconce_runtime::device::memory_info(0).map_err(text)?;
        if info.free_bytes != self.stage.total_bytes {
            return Err(format!("{} of {} bytes are back", info.free_bytes, info.total_bytes));
        }
        self.journal.fell_back = self.fell_back;
        Ok(self.journal)
    }
}
