//! To the host: the calling thread queues transfers to the slots, threads empty them.

use sconce_base::error::Result;

use super::ring::Ring;
use super::work::{Patience, StagedWork};
use super::{ENOUGH_HELPERS, StagedCopy};

/// How many pieces the first transfers have, and all others: the first arrives soon.
const SIZES: [usize; 4] = [1, 2, 4, 8];

impl StagedCopy<'_> {
    /// Returns when every piece is in the caller's memory.
    pub(super) fn receive(
        &self,
        work: &StagedWork,
        ring: &mut Ring<'_>,
        mut helpers: usize,
    ) -> Result<()> {
        let count = self.pieces.count();
        let slots = ring.slots.count;
        let (mut queued, mut arrived, mut emptied) = (0, 0, 0);
        let mut transfers = 0;
        let mut patience = Patience::default();
        while emptied < count {
            while emptied < arrived && work.is_moved(emptied) {
                emptied += 1;
                patience = Patience::default();
            }
            let size = SIZES[transfers.min(SIZES.len() - 1)];
            let row = size.min(count - queued).min(ring.slots.row(queued));
            if row > 0 && queued + row <= emptied + slots {
                let (offset, bytes) = self.pieces.run(queued, row);
                let to = ring.slots.of(queued).raw();
                queued += row;
                transfers += 1;
                ring.queue(queued, to, self.on_device(offset), bytes)?;
                continue;
            }
            if let Some(end) = ring.take_done()? {
                ring.host_uses(arrived..end, false);
                arrived = end;
                work.open_until(arrived);
                self.get_help(&mut helpers);
                patience = Patience::default();
                continue;
            }
            // Perhaps no helper has come: all can be busy elsewhere.
            let alone = helpers > 0 || self.helper_count < ENOUGH_HELPERS || patience.is_over();
            let lags = alone || queued == count || ring.depth() >= SIZES.len();
            if lags && work.move_one() {
                patience = Patience::default();
            } else if patience.is_over() && ring.depth() > 0 && emptied == arrived {
                // The stream has something else to do; so may this thread.
                ring.wait()?;
            } else {
                work.check()?;
                patience.wait();
            }
        }
        ring.mark_done();
        Ok(())
    }
}
