//! The gradient of a leaf.

use sconce_base::error::Result;
use sconce_base::lock::{Mutex, rank};
use sconce_compute::pointwise::Scalar;

use crate::tensor::operations::{ElementOperation, TensorOperand, binary};
use crate::tensor::{MemoryFormat, Tensor, transfer};

/// A gradient that passes add to.
#[derive(Default)]
pub(super) struct LeafGradient {
    /// Held while a gradient is added, so that two passes add one after the other.
    adding: Mutex<rank::BackwardLeaf, ()>,
    gradient: Mutex<rank::BackwardGradient, Tensor>,
}

impl LeafGradient {
    pub(super) fn get(&self) -> Tensor {
        self.gradient.lock().clone()
    }

    pub(super) fn set(&self, gradient: Tensor) {
        let before = std::mem::replace(&mut *self.gradient.lock(), gradient);
        drop(before);
    }

    /// Adds a gradient on the current stream of its device. The first one is kept if nobody else has its memory, and
    /// copied otherwise.
    pub(super) fn add(&self, gradient: Tensor) -> Result<()> {
        let _adding = self.adding.lock();
        let before = self.get();
        if before.is_defined() {
            return sum(&before, &gradient, Some(&before)).map(drop);
        }
        let own = !gradient.storage().is_shared() && gradient.is_dense();
        let kept = if own { gradient } else { transfer::clone(&gradient, MemoryFormat::Preserve)? };
        self.set(kept);
        Ok(())
    }
}

/// The sum of two gradients on the current stream of their device.
pub(super) fn sum(first: &Tensor, second: &Tensor, into: Option<&Tensor>) -> Result<Tensor> {
    if first.sizes() != second.sizes() {
        return Err(sconce_base::error::Error::invalid_argument(format!(
            "gradients of the sizes {:?} and {:?} cannot be added; return gradients of the shape of the forward result",
            first.sizes(),
            second.sizes()
        )));
    }
    let operands = [TensorOperand::Tensor(first), TensorOperand::Tensor(second)];
    binary(ElementOperation::Add, operands, Scalar::Int(1), into)
}
