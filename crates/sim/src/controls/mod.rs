//! The controls of a test, which no real driver has.
//!
//! | file | idea |
//! |---|---|
//! | `time` | time, steps, listeners |
//! | `faults` | counters and faults |
//! | `captures` | captures begun and ended |
//! | `external` | streams and events that other code of the process makes |
//! | `comm` | faults of communicators |

mod captures;
mod comm;
mod external;
mod faults;
mod time;
