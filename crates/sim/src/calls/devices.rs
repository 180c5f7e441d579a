//! Devices: their properties, waiting for them, and which of them can be peers.
#![forbid(unsafe_code)]

use std::sync::atomic::Ordering;

use sconce_base::error::Result;
use sconce_base::lock::{about_to_wait, rank};
use sconce_base::types::DeviceIndex;
use sconce_driver::{DeviceProperties, Devices, ProcessUsage};

use super::properties;
use crate::call::Call;
use crate::codes;
use crate::machine::engine::Engine;
use crate::state::{Simulator, State};

impl Devices for Simulator {
    fn device_count(&self) -> i32 {
        self.inner.counters.add(Call::DeviceCount);
        self.inner.config.devices
    }

    fn device_properties(&self, device: DeviceIndex) -> Result<DeviceProperties> {
        self.inner.enter_device(Call::DeviceProperties, device)?;
        let number = self.inner.visible.number_of(device);
        Ok(properties::of(&self.inner.config, number))
    }

    fn device_synchronize(&self, device: DeviceIndex) -> Result<()> {
        self.inner.enter_device(Call::DeviceSynchronize, device)?;
        self.inner.await_device(Call::DeviceSynchronize, device)
    }

    /// This process, if it holds memory of the device.
    fn device_processes(&self, device: DeviceIndex) -> Result<Vec<ProcessUsage>> {
        let inner = &self.inner;
        inner.enter_device(Call::DeviceProcesses, device)?;
        let used = inner.space.read().used(device);
        let own = ProcessUsage { pid: std::process::id(), used_bytes: Some(used) };
        Ok(if used > 0 { vec![own] } else { Vec::new() })
    }

    fn can_access_peer(&self, device: DeviceIndex, peer: DeviceIndex) -> Result<bool> {
        self.inner.enter_device(Call::CanAccessPeer, device)?;
        self.inner.check_device(Call::CanAccessPeer, peer)?;
        Ok(self.inner.peer_allowed(device, peer))
    }

    fn enable_peer_access(&self, device: DeviceIndex, peer: DeviceIndex) -> Result<()> {
        let (inner, call) = (&self.inner, Call::EnablePeerAccess);
        inner.enter_device(call, device)?;
        inner.check_device(call, peer)?;
        if !inner.peer_allowed(device, peer) {
            let why = format!("device {device} cannot access device {peer}");
            return Err(codes::failure_because(call, codes::PEER_ACCESS_UNSUPPORTED, why));
        }
        inner.check_held_back(call)?;
        // Peer access is between contexts, so both are made.
        for device in [device, peer] {
            inner.contexts[device.as_usize()].store(true, Ordering::Release);
        }
        inner.check_error(call, device)?;
        inner.space.write().enable_peer(device, peer);
        Ok(())
    }
}

impl State {
    /// Waits until everything queued on the device before has ended.
    pub(crate) fn await_device(&self, call: Call, device: DeviceIndex) -> Result<()> {
        about_to_wait::<rank::Device>();
        let mut engine = self.machine.engine.lock();
        engine.check(call, device)?;
        engine.refuse_captured_device(call, device)?;
        engine.refuse_held_back(call)?;
        for token in engine.pending_of_device(device) {
            Engine::wait(&mut engine, &token);
        }
        engine.check(call, device)
    }

    /// Waits until everything queued on any device before has ended. Does not report failures of that
    /// work; calls that name the device do.
    pub(crate) fn await_all_devices(&self, call: Call) -> Result<()> {
        about_to_wait::<rank::Device>();
        let mut engine = self.machine.engine.lock();
        for device in self.device_indices() {
            engine.refuse_captured_device(call, device)?;
        }
        engine.refuse_held_back(call)?;
        let tokens: Vec<_> =
            self.device_indices().flat_map(|device| engine.pending_of_device(device)).collect();
        for token in tokens {
            Engine::wait(&mut engine, &token);
        }
        engine.check_threads(call)
    }

    pub(crate) fn peer_allowed(&self, device: DeviceIndex, peer: DeviceIndex) -> bool {
        let denied = &self.denied_peers[device.as_usize()];
        device == peer || denied.load(Ordering::Relaxed) >> peer.as_usize() & 1 == 0
    }
}
