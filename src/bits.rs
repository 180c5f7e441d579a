//! Values that come from C memory: only types for which any bytes are a valid value.
//!
//! A C caller may leave any byte in a struct. A Rust `bool` or enum made of a byte that it does not
//! know is undefined behaviour before any check can run. So no `bool` and no enum is read from C memory,
//! or taken as an argument: [`AnyBits`] is the bound of everything that reads, and [`CBool`] stands for
//! C's `bool`.

use sconce_base::error::{Error, Result};

/// A type of which any bytes are a valid value.
///
/// # Safety
/// Every sequence of as many initialised bytes is a valid value, and nothing but its bytes makes it up: no
/// references, no `bool`, no enums.
pub(super) unsafe trait AnyBits: Copy + 'static {
    /// Whether all fields are 0. Padding does not count.
    fn is_zero(&self) -> bool;
}

macro_rules! numbers_have_any_bits {
    ($($number:ty),+) => {
        $(
            // SAFETY: a number is any bytes.
            unsafe impl AnyBits for $number {
                #[inline]
                fn is_zero(&self) -> bool {
                    *self == <$number>::default()
                }
            }
        )+
    };
}

numbers_have_any_bits!(i8, u8, i32, u32, i64, u64, usize);

// SAFETY: a number is any bytes; some of them are not numbers to arithmetic, but values all the same.
unsafe impl AnyBits for f64 {
    #[inline]
    fn is_zero(&self) -> bool {
        self.to_bits() == 0
    }
}

// SAFETY: an address may be any bytes; code that follows it relies on the caller's promise.
unsafe impl<T: 'static> AnyBits for *const T {
    #[inline]
    fn is_zero(&self) -> bool {
        self.is_null()
    }
}

// SAFETY: an address may be any bytes, whether or not anything may be written there.
unsafe impl<T: 'static> AnyBits for *mut T {
    #[inline]
    fn is_zero(&self) -> bool {
        self.is_null()
    }
}

// SAFETY: its elements may be any bytes, and there is nothing between them.
unsafe impl<T: AnyBits, const N: usize> AnyBits for [T; N] {
    #[inline]
    fn is_zero(&self) -> bool {
        self.iter().all(T::is_zero)
    }
}

/// Lets a `#[repr(C)]` struct be read from C memory. All fields are named, so that the compiler checks
/// that each may be any bytes, and finds one that is forgotten.
macro_rules! any_bits {
    ($kind:ident: $($field:ident),+ $(,)?) => {
        // SAFETY: `is_zero` compiles only if each field may be any bytes, and padding is not part of a value.
        unsafe impl $crate::bits::AnyBits for $kind {
            #[inline]
            fn is_zero(&self) -> bool {
                let $kind { $($field),+ } = self;
                $($crate::bits::AnyBits::is_zero($field))&&+
            }
        }
    };
}

/// C's `bool` where a C caller writes it: one byte, which may be any.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CBool(u8);

// SAFETY: a byte.
unsafe impl AnyBits for CBool {
    #[inline]
    fn is_zero(&self) -> bool {
        self.0 == 0
    }
}

impl CBool {
    /// C's `false`.
    pub const FALSE: CBool = CBool(0);
    /// C's `true`.
    pub const TRUE: CBool = CBool(1);

    /// An argument's value. C and C++ make 0 or 1 of it; from other languages any byte but 0 is true.
    #[inline]
    pub fn is_true(self) -> bool {
        self.0 != 0
    }

    /// A field's value. Any byte but 0 and 1 shows that the struct was not initialised.
    #[inline]
    pub(super) fn field(self, name: &str) -> Result<bool> {
        match self.0 {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(neither(other, name)),
        }
    }

    /// The byte.
    #[inline]
    pub(super) fn byte(self) -> u8 {
        self.0
    }
}

#[cold]
#[inline(never)]
fn neither(byte: u8, name: &str) -> Error {
    Error::invalid_argument(format!(
        "{name} is the byte {byte}; a bool is 0 or 1, so the struct has probably not been initialised"
    ))
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
    fn a_field_is_0_or_1_and_an_argument_is_0_or_not() {
        for byte in 0..=u8::MAX {
            let field = CBool(byte).field("desc.flag");
            assert_eq!(CBool(byte).is_true(), byte != 0);
            match byte {
                0 | 1 => assert_eq!(field.ok(), Some(byte == 1)),
                _ => {
                    let error = field.unwrap_err();
                    assert!(error.message().starts_with(&format!("desc.flag is the byte {byte};")));
                }
            }
        }
        assert_eq!([CBool::from(false), CBool::from(true)], [CBool::FALSE, CBool::TRUE]);
    }

    #[test]
    fn minus_zero_is_not_zeroed_memory() {
        assert!(0.0_f64.is_zero() && !(-0.0_f64).is_zero());
        assert!([0_i64, 0].is_zero() && ![0_i64, 1].is_zero());
    }
}
