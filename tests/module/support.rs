//! A kernel that fills numbers, and calls of the C API.

use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicUsize, Ordering};

use sconce::sconce_status::*;
use sconce::*;
pub(crate) use testkit::simulated::launch_desc as desc;
use testkit::simulated::{self, Memory};

/// How often the function of [`FILL`] has run.
pub(crate) static RUNS: AtomicUsize = AtomicUsize::new(0);

/// The kernel: address, number of `u32`, value. The block writes 256 numbers.
pub(crate) const FILL: &str = "test_fill";
const FILL_BYTES: [usize; 3] = [8, 8, 4];

unsafe extern "C" fn fill(launch: *mut sconce_sim_launch, _: *mut c_void) {
    RUNS.fetch_add(1, Ordering::SeqCst);
    // SAFETY: the launch is the simulator's, with the arguments of the registration.
    let launch = unsafe { &mut *launch };
    let argument = |index: usize| {
        // SAFETY: the launch has three arguments.
        let address = unsafe { std::slice::from_raw_parts(launch.arguments, 3) }[index];
        let mut bytes = [0_u8; 8];
        // SAFETY: the argument has so many bytes.
        unsafe {
            std::ptr::copy_nonoverlapping(address.cast(), bytes.as_mut_ptr(), FILL_BYTES[index]);
        }
        u64::from_le_bytes(bytes)
    };
    let (address, n, value) = (argument(0), argument(1), argument(2) as u32);
    for block in 0..launch.grid[0] {
        launch.block_index = [block, 0, 0];
        let (first, end) = (u64::from(block) * 256, n.min((u64::from(block) + 1) * 256));
        for at in first..end {
            launch.thread_index = [(at - first) as u32, 0, 0];
            let from: *const c_void = std::ptr::from_ref(&value).cast();
            // SAFETY: four bytes.
            if unsafe { sconce_sim_kernel_write(address + 4 * at, 4, from) } != SCONCE_OK {
                return;
            }
        }
    }
}

/// PTX with entries of some names. The simulator reads no more of it.
pub(crate) fn ptx(names: &[&str]) -> String {
    let entries: Vec<String> =
        names.iter().map(|name| format!(".visible .entry {name}()\n{{ ret; }}\n")).collect();
    format!(".version 8.0\n.target sm_75\n.address_size 64\n{}", entries.concat())
}

pub(crate) fn load(code: &[u8]) -> Result<*mut sconce_module, sconce_status> {
    let mut module = null_mut();
    // SAFETY: readable bytes and a writable place.
    match unsafe { sconce_module_load(code.as_ptr().cast(), code.len(), &mut module) } {
        SCONCE_OK => Ok(module),
        status => Err(status),
    }
}

pub(crate) fn get(
    module: *mut sconce_module,
    name: &str,
) -> Result<*mut sconce_kernel, sconce_status> {
    let (name, mut kernel) = (CString::new(name).unwrap(), null_mut());
    // SAFETY: a text and a writable place.
    match unsafe { sconce_kernel_get(module, name.as_ptr(), &mut kernel) } {
        SCONCE_OK => Ok(kernel),
        status => Err(status),
    }
}

/// Registers a function under a name.
pub(crate) fn register(
    name: &str,
    parameters: &[usize],
    function: sconce_sim_kernel_function,
    user: *mut c_void,
    deleter: sconce_deleter,
) -> sconce_status {
    let (name, bytes) = (CString::new(name).unwrap(), parameters.as_ptr());
    let count = parameters.len();
    // SAFETY: a text, so many numbers, and functions for any thread.
    unsafe {
        sconce_sim_register_kernel(name.as_ptr(), bytes, count, 32, 1024, function, user, deleter)
    }
}

/// Registers [`FILL`].
pub(crate) fn register_fill() {
    simulated::runtime();
    assert_eq!(register(FILL, &FILL_BYTES, Some(fill), null_mut(), None), SCONCE_OK);
}

/// The module with [`FILL`], and the kernel.
pub(crate) fn filler() -> (*mut sconce_module, *mut sconce_kernel) {
    register_fill();
    let module = load(ptx(&[FILL]).as_bytes()).unwrap();
    (module, get(module, FILL).unwrap())
}

/// Launches a kernel with arguments as bytes on a stream, or on the current one.
pub(crate) fn launch(
    kernel: *mut sconce_kernel,
    desc: &sconce_launch_desc,
    values: &[Vec<u8>],
    stream: Option<sconce_stream>,
) -> sconce_status {
    let addresses: Vec<*const c_void> = values.iter().map(|value| value.as_ptr().cast()).collect();
    let bytes: Vec<usize> = values.iter().map(Vec::len).collect();
    let (addresses, bytes, count) = (addresses.as_ptr(), bytes.as_ptr(), values.len());
    match stream {
        // SAFETY: so many values of their sizes.
        None => unsafe { sconce_kernel_launch(kernel, desc, addresses, bytes, count) },
        // SAFETY: so many values of their sizes.
        Some(stream) => unsafe {
            sconce_kernel_launch_on(kernel, desc, addresses, bytes, count, stream)
        },
    }
}

pub(crate) fn launch_nothing(kernel: *mut sconce_kernel) -> sconce_status {
    // SAFETY: a whole description, and no arguments.
    unsafe { sconce_kernel_launch(kernel, &desc(1, 1), null(), null(), 0) }
}

/// The arguments of [`FILL`].
pub(crate) fn fill_values(address: u64, n: u64, value: u32) -> [Vec<u8>; 3] {
    [address.to_le_bytes().to_vec(), n.to_le_bytes().to_vec(), value.to_le_bytes().to_vec()]
}

/// Launches [`FILL`] with enough blocks.
pub(crate) fn launch_fill(
    kernel: *mut sconce_kernel,
    memory: &Memory,
    n: u64,
    value: u32,
    stream: Option<sconce_stream>,
) -> sconce_status {
    let values = fill_values(memory.as_ptr() as u64, n, value);
    launch(kernel, &desc(n.div_ceil(256).max(1) as u32, 256), &values, stream)
}

/// The numbers in memory.
pub(crate) fn numbers(memory: &Memory, n: usize) -> Vec<u32> {
    let bytes = memory.read(4 * n);
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect()
}
