use std::arch::x86_64::__m256;
use std::hint::black_box;

use super::registers::{elements, register};
use super::*;

type One = unsafe extern "C" fn(__m256) -> __m256;
type Two = unsafe extern "C" fn(__m256, __m256) -> __m256;

/// # Safety
/// The processor has the registers.
#[target_feature(enable = "avx2,fma")]
unsafe fn of_one(function: One, x: [f32; 8]) -> [f32; 8] {
    let x = register(x);
    // SAFETY: the function needs the registers, which the callers of this one have looked for.
    elements(unsafe { function(x) })
}

/// # Safety
/// The processor has the registers.
#[target_feature(enable = "avx2,fma")]
unsafe fn of_two(function: Two, x: [f32; 8], y: [f32; 8]) -> [f32; 8] {
    let (x, y) = (register(x), register(y));
    // SAFETY: the function needs the registers, which the callers of this one have looked for.
    elements(unsafe { function(x, y) })
}

/// Calls a function of sixteen elements, whose convention no compiler of ours has, with its registers set by hand.
///
/// # Safety
/// The processor has AVX-512.
unsafe fn of_sixteen(function: unsafe extern "C" fn(), x: [f32; 16], y: [f32; 16]) -> [f32; 16] {
    let mut result = [0.0_f32; 16];
    // SAFETY: the arrays have the size of the registers, and everything that a call may change is marked.
    unsafe {
        std::arch::asm!(
            "vmovups zmm0, [{x}]",
            "vmovups zmm1, [{y}]",
            "call {function}",
            "vmovups [r12], zmm0",
            x = in(reg) x.as_ptr(),
            y = in(reg) y.as_ptr(),
            function = in(reg) function,
            in("r12") result.as_mut_ptr(), // One that calls keep.
            clobber_abi("C"),
        );
    }
    result
}

fn can_calculate() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

/// The error of a result, in units of its last place; 0 for the same special value.
fn error(found: f32, exact: f64) -> f64 {
    if exact.is_nan() || found.is_nan() {
        return if exact.is_nan() && found.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let rounded = exact as f32;
    if rounded.is_infinite() || found.is_infinite() || exact == 0.0 {
        let is_same = rounded == found && rounded.is_sign_negative() == found.is_sign_negative();
        return if is_same { 0.0 } else { f64::INFINITY };
    }
    if found.is_sign_negative() != exact.is_sign_negative() {
        return f64::INFINITY;
    }
    let (_, exponent) = exponent_of(exact);
    let unit = 2.0_f64.powi((exponent - 23).max(-149));
    (f64::from(found) - exact).abs() / unit
}

/// The power of two at or below a number.
fn exponent_of(x: f64) -> (f64, i32) {
    (x, ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023)
}

const SPECIALS: [f32; 24] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    -2.0,
    10.0,
    1000.0,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    f32::MIN_POSITIVE,
    -1e-45,
    1e-45,
    f32::MAX,
    f32::MIN,
    88.72284,
    -103.97,
    -87.4,
    128.0,
    -149.5,
    3.919_206,
    16_777_216.0,
];

/// Every 1009th number of 32 bits, in builds for tests fewer, and special ones.
fn numbers() -> impl Iterator<Item = [f32; 8]> {
    let step: u32 = if cfg!(debug_assertions) { 16_381 } else { 1009 };
    let all = (0..u32::MAX / step).map(move |index| f32::from_bits(index * step));
    let mut all = SPECIALS.into_iter().chain(all);
    std::iter::from_fn(move || {
        let first = all.next()?;
        let mut eight = [first; 8];
        for place in &mut eight[1..] {
            *place = all.next().unwrap_or(first);
        }
        Some(eight)
    })
}

fn check(name: &str, function: One, exact: fn(f64) -> f64) {
    let mut largest = (0.0, 0.0);
    for x in numbers() {
        // SAFETY: the processor has the registers, as the caller has looked.
        let found = unsafe { of_one(function, x) };
        for (x, found) in x.into_iter().zip(found) {
            let error = error(found, exact(f64::from(x)));
            assert!(error <= 0.51, "{name}({x:e}) is {found:e}, which errs by {error} units");
            if error > largest.0 {
                largest = (error, x);
            }
        }
    }
    assert!(largest.0 > 0.4, "{name} has hardly been called");
}

