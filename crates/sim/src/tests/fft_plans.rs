//! Plans of transforms: what they refuse, hold and need, and that their work keeps its order.

use std::sync::Arc;

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Status};
use sconce_base::types::DevicePtr;
use sconce_driver::prelude::*;
use sconce_driver::{
    CaptureMode, FftCall, FftDirection, FftKind, FftLayout, FftPlan, FftShape, RelaxedCapture,
    StreamRef,
};

use super::fft::upload;
use super::support::*;
use crate::{Call, Simulator};

/// A packed transform in one dimension.
fn line(kind: FftKind, element: Dtype, n: i64) -> FftShape {
    let layout = FftLayout { embed: [n, 1, 1], stride: 1, distance: n };
    let sizes = [n, 1, 1];
    FftShape { kind, element, rank: 1, sizes, batch: 1, input: layout, output: layout }
}

fn c2c(n: i64) -> FftShape {
    line(FftKind::C2C, Dtype::F32, n)
}

fn call(stream: StreamRef, input: DevicePtr, output: DevicePtr) -> FftCall {
    let direction = FftDirection::Forward;
    FftCall { stream, workspace: DevicePtr(0), input, output, direction }
}

fn free(sim: &Simulator) -> usize {
    sim.memory_info(D0).unwrap().free_bytes
}

fn refused(result: sconce_base::error::Result<()>) -> i32 {
    result.unwrap_err().backend_code()
}

fn ones(n: usize) -> Vec<u8> {
    [1.0_f32, 0.0].repeat(n).into_iter().flat_map(f32::to_le_bytes).collect()
}

/// The transform of ones: all of it in the first place.
fn peak(n: usize) -> Vec<u8> {
    let mut values = vec![0.0_f32; 2 * n];
    values[0] = n as f32;
    values.into_iter().flat_map(f32::to_le_bytes).collect()
}

#[test]
fn a_plan_holds_memory_until_it_and_its_work_are_gone() {
    let sim = manual(1);
    let input = sim.memory_alloc(D0, 64).unwrap();
    let before = free(&sim);
    let mut plan = sim.fft_plan(D0, &c2c(8)).unwrap();
    let with = free(&sim);
    assert!(before - with >= 64 << 10, "{before} {with}");
    let long = sim.fft_plan(D0, &c2c(1 << 16)).unwrap();
    assert!(with - free(&sim) >= 8 << 16);
    drop(long);
    assert_eq!(free(&sim), with);

    let stream = stream(&sim);
    sim.fill_async(input, 0, 64, stream).unwrap();
    plan.execute(&call(stream, input, input)).unwrap();
    drop(plan);
    assert_eq!(free(&sim), with, "queued work needs it");
    assert_eq!(sim.run_until_idle(), 2);
    assert_eq!(free(&sim), before);
    assert_eq!(sim.device_error(D0), None);
}

#[test]
fn work_runs_in_stream_order_and_not_before() {
    let sim = manual(1);
    let (first, other) = (stream(&sim), stream(&sim));
    let input = sim.memory_alloc(D0, 8 * 16).unwrap();
    let output = sim.memory_alloc(D0, 8 * 16).unwrap();
    let mut plan = sim.fft_plan(D0, &c2c(16)).unwrap();
    let data = ones(16);
    let pinned = sim.host_alloc(D0, 3 * 8 * 16).unwrap();
    sim.fill_async(output, 7, 8 * 16, first).unwrap();
    sim.copy_async(input.into(), host_of(&data), 8 * 16, first).unwrap();
    plan.execute(&call(first, input, output)).unwrap();
    let shown = |at: usize, stream| {
        sim.copy_async(host(pinned + at), output.into(), 8 * 16, stream).unwrap();
    };
    shown(0, first);
    let read = |at: usize| (0..8 * 16).map(|i| peek(pinned + at + i)).collect::<Vec<u8>>();

    assert!(sim.step(first).unwrap() && sim.step(first).unwrap());
    assert_eq!(sim.pending(first).unwrap(), 2);
    shown(8 * 16, other);
    assert!(sim.step(other).unwrap());
    assert_eq!(read(8 * 16), vec![7; 8 * 16], "the transform ran before its turn");
    assert!(sim.step(first).unwrap() && sim.step(first).unwrap());
    assert_eq!(read(0), peak(16));
    sim.host_free(pinned).unwrap();
}

