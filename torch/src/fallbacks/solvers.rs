//! Linear equations and factors of matrices.

#![allow(unsafe_code, reason = "functions of C over handles")]

use super::{give, give_all, give_both};
use crate::operations::solvers::{definite, lu, reflections, triangles};
use crate::sconce::tensor::TensorHandle;

fallbacks! {
    /// Returns the solution of equations with a triangle, and a copy of the triangle's matrix.
    aoti_torch_cpu_triangular_solve | aoti_torch_cuda_triangular_solve(
        b: TensorHandle,
        a: TensorHandle,
        upper: i32,
        transpose: i32,
        unitriangular: i32,
        ret0: *mut TensorHandle,
        ret1: *mut TensorHandle,
    ) {
        let how = [upper, transpose, unitriangular].map(|flag| flag != 0);
        give_both([ret0, ret1], triangles::triangular_solve(b, a, how)?)
    }

    /// Returns the inverse of a matrix of which a factor of Cholesky is passed.
    aoti_torch_cpu_cholesky_inverse | aoti_torch_cuda_cholesky_inverse(
        factor: TensorHandle,
        upper: i32,
        ret0: *mut TensorHandle,
    ) {
        give(ret0, definite::cholesky_inverse(factor, upper != 0)?)
    }

    /// Returns the solution of equations with a matrix of which a factor of Cholesky is passed.
    aoti_torch_cpu_cholesky_solve | aoti_torch_cuda_cholesky_solve(
        b: TensorHandle,
        factor: TensorHandle,
        upper: i32,
        ret0: *mut TensorHandle,
    ) {
        give(ret0, definite::cholesky_solve(b, factor, upper != 0)?)
    }

    /// Returns the upper factor with reflections below its diagonal, and their factors.
    aoti_torch_cpu_geqrf | aoti_torch_cuda_geqrf(
        matrices: TensorHandle,
        ret0: *mut TensorHandle,
        ret1: *mut TensorHandle,
    ) {
        let [factors, tau] = reflections::geqrf(matrices)?;
        give_both([ret0, ret1], (factors, tau))
    }

    /// Returns the product of a tensor with the reflections of `geqrf`.
    aoti_torch_cpu_ormqr | aoti_torch_cuda_ormqr(
        matrices: TensorHandle,
        tau: TensorHandle,
        other: TensorHandle,
        left: i32,
        transpose: i32,
        ret0: *mut TensorHandle,
    ) {
        let product = reflections::ormqr(matrices, tau, other, left != 0, transpose != 0)?;
        give(ret0, product)
    }

    /// Returns the exchanges and both triangles of LU factors.
    aoti_torch_cpu_lu_unpack | aoti_torch_cuda_lu_unpack(
        factors: TensorHandle,
        pivots: TensorHandle,
        unpack_data: i32,
        unpack_pivots: i32,
        ret0: *mut TensorHandle,
        ret1: *mut TensorHandle,
        ret2: *mut TensorHandle,
    ) {
        let [exchanges, lower, upper] =
            lu::unpack(factors, pivots, unpack_data != 0, unpack_pivots != 0)?;
        give_all([(ret0, "ret0", exchanges), (ret1, "ret1", lower), (ret2, "ret2", upper)])
    }
}
