//! The controls of a test, which no real driver has.
//!
//! | file | idea |
//! |---|---|
//! | `control` | time, steps, counters, faults |
//! | `captures` | captures begun and ended |
//! | `external` | streams and events that other code of the process makes |

mod captures;
mod control;
mod external;
