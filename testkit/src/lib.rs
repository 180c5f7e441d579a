//! What the tests of Sconce share.
//!
//! | module | what it holds |
//! |---|---|
//! | `child` | a test run again in a child process with an environment of its own |
//! | `fork` | work in a forked child: how the child ends, or what the work returns |
//! | `header`, `structs` | the C header, read: prototypes, and structs laid out as C does |
//! | `simulated`, `places`, `modelled` | simulated devices and what is launched on them, memory of every kind there, and modelled time |
//! | `drivers`, `fake_cuda` | the fake CUDA libraries: built, opened, reached into |
//! | `libraries/`, `shapes` | calls of the libraries and of strided copies, and the expected results |
//! | `memory/` | the caching allocator: snapshots, figures, PyTorch's recording, sequences of C calls |
//! | `json` | a reader of JSON; the crate `testkit-json` |
//! | `statuses` | what a call of the C API must return |
//! | `random_golden`, `numbers` | PyTorch's recorded random fills; numbers of the floating-point types |
//! | `threads` | scopes of threads, how long they run, and their random choices |
//! | `twin` | the device that is asked for, and the same bytes on it and on the host |
//! | `stepper` | a thread that takes the steps of simulated devices in manual mode while a call waits |

#![allow(missing_docs, reason = "tests read the code")]
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::not_unsafe_ptr_arg_deref, reason = "hands on what tests pass to the C API")]
#![allow(unsafe_code, reason = "calls the C API, forks, and reaches into fake libraries")]

pub mod child;
pub mod drivers;
pub mod fake_cuda;
pub mod fork;
pub mod header;
pub mod libraries;
pub mod memory;
pub mod modelled;
pub mod numbers;
pub mod places;
pub mod random_golden;
pub mod shapes;
pub mod simulated;
pub mod statuses;
pub mod stepper;
pub mod structs;
pub mod threads;
pub mod twin;

use std::path::{Path, PathBuf};

pub use child::{full_name, in_child, is_child};
pub use testkit_json as json;

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("testkit is a folder of the repository")
}

/// The shared library that was built with this test.
pub fn shared_library() -> PathBuf {
    let deps = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    [deps.join("libsconce.so"), deps.join("../libsconce.so")]
        .into_iter()
        .find(|path| path.exists())
        .expect("cargo builds libsconce.so next to the tests")
}

/// The calling thread's last message.
pub fn last_message() -> String {
    // SAFETY: never NULL, NUL-terminated, and this thread's until its next failure.
    let text = unsafe { std::ffi::CStr::from_ptr(sconce::sconce_last_error_message()) };
    text.to_string_lossy().into_owned()
}
