//! Kernels on the CPU, under the names of the CUDA ones.
//!
//! A kernel is an entry of a table: its name, how many parameters it has, how long it takes in the
//! model, the memory it uses, and what it does. It reaches memory only through `DeviceMemoryView`, which
//! checks every range as the device would; a bad one is an illegal address, which ends the device.
//!
//! | file | idea |
//! |---|---|
//! | `kernel` | an entry of the table, and its launches |
//! | `basic` | sleeping, filling and adding |
//! | `conditions` | conditions of graphs |
//! | `pointwise` | element-wise operations |
//! | `random` | random fills |
//! | `reduction` | reductions, softmax and running sums |
//! | `rows`, `strided` | copies of rows, and of elements with strides |
//! | `small_product` | products of small matrices |
//! | `scale` | multiplication in place |
//! | `ordering` | sorts, selections and joins |
//! | `user/` | the program's kernels |
//! | `modules` | loaded modules and the kernels found in them |

mod basic;
mod conditions;
pub(super) mod kernel;
pub(super) mod modules;
mod ordering;
mod pointwise;
mod random;
mod reduction;
mod rows;
mod scale;
mod small_product;
mod strided;
pub(super) mod user;
