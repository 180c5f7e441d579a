//! Functions of vectors that compiled CPU models call: `Sleef_expf8_u10` and others, eight or sixteen F32 or four or
//! eight F64 in a register. PyTorch's libraries export them, so models expect them there.
//!
//! Those that models call most are calculated in registers: those of F32 with at most 0.51 units in the last place of
//! error, and those of F64 with less than 0.8 (bounds are 1.0 and 3.5). They need AVX2 and fused multiplications, which
//! models that have such registers need, too. Those of a larger register are two of a smaller one: the intrinsics of
//! AVX-512 need a newer compiler than this crate. All others call the C library for each element.
//!
//! | file | idea |
//! |---|---|
//! | `registers` | what functions in registers have in common |
//! | `exponentials` | exponentials, hyperbolic functions, the error function |
//! | `logarithms` | logarithms, powers |
//! | `angles` | sine, cosine, tangent |
//! | `arcs` | inverse functions of angles and of hyperbolic functions |
//! | `doubles` | the same functions of F64: a folder |
//! | `elements` | functions that call the C library |

#![allow(unsafe_code, reason = "functions of vector registers, in assembly")]
#![allow(improper_ctypes_definitions, reason = "registers of vectors, as C passes them with AVX")]
#![cfg(target_arch = "x86_64")]

mod angles;
mod arcs;
mod doubles;
mod elements;
mod exponentials;
mod logarithms;
mod registers;
#[cfg(test)]
mod tests;

use std::arch::is_x86_feature_detected;
use std::arch::x86_64::{__m256, __m256d};

use elements::vector_function;

/// Replaces numbers by their exponentials.
pub fn exp_in_place(values: &mut [f32]) {
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the processor has these instructions.
        unsafe { exp_eight_by_eight(values) };
    } else {
        values.iter_mut().for_each(|value| *value = value.exp());
    }
}

#[target_feature(enable = "avx2,fma")]
fn exp_eight_by_eight(values: &mut [f32]) {
    let (whole, rest) = values.as_chunks_mut::<8>();
    for eight in whole {
        exp_eight(eight);
    }
    let mut last = [0.0; 8];
    last[..rest.len()].copy_from_slice(rest);
    exp_eight(&mut last);
    rest.copy_from_slice(&last[..rest.len()]);
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn exp_eight(values: &mut [f32; 8]) {
    *values = registers::elements(exponentials::exp(registers::register(*values)));
}

/// Functions of a register of 32 bytes and of one of 64 bytes, with what the registers hold: the type of the elements and
/// the register, the module that shows one as elements, and how many elements it has. The function of 64 bytes stores its
/// registers, which are two halves each.
macro_rules! register_functions {
    (
        [$kind:ty, $register:ty, $shown:ident, $count:literal]
        $($function:path: $half:ident $whole:ident;)*
    ) => {$(
        #[doc = concat!("`", stringify!($function), "` of ", $count, " elements in a register.")]
        ///
        /// # Safety
        /// The processor has AVX2 and fused multiplications.
        #[unsafe(no_mangle)]
        #[target_feature(enable = "avx2,fma")]
        pub unsafe extern "C" fn $half(x: $register) -> $register {
            $function(x)
        }

        #[doc = concat!("`", stringify!($function), "` of twice ", $count, " elements in a register.")]
        ///
        /// # Safety
        /// The processor has AVX-512.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $whole() {
            #[target_feature(enable = "avx2,fma")]
            extern "C" fn halves(values: &mut [[$kind; $count]; 2]) {
                for half in values {
                    *half = $shown::elements($function($shown::register(*half)));
                }
            }
            std::arch::naked_asm!(
                "sub rsp, 64 + 8",
                "vmovups [rsp], zmm0",
                "mov rdi, rsp",
                "call {halves}",
                "vmovups zmm0, [rsp]",
                "add rsp, 64 + 8",
                "ret",
                halves = sym halves,
            );
        }
    )*};
    (
        @pair [$kind:ty, $register:ty, $shown:ident, $count:literal]
        $($function:path: $half:ident $whole:ident;)*
    ) => {$(
        #[doc = concat!("`", stringify!($function), "` of ", $count, " pairs of elements in two registers.")]
        ///
        /// # Safety
        /// The processor has AVX2 and fused multiplications.
        #[unsafe(no_mangle)]
        #[target_feature(enable = "avx2,fma")]
        pub unsafe extern "C" fn $half(x: $register, y: $register) -> $register {
            $function(x, y)
        }

        #[doc = concat!("`", stringify!($function), "` of twice ", $count, " pairs of elements in two registers.")]
        ///
        /// # Safety
        /// The processor has AVX-512.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $whole() {
            #[target_feature(enable = "avx2,fma")]
            extern "C" fn halves([first, second]: &mut [[[$kind; $count]; 2]; 2]) {
                for (half, other) in first.iter_mut().zip(second) {
                    let (x, y) = ($shown::register(*half), $shown::register(*other));
                    *half = $shown::elements($function(x, y));
                }
            }
            std::arch::naked_asm!(
                "sub rsp, 128 + 8",
                "vmovups [rsp], zmm0",
                "vmovups [rsp + 64], zmm1",
                "mov rdi, rsp",
                "call {halves}",
                "vmovups zmm0, [rsp]",
                "add rsp, 128 + 8",
                "ret",
                halves = sym halves,
            );
        }
    )*};
}

