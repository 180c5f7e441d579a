//! The work of operations that are neither kernels nor a library's calculations.
//!
//! | file | idea |
//! |---|---|
//! | `rows` | rows of bytes that lie a pitch apart |
//! | `copy` | copies |
//! | `fill` | fills |
//! | `write_word` | writes of words of page-locked memory |
//! | `order` | records of events and waits for them |
//! | `host_function` | users' functions |
//! | `graph` | the beginnings of launches of graphs; conditional nodes |

pub(super) mod copy;
pub(super) mod fill;
pub(super) mod graph;
pub(super) mod host_function;
pub(super) mod order;
pub(super) mod rows;
pub(super) mod write_word;
