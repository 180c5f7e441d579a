//! Random fills in graphs.
//!
//! | file | tests |
//! |---|---|
//! | `sequence` | replays and ordinary fills draw one sequence |
//! | `order` | the sequence is in the order of the host's calls, however the device runs them |
//! | `state` | a generator's state while graphs use it, and afterwards |

mod order;
mod sequence;
mod state;
