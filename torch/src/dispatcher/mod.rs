//! PyTorch's ABI: operations that kernel libraries call by name, such as `aten::new_empty`.
//!
//! | file | idea |
//! |---|---|
//! | `exports` | `torch_call_dispatcher` |
//! | `arguments` | the arguments of a call, by their places in the schema |
//! | `table` | the operations and their schemas |
//! | `making` | new tensors |
//! | `views` | views |
//! | `computing` | copies, products, sums, sorting, elements |
//! | `direct` | operations with functions of their own, `aoti_torch_aten_…` |

pub mod arguments;
pub mod computing;
pub mod direct;
pub mod exports;
pub mod making;
pub mod table;
pub mod views;

#[cfg(test)]
mod tests;
