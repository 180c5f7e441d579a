//! Special functions beside values that were computed with 40 digits, and at poles, infinities and NaN as in PyTorch 2.11.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::{Special, of_each, of_pairs, polygamma};
use crate::abi::tensors::{dtype_of_tensor, sizes_of, strides_of};
use crate::sconce::api;
use crate::sconce::operations::Operand;
use crate::sconce::values::real;
use crate::testing::{Cases, Dense};

/// A function, its operands and its value.
const VALUES: &[(Special, f64, f64, f64)] = &[
    (Special::AIRY_AI, -30.5, 0.0, -0.004333637288742865),
    (Special::AIRY_AI, -4.25, 0.0, 0.12778292722826728),
    (Special::AIRY_AI, -2.5, 0.0, -0.11232506769296609),
    (Special::AIRY_AI, -1.0, 0.0, 0.5355608832923521),
    (Special::AIRY_AI, 0.0, 0.0, 0.3550280538878172),
    (Special::AIRY_AI, 0.75, 0.0, 0.17933630547864524),
    (Special::AIRY_AI, 2.0, 0.0, 0.03492413042327438),
    (Special::AIRY_AI, 2.5, 0.0, 0.01572592338047049),
    (Special::AIRY_AI, 9.0, 0.0, 2.47116843087249e-09),
    (Special::AIRY_AI, 40.0, 0.0, 6.365742658552915e-75),
    (Special::DIGAMMA, -7.25, 0.0, 5.189977214956288),
    (Special::DIGAMMA, -0.5, 0.0, 0.03648997397857652),
    (Special::DIGAMMA, 0.001, 0.0, -1000.5755719318103),
    (Special::DIGAMMA, 0.5, 0.0, -1.9635100260214235),
    (Special::DIGAMMA, 1.0, 0.0, -0.5772156649015329),
    (Special::DIGAMMA, 1.4375, 0.0, -0.023613544005297898),
    (Special::DIGAMMA, 6.5, 0.0, 1.792911330399933),
    (Special::DIGAMMA, 10.0, 0.0, 2.251752589066721),
    (Special::DIGAMMA, 1000000.0, 0.0, 13.815510057964191),
    (Special::I0E, -12.0, 0.0, 0.11642622121344044),
    (Special::I1E, -12.0, 0.0, -0.11146429929018098),
    (Special::I0E, -3.5, 0.0, 0.22280243801077917),
    (Special::I1E, -3.5, 0.0, -0.18739997660305),
    (Special::I0E, 0.0, 0.0, 1.0),
    (Special::I1E, 0.0, 0.0, 0.0),
    (Special::I0E, 0.5, 0.0, 0.6450352704491501),
    (Special::I1E, 0.5, 0.0, 0.1564208031848717),
    (Special::I0E, 7.75, 0.0, 0.1458122743089143),
    (Special::I1E, 7.75, 0.0, 0.1360511000803391),
    (Special::I0E, 8.25, 0.0, 0.1411645506329935),
    (Special::I1E, 8.25, 0.0, 0.13231017396500142),
    (Special::I0E, 300.0, 0.0, 0.02304255841508546),
    (Special::I1E, 300.0, 0.0, 0.02300412204026895),
    (Special::K0, 0.0001, 0.0, 9.326271913450276),
    (Special::SCALED_K0, 0.0001, 0.0, 9.327204587274533),
    (Special::K1, 0.0001, 0.0, 9999.999508686404),
    (Special::SCALED_K1, 0.0001, 0.0, 10000.999558638938),
    (Special::K0, 0.5, 0.0, 0.9244190712276659),
    (Special::SCALED_K0, 0.5, 0.0, 1.5241093857739094),
    (Special::K1, 0.5, 0.0, 1.656441120003301),
    (Special::SCALED_K1, 0.5, 0.0, 2.731009708211786),
    (Special::K0, 1.75, 0.0, 0.1553798123866036),
    (Special::SCALED_K0, 1.75, 0.0, 0.8941490841572174),
    (Special::K1, 1.75, 0.0, 0.19547745347439302),
    (Special::SCALED_K1, 1.75, 0.0, 1.1248950768625277),
    (Special::K0, 2.0, 0.0, 0.11389387274953344),
    (Special::SCALED_K0, 2.0, 0.0, 0.8415682150707714),
    (Special::K1, 2.0, 0.0, 0.13986588181652243),
    (Special::SCALED_K1, 2.0, 0.0, 1.0334768470686886),
    (Special::K0, 2.5, 0.0, 0.06234755320036619),
    (Special::SCALED_K0, 2.5, 0.0, 0.7595486903280996),
    (Special::K1, 2.5, 0.0, 0.07389081634774707),
    (Special::SCALED_K1, 2.5, 0.0, 0.900174423907878),
    (Special::K0, 30.0, 0.0, 2.1324774964630563e-14),
    (Special::SCALED_K0, 30.0, 0.0, 0.22788666561625373),
    (Special::K1, 30.0, 0.0, 2.1677320018915495e-14),
    (Special::SCALED_K1, 30.0, 0.0, 0.2316541293777118),
    (Special::NDTRI, 1e-300, 0.0, -37.0470962993612),
    (Special::NDTRI, 1e-20, 0.0, -9.262340089798407),
    (Special::NDTRI, 0.01, 0.0, -2.326347874040841),
    (Special::NDTRI, 0.125, 0.0, -1.150349380376008),
    (Special::NDTRI, 0.25, 0.0, -0.6744897501960817),
    (Special::NDTRI, 0.4375, 0.0, -0.1573106846101707),
    (Special::NDTRI, 0.5625, 0.0, 0.1573106846101707),
    (Special::NDTRI, 0.9375, 0.0, 1.5341205443525463),
    (Special::POLYGAMMA, 2.5, 0.0, 0.7031566406452432),
    (Special::POLYGAMMA, 0.25, 1.0, 17.19732915450711),
    (Special::POLYGAMMA, 4.0, 1.0, 0.2838229557371153),
    (Special::POLYGAMMA, -2.75, 1.0, 19.433868949488463),
    (Special::POLYGAMMA, 3.5, 2.0, -0.1082040516417274),
    (Special::POLYGAMMA, -1.25, 3.0, 1558.2209125348506),
    (Special::POLYGAMMA, -70.25, 2.0, 124.02490695342865),
    (Special::POLYGAMMA, -70.25, 3.0, 1558.5454508971754),
    (Special::POLYGAMMA, 0.75, 9.0, 6445286.291083572),
    (Special::POLYGAMMA, 12.0, 40.0, -4808.71134922841),
    (Special::SPHERICAL_J0, 0.0, 0.0, 1.0),
    (Special::SPHERICAL_J0, 1e-09, 0.0, 1.0),
    (Special::SPHERICAL_J0, 0.25, 0.0, 0.9896158370180917),
    (Special::SPHERICAL_J0, 3.0, 0.0, 0.04704000268662241),
    (Special::SPHERICAL_J0, -50.0, 0.0, -0.005247497074078576),
    (Special::ZETA, 1.25, 0.5, 6.333967529208202),
    (Special::ZETA, 2.0, 1.0, 1.6449340668482264),
    (Special::ZETA, 3.5, 20.0, 0.00023798942002684447),
    (Special::ZETA, 4.0, -2.5, 32.4579793698646),
    (Special::ZETA, 3.0, -80.75, 62.01262909737662),
    (Special::ZETA, 40.0, 1.5, 9.043772695905904e-08),
    (Special::IGAMMA, 0.25, 0.03125, 0.460990635130189),
    (Special::IGAMMAC, 0.25, 0.03125, 0.539009364869811),
    (Special::IGAMMA, 0.25, 0.75, 0.8999365132844982),
    (Special::IGAMMAC, 0.25, 0.75, 0.10006348671550178),
    (Special::IGAMMA, 0.001, 0.5, 0.9994399333435292),
    (Special::IGAMMAC, 0.001, 0.5, 0.0005600666564707498),
    (Special::IGAMMA, 3.0, 2.0, 0.32332358381693654),
    (Special::IGAMMAC, 3.0, 2.0, 0.6766764161830635),
    (Special::IGAMMA, 3.0, 9.0, 0.9937678048936227),
    (Special::IGAMMAC, 3.0, 9.0, 0.006232195106377317),
    (Special::IGAMMA, 15.0, 4.0, 1.9931727482710028e-05),
    (Special::IGAMMAC, 15.0, 4.0, 0.9999800682725173),
    (Special::IGAMMA, 15.0, 60.0, 0.9999999999989797),
    (Special::IGAMMAC, 15.0, 60.0, 1.0202758541470042e-12),
    (Special::IGAMMA, 30.0, 31.0, 0.5953478209656109),
    (Special::IGAMMAC, 30.0, 31.0, 0.4046521790343891),
    (Special::IGAMMA, 150.0, 120.0, 0.004563441304151243),
    (Special::IGAMMAC, 150.0, 120.0, 0.9954365586958488),
    (Special::IGAMMA, 900.0, 905.0, 0.5704285383303042),
    (Special::IGAMMAC, 900.0, 905.0, 0.4295714616696958),
    (Special::IGAMMA, 500.0, 800.0, 1.0),
    (Special::IGAMMAC, 500.0, 800.0, 1.742039824439163e-30),
    (Special::IGAMMA, 2.5, 700.0, 1.0),
    (Special::IGAMMAC, 2.5, 700.0, 1.3765875143943704e-300),
    (Special::CHEBYSHEV_T, 0.375, 5.0, 0.93896484375),
    (Special::CHEBYSHEV_T, 0.375, 13.0, -0.9597265496850014),
    (Special::CHEBYSHEV_T, -0.8125, 20.0, 0.992927751525451),
    (Special::CHEBYSHEV_T, 1.25, 9.0, 256.0009765625),
    (Special::CHEBYSHEV_T, -1.5, 4.0, 23.5),
    (Special::CHEBYSHEV_T, -1.0, 7.0, -1.0),
    (Special::SHIFTED_T, 0.125, 3.0, 0.5625),
    (Special::SHIFTED_T, 0.125, 11.0, 0.095947265625),
    (Special::SHIFTED_T, 0.8125, 6.0, 0.6143798828125),
    (Special::SHIFTED_T, 1.25, 7.0, 421.5),
    (Special::SHIFTED_T, 0.0, 5.0, -1.0),
    (Special::CHEBYSHEV_U, 0.375, 5.0, 0.7998046875),
    (Special::CHEBYSHEV_U, 0.375, 13.0, -0.846082404255867),
    (Special::CHEBYSHEV_U, -0.8125, 20.0, 0.8274619456904848),
    (Special::CHEBYSHEV_U, 1.25, 9.0, 682.666015625),
    (Special::CHEBYSHEV_U, -1.5, 4.0, 55.0),
    (Special::CHEBYSHEV_U, -1.0, 7.0, -8.0),
    (Special::SHIFTED_U, 0.125, 3.0, -0.375),
    (Special::SHIFTED_U, 0.125, 11.0, -1.03271484375),
    (Special::SHIFTED_U, 0.8125, 6.0, -0.017333984375),
    (Special::SHIFTED_U, 1.25, 7.0, 987.0),
    (Special::SHIFTED_U, 0.0, 5.0, -6.0),
    (Special::CHEBYSHEV_V, 0.375, 5.0, 1.1708984375),
    (Special::CHEBYSHEV_V, 0.375, 13.0, -1.1491334587335587),
    (Special::CHEBYSHEV_V, -0.8125, 20.0, 0.6238117231243726),
    (Special::CHEBYSHEV_V, 1.25, 9.0, 341.333984375),
    (Special::CHEBYSHEV_V, -1.5, 4.0, 76.0),
    (Special::CHEBYSHEV_V, -1.0, 7.0, -15.0),
    (Special::SHIFTED_V, 0.125, 3.0, -1.625),
    (Special::SHIFTED_V, 0.125, 11.0, -2.53759765625),
    (Special::SHIFTED_V, 0.8125, 6.0, 0.993408203125),
    (Special::SHIFTED_V, 1.25, 7.0, 610.0),
    (Special::SHIFTED_V, 0.0, 5.0, -11.0),
    (Special::CHEBYSHEV_W, 0.375, 5.0, 0.4287109375),
    (Special::CHEBYSHEV_W, 0.375, 13.0, -0.5430313497781754),
    (Special::CHEBYSHEV_W, -0.8125, 20.0, 1.031112168256597),
    (Special::CHEBYSHEV_W, 1.25, 9.0, 1023.998046875),
    (Special::CHEBYSHEV_W, -1.5, 4.0, 34.0),
    (Special::CHEBYSHEV_W, -1.0, 7.0, -1.0),
    (Special::SHIFTED_W, 0.125, 3.0, 0.875),
    (Special::SHIFTED_W, 0.125, 11.0, 0.47216796875),
    (Special::SHIFTED_W, 0.8125, 6.0, -1.028076171875),
    (Special::SHIFTED_W, 1.25, 7.0, 1364.0),
    (Special::SHIFTED_W, 0.0, 5.0, -1.0),
    (Special::HERMITE_H, 0.375, 1.0, 0.75),
    (Special::HERMITE_HE, 0.375, 1.0, 0.375),
    (Special::LAGUERRE_L, 0.375, 1.0, 0.625),
    (Special::LEGENDRE_P, 0.375, 1.0, 0.375),
    (Special::HERMITE_H, 0.375, 6.0, -28.064208984375),
    (Special::HERMITE_HE, 0.375, 6.0, -8.96572494506836),
    (Special::LAGUERRE_L, 0.375, 6.0, -0.3591010570526123),
    (Special::LEGENDRE_P, 0.375, 6.0, 0.2611730098724365),
    (Special::HERMITE_H, -2.5, 11.0, -3096175.0),
    (Special::HERMITE_HE, -2.5, 11.0, 13760.63232421875),
    (Special::LAGUERRE_L, -2.5, 11.0, 1746.6208114584267),
    (Special::LEGENDRE_P, -2.5, 11.0, -5259139.735631943),
    (Special::HERMITE_H, 1.0, 0.0, 1.0),
    (Special::HERMITE_HE, 1.0, 0.0, 1.0),
    (Special::LAGUERRE_L, 1.0, 0.0, 1.0),
    (Special::LEGENDRE_P, 1.0, 0.0, 1.0),
];

