//! Convolutions: streams, the life of plans and handles, refusals.

use sconce_base::element::Dtype;
use sconce_base::error::Status;
use sconce_driver::{
    Convolution, ConvolutionOperation::Forward, ConvolutionPlan, DnnHandle, StreamRef,
};

use super::convolution::{PLAIN, PlacedConvolution};
use super::dnn::{EXACT, OPERATIONS, handle, plans};
use super::{ZERO, assert_close, decode, drawn, encode, installed};
use crate::support::stage::{Outcome, Stage, carries_number, fails, fails_with};

crate::support::runner::tests![
    a_convolution_runs_between_what_was_queued_before_and_after,
    a_plan_runs_on_the_stream_that_its_handle_is_on,
    a_dropped_plan_finishes_its_work,
    refused_problems_leave_the_handle_usable,
    handles_are_apart_and_know_their_stream,
    the_version_is_one_number,
    every_device_convolves,
];

/// The first plan of a problem.
fn first_plan(dnn: &mut dyn DnnHandle, problem: &Convolution) -> Outcome<Box<dyn ConvolutionPlan>> {
    Ok(plans(dnn, problem, EXACT, 1)?.pop().expect("some engine does it"))
}

fn a_convolution_runs_between_what_was_queued_before_and_after(stage: &Stage<'_>) -> Outcome {
    let (mut dnn, stream) = handle(stage, ZERO)?;
    for operation in OPERATIONS {
        let problem = PLAIN.problem(operation, Dtype::F32);
        let mut placed = PlacedConvolution::new(stage, ZERO, problem)?;
        let mut plan = first_plan(dnn.as_mut(), &problem)?;
        let workspace = stage.memory(ZERO, plan.workspace_bytes().max(1))?;
        placed.execute(plan.as_mut(), workspace.ptr)?;
        stream.synchronize()?;
        // A factor that the convolution must read comes on the stream just before it.
        let (factor, result) = (usize::from(placed.result() == 0), placed.result());
        placed.held[factor] = drawn(problem.element, placed.held[factor].len(), 300);
        let [input, output] = [factor, result].map(|it| encode(problem.element, &placed.held[it]));
        let before = stage.pinned(ZERO, input.len(), 0)?;
        let after = stage.pinned(ZERO, output.len(), 0)?;
        before.write(&input);
        let [from, to] = [factor, result].map(|index| placed.arrays[index].at());
        let gate = stream.gate()?;
        stage.driver.copy_async(from.into(), before.raw(), before.bytes(), stream.at)?;
        placed.execute(plan.as_mut(), workspace.ptr)?;
        stage.driver.copy_async(after.raw(), to.into(), after.bytes(), stream.at)?;
        assert!(!stream.query()?, "the stream stands still");
        gate.open();
        stream.synchronize()?;
        let seen = decode(problem.element, &after.read());
        assert_close(&seen, &placed.expected(false), &operation);
        placed.assert_done(false)?;
    }
    Ok(())
}

fn a_plan_runs_on_the_stream_that_its_handle_is_on(stage: &Stage<'_>) -> Outcome {
    let (mut dnn, first) = handle(stage, ZERO)?;
    let second = stage.stream(ZERO)?;
    let [first_done, second_done] = [stage.event(ZERO)?, stage.event(ZERO)?];
    let problem = PLAIN.problem(Forward, Dtype::F32);
    let mut on_first = PlacedConvolution::new(stage, ZERO, problem)?;
    let mut on_second = PlacedConvolution::new(stage, ZERO, problem)?;
    let mut plan = first_plan(dnn.as_mut(), &problem)?;
    let bytes = plan.workspace_bytes().max(1);
    let workspaces = [stage.memory(ZERO, bytes)?, stage.memory(ZERO, bytes)?];
    for stream in [&second, &first] {
        dnn.set_stream(stream.at)?;
        on_first.execute(plan.as_mut(), workspaces[0].ptr)?;
        on_second.execute(plan.as_mut(), workspaces[1].ptr)?;
        stream.synchronize()?;
    }
    on_first.spoil_result()?;
    on_second.spoil_result()?;
    let (result, held) = (&on_first.arrays[2], &on_first.held[2]);
    let host = stage.pinned(ZERO, held.len() * problem.element.bytes(), 0)?;
    let gate = first.gate()?;
    on_first.execute(plan.as_mut(), workspaces[0].ptr)?;
    first.record(&first_done)?;
    dnn.set_stream(second.at)?;
    on_second.execute(plan.as_mut(), workspaces[1].ptr)?;
    second.record(&second_done)?;
    second_done.assert_completes("the other stream stands still")?;
    result.assert_stays(held, &host, &second)?;
    assert!(!first_done.query()?, "the first stream did not stand still");
    gate.open();
    on_first.assert_done(false)?;
    on_second.assert_done(false)
}

