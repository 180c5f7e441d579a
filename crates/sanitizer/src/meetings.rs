//! Collective calls: what the ranks of this process know when they queue a call, until all of them have. Sends: what
//! the sender knows, until the receiver comes, or the other way round.
#![forbid(unsafe_code)]

use std::collections::{HashMap, VecDeque};

use crate::clock::{Clock, Lane};

/// The most sends of one rank to another that have not been received, or the other way round. If there are more, the
/// other rank is another process's.
const MOST_TRANSFERS: usize = 256;

/// Sends of one rank to another, which are received in their order. One of the queues is empty.
#[derive(Default)]
struct Transfers {
    /// What precedes the end of each send that has not been received.
    sent: VecDeque<Clock>,
    /// The streams that receive what has not been sent.
    wanted: VecDeque<Lane>,
    /// The other rank is another process's.
    is_one_sided: bool,
}

/// A send or a receive, of which both ranks have come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Met {
    /// The stream that receives.
    pub(crate) to: Lane,
    /// What precedes the end of the send.
    pub(crate) clock: Clock,
}

/// From which rank to which.
pub(crate) type Way = (usize, usize);

/// The ranks of this process in a communicator.
#[derive(Default)]
struct Ranks {
    /// How many there ever were.
    all: usize,
    /// How many there are.
    live: usize,
    /// Calls that some ranks have queued and others have not, by their number.
    open: HashMap<u64, Meeting>,
    transfers: HashMap<Way, Transfers>,
}

#[derive(Default)]
struct Meeting {
    /// How many ranks have queued the call.
    came: usize,
    /// Those of them that the checker has heard of.
    heard: Vec<Part>,
}

/// One rank's part of a call.
#[derive(Clone)]
pub(crate) struct Part {
    /// The stream that the call is on.
    pub(crate) lane: Lane,
    /// What precedes the end of this part.
    pub(crate) clock: Clock,
}

/// The calls of all communicators, which are named by what their ranks have in common.
#[derive(Default)]
pub(crate) struct Meetings(HashMap<Vec<u8>, Ranks>);

impl Meetings {
    /// There is a further rank.
    pub(crate) fn joins(&mut self, name: &[u8]) {
        let ranks = self.0.entry(name.to_vec()).or_default();
        ranks.all += 1;
        ranks.live += 1;
    }

    /// A rank has gone. With the last one, calls go that some ranks never queued. Whether it was the last one.
    pub(crate) fn leaves(&mut self, name: &[u8]) -> bool {
        let Some(ranks) = self.0.get_mut(name) else { return false };
        ranks.live -= 1;
        let is_last = ranks.live == 0;
        if is_last {
            self.0.remove(name);
        }
        is_last
    }

    /// The driver has refused a rank's call, which is still to come. What precedes it stays, so that nothing that
    /// follows is reported wrongly.
    pub(crate) fn withdraw(&mut self, name: &[u8], call: u64) {
        let Some(ranks) = self.0.get_mut(name) else { return };
        let meeting = ranks
            .open
            .entry(call)
            .or_insert_with(|| Meeting { came: ranks.all, heard: Vec::new() });
        meeting.came = meeting.came.saturating_sub(1);
        if meeting.came == 0 {
            ranks.open.remove(&call);
        }
    }

    /// A rank queues a call. `join` receives the parts of the ranks that came before, and returns this one's; nothing
    /// while the checker is off.
    pub(crate) fn meet(
        &mut self,
        name: &[u8],
        call: u64,
        join: impl FnOnce(&[Part]) -> Option<Part>,
    ) {
        let Some(ranks) = self.0.get_mut(name) else { return };
        let meeting = ranks.open.entry(call).or_default();
        meeting.came += 1;
        meeting.heard.extend(join(&meeting.heard));
        if meeting.came >= ranks.all {
            ranks.open.remove(&call);
        }
    }

    /// A rank queues a send or a receive. If the other rank has come before, what precedes the send precedes what
    /// follows its receive.
    pub(crate) fn transfer(
        &mut self,
        name: &[u8],
        way: Way,
        sends: bool,
        part: Part,
    ) -> Option<Met> {
        let ours = self.0.get_mut(name)?.transfers.entry(way).or_default();
        if ours.is_one_sided {
            return None;
        }
        let Part { lane, clock } = part;
        let met = match sends {
            true => ours.wanted.pop_front().map(|to| Met { to, clock: clock.clone() }),
            false => ours.sent.pop_front().map(|clock| Met { to: lane, clock }),
        };
        match (sends, &met) {
            (_, Some(_)) => {}
            (true, None) => ours.sent.push_back(clock),
            (false, None) => ours.wanted.push_back(lane),
        }
        if ours.sent.len().max(ours.wanted.len()) > MOST_TRANSFERS {
            *ours = Transfers { is_one_sided: true, ..Transfers::default() };
        }
        met
    }

    /// The driver has refused a send or a receive, which is still to come.
    pub(crate) fn withdraw_transfer(
        &mut self,
        name: &[u8],
        way: Way,
        sends: bool,
        met: Option<Met>,
    ) {
        let ours = self.0.get_mut(name).and_then(|ranks| ranks.transfers.get_mut(&way));
        let Some(ours) = ours.filter(|ours| !ours.is_one_sided) else { return };
        match (sends, met) {
            (true, Some(met)) => ours.wanted.push_front(met.to),
            (false, Some(met)) => ours.sent.push_front(met.clock),
            (true, None) => drop(ours.sent.pop_back()),
            (false, None) => drop(ours.wanted.pop_back()),
        }
    }

