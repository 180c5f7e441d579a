//! What is kept of a run for its page: the newest operations and what ordered them, and those that reports name.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use crate::clock::{HOST, Lane};
use crate::operation::Operation;
use crate::pattern::Pattern;
use crate::report::Report;
use crate::site::Site;

/// How many operations are kept unless the program says otherwise.
pub(crate) const USUAL_OPERATIONS: usize = 4096;
/// The most waits that are kept for each operation.
const WAITS_AN_OPERATION: usize = 4;
/// The most reports whose operations are kept.
const MOST_REPORTS: usize = 500;
/// Around each operation of a report so many others are kept.
const NEIGHBOURS: u64 = 8;
/// The most uses that are kept of an operation.
const MOST_USES: usize = 8;

/// A time of the run: so many steps, such as records and waits, after an operation. Step 0 is the operation itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    pub(crate) operation: u64,
    pub(crate) step: u32,
}

/// An operation that is kept.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) by: Arc<Operation>,
    /// It is part of a capture: it runs with the launches of the graph.
    pub(crate) is_captured: bool,
    /// The allocator hands out a block, or takes it back.
    pub(crate) is_of_allocator: bool,
    /// The memory that it uses: whether it writes, where it begins, how many bytes it spans.
    pub(crate) uses: Vec<(bool, u64, u64)>,
    /// How many uses are not among these.
    pub(crate) more_uses: usize,
    is_of_report: bool,
}

/// How a lane has learnt what another one did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitKind {
    /// A stream waits for an event.
    Event,
    /// The host has waited, or has asked and heard that the work is done.
    Host,
    /// The rule of the legacy default stream.
    Legacy,
    /// A collective call.
    Collective,
    /// Launches of one graph follow each other.
    Launch,
    /// The free of a block comes after the work of streams that were recorded for it.
    Recorded,
}

impl WaitKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            WaitKind::Event => "event",
            WaitKind::Host => "host",
            WaitKind::Legacy => "legacy",
            WaitKind::Collective => "collective",
            WaitKind::Launch => "launch",
            WaitKind::Recorded => "recorded",
        }
    }
}

/// One lane waits for another.
#[derive(Clone, Debug)]
pub(crate) struct Wait {
    pub(crate) kind: WaitKind,
    pub(crate) from: Lane,
    /// The record of the event. `None`: all that the lane has done by then.
    pub(crate) since: Option<Moment>,
    pub(crate) to: Lane,
    pub(crate) at: Moment,
    pub(crate) site: Site,
    is_of_report: bool,
}

/// What is kept.
pub(crate) struct History {
    most: usize,
    now: Moment,
    operations: VecDeque<Kept>,
    waits: VecDeque<Wait>,
    /// What reports name, and what stood beside it, by number.
    operations_of_reports: BTreeMap<u64, Kept>,
    waits_of_reports: Vec<Wait>,
    /// Where each event was recorded last.
    records: HashMap<usize, (Lane, Moment)>,
    reports: usize,
    /// Reports that the program has told the sanitizer to forget: they stay part of the run.
    forgotten: Vec<Report>,
    /// Operations up to this number stand behind one of a report.
    kept_until: u64,
    /// After which operations the sanitizer was switched off.
    gaps: Vec<u64>,
    seen: u64,
}

impl History {
    /// Keeps so many operations from now on; `latest` is the number of the newest one so far.
    pub(crate) fn new(most: usize, latest: u64) -> History {
        History {
            most: most.max(1),
            now: Moment { operation: latest, step: 0 },
            operations: VecDeque::new(),
            waits: VecDeque::new(),
            operations_of_reports: BTreeMap::new(),
            waits_of_reports: Vec::new(),
            records: HashMap::new(),
            reports: 0,
            forgotten: Vec::new(),
            kept_until: 0,
            gaps: Vec::new(),
            seen: 0,
        }
    }

    pub(crate) fn keep_at_most(&mut self, most: usize) {
        self.most = most.max(1);
        self.drop_old();
    }

    fn step(&mut self) -> Moment {
        self.now.step += 1;
        self.now
    }

    pub(crate) fn operation(&mut self, by: &Arc<Operation>, is_captured: bool) {
        self.seen += 1;
        self.now = Moment { operation: by.number, step: 0 };
        self.operations.push_back(Kept {
            by: Arc::clone(by),
            is_captured,
            is_of_allocator: false,
            uses: Vec::new(),
            more_uses: 0,
            is_of_report: by.number <= self.kept_until,
        });
        self.drop_old();
    }

    /// Memory that an operation uses. It is the newest one, or was a moment ago.
    pub(crate) fn uses(&mut self, number: u64, writes: bool, pattern: &Pattern) {
        let newest = self.operations.iter_mut().rev().take(4);
        let Some(kept) = newest.into_iter().find(|kept| kept.by.number == number) else { return };
        if pattern.is_empty() {
            return;
        }
        let start = pattern.start();
        let whole = (writes, start, pattern.end() - start);
        if kept.uses.contains(&whole) {
            return;
        }
        if kept.uses.len() < MOST_USES {
            kept.uses.push(whole);
        } else {
            kept.more_uses += 1;
        }
    }

    /// The newest operation is the allocator's: it hands out a block, or takes it back.
    pub(crate) fn block(&mut self, address: u64, bytes: u64) {
        if let Some(newest) = self.operations.back_mut() {
            newest.is_of_allocator = true;
            newest.uses.push((true, address, bytes));
        }
    }

