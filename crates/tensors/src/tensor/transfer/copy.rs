//! Copies of elements, with conversion where the types differ (`torch.Tensor.copy_`).

use sconce_base::error::{Error, Result, Status};
use sconce_base::strided::{PairAxes, PairAxis, join_axes};
use sconce_compute::copy::{self, Axis};
use sconce_compute::pointwise::{ElementOperation, Scalar};
use sconce_driver::RawAddress;
use sconce_runtime::context::runtime;
use sconce_runtime::memory::sleep::refuse_asleep;
use smallvec::SmallVec;

use crate::tensor::host_use::{self, HostUse};
use crate::tensor::iteration::{broadcast, preserved_strides, strides_over};
use crate::tensor::launch;
use crate::tensor::overlap::{refuse_partly_shared, refuse_unwritable};
use crate::tensor::views::narrow;
use crate::tensor::{Dims, Place, Tensor, TensorOptions, dims};

/// Copies every element of `src`, repeated to the shape of `dst`, and converts it to `dst`'s type.
///
/// Elements are converted where the source is, except in a copy to a device that does not wait: work that was queued
/// before may still write to the source, so that copy converts on the device, in the order of the stream.
pub fn copy_into(dst: &Tensor, src: &Tensor, non_blocking: bool) -> Result<()> {
    if dims::are_equal(dst.sizes(), src.sizes()) && dst.is_contiguous() && src.is_contiguous() {
        return copy_packed(dst, src, non_blocking);
    }
    copy_repeated(dst, src, non_blocking)
}

/// As [`copy_into`], of contiguous tensors of one shape, which are runs of elements: most copies.
fn copy_packed(dst: &Tensor, src: &Tensor, non_blocking: bool) -> Result<()> {
    let is_same_type = dst.dtype() == src.dtype();
    let is_same_place = dst.place() == src.place();
    let is_on_host = is_same_place && dst.place() == Place::Cpu;
    if if is_same_type { is_on_host } else { !is_same_place } {
        return copy_repeated(dst, src, non_blocking);
    }
    if dst.numel() == 0 || dst.is_same_view(src) {
        return Ok(());
    }
    refuse_unwritable(dst)?;
    refuse_partly_shared(dst, src)?;
    if is_same_type {
        let bytes = dst.packed_bytes();
        return copy::copy(dst.raw(), src.raw(), bytes, non_blocking);
    }
    launch::run_flat(ElementOperation::Cast, dst.dtype(), dst, [src], Scalar::Int(1))
}

/// As [`copy_into`], of tensors of any shapes and layouts.
fn copy_repeated(dst: &Tensor, src: &Tensor, non_blocking: bool) -> Result<()> {
    if broadcast(dst.sizes(), src.sizes())?[..] != *dst.sizes() {
        return Err(Error::invalid_argument(format!(
            "output with shape {:?} doesn't match the broadcast shape {:?}",
            dst.sizes(),
            src.sizes()
        )));
    }
    if dst.numel() == 0 || dst.is_same_view(src) {
        return Ok(());
    }
    refuse_unwritable(dst)?;
    refuse_partly_shared(dst, src)?;
    let strides = strides_over(src, dst.sizes());
    if dst.dtype() == src.dtype() {
        return copy_elements(dst, src, &strides, non_blocking);
    }
    match (dst.place(), src.place()) {
        (to, from) if to == from => return launch::cast(dst, src, &strides),
        (Place::Device(_), Place::Cpu) if non_blocking => return convert_there(dst, src),
        (Place::Device(device), Place::Cpu) => copy::await_writers(device, src.address())?,
        _ => {}
    }
    let options = TensorOptions::of(src).with(dst.dtype());
    let converted = options.empty_strided(src.sizes(), &preserved_strides(src))?;
    launch::cast(&converted, src, &Dims::from_slice(src.strides()))?;
    let strides = strides_over(&converted, dst.sizes());
    copy_elements(dst, &converted, &strides, non_blocking)
}

/// Copies elements of the host to a device and converts them there. What the source repeats is copied once.
fn convert_there(dst: &Tensor, src: &Tensor) -> Result<()> {
    let repeated = |(dim, stride): (usize, &i64)| (*stride == 0).then_some(dim);
    let mut distinct = src.clone();
    for dim in src.strides().iter().enumerate().filter_map(repeated) {
        distinct = narrow(&distinct, dim as i64, 0, 1)?;
    }
    let options = TensorOptions::of(dst).with(src.dtype());
    let copied = options.empty_strided(distinct.sizes(), &preserved_strides(&distinct))?;
    copy_elements(&copied, &distinct, &Dims::from_slice(distinct.strides()), true)?;
    launch::cast(dst, &copied, &strides_over(&copied, dst.sizes()))
}

