//! What the kernels of sorts, selections and joins are launched with. See `docs/design/ordering.md`.
//!
//! | file | idea |
//! |---|---|
//! | `sides` | where the lines of a sort lie in its three operands |
//! | `lines` | sorts of short lines |
//! | `radix` | sorts of long lines: counts and passes |

mod lines;
mod radix;
mod sides;

pub(crate) use lines::LinesLaunch;
pub use lines::{SORT_LINES_LONGEST, sort_lines_name};
pub(crate) use radix::{
    CountLaunch, IS_WHOLE, PassLaunch, PassWork, SORT_BINS, sort_tile, sort_tiles,
};
pub use radix::{sort_count_name, sort_pass_name};
pub(crate) use sides::{SORT_AXES, SORT_LINES_MOST, SortAxis, SortSides};
pub use sides::{SORT_KERNELS, sort_kernel_index};