const INFINITE: f64 = f64::INFINITY;

#[test]
fn values_have_the_digits_of_f64() {
    for &(function, x, y, expected) in VALUES {
        let found = function.value(x, y, true);
        let error = (found - expected).abs() / expected.abs().max(f64::MIN_POSITIVE);
        assert!(error < 3e-13, "{function:?} of {x} and {y}: {found} instead of {expected}");
    }
    for function in super::functions::ALL {
        assert!(VALUES.iter().any(|(one, ..)| one.name == function.name), "{function:?} has none");
    }
}

#[test]
fn poles_infinities_and_nan_are_those_of_torch() {
    let nan = f64::NAN;
    for (function, x, y, expected) in [
        (Special::AIRY_AI, INFINITE, 0.0, nan),
        (Special::AIRY_AI, -INFINITE, 0.0, nan),
        (Special::AIRY_AI, 104.0, 0.0, 0.0),
        (Special::DIGAMMA, 0.0, 0.0, -INFINITE),
        (Special::DIGAMMA, -0.0, 0.0, INFINITE),
        (Special::DIGAMMA, -3.0, 0.0, nan),
        (Special::DIGAMMA, INFINITE, 0.0, INFINITE),
        (Special::DIGAMMA, -INFINITE, 0.0, nan),
        (Special::I0E, -INFINITE, 0.0, 0.0),
        (Special::K0, 0.0, 0.0, INFINITE),
        (Special::K1, -1.0, 0.0, nan),
        (Special::K1, INFINITE, 0.0, 0.0),
        (Special::NDTRI, 0.0, 0.0, -INFINITE),
        (Special::NDTRI, 1.0, 0.0, INFINITE),
        (Special::NDTRI, 1.5, 0.0, nan),
        (Special::POLYGAMMA, 0.0, 1.0, INFINITE),
        (Special::POLYGAMMA, INFINITE, 1.0, 0.0),
        (Special::POLYGAMMA, -2.0, 2.0, -INFINITE),
        (Special::SPHERICAL_J0, -INFINITE, 0.0, 0.0),
        (Special::ZETA, 1.0, 2.0, INFINITE),
        (Special::ZETA, 0.5, 2.0, nan),
        (Special::ZETA, 2.0, -3.0, INFINITE),
        (Special::ZETA, 2.5, -1.5, nan),
        (Special::IGAMMA, 0.0, 0.0, nan),
        (Special::IGAMMA, 0.0, 1.0, 1.0),
        (Special::IGAMMA, INFINITE, nan, 0.0),
        (Special::IGAMMA, nan, INFINITE, 1.0),
        (Special::IGAMMA, 2.0, -1.0, nan),
        (Special::IGAMMAC, 2.0, 0.0, 1.0),
        (Special::IGAMMAC, 2.0, INFINITE, 0.0),
        (Special::IGAMMAC, INFINITE, INFINITE, nan),
        (Special::CHEBYSHEV_T, 2.0, -1.0, 0.0),
        (Special::CHEBYSHEV_T, 2.0, -0.5, 1.0),
        (Special::CHEBYSHEV_U, 2.0, nan, 0.0),
        (Special::CHEBYSHEV_V, 2.0, INFINITE, 0.0),
        (Special::CHEBYSHEV_W, nan, 3.0, nan),
        (Special::HERMITE_HE, 2.0, 513.0, nan),
        (Special::LAGUERRE_L, 0.0, 9.0, 1.0),
        (Special::LEGENDRE_P, -1.0, 1e15 + 1.0, -1.0),
    ] {
        let found = function.value(x, y, true);
        let same = found == expected || (found.is_nan() && expected.is_nan());
        assert!(same, "{function:?} of {x} and {y}: {found} instead of {expected}");
    }
    // The largest order depends on the type.
    assert!(Special::HERMITE_H.value(0.5, 129.0, false).is_nan());
    assert!(Special::HERMITE_H.value(0.5, 129.0, true).is_finite());
    let sizes = [Special::ZETA.value(0.0, 1.0, true), Special::IGAMMA.value(nan, 1.0, true)];
    assert!(sizes.iter().all(|one| one.is_nan()));
}

