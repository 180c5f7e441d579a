//! The functions beside PyTorch 2.11's results, each other, and the functions of real numbers.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::f64::consts::{FRAC_PI_2, PI};

use super::complex::ComplexParts;
use super::*;
use crate::operations::views::{as_complex, as_real};
use crate::testing::{Cases, Dense};

const ALL: [Transcendental; 13] = [
    Transcendental::Acos,
    Transcendental::Acosh,
    Transcendental::Asin,
    Transcendental::Asinh,
    Transcendental::Atan,
    Transcendental::Atanh,
    Transcendental::Cosh,
    Transcendental::Expm1,
    Transcendental::Log10,
    Transcendental::Log1p,
    Transcendental::Log2,
    Transcendental::Sinh,
    Transcendental::Tan,
];

/// What PyTorch returns of 0.5 - 0.25i.
const INSIDE: [ComplexParts; 13] = [
    [1.0691874735193958, 0.28139605624529274],
    [0.28139605624529274, -1.0691874735193958],
    [0.5016088532755008, -0.28139605624529274],
    [0.4926756834207706, -0.2243284526346675],
    [0.4842544903299662, -0.20058661813123432],
    [0.5003700000525311, -0.3143981432077165],
    [1.0925708047319176, -0.12892104172809826],
    [0.5974665191199127, -0.4079001700783598],
    [-0.25257498915995297, -0.20135959813668655],
    [0.4191645952022216, -0.16514867741462683],
    [-0.8390359525563189, -0.6689021062254881],
    [0.504895714387995, -0.2789791283502615],
    [0.504500702698564, -0.3124206925025888],
];

/// What it returns of -2 - 0i: the lower side of the cuts.
const CUT: [ComplexParts; 13] = [
    [PI, 1.3169578969248166],
    [1.3169578969248166, -PI],
    [-FRAC_PI_2, -1.3169578969248166],
    [-1.4436354751788103, -0.0],
    [-1.1071487177940904, -0.0],
    [-0.5493061443340549, -FRAC_PI_2],
    [3.7621956910836314, 0.0],
    [-0.8646647167633873, -0.0],
    [0.30102999566398114, -1.3643763538418412],
    [0.0, -PI],
    [1.0, -4.532360141827194],
    [-3.626860407847019, -0.0],
    [2.185039863261519, -0.0],
];

fn assert_near(found: ComplexParts, expected: ComplexParts, within: f64, what: &str) {
    for (own, other) in found.into_iter().zip(expected) {
        let is_near = (own - other).abs() <= within * other.abs().max(1.0);
        let same_sign = own != 0.0 || own.is_sign_negative() == other.is_sign_negative();
        assert!(is_near && same_sign, "{what}: {found:?} instead of {expected:?}");
    }
}

#[test]
fn complex_numbers_have_pytorchs_values_on_both_sides_of_the_cuts() {
    for (at, function) in ALL.into_iter().enumerate() {
        let what = format!("{function:?}");
        assert_near(of_complex(function, [0.5, -0.25]), INSIDE[at], 1e-15, &what);
        assert_near(of_complex(function, [-2.0, -0.0]), CUT[at], 1e-15, &what);
        let [across, up] = CUT[at];
        assert_near(of_complex(function, [-2.0, 0.0]), [across, -up], 1e-15, &what);
    }
}

#[test]
fn functions_undo_each_other() {
    let mut cases = Cases::new(17);
    let mut part = || cases.int(-3000, 3000) as f64 / 1024.0;
    for _ in 0..400 {
        let z = [part(), part()];
        let back = |inner, outer| of_complex(outer, of_complex(inner, z));
        for (inner, outer) in [
            (Transcendental::Asinh, Transcendental::Sinh),
            (Transcendental::Acosh, Transcendental::Cosh),
            (Transcendental::Atan, Transcendental::Tan),
            (Transcendental::Log1p, Transcendental::Expm1),
        ] {
            let [across, up] = back(inner, outer);
            let apart = (across - z[0]).hypot(up - z[1]);
            assert!(apart < 1e-13, "{outer:?} of {inner:?} of {z:?}: {across} {up}");
        }
    }
}

#[test]
fn large_small_and_infinite_numbers_keep_their_digits() {
    use std::f64::consts::{FRAC_PI_4, LN_2};
    let of = of_complex;
    assert_near(of(Transcendental::Asin, [1e-200, 1e-200]), [1e-200; 2], 0.0, "asin");
    let ln = 300.0 * 10.0_f64.ln() + LN_2;
    assert_near(of(Transcendental::Asinh, [1e300, 0.0]), [ln, 0.0], 1e-15, "asinh");
    let infinite = of(Transcendental::Acos, [f64::INFINITY; 2]);
    assert_eq!(infinite, [FRAC_PI_4, f64::NEG_INFINITY]);
    assert_near(of(Transcendental::Atanh, [1e200, 1.0]), [0.0, FRAC_PI_2], 1e-15, "atanh");
    assert_eq!(of(Transcendental::Tan, [1.0, 800.0]), [0.0, 1.0]);
    // The product of e^710 and a small cosine does not overflow.
    let [across, _] = of(Transcendental::Cosh, [710.0, FRAC_PI_2]);
    assert!(across.is_finite(), "{across}");
    assert!(of(Transcendental::Acos, [f64::NAN, 1.0]).iter().all(|part| part.is_nan()));
}

#[test]
fn tensors_keep_their_order_and_have_pytorchs_types() {
    let mut cases = Cases::new(5);
    for (dtype, expected, within) in [
        (api::SCONCE_DTYPE_F64, api::SCONCE_DTYPE_F64, 1e-15),
        (api::SCONCE_DTYPE_F32, api::SCONCE_DTYPE_F32, 1e-6),
        (api::SCONCE_DTYPE_BF16, api::SCONCE_DTYPE_BF16, 1e-2),
        (api::SCONCE_DTYPE_I32, api::SCONCE_DTYPE_F32, 1e-6),
    ] {
        for function in ALL {
            let from = Dense::whole(&mut cases, &[3, 4], 0, 3);
            let given = from.either(&mut cases, dtype);
            let found = transcendental(function, given.handle()).unwrap();
            assert_eq!(dtype_of_tensor(found.handle()).unwrap(), expected);
            let wanted = Dense::build(&from.sizes, |at| of_real(function, from.at(at)));
            wanted.assert_near(found.handle(), within, &format!("{function:?}"));
        }
    }
    let parts = Dense { sizes: vec![2, 2], values: vec![0.5, -0.25, -2.0, -0.0] };
    for real in [api::SCONCE_DTYPE_F32, api::SCONCE_DTYPE_F64] {
        for (at, function) in ALL.into_iter().enumerate() {
            let given = as_complex(parts.tensor(real).handle()).unwrap();
            let found = transcendental(function, given.handle()).unwrap();
            let both = [INSIDE[at], CUT[at]].concat();
            let expected = Dense { sizes: vec![2, 2], values: both };
            let found = as_real(found.handle()).unwrap();
            expected.assert_near(found.handle(), 2e-7, &format!("{function:?}"));
        }
    }
}
