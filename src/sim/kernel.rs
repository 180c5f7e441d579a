//! The simulator's kernels, for tests: functions of the host that stand for kernels of the program. See
//! `docs/design/module.md`.

use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::ptr::NonNull;

use sconce_base::error::{Error, Result};
use sconce_base::program_code::later;
use sconce_sim::{SimKernel, SimLaunch};
use sconce_tensors::tensor::ForeignOwner;

use crate::arguments::beyond_addresses;
use crate::sim::controls as sim;
use crate::{guard, null as null_argument, sconce_deleter, sconce_status};

/// A launch, passed to the function that runs in place of its kernel.
#[repr(C)]
#[derive(Debug)]
pub struct sconce_sim_launch {
    /// Blocks of the grid along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
    /// Blocks of a cluster along x, y and z; 1 without clusters.
    pub cluster: [u32; 3],
    /// Dynamic shared memory of a block, in bytes. The function provides that memory itself.
    pub shared_bytes: u32,
    /// The device.
    pub device: i32,
    /// 0.
    pub reserved: i32,
    /// Addresses of the arguments, in host memory.
    pub arguments: *const *const c_void,
    /// Their sizes in bytes.
    pub argument_bytes: *const usize,
    /// Their number.
    pub argument_count: usize,
    /// The block that the function computes. The function sets it, for messages.
    pub block_index: [u32; 3],
    /// The thread that the function computes. The function sets it, for messages.
    pub thread_index: [u32; 3],
}

/// A function that runs in place of a kernel: it does the work of all blocks of a launch.
pub type sconce_sim_kernel_function =
    Option<unsafe extern "C" fn(launch: *mut sconce_sim_launch, user: *mut c_void)>;

/// A function of the program with its pointer.
struct Registered {
    function: unsafe extern "C" fn(*mut sconce_sim_launch, *mut c_void),
    user: *mut c_void,
    deleter: sconce_deleter,
    /// Bytes of each argument.
    parameters: Vec<usize>,
}

// SAFETY: the caller of `sconce_sim_register_kernel` promises that the functions may run on any thread.
unsafe impl Send for Registered {}
// SAFETY: shared use only calls `function`, and `sconce_sim_register_kernel` demands that several threads may call it
// at once, each with `user`.
unsafe impl Sync for Registered {}

impl Drop for Registered {
    fn drop(&mut self) {
        if let Some(deleter) = self.deleter {
            // The driver drops a kernel while it unloads a module, and a thread of the simulator at the end of a
            // launch.
            // SAFETY: `sconce_sim_register_kernel` demands that the deleter may be called once, on any thread; this is
            // the only drop of a registration, which has a deleter only once it cannot be refused any more.
            let owner = unsafe { ForeignOwner::new(deleter, self.user) };
            later(move || drop(owner));
        }
    }
}

/// A launch whose function runs on the calling thread.
#[derive(Clone, Copy)]
struct RunningLaunch {
    launch: *const SimLaunch<'static>,
    described: *const sconce_sim_launch,
}

thread_local! {
    static RUNNING: Cell<Option<RunningLaunch>> = const { Cell::new(None) };
}

impl Registered {
    fn run(&self, launch: &SimLaunch<'_>) {
        let addresses: Vec<*const c_void> =
            launch.values.iter().map(|value| value.as_ptr().cast()).collect();
        let shape = launch.config.shape;
        let extents = |dim: sconce_driver::Dim3| [dim.x, dim.y, dim.z];
        let mut described = sconce_sim_launch {
            grid: extents(shape.grid),
            block: extents(shape.block),
            cluster: launch.config.cluster.map_or([1; 3], extents),
            shared_bytes: shape.shared_bytes,
            device: launch.device.as_i32(),
            reserved: 0,
            arguments: addresses.as_ptr(),
            argument_bytes: self.parameters.as_ptr(),
            argument_count: addresses.len(),
            block_index: [0; 3],
            thread_index: [0; 3],
        };
        let described = std::ptr::from_mut(&mut described);
        let launch = std::ptr::from_ref(launch).cast::<SimLaunch<'static>>();
        let outer = RUNNING.replace(Some(RunningLaunch { launch, described }));
        // SAFETY: the caller of `sconce_sim_register_kernel` promised that the function may be called so.
        unsafe { (self.function)(described, self.user) }
        RUNNING.set(outer);
    }
}

