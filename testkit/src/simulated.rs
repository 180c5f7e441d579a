//! Simulated devices with the H200's shape, and memory on them that tests can read.

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use sconce::sim_controls as sim;
use sconce::*;
use sconce_base::config::{BackendChoice, SimConfig};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{CaptureMode, RawAddress, StreamRef};
use sconce_runtime::context::{Options, Runtime, initialize_with};
use sconce_runtime::stream::Stream;

/// The simulator, started once.
pub fn runtime() -> &'static Runtime {
    let sim = SimConfig::default();
    assert_eq!((sim.multi_processors, sim.threads_per_multi_processor), (132, 2048));
    initialize_with(Options { backend: BackendChoice::Sim, sim, visible: None }).unwrap()
}

/// Captures in global mode what `work` queues on a stream; fails if anything spoilt the capture.
#[track_caller]
pub fn captured<T>(runtime: &Runtime, stream: Stream, work: impl FnOnce() -> T) -> T {
    sim::begin_capture(runtime, stream, CaptureMode::Global).unwrap();
    let result = catch_unwind(AssertUnwindSafe(work));
    let ended = sim::end_capture(runtime, stream);
    match result {
        Ok(result) => ended.map(|()| result).expect("the capture was spoilt"),
        Err(panic) => resume_unwind(panic),
    }
}

/// The names of all driver calls, from the message about one that there is not.
pub fn driver_calls() -> Vec<String> {
    let message = sim::call_count("").unwrap_err().message().to_owned();
    let (_, names) = message.split_once("there are ").unwrap();
    names.split(", ").map(str::to_owned).collect()
}

/// Memory of device 0.
pub struct Memory {
    ptr: DevicePtr,
    bytes: usize,
}

impl Memory {
    pub fn new(bytes: usize) -> Memory {
        let bytes = bytes.max(1);
        let ptr = runtime().driver().memory_alloc(DeviceIndex::ZERO, bytes).unwrap();
        Memory { ptr, bytes }
    }

    pub fn as_ptr(&self) -> *mut c_void {
        std::ptr::without_provenance_mut(self.ptr.0 as usize)
    }

    /// What the memory holds once the work of the default stream has finished.
    pub fn read(&self, bytes: usize) -> Vec<u8> {
        assert!(bytes <= self.bytes);
        let mut data = vec![0_u8; bytes];
        let stream = StreamRef::default_of(DeviceIndex::ZERO);
        let driver = runtime().driver();
        if bytes > 0 {
            // SAFETY: `data` outlives the wait.
            let to = unsafe { RawAddress::from_caller(data.as_mut_ptr() as usize) };
            driver.copy_async(to, self.ptr.into(), bytes, stream).unwrap();
        }
        driver.stream_synchronize(stream).unwrap();
        data
    }

    pub fn read_f32(&self, n: usize) -> Vec<f64> {
        let bytes = self.read(4 * n);
        bytes
            .chunks_exact(4)
            .map(|b| f64::from(f32::from_le_bytes(b.try_into().unwrap())))
            .collect()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        runtime().driver().memory_free(DeviceIndex::ZERO, self.ptr).unwrap();
    }
}

/// A generator of the test's own.
pub fn generator(seed: u64) -> *mut sconce_generator {
    runtime();
    let mut generator = std::ptr::null_mut();
    // SAFETY: a writable place.
    assert_eq!(unsafe { sconce_generator_create(0, &mut generator) }, sconce_status::SCONCE_OK);
    assert_eq!(sconce_generator_set_seed(generator, seed), sconce_status::SCONCE_OK);
    generator
}

pub fn state(generator: *mut sconce_generator) -> [u8; 16] {
    let mut state = [0; 16];
    // SAFETY: 16 writable bytes.
    let status = unsafe { sconce_generator_get_state(generator, state.as_mut_ptr()) };
    assert_eq!(status, sconce_status::SCONCE_OK);
    state
}

/// The description of a launch: blocks in a row, of threads in a row.
pub fn launch_desc(blocks: u32, threads: u32) -> sconce_launch_desc {
    sconce_launch_desc {
        struct_size: size_of::<sconce_launch_desc>() as u32,
        grid: [blocks, 1, 1],
        block: [threads, 1, 1],
        cluster: [0; 3],
        shared_bytes: 0,
        cooperative: CBool::FALSE,
        reserved: [0; 3],
    }
}
