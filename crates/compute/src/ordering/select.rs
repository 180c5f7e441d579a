//! Selections along an axis by index.

use sconce_base::error::{Error, Result};
use sconce_base::strided::{SharedAxes, SharedAxis, each_run};
use sconce_driver::RawAddress;
use sconce_math::parallel::{GRAIN, for_elements};
use sconce_runtime::context::Runtime;
use sconce_runtime::stream::Stream;
use smallvec::SmallVec;

use super::axes::{is_empty, shared_axes};
use super::calls::SelectCall;
use super::host;
use super::select_kernels::{self, IndexedBy};

/// Selects from memory of the stream's device, as work of the stream.
///
/// An index out of range is found on the device: nothing outside of the input is read, the driver prints
/// the place, and the context ends with `CUDA_ERROR_ASSERT`, as in torch.
pub fn select(runtime: &Runtime, stream: Stream, call: &SelectCall<'_>) -> Result<()> {
    let SelectCall { dtype, sizes, axis, input_size, input, output, index } = *call;
    let index_width = index.width()?;
    if is_empty(sizes) {
        return Ok(());
    }
    let width = dtype.bytes();
    let mut source = SmallVec::<[i64; 8]>::from_slice(input.strides);
    // Along the axis an element's place in the source depends on its index alone.
    let step = std::mem::take(&mut source[axis]).wrapping_mul(width as i64);
    let mut indices: SmallVec<[i64; 8]> = SmallVec::from_elem(0, sizes.len());
    indices[axis] = index.stride;
    let operands = [(output.strides, width), (&source, width), (&indices, index_width)];
    let axes = shared_axes(sizes, sizes.len(), operands);
    let size = input_size.max(0) as u64;
    let index = IndexedBy { address: index.address, wide: index_width == 8, size, step };
    let addresses = [output.address, input.address];
    select_kernels::launch(runtime, stream, addresses, width, axes, Some(index))
}

/// Selects from host memory. Nothing is written if an index is out of range.
pub fn select_on_host(call: &SelectCall<'_>) -> Result<()> {
    let SelectCall { dtype, sizes, axis, input_size, input, output, index } = *call;
    let index_width = index.width()?;
    if is_empty(sizes) {
        return Ok(());
    }
    let mut places = Vec::with_capacity(sizes[axis] as usize);
    for k in 0..sizes[axis] as u64 {
        let stride = index.stride.wrapping_mul(index_width as i64);
        let bits = host::read(host::at(index.address, k, stride), index_width)?;
        let place = if index_width == 4 { i64::from(bits as i32) } else { bits as i64 };
        if !(0..input_size).contains(&place) {
            return Err(Error::invalid_argument(format!(
                "index out of range in self: index[{k}] is {place}, but the axis has {input_size} \
                 elements"
            )));
        }
        places.push(place);
    }
    let width = dtype.bytes();
    let axes = shared_axes(sizes, axis, [(output.strides, width), (input.strides, width)]);
    let steps = [output, input].map(|operand| operand.strides[axis].wrapping_mul(width as i64));
    let [to, from] = [output, input].map(|operand| operand.address);
    let packed = axes.first().filter(|inner| inner.strides == [width as i64; 2]);
    let Some(packed) = packed.map(|inner| inner.size) else {
        // Elements do not lie side by side in both: whole lines at a time.
        let lines = axes.iter().map(|axis| axis.size).product();
        return for_elements(lines, GRAIN.div_ceil(places.len() as u64), &|part| {
            let strides = axes.first().map_or([0; 2], |inner| inner.strides);
            each_run(&axes, part, |_, begin, count| {
                for line in 0..count {
                    let [to, from] =
                        [(to, 0), (from, 1)].map(|(address, side): (RawAddress, usize)| {
                            host::at(address.offset(begin[side] as usize), line, strides[side])
                        });
                    host::copy_places(to, from, &places, steps, width)?;
                }
                Ok(())
            })
        });
    };
    // Runs of elements, one for each place and index of the outer axes.
    let mut runs = SharedAxes::<2>::from_slice(&axes[1..]);
    runs.insert(0, SharedAxis { size: places.len() as u64, strides: [steps[0], 0] });
    let count = runs.iter().map(|axis| axis.size).product();
    for_elements(count, GRAIN.div_ceil(packed), &|part| {
        each_run(&runs, part, |number, begin, count| {
            let first = number % places.len() as u64;
            for (index, place) in places[first as usize..][..count as usize].iter().enumerate() {
                let to = host::at(to.offset(begin[0] as usize), index as u64, steps[0]);
                let from = host::at(from.offset(begin[1] as usize), *place as u64, steps[1]);
                host::copy_bytes(to, from, width * packed as usize)?;
            }
            Ok(())
        })
    })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use sconce_base::element::Dtype;

    use super::*;
    use crate::ordering::host::of_test;
    use crate::ordering::{PlacedOperand, SelectIndex};

    fn select(
        axis: usize,
        index: &mut [i32],
        index_stride: i64,
        input_strides: [i64; 3],
        output: &mut [u16],
    ) -> Result<()> {
        let mut input: Vec<u16> = (0..200).collect();
        let mut sizes = [3_i64, 4, 5];
        let input_size = sizes[axis];
        sizes[axis] = index.len() as i64 / index_stride;
        let strides = [sizes[1] * sizes[2], sizes[2], 1];
        select_on_host(&SelectCall {
            dtype: Dtype::F16,
            sizes: &sizes,
            axis,
            input_size,
            input: PlacedOperand { address: of_test(&mut input), strides: &input_strides },
            output: PlacedOperand { address: of_test(output), strides: &strides },
            index: SelectIndex { address: of_test(index), dtype: Dtype::I32, stride: index_stride },
        })
    }

    #[test]
    fn every_axis_is_selected_along() {
        let picks = [2, 0, 2, 1];
        for input_strides in [[20, 5, 1], [40, 10, 2], [1, 3, 12]] {
            for axis in 0..3 {
                let mut index: Vec<i32> = picks.iter().flat_map(|pick| [*pick, 99]).collect();
                let mut output = [0; 100];
                select(axis, &mut index, 2, input_strides, &mut output).unwrap();
                let mut sizes = [3, 4, 5];
                sizes[axis] = picks.len();
                let mut expected = Vec::new();
                for a in 0..sizes[0] {
                    for b in 0..sizes[1] {
                        for c in 0..sizes[2] {
                            let mut at = [a as i64, b as i64, c as i64];
                            at[axis] = i64::from(picks[at[axis] as usize]);
                            let place: i64 = (0..3).map(|i| at[i] * input_strides[i]).sum();
                            expected.push(place as u16);
                        }
                    }
                }
                assert_eq!(output[..expected.len()], expected, "{axis}");
            }
        }
    }

    #[test]
    fn an_index_out_of_range_is_refused_before_anything_is_written() {
        for bad in [-1, 4, i32::MIN, i32::MAX] {
            let mut output = [7; 100];
            let error = select(1, &mut [0, bad], 1, [20, 5, 1], &mut output).unwrap_err();
            let text = format!(
                "index out of range in self: index[1] is {bad}, but the axis has 4 elements"
            );
            assert_eq!(error.message(), text);
            assert_eq!(output, [7; 100]);
        }
        select(1, &mut [], 1, [20, 5, 1], &mut []).unwrap();
    }
}
