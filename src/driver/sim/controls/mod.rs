//! The controls of a test, which no real driver has.
//!
//! | file | idea |
//! |---|---|
//! | `control` | time, steps, counters, faults |
//! | `external` | streams and events that other code of the process makes |

mod control;
mod external;
