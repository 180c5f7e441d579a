//! How strictly a thread's calls are checked against captures: the mode, and a scope in the relaxed
//! mode.
//!
//! | method | precondition | postcondition | blocks? | thread |
//! |---|---|---|---|---|
//! | `exchange_capture_mode` | – | the mode holds for the calling thread; returns the one before | no | calling thread only |
//!
//! The default of `exchange_capture_mode` is for a driver without captures: it keeps each thread's mode, which holds
//! nothing back.

use std::cell::Cell;
use std::marker::PhantomData;

use sconce_base::error::{Result, Status};
use sconce_base::log;

/// Whether a stream is captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureStatus {
    /// It is not.
    None,
    /// It is, and its capture is valid.
    Active,
    /// It is, but a call has made its capture invalid: it takes no more work, and has to be ended.
    Invalidated,
}

/// How strictly this thread's calls are checked against captures that are under way.
///
/// Some calls are not queued on a stream and so escape a capture: allocations, frees, queries of
/// events and streams. The driver refuses them to a thread that a capture holds back, and the attempt
/// spoils the capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CaptureMode {
    /// Held back by captures of its own that are not relaxed, and by every global one of another
    /// thread. Threads begin with it.
    #[default]
    Global,
    /// Held back by captures of its own that are not relaxed.
    ThreadLocal,
    /// Never held back, except from what no capture can bear: queries of and waits for captured streams
    /// and events, and their devices.
    Relaxed,
}

impl CaptureMode {
    /// The driver's number.
    pub const fn number(self) -> i32 {
        self as i32
    }

    /// The mode with this number.
    pub const fn from_number(number: i32) -> Option<CaptureMode> {
        match number {
            0 => Some(CaptureMode::Global),
            1 => Some(CaptureMode::ThreadLocal),
            2 => Some(CaptureMode::Relaxed),
            _ => None,
        }
    }
}

thread_local! {
    /// The mode of a thread, for a driver without captures.
    static MODE: Cell<CaptureMode> = const { Cell::new(CaptureMode::Global) };
}

/// The capture modes of a driver's threads. A driver method changes no mode by itself.
pub trait Captures: Send + Sync {
    /// Sets how strictly this thread's calls are checked against captures that are under way, and
    /// returns the mode before. Mostly called through [`RelaxedCapture`].
    fn exchange_capture_mode(&self, mode: CaptureMode) -> Result<CaptureMode> {
        Ok(MODE.replace(mode))
    }
}

/// This thread's mode is [`CaptureMode::Relaxed`] until this is dropped.
pub struct RelaxedCapture<'a> {
    driver: &'a dyn Captures,
    /// What to put back; `None` on a driver from before there were modes.
    previous: Option<CaptureMode>,
    /// The mode is the thread's, so the scope must end on it.
    on_this_thread: PhantomData<*const ()>,
}

impl<'a> RelaxedCapture<'a> {
    /// Enters the scope.
    pub fn enter(driver: &'a dyn Captures) -> Result<RelaxedCapture<'a>> {
        let previous = match driver.exchange_capture_mode(CaptureMode::Relaxed) {
            Ok(previous) => Some(previous),
            Err(error) if error.status() == Status::NotSupported => None,
            Err(error) => return Err(error),
        };
        Ok(RelaxedCapture { driver, previous, on_this_thread: PhantomData })
    }
}

impl Drop for RelaxedCapture<'_> {
    fn drop(&mut self) {
        if let Some(previous) = self.previous
            && let Err(error) = self.driver.exchange_capture_mode(previous)
        {
            log::warn(format_args!(
                "this thread stays in the relaxed capture mode: {}",
                error.message()
            ));
        }
    }
}
