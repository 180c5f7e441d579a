//! What the CUDA backend hands to cuDNN, and what it makes of the answers.

#![allow(unsafe_code, reason = "reaches into the fake libraries")]
#![allow(clippy::unwrap_used, reason = "a test may fail loudly anywhere")]

mod failures;
mod fake;
mod shapes;

use fake::{
    CONVOLUTION, Dnn, Engine, FALLBACK, HEURISTIC, MODE_A, PACK, PLAN, TENSOR, device, engine, open,
};
use sconce_base::element::Dtype;
use sconce_base::error::{Error, Status};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::prelude::*;
use sconce_driver::{ConvolutionOperation, EngineChoice, StreamRef, alignment_of};
use shapes::{convolution, depthwise_line, volume};
use testkit::fake_cuda;

const ANY: EngineChoice = EngineChoice { allow_tf32: true, deterministic: false };

/// Notes by cuDNN's numbers.
const TENSOR_CORE: i64 = 0;
const DOWN_CONVERT: i64 = 1;
const REDUCED_SUMS: i64 = 2;
const NONDETERMINISTIC: i64 = 4;

/// Types of attributes by cuDNN's numbers.
const DATA_TYPE: i64 = 1;
const INT64: i64 = 3;
const FLOAT: i64 = 4;
const DOUBLE: i64 = 5;
const CONVOLUTION_MODE: i64 = 7;
const DESCRIPTOR: i64 = 15;

fn dnn() -> Dnn {
    let dnn = open(&[]);
    dnn.set_engines(&[engine(MODE_A, &[], 64), engine(FALLBACK, &[], 0)]);
    dnn
}

fn stream(handle: usize) -> StreamRef {
    StreamRef { device: device(), handle: fake_cuda::stream(handle) }
}

/// The workspaces of the engines that are given: a test gives each its own.
fn given(dnn: &Dnn, element: Dtype, choice: EngineChoice) -> Vec<usize> {
    let mut handle = dnn.create().unwrap();
    let shape = convolution(ConvolutionOperation::Forward, element);
    let mut engines = handle.engines(&shape, choice).unwrap();
    (0..engines.count().unwrap()).map(|i| engines.plan(i).unwrap().workspace_bytes()).collect()
}

#[test]
fn a_shape_arrives_in_every_attribute() {
    for (operation, kind, first) in [
        (ConvolutionOperation::Forward, 10, [704, 703, 705, 702, 700, 701]),
        (ConvolutionOperation::Data, 12, [710, 709, 711, 708, 706, 707]),
        (ConvolutionOperation::Filter, 11, [716, 715, 717, 714, 712, 713]),
    ] {
        let dnn = dnn();
        let mut handle = dnn.create().unwrap();
        let mut shape = convolution(operation, Dtype::Bf16);
        shape.input.alignment = 2;
        shape.filter.alignment = 4;
        let mut engines = handle.engines(&shape, ANY).unwrap();
        assert_eq!(engines.count(), Ok(2));
        let of = |nth, attribute| dnn.attribute(TENSOR, nth, attribute);
        for (nth, tensor) in [shape.input, shape.filter, shape.output].into_iter().enumerate() {
            let nth = nth as i32;
            assert_eq!(of(nth, 901), (DATA_TYPE, vec![9]));
            assert_eq!(of(nth, 902), (INT64, tensor.sizes[..4].to_vec()));
            assert_eq!(of(nth, 903), (INT64, tensor.strides[..4].to_vec()));
            assert_eq!(of(nth, 906), (INT64, vec![i64::from(nth) + 1]));
            assert_eq!(of(nth, 900), (INT64, vec![[2, 4, 16][nth as usize]]));
        }
        let movement = |attribute| dnn.attribute(CONVOLUTION, 0, attribute);
        assert_eq!(movement(100), (DATA_TYPE, vec![0]), "sums are F32");
        assert_eq!(movement(101), (CONVOLUTION_MODE, vec![1]), "not turned round");
        assert_eq!(movement(106), (INT64, vec![2]));
        assert_eq!(movement(105), (INT64, vec![1, 2]), "padding before");
        assert_eq!(movement(104), (INT64, vec![1, 2]), "padding behind");
        assert_eq!(movement(102), (INT64, vec![1, 3]), "dilation");
        assert_eq!(movement(103), (INT64, vec![2, 1]), "stride");
        let its = |attribute| dnn.attribute(kind, 0, attribute);
        let named = |nth| (DESCRIPTOR, vec![i64::from(TENSOR) * 100 + nth]);
        assert_eq!([its(first[0]), its(first[1]), its(first[2])], [named(0), named(1), named(2)]);
        assert_eq!(its(first[3]), (DESCRIPTOR, vec![i64::from(CONVOLUTION) * 100]));
        assert_eq!(its(first[4]), (FLOAT, vec![1_f64.to_bits() as i64]));
        assert_eq!(its(first[5]), (FLOAT, vec![0]));
        assert_eq!(dnn.attribute(15, 0, 801), (DESCRIPTOR, vec![i64::from(kind) * 100]));
        dnn.assert_orderly();
    }
}

