//! What a transform does.

/// From what to what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FftKind {
    /// Complex to complex, in either direction.
    C2C,
    /// Real to complex, forward: of the last dimension's n results the first n / 2 + 1.
    R2C,
    /// The first n / 2 + 1 of the last dimension's n complex numbers to real ones, inverse.
    C2R,
}

/// The sign of the exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FftDirection {
    /// Minus.
    Forward,
    /// Plus.
    Inverse,
}
