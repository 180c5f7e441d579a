//! What every crate of Sconce uses: errors, data types, locks, settings, collections. Nothing here knows a device or a
//! driver.
//!
//! | module | what it is |
//! |---|---|
//! | [`announcements`] | threads announce, without a lock, what they use; others wait until that use has ended |
//! | [`collections`] | slabs and pools with handles that detect misuse, ordered sets, maps |
//! | [`config`] | the environment, read in one place |
//! | [`dynlib`] | libraries opened at run time |
//! | [`element`] | data types |
//! | [`entropy`] | random bytes of the system |
//! | [`error`] | the error type and its statuses |
//! | [`json_text`] | texts as JSON has them |
//! | [`lock`] | locks, whose order debug builds check |
//! | [`log`] | messages to the user of the library |
//! | [`nvtx`] | profiling marks |
//! | [`process`] | forks and privileges of the process |
//! | [`program_code`] | which thread runs a host function of the program |
//! | [`sha256`] | digests |
//! | [`strided`] | elements along axes with strides: how far they reach, and whether they overlap |
//! | [`sync`] | atomics that loom can replace |
//! | [`thread_state`] | each thread's current device and streams |
//! | [`types`] | device indices and addresses |
//! | [`whole_file`] | files that appear whole or not at all |

pub mod announcements;
pub mod collections;
pub mod config;
#[allow(unsafe_code, reason = "dlopen and dlsym")]
pub mod dynlib;
pub mod element;
pub mod entropy;
pub mod error;
pub mod json_text;
#[cfg_attr(debug_assertions, allow(unsafe_code, reason = "implements the traits of locks"))]
pub mod lock;
pub mod log;
pub mod nvtx;
#[allow(unsafe_code, reason = "pthread_atfork and getauxval")]
pub mod process;
pub mod program_code;
pub mod sha256;
pub mod strided;
pub mod sync;
pub mod thread_state;
pub mod types;
pub mod whole_file;
