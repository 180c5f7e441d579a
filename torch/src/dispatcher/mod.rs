//! PyTorch's ABI: operations that kernel libraries call by name, such as `aten::new_empty`.
//!
//! | file | idea |
//! |---|---|
//! | `exports` | `torch_call_dispatcher` |
//! | `by_value` | calls by name with values |
//! | `arguments` | the arguments of a call, by their places in the schema |
//! | `table` | the operations and their schemas |
//! | `results` | what an operation returns |
//! | `making` | new tensors |
//! | `files` | tensors over files |
//! | `views` | views |
//! | `copies` | copies, other types and devices, tensors joined, elements in another order |
//! | `products` | products of matrices |
//! | `linear` | linear equations and factors of matrices |
//! | `reductions` | sums, largest elements, medians, sorting |
//! | `indexing` | elements that indices or masks choose |
//! | `transforms` | Fourier transforms, windows |
//! | `complex` | complex numbers, and what is called by name for tensors of them |
//! | `core` | some core operations |
//! | `lines` | elements along dimensions, values that differ |
//! | `resampling` | images of another size |
//! | `random` | random numbers |
//! | `scalars` | operations with numbers |
//! | `elementwise` | operations on elements |
//! | `direct` | operations with functions of their own, `aoti_torch_aten_…` |

pub mod arguments;
pub mod by_value;
pub mod complex;
pub mod copies;
pub mod core;
pub mod direct;
pub mod exports;
pub mod files;
pub mod indexing;
pub mod linear;
pub mod lines;
pub mod making;
pub mod products;
pub mod random;
pub mod reductions;
pub mod resampling;
pub mod results;
pub mod table;
pub mod transforms;
pub mod views;

#[cfg(test)]
mod tests;
