//! What a capture of this library tells other threads from before it begins until it has ended.

use sconce_base::announcements::await_others;
use sconce_base::types::DeviceIndex;
use sconce_driver::CaptureMode;

use super::captures::{count_capture, uncount_capture};
use super::device_waits;

/// A capture of this library, known until this is dropped.
pub struct NotedCapture {
    device: DeviceIndex,
    /// It forbids calls to other threads.
    holds_back: bool,
}

impl NotedCapture {
    /// Notes a capture that is about to begin on a stream of a device. Waits for what other threads are about to ask of
    /// the driver and that would not survive the capture, or that the capture would not survive.
    pub fn new(device: DeviceIndex, mode: CaptureMode) -> NotedCapture {
        let holds_back = mode == CaptureMode::Global;
        count_capture(device, holds_back);
        if holds_back {
            // Queries of threads that have not seen it coming.
            await_others();
        }
        device_waits::let_through(device);
        NotedCapture { device, holds_back }
    }
}

impl Drop for NotedCapture {
    fn drop(&mut self) {
        uncount_capture(self.device, self.holds_back);
    }
}
