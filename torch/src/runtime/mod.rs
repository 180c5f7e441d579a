//! The CUDA runtime's functions that compiled models and kernel libraries call, over the driver: for processes that
//! find no libcudart. See `docs/design/cuda_runtime.md`.
//!
//! | file | idea |
//! |---|---|
//! | `driver` | the functions of libcuda.so.1 that these are made of, and its handles |
//! | `arguments` | places for results |
//! | `state` | the calling thread's device and newest failure |
//! | `devices` | devices, failures and their texts |
//! | `memory` | memory and copies |
//! | `streams` | streams and events |
//! | `images` | kernels within libraries: what they register, and launches |
//! | `launches` | launches with attributes, and properties of kernels |
//! | `properties` | the properties of a device, in the layouts of CUDA 12 and 13 |
//! | `addresses` | properties of addresses, variables of kernels, memory of other processes |
//!
//! The functions are not exported under their names: a library that is written when it is needed has the names and jumps
//! here through a table, so a program with a CUDA runtime of its own never meets them.

#![allow(
    unsafe_code,
    reason = "functions of C over pointers of the caller, and calls of the driver"
)]

mod addresses;
mod arguments;
mod devices;
mod driver;
mod images;
mod launches;
mod memory;
mod properties;
mod state;
mod streams;

/// Functions of C with the names of the CUDA runtime's, which return its codes, and a table of them.
macro_rules! runtime {
    ($($(#[$doc:meta])* fn $function:ident($($name:ident: $kind:ty),* $(,)?) $body:block)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            /// As the CUDA runtime's function of that name: handles are the driver's, and pointers are NULL or valid for what
            /// it reads and writes.
            unsafe extern "C" fn $function($($name: $kind),*) -> i32 {
                crate::runtime::state::stored(|| $body)
            }
        )*
        /// The functions by name.
        pub(super) const FUNCTIONS: &[crate::runtime::NamedFunction] =
            &[$((stringify!($function), $function as *const ())),*];
    };
}
use runtime;

pub(crate) use streams::new_stream;

/// A function and its name.
pub(crate) type NamedFunction = (&'static str, *const ());

/// The function of a name.
pub(crate) fn function(name: &str) -> Option<*const ()> {
    let tables = [
        devices::FUNCTIONS,
        devices::TEXTS,
        memory::FUNCTIONS,
        streams::FUNCTIONS,
        images::FUNCTIONS,
        images::REGISTRATION,
        launches::FUNCTIONS,
        properties::FUNCTIONS,
        addresses::FUNCTIONS,
    ];
    tables.into_iter().flatten().find(|(own, _)| *own == name).map(|(_, function)| *function)
}
