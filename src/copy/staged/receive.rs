//! To the host: the calling thread queues transfers to the slots, others empty them.

use super::ring::Ring;
use super::work::{Patience, Work};
use super::{Copy, DEEP};
use crate::error::Result;

impl Copy<'_> {
    /// Returns when every piece is in the caller's memory.
    pub(super) fn receive(
        &self,
        work: &Work,
        ring: &mut Ring<'_>,
        mut helpers: usize,
    ) -> Result<()> {
        let count = self.pieces.count();
        let slots = ring.slots.count;
        let (mut queued, mut arrived, mut emptied) = (0, 0, 0);
        let mut patience = Patience::default();
        while emptied < count {
            if work.is_moved(emptied) && emptied < arrived {
                emptied += 1;
                patience = Patience::default();
                continue;
            }
            if queued < count.min(emptied + slots) {
                let (offset, bytes) = self.pieces.piece(queued);
                ring.queue(queued, ring.slots.of(queued), self.on_device(offset), bytes)?;
                queued += 1;
                continue;
            }
            if arrived < queued && ring.is_done(arrived)? {
                arrived += 1;
                work.open_until(arrived);
                self.get_help(&mut helpers);
                patience = Patience::default();
                continue;
            }
            let lags = queued == count || queued - arrived >= DEEP || self.crew < DEEP;
            if lags && work.move_one() {
                patience = Patience::default();
            } else if patience.is_over() && arrived < queued && emptied == arrived {
                // The stream has something else to do; so may this thread.
                ring.wait_for(arrived)?;
            } else {
                patience.wait();
            }
        }
        ring.settle();
        Ok(())
    }
}
