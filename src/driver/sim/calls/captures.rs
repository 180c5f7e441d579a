//! The capture mode of a thread.
#![forbid(unsafe_code)]

use crate::driver::sim::call::Call;
use crate::driver::sim::machine::captures::exchange_thread_mode;
use crate::driver::sim::state::Simulator;
use crate::driver::{CaptureMode, Captures};
use crate::error::Result;

impl Captures for Simulator {
    fn exchange_capture_mode(&self, mode: CaptureMode) -> Result<CaptureMode> {
        self.inner.enter(Call::ExchangeCaptureMode)?;
        Ok(exchange_thread_mode(mode))
    }
}
