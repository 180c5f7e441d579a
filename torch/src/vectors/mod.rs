//! Functions of vectors that compiled CPU models call: `Sleef_expf8_u10` and others, eight or sixteen F32 or four or
//! eight F64 in a register. PyTorch's libraries export them, so models expect them there.
//!
//! A function stores its registers, calls the C library for each element, and loads the result. The C library's
//! functions err by less than one unit in the last place, so those with bounds of 1.0 and 3.5 units are the same.

#![allow(unsafe_code, reason = "functions of vector registers, in assembly")]
#![cfg(target_arch = "x86_64")]

/// Calls a function for each element, in place.
///
/// # Safety
/// There are `N` elements.
unsafe fn each<T: Copy, const N: usize>(elements: *mut T, function: unsafe extern "C" fn(T) -> T) {
    // SAFETY: the caller's promise.
    for element in unsafe { std::slice::from_raw_parts_mut(elements, N) } {
        // SAFETY: functions of the C library have no preconditions for numbers.
        *element = unsafe { function(*element) };
    }
}

/// Calls a function for each pair of elements of two arrays that follow one another; the results go to the first.
///
/// # Safety
/// There are twice `N` elements.
unsafe fn each_pair<T: Copy, const N: usize>(
    elements: *mut T,
    function: unsafe extern "C" fn(T, T) -> T,
) {
    // SAFETY: the caller's promise.
    let (first, second) =
        unsafe { std::slice::from_raw_parts_mut(elements, 2 * N) }.split_at_mut(N);
    for (first, second) in first.iter_mut().zip(second) {
        // SAFETY: functions of the C library have no preconditions for numbers.
        *first = unsafe { function(*first, *second) };
    }
}

/// A function of one register: the names of the vector function and of the one for an element, the kind and number of
/// elements, the register, and the bytes of stack that keep it aligned.
macro_rules! vector_function {
    ($name:ident, $scalar:ident, $kind:ty, $count:literal, $register:literal, $bytes:literal) => {
        #[doc = concat!("`", stringify!($scalar), "` of ", stringify!($count), " elements in a register.")]
        ///
        /// # Safety
        /// The processor has the register.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            unsafe extern "C" fn elements(values: *mut $kind) {
                unsafe extern "C" {
                    fn $scalar(value: $kind) -> $kind;
                }
                // SAFETY: the caller stored so many elements.
                unsafe { each::<$kind, $count>(values, $scalar) };
            }
            std::arch::naked_asm!(
                concat!("sub rsp, ", $bytes, " + 8"),
                concat!("vmovups [rsp], ", $register, "0"),
                "mov rdi, rsp",
                "vzeroupper",
                "call {elements}",
                concat!("vmovups ", $register, "0, [rsp]"),
                concat!("add rsp, ", $bytes, " + 8"),
                "ret",
                elements = sym elements,
            );
        }
    };
    (@pair $name:ident, $scalar:ident, $kind:ty, $count:literal, $register:literal, $bytes:literal) => {
        #[doc = concat!("`", stringify!($scalar), "` of ", stringify!($count), " pairs of elements in two registers.")]
        ///
        /// # Safety
        /// The processor has the registers.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            unsafe extern "C" fn elements(values: *mut $kind) {
                unsafe extern "C" {
                    fn $scalar(first: $kind, second: $kind) -> $kind;
                }
                // SAFETY: the caller stored twice so many elements.
                unsafe { each_pair::<$kind, $count>(values, $scalar) };
            }
            std::arch::naked_asm!(
                concat!("sub rsp, 2 * ", $bytes, " + 8"),
                concat!("vmovups [rsp], ", $register, "0"),
                concat!("vmovups [rsp + ", $bytes, "], ", $register, "1"),
                "mov rdi, rsp",
                "vzeroupper",
                "call {elements}",
                concat!("vmovups ", $register, "0, [rsp]"),
                concat!("add rsp, 2 * ", $bytes, " + 8"),
                "ret",
                elements = sym elements,
            );
        }
    };
}

