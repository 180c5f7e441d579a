//! Convolutions and their gradients, through the engines that a library lists.

use sconce_base::element::Dtype;
use sconce_base::error::Status;
use sconce_base::types::DeviceIndex;
use sconce_driver::{
    Convolution,
    ConvolutionOperation::{self, Data, Filter, Forward},
    ConvolutionPlan, DnnHandle, EngineChoice,
};

use super::convolution::{PLAIN, PlacedConvolution, Shape};
use super::{ELEMENTS, GuardedWorkspace, ZERO, encode, installed};
use crate::support::stage::{Outcome, Stage, Stream};

crate::support::runner::tests![
    convolutions_and_gradients_of_every_type,
    strides_padding_dilation_and_groups,
    one_and_three_spatial_dimensions,
    channels_may_come_last,
    images_may_lie_apart,
    tf32_is_used_only_where_it_is_allowed,
    deterministic_engines_give_the_same_bits,
    the_order_of_engines_is_the_same_each_time,
];

pub(super) const OPERATIONS: [ConvolutionOperation; 3] = [Forward, Data, Filter];
pub(super) const EXACT: EngineChoice = EngineChoice { allow_tf32: false, deterministic: false };
/// So many engines of each problem are tried: some libraries compile kernels for each.
const ENGINES: usize = 2;

/// A handle whose convolutions run on a stream of its own.
pub(super) fn handle<'a>(
    stage: &Stage<'a>,
    device: DeviceIndex,
) -> Outcome<(Box<dyn DnnHandle>, Stream<'a>)> {
    let mut dnn = installed(stage.driver.dnn_create(device))?;
    let stream = stage.stream(device)?;
    dnn.set_stream(stream.at)?;
    Ok((dnn, stream))
}

/// The first plans of a problem, at most so many: engines that cannot do it after all are passed over.
pub(super) fn plans(
    dnn: &mut dyn DnnHandle,
    problem: &Convolution,
    choice: EngineChoice,
    most: usize,
) -> Outcome<Vec<Box<dyn ConvolutionPlan>>> {
    let mut engines = match dnn.engines(problem, choice) {
        Err(error) if error.status() == Status::NotSupported => return Ok(Vec::new()),
        engines => engines?,
    };
    let mut plans = Vec::new();
    for index in 0..engines.count()? {
        match engines.plan(index) {
            Ok(plan) => plans.push(plan),
            Err(error) if error.status() == Status::NotSupported => {}
            Err(error) => return Err(error.into()),
        }
        if plans.len() == most {
            break;
        }
    }
    Ok(plans)
}

/// Executes the first engines for a problem and compares. Tells how many there were.
fn check(
    stage: &Stage<'_>,
    dnn: &mut dyn DnnHandle,
    problem: Convolution,
    choice: EngineChoice,
) -> Outcome<usize> {
    let mut placed = PlacedConvolution::new(stage, ZERO, problem)?;
    let mut plans = plans(dnn, &problem, choice, ENGINES)?;
    for plan in &mut plans {
        placed.spoil_result()?;
        let workspace = GuardedWorkspace::new(stage, ZERO, plan.workspace_bytes())?;
        placed.execute(plan.as_mut(), workspace.at())?;
        placed.assert_done(choice.allow_tf32)?;
        workspace.assert_neighbours_untouched()?;
    }
    Ok(plans.len())
}

/// The same for all operations. Some engine does each of them.
fn check_shapes(stage: &Stage<'_>, elements: &[Dtype], shapes: &[Shape]) -> Outcome {
    let (mut dnn, _stream) = handle(stage, ZERO)?;
    for (shape, element) in shapes.iter().flat_map(|shape| elements.iter().map(move |e| (shape, e)))
    {
        for operation in OPERATIONS {
            let problem = shape.problem(operation, *element);
            let engines = check(stage, dnn.as_mut(), problem, EXACT)?;
            assert!(engines > 0, "no engine does {problem:?}");
        }
    }
    Ok(())
}

fn convolutions_and_gradients_of_every_type(stage: &Stage<'_>) -> Outcome {
    check_shapes(stage, &ELEMENTS, &[PLAIN])
}

