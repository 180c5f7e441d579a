//! Simulated NCCL: collective calls as operations of streams, without a library.
//!
//! | file | idea |
//! |---|---|
//! | `reduce` | reductions of elements |
//! | `message` | what a rank gives the others, and the words for a call |
//! | `stop` | why an operation ends early |
//! | `collective` | calls of all ranks |
//! | `exchange` | groups of sends and receives |
//! | `work` | the operation of a stream |
//! | `group` | the group of a thread |
//! | `endpoint` | a rank's end of a communicator |
//! | `create` | ids, and how communicators are made |

mod collective;
mod create;
mod endpoint;
mod exchange;
pub(crate) mod group;
mod message;
mod reduce;
mod stop;
mod work;
