//! The device that `SCONCE_TEST_BACKEND` names, and memory that lies on it and on the host.

use std::sync::OnceLock;

use sconce_base::config::{BackendChoice, SimConfig};
use sconce_driver::RawAddress;
use sconce_runtime::context::{Options, Runtime, initialize_with};
use sconce_runtime::memory;
use sconce_runtime::stream::{self, Stream};

/// Whether the device is simulated.
pub fn is_simulated() -> bool {
    std::env::var("SCONCE_TEST_BACKEND").as_deref() != Ok("cuda")
}

pub fn runtime() -> &'static Runtime {
    let backend = if is_simulated() { BackendChoice::Sim } else { BackendChoice::Cuda };
    initialize_with(Options { backend, sim: SimConfig::default(), visible: None }).unwrap()
}

/// A stream of the device, the same for all calls of a test.
pub fn stream() -> Stream {
    static STREAM: OnceLock<Stream> = OnceLock::new();
    runtime();
    *STREAM.get_or_init(|| stream::from_pool(0, 0).unwrap())
}

/// The same bytes in host memory and in memory of the device.
pub struct Twin {
    pub host: Vec<u8>,
    device: usize,
}

impl Twin {
    pub fn new(host: Vec<u8>) -> Twin {
        runtime();
        let device = memory::alloc(host.len().max(1)).unwrap();
        let twin = Twin { host, device };
        twin.copy(twin.device(), host_address(&twin.host), twin.host.len());
        twin
    }

    /// The host memory.
    pub fn host(&mut self) -> RawAddress {
        let bytes = self.host.len();
        // SAFETY: the memory lives as long as the twin, which the test keeps.
        unsafe { RawAddress::from_caller_within(self.host.as_mut_ptr() as usize, 0, bytes) }
    }

    /// The memory of the device.
    pub fn device(&self) -> RawAddress {
        // SAFETY: the processor does not follow it.
        unsafe { RawAddress::from_caller(self.device) }
    }

    /// What the memory of the device holds after the work of the stream.
    pub fn read(&self, stream: Stream) -> Vec<u8> {
        stream::synchronize(runtime(), stream).unwrap();
        let mut data = vec![0; self.host.len()];
        self.copy(host_address(&data), self.device(), data.len());
        std::hint::black_box(&mut data);
        data
    }

    fn copy(&self, dst: RawAddress, src: RawAddress, bytes: usize) {
        if bytes > 0 {
            sconce_compute::copy::copy(dst, src, bytes, false).unwrap();
        }
    }
}

/// Memory that outlives a copy.
fn host_address(data: &[u8]) -> RawAddress {
    // SAFETY: `Twin` borrows the bytes for the whole call in which it copies them, and copies of pageable memory end
    // before the call does.
    unsafe { RawAddress::from_caller_within(data.as_ptr() as usize, 0, data.len()) }
}

impl Drop for Twin {
    fn drop(&mut self) {
        memory::free(self.device).unwrap();
    }
}