#[test]
fn each_element_has_its_type_and_sums() {
    for (element, own, sums, alpha) in [
        (Dtype::F32, 0, 0, FLOAT),
        (Dtype::F64, 1, 1, DOUBLE),
        (Dtype::F16, 2, 0, FLOAT),
        (Dtype::Bf16, 9, 0, FLOAT),
    ] {
        let dnn = dnn();
        let shape = convolution(ConvolutionOperation::Forward, element);
        dnn.create().unwrap().engines(&shape, ANY).unwrap();
        for nth in 0..3 {
            assert_eq!(dnn.attribute(TENSOR, nth, 901), (DATA_TYPE, vec![own]));
        }
        assert_eq!(dnn.attribute(CONVOLUTION, 0, 100), (DATA_TYPE, vec![sums]));
        assert_eq!(dnn.attribute(10, 0, 700), (alpha, vec![1_f64.to_bits() as i64]));
        assert_eq!(dnn.attribute(10, 0, 701), (alpha, vec![0]));
        dnn.assert_orderly();
    }
}

#[test]
fn one_dimension_becomes_two_and_three_stay_three() {
    let dnn = dnn();
    let mut handle = dnn.create().unwrap();
    handle.engines(&depthwise_line(), ANY).unwrap();
    // 5 images of 6 channels and 20 elements, channels last; 12 filters of 4, packed.
    assert_eq!(dnn.attribute(TENSOR, 0, 902), (INT64, vec![5, 6, 1, 20]));
    assert_eq!(dnn.attribute(TENSOR, 0, 903), (INT64, vec![120, 1, 120, 6]));
    assert_eq!(dnn.attribute(TENSOR, 1, 902), (INT64, vec![12, 1, 1, 4]));
    assert_eq!(dnn.attribute(TENSOR, 1, 903), (INT64, vec![4, 4, 4, 1]));
    assert_eq!(dnn.attribute(TENSOR, 2, 902), (INT64, vec![5, 12, 1, 9]));
    assert_eq!(dnn.attribute(CONVOLUTION, 0, 106), (INT64, vec![2]));
    assert_eq!(dnn.attribute(CONVOLUTION, 0, 105), (INT64, vec![0, 2]));
    assert_eq!(dnn.attribute(CONVOLUTION, 0, 104), (INT64, vec![0, 2]));
    assert_eq!(dnn.attribute(CONVOLUTION, 0, 102), (INT64, vec![1, 2]));
    assert_eq!(dnn.attribute(CONVOLUTION, 0, 103), (INT64, vec![1, 2]));
    dnn.assert_orderly();

    dnn.reset();
    let shape = volume();
    handle.engines(&shape, ANY).unwrap();
    for (nth, tensor) in [shape.input, shape.filter, shape.output].into_iter().enumerate() {
        assert_eq!(dnn.attribute(TENSOR, nth as i32, 902), (INT64, tensor.sizes.to_vec()));
        assert_eq!(dnn.attribute(TENSOR, nth as i32, 903), (INT64, tensor.strides.to_vec()));
    }
    assert_eq!(dnn.attribute(CONVOLUTION, 0, 106), (INT64, vec![3]));
    assert_eq!(dnn.attribute(CONVOLUTION, 0, 105), (INT64, vec![1, 0, 2]));
    assert_eq!(dnn.attribute(CONVOLUTION, 0, 103), (INT64, vec![2, 3, 1]));
    dnn.assert_orderly();
}

