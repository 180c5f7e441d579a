//! To a device: threads fill slots, the calling one queues transfers of what is full.

use sconce_base::error::Result;

use super::ring::Ring;
use super::work::{Patience, StagedWork};
use super::{ENOUGH_HELPERS, StagedCopy};

/// A transfer takes at least this many pieces while this many transfers are under way: the first leaves
/// at once, and while the device has work they may grow.
const LEAST: [usize; 4] = [1, 2, 4, 8];

impl StagedCopy<'_> {
    /// Returns when every piece has left the caller's memory and is queued.
    pub(super) fn send(
        &self,
        work: &StagedWork,
        ring: &mut Ring<'_>,
        mut helpers: usize,
    ) -> Result<()> {
        let count = self.pieces.count();
        let slots = ring.slots.count;
        let (mut queued, mut full, mut done) = (0, 0, 0);
        let mut patience = Patience::default();
        ring.host_uses(0..slots, true);
        work.open_until(slots);
        while queued < count {
            while full < count.min(done + slots) && work.is_moved(full) {
                full += 1;
            }
            let row = (full - queued).min(ring.slots.row(queued));
            let least = LEAST[ring.depth().min(LEAST.len() - 1)];
            if row >= least || row > 0 && (full == count || row < full - queued) {
                let (offset, bytes) = self.pieces.run(queued, row);
                let from = ring.slots.of(queued).raw();
                queued += row;
                ring.queue(queued, self.on_device(offset), from, bytes)?;
                patience = Patience::default();
                continue;
            }
            // Room is made when it is needed, and events are asked only then.
            if done + slots < count
                && let Some(end) = ring.take_done()?
            {
                ring.host_uses(done + slots..count.min(end + slots), true);
                done = end;
                work.open_until(done + slots);
                self.get_help(&mut helpers);
                patience = Patience::default();
                continue;
            }
            // Perhaps no helper has come: all can be busy elsewhere.
            let alone = helpers > 0 || self.helper_count < ENOUGH_HELPERS || patience.is_over();
            let lags = alone || queued == 0 || ring.depth() >= LEAST.len();
            if lags && work.move_one() {
                patience = Patience::default();
            } else if patience.is_over() && ring.depth() > 0 && queued == done + slots {
                // The stream has something else to do; so may this thread.
                ring.wait()?;
            } else {
                work.check()?;
                patience.wait();
            }
        }
        Ok(())
    }
}
