//! Fills in graphs, on a device of the test's own.
//!
//! | file | tests |
//! |---|---|
//! | `fills` | graphs whose draws the host knows |
//! | `elsewhere` | bodies of conditional nodes, captures of other code, the end of generators and graphs |

mod elsewhere;
mod fake_device;
mod fills;
