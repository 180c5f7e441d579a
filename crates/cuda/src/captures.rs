//! The capture mode of a thread, and the stream that is known to be captured.

use std::ptr::from_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

use sconce_base::error::{Error, Result, Status};
use sconce_driver::{CaptureMode, Captures, StreamRef};

use super::CudaDriver;
use super::primary::LAST_DEFAULT_STREAM;

/// The stream on which this library began the newest capture, until that ends; 0 without one. Launches on it need not
/// ask the driver whether they are captured. If other code ends the capture, they are taken for captured until this
/// library ends it, too: they are launched plainly then, and their module stays loaded.
#[derive(Default)]
pub(super) struct KnownCapture(AtomicUsize);

impl KnownCapture {
    /// Notes that a capture of a stream has begun. The handles of default streams name other streams on other threads
    /// and devices, so they are not known.
    pub(super) fn begin(&self, stream: StreamRef) {
        let handle = stream.handle.native();
        if handle > LAST_DEFAULT_STREAM {
            self.0.store(handle, Ordering::Relaxed);
        }
    }

    /// Notes that a capture of a stream ends.
    pub(super) fn end(&self, stream: StreamRef) {
        let handle = stream.handle.native();
        // Of another capture, which began later, nothing changes.
        let _ = self.0.compare_exchange(handle, 0, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Whether a stream is the one that is known to be captured. The handle is not that of the legacy default stream.
    #[inline(always)]
    pub(super) fn is(&self, stream: StreamRef) -> bool {
        let handle = stream.handle.native();
        handle != 0 && self.0.load(Ordering::Relaxed) == handle
    }
}

impl Captures for CudaDriver {
    /// The mode is the thread's, whatever context is current; the driver wants none.
    fn exchange_capture_mode(&self, mode: CaptureMode) -> Result<CaptureMode> {
        let mut number = mode.number();
        let exchange = self.api.cuThreadExchangeStreamCaptureMode()?;
        let place = from_mut(&mut number);
        // SAFETY: `place` outlives the call; the number in it is a mode.
        let code = self.without_context(None, || unsafe { exchange(place) });
        self.api.check("cuThreadExchangeStreamCaptureMode", code)?;
        CaptureMode::from_number(number).ok_or_else(|| {
            Error::new(
                Status::Driver,
                format!("the driver says that this thread's capture mode was {number}"),
            )
        })
    }
}
