//! The machine: queues of operations, the order in which they run, and the threads that run them.
//!
//! | file | idea |
//! |---|---|
//! | `token`, `clock` | ends of operations, time |
//! | `engine`, `schedule`, `worker` | queues, which operation may run next, threads |
//! | `work` | what operations do |
//! | `handles` | handles of streams and events |
//! | `capture` | streams whose work goes into a graph instead, and the calls that such captures forbid |

pub(super) mod capture;
pub(super) mod clock;
pub(super) mod engine;
pub(super) mod handles;
pub(super) mod schedule;
pub(super) mod token;
pub(super) mod work;
pub(super) mod worker;