/// Functions of the C library; those of the standard library lose digits near 0, or are missing.
macro_rules! c_functions {
    ($($name:ident = $function:ident: $kind:ty;)*) => {$(
        fn $name(x: $kind) -> $kind {
            unsafe extern "C" {
                safe fn $function(value: $kind) -> $kind;
            }
            $function(x)
        }
    )*};
}

c_functions! {
    c_acosh = acosh: f64;
    c_asinh = asinh: f64;
    c_atanh = atanh: f64;
    c_erf = erf: f64;
    c_erfcf = erfcf: f32;
}

#[test]
fn functions_of_one_number_err_by_half_a_unit() {
    if !can_calculate() {
        return;
    }
    check("exp", Sleef_expf8_u10, f64::exp);
    check("exp2", Sleef_exp2f8_u10, f64::exp2);
    check("expm1", Sleef_expm1f8_u10, f64::exp_m1);
    check("tanh", Sleef_tanhf8_u10, f64::tanh);
    check("sinh", Sleef_sinhf8_u10, f64::sinh);
    check("cosh", Sleef_coshf8_u10, f64::cosh);
    check("erf", Sleef_erff8_u10, c_erf);
    check("log", Sleef_logf8_u10, f64::ln);
    check("log2", Sleef_log2f8_u10, f64::log2);
    check("log10", Sleef_log10f8_u10, f64::log10);
    check("log1p", Sleef_log1pf8_u10, f64::ln_1p);
    check("sin", Sleef_sinf8_u10, f64::sin);
    check("sin", Sleef_sinf8_u35, f64::sin);
    check("cos", Sleef_cosf8_u10, f64::cos);
    check("cos", Sleef_cosf8_u35, f64::cos);
    check("tan", Sleef_tanf8_u10, f64::tan);
    check("acos", Sleef_acosf8_u10, f64::acos);
    check("acosh", Sleef_acoshf8_u10, c_acosh);
    check("asin", Sleef_asinf8_u10, f64::asin);
    check("asinh", Sleef_asinhf8_u10, c_asinh);
    check("atan", Sleef_atanf8_u10, f64::atan);
    check("atanh", Sleef_atanhf8_u10, c_atanh);
}

#[test]
fn functions_of_two_numbers_err_by_half_a_unit() {
    if !can_calculate() {
        return;
    }
    let checked =
        |name: &str, function: Two, exact: fn(f64, f64) -> f64, x: [f32; 8], y: [f32; 8]| {
            // SAFETY: the processor has the registers.
            let found = unsafe { of_two(function, x, y) };
            for at in 0..8 {
                let error = error(found[at], exact(f64::from(x[at]), f64::from(y[at])));
                let (x, y, found) = (x[at], y[at], found[at]);
                assert!(
                    error <= 0.51,
                    "{name}({x:e}, {y:e}) is {found:e}, which errs by {error} units"
                );
            }
        };
    for x in SPECIALS {
        for y in SPECIALS.chunks_exact(8) {
            let y = std::array::from_fn(|at| y[at]);
            checked("pow", Sleef_powf8_u10, f64::powf, [x; 8], y);
            checked("hypot", Sleef_hypotf8_u05, f64::hypot, [x; 8], y);
            checked("atan2", Sleef_atan2f8_u10, f64::atan2, [x; 8], y);
        }
    }
    let mut state = 17_u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) as u32
    };
    for _ in 0..100_000 {
        // Any base; exponents whose powers are neither 0 nor infinite, for the most part.
        let x: [f32; 8] = std::array::from_fn(|_| f32::from_bits(next()));
        let y = x.map(|x| {
            let most = (130.0 / x.abs().log2().abs().max(1e-3)).min(1e6);
            (next() as f32 / u32::MAX as f32 * 2.0 - 1.0) * most
        });
        checked("pow", Sleef_powf8_u10, f64::powf, x, y);
        checked("pow", Sleef_powf8_u10, f64::powf, x.map(f32::abs), y);
        checked("hypot", Sleef_hypotf8_u05, f64::hypot, x, y);
        checked("atan2", Sleef_atan2f8_u10, f64::atan2, x, y);
        let near = x.map(|x| x * (1.0 + next() as f32 / u32::MAX as f32));
        checked("atan2", Sleef_atan2f8_u10, f64::atan2, x, near);
    }
}

