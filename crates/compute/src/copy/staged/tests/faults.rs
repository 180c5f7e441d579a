//! Copies that fail: the error is returned, and the next copy works.

use sconce_base::error::{Error, Result};
use sconce_base::types::DeviceIndex;
use sconce_driver::{RawAddress, StreamRef};
use sconce_runtime::context::Runtime;
use sconce_runtime::operand::address_range::MemoryKind;
use sconce_runtime::stream::Stream;
use sconce_runtime::{host_memory, stream};
use sconce_sim::Simulator;

use super::support::*;
use crate::copy::host_copy;
use crate::copy::transfer::{self, Transfer};
use crate::sleep_kernel;

const BYTES: usize = (6 << 20) + 11;

/// Copies there and back, as far as it goes; what has arrived must be right.
fn attempt(memory: &Memory, source: &[u8]) -> [bool; 2] {
    let stream = default_stream();
    let there = to_device(&stream, memory, 0, source).is_ok();
    let mut back = vec![0; source.len()];
    let here = to_host(&stream, &mut back, memory, 0).is_ok();
    if there && here {
        assert!(back == source, "a copy that failed said that it had not");
    }
    [there, here]
}

#[test]
fn a_call_that_fails_is_told_once() {
    let _turn = turn();
    let (memory, source) = (Memory::new(BYTES), pattern(9, BYTES));
    assert_eq!(attempt(&memory, &source), [true, true]);
    for call in [Call::CopyAsync, Call::EventRecord, Call::EventQuery] {
        for nth in [1, 2, 3, 5] {
            simulator().fail_call(call, nth, Simulator::LAUNCH_FAILED);
            let [there, here] = attempt(&memory, &source);
            simulator().clear_faults();
            // As many pieces as are ready go at once: one transfer each way is certain. Other
            // records and queries may be those of pinned blocks, which are made again.
            let certain = match call {
                Call::CopyAsync => nth <= 2,
                Call::EventRecord => nth == 1,
                _ => false,
            };
            assert!(!(certain && there && here), "{} {nth} was swallowed", call.name());
            assert_eq!(attempt(&memory, &source), [true, true], "after {} {nth}", call.name());
        }
    }
}

#[test]
fn whatever_call_fails_the_next_copy_works() {
    let _turn = turn();
    let (memory, source) = (Memory::new(BYTES), pattern(10, BYTES));
    let mut failed = 0;
    for call in Call::ALL {
        for nth in 1..4 {
            let made = simulator().call_count(*call);
            simulator().fail_call(*call, nth, Simulator::LAUNCH_FAILED);
            attempt(&memory, &source);
            simulator().clear_faults();
            if simulator().call_count(*call) < made + nth {
                break;
            }
            failed += 1;
            assert_eq!(attempt(&memory, &source), [true, true], "after {} {nth}", call.name());
        }
    }
    assert!(failed >= 10, "{failed} calls were failed");
}

#[test]
fn a_transfer_that_fails_on_the_device_is_told() {
    let _turn = turn();
    let (memory, source) = (Memory::new(BYTES), pattern(11, BYTES));
    for nth in [1, 4, 9] {
        simulator().fail_operation(Call::CopyAsync, nth, Simulator::ILLEGAL_ADDRESS);
        assert!(!attempt(&memory, &source)[1]);
        simulator().clear_faults();
        simulator().clear_device_error(DeviceIndex::ZERO).unwrap();
        assert_eq!(attempt(&memory, &source), [true, true]);
    }
}

#[test]
fn without_pinned_memory_the_driver_copies() {
    let _turn = turn();
    let (memory, source) = (Memory::new(BYTES), pattern(12, BYTES));
    sconce_runtime::host_memory::empty_cache().unwrap();
    for nth in 1..400 {
        simulator().fail_call(Call::HostAlloc, nth, Simulator::OUT_OF_MEMORY);
    }
    assert_eq!(attempt(&memory, &source), [true, true]);
    simulator().clear_faults();
    assert_eq!(attempt(&memory, &source), [true, true]);
}

/// Two rows, of which only the first can be queued.
struct HalfQueued {
    dst: RawAddress,
    src: RawAddress,
}

impl Transfer for HalfQueued {
    fn dst(&self) -> RawAddress {
        self.dst
    }

    fn src(&self) -> RawAddress {
        self.src
    }

    fn carry_out(&self) -> Result<()> {
        Ok(())
    }

    fn queue(&self, runtime: &Runtime, stream: StreamRef) -> Result<()> {
        runtime.driver().copy_direct_async(self.dst, self.src, 64, stream)?;
        Err(Error::invalid_argument("the second row"))
    }

    fn queue_from_ordinary(&self, _: &Runtime, _: Stream) -> Result<()> {
        Ok(())
    }

    fn copy_to_ordinary(&self, _: &Runtime, _: Stream) -> Result<()> {
        Ok(())
    }

    fn queue_between(
        &self,
        _: &Runtime,
        _: DeviceIndex,
        _: DeviceIndex,
        _: StreamRef,
    ) -> Result<()> {
        Ok(())
    }
}

#[test]
fn pinned_memory_waits_for_what_a_copy_had_queued_before_it_failed() {
    /// No other test's.
    const PINNED: usize = 1000 * 64;
    let _turn = turn();
    let (memory, stream) = (Memory::new(64), pool_stream());
    let before = sconce_base::thread_state::stream_id(DeviceIndex::ZERO);
    stream::set_current(stream);
    sleep_kernel::sleep(runtime(), stream, 100_000_000).unwrap();
    for non_blocking in [false, true] {
        let block = host_memory::alloc(PINNED).unwrap();
        let half =
            HalfQueued { dst: memory.ptr.into(), src: host_copy::of_test(block, PINNED).raw() };
        let (to, from) = (MemoryKind::Device(DeviceIndex::ZERO), MemoryKind::Pinned);
        transfer::run(runtime(), &half, to, from, non_blocking).unwrap_err();
        host_memory::free(block).unwrap();
        let next = host_memory::alloc(PINNED).unwrap();
        assert_ne!(next, block, "non_blocking {non_blocking}");
        host_memory::free(next).unwrap();
    }
    stream::set_current(Stream::from_parts(runtime(), before, 0).unwrap());
    stream::synchronize(runtime(), stream).unwrap();
}
