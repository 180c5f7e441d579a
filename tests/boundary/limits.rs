//! Calls in child processes that may take little time and memory.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls functions by address")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use testkit::fork::forked_result;
use testkit::header::Prototype;

use crate::calls::Arguments;
use crate::world::{Place, World};

/// The processor time that no call takes: hundreds of times what it should.
pub(crate) const MOST_CPU: Duration = Duration::from_secs(5);
/// The memory that the calls of a process do not take together, beside that of the simulated device.
const MOST_BYTES: u64 = 64 << 20;

/// The processor time of the calling thread; on the CPU, where others help it, of the process.
pub(crate) fn cpu_time(place: Place) -> Duration {
    let clock = match place {
        Place::Cpu => libc::CLOCK_PROCESS_CPUTIME_ID,
        Place::Device => libc::CLOCK_THREAD_CPUTIME_ID,
    };
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a good place.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Lets the process have so many more bytes of memory of its own than it has.
pub(crate) fn limit_memory() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmData:")).unwrap();
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
    let most = (kib << 10) + MOST_BYTES;
    let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: a good place.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_DATA, &raw const limit) }, 0);
}

/// Calls a function, which returns a status in little time. Returns the status, if it has one.
pub(crate) fn call(world: &World, prototype: &Prototype, arguments: &Arguments) -> Option<i32> {
    let function = prototype.name.as_str();
    world.clear_results(prototype);
    let before = cpu_time(world.place);
    // SAFETY: good pointers, and numbers that no memory of the caller contradicts.
    let result = unsafe { world.call(function, arguments) };
    let took = cpu_time(world.place) - before;
    assert!(took < MOST_CPU, "{function} took {took:?}: {arguments:x?}");
    if !prototype.returns.ends_with("sconce_status") {
        return None;
    }
    let status = result as i32;
    assert!((0..=17).contains(&status), "{function} gave {status}: {arguments:x?}");
    assert_ne!(status, 14, "{function}: {} for {arguments:x?}", world.message());
    if status == 0 {
        world.release_results(prototype);
    }
    Some(status)
}

/// A number that children share with their parent.
fn shared_number() -> &'static AtomicUsize {
    let (kind, access) =
        (libc::MAP_SHARED | libc::MAP_ANONYMOUS, libc::PROT_READ | libc::PROT_WRITE);
    // SAFETY: a new mapping, which is never unmapped.
    let memory = unsafe { libc::mmap(std::ptr::null_mut(), 4096, access, kind, -1, 0) };
    assert_ne!(memory, libc::MAP_FAILED);
    // SAFETY: zeros, which are a number.
    unsafe { &*memory.cast() }
}

/// What `work` returns in a process with an environment of its own. Its calls do not wait.
pub(crate) fn in_process(
    environment: &[(&str, &str)],
    work: impl FnOnce() -> Result<(), String>,
) -> Result<(), String> {
    forked_result(|| {
        let all = [("SCONCE_BACKEND", "sim"), ("SCONCE_LOG", "off"), ("SCONCE_SIM_DEVICES", "1")];
        // To print one takes more memory than there is.
        let all = all.iter().chain(&[("SCONCE_SIM_MEMORY", "64M"), ("RUST_BACKTRACE", "0")]);
        for (name, value) in all.chain(environment) {
            // SAFETY: no other thread runs in the child yet.
            unsafe { std::env::set_var(name, value) };
        }
        // SAFETY: always allowed. The machine may be busy.
        unsafe { libc::alarm(120) };
        work()
    })
}

/// Does `work` with each function, the functions of each list in a process of their own.
pub(crate) fn check(
    policy: &str,
    place: Place,
    processes: &[Vec<Prototype>],
    work: impl Fn(&World, &Prototype) -> Result<(), String>,
) {
    let current = shared_number();
    let mut wrong = Vec::new();
    for prototypes in processes {
        let outcome = in_process(&[("SCONCE_ALLOC_CONF", policy)], || {
            let mut world = World::new(place);
            limit_memory();
            for (at, prototype) in prototypes.iter().enumerate() {
                current.store(at, Ordering::Relaxed);
                world.renew();
                work(&world, prototype)?;
            }
            Ok(())
        });
        if let Err(why) = outcome {
            wrong.push(format!("{}: {why}", prototypes[current.load(Ordering::Relaxed)].name));
        }
    }
    assert!(wrong.is_empty(), "an end below 0 is a signal:\n{}", wrong.join("\n"));
}
