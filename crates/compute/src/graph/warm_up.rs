//! Calls of a function before its capture, on the stream that the capture will have.

use sconce_base::error::{Error, Result};
use sconce_base::types::DeviceIndex;
use sconce_runtime::context::Runtime;
use sconce_runtime::event::wait_stream;
use sconce_runtime::stream;

/// Calls a function while a stream that the library lends is current on a device, and that device is. Its work comes
/// after that of the current stream, which waits for it.
pub fn warm_up(runtime: &Runtime, device: DeviceIndex, function: impl FnOnce()) -> Result<()> {
    let main = stream::current_on(runtime, device)?;
    if stream::is_capturing(runtime, main)? {
        return Err(Error::invalid_state(
            "the current stream is being captured; warm up before the capture begins",
        ));
    }
    let (stream, _lent) = stream::lend(runtime, device)?;
    wait_stream(runtime, stream, main)?;
    let called = stream::run(runtime, stream, function);
    called.and(wait_stream(runtime, main, stream))
}