#[test]
fn a_workspace_is_needed_and_written() {
    let sim = automatic(1);
    let n = 5000;
    let input = upload(&sim, &ones(n));
    let output = sim.memory_alloc(D0, 8 * n).unwrap();
    let mut plan = sim.fft_plan(D0, &c2c(n as i64)).unwrap();
    assert_eq!(plan.workspace_bytes(), 8 * n);
    let workspace = sim.memory_alloc(D0, 2 * 8 * n).unwrap();
    sim.fill_async(workspace, 0, 2 * 8 * n, stream(&sim)).unwrap();
    sim.device_synchronize(D0).unwrap();
    assert_eq!(refused(plan.execute(&call(stream(&sim), input, output))), 13);
    plan.execute(&FftCall { workspace, ..call(stream(&sim), input, output) }).unwrap();
    sim.device_synchronize(D0).unwrap();
    let after = read_back(&sim, workspace, 2 * 8 * n);
    assert!(after[..8 * n].iter().all(|byte| *byte != 0), "part of it was not used");
    assert!(after[8 * n..].iter().all(|byte| *byte == 0), "more than it was used");
    let first = read_back(&sim, output, 4);
    assert_eq!(f32::from_le_bytes(first.try_into().unwrap()), n as f32);

    // Memory that is not there is noticed.
    let gone = sim.memory_alloc(D0, 8 * n).unwrap();
    sim.memory_free(D0, gone).unwrap();
    plan.execute(&FftCall { workspace: gone, ..call(stream(&sim), input, output) }).unwrap();
    assert_eq!(sim.device_synchronize(D0).unwrap_err().backend_code(), 700);
}

#[test]
fn calls_that_do_not_fit_are_refused() {
    let sim = automatic(2);
    let at = sim.memory_alloc(D0, 4096).unwrap();
    let good = call(stream(&sim), at, at);
    let inverse = FftDirection::Inverse;
    let mut plan = sim.fft_plan(D0, &c2c(8)).unwrap();
    assert_eq!(refused(plan.execute(&FftCall { input: at.offset(4), ..good })), 4);
    assert_eq!(refused(plan.execute(&FftCall { output: at.offset(4), ..good })), 4);
    let stream_of_other = stream_on(&sim, device(1), true);
    assert_eq!(refused(plan.execute(&FftCall { stream: stream_of_other, ..good })), 11);
    plan.execute(&FftCall { direction: inverse, ..good }).unwrap();
    let mut plan = sim.fft_plan(D0, &line(FftKind::R2C, Dtype::F32, 8)).unwrap();
    assert_eq!(refused(plan.execute(&FftCall { direction: inverse, ..good })), 4);
    plan.execute(&FftCall { input: at.offset(4), output: at.offset(1024), ..good }).unwrap();
    let mut plan = sim.fft_plan(D0, &line(FftKind::C2R, Dtype::F64, 8)).unwrap();
    assert_eq!(refused(plan.execute(&good)), 4);
    let aside = FftCall { output: at.offset(1032), direction: inverse, ..good };
    plan.execute(&aside).unwrap();
    assert_eq!(refused(plan.execute(&FftCall { input: at.offset(8), ..aside })), 4);
    sim.device_synchronize(D0).unwrap();
}

fn failed(result: sconce_base::error::Result<Box<dyn FftPlan>>) -> Error {
    match result {
        Ok(_) => panic!("made a plan"),
        Err(error) => error,
    }
}

