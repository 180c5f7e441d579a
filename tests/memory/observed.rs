//! The allocator reports its blocks to a driver that observes them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use sconce::driver::StreamRef;
use sconce::driver::sim::BlockReport::{HandedOut, TakenBack, Used};
use sconce::memory;
use sconce::stream;
use sconce::types::{DeviceIndex, DevicePtr};
use testkit::simulated::runtime;

const ZERO: DeviceIndex = DeviceIndex::ZERO;

#[test]
fn a_block_is_handed_out_then_used_then_taken_back() {
    let simulator = runtime().simulator().unwrap();
    simulator.observe_blocks(true);
    let own = StreamRef::default_of(ZERO);
    let other = stream::from_pool(0, 0).unwrap();
    // The stream's first memory starts the reports; the second block comes from the cache.
    for round in 0..3 {
        let address = memory::alloc(1000).unwrap();
        let block = DevicePtr(address as u64);
        memory::record_stream(address, stream::default(0).unwrap()).unwrap();
        memory::record_stream(address, other).unwrap();
        memory::free(address).unwrap();
        let expected =
            [HandedOut(own, block, 1000), Used(other.driver_ref(), block), TakenBack(own, block)];
        assert_eq!(simulator.take_block_reports(), expected, "round {round}");
        runtime().driver().device_synchronize(ZERO).unwrap();
    }
    // The history may be turned on and off meanwhile.
    memory::record_history(true, 10).unwrap();
    memory::record_history(false, 0).unwrap();
    let address = memory::alloc(1000).unwrap();
    memory::free(address).unwrap();
    let block = DevicePtr(address as u64);
    assert_eq!(
        simulator.take_block_reports(),
        [HandedOut(own, block, 1000), TakenBack(own, block)]
    );
    simulator.observe_blocks(false);
    memory::free(memory::alloc(1000).unwrap()).unwrap();
    assert_eq!(simulator.take_block_reports(), []);
}
