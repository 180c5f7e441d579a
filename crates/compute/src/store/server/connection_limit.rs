//! How many connections a server takes, so that the rest of the process keeps descriptors.

use std::os::fd::AsRawFd;

use rustix::process::{Resource, getrlimit};

/// The most connections, whatever the limit of descriptors is.
const MOST_CONNECTIONS: usize = 8 << 10;

/// The most connections now: three quarters of the descriptors that the process has besides its own. `newest` is the
/// descriptor that was opened last. The system gives out the lowest free number, so at least as many are in use.
pub(super) fn most_connections(connections: usize, newest: &impl AsRawFd) -> usize {
    let limit = getrlimit(Resource::Nofile).current;
    let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    let in_use = usize::try_from(newest.as_raw_fd()).unwrap_or(0);
    share(limit, in_use, connections)
}

fn share(limit: usize, in_use: usize, connections: usize) -> usize {
    let others = in_use.saturating_sub(connections);
    (limit.saturating_sub(others) / 4).saturating_mul(3).min(MOST_CONNECTIONS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_of_what_the_process_has_left_stays_free() {
        assert_eq!(share(1024, 24, 0), 750);
        assert_eq!(share(1024, 24 + 750, 750), 750);
        assert_eq!(share(1024, 924, 0), 75);
        assert_eq!(share(64, 70, 3), 0);
        assert_eq!(share(usize::MAX, 10, 5), MOST_CONNECTIONS);
    }
}
