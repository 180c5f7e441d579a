//! What a call queues, and what becomes of failures. On the simulator alone.

use sconce::sim_controls as sim;
use sconce_base::element::Dtype;
use sconce_base::error::Status;
use sconce_compute::ordering::{
    JoinCall, JoinPart, PlacedOperand, SelectCall, SelectIndex, SortCall, join, select, sort,
};
use sconce_driver::CaptureMode;
use sconce_runtime::stream;

use testkit::twin::{Twin, is_simulated, runtime, stream};

fn calls(name: &str) -> u64 {
    sim::call_count(name).unwrap()
}

/// Operands of `elements` 4-byte elements and as many indices.
struct Operands {
    input: Twin,
    output: Twin,
    indices: Twin,
    elements: i64,
}

impl Operands {
    fn new(elements: i64) -> Operands {
        let numbers =
            |from: i64| (0..elements).flat_map(move |i| (i ^ from).to_le_bytes()).collect();
        let narrow = (0..elements).flat_map(|i| ((i * 7919) as i32).to_le_bytes()).collect();
        let output = Twin::new(vec![0xA5; 4 * elements as usize]);
        Operands { input: Twin::new(narrow), output, indices: Twin::new(numbers(1)), elements }
    }

    fn sort(&self) -> sconce_base::error::Result<()> {
        let operand = |twin: &Twin| PlacedOperand { address: twin.device(), strides: &[1] };
        let call = SortCall {
            dtype: Dtype::I32,
            sizes: &[self.elements],
            axis: 0,
            descending: false,
            input: operand(&self.input),
            values: operand(&self.output),
            indices: operand(&self.indices),
        };
        sort(runtime(), stream(), &call)
    }

    fn select(&self, input_size: i64) -> sconce_base::error::Result<()> {
        let operand = |twin: &Twin| PlacedOperand { address: twin.device(), strides: &[1] };
        let index = SelectIndex { address: self.indices.device(), dtype: Dtype::I64, stride: 1 };
        let call = SelectCall {
            dtype: Dtype::I32,
            sizes: &[self.elements],
            axis: 0,
            input_size,
            input: operand(&self.input),
            output: operand(&self.output),
            index,
        };
        select(runtime(), stream(), &call)
    }

    /// Joins the input's first elements with its last ones, in so many parts.
    fn join(&self, parts: i64) -> sconce_base::error::Result<()> {
        let size = self.elements / parts;
        let parts: Vec<JoinPart<'_>> = (0..parts)
            .map(|part| {
                let address = self.input.device().offset((part * size * 4) as usize);
                JoinPart { size, operand: PlacedOperand { address, strides: &[1] } }
            })
            .collect();
        let call = JoinCall {
            dtype: Dtype::F32,
            sizes: &[size * parts.len() as i64],
            axis: 0,
            output: PlacedOperand { address: self.output.device(), strides: &[1] },
            parts: &parts,
        };
        join(runtime(), stream(), &call)
    }
}

#[test]
fn small_calls_are_one_launch_and_long_sorts_one_for_each_digit() {
    if !is_simulated() {
        return;
    }
    let [small, long] = [840, 20_000].map(Operands::new);
    let launches = |call: &dyn Fn() -> sconce_base::error::Result<()>| {
        let before = calls("kernel_launch");
        call().unwrap();
        calls("kernel_launch") - before
    };
    for (parts, expected) in [(1, 1), (2, 1), (6, 1), (7, 1), (20, 1), (280, 2)] {
        assert_eq!(launches(&|| small.join(parts)), expected, "{parts} parts");
    }
    assert_eq!(launches(&|| small.select(840)), 1);
    assert_eq!(launches(&|| small.sort()), 1);
    assert_eq!(launches(&|| long.sort()), 1 + 4);
    for operands in [&small, &long] {
        operands.output.read(stream());
    }
}

#[test]
fn an_index_out_of_range_ends_the_device_as_an_assertion_does() {
    if !is_simulated() {
        return;
    }
    let operands = Operands::new(100);
    operands.select(100).unwrap();
    stream::synchronize(runtime(), stream()).unwrap();
    let stream = stream();
    // The indices are those of 100 elements.
    let queued = operands.select(99);
    let result = queued.and_then(|()| runtime().driver().device_synchronize(stream.device()));
    let error = result.unwrap_err();
    assert_eq!(error.status(), Status::Driver);
    for words in ["CUDA_ERROR_ASSERT", "kernel sconce_select_", "an index is out of range"] {
        assert!(error.message().contains(words), "{}", error.message());
    }
    sim::clear_device_error(0).unwrap();
}

#[test]
fn every_failing_driver_call_is_reported_and_the_next_call_works() {
    if !is_simulated() {
        return;
    }
    let operands = Operands::new(8000);
    type Run<'a> = &'a dyn Fn() -> sconce_base::error::Result<()>;
    // A module is loaded and a kernel found once: only before that can the call fail.
    let runs: [(&[(&str, u64)], Run<'_>); 3] = [
        (&[("module_load", 1), ("fill_async", 1), ("kernel_launch", 5)], &|| operands.sort()),
        (&[("module_load", 1), ("kernel_launch", 1)], &|| operands.select(8000)),
        (&[("kernel_find", 1), ("kernel_launch", 1)], &|| operands.join(10)),
    ];
    for (expected, run) in runs {
        for (call, expected) in expected {
            let mut failed = 0;
            for nth in 1..100 {
                sim::fail_call(call, nth, 999).unwrap();
                match run() {
                    Ok(()) => break,
                    Err(error) => assert!(error.message().contains("999"), "{}", error.message()),
                }
                failed += 1;
            }
            sim::clear_faults().unwrap();
            assert_eq!(failed, *expected, "{call}");
        }
        run().unwrap();
        stream::synchronize(runtime(), stream()).unwrap();
    }
}

#[test]
fn the_first_calls_of_a_device_may_be_captured() {
    if !is_simulated() {
        return;
    }
    let operands = Operands::new(8000);
    let stream = stream();
    sim::begin_capture(runtime(), stream, CaptureMode::Global).unwrap();
    operands.sort().unwrap();
    operands.select(8000).unwrap();
    operands.join(2).unwrap();
    sim::end_capture(runtime(), stream).unwrap();
}