/// Calls `action` with the launch whose function runs on this thread.
#[inline]
fn with_running<R>(action: impl FnOnce(&SimLaunch<'_>) -> R) -> Result<R> {
    let RunningLaunch { launch, described } = RUNNING.get().ok_or_else(|| {
        Error::invalid_state(
            "no function that stands for a kernel runs on this thread; only such a function may call \
             this, on the thread on which it is called",
        )
    })?;
    // SAFETY: `run` takes the two off before they end.
    let launch = unsafe { &*launch };
    // SAFETY: `run` takes the struct off the thread's list before it ends. The function, which is its other user, runs
    // on this thread, so nothing changes the struct meanwhile.
    let described = unsafe { &*described };
    launch.position.set((described.block_index, described.thread_index));
    Ok(action(launch))
}

fn failed() -> Error {
    Error::invalid_state("the launch has failed; return from its function")
}

/// Registers a function that runs in place of a kernel of the program on simulated devices, in all
/// modules that have a kernel of that name. It replaces a function that is registered under the
/// same name; launches and kernels that were found before keep the old function.
///
/// The function is called for each launch, in stream order, on a thread of the simulator. It does
/// the work of all blocks, and accesses device memory only with `sconce_sim_kernel_read` and
/// `sconce_sim_kernel_write`. An address that the device may not use fails the launch and its
/// device, as an illegal address does on CUDA (700); the message names the kernel, the block and
/// the thread.
///
/// Needs no backend, and has no effect on CUDA.
///
/// - `name`: the name of the kernel's entry point.
/// - `parameter_bytes`: the size of each parameter of the kernel. May be NULL if there are none.
/// - `parameter_count`: the number of parameters.
/// - `registers`: registers of a thread, reported in the kernel's attributes and used for
///   occupancy.
/// - `static_shared_bytes`: shared memory of a block that the kernel declares, for the same
///   purposes.
/// - `function`: the function to run.
/// - `user`: passed to `function`.
/// - `deleter`: called with `user` when nothing uses the function any more; may be NULL. Not called
///   if the registration fails.
/// - Errors: INVALID_ARGUMENT: the name is empty, a parameter has no bytes, or there are more
///   parameters than a kernel can have.
/// - Ownership: `user` must live until `deleter` is called, or until the process ends.
/// - Safety: `function` may be called with `user` on any thread, on several threads at the same
///   time, and does not unwind; `deleter` may be called once, on any thread.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sim_register_kernel(
    name: *const c_char,
    parameter_bytes: *const usize,
    parameter_count: usize,
    registers: u32,
    static_shared_bytes: u32,
    function: sconce_sim_kernel_function,
    user: *mut c_void,
    deleter: sconce_deleter,
) -> sconce_status {
    guard(|| {
        let name = text!(name);
        let name = name.to_str().map_err(|_| Error::invalid_argument("name is not UTF-8"))?;
        let function = function.ok_or_else(|| null_argument("function"))?;
        if parameter_count > 1024 {
            return Err(Error::invalid_argument(format!(
                "parameter_count is {parameter_count}; at most 1024 are possible"
            )));
        }
        let parameters =
            entries!(parameter_bytes, parameter_count; remedy: "pass the bytes of each parameter")
                .to_vec();
        let own = parameters.clone();
        let mut registered = Registered { function, user, deleter: None, parameters: own };
        // A refused registration does not call the deleter.
        sim::check_kernel(name, &parameters)?;
        registered.deleter = deleter;
        sim::register_kernel(SimKernel {
            name: name.to_owned(),
            parameters,
            registers,
            static_shared_bytes,
            function: Box::new(move |launch| registered.run(launch)),
        })
    })
}

