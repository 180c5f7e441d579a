//! The simulator and its state: all that its devices consist of, and what every call does first.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use once_cell::race::OnceBox;
use sconce_base::config::{Config, SimConfig};
use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{Mutex, RwLock, rank};
use sconce_base::program_code;
use sconce_base::types::{DeviceIndex, MAX_DEVICES};
use sconce_driver::{StreamRef, VisibleDevices};

use super::call::{Call, Counters};
use super::codes;
use super::faults::Faults;
use super::host::stray_access::{AddressWatch, WatchedAddresses};
use super::kernels::modules::LoadedModules;
use super::machine::engine::Engine;
use super::machine::operation::{QueuedWork, Submission};
use super::machine::token::Token;
use super::machine::worker::Machine;
use super::memory::AddressSpace;
use super::processes::handle::Exports;
use super::processes::rank::RankTable;
use super::visible::visible;
use crate::block_reports::BlockReports;

/// Memory of all devices together: each byte has two addresses, and a process has 128 TiB of them.
const MOST_MEMORY: u64 = 64 << 40;

/// Options of a simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimOptions {
    /// How long kernels, copies, fills and host functions take, in nanoseconds.
    pub latency_ns: u64,
    /// How many kernels a device runs at once.
    pub kernel_slots: usize,
    /// Whether the simulator starts in manual mode, in which nothing completes unless stepped.
    pub manual: bool,
    /// Whether freed addresses and handles are used again at once, as drivers do. Otherwise they are
    /// left unused as long as possible, so that a use after free is found.
    pub reuse_addresses: bool,
    /// How many threads run work at most. Work that would need one more makes the devices fail.
    pub most_threads: usize,
    /// The devices of the machine that the process sees, as `CUDA_VISIBLE_DEVICES` lists them; all without a list.
    pub visible: Option<&'static str>,
}

/// The defaults of `latency_ns` and `reuse_addresses` are the environment's `SCONCE_SIM_LATENCY_NS` and
/// `SCONCE_SIM_REUSE_ADDRESSES`.
impl Default for SimOptions {
    fn default() -> Self {
        let config = Config::get();
        SimOptions {
            latency_ns: config.sim_latency_ns,
            kernel_slots: 16,
            manual: false,
            reuse_addresses: config.sim_reuse_addresses,
            most_threads: usize::MAX,
            visible: None,
        }
    }
}

/// A set of simulated devices. A process may have several; they share nothing.
///
/// Dropping a simulator does not wait: work in flight ends in the background, and the memory is freed
/// after it.
pub struct Simulator {
    pub(crate) inner: Arc<State>,
}

/// The state of a simulator. The order of its locks is in `docs/design/locks.md`; none is held while user code runs.
/// Queued work and the threads that run it share the machine and the address space, and nothing else.
pub(crate) struct State {
    /// The machine, with the devices that the process sees.
    pub(crate) config: SimConfig,
    pub(crate) visible: VisibleDevices,
    pub(crate) latency_ns: AtomicU64,
    pub(crate) machine: Arc<Machine>,
    pub(crate) space: Arc<RwLock<rank::SimSpace, AddressSpace>>,
    _stray_accesses: AddressWatch,
    pub(crate) modules: Mutex<rank::SimModules, LoadedModules>,
    pub(crate) exports: Mutex<rank::SimExports, Exports>,
    pub(crate) ranks: RankTable,
    pub(crate) counters: Counters,
    pub(crate) faults: Faults,
    pub(crate) blocks: BlockReports,
    /// Whether each device's primary context exists.
    pub(crate) contexts: Vec<AtomicBool>,
    /// For each device the peers it cannot reach, a bit each.
    pub(crate) denied_peers: Vec<AtomicU64>,
}

/// The simulator that the process uses as its driver.
static OPENED: OnceBox<Simulator> = OnceBox::new();

impl Simulator {
    /// Makes the simulator that the process uses as its driver, or returns it.
    pub fn open(config: &SimConfig, visible: Option<&'static str>) -> Result<&'static Simulator> {
        let options = SimOptions { visible, ..SimOptions::default() };
        OPENED.get_or_try_init(|| Simulator::new(config, options).map(Box::new))
    }

    /// The simulator that the process uses as its driver.
    pub fn opened() -> Result<&'static Simulator> {
        OPENED.get().ok_or_else(|| {
            Error::not_supported(
                "simulator controls need the simulated backend; set SCONCE_BACKEND=sim or call \
                 sconce_init_with",
            )
        })
    }

