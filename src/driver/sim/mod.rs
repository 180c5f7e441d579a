//! The simulated device: a driver that needs no GPU and behaves like one.
//!
//! Streams run in the background and in order, memory lies at addresses the host cannot read,
//! errors of queued work stick, and a test may decide what completes next, count calls and make
//! things fail ([`Simulator`]'s own methods, in `control.rs`). `docs/design/simulator.md` tells how
//! and why.
//!
//! | file | idea |
//! |---|---|
//! | `call`, `codes`, `faults` | kinds of calls and their counters, error numbers, injected faults |
//! | `host/` | host memory by address; all unsafe code except that of `libraries/products.rs` |
//! | `processes/` | what processes share |
//! | `memory/` | physical pages, address space, pinned memory |
//! | `machine/` | queues, the order in which operations run, threads, time |
//! | `kernels/` | the library's kernels on the CPU |
//! | `libraries/` | simulated cuBLAS, cuDNN and cuFFT |
//! | `calls/` | the driver's calls, a file a subject |
//! | `controls/` | the controls of a test |

mod call;
mod calls;
mod codes;
mod controls;
mod faults;
mod host;
mod kernels;
mod libraries;
mod machine;
mod memory;
mod processes;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::{Condvar, Mutex, RwLock};

pub use call::Call;

use crate::config::{Config, SimConfig};
use crate::error::{Error, Result, Status};
use crate::types::{DeviceIndex, MAX_DEVICES};

/// Memory of all devices together: each byte has two addresses, and a process has 128 TiB of them.
const MOST_MEMORY: u64 = 64 << 40;

/// How simulated devices take their time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimOptions {
    /// How long kernels, copies, fills and host functions take, in nanoseconds.
    pub latency_ns: u64,
    /// How many kernels a device runs at once.
    pub kernel_slots: usize,
    /// Whether it starts in manual mode, in which nothing completes unless stepped.
    pub manual: bool,
    /// Whether freed addresses and handles are used again at once, as drivers do. Otherwise they are
    /// left unused as long as possible, so that a use after free is found.
    pub reuse_addresses: bool,
    /// How many threads run work at most. Work that would need one more makes the devices fail.
    pub most_threads: usize,
}

/// `reuse_addresses` is as `SCONCE_SIM_REUSE_ADDRESSES` says.
impl Default for SimOptions {
    fn default() -> Self {
        let reuse_addresses = Config::get().sim_reuse_addresses;
        SimOptions {
            latency_ns: 5_000,
            kernel_slots: 16,
            manual: false,
            reuse_addresses,
            most_threads: usize::MAX,
        }
    }
}

/// A set of simulated devices. A process may have several; they share nothing.
///
/// Dropping one does not wait: work in flight ends in the background and then takes the memory
/// with it.
pub struct Simulator {
    inner: Arc<Inner>,
}

/// What the simulator and its threads share. Locks are taken in the order engine, address space,
/// others, and never the other way round; none is held while user code runs.
struct Inner {
    config: SimConfig,
    latency_ns: AtomicU64,
    engine: parking_lot::Mutex<machine::engine::Engine>,
    /// Told when every stream rests.
    quiet: Condvar,
    space: RwLock<memory::AddressSpace>,
    modules: Mutex<kernels::Modules>,
    exports: Mutex<calls::ipc::Exports>,
    counters: call::Counters,
    faults: faults::Faults,
    /// Whether each device's primary context exists.
    contexts: Vec<AtomicBool>,
    /// For each device the peers it cannot reach, a bit each.
    denied_peers: Vec<AtomicU64>,
}

impl Simulator {
    /// Makes devices of the given shape.
    pub fn new(config: &SimConfig, options: SimOptions) -> Result<Simulator> {
        if config.devices < 1 || config.devices as usize > MAX_DEVICES {
            return Err(Error::invalid_argument(format!(
                "sim_devices is {}; it must be from 1 to {MAX_DEVICES}",
                config.devices
            )));
        }
        if config.memory_bytes == 0 {
            return Err(Error::invalid_argument("sim_memory_bytes must not be 0"));
        }
        if config.memory_bytes > MOST_MEMORY / config.devices as u64 {
            return Err(Error::invalid_argument(format!(
                "sim_memory_bytes is {}; with {} devices it must be at most {} (64 TiB over all \
                 devices, which is what a process can address)",
                config.memory_bytes,
                config.devices,
                MOST_MEMORY / config.devices as u64
            )));
        }
        let reuse = options.reuse_addresses;
        let mut space =
            memory::AddressSpace::new(config.devices, config.memory_bytes).map_err(|why| {
                Error::new(
                    Status::OutOfMemory,
                    format!("no address space for {} simulated devices: {why}", config.devices),
                )
            })?;
        space.set_reuse(reuse);
        let mut engine = machine::engine::Engine::new(config.devices, options.kernel_slots, reuse);
        engine.clock.set_manual(options.manual);
        engine.workers.most = options.most_threads;
        let devices = config.devices as usize;
        Ok(Simulator {
            inner: Arc::new(Inner {
                config: *config,
                latency_ns: AtomicU64::new(options.latency_ns),
                engine: Mutex::new(engine),
                quiet: Condvar::new(),
                space: RwLock::new(space),
                modules: Mutex::default(),
                exports: Mutex::default(),
                counters: call::Counters::new(),
                faults: faults::Faults::default(),
                contexts: (0..devices).map(|_| AtomicBool::new(false)).collect(),
                denied_peers: (0..devices).map(|_| AtomicU64::new(0)).collect(),
            }),
        })
    }
}

impl Inner {
    /// Entry of every call: counts it, and fails it if a test asked for that.
    fn enter(&self, call: Call) -> Result<()> {
        self.counters.add(call);
        match self.faults.of_call(call) {
            None => Ok(()),
            Some(code) => Err(codes::failure(call, code)),
        }
    }

    /// Entry of a call that names a device: the device must exist.
    fn enter_device(&self, call: Call, device: DeviceIndex) -> Result<()> {
        self.enter(call)?;
        self.check_device(call, device)
    }

    /// Entry of a call that needs the device's primary context, which it makes.
    fn enter_context(&self, call: Call, device: DeviceIndex) -> Result<()> {
        self.enter_device(call, device)?;
        self.contexts[device.as_usize()].store(true, Ordering::Release);
        Ok(())
    }

    /// Whether the device's primary context exists.
    fn has_context(&self, device: DeviceIndex) -> bool {
        self.contexts[device.as_usize()].load(Ordering::Acquire)
    }

    fn check_device(&self, call: Call, device: DeviceIndex) -> Result<()> {
        if device.as_i32() < self.config.devices {
            return Ok(());
        }
        Err(codes::failure_because(
            call,
            codes::INVALID_DEVICE,
            format_args!("device {device} is not one of the {}", self.config.devices),
        ))
    }

    /// Fails when earlier work of the device has failed.
    fn check_error(&self, call: Call, device: DeviceIndex) -> Result<()> {
        self.engine.lock().check(call, device)
    }

    /// Fails when a capture holds the calling thread back.
    fn check_held_back(&self, call: Call) -> Result<()> {
        self.engine.lock().refuse_held_back(call)
    }

    fn latency_ns(&self) -> u64 {
        self.latency_ns.load(Ordering::Relaxed)
    }

    fn device_indices(&self) -> impl Iterator<Item = DeviceIndex> + use<> {
        (0..self.config.devices).filter_map(DeviceIndex::new)
    }
}
