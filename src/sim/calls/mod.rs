//! The driver's calls: a file for each trait of the contract, except those of the libraries, which are
//! in `libraries/`.
//!
//! A method counts itself, checks the device, and strikes an injected fault (`enter…`); then it checks
//! its other arguments, and queues work or changes memory.
//!
//! | file | what |
//! |---|---|
//! | `devices`, `contexts`, `captures` | [`Devices`], [`Contexts`], [`Captures`]; how captures begin and end |
//! | `memory`, `host_memory`, `virtual_memory` | [`Memory`], [`HostMemory`], [`VirtualMemory`] |
//! | `streams`, `events` | [`Streams`], [`Events`] |
//! | `copies`, `kernels`, `modules`, `graphs`, `ipc` | [`Copies`], [`Kernels`], [`Modules`], [`Graphs`], [`Ipc`] |
//! | `observe` | [`Observe`] |
//! | `properties` | what the devices report about themselves |
//!
//! [`Devices`]: crate::driver::Devices
//! [`Contexts`]: crate::driver::Contexts
//! [`Captures`]: crate::driver::Captures
//! [`Memory`]: crate::driver::Memory
//! [`HostMemory`]: crate::driver::HostMemory
//! [`VirtualMemory`]: crate::driver::VirtualMemory
//! [`Streams`]: crate::driver::Streams
//! [`Events`]: crate::driver::Events
//! [`Copies`]: crate::driver::Copies
//! [`Kernels`]: crate::driver::Kernels
//! [`Modules`]: crate::driver::Modules
//! [`Graphs`]: crate::driver::Graphs
//! [`Ipc`]: crate::driver::Ipc
//! [`Observe`]: crate::driver::Observe

mod captures;
pub(super) mod contexts;
mod copies;
mod devices;
mod events;
mod graphs;
mod host_memory;
mod ipc;
mod kernels;
mod memory;
mod modules;
mod observe;
mod properties;
mod streams;
mod virtual_memory;
