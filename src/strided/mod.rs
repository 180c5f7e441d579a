//! Elements along axes with strides: how far they reach, whether they share bytes, how they are packed.
//! See `docs/design/strided.md`.
//!
//! | file | idea |
//! |---|---|
//! | `view` | sizes and strides of one operand: count, span, density, overlap |
//! | `packed` | strides without gaps, for any order of axes |
//! | `footprint` | whether two operands share a byte |
//! | `pair` | the axes that two operands of a copy have in common: sorted, joined, walked |

mod footprint;
mod packed;
mod pair;
mod view;

pub(crate) use footprint::Footprint;
pub(crate) use packed::{in_order_of, packed_strides, row_major};
pub(crate) use pair::{PairAxes, PairAxis, each_innermost, join_axes, turn_forwards};
pub(crate) use view::{ByteSpan, Overlap, StridedView};
