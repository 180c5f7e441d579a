//! Files that fail: a full disk, writes and reads that are short, interrupted or fail, at every point of a script. The
//! system's two calls are replaced in this program, and pass everything on unless a test asks for a failure.

#![allow(unsafe_code, reason = "takes the place of two functions of the C library")]

use std::ffi::c_void;
use std::sync::atomic::{AtomicI64, AtomicU8, Ordering};

use sconce_base::error::Status;
use sconce_runtime::memory::{self, pool};
use sconce_runtime::sleep::{self, SleepPlace, WakeMode};
use testkit::fork::forked_result;
use testkit::memory::structure;

use super::{MIB, alloc, folder, free_bytes, holds, inside, pool_stream, state, with_pages};
use crate::queued::{fill, read};

/// What happens to a call in place of its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum FileFault {
    None,
    /// Half of the bytes are written or read.
    Half,
    /// No byte is: the end of a file, or nothing written.
    Nothing,
    /// A signal came.
    Interrupted,
    /// The disk is full.
    Full,
    /// The device has an error.
    Io,
}

const FAULTS: [FileFault; 5] =
    [FileFault::Half, FileFault::Nothing, FileFault::Interrupted, FileFault::Full, FileFault::Io];

/// Calls of a kind: how many are left until the one that fails, and how.
struct Planned {
    left: AtomicI64,
    fault: AtomicU8,
    /// How many there were.
    count: AtomicI64,
}

impl Planned {
    const fn new() -> Planned {
        Planned { left: AtomicI64::new(0), fault: AtomicU8::new(0), count: AtomicI64::new(0) }
    }

    /// The nth call from now on fails.
    fn plan(&self, nth: i64, fault: FileFault) {
        self.fault.store(fault as u8, Ordering::SeqCst);
        self.count.store(0, Ordering::SeqCst);
        self.left.store(nth, Ordering::SeqCst);
    }

    fn next(&self) -> FileFault {
        self.count.fetch_add(1, Ordering::SeqCst);
        if self.left.load(Ordering::SeqCst) <= 0 || self.left.fetch_sub(1, Ordering::SeqCst) != 1 {
            return FileFault::None;
        }
        let fault = self.fault.load(Ordering::SeqCst);
        FAULTS.into_iter().find(|it| *it as u8 == fault).unwrap_or(FileFault::None)
    }
}

static WRITES: Planned = Planned::new();
static READS: Planned = Planned::new();

/// How many bytes a call is to ask for, or what it returns.
fn outcome(planned: &Planned, bytes: usize) -> Result<usize, isize> {
    let fail = |code| {
        // SAFETY: always allowed.
        let place = unsafe { libc::__errno_location() };
        // SAFETY: the calling thread's.
        unsafe { *place = code };
        Err(-1)
    };
    match planned.next() {
        FileFault::None => Ok(bytes),
        FileFault::Half => Ok(bytes.div_ceil(2)),
        FileFault::Nothing => Err(0),
        FileFault::Interrupted => fail(libc::EINTR),
        FileFault::Full => fail(libc::ENOSPC),
        FileFault::Io => fail(libc::EIO),
    }
}

/// In place of the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn pwrite64(file: i32, data: *const c_void, bytes: usize, at: i64) -> isize {
    match outcome(&WRITES, bytes) {
        // SAFETY: the arguments are passed on to the C library's function, whose duties the caller of this one has.
        Ok(bytes) => unsafe { libc::syscall(libc::SYS_pwrite64, file, data, bytes, at) as isize },
        Err(returned) => returned,
    }
}

/// In place of the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn pread64(file: i32, data: *mut c_void, bytes: usize, at: i64) -> isize {
    match outcome(&READS, bytes) {
        // SAFETY: the arguments are passed on to the C library's function, whose duties the caller of this one has.
        Ok(bytes) => unsafe { libc::syscall(libc::SYS_pread64, file, data, bytes, at) as isize },
        Err(returned) => returned,
    }
}

