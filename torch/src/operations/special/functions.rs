//! Special functions of one element, and the names of their kernels.

#![allow(unsafe_code, reason = "calls functions.cc")]

use std::fmt;

use crate::kernels::{Image, images};

/// A function of one or two elements of an operation; the last argument is whether the elements are of F64.
type OfElements = unsafe extern "C" fn(f64, f64, bool) -> f64;

/// A special function: `functions.cc` calculates elements on the CPU, and kernels of the same source on devices.
#[derive(Clone, Copy)]
pub struct Special {
    /// The name, as kernels have it.
    pub name: &'static str,
    /// The image that has its kernel.
    pub image: &'static Image,
    of_elements: OfElements,
}

impl Special {
    /// Whether the second element is the degree of a polynomial.
    pub fn is_polynomial(&self) -> bool {
        self.name.contains("polynomial")
    }

    /// The value of the function. A function of one element ignores `y`.
    pub fn value(&self, x: f64, y: f64, is_f64: bool) -> f64 {
        // SAFETY: the functions of `functions.cc` take any numbers.
        unsafe { (self.of_elements)(x, y, is_f64) }
    }
}

impl fmt::Debug for Special {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name)
    }
}

macro_rules! functions {
    ($($image:ident { $($(#[$doc:meta])* $constant:ident = $function:ident, $name:literal;)* })*) => {
        unsafe extern "C" {
            $($(fn $function(x: f64, y: f64, is_f64: bool) -> f64;)*)*
        }

        impl Special {
            $($(
                $(#[$doc])*
                pub const $constant: Special =
                    Special { name: $name, image: &images::$image, of_elements: $function };
            )*)*
        }

        /// All functions.
        #[cfg(test)]
        pub(super) const ALL: &[Special] = &[$($(Special::$constant),*),*];
    };
}

functions! {
    SPECIAL {
        /// Airy's function.
        AIRY_AI = sconce_torch_special_airy_ai_value, "airy_ai";
        /// The derivative of the logarithm of the gamma function.
        DIGAMMA = sconce_torch_special_digamma_value, "digamma";
        /// The modified Bessel function I0, times exp(-|x|).
        I0E = sconce_torch_special_i0e_value, "i0e";
        /// The modified Bessel function I1, times exp(-|x|).
        I1E = sconce_torch_special_i1e_value, "i1e";
        /// The modified Bessel function K0.
        K0 = sconce_torch_special_modified_bessel_k0_value, "modified_bessel_k0";
        /// The modified Bessel function K1.
        K1 = sconce_torch_special_modified_bessel_k1_value, "modified_bessel_k1";
        /// The quantile of the normal distribution.
        NDTRI = sconce_torch_special_ndtri_value, "ndtri";
        /// Derivatives of [`Self::DIGAMMA`], whose order is the second operand.
        POLYGAMMA = sconce_torch_special_polygamma_value, "polygamma";
        /// K0, times exp(x).
        SCALED_K0 = sconce_torch_special_scaled_modified_bessel_k0_value, "scaled_modified_bessel_k0";
        /// K1, times exp(x).
        SCALED_K1 = sconce_torch_special_scaled_modified_bessel_k1_value, "scaled_modified_bessel_k1";
        /// sin(x) / x.
        SPHERICAL_J0 = sconce_torch_special_spherical_bessel_j0_value, "spherical_bessel_j0";
        /// Hurwitz's zeta function.
        ZETA = sconce_torch_special_zeta_value, "zeta";
    }
    SPECIAL_GAMMA {
        /// The lower incomplete gamma function, regularized.
        IGAMMA = sconce_torch_special_igamma_value, "igamma";
        /// The upper one.
        IGAMMAC = sconce_torch_special_igammac_value, "igammac";
    }
    SPECIAL_POLYNOMIALS {
        /// Chebyshev's polynomials of the first kind.
        CHEBYSHEV_T = sconce_torch_special_chebyshev_polynomial_t_value, "chebyshev_polynomial_t";
        /// Those of the second kind.
        CHEBYSHEV_U = sconce_torch_special_chebyshev_polynomial_u_value, "chebyshev_polynomial_u";
        /// Those of the third kind.
        CHEBYSHEV_V = sconce_torch_special_chebyshev_polynomial_v_value, "chebyshev_polynomial_v";
        /// Those of the fourth kind.
        CHEBYSHEV_W = sconce_torch_special_chebyshev_polynomial_w_value, "chebyshev_polynomial_w";
        /// Hermite's polynomials of physics.
        HERMITE_H = sconce_torch_special_hermite_polynomial_h_value, "hermite_polynomial_h";
        /// Hermite's polynomials of probability.
        HERMITE_HE = sconce_torch_special_hermite_polynomial_he_value, "hermite_polynomial_he";
        /// Laguerre's polynomials.
        LAGUERRE_L = sconce_torch_special_laguerre_polynomial_l_value, "laguerre_polynomial_l";
        /// Legendre's polynomials.
        LEGENDRE_P = sconce_torch_special_legendre_polynomial_p_value, "legendre_polynomial_p";
        /// Chebyshev's polynomials of 2x - 1.
        SHIFTED_T = sconce_torch_special_shifted_chebyshev_polynomial_t_value, "shifted_chebyshev_polynomial_t";
        /// Those of the second kind.
        SHIFTED_U = sconce_torch_special_shifted_chebyshev_polynomial_u_value, "shifted_chebyshev_polynomial_u";
        /// Those of the third kind.
        SHIFTED_V = sconce_torch_special_shifted_chebyshev_polynomial_v_value, "shifted_chebyshev_polynomial_v";
        /// Those of the fourth kind.
        SHIFTED_W = sconce_torch_special_shifted_chebyshev_polynomial_w_value, "shifted_chebyshev_polynomial_w";
    }
}
