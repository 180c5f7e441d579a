//! Conditional nodes: bodies that run if, while, or which a condition says.

use sconce_base::error::{Error, Result, Status};
use sconce_base::types::DevicePtr;
use sconce_driver::{CaptureMode, ConditionHandle, ConditionalKind, KernelHandle};
use sconce_kernels::images::GRAPH_CONDITION;
use sconce_kernels::{SET_CONDITION_KERNEL, condition_launch};

use super::{ZERO, capture, instantiate};
use crate::support::objects::Stream;
use crate::support::stage::{Outcome, Stage, Stop, fails};

crate::support::runner::tests![
    an_if_node_runs_its_body_or_the_other,
    a_while_node_runs_its_body_until_the_condition_is_zero,
    a_switch_node_runs_the_body_of_the_number,
    conditional_nodes_nest_and_are_ordered,
    a_condition_belongs_to_its_graph,
];

/// The driver may be older than conditional nodes.
fn skip_if_missing<T>(result: Result<T>) -> Outcome<T> {
    result.map_err(|error: Error| match error.status() {
        Status::NotSupported => Stop::Skip(error.to_string()),
        _ => Stop::from(error),
    })
}

/// The kernel that sets conditions.
struct Setter<'a> {
    stage: Stage<'a>,
    kernel: KernelHandle,
}

