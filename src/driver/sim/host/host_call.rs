//! Calling the functions that users queue on streams.

use crate::driver::HostFunction;

/// Runs the function with its pointer. The promise of [`HostFunction::new`] is that it may be
/// called once, from any thread; the engine takes each out of its queue once.
pub(crate) fn call(function: HostFunction) {
    let (function, user) = function.into_parts();
    // SAFETY: whoever made the `HostFunction` promised this call.
    unsafe { function(user) }
}
