//! Embeddings of bags.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use super::{Place, give, give_all};
use crate::operations::bags::{BagMode, Bags, Gradient, of_factors};
use crate::sconce::tensor::TensorHandle;

/// Embeddings, with or without what only the gradient needs.
macro_rules! embeddings {
    ($($(#[$doc:meta])* $with_counts:literal: $cpu:ident | $cuda:ident;)*) => {
        abi_functions! {
            $($(#[$doc])*
            $cpu | $cuda(
                weight: TensorHandle, indices: TensorHandle, offsets: TensorHandle,
                _scale_grad_by_freq: bool, mode: i64, _sparse: bool,
                per_sample_weights: Option<TensorHandle>, include_last_offset: bool,
                padding_idx: i64, ret0: Place, ret1: Place, ret2: Place, ret3: Place,
            ) {
                let bags = Bags {
                    table: weight,
                    indices,
                    offsets,
                    mode: BagMode::new(mode)?,
                    factors: per_sample_weights,
                    has_last_offset: include_last_offset,
                    padding: padding_idx,
                };
                let made = bags.embed($with_counts)?;
                give_all([
                    (ret0, "ret0", made.rows),
                    (ret1, "ret1", made.bag_of_index),
                    (ret2, "ret2", made.counts),
                    (ret3, "ret3", made.chosen),
                ])
            })*
        }
    };
}

embeddings! {
    /// Returns the sum, the mean or the largest elements of rows of `weight`, for each bag of indices.
    true: aoti_torch_cpu__embedding_bag | aoti_torch_cuda__embedding_bag;

    /// As `_embedding_bag`, without what only the gradient needs.
    false: aoti_torch_cpu__embedding_bag_forward_only | aoti_torch_cuda__embedding_bag_forward_only;
}

abi_functions! {
    /// Returns the gradient of the table of `_embedding_bag`.
    aoti_torch_cpu__embedding_bag_dense_backward | aoti_torch_cuda__embedding_bag_dense_backward(
        grad: TensorHandle, indices: TensorHandle, offset2bag: TensorHandle, bag_size: TensorHandle,
        maximum_indices: TensorHandle, num_weights: i64, scale_grad_by_freq: bool, mode: i64,
        per_sample_weights: Option<TensorHandle>, padding_idx: i64, ret0: Place,
    ) {
        let gradient = Gradient {
            rows: grad,
            indices,
            bag_of_index: offset2bag,
            counts: bag_size,
            chosen: maximum_indices,
            mode: BagMode::new(mode)?,
            by_frequency: scale_grad_by_freq,
            factors: per_sample_weights,
            padding: padding_idx,
        };
        give(ret0, gradient.of_table(num_weights)?)
    }

    /// Returns the gradient of the factors of `_embedding_bag`.
    aoti_torch_cpu__embedding_bag_per_sample_weights_backward
        | aoti_torch_cuda__embedding_bag_per_sample_weights_backward(
        grad: TensorHandle, weight: TensorHandle, indices: TensorHandle, offsets: TensorHandle,
        offset2bag: TensorHandle, mode: i64, padding_idx: i64, ret0: Place,
    ) {
        let vectors = [indices, offsets, offset2bag];
        give(ret0, of_factors(grad, weight, vectors, BagMode::new(mode)?, padding_idx)?)
    }
}