/// The value in a type, rounded once.
fn rounded(value: f64, dtype: i32) -> f64 {
    match dtype {
        api::SCONCE_DTYPE_F64 => value,
        api::SCONCE_DTYPE_F16 => half::f16::from_f32(value as f32).to_f64(),
        api::SCONCE_DTYPE_BF16 => half::bf16::from_f32(value as f32).to_f64(),
        _ => f64::from(value as f32),
    }
}

#[test]
fn tensors_of_each_type_are_calculated_element_by_element() {
    let mut cases = Cases::new(17);
    for dtype in [
        api::SCONCE_DTYPE_F32,
        api::SCONCE_DTYPE_F64,
        api::SCONCE_DTYPE_F16,
        api::SCONCE_DTYPE_BF16,
        api::SCONCE_DTYPE_I8,
        api::SCONCE_DTYPE_I64,
    ] {
        let is_whole = matches!(dtype, api::SCONCE_DTYPE_I8 | api::SCONCE_DTYPE_I64);
        let result = if is_whole { api::SCONCE_DTYPE_F32 } else { dtype };
        for _ in 0..8 {
            let sizes = cases.sizes(3, 5);
            let mut part = sizes.clone();
            for size in part.iter_mut().filter(|size| **size > 1) {
                *size = if cases.int(0, 2) == 0 { 1 } else { *size };
            }
            let x = Dense::whole(&mut cases, &sizes, 1, 9);
            let y = Dense::whole(&mut cases, &part, 0, 9);
            let (a, b) = (x.either(&mut cases, dtype), y.either(&mut cases, dtype));
            let one = of_each(Special::DIGAMMA, a.handle()).unwrap();
            let expected = Dense::build(&sizes, |at| {
                rounded(Special::DIGAMMA.value(x.at(at), 0.0, false), result)
            });
            assert_eq!(dtype_of_tensor(one.handle()).unwrap(), result);
            assert_eq!(Dense::of(one.handle()), expected);
            let order = polygamma(3, a.handle()).unwrap();
            let expected = Dense::build(&sizes, |at| {
                rounded(Special::POLYGAMMA.value(x.at(at), 3.0, false), result)
            });
            assert_eq!(Dense::of(order.handle()), expected);
            let (first, second) = (Operand::Tensor(&a), Operand::Tensor(&b));
            let two = of_pairs(Special::LAGUERRE_L, first, second, true).unwrap();
            let expected = Dense::build(&sizes, |at| {
                rounded(Special::LAGUERRE_L.value(x.at(at), y.repeated_at(at), false), result)
            });
            assert_eq!(dtype_of_tensor(two.handle()).unwrap(), result);
            assert_eq!(Dense::of(two.handle()), expected);
            // A number has the type of the tensor, or F32 beside whole numbers.
            let number = Operand::Scalar(real(1.3));
            let with = of_pairs(Special::LAGUERRE_L, number, second, true).unwrap();
            let expected = Dense::build(&part, |at| {
                rounded(Special::LAGUERRE_L.value(rounded(1.3, result), y.at(at), false), result)
            });
            assert_eq!(Dense::of(with.handle()), expected);
        }
    }
}

