//! Calls of other threads while a thread captures.
//!
//! | file | what |
//! |---|---|
//! | `beside` | a capture on one thread, and a call on another |
//! | `world` | what the calls work on |
//! | `calls/` | a call of each exported function |
//! | `contract` | what may not be called meanwhile, and what it returns |
//! | `every` | every function beside captures of every mode |
//! | `program` | functions of a program that the calls take |
//! | `races` | captures that begin while other threads make calls that they forbid |

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

mod beside;
mod calls;
mod contract;
mod every;
mod program;
mod races;
mod world;
