//! The same description again on other streams and devices: the work goes where the thread is at that
//! moment, by the plan of that device.

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::libraries::fft::{rows, stats};
use testkit::libraries::repeats::{Block, Call, fresh_both, large, synchronize_both};
use testkit::places::{alone, calls, default_stream, pending, pooled, run_until_idle};

/// A pooled stream, known as one of others'.
fn external(device: i32) -> sconce_stream {
    let (mut stream, mut native) = (pooled(device), std::ptr::null_mut());
    // SAFETY: a good place.
    assert_eq!(unsafe { sconce_stream_get_native(stream, &raw mut native) }, SCONCE_OK);
    // SAFETY: a live stream, and a good place.
    let status = unsafe { sconce_stream_get_from_external(native, device, &raw mut stream) };
    assert_eq!(status, SCONCE_OK, "{}", last_message());
    stream
}

/// A random number below `most`.
fn random(state: &mut u64, most: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize % most
}

#[test]
fn each_device_has_its_plan_whichever_is_current() {
    let _alone = alone();
    fresh_both();
    let mut divided = rows(32, 2);
    divided.normalization = SCONCE_FFT_NORM_BY_ROOT_N;
    for (desc, device_of_plan) in [(rows(16, 2), 0), (divided, 1)] {
        fresh_both();
        let tasks = [0, 1].map(|device| {
            let sides = [0, 1].map(|_| Block::on(device, 4096));
            (sides, Call::new(desc, 5 + device as u64))
        });
        assert_eq!(sconce_sim_reset_call_counts(), SCONCE_OK);
        let (mut used, mut state) = ([0; 2], device_of_plan);
        for turn in 0..120 {
            assert_eq!(sconce_device_set_current(random(&mut state, 2) as i32), SCONCE_OK);
            let device = if turn < 40 { turn % 2 } else { random(&mut state, 2) };
            let ([from, to], call) = &tasks[device];
            call.goes(device as i32, from.start(), to.start(), "of a device");
            used[device] += 1;
            let hits = [0, 1].map(|device| stats(device).hits);
            assert_eq!(hits, used.map(|used: u64| used.saturating_sub(1)), "{turn}");
        }
        assert_eq!(calls("fft_plan"), 2);
        assert_eq!(sconce_device_set_current(0), SCONCE_OK);
    }
    fresh_both();
}

#[test]
fn work_goes_to_the_stream_that_is_current_at_that_moment() {
    let _alone = alone();
    fresh_both();
    let mut divided = rows(16, 2);
    divided.normalization = SCONCE_FFT_NORM_BY_N;
    // Plain, with a workspace, and with a kernel behind.
    let (shapes, each) = ([rows(16, 2), large(), divided], [1, 1, 2]);
    let tasks: Vec<([Block; 2], Call)> = (0..6)
        .map(|at| {
            let sides = [0, 1].map(|_| Block::on(at % 2, 64 << 10));
            let call = Call::new(shapes[at as usize / 2], 9 + at as u64);
            sides.iter().for_each(|side| side.fill(0));
            call.goes(at % 2, sides[0].start(), sides[1].start(), "at first");
            (sides, call)
        })
        .collect();
    let streams: Vec<sconce_stream> = [0, 1]
        .into_iter()
        .flat_map(|device| {
            [default_stream(device), pooled(device), pooled(device), external(device)]
        })
        .collect();
    let mut state = 7;
    for round in 0..12 {
        for ([_, to], _) in &tasks {
            to.fill(0xFF);
        }
        synchronize_both();
        assert_eq!(sconce_sim_set_manual(true.into()), SCONCE_OK);
        let (mut expected, mut current) = (vec![0; streams.len()], [0, 4]);
        for device in [0, 1] {
            assert_eq!(sconce_stream_set_current(streams[current[device]]), SCONCE_OK);
        }
        for turn in 0..30 {
            // Often nothing changes: that is what is remembered.
            match random(&mut state, 6) {
                0 => assert_eq!(sconce_device_set_current(random(&mut state, 2) as i32), SCONCE_OK),
                1 => {
                    let (stream, mut before) = (random(&mut state, 8), streams[0]);
                    let (device, mut old) = (streams[stream].device, -1);
                    // SAFETY: good places.
                    let status = unsafe {
                        sconce_stream_exchange(streams[stream], &raw mut before, &raw mut old)
                    };
                    assert_eq!(status, SCONCE_OK);
                    current[device as usize] = stream;
                }
                2 => {
                    let stream = random(&mut state, 8);
                    assert_eq!(sconce_stream_set_current(streams[stream]), SCONCE_OK);
                    current[streams[stream].device as usize] = stream;
                }
                _ => {}
            }
            let task = random(&mut state, 6);
            let ([from, to], call) = &tasks[task];
            call.run(from.start(), to.start());
            expected[current[task % 2]] += each[task / 2];
            let found: Vec<usize> = streams.iter().map(|stream| pending(*stream)).collect();
            assert_eq!(found, expected, "round {round}, turn {turn}, task {task}");
        }
        for task in &tasks {
            // So that each has a result.
            task.1.run(task.0[0].start(), task.0[1].start());
        }
        run_until_idle();
        assert_eq!(sconce_sim_set_manual(false.into()), SCONCE_OK);
        synchronize_both();
        // Kernels of several streams divide one result in no order.
        for ([_, to], call) in &tasks[..2] {
            call.check(to.start(), "of streams");
        }
    }
    for device in [1, 0] {
        assert_eq!(sconce_stream_set_current(default_stream(device)), SCONCE_OK);
        assert_eq!(sconce_device_set_current(device), SCONCE_OK);
    }
    fresh_both();
}
