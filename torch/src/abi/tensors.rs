//! Handles of tensors, and what a tensor is.
