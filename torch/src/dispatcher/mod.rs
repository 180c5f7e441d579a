//! PyTorch's ABI: operations that kernel libraries call by name, such as `aten::new_empty`.
//!
//! | file | idea |
//! |---|---|
//! | `exports` | `torch_call_dispatcher` |
//! | `by_value` | calls by name with values |
//! | `arguments` | the arguments of a call, by their places in the schema |
//! | `table` | the operations and their schemas |
//! | `results` | what an operation is as a function, and what it returns |
//! | `operations/` | what the operations do, a file a family |
//! | `direct` | operations with functions of their own, `aoti_torch_aten_…` |

pub mod arguments;
pub mod by_value;
pub mod direct;
pub mod exports;
pub mod operations;
pub mod results;
pub mod table;

#[cfg(test)]
mod tests;
