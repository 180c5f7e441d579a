//! Where the work of each function goes, and what it computes.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

use sconce::sconce_status::*;
use sconce::*;
use testkit::in_child;
use testkit::places::{own_stream, pending, pooled, run_until_idle, under};

use super::forms::{ALL, Form, Use};
use super::room::{HALF, Room};
use super::{SIM, assert_idle, call, current, expected, manual};
use crate::api::{CPU, Handle};

/// Functions of tensors that queue nothing, and allocate no memory in the order of a stream.
const WITHOUT_STREAM: &[&str] = &[
    // They concern the handle, or report what a tensor is.
    "assign",
    "borrow_sizes",
    "borrow_strides",
    "get_data",
    "get_device",
    "get_dtype",
    "get_numel",
    "get_rank",
    "get_sizes",
    "get_storage",
    "get_storage_offset",
    "get_strides",
    "is_contiguous",
    "is_defined",
    "is_pinned",
    "is_read_only",
    "live_count",
    "record_stream",
    "release",
    "retain",
    "shares_storage",
    "undefined",
    // They make views.
    "as_strided",
    "chunk",
    "diagonal",
    "expand",
    "narrow",
    "permute",
    "select",
    "slice",
    "split",
    "split_with_sizes",
    "squeeze",
    "transpose",
    "unbind",
    "unflatten",
    "unsqueeze",
    "view",
    // The memory exists already, or is the host's.
    "from_blob",
    "from_memory",
    "pin_memory",
];

#[test]
fn every_function_is_called_here() {
    let header = testkit::header::prototypes(&testkit::header::text());
    let mut names: Vec<_> = header.into_iter().map(|prototype| prototype.name).collect();
    names.retain(|name| name.starts_with("sconce_tensor_") && !name.contains("dlpack"));
    names.retain(|name| !WITHOUT_STREAM.contains(&&name["sconce_tensor_".len()..]));
    let mut known: Vec<_> = ALL.iter().map(|form| form.name.to_owned()).collect();
    names.sort();
    known.sort();
    assert_eq!(names, known, "a function that uses the current stream is missing in on/forms.rs");
}

#[test]
fn work_goes_to_the_named_stream_and_nothing_on_the_thread_changes() {
    in_child("work_goes_to_the_named_stream_and_nothing_on_the_thread_changes", SIM, || {
        let others = [own_stream(0), own_stream(1)];
        for device in [0, 1] {
            let named = pooled(device);
            for form in ALL.iter().filter(|form| form.shows == Use::Queued) {
                let (what, expected) = (form.name, expected(form, device));
                for thread in [0, 1] {
                    // Without a device, new tensors are of the stream's.
                    let mut room = Room::new(device, -1);
                    assert_eq!(sconce_device_set_current(thread), SCONCE_OK);
                    let before = current();
                    manual(true);
                    call(form, &mut room, Some(named));
                    assert!(pending(named) > 0, "{what}: nothing on the stream");
                    assert_idle(&others, what);
                    run_until_idle();
                    manual(false);
                    assert_eq!(current(), before, "{what}");
                    assert_eq!(room.results(form.sets_elements()), expected, "{what}");
                }
            }
        }
    });
}

/// The native handle of the stream that memory of the allocator serves.
fn stream_of(tensor: &Handle) -> u64 {
    let mut snapshot = null_mut();
    // SAFETY: a good place.
    assert_eq!(unsafe { sconce_memory_snapshot_create(&raw mut snapshot) }, SCONCE_OK);
    let (mut first, mut count) = (null(), 0);
    // SAFETY: a live snapshot and good places.
    let status =
        unsafe { sconce_memory_snapshot_get_segments(snapshot, &raw mut first, &raw mut count) };
    assert_eq!(status, SCONCE_OK);
    // SAFETY: so many segments, as long as the snapshot lives.
    let segments = unsafe { std::slice::from_raw_parts(first, count) };
    let address = tensor.data() as u64;
    let holds = |segment: &&sconce_memory_segment| {
        (segment.address..segment.address + segment.total_bytes).contains(&address)
    };
    let stream = segments.iter().find(holds).unwrap().stream;
    // SAFETY: a live snapshot.
    assert_eq!(unsafe { sconce_memory_snapshot_destroy(snapshot) }, SCONCE_OK);
    stream
}

