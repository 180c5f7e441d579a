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
//! [`Devices`]: sconce_driver::Devices
//! [`Contexts`]: sconce_driver::Contexts
//! [`Captures`]: sconce_driver::Captures
//! [`Memory`]: sconce_driver::Memory
//! [`HostMemory`]: sconce_driver::HostMemory
//! [`VirtualMemory`]: sconce_driver::VirtualMemory
//! [`Streams`]: sconce_driver::Streams
//! [`Events`]: sconce_driver::Events
//! [`Copies`]: sconce_driver::Copies
//! [`Kernels`]: sconce_driver::Kernels
//! [`Modules`]: sconce_driver::Modules
//! [`Graphs`]: sconce_driver::Graphs
//! [`Ipc`]: sconce_driver::Ipc
//! [`Observe`]: sconce_driver::Observe

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
