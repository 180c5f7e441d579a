//! Calls that name their stream: functions that end in `_on`.

use sconce_base::error::Result;
use sconce_base::thread_state::{self, Replaced};
use sconce_base::types::DeviceIndex;

use super::value::Stream;

/// Runs the body of a call that names its stream. In the body the stream is current on its device and the
/// device is current, for this library and this thread alone: no driver call is made. Work that belongs to
/// another device is refused (`current_on`).
#[inline]
pub fn on<T>(stream: Stream, body: impl FnOnce() -> Result<T>) -> Result<T> {
    let _scope = NamedStream(thread_state::enter_stream(stream.device(), stream.id()));
    body()
}

/// Runs a part of a call that concerns another device than the stream that the call may name. The thread's current
/// stream is used there.
pub fn beside<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    let _scope = Beside(thread_state::exchange_named(None));
    body()
}

/// Names the stream again also when the body panics.
struct Beside(Option<DeviceIndex>);

impl Drop for Beside {
    fn drop(&mut self) {
        thread_state::exchange_named(self.0);
    }
}

/// Restores the thread's state also when the body panics.
struct NamedStream(Replaced);

impl Drop for NamedStream {
    fn drop(&mut self) {
        thread_state::leave_stream(self.0);
    }
}