/// The four vector functions of a function: of 8 and 16 F32, and of 4 and 8 F64.
macro_rules! vector_functions {
    ($($f32:ident $f64:ident: $f8:ident $f16:ident $d4:ident $d8:ident;)*) => {
        $(
            vector_function!($f8, $f32, f32, 8, "ymm", "32");
            vector_function!($f16, $f32, f32, 16, "zmm", "64");
            vector_function!($d4, $f64, f64, 4, "ymm", "32");
            vector_function!($d8, $f64, f64, 8, "zmm", "64");
        )*
    };
    (@pair $($f32:ident $f64:ident: $f8:ident $f16:ident $d4:ident $d8:ident;)*) => {
        $(
            vector_function!(@pair $f8, $f32, f32, 8, "ymm", "32");
            vector_function!(@pair $f16, $f32, f32, 16, "zmm", "64");
            vector_function!(@pair $d4, $f64, f64, 4, "ymm", "32");
            vector_function!(@pair $d8, $f64, f64, 8, "zmm", "64");
        )*
    };
}

vector_functions! {
    acosf acos: Sleef_acosf8_u10 Sleef_acosf16_u10 Sleef_acosd4_u10 Sleef_acosd8_u10;
    acoshf acosh: Sleef_acoshf8_u10 Sleef_acoshf16_u10 Sleef_acoshd4_u10 Sleef_acoshd8_u10;
    asinf asin: Sleef_asinf8_u10 Sleef_asinf16_u10 Sleef_asind4_u10 Sleef_asind8_u10;
    asinhf asinh: Sleef_asinhf8_u10 Sleef_asinhf16_u10 Sleef_asinhd4_u10 Sleef_asinhd8_u10;
    atanf atan: Sleef_atanf8_u10 Sleef_atanf16_u10 Sleef_atand4_u10 Sleef_atand8_u10;
    atanhf atanh: Sleef_atanhf8_u10 Sleef_atanhf16_u10 Sleef_atanhd4_u10 Sleef_atanhd8_u10;
    cosf cos: Sleef_cosf8_u10 Sleef_cosf16_u10 Sleef_cosd4_u10 Sleef_cosd8_u10;
    cosf cos: Sleef_cosf8_u35 Sleef_cosf16_u35 Sleef_cosd4_u35 Sleef_cosd8_u35;
    coshf cosh: Sleef_coshf8_u10 Sleef_coshf16_u10 Sleef_coshd4_u10 Sleef_coshd8_u10;
    erff erf: Sleef_erff8_u10 Sleef_erff16_u10 Sleef_erfd4_u10 Sleef_erfd8_u10;
    erfcf erfc: Sleef_erfcf8_u15 Sleef_erfcf16_u15 Sleef_erfcd4_u15 Sleef_erfcd8_u15;
    expf exp: Sleef_expf8_u10 Sleef_expf16_u10 Sleef_expd4_u10 Sleef_expd8_u10;
    exp2f exp2: Sleef_exp2f8_u10 Sleef_exp2f16_u10 Sleef_exp2d4_u10 Sleef_exp2d8_u10;
    expm1f expm1: Sleef_expm1f8_u10 Sleef_expm1f16_u10 Sleef_expm1d4_u10 Sleef_expm1d8_u10;
    lgammaf lgamma: Sleef_lgammaf8_u10 Sleef_lgammaf16_u10 Sleef_lgammad4_u10 Sleef_lgammad8_u10;
    logf log: Sleef_logf8_u10 Sleef_logf16_u10 Sleef_logd4_u10 Sleef_logd8_u10;
    log10f log10: Sleef_log10f8_u10 Sleef_log10f16_u10 Sleef_log10d4_u10 Sleef_log10d8_u10;
    log1pf log1p: Sleef_log1pf8_u10 Sleef_log1pf16_u10 Sleef_log1pd4_u10 Sleef_log1pd8_u10;
    log2f log2: Sleef_log2f8_u10 Sleef_log2f16_u10 Sleef_log2d4_u10 Sleef_log2d8_u10;
    sinf sin: Sleef_sinf8_u10 Sleef_sinf16_u10 Sleef_sind4_u10 Sleef_sind8_u10;
    sinf sin: Sleef_sinf8_u35 Sleef_sinf16_u35 Sleef_sind4_u35 Sleef_sind8_u35;
    sinhf sinh: Sleef_sinhf8_u10 Sleef_sinhf16_u10 Sleef_sinhd4_u10 Sleef_sinhd8_u10;
    tanf tan: Sleef_tanf8_u10 Sleef_tanf16_u10 Sleef_tand4_u10 Sleef_tand8_u10;
    tanhf tanh: Sleef_tanhf8_u10 Sleef_tanhf16_u10 Sleef_tanhd4_u10 Sleef_tanhd8_u10;
}

