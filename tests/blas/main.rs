//! Products of matrices, cuBLAS handles and their workspaces.

mod faults;
mod handles;
mod matmul;
mod workspaces;
