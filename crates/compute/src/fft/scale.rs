//! Division of the results: a kernel, loaded at first use, that multiplies them where they lie.

use sconce_base::collections::per_device::PerDevice;
use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_base::sync::shared_static;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{KernelHandle, StreamRef};
use sconce_kernels::images::SCALE;
use sconce_kernels::{ScaleAxis, scale_kernel_name, scale_launch};
use sconce_runtime::context::Runtime;
use sconce_runtime::kernel_loader::LoadedKernels;

use super::shape::{AXES, FftSide};
use super::{Normalization, Transform};

shared_static! {
    /// The kernels of each device, by the bytes of a real number: 2, 4 and 8.
    static KERNELS: PerDevice<LoadedKernels<3>> = sconce_base::collections::per_device::per_device!(LoadedKernels::new());
}

fn kernel(runtime: &Runtime, device: DeviceIndex, element: Dtype) -> Result<KernelHandle> {
    let index = element.bytes().ilog2() as usize - 1;
    let name = scale_kernel_name(element).ok_or_else(|| {
        Error::not_supported(format!("results of {} cannot be scaled", element.name()))
    })?;
    KERNELS[device].get(runtime, device, &SCALE, index, || name)
}

/// What results are multiplied by.
pub fn factor(request: &Transform) -> f64 {
    let n = || request.sizes[..request.rank].iter().map(|size| *size as f64).product::<f64>();
    match request.normalization {
        Normalization::None => 1.0,
        Normalization::ByRootN => 1.0 / n().sqrt(),
        Normalization::ByN => 1.0 / n(),
    }
}

/// Queues the multiplication of a side's elements, the first of which is at `address`, if it makes a
/// difference.
#[inline]
pub(super) fn run(
    runtime: &Runtime,
    stream: StreamRef,
    side: (&FftSide, DevicePtr),
    element: Dtype,
    factor: f64,
) -> Result<()> {
    if factor == 1.0 { Ok(()) } else { launch(runtime, stream, side, element, factor) }
}

#[inline(never)]
fn launch(
    runtime: &Runtime,
    stream: StreamRef,
    (side, address): (&FftSide, DevicePtr),
    element: Dtype,
    factor: f64,
) -> Result<()> {
    let kernel = kernel(runtime, stream.device, element)?;
    let mut axes = [ScaleAxis { size: 1, stride: 0 }; AXES];
    for (axis, (size, stride)) in axes.iter_mut().zip(side.sizes.into_iter().zip(side.strides)) {
        *axis = ScaleAxis { size: size as u64, stride };
    }
    let reals = if side.is_complex { 2 } else { 1 };
    let (shape, arguments) = scale_launch(address, reals, &axes, factor);
    runtime.driver().kernel_launch(kernel, shape, &arguments, stream)
}
