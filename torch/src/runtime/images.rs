//! Kernels within libraries: nvcc lets a library register its code and the functions of the host that stand for its
//! kernels, and turns `<<<…>>>` into calls with the address of such a function.
//!
//! Code is loaded for all devices (`cuLibraryLoadData`) when one of its kernels is first needed, in the relaxed capture
//! mode, so that the first launch may be within a capture.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::sync::{LazyLock, PoisonError, RwLock};

use super::arguments::CudaPlace;
use super::driver::{Address, Driver, Function, Kernel, Library, Stream};
use super::state::{Outcome, check, codes, ready};
use super::{NamedFunction, runtime};
use crate::abi::arguments::Out;

/// What nvcc registers: a wrapper around the code.
#[repr(C)]
struct Wrapper {
    magic: u32,
    version: u32,
    code: *const c_void,
    more: *const c_void,
}

/// The mark of a wrapper.
const MAGIC: u32 = 0x4662_43b1;

/// Blocks of a grid or threads of a block.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Dim3 {
    pub(super) x: c_uint,
    pub(super) y: c_uint,
    pub(super) z: c_uint,
}

/// A registered image: its code's address, and the loaded code once it is needed.
struct RegisteredImage {
    code: usize,
    library: Option<Library>,
}

/// A function of the host that stands for a kernel.
struct Stub {
    image: usize,
    name: CString,
    kernel: Option<Kernel>,
}

#[derive(Default)]
struct Registered {
    /// By handle: numbers from 1.
    images: HashMap<usize, RegisteredImage>,
    last: usize,
    stubs: HashMap<usize, Stub>,
    /// Images and names of variables, by the addresses of the variables on the host that stand for them.
    variables: HashMap<usize, (usize, CString)>,
}

static REGISTERED: LazyLock<RwLock<Registered>> = LazyLock::new(RwLock::default);

/// What `<<<…>>>` says of a launch.
struct Launch {
    grid: Dim3,
    block: Dim3,
    shared_bytes: usize,
    stream: Stream,
}

thread_local! {
    /// Launches between `<<<…>>>` and the call of the host's function.
    static PUSHED: RefCell<Vec<Launch>> = const { RefCell::new(Vec::new()) };
}

/// The kernel that a function of the host stands for, for all devices.
pub(super) fn kernel_of(driver: &Driver, host: *const c_void) -> Result<Kernel, i32> {
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    let stub = registered.stubs.get(&host.addr()).ok_or(codes::INVALID_DEVICE_FUNCTION)?;
    if let Some(kernel) = stub.kernel {
        return Ok(kernel);
    }
    drop(registered);
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    let Registered { images, stubs, .. } = &mut *registered;
    let stub = stubs.get_mut(&host.addr()).ok_or(codes::INVALID_DEVICE_FUNCTION)?;
    let image = images.get_mut(&stub.image).ok_or(codes::INVALID_DEVICE_FUNCTION)?;
    let library = library_of(driver, image)?;
    let mut kernel = Kernel::NONE;
    // SAFETY: the name ends with NUL, and the stub owns it.
    check(unsafe { (driver.library_kernel)(&mut kernel, library, stub.name.as_ptr()) })?;
    stub.kernel = Some(kernel);
    Ok(kernel)
}

/// The loaded code of an image.
fn library_of(driver: &Driver, image: &mut RegisteredImage) -> Result<Library, i32> {
    Ok(match image.library {
        Some(library) => library,
        None => *image.library.insert(load(driver, image.code)?),
    })
}

/// The address and the size, on the current device, of the variable that one of the host stands for.
pub(super) fn variable_of(driver: &Driver, host: *const c_void) -> Result<(Address, usize), i32> {
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    let Registered { images, variables, .. } = &mut *registered;
    let (image, name) = variables.get(&host.addr()).ok_or(codes::INVALID_SYMBOL)?;
    let image = images.get_mut(image).ok_or(codes::INVALID_SYMBOL)?;
    let library = library_of(driver, image)?;
    let (mut address, mut bytes) = (0, 0);
    // SAFETY: the name ends with NUL, and the table that is locked here owns it.
    check(unsafe { (driver.library_global)(&mut address, &mut bytes, library, name.as_ptr()) })?;
    Ok((address, bytes))
}

