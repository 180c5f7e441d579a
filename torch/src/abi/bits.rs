//! Values that come from C memory: only types for which any bytes are a valid value, as in libsconce's `src/bits.rs`.
//!
//! A Rust `bool` made of a byte that it does not know is undefined behaviour before any check can run. So no `bool` is
//! read from C memory, or taken as an argument: [`CBool`] stands for C's `bool`.

/// C's `bool` where a C caller writes it: one byte, which may be any.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CBool(u8);

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
