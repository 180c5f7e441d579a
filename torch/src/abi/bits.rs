//! Values that come from C memory: only types for which any bytes are a valid value, as in libsconce's `src/bits.rs`.
//!
//! A Rust `bool` or enum made of a byte that it does not know is undefined behaviour before any check can run. So no
//! `bool` and no enum is read from C memory, or taken as an argument: [`AnyBits`] is the bound of what reads structs and
//! lists, and [`CBool`] stands for C's `bool`.

#![allow(unsafe_code, reason = "says of types that any bytes are a value")]

/// A type of which any bytes are a valid value.
///
/// # Safety
/// Every sequence of as many initialised bytes is a valid value: no references, no `bool`, no enums. Padding may have
/// any bytes.
pub unsafe trait AnyBits: Copy + 'static {
    /// Nothing: the macro `any_bits` calls it to have the compiler check the fields of a struct.
    #[inline]
    fn check(&self) {}
}

macro_rules! numbers_have_any_bits {
    ($($number:ty),+) => {
        $(
            // SAFETY: a number is any bytes.
            unsafe impl AnyBits for $number {}
        )+
    };
}
numbers_have_any_bits!(u8, i32, u32, i64, u64, f32, f64);

// SAFETY: an address may be any bytes; code that follows it relies on the caller's promise.
unsafe impl<T: 'static> AnyBits for *const T {}

// SAFETY: as of `*const T`.
unsafe impl<T: 'static> AnyBits for *mut T {}

// SAFETY: its elements may be any bytes, and there is nothing between them.
unsafe impl<T: AnyBits, const N: usize> AnyBits for [T; N] {}

/// Lets a `#[repr(C)]` struct be read from C memory. All fields are named, so that the compiler checks that each may be
/// any bytes, and finds one that is forgotten.
macro_rules! any_bits {
    ($kind:ident: $($field:ident),+ $(,)?) => {
        // SAFETY: `check` compiles only if each field may be any bytes.
        unsafe impl $crate::abi::bits::AnyBits for $kind {
            #[inline]
            fn check(&self) {
                let $kind { $($field),+ } = self;
                $($crate::abi::bits::AnyBits::check($field);)+
            }
        }
    };
}
pub(crate) use any_bits;

/// C's `bool` where a C caller writes it: one byte, which may be any.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CBool(u8);

// SAFETY: a byte.
unsafe impl AnyBits for CBool {}

impl CBool {
    /// An argument's value. C and C++ make 0 or 1 of it; from other languages any byte but 0 is true.
    #[inline]
    pub fn is_true(self) -> bool {
        self.0 != 0
    }
}

impl From<bool> for CBool {
    fn from(value: bool) -> CBool {
        CBool(u8::from(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_but_0_is_true() {
        for byte in 0..=u8::MAX {
            assert_eq!(CBool(byte).is_true(), byte != 0);
        }
        assert_eq!([CBool::from(false), CBool::from(true)], [CBool(0), CBool(1)]);
    }
}