fn load(driver: &Driver, code: usize) -> Result<Library, i32> {
    /// `CU_STREAM_CAPTURE_MODE_RELAXED`.
    const RELAXED: c_int = 2;
    let mut mode = RELAXED;
    check((driver.exchange_mode)(&mut mode))?;
    let (mut library, none) = (Library::NONE, std::ptr::null_mut());
    let code: *const c_void = std::ptr::with_exposed_provenance(code);
    // SAFETY: the code is that of a registered library, which is open; there are no options.
    let loaded = check(unsafe {
        (driver.library_load)(
            &mut library,
            code,
            std::ptr::null_mut(),
            none,
            0,
            std::ptr::null_mut(),
            none,
            0,
        )
    });
    // The thread's mode comes back whether the code was loaded or not.
    check((driver.exchange_mode)(&mut mode))?;
    loaded?;
    Ok(library)
}

/// # Safety
/// `arguments` has the address of an argument for each of the kernel's parameters.
unsafe fn launch(kernel: Kernel, launch: &Launch, arguments: *mut *mut c_void) -> Outcome {
    let driver = ready()?;
    let shared_bytes = c_uint::try_from(launch.shared_bytes).map_err(|_| codes::INVALID_VALUE)?;
    let Launch { grid, block, stream, .. } = *launch;
    // SAFETY: the kernel is one of loaded code, and the callers of this function pass it an argument for each parameter.
    check(unsafe {
        (driver.launch)(
            kernel,
            grid.x,
            grid.y,
            grid.z,
            block.x,
            block.y,
            block.z,
            shared_bytes,
            stream,
            arguments,
            std::ptr::null_mut(),
        )
    })
}

/// The kernel as the current device has it.
pub(super) fn function_of(driver: &Driver, host: *const c_void) -> Result<Function, i32> {
    let kernel = kernel_of(driver, host)?;
    let mut function = Function::NONE;
    check((driver.kernel_function)(&mut function, kernel))?;
    Ok(function)
}

runtime! {
    /// The kernel that a function of the host stands for.
    fn __cudaGetKernel(kernel: Out<Kernel>, host: *const c_void) {
        kernel.give(kernel_of(ready()?, host)?)
    }

    /// Queues a kernel that `__cudaGetKernel` returned.
    fn __cudaLaunchKernel(
        kernel: Kernel,
        grid: Dim3,
        block: Dim3,
        arguments: *mut *mut c_void,
        shared_bytes: usize,
        stream: Stream,
    ) {
        if kernel == Kernel::NONE {
            return Err(codes::INVALID_DEVICE_FUNCTION);
        }
        // SAFETY: nvcc's code passes `__cudaLaunchKernel` the address of an argument for each parameter.
        unsafe { launch(kernel, &Launch { grid, block, shared_bytes, stream }, arguments) }
    }

    /// Queues the kernel that a function of the host stands for.
    fn cudaLaunchKernel(
        host: *const c_void,
        grid: Dim3,
        block: Dim3,
        arguments: *mut *mut c_void,
        shared_bytes: usize,
        stream: Stream,
    ) {
        let kernel = kernel_of(ready()?, host)?;
        // SAFETY: `cudaLaunchKernel` demands the address of an argument for each of the kernel's parameters.
        unsafe { launch(kernel, &Launch { grid, block, shared_bytes, stream }, arguments) }
    }

    /// Sets a property of a kernel; the numbers are the driver's.
    fn cudaFuncSetAttribute(host: *const c_void, attribute: c_int, value: c_int) {
        let driver = ready()?;
        let function = function_of(driver, host)?;
        check((driver.function_set)(function, attribute, value))
    }

    /// Blocks of a kernel that a multiprocessor holds.
    fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: Out<c_int>,
        host: *const c_void,
        threads: c_int,
        shared_bytes: usize,
    ) {
        occupancy(blocks, host, threads, shared_bytes, 0)
    }

    /// Blocks of a kernel that a multiprocessor holds; the flags are the driver's.
    fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: Out<c_int>,
        host: *const c_void,
        threads: c_int,
        shared_bytes: usize,
        flags: c_uint,
    ) {
        occupancy(blocks, host, threads, shared_bytes, flags)
    }

    /// Takes what the newest `<<<…>>>` said.
    fn __cudaPopCallConfiguration(
        grid: Out<Dim3>,
        block: Out<Dim3>,
        shared_bytes: Out<usize>,
        stream: Out<Stream>,
    ) {
        /// `cudaErrorMissingConfiguration`.
        const MISSING: i32 = 52;
        let launch = PUSHED.with_borrow_mut(Vec::pop).ok_or(MISSING)?;
        grid.give(launch.grid)?;
        block.give(launch.block)?;
        shared_bytes.give(launch.shared_bytes)?;
        stream.give(launch.stream)
    }
}

fn occupancy(
    blocks: Out<'_, c_int>,
    host: *const c_void,
    threads: c_int,
    shared_bytes: usize,
    flags: c_uint,
) -> Outcome {
    let driver = ready()?;
    let function = function_of(driver, host)?;
    blocks.fill(0, |found| check((driver.occupancy)(found, function, threads, shared_bytes, flags)))
}

