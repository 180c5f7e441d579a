//! Convolutions, as a library such as cuDNN calculates them.
//!
//! The library has several *engines* for a problem and returns them in the order in which it expects
//! them to be fast. A *plan* is an engine prepared for one problem: its workspace size is known, and it
//! can be executed any number of times.
//!
//! | method | precondition | postcondition | blocks? | thread |
//! |---|---|---|---|---|
//! | `dnn_create` | – | a handle of the device, on the default stream; it queues work on a stream | while the library is opened and the object made; other devices are not waited for | any; the object's methods by one thread at a time |
//!
//! The library is opened at the first call that needs it; a failure is not remembered. A library that
//! is not installed is `LibraryNotFound`.
//!
//! An execution does not wait for the device once its plan has been executed: the first one may load
//! code.

use sconce_base::element::Dtype;
use sconce_base::error::Result;
use sconce_base::strided::StridedView;
use sconce_base::types::{DeviceIndex, DevicePtr};

use crate::StreamRef;
use crate::contract::lacks;

/// The most spatial dimensions of a convolution.
pub const MOST_SPATIAL: usize = 3;

/// Which of the three tensors is calculated from the other two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConvolutionOperation {
    /// The output, from input and filter.
    Forward,
    /// The input's gradient, from the filter and the output's gradient.
    Data,
    /// The filter's gradient, from the input and the output's gradient.
    Filter,
}

/// Sizes and strides in elements: batch, channels, then the spatial ones from the outermost; of a
/// filter output channels, input channels of a group, spatial. What is past the spatial dimensions
/// is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConvolutionTensor {
    /// Elements along each, at least 1.
    pub sizes: [i64; 2 + MOST_SPATIAL],
    /// From one element to the next, above 0.
    pub strides: [i64; 2 + MOST_SPATIAL],
    /// A power of two, at most [`MOST_ALIGNMENT`], that divides every address it will be executed
    /// with ([`alignment_of`]): engines that load much at once need more than an element's.
    pub alignment: usize,
}

impl ConvolutionTensor {
    /// Whether there is exactly one element at each place from the first to the last.
    pub fn is_dense(&self) -> bool {
        StridedView::new(&self.sizes, &self.strides).is_dense()
    }
}

/// No engine asks for more.
pub const MOST_ALIGNMENT: usize = 16;

/// The alignment of an address in bytes, at most [`MOST_ALIGNMENT`].
pub fn alignment_of(address: DevicePtr) -> usize {
    1 << address.0.trailing_zeros().min(MOST_ALIGNMENT.trailing_zeros())
}

/// A convolution's shape: all that decides how it is done. It is a cross-correlation, as in torch.
/// Nothing is read of the tensor that is calculated, and memory between its elements is not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Convolution {
    /// What is calculated.
    pub operation: ConvolutionOperation,
    /// The type of all three: F16, BF16, F32 or F64; `NotSupported` for others. Sums of F16 and BF16
    /// products are kept in F32.
    pub element: Dtype,
    /// Spatial dimensions, 1 to [`MOST_SPATIAL`].
    pub spatial: usize,
    /// Into how many groups channels are divided.
    pub groups: i64,
    /// The input, or its gradient.
    pub input: ConvolutionTensor,
    /// The filter, or its gradient; it is dense, or it is `NotSupported`.
    pub filter: ConvolutionTensor,
    /// The output, or its gradient.
    pub output: ConvolutionTensor,
    /// How far the filter moves.
    pub stride: [i64; MOST_SPATIAL],
    /// Zeros on each side of the input.
    pub padding: [i64; MOST_SPATIAL],
    /// How far apart the elements of the filter lie on the input.
    pub dilation: [i64; MOST_SPATIAL],
}

/// Which engines are acceptable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EngineChoice {
    /// Engines may round factors of F32 to TF32.
    pub allow_tf32: bool,
    /// Only engines that give the same bits each time.
    pub deterministic: bool,
}

/// The convolutions of a driver.
#[allow(unused_variables, reason = "most defaults use no argument")]
pub trait Dnn: Send + Sync {
    /// A new handle for convolutions.
    fn dnn_create(&self, device: DeviceIndex) -> Result<Box<dyn DnnHandle>> {
        lacks("dnn_create", "library of convolutions")
    }
    /// The version of the library of convolutions: 10,000 times the first number and 100 times the
    /// second and the third.
    fn dnn_version(&self) -> Result<i64> {
        lacks("dnn_version", "library of convolutions")
    }
}

/// A handle of the library on one device, used by one thread at a time. Dropping it does not destroy
/// the library's own handle; queued work still runs.
pub trait DnnHandle: Send {
    /// The library's own handle as a number, for programs that call the library themselves.
    fn native(&self) -> usize;
    /// Later work runs on the stream, which is of the handle's device; that of plans made before too.
    /// Work queued before stays where it is.
    fn set_stream(&mut self, stream: StreamRef) -> Result<()>;
    /// Whether the handle is still on this stream. A program that has the library's own handle can
    /// have set it otherwise. `false` if the library does not report it.
    fn is_set_to(&self, stream: StreamRef) -> bool;
    /// The engines for a problem that are acceptable, the best guess first. The order is the same for
    /// equal questions on the same device. None, or `NotSupported`, when the library cannot do the
    /// problem, such as some layouts with gaps. Sizes that do not belong together are refused.
    fn engines(
        &mut self,
        problem: &Convolution,
        choice: EngineChoice,
    ) -> Result<Box<dyn ConvolutionEngines>>;
}

/// The engines for a problem. They belong to the handle they came from, and to that handle's thread.
pub trait ConvolutionEngines: Send {
    /// Whether there is an engine at a place in the order. The library may list its engines in several
    /// steps: the next one is requested only for a place behind the last engine.
    fn has(&mut self, index: usize) -> Result<bool>;
    /// How many there are. All lists of the library are requested.
    fn count(&mut self) -> Result<usize> {
        let mut count = 0;
        while self.has(count)? {
            count += 1;
        }
        Ok(count)
    }
    /// Prepares the engine at a place in the order; past the end is an `InvalidArgument`.
    /// `NotSupported` when that engine cannot do the problem after all; the next one may.
    fn plan(&mut self, index: usize) -> Result<Box<dyn ConvolutionPlan>>;
}

/// An engine prepared for one convolution. It belongs to the handle it came from, and to that handle's
/// thread. Dropping it destroys it; work that was queued goes on. A captured execution may not survive
/// that: some engines compile kernels that are unloaded with the plan, so a caller that captures an
/// execution keeps the plan.
pub trait ConvolutionPlan: Send {
    /// How much memory of the device an execution takes for itself. It writes nowhere else but to the
    /// result.
    fn workspace_bytes(&self) -> usize;
    /// Queues the convolution on the handle's stream. The caller has checked the addresses.
    fn execute(
        &mut self,
        input: DevicePtr,
        filter: DevicePtr,
        output: DevicePtr,
        workspace: DevicePtr,
    ) -> Result<()>;
}
