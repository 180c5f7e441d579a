//! Linear equations and factors of matrices: triangles, Cholesky's factors, reflections, LU. For the CPU and for
//! devices, in float32, float64 and complex types.
//!
//! | file | idea |
//! |---|---|
//! | `functions/` | functions of matrices |
//! | `field` | real and complex numbers with the same arithmetic |
//! | `matrices` | batches of matrices with strides; tensors whose matrices lie column by column |
//! | `parameters` | what steps take beside matrices |
//! | `steps` | steps that solutions are made of: products, triangles, parts of matrices |
//! | `panels` | steps that factor some columns of a matrix |
//! | `cpu/` | both on the CPU |
//! | `triangles` | equations with triangles, block by block |
//! | `definite` | Cholesky's factors, equations with them, inverses |
//! | `reflections` | factors of reflections (QR), and products with them |
//! | `lu` | LU factors with pivots, what is in them, equations with them |
//! | `symmetric` | factors of symmetric and Hermitian matrices, equations with them |
//! | `equations` | equations with square matrices, inverses |
//! | `rotations` | the step that makes columns orthogonal |
//! | `spectra` | singular values, eigenvalues of Hermitian matrices |
//! | `eigen/` | eigenvalues of other matrices, on the host |
//! | `least_squares` | least squares, pseudoinverses |
//! | `checks` | what operands must be, with PyTorch's words |

#[macro_use]
pub mod field;
pub mod checks;
pub mod cpu;
pub mod definite;
pub mod eigen;
pub mod equations;
pub mod functions;
pub mod least_squares;
pub mod lu;
pub mod matrices;
pub mod panels;
pub mod parameters;
pub mod reflections;
pub mod rotations;
pub mod spectra;
pub mod steps;
pub mod symmetric;
pub mod triangles;

#[cfg(test)]
mod tests;
