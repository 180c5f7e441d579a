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
//! | `scalars` | operations with numbers |
//! | `elementwise` | operations on elements |
//! | `direct` | operations with functions of their own, `aoti_torch_aten_…` |

pub mod arguments;
pub mod by_value;
pub mod copies;
pub mod direct;
pub mod elementwise;
pub mod exports;
pub mod files;
pub mod indexing;
pub mod linear;
pub mod making;
pub mod products;
pub mod reductions;
pub mod results;
pub mod scalars;
pub mod table;
pub mod views;

#[cfg(test)]
mod tests;
