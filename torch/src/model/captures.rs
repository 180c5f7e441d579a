//! One capture at a time, on a stream of its own.
//!
//! The streams of the pool are shared: a thread whose current stream is the one that is captured would take part in the
//! capture. And no capture of a device survives that another thread waits for the device, as replacing constants does.

#![allow(unsafe_code, reason = "calls libsconce.so")]

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::Result;
use crate::runtime::new_stream;
use crate::sconce::{api, check};

/// The stream of each device on which models are captured. Held while one is captured or a device is waited for, and
/// taken before the lock of a model.
static STREAMS: Mutex<BTreeMap<i32, api::sconce_stream>> = Mutex::new(BTreeMap::new());

/// No model is captured while this lives, unless its owner does.
pub(super) struct Captures(MutexGuard<'static, BTreeMap<i32, api::sconce_stream>>);

impl Captures {
    /// Waits until no model is captured.
    pub(super) fn stop() -> Captures {
        Captures(STREAMS.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The stream for captures on a device. It lives as long as the process.
    pub(super) fn stream(&mut self, device: i32) -> Result<api::sconce_stream> {
        if let Some(stream) = self.0.get(&device) {
            return Ok(*stream);
        }
        let native = new_stream(device)?;
        let mut stream = api::sconce_stream { id: 0, device, reserved: 0 };
        // SAFETY: the stream is one of the device's that is never destroyed; the place is valid for a write.
        check(unsafe { api::sconce_stream_get_from_external(native, device, &mut stream) })?;
        self.0.insert(device, stream);
        Ok(stream)
    }
}
