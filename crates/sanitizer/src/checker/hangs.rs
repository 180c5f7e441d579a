//! Waits that do not end: when the host begins to wait, what for, and calls of ranks that wait for each other.
#![forbid(unsafe_code)]

use std::sync::Arc;

use sconce_driver::{HeadState, StreamRef};

use super::Checker;
use crate::clock::{Clock, Epoch, HOST, Lane};
use crate::collective::{Call, RankCall};
use crate::operation::Operation;
use crate::pending::{Awaited, Suspect, Wait, other_process, repair};
use crate::report::Hang;

impl Checker {
    /// What has to be done for a wait of the host to end that begins now. `None`: nothing that is known.
    pub(crate) fn target(&mut self, awaited: Awaited) -> Option<Arc<Clock>> {
        Some(match awaited {
            Awaited::Event(event) => self.order.of_event(event)?,
            Awaited::Stream(stream) => {
                let lane = self.order.lane(stream);
                self.pending.stream(lane, stream);
                Arc::new(self.order.behind(lane))
            }
            Awaited::Device(device) => Arc::new(self.order.behind_devices(Some(device))),
            Awaited::AllDevices => Arc::new(self.order.behind_devices(None)),
        })
    }

    /// The host begins to wait: what for, unless that is done.
    pub(crate) fn wait_begins(&mut self, awaited: Awaited) -> Option<Wait> {
        let target = (*self.target(awaited)?).clone();
        let (name, is_foreign) = match awaited {
            Awaited::Stream(stream) => {
                let lane = self.order.lane(stream);
                (format!("the wait for {}", self.order.short(lane)), false)
            }
            Awaited::Event(event) => {
                ("the wait for an event".to_owned(), self.order.is_foreign(event))
            }
            Awaited::Device(device) => (format!("the wait for device {device}"), false),
            Awaited::AllDevices => ("the wait for all devices".to_owned(), false),
        };
        if !is_foreign && self.order.host().knows_all(&target) {
            return None;
        }
        let site = self.callers.site();
        // It is no operation, and has no number.
        let by = Arc::new(Operation { number: 0, name, lane: HOST, site });
        Some(Wait { by, target, is_foreign })
    }

    /// The streams whose work a wait waits for.
    pub(crate) fn suspects(&self, wait: &Wait) -> Vec<Suspect> {
        let known = self.order.library();
        let is_open = |lane: Lane| wait.target.of(lane) > known.of(lane);
        let streams = self.pending.streams.iter().filter(|(lane, _)| is_open(**lane));
        let mut suspects: Vec<Suspect> = streams
            .map(|(lane, stream)| Suspect { lane: *lane, stream: *stream, head: None })
            .collect();
        suspects.sort_by_key(|suspect| suspect.lane);
        suspects
    }

    /// Reports a wait that has taken too long.
    pub(crate) fn hangs(&mut self, wait: &Wait, suspects: &[Suspect], limit: &str) {
        let known = self.order.library();
        // The driver tells which operation it is; else the first that is not known to be done may be it.
        let operation = |suspect: &Suspect| {
            let announced =
                suspect.head.and_then(|it| self.pending.announced(suspect.lane, it.announced));
            announced.or_else(|| {
                // Also if it is at work of the sanitizer's own, before the program's first.
                let operations = self.pending.lanes.get(&suspect.lane)?;
                let is_open = |(count, _): &&(u64, _)| *count > known.of(suspect.lane);
                operations.iter().find(is_open).map(|(_, by)| by)
            })
        };
        let missing = |suspect: &Suspect| {
            let by = operation(suspect)?;
            self.calls.missing(by)
        };
        let answered = suspects.iter().any(|suspect| suspect.head.is_some());
        let place = |suspect: &&Suspect| {
            let needs = suspect.head.map(|head| head.needs);
            let number = operation(suspect).map_or(u64::MAX, |by| by.number);
            let by_need = match needs {
                // An idle stream of a driver that tells.
                None if answered => 9,
                _ if missing(suspect).is_some() => 1,
                Some(HeadState::EndOfFault) => 0,
                Some(HeadState::OtherProcess) => 2,
                Some(HeadState::Step) => 3,
                Some(HeadState::Time) | None => 4,
                Some(HeadState::OtherWork) => 5,
            };
            (by_need, number)
        };
        let culprit = suspects.iter().min_by_key(place);
        let blamed = culprit.filter(|suspect| suspect.head.is_some() || !answered);
        let by = blamed.and_then(operation).cloned();
        let needs = blamed.and_then(|suspect| suspect.head).map(|head| head.needs);
        let stream = blamed.map(|suspect| self.order.short(suspect.lane));
        let repair = match blamed.and_then(missing) {
            Some(missing) => missing,
            None if blamed.is_none() && wait.is_foreign => other_process(),
            None => repair(needs, by.as_deref(), stream.as_deref(), limit),
        };
        let hang = Hang { wait: Arc::clone(&wait.by), by, repair, is_cycle: false };
        self.report_hang(hang);
    }

    /// A collective call was queued as the newest operation of a stream.
    pub(crate) fn called(&mut self, it: RankCall, stream: StreamRef) {
        let lane = self.order.lane(stream);
        let Some(by) = self.newest.clone().filter(|by| by.lane == lane) else { return };
        if self.order.capture_of(lane).is_some() {
            return;
        }
        let before = self.order.clock(lane).clone();
        let epoch = Epoch { lane, count: before.of(lane) };
        self.calls.expect(&it, self.order.host());
        let new = Call { it, epoch, before, by };
        if let Some(crossing) = self.calls.crossing(&new) {
            let of = |call: &Call| format!("{} of {}", call.by.name, self.calls.words(&call.it));
            let repair = format!(
                "rank {} calls {} before {}, and another rank calls them the other way round, so each waits for the other: \
                 call them in one order on all ranks, or in one group (sconce_comm_group_start)",
                new.it.rank,
                of(crossing),
                of(&new)
            );
            let (wait, by) = (Arc::clone(&new.by), Some(Arc::clone(&crossing.by)));
            self.report_hang(Hang { wait, by, repair, is_cycle: true });
        }
        self.calls.add(new);
    }
}
