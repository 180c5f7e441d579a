//! What the kernels of sorts, selections and joins are launched with. See `docs/design/ordering.md`.
//!
//! | file | idea |
//! |---|---|
//! | `sides` | where the lines of a sort lie in its three operands |
//! | `lines` | sorts of short lines |
//! | `block` | sorts of lines that a block holds |
//! | `radix` | sorts of long lines: counts and passes |
//! | `select` | copies with strides, selecting by index |
//! | `join` | rows of several operands |
//! | `many` | many pieces of bytes |

mod block;
mod join;
mod lines;
mod many;
mod radix;
mod select;
mod sides;

pub use block::BlockLaunch;
pub use block::sort_block_name;
pub use join::join_kernel_name;
pub use join::{JOIN_BYTES, JOIN_PARTS, JoinLaunch, JoinRows};
pub use lines::LinesLaunch;
pub use lines::{SORT_LINES_LONGEST, sort_lines_name};
pub use many::JOIN_MANY_NAME;
pub use many::{MANY_BYTES, MANY_PIECES, ManyLaunch, ManyPiece};
pub use radix::{CountLaunch, IS_WHOLE, PassLaunch, PassWork, SORT_BINS, sort_tile, sort_tiles};
pub use radix::{sort_count_name, sort_pass_name};
pub use select::select_kernel_name;
pub use select::{
    SELECT_AXES, SELECT_DST, SELECT_ELEMENTS, SELECT_INDEX, SELECT_SRC, SelectAxis, SelectLaunch,
};
pub use sides::{SORT_AXES, SORT_LINES_MOST, SortAxis, SortSides};
pub use sides::{SORT_KERNELS, SORT_WIDTHS, sort_kernel_index, sort_width_index};
