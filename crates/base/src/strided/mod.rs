//! Elements along axes with strides: how far they reach, whether they share bytes, how they are packed.
//! See `docs/design/strided.md`.
//!
//! | file | idea |
//! |---|---|
//! | `view` | sizes and strides of one operand: count, span, density, overlap |
//! | `packed` | strides without gaps, for any order of axes |
//! | `footprint` | whether two operands share a byte |
//! | `independence` | whether elements may be written in any order |
//! | `axes` | the axes that operands have in common: turned forwards, joined, walked |
//! | `parts` | axes cut into parts that a launch can hold |

mod axes;
mod footprint;
mod independence;
mod packed;
mod parts;
mod view;

pub use axes::{
    PairAxes, PairAxis, SharedAxes, SharedAxis, each_place, each_run, join_axes, turn_forwards,
};
pub use footprint::Footprint;
pub use independence::are_independent;
pub use packed::{packed_strides, row_major};
pub use parts::{LaunchLimit, each_part};
pub use view::{ByteSpan, Overlap, StridedView};