#[test]
fn plans_fail_with_the_librarys_numbers() {
    let sim = automatic(1);
    let error = failed(sim.fft_plan(D0, &line(FftKind::C2C, Dtype::F16, 12)));
    assert_eq!((error.backend_code(), error.status()), (16, Status::NotSupported));
    let error = failed(sim.fft_plan(D0, &c2c(0)));
    assert_eq!((error.backend_code(), error.status()), (8, Status::NotSupported));
    assert!(error.message().contains("CUFFT_INVALID_SIZE"), "{error}");
    failed(sim.fft_plan(device(3), &c2c(8)));

    sim.fail_call(Call::FftPlan, 1, 5);
    assert_eq!(failed(sim.fft_plan(D0, &c2c(8))).backend_code(), 5);
    sim.fail_call(Call::FftPlan, 1, -1);
    assert_eq!(failed(sim.fft_plan(D0, &c2c(8))).status(), Status::LibraryNotFound);

    sim.fail_allocation(1);
    let error = failed(sim.fft_plan(D0, &c2c(8)));
    assert_eq!((error.backend_code(), error.status()), (2, Status::OutOfMemory));
    let all = sim.memory_alloc(D0, free(&sim)).unwrap();
    assert_eq!(failed(sim.fft_plan(D0, &c2c(8))).backend_code(), 2);
    sim.memory_free(D0, all).unwrap();

    let before = sim.call_count(Call::FftExecute);
    let mut plan = sim.fft_plan(D0, &c2c(8)).unwrap();
    let at = upload(&sim, &ones(8));
    let good = call(stream(&sim), at, at);
    sim.fail_call(Call::FftExecute, 1, 6);
    assert_eq!(refused(plan.execute(&good)), 6);
    assert_eq!(read_back(&sim, at, 64), ones(8));
    plan.execute(&good).unwrap();
    sim.device_synchronize(D0).unwrap();
    assert_eq!(read_back(&sim, at, 64), peak(8));
    assert_eq!(sim.call_count(Call::FftExecute) - before, 2);

    sim.fail_operation(Call::FftExecute, 1, 719);
    plan.execute(&good).unwrap();
    assert_eq!(sim.device_synchronize(D0).unwrap_err().backend_code(), 719);
    assert_eq!(failed(sim.fft_plan(D0, &c2c(8))).backend_code(), 719);
}

#[test]
fn memory_that_is_not_there_fails_the_device() {
    for (input_bytes, output_bytes) in [(8 * 512, 8 * 1024), (8 * 1024, 8 * 512)] {
        let sim = automatic(1);
        let input = sim.memory_alloc(D0, input_bytes).unwrap();
        let output = sim.memory_alloc(D0, output_bytes).unwrap();
        let mut plan = sim.fft_plan(D0, &c2c(1024)).unwrap();
        plan.execute(&call(stream(&sim), input, output)).unwrap();
        assert_eq!(sim.device_synchronize(D0).unwrap_err().backend_code(), 700);
    }
}

#[test]
fn captured_transforms_do_not_run_and_plans_are_made_in_relaxed_mode() {
    let sim = automatic(1);
    let stream = stream(&sim);
    let at = upload(&sim, &ones(8));
    sim.begin_capture(stream, CaptureMode::ThreadLocal).unwrap();
    let mut plan = {
        let _relaxed = RelaxedCapture::enter(&sim).unwrap();
        sim.fft_plan(D0, &c2c(8)).unwrap()
    };
    plan.execute(&call(stream, at, at)).unwrap();
    sim.end_capture(stream).unwrap();
    sim.device_synchronize(D0).unwrap();
    assert_eq!(read_back(&sim, at, 64), ones(8));

    sim.begin_capture(stream, CaptureMode::ThreadLocal).unwrap();
    assert_eq!(failed(sim.fft_plan(D0, &c2c(8))).backend_code(), 5);
}

#[test]
fn queued_work_does_not_keep_a_dropped_simulator() {
    let sim = manual(1);
    let at = sim.memory_alloc(D0, 64).unwrap();
    let mut plan = sim.fft_plan(D0, &c2c(8)).unwrap();
    plan.execute(&call(stream(&sim), at, at)).unwrap();
    let memory = Arc::downgrade(&sim.inner.space);
    drop(sim);
    assert!(memory.upgrade().is_some(), "the plan needs it");
    drop(plan);
    assert!(memory.upgrade().is_none());
}
