//! What the tests stand on.
//!
//! | file | what |
//! |---|---|
//! | `subject` | the backends under test, and the tests that do not apply to each |
//! | `stage`, `objects` | a driver and ways to make its objects; objects that clean up after themselves |
//! | `runner`, `child` | runs tests; parts of tests that need a process of their own |
//! | `host`, `gate` | host memory, host functions and clocks; a point at which a stream waits |

pub(crate) mod child;
pub(crate) mod gate;
#[allow(unsafe_code, reason = "host memory that devices write, and C function pointers")]
pub(crate) mod host;
pub(crate) mod objects;
pub(crate) mod runner;
pub(crate) mod stage;
pub(crate) mod subject;
