//! The state of the process: the backend, and the global switches. See `docs/design/context.md`.
//!
//! A process passes through three states in this order: *loaded* → *probed* (a backend has been chosen and
//! its devices counted; no context exists) → *initialised* (a call has used a device, or asked for it by
//! `sconce_init`). Each function that needs a device initialises. `sconce_is_available` and
//! `sconce_device_count` count the devices without a backend where they can, and else probe. A child of `fork` cannot
//! use the backend.
//!
//! The crate names no backend: [`set_backends`] is given what opens one. Everything in this module lives until the
//! process ends and is never destroyed: static objects and threads of the program may call the library later than any
//! destructor of the library could run.
//!
//! The order of all locks is in `docs/design/locks.md`. Some driver calls are made with a lock held, so that other
//! threads wait for that call: opening the backend, a device's first context, an event's first record, making and
//! executing a transform's plan, getting memory from the driver and returning it when memory has run out. Some of these
//! calls block.
//!
//! | file | idea |
//! |---|---|
//! | `options` | what a caller of `sconce_init_with` chooses |
//! | `backend` | from that choice to a driver |
//! | `once` | a value that is made at most once, with a remembered failure |
//! | `runtime` | the backend in use, and the state of the process |
//! | `precision` | the global switches: TF32, cuDNN's algorithms, determinism |

mod backend;
mod once;
mod options;
pub mod precision;
mod runtime;

pub use backend::{Backend, Backends, Opened, set_backends};
pub use options::Options;
pub use runtime::{
    Runtime, count_devices, initialize, initialize_with, is_available, opened, probe,
    refuse_forked_child, runtime, runtime_if_any, without_device,
};
pub(crate) use runtime::{checks_device, runtime_to_release};
pub use sconce_base::program_code::{is_initialized, nothing_to_check};
