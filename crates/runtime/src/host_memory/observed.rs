//! Reports of pinned blocks to a driver that observes blocks.

use std::sync::atomic::{AtomicBool, Ordering};

use sconce_driver::StreamRef;

use crate::context::{Runtime, opened};

static ON: AtomicBool = AtomicBool::new(false);

/// Reports blocks from now on, if the driver observes them. Called before there is a block.
pub(super) fn begin(runtime: &Runtime) {
    ON.store(runtime.driver().observes_blocks(), Ordering::Relaxed);
}

/// Whether blocks are reported. One relaxed load.
#[inline]
pub(super) fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

#[cold]
pub(super) fn handed_out(runtime: &Runtime, address: usize, bytes: usize) {
    runtime.driver().host_block_handed_out(address, bytes);
}

#[cold]
pub(super) fn used(runtime: &Runtime, stream: StreamRef, address: usize) {
    runtime.driver().host_block_used(stream, address);
}

#[cold]
pub(super) fn taken_back(address: usize) {
    if let Some(runtime) = opened() {
        runtime.driver().host_block_taken_back(address);
    }
}