vector_functions! {
    @pair
    atan2f atan2: Sleef_atan2f8_u10 Sleef_atan2f16_u10 Sleef_atan2d4_u10 Sleef_atan2d8_u10;
    copysignf copysign: Sleef_copysignf8 Sleef_copysignf16 Sleef_copysignd4 Sleef_copysignd8;
    fmodf fmod: Sleef_fmodf8 Sleef_fmodf16 Sleef_fmodd4 Sleef_fmodd8;
    hypotf hypot: Sleef_hypotf8_u05 Sleef_hypotf16_u05 Sleef_hypotd4_u05 Sleef_hypotd8_u05;
    nextafterf nextafter: Sleef_nextafterf8 Sleef_nextafterf16 Sleef_nextafterd4 Sleef_nextafterd8;
    powf pow: Sleef_powf8_u10 Sleef_powf16_u10 Sleef_powd4_u10 Sleef_powd8_u10;
}

#[cfg(test)]
mod tests {
    #![allow(
        improper_ctypes_definitions,
        reason = "registers of vectors, as C passes them with AVX"
    )]

    use super::*;
    use std::arch::x86_64::{__m256, _mm256_loadu_ps, _mm256_storeu_ps};

    type One = unsafe extern "C" fn(__m256) -> __m256;
    type Two = unsafe extern "C" fn(__m256, __m256) -> __m256;

    #[target_feature(enable = "avx")]
    unsafe fn call(values: &[f32; 8], others: &[f32; 8]) -> ([f32; 8], [f32; 8]) {
        // SAFETY: the function takes and returns a register.
        let one = unsafe { std::mem::transmute::<unsafe extern "C" fn(), One>(Sleef_expf8_u10) };
        // SAFETY: as above, of two.
        let two = unsafe { std::mem::transmute::<unsafe extern "C" fn(), Two>(Sleef_powf8_u10) };
        // SAFETY: eight elements.
        let values = unsafe { _mm256_loadu_ps(values.as_ptr()) };
        // SAFETY: as above.
        let others = unsafe { _mm256_loadu_ps(others.as_ptr()) };
        let (mut first, mut second) = ([0.0; 8], [0.0; 8]);
        // SAFETY: the processor has the register.
        let exponentials = unsafe { one(values) };
        // SAFETY: as above.
        let powers = unsafe { two(values, others) };
        // SAFETY: eight elements.
        unsafe { _mm256_storeu_ps(first.as_mut_ptr(), exponentials) };
        // SAFETY: as above.
        unsafe { _mm256_storeu_ps(second.as_mut_ptr(), powers) };
        (first, second)
    }

    #[test]
    fn each_element_of_a_register_is_calculated() {
        if !std::arch::is_x86_feature_detected!("avx") {
            return;
        }
        let values = [0.0, 1.0, 2.0, 0.5, 3.0, 10.0, 0.25, 7.0];
        let others = [1.0, 2.0, 0.5, -1.0, 3.0, 0.0, 2.0, 1.5];
        // SAFETY: the processor has AVX.
        let (exponentials, powers) = unsafe { call(&values, &others) };
        assert_eq!(exponentials, values.map(f32::exp));
        let wanted: [f32; 8] = std::array::from_fn(|at| values[at].powf(others[at]));
        assert_eq!(powers, wanted);
    }
}
