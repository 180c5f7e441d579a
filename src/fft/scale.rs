//! Division of the results: a kernel, loaded at first use, that multiplies them where they lie.

use once_cell::sync::OnceCell;

use super::shape::{AXES, Side};
use super::{Normalization, Transform};
use crate::context::Runtime;
use crate::driver::images::SCALE;
use crate::driver::{
    Element, KernelHandle, ModuleHandle, RelaxedCapture, ScaleAxis, StreamRef, scale_kernel_name,
    scale_launch,
};
use crate::error::Result;
use crate::lazy_handle::LazyHandle;
use crate::sync::shared_static;
use crate::types::{DeviceIndex, DevicePtr, MAX_DEVICES};

/// The kernels of a device, by the bytes of a real number: 2, 4 and 8.
struct Kernels {
    module: OnceCell<ModuleHandle>,
    found: [LazyHandle; 3],
}

// Statics are not part of any model.
#[cfg(not(loom))]
impl Kernels {
    const fn new() -> Kernels {
        Kernels { module: OnceCell::new(), found: [const { LazyHandle::new() }; 3] }
    }
}

shared_static! {
    static KERNELS: [Kernels; MAX_DEVICES] = [const { Kernels::new() }; MAX_DEVICES];
}

fn kernel(runtime: &Runtime, device: DeviceIndex, element: Element) -> Result<KernelHandle> {
    let kernels = &KERNELS[device.as_usize()];
    let handle = kernels.found[element.bytes().ilog2() as usize - 1].get_or_make(|| {
        let load = || {
            // Loading may allocate, which a capture under way would refuse and be spoilt by.
            let _relaxed = RelaxedCapture::enter(runtime.driver())?;
            runtime.driver().module_load(device, &SCALE)
        };
        let module = *kernels.module.get_or_try_init(load)?;
        Ok(runtime.driver().kernel_find(device, module, scale_kernel_name(element))?.0)
    })?;
    Ok(KernelHandle(handle))
}

/// What results are multiplied by.
pub(super) fn factor(request: &Transform) -> f64 {
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
    side: (&Side, DevicePtr),
    element: Element,
    factor: f64,
) -> Result<()> {
    if factor == 1.0 { Ok(()) } else { launch(runtime, stream, side, element, factor) }
}

#[inline(never)]
fn launch(
    runtime: &Runtime,
    stream: StreamRef,
    (side, address): (&Side, DevicePtr),
    element: Element,
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
