//! Convolutions: against plain loops, engines, order, faults.

use proptest::prelude::*;
use sconce_base::element::Dtype;
use sconce_base::error::Status;
use sconce_base::types::DevicePtr;
use sconce_driver::prelude::*;
use sconce_driver::{
    CaptureMode, Convolution,
    ConvolutionOperation::{Data, Filter, Forward},
    EngineChoice,
};

use super::numbers::*;
use super::problems::*;
use super::support::*;
use crate::{Call, Simulator};

const ANY: EngineChoice = EngineChoice { allow_tf32: false, deterministic: false };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(72))]
    #[test]
    fn a_convolution_is_what_loops_calculate(problem in problems(), seed in any::<u64>()) {
        let sim = automatic(1);
        let stream = stream(&sim);
        let placed = Placed::new(&sim, &problem, seed, stream);
        let wanted = placed.expected();
        let mut dnn = handle(&sim, stream);
        let mut engines = dnn.engines(&problem, ANY).unwrap();
        prop_assert_eq!(engines.count(), Ok(2));
        for index in 0..2 {
            let mut plan = engines.plan(index).unwrap();
            placed.execute(&sim, plan.as_mut()).unwrap();
            let got = placed.result(&sim);
            for (index, (got, wanted)) in got.iter().zip(&wanted).enumerate() {
                let exact = problem.element == Dtype::F64;
                let tolerance = step(problem.element) * wanted.abs() + if exact { 1e-12 } else { 1e-4 };
                prop_assert!((got - wanted).abs() <= tolerance, "{index}: {got} {wanted} {problem:?}");
            }
            // So that the next engine cannot live on this one's result.
            let which = result_of(problem.operation);
            write(&sim, problem.element, placed.addresses[which], &placed.held[which], stream);
        }
    }
}

#[test]
fn a_large_convolution_is_done_in_blocks() {
    let sim = automatic(1);
    let stream = stream(&sim);
    let size = 60;
    let shape = Shape {
        images: 1,
        groups: 1,
        // 162,000 elements of the unfolded input.
        channels: 5,
        features: 1,
        spatial: 2,
        input: [size, size, 1],
        filter: [3, 3, 1],
        stride: [1; 3],
        padding: [1, 1, 0],
        dilation: [1; 3],
    };
    for operation in [Forward, Data, Filter] {
        let problem = problem(operation, Dtype::F32, &shape, [Layout::Packed; 3]);
        let placed = Placed::new(&sim, &problem, 5, stream);
        let wanted = placed.expected();
        let mut dnn = handle(&sim, stream);
        let mut engines = dnn.engines(&problem, ANY).unwrap();
        for index in 0..2 {
            placed.execute(&sim, engines.plan(index).unwrap().as_mut()).unwrap();
            let off = relative_error(&placed.result(&sim), &wanted);
            assert!(off < 2e-6, "{operation:?} {index} {off}");
        }
    }
}

#[test]
fn tf32_rounds_the_factors_where_the_choice_allows_it() {
    let sim = automatic(1);
    let stream = stream(&sim);
    let mut dnn = handle(&sim, stream);
    for operation in [Forward, Data, Filter] {
        let mut error = |element, allow_tf32, index| {
            let problem = plain(operation, element);
            let placed = Placed::new(&sim, &problem, 3, stream);
            let choice = EngineChoice { allow_tf32, deterministic: false };
            let mut engines = dnn.engines(&problem, choice).unwrap();
            placed.execute(&sim, engines.plan(index).unwrap().as_mut()).unwrap();
            relative_error(&placed.result(&sim), &placed.expected())
        };
        for index in 0..2 {
            let (ieee, tf32) = (error(Dtype::F32, false, index), error(Dtype::F32, true, index));
            assert!(ieee < 1e-6, "{operation:?} {ieee}");
            assert!((1e-5..2e-3).contains(&tf32), "{operation:?} {tf32}");
            assert!(error(Dtype::F64, true, index) < 1e-13);
        }
    }
}

#[test]
fn the_first_engine_takes_a_workspace_and_the_second_is_faster_and_deterministic() {
    let sim = manual(1);
    let stream = stream(&sim);
    let mut dnn = handle(&sim, stream);
    let problem = plain(Forward, Dtype::F16);
    let memory = sim.memory_alloc(D0, 1 << 16).unwrap();
    let at = |offset: u64| DevicePtr(memory.0 + offset);
    let mut took = |deterministic, index| {
        let choice = EngineChoice { allow_tf32: true, deterministic };
        let mut engines = dnn.engines(&problem, choice).unwrap();
        let count = engines.count().unwrap();
        assert_eq!(count, if deterministic { 1 } else { 2 });
        let error = engines.plan(count).err().unwrap();
        assert_eq!(error.status(), Status::InvalidArgument);
        let mut plan = engines.plan(index).unwrap();
        let before = sim.now_ns();
        plan.execute(memory, at(4096), at(8192), at(16384)).unwrap();
        assert!(sim.step(stream).unwrap());
        (plan.workspace_bytes(), sim.now_ns() - before)
    };
    let [first, second, deterministic] = [took(false, 0), took(false, 1), took(true, 0)];
    // Two channels, nine elements of the filter and 42 of the output, in F32.
    assert_eq!((first.0, second.0, deterministic.0), (4 * 2 * 9 * 42, 0, 0));
    assert!(first.1 >= 2 * second.1, "{first:?} {second:?}");
    assert_eq!(second, deterministic);
}

