//! Launches of a sort: one for lines that a block holds; for longer ones, one for each digit and one that counts.

use sconce_base::collections::per_device::PerDevice;
use sconce_base::element::KeyOrder;
use sconce_base::error::Result;
use sconce_base::strided::SharedAxis;
use sconce_base::strided::{LaunchLimit, each_part};
use sconce_base::sync::shared_static;
use sconce_base::types::DevicePtr;
use sconce_driver::{KernelArguments, KernelImage, LaunchShape};
use sconce_kernels::images::{SORT_BLOCK, SORT_LINES, SORT_RADIX};
use sconce_kernels::{
    BlockLaunch, CountLaunch, LinesLaunch, PassLaunch, PassWork, SORT_AXES, SORT_BINS,
    SORT_KERNELS, SORT_LINES_LONGEST, SORT_LINES_MOST, SORT_WIDTHS, SortAxis, SortSides,
    sort_block_name, sort_count_name, sort_kernel_index, sort_lines_name, sort_pass_name,
    sort_tile, sort_tiles, sort_width_index,
};
use sconce_runtime::context::Runtime;
use sconce_runtime::kernel_loader::LoadedKernels;
use sconce_runtime::memory::Temporary;
use sconce_runtime::stream::Stream;

use super::axes::shared_axes;
use super::calls::{INDEX_BYTES, SortCall};

/// The kernels of the images of sorts.
struct SortKernels {
    lines: LoadedKernels<SORT_WIDTHS>,
    block: LoadedKernels<SORT_WIDTHS>,
    radix: LoadedKernels<{ SORT_WIDTHS + SORT_KERNELS }>,
}

shared_static! {
    static KERNELS: PerDevice<SortKernels> = sconce_base::collections::per_device::per_device!(SortKernels {
        lines: LoadedKernels::new(),
        block: LoadedKernels::new(),
        radix: LoadedKernels::new(),
    });
}

/// A kernel of a sort.
#[derive(Clone, Copy)]
enum SortKernel {
    Lines,
    Block,
    Count,
    Pass,
}

/// The longest line of which several share a block. Longer ones are sorted faster by a block each.
const SHARED_LONGEST: u32 = 1024;
/// Elements of the long lines that are sorted together, unless a line is longer: as many as the fixed
/// cost of a launch is small for, and no more, since they need memory twice.
const TOGETHER: u64 = 1 << 25;
/// What each piece of the temporary begins at a multiple of.
const ALIGNMENT: u64 = 256;
/// Bytes of a count, of a published number and of a place between two passes.
const WORD: u64 = 4;

const _: () = assert!(SHARED_LONGEST as u64 <= SORT_LINES_LONGEST);

/// Queues a sort of lines of 1 element or more.
pub(super) fn launch(
    runtime: &Runtime,
    stream: Stream,
    call: &SortCall<'_>,
    order: KeyOrder,
    length: u32,
) -> Result<()> {
    let operands = [call.input, call.values, call.indices];
    let widths = [order.bytes, order.bytes, INDEX_BYTES];
    let sides = [0, 1, 2].map(|side| (operands[side].strides, widths[side]));
    let steps = sides.map(|(strides, width)| strides[call.axis].wrapping_mul(width as i64));
    let axes = shared_axes(call.sizes, call.axis, sides);
    let is_short = length <= sort_tile(&order);
    let most = if is_short { SORT_LINES_MOST } else { (TOGETHER / u64::from(length)).max(1) };
    each_part(&axes, LaunchLimit { axes: SORT_AXES, elements: most }, &mut |start, axes| {
        let addresses = [0, 1, 2].map(|side| {
            let address = operands[side].address.get() as u64;
            DevicePtr(address.wrapping_add_signed(start[side]))
        });
        let axis =
            |axis: &SharedAxis<3>| SortAxis { size: axis.size as u32, strides: axis.strides };
        let sides = SortSides { addresses, steps, axes: axes.iter().map(axis).collect() };
        let device = SortDevice { runtime, stream, order };
        if length <= SHARED_LONGEST {
            device.launch(SortKernel::Lines, LinesLaunch { order, length, sides }.launch())
        } else if is_short {
            device.launch(SortKernel::Block, BlockLaunch { order, length, sides }.launch())
        } else {
            device.long_lines(length, &sides)
        }
    })
}

/// Where a sort runs, and its order.
struct SortDevice<'a> {
    runtime: &'a Runtime,
    stream: Stream,
    order: KeyOrder,
}

