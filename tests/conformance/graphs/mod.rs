//! Graphs: what a launch does, when it runs, and what may be done with an executable graph meanwhile.

pub(crate) mod captures;
pub(crate) mod conditions;
pub(crate) mod programs;

use std::time::Duration;

use sconce_base::error::Result;
use sconce_base::types::DeviceIndex;
use sconce_driver::{CaptureMode, Driver, GraphExecHandle, GraphHandle, GraphUpdate};

use crate::support::host;
use crate::support::objects::{Event, Stream};
use crate::support::stage::{Outcome, Stage};

crate::support::runner::tests![
    captured_work_runs_at_each_launch_and_not_before,
    a_launch_is_ordered_with_the_work_of_its_stream,
    launches_of_one_executable_graph_follow_each_other,
    branches_run_at_the_same_time_and_join,
    a_graph_can_be_launched_on_any_stream,
    a_copy_reads_its_source_when_it_is_launched,
    a_captured_host_function_runs_at_each_launch,
    an_executable_graph_outlives_its_graph,
    what_is_destroyed_after_a_launch_still_runs,
    an_update_takes_new_parameters_and_refuses_another_shape,
    an_empty_graph_orders_work,
    nodes_are_counted_and_written_to_a_file,
    streams_of_two_devices_make_one_graph,
];

pub(crate) const ZERO: DeviceIndex = DeviceIndex::ZERO;

/// A graph that destroys itself.
pub(crate) struct Graph<'a> {
    pub(crate) driver: &'a dyn Driver,
    pub(crate) handle: GraphHandle,
}

impl Drop for Graph<'_> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = self.driver.graph_destroy(self.handle);
        }
    }
}

/// An executable graph that destroys itself.
pub(crate) struct Exec<'a> {
    driver: &'a dyn Driver,
    pub(crate) handle: GraphExecHandle,
}

impl Exec<'_> {
    pub(crate) fn launch(&self, stream: &Stream<'_>) -> Result<()> {
        self.driver.graph_launch(self.handle, stream.at)
    }
}

impl Drop for Exec<'_> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = self.driver.graph_exec_destroy(self.handle);
        }
    }
}

/// The graph of the work that `body` queues on a stream.
pub(crate) fn capture<'a>(
    stage: &Stage<'a>,
    stream: &Stream<'_>,
    body: impl FnOnce() -> Outcome,
) -> Outcome<Graph<'a>> {
    stage.driver.capture_begin(stream.at, CaptureMode::ThreadLocal)?;
    let done = body();
    let ended = stage.driver.capture_end(stream.at);
    done?;
    Ok(Graph { driver: stage.driver, handle: ended? })
}

/// An executable copy of a graph.
pub(crate) fn instantiate<'a>(stage: &Stage<'a>, graph: &Graph<'_>) -> Outcome<Exec<'a>> {
    instantiate_on(stage, graph, ZERO)
}

/// An executable copy of a graph, on a device.
pub(crate) fn instantiate_on<'a>(
    stage: &Stage<'a>,
    graph: &Graph<'_>,
    device: DeviceIndex,
) -> Outcome<Exec<'a>> {
    let handle = stage.driver.graph_instantiate(device, graph.handle)?;
    Ok(Exec { driver: stage.driver, handle })
}

/// Orders a stream after the work of another one so far.
pub(crate) fn follow(later: &Stream<'_>, earlier: &Stream<'_>, event: &Event<'_>) -> Outcome {
    earlier.record(event)?;
    later.wait(event)?;
    Ok(())
}

fn captured_work_runs_at_each_launch_and_not_before(stage: &Stage<'_>) -> Outcome {
    let (probe, stream) = (stage.probe(ZERO)?, stage.stream(ZERO)?);
    let memory = stage.memory(ZERO, 64)?;
    probe.fill(&stream, memory.ptr, 16, 5)?;
    stream.synchronize()?;
    let graph = capture(stage, &stream, || {
        probe.add(&stream, memory.ptr, 16, 2)?;
        probe.add(&stream, memory.ptr, 8, 1)?;
        Ok(())
    })?;
    assert_eq!(stage.words(ZERO, memory.ptr, 16)?, [5; 16], "captured work ran");
    let exec = instantiate(stage, &graph)?;
    assert_eq!(stage.words(ZERO, memory.ptr, 16)?, [5; 16], "an instance ran");
    for launch in 1..=5_u32 {
        exec.launch(&stream)?;
        stream.synchronize()?;
        let words = stage.words(ZERO, memory.ptr, 16)?;
        assert_eq!(words[..8], [5 + 3 * launch; 8]);
        assert_eq!(words[8..], [5 + 2 * launch; 8]);
    }
    Ok(())
}

