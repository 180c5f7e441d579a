//! Waits for devices that callers ask for, and the beginning of captures.
//!
//! A driver refuses to wait for a device while one of its streams is captured, and the attempt makes the capture
//! invalid. So a thread that is to wait looks whether there is a capture, and no capture may begin between the look and
//! the driver's. Waits of callers may last for any time, and what they wait for may depend on the thread that is to
//! capture: its part of a collective call, say. A capture therefore waits for them for a moment only. A thread that has
//! been in the driver for so long has passed the driver's check.

use std::time::{Duration, Instant};

use sconce_base::announcements::await_others;
use sconce_base::collections::per_device::PerDevice;
use sconce_base::lock::{Mutex, rank};
use sconce_base::sync::shared_static;
use sconce_base::thread_state;
use sconce_base::types::DeviceIndex;
use sconce_driver::CaptureMode;

use super::captures::is_under_known_capture;
use super::known_captures::{count_capture, uncount_capture};
use crate::context::Runtime;

/// How long the beginning of a capture waits for a wait.
const PATIENCE: Duration = Duration::from_millis(200);
/// The pause before it looks again.
const PAUSE: Duration = Duration::from_micros(50);

/// The waits for one device.
struct DeviceWaits {
    under_way: Mutex<rank::DeviceWaits, Vec<WaitUnderWay>>,
}

struct WaitUnderWay {
    /// The number of the waiting thread.
    thread: u64,
    since: Instant,
}

shared_static! {
    static WAITS: PerDevice<DeviceWaits> = sconce_base::collections::per_device::per_device!(DeviceWaits {
        under_way: Mutex::new(Vec::new())
    });
}

/// A wait that is under way until this is dropped.
pub(super) struct DeviceWait {
    device: DeviceIndex,
    thread: u64,
}

impl DeviceWait {
    /// Begins a wait for a device; `None` if a stream of it is in a known capture.
    pub(super) fn begin(runtime: &Runtime, device: DeviceIndex) -> Option<DeviceWait> {
        let thread = thread_state::number();
        let wait = DeviceWait { device, thread };
        WAITS[device].under_way.lock().push(WaitUnderWay { thread, since: Instant::now() });
        // Behind the lock: a capture that has not seen this wait there is known.
        (!is_under_known_capture(runtime, device)).then_some(wait)
    }
}

impl Drop for DeviceWait {
    fn drop(&mut self) {
        WAITS[self.device].under_way.lock().retain(|wait| wait.thread != self.thread);
    }
}

/// Waits until the waits for a device that have not seen a capture of it have been refused, are over, or are in the
/// driver. The capture is known already.
pub(super) fn let_through(device: DeviceIndex) {
    while WAITS[device].under_way.lock().iter().any(|wait| wait.since.elapsed() < PATIENCE) {
        std::thread::sleep(PAUSE);
    }
}

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
        let_through(device);
        NotedCapture { device, holds_back }
    }
}

impl Drop for NotedCapture {
    fn drop(&mut self) {
        uncount_capture(self.device, self.holds_back);
    }
}
