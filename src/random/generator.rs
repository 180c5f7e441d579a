//! The state of a generator, and the functions of its handle.
//!
//! Reserving takes the generator's lock for a few instructions. Once a generator was captured into a graph, its
//! seed and offset are on the device (`capture`), and reading them waits for the device.

use crate::lock::Mutex;

use super::capture::{self, Record};
use super::cpu_generator::CpuGenerator;
use super::device_work::{DeviceWork, ProcessDevices};
use super::entropy;
use crate::collections::slab::{Key, Slab};
use crate::context::{Runtime, runtime};
use crate::device;
use crate::driver::{StreamHandle, StreamRef};
use crate::error::{Error, Result, Status};
use crate::mersenne::Sequence;
use crate::stream::Stream;
use crate::thread_state;
use crate::types::{CPU, DeviceIndex, DevicePtr};

/// The seed of a new generator, as in torch.
const FIRST_SEED: u64 = 67_280_421_310_721;
/// Bytes of a state: seed, then offset, little-endian.
pub(super) const STATE_BYTES: usize = 16;
/// Bytes of a state that is only the seed.
const SEED_BYTES: usize = 8;

static GENERATORS: Slab<GeneratorCell> = Slab::new();

/// The memory of a generator. Cleared when the generator is destroyed, and then used for another.
#[derive(Default)]
struct GeneratorCell {
    generator: Mutex<Option<Generator>>,
}

/// A generator of a device, or one of the CPU.
pub(super) enum Generator {
    Device(GeneratorState),
    Cpu(Box<CpuGenerator>),
}

pub(super) struct GeneratorState {
    device: DeviceIndex,
    is_default: bool,
    seed: u64,
    offset: u64,
    /// The record that replaces seed and offset once the generator was captured.
    pub(super) record: Option<Record>,
    /// The slots of fills outside of captures, by stream.
    slots: Vec<(StreamHandle, DevicePtr)>,
}

/// The piece of the sequence that a launch draws from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// These numbers.
    Host {
        /// The seed.
        seed: u64,
        /// Where the piece begins.
        offset: u64,
    },
    /// The contents of device memory at this address when the launch runs: seed, then offset.
    Device(DevicePtr),
}

#[cold]
pub(super) fn dead() -> Error {
    Error::invalid_handle("generator is not alive: never created, or destroyed")
}

#[cold]
fn of_the_cpu() -> Error {
    Error::new(
        Status::CrossDevice,
        "Expected a 'cuda' device type for generator but found 'cpu': this call is for generators of devices",
    )
}

/// Runs `action` on a live generator.
#[inline]
pub(super) fn with_generator<R>(
    key: Key,
    action: impl FnOnce(&mut Generator) -> Result<R>,
) -> Result<R> {
    let cell = GENERATORS.get(key).ok_or_else(dead)?;
    let mut generator = cell.generator.lock();
    // Between the look-up and the lock the generator may have been destroyed, and its memory used again.
    if !cell.still() {
        return Err(dead());
    }
    action(generator.as_mut().ok_or_else(dead)?)
}

/// Runs `action` on the state of a live generator of a device.
#[inline]
pub(super) fn with_state<R>(
    key: Key,
    action: impl FnOnce(&mut GeneratorState) -> Result<R>,
) -> Result<R> {
    with_generator(key, |generator| match generator {
        Generator::Device(state) => action(state),
        Generator::Cpu(_) => Err(of_the_cpu()),
    })
}

/// Runs `action` on a generator if it is one of the CPU.
fn if_of_cpu<R>(key: Key, action: impl FnOnce(&mut CpuGenerator) -> R) -> Result<Option<R>> {
    with_generator(key, |generator| match generator {
        Generator::Device(_) => Ok(None),
        Generator::Cpu(cpu) => Ok(Some(action(cpu))),
    })
}

fn insert(generator: Generator) -> Result<Key> {
    let (key, cell) = GENERATORS
        .insert()
        .ok_or_else(|| Error::new(Status::OutOfMemory, "too many generators are alive"))?;
    *cell.generator.lock() = Some(generator);
    Ok(key)
}

fn insert_of(device: DeviceIndex, is_default: bool, seed: u64, offset: u64) -> Result<Key> {
    let (record, slots) = (None, Vec::new());
    insert(Generator::Device(GeneratorState { device, is_default, seed, offset, record, slots }))
}

/// Makes a generator for a device (-1: the current one) or the CPU. Creates no context.
pub fn create(index: i32) -> Result<Key> {
    if index == CPU {
        return insert(Generator::Cpu(Box::new(CpuGenerator::new(false, FIRST_SEED))));
    }
    insert_of(device::resolve(runtime()?, index)?, false, FIRST_SEED, 0)
}