/// Sleeps and wakes with a fault planned, each once more if it fails, and looks at all bytes. Returns how many calls
/// there were.
fn scenario(planned: &'static Planned, nth: i64, fault: FileFault) -> Result<i64, String> {
    let words = forked_result(|| {
        let free_at_start = free_bytes();
        let own = pool_stream();
        let private = pool::create().unwrap();
        let sizes = [3 * MIB, 700, MIB, 512 * 1024, 5 * MIB];
        let blocks: Vec<(usize, usize, u8)> = inside(private, || {
            sizes
                .iter()
                .zip(1..)
                .map(|(bytes, value)| (alloc(*bytes, own), *bytes, value))
                .collect()
        });
        blocks.iter().for_each(|(at, bytes, value)| fill(*at, *value, *bytes, own));
        planned.plan(nth, fault);
        let place = SleepPlace::File(folder());
        let fell = sleep::sleep(Some(private), 0, &place);
        if fell.is_err() {
            assert_eq!(state(Some(private)), None, "the pool is awake after the failure");
            structure::assert_sound();
            sleep::sleep(Some(private), 0, &place).map_err(|it| it.to_string())?;
        }
        let woke = sleep::wake(Some(private), 0, WakeMode::Restore);
        if woke.is_err() {
            assert!(state(Some(private)).is_some(), "the pool sleeps after the failure");
            structure::assert_sound();
            sleep::wake(Some(private), 0, WakeMode::Restore).map_err(|it| it.to_string())?;
        }
        let count = planned.count.load(Ordering::SeqCst);
        let struck = nth > 0 && planned.left.load(Ordering::SeqCst) <= 0;
        let is_passing = matches!(fault, FileFault::Half | FileFault::Interrupted);
        let failed: Vec<_> = [fell, woke].into_iter().filter_map(Result::err).collect();
        assert_eq!(failed.len(), usize::from(struck && !is_passing), "{failed:?}");
        for error in failed {
            assert_eq!(error.status(), Status::Io, "{error}");
            assert!(error.message().contains("path: "), "{error}");
        }
        for (address, bytes, value) in blocks {
            assert!(holds(&read(address, bytes, own), value), "{bytes} bytes are lost");
            memory::free(address).unwrap();
        }
        pool::destroy(private).unwrap();
        structure::assert_all_given_back(&[free_at_start]);
        if nth > 0 && !struck {
            return Err("not struck".to_owned());
        }
        Err(format!("calls: {count}"))
    });
    let words = words.unwrap_err();
    words.strip_prefix("calls: ").map(|count| count.parse().unwrap()).ok_or(words)
}

/// Fails each call with each fault.
fn all_faults(test: &str, planned: &'static Planned) {
    with_pages(test, "64M", || {
        let count = scenario(planned, 0, FileFault::None).unwrap();
        println!("{count} calls");
        assert!(count >= 4, "only {count} calls");
        for fault in FAULTS {
            for nth in 1..=count {
                scenario(planned, nth, fault)
                    .unwrap_or_else(|text| panic!("call {nth}, {fault:?}: {text}"));
            }
        }
    });
}

#[test]
fn writes_that_fail_lose_no_byte() {
    all_faults("writes_that_fail_lose_no_byte", &WRITES);
}

#[test]
fn reads_that_fail_lose_no_byte() {
    all_faults("reads_that_fail_lose_no_byte", &READS);
}

/// The system has no room for so large a file: nothing has been unmapped when that is known.
#[test]
fn a_file_without_room_is_refused_before_anything_is_done() {
    with_pages("a_file_without_room_is_refused_before_anything_is_done", "64M", || {
        let own = pool_stream();
        let block = alloc(6 * MIB, own);
        fill(block, 7, 6 * MIB, own);
        let limit = libc::rlimit { rlim_cur: 4 << 20, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: the signal is an error code from now on.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
        // SAFETY: a limit of this process, which ends with the test.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) }, 0);
        sconce::sim_controls::reset_call_counts().unwrap();
        let error = sleep::sleep(None, 0, &SleepPlace::File(folder())).unwrap_err();
        assert_eq!(error.status(), Status::Io, "{error}");
        assert!(error.message().contains("has room"), "{error}");
        assert_eq!(
            (state(None), sconce::sim_controls::call_count("virtual_unmap").unwrap()),
            (None, 0)
        );
        assert!(holds(&read(block, 6 * MIB, own), 7));
        memory::free(block).unwrap();
    });
}
