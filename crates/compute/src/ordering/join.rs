//! Operands joined along an axis.

use sconce_base::error::Result;
use sconce_base::strided::SharedAxes;
use sconce_driver::RawAddress;
use sconce_runtime::context::Runtime;
use sconce_runtime::stream::Stream;
use smallvec::SmallVec;

use super::axes::{is_empty, shared_axes};
use super::calls::{JoinCall, JoinPart};
use super::host;
use super::join_kernels::JoinQueue;

/// Joins memory of the stream's device, as work of the stream: in one launch, if there are up to
/// six parts and each lies in rows. Of more parts, those that are short and lie together are copied in launches of some
/// hundred.
pub fn join(runtime: &Runtime, stream: Stream, call: &JoinCall<'_>) -> Result<()> {
    let mut queue = JoinQueue::new(runtime, stream, call.parts.len());
    if is_packed(call) {
        add_packed(&mut queue, call)?;
    } else {
        each_part_of(call, |addresses, axes| queue.add(addresses, call.dtype.bytes(), axes))?;
    }
    queue.finish()
}

/// Whether elements lie one after another in all parts, and in the output.
fn is_packed(call: &JoinCall<'_>) -> bool {
    let mut parts = call.parts.iter();
    matches!(call.output.strides, [1]) && parts.all(|part| matches!(part.operand.strides, [1]))
}

/// Adds parts that are one run of bytes each: what [`each_part_of`] finds for them, too.
fn add_packed(queue: &mut JoinQueue<'_>, call: &JoinCall<'_>) -> Result<()> {
    let (width, mut start) = (call.dtype.bytes() as u64, 0_u64);
    for JoinPart { size, operand } in call.parts {
        let bytes = (*size).max(0) as u64 * width;
        if bytes != 0 {
            let dst = (call.output.address.get() as u64).wrapping_add(start);
            queue.add_rows([dst, operand.address.get() as u64], bytes, 1, [0, 0])?;
            start += bytes;
        }
    }
    Ok(())
}

/// Joins host memory.
pub fn join_on_host(call: &JoinCall<'_>) -> Result<()> {
    let width = call.dtype.bytes();
    each_part_of(call, |[dst, src], axes| host::copy_along(dst, src, width, &axes))
}

/// Calls `visit` for each part that is not empty, with where it goes and where it lies, and the axes of
/// both.
fn each_part_of(
    call: &JoinCall<'_>,
    mut visit: impl FnMut([RawAddress; 2], SharedAxes<2>) -> Result<()>,
) -> Result<()> {
    let JoinCall { dtype, sizes, axis, output, parts } = *call;
    let width = dtype.bytes();
    let step = output.strides[axis].wrapping_mul(width as i64);
    let mut sizes = SmallVec::<[i64; 8]>::from_slice(sizes);
    let mut start = 0;
    for JoinPart { size, operand } in parts {
        sizes[axis] = *size;
        if is_empty(&sizes) {
            continue;
        }
        let sides = [(output.strides, width), (operand.strides, width)];
        let first = host::at(output.address, start, step);
        visit([first, operand.address], shared_axes(&sizes, sizes.len(), sides))?;
        start += *size as u64;
    }
    Ok(())
}

#[cfg(all(test, not(loom)))]
mod tests {
    use sconce_base::element::Dtype;

    use super::*;
    use crate::ordering::PlacedOperand;
    use crate::ordering::host::of_test;

    #[test]
    fn parts_follow_each_other_along_every_axis() {
        for axis in 0..3 {
            let part_sizes = [2, 0, 1, 3];
            let shape = |size: i64| {
                let mut sizes = [2_i64, 3, 2];
                sizes[axis] = size;
                sizes
            };
            let packed = |sizes: [i64; 3]| [sizes[1] * sizes[2], sizes[2], 1];
            let mut memory: Vec<Vec<u64>> =
                (0..4).map(|part| (0..100).map(|i| part * 1000 + i).collect()).collect();
            let addresses: Vec<_> = memory.iter_mut().map(|part| of_test(part)).collect();
            // The last part is transposed.
            let strides: Vec<[i64; 3]> = part_sizes
                .iter()
                .enumerate()
                .map(|(part, size)| if part == 3 { [1, 5, 25] } else { packed(shape(*size)) })
                .collect();
            let parts: Vec<JoinPart<'_>> = (0..4)
                .map(|part| JoinPart {
                    size: part_sizes[part],
                    operand: PlacedOperand { address: addresses[part], strides: &strides[part] },
                })
                .collect();
            let sizes = shape(part_sizes.iter().sum());
            let out_strides = packed(sizes).map(|stride| 2 * stride);
            let mut output = vec![u64::MAX; 200];
            join_on_host(&JoinCall {
                dtype: Dtype::I64,
                sizes: &sizes,
                axis,
                output: PlacedOperand { address: of_test(&mut output), strides: &out_strides },
                parts: &parts,
            })
            .unwrap();
            let mut written = 0;
            let mut start = 0;
            for part in 0..4 {
                let sizes = shape(part_sizes[part]);
                for a in 0..sizes[0] {
                    for b in 0..sizes[1] {
                        for c in 0..sizes[2] {
                            let at = [a, b, c];
                            let mut to = at;
                            to[axis] += start;
                            let place = |at: [i64; 3], strides: [i64; 3]| -> usize {
                                (0..3).map(|i| at[i] * strides[i]).sum::<i64>() as usize
                            };
                            let expected = memory[part][place(at, strides[part])];
                            assert_eq!(output[place(to, out_strides)], expected, "{axis} {to:?}");
                            written += 1;
                        }
                    }
                }
                start += part_sizes[part];
            }
            assert_eq!(output.iter().filter(|element| **element != u64::MAX).count(), written);
        }
    }
}