/// Makes the default generator of a device, or of the CPU, for the registry.
pub(super) fn create_default(device: Option<DeviceIndex>, seed: u64) -> Result<Key> {
    match device {
        Some(device) => insert_of(device, true, seed, 0),
        None => insert(Generator::Cpu(Box::new(CpuGenerator::new(true, seed)))),
    }
}

/// Makes a generator with another's device and state.
pub fn clone(key: Key) -> Result<Key> {
    if let Some(cpu) = if_of_cpu(key, |cpu| cpu.clone())? {
        return insert(Generator::Cpu(Box::new(CpuGenerator { is_default: false, ..cpu })));
    }
    let (seed, offset) = seed_and_offset(key)?;
    insert_of(device_of(key)?, false, seed, offset)
}

/// Destroys a generator that `create` or `clone` made.
pub fn destroy(key: Key) -> Result<()> {
    let default = with_generator(key, |generator| {
        Ok(match generator {
            Generator::Device(state) => {
                state.is_default.then(|| format!("device {}", state.device))
            }
            Generator::Cpu(cpu) => cpu.is_default.then(|| "the CPU".into()),
        })
    })?;
    if let Some(owner) = default {
        return Err(Error::invalid_argument(format!(
            "generator is the default generator of {owner}, which the library owns; only those from \
             sconce_generator_create and _clone are destroyed"
        )));
    }
    let alive = GENERATORS.remove(key, |cell| *cell.generator.lock() = None);
    if alive { Ok(()) } else { Err(dead()) }
}

/// The number that the C API has for the device of a generator.
pub fn device_number(key: Key) -> Result<i32> {
    with_generator(key, |generator| {
        Ok(match generator {
            Generator::Device(state) => state.device.as_i32(),
            Generator::Cpu(_) => CPU,
        })
    })
}

/// The device of a generator.
pub fn device_of(key: Key) -> Result<DeviceIndex> {
    with_state(key, |state| Ok(state.device))
}

/// The record of a captured generator.
#[cfg(test)]
pub(super) fn record_of(key: Key) -> Result<Option<Record>> {
    with_state(key, |state| Ok(state.record))
}

/// The calling thread's stream on a device.
fn current_stream(runtime: &Runtime, device: DeviceIndex) -> Result<StreamRef> {
    let id = thread_state::stream_id(device);
    Ok(Stream::from_parts(runtime, id, device.as_i32())?.driver_ref())
}

/// A device with the calling thread's stream there, which must not be under capture.
pub(super) fn outside_capture(device: DeviceIndex) -> Result<(ProcessDevices, StreamRef)> {
    let runtime = runtime()?;
    let work = ProcessDevices(runtime);
    let stream = current_stream(runtime, device)?;
    refuse_capture(&work, stream)?;
    Ok((work, stream))
}

/// Refuses a call during a capture: the state of a captured generator is not known then.
pub(super) fn refuse_capture(work: &dyn DeviceWork, stream: StreamRef) -> Result<()> {
    if work.is_capturing(stream)? {
        return Err(Error::invalid_state(
            "the state of a generator that graphs use cannot be read or set while the current \
             stream is being captured; do it before or after, and reserve for kernels of your own \
             with sconce_generator_reserve_philox_state",
        ));
    }
    Ok(())
}

/// Where a generator's seed and offset are.
enum Numbers {
    /// On the host: seed and offset.
    Host(u64, u64),
    /// In a record on the device.
    Device(Record, ProcessDevices),
}

fn numbers_of(key: Key) -> Result<Numbers> {
    // The lock is not held during the wait for the device.
    let (numbers, record) = with_state(key, |state| {
        Ok(((state.seed, state.offset), state.record.map(|record| (record, state.device))))
    })?;
    match record {
        None => Ok(Numbers::Host(numbers.0, numbers.1)),
        Some((record, device)) => {
            let (work, _) = outside_capture(device)?;
            Ok(Numbers::Device(record, work))
        }
    }
}

fn seed_and_offset(key: Key) -> Result<(u64, u64)> {
    match numbers_of(key)? {
        Numbers::Host(seed, offset) => Ok((seed, offset)),
        Numbers::Device(record, work) => record.read(&work),
    }
}

/// Replaces seed and offset by the result of `change`.
fn change(key: Key, change: impl Fn(u64, u64) -> (u64, u64)) -> Result<()> {
    let captured = with_state(key, |state| {
        if state.record.is_none() {
            (state.seed, state.offset) = change(state.seed, state.offset);
        }
        Ok(state.record.is_some())
    })?;
    if captured && let Numbers::Device(record, work) = numbers_of(key)? {
        let (seed, offset) = record.read(&work)?;
        let (seed, offset) = change(seed, offset);
        record.write(&work, seed, offset)?;
    }
    Ok(())
}

/// Sets the seed, and begins its sequence.
pub fn set_seed(key: Key, seed: u64) -> Result<()> {
    if if_of_cpu(key, |cpu| cpu.sequence = Sequence::new(seed))?.is_some() {
        return Ok(());
    }
    change(key, |_, _| (seed, 0))
}