impl<'a> Setter<'a> {
    fn load(stage: &Stage<'a>) -> Outcome<Setter<'a>> {
        let module = skip_if_missing(stage.driver.module_load(ZERO, &GRAPH_CONDITION))?;
        let kernel = stage.driver.kernel_find(ZERO, module, SET_CONDITION_KERNEL)?;
        Ok(Setter { stage: *stage, kernel })
    }

    fn set(&self, stream: &Stream<'_>, condition: ConditionHandle, from: DevicePtr) -> Outcome {
        let (shape, arguments) = condition_launch(condition.native(), from, 4);
        Ok(self.stage.driver.kernel_launch(self.kernel, shape, &arguments, stream.at)?)
    }

    /// Adds a node whose bodies are captured from `side`.
    fn node(
        &self,
        stream: &Stream<'_>,
        side: &Stream<'_>,
        condition: ConditionHandle,
        kind: ConditionalKind,
        bodies: &[&dyn Fn() -> Outcome],
    ) -> Outcome {
        let driver = self.stage.driver;
        let graphs = driver.conditional_add(stream.at, condition, kind, bodies.len());
        for (graph, body) in skip_if_missing(graphs)?.into_iter().zip(bodies) {
            driver.capture_begin_body(side.at, graph, CaptureMode::ThreadLocal)?;
            let number = |stream: &Stream<'_>| driver.stream_capture_number(stream.at);
            let (outer, own) = (number(stream)?, number(side)?);
            assert!(own.is_some() && own != outer, "a body has a number of its own: {own:?}");
            let done = body();
            let ended = driver.capture_end(side.at);
            done?;
            assert_eq!(ended?, graph);
        }
        Ok(())
    }
}

fn an_if_node_runs_its_body_or_the_other(stage: &Stage<'_>) -> Outcome {
    let setter = Setter::load(stage)?;
    let (probe, stream, side) = (stage.probe(ZERO)?, stage.stream(ZERO)?, stage.stream(ZERO)?);
    let memory = stage.memory(ZERO, 12)?;
    let (chosen, ran) = (memory.ptr, memory.ptr.offset(4));
    let graph = capture(stage, &stream, || {
        let condition = skip_if_missing(stage.driver.condition_create(stream.at))?;
        setter.set(&stream, condition, chosen)?;
        setter.node(
            &stream,
            &side,
            condition,
            ConditionalKind::If,
            &[&|| Ok(probe.fill(&side, ran, 1, 1)?), &|| Ok(probe.fill(&side, ran, 1, 2)?)],
        )
    })?;
    let exec = instantiate(stage, &graph)?;
    for (value, expected) in [(1_u32, 1_u32), (0, 2), (7, 1), (0, 2)] {
        probe.fill(&stream, chosen, 1, value)?;
        exec.launch(&stream)?;
        stream.synchronize()?;
        assert_eq!(stage.words(ZERO, ran, 1)?, [expected]);
    }
    Ok(())
}

fn a_while_node_runs_its_body_until_the_condition_is_zero(stage: &Stage<'_>) -> Outcome {
    let setter = Setter::load(stage)?;
    let (probe, stream, side) = (stage.probe(ZERO)?, stage.stream(ZERO)?, stage.stream(ZERO)?);
    let memory = stage.memory(ZERO, 12)?;
    let (left, sum, after) = (memory.ptr, memory.ptr.offset(4), memory.ptr.offset(8));
    let graph = capture(stage, &stream, || {
        let condition = skip_if_missing(stage.driver.condition_create(stream.at))?;
        setter.set(&stream, condition, left)?;
        setter.node(
            &stream,
            &side,
            condition,
            ConditionalKind::While,
            &[&|| {
                probe.add(&side, sum, 1, 3)?;
                probe.add(&side, left, 1, u32::MAX)?; // One less.
                setter.set(&side, condition, left)
            }],
        )?;
        stage.driver.copy_async(after.into(), sum.into(), 4, stream.at)?;
        Ok(())
    })?;
    let exec = instantiate(stage, &graph)?;
    for rounds in [5_u32, 0, 1, 40] {
        probe.fill(&stream, left, 1, rounds)?;
        probe.fill(&stream, sum, 1, 0)?;
        exec.launch(&stream)?;
        stream.synchronize()?;
        assert_eq!(stage.words(ZERO, memory.ptr, 3)?, [0, rounds * 3, rounds * 3]);
    }
    Ok(())
}

fn a_switch_node_runs_the_body_of_the_number(stage: &Stage<'_>) -> Outcome {
    let setter = Setter::load(stage)?;
    let (probe, stream, side) = (stage.probe(ZERO)?, stage.stream(ZERO)?, stage.stream(ZERO)?);
    let memory = stage.memory(ZERO, 8)?;
    let (chosen, ran) = (memory.ptr, memory.ptr.offset(4));
    let graph = capture(stage, &stream, || {
        let condition = skip_if_missing(stage.driver.condition_create(stream.at))?;
        probe.fill(&stream, ran, 1, 99)?;
        setter.set(&stream, condition, chosen)?;
        setter.node(
            &stream,
            &side,
            condition,
            ConditionalKind::Switch,
            &[
                &|| Ok(probe.fill(&side, ran, 1, 10)?),
                &|| Ok(probe.fill(&side, ran, 1, 11)?),
                &|| Ok(probe.fill(&side, ran, 1, 12)?),
            ],
        )
    })?;
    let exec = instantiate(stage, &graph)?;
    for (value, expected) in [(2_u32, 12_u32), (0, 10), (1, 11), (3, 99), (u32::MAX, 99)] {
        probe.fill(&stream, chosen, 1, value)?;
        exec.launch(&stream)?;
        stream.synchronize()?;
        assert_eq!(stage.words(ZERO, ran, 1)?, [expected], "of {value}");
    }
    Ok(())
}

fn conditional_nodes_nest_and_are_ordered(stage: &Stage<'_>) -> Outcome {
    let setter = Setter::load(stage)?;
    let (probe, stream) = (stage.probe(ZERO)?, stage.stream(ZERO)?);
    let (outer, inner) = (stage.stream(ZERO)?, stage.stream(ZERO)?);
    let memory = stage.memory(ZERO, 16)?;
    let at = |word: usize| memory.ptr.offset(word as u64 * 4);
    let graph = capture(stage, &stream, || {
        let rounds = skip_if_missing(stage.driver.condition_create(stream.at))?;
        setter.set(&stream, rounds, at(0))?;
        setter.node(
            &stream,
            &outer,
            rounds,
            ConditionalKind::While,
            &[&|| {
                let odd = skip_if_missing(stage.driver.condition_create(outer.at))?;
                setter.set(&outer, odd, at(1))?;
                setter.node(
                    &outer,
                    &inner,
                    odd,
                    ConditionalKind::If,
                    &[&|| Ok(probe.add(&inner, at(2), 1, 100)?)],
                )?;
                probe.add(&outer, at(2), 1, 1)?;
                probe.add(&outer, at(0), 1, u32::MAX)?;
                setter.set(&outer, rounds, at(0))
            }],
        )?;
        probe.add(&stream, at(2), 1, 1000)?;
        Ok(())
    })?;
    let exec = instantiate(stage, &graph)?;
    for (rounds, chosen, expected) in [(3_u32, 1_u32, 1303), (3, 0, 1003), (0, 1, 1000)] {
        probe.fill(&stream, at(0), 1, rounds)?;
        probe.fill(&stream, at(1), 1, chosen)?;
        probe.fill(&stream, at(2), 1, 0)?;
        exec.launch(&stream)?;
        stream.synchronize()?;
        assert_eq!(stage.words(ZERO, at(2), 1)?, [expected]);
    }
    Ok(())
}

fn a_condition_belongs_to_its_graph(stage: &Stage<'_>) -> Outcome {
    let (stream, side) = (stage.stream(ZERO)?, stage.stream(ZERO)?);
    fails(stage.driver.condition_create(stream.at));
    let driver = stage.driver;
    capture(stage, &stream, || {
        let condition = skip_if_missing(driver.condition_create(stream.at))?;
        // Outside of the capture there is no graph to add a node to.
        fails(driver.conditional_add(side.at, condition, ConditionalKind::If, 1));
        fails(driver.conditional_add(stream.at, condition, ConditionalKind::While, 2));
        Ok(())
    })?;
    Ok(())
}
