//! Work and memory that sleeps: what is refused with words, what is waited for, graphs, captures and peers.

#![allow(unsafe_code, reason = "gives addresses of buffers to copies")]

use sconce_base::element::Dtype;
use sconce_base::error::Status;
use sconce_base::types::DevicePtr;
use sconce_compute::copy;
use sconce_compute::graph;
use sconce_compute::pointwise::{
    self, ElementOperation, PointwiseCall, PointwiseInput, PointwiseOperand, Scalar,
};
use sconce_driver::{CaptureMode, RawAddress};
use sconce_runtime::context::runtime;
use sconce_runtime::memory::{self, pool};
use sconce_runtime::sleep::{self, SleepPlace, WakeMode};
use sconce_runtime::stream;
use testkit::memory::structure;

use super::{MIB, alloc, holds, inside, pool_stream, refused, reserved, state, with_pages};
use crate::queued::{fill, read};

fn raw(address: usize) -> RawAddress {
    DevicePtr(address as u64).into()
}

#[test]
fn calls_with_addresses_that_are_asleep_are_refused_with_words() {
    with_pages("calls_with_addresses_that_are_asleep_are_refused_with_words", "1G", || {
        let own = pool_stream();
        let private = pool::create().unwrap();
        let number = pool::number(private).unwrap();
        let far = 128 * MIB;
        let [free, block, large] = inside(private, || {
            [alloc(3 * MIB / 2, own), alloc(3 * MIB / 2, own), alloc(far + MIB, own)]
        });
        memory::free(free).unwrap();
        let awake = alloc(MIB, own);
        sleep::sleep(Some(private), 0, &SleepPlace::HostPinned).unwrap();
        let mut bytes = [0_u8; 512];
        // SAFETY: the array outlives the copies.
        let host = unsafe { RawAddress::from_caller(bytes.as_mut_ptr() as usize) };
        let words = format!("is memory of pool {number} on device 0, which is asleep");
        // At the start of a block, inside one, far inside one, and in a free part of a page with a live block.
        for address in [block, block + 512, large, large + 4096, large + far, block - 512] {
            for (dst, src, what) in [
                (raw(address), host, "dst"),
                (host, raw(address), "src"),
                (raw(address), raw(awake), "dst"),
                (raw(awake), raw(address), "src"),
            ] {
                let error = refused(copy::copy(dst, src, 512, false), &words);
                assert_eq!(error.status(), Status::InvalidState);
                assert!(error.message().starts_with(&format!("{what} {address:#x}")), "{error}");
            }
            refused(copy::set(raw(address), 1, 512), &words);
        }
        copy::copy(raw(awake), host, 512, false).unwrap();
        sleep::wake(Some(private), 0, WakeMode::Restore).unwrap();
        for address in [block, block + 512, large + far] {
            copy::copy(raw(address), host, 512, false).unwrap();
        }
        refused(copy::set(raw(block), 1, 2 * MIB), "points into an allocation that has less");
        structure::assert_sound();
    });
}

#[test]
fn the_simulator_says_that_work_used_sleeping_memory() {
    with_pages("the_simulator_says_that_work_used_sleeping_memory", "1G", || {
        let (runtime, own) = (runtime().unwrap(), pool_stream());
        let private = pool::create().unwrap();
        let number = pool::number(private).unwrap();
        let block = inside(private, || alloc(4 * MIB, own));
        let words =
            format!("its memory is asleep: sconce_memory_pool_sleep put pool {number} to sleep");
        sleep::sleep(Some(private), 0, &SleepPlace::HostPinned).unwrap();
        // Past the library: refused when it is queued.
        let driver = runtime.driver();
        let at = DevicePtr(block as u64 + 512);
        refused(driver.fill_async(at, 1, 512, own.driver_ref()), &words);
        // A kernel finds out when it runs.
        let operand = |address| PointwiseOperand { address, dtype: Dtype::U8, strides: &[1] };
        let call = PointwiseCall {
            op: ElementOperation::Fill,
            compute: Dtype::U8,
            sizes: &[512],
            output: operand(at.into()),
            inputs: &[PointwiseInput::Scalar(Scalar::Int(3))],
            parameters: [Scalar::Int(1); 2],
        };
        pointwise::queue(runtime, own.driver_ref(), &call).unwrap();
        let error = refused(stream::synchronize(runtime, own), &words);
        assert!(error.message().contains("CUDA_ERROR_ILLEGAL_ADDRESS"), "{error}");
        assert!(error.message().contains(&format!("bytes at {at}: its memory")), "{error}");
        sconce::sim_controls::clear_device_error(0).unwrap();
        sleep::wake(Some(private), 0, WakeMode::Restore).unwrap();
        pointwise::queue(runtime, own.driver_ref(), &call).unwrap();
        assert!(holds(&read(block + 512, 512, own), 3));
    });
}

#[test]
fn work_is_waited_for_on_whatever_stream_it_runs() {
    with_pages("work_is_waited_for_on_whatever_stream_it_runs", "1G", || {
        let (own, other) = (pool_stream(), pool_stream());
        let runtime = runtime().unwrap();
        let block = alloc(4 * MIB, own);
        sconce::sim_controls::set_latency_ns(30_000_000).unwrap();
        // Nobody has to note this use of a live block.
        fill(block, 6, 4 * MIB, other);
        sconce::sim_controls::set_latency_ns(0).unwrap();
        sleep::sleep(None, 0, &SleepPlace::HostPinned).unwrap();
        sleep::wake(None, 0, WakeMode::Restore).unwrap();
        stream::synchronize(runtime, other).unwrap();
        assert!(holds(&read(block, 4 * MIB, own), 6));
        // A freed block that waits for another stream comes back first.
        sconce::sim_controls::set_latency_ns(30_000_000).unwrap();
        let used = alloc(6 * MIB, own);
        fill(used, 1, 6 * MIB, other);
        memory::record_stream(used, other).unwrap();
        sconce::sim_controls::set_latency_ns(0).unwrap();
        memory::free(used).unwrap();
        sleep::sleep(None, 0, &SleepPlace::HostPinned).unwrap();
        assert_eq!(state(None).unwrap().sleeping_bytes, 4 * MIB as u64);
        sleep::wake(None, 0, WakeMode::Restore).unwrap();
        memory::free(block).unwrap();
        structure::assert_sound();
    });
}

