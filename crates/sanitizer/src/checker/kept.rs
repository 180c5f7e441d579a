//! What the checker keeps for the page of the run, if there is to be one.
#![forbid(unsafe_code)]

use super::Checker;
use crate::clock::{Clock, HOST, Lane};
use crate::order::{Order, Waited};
use crate::page::{History, WaitKind};

impl Checker {
    /// What is kept for the page, with what the rest of the checker knows of it.
    pub(crate) fn kept(&self) -> Option<(&History, &Order)> {
        self.history.as_deref().map(|history| (history, &self.order))
    }

    /// Keeps operations for the page, or no longer.
    pub(crate) fn keep_history(&mut self, most: Option<usize>) {
        match (most, &mut self.history) {
            (None, history) => *history = None,
            (Some(most), Some(history)) => history.keep_at_most(most),
            (Some(most), None) => {
                self.history = Some(Box::new(History::new(most, self.operations)));
            }
        }
    }

    /// The legacy default stream's rule orders a record or a wait of a stream.
    pub(super) fn keep_legacy(&mut self, lane: Lane) {
        if let Some(history) = &mut self.history {
            let news = self.order.news_by_legacy(lane);
            if !news.is_empty() {
                history.learns(WaitKind::Legacy, &news, lane, None, &self.callers.site());
            }
        }
    }

    /// The host learns what streams did.
    pub(super) fn keep_host_wait(&mut self, of: Waited) {
        if let Some(history) = &mut self.history {
            let news = self.order.news_for_host(of);
            if !news.is_empty() {
                history.learns(WaitKind::Host, &news, HOST, None, &self.callers.site());
            }
        }
    }

    /// A lane waits for an event. A wait that teaches it nothing is not kept.
    pub(super) fn keep_wait(&mut self, kind: WaitKind, event: usize, lane: Lane) {
        if let Some(history) = &mut self.history {
            let (of_lane, host) = (self.order.clock(lane), self.order.host());
            let knows = |clock: &Clock| of_lane.knows_all(clock) || host.knows_all(clock);
            if !self.order.of_event(event).is_some_and(|clock| knows(&clock)) {
                history.waits(kind, event, lane, self.callers.site());
            }
        }
    }

    /// Forgets all reports. The page shows them all the same.
    pub(crate) fn forget_reports(&mut self) {
        if let Some(history) = &mut self.history {
            history.forgets(self.reports.all());
        }
        self.reports.clear();
    }
}
