//! The seed, the offset and the state of a generator, read and set.

use std::sync::Arc;

use sconce_base::collections::slab::Key;
use sconce_base::error::{Error, Result};
use sconce_base::types::DeviceIndex;
use sconce_driver::StreamHandle;
use sconce_math::mersenne::Sequence;
use sconce_runtime::context::{self, runtime};
use sconce_runtime::stream;

use super::device::{DeviceRecord, DeviceWork, ProcessDevices};
use super::entropy;
use super::generator::{
    GeneratorState, StateAt, create_like, create_like_cpu, device_of, if_of_cpu, with_state,
};

/// Bytes of a state: seed, then offset, little-endian.
pub(super) const STATE_BYTES: usize = 16;
/// Bytes of a state that is only the seed.
const SEED_BYTES: usize = 8;

/// Refuses a call whose thread captures its current stream of the device: what is captured there draws when the graph
/// is launched, and not from the state that the call is about. Captures of other threads are none of its business.
pub(super) fn refuse_in_capture(device: DeviceIndex) -> Result<()> {
    let Some(runtime) = context::opened() else { return Ok(()) };
    let is_captured = stream::current_on(runtime, device).is_ok_and(|stream| {
        let stream = stream.driver_ref();
        stream.handle != StreamHandle::DEFAULT
            && runtime.driver().stream_is_capturing(stream).unwrap_or(false)
    });
    if is_captured { Err(in_capture()) } else { Ok(()) }
}

#[cold]
fn in_capture() -> Error {
    Error::invalid_state(
        "the state of a generator cannot be read or set while the current stream is being captured; do it before or \
         after, and reserve for kernels of your own with sconce_generator_reserve_philox_state",
    )
}

/// Where a generator's offset is.
enum OffsetAt {
    Host(u64, u64),
    /// In the record of launches, with the seed.
    Launch(u64, Arc<DeviceRecord>),
    Device(&'static DeviceRecord),
}

impl OffsetAt {
    fn of(state: &GeneratorState) -> OffsetAt {
        match &state.at {
            StateAt::Host => OffsetAt::Host(state.seed, state.offset),
            StateAt::Launch(record) => OffsetAt::Launch(state.seed, Arc::clone(record)),
            StateAt::Device(record) => OffsetAt::Device(record),
        }
    }
}

/// Seed and offset after all calls so far. Waits only for launches of graphs that draw in conditional bodies, and for
/// fills behind them; and where other code has captured a draw.
fn seed_and_offset(key: Key) -> Result<(u64, u64)> {
    refuse_in_capture(device_of(key)?)?;
    if let OffsetAt::Host(seed, offset) = with_state(key, |state| Ok(OffsetAt::of(state)))? {
        return Ok((seed, offset));
    }
    let work = ProcessDevices(runtime()?);
    let found = with_state(key, |state| {
        state.return_to_host_if_done(&work)?;
        Ok(OffsetAt::of(state))
    })?;
    // The lock is not held during a wait.
    match found {
        OffsetAt::Host(seed, offset) => Ok((seed, offset)),
        OffsetAt::Launch(seed, record) => {
            record.wait(&work)?;
            let (_, offset) = record.told(&work).unwrap_or_default();
            Ok((seed, offset))
        }
        OffsetAt::Device(record) => record.read(&work),
    }
}

/// Makes a generator with another's device and state.
pub fn clone(key: Key) -> Result<Key> {
    if let Some(cpu) = if_of_cpu(key, |cpu| cpu.clone())? {
        return create_like_cpu(cpu);
    }
    let (seed, offset) = seed_and_offset(key)?;
    create_like(device_of(key)?, seed, offset)
}

/// A state that is set on the host, and that the device has to be told.
#[must_use]
pub(super) struct Untold(Option<(&'static DeviceRecord, u64, u64)>);

impl Untold {
    /// Writes it to the device.
    pub(super) fn tell(self) -> Result<()> {
        if self.0.is_none() { Ok(()) } else { self.tell_on(&ProcessDevices(runtime()?)) }
    }

    pub(super) fn tell_on(self, work: &dyn DeviceWork) -> Result<()> {
        let Some((record, seed, offset)) = self.0 else { return Ok(()) };
        record.write(work, seed, offset)
    }
}

/// Sets offset and, unless it stays, the seed. Cannot fail for a live generator of a device.
pub(super) fn set_numbers(key: Key, seed: Option<u64>, offset: u64) -> Result<Untold> {
    with_state(key, |state| {
        state.seed = seed.unwrap_or(state.seed);
        state.offset = offset;
        Ok(Untold(match &state.at {
            StateAt::Device(record) => Some((record, state.seed, offset)),
            // Launches that are queued keep what they have.
            StateAt::Host | StateAt::Launch(_) => {
                state.at = StateAt::Host;
                None
            }
        }))
    })
}

fn change(key: Key, seed: Option<u64>, offset: u64) -> Result<()> {
    refuse_in_capture(device_of(key)?)?;
    set_numbers(key, seed, offset)?.tell()
}

/// Sets the seed, and begins its sequence.
pub fn set_seed(key: Key, seed: u64) -> Result<()> {
    if set_cpu_seed(key, seed)? { Ok(()) } else { change(key, Some(seed), 0) }
}

/// Sets the seed of a generator of the CPU; `false` if it is of a device.
pub(super) fn set_cpu_seed(key: Key, seed: u64) -> Result<bool> {
    if_of_cpu(key, |cpu| cpu.sequence = Sequence::new(seed)).map(|set| set.is_some())
}

/// Sets a seed from the operating system. Returns the seed.
pub fn seed_from_entropy(key: Key) -> Result<u64> {
    let seed = entropy::seed()?;
    set_seed(key, seed)?;
    Ok(seed)
}

/// The seed. It is always on the host.
pub fn initial_seed(key: Key) -> Result<u64> {
    if let Some(seed) = if_of_cpu(key, |cpu| cpu.sequence.seed())? {
        return Ok(seed);
    }
    with_state(key, |state| Ok(state.seed))
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
    change(key, None, offset)
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
    change(key, Some(seed), offset)
}
