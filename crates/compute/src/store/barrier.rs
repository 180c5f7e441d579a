//! A barrier made of a counter and a key for each round.

use std::time::Duration;

use sconce_base::error::{Error, Result, Status};

use super::Store;

/// Waits until `world_size` processes have come. The name may be used again at once: arrivals are counted on, and
/// each round has a key of its own.
pub(super) fn wait_for_all(
    store: &Store,
    name: &[u8],
    world_size: u32,
    timeout: Duration,
) -> Result<()> {
    let size = i64::from(world_size);
    let key = |part: &str| [name, b"/barrier/", part.as_bytes()].concat();
    let arrived = key("arrived");
    let number = store.add(&arrived, 1)?;
    let round = (number - 1) / size;
    let complete = key(&format!("complete/{round}"));
    if number == (round + 1) * size {
        store.set(&complete, b"")?;
        if round > 0 {
            // All of this round have left the round before.
            store.delete_key(&key(&format!("complete/{}", round - 1)))?;
        }
        return Ok(());
    }
    store.wait(&[&complete], Some(timeout)).map_err(|error| {
        if error.status() != Status::Timeout {
            return error;
        }
        let so_far = store.add(&arrived, 0).unwrap_or(number) - round * size;
        Error::new(
            Status::Timeout,
            format!(
                "the barrier \"{}\" has timed out after {} ms: {so_far} of {size} processes have called; use another \
                 name for the next one, because this name has counted the call",
                String::from_utf8_lossy(name).escape_debug(),
                timeout.as_millis()
            ),
        )
    })
}
