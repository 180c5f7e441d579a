//! Linear equations and factors of matrices.

use crate::dispatcher::arguments::Arguments;
use crate::dispatcher::results::{Function, Results, one, two};
use crate::error::{Error, Result};
use crate::operations::integers::gcd;
use crate::operations::solvers::checks::factored;
use crate::operations::solvers::functions::{determinants, exponential};
use crate::operations::solvers::lu::{Factors, lu_factor, unpack};
use crate::operations::solvers::{
    definite, eigen, equations, least_squares, reflections, spectra, symmetric, triangles,
};
use crate::registry::value::Value;
use crate::sconce::Tensor;

/// What this file offers.
pub const OPERATIONS: &[(&str, Function)] = &[
    ("gcd(Tensor self, Tensor other) -> Tensor", |arguments| {
        one(gcd(arguments.tensor(0)?, arguments.tensor(1)?))
    }),
    (
        "triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) -> \
         (Tensor solution, Tensor cloned_coefficient)",
        |arguments| {
            let how = [arguments.flag(2)?, arguments.flag(3)?, arguments.flag(4)?];
            let solved =
                triangles::triangular_solve(arguments.tensor(0)?, arguments.tensor(1)?, how)?;
            two(solved.solution, solved.coefficients)
        },
    ),
    (
        "linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> \
         Tensor",
        |arguments| {
            let how = [arguments.flag(2)?, arguments.flag(3)?, arguments.flag(4)?];
            one(triangles::solve_triangular(arguments.tensor(0)?, arguments.tensor(1)?, how))
        },
    ),
    ("cholesky_inverse(Tensor self, bool upper=False) -> Tensor", |arguments| {
        one(definite::cholesky_inverse(arguments.tensor(0)?, arguments.flag(1)?))
    }),
    ("cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor", |arguments| {
        let (b, factor) = (arguments.tensor(0)?, arguments.tensor(1)?);
        one(definite::cholesky_solve(b, factor, arguments.flag(2)?))
    }),
    (
        "linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)",
        |arguments| {
            let (is_upper, checks) = (arguments.flag(1)?, arguments.flag(2)?);
            all(definite::cholesky_ex(arguments.tensor(0)?, is_upper, checks))
        },
    ),
    ("linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor", cholesky),
    ("cholesky(Tensor self, bool upper=False) -> Tensor", cholesky),
    ("geqrf(Tensor self) -> (Tensor a, Tensor tau)", |arguments| {
        all(reflections::geqrf(arguments.tensor(0)?))
    }),
    (
        "ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor",
        |arguments| {
            let (input, tau) = (arguments.tensor(0)?, arguments.tensor(1)?);
            let (is_left, is_adjoint) = (arguments.flag(3)?, arguments.flag(4)?);
            one(reflections::ormqr(input, tau, arguments.tensor(2)?, is_left, is_adjoint))
        },
    ),
    ("linalg_householder_product(Tensor input, Tensor tau) -> Tensor", |arguments| {
        one(reflections::householder_product(arguments.tensor(0)?, arguments.tensor(1)?))
    }),
    ("linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)", |arguments| {
        all(reflections::qr(arguments.tensor(0)?, &arguments.text(1)?))
    }),
    (
        "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor P, \
         Tensor L, Tensor U)",
        |arguments| {
            let (factors, pivots) = (arguments.tensor(0)?, arguments.tensor(1)?);
            all(unpack(factors, pivots, arguments.flag(2)?, arguments.flag(3)?))
        },
    ),
    (
        "linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, \
         Tensor info)",
        |arguments| {
            let name = "linalg.lu_factor_ex";
            let factors = pivoted(arguments, name)?;
            if arguments.flag(2)? {
                factored(name, &factors.info)?;
            }
            all(Ok([factors.lu, factors.pivots, factors.info]))
        },
    ),
    ("linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)", |arguments| {
        let name = "linalg.lu_factor";
        let factors = pivoted(arguments, name)?;
        factored(name, &factors.info)?;
        two(factors.lu, factors.pivots)
    }),
    ("linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)", |arguments| {
        let factors = pivoted(arguments, "linalg.lu")?;
        all(unpack(factors.lu.handle(), factors.pivots.handle(), true, true))
    }),
    (
        "linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor",
        |arguments| {
            let (factors, pivots) = (arguments.tensor(0)?, arguments.tensor(1)?);
            let (is_left, is_adjoint) = (arguments.flag(3)?, arguments.flag(4)?);
            one(equations::lu_solve(factors, pivots, arguments.tensor(2)?, is_left, is_adjoint))
        },
    ),
    (
        "linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD, Tensor \
         pivots, Tensor info)",
        |arguments| {
            let factors = symmetric::ldl_factor(arguments.tensor(0)?, arguments.flag(1)?)?;
            if arguments.flag(2)? {
                factored("linalg.ldl_factor_ex", &factors[2])?;
            }
            all(Ok(factors))
        },
    ),
    (
        "linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)",
        |arguments| {
            let [factors, pivots, info] =
                symmetric::ldl_factor(arguments.tensor(0)?, arguments.flag(1)?)?;
            factored("linalg.ldl_factor", &info)?;
            two(factors, pivots)
        },
    ),
    (
        "linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor",
        |arguments| {
            let (factors, pivots) = (arguments.tensor(0)?, arguments.tensor(1)?);
            one(symmetric::ldl_solve(factors, pivots, arguments.tensor(2)?, arguments.flag(3)?))
        },
    ),
    (
        "_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor \
         LU, Tensor pivots, Tensor info)",
        |arguments| {
            let equations::Solution { result, factors } = solved(arguments, arguments.flag(3)?)?;
            all(Ok([result, factors.lu, factors.pivots, factors.info]))
        },
    ),
    (
        "linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor \
         info)",
        |arguments| {
            let solution = solved(arguments, arguments.flag(3)?)?;
            two(solution.result, solution.factors.info)
        },
    ),
    ("linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor", |arguments| {
        one(solved(arguments, true).map(|solution| solution.result))
    }),
    (
        "linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
        |arguments| {
            all(equations::invert("linalg.inv_ex", arguments.tensor(0)?, arguments.flag(1)?))
        },
    ),
    ("linalg_inv(Tensor A) -> Tensor", inverse),
    ("inverse(Tensor self) -> Tensor", inverse),
    ("_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)", |arguments| {
        let (result, factors) = determinants::determinant(arguments.tensor(0)?)?;
        all(Ok([result, factors.lu, factors.pivots]))
    }),
    ("linalg_det(Tensor A) -> Tensor", determinant),
    ("det(Tensor self) -> Tensor", determinant),
    (
        "_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)",
        |arguments| {
            let found = determinants::sign_and_logarithm(arguments.tensor(0)?)?;
            all(Ok([found.sign, found.logarithm, found.factors.lu, found.factors.pivots]))
        },
    ),
    ("linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)", |arguments| {
        let found = determinants::sign_and_logarithm(arguments.tensor(0)?)?;
        two(found.sign, found.logarithm)
    }),
    (
        "_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) -> (Tensor U, \
         Tensor S, Tensor Vh)",
        |arguments| singular(arguments, arguments.flag(2)?),
    ),
    (
        "linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
        |arguments| singular(arguments, true),
    ),
    ("linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor", |arguments| {
        one(spectra::singular(arguments.tensor(0)?, false, false).map(|found| found.values))
    }),
    (
        "_linalg_eigh(Tensor A, str UPLO='L', bool compute_v=True) -> (Tensor eigenvalues, Tensor eigenvectors)",
        |arguments| eigen_of_hermitian(arguments, arguments.flag(2)?),
    ),
    (
        "linalg_eigh(Tensor self, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)",
        |arguments| eigen_of_hermitian(arguments, true),
    ),
    ("linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)", |arguments| {
        let found = eigen::eig("linalg.eig", arguments.tensor(0)?, true)?;
        two(found.values, found.vectors.ok_or_else(|| Error::internal("there are no vectors"))?)
    }),
    ("_linalg_eigvals(Tensor self) -> Tensor", eigenvalues),
    ("linalg_eigvals(Tensor self) -> Tensor", eigenvalues),
    (
        "linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor solution, Tensor \
         residuals, Tensor rank, Tensor singular_values)",
        |arguments| {
            let (a, b) = (arguments.tensor(0)?, arguments.tensor(1)?);
            let rcond = arguments.optional_real(2)?;
            let driver = if arguments.is_none(3)? { None } else { Some(arguments.text(3)?) };
            let found = least_squares::lstsq(a, b, rcond, driver.as_deref())?;
            all(Ok([found.solution, found.residuals, found.rank, found.values]))
        },
    ),
    (
        "linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> \
         Tensor",
        |arguments| {
            let [atol, rtol] = [arguments.optional_tensor(1)?, arguments.optional_tensor(2)?];
            let is_hermitian = arguments.flag(3)?;
            one(least_squares::pseudoinverse(arguments.tensor(0)?, atol, rtol, is_hermitian))
        },
    ),
    ("linalg_matrix_exp(Tensor self) -> Tensor", |arguments| {
        one(exponential::matrix_exp(arguments.tensor(0)?))
    }),
    ("_linalg_check_errors(Tensor info, str api_name, *, bool is_matrix) -> ()", |arguments| {
        factored(&arguments.text(1)?, &Tensor::retained(arguments.tensor(0)?)?)?;
        Ok(Vec::new())
    }),
    ("linalg_eigvalsh(Tensor self, str UPLO='L') -> Tensor", |arguments| {
        let uplo = arguments.text(1)?;
        one(spectra::eigen(arguments.tensor(0)?, &uplo, false).map(|found| found.values))
    }),
];

