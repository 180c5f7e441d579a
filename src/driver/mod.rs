//! The driver seam: everything the library asks of a GPU driver, as one trait with two answers.
//!
//! [`cuda`] talks to `libcuda`, [`sim`] is a simulated device. The rooms above (streams, events,
//! memory, …) hold a `&'static dyn Driver` and never learn which one it is.
//!
//! # The contract
//!
//! It holds for every method; the conformance suite (`tests/conformance`) checks it on each backend.
//!
//! | subject | precondition | postcondition | blocks? | thread |
//! |---|---|---|---|---|
//! | device queries | index below `device_count` | no context appears | no | any |
//! | `bind_device` | – | the device's primary context exists and is current on this thread | while the context is made | binds the calling thread only |
//! | `unbind_device` | – | no context is current on this thread | no | calling thread only |
//! | `exchange_capture_mode` | – | the mode holds for the calling thread; the answer is the one before | no | calling thread only |
//! | every other method | – | the thread's current context is what it was before the call; contexts appear only on the devices the call names | as below | any |
//! | `memory_alloc` | `bytes > 0` | at least `bytes`, aligned to 512; contents undefined, not zero | may wait for the device | any |
//! | `memory_free` | pointer from `memory_alloc`, not freed | all work queued on the device before the call has finished; the address is invalid. A failed free leaves the memory as it is: so while a stream of the device is captured | until the device is idle | any |
//! | `host_alloc`, `host_free`, `host_register`, `host_unregister` | sizes > 0; pointer live | pinned for every device | free: until work using it is done | any |
//! | `virtual_reserve`, `virtual_release` | multiple of the granularity | address space only, nothing mapped | no | any |
//! | `physical_create`, `physical_release` | multiple of the granularity | memory without an address; released memory lives on while it is mapped | no | any |
//! | `physical_retain` | – | the memory that is mapped at the address, held once more; `INVALID_ARGUMENT` where no virtual memory is mapped | no | any |
//! | `virtual_map`, `virtual_unmap` | range reserved and (un)mapped as a whole; handle live; no queued work uses it; CUDA maps from offset 0 only | mapped without access rights; two mappings of one handle alias | no | any |
//! | `virtual_set_access` | range mapped | the device may use the range | no | any |
//! | `stream_create` | priority is clamped to the range | a stream; work on it runs in order | no | any |
//! | `stream_destroy` | handle live | work already queued still runs; the handle is dead | no | any |
//! | `stream_id` | stream live | the same number at each call; no other stream of the process ever has it | no | any |
//! | `stream_query` | – | `Ok(true)` when all work queued before has finished, `Ok(false)` when not | never | any |
//! | `stream_synchronize`, `device_synchronize` | – | all work queued before has finished | yes | any |
//! | `stream_wait_event` | – | later work of the stream starts after the record that is newest *now*; none yet: no effect; works across devices | never | any |
//! | `event_create`, `event_destroy` | destroy: handle live | destroying a pending event is allowed; waits bound to it stay valid | no | any |
//! | `event_record` | event and stream belong to one device | captures the work queued on the stream so far | never | any |
//! | `event_query` | – | `Ok(true)` when the newest record is complete or there is none | never | any |
//! | `event_synchronize` | – | the record that was newest at the call is complete | yes (spins, or sleeps with `blocking_sync`) | any |
//! | `event_elapsed_ms` | both timed and recorded | `NotReady` while one is pending | no | any |
//! | `launch_host_function` | – | the function runs once, in stream order, on a driver thread; not after an error of the stream | no | the function must not call the driver |
//! | `copy_async`, `copy_peer_async`, `fill_async` | ranges live until the work is done | ordered on the stream; pageable host memory makes the call wait until the source may be reused (and, for a pageable destination, until it is written) | only for pageable memory | any |
//! | `copy_direct_async` | neither side is pageable host memory | as `copy_async` | never | any |
//! | `copy_2d_async`, `fill_2d_async` | the same for every row; a pitch is at least the width, unless there is one row | the same, and bytes between the rows stay as they are; no row or no width: nothing | as `copy_async` | any |
//! | `module_load`, `module_unload` | no capture holds the thread back: neither one of its own that is not relaxed, nor, while the thread's mode is global, any in global mode | the image's kernels can be found; a refusal (900) spoils those captures. CUDA allows some loads all the same | while the image is compiled; may wait for the device | any |
//! | `kernel_launch` | arguments match the kernel | ordered on the stream | no | any |
//! | `enable_peer_access` | `can_access_peer` | kernels of `device` may use `peer`'s memory; enabling twice is fine | no | any |
//! | IPC exports and opens | see each | the other process shares memory or event | no | any |
//! | `blas_create`, `dnn_create`, `fft_plan` | – | an object of the device; its own methods (`blas`, `dnn`, `fft`) queue work on a stream | while the library is opened and the object made; other devices are not waited for | any; the object's methods by one thread at a time |
//!
//! **Ordering.** A stream is an in-order queue. The null handle is the legacy default stream of its
//! device: work on it starts after all work queued before on the device's blocking streams, and work
//! on those starts after it. Streams made with `non_blocking` do not take part in that.
//!
//! **Errors.** Bad arguments fail at once. A failure of queued work shows at a later call on that
//! device and stays ("sticky"): every call that queues or awaits work there fails from then on. CUDA
//! may refuse allocations on the other devices too.
//! Every failure carries the driver's number and its spelling.

