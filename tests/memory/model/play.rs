//! One script played twice, on the allocator and on the oracle; after every step all figures, all
//! places and all blocks are compared.

use std::collections::BTreeMap;

use sconce_base::error::Status;
use sconce_runtime::device;
use sconce_runtime::memory::size_class::PoolKind;
use sconce_runtime::memory::snapshot::BlockState;
use sconce_runtime::memory::{
    self,
    pool::{self, Key},
};
use sconce_runtime::stream::{self, Stream};

use super::oracle::{Answer, Fault, Kind, Oracle, Rules, STREAMS, State};
use super::script::{POOLS, Script, Step};
use testkit::memory::figures::{differences, flat};
use testkit::memory::structure;
use testkit::stepper::Stepper;

/// The streams, and the thread that lets waiting calls go on.
pub struct Stage {
    pub streams: [Stream; STREAMS],
    pub stepper: Stepper,
    pub total_bytes: usize,
}

impl Stage {
    /// Starts the simulator, in manual mode.
    pub fn new() -> Stage {
        let streams = [
            stream::default(0).unwrap(),
            stream::from_pool(0, 0).unwrap(),
            stream::from_pool(0, 0).unwrap(),
        ];
        sconce::sim_controls::set_manual(true).unwrap();
        let total_bytes = device::memory_info(0).unwrap().total_bytes;
        Stage { streams, stepper: Stepper::start(), total_bytes }
    }
}

/// A script being played.
struct Play<'a> {
    stage: &'a Stage,
    oracle: Oracle,
    /// Addresses and the oracle's blocks.
    held: Vec<(usize, usize)>,
    /// Where the oracle's segments are.
    bases: BTreeMap<usize, usize>,
    pools: [Key; POOLS],
    /// The numbers by which the oracle knows them.
    pool_numbers: [usize; POOLS],
    next_pool: usize,
    /// Places of the pools begun and not ended.
    begun: Vec<usize>,
    /// The configuration has changed: what counts as oversize is not one thing any more.
    reconfigured: bool,
}

/// Plays a script; `Err` says what differed and after which step.
pub fn play(script: &Script) -> Result<(), String> {
    let stage = &Stage::new();
    memory::configure(script.text).unwrap();
    memory::set_fraction(f64::from(script.percent) / 100.0, 0).unwrap();
    let mut oracle = Oracle::new(Rules::read(script.text), stage.total_bytes);
    oracle.set_fraction(f64::from(script.percent) / 100.0, stage.total_bytes);
    let mut play = Play {
        stage,
        oracle,
        held: Vec::new(),
        bases: BTreeMap::new(),
        pools: [(); POOLS].map(|()| pool::create().unwrap()),
        pool_numbers: std::array::from_fn(|place| place + 1),
        next_pool: POOLS + 1,
        begun: Vec::new(),
        reconfigured: false,
    };
    play.compare().map_err(|wrong| format!("at the start: {wrong}"))?;
    for (number, step) in script.steps.iter().enumerate() {
        play.step(step)
            .and_then(|()| play.compare())
            .map_err(|wrong| format!("step {number}, {step:?}: {wrong}"))?;
    }
    play.finish()
}