fn native(stream: sconce_stream) -> *mut c_void {
    let mut native = null_mut();
    // SAFETY: a good place.
    assert_eq!(unsafe { sconce_stream_get_native(stream, &raw mut native) }, SCONCE_OK);
    native
}

#[test]
fn memory_of_new_tensors_belongs_to_the_named_stream() {
    in_child("memory_of_new_tensors_belongs_to_the_named_stream", SIM, || {
        own_stream(0);
        for (device, thread) in [(0, 0), (0, 1), (1, 0)] {
            let named = pooled(device);
            for form in ALL {
                let expected = expected(form, device);
                let mut room = Room::new(device, -1);
                assert_eq!(sconce_device_set_current(thread), SCONCE_OK);
                let before = current();
                call(form, &mut room, Some(named));
                assert_eq!(current(), before, "{}", form.name);
                assert_eq!(sconce_stream_synchronize(named), SCONCE_OK);
                let new = room.out.iter().filter(|out| !out.is_null() && **out != room.own.raw());
                for tensor in new {
                    assert_eq!(sconce_tensor_retain(*tensor), SCONCE_OK);
                    let tensor = Handle::of(*tensor);
                    let own = native(named) as u64;
                    assert_eq!(stream_of(&tensor), own, "{}", form.name);
                }
                assert!(form.shows != Use::Memory || !room.out[0].is_null(), "{}", form.name);
                assert_eq!(room.results(form.sets_elements()), expected, "{}", form.name);
            }
        }
    });
}

/// Work of the named stream takes a while, and sets what the call reads.
fn after_slow_work(form: &Form, device: i32) {
    const WHILE: Duration = Duration::from_millis(40);
    let fill = |room: &Room, stream: sconce_stream| {
        for tensor in [&room.own, &room.single] {
            // SAFETY: a number.
            let status =
                under(stream, || unsafe { sconce_tensor_fill(tensor.raw(), &raw const HALF) });
            assert_eq!(status, SCONCE_OK);
        }
    };
    let named = pooled(device);
    let mut room = Room::new(device, -1);
    fill(&room, named);
    assert_eq!(sconce_stream_synchronize(named), SCONCE_OK);
    call(form, &mut room, None);
    let expected = room.results(true);
    let mut room = Room::new(device, -1);
    let (before, start) = (current(), Instant::now());
    assert_eq!(sconce_stream_sleep(named, WHILE.as_nanos() as u64), SCONCE_OK);
    fill(&room, named);
    call(form, &mut room, Some(named));
    assert!(start.elapsed() >= WHILE, "{}: it did not wait", form.name);
    assert_eq!(current(), before, "{}", form.name);
    // The elements of a new tensor are still to come.
    assert_eq!(sconce_stream_synchronize(named), SCONCE_OK);
    assert_eq!(room.results(true), expected, "{}", form.name);
}

#[test]
fn calls_that_return_values_wait_for_the_named_stream() {
    in_child("calls_that_return_values_wait_for_the_named_stream", SIM, || {
        own_stream(0);
        let mut calls = 0;
        for device in [0, 1] {
            for form in ALL.iter().filter(|form| form.shows == Use::Waits) {
                after_slow_work(form, device);
                calls += 1;
            }
        }
        assert_eq!(calls, 12);
    });
}

/// Work on the CPU is done when the call returns, whatever the stream.
#[test]
fn tensors_of_the_cpu_do_not_use_the_stream() {
    in_child("tensors_of_the_cpu_do_not_use_the_stream", SIM, || {
        let named = [pooled(0), pooled(1)];
        for form in ALL {
            let expected = expected(form, CPU);
            for stream in named {
                let mut room = Room::new(CPU, CPU);
                let before = current();
                manual(true);
                call(form, &mut room, Some(stream));
                assert_idle(&named, form.name);
                assert_eq!(current(), before, "{}", form.name);
                assert_eq!(room.results(form.sets_elements()), expected, "{}", form.name);
                manual(false);
            }
        }
    });
}
