//! The contract of a driver: one trait for each subject, with its part of the table.
//!
//! | file | trait | subject | required methods |
//! |---|---|---|---|
//! | `devices` | [`Devices`] | which devices there are, what they are, which of them can be peers | `device_count`, `device_properties`, `device_synchronize` |
//! | `contexts` | [`Contexts`] | primary contexts, and the one that is current on a thread | – |
//! | `captures` | [`Captures`] | how strictly a thread's calls are checked against captures; [`RelaxedCapture`] | – |
//! | `memory` | [`Memory`] | device memory, and what memory an address belongs to | `memory_info`, `memory_alloc`, `memory_free`, `pointer_info` |
//! | `host_memory` | [`HostMemory`] | page-locked host memory | – |
//! | `virtual_memory` | [`VirtualMemory`] | address space and physical memory, apart from each other | – |
//! | `streams` | [`Streams`] | streams, their waits, and host functions on them | `stream_create`, `stream_destroy`, `stream_query`, `stream_synchronize`, `stream_wait_event` |
//! | `events` | [`Events`] | events | `event_create`, `event_destroy`, `event_record`, `event_query`, `event_synchronize` |
//! | `copies` | [`Copies`] | copies and fills | `copy_async`, `fill_async` |
//! | `kernels` | [`Kernels`] | modules and kernel launches | – |
//! | `modules/` | [`Modules`] | modules and kernels of the program | – |
//! | `graphs` | [`Graphs`] | captures, and the graphs that they make | – |
//! | `ipc` | [`Ipc`] | memory and events shared with other processes | – |
//! | `libraries/` | [`Blas`], [`Dnn`], [`Fft`], [`Compiler`], [`Collectives`] | the libraries of products, convolutions, transforms and collective calls, and the compiler of kernels | – |
//! | `observe` | [`Observe`] | reports of the allocator to the driver | – |
//! | `handles` | – | handles of the driver's objects, which only a backend makes | – |
//! | `host_pointers` | – | host addresses and functions that a caller vouches for | – |
//!
//! **Defaults.** The other methods have defaults, for a driver that lacks what they do. The default of a method that
//! does something fails with `NotSupported`, and the message names the method and what is missing. The default of a
//! question is the answer of such a driver: no stream is captured, no other device is a peer, each device has a
//! context. The methods of an optional subject belong together: a driver implements all of them or none.
//!
//! A method's row in the table of its file holds on every backend; the conformance suite
//! (`tests/conformance`) checks it. What follows holds for all methods.
//!
//! **Threads.** Any thread may call any method, unless the row says otherwise. A method that the
//! table does not list as blocking returns without waiting for a device.
//!
//! **Contexts.** The calling thread's current context is the same before and after a call, except
//! for [`Contexts::bind_device`] and [`Contexts::unbind_device`], and except that device 0's context,
//! if it exists then, may stay current on a thread that had none. Contexts appear only on the
//! devices that a call names.
//!
//! **Ordering.** A stream is an in-order queue. The null handle is the legacy default stream of its
//! device: work on it starts after all work queued before on the device's blocking streams, and work
//! on those starts after it. Streams made with `non_blocking` do not take part in that.
//!
//! **Errors.** Bad arguments fail at once. A failure of queued work shows at a later call on that
//! device and stays ("sticky"): every call that queues or awaits work there fails from then on. CUDA
//! may refuse allocations on the other devices too. Every failure carries the driver's number and its
//! spelling.

mod captures;
mod contexts;
mod copies;
mod devices;
mod events;
mod graphs;
mod handles;
mod host_memory;
mod host_pointers;
mod ipc;
mod kernels;
mod libraries;
mod memory;
mod modules;
mod observe;
mod streams;
mod virtual_memory;

pub use captures::{CaptureMode, CaptureStatus, Captures, RelaxedCapture};
pub use contexts::Contexts;
pub use copies::Copies;
pub use devices::{DeviceProperties, Devices, ProcessUsage};
pub use events::{EventFlags, Events};
pub use graphs::{ConditionalKind, GraphUpdate, Graphs};
pub use handles::{
    AtomicHandle, ConditionHandle, EventHandle, GraphExecHandle, GraphHandle, HandleMaker,
    KernelHandle, ModuleHandle, PhysicalHandle, StreamHandle, WordHandle,
};
pub use host_memory::HostMemory;
pub use host_pointers::{HostFunction, HostRange, RawAddress};
pub use ipc::{Ipc, IpcHandle};
pub use kernels::Kernels;
pub use libraries::*;
pub use memory::{Memory, MemoryInfo, PointerInfo, PointerKind};
pub use modules::looks_like_path;
pub use modules::{
    BestBlock, KernelAttributes, KernelValues, LaunchConfig, ModuleCode, ModuleFormat, Modules,
};
pub use observe::{HostElements, Observe};
pub use streams::{
    HeadState, StreamFlags, StreamHead, StreamRef, Streams, announce_work, announced_work,
};
pub use virtual_memory::{Access, VirtualMemory};

use sconce_base::error::{Error, Result};

/// What a method's default returns if the method does something that a driver may lack.
#[cold]
fn lacks<T>(method: &str, what: &str) -> Result<T> {
    Err(Error::not_supported(format!("{method} is not supported: the backend has no {what}")))
}

/// A GPU driver: all subjects together, so that a caller holds one `&'static dyn Driver`.
pub trait Driver:
    Devices
    + Contexts
    + Captures
    + Memory
    + HostMemory
    + VirtualMemory
    + Streams
    + Events
    + Copies
    + Kernels
    + Modules
    + Graphs
    + Ipc
    + Blas
    + Dnn
    + Fft
    + Compiler
    + Collectives
    + Observe
{
}

impl<T> Driver for T where
    T: Devices
        + Contexts
        + Captures
        + Memory
        + HostMemory
        + VirtualMemory
        + Streams
        + Events
        + Copies
        + Kernels
        + Modules
        + Graphs
        + Ipc
        + Blas
        + Dnn
        + Fft
        + Compiler
        + Collectives
        + Observe
{
}
