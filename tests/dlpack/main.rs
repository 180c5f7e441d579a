//! Tensors exchanged over DLPack, on the CPU and on simulated devices.
//!
//! | file | idea |
//! |---|---|
//! | `support` | tensors of the library, and a producer that counts how often it is asked to delete |
//! | `fields` | what each field of a struct may be |
//! | `sharing` | the same memory on both sides, and what an export says |
//! | `owners` | who deletes what, how often, on which thread |
//! | `order` | the order of streams |
//! | `on` | the same with a stream that the call names |
//! | `exchange` | the functions of the C exchange table |

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API, and reads structs as a consumer does")]

mod exchange;
mod fields;
mod on;
mod order;
mod owners;
mod sharing;
mod support;