fn a_launch_is_ordered_with_the_work_of_its_stream(stage: &Stage<'_>) -> Outcome {
    let (probe, stream) = (stage.probe(ZERO)?, stage.stream(ZERO)?);
    let memory = stage.memory(ZERO, 4096)?;
    let graph = capture(stage, &stream, || {
        probe.sleep_ms(&stream, 5)?;
        probe.add(&stream, memory.ptr, 1024, 1)?;
        Ok(())
    })?;
    let exec = instantiate(stage, &graph)?;
    stage.driver.graph_upload(exec.handle, stream.at)?;
    stream.synchronize()?;
    let gate = stream.gate()?;
    probe.fill(&stream, memory.ptr, 1024, 100)?;
    exec.launch(&stream)?;
    stage.driver.copy_async(memory.ptr.offset(2048).into(), memory.ptr.into(), 2048, stream.at)?;
    probe.fill(&stream, memory.ptr, 512, 7)?;
    let end = stage.event(ZERO)?;
    stream.record(&end)?;
    end.assert_stays_pending("the gate before the launch is closed")?;
    gate.open();
    stream.synchronize()?;
    let words = stage.words(ZERO, memory.ptr, 1024)?;
    assert_eq!(words[..512], [7; 512]);
    assert_eq!(words[512..], [101; 512], "the copy came before the launch was done");
    Ok(())
}

fn launches_of_one_executable_graph_follow_each_other(stage: &Stage<'_>) -> Outcome {
    let (probe, stream) = (stage.probe(ZERO)?, stage.stream(ZERO)?);
    let streams = [stage.stream(ZERO)?, stage.stream(ZERO)?, stage.stream(ZERO)?];
    let memory = stage.memory(ZERO, 8)?;
    stage.driver.fill_async(memory.ptr, 0, 8, stream.at)?;
    stream.synchronize()?;
    let next = memory.ptr.offset(4);
    let graph = capture(stage, &stream, || {
        // Launches at the same time would lose additions.
        probe.add(&stream, memory.ptr, 1, 1)?;
        probe.sleep_ms(&stream, 2)?;
        stage.driver.copy_async(next.into(), memory.ptr.into(), 4, stream.at)?;
        probe.sleep_ms(&stream, 2)?;
        stage.driver.copy_async(memory.ptr.into(), next.into(), 4, stream.at)?;
        Ok(())
    })?;
    let exec = instantiate(stage, &graph)?;
    for number in 0..9 {
        exec.launch(&streams[number % 3])?;
    }
    for stream in &streams {
        stream.synchronize()?;
    }
    assert_eq!(stage.words(ZERO, memory.ptr, 2)?, [9, 9]);
    Ok(())
}

fn branches_run_at_the_same_time_and_join(stage: &Stage<'_>) -> Outcome {
    let (probe, stream) = (stage.probe(ZERO)?, stage.stream(ZERO)?);
    let sides = [stage.stream(ZERO)?, stage.stream(ZERO)?, stage.stream(ZERO)?];
    let events = [stage.event(ZERO)?, stage.event(ZERO)?, stage.event(ZERO)?];
    let memory = stage.memory(ZERO, 64)?;
    let at = |word: u64| memory.ptr.offset(word * 4);
    let graph = capture(stage, &stream, || {
        probe.fill(&stream, at(0), 16, 1)?;
        for (number, side) in sides.iter().enumerate() {
            follow(side, &stream, &events[number])?;
            probe.sleep_ms(side, 40)?;
            probe.add(side, at(number as u64), 1, number as u32 + 10)?;
        }
        probe.sleep_ms(&stream, 40)?;
        for (number, side) in sides.iter().enumerate() {
            follow(&stream, side, &events[number])?;
        }
        stage.driver.copy_async(at(8).into(), at(0).into(), 16, stream.at)?;
        Ok(())
    })?;
    let exec = instantiate(stage, &graph)?;
    exec.launch(&stream)?;
    stream.synchronize()?;
    assert_eq!(stage.words(ZERO, at(8), 4)?, [11, 12, 13, 1]);
    let (start, end) = (stage.timed_event(ZERO)?, stage.timed_event(ZERO)?);
    stream.record(&start)?;
    exec.launch(&stream)?;
    stream.record(&end)?;
    end.synchronize()?;
    let ms = start.ms_until(&end)?;
    assert!(ms >= 39.0, "the launch took {ms} ms, its longest branch 40 ms");
    assert!(ms < 120.0, "four branches of 40 ms took {ms} ms one after the other");
    Ok(())
}

