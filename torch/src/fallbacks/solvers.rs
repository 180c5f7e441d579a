//! Linear equations and factors of matrices.

#![allow(unsafe_code, reason = "functions of C over handles")]

use super::{Place, give, give_all, give_both};
use crate::operations::solvers::{definite, lu, reflections, triangles};
use crate::sconce::tensor::TensorHandle;

abi_functions! {
    /// Returns the solution of equations with a triangle, and a copy of the triangle's matrix.
    aoti_torch_cpu_triangular_solve | aoti_torch_cuda_triangular_solve(
        b as self: TensorHandle, a as A: TensorHandle, upper: bool, transpose: bool, unitriangular: bool, ret0: Place,
        ret1: Place,
    ) {
        let how = [upper, transpose, unitriangular];
        give_both([ret0, ret1], triangles::triangular_solve(b, a, how)?)
    }

    /// Returns the inverse of a matrix of which a factor of Cholesky is passed.
    aoti_torch_cpu_cholesky_inverse | aoti_torch_cuda_cholesky_inverse(
        factor as self: TensorHandle, upper: bool, ret0: Place,
    ) {
        give(ret0, definite::cholesky_inverse(factor, upper)?)
    }

    /// Returns the solution of equations with a matrix of which a factor of Cholesky is passed.
    aoti_torch_cpu_cholesky_solve | aoti_torch_cuda_cholesky_solve(
        b as self: TensorHandle, factor as input2: TensorHandle, upper: bool, ret0: Place,
    ) {
        give(ret0, definite::cholesky_solve(b, factor, upper)?)
    }

    /// Returns the upper factor with reflections below its diagonal, and their factors.
    aoti_torch_cpu_geqrf | aoti_torch_cuda_geqrf(
        matrices as self: TensorHandle, ret0: Place, ret1: Place,
    ) {
        let [factors, tau] = reflections::geqrf(matrices)?;
        give_both([ret0, ret1], (factors, tau))
    }

    /// Returns the product of a tensor with the reflections of `geqrf`.
    aoti_torch_cpu_ormqr | aoti_torch_cuda_ormqr(
        matrices as self: TensorHandle, tau as input2: TensorHandle, other as input3: TensorHandle, left: bool,
        transpose: bool, ret0: Place,
    ) {
        let product = reflections::ormqr(matrices, tau, other, left, transpose)?;
        give(ret0, product)
    }

    /// Returns the exchanges and both triangles of LU factors.
    aoti_torch_cpu_lu_unpack | aoti_torch_cuda_lu_unpack(
        factors as LU_data: TensorHandle, pivots as LU_pivots: TensorHandle, unpack_data: bool, unpack_pivots: bool,
        ret0: Place, ret1: Place, ret2: Place,
    ) {
        let [exchanges, lower, upper] =
            lu::unpack(factors, pivots, unpack_data, unpack_pivots)?;
        give_all([(ret0, "ret0", exchanges), (ret1, "ret1", lower), (ret2, "ret2", upper)])
    }
}
