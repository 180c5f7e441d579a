//! Fourier transforms, as a library such as cuFFT calculates them.
//!
//! | method | precondition | postcondition | blocks? | thread |
//! |---|---|---|---|---|
//! | `fft_plan` | – | a plan of the device; it queues work on a stream | while the library is opened and the object made; other devices are not waited for | any; the object's methods by one thread at a time |
//!
//! The library is opened at the first call that needs it; a failure is not remembered. A library that
//! is not installed is `LibraryNotFound`.
//!
//! An execution does not wait for the device once its plan has been executed: the first one may load
//! code.

use sconce_base::element::Dtype;
use sconce_base::error::Result;
use sconce_base::types::{DeviceIndex, DevicePtr};

use crate::StreamRef;
use crate::contract::lacks;

/// From what to what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FftKind {
    /// Complex to complex, in either direction.
    C2C,
    /// Real to complex, forward: of the last dimension's n results the first n / 2 + 1.
    R2C,
    /// The first n / 2 + 1 of the last dimension's n complex numbers to real ones, inverse.
    C2R,
}

/// The sign of the exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FftDirection {
    /// Minus.
    Forward,
    /// Plus.
    Inverse,
}

/// The most dimensions of a transform.
pub const MOST_FFT_RANK: usize = 3;

/// Where the elements of one side lie, counted in elements of that side: of transform `b` the element
/// at `(i, j, k)` is number `b * distance + ((i * embed[1] + j) * embed[2] + k) * stride`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FftLayout {
    /// How large the array is that holds one transform; the first one's size is never used.
    pub embed: [i64; MOST_FFT_RANK],
    /// From one element of the innermost dimension to the next.
    pub stride: i64,
    /// From one transform to the next.
    pub distance: i64,
}

/// All that shapes a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FftShape {
    /// From what to what.
    pub kind: FftKind,
    /// The type of a real number, and of both parts of a complex one: F32, F64, or F16 where all sizes
    /// are powers of two. Others may be `NotSupported`; types that are not floating-point always are.
    pub element: Dtype,
    /// How many dimensions, 1 to [`MOST_FFT_RANK`].
    pub rank: usize,
    /// Sizes of the transform (of the real side), outermost first; past the rank they are 1. A size below
    /// 1 is refused.
    pub sizes: [i64; MOST_FFT_RANK],
    /// How many transforms; fewer than 1 are refused.
    pub batch: i64,
    /// Where the input lies; past the rank embeds are 1.
    pub input: FftLayout,
    /// Where the output lies; past the rank embeds are 1.
    pub output: FftLayout,
}

impl FftShape {
    /// Sizes of one side: that of complex numbers has half the last dimension's, and one.
    pub fn sizes_of(&self, complex_half: bool) -> [i64; MOST_FFT_RANK] {
        let mut sizes = self.sizes;
        if complex_half {
            sizes[self.rank - 1] = sizes[self.rank - 1] / 2 + 1;
        }
        sizes
    }
}

/// One execution.
#[derive(Clone, Copy, Debug)]
pub struct FftCall {
    /// Where it runs; of the plan's device. Executions of a plan may go to different streams.
    pub stream: StreamRef,
    /// Memory of `workspace_bytes`, for this execution until it is done.
    pub workspace: DevicePtr,
    /// What is transformed.
    pub input: DevicePtr,
    /// Where the result goes; may be the input where both sides have one layout. Memory between its elements is
    /// not written.
    pub output: DevicePtr,
    /// The sign of the exponent; it fits the kind.
    pub direction: FftDirection,
}

/// The transforms of a driver.
#[allow(unused_variables, reason = "most defaults use no argument")]
pub trait Fft: Send + Sync {
    /// Prepares a transform.
    fn fft_plan(&self, device: DeviceIndex, shape: &FftShape) -> Result<Box<dyn FftPlan>> {
        lacks("fft_plan", "library of transforms")
    }
    /// How many plans the library can keep; some versions fail beyond a number.
    fn fft_most_plans(&self) -> usize {
        usize::MAX
    }
}

/// A transform prepared on a device, used by one thread at a time. Dropping it destroys it, which may
/// wait for the device; queued executions still run.
pub trait FftPlan: Send {
    /// How much memory of the device an execution takes for itself. Executions at the same time need
    /// memory of their own.
    fn workspace_bytes(&self) -> usize;
    /// Queues the transform. Nothing is scaled. A C2R transform may overwrite its input; the others leave
    /// it as it is. The caller has checked the addresses.
    fn execute(&mut self, call: &FftCall) -> Result<()>;
}