fn a_graph_can_be_launched_on_any_stream(stage: &Stage<'_>) -> Outcome {
    let (probe, stream) = (stage.probe(ZERO)?, stage.stream(ZERO)?);
    let side = stage.stream(ZERO)?;
    let event = stage.event(ZERO)?;
    let memory = stage.memory(ZERO, 8)?;
    stage.driver.fill_async(memory.ptr, 0, 8, stream.at)?;
    stream.synchronize()?;
    let graph = capture(stage, &stream, || {
        probe.add(&stream, memory.ptr, 1, 1)?;
        follow(&side, &stream, &event)?;
        probe.add(&side, memory.ptr.offset(4), 1, 1)?;
        follow(&stream, &side, &event)
    })?;
    let exec = instantiate(stage, &graph)?;
    let others =
        [stage.stream(ZERO)?, stage.blocking_stream(ZERO)?, stage.default_stream(ZERO), side];
    for (number, other) in others.iter().enumerate() {
        exec.launch(other)?;
        other.synchronize()?;
        assert_eq!(stage.words(ZERO, memory.ptr, 2)?, [number as u32 + 1; 2]);
    }
    Ok(())
}

fn a_copy_reads_its_source_when_it_is_launched(stage: &Stage<'_>) -> Outcome {
    let stream = stage.stream(ZERO)?;
    let memory = stage.memory(ZERO, 4096)?;
    let (from, to) = (stage.pinned(ZERO, 4096, 1)?, stage.pinned(ZERO, 4096, 0)?);
    let graph = capture(stage, &stream, || {
        stage.driver.copy_async(memory.ptr.into(), from.raw(), 4096, stream.at)?;
        stage.driver.copy_async(to.raw(), memory.ptr.into(), 4096, stream.at)?;
        Ok(())
    })?;
    let exec = instantiate(stage, &graph)?;
    for value in [3_u8, 9, 200] {
        from.write(&[value; 4096]);
        exec.launch(&stream)?;
        stream.synchronize()?;
        assert_eq!(to.read(), [value; 4096]);
    }
    Ok(())
}

fn a_captured_host_function_runs_at_each_launch(stage: &Stage<'_>) -> Outcome {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    let stream = stage.stream(ZERO)?;
    let before = RUNS.load(Ordering::SeqCst);
    let graph = capture(stage, &stream, || {
        Ok(stage.driver.launch_host_function(stream.at, host::counting(&RUNS))?)
    })?;
    let exec = instantiate(stage, &graph)?;
    assert_eq!(RUNS.load(Ordering::SeqCst), before);
    for launch in 1..=3 {
        exec.launch(&stream)?;
        stream.synchronize()?;
        assert_eq!(RUNS.load(Ordering::SeqCst), before + launch);
    }
    Ok(())
}

fn an_executable_graph_outlives_its_graph(stage: &Stage<'_>) -> Outcome {
    let (probe, stream) = (stage.probe(ZERO)?, stage.stream(ZERO)?);
    let memory = stage.memory(ZERO, 4)?;
    let graph = capture(stage, &stream, || Ok(probe.fill(&stream, memory.ptr, 1, 77)?))?;
    let exec = instantiate(stage, &graph)?;
    drop(graph);
    exec.launch(&stream)?;
    stream.synchronize()?;
    assert_eq!(stage.words(ZERO, memory.ptr, 1)?, [77]);
    Ok(())
}

fn what_is_destroyed_after_a_launch_still_runs(stage: &Stage<'_>) -> Outcome {
    let (probe, stream) = (stage.probe(ZERO)?, stage.stream(ZERO)?);
    let (memory, side, event) = (stage.memory(ZERO, 8)?, stage.stream(ZERO)?, stage.event(ZERO)?);
    let graph = capture(stage, &stream, || {
        probe.sleep_ms(&stream, 30)?;
        follow(&side, &stream, &event)?;
        probe.fill(&side, memory.ptr, 2, 31)?;
        follow(&stream, &side, &event)
    })?;
    let exec = instantiate(stage, &graph)?;
    exec.launch(&stream)?;
    drop((exec, graph));
    stream.synchronize()?;
    assert_eq!(stage.words(ZERO, memory.ptr, 2)?, [31; 2]);
    Ok(())
}