    pub(crate) fn recorded(&mut self, event: usize, lane: Lane) {
        let at = self.step();
        self.records.insert(event, (lane, at));
    }

    pub(crate) fn event_destroyed(&mut self, event: usize) {
        self.records.remove(&event);
    }

    /// A lane waits for the newest record of an event.
    pub(crate) fn waits(&mut self, kind: WaitKind, event: usize, to: Lane, site: Site) {
        if let Some((from, since)) = self.records.get(&event).copied() {
            let at = self.step();
            self.wait(kind, (from, Some(since)), (to, at), site);
        }
    }

    /// A lane learns all that others have done: with the newest operation, or in a step of its own.
    pub(crate) fn learns(
        &mut self,
        kind: WaitKind,
        from: &[Lane],
        to: Lane,
        with_operation: Option<&Operation>,
        site: &Site,
    ) {
        if from.is_empty() {
            return;
        }
        let of_operation = |by: &Operation| Moment { operation: by.number, step: 0 };
        let at = with_operation.map_or_else(|| self.step(), of_operation);
        for from in from {
            self.wait(kind, (*from, None), (to, at), site.clone());
        }
    }

    fn wait(
        &mut self,
        kind: WaitKind,
        (from, since): (Lane, Option<Moment>),
        (to, at): (Lane, Moment),
        site: Site,
    ) {
        let is_of_report = at.operation <= self.kept_until;
        self.waits.push_back(Wait { kind, from, since, to, at, site, is_of_report });
        self.drop_old();
    }

    pub(crate) fn switched_off(&mut self) {
        if self.gaps.last() != Some(&self.now.operation) && self.gaps.len() < self.most {
            self.gaps.push(self.now.operation);
        }
    }

    /// A report has been made of these operations: they stay, with what stands beside them.
    pub(crate) fn report(&mut self, named: &[Arc<Operation>]) {
        if self.reports == MOST_REPORTS {
            return;
        }
        self.reports += 1;
        for by in named {
            let near = by.number.saturating_sub(NEIGHBOURS)..=by.number + NEIGHBOURS;
            self.kept_until = self.kept_until.max(*near.end());
            let first = self.operations.partition_point(|kept| kept.by.number < *near.start());
            let stay = self.operations.range_mut(first..);
            for kept in stay.take_while(|kept| near.contains(&kept.by.number)) {
                kept.is_of_report = true;
            }
            let first = self.waits.partition_point(|wait| wait.at.operation < *near.start());
            let stay = self.waits.range_mut(first..);
            for wait in stay.take_while(|wait| near.contains(&wait.at.operation)) {
                wait.is_of_report = true;
            }
            let has_gone = self.operations.front().is_none_or(|kept| by.number < kept.by.number);
            if has_gone {
                self.operations_of_reports.entry(by.number).or_insert_with(|| Kept {
                    by: Arc::clone(by),
                    is_captured: false,
                    is_of_allocator: false,
                    uses: Vec::new(),
                    more_uses: 0,
                    is_of_report: true,
                });
            }
        }
    }

    /// The program has told the sanitizer to forget these reports.
    pub(crate) fn forgets(&mut self, reports: &[Report]) {
        let free = MOST_REPORTS.saturating_sub(self.forgotten.len());
        self.forgotten.extend_from_slice(&reports[..reports.len().min(free)]);
    }

    /// The reports that are no longer among the sanitizer's.
    pub(crate) fn forgotten(&self) -> &[Report] {
        &self.forgotten
    }

    fn drop_old(&mut self) {
        while self.operations.len() > self.most {
            let Some(old) = self.operations.pop_front() else { return };
            if old.is_of_report {
                self.operations_of_reports.insert(old.by.number, old);
            }
        }
        let oldest = self.operations.front().map_or(0, |kept| kept.by.number);
        let has_gone = |wait: &Wait| wait.at.operation < oldest;
        while self.waits.len() > self.most.saturating_mul(WAITS_AN_OPERATION)
            || self.waits.front().is_some_and(has_gone)
        {
            let Some(old) = self.waits.pop_front() else { return };
            // Those of reports are few; a stream of waits without operations is not.
            let limit = MOST_REPORTS * NEIGHBOURS as usize * 2 * WAITS_AN_OPERATION;
            if old.is_of_report && self.waits_of_reports.len() < limit {
                self.waits_of_reports.push(old);
            }
        }
    }

    /// The operations that were kept, by number.
    pub(crate) fn operations(&self) -> impl Iterator<Item = &Kept> {
        self.operations_of_reports.values().chain(&self.operations)
    }

    /// The waits that were kept, the oldest first.
    pub(crate) fn all_waits(&self) -> impl Iterator<Item = &Wait> {
        self.waits_of_reports.iter().chain(&self.waits)
    }

    /// How many operations there were since the recording began.
    pub(crate) fn seen(&self) -> u64 {
        self.seen
    }

    /// After which operations the sanitizer was switched off.
    pub(crate) fn gaps(&self) -> &[u64] {
        &self.gaps
    }

    /// The lanes of what was kept, in order; the host is always among them.
    pub(crate) fn lanes(&self) -> Vec<Lane> {
        let of_operations = self.operations().map(|kept| kept.by.lane);
        let of_waits = self.all_waits().flat_map(|wait| [wait.from, wait.to]);
        let mut lanes: Vec<Lane> = of_operations.chain(of_waits).chain([HOST]).collect();
        lanes.sort_unstable();
        lanes.dedup();
        lanes
    }
}