    /// How many calls some ranks have queued and others have not.
    #[cfg(test)]
    fn open(&self) -> usize {
        self.0.values().map(|ranks| ranks.open.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(lane: u32) -> Part {
        let mut clock = Clock::default();
        clock.tick(lane);
        Part { lane, clock }
    }

    /// Two ranks, one call, each rank with the checker on or off: how many parts the second one receives.
    fn received(first_is_on: bool, second_is_on: bool) -> usize {
        let mut meetings = Meetings::default();
        (0..2).for_each(|_| meetings.joins(b"x"));
        let mut received = 0;
        for (lane, is_on) in [(1, first_is_on), (2, second_is_on)] {
            meetings.meet(b"x", 1, |parts| {
                received = parts.len();
                is_on.then(|| known(lane))
            });
            assert_eq!(meetings.open(), usize::from(lane == 1), "{first_is_on} {second_is_on}");
        }
        received
    }

    #[test]
    fn a_call_is_forgotten_when_all_ranks_of_the_process_have_queued_it() {
        assert_eq!(received(true, true), 1);
        assert_eq!(received(true, false), 1);
        assert_eq!(received(false, true), 0);
        assert_eq!(received(false, false), 0);
    }

    #[test]
    fn a_call_that_the_driver_refuses_is_still_to_come() {
        for refused in [1, 2] {
            let mut meetings = Meetings::default();
            (0..2).for_each(|_| meetings.joins(b"x"));
            for lane in [1, 2] {
                meetings.meet(b"x", 1, |_| Some(known(lane)));
                if lane == refused {
                    meetings.withdraw(b"x", 1);
                    assert_eq!(meetings.open(), usize::from(refused == 2), "{refused}");
                    meetings.meet(b"x", 1, |_| Some(known(lane)));
                }
            }
            assert_eq!(meetings.open(), 0, "{refused}");
        }
    }

    #[test]
    fn sends_meet_their_receives_in_order_whoever_comes_first() {
        let mut meetings = Meetings::default();
        meetings.joins(b"x");
        let mut call = |sends, lane| meetings.transfer(b"x", (0, 1), sends, known(lane));
        let met = |from, to| Some(Met { to, clock: known(from).clock });
        assert_eq!([call(true, 1), call(true, 2)], [None, None]);
        assert_eq!([call(false, 3), call(false, 4)], [met(1, 3), met(2, 4)]);
        assert_eq!([call(false, 5), call(false, 6)], [None, None]);
        assert_eq!([call(true, 7), call(true, 8)], [met(7, 5), met(8, 6)]);
        // The other direction is another one.
        assert_eq!(call(true, 1), None);
        assert_eq!(meetings.transfer(b"x", (1, 0), false, known(2)), None);
    }

    #[test]
    fn transfers_that_are_refused_are_still_to_come() {
        for is_first in [true, false] {
            for sends in [true, false] {
                let mut meetings = Meetings::default();
                meetings.joins(b"x");
                let mut call = |sends, lane| meetings.transfer(b"x", (0, 1), sends, known(lane));
                let first = call(if is_first { sends } else { !sends }, 1);
                let refused = if is_first { first } else { call(sends, 2) };
                meetings.withdraw_transfer(b"x", (0, 1), sends, refused);
                let mut call = |sends, lane| meetings.transfer(b"x", (0, 1), sends, known(lane));
                let again = call(sends, 2).is_some();
                assert_eq!(again, !is_first, "{sends}");
                assert!(!is_first || call(!sends, 3).is_some(), "{sends}");
            }
        }
    }

    #[test]
    fn sends_to_other_processes_are_not_kept() {
        let mut meetings = Meetings::default();
        meetings.joins(b"x");
        for _ in 0..10 * MOST_TRANSFERS {
            meetings.transfer(b"x", (0, 1), true, known(1));
        }
        let kept = |meetings: &Meetings| -> usize {
            meetings.0.values().flat_map(|it| it.transfers.values()).map(|it| it.sent.len()).sum()
        };
        assert_eq!(kept(&meetings), 0);
    }

    #[test]
    fn ranks_that_go_neither_end_a_call_early_nor_keep_it() {
        let mut meetings = Meetings::default();
        (0..3).for_each(|_| meetings.joins(b"x"));
        meetings.meet(b"x", 1, |_| Some(known(1)));
        meetings.leaves(b"x");
        meetings.meet(b"x", 1, |_| Some(known(2)));
        let mut received = 0;
        meetings.meet(b"x", 1, |parts| {
            received = parts.len();
            None
        });
        assert_eq!((received, meetings.open()), (2, 0));
        // One rank never comes.
        meetings.meet(b"x", 2, |_| Some(known(1)));
        assert_eq!(meetings.open(), 1);
        assert_eq!([(); 2].map(|()| meetings.leaves(b"x")), [false, true]);
        assert_eq!(meetings.open(), 0);
    }
}