mod blas;
mod capture;
#[allow(unsafe_code, reason = "calls into libcuda and NVML through function pointers")]
pub mod cuda;
mod dnn;
mod fft;
mod handles;
mod image;
pub mod images;
mod ipc_handle;
mod kernel;
mod library;
mod properties;
mod rows;
mod scale;
pub mod sim;
mod strided;

use std::os::fd::OwnedFd;

pub use blas::{BlasHandle, Gemm, MathMode, Matrix, blas_failure};
pub use capture::{CaptureMode, RelaxedCapture};
pub use dnn::{
    Convolution, ConvolutionEngines, ConvolutionOperation, ConvolutionPlan, ConvolutionTensor,
    DnnHandle, EngineChoice, MOST_ALIGNMENT, MOST_SPATIAL, alignment_of, dnn_failure,
};
pub use fft::{
    FftCall, FftDirection, FftKind, FftLayout, FftPlan, FftShape, MOST_FFT_RANK, fft_failure,
    fft_refusal,
};
pub use handles::{
    EventFlags, EventHandle, HostFunction, HostRange, KernelHandle, ModuleHandle, PhysicalHandle,
    RawAddress, StreamFlags, StreamHandle, StreamRef,
};
pub use image::{CodeFormat, KernelCode, KernelImage};
pub use ipc_handle::IpcHandle;
pub use kernel::{Dim3, KernelArguments, LaunchShape};
use library::library_failure;
pub use properties::{
    Access, Backend, DeviceProperties, MemoryInfo, PointerInfo, PointerKind, ProcessUsage,
};
pub use rows::{RowsSide, rows_cell_shift, rows_kernel_name, rows_launch};
pub use scale::{SCALE_AXES, ScaleAxis, scale_kernel_name, scale_launch};
pub use strided::{
    STRIDED_AXES, STRIDED_ELEMENTS, StridedAxis, strided_kernel_name, strided_launch,
};

use crate::error::Result;
use crate::types::{DeviceIndex, DevicePtr};

/// A GPU driver. See the module's table for what each method promises.
pub trait Driver: Send + Sync {
    /// Which of the two this is.
    fn backend(&self) -> Backend;

    // Devices

    /// How many devices there are; fixed for the life of the driver.
    fn device_count(&self) -> i32;
    /// What the device is. Creates no context.
    fn device_properties(&self, device: DeviceIndex) -> Result<DeviceProperties>;
    /// Free and total memory of the device, in bytes. The one query that may make the device's
    /// context: CUDA tells it nowhere else.
    fn memory_info(&self, device: DeviceIndex) -> Result<MemoryInfo>;
    /// Waits until the device has finished all work queued so far.
    fn device_synchronize(&self, device: DeviceIndex) -> Result<()>;
    /// The processes that hold memory of the device, as the system's management library tells it.
    fn device_processes(&self, device: DeviceIndex) -> Result<Vec<ProcessUsage>>;
    /// Whether kernels of `device` could use `peer`'s memory. A device can always access itself.
    fn can_access_peer(&self, device: DeviceIndex, peer: DeviceIndex) -> Result<bool>;
    /// Lets kernels of `device` use `peer`'s memory. Already enabled is fine.
    fn enable_peer_access(&self, device: DeviceIndex, peer: DeviceIndex) -> Result<()>;

    // Contexts

    /// Whether the device's primary context exists (made by anyone in the process).
    fn context_is_active(&self, device: DeviceIndex) -> Result<bool>;
    /// Makes the device's primary context, if need be, and makes it current on this thread.
    fn bind_device(&self, device: DeviceIndex) -> Result<()>;
    /// Leaves no context current on this thread.
    fn unbind_device(&self) -> Result<()>;

    // Captures

    /// Sets how strictly this thread's calls are checked against captures that are under way, and
    /// gives the mode before. Mostly by way of [`RelaxedCapture`].
    fn exchange_capture_mode(&self, mode: CaptureMode) -> Result<CaptureMode>;

    // Memory