fn strides_padding_dilation_and_groups(stage: &Stage<'_>) -> Outcome {
    let shapes = [
        Shape { padding: 0, ..PLAIN },
        Shape { stride: 2, ..PLAIN },
        Shape { dilation: 2, padding: 2, ..PLAIN },
        Shape { groups: 4, channels: [2, 4], ..PLAIN },
        Shape { filter: [1, 1, 1], padding: 0, ..PLAIN },
        Shape { images: 1, channels: [3, 5], filter: [2, 3, 1], stride: 2, ..PLAIN },
    ];
    check_shapes(stage, &[Dtype::F32], &shapes)
}

fn one_and_three_spatial_dimensions(stage: &Stage<'_>) -> Outcome {
    let shapes = [
        Shape { spatial: 1, input: [11, 1, 1], filter: [3, 1, 1], ..PLAIN },
        Shape { spatial: 3, input: [5, 4, 6], filter: [3, 3, 3], channels: [4, 4], ..PLAIN },
    ];
    check_shapes(stage, &[Dtype::F32], &shapes)
}

fn channels_may_come_last(stage: &Stage<'_>) -> Outcome {
    let shape = Shape { channels_last: true, ..PLAIN };
    check_shapes(stage, &[Dtype::F16, Dtype::F32], &[shape])
}

/// Libraries need not have an engine for tensors with gaps. One that there is respects them.
fn images_may_lie_apart(stage: &Stage<'_>) -> Outcome {
    let (mut dnn, _stream) = handle(stage, ZERO)?;
    for (element, operation) in
        [Dtype::F16, Dtype::F32].into_iter().flat_map(|element| OPERATIONS.map(|it| (element, it)))
    {
        let shape = Shape { apart: 64, ..PLAIN };
        check(stage, dnn.as_mut(), shape.problem(operation, element), EXACT)?;
    }
    Ok(())
}

fn tf32_is_used_only_where_it_is_allowed(stage: &Stage<'_>) -> Outcome {
    let (mut dnn, _stream) = handle(stage, ZERO)?;
    for operation in OPERATIONS {
        for allow_tf32 in [true, false] {
            let choice = EngineChoice { allow_tf32, deterministic: false };
            let problem = PLAIN.problem(operation, Dtype::F32);
            assert!(check(stage, dnn.as_mut(), problem, choice)? > 0, "no engine does {problem:?}");
        }
    }
    Ok(())
}

fn deterministic_engines_give_the_same_bits(stage: &Stage<'_>) -> Outcome {
    let (mut dnn, _stream) = handle(stage, ZERO)?;
    let choice = EngineChoice { allow_tf32: true, deterministic: true };
    for operation in OPERATIONS {
        let placed = PlacedConvolution::new(stage, ZERO, PLAIN.problem(operation, Dtype::F32))?;
        let plans = plans(dnn.as_mut(), &placed.problem, choice, ENGINES)?;
        assert!(!plans.is_empty(), "no deterministic engine: {operation:?}");
        for mut plan in plans {
            let workspace = stage.memory(ZERO, plan.workspace_bytes().max(1))?;
            let mut run = || -> Outcome<Vec<u8>> {
                placed.arrays[placed.result()].write(&placed.held[placed.result()])?;
                placed.execute(plan.as_mut(), workspace.ptr)?;
                Ok(encode(Dtype::F32, &placed.arrays[placed.result()].read()?))
            };
            let first = run()?;
            for _ in 0..3 {
                assert!(run()? == first, "other bits: {operation:?}");
            }
            placed.assert_done(true)?;
        }
    }
    Ok(())
}

fn the_order_of_engines_is_the_same_each_time(stage: &Stage<'_>) -> Outcome {
    let (mut dnn, _stream) = handle(stage, ZERO)?;
    let (mut other, _other_stream) = handle(stage, ZERO)?;
    for operation in OPERATIONS {
        let problem = PLAIN.problem(operation, Dtype::F16);
        let told = |dnn: &mut dyn DnnHandle| -> Outcome<(usize, Vec<usize>)> {
            let count = dnn.engines(&problem, EXACT)?.count()?;
            let plans = plans(dnn, &problem, EXACT, ENGINES)?;
            Ok((count, plans.iter().map(|plan| plan.workspace_bytes()).collect()))
        };
        let first = told(dnn.as_mut())?;
        assert_eq!(told(dnn.as_mut())?, first);
        assert_eq!(told(other.as_mut())?, first);
    }
    Ok(())
}