#[test]
fn the_workspace_is_used_to_its_end_and_not_beyond() {
    for operation in [Forward, Data, Filter] {
        let sim = automatic(1);
        let stream = stream(&sim);
        let problem = plain(operation, Dtype::F32);
        let placed = Placed::new(&sim, &problem, 3, stream);
        let mut dnn = handle(&sim, stream);
        let mut plan = dnn.engines(&problem, ANY).unwrap().plan(0).unwrap();
        let bytes = plan.workspace_bytes();
        let workspace = sim.memory_alloc(D0, bytes + 64).unwrap();
        sim.fill_async(workspace, 0xEE, bytes + 64, stream).unwrap();
        let [input, filter, output] = placed.addresses;
        plan.execute(input, filter, output, workspace).unwrap();
        sim.stream_synchronize(stream).unwrap();
        let held = read_back(&sim, workspace, bytes + 64);
        sim.device_synchronize(D0).unwrap();
        assert!(held[bytes - 4..bytes] != [0xEE; 4] && held[..4] != [0xEE; 4]);
        assert_eq!(held[bytes..], [0xEE; 64]);
        // Without its workspace it ends the device.
        sim.memory_free(D0, workspace).unwrap();
        plan.execute(input, filter, output, workspace).unwrap();
        let error = sim.stream_synchronize(stream).unwrap_err();
        assert_eq!(error.backend_code(), Simulator::ILLEGAL_ADDRESS);
    }
}

#[test]
fn it_runs_on_the_stream_of_its_handle_when_that_comes_to_it() {
    let sim = manual(1);
    let streams = [stream(&sim), stream(&sim)];
    let mut dnn = handle(&sim, streams[0]);
    let memory = sim.memory_alloc(D0, 1 << 16).unwrap();
    let at = |offset: u64| DevicePtr(memory.0 + offset);
    let mut plan = dnn.engines(&plain(Forward, Dtype::F32), ANY).unwrap().plan(1).unwrap();
    let mut execute = || plan.execute(memory, at(4096), at(8192), DevicePtr(0)).unwrap();
    execute();
    let pending = || streams.map(|stream| sim.pending(stream).unwrap());
    assert_eq!(pending(), [1, 0]);
    // Also what was made ready before goes where the handle's work goes now.
    dnn.set_stream(streams[1]).unwrap();
    execute();
    assert_eq!(pending(), [1, 1]);
    drop(plan);
    drop(dnn);
    assert!(sim.step(streams[0]).unwrap() && sim.step(streams[1]).unwrap());
    assert_eq!(sim.device_error(D0), None);
}

#[test]
fn inputs_are_read_when_it_runs_and_captured_work_does_not() {
    let sim = automatic(1);
    let [own, other] = [(); 2].map(|()| stream(&sim));
    let problem = plain(Forward, Dtype::F32);
    let placed = Placed::new(&sim, &problem, 3, own);
    let mut plan = handle(&sim, own).engines(&problem, ANY).unwrap().plan(1).unwrap();
    sim.stream_synchronize(own).unwrap();
    sim.begin_capture(own, CaptureMode::Global).unwrap();
    placed.execute(&sim, plan.as_mut()).unwrap();
    assert_eq!(sim.end_capture(own).unwrap(), 1);
    assert!(placed.result(&sim).iter().all(|value| value.is_nan()));
    sleep(&sim, own, std::time::Duration::from_millis(20));
    placed.execute(&sim, plan.as_mut()).unwrap();
    let zeros = vec![0.0; placed.held[0].len()];
    write(&sim, Dtype::F32, placed.addresses[0], &zeros, other);
    assert!(placed.result(&sim).iter().all(|value| *value == 0.0));
}

