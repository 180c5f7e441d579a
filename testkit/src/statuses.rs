//! What a call of the C API must return.

use sconce::sconce_status;
use sconce::sconce_status::SCONCE_OK;

use crate::last_message;

/// Fails unless the call has succeeded.
#[track_caller]
pub fn ok(status: sconce_status) {
    assert_eq!(status, SCONCE_OK, "{}", last_message());
}

/// Fails unless the call has returned `expected`, with a message that contains `words`.
#[track_caller]
pub fn refused(status: sconce_status, expected: sconce_status, words: &str) {
    let message = last_message();
    assert_eq!(status, expected, "{message}");
    assert!(message.contains(words), "{message}\nlacks: {words}");
}
