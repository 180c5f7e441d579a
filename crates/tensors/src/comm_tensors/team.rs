//! Communicators for large tensors on three or more devices, where copies from one device would go one after another.

use std::sync::Arc;

use sconce_base::error::Result;
use sconce_base::lock::{Mutex, rank};
use sconce_base::log;
use sconce_base::types::DeviceIndex;
use sconce_compute::collectives::{self, CommConfig, CommRequest, Key};
use sconce_runtime::context::runtime;
use sconce_runtime::stream;

use super::lanes::LEAST_BYTES;
use crate::tensor::{Place, Tensor};

/// The fewest devices. Between two a copy has the links' bandwidth, which no collective call exceeds.
const LEAST_DEVICES: usize = 3;

/// The ranks of a communicator, on devices in the order of the list.
pub(super) struct Team {
    devices: Vec<DeviceIndex>,
    ranks: Vec<Key>,
}

/// The communicators that exist, for each list of devices; they stay until the process ends, as PyTorch's do.
static TEAMS: Mutex<rank::Team, Vec<Arc<Team>>> = Mutex::new(Vec::new());

impl Team {
    /// The communicator for tensors of these places; `None` where copies are better or the only way: few devices, a
    /// device that is named twice, the CPU, small or strided tensors, a capture, a group of the thread, no NCCL.
    pub(super) fn of(tensors: &[&Tensor]) -> Result<Option<Arc<Team>>> {
        let Some(devices) = suitable(tensors)? else { return Ok(None) };
        if let Some(team) = known(&devices) {
            return Ok(Some(team));
        }
        if !collectives::is_available(&devices) {
            return Ok(None);
        }
        // Making a communicator takes long, so no lock is held meanwhile.
        let made =
            Team { ranks: collectives::init_all(&devices, &CommConfig::default())?, devices };
        let mut teams = TEAMS.lock();
        if let Some(first) = teams.iter().find(|team| team.devices == made.devices).cloned() {
            drop(teams);
            made.end();
            return Ok(Some(first));
        }
        let made = Arc::new(made);
        teams.push(Arc::clone(&made));
        Ok(Some(made))
    }

    /// Queues a call of each rank on the current stream of its device. After a failure, which may have left some ranks
    /// waiting for others, the communicator is ended and not used again.
    pub(super) fn call<'a>(&self, request: impl Fn(usize) -> CommRequest<'a>) -> Result<()> {
        let runtime = runtime()?;
        let done = collectives::group(|| {
            for (rank, (key, device)) in self.ranks.iter().zip(&self.devices).enumerate() {
                let stream = stream::current_on(runtime, *device)?;
                collectives::queue(*key, &request(rank), stream)?;
            }
            Ok(())
        });
        if done.is_err() {
            TEAMS.lock().retain(|team| team.devices != self.devices);
            self.end();
        }
        done
    }

    fn end(&self) {
        for rank in &self.ranks {
            let ended = collectives::abort(*rank).and_then(|()| collectives::destroy(*rank));
            if let Err(why) = ended {
                log::warn(format_args!("a communicator of tensors could not be ended: {why}"));
            }
        }
    }
}

fn known(devices: &[DeviceIndex]) -> Option<Arc<Team>> {
    TEAMS.lock().iter().find(|team| team.devices == devices).cloned()
}

/// The devices of the tensors, if a communicator suits them.
fn suitable(tensors: &[&Tensor]) -> Result<Option<Vec<DeviceIndex>>> {
    if tensors.len() < LEAST_DEVICES || collectives::is_in_group() {
        return Ok(None);
    }
    let mut devices: Vec<DeviceIndex> = Vec::with_capacity(tensors.len());
    for tensor in tensors {
        let bytes = tensor.packed_bytes();
        match tensor.place() {
            Place::Device(device)
                if !devices.contains(&device) && tensor.is_contiguous() && bytes >= LEAST_BYTES =>
            {
                devices.push(device);
            }
            _ => return Ok(None),
        }
    }
    let runtime = runtime()?;
    for device in &devices {
        if stream::is_capturing(runtime, stream::current_on(runtime, *device)?)? {
            return Ok(None);
        }
    }
    Ok(Some(devices))
}