#[test]
fn a_filter_with_gaps_is_refused_before_any_call() {
    let dnn = dnn();
    let mut handle = dnn.create().unwrap();
    let packed = convolution(ConvolutionOperation::Forward, Dtype::F32);
    let refused = |handle: &mut dyn sconce_driver::DnnHandle, strides: [i64; 5]| {
        let mut shape = packed;
        shape.filter.strides = strides;
        dnn.reset();
        let error = handle.engines(&shape, ANY).err().unwrap();
        assert_eq!((error.status(), dnn.state().calls), (Status::NotSupported, 0), "{strides:?}");
        assert!(error.message().contains("filter"), "{error}");
    };
    let [k, c, r, s, _] = packed.filter.strides;
    refused(&mut *handle, [k + 1, c, r, s, 1]);
    refused(&mut *handle, [k, c, r, 2 * s, 1]);
    refused(&mut *handle, [1, 1, 1, 1, 1]);
    refused(&mut *handle, [i64::MAX, i64::MAX, r, s, 1]);
    // Any order without gaps will do.
    let mut shape = packed;
    let [n, channels, rows, columns, _] = shape.filter.sizes;
    assert!(n > 1);
    shape.filter.strides = [channels * rows * columns, 1, columns * channels, channels, 1];
    assert!(handle.engines(&shape, ANY).is_ok());
    // So do gaps in the others.
    shape.input.strides[0] += 7;
    shape.output.strides[0] += 7;
    assert!(handle.engines(&shape, ANY).is_ok());
    dnn.assert_orderly();
}

#[test]
fn engines_are_chosen_by_their_notes_and_keep_their_order() {
    let dnn = open(&[]);
    dnn.set_engines(&[
        engine(FALLBACK, &[], 70),
        engine(MODE_A, &[TENSOR_CORE], 10),
        engine(MODE_A, &[], 20),
        engine(MODE_A, &[TENSOR_CORE, NONDETERMINISTIC], 30),
        engine(MODE_A, &[DOWN_CONVERT, TENSOR_CORE], 40),
        engine(MODE_A, &[REDUCED_SUMS], 50),
        engine(MODE_A, &[9, NONDETERMINISTIC], 60),
        engine(FALLBACK, &[NONDETERMINISTIC], 80),
    ]);
    let choice = |allow_tf32, deterministic| EngineChoice { allow_tf32, deterministic };
    let f32 = |choice| given(&dnn, Dtype::F32, choice);
    assert_eq!(f32(choice(true, false)), [10, 20, 30, 50, 60, 70, 80]);
    assert_eq!(f32(choice(true, true)), [10, 20, 50, 70]);
    assert_eq!(f32(choice(false, false)), [20, 50, 60, 70, 80]);
    assert_eq!(f32(choice(false, true)), [20, 50, 70]);
    for element in [Dtype::F16, Dtype::Bf16, Dtype::F64] {
        let all = [10, 20, 30, 40, 50, 60, 70, 80];
        assert_eq!(given(&dnn, element, choice(false, false)), all);
        assert_eq!(given(&dnn, element, choice(true, true)), [10, 20, 40, 50, 70]);
    }
    assert_eq!(dnn.state().live, 0);
    dnn.assert_orderly();
}

#[test]
fn a_list_may_give_fewer_than_it_promised_or_none() {
    let dnn = dnn();
    dnn.state().extra = 3;
    assert_eq!(given(&dnn, Dtype::F32, ANY), [64, 0]);
    dnn.set_engines(&[]);
    assert_eq!(given(&dnn, Dtype::F32, ANY), []);
    dnn.set_engines(&[engine(MODE_A, &[NONDETERMINISTIC], 5)]);
    let choice = EngineChoice { deterministic: true, ..ANY };
    assert_eq!(given(&dnn, Dtype::F32, choice), [], "none is no failure");
    assert_eq!(dnn.state().live, 0);
    dnn.assert_orderly();
}

