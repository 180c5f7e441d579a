//! The kernels: loaded at first use, and launched in parts that they can hold.

use sconce_base::collections::per_device::PerDevice;
use sconce_base::error::Result;
use sconce_base::sync::shared_static;
use sconce_base::types::DeviceIndex;
use sconce_driver::KernelArguments;
use sconce_driver::{KernelHandle, StreamRef};
use sconce_kernels::images::{POINTWISE, POINTWISE_FLAT, POINTWISE_TRANSPOSED};
use sconce_kernels::{
    POINTWISE_ELEMENTS, PointwiseForm, pointwise_axes, pointwise_kernel_name, pointwise_launch,
    transposed_kernel_name, transposed_launch,
};
use sconce_math::arithmetic::{Domain, Elementwise, ElementwiseInput};
use sconce_runtime::context::Runtime;
use sconce_runtime::kernel_loader::LoadedKernels;

use super::call::PointwiseCall;
use super::few::few;
use super::lower::lower;

/// The kernels of each domain, by the number of inputs.
type ByDomain = [LoadedKernels<3>; Domain::ALL.len()];

shared_static! {
    static KERNELS: PerDevice<ByDomain> =
        sconce_base::collections::per_device::per_device!([const { LoadedKernels::new() }; Domain::ALL.len()]);
}

shared_static! {
    /// The kernels for contiguous elements and for few, each by the number of inputs.
    static FLAT: PerDevice<LoadedKernels<4>> =
        sconce_base::collections::per_device::per_device!(LoadedKernels::new());
}

shared_static! {
    /// The kernels of tiles, by domain.
    static TRANSPOSED: PerDevice<LoadedKernels<{ Domain::ALL.len() }>> =
        sconce_base::collections::per_device::per_device!(LoadedKernels::new());
}

fn transposed_kernel(
    runtime: &Runtime,
    device: DeviceIndex,
    domain: Domain,
) -> Result<KernelHandle> {
    let name = || transposed_kernel_name(domain);
    TRANSPOSED[device].get(runtime, device, &POINTWISE_TRANSPOSED, domain as usize, name)
}

fn kernel(
    runtime: &Runtime,
    device: DeviceIndex,
    domain: Domain,
    inputs: usize,
    form: PointwiseForm,
) -> Result<KernelHandle> {
    let name = || pointwise_kernel_name(domain, inputs, form);
    match form {
        PointwiseForm::Flat => FLAT[device].get(runtime, device, &POINTWISE_FLAT, inputs - 1, name),
        PointwiseForm::Small => {
            FLAT[device].get(runtime, device, &POINTWISE_FLAT, inputs + 1, name)
        }
        PointwiseForm::Strided => {
            let image = &POINTWISE[domain as usize];
            KERNELS[device][domain as usize].get(runtime, device, image, inputs - 1, name)
        }
    }
}

/// Queues an operation on a stream of the device whose kernels can use all operands' memory.
pub fn queue(runtime: &Runtime, stream: StreamRef, call: &PointwiseCall<'_>) -> Result<()> {
    let mut arguments = KernelArguments::new();
    if let Some(shape) = few(call, &mut arguments) {
        let inputs = call.inputs.len();
        let kernel = kernel(runtime, stream.device, Domain::F32, inputs, PointwiseForm::Small)?;
        return runtime.driver().kernel_launch(kernel, shape, &arguments, stream);
    }
    let mut task = lower(call)?.task;
    if task.total == 0 {
        return Ok(());
    }
    if let Some((shape, arguments)) = transposed_launch(&task) {
        let kernel = transposed_kernel(runtime, stream.device, task.domain)?;
        return runtime.driver().kernel_launch(kernel, shape, &arguments, stream);
    }
    parts(&mut task, &mut |part| {
        let (form, shape, arguments) = pointwise_launch(part);
        let kernel = kernel(runtime, stream.device, part.domain, part.inputs.len(), form)?;
        runtime.driver().kernel_launch(kernel, shape, &arguments, stream)
    })
}

/// Which axis a launch cannot hold, and how many of its places a launch can.
fn too_large(task: &Elementwise) -> Option<(usize, u64)> {
    let outermost = task.axes.len().checked_sub(1)?;
    let fits = |stride: &i64| i32::try_from(*stride).is_ok();
    let far = |index: usize| !task.axes[index].strides.iter().all(fits);
    // Where elements are numbered, parts follow each other in order.
    let is_numbered = task.operation.is_numbered();
    if let Some(index) = (0..=outermost).rev().find(|index| far(*index)) {
        return Some((if is_numbered { outermost } else { index }, 1));
    }
    if task.axes.len() > pointwise_axes(task.inputs.len()) {
        return Some((outermost, 1));
    }
    let inner = task.count() / task.axes[outermost].size;
    let is_large = outermost > 0 && task.count() > POINTWISE_ELEMENTS;
    is_large.then_some((outermost, (POINTWISE_ELEMENTS / inner).max(1)))
}

