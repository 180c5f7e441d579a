//! When the CUDA backend makes a context, and what is current afterwards.

#![allow(unsafe_code, reason = "reaches into the fake driver")]
#![allow(clippy::unwrap_used, reason = "a test may fail loudly anywhere")]

use sconce_base::error::Status;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::prelude::*;
use sconce_driver::{
    Access, Dim3, EventFlags, HostFunction, IpcHandle, KernelArguments, KernelCode, KernelImage,
    LaunchShape, RawAddress, StreamFlags, StreamHandle, StreamRef,
};
use testkit::fake_cuda::{FIRST, Fake, fake, second};

const IMAGE: KernelImage = KernelImage { name: "image", codes: &[KernelCode::ptx("good")] };

#[test]
fn opening_counting_and_asking_make_no_context() {
    let fake = fake();
    let driver = &fake.driver;
    assert_eq!(driver.device_count(), 2);
    driver.device_properties(second()).unwrap();
    driver.can_access_peer(FIRST, second()).unwrap();
    driver.pointer_info(0x1234).unwrap();
    driver.virtual_granularity(second()).unwrap();
    driver.device_synchronize(FIRST).unwrap();
    let stream = StreamRef::default_of(FIRST);
    assert!(driver.stream_query(stream).unwrap());
    driver.stream_synchronize(stream).unwrap();
    assert!(!driver.stream_is_capturing(stream).unwrap());
    assert!(!driver.context_is_active(FIRST).unwrap());
    assert_eq!(fake.state().retains, 0);
    assert_eq!(fake.current(), None);
}

#[test]
fn a_context_made_by_another_library_counts_as_active() {
    let fake = fake();
    fake.state().active = 2;
    assert!(!fake.driver.context_is_active(FIRST).unwrap());
    assert!(fake.driver.context_is_active(second()).unwrap());
    assert_eq!(fake.state().retains, 0);
}

/// Every call that needs a context, on the second device.
fn every_call(fake: &Fake) {
    let (driver, device) = (&fake.driver, second());
    let default = StreamRef::default_of(device);
    driver.memory_info(device).unwrap();
    let ptr = driver.memory_alloc(device, 1 << 10).unwrap();
    let host = driver.host_alloc(device, 1 << 10).unwrap();
    let mut word = 0_u32;
    // SAFETY: the fake looks at no memory.
    let ordinary = unsafe { RawAddress::from_caller(&raw mut word as usize) };
    driver.host_register(device, ordinary, 4).unwrap();
    driver.host_unregister(ordinary.get()).unwrap();
    driver.pointer_info(ptr.0 as usize).unwrap();
    driver.stream_priority_range(device).unwrap();
    let flags = StreamFlags { non_blocking: true };
    let stream = driver.stream_create(device, flags, -1).unwrap();
    let stream = StreamRef { device, handle: stream };
    let event = driver.event_create(device, EventFlags::default()).unwrap();
    for stream in [stream, default] {
        driver.event_record(event, stream).unwrap();
        driver.stream_wait_event(stream, event).unwrap();
        driver.stream_query(stream).unwrap();
        driver.stream_synchronize(stream).unwrap();
        driver.stream_priority(stream).unwrap();
        driver.stream_id(stream).unwrap();
        driver.stream_is_capturing(stream).unwrap();
        driver.copy_async(ptr.into(), ordinary, 4, stream).unwrap();
        driver.fill_async(ptr, 7, 4, stream).unwrap();
    }
    driver.event_synchronize(event).unwrap();
    driver.virtual_granularity(device).unwrap();
    driver.physical_create(device, 2 << 20, false).unwrap();
    driver.virtual_set_access(DevicePtr(1), 1, device, Access::Read).unwrap();
    let module = driver.module_load(device, &IMAGE).unwrap();
    let kernel = driver.kernel_find(device, module, "kernel").unwrap();
    let shape = LaunchShape { grid: Dim3::line(1), block: Dim3::line(1), shared_bytes: 0 };
    let arguments = KernelArguments::new().u64(1).u32(2);
    driver.kernel_launch(kernel, shape, &arguments, stream).unwrap();
    driver.module_unload(device, module).unwrap();
    driver.ipc_memory_export(ptr).unwrap();
    driver.ipc_memory_close(ptr).unwrap();
    let handle = IpcHandle(std::array::from_fn(|i| (i as u8).wrapping_add(200)));
    driver.ipc_memory_open(device, &handle).unwrap();
    driver.ipc_event_open(device, &handle).unwrap();
    driver.event_destroy(event).unwrap();
    driver.stream_destroy(stream).unwrap();
    driver.device_synchronize(device).unwrap();
    driver.host_free(host).unwrap();
    driver.memory_free(device, ptr).unwrap();
}

