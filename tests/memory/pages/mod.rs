//! Memory made of pages (`policy:pages`): what programs see of it, and that nothing is lost or mixed up.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod data;
mod faults;
mod figures;
mod rules;

use sconce::memory::{self, PageFigures};
use sconce::stream::Stream;

use crate::queued::pool_stream;

const MIB: usize = 1 << 20;

/// A test in a process of its own, with pages.
#[track_caller]
fn with_pages(test: &str, memory: &str, body: impl FnOnce()) {
    let environment = [
        ("SCONCE_BACKEND", "sim"),
        ("SCONCE_LOG", "off"),
        ("SCONCE_SIM_MEMORY", memory),
        ("SCONCE_ALLOC_CONF", "policy:pages"),
        ("RUST_BACKTRACE", "0"),
    ];
    testkit::in_child(test, &environment, body);
}

struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) as usize % most
    }
}

fn alloc(bytes: usize, on: Stream) -> usize {
    memory::alloc_on(bytes, on).unwrap()
}

fn figures() -> PageFigures {
    memory::page_figures(0).unwrap()
}

fn reserved() -> i64 {
    memory::stats(0).unwrap().reserved_bytes.all.current
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