/// Launches a part.
type QueuePart<'a> = dyn FnMut(&Elementwise) -> Result<()> + 'a;

/// Cuts along an axis until a launch can hold the rest.
fn parts(task: &mut Elementwise, launch: &mut QueuePart<'_>) -> Result<()> {
    let Some((index, most)) = too_large(task) else { return launch(task) };
    let axis = task.axes[index];
    let inner: u64 = task.axes[..index].iter().map(|axis| axis.size).product();
    let mut done = 0;
    while done < axis.size {
        let size = most.min(axis.size - done);
        let mut part = task.clone();
        let moved = |address: u64, operand: usize| {
            address.wrapping_add_signed((done as i64).wrapping_mul(axis.strides[operand]))
        };
        part.output.0 = moved(part.output.0, 0);
        for (place, input) in part.inputs.iter_mut().enumerate() {
            if let ElementwiseInput::Memory(address, _) = input {
                *address = moved(*address, place + 1);
            }
        }
        part.first += done * inner;
        if size == 1 {
            part.axes.remove(index);
        } else {
            part.axes[index].size = size;
        }
        parts(&mut part, launch)?;
        done += size;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use sconce_base::element::Dtype;
    use sconce_math::arithmetic::{AnyNumber, ElementOperation, ElementwiseAxis};

    use super::*;

    fn task(operation: ElementOperation, axes: &[(u64, i64, i64)]) -> Elementwise {
        let axis = |(size, out, from): &(u64, i64, i64)| ElementwiseAxis {
            size: *size,
            strides: [*out, *from, 0, 0],
        };
        let mut task = Elementwise {
            operation,
            domain: Domain::Integer,
            compute: Dtype::I8,
            parameters: [AnyNumber::Signed(0); 3],
            output: (1 << 40, Dtype::I8),
            inputs: [ElementwiseInput::Memory(1 << 50, Dtype::I8)].into_iter().collect(),
            first: 0,
            total: 0,
            axes: axes.iter().map(axis).collect(),
        };
        task.total = task.count();
        task
    }

    /// Where a part's last element is in the output and in the input.
    fn ends(part: &Elementwise) -> [u64; 2] {
        let ElementwiseInput::Memory(input, _) = part.inputs[0] else { panic!("a constant") };
        let along = |operand: usize| -> i64 {
            part.axes.iter().map(|axis| (axis.size as i64 - 1) * axis.strides[operand]).sum()
        };
        [part.output.0.wrapping_add_signed(along(0)), input.wrapping_add_signed(along(1))]
    }

    #[test]
    fn what_is_too_large_is_cut_into_parts_that_a_launch_holds() {
        let nine: Vec<_> = (0..9).map(|axis| (2, 3_i64.pow(axis), 5_i64.pow(axis))).collect();
        for (axes, count) in [
            (vec![(1 << 33, 1, 2)], 1),
            (vec![(3, 1, 1), (1 << 31, 3, 4)], 4),
            (vec![(1 << 20, 1, 1), (4, 1 << 32, 1 << 20)], 4),
            (vec![(4, 1 << 32, 1), (1 << 20, 1, 4)], 4),
            (vec![(5, 1, -3), (2, 100, -1 << 33), (7, 1000, 30)], 2),
            (nine, 2),
        ] {
            let mut whole = task(ElementOperation::Neg, &axes);
            let (mut launches, mut elements, mut last) = (0, 0, [0; 2]);
            parts(&mut whole, &mut |part| {
                assert!(too_large(part).is_none());
                launches += 1;
                elements += part.count();
                last = ends(part);
                Ok(())
            })
            .unwrap();
            assert_eq!((launches, elements, last), (count, whole.total, ends(&whole)), "{axes:?}");
        }
    }

    #[test]
    fn numbered_elements_keep_their_numbers_in_parts() {
        let mut whole = task(ElementOperation::Range, &[(1 << 20, 1, 0), (5000, 1 << 21, 0)]);
        let mut next = 0;
        parts(&mut whole, &mut |part| {
            assert_eq!((part.first, part.total), (next, 5000 << 20));
            next += part.count();
            Ok(())
        })
        .unwrap();
        assert_eq!(next, whole.total);
    }
}