impl SortDevice<'_> {
    fn launch(&self, kernel: SortKernel, launch: (LaunchShape, KernelArguments)) -> Result<()> {
        let SortDevice { runtime, stream, order } = *self;
        let stream = stream.driver_ref();
        let kernels = &KERNELS[stream.device];
        let (width, index) = (sort_width_index(&order), sort_kernel_index(&order));
        let load = |image: &KernelImage, index, name: fn(&KeyOrder) -> &'static str| {
            kernels.radix.get(runtime, stream.device, image, index, || name(&order))
        };
        let kernel = match kernel {
            SortKernel::Lines => {
                let name = || sort_lines_name(&order);
                kernels.lines.get(runtime, stream.device, &SORT_LINES, width, name)?
            }
            SortKernel::Block => {
                let name = || sort_block_name(&order);
                kernels.block.get(runtime, stream.device, &SORT_BLOCK, width, name)?
            }
            SortKernel::Count => load(&SORT_RADIX, width, sort_count_name)?,
            SortKernel::Pass => load(&SORT_RADIX, SORT_WIDTHS + index, sort_pass_name)?,
        };
        let (shape, arguments) = launch;
        runtime.driver().kernel_launch(kernel, shape, &arguments, stream)
    }

    /// Sorts lines digit by digit. Elements and places go to and fro between two pieces of memory.
    fn long_lines(&self, length: u32, sides: &SortSides) -> Result<()> {
        let SortDevice { runtime, stream, order } = *self;
        let plan = ScratchPlan::of(&order, length, sides.lines());
        let scratch = Temporary::new(plan.bytes as usize, stream)?;
        let at = |offset: u64| scratch.address().offset(offset);
        let stream = stream.driver_ref();
        runtime.driver().fill_async(at(0), 0, plan.zeros as usize, stream)?;
        let histogram = at(0);
        let count = CountLaunch { order, length, histogram, sides: sides.clone() };
        self.launch(SortKernel::Count, count.launch())?;
        let passes = order.bytes as u32;
        for number in 0..passes {
            let (is_first, is_last) = (number == 0, number + 1 == passes);
            // The last pass wrote the one, this one writes the other.
            let [from, to] = [(number + 1) % 2, number % 2].map(|half| plan.halves[half as usize]);
            let mut pass = sides.clone();
            if !is_first {
                pack(&mut pass, 0, at(from.elements), order.bytes, length);
            }
            if !is_last {
                pack(&mut pass, 1, at(to.elements), order.bytes, length);
                pack(&mut pass, 2, at(to.places), WORD as usize, length);
            }
            let work = PassWork {
                histogram,
                states: at(plan.states + u64::from(number) * plan.states_of_pass),
                counter: at(plan.counters + u64::from(number) * WORD),
                places: if is_first { DevicePtr(0) } else { at(from.places) },
            };
            let launch = PassLaunch { order, length, number, wide: is_last, work, sides: pass };
            self.launch(SortKernel::Pass, launch.launch())?;
        }
        Ok(())
    }
}

/// Puts one side into memory where lines follow each other without gaps.
fn pack(sides: &mut SortSides, side: usize, address: DevicePtr, width: usize, length: u32) {
    sides.addresses[side] = address;
    sides.steps[side] = width as i64;
    let mut stride = width as i64 * i64::from(length);
    for axis in &mut sides.axes {
        axis.strides[side] = stride;
        stride *= i64::from(axis.size);
    }
}

/// A half of the memory between passes: offsets in the temporary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ScratchHalf {
    elements: u64,
    places: u64,
}

/// What lies where in the temporary of a sort of long lines, in bytes. The counts come first.
#[derive(Debug, PartialEq, Eq)]
struct ScratchPlan {
    counters: u64,
    states: u64,
    states_of_pass: u64,
    /// What is set to 0, from the beginning.
    zeros: u64,
    halves: [ScratchHalf; 2],
    bytes: u64,
}

impl ScratchPlan {
    fn of(order: &KeyOrder, length: u32, lines: u32) -> ScratchPlan {
        let (passes, lines) = (order.bytes as u64, u64::from(lines));
        let mut end = 0;
        let mut take = |bytes: u64| {
            let begin = end;
            end += bytes.next_multiple_of(ALIGNMENT);
            begin
        };
        let of_bins = SORT_BINS as u64 * WORD;
        take(lines * passes * of_bins);
        let counters = take(passes * WORD);
        let states_of_pass = lines * u64::from(sort_tiles(order, length)) * of_bins;
        let states = take(passes * states_of_pass);
        let zeros = take(0);
        let elements = lines * u64::from(length);
        // One pass needs no half, two need one.
        let halves = [0, 1].map(|half| {
            let is_used = half + 1 < passes;
            let [of_elements, of_places] =
                [order.bytes as u64, WORD].map(|width| if is_used { elements * width } else { 0 });
            ScratchHalf { elements: take(of_elements), places: take(of_places) }
        });
        ScratchPlan { counters, states, states_of_pass, zeros, halves, bytes: take(0) }
    }
}

#[cfg(test)]
mod tests {
    use sconce_base::element::Dtype;

    use super::*;

    #[test]
    fn pieces_of_the_temporary_do_not_overlap() {
        for (dtype, length, lines) in [
            (Dtype::U8, 5000, 3),
            (Dtype::F16, 2049, 1),
            (Dtype::I32, 1 << 24, 1),
            (Dtype::F64, 9999, 7),
        ] {
            let order = KeyOrder::of(dtype, false).unwrap();
            let plan = ScratchPlan::of(&order, length, lines);
            let (passes, lines) = (order.bytes as u64, u64::from(lines));
            let [a, b] = plan.halves;
            assert!(plan.counters >= lines * passes * 1024, "{dtype:?}");
            assert!(plan.states >= plan.counters + passes * 4);
            assert!(plan.zeros >= plan.states + passes * plan.states_of_pass);
            assert!(a.elements >= plan.zeros);
            let elements = lines * u64::from(length);
            let used = (passes - 1).min(2);
            if used > 0 {
                assert!(a.places >= a.elements + elements * passes);
                assert!(b.elements >= a.places + elements * 4);
            }
            if used > 1 {
                assert!(b.places >= b.elements + elements * passes);
                assert!(plan.bytes >= b.places + elements * 4);
            }
            let least = plan.zeros + used * elements * (passes + 4);
            assert!(plan.bytes < least + 4 * ALIGNMENT, "{dtype:?}: {plan:?}");
        }
    }
}
