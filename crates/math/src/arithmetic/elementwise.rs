//! An operation along axes with strides, as the kernels are launched for it and as the host runs it.

use sconce_base::element::Dtype;
use sconce_base::strided::SharedAxis;
use smallvec::SmallVec;

use super::any_number::AnyNumber;
use super::domain::Domain;
use super::operation::ElementOperation;

/// The most inputs of an operation.
pub const MOST_INPUTS: usize = 3;

/// An axis; strides in bytes, of the output and of each input.
pub type ElementwiseAxis = SharedAxis<{ MOST_INPUTS + 1 }>;

/// An input of an operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ElementwiseInput {
    /// Elements of a type, the first of which is at an address.
    Memory(u64, Dtype),
    /// The same number for all elements.
    Constant(AnyNumber),
}

/// An operation on elements.
///
/// The index of an element counts along the axes, the innermost first; there is none on an axis of
/// size 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Elementwise {
    pub operation: ElementOperation,
    pub domain: Domain,
    /// The type, one of the domain, to which inputs are converted before the operation, and its
    /// result after it.
    pub compute: Dtype,
    /// The parameters of the operation.
    pub parameters: [AnyNumber; 3],
    /// Where the first element of the result goes, and its type.
    pub output: (u64, Dtype),
    /// As many inputs as the operation has.
    pub inputs: SmallVec<[ElementwiseInput; MOST_INPUTS]>,
    /// The index of the first element: more than 0 in a part of an operation.
    pub first: u64,
    /// How many elements the whole operation has.
    pub total: u64,
    /// From the innermost to the outermost.
    pub axes: SmallVec<[ElementwiseAxis; 8]>,
}

impl Elementwise {
    /// How many elements there are.
    pub fn count(&self) -> u64 {
        self.axes.iter().map(|axis| axis.size).product()
    }

    /// The type of constants and of truth values: the widest floating-point type of the domain, of
    /// integers the type of the computation.
    pub(crate) fn widest(&self) -> Dtype {
        match self.domain {
            Domain::F32 => Dtype::F32,
            Domain::C64 => Dtype::C64,
            _ => self.compute,
        }
    }
}