register_functions! {
    [f32, __m256, registers, 8]
    exponentials::exp: Sleef_expf8_u10 Sleef_expf16_u10;
    exponentials::exp2: Sleef_exp2f8_u10 Sleef_exp2f16_u10;
    exponentials::expm1: Sleef_expm1f8_u10 Sleef_expm1f16_u10;
    exponentials::tanh: Sleef_tanhf8_u10 Sleef_tanhf16_u10;
    exponentials::sinh: Sleef_sinhf8_u10 Sleef_sinhf16_u10;
    exponentials::cosh: Sleef_coshf8_u10 Sleef_coshf16_u10;
    exponentials::erf: Sleef_erff8_u10 Sleef_erff16_u10;
    logarithms::ln: Sleef_logf8_u10 Sleef_logf16_u10;
    logarithms::log2: Sleef_log2f8_u10 Sleef_log2f16_u10;
    logarithms::log10: Sleef_log10f8_u10 Sleef_log10f16_u10;
    logarithms::log1p: Sleef_log1pf8_u10 Sleef_log1pf16_u10;
    angles::sin: Sleef_sinf8_u10 Sleef_sinf16_u10;
    angles::sin: Sleef_sinf8_u35 Sleef_sinf16_u35;
    angles::cos: Sleef_cosf8_u10 Sleef_cosf16_u10;
    angles::cos: Sleef_cosf8_u35 Sleef_cosf16_u35;
    angles::tan: Sleef_tanf8_u10 Sleef_tanf16_u10;
    arcs::acos: Sleef_acosf8_u10 Sleef_acosf16_u10;
    arcs::acosh: Sleef_acoshf8_u10 Sleef_acoshf16_u10;
    arcs::asin: Sleef_asinf8_u10 Sleef_asinf16_u10;
    arcs::asinh: Sleef_asinhf8_u10 Sleef_asinhf16_u10;
    arcs::atan: Sleef_atanf8_u10 Sleef_atanf16_u10;
    arcs::atanh: Sleef_atanhf8_u10 Sleef_atanhf16_u10;
}

register_functions! {
    @pair [f32, __m256, registers, 8]
    logarithms::pow: Sleef_powf8_u10 Sleef_powf16_u10;
    logarithms::hypot: Sleef_hypotf8_u05 Sleef_hypotf16_u05;
    arcs::atan2: Sleef_atan2f8_u10 Sleef_atan2f16_u10;
}

