//! What tests share: handles that no driver has made.

use sconce_driver::HandleMaker;

/// What makes handles that no driver has made.
#[allow(unsafe_code, reason = "no driver follows the handles")]
// SAFETY: tests pass the handles to the checker only, which compares their numbers and calls no driver.
pub(crate) const FORGED: HandleMaker = unsafe { HandleMaker::new() };
