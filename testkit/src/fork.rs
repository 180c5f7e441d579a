//! Work in a child that is forked where this process is: how the child ends, or what the work returns.

use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::os::fd::FromRawFd as _;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::Mutex;

/// Longer than any child takes.
const SECONDS: u32 = 20;

static PANIC: Mutex<String> = Mutex::new(String::new());

/// The exit code that `work` returns in a forked child. The child ends by `end` with that code:
/// `libc::exit`, at which the thread's objects are destroyed, or `libc::_exit`, which runs nothing of the
/// parent's. A code below 0 is the signal that ended the child; a child that hangs is ended.
pub fn forked(end: unsafe extern "C" fn(i32) -> !, work: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the child only does what its caller wants it to do in one, and ends.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "fork failed");
    if child == 0 {
        // SAFETY: always allowed.
        unsafe { libc::alarm(SECONDS) };
        let code = work();
        // SAFETY: always allowed.
        unsafe { end(code) };
    }
    let mut status = -1;
    // SAFETY: a good place.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { -libc::WTERMSIG(status) }
}

/// The result of `work` in a forked child, or how the child ended. A panic is an error with its message.
///
/// A caller that has not started the library begins afresh with every call, whatever the work before did
/// to the allocator. The caller's process has no other thread that holds a lock which the child needs.
pub fn forked_result(work: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    let mut shared = shared_file();
    let code = forked(libc::_exit, || {
        set_hook(Box::new(|info| *PANIC.lock().unwrap() = info.to_string()));
        let message = match catch_unwind(AssertUnwindSafe(work)) {
            Ok(Ok(())) => return 0,
            Ok(Err(message)) => message,
            Err(_) => PANIC.lock().unwrap().clone(),
        };
        shared.write_all(message.as_bytes()).map_or(2, |()| 1)
    });
    if code == 0 {
        return Ok(());
    }
    let mut message = String::new();
    shared.rewind().unwrap();
    shared.read_to_string(&mut message).unwrap();
    Err(if message.is_empty() { format!("the child ended with {code}") } else { message })
}

/// A file without a name, which a forked child shares.
fn shared_file() -> File {
    // SAFETY: a NUL-terminated name.
    let descriptor = unsafe { libc::memfd_create(c"result".as_ptr(), libc::MFD_CLOEXEC) };
    assert!(descriptor >= 0, "memfd_create failed");
    // SAFETY: a new descriptor, which the file closes.
    unsafe { File::from_raw_fd(descriptor) }
}
