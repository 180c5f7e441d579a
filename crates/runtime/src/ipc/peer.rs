//! The process at the other end of a socket.
//!
//! The system reports process 0 for a process in another namespace of process ids. The safe functions of
//! `rustix` have no process 0, so `SO_PEERCRED` is read here.

use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open, test_kill_process};

/// The process and the user that made the other end; `None` if the system does not report them.
fn credentials(socket: BorrowedFd<'_>) -> Option<libc::ucred> {
    let mut found = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    let mut bytes = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: `found` has the size that is passed with it; both outlive the call.
    let code = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut found).cast(),
            &raw mut bytes,
        )
    };
    (code == 0).then_some(found)
}

/// Whether the other end was made by this process's user.
pub(super) fn is_of_this_user(socket: BorrowedFd<'_>) -> bool {
    let user = rustix::process::geteuid().as_raw();
    credentials(socket).is_some_and(|peer| peer.uid == user)
}

fn process(socket: BorrowedFd<'_>) -> Option<Pid> {
    credentials(socket).and_then(|peer| Pid::from_raw(peer.pid))
}

/// A descriptor of the process that made the other end, readable when that has ended. `None` if the process
/// is not visible from here.
pub(super) fn descriptor(socket: BorrowedFd<'_>) -> Option<OwnedFd> {
    process(socket).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok())
}

/// Whether the process that made the other end is known to have ended.
pub(super) fn has_ended(socket: BorrowedFd<'_>) -> bool {
    process(socket).is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH))
}
