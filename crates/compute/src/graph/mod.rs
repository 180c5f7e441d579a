//! CUDA graphs: work that is captured from a stream once and launched any number of times. See
//! `docs/design/graph.md`.
//!
//! | file | idea |
//! |---|---|
//! | `thread_captures` | the graphs that a thread captures |
//! | `state` | the handles of graphs, and what a graph consists of |
//! | `launched` | the streams on which a graph was launched |
//! | `late` | what graphs kept and queued launches may still use |
//! | `holds` | what a graph keeps alive: the memory of a pool, pinned memory that it copies, plans and the like |
//! | `warm_up` | calls of a function before its capture |
//! | `capture` | the beginning, the end and the abortion of a capture |
//! | `launch` | executable graphs: replay, upload, update; figures and files |
//! | `conditional` | conditions, and the bodies of conditional nodes |

mod capture;
mod conditional;
mod holds;
mod late;
mod launch;
mod launched;
mod state;
mod thread_captures;
mod warm_up;

pub use capture::{abort, begin, begin_lent, capturing, end};
pub use conditional::{
    begin_conditional, begin_conditional_lent, create_condition, end_conditional, next_body,
    set_condition,
};
pub use launch::{
    debug_dump, instantiate, native, native_exec, node_count, replay, replay_on_current, update,
    upload,
};
pub use state::{create, destroy, device_of, is_capturing, keep, pool_of, reset};
pub use warm_up::warm_up;
