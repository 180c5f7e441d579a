//! Copies of tensors whose numbers tensor cores cannot read where they are.

use super::arguments::Positions;
use crate::error::Result;
use crate::fallbacks::attention::{Attention, Shapes};
use crate::operations::layout::Layout;
use crate::sconce::Tensor;
use crate::sconce::operations;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::{options, real};

/// 16-bit numbers of 16 bytes.
const CHUNK: i64 = 8;

fn padded(width: i64) -> i64 {
    (width + CHUNK - 1) / CHUNK * CHUNK
}

/// Whether 16 bytes of the tensor's positions can be read and written at once.
fn lies_in_chunks(layout: &Layout) -> bool {
    let positions = Positions::of(layout);
    let sizes = <[i64; 4]>::try_from(layout.sizes.as_slice());
    matches!((positions, sizes), (Some(positions), Ok(sizes)) if positions.lie_in_chunks(sizes))
}

/// A tensor of the same batches, heads and positions whose positions have whole chunks.
fn like(layout: &Layout) -> Result<Tensor> {
    let mut sizes = layout.sizes.clone();
    let options = options(layout.dtype, layout.device);
    match sizes.last_mut() {
        Some(width) if *width % CHUNK != 0 => {
            *width = padded(*width);
            operations::full(&sizes, &real(0.0), &options)
        }
        _ => operations::empty(&sizes, &options),
    }
}

/// The tensor itself, or a copy of it in chunks, with zeros behind the numbers of a position.
fn in_chunks(tensor: TensorHandle, layout: &Layout) -> Result<Tensor> {
    if lies_in_chunks(layout) {
        return Tensor::retained(tensor);
    }
    let made = like(layout)?;
    operations::copy(&part(&made, layout)?, tensor)?;
    Ok(made)
}

/// The numbers that a tensor of `like` has of the original one.
fn part(made: &Tensor, layout: &Layout) -> Result<Tensor> {
    operations::narrow(made.handle(), 3, 0, layout.sizes.last().copied().unwrap_or(0))
}

/// Attention of copies. They have zeros where the original tensors end, which change no score and no result.
pub(super) struct Padded {
    query: Tensor,
    key: Tensor,
    value: Tensor,
    /// Where the result goes, if not to its own place.
    output: Option<Tensor>,
}

impl Padded {
    /// Copies what does not lie in chunks; `None` if all does. The tensors are query, keys, values and the result.
    pub(super) fn of(
        attention: &Attention,
        [query, key, value, output]: [&Layout; 4],
    ) -> Result<Option<Padded>> {
        if [query, key, value, output].into_iter().all(lies_in_chunks) {
            return Ok(None);
        }
        // The widths of the result and of the values are the same, also when they are padded.
        let output = if lies_in_chunks(output) { None } else { Some(like(output)?) };
        Ok(Some(Padded {
            query: in_chunks(attention.query, query)?,
            key: in_chunks(attention.key, key)?,
            value: in_chunks(attention.value, value)?,
            output,
        }))
    }

    /// The same attention of the copies.
    pub(super) fn attention(&self, attention: &Attention, shapes: &Shapes) -> (Attention, Shapes) {
        let (width, value_width) = (padded(shapes.width), padded(shapes.value_width));
        let scale = attention.scale_of(shapes.width);
        let (query, key, value) = (self.query.handle(), self.key.handle(), self.value.handle());
        let attention = Attention { query, key, value, scale: Some(scale), ..*attention };
        (attention, Shapes { width, value_width, ..*shapes })
    }

    /// Where the result of the copies goes, if that is `output`.
    pub(super) fn output<'a>(&'a self, output: &'a Tensor) -> &'a Tensor {
        self.output.as_ref().unwrap_or(output)
    }

    /// Copies the result to its place, once it is calculated.
    pub(super) fn give(&self, output: &Tensor, layout: &Layout) -> Result<()> {
        match &self.output {
            Some(made) => operations::copy(output, part(made, layout)?.handle()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::fallbacks::attention::tests::{assert_near, tensor, unmasked, values};
    use crate::sconce::api;

    /// Halves of the sizes, with their numbers.
    fn halves(sizes: &[i64], seed: usize) -> Tensor {
        operations::to_dtype(tensor(sizes, seed).0.handle(), api::SCONCE_DTYPE_F16).unwrap()
    }

    fn layout(tensor: &Tensor) -> Layout {
        Layout::of(tensor.handle()).unwrap()
    }

    #[test]
    fn attention_of_copies_is_that_of_the_tensors() {
        let (query, key) = (halves(&[2, 3, 5, 12], 1), halves(&[2, 3, 7, 12], 2));
        // Numbers that do not lie side by side, and a width of whole chunks.
        let turned = halves(&[2, 3, 16, 7], 3);
        for value in
            [halves(&[2, 3, 7, 9], 3), operations::transpose(turned.handle(), 2, 3).unwrap()]
        {
            let attention = unmasked(&query, &key, &value);
            let shapes = attention.shapes().unwrap();
            let sizes = [2, 3, 5, shapes.value_width];
            let options = options(api::SCONCE_DTYPE_F16, api::SCONCE_DEVICE_CPU);
            let [expected, found] =
                [(); 2].map(|()| operations::full(&sizes, &real(9.0), &options).unwrap());
            attention.by_products(&shapes, &expected, false).unwrap();

            let all = [&query, &key, &value, &found].map(layout);
            let padded = Padded::of(&attention, [&all[0], &all[1], &all[2], &all[3]]).unwrap();
            let padded = padded.unwrap();
            let (copied, wider) = padded.attention(&attention, &shapes);
            assert_eq!(copied.shapes().unwrap().width, 16);
            assert_eq!((wider.width, wider.value_width), (16, 16));
            for handle in [copied.query, copied.key, copied.value, padded.output(&found).handle()] {
                assert!(lies_in_chunks(&Layout::of(handle).unwrap()));
            }
            copied.by_products(&wider, padded.output(&found), false).unwrap();
            padded.give(&found, &layout(&found)).unwrap();
            assert_near(&values(&found), &values(&expected), 1e-3);
        }
    }

    #[test]
    fn tensors_in_chunks_are_not_copied() {
        let (query, key) = (halves(&[1, 2, 3, 8], 1), halves(&[1, 2, 4, 8], 2));
        let (attention, all) =
            (unmasked(&query, &key, &key), [&query, &key, &key, &query].map(layout));
        let of = |[a, b, c, d]: [&Layout; 4]| Padded::of(&attention, [a, b, c, d]).unwrap();
        assert!(of([&all[0], &all[1], &all[2], &all[3]]).is_none());
        let odd = layout(&halves(&[1, 2, 3, 7], 1));
        let padded = of([&all[0], &all[1], &all[2], &odd]).unwrap();
        assert_eq!(padded.query.handle(), query.handle());
        assert!(padded.output.is_some());
    }
}