fn a_dropped_plan_finishes_its_work(stage: &Stage<'_>) -> Outcome {
    let probe = stage.probe(ZERO)?;
    let (mut dnn, stream) = handle(stage, ZERO)?;
    for operation in OPERATIONS {
        let problem = PLAIN.problem(operation, Dtype::F16);
        let mut placed = PlacedConvolution::new(stage, ZERO, problem)?;
        placed.spoil_result()?;
        // The list of engines is gone by now, too.
        let mut plan = first_plan(dnn.as_mut(), &problem)?;
        let workspace = stage.memory(ZERO, plan.workspace_bytes().max(1))?;
        probe.sleep_ms(&stream, 30)?;
        placed.execute(plan.as_mut(), workspace.ptr)?;
        drop(plan);
        placed.assert_done(false)?;
    }
    Ok(())
}

fn refused_problems_leave_the_handle_usable(stage: &Stage<'_>) -> Outcome {
    let (mut dnn, _stream) = handle(stage, ZERO)?;
    for operation in OPERATIONS {
        let good = PLAIN.problem(operation, Dtype::F32);
        let mut refused = |problem: &Convolution| dnn.engines(problem, EXACT)?.count();
        let mut wrong = [good; 3];
        wrong[0].output.sizes[3] += 1;
        wrong[1].output.sizes[1] = 7;
        wrong[2].input.sizes[0] = 3;
        for wrong in wrong {
            carries_number(&fails(refused(&wrong)));
        }
        let mut unknown = good;
        unknown.element = Dtype::I32;
        fails_with(refused(&unknown), Status::NotSupported);
        let mut gaps = good;
        gaps.filter.strides[0] += 1;
        fails_with(refused(&gaps), Status::NotSupported);

        let mut engines = dnn.engines(&good, EXACT)?;
        let count = engines.count()?;
        let past_the_end = engines.plan(count).map(|plan| plan.workspace_bytes());
        fails_with(past_the_end, Status::InvalidArgument);
        let placed = PlacedConvolution::new(stage, ZERO, good)?;
        let mut plan = first_plan(dnn.as_mut(), &good)?;
        let workspace = stage.memory(ZERO, plan.workspace_bytes().max(1))?;
        placed.execute(plan.as_mut(), workspace.ptr)?;
        placed.assert_done(false)?;
    }
    Ok(())
}

fn handles_are_apart_and_know_their_stream(stage: &Stage<'_>) -> Outcome {
    let mut fresh = installed(stage.driver.dnn_create(ZERO))?;
    assert!(fresh.is_set_to(StreamRef::default_of(ZERO)), "a new one is on the default stream");
    let (mut dnn, stream) = handle(stage, ZERO)?;
    let other = stage.stream(ZERO)?;
    assert_ne!(fresh.native(), 0);
    assert_ne!(fresh.native(), dnn.native());
    for at in [&other, &stream] {
        let native = dnn.native();
        dnn.set_stream(at.at)?;
        assert_eq!(dnn.native(), native);
        for asked in [other.at, stream.at, StreamRef::default_of(ZERO)] {
            assert_eq!(dnn.is_set_to(asked), asked == at.at, "{asked:?}");
        }
        assert!(fresh.is_set_to(StreamRef::default_of(ZERO)), "another handle was set");
    }
    // What was made with a handle that is gone is not needed here; another handle is not harmed.
    drop(dnn);
    fresh.set_stream(other.at)?;
    let problem = PLAIN.problem(Forward, Dtype::F32);
    let placed = PlacedConvolution::new(stage, ZERO, problem)?;
    let mut plan = first_plan(fresh.as_mut(), &problem)?;
    let workspace = stage.memory(ZERO, plan.workspace_bytes().max(1))?;
    placed.execute(plan.as_mut(), workspace.ptr)?;
    placed.assert_done(false)
}

fn the_version_is_one_number(stage: &Stage<'_>) -> Outcome {
    let version = installed(stage.driver.dnn_version())?;
    assert!((10_000..10_000_000).contains(&version), "{version}");
    installed(stage.driver.dnn_create(ZERO))?;
    assert_eq!(stage.driver.dnn_version()?, version);
    Ok(())
}

fn every_device_convolves(stage: &Stage<'_>) -> Outcome {
    for device in stage.devices() {
        let (mut dnn, _stream) = handle(stage, device)?;
        let problem = PLAIN.problem(Forward, Dtype::F32);
        let mut placed = PlacedConvolution::new(stage, device, problem)?;
        placed.spoil_result()?;
        let mut plan = first_plan(dnn.as_mut(), &problem)?;
        let workspace = stage.memory(device, plan.workspace_bytes().max(1))?;
        placed.execute(plan.as_mut(), workspace.ptr)?;
        placed.assert_done(false)?;
    }
    Ok(())
}
