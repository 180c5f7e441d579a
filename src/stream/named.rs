//! Functions that do what another function does, on a stream that the call names: those that end in `_on`.

use sconce_runtime::context::runtime;
use sconce_runtime::stream;

use super::current::sconce_stream;
use crate::{guard, sconce_status};

/// Calls a function of the C API while a stream is current on its device and that device is current, and returns the
/// function's status. Work of another device is refused. It is not generic because it has some seventy callers.
pub(crate) fn on(stream: sconce_stream, call: &mut dyn FnMut() -> sconce_status) -> sconce_status {
    let mut status = sconce_status::SCONCE_OK;
    let named = guard(|| {
        stream.run(|| {
            status = call();
            Ok(())
        })
    });
    if named == sconce_status::SCONCE_OK { status } else { named }
}

/// As [`on`], for functions that call functions of the program, which may use other devices, too: the stream is made
/// current as by `sconce_stream_run`.
pub(crate) fn on_current(
    stream: sconce_stream,
    call: &mut dyn FnMut() -> sconce_status,
) -> sconce_status {
    let mut status = sconce_status::SCONCE_OK;
    let named = guard(|| {
        let runtime = runtime()?;
        stream::run(runtime, stream.resolve(runtime)?, || status = call())
    });
    if named == sconce_status::SCONCE_OK { status } else { named }
}