/// `_linalg_svd(A, full_matrices, compute_uv)`; every driver is this one.
fn singular(arguments: &Arguments, has_vectors: bool) -> Results {
    let found = spectra::singular(arguments.tensor(0)?, arguments.flag(1)?, has_vectors)?;
    all(Ok([found.left, found.values, found.right]))
}

/// `_linalg_eigh(A, UPLO, compute_v)`
fn eigen_of_hermitian(arguments: &Arguments, has_vectors: bool) -> Results {
    let found = spectra::eigen(arguments.tensor(0)?, &arguments.text(1)?, has_vectors)?;
    two(found.values, found.vectors)
}

/// `linalg_eigvals(self)`
fn eigenvalues(arguments: &mut Arguments) -> Results {
    one(eigen::eig("linalg.eigvals", arguments.tensor(0)?, false).map(|found| found.values))
}

/// Several tensors.
fn all<const N: usize>(tensors: Result<[Tensor; N]>) -> Results {
    tensors.map(|tensors| tensors.into_iter().map(Value::Tensor).collect())
}

/// `linalg_cholesky(self, upper)`
fn cholesky(arguments: &mut Arguments) -> Results {
    let [factor, info] = definite::cholesky_ex(arguments.tensor(0)?, arguments.flag(1)?, false)?;
    factored("linalg.cholesky", &info)?;
    one(Ok(factor))
}

/// The factors of the first argument; the second one says whether rows may be exchanged.
fn pivoted(arguments: &Arguments, name: &str) -> Result<Factors> {
    if !arguments.flag(1)? {
        return Err(Error::not_supported(format!(
            "{name}: LU without pivoting is not offered; leave pivot at true"
        )));
    }
    lu_factor(name, arguments.tensor(0)?)
}

/// `linalg_solve_ex(A, B, left)`
fn solved(arguments: &Arguments, checks_errors: bool) -> Result<equations::Solution> {
    let (a, b) = (arguments.tensor(0)?, arguments.tensor(1)?);
    equations::solve(a, b, arguments.flag(2)?, checks_errors)
}

/// `linalg_inv(A)`
fn inverse(arguments: &mut Arguments) -> Results {
    let [inverse, _] = equations::invert("linalg.inv", arguments.tensor(0)?, true)?;
    one(Ok(inverse))
}

/// `linalg_det(A)`
fn determinant(arguments: &mut Arguments) -> Results {
    one(determinants::determinant(arguments.tensor(0)?).map(|(result, _)| result))
}