#[test]
fn results_keep_the_order_in_memory() {
    let given = Dense::build(&[2, 3, 4], |at| 1.0 + at[0] as f64).tensor(api::SCONCE_DTYPE_F32);
    let turned = crate::sconce::operations::permute(given.handle(), &[2, 0, 1]).unwrap();
    let result = of_each(Special::I1E, turned.handle()).unwrap();
    assert_eq!(sizes_of(result.handle()).unwrap(), [4, 2, 3]);
    assert_eq!(strides_of(result.handle()).unwrap(), strides_of(turned.handle()).unwrap());
}

#[test]
fn other_types_and_negative_orders_are_refused() {
    let of = |dtype| Dense::build(&[2], |_| 1.0).tensor(dtype);
    let whole = of(api::SCONCE_DTYPE_I32);
    let why = polygamma(-1, whole.handle()).err().unwrap().message;
    assert!(why.contains("does not support negative n"), "{why}");
    let pair = [Operand::Tensor(&whole); 2];
    let why = of_pairs(Special::IGAMMA, pair[0], pair[1], false).err().unwrap().message;
    assert!(why.contains("not implemented for tensors of int32"), "{why}");
    let complex = of(api::SCONCE_DTYPE_C64);
    let why = of_each(Special::DIGAMMA, complex.handle()).err().unwrap().message;
    assert!(why.contains("not implemented for"), "{why}");
}

#[test]
fn operands_on_a_simulated_device_reach_the_launch() {
    crate::testing::simulate();
    let device = crate::operations::tensors::empty(&[3], api::SCONCE_DTYPE_F32, 0).unwrap();
    let number = Operand::Scalar(real(2.0));
    for found in [
        of_each(Special::NDTRI, device.handle()),
        of_pairs(Special::ZETA, Operand::Tensor(&device), number, true),
        of_pairs(Special::IGAMMA, Operand::Tensor(&device), Operand::Tensor(&device), false),
    ] {
        let why = found.err().unwrap().message;
        assert!(why.contains("the simulated device runs no kernels"), "{why}");
    }
}
