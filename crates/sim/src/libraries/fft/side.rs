//! Where the numbers of a layout lie, read and written in runs.
#![forbid(unsafe_code)]

use sconce_driver::{FftLayout, FftShape, MOST_FFT_RANK};

use crate::memory::{DeviceMemoryView, Intent, MemoryAccess};

/// The input or the output of a plan: of each transform an array of elements, packed on the host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransformSide {
    /// Outermost first; past the rank 1.
    sizes: [usize; MOST_FFT_RANK],
    /// In elements.
    strides: [i64; MOST_FFT_RANK],
    distance: i64,
    /// Of an element.
    bytes: usize,
}

impl TransformSide {
    /// A side with elements of `bytes` bytes; `halved` when it is the complex one of a real
    /// transform.
    pub(crate) fn new(
        shape: &FftShape,
        layout: &FftLayout,
        halved: bool,
        bytes: usize,
    ) -> TransformSide {
        let FftLayout { embed, stride, distance } = *layout;
        let middle = embed[2].wrapping_mul(stride);
        let strides = [embed[1].wrapping_mul(middle), middle, stride];
        let sizes = shape.sizes_of(halved).map(|size| size as usize);
        TransformSide { sizes, strides, distance, bytes }
    }

    /// How many elements a transform has.
    pub(crate) fn elements(&self) -> usize {
        self.sizes.iter().product()
    }

    /// Bytes of a transform's elements.
    pub(crate) fn packed_bytes(&self) -> usize {
        self.elements() * self.bytes
    }

    /// The access to all transforms of a batch.
    pub(crate) fn access(&self, intent: Intent, base: u64, batch: i64) -> MemoryAccess {
        let bytes = self.bytes as i64;
        let of_transform = self.sizes.into_iter().zip(self.strides);
        let of_transform =
            of_transform.map(|(size, stride)| (size as u64, stride.wrapping_mul(bytes)));
        let transforms = (batch as u64, self.distance.wrapping_mul(bytes));
        let dimensions = of_transform.chain([transforms]);
        MemoryAccess::strided(intent, base, self.bytes as u64, dimensions)
    }

    /// Reads one transform of the batch.
    pub(crate) fn read(
        &self,
        memory: &DeviceMemoryView<'_>,
        base: u64,
        transform: i64,
        into: &mut [u8],
    ) -> Result<(), i32> {
        let run = self.run();
        into.chunks_exact_mut(run * self.bytes).enumerate().try_for_each(|(index, part)| {
            memory.read(self.address(base, transform, index * run), part)
        })
    }

    /// Writes one transform of the batch.
    pub(crate) fn write(
        &self,
        memory: &DeviceMemoryView<'_>,
        base: u64,
        transform: i64,
        from: &[u8],
    ) -> Result<(), i32> {
        let run = self.run();
        from.chunks_exact(run * self.bytes).enumerate().try_for_each(|(index, part)| {
            memory.write(self.address(base, transform, index * run), part)
        })
    }

    /// How many elements follow each other without gaps, from any multiple of that on.
    fn run(&self) -> usize {
        let mut run = 1;
        for (size, stride) in self.sizes.into_iter().zip(self.strides).rev() {
            if size > 1 && stride != run as i64 {
                break;
            }
            run *= size;
        }
        run
    }

    fn address(&self, base: u64, transform: i64, mut index: usize) -> u64 {
        let mut at = transform.wrapping_mul(self.distance);
        for (size, stride) in self.sizes.into_iter().zip(self.strides).rev() {
            at = at.wrapping_add(((index % size) as i64).wrapping_mul(stride));
            index /= size;
        }
        base.wrapping_add_signed(at.wrapping_mul(self.bytes as i64))
    }
}

#[cfg(test)]
mod tests {
    use sconce_base::element::Dtype;
    use sconce_driver::FftKind;

    use super::*;

    fn side(
        sizes: &[i64],
        embed: [i64; 3],
        stride: i64,
        distance: i64,
        halved: bool,
    ) -> TransformSide {
        let mut all = [1; MOST_FFT_RANK];
        all[..sizes.len()].copy_from_slice(sizes);
        let layout = FftLayout { embed, stride, distance };
        let (rank, element, kind) = (sizes.len(), Dtype::F32, FftKind::R2C);
        let shape =
            FftShape { kind, element, rank, sizes: all, batch: 1, input: layout, output: layout };
        TransformSide::new(&shape, &layout, halved, 4)
    }

    #[test]
    fn elements_lie_where_the_layout_says() {
        let side = side(&[2, 3, 5], [7, 4, 8], 3, 1000, false);
        let mut index = 0;
        for i in 0..2 {
            for j in 0..3 {
                for k in 0..5 {
                    let at = 6 * 1000 + ((i * 4 + j) * 8 + k) * 3;
                    assert_eq!(side.address(64, 6, index), 64 + 4 * at);
                    index += 1;
                }
            }
        }
        assert_eq!((side.run(), side.packed_bytes()), (1, 120));
    }

    #[test]
    fn packed_elements_are_one_run() {
        assert_eq!(side(&[2, 3, 5], [2, 3, 5], 1, 30, false).run(), 30);
        assert_eq!(side(&[2, 3, 5], [2, 3, 6], 1, 36, false).run(), 5);
        assert_eq!(side(&[2, 3, 5], [2, 4, 5], 1, 40, false).run(), 15);
        assert_eq!(side(&[2, 3, 5], [2, 3, 3], 1, 18, true).run(), 18);
        assert_eq!(side(&[9], [9, 1, 1], 2, 18, false).run(), 1);
        assert_eq!(side(&[1], [1, 1, 1], 2, 2, false).run(), 1);
    }
}