/// Sets a seed from the operating system. Returns the seed.
pub fn seed_from_entropy(key: Key) -> Result<u64> {
    let seed = entropy::seed()?;
    set_seed(key, seed)?;
    Ok(seed)
}

/// The seed.
pub fn initial_seed(key: Key) -> Result<u64> {
    if let Some(seed) = if_of_cpu(key, |cpu| cpu.sequence.seed())? {
        return Ok(seed);
    }
    seed_and_offset(key).map(|(seed, _)| seed)
}

/// The offset.
pub fn offset(key: Key) -> Result<u64> {
    seed_and_offset(key).map(|(_, offset)| offset)
}

fn check_offset(offset: u64) -> Result<()> {
    if offset.is_multiple_of(4) {
        return Ok(());
    }
    Err(Error::invalid_argument(format!("offset must be a multiple of 4, not {offset}")))
}

/// Sets the offset.
pub fn set_offset(key: Key, offset: u64) -> Result<()> {
    check_offset(offset)?;
    change(key, |seed, _| (seed, offset))
}

/// The state of a device's generator in torch's form.
pub fn state(key: Key) -> Result<[u8; STATE_BYTES]> {
    let (seed, offset) = seed_and_offset(key)?;
    let mut bytes = [0; STATE_BYTES];
    bytes[..SEED_BYTES].copy_from_slice(&seed.to_le_bytes());
    bytes[SEED_BYTES..].copy_from_slice(&offset.to_le_bytes());
    Ok(bytes)
}

/// Sets a state of 16 bytes, or of 8 that are only the seed; for the CPU of `mersenne::STATE_BYTES`.
pub fn set_state(key: Key, bytes: &[u8]) -> Result<()> {
    if let Some(set) = if_of_cpu(key, |cpu| cpu.set_state(bytes))? {
        return set;
    }
    let number = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes).ok();
    let (seed, offset) = match bytes.len() {
        STATE_BYTES => (number(&bytes[..SEED_BYTES]), number(&bytes[SEED_BYTES..])),
        SEED_BYTES => (number(bytes), Some(0)),
        _ => (None, None),
    };
    let (Some(seed), Some(offset)) = (seed, offset) else {
        return Err(Error::invalid_argument(format!(
            "RNG state is wrong size: {} bytes, not {STATE_BYTES} (or {SEED_BYTES}, the seed only)",
            bytes.len()
        )));
    };
    check_offset(offset)?;
    change(key, |_, _| (seed, offset))
}

impl GeneratorState {
    pub(super) fn reserve(&mut self, increment: u64) -> (u64, u64) {
        let offset = self.offset;
        self.offset = offset.wrapping_add(increment);
        (self.seed, offset)
    }

    /// The slot of fills that run on a stream outside captures.
    fn slot(&mut self, work: &dyn DeviceWork, stream: StreamRef) -> Result<DevicePtr> {
        if let Some((_, slot)) = self.slots.iter().find(|(handle, _)| *handle == stream.handle) {
            return Ok(*slot);
        }
        let slot = capture::new_place(work, self.device)?;
        self.slots.push((stream.handle, slot));
        Ok(slot)
    }
}

/// Reserves a piece of the sequence and calls `launch`, which queues the draw on a stream of the generator's
/// device.
pub(super) fn with_draw(
    key: Key,
    work: &dyn DeviceWork,
    stream: StreamRef,
    increment: u64,
    launch: impl FnOnce(Draw) -> Result<()>,
) -> Result<()> {
    let capturing = work.is_capturing(stream)?;
    if let Err(error) = capture::prepare(work, stream.device) {
        if capturing && work.arena(stream.device).is_empty() {
            return Err(error.context("no device memory for a captured fill"));
        }
        crate::log::debug(format_args!("not ready for graph captures: {}", error.message()));
    }
    let cell = GENERATORS.get(key).ok_or_else(dead)?;
    let mut guard = cell.generator.lock();
    if !cell.still() {
        return Err(dead());
    }
    let Generator::Device(state) = guard.as_mut().ok_or_else(dead)? else {
        return Err(of_the_cpu());
    };
    if capturing && state.record.is_none() {
        state.record = Some(Record::begin(work, state.device, state.seed, state.offset)?);
    }
    let Some(record) = state.record else {
        let (seed, offset) = state.reserve(increment);
        drop(guard);
        return launch(Draw::Host { seed, offset });
    };
    // The lock is held until the launch is queued, because all fills of a stream outside of captures share a
    // slot. A captured fill has a slot of its own, which every replay writes anew.
    let slot = if capturing {
        capture::new_place(work, state.device)?
    } else {
        state.slot(work, stream)?
    };
    record.take(work, increment, slot, stream)?;
    launch(Draw::Device(slot))
}
