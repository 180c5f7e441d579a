//! Special functions, which models for the CPU have in their own code; models for devices call them by name.

use crate::dispatcher::arguments::Arguments;
use crate::dispatcher::results::{Function, Results, one};
use crate::error::Result;
use crate::operations::special::{Special, of_each, of_pairs, polygamma};
use crate::sconce::operations::Operand;

/// Functions of one element: the name, the argument's name, the function.
macro_rules! of_one {
    ($($name:literal, $argument:literal, $function:ident;)*) => {
        &[$(
            (concat!($name, "(Tensor ", $argument, ") -> Tensor"), |arguments| {
                one(of_each(Special::$function, arguments.tensor(0)?))
            }),
        )*]
    };
}

/// Functions of two elements, of which each may be a number: the name and the arguments' names, the names of the
/// overloads with a number, the function.
macro_rules! of_two {
    ($($name:literal, $first:literal, $second:literal, $first_number:literal, $second_number:literal, $function:ident;)*) => {
        &[$(
            (concat!($name, "(Tensor ", $first, ", Tensor ", $second, ") -> Tensor"), |arguments| {
                pair(Special::$function, tensor(arguments, 0), tensor(arguments, 1))
            }),
            (
                concat!($name, ".", $first_number, "(Scalar ", $first, ", Tensor ", $second, ") -> Tensor"),
                |arguments| pair(Special::$function, arguments.operand(0), tensor(arguments, 1)),
            ),
            (
                concat!($name, ".", $second_number, "(Tensor ", $first, ", Scalar ", $second, ") -> Tensor"),
                |arguments| pair(Special::$function, tensor(arguments, 0), arguments.operand(1)),
            ),
        )*]
    };
}

/// Of one element.
pub const OF_ONE: &[(&str, Function)] = of_one! {
    "digamma", "self", DIGAMMA;
    "special_airy_ai", "x", AIRY_AI;
    "special_i0e", "self", I0E;
    "special_i1e", "self", I1E;
    "special_modified_bessel_k0", "self", K0;
    "special_modified_bessel_k1", "self", K1;
    "special_ndtri", "self", NDTRI;
    "special_scaled_modified_bessel_k0", "x", SCALED_K0;
    "special_scaled_modified_bessel_k1", "x", SCALED_K1;
    "special_spherical_bessel_j0", "x", SPHERICAL_J0;
};

/// Of two elements.
pub const OF_TWO: &[(&str, Function)] = of_two! {
    "special_zeta", "self", "other", "self_scalar", "other_scalar", ZETA;
    "special_chebyshev_polynomial_t", "x", "n", "x_scalar", "n_scalar", CHEBYSHEV_T;
    "special_chebyshev_polynomial_u", "x", "n", "x_scalar", "n_scalar", CHEBYSHEV_U;
    "special_chebyshev_polynomial_v", "x", "n", "x_scalar", "n_scalar", CHEBYSHEV_V;
    "special_chebyshev_polynomial_w", "x", "n", "x_scalar", "n_scalar", CHEBYSHEV_W;
    "special_hermite_polynomial_h", "x", "n", "x_scalar", "n_scalar", HERMITE_H;
    "special_hermite_polynomial_he", "x", "n", "x_scalar", "n_scalar", HERMITE_HE;
    "special_laguerre_polynomial_l", "x", "n", "x_scalar", "n_scalar", LAGUERRE_L;
    "special_legendre_polynomial_p", "x", "n", "x_scalar", "n_scalar", LEGENDRE_P;
    "special_shifted_chebyshev_polynomial_t", "x", "n", "x_scalar", "n_scalar", SHIFTED_T;
    "special_shifted_chebyshev_polynomial_u", "x", "n", "x_scalar", "n_scalar", SHIFTED_U;
    "special_shifted_chebyshev_polynomial_v", "x", "n", "x_scalar", "n_scalar", SHIFTED_V;
    "special_shifted_chebyshev_polynomial_w", "x", "n", "x_scalar", "n_scalar", SHIFTED_W;
};

/// The others, which take no numbers.
pub const OTHERS: &[(&str, Function)] = &[
    ("polygamma(int n, Tensor self) -> Tensor", |arguments| {
        one(polygamma(arguments.int(0)?, arguments.tensor(1)?))
    }),
    ("igamma(Tensor self, Tensor other) -> Tensor", |arguments| gamma(arguments, Special::IGAMMA)),
    ("igammac(Tensor self, Tensor other) -> Tensor", |arguments| {
        gamma(arguments, Special::IGAMMAC)
    }),
];

fn tensor(arguments: &Arguments, at: usize) -> Result<Operand<'static>> {
    arguments.tensor(at).map(Operand::Handle)
}

fn pair(
    function: Special,
    first: Result<Operand<'static>>,
    second: Result<Operand<'static>>,
) -> Results {
    one(of_pairs(function, first?, second?, true))
}

/// As in torch, these are not defined for two tensors of whole numbers.
fn gamma(arguments: &Arguments, function: Special) -> Results {
    one(of_pairs(function, tensor(arguments, 0)?, tensor(arguments, 1)?, false))
}