/// Removes a function that was registered for a kernel. Kernels that were found before keep it. A
/// name that is not registered is a no-op.
///
/// - `name`: the name of the kernel's entry point.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sim_unregister_kernel(name: *const c_char) -> sconce_status {
    guard(|| {
        let name = text!(name);
        sim::unregister_kernel(&name.to_string_lossy());
        Ok(())
    })
}

/// Reads device memory, from a function that runs in place of a kernel.
///
/// - `address`: a device address, such as an argument of the launch.
/// - `bytes`: how many.
/// - `out_data`: receives the bytes.
/// - Errors: INVALID_STATE: the device may not read there, which fails the launch; the launch has
///   failed before; or no such function runs on the calling thread. Then nothing is read; the
///   function should return.
/// - Threads: the thread that called the function.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sim_kernel_read(
    address: u64,
    bytes: usize,
    out_data: *mut c_void,
) -> sconce_status {
    guard(|| {
        with_running(|launch| {
            let data =
                NonNull::new(out_data.cast::<u8>()).ok_or_else(|| null_argument("out_data"))?;
            check_bytes(bytes)?;
            // SAFETY: not NULL, and `out_data` receives `bytes` bytes, which nothing else uses during the call.
            let data = unsafe { std::slice::from_raw_parts_mut(data.as_ptr(), bytes) };
            let done = !launch.has_failed() && launch.read(address, data);
            if done { Ok(()) } else { Err(failed()) }
        })?
    })
}

/// Writes device memory, from a function that runs in place of a kernel.
///
/// - `address`: a device address, such as an argument of the launch.
/// - `bytes`: how many.
/// - `data`: the bytes.
/// - Errors: INVALID_STATE: the device may not write there, which fails the launch; the launch has
///   failed before; or no such function runs on the calling thread. Then nothing is written; the
///   function should return.
/// - Threads: the thread that called the function.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sim_kernel_write(
    address: u64,
    bytes: usize,
    data: *const c_void,
) -> sconce_status {
    guard(|| {
        with_running(|launch| {
            let data =
                NonNull::new(data.cast_mut().cast::<u8>()).ok_or_else(|| null_argument("data"))?;
            check_bytes(bytes)?;
            // SAFETY: not NULL, and `data` has `bytes` bytes, which stay as they are during the call.
            let data = unsafe { std::slice::from_raw_parts(data.as_ptr(), bytes) };
            let done = !launch.has_failed() && launch.write(address, data);
            if done { Ok(()) } else { Err(failed()) }
        })?
    })
}

fn check_bytes(bytes: usize) -> Result<()> {
    if bytes <= isize::MAX as usize {
        return Ok(());
    }
    Err(beyond_addresses(bytes, "bytes"))
}

/// Fails a launch and its device, from the function that runs in place of its kernel, as an
/// assertion in a kernel does.
///
/// - `code`: CUDA's number, not 0, e.g. 710 (`CUDA_ERROR_ASSERT`) or 716
///   (`CUDA_ERROR_MISALIGNED_ADDRESS`).
/// - `message`: the text for the log and for later failures of the device.
/// - Errors: INVALID_ARGUMENT: `code` is 0. INVALID_STATE: no such function runs on the calling
///   thread.
/// - Threads: the thread that called the function.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sim_kernel_fail(
    code: i32,
    message: *const c_char,
) -> sconce_status {
    guard(|| {
        let message = text!(message).to_string_lossy();
        if code == 0 {
            return Err(Error::invalid_argument("code is 0, which the driver returns for success"));
        }
        with_running(|launch| launch.fail(code, &message))
    })
}
