//! Random numbers as pure arithmetic: the counter of each element, and the conversion of words to
//! elements.
//!
//! Nothing here knows a device, a generator or a stream. The host side (`random`) plans launches
//! with it, and the simulator's kernels run it, so that both mean the same numbers. The bits are
//! those of PyTorch 2.11's CUDA fills; `docs/design/random.md` documents their sources.
//!
//! | file | idea |
//! |---|---|
//! | `bijection` | Philox 4x32-10: key and counter to four words |
//! | `fill` | a distribution with its parameters, as it travels to a kernel |
//! | `geometry` | from elements to threads, draws and offsets; large fills in parts |
//! | `element`, `fast_tangent` | from words to the bits of elements |
//! | `evaluate` | a whole fill on the CPU |

mod bijection;
mod element;
mod evaluate;
mod fast_tangent;
mod fill;
mod geometry;

pub use bijection::philox;
pub use evaluate::evaluate;
pub use fill::{Distribution, Fill};
pub use geometry::{DeviceShape, LaunchPlan, Part, rounded_increment};