    /// Device memory, contents undefined.
    fn memory_alloc(&self, device: DeviceIndex, bytes: usize) -> Result<DevicePtr>;
    /// Gives device memory back; waits for the device.
    fn memory_free(&self, device: DeviceIndex, ptr: DevicePtr) -> Result<()>;
    /// Page-locked host memory, usable by every device. `device` is whose context makes the call.
    fn host_alloc(&self, device: DeviceIndex, bytes: usize) -> Result<usize>;
    /// Gives page-locked host memory back.
    fn host_free(&self, address: usize) -> Result<()>;
    /// Page-locks existing host memory. `device` is whose context makes the call.
    fn host_register(&self, device: DeviceIndex, address: RawAddress, bytes: usize) -> Result<()>;
    /// Undoes `host_register`.
    fn host_unregister(&self, address: usize) -> Result<()>;
    /// What kind of memory an address belongs to. Any number may be asked about.
    fn pointer_info(&self, address: usize) -> Result<PointerInfo>;

    // Virtual memory

    /// The unit of physical memory and of mappings, in bytes.
    fn virtual_granularity(&self, device: DeviceIndex) -> Result<usize>;
    /// Reserves address space.
    fn virtual_reserve(&self, bytes: usize) -> Result<DevicePtr>;
    /// Gives reserved address space back; all of it must be unmapped.
    fn virtual_release(&self, ptr: DevicePtr, bytes: usize) -> Result<()>;
    /// Makes physical memory on a device; `shareable` allows `physical_export`.
    fn physical_create(
        &self,
        device: DeviceIndex,
        bytes: usize,
        shareable: bool,
    ) -> Result<PhysicalHandle>;
    /// Drops the handle; the memory goes when its last mapping goes.
    fn physical_release(&self, handle: PhysicalHandle) -> Result<()>;
    /// A handle of the physical memory that is mapped at `ptr`, to be given back with
    /// `physical_release` like any other.
    fn physical_retain(&self, ptr: DevicePtr) -> Result<PhysicalHandle>;
    /// Maps `bytes` of `handle` from `offset` at `ptr`.
    fn virtual_map(
        &self,
        ptr: DevicePtr,
        bytes: usize,
        handle: PhysicalHandle,
        offset: usize,
    ) -> Result<()>;
    /// Undoes whole mappings in the range.
    fn virtual_unmap(&self, ptr: DevicePtr, bytes: usize) -> Result<()>;
    /// Sets what `device` may do with a mapped range.
    fn virtual_set_access(
        &self,
        ptr: DevicePtr,
        bytes: usize,
        device: DeviceIndex,
        access: Access,
    ) -> Result<()>;
    /// A file descriptor that another process can import.
    fn physical_export(&self, handle: PhysicalHandle) -> Result<OwnedFd>;
    /// Physical memory from another process's descriptor.
    fn physical_import(&self, device: DeviceIndex, fd: OwnedFd) -> Result<PhysicalHandle>;

    // Streams

    /// The least and greatest priority (numerically: least is 0, greatest is negative).
    fn stream_priority_range(&self, device: DeviceIndex) -> Result<(i32, i32)>;
    /// Makes a stream.
    fn stream_create(
        &self,
        device: DeviceIndex,
        flags: StreamFlags,
        priority: i32,
    ) -> Result<StreamHandle>;
    /// Destroys a stream that `stream_create` made.
    fn stream_destroy(&self, stream: StreamRef) -> Result<()>;
    /// Says whether a handle that came from outside names a stream of the device, as far as the
    /// driver can tell without following the pointer.
    fn stream_check(&self, stream: StreamRef) -> Result<()>;
    /// A number that no other stream of the process has or ever had, unlike the handle, which the driver
    /// uses again. `None` where the driver has no such numbers.
    fn stream_id(&self, stream: StreamRef) -> Result<Option<u64>>;
    /// Whether all work queued so far has finished.
    fn stream_query(&self, stream: StreamRef) -> Result<bool>;
    /// Waits for all work queued so far.
    fn stream_synchronize(&self, stream: StreamRef) -> Result<()>;
    /// The stream's priority.
    fn stream_priority(&self, stream: StreamRef) -> Result<i32>;
    /// Whether the stream is being captured into a graph.
    fn stream_is_capturing(&self, stream: StreamRef) -> Result<bool>;
    /// Orders later work of the stream after the event's newest record.
    fn stream_wait_event(&self, stream: StreamRef, event: EventHandle) -> Result<()>;
    /// Runs a host function in stream order.
    fn launch_host_function(&self, stream: StreamRef, function: HostFunction) -> Result<()>;

    // Events

