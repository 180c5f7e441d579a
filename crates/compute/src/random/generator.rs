//! A generator, and the beginning and the end of its handle.
//!
//! Reserving takes the generator's lock for a few instructions. Seed and offset are on the host, except while a graph
//! draws an amount that only the device knows (`draw`).

use std::sync::Arc;

use sconce_base::collections::handle_kind::HandleKind;
use sconce_base::collections::slab::{Key, Slab};
use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{Mutex, rank};
use sconce_base::types::{CPU, DeviceIndex, DevicePtr};
use sconce_driver::{StreamHandle, StreamRef};
use sconce_runtime::context::runtime;
use sconce_runtime::device;

use super::cpu_generator::CpuGenerator;
use super::device::{DeviceRecord, DeviceWork, new_place};

/// The seed of a new generator, as in torch.
const FIRST_SEED: u64 = 67_280_421_310_721;

static GENERATORS: Slab<GeneratorCell> = Slab::new(HandleKind::Generator);

/// The memory of a generator. Cleared when the generator is destroyed, and then used for another.
#[derive(Default)]
struct GeneratorCell {
    generator: Mutex<rank::Generator, Option<Generator>>,
}

/// A generator of a device, or one of the CPU.
pub(super) enum Generator {
    Device(GeneratorState),
    Cpu(Box<CpuGenerator>),
}

pub(super) struct GeneratorState {
    pub(super) device: DeviceIndex,
    is_default: bool,
    pub(super) seed: u64,
    /// The offset, if the state is on the host.
    pub(super) offset: u64,
    pub(super) at: StateAt,
    /// The slots of fills outside of captures that take from a record, by stream.
    slots: Vec<(StreamHandle, DevicePtr)>,
    /// Where graphs find the state once the generator is destroyed; `None` if no graph draws from it.
    heirs: Option<Arc<Heritage>>,
}

/// The state of a generator whose handle has ended.
type Heritage = Mutex<rank::Generator, Option<GeneratorState>>;

/// Where the offset of a generator is. The seed is on the host, too.
pub(super) enum StateAt {
    /// On the host.
    Host,
    /// In the record of a graph, until its launches are done.
    Launch(Arc<DeviceRecord>),
    /// In a record on the device, for ever: a graph of other code takes from it.
    Device(&'static DeviceRecord),
}

impl StateAt {
    /// The record on the device, if the offset is in one.
    pub(super) fn record(&self) -> Option<&DeviceRecord> {
        match self {
            StateAt::Host => None,
            StateAt::Launch(record) => Some(record),
            StateAt::Device(record) => Some(record),
        }
    }
}

/// The piece of the sequence that a launch draws from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Draw {
    /// These numbers.
    Host {
        /// The seed.
        seed: u64,
        /// Where the piece begins.
        offset: u64,
    },
    /// The contents of device memory when the launch runs: seed, then offset, to which a number is added.
    Device {
        /// The address.
        state: DevicePtr,
        /// What is added to the offset.
        ahead: u64,
    },
}

impl Draw {
    /// The seed, the offset and the address for a kernel of this library.
    pub(super) fn numbers(self) -> (u64, u64, DevicePtr) {
        match self {
            Draw::Host { seed, offset } => (seed, offset, DevicePtr(0)),
            Draw::Device { state, ahead } => (0, ahead, state),
        }
    }
}

#[cold]
fn dead(key: Key) -> Error {
    let otherwise = "is not alive: never created, or destroyed";
    Error::invalid_handle(HandleKind::Generator.refusal(key.bits(), "generator", otherwise))
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
    let cell = GENERATORS.get(key).ok_or_else(|| dead(key))?;
    let mut generator = cell.generator.lock();
    // Between the look-up and the lock the generator may have been destroyed, and its memory used again.
    if !cell.still() {
        return Err(dead(key));
    }
    action(generator.as_mut().ok_or_else(|| dead(key))?)
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
pub(super) fn if_of_cpu<R>(
    key: Key,
    action: impl FnOnce(&mut CpuGenerator) -> R,
) -> Result<Option<R>> {
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
    let (at, slots, heirs) = (StateAt::Host, Vec::new(), None);
    insert(Generator::Device(GeneratorState { device, is_default, seed, offset, at, slots, heirs }))
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

/// Makes a generator with a state of another one.
pub(super) fn create_like(device: DeviceIndex, seed: u64, offset: u64) -> Result<Key> {
    insert_of(device, false, seed, offset)
}

/// Makes a generator of the CPU that is like another one.
pub(super) fn create_like_cpu(cpu: CpuGenerator) -> Result<Key> {
    insert(Generator::Cpu(Box::new(CpuGenerator { is_default: false, ..cpu })))
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
    bequeath(key)?;
    let alive = GENERATORS.remove(key, |cell| *cell.generator.lock() = None);
    if alive { Ok(()) } else { Err(dead(key)) }
}

/// The place of a generator's lock among those that a launch takes, which its heritage's follows.
fn place_in_order(key: Key) -> usize {
    (key.bits() as usize) << 1
}

/// Takes a generator out of its cell, and leaves its state to the graphs that draw from it.
fn bequeath(key: Key) -> Result<()> {
    let cell = GENERATORS.get(key).ok_or_else(|| dead(key))?;
    let mut generator = cell.generator.lock_in_order(place_in_order(key));
    if !cell.still() {
        return Err(dead(key));
    }
    if let Some(Generator::Device(mut state)) = generator.take()
        && let Some(heirs) = state.heirs.take()
    {
        *heirs.lock_in_order(place_in_order(key) + 1) = Some(state);
    }
    Ok(())
}

/// A generator that graphs draw from, also when its handle has ended.
pub(super) struct SharedGenerator {
    key: Key,
    heritage: Arc<Heritage>,
}

impl SharedGenerator {
    /// A live generator of a device, for a graph.
    pub(super) fn of(key: Key) -> Result<SharedGenerator> {
        with_state(key, |state| {
            let heritage = Arc::clone(state.heirs.get_or_insert_default());
            Ok(SharedGenerator { key, heritage })
        })
    }

    /// The handle of the generator, which may have ended.
    pub(super) fn key(&self) -> Key {
        self.key
    }

    /// Runs `action` on the state.
    pub(super) fn with<R>(
        &self,
        action: impl FnOnce(&mut GeneratorState) -> Result<R>,
    ) -> Result<R> {
        let mut action = Some(action);
        let mut run =
            |state: &mut GeneratorState| action.take().ok_or_else(|| dead(self.key))?(state);
        // The heritage is there before the handle ends.
        if let Some(cell) = GENERATORS.get(self.key) {
            let mut generator = cell.generator.lock_in_order(place_in_order(self.key));
            if cell.still()
                && let Some(Generator::Device(state)) = generator.as_mut()
            {
                return run(state);
            }
        }
        let mut heritage = self.heritage.lock_in_order(place_in_order(self.key) + 1);
        heritage.as_mut().map_or_else(|| Err(dead(self.key)), run)
    }
}

impl GeneratorState {
    /// The slot of fills that run on a stream outside of captures.
    pub(super) fn slot(&mut self, work: &dyn DeviceWork, stream: StreamRef) -> Result<DevicePtr> {
        if let Some((_, slot)) = self.slots.iter().find(|(handle, _)| *handle == stream.handle) {
            return Ok(*slot);
        }
        let slot = new_place(work, self.device)?;
        self.slots.push((stream.handle, slot));
        Ok(slot)
    }
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
