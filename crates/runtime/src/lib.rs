//! Devices, streams, events, device and pinned memory over a driver. The crate names no backend: a program that links
//! it gives it one ([`context::set_backends`]).
//!
//! | module | what it is |
//! |---|---|
//! | [`caching`] | what the allocators of device and pinned memory share |
//! | [`context`] | the state of the process: backend, start-up, fork, global switches |
//! | [`device`] | current devices, properties, peers |
//! | [`event`] | events: records, waits, elapsed time |
//! | [`graph_shared`] | plans that live as long as their owners and the graphs that captured them |
//! | [`host_memory`] | pinned host memory: the caching allocator |
//! | [`ipc`] | memory between processes |
//! | [`kernel_loader`] | loads the library's own kernels |
//! | [`lazy_handle`] | a driver's handle that is made when it is first used |
//! | [`library_handles`] | the handles of NVIDIA's libraries, pooled |
//! | [`memory`] | device memory: the caching allocator |
//! | [`module`] | the program's own kernels |
//! | [`operand`] | the check of each address that a call is given |
//! | [`sleep`] | pools whose memory leaves the device for a while |
//! | [`stream`] | pools of streams, current streams, streams of other code, captures |

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
