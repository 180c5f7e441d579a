//! Memory of the host process by address. All unsafe code of the simulator is here.
//!
//! | file | idea |
//! |---|---|
//! | `pages` | memory files, address windows, pinned pages, pages shared by processes |
//! | `stray_access` | words for host code that follows a device address |
//! | `place` | memory that is read and written by address; calls of users' functions |

#[allow(unsafe_code, reason = "mmap, memory files and counters in shared pages")]
pub(super) mod pages;
#[allow(
    unsafe_code,
    reason = "reads and writes memory by address, calls the functions that users queue"
)]
pub(super) mod place;
#[allow(unsafe_code, reason = "a signal handler")]
pub(super) mod stray_access;
