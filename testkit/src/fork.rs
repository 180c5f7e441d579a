//! A child that is forked where this process is, and how it ends.

/// Longer than any child takes.
const SECONDS: u32 = 10;

/// What `work` gives in a forked child that ends by `end` with it: `libc::exit`, at which the thread's
/// objects are destroyed, or `libc::_exit`, which runs nothing of the parent's. Below 0 the signal that
/// ended the child; one that hangs is ended.
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