/// Notes what `<<<…>>>` says, until the host's function is called. Returns 0: the function is to be called.
extern "C" fn __cudaPushCallConfiguration(
    grid: Dim3,
    block: Dim3,
    shared_bytes: usize,
    stream: Stream,
) -> c_uint {
    PUSHED.with_borrow_mut(|pushed| pushed.push(Launch { grid, block, shared_bytes, stream }));
    0
}

/// Registers the code of a library and returns its handle.
///
/// # Safety
/// The wrapper is one that nvcc made, and lives until it is unregistered.
unsafe extern "C" fn __cudaRegisterFatBinary(wrapper: *const c_void) -> *mut *mut c_void {
    // SAFETY: nvcc's code passes the address of a wrapper of its library; NULL has no reference.
    let wrapper = unsafe { wrapper.cast::<Wrapper>().as_ref() };
    let code = match wrapper {
        Some(wrapper) if wrapper.magic == MAGIC => wrapper.code.expose_provenance(),
        // Its kernels are then those of no code: the driver refuses it with words.
        _ => 0,
    };
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    registered.last += 1;
    let handle = registered.last;
    registered.images.insert(handle, RegisteredImage { code, library: None });
    std::ptr::without_provenance_mut(handle)
}

/// Ends the registration of a library's kernels.
extern "C" fn __cudaRegisterFatBinaryEnd(_handle: *mut *mut c_void) {}

/// A copy of a text; `None` for NULL.
///
/// # Safety
/// The text is NULL or ends with NUL.
unsafe fn text(text: *const c_char) -> Option<CString> {
    // SAFETY: the text is not NULL, so it ends with NUL.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_owned())
}

/// Registers a kernel, and the function of the host that stands for it.
///
/// # Safety
/// The name is NULL or ends with NUL.
unsafe extern "C" fn __cudaRegisterFunction(
    handle: *mut *mut c_void,
    host: *const c_void,
    _device_function: *mut c_char,
    name: *const c_char,
    _thread_limit: c_int,
    _thread: *mut c_void,
    _block: *mut c_void,
    _block_size: *mut c_void,
    _grid_size: *mut c_void,
    _warp_size: *mut c_int,
) {
    // SAFETY: nvcc's code passes a text of its library.
    let Some(name) = (unsafe { text(name) }) else { return };
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    registered.stubs.insert(host.addr(), Stub { image: handle.addr(), name, kernel: None });
}

/// Registers a variable, which kernels find without: for functions of the host that take it.
///
/// # Safety
/// The name is NULL or ends with NUL.
unsafe extern "C" fn __cudaRegisterVar(
    handle: *mut *mut c_void,
    host: *mut c_char,
    _address: *mut c_char,
    name: *const c_char,
    _is_external: c_int,
    _bytes: usize,
    _is_constant: c_int,
    _is_global: c_int,
) {
    // SAFETY: nvcc's code passes a text of its library.
    let Some(name) = (unsafe { text(name) }) else { return };
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    registered.variables.insert(host.addr(), (handle.addr(), name));
}

/// Says that a library's registration may go on. Code is loaded when it is needed.
extern "C" fn __cudaInitModule(_handle: *mut *mut c_void) -> c_char {
    1
}

/// Unloads the code of a library that is closed.
extern "C" fn __cudaUnregisterFatBinary(handle: *mut *mut c_void) {
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    let image = registered.images.remove(&handle.addr());
    registered.stubs.retain(|_, stub| stub.image != handle.addr());
    registered.variables.retain(|_, (image, _)| *image != handle.addr());
    drop(registered);
    let (Some(library), Some(driver)) =
        (image.and_then(|image| image.library), super::driver::driver())
    else {
        return;
    };
    // SAFETY: the image is out of the table with its kernels, so its code is unloaded once and nothing finds it. A driver that ended with the process refuses.
    let _ = unsafe { (driver.library_unload)(library) };
}

/// Functions that return no code.
pub(super) const REGISTRATION: &[NamedFunction] = &[
    ("__cudaInitModule", __cudaInitModule as *const ()),
    ("__cudaPushCallConfiguration", __cudaPushCallConfiguration as *const ()),
    ("__cudaRegisterFatBinary", __cudaRegisterFatBinary as *const ()),
    ("__cudaRegisterFatBinaryEnd", __cudaRegisterFatBinaryEnd as *const ()),
    ("__cudaRegisterFunction", __cudaRegisterFunction as *const ()),
    ("__cudaRegisterVar", __cudaRegisterVar as *const ()),
    ("__cudaUnregisterFatBinary", __cudaUnregisterFatBinary as *const ()),
];
