//! Where matrices lie in memory.

/// Matrices that lie equally far apart.
#[derive(Clone, Copy)]
pub(crate) struct Matrices<P> {
    pub(crate) first: P,
    /// Elements from one matrix to the next, from one row to the next, and from one column to the next.
    pub(crate) steps: [isize; 3],
}