register_functions! {
    [f64, __m256d, doubles, 4]
    doubles::exp: Sleef_expd4_u10 Sleef_expd8_u10;
    doubles::exp2: Sleef_exp2d4_u10 Sleef_exp2d8_u10;
    doubles::expm1: Sleef_expm1d4_u10 Sleef_expm1d8_u10;
    doubles::tanh: Sleef_tanhd4_u10 Sleef_tanhd8_u10;
    doubles::sinh: Sleef_sinhd4_u10 Sleef_sinhd8_u10;
    doubles::cosh: Sleef_coshd4_u10 Sleef_coshd8_u10;
    doubles::erf: Sleef_erfd4_u10 Sleef_erfd8_u10;
    doubles::ln: Sleef_logd4_u10 Sleef_logd8_u10;
    doubles::log2: Sleef_log2d4_u10 Sleef_log2d8_u10;
    doubles::log10: Sleef_log10d4_u10 Sleef_log10d8_u10;
    doubles::log1p: Sleef_log1pd4_u10 Sleef_log1pd8_u10;
    doubles::sin: Sleef_sind4_u10 Sleef_sind8_u10;
    doubles::sin: Sleef_sind4_u35 Sleef_sind8_u35;
    doubles::cos: Sleef_cosd4_u10 Sleef_cosd8_u10;
    doubles::cos: Sleef_cosd4_u35 Sleef_cosd8_u35;
    doubles::tan: Sleef_tand4_u10 Sleef_tand8_u10;
}

register_functions! {
    @pair [f64, __m256d, doubles, 4]
    doubles::pow: Sleef_powd4_u10 Sleef_powd8_u10;
}

/// Functions that call the C library: of 8 and 16 F32, of 4 and 8 F64, and of pairs.
macro_rules! element_functions {
    (f32 $($scalar:ident: $eight:ident $sixteen:ident;)*) => {$(
        vector_function!($eight, $scalar, f32, 8, "ymm", "32");
        vector_function!($sixteen, $scalar, f32, 16, "zmm", "64");
    )*};
    (f64 $($scalar:ident: $four:ident $eight:ident;)*) => {$(
        vector_function!($four, $scalar, f64, 4, "ymm", "32");
        vector_function!($eight, $scalar, f64, 8, "zmm", "64");
    )*};
    (@pair f32 $($scalar:ident: $eight:ident $sixteen:ident;)*) => {$(
        vector_function!(@pair $eight, $scalar, f32, 8, "ymm", "32");
        vector_function!(@pair $sixteen, $scalar, f32, 16, "zmm", "64");
    )*};
    (@pair f64 $($scalar:ident: $four:ident $eight:ident;)*) => {$(
        vector_function!(@pair $four, $scalar, f64, 4, "ymm", "32");
        vector_function!(@pair $eight, $scalar, f64, 8, "zmm", "64");
    )*};
}

element_functions! {
    f32
    erfcf: Sleef_erfcf8_u15 Sleef_erfcf16_u15;
    lgammaf: Sleef_lgammaf8_u10 Sleef_lgammaf16_u10;
}

element_functions! {
    @pair f32
    copysignf: Sleef_copysignf8 Sleef_copysignf16;
    fmodf: Sleef_fmodf8 Sleef_fmodf16;
    nextafterf: Sleef_nextafterf8 Sleef_nextafterf16;
}

element_functions! {
    f64
    acos: Sleef_acosd4_u10 Sleef_acosd8_u10;
    acosh: Sleef_acoshd4_u10 Sleef_acoshd8_u10;
    asin: Sleef_asind4_u10 Sleef_asind8_u10;
    asinh: Sleef_asinhd4_u10 Sleef_asinhd8_u10;
    atan: Sleef_atand4_u10 Sleef_atand8_u10;
    atanh: Sleef_atanhd4_u10 Sleef_atanhd8_u10;
    erfc: Sleef_erfcd4_u15 Sleef_erfcd8_u15;
    lgamma: Sleef_lgammad4_u10 Sleef_lgammad8_u10;
}

element_functions! {
    @pair f64
    atan2: Sleef_atan2d4_u10 Sleef_atan2d8_u10;
    copysign: Sleef_copysignd4 Sleef_copysignd8;
    fmod: Sleef_fmodd4 Sleef_fmodd8;
    hypot: Sleef_hypotd4_u05 Sleef_hypotd8_u05;
    nextafter: Sleef_nextafterd4 Sleef_nextafterd8;
}