fn an_update_takes_new_parameters_and_refuses_another_shape(stage: &Stage<'_>) -> Outcome {
    let (probe, stream) = (stage.probe(ZERO)?, stage.stream(ZERO)?);
    let memory = stage.memory(ZERO, 8)?;
    let with = |value| {
        capture(stage, &stream, || {
            probe.fill(&stream, memory.ptr, 1, value)?;
            probe.add(&stream, memory.ptr, 1, 1)?;
            Ok(())
        })
    };
    let exec = instantiate(stage, &with(10)?)?;
    let updated = stage.driver.graph_update(exec.handle, with(20)?.handle)?;
    assert_eq!(updated, GraphUpdate::Done);
    exec.launch(&stream)?;
    stream.synchronize()?;
    assert_eq!(stage.words(ZERO, memory.ptr, 1)?, [21]);

    let shorter = capture(stage, &stream, || Ok(probe.fill(&stream, memory.ptr, 1, 1)?))?;
    let other_kind = capture(stage, &stream, || {
        probe.fill(&stream, memory.ptr, 1, 1)?;
        stage.driver.fill_async(memory.ptr, 1, 4, stream.at)?;
        Ok(())
    })?;
    for other in [shorter, other_kind] {
        match stage.driver.graph_update(exec.handle, other.handle)? {
            GraphUpdate::Refused(why) => assert!(!why.is_empty()),
            GraphUpdate::Done => panic!("took a graph of another shape"),
        }
        exec.launch(&stream)?;
        stream.synchronize()?;
        assert_eq!(stage.words(ZERO, memory.ptr, 1)?, [21], "a refused update changed something");
    }
    Ok(())
}

fn an_empty_graph_orders_work(stage: &Stage<'_>) -> Outcome {
    let stream = stage.stream(ZERO)?;
    let graph = capture(stage, &stream, || Ok(()))?;
    assert_eq!(stage.driver.graph_node_count(graph.handle)?, 0);
    let exec = instantiate(stage, &graph)?;
    let gate = stream.gate()?;
    exec.launch(&stream)?;
    let end = stage.event(ZERO)?;
    stream.record(&end)?;
    end.assert_stays_pending("the gate before the launch is closed")?;
    gate.open();
    end.assert_completes("the gate is open")?;
    Ok(())
}

fn nodes_are_counted_and_written_to_a_file(stage: &Stage<'_>) -> Outcome {
    let (probe, stream) = (stage.probe(ZERO)?, stage.stream(ZERO)?);
    let memory = stage.memory(ZERO, 64)?;
    let graph = capture(stage, &stream, || {
        probe.fill(&stream, memory.ptr, 16, 1)?;
        probe.add(&stream, memory.ptr, 16, 1)?;
        stage.driver.fill_async(memory.ptr, 0, 64, stream.at)?;
        Ok(())
    })?;
    assert_eq!(stage.driver.graph_node_count(graph.handle)?, 3);
    let path = std::env::temp_dir().join(format!("sconce-graph-{}.dot", std::process::id()));
    let path = path.to_str().unwrap();
    stage.driver.graph_debug_dump(graph.handle, path, 0)?;
    let text = std::fs::read_to_string(path).unwrap();
    std::fs::remove_file(path).unwrap();
    assert!(text.starts_with("digraph") && text.contains("->"), "{text}");
    crate::support::stage::fails(stage.driver.graph_debug_dump(graph.handle, "/nowhere/at/all", 0));
    Ok(())
}

fn streams_of_two_devices_make_one_graph(stage: &Stage<'_>) -> Outcome {
    let (first, second) = stage.two_devices()?;
    let (here, there) = (stage.stream(first)?, stage.stream(second)?);
    let (probe, other) = (stage.probe(first)?, stage.probe(second)?);
    let (fork, join) = (stage.event(first)?, stage.event(second)?);
    let memory = [stage.memory(first, 4)?, stage.memory(second, 4)?];
    let graph = capture(stage, &here, || {
        probe.fill(&here, memory[0].ptr, 1, 3)?;
        here.record(&fork)?;
        there.wait(&fork)?;
        other.sleep_ms(&there, 10)?;
        other.fill(&there, memory[1].ptr, 1, 4)?;
        there.record(&join)?;
        here.wait(&join)?;
        Ok(())
    })?;
    let exec = instantiate(stage, &graph)?;
    exec.launch(&here)?;
    here.synchronize()?;
    std::thread::sleep(Duration::from_millis(1));
    assert_eq!(stage.words(first, memory[0].ptr, 1)?, [3]);
    assert_eq!(stage.words(second, memory[1].ptr, 1)?, [4]);
    Ok(())
}
