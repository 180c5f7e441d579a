//! NVIDIA's shared libraries: finding them, opening them, and the tables of their functions.
//!
//! | file | what |
//! |---|---|
//! | `api` | the table of the driver's functions |
//! | `loader` | finding the driver's library and its entry points |
//! | `library` | opening the libraries that stand beside the driver, and the tables of their functions |
//! | `nvml` | the management library |
//! | `nvml_devices` | the devices of the machine, without CUDA |

pub(super) mod api;
pub(super) mod library;
pub(super) mod loader;
pub(super) mod nvml;
pub(super) mod nvml_devices;
