//! Communicators by their handles: made, split, finalized, aborted, destroyed.

use std::sync::Arc;

use sconce_base::error::{Error, Result, Status};
use sconce_base::types::DeviceIndex;
use sconce_driver::{CommId, CommMember, RelaxedCapture};
use sconce_runtime::context::{Runtime, runtime};
use sconce_runtime::device;

use super::Key;
use super::comm::Comm;
use super::config::CommConfig;
use super::failure::aborted;
use super::registry::{self, comm, publish};
use super::{exit, group};

/// The version of the library of collective calls.
pub fn version() -> Result<i32> {
    runtime()?.driver().comm_version()
}

/// Whether calls among these devices are possible: the library is there, and no device is named twice.
pub fn is_available(devices: &[DeviceIndex]) -> bool {
    let mut sorted = devices.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.len() == devices.len() && version().is_ok()
}

/// Makes bytes by which the ranks of a communicator find each other.
pub fn unique_id() -> Result<CommId> {
    runtime()?.driver().comm_unique_id()
}

/// The most ranks of a communicator: rank 0 keeps a note of each while it waits for the others.
const MOST_RANKS: i32 = 1 << 16;

/// Refuses a number of ranks that is none, and a rank that is none of them.
pub(super) fn check_rank(ranks: i32, rank: i32) -> Result<()> {
    if !(1..=MOST_RANKS).contains(&ranks) {
        return Err(Error::invalid_argument(format!(
            "ranks is {ranks}; it must be from 1 to {MOST_RANKS}"
        )));
    }
    if !(0..ranks).contains(&rank) {
        return Err(Error::invalid_argument(format!(
            "rank is {rank}; it must be from 0 to {}",
            ranks - 1
        )));
    }
    Ok(())
}

/// Makes a rank of a communicator; all ranks call. `index` is a device, -1 for the current one.
pub fn init_rank(
    id: &CommId,
    ranks: i32,
    rank: i32,
    index: i32,
    config: &CommConfig,
) -> Result<Key> {
    let runtime = runtime()?;
    check_rank(ranks, rank)?;
    let device = device::resolve(runtime, index)?;
    let members = [CommMember { rank: rank as usize, device }];
    let keys = make(runtime, id, ranks as usize, &members, config)?;
    keys.first().copied().ok_or_else(|| Error::new(Status::Internal, "a rank got no handle"))
}

/// Makes all ranks of a communicator: rank i on the i-th device.
pub fn init_all(devices: &[DeviceIndex], config: &CommConfig) -> Result<Vec<Key>> {
    let runtime = runtime()?;
    if devices.is_empty() {
        return Err(Error::invalid_argument("count is 0; a communicator has at least one device"));
    }
    for (rank, device) in devices.iter().enumerate() {
        if let Some(first) = devices[..rank].iter().position(|other| other == device) {
            return Err(Error::invalid_argument(format!(
                "devices[{first}] and devices[{rank}] are both {device}; each rank needs a device of its own"
            )));
        }
    }
    let member = |(rank, device): (usize, &DeviceIndex)| CommMember { rank, device: *device };
    let members: Vec<_> = devices.iter().enumerate().map(member).collect();
    let id = runtime.driver().comm_unique_id()?;
    make(runtime, &id, devices.len(), &members, config)
}

fn make(
    runtime: &'static Runtime,
    id: &CommId,
    ranks: usize,
    members: &[CommMember],
    config: &CommConfig,
) -> Result<Vec<Key>> {
    group::refuse_inside("a communicator cannot be made")?;
    let ends = {
        // It allocates, which no capture has to do with.
        let _relaxed = RelaxedCapture::enter(runtime.driver())?;
        runtime.driver().comm_create(id, ranks, members, &config.options)?
    };
    // Exit handlers run in the reverse order of their registration, and the library is open now: ours runs first.
    exit::notice();
    let comms = members.iter().zip(ends);
    let comms: Vec<_> = comms
        .map(|(member, end)| Arc::new(Comm::new(runtime, member.device, *config, end)))
        .collect();
    Comm::wait_ready(&comms, config.limit, "making a communicator")?;
    for comm in &comms {
        comm.note_place()?;
    }
    publish(comms)
}

/// Splits a communicator by colour; all its ranks call. Without a colour the rank is in no new communicator.
pub fn split(key: Key, color: Option<i32>, order: i32, config: &CommConfig) -> Result<Option<Key>> {
    group::refuse_inside("a communicator cannot be split")?;
    let parent = comm(key)?;
    parent.failure.check()?;
    let end = {
        // As a new communicator.
        let _relaxed = RelaxedCapture::enter(parent.runtime.driver())?;
        parent.lock().open()?.split(color, order, &config.options)?
    };
    let child = end.map(|end| Arc::new(Comm::new(parent.runtime, parent.device, *config, end)));
    let mut comms = vec![parent];
    comms.extend(child.clone());
    Comm::wait_ready(&comms, config.limit, "splitting a communicator")?;
    let Some(child) = child else { return Ok(None) };
    child.note_place()?;
    Ok(publish(vec![child])?.first().copied())
}

/// The rank of a communicator's end.
pub fn rank(key: Key) -> Result<usize> {
    Ok(comm(key)?.place().0)
}

/// How many ranks a communicator has.
pub fn size(key: Key) -> Result<usize> {
    Ok(comm(key)?.place().1)
}

/// The device on which a communicator's end works.
pub fn device(key: Key) -> Result<DeviceIndex> {
    Ok(comm(key)?.device)
}

/// The library's handle; 0 once the communicator has ended.
pub fn native(key: Key) -> Result<usize> {
    let comm = comm(key)?;
    let end = comm.lock();
    Ok(end.endpoint.as_ref().map_or(0, |endpoint| endpoint.native()))
}

/// Fails if the communicator is broken, with the reason.
pub fn async_error(key: Key) -> Result<()> {
    comm(key)?.poll().map(drop)
}

/// Waits for what this rank has queued; the communicator takes no calls afterwards.
pub fn finalize(key: Key) -> Result<()> {
    group::refuse_inside("a communicator cannot be finalized")?;
    comm(key)?.finalize()
}

/// Ends a communicator at once.
pub fn abort(key: Key) -> Result<()> {
    comm(key)?.break_off(&aborted());
    Ok(())
}

/// Destroys a communicator; finalizes it before unless it is broken. While the process ends it is only forgotten.
pub fn destroy(key: Key) -> Result<()> {
    let comm = comm(key)?;
    if exit::is_exiting() {
        std::mem::forget(comm);
        return registry::remove(key);
    }
    let finalized = if comm.poll().is_ok() { comm.finalize() } else { Ok(()) };
    registry::remove(key)?;
    // Works of the communicator may have it still; it ends now all the same.
    let endpoint = comm.lock().endpoint.take();
    drop(endpoint);
    finalized
}
