//! Sequences of C calls on device memory, hostile ones among them, on the simulator.

#![no_main]
#![allow(clippy::unwrap_used, reason = "a finding is a panic")]

// Opens the backends.
use sconce as _;
use sconce_base::config::{BackendChoice, SimConfig};
use sconce_runtime::context::{Options, initialize_with};

libfuzzer_sys::fuzz_target!(init: {
    let sim = SimConfig { memory_bytes: 512 << 20, ..SimConfig::default() };
    initialize_with(Options { backend: BackendChoice::Sim, sim, visible: None }).unwrap();
}, |bytes: &[u8]| {
    testkit::memory::calls::play(bytes);
});
