//! A scenario in a process of its own, forked before anything has started: whatever a scenario does to
//! the allocator, the next one, and each one that shrinking tries, begins afresh.

use std::io::Read as _;
use std::os::fd::FromRawFd as _;
use std::sync::Mutex;

/// Longer than any scenario takes.
const SECONDS: u32 = 20;

static PANIC: Mutex<String> = Mutex::new(String::new());

/// What `act` gives in a child of this process, or how that ended.
pub fn run(act: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors.
    assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
    // SAFETY: this process has no other thread that holds a lock the child needs: the harness only
    // waits for this test.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        // SAFETY: always allowed.
        unsafe { libc::alarm(SECONDS) };
        // What a panic says goes to the parent.
        std::panic::set_hook(Box::new(|info| *PANIC.lock().unwrap() = info.to_string()));
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(act));
        let message = match result {
            Ok(Ok(())) => String::new(),
            Ok(Err(message)) => message,
            Err(_) => PANIC.lock().unwrap().clone(),
        };
        // SAFETY: readable bytes, and a descriptor of ours.
        unsafe { libc::write(ends[1], message.as_ptr().cast(), message.len()) };
        // SAFETY: ends the process without what belongs to the parent.
        unsafe { libc::_exit(i32::from(!message.is_empty())) };
    }
    // SAFETY: our own descriptor, closed once.
    unsafe { libc::close(ends[1]) };
    // SAFETY: our own descriptor, which the file closes.
    let mut pipe = unsafe { std::fs::File::from_raw_fd(ends[0]) };
    let mut message = String::new();
    pipe.read_to_string(&mut message).unwrap();
    let mut status = 0;
    // SAFETY: a writable place.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    match (status, message.is_empty()) {
        (0, true) => Ok(()),
        (status, true) => Err(format!("the process ended with wait status {status}")),
        (_, false) => Err(message),
    }
}