#[test]
fn graphs_replay_after_their_pool_has_slept_and_are_refused_meanwhile() {
    let test = "graphs_replay_after_their_pool_has_slept_and_are_refused_meanwhile";
    with_pages(test, "1G", || {
        let (runtime, own) = (runtime().unwrap(), pool_stream());
        let private = pool::create().unwrap();
        let key = graph::create(false).unwrap();
        let sink = alloc(4 * MIB, own);
        graph::begin(runtime, key, own, Some(private), CaptureMode::Global).unwrap();
        let input = alloc(4 * MIB, own);
        // Freed in the capture: only the graph uses it.
        let between = alloc(4 * MIB, own);
        crate::queued::copy(between, input, 4 * MIB, own);
        crate::queued::copy(sink, between, 4 * MIB, own);
        memory::free(between).unwrap();
        graph::end(runtime, key).unwrap();
        let error = refused(
            {
                let busy = graph::create(false).unwrap();
                graph::begin(runtime, busy, own, None, CaptureMode::Global).unwrap();
                let asleep = sleep::sleep(Some(private), 0, &SleepPlace::HostPinned);
                graph::abort(busy).unwrap();
                asleep
            },
            "a stream of device 0 is being captured",
        );
        assert_eq!(error.status(), Status::InvalidState);
        for (value, place) in [(1, SleepPlace::HostPinned), (2, SleepPlace::HostPageable)] {
            fill(input, value, 4 * MIB, own);
            graph::replay(runtime, key, own).unwrap();
            let kept = memory::page_figures(0).unwrap().pages;
            sleep::sleep(Some(private), 0, &place).unwrap();
            assert_eq!(state(Some(private)).unwrap().saved_bytes, 4 * MIB as u64);
            // The graph names the free page, too.
            assert_eq!(state(Some(private)).unwrap().sleeping_bytes, 8 * MIB as u64);
            memory::empty_cache().unwrap();
            assert_eq!(pool::trim(private).unwrap(), 0);
            assert_eq!(state(Some(private)).unwrap().sleeping_bytes, 8 * MIB as u64);
            let words = "the memory of the graph is asleep with pool";
            let error = refused(graph::replay(runtime, key, own), words);
            assert_eq!(error.status(), Status::InvalidState);
            sleep::wake(Some(private), 0, WakeMode::Restore).unwrap();
            assert_eq!(memory::page_figures(0).unwrap().pages, kept);
            fill(sink, 0, 4 * MIB, own);
            graph::replay(runtime, key, own).unwrap();
            assert!(holds(&read(sink, 4 * MIB, own), value));
        }
        // The graph goes while its pool sleeps.
        sleep::sleep(Some(private), 0, &SleepPlace::HostPinned).unwrap();
        graph::destroy(key).unwrap();
        memory::free(input).unwrap();
        memory::empty_cache().unwrap();
        assert_eq!(state(Some(private)).unwrap().sleeping_bytes, 0);
        sleep::wake(Some(private), 0, WakeMode::Restore).unwrap();
        memory::free(sink).unwrap();
        pool::destroy(private).unwrap();
        memory::empty_cache().unwrap();
        assert_eq!((reserved(), memory::snapshot().unwrap().segments.len()), (0, 0));
    });
}

#[test]
fn peers_reach_memory_that_has_woken() {
    let environment = [
        ("SCONCE_BACKEND", "sim"),
        ("SCONCE_LOG", "off"),
        ("SCONCE_SIM_DEVICES", "2"),
        ("SCONCE_ALLOC_CONF", "policy:pages"),
    ];
    testkit::in_child("peers_reach_memory_that_has_woken", &environment, || {
        let runtime = runtime().unwrap();
        let own = stream::from_pool(0, 0).unwrap();
        let there = stream::from_pool(1, 0).unwrap();
        let (early, late) = (alloc(2 * MIB, own), alloc(4 * MIB, own));
        fill(early, 4, 2 * MIB, own);
        stream::synchronize(runtime, own).unwrap();
        sleep::sleep(None, 0, &SleepPlace::HostPinned).unwrap();
        // While the memory sleeps a peer gets access.
        sconce_runtime::device::enable_peer_access(1, 0).unwrap();
        sleep::wake(None, 0, WakeMode::Restore).unwrap();
        fill(late, 5, 4 * MIB, there);
        stream::synchronize(runtime, there).unwrap();
        assert!(holds(&read(early, 2 * MIB, own), 4));
        // Work of the peer is waited for.
        sconce::sim_controls::set_latency_ns(30_000_000).unwrap();
        fill(late, 6, 4 * MIB, there);
        sconce::sim_controls::set_latency_ns(0).unwrap();
        sleep::sleep(None, 0, &SleepPlace::HostPinned).unwrap();
        sleep::wake(None, 0, WakeMode::Restore).unwrap();
        assert!(holds(&read(late, 4 * MIB, own), 6));
    });
}
