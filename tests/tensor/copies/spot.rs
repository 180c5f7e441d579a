//! The kinds of memory that tensors are copied between.

use sconce::*;

use crate::api::{CPU, Handle, options};
use crate::create::empty;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spot {
    Ordinary,
    Pinned,
    Device(i32),
}

pub(crate) const SPOTS: [Spot; 4] =
    [Spot::Ordinary, Spot::Pinned, Spot::Device(0), Spot::Device(1)];

/// Every data type.
pub(crate) const DTYPES: std::ops::Range<i32> = 0..22;

impl Spot {
    pub(crate) fn device(self) -> i32 {
        if let Spot::Device(device) = self { device } else { CPU }
    }

    /// A new tensor here.
    pub(crate) fn empty(self, sizes: &[i64], dtype: i32) -> Handle {
        let pinned = (self == Spot::Pinned).into();
        empty(sizes, &sconce_tensor_options { pinned, ..options(dtype, self.device()) }).unwrap()
    }

    /// The same elements here, one after another.
    pub(crate) fn holding(self, source: &Handle) -> Handle {
        let here = self.empty(&source.sizes(), source.dtype());
        here.copy_from(source, false).unwrap();
        assert_eq!(here.is_pinned(), self == Spot::Pinned);
        here
    }
}
