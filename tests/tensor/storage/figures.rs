//! The figures of a test's start, which must be those of its end.

use sconce::*;
use testkit::places::allocated;

/// Tensors alive, bytes of devices and pinned bytes given out.
#[derive(Debug, PartialEq)]
pub(crate) struct Figures {
    tensors: usize,
    devices: [i64; 2],
    pinned: i64,
}

impl Figures {
    /// After all work: staging memory of copies is then given back.
    pub(crate) fn now() -> Figures {
        for device in [0, 1] {
            sconce_runtime::device::synchronize(device).unwrap();
        }
        sconce_runtime::host_memory::empty_cache().unwrap();
        let pinned = sconce_runtime::host_memory::stats().unwrap().active_bytes.current;
        Figures { tensors: sconce_tensor_live_count(), devices: [0, 1].map(allocated), pinned }
    }

    /// Everything that was made since is gone.
    #[track_caller]
    pub(crate) fn assert_unchanged(&self) {
        assert_eq!(Figures::now(), *self);
    }
}
