//! A driver of one device: its memory is host memory, a stream is a queue of work that runs on the calling thread, and an
//! event is a flag. It implements what the contract requires, and nothing else (`docs/design/driver.md`).

#![allow(unsafe_code, reason = "the processor reads and writes for the device")]

use std::collections::{BTreeMap, VecDeque};
use std::ptr::{self, with_exposed_provenance as at, with_exposed_provenance_mut as at_mut};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sconce_base::error::Status::{self, InvalidArgument, InvalidHandle, NotSupported, OutOfMemory};
use sconce_base::error::{Error, Result};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::*;

/// All memory of the device, in bytes.
pub const DEVICE_BYTES: usize = 256 << 20;

// SAFETY: handles are keys of maps here, which nothing follows.
const MAKER: HandleMaker = unsafe { HandleMaker::new() };
static NEXT_HANDLE: AtomicUsize = AtomicUsize::new(16);

/// The driver. Every call locks the device.
#[derive(Default)]
pub struct OwnDriver(Mutex<Device>);

#[derive(Default)]
pub(crate) struct Device {
    /// Allocations by address, each with its memory, of which the first bytes may be unused.
    pub(crate) memory: BTreeMap<usize, (PointerInfo, Vec<u8>)>,
    /// The streams that have work.
    streams: BTreeMap<usize, VecDeque<Work>>,
    /// Whether the newest record of each event is done.
    events: BTreeMap<usize, Arc<AtomicBool>>,
    pub(crate) is_held: bool,
}

/// Returns whether it is done; what is not blocks its stream and is called again.
type Work = Box<dyn FnMut() -> bool + Send>;

fn found<T>(entry: Option<T>, status: Status, call: &str) -> Result<T> {
    entry.ok_or_else(|| Error::driver(status, call, status as i32, status.name()))
}

fn once(work: impl Fn() + Send + 'static) -> Work {
    Box::new(move || {
        work();
        true
    })
}

impl OwnDriver {
    pub(crate) fn device(&self) -> MutexGuard<'_, Device> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Device {
    pub(crate) fn bytes(&self) -> usize {
        self.memory.values().map(|(info, _)| info.bytes).sum()
    }
    fn allocation(&self, address: usize) -> Option<PointerInfo> {
        let (start, (info, _)) = self.memory.range(..=address).next_back()?;
        (address - start < info.bytes).then_some(*info)
    }
    /// A side of a copy, and whether it is host memory.
    fn side(&self, side: RawAddress, bytes: usize) -> Result<(usize, bool)> {
        let is_inside = |info: PointerInfo| info.base.0 as usize + info.bytes - side.get() >= bytes;
        let device = self.allocation(side.get());
        let fits = device.map_or_else(|| side.is_vouched_for(bytes), is_inside);
        found(fits.then_some((side.get(), device.is_none())), InvalidArgument, "copy")
    }
    fn queue(&mut self, stream: StreamRef, is_awaited: bool, work: Work) -> Result<()> {
        self.streams.entry(stream.handle.native()).or_default().push_back(work);
        if is_awaited || !self.is_held {
            self.run();
        }
        Ok(())
    }
    /// Empties the queues: runs the first work of each in turn. A record is queued before the waits for it.
    pub(crate) fn run(&mut self) {
        while !self.streams.is_empty() {
            self.streams.retain(|_, queue| {
                if queue.front_mut().is_some_and(|work| work()) {
                    queue.pop_front();
                }
                !queue.is_empty()
            });
        }
    }
}

impl Devices for OwnDriver {
    fn device_count(&self) -> i32 {
        1
    }
    fn device_properties(&self, _: DeviceIndex) -> Result<DeviceProperties> {
        let total_memory_bytes = DEVICE_BYTES as u64;
        Ok(DeviceProperties { name: "own".into(), total_memory_bytes, ..Default::default() })
    }
    fn device_synchronize(&self, _: DeviceIndex) -> Result<()> {
        self.device().run();
        Ok(())
    }
}