#[test]
fn using_a_device_makes_its_context_once_and_no_other() {
    let fake = fake();
    every_call(&fake);
    assert_eq!((fake.retained(0), fake.retained(1)), (0, 1));
    assert!(fake.driver.context_is_active(second()).unwrap());
    assert!(!fake.driver.context_is_active(FIRST).unwrap());
}

#[test]
fn what_was_current_is_current_afterwards() {
    // Nothing, the device's own context, another device's, and another library's stack.
    let fake = fake();
    every_call(&fake);
    assert_eq!((fake.current(), fake.depth()), (None, 0));
    for device in [second(), FIRST] {
        fake.driver.bind_device(device).unwrap();
        every_call(&fake);
        assert_eq!((fake.current(), fake.depth()), (Some(device.as_i32()), 1));
    }
    fake.push(1);
    fake.push(0);
    every_call(&fake);
    assert_eq!((fake.current(), fake.depth()), (Some(0), 3));
    fake.driver.unbind_device().unwrap();
    assert_eq!((fake.current(), fake.depth()), (None, 0));
    fake.driver.unbind_device().unwrap();
}

#[test]
fn the_first_devices_context_stays_on_a_thread_that_had_none() {
    let fake = fake();
    let driver = &fake.driver;
    let ptr = driver.memory_alloc(FIRST, 1 << 10).unwrap();
    assert_eq!((fake.current(), fake.depth()), (Some(0), 1));
    let switches = fake.state().set_current;
    driver.memory_free(FIRST, ptr).unwrap();
    driver.memory_info(FIRST).unwrap();
    assert_eq!(fake.state().set_current, switches, "nothing is left to switch");
    // A call for another device puts it back.
    driver.memory_info(second()).unwrap();
    assert_eq!((fake.current(), fake.depth()), (Some(0), 1));
}

#[test]
fn a_failing_call_restores_what_was_current_too() {
    let fake = fake();
    fake.driver.bind_device(FIRST).unwrap();
    assert!(fake.driver.memory_alloc(second(), 0).is_err());
    assert_eq!((fake.current(), fake.depth()), (Some(0), 1));
}

#[test]
fn a_thread_without_a_context_gets_none_from_calls_on_another() {
    let fake = fake();
    fake.driver.bind_device(second()).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            assert_eq!(fake.current(), None);
            every_call(&fake);
            assert_eq!(fake.current(), None);
        });
    });
    assert_eq!(fake.current(), Some(1));
    assert_eq!(fake.retained(1), 1);
}