#[test]
fn the_list_of_fallbacks_is_requested_only_when_it_is_needed() {
    let dnn = dnn();
    let mut handle = dnn.create().unwrap();
    let shape = convolution(ConvolutionOperation::Forward, Dtype::F32);
    let mut engines = handle.engines(&shape, ANY).unwrap();
    assert_eq!(engines.has(0), Ok(true));
    engines.plan(0).unwrap();
    assert_eq!(dnn.count(HEURISTIC), 1);
    assert_eq!((engines.has(1), engines.has(2)), (Ok(true), Ok(false)));
    assert_eq!(dnn.count(HEURISTIC), 2);
    assert_eq!(engines.plan(1).unwrap().workspace_bytes(), 0);
    // A list that cannot be had later is as one without engines.
    dnn.state().mode_codes[FALLBACK as usize] = 3000;
    let mut engines = handle.engines(&shape, ANY).unwrap();
    assert_eq!((engines.has(1), engines.count()), (Ok(false), Ok(1)));
}

#[test]
fn one_list_is_enough_and_without_any_the_first_failure_is_told() {
    let dnn = dnn();
    dnn.state().mode_codes[MODE_A as usize] = 3000;
    assert_eq!(given(&dnn, Dtype::F32, ANY), [0]);
    dnn.state().mode_codes = [0, 0, 4000, 0];
    assert_eq!(given(&dnn, Dtype::F32, ANY), [64]);
    dnn.state().mode_codes = [0, 0, 4000, 3002];
    let shape = convolution(ConvolutionOperation::Forward, Dtype::F32);
    let error = dnn.create().unwrap().engines(&shape, ANY).err().unwrap();
    assert_eq!((error.status(), error.backend_code()), (Status::NotSupported, 3002));
    assert!(
        error.message().contains("cuDNN says \"this list is not to be had (3002)\""),
        "{error}"
    );
    assert_eq!(dnn.state().live, 0);
    dnn.assert_orderly();
}

#[test]
fn an_engine_that_cannot_is_passed_over_and_plans_outlive_what_they_came_from() {
    let dnn = dnn();
    dnn.set_engines(&[
        Engine { plan_code: 3010, ..engine(MODE_A, &[], 1) },
        Engine { plan_code: 4001, ..engine(MODE_A, &[], 2) },
        engine(MODE_A, &[], 3 << 31),
        engine(MODE_A, &[], -1),
        Engine { plan_code: 2000, ..engine(FALLBACK, &[], 5) },
        Engine { plan_code: 4004, ..engine(FALLBACK, &[], 6) },
        Engine { plan_code: 5000, ..engine(FALLBACK, &[], 7) },
        Engine { plan_code: 1008, ..engine(FALLBACK, &[], 8) },
    ]);
    let mut handle = dnn.create().unwrap();
    let shape = convolution(ConvolutionOperation::Filter, Dtype::F16);
    let mut engines = handle.engines(&shape, ANY).unwrap();
    let told = |error: Error| (error.status(), error.backend_code());
    assert_eq!(told(engines.plan(0).err().unwrap()), (Status::NotSupported, 3010));
    assert_eq!(told(engines.plan(1).err().unwrap()), (Status::NotSupported, 4001));
    assert_eq!(engines.plan(3).err().unwrap().status(), Status::Driver, "no size");
    assert_eq!(told(engines.plan(4).err().unwrap()), (Status::NotSupported, 2000));
    assert_eq!(told(engines.plan(5).err().unwrap()), (Status::OutOfMemory, 4004));
    assert_eq!(told(engines.plan(6).err().unwrap()), (Status::Driver, 5000));
    assert_eq!(told(engines.plan(7).err().unwrap()), (Status::LibraryNotFound, 1008));
    assert_eq!(told(engines.plan(8).err().unwrap()), (Status::InvalidArgument, 0));
    let mut plans = [engines.plan(2).unwrap(), engines.plan(2).unwrap()];
    assert_eq!(plans[0].workspace_bytes(), 3 << 31);
    assert_eq!(dnn.count(PLAN), 9);
    drop(engines);
    drop(handle);
    assert_eq!(dnn.state().live, 3, "two plans and their configuration");
    for plan in &mut plans {
        plan.execute(DevicePtr(1), DevicePtr(2), DevicePtr(3), DevicePtr(4)).unwrap();
    }
    drop(plans);
    assert_eq!(dnn.state().live, 0);
    dnn.assert_orderly();
}

