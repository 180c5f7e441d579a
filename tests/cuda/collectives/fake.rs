//! The fake NCCL beside the fake driver.

use std::ffi::CString;
use std::time::{Duration, Instant};

use sconce_base::error::Result;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::prelude::*;
use sconce_driver::{CommEndpoint, CommMember, CommOptions, StreamRef};
use testkit::fake_cuda::library::FakeLibrary;
use testkit::fake_cuda::{FIRST, Fake, open_beside, second, stream};

/// Both fakes, and the backend on top of them.
pub(crate) struct Nccl {
    pub(crate) cuda: Fake,
    pub(crate) library: FakeLibrary,
}

/// Opens both in a variant.
pub(crate) fn open(defines: &[&str]) -> Nccl {
    let library = FakeLibrary::new("fake_nccl.c", "libnccl.so.2", defines);
    let path = library.path();
    let cuda = open_beside(&[], |config| config.libnccl = Some(path)).ok().unwrap();
    library.ask(&cuda);
    Nccl { cuda, library }
}

pub(crate) const SEND: DevicePtr = DevicePtr(0x1000);
pub(crate) const RECV: DevicePtr = DevicePtr(0x9000);

/// The stream of the calls, on the second device.
pub(crate) fn on_second() -> StreamRef {
    StreamRef { device: second(), handle: stream(0x77) }
}

/// Asks an end until what it has begun is over.
pub(crate) fn settle(end: &mut dyn CommEndpoint) -> Result<()> {
    let start = Instant::now();
    while !end.poll()? {
        assert!(start.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

impl Nccl {
    /// The ends of both ranks of a communicator, which are on the two devices.
    pub(crate) fn begin(&self, options: &CommOptions) -> Result<Vec<Box<dyn CommEndpoint>>> {
        let id = self.cuda.driver.comm_unique_id()?;
        let member = |rank, device: DeviceIndex| CommMember { rank, device };
        let members = [member(0, FIRST), member(1, second())];
        self.cuda.driver.comm_create(&id, 2, &members, options)
    }

    /// The end of rank 1, which is on the second device; the calls that made it are forgotten.
    pub(crate) fn rank_one(&self) -> Box<dyn CommEndpoint> {
        let mut ends = self.begin(&CommOptions::default()).unwrap();
        for end in &mut ends {
            settle(&mut **end).unwrap();
            end.place().unwrap();
        }
        let end = ends.pop().unwrap();
        drop(ends);
        self.library.calls();
        end
    }

    /// Sets a number that the library exports.
    pub(crate) fn set(&self, name: &str, value: i64) {
        // SAFETY: an exported number of 8 bytes.
        unsafe { self.library.symbol(name).cast::<i64>().write_volatile(value) }
    }

    /// Reads one.
    pub(crate) fn get(&self, name: &str) -> i64 {
        // SAFETY: an exported number of 8 bytes.
        unsafe { self.library.symbol(name).cast::<i64>().read_volatile() }
    }

    /// The words that the library has for the last failure.
    pub(crate) fn say(&self, words: &str) {
        let place = self.library.symbol("last_error").cast::<u8>();
        assert!(words.len() < 200);
        let words = CString::new(words).unwrap();
        let bytes = words.as_bytes_with_nul();
        // SAFETY: room for 200 bytes; nothing reads them now.
        unsafe { place.copy_from(bytes.as_ptr(), bytes.len()) };
    }

    /// No communicator is left, no group is open, nothing was misused, and this thread has no context.
    #[track_caller]
    pub(crate) fn assert_nothing_is_left(&self) {
        // A thread of the backend may still be about to end one.
        let start = Instant::now();
        while self.get("live") != 0 && start.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let left = ["live", "open_groups", "faults"].map(|name| self.get(name));
        assert_eq!(left, [0; 3], "communicators that live, groups that are open, misuse");
        // Device 0's context stays on a thread that had none.
        assert!(matches!(self.cuda.current(), None | Some(0)));
    }
}