    /// How many devices a simulator with this choice would show; `None` if it would be refused.
    pub fn count_unopened(config: &SimConfig, list: Option<&str>) -> Option<i32> {
        let is_count = config.devices >= 1 && config.devices as usize <= MAX_DEVICES;
        is_count.then(|| visible(list, config.devices).count())
    }

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
        let visible = visible(options.visible, config.devices);
        if visible.count() == 0 {
            return Err(Error::new(
                Status::NoDevice,
                format!(
                    "CUDA_VISIBLE_DEVICES={} shows none of the {} simulated devices; unset it, or name some by their \
                     numbers from 0 or by their UUIDs, each once",
                    options.visible.unwrap_or_default(),
                    config.devices
                ),
            ));
        }
        let config = SimConfig { devices: visible.count(), ..*config };
        let reuse = options.reuse_addresses;
        let mut space = AddressSpace::new(config.devices, config.memory_bytes).map_err(|why| {
            Error::new(
                Status::OutOfMemory,
                format!("no address space for {} simulated devices: {why}", config.devices),
            )
        })?;
        space.set_reuse(reuse);
        space.set_visible(visible.clone());
        let space = Arc::new(RwLock::new(space));
        let mut engine = Engine::new(config.devices, options.kernel_slots, reuse);
        engine.clock.set_manual(options.manual);
        engine.workers.most = options.most_threads;
        let devices = config.devices as usize;
        Ok(Simulator {
            inner: Arc::new(State {
                config,
                visible,
                latency_ns: AtomicU64::new(options.latency_ns),
                machine: Arc::new(Machine::new(engine)),
                _stray_accesses: watch(&space),
                space,
                modules: Mutex::default(),
                exports: Mutex::default(),
                ranks: RankTable::default(),
                counters: Counters::new(),
                faults: Faults::default(),
                blocks: BlockReports::default(),
                contexts: (0..devices).map(|_| AtomicBool::new(false)).collect(),
                denied_peers: (0..devices).map(|_| AtomicU64::new(0)).collect(),
            }),
        })
    }
}

/// Gives words to host code that follows an address of the window.
fn watch(space: &Arc<RwLock<rank::SimSpace, AddressSpace>>) -> AddressWatch {
    let (base, bytes) = {
        let space = space.read();
        (space.window.base(), space.window.bytes())
    };
    let space = Arc::downgrade(space);
    AddressWatch::new(WatchedAddresses {
        base,
        bytes,
        describe: Box::new(move |address, to| match space.upgrade() {
            Some(space) => match space.try_read() {
                Some(space) => space.describe(address, to),
                None => to.write_str("the memory of devices is changing"),
            },
            None => to.write_str("the simulator has ended"),
        }),
    })
}

impl State {
    /// Entry of every call: counts it, and fails it if a test asked for that.
    pub(crate) fn enter(&self, call: Call) -> Result<()> {
        self.counters.add(call);
        if program_code::running().is_some()
            && let Some(why) = program_code::objection()
        {
            return Err(codes::failure_because(call, codes::NOT_PERMITTED, why));
        }
        match self.faults.of_call(call) {
            None => Ok(()),
            Some(code) => Err(codes::failure(call, code)),
        }
    }

    /// Entry of a call that names a device: the device must exist.
    pub(crate) fn enter_device(&self, call: Call, device: DeviceIndex) -> Result<()> {
        self.enter(call)?;
        self.check_device(call, device)
    }

    /// Entry of a call that needs the device's primary context, which it makes.
    pub(crate) fn enter_context(&self, call: Call, device: DeviceIndex) -> Result<()> {
        self.enter_device(call, device)?;
        self.contexts[device.as_usize()].store(true, Ordering::Release);
        Ok(())
    }

    /// Whether the device's primary context exists.
    pub(crate) fn has_context(&self, device: DeviceIndex) -> bool {
        self.contexts[device.as_usize()].load(Ordering::Acquire)
    }

    pub(crate) fn check_device(&self, call: Call, device: DeviceIndex) -> Result<()> {
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
    pub(crate) fn check_error(&self, call: Call, device: DeviceIndex) -> Result<()> {
        self.machine.engine.lock().check(call, device)
    }

    /// Fails when a capture forbids such calls to the calling thread.
    pub(crate) fn check_held_back(&self, call: Call) -> Result<()> {
        self.machine.engine.lock().refuse_held_back(call)
    }

    pub(crate) fn latency_ns(&self) -> u64 {
        self.latency_ns.load(Ordering::Relaxed)
    }

    pub(crate) fn device_indices(&self) -> impl Iterator<Item = DeviceIndex> + use<> {
        (0..self.config.devices).filter_map(DeviceIndex::new)
    }

    /// Queues work on a stream and returns its token; `None` when the work became a node of a graph.
    pub(crate) fn submit(
        &self,
        call: Call,
        stream: StreamRef,
        work: impl QueuedWork + 'static,
        duration_ns: u64,
    ) -> Result<Option<Arc<Token>>> {
        self.submit_behind(call, stream, work, duration_ns, Vec::new())
    }

    /// [`submit`](Self::submit), behind operations of other streams. In a capture these have no effect.
    pub(crate) fn submit_behind(
        &self,
        call: Call,
        stream: StreamRef,
        work: impl QueuedWork + 'static,
        duration_ns: u64,
        after: Vec<Arc<Token>>,
    ) -> Result<Option<Arc<Token>>> {
        let work: Arc<dyn QueuedWork> = Arc::new(work);
        let mut engine = self.machine.engine.lock();
        let key = engine.find(call, stream)?;
        engine.check(call, stream.device)?;
        if engine.capture_operation(call, key, &work, duration_ns)? {
            return Ok(None);
        }
        let fault = self.faults.of_operation(call);
        let submission = Submission { call, work, duration_ns, after, fault, stuck: false };
        let token = engine.enqueue(key, submission);
        self.machine.serve(&mut engine);
        engine.check_threads(call)?;
        Ok(Some(token))
    }
}