#[test]
fn problems_that_make_no_sense_are_refused_with_the_librarys_number() {
    let sim = automatic(2);
    let mut dnn = handle(&sim, stream(&sim));
    let good = plain(Forward, Dtype::F32);
    let mut code = |change: &dyn Fn(&mut Convolution)| {
        let mut problem = good;
        change(&mut problem);
        match dnn.engines(&problem, ANY) {
            Ok(_) => 0,
            Err(error) => {
                let unsupported = error.backend_code() == 3000;
                let status =
                    if unsupported { Status::NotSupported } else { Status::InvalidArgument };
                assert_eq!(error.status(), status, "{error}");
                error.backend_code()
            }
        }
    };
    assert_eq!(code(&|_| ()), 0);
    let out_of_bound: [&dyn Fn(&mut Convolution); 12] = [
        &|problem| problem.spatial = 0,
        &|problem| problem.spatial = 4,
        &|problem| problem.spatial = 1,
        &|problem| problem.groups = 0,
        &|problem| problem.stride[1] = 0,
        &|problem| problem.padding[0] = -1,
        &|problem| problem.dilation[1] = 0,
        &|problem| problem.dilation[1] = 5,
        &|problem| problem.input.sizes[0] = 0,
        &|problem| problem.filter.strides[1] = 0,
        &|problem| problem.output.strides[0] = i64::MAX / 4,
        &|problem| problem.dilation[0] = i64::MAX,
    ];
    for change in out_of_bound {
        assert_eq!(code(change), 2005);
    }
    assert_eq!(code(&|problem| problem.element = Dtype::I32), 3000);
    let mismatches: [&dyn Fn(&mut Convolution); 5] = [
        &|problem| problem.groups = 2,
        &|problem| problem.input.sizes[1] = 3,
        &|problem| problem.output.sizes[1] = 2,
        &|problem| problem.output.sizes[0] = 1,
        &|problem| problem.output.sizes[3] = 8,
    ];
    for change in mismatches {
        assert_eq!(code(change), 2008);
    }
    let mut gaps = good;
    gaps.filter.strides[0] += 1;
    let error = dnn.engines(&gaps, ANY).err().unwrap();
    assert_eq!((error.status(), error.backend_code()), (Status::NotSupported, 3000), "{error}");
    assert_eq!(dnn.set_stream(stream_on(&sim, device(1), true)).unwrap_err().backend_code(), 2000);
    assert_eq!(dnn.set_stream(no_stream()).unwrap_err().status(), Status::InvalidHandle);
    let other = sim.dnn_create(D0).unwrap();
    assert!(dnn.native() != 0 && dnn.native() != other.native());
}

#[test]
fn bad_addresses_fail_at_the_call_or_end_the_device() {
    let sim = automatic(1);
    let stream = stream(&sim);
    let mut problem = plain(Forward, Dtype::F32);
    problem.input.alignment = 16;
    let mut plans = handle(&sim, stream).engines(&problem, ANY).unwrap();
    let mut plans = [0, 1].map(|index| plans.plan(index).unwrap());
    let memory = sim.memory_alloc(D0, 1 << 16).unwrap();
    let (at, null) = (|offset: u64| DevicePtr(memory.0 + offset), DevicePtr(0));
    for (index, addresses, code) in [
        (0, [memory, at(4096), at(8192), null], 2002),
        (0, [null, at(4096), at(8192), at(16384)], 2002),
        (1, [at(2), at(4096), at(8192), null], 2003),
        (1, [at(8), at(4096), at(8192), null], 2003),
        (1, [memory, at(4096), at(8194), null], 2003),
    ] {
        let [input, filter, output, workspace] = addresses;
        let error = plans[index].execute(input, filter, output, workspace).unwrap_err();
        assert_eq!(error.backend_code(), code, "{error}");
    }
    plans[1].execute(memory, at(4100), at(8196), null).unwrap();
    sim.stream_synchronize(stream).unwrap();
    plans[1].execute(memory, at(4096), at(1 << 16), null).unwrap();
    let error = sim.stream_synchronize(stream).unwrap_err();
    assert_eq!(error.backend_code(), Simulator::ILLEGAL_ADDRESS);
}

#[test]
fn each_call_is_counted_and_fails_when_told_to() {
    let sim = automatic(1);
    let stream = stream(&sim);
    let problem = plain(Forward, Dtype::F32);
    let placed = Placed::new(&sim, &problem, 1, stream);
    let mut dnn = handle(&sim, stream);
    let mut engines = dnn.engines(&problem, ANY).unwrap();
    let mut plan = engines.plan(1).unwrap();
    sim.reset_call_counts();
    let calls = [Call::DnnSetStream, Call::DnnEngines, Call::DnnPlan, Call::DnnExecute];
    for call in calls {
        sim.fail_call(call, 1, 3000);
    }
    for failing in [true, false] {
        let results = [
            dnn.set_stream(stream).err(),
            dnn.engines(&problem, ANY).err(),
            engines.plan(0).err(),
            placed.execute(&sim, plan.as_mut()).err(),
        ];
        for error in results {
            let seen = error.map(|error| (error.status(), error.backend_code()));
            assert_eq!(seen, failing.then_some((Status::NotSupported, 3000)));
        }
    }
    assert_eq!(calls.map(|call| sim.call_count(call)), [2; 4]);
    sim.fail_call(Call::DnnCreate, 1, -1);
    assert_eq!(sim.dnn_create(D0).err().unwrap().status(), Status::LibraryNotFound);
    sim.fail_operation(Call::DnnExecute, 1, Simulator::LAUNCH_FAILED);
    placed.execute(&sim, plan.as_mut()).unwrap();
    assert_eq!(
        sim.stream_synchronize(stream).unwrap_err().backend_code(),
        Simulator::LAUNCH_FAILED
    );
}
