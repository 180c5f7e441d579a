//! Results in tensors of the caller's choice: every operation, beside its result as a new tensor.
//!
//! | file | idea |
//! |---|---|
//! | `calls` | the functions, as the tests call them |
//! | `forms` | each operation with a new result, and with outputs |
//! | `layouts` | outputs of other strides and shapes, and undefined ones |
//! | `types` | outputs of other types |
//! | `sharing` | outputs in the memory of operands |
//! | `replays` | outputs of captured work |
//! | `sizes` | `resize` |

pub(crate) mod calls;
mod forms;
mod layouts;
mod replays;
mod sharing;
mod sizes;
mod types;