impl Memory for OwnDriver {
    fn memory_info(&self, _: DeviceIndex) -> Result<MemoryInfo> {
        let total_bytes = DEVICE_BYTES;
        Ok(MemoryInfo { free_bytes: total_bytes - self.device().bytes(), total_bytes })
    }
    fn memory_alloc(&self, index: DeviceIndex, bytes: usize) -> Result<DevicePtr> {
        let mut device = self.device();
        let fits = bytes <= DEVICE_BYTES - device.bytes();
        found(fits.then_some(()), OutOfMemory, "memory_alloc")?;
        let mut memory = vec![0; bytes + 512];
        let address = memory.as_mut_ptr().expose_provenance().next_multiple_of(512);
        let (base, id) = (DevicePtr(address as u64), NEXT_HANDLE.fetch_add(16, SeqCst) as u64);
        let info = PointerInfo { kind: PointerKind::Device(index), base, bytes, id };
        device.memory.insert(address, (info, memory));
        Ok(base)
    }
    fn memory_free(&self, _: DeviceIndex, ptr: DevicePtr) -> Result<()> {
        let mut device = self.device();
        device.run();
        found(device.memory.remove(&(ptr.0 as usize)), InvalidArgument, "memory_free").map(|_| ())
    }
    fn pointer_info(&self, address: usize) -> Result<PointerInfo> {
        Ok(self.device().allocation(address).unwrap_or(PointerInfo::unregistered(address)))
    }
}

impl Streams for OwnDriver {
    fn stream_create(&self, _: DeviceIndex, flags: StreamFlags, _: i32) -> Result<StreamHandle> {
        found(flags.non_blocking.then_some(()), NotSupported, "stream_create")?;
        Ok(StreamHandle::from_driver(MAKER, NEXT_HANDLE.fetch_add(16, SeqCst)))
    }
    fn stream_destroy(&self, stream: StreamRef) -> Result<()> {
        self.stream_synchronize(stream)
    }
    fn stream_query(&self, stream: StreamRef) -> Result<bool> {
        Ok(!self.device().streams.contains_key(&stream.handle.native()))
    }
    fn stream_synchronize(&self, _: StreamRef) -> Result<()> {
        self.device().run();
        Ok(())
    }
    fn stream_wait_event(&self, stream: StreamRef, event: EventHandle) -> Result<()> {
        let mut device = self.device();
        let is_done = found(device.events.get(&event.native()), InvalidHandle, "event")?.clone();
        device.queue(stream, false, Box::new(move || is_done.load(SeqCst)))
    }
}

impl Events for OwnDriver {
    fn event_create(&self, _: DeviceIndex, _: EventFlags) -> Result<EventHandle> {
        let number = NEXT_HANDLE.fetch_add(16, SeqCst);
        self.device().events.insert(number, Arc::new(AtomicBool::new(true)));
        Ok(EventHandle::from_driver(MAKER, number))
    }
    fn event_destroy(&self, event: EventHandle) -> Result<()> {
        found(self.device().events.remove(&event.native()), InvalidHandle, "event").map(|_| ())
    }
    fn event_record(&self, event: EventHandle, stream: StreamRef) -> Result<()> {
        let mut device = self.device();
        let is_done = Arc::new(AtomicBool::new(false));
        *found(device.events.get_mut(&event.native()), InvalidHandle, "event")? = is_done.clone();
        device.queue(stream, false, once(move || is_done.store(true, SeqCst)))
    }
    fn event_query(&self, event: EventHandle) -> Result<bool> {
        let device = self.device();
        found(device.events.get(&event.native()), InvalidHandle, "event")
            .map(|is_done| is_done.load(SeqCst))
    }
    fn event_synchronize(&self, event: EventHandle) -> Result<()> {
        self.device().run();
        self.event_query(event).map(|_| ())
    }
}

impl Copies for OwnDriver {
    fn copy_async(&self, dst: RawAddress, src: RawAddress, n: usize, on: StreamRef) -> Result<()> {
        let mut device = self.device();
        let ((to, to_host), (from, from_host)) = (device.side(dst, n)?, device.side(src, n)?);
        // SAFETY: `side` found memory of the device, which is not freed while work is queued, or that of a caller, who
        // vouches for it until the copy is done.
        let copy = move || unsafe { ptr::copy::<u8>(at(from), at_mut(to), n) };
        device.queue(on, to_host || from_host, once(copy))
    }
    fn fill_async(&self, dst: DevicePtr, value: u8, n: usize, on: StreamRef) -> Result<()> {
        let mut device = self.device();
        let (to, _) = device.side(dst.into(), n)?;
        // SAFETY: `side` found memory of the device, which is not freed while work is queued.
        let fill = move || unsafe { ptr::write_bytes::<u8>(at_mut(to), value, n) };
        device.queue(on, false, once(fill))
    }
}

sconce_driver::lacks! { OwnDriver: Contexts, Captures, HostMemory, VirtualMemory, Kernels, Modules, Graphs, Ipc }
sconce_driver::lacks! { OwnDriver: Blas, Dnn, Fft, Compiler, Collectives, Observe }
