//! The capture mode of a thread.

use std::ptr::from_mut;

use super::CudaDriver;
use crate::driver::{CaptureMode, Captures};
use crate::error::{Error, Result, Status};

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