#[test]
fn calls_on_explicit_streams_and_events_touch_no_context() {
    unsafe extern "C" fn nothing(_: *mut std::ffi::c_void) {}
    let fake = fake();
    let (driver, device) = (&fake.driver, second());
    let handle = driver.stream_create(device, StreamFlags::default(), 0).unwrap();
    let stream = StreamRef { device, handle };
    let event = driver.event_create(device, EventFlags::default()).unwrap();
    let before = (fake.state().get_current, fake.state().set_current);
    driver.event_record(event, stream).unwrap();
    driver.event_query(event).unwrap();
    driver.event_synchronize(event).unwrap();
    driver.event_elapsed_ms(event, event).unwrap();
    driver.stream_wait_event(stream, event).unwrap();
    driver.stream_query(stream).unwrap();
    driver.stream_synchronize(stream).unwrap();
    driver.stream_priority(stream).unwrap();
    driver.stream_is_capturing(stream).unwrap();
    // SAFETY: the function does nothing.
    let function = unsafe { HostFunction::new(nothing, std::ptr::null_mut()) };
    driver.launch_host_function(stream, function).unwrap();
    assert_eq!((fake.state().get_current, fake.state().set_current), before);
    assert_eq!(fake.state().records, 1);

    // The default stream is another one in each context: there it must be right.
    driver.event_record(event, StreamRef::default_of(device)).unwrap();
    driver.bind_device(FIRST).unwrap();
    driver.event_record(event, StreamRef::default_of(device)).unwrap();
    assert_eq!(fake.state().records, 3);
    let other = driver.event_record(event, StreamRef::default_of(FIRST)).unwrap_err();
    assert_eq!((other.status(), other.backend_code()), (Status::InvalidHandle, 400));
}

#[test]
fn a_driver_that_wants_a_context_gets_one_for_a_second_attempt() {
    let fake = fake();
    let (driver, device) = (&fake.driver, second());
    let handle = driver.stream_create(device, StreamFlags::default(), 0).unwrap();
    let stream = StreamRef { device, handle };
    let event = driver.event_create(device, EventFlags::default()).unwrap();
    fake.state().strict = 1;
    driver.event_record(event, stream).unwrap();
    assert!(driver.event_query(event).unwrap());
    assert!(driver.stream_query(stream).unwrap());
    assert_eq!(fake.state().records, 1);
    assert_eq!(fake.current(), None);
    // With a context that stays unacceptable the driver's own answer comes out, after one retry.
    fake.state().strict = 0;
    fake.state().code = 201;
    let error = driver.event_query(event).unwrap_err();
    assert_eq!((error.status(), error.backend_code()), (Status::Driver, 201));
}

#[test]
fn a_second_attempt_uses_a_context_that_exists_and_makes_none() {
    let (fake, other) = (fake(), fake());
    // An event of another driver: this one has made no context yet.
    let foreign = other.driver.event_create(FIRST, EventFlags::default()).unwrap();
    fake.state().strict = 1;
    assert_eq!(fake.driver.event_query(foreign).unwrap_err().backend_code(), 201);
    assert_eq!(fake.state().retains, 0);
    fake.state().active = 2;
    assert!(fake.driver.event_query(foreign).unwrap());
    assert_eq!((fake.retained(0), fake.retained(1)), (0, 1));
}

#[test]
fn nothing_is_switched_when_the_right_context_is_current() {
    let fake = fake();
    fake.driver.bind_device(second()).unwrap();
    let before = fake.state().set_current;
    every_call(&fake);
    fake.driver.bind_device(second()).unwrap();
    assert_eq!(fake.state().set_current, before);
}

#[test]
fn an_index_beyond_the_count_is_an_error_everywhere() {
    let fake = fake();
    let none = DeviceIndex::new(2).unwrap();
    let driver = &fake.driver;
    for error in [
        driver.device_properties(none).unwrap_err(),
        driver.bind_device(none).unwrap_err(),
        driver.memory_alloc(none, 1).unwrap_err(),
        driver.context_is_active(none).unwrap_err(),
        driver.stream_check(StreamRef { device: none, handle: StreamHandle::DEFAULT }).unwrap_err(),
        driver.can_access_peer(FIRST, none).unwrap_err(),
        driver.virtual_granularity(none).unwrap_err(),
    ] {
        assert_eq!(error.status(), Status::InvalidDevice);
    }
    assert_eq!(fake.state().retains, 0);
}
