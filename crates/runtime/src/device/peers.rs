//! Which device can use the memory of which other: queried once for each ordered pair, and kept.

use std::sync::atomic::{AtomicU8, Ordering};

use sconce_base::collections::per_device::{PerDevice, per_device};
use sconce_base::error::{Cause, Error, Result};
use sconce_base::lock::{RwLock, rank};
use sconce_base::types::DeviceIndex;
use sconce_driver::RelaxedCapture;

use super::index::resolve;
use crate::context::{Runtime, runtime};

// The value of a pair only grows, so that threads may change it concurrently.
const UNKNOWN: u8 = 0;
const NOT_POSSIBLE: u8 = 1;
const POSSIBLE: u8 = 2;
const ENABLED: u8 = 3;

static PAIRS: PerDevice<PerDevice<AtomicU8>> = per_device!(per_device!(AtomicU8::new(UNKNOWN)));

fn pair(device: DeviceIndex, peer: DeviceIndex) -> &'static AtomicU8 {
    &PAIRS[device][peer]
}

/// Whether kernels of a device could use a peer's memory. A device is not its own peer.
pub fn can_access_peer(index: i32, peer: i32) -> Result<bool> {
    let runtime = runtime()?;
    let (device, peer) = (resolve(runtime, index)?, resolve(runtime, peer)?);
    if device == peer { Ok(false) } else { is_possible(runtime, device, peer) }
}

/// Enables kernels of a device to use a peer's memory.
pub fn enable_peer_access(index: i32, peer: i32) -> Result<()> {
    let runtime = runtime()?;
    let (device, peer) = (resolve(runtime, index)?, resolve(runtime, peer)?);
    if device == peer {
        return Err(Error::invalid_argument(format!(
            "peer is {peer}, the device itself, whose memory it can always use"
        )));
    }
    if is_enabled(device, peer) {
        return Ok(());
    }
    if !is_possible(runtime, device, peer)? {
        return Err(Error::not_supported(format!(
            "device {device} cannot access the memory of device {peer} directly; copies between \
             them still work"
        )));
    }
    enable(runtime, device, peer)
}

/// Enables kernels of a device to use a peer's memory if the hardware can. Returns whether they may.
pub fn enable_if_possible(
    runtime: &Runtime,
    device: DeviceIndex,
    peer: DeviceIndex,
) -> Result<bool> {
    if is_enabled(device, peer) {
        return Ok(true);
    }
    if !is_possible(runtime, device, peer)? {
        return Ok(false);
    }
    match enable(runtime, device, peer) {
        Ok(()) => Ok(true),
        // Copies work without peer access.
        Err(error) if error.cause() == Some(Cause::TooManyPeers) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether this library has enabled kernels of a device to use a peer's memory.
pub(crate) fn is_enabled(device: DeviceIndex, peer: DeviceIndex) -> bool {
    pair(device, peer).load(Ordering::Acquire) == ENABLED
}

/// Discards what is known of a pair: a simulated device has changed.
pub fn forget(device: DeviceIndex, peer: DeviceIndex) {
    pair(device, peer).store(UNKNOWN, Ordering::Release);
}

/// Whether the hardware lets kernels of a device use a peer's memory.
pub(crate) fn is_possible(
    runtime: &Runtime,
    device: DeviceIndex,
    peer: DeviceIndex,
) -> Result<bool> {
    let pair = pair(device, peer);
    match pair.load(Ordering::Acquire) {
        UNKNOWN => {
            let possible = runtime.driver().can_access_peer(device, peer)?;
            let known = if possible { POSSIBLE } else { NOT_POSSIBLE };
            pair.fetch_max(known, Ordering::AcqRel);
            Ok(possible)
        }
        known => Ok(known != NOT_POSSIBLE),
    }
}

/// What follows when a device has got access to the memory of a peer.
pub(crate) type OnEnabled = fn(&Runtime, user: DeviceIndex, owner: DeviceIndex) -> Result<()>;

static ON_ENABLED: RwLock<rank::PeersEnabled, Vec<OnEnabled>> = RwLock::new(Vec::new());

/// Adds a function that is called for each pair that is enabled from now on, once; the caller sees to the pairs
/// that are. It is called after [`is_enabled`] holds. If it fails, the pair is not enabled.
pub(crate) fn on_enabled(follow: OnEnabled) {
    ON_ENABLED.write().push(follow);
}

fn enable(runtime: &Runtime, device: DeviceIndex, peer: DeviceIndex) -> Result<()> {
    // The driver may create a context, and the first copy of a pair may be a captured one.
    let _relaxed = RelaxedCapture::enter(runtime.driver())?;
    runtime.driver().enable_peer_access(device, peer)?;
    pair(device, peer).fetch_max(ENABLED, Ordering::AcqRel);
    let follow = ON_ENABLED.read().clone();
    let followed = follow.iter().try_for_each(|follow| follow(runtime, device, peer));
    if followed.is_err() {
        pair(device, peer).store(POSSIBLE, Ordering::Release);
    }
    followed
}
