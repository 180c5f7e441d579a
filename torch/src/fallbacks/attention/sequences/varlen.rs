//! The operations that `torch.nn.attention.varlen` leaves in a program: attention of sequences of several lengths.

use super::flash::FlashArguments;
use crate::abi::tensors::device_of_tensor;
use crate::error::{Error, Result};
use crate::sconce::operations::full;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::{integer, options};
use crate::sconce::{Tensor, api};

/// The arguments, in PyTorch's order.
pub struct Varlen {
    /// Query, keys, values: positions, heads, width. Keys and values have a dimension of pages in front with a table.
    pub tensors: [TensorHandle; 3],
    /// Where sequences of queries begin, and those of keys.
    pub cumulated: [Option<TensorHandle>; 2],
    /// The most queries and keys of a sequence.
    pub most: [i64; 2],
    /// Whether a query meets no keys behind it.
    pub is_causal: bool,
    /// What scores are multiplied by.
    pub scale: Option<f64>,
    /// How far before and behind a query the keys are that it meets; -1 is no limit.
    pub window: Option<Vec<i64>>,
    /// The numbers of keys of sequences.
    pub counts: Option<TensorHandle>,
    /// The pages of sequences.
    pub pages: Option<TensorHandle>,
    /// How many blocks may share the keys of a sequence.
    pub splits: Option<i64>,
}

impl Varlen {
    fn flash(&self) -> Result<FlashArguments> {
        let [query, key, value] = self.tensors;
        let window = match self.window.as_deref() {
            None => [None; 2],
            Some(&[left, right]) => [Some(left), Some(right)],
            Some(other) => {
                return Err(Error::invalid_argument(format!(
                    "window_size must have length 2, got {}",
                    other.len()
                )));
            }
        };
        Ok(FlashArguments {
            query,
            key,
            value,
            cumulated: self.cumulated,
            counts: self.counts,
            pages: self.pages,
            most: self.most,
            splits: self.splits,
            is_causal: self.is_causal,
            window,
            scale: self.scale,
        })
    }

    /// Returns attention, the log sums (heads, positions), and the state of no dropout.
    pub fn attention(&self) -> Result<[Tensor; 3]> {
        let (output, log_sums) = self.flash()?.forward(None, true)?;
        let device = device_of_tensor(self.tensors[0])?;
        let state = full(&[2], &integer(0), &options(api::SCONCE_DTYPE_U64, device))?;
        Ok([output, log_sums, state])
    }

    /// Calculates attention into a tensor, and returns the log sums.
    pub fn attention_into(&self, output: TensorHandle) -> Result<Tensor> {
        Ok(self.flash()?.forward(Some(Tensor::retained(output)?), true)?.1)
    }
}
