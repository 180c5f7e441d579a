//! Functions that end in `_on`: the work goes to the stream that the call names, whatever is current on the
//! thread, and nothing on the thread changes. On simulated devices that do nothing unless they are stepped.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::ffi::c_void;

use sconce::sconce_status::*;
use sconce::*;
use testkit::libraries::{convolutions, fft, products};
use testkit::places::{own_stream, pending, pooled, run_until_idle};
use testkit::{in_child, last_message};

const SIM: &[(&str, &str)] =
    &[("SCONCE_BACKEND", "sim"), ("SCONCE_CHECK_DEVICE", "1"), ("SCONCE_LOG", "off")];
const BYTES: usize = 4096;

/// A call of each function, on the memory of one device and with a stream.
type Call = (&'static str, Box<dyn Fn([*mut c_void; 3], sconce_stream) -> sconce_status>);

fn calls() -> Vec<Call> {
    let none = std::ptr::null_mut::<sconce_generator>();
    let f32 = SCONCE_DTYPE_F32;
    let product = products::plain(1, 8, 8, 8);
    let convolution = convolutions::desc(SCONCE_CONVOLUTION_FORWARD, f32);
    let transform = fft::desc(SCONCE_FFT_C2C, f32, &[8], 1);
    let shape = sconce_strided_copy {
        struct_size: size_of::<sconce_strided_copy>() as u32,
        rank: 2,
        element_bytes: 4,
        sizes: [3, 5, 0, 0, 0, 0, 0, 0],
        dst_strides: [1, 3, 0, 0, 0, 0, 0, 0],
        src_strides: [5, 1, 0, 0, 0, 0, 0, 0],
    };
    macro_rules! call {
        ($name:ident, $memory:ident, $stream:ident, [$($argument:expr),*]) => {
            (stringify!($name), Box::new(
                #[allow(unused_unsafe, reason = "some of the functions are safe")]
                move |$memory: [*mut c_void; 3], $stream| {
                    // SAFETY: whole descriptions; memory of devices is checked.
                    unsafe { $name($($argument,)* $stream) }
                }
            ) as Box<dyn Fn([*mut c_void; 3], sconce_stream) -> sconce_status>)
        };
    }
    vec![
        call!(sconce_random_uniform_on, m, s, [m[0], 64, f32, 0.0, 1.0, none]),
        call!(sconce_random_normal_on, m, s, [m[0], 64, f32, 0.0, 1.0, none]),
        call!(sconce_random_log_normal_on, m, s, [m[0], 64, f32, 0.0, 1.0, none]),
        call!(sconce_random_exponential_on, m, s, [m[0], 64, f32, 1.0, none]),
        call!(sconce_random_cauchy_on, m, s, [m[0], 64, f32, 0.0, 1.0, none]),
        call!(sconce_random_geometric_on, m, s, [m[0], 64, f32, 0.5, none]),
        call!(sconce_random_bernoulli_on, m, s, [m[0], 64, f32, 0.5, none]),
        call!(sconce_random_integers_on, m, s, [m[0], 64, f32, 0, 9, none]),
        call!(sconce_random_full_range_on, m, s, [m[0], 64, f32, none]),
        call!(sconce_memory_set_on, m, s, [m[0], 7, BYTES]),
        call!(sconce_memory_set_2d_on, m, s, [m[0], 64, 7, 16, 8]),
        call!(sconce_copy_on, m, s, [m[0], m[1], BYTES, true.into()]),
        call!(sconce_copy_2d_on, m, s, [m[0], 64, m[1], 32, 16, 8, true.into()]),
        call!(sconce_copy_strided_on, m, s, [&raw const shape, m[0], m[1], true.into()]),
        call!(sconce_matmul_on, m, s, [&raw const product, m[0], m[1], m[2]]),
        call!(sconce_convolution_on, m, s, [&raw const convolution, m[0], m[1], m[2]]),
        call!(sconce_fft_on, m, s, [&raw const transform, m[0], m[1]]),
    ]
}

fn memory(device: i32) -> [*mut c_void; 3] {
    [0; 3].map(|_| {
        let stream = sconce_stream { id: 0, device, reserved: 0 };
        let mut block = std::ptr::null_mut();
        // SAFETY: a good place.
        assert_eq!(unsafe { sconce_memory_alloc_on(BYTES, stream, &raw mut block) }, SCONCE_OK);
        // SAFETY: memory of a device.
        assert_eq!(unsafe { sconce_memory_set_on(block, 0, BYTES, stream) }, SCONCE_OK);
        assert_eq!(sconce_stream_synchronize(stream), SCONCE_OK);
        block
    })
}

/// The device and the streams that are current on this thread.
fn current() -> (i32, [i64; 2]) {
    let mut device = -1;
    // SAFETY: a good place.
    assert_eq!(unsafe { sconce_device_get_current(&raw mut device) }, SCONCE_OK);
    let streams = [0, 1].map(|device| {
        let mut stream = sconce_stream { id: -1, device: -1, reserved: 0 };
        // SAFETY: a good place.
        assert_eq!(unsafe { sconce_stream_get_current(device, &raw mut stream) }, SCONCE_OK);
        stream.id
    });
    (device, streams)
}

fn every_function_is_here(calls: &[Call]) {
    let header = testkit::header::prototypes(&testkit::header::text());
    let mut names: Vec<_> = header.into_iter().map(|prototype| prototype.name).collect();
    // Those that make the stream an argument by themselves have tests of their own, and so have those of tensors.
    let others = [
        "sconce_memory_alloc_on",
        "sconce_kernel_launch_on",
        "sconce_generator_reserve_philox_state_on",
    ];
    let rooms = ["sconce_tensor_", "sconce_backward_"];
    names.retain(|name| name.ends_with("_on") && !others.contains(&name.as_str()));
    names.retain(|name| !rooms.iter().any(|room| name.starts_with(room)));
    let mut known: Vec<_> = calls.iter().map(|(name, _)| name.to_string()).collect();
    names.sort();
    known.sort();
    assert_eq!(names, known, "a function of this kind is missing here");
}

#[test]
fn work_goes_to_the_named_stream_and_nothing_on_the_thread_changes() {
    in_child("work_goes_to_the_named_stream_and_nothing_on_the_thread_changes", SIM, || {
        let calls = calls();
        every_function_is_here(&calls);
        let (mine, other) = (own_stream(0), own_stream(1));
        assert_eq!(sconce_stream_set_current(mine), SCONCE_OK);
        assert_eq!(sconce_stream_set_current(other), SCONCE_OK);
        for device in [0, 1] {
            let (named, memory) = (own_stream(device), memory(device));
            for (name, call) in &calls {
                // The first call chooses engines and makes plans; the second finds them, and the third is known.
                for (thread, time) in [(0, "first"), (1, "second"), (0, "third")] {
                    assert_eq!(sconce_device_set_current(thread), SCONCE_OK);
                    let before = current();
                    assert_eq!(sconce_sim_set_manual((time != "first").into()), SCONCE_OK);
                    let status = call(memory, named);
                    let what = format!("{name}, {time} on device {device}: {}", last_message());
                    assert_eq!(status, SCONCE_OK, "{what}");
                    if time != "first" {
                        assert!(pending(named) > 0, "{what}: nothing on the named stream");
                    }
                    let others = [mine, other, stream_0(0), stream_0(1)];
                    for beside in others.into_iter().filter(|_| time != "first") {
                        assert_eq!(pending(beside), 0, "{what}: work beside the named stream");
                    }
                    run_until_idle();
                    assert_eq!(current(), before, "{what}");
                }
                assert_eq!(sconce_sim_set_manual(false.into()), SCONCE_OK);
            }
        }
    });
}

fn stream_0(device: i32) -> sconce_stream {
    sconce_stream { id: 0, device, reserved: 0 }
}

#[test]
fn a_stream_of_another_device_is_refused_and_nothing_is_queued() {
    in_child("a_stream_of_another_device_is_refused_and_nothing_is_queued", SIM, || {
        let streams = [own_stream(0), own_stream(1)];
        let (here, mine) = (memory(0), own_stream(0));
        assert_eq!(sconce_stream_set_current(mine), SCONCE_OK);
        let calls = calls();
        for (name, call) in &calls {
            // Known to the thread before, on its current stream as well.
            assert_eq!(call(here, mine), SCONCE_OK, "{name}: {}", last_message());
            assert_eq!(call(here, mine), SCONCE_OK, "{name}: {}", last_message());
        }
        assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
        assert_eq!(sconce_sim_set_manual(true.into()), SCONCE_OK);
        for (name, call) in &calls {
            let before = current();
            assert_eq!(call(here, streams[1]), SCONCE_ERROR_CROSS_DEVICE, "{name}");
            let message = last_message();
            assert!(message.contains('0') && message.contains('1'), "{name}: {message}");
            for stream in [streams[0], streams[1], mine, stream_0(0), stream_0(1)] {
                assert_eq!(pending(stream), 0, "{name}");
            }
            assert_eq!(current(), before, "{name}");
        }
        let no_such_stream = sconce_stream { id: 0, device: 7, reserved: 0 };
        for (name, call) in &calls {
            assert_eq!(call(here, no_such_stream), SCONCE_ERROR_INVALID_DEVICE, "{name}");
        }
    });
}

#[test]
fn a_transform_that_the_thread_knows_is_refused_on_streams_of_other_devices() {
    const TEST: &str = "a_transform_that_the_thread_knows_is_refused_on_streams_of_other_devices";
    // More devices than the thread's memory of transforms has places, so that some share one.
    let environment = [SIM, &[("SCONCE_SIM_DEVICES", "64"), ("SCONCE_SIM_MEMORY", "64M")]].concat();
    in_child(TEST, &environment, || {
        let (memory, mine) = (memory(0), own_stream(0));
        assert_eq!(sconce_stream_set_current(mine), SCONCE_OK);
        let desc = fft::desc(SCONCE_FFT_C2C, SCONCE_DTYPE_F32, &[8], 1);
        let transform = |stream| {
            // SAFETY: a whole description; memory of devices is checked.
            unsafe { sconce_fft_on(&raw const desc, memory[0], memory[1], stream) }
        };
        for device in 1..64 {
            assert_eq!((transform(mine), transform(mine)), (SCONCE_OK, SCONCE_OK));
            assert_eq!(transform(stream_0(device)), SCONCE_ERROR_CROSS_DEVICE, "device {device}");
        }
    });
}

#[test]
fn what_other_code_made_current_does_not_matter() {
    in_child("what_other_code_made_current_does_not_matter", SIM, || {
        let (named, memory) = (own_stream(0), memory(0));
        let calls = calls();
        for (name, call) in &calls {
            assert_eq!(call(memory, named), SCONCE_OK, "{name}: {}", last_message());
        }
        for (name, call) in &calls {
            assert_eq!(sconce_device_set_current(0), SCONCE_OK);
            assert_eq!(sconce_sim_set_current_device(1), SCONCE_OK);
            assert_eq!(call(memory, named), SCONCE_OK, "{name}: {}", last_message());
            let mut seen = -7;
            // SAFETY: a good place.
            assert_eq!(unsafe { sconce_sim_get_current_device(&raw mut seen) }, SCONCE_OK);
            assert_eq!((seen, current().0), (1, 1), "{name}");
        }
    });
}

#[test]
fn a_fill_on_a_stream_draws_what_a_fill_on_the_current_one_draws() {
    in_child("a_fill_on_a_stream_draws_what_a_fill_on_the_current_one_draws", SIM, || {
        let read = |block: *mut c_void| {
            let mut data = [0_u8; 256];
            // SAFETY: room for the bytes.
            let status = unsafe { sconce_sim_memory_read(block, 256, data.as_mut_ptr().cast()) };
            assert_eq!(status, SCONCE_OK);
            data
        };
        let (none, f32) = (std::ptr::null_mut(), SCONCE_DTYPE_F32);
        let (block, named) = (memory(1)[0], own_stream(1));
        assert_eq!(sconce_device_set_current(1), SCONCE_OK);
        assert_eq!(sconce_random_manual_seed(11), SCONCE_OK);
        assert_eq!(sconce_random_normal(block, 64, f32, 0.0, 1.0, none), SCONCE_OK);
        assert_eq!(sconce_device_synchronize(1), SCONCE_OK);
        let expected = read(block);
        assert_eq!(sconce_random_manual_seed(11), SCONCE_OK);
        assert_eq!(sconce_device_set_current(0), SCONCE_OK);
        assert_eq!(sconce_random_normal_on(block, 64, f32, 0.0, 1.0, none, named), SCONCE_OK);
        assert_eq!(sconce_stream_synchronize(named), SCONCE_OK);
        assert_eq!(read(block), expected);
    });
}

#[test]
fn a_function_runs_while_its_stream_is_current() {
    struct Seen {
        named: sconce_stream,
        current: Option<(i32, [i64; 2])>,
    }
    unsafe extern "C" fn look(user: *mut c_void) {
        // SAFETY: the test passes this struct, which outlives the call.
        let seen = unsafe { &mut *user.cast::<Seen>() };
        seen.current = Some(current());
        let mut tensor = std::ptr::null_mut();
        // A tensor's work, which takes no stream.
        let one = sconce_scalar {
            kind: SCONCE_SCALAR_REAL,
            reserved: 0,
            integer: 0,
            real: 1.0,
            imaginary: 0.0,
        };
        // SAFETY: good places.
        let status = unsafe {
            sconce_tensor_full(
                &raw const SIZE,
                1,
                &raw const one,
                std::ptr::null(),
                &raw mut tensor,
            )
        };
        assert_eq!(status, SCONCE_OK, "{}", last_message());
        assert!(pending(seen.named) > 0, "the tensor's work is elsewhere");
        assert_eq!(sconce_tensor_release(tensor), SCONCE_OK);
    }
    static SIZE: i64 = 5;
    in_child("a_function_runs_while_its_stream_is_current", SIM, || {
        let named = own_stream(1);
        let before = current();
        assert_eq!(sconce_sim_set_manual(true.into()), SCONCE_OK);
        let mut seen = Seen { named, current: None };
        let user = (&raw mut seen).cast();
        // SAFETY: the function takes this struct.
        assert_eq!(unsafe { sconce_stream_run(named, Some(look), user) }, SCONCE_OK);
        assert_eq!(seen.current, Some((1, [0, named.id])));
        assert_eq!(current(), before);
        // A stream that is none runs nothing.
        seen.current = None;
        let none = sconce_stream { id: 1, device: 0, reserved: 0 };
        let user = (&raw mut seen).cast();
        // SAFETY: the function takes this struct.
        let status = unsafe { sconce_stream_run(none, Some(look), user) };
        assert_eq!(status, SCONCE_ERROR_INVALID_HANDLE);
        assert!(seen.current.is_none());
        // SAFETY: no function.
        let status = unsafe { sconce_stream_run(named, None, std::ptr::null_mut()) };
        assert_eq!(status, SCONCE_ERROR_INVALID_ARGUMENT);
        run_until_idle();
    });
}

/// Streams of several devices, for calls that use all of them.
#[test]
fn a_function_may_make_streams_of_further_devices_current() {
    struct Nested {
        inner: sconce_stream,
        seen: [Option<(i32, [i64; 2])>; 3],
    }
    unsafe extern "C" fn inner(user: *mut c_void) {
        // SAFETY: the test passes this struct, which outlives the call.
        unsafe { &mut *user.cast::<Nested>() }.seen[1] = Some(current());
    }
    unsafe extern "C" fn outer(user: *mut c_void) {
        // SAFETY: the test passes this struct, which outlives the call.
        let nested = unsafe { &mut *user.cast::<Nested>() };
        nested.seen[0] = Some(current());
        let stream = nested.inner;
        // SAFETY: the function takes this struct.
        assert_eq!(unsafe { sconce_stream_run(stream, Some(inner), user) }, SCONCE_OK);
        // SAFETY: `outer` has no reference to the struct left, and the functions run one after the other.
        unsafe { &mut *user.cast::<Nested>() }.seen[2] = Some(current());
    }
    in_child("a_function_may_make_streams_of_further_devices_current", SIM, || {
        let (first, second, before) = (pooled(0), pooled(1), current());
        let mut nested = Nested { inner: second, seen: [None; 3] };
        let user = (&raw mut nested).cast();
        // SAFETY: the function takes this struct.
        assert_eq!(unsafe { sconce_stream_run(first, Some(outer), user) }, SCONCE_OK);
        let [around, inside, after] = nested.seen.map(Option::unwrap);
        assert_eq!([around, after], [(0, [first.id, 0]); 2]);
        assert_eq!(inside, (1, [first.id, second.id]));
        assert_eq!(current(), before);
    });
}
