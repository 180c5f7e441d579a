//! What follows a convolution or a product, and how a filter moves, as the ABI passes them.

use std::borrow::Cow;

use crate::abi::arguments::CText;
use crate::abi::tensors::rank_of;
use crate::error::{Error, Result};
use crate::operations::convolution::Steps;
use crate::operations::fused::activation::Activation;
use crate::sconce::tensor::TensorHandle;

/// The function of one element of a name, with numbers of which each may be missing, and an algorithm.
pub fn function_of(
    name: Option<CText<'_>>,
    numbers: &[Option<f64>],
    algorithm: Option<CText<'_>>,
) -> Result<Activation> {
    let [name, algorithm] =
        [name, algorithm].map(|text| text.map_or_else(String::new, CText::text));
    Activation::of(&name, numbers, &algorithm)
}

/// How a filter moves, with an entry for each spatial dimension of the images.
pub struct Movement<'a> {
    stride: Cow<'a, [i64]>,
    padding: Cow<'a, [i64]>,
    dilation: Cow<'a, [i64]>,
    groups: i64,
}

impl Movement<'_> {
    /// Reads it. A list of one entry stands for all dimensions.
    pub fn read<'a>(
        images: TensorHandle,
        [stride, padding, dilation]: [&'a [i64]; 3],
        groups: i64,
    ) -> Result<Movement<'a>> {
        let spatial = rank_of(images)?.saturating_sub(2);
        let list = |list, name| spread(list, spatial, name);
        Ok(Movement {
            stride: list(stride, "stride")?,
            padding: list(padding, "padding")?,
            dilation: list(dilation, "dilation")?,
            groups,
        })
    }

    /// For calls.
    pub fn steps(&self) -> Steps<'_> {
        let (stride, padding) = (&*self.stride, &*self.padding);
        Steps { stride, padding, dilation: &self.dilation, groups: self.groups }
    }
}

/// A list with an entry for each dimension; one entry stands for all.
pub fn spread<'a>(list: &'a [i64], count: usize, name: &str) -> Result<Cow<'a, [i64]>> {
    match list {
        [one] if count > 1 => Ok(vec![*one; count].into()),
        _ if list.len() == count => Ok(list.into()),
        _ => Err(Error::invalid_argument(format!(
            "{name} has {} entries, but the images {count} spatial dimensions",
            list.len()
        ))),
    }
}
