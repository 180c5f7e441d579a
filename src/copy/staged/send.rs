//! To a device: others fill slots, the calling thread queues their transfers.

use super::ring::Ring;
use super::work::{Patience, Work};
use super::{Copy, DEEP};
use crate::error::Result;

impl Copy<'_> {
    /// Returns when every piece has left the caller's memory and is queued.
    pub(super) fn send(&self, work: &Work, ring: &mut Ring<'_>, mut helpers: usize) -> Result<()> {
        let count = self.pieces.count();
        let slots = ring.slots.count;
        let (mut queued, mut done) = (0, 0);
        let mut patience = Patience::default();
        work.open_until(slots);
        while queued < count {
            if work.is_moved(queued) {
                let (offset, bytes) = self.pieces.piece(queued);
                ring.queue(queued, self.on_device(offset), ring.slots.of(queued), bytes)?;
                queued += 1;
                patience = Patience::default();
                continue;
            }
            // Room is made when it is needed, and events are asked only then.
            if done + slots < count && done < queued && ring.is_done(done)? {
                done += 1;
                work.open_until(done + slots);
                self.get_help(&mut helpers);
                patience = Patience::default();
                continue;
            }
            let lags = queued == 0 || queued - done >= DEEP || self.crew < DEEP;
            if lags && work.move_one() {
                patience = Patience::default();
            } else if patience.is_over() && done < queued && queued == done + slots {
                // The stream has something else to do; so may this thread.
                ring.wait_for(done)?;
            } else {
                patience.wait();
            }
        }
        Ok(())
    }
}
