//! What is known of a call when it ends the process: its description, which signals print.

#![allow(
    clippy::multiple_unsafe_ops_per_block,
    reason = "calls of one kind, with the same promise"
)]

use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

static TEXT: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
static LENGTH: AtomicUsize = AtomicUsize::new(0);
const ROOM: usize = 1 << 14;
/// Address space that calls may use: much for their tensors, and little for those that hostile sizes ask for.
const ROOM_FOR_CALLS: u64 = 256 << 20;

extern "C" fn report(signal: i32) {
    let what: &[u8] = match signal {
        libc::SIGALRM => b"\nthis call does not end: ",
        libc::SIGABRT => b"\nthis call ends the process: ",
        _ => b"\nthis call crashes: ",
    };
    // SAFETY: these functions may be called in a handler; the text has so many bytes.
    unsafe {
        libc::write(2, what.as_ptr().cast(), what.len());
        libc::write(2, TEXT.load(Ordering::Acquire).cast(), LENGTH.load(Ordering::Acquire));
        libc::write(2, b"\n".as_ptr().cast(), 1);
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

/// Whether AddressSanitizer is in the process: it has handlers of its own, and more address space than is limited here.
pub(crate) fn is_sanitized() -> bool {
    // SAFETY: the name ends with NUL.
    !unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__asan_init".as_ptr()) }.is_null()
}

/// Begins to watch, and limits memory: a request for more must fail in words.
pub(crate) fn begin() {
    let memory = Box::leak(vec![0_u8; ROOM].into_boxed_slice());
    TEXT.store(memory.as_mut_ptr(), Ordering::Release);
    for signal in
        [libc::SIGALRM, libc::SIGABRT, libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL]
    {
        // SAFETY: the handler is a function of this type.
        unsafe { libc::signal(signal, report as extern "C" fn(i32) as usize) };
    }
    if !is_sanitized() {
        let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
        let pages: u64 = statm.split(' ').next().unwrap().parse().unwrap();
        let most = pages * 4096 + ROOM_FOR_CALLS;
        let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
        // SAFETY: the limit is valid for a read.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
    }
}

/// Notes the call that comes next, which must end within the seconds.
pub(crate) fn note(text: &str, seconds: u32) {
    let bytes = &text.as_bytes()[..text.len().min(ROOM)];
    // SAFETY: the buffer has so many bytes, and only this thread writes them.
    unsafe { TEXT.load(Ordering::Acquire).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    LENGTH.store(bytes.len(), Ordering::Release);
    // SAFETY: no preconditions.
    unsafe { libc::alarm(seconds) };
}