#[test]
fn sixteen_elements_are_twice_eight() {
    if !can_calculate() || !is_x86_feature_detected!("avx512f") {
        return;
    }
    // The compiler must not calculate what the C library does.
    let x: [f32; 16] = black_box(std::array::from_fn(|at| at as f32 * 0.37 - 1.1));
    let y: [f32; 16] = black_box(std::array::from_fn(|at| 2.5 - at as f32 * 0.21));
    let eight = |half: usize, of: &[f32; 16]| std::array::from_fn(|at| of[half * 8 + at]);
    let ones: [(unsafe extern "C" fn(), One); 4] = [
        (Sleef_expf16_u10, Sleef_expf8_u10),
        (Sleef_erff16_u10, Sleef_erff8_u10),
        (Sleef_log1pf16_u10, Sleef_log1pf8_u10),
        (Sleef_cosf16_u35, Sleef_cosf8_u35),
    ];
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    for (sixteen, function) in ones {
        // SAFETY: the processor has the registers.
        let found = unsafe { of_sixteen(sixteen, x, y) };
        for half in 0..2 {
            // SAFETY: a processor with AVX-512 has the smaller registers.
            let expected = unsafe { of_one(function, eight(half, &x)) };
            assert_eq!(bits(&found[half * 8..][..8]), bits(&expected));
        }
    }
    let twos: [(unsafe extern "C" fn(), Two); 2] =
        [(Sleef_powf16_u10, Sleef_powf8_u10), (Sleef_hypotf16_u05, Sleef_hypotf8_u05)];
    for (sixteen, function) in twos {
        // SAFETY: the processor has the registers.
        let found = unsafe { of_sixteen(sixteen, x, y) };
        for half in 0..2 {
            // SAFETY: a processor with AVX-512 has the smaller registers.
            let expected = unsafe { of_two(function, eight(half, &x), eight(half, &y)) };
            assert_eq!(bits(&found[half * 8..][..8]), bits(&expected));
        }
    }
    // Eight F64 are twice four.
    let doubles: [f64; 8] = black_box(std::array::from_fn(|at| at as f64 * 0.37 - 1.1));
    // SAFETY: both have 64 bytes.
    let halves = unsafe { std::mem::transmute::<[f64; 8], [f32; 16]>(doubles) };
    // SAFETY: the processor has the registers, and the functions take and return one.
    let found = unsafe { of_sixteen(Sleef_expd8_u10, halves, halves) };
    // SAFETY: both have 64 bytes.
    let found = unsafe { std::mem::transmute::<[f32; 16], [f64; 8]>(found) };
    assert_eq!(found, doubles.map(f64::exp));
    // One that calls the C library.
    // SAFETY: the processor has the registers.
    let found = unsafe { of_sixteen(Sleef_fmodf16, x, y) };
    assert_eq!(found, std::array::from_fn(|at| x[at] % y[at]));
}

#[test]
fn each_element_of_a_register_is_calculated_by_the_c_library() {
    if !can_calculate() {
        return;
    }
    let x = black_box([0.0, 1.0, 0.9, 0.5, -0.3, -1.0, 0.25, 0.7]);
    let y = black_box([1.0, 2.0, 0.5, -1.0, 3.0, 0.7, 2.0, 1.5]);
    // SAFETY: the function takes and returns a register.
    let one = unsafe { std::mem::transmute::<unsafe extern "C" fn(), One>(Sleef_erfcf8_u15) };
    // SAFETY: the function takes two registers and returns one.
    let two = unsafe { std::mem::transmute::<unsafe extern "C" fn(), Two>(Sleef_fmodf8) };
    // SAFETY: the processor has the registers.
    assert_eq!(unsafe { of_one(one, x) }, x.map(c_erfcf));
    // SAFETY: the processor has the registers.
    assert_eq!(unsafe { of_two(two, x, y) }, std::array::from_fn(|at| x[at] % y[at]));
}

#[test]
fn exponentials_of_any_number_of_elements() {
    for count in 0..20 {
        let mut values: Vec<f32> = (0..count).map(|at| at as f32 * -1.7 + 3.0).collect();
        let exact: Vec<f64> = values.iter().map(|value| f64::from(*value).exp()).collect();
        exp_in_place(&mut values);
        for (found, exact) in values.into_iter().zip(exact) {
            assert!(error(found, exact) <= 1.0, "{found} is not {exact}");
        }
    }
}