/// Copies elements of one type; `strides` are the source's over the destination's sizes.
fn copy_elements(dst: &Tensor, src: &Tensor, strides: &Dims, non_blocking: bool) -> Result<()> {
    let element = dst.element();
    if (dst.place(), src.place()) == (Place::Cpu, Place::Cpu) {
        let read = HostUse::operand(src.address(), src.dtype(), dst.sizes(), &strides[..]);
        host_use::note([read, HostUse::writes(dst)]);
        let axes = joined_axes(dst, strides);
        return each_part(dst.raw(), src.raw(), element, &axes, &mut |dst, src, axes| {
            copy::copy_on_host(dst, src, element, axes)
        });
    }
    if dst.is_contiguous() && src.is_contiguous() && dst.sizes() == src.sizes() {
        let bytes = dst.packed_bytes();
        return copy::copy(dst.raw(), src.raw(), bytes, non_blocking);
    }
    let axes = joined_axes(dst, strides);
    each_part(dst.raw(), src.raw(), element, &axes, &mut |dst, src, axes| {
        copy::copy_strided(dst, src, element, axes, non_blocking)
    })
}

/// The axes of the copy, those that lie evenly in both tensors joined.
fn joined_axes(dst: &Tensor, src_strides: &Dims) -> SmallVec<[Axis; copy::MOST_AXES]> {
    let shared = |dim: usize| PairAxis {
        size: dst.sizes()[dim] as u64,
        strides: [dst.strides()[dim], src_strides[dim]],
    };
    let mut axes: PairAxes =
        (0..dst.rank()).rev().map(shared).filter(|axis| axis.size != 1).collect();
    join_axes(&mut axes);
    let outermost_first = axes.iter().rev();
    let as_axis = |axis: &PairAxis| {
        let [dst_stride, src_stride] = axis.strides;
        Axis { size: axis.size, dst_stride, src_stride }
    };
    outermost_first.map(as_axis).collect()
}

/// Copies elements along axes, from the second address to the first.
type CopyPart<'a> = dyn FnMut(RawAddress, RawAddress, &[Axis]) -> Result<()> + 'a;

/// Calls `copy` for parts of as many axes as it takes: each index of the outermost ones beyond is a part.
fn each_part(
    dst: RawAddress,
    src: RawAddress,
    element: usize,
    axes: &[Axis],
    copy: &mut CopyPart<'_>,
) -> Result<()> {
    if axes.len() <= copy::MOST_AXES {
        return copy(dst, src, axes);
    }
    for index in 0..axes[0].size as usize {
        let at = |stride: i64| index.wrapping_mul(stride as usize).wrapping_mul(element);
        let (dst, src) = (dst.offset(at(axes[0].dst_stride)), src.offset(at(axes[0].src_stride)));
        each_part(dst, src, element, &axes[1..], copy)?;
    }
    Ok(())
}

/// Copies consecutive bytes between a tensor's memory and the host's. The call returns when that is done.
pub(super) fn copy_bytes(
    place: Place,
    dst: RawAddress,
    src: RawAddress,
    bytes: usize,
) -> Result<()> {
    match place {
        Place::Device(_) => copy::copy(dst, src, bytes, false),
        Place::Cpu => {
            let sizes = [bytes as i64];
            let run_of = |address, writes| HostUse {
                address,
                element: 1,
                sizes: &sizes,
                strides: &[1],
                writes,
            };
            host_use::note([run_of(src.get(), false), run_of(dst.get(), true)]);
            let run = Axis { size: bytes as u64, dst_stride: 1, src_stride: 1 };
            copy::copy_on_host(dst, src, 1, &[run])
        }
    }
}

/// Sets every byte of a tensor if it is dense: only then are its bytes those of its elements. False if it is not.
pub(crate) fn zero_if_dense(tensor: &Tensor) -> Result<bool> {
    if !tensor.is_dense() {
        return Ok(false);
    }
    let bytes = tensor.packed_bytes();
    if bytes != 0 {
        zero_bytes(tensor, bytes)?;
    }
    Ok(true)
}

/// Sets every byte of a tensor that the caller made without gaps.
pub fn zero(tensor: &Tensor) -> Result<()> {
    if zero_if_dense(tensor)? {
        return Ok(());
    }
    Err(Error::new(Status::Internal, "a tensor with gaps cannot be set as one run of bytes"))
}

fn zero_bytes(tensor: &Tensor, bytes: usize) -> Result<()> {
    match tensor.place().device() {
        None => {
            host_use::note([HostUse::writes(tensor)]);
            copy::set_on_host(tensor.raw(), 0, bytes)
        }
        Some(device) => {
            let runtime = runtime()?;
            let stream = sconce_runtime::stream::current_on(runtime, device)?;
            refuse_asleep([tensor.address()], "the tensor at")?;
            let address = sconce_base::types::DevicePtr(tensor.address() as u64);
            runtime.driver().fill_async(address, 0, bytes, stream.driver_ref())?;
            sconce_runtime::stream::after_enqueue(runtime, stream)
        }
    }
}
