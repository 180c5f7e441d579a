//! Random programs. An oracle keeps every operation as a node, and an edge for each rule of CUDA that orders two of
//! them; whether one precedes another is a search through the graph. It shares no code with the checker's clocks.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// The streams of the programs: three that do not block, two that do, and the legacy default stream.
const STREAMS: usize = 6;
const BLOCKING: [usize; 2] = [3, 4];
const LEGACY: usize = 5;
const EVENTS: usize = 3;
const GRAPHS: usize = 2;
/// An event that only repairs use.
const REPAIR: usize = EVENTS;

fn stream_of(at: usize) -> StreamRef {
    match at {
        LEGACY => legacy(),
        at => stream(0, 0x1000 * (at + 1)),
    }
}

/// A range of memory: where it begins, how long it is, and whether it is written.
type Range = (u64, u64, bool);

fn use_of((start, length, writes): Range) -> Use {
    let (address, bytes) = (X + start * 64, length * 64);
    if writes { Use::writes(address, bytes) } else { Use::reads(address, bytes) }
}

#[derive(Clone, Debug)]
enum Step {
    Work(usize, Vec<Range>),
    Host(Range),
    Launch(usize, usize),
    Record(usize, usize),
    Wait(usize, usize),
    EventDone(usize),
    StreamDone(usize),
    DeviceDone,
}

fn ranges() -> impl Strategy<Value = Vec<Range>> {
    prop::collection::vec((0_u64..8, 1_u64..4, any::<bool>()), 1..3)
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let stream = 0..STREAMS;
    let step = prop_oneof![
        6 => (stream.clone(), ranges()).prop_map(|(stream, ranges)| Step::Work(stream, ranges)),
        1 => (0_u64..8, 1_u64..4, any::<bool>()).prop_map(Step::Host),
        2 => (0..GRAPHS, stream.clone()).prop_map(|(graph, stream)| Step::Launch(graph, stream)),
        4 => (0..EVENTS, stream.clone()).prop_map(|(event, stream)| Step::Record(event, stream)),
        4 => (stream.clone(), 0..EVENTS).prop_map(|(stream, event)| Step::Wait(stream, event)),
        1 => (0..EVENTS).prop_map(Step::EventDone),
        1 => stream.prop_map(Step::StreamDone),
        1 => Just(Step::DeviceDone),
    ];
    prop::collection::vec(step, 1..40)
}

struct Node {
    /// `None`: the host.
    stream: Option<usize>,
    before: Vec<usize>,
    uses: Vec<Range>,
}

/// The graph of all operations.
#[derive(Default)]
struct Oracle {
    nodes: Vec<Node>,
    last: [Option<usize>; STREAMS],
    events: [Option<usize>; EVENTS + 1],
    launches: [Option<usize>; GRAPHS],
    /// What the host knows to be done.
    done: Vec<usize>,
}

impl Oracle {
    /// The nodes that precede what is queued on a stream now.
    fn before(&self, stream: usize) -> Vec<usize> {
        let by_legacy: Vec<usize> = match stream {
            LEGACY => BLOCKING.to_vec(),
            stream if BLOCKING.contains(&stream) => vec![LEGACY],
            _ => Vec::new(),
        };
        let lanes = by_legacy.into_iter().chain([stream]).filter_map(|lane| self.last[lane]);
        lanes.chain(self.done.iter().copied()).collect()
    }

    fn add(&mut self, stream: usize, more: Option<usize>, uses: Vec<Range>) -> usize {
        let before = self.before(stream).into_iter().chain(more).collect();
        self.nodes.push(Node { stream: Some(stream), before, uses });
        let number = self.nodes.len() - 1;
        self.last[stream] = Some(number);
        number
    }

    /// The nodes that are neither among `from` nor before them.
    fn unordered(&self, from: &[usize]) -> Vec<usize> {
        let mut seen = vec![false; self.nodes.len()];
        let mut left = from.to_vec();
        while let Some(number) = left.pop() {
            if !std::mem::replace(&mut seen[number], true) {
                left.extend(&self.nodes[number].before);
            }
        }
        (0..seen.len()).filter(|number| !seen[*number]).collect()
    }

    /// The nodes that conflict with uses behind `before`.
    fn conflicts(&self, before: &[usize], uses: &[Range]) -> Vec<usize> {
        let meet = |one: &Range, other: &Range| {
            (one.2 || other.2) && one.0 < other.0 + other.1 && other.0 < one.0 + one.1
        };
        let conflicts = |number: &usize| {
            self.nodes[*number].uses.iter().any(|one| uses.iter().any(|other| meet(one, other)))
        };
        self.unordered(before).into_iter().filter(conflicts).collect()
    }
}

/// What the graphs of a program use.
type GraphUses = [Vec<Range>; GRAPHS];

/// A program as the checker and the oracle see it.
struct Program {
    checker: Checker,
    oracle: Oracle,
    graphs: GraphUses,
    /// How many pairs of operations the oracle knows to race.
    racy: usize,
    /// Whether a wait is put in where one is missing.
    repairs: bool,
}

