//! Where matrices lie in memory.

/// Matrices that lie equally far apart.
#[derive(Clone, Copy)]
pub struct Matrices<P> {
    pub first: P,
    /// Elements from one matrix to the next, from one row to the next, and from one column to the next.
    pub steps: [isize; 3],
}