    /// Makes an event.
    fn event_create(&self, device: DeviceIndex, flags: EventFlags) -> Result<EventHandle>;
    /// Destroys an event.
    fn event_destroy(&self, event: EventHandle) -> Result<()>;
    /// Captures the work queued on the stream so far.
    fn event_record(&self, event: EventHandle, stream: StreamRef) -> Result<()>;
    /// Whether the newest record is complete; true when there is none.
    fn event_query(&self, event: EventHandle) -> Result<bool>;
    /// Waits for the newest record.
    fn event_synchronize(&self, event: EventHandle) -> Result<()>;
    /// Milliseconds between two complete records of timed events.
    fn event_elapsed_ms(&self, start: EventHandle, end: EventHandle) -> Result<f32>;

    // Work

    /// Copies `bytes`; which side is device, pinned or pageable memory is found from the addresses.
    fn copy_async(
        &self,
        dst: RawAddress,
        src: RawAddress,
        bytes: usize,
        stream: StreamRef,
    ) -> Result<()>;
    /// The same when neither side is ordinary host memory, which the caller knows: nothing is asked
    /// about the addresses, and the call never waits.
    fn copy_direct_async(
        &self,
        dst: RawAddress,
        src: RawAddress,
        bytes: usize,
        stream: StreamRef,
    ) -> Result<()> {
        self.copy_async(dst, src, bytes, stream)
    }
    /// Copies between the memories of two devices, with or without peer access.
    fn copy_peer_async(
        &self,
        dst: (DeviceIndex, DevicePtr),
        src: (DeviceIndex, DevicePtr),
        bytes: usize,
        stream: StreamRef,
    ) -> Result<()>;
    /// Copies `height` rows of `width` bytes. Each side is the address of its first row and its
    /// pitch, the bytes from one row to the next; what memory it is is found from the address.
    fn copy_2d_async(
        &self,
        dst: (RawAddress, usize),
        src: (RawAddress, usize),
        width: usize,
        height: usize,
        stream: StreamRef,
    ) -> Result<()>;
    /// Fills `bytes` of device memory with one byte.
    fn fill_async(&self, dst: DevicePtr, value: u8, bytes: usize, stream: StreamRef) -> Result<()>;
    /// Fills `height` rows of `width` bytes, given by the first row and the pitch, with one byte.
    fn fill_2d_async(
        &self,
        dst: (DevicePtr, usize),
        value: u8,
        width: usize,
        height: usize,
        stream: StreamRef,
    ) -> Result<()>;
    /// Makes the kernels of an image available on a device.
    fn module_load(&self, device: DeviceIndex, image: &KernelImage) -> Result<ModuleHandle>;
    /// Drops a module; none of its kernels may be queued.
    fn module_unload(&self, device: DeviceIndex, module: ModuleHandle) -> Result<()>;
    /// Finds a kernel of a module by name.
    fn kernel_find(
        &self,
        device: DeviceIndex,
        module: ModuleHandle,
        name: &str,
    ) -> Result<KernelHandle>;
    /// Launches a kernel.
    fn kernel_launch(
        &self,
        kernel: KernelHandle,
        shape: LaunchShape,
        arguments: &KernelArguments,
        stream: StreamRef,
    ) -> Result<()>;

    // Between processes

    /// A handle by which another process can open the allocation that holds `ptr`.
    fn ipc_memory_export(&self, ptr: DevicePtr) -> Result<IpcHandle>;
    /// Opens another process's allocation.
    fn ipc_memory_open(&self, device: DeviceIndex, handle: &IpcHandle) -> Result<DevicePtr>;
    /// Closes what `ipc_memory_open` gave.
    fn ipc_memory_close(&self, ptr: DevicePtr) -> Result<()>;
    /// A handle by which another process can open an event made with `interprocess`.
    fn ipc_event_export(&self, event: EventHandle) -> Result<IpcHandle>;
    /// Opens another process's event.
    fn ipc_event_open(&self, device: DeviceIndex, handle: &IpcHandle) -> Result<EventHandle>;

    // Libraries, each opened at the first call that needs it; a failure is not remembered

    /// A new handle for matrix products. It starts on the default stream.
    fn blas_create(&self, device: DeviceIndex) -> Result<Box<dyn BlasHandle>>;
    /// A new handle for convolutions. It starts on the default stream.
    fn dnn_create(&self, device: DeviceIndex) -> Result<Box<dyn DnnHandle>>;
    /// The version of the library of convolutions: 10,000 times the first number and 100 times the
    /// second and the third.
    fn dnn_version(&self) -> Result<i64>;
    /// Makes a transform ready.
    fn fft_plan(&self, device: DeviceIndex, shape: &FftShape) -> Result<Box<dyn FftPlan>>;
    /// How many plans the library can keep; some versions failed beyond a number.
    fn fft_most_plans(&self) -> usize;
}
