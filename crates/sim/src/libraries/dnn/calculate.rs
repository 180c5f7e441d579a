//! The three operations of a convolution, from products with the unfolded input.
#![forbid(unsafe_code)]

use std::ops::Range;

use sconce_base::element::Dtype;
use sconce_driver::{Convolution, ConvolutionOperation};
use sconce_math::products::{Factor, bytes_of, bytes_of_mut};
use sconce_math::unfolding::{Geometry, Uncalculated, blocks, forward_image, pairs};

use super::geometry::unfolded_bytes;
use super::tensor::PlacedTensor;
use crate::libraries::compute::{Compute, calculation_ns};
use crate::libraries::reals::{self, RealNumber};
use crate::memory::{DeviceMemoryView, Intent, MemoryAccess};

/// How a convolution is done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConvolutionEngine {
    /// With the unfolded input in the workspace.
    Workspace,
    /// With memory of its own.
    Private,
}

/// The memory that a convolution uses: input, filter and output at `addresses`, and a workspace.
pub(crate) fn accesses(
    problem: &Convolution,
    addresses: [u64; 3],
    (workspace, workspace_bytes): (u64, usize),
) -> Vec<MemoryAccess> {
    let Convolution { operation, element, input, filter, output, .. } = problem;
    let written = match operation {
        ConvolutionOperation::Forward => 2,
        ConvolutionOperation::Data => 0,
        ConvolutionOperation::Filter => 1,
    };
    let bytes = element.bytes() as i64;
    let tensors = [input, filter, output].into_iter().zip(addresses).enumerate();
    let mut accesses: Vec<MemoryAccess> = tensors
        .map(|(index, (tensor, address))| {
            let intent = if index == written { Intent::Write } else { Intent::Read };
            let dimensions = tensor.sizes.into_iter().zip(tensor.strides);
            let dimensions =
                dimensions.map(|(size, stride)| (size as u64, stride.wrapping_mul(bytes)));
            MemoryAccess::strided(intent, address, bytes as u64, dimensions)
        })
        .collect();
    if workspace_bytes > 0 {
        let workspace = |intent| MemoryAccess::range(intent, workspace, workspace_bytes as u64);
        accesses.extend([Intent::Read, Intent::Write].map(workspace));
    }
    accesses
}

/// A convolution that is queued.
#[derive(Clone, Copy)]
pub(crate) struct QueuedConvolution {
    pub(crate) problem: Convolution,
    pub(crate) geometry: Geometry,
    /// Factors are rounded to TF32.
    pub(crate) tf32: bool,
    pub(crate) engine: ConvolutionEngine,
    /// Input, filter and output.
    pub(crate) addresses: [u64; 3],
    pub(crate) workspace: u64,
}

impl Compute for QueuedConvolution {
    fn duration_ns(&self, latency_ns: u64) -> u64 {
        let Geometry { images, groups, features, .. } = self.geometry;
        let (taps, positions) = (self.geometry.taps(), self.geometry.positions());
        let work_ns = calculation_ns(&[images, groups, features, taps, positions]);
        let fast_ns = latency_ns.saturating_add(work_ns);
        match self.engine {
            ConvolutionEngine::Workspace => fast_ns.saturating_mul(2),
            ConvolutionEngine::Private => fast_ns,
        }
    }

    fn accesses(&self) -> Vec<MemoryAccess> {
        let workspace_bytes = match self.engine {
            ConvolutionEngine::Workspace => unfolded_bytes(&self.geometry, self.problem.element),
            ConvolutionEngine::Private => 0,
        };
        accesses(&self.problem, self.addresses, (self.workspace, workspace_bytes))
    }

    fn run(&self, memory: &DeviceMemoryView<'_>) -> Result<(), i32> {
        match self.problem.element {
            Dtype::F64 => self.calculate::<f64>(memory),
            _ => self.calculate::<f32>(memory),
        }
    }
}

impl QueuedConvolution {
    fn calculate<T: RealNumber>(&self, memory: &DeviceMemoryView<'_>) -> Result<(), i32> {
        match self.problem.operation {
            ConvolutionOperation::Forward => self.forward::<T>(memory),
            ConvolutionOperation::Data => self.data::<T>(memory),
            ConvolutionOperation::Filter => self.filter::<T>(memory),
        }
    }

    fn forward<T: RealNumber>(&self, memory: &DeviceMemoryView<'_>) -> Result<(), i32> {
        let filter = self.filter_tensor().read::<T>(memory, self.tf32)?;
        for image in 0..self.geometry.images {
            let input = self.input_image(image)?.read::<T>(memory, self.tf32)?;
            let result = self.output_image(image)?;
            result.check(memory)?;
            let mut output = reals::zeros::<T>(self.geometry.output_elements())?;
            forward_image(&self.geometry, &input, &filter, &mut output, |unfolded, block| {
                let passed = self.through_workspace(memory, unfolded, block);
                passed.map_err(Uncalculated::Stopped)
            })
            .map_err(reals::code_of)?;
            result.write(memory, &output)?;
        }
        Ok(())
    }