impl Play<'_> {
    fn step(&mut self, step: &Step) -> Result<(), String> {
        let stage = self.stage;
        match *step {
            Step::Alloc { bytes, stream, elsewhere } => self.alloc(bytes, stream, elsewhere)?,
            Step::Free { pick, elsewhere } => {
                if let Some(place) = pick.checked_rem(self.held.len()) {
                    let (address, id) = self.held.swap_remove(place);
                    self.oracle.free(id);
                    on_thread(elsewhere, || memory::free(address))
                        .map_err(|error| error.to_string())?;
                }
            }
            Step::RecordStream { pick, stream } => {
                if let Some(place) = pick.checked_rem(self.held.len()) {
                    let (address, id) = self.held[place];
                    self.oracle.record_stream(id, stream);
                    memory::record_stream(address, stage.streams[stream])
                        .map_err(|error| error.to_string())?;
                }
            }
            Step::Complete { stream } => self.complete(stream)?,
            Step::CompleteAll => {
                self.oracle.finish_all_work();
                sconce::sim_controls::run_until_idle().unwrap();
            }
            Step::EmptyCache => {
                self.oracle.empty_cache();
                self.waiting(memory::empty_cache).map_err(|error| error.to_string())?;
            }
            Step::ResetPeaks => {
                self.oracle.reset_peaks();
                memory::reset_peak_stats(0).unwrap();
            }
            Step::ResetAccumulated => {
                self.oracle.reset_accumulated();
                memory::reset_accumulated_stats(0).unwrap();
            }
            Step::BeginPool { pool } => {
                if !self.begun.contains(&pool) {
                    self.begun.push(pool);
                    pool::begin(self.pools[pool], 0).map_err(|error| error.to_string())?;
                }
            }
            Step::EndPool => {
                if let Some(pool) = self.begun.pop() {
                    pool::end(self.pools[pool], 0).map_err(|error| error.to_string())?;
                }
            }
            Step::TrimPool { pool } => {
                let theirs = self.oracle.trim_pool(self.pool_numbers[pool]);
                let ours = self
                    .waiting(|| pool::trim(self.pools[pool]))
                    .map_err(|error| error.to_string())?;
                if ours != theirs {
                    return Err(format!("gave {ours} bytes back, not {theirs}"));
                }
            }
            Step::ReplacePool { pool } => {
                if !self.begun.contains(&pool) {
                    self.oracle.destroy_pool(self.pool_numbers[pool]);
                    self.waiting(|| pool::destroy(self.pools[pool]))
                        .map_err(|error| error.to_string())?;
                    self.pools[pool] = pool::create().unwrap();
                    self.pool_numbers[pool] = self.next_pool;
                    self.next_pool += 1;
                }
            }
            Step::SetFraction { percent } => {
                let fraction = f64::from(percent) / 100.0;
                self.oracle.set_fraction(fraction, stage.total_bytes);
                memory::set_fraction(fraction, 0).unwrap();
            }
            Step::Fault { nth, out_of_memory } => {
                sconce::sim_controls::clear_faults().unwrap();
                let code = if out_of_memory { 2 } else { 999 };
                sconce::sim_controls::fail_call("memory_alloc", nth as u64, code).unwrap();
                self.oracle.fault = Some(Fault { nth, out_of_memory });
            }
            Step::Configure { text } => {
                self.reconfigured = true;
                memory::configure(text).unwrap();
                self.oracle.configure(Rules::read(text));
            }
            // Changes the way that calls take, and no figure.
            Step::RecordHistory { enabled } => memory::record_history(enabled, 10).unwrap(),
        }
        Ok(())
    }

    fn alloc(&mut self, bytes: usize, stream: usize, elsewhere: bool) -> Result<(), String> {
        let begun = self.begun.last().filter(|_| !elsewhere);
        let pool = begun.map_or(0, |place| self.pool_numbers[*place]);
        let answer = self.oracle.alloc(bytes, stream, pool);
        let on = self.stage.streams[stream];
        let ours = self.waiting(|| on_thread(elsewhere, || memory::alloc_on(bytes, on)));
        match (answer, ours) {
            (Answer::Nothing, Ok(0)) => Ok(()),
            (Answer::Block { id, segment, offset, bytes: rounded }, Ok(address)) => {
                let base = *self.bases.entry(segment).or_insert_with(|| {
                    let base = address.wrapping_sub(offset);
                    self.oracle.place(segment, base);
                    base
                });
                if base.wrapping_add(offset) != address {
                    return Err(format!("{address:#x} instead of {offset} into {base:#x}"));
                }
                self.held.push((address, id));
                match memory::usable_bytes(address) {
                    Ok(usable) if usable == rounded => Ok(()),
                    other => Err(format!("{other:?} of {rounded} bytes are usable")),
                }
            }
            (Answer::OutOfMemory, Err(error)) if error.status() == Status::OutOfMemory => Ok(()),
            (Answer::DriverFailed, Err(error)) if error.status() == Status::Driver => Ok(()),
            (theirs, ours) => Err(format!("{ours:x?} instead of {theirs:?}")),
        }
    }

    /// Makes a call that may wait for what is pending.
    fn waiting<T>(&self, call: impl FnOnce() -> T) -> T {
        let runtime = sconce_runtime::context::runtime().unwrap();
        let pending = |on: &Stream| sconce::sim_controls::pending(runtime, *on).unwrap() > 0;
        self.stage.stepper.during(self.stage.streams.iter().any(pending), call)
    }

    fn complete(&mut self, stream: usize) -> Result<(), String> {
        let runtime = sconce_runtime::context::runtime().unwrap();
        let on = self.stage.streams[stream];
        let pending = sconce::sim_controls::pending(runtime, on).unwrap();
        if pending != self.oracle.pending_work(stream) {
            let expected = self.oracle.pending_work(stream);
            return Err(format!("{pending} events are pending, not {expected}"));
        }
        if pending > 0 {
            self.oracle.finish_one(stream);
            assert!(sconce::sim_controls::step(runtime, on).unwrap());
        }
        Ok(())
    }

    fn compare(&mut self) -> Result<(), String> {
        let stats = memory::stats(0).map_err(|error| error.to_string())?;
        let mut wrong = differences(&flat(&stats), &flat(&self.oracle.stats));
        wrong.retain(|(name, ..)| !(self.reconfigured && name.starts_with("oversize")));
        if !wrong.is_empty() {
            return Err(format!("(figure, ours, the oracle's) {wrong:?}"));
        }
        let snapshot = memory::snapshot().map_err(|error| error.to_string())?;
        let mut wrong = structure::faults(&snapshot);
        wrong.extend(structure::compare(&snapshot, &stats, 0));
        wrong.extend(memory::check::walk().err());
        if !wrong.is_empty() {
            return Err(wrong.join("; "));
        }
        let mut ours = Vec::new();
        for segment in &snapshot.segments {
            for block in &snapshot.blocks[segment.blocks.clone()] {
                ours.push(Seen {
                    address: block.address as usize,
                    bytes: block.bytes as usize,
                    requested: block.requested_bytes as usize,
                    state: block.state,
                    stream: segment.stream as usize,
                    pool: segment.pool,
                });
            }
        }
        let mut theirs: Vec<Seen> = self.oracle.blocks().map(|block| self.seen(block)).collect();
        theirs.sort_by_key(|seen| seen.address);
        match ours.iter().zip(&theirs).find(|(ours, theirs)| ours != theirs) {
            Some((ours, theirs)) => Err(format!("{ours:x?} instead of {theirs:x?}")),
            None if ours.len() != theirs.len() => {
                Err(format!("{} blocks, not {}", ours.len(), theirs.len()))
            }
            None => Ok(()),
        }
    }

    fn seen(&self, block: &super::oracle::Block) -> Seen {
        Seen {
            address: self.bases.get(&block.segment).copied().unwrap_or(0) + block.offset,
            bytes: block.bytes,
            requested: block.requested,
            state: match block.state {
                State::Held => BlockState::Allocated,
                State::Pending(_) => BlockState::PendingFree,
                State::Free | State::Gone => BlockState::Inactive,
            },
            stream: self.stage.streams[block.stream].driver_ref().handle.native(),
            pool: match block.kind {
                Kind::Small => PoolKind::Small,
                Kind::Large => PoolKind::Large,
            },
        }
    }

    /// Frees everything: the device has all of its memory back.
    fn finish(mut self) -> Result<(), String> {
        let text = |error: sconce_base::error::Error| error.to_string();
        sconce::sim_controls::clear_faults().unwrap();
        self.oracle.fault = None;
        while let Some(pool) = self.begun.pop() {
            pool::end(self.pools[pool], 0).map_err(text)?;
        }
        for (address, _) in std::mem::take(&mut self.held) {
            memory::free(address).map_err(text)?;
        }
        sconce::sim_controls::run_until_idle().unwrap();
        for pool in self.pools {
            pool::destroy(pool).map_err(text)?;
        }
        memory::empty_cache().map_err(text)?;
        let info = device::memory_info(0).map_err(text)?;
        if info.free_bytes != self.stage.total_bytes {
            return Err(format!("{} of {} bytes are back", info.free_bytes, info.total_bytes));
        }
        Ok(())
    }
}

/// Calls here, or on a thread of its own.
pub fn on_thread<T: Send>(elsewhere: bool, call: impl FnOnce() -> T + Send) -> T {
    if !elsewhere {
        return call();
    }
    std::thread::scope(|scope| scope.spawn(call).join().unwrap())
}

/// A block as both sides see it.
#[derive(Debug, PartialEq)]
struct Seen {
    address: usize,
    bytes: usize,
    requested: usize,
    state: BlockState,
    stream: usize,
    pool: PoolKind,
}