impl Program {
    fn new(graphs: GraphUses, repairs: bool) -> Program {
        let mut checker = Checker::default();
        for at in 0..LEGACY {
            checker.stream_created(stream_of(at), !BLOCKING.contains(&at));
        }
        for (number, ranges) in graphs.iter().enumerate() {
            checker.capture_began(stream_of(0), None);
            let uses = ranges.iter().copied().map(use_of).collect();
            checker.queued(stream_of(0), "node", Some(uses));
            checker.capture_ended(stream_of(0), Some(0x100 + number));
            checker.instantiated(0x200 + number, 0x100 + number);
        }
        Program { checker, oracle: Oracle::default(), graphs, racy: 0, repairs }
    }

    fn record(&mut self, event: usize, stream: usize) {
        self.checker.recorded(event, stream_of(stream));
        self.oracle.events[event] = Some(self.oracle.add(stream, None, Vec::new()));
    }

    fn wait(&mut self, stream: usize, event: usize) {
        self.checker.waits(stream_of(stream), event);
        if let Some(record) = self.oracle.events[event] {
            self.oracle.add(stream, Some(record), Vec::new());
        }
    }

    fn device_done(&mut self) {
        self.checker.devices_done(None);
        self.oracle.done.extend(self.oracle.last.iter().flatten());
    }

    /// Lets a stream wait for the streams of operations.
    fn repair(&mut self, stream: usize, conflicts: &[usize]) {
        let others: BTreeSet<usize> =
            conflicts.iter().filter_map(|at| self.oracle.nodes[*at].stream).collect();
        for other in others {
            self.record(REPAIR, other);
            self.wait(stream, REPAIR);
        }
    }

    fn queue(&mut self, stream: usize, more: Option<usize>, uses: &[Range]) -> usize {
        let before: Vec<usize> = self.oracle.before(stream).into_iter().chain(more).collect();
        if self.repairs {
            self.repair(stream, &self.oracle.conflicts(&before, uses));
        }
        let before: Vec<usize> = self.oracle.before(stream).into_iter().chain(more).collect();
        self.racy += self.oracle.conflicts(&before, uses).len();
        self.oracle.add(stream, more, uses.to_vec())
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Work(stream, ref ranges) => {
                self.queue(stream, None, ranges);
                let uses = ranges.iter().copied().map(use_of).collect();
                self.checker.queued(stream_of(stream), "work", Some(uses));
            }
            Step::Host(range) => {
                if !self.oracle.conflicts(&self.oracle.done, &[range]).is_empty() && self.repairs {
                    self.device_done();
                }
                self.racy += self.oracle.conflicts(&self.oracle.done, &[range]).len();
                let before = self.oracle.done.clone();
                self.oracle.nodes.push(Node { stream: None, before, uses: vec![range] });
                self.oracle.done.push(self.oracle.nodes.len() - 1);
                self.checker.host_uses("the host", &use_of(range));
            }
            Step::Launch(graph, stream) => {
                let uses = self.graphs[graph].clone();
                let number = self.queue(stream, self.oracle.launches[graph], &uses);
                self.oracle.launches[graph] = Some(number);
                self.checker.launched(0x200 + graph, stream_of(stream));
            }
            Step::Record(event, stream) => self.record(event, stream),
            Step::Wait(stream, event) => self.wait(stream, event),
            Step::EventDone(event) => {
                self.checker.event_done(event);
                self.oracle.done.extend(self.oracle.events[event]);
            }
            Step::StreamDone(stream) => {
                self.checker.stream_done(stream_of(stream));
                self.oracle.done.extend(self.oracle.last[stream]);
                if stream == LEGACY {
                    self.oracle.done.extend(BLOCKING.iter().filter_map(|at| self.oracle.last[*at]));
                }
            }
            Step::DeviceDone => self.device_done(),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// After each step there is a report exactly if the oracle knows a pair that races. Missing waits are put in up
    /// to some step, so that not all races are among the first operations.
    #[test]
    fn a_race_is_reported_exactly_if_there_is_one(
        first in ranges(), second in ranges(), steps in steps(), repaired in 0_usize..40,
    ) {
        let mut program = Program::new([first, second], true);
        for (at, step) in steps.iter().enumerate() {
            program.repairs = at < repaired;
            program.step(step);
            let reports = kinds(&program.checker).len();
            prop_assert_eq!(reports > 0, program.racy > 0, "at {:?}", step);
            if reports > 0 {
                break;
            }
        }
    }

    /// Where each missing wait is put in, nothing is reported.
    #[test]
    fn a_program_that_waits_has_no_report(
        first in ranges(), second in ranges(), steps in steps(),
    ) {
        let mut program = Program::new([first, second], true);
        for step in &steps {
            program.step(step);
            prop_assert_eq!(program.racy, 0);
            prop_assert_eq!(kinds(&program.checker).len(), 0, "at {:?}", step);
        }
    }
}
