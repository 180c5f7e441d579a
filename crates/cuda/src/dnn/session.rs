//! cuDNN on one device: its functions, the device's context and a handle. All that was made with
//! the handle shares it.

use std::ffi::CStr;
use std::sync::Arc;

use cudarc::cudnn::sys::cudnnHandle_t;
use sconce_base::error::{Error, Result};
use sconce_driver::nvidia::dnn_failure;

use super::functions::DnnFunctions;
use crate::primary::HeldContext;
use crate::result::SUCCESS;

/// How much is taken of what cuDNN says about a failure.
const WORDS: usize = 512;

/// See the module.
pub(super) struct Session {
    pub(super) functions: Arc<DnnFunctions>,
    pub(super) context: HeldContext,
    /// As a number: a handle may be used on any thread, by one at a time. Never 0, never destroyed.
    pub(super) handle: usize,
}

impl Session {
    pub(super) fn raw(&self) -> cudnnHandle_t {
        self.handle as cudnnHandle_t
    }
}

impl DnnFunctions {
    /// Turns the code of `call` into a result.
    #[inline]
    pub(super) fn check(&self, call: &str, code: i32) -> Result<()> {
        if code == SUCCESS { Ok(()) } else { Err(self.failure(call, code)) }
    }

    /// The error of a call that has just answered `code` on this thread.
    #[cold]
    #[inline(never)]
    pub(super) fn failure(&self, call: &str, code: i32) -> Error {
        let error = dnn_failure(call, code);
        match self.last_words() {
            Some(words) => error.context(format_args!("cuDNN says \"{words}\"")),
            None => error,
        }
    }

    /// What cuDNN says about this thread's last failure: mostly the condition that did not hold.
    fn last_words(&self) -> Option<String> {
        let get = self.cudnnGetLastErrorString().ok()?;
        let mut text = [0_u8; WORDS];
        // SAFETY: the buffer has at least the number of bytes that is passed.
        unsafe { get(text.as_mut_ptr().cast(), WORDS - 1) };
        let text = CStr::from_bytes_until_nul(&text).ok()?.to_string_lossy();
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        (!words.is_empty()).then_some(words)
    }
}
