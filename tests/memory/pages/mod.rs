//! Memory made of pages (`policy:pages`): what programs see of it, and that nothing is lost or mixed up.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(clippy::panic, reason = "a test fails by panicking")]

mod data;
mod fault_cases;
mod faults;
mod figures;
mod rules;
mod shared;
mod sizes;
mod soak;
mod traces;

use sconce_runtime::memory::{self, PageFigures};
use sconce_runtime::stream::Stream;

use testkit::numbers::Random;

use crate::paged::{MIB, alloc, reserved, with_pages};
use crate::queued::pool_stream;

fn figures() -> PageFigures {
    memory::page_figures(0).unwrap()
}

/// Blocks of `bytes` side by side of which every other one is freed again; the ones that are held.
fn comb(count: usize, bytes: usize, on: Stream) -> Vec<usize> {
    let blocks: Vec<usize> = (0..count).map(|_| alloc(bytes, on)).collect();
    let mut held = Vec::new();
    for (place, block) in blocks.into_iter().enumerate() {
        if place % 2 == 0 {
            memory::free(block).unwrap();
        } else {
            held.push(block);
        }
    }
    held
}
