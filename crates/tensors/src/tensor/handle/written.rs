//! What a tensor consists of, for writing it to a place.

/// The number that stands for no storage: the tensor is the undefined one.
pub(super) const NO_STORAGE: u32 = u32::MAX;

/// What a tensor consists of, for writing.
#[derive(Clone, Copy)]
pub(super) struct Written<'a> {
    pub(super) storage: u32,
    pub(super) dtype: u8,
    pub(super) offset: i64,
    pub(super) numel: i64,
    pub(super) address: usize,
    pub(super) device: i32,
    pub(super) sizes: &'a [i64],
    pub(super) strides: &'a [i64],
}

impl Written<'_> {
    /// The undefined tensor.
    pub(super) const UNDEFINED: Written<'static> = Written {
        storage: NO_STORAGE,
        dtype: 0,
        offset: 0,
        numel: 0,
        address: 0,
        device: 0,
        sizes: &[],
        strides: &[],
    };
}
