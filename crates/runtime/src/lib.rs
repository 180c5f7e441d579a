//! Devices, streams, events, device and pinned memory over a driver.
//!
//! | module | what it is |
//! |---|---|
//! | [`caching`] | what the allocators of device and pinned memory share |
//! | [`context`] | the state of the process: backend, start-up, fork, global switches |
//! | [`device`] | current devices, properties, peers |
//! | [`event`] | records, waits, elapsed time |
//! | [`graph_shared`] | what a graph keeps of libraries until its launches are done |
//! | [`host_memory`] | pinned host memory: the caching allocator |
//! | [`ipc`] | memory between processes |
//! | [`kernel_loader`] | loading of the library's own kernels |
//! | [`lazy_handle`] | a driver's handle that is made at first use |
//! | [`library_handles`] | the handles of NVIDIA's libraries, pooled |
//! | [`memory`] | device memory: the caching allocator |
//! | [`module`] | the program's own kernels |
//! | [`operand`] | the check of the memory that a call is given |
//! | [`sleep`] | pools whose memory leaves the device for a while |
//! | [`stream`] | pools, current streams, streams of other code |

pub mod caching;
pub mod context;
pub mod device;
pub mod event;
pub mod graph_shared;
pub mod host_memory;
pub mod ipc;
pub mod kernel_loader;
pub mod lazy_handle;
pub mod library_handles;
pub mod memory;
pub mod module;
pub mod operand;
pub mod sleep;
pub mod stream;
#[cfg(test)]
mod testing;
