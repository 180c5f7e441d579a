//! The capture mode of a thread.
#![forbid(unsafe_code)]

use crate::driver::sim::Simulator;
use crate::driver::sim::call::Call;
use crate::driver::sim::machine::capture;
use crate::driver::{CaptureMode, Captures};
use crate::error::Result;

impl Captures for Simulator {
    fn exchange_capture_mode(&self, mode: CaptureMode) -> Result<CaptureMode> {
        self.inner.enter(Call::ExchangeCaptureMode)?;
        Ok(capture::exchange_thread_mode(mode))
    }
}