#[test]
fn an_execution_takes_its_addresses_and_the_same_ones_again_for_nothing() {
    let dnn = dnn();
    let mut handle = dnn.create().unwrap();
    let shape = convolution(ConvolutionOperation::Data, Dtype::F32);
    let mut plan = handle.engines(&shape, ANY).unwrap().plan(1).unwrap();
    handle.set_stream(stream(0x77)).unwrap();
    let mut run = |addresses: [u64; 4]| {
        let [input, filter, output, workspace] = addresses.map(DevicePtr);
        plan.execute(input, filter, output, workspace).unwrap();
        let [a, b, c, d] = addresses.map(|address| address as i64);
        assert_eq!(dnn.state().executed, [1, a, b, c, d, 0x77]);
        dnn.count(PACK)
    };
    assert_eq!(run([0x100, 0x200, 0x300, 0]), 1);
    assert_eq!(run([0x100, 0x200, 0x300, 0]), 1);
    assert_eq!(run([0x108, 0x200, 0x300, 0]), 2);
    assert_eq!(run([0x108, 0x208, 0x300, 0]), 3);
    assert_eq!(run([0x108, 0x208, 0x308, 0]), 4);
    assert_eq!(run([0x108, 0x208, 0x308, 0x400]), 5);
    let calls = dnn.state().calls;
    assert_eq!(run([0x108, 0x208, 0x308, 0x400]), 5);
    assert_eq!(dnn.state().calls, calls + 1, "one call");
    assert_eq!(dnn.state().live, 3, "plan, configuration and pack");
    dnn.assert_orderly();
}

#[test]
fn a_handle_tells_whether_it_is_still_on_its_stream() {
    let dnn = dnn();
    let mut handle = dnn.create().unwrap();
    assert!(handle.is_set_to(stream(0)), "a new handle is on the default stream");
    handle.set_stream(stream(5)).unwrap();
    assert_eq!((dnn.state().streams, dnn.state().stream), (1, 5));
    assert!(handle.is_set_to(stream(5)) && !handle.is_set_to(stream(0)));
    // As by a caller who has the handle.
    dnn.state().stream = 7;
    assert!(!handle.is_set_to(stream(5)));
    handle.set_stream(stream(5)).unwrap();
    assert_eq!((dnn.state().streams, dnn.state().stream), (2, 5));
    dnn.state().fail_at = dnn.state().calls + 1;
    dnn.state().fail_code = 2007;
    assert!(handle.set_stream(stream(6)).is_err());
    assert!(handle.is_set_to(stream(5)));
    // Where it is not told, it is not known.
    handle.set_stream(stream(0)).unwrap();
    assert!(handle.is_set_to(stream(0)));
    dnn.state().fail_at = dnn.state().calls + 1;
    assert!(!handle.is_set_to(stream(0)), "cudnnGetStream failed");
    dnn.assert_orderly();
}

#[test]
fn alignments_are_powers_of_two_up_to_sixteen() {
    for (address, alignment) in [(0, 16), (1, 1), (6, 2), (12, 4), (8, 8), (48, 16), (1 << 40, 16)]
    {
        assert_eq!(alignment_of(DevicePtr(address)), alignment, "{address}");
    }
}

#[test]
fn the_callers_context_comes_back() {
    let dnn = dnn();
    let mut handle = dnn.create().unwrap();
    let shape = convolution(ConvolutionOperation::Forward, Dtype::F32);
    for current in [None, Some(0)] {
        match current {
            Some(_) => dnn.driver().bind_device(DeviceIndex::ZERO).unwrap(),
            None => dnn.driver().unbind_device().unwrap(),
        }
        let mut engines = handle.engines(&shape, ANY).unwrap();
        let mut plan = engines.plan(0).unwrap();
        handle.set_stream(stream(if current.is_some() { 8 } else { 9 })).unwrap();
        plan.execute(DevicePtr(1), DevicePtr(2), DevicePtr(3), DevicePtr(4)).unwrap();
        drop((engines, plan));
        assert_eq!(dnn.cuda.current(), current);
    }
    dnn.assert_orderly();
}