    fn data<T: RealNumber>(&self, memory: &DeviceMemoryView<'_>) -> Result<(), i32> {
        let (taps, features) = (self.geometry.taps(), self.geometry.features);
        let filter = self.filter_tensor().read::<T>(memory, self.tf32)?;
        let area = self.geometry.input_area() * self.geometry.channels;
        for image in 0..self.geometry.images {
            let output = self.output_image(image)?.read::<T>(memory, self.tf32)?;
            let result = self.input_image(image)?;
            result.check(memory)?;
            let mut input = reals::zeros::<T>(area * self.geometry.groups)?;
            for group in 0..self.geometry.groups {
                let filter = &filter[group * features * taps..][..features * taps];
                let input = &mut input[group * area..][..area];
                for block in blocks(&self.geometry) {
                    let part = self.part_of_output(&output, group, &block)?;
                    let sizes = [block.len(), taps, features];
                    let mut unfolded = reals::zeros::<T>(block.len() * taps)?;
                    reals::product(
                        sizes,
                        one(),
                        plain(&part),
                        turned(filter),
                        zero(),
                        &mut unfolded,
                    )?;
                    self.through_workspace(memory, &mut unfolded, &block)?;
                    pairs(&self.geometry, &block, |from, to| input[to] += unfolded[from]);
                }
            }
            result.write(memory, &input)?;
        }
        Ok(())
    }

    fn filter<T: RealNumber>(&self, memory: &DeviceMemoryView<'_>) -> Result<(), i32> {
        let (taps, features) = (self.geometry.taps(), self.geometry.features);
        let result = self.filter_tensor();
        result.check(memory)?;
        let mut filter = reals::zeros::<T>(taps * features * self.geometry.groups)?;
        for image in 0..self.geometry.images {
            let input = self.input_image(image)?.read::<T>(memory, self.tf32)?;
            let output = self.output_image(image)?.read::<T>(memory, self.tf32)?;
            for group in 0..self.geometry.groups {
                let filter = &mut filter[group * features * taps..][..features * taps];
                for block in blocks(&self.geometry) {
                    let unfolded = self.unfold(memory, &input, group, &block)?;
                    let part = self.part_of_output(&output, group, &block)?;
                    let sizes = [taps, features, block.len()];
                    reals::product(sizes, one(), turned(&unfolded), plain(&part), one(), filter)?;
                }
            }
        }
        result.write(memory, &filter)
    }

    /// The unfolded input of a group and block, by way of the workspace if the engine has one.
    fn unfold<T: RealNumber>(
        &self,
        memory: &DeviceMemoryView<'_>,
        input: &[T],
        group: usize,
        block: &Range<usize>,
    ) -> Result<Vec<T>, i32> {
        let area = self.geometry.input_area() * self.geometry.channels;
        let input = &input[group * area..][..area];
        let mut unfolded = reals::zeros::<T>(block.len() * self.geometry.taps())?;
        pairs(&self.geometry, block, |to, from| unfolded[to] = input[from]);
        self.through_workspace(memory, &mut unfolded, block)?;
        Ok(unfolded)
    }

    /// Keeps numbers in the workspace for a moment.
    fn through_workspace<T: RealNumber>(
        &self,
        memory: &DeviceMemoryView<'_>,
        unfolded: &mut [T],
        block: &Range<usize>,
    ) -> Result<(), i32> {
        if self.engine == ConvolutionEngine::Private {
            return Ok(());
        }
        let before = block.start * self.geometry.taps() * size_of::<T>();
        let address = self.workspace.wrapping_add(before as u64);
        memory.write(address, bytes_of(unfolded))?;
        memory.read(address, bytes_of_mut(unfolded))
    }

    /// The columns of a group's output channels, a block of positions of each.
    fn part_of_output<T: RealNumber>(
        &self,
        output: &[T],
        group: usize,
        block: &Range<usize>,
    ) -> Result<Vec<T>, i32> {
        let mut part = reals::zeros::<T>(block.len() * self.geometry.features)?;
        for (feature, part) in part.chunks_mut(block.len()).enumerate() {
            part.copy_from_slice(&output[self.of_feature(group, feature, block)]);
        }
        Ok(part)
    }

    /// Where a block of an output channel is in an image of the output.
    fn of_feature(&self, group: usize, feature: usize, block: &Range<usize>) -> Range<usize> {
        let channel = group * self.geometry.features + feature;
        let first = channel * self.geometry.positions();
        first + block.start..first + block.end
    }

    fn input_image(&self, index: usize) -> Result<PlacedTensor, i32> {
        PlacedTensor::image(self.addresses[0], self.problem.element, &self.problem.input, index)
    }

    fn filter_tensor(&self) -> PlacedTensor {
        PlacedTensor::whole(self.addresses[1], self.problem.element, &self.problem.filter)
    }

    fn output_image(&self, index: usize) -> Result<PlacedTensor, i32> {
        PlacedTensor::image(self.addresses[2], self.problem.element, &self.problem.output, index)
    }
}

fn zero<T: RealNumber>() -> T {
    T::default()
}

fn one<T: RealNumber>() -> T {
    T::from(1.0)
}

fn plain<T>(values: &[T]) -> Factor<'_, T> {
    Factor { values, transposed: false }
}

fn turned<T>(values: &[T]) -> Factor<'_, T> {
    Factor { values, transposed: true }
}
