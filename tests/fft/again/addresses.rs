//! The same description again with other addresses: what was seen at the last ones must never be taken
//! for what is at these.

use std::ffi::c_void;

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::libraries::fft::{desc, rows, run, stats};
use testkit::libraries::repeats::{self, Block, Call, fresh_both, synchronize_both};
use testkit::places::{Kind, Place, alone, calls, pooled};

#[test]
fn each_pair_of_addresses_gets_its_results_and_nothing_else_changes() {
    let _alone = alone();
    fresh_both();
    let blocks = [(); 4].map(|()| Block::new(4096));
    // A block and a distance in it, for either side.
    let pairs = [
        [(0, 0), (1, 0)],
        [(0, 0), (1, 0)],
        [(2, 0), (3, 0)],
        [(0, 0), (3, 0)],
        [(2, 0), (1, 0)],
        [(0, 0), (0, 0)],
        [(0, 0), (0, 0)],
        [(1, 0), (1, 0)],
        [(0, 0), (1, 0)],
        [(1, 0), (0, 0)],
        [(0, 512), (1, 1024)],
        [(0, 512), (1, 1024)],
        [(0, 16), (1, 0)],
        [(0, 0), (1, 16)],
        [(0, 0), (0, 512)],
        [(0, 512), (0, 0)],
        [(0, 512), (0, 512)],
        [(0, 0), (1, 0)],
        [(1, 0), (0, 0)],
    ];
    let mut back = desc(SCONCE_FFT_C2R, SCONCE_DTYPE_F32, &[16], 1);
    let real = desc(SCONCE_FFT_R2C, SCONCE_DTYPE_F32, &[16], 1);
    let whole = back;
    back.may_overwrite_input = true.into();
    let mut divided = rows(16, 2);
    divided.normalization = SCONCE_FFT_NORM_BY_N;
    for desc in [rows(16, 2), divided, real, back, whole, desc(0, SCONCE_DTYPE_F64, &[16], 1)] {
        for (at, pair) in pairs.iter().chain(&pairs).enumerate() {
            let call = Call::new(desc, at as u64);
            let [input, output] = pair.map(|(block, distance)| blocks[block].at(distance));
            let what = format!("{desc:?} {at} {pair:?}");
            blocks.iter().for_each(|block| block.fill(0xEE));
            call.put(input);
            call.run(input, output);
            synchronize_both();
            call.check(output, &what);
            for (index, block) in blocks.iter().enumerate() {
                let mut found = block.read();
                for ((side, distance), bytes) in pair.iter().zip([call.given.len(), call.out_bytes])
                {
                    if *side == index {
                        found[*distance..][..bytes].fill(0xEE);
                    }
                }
                assert_eq!(found, vec![0xEE; 4096], "block {index}, {what}");
            }
            let (from, kept) =
                (repeats::read(input, call.given.len()), !desc.may_overwrite_input.is_true());
            assert!(input == output || !kept || from == call.given, "the input changed: {what}");
        }
    }
    fresh_both();
}

#[test]
fn what_is_refused_at_first_is_refused_after_repeats() {
    let _alone = alone();
    fresh_both();
    let [from, to] = [0, 1].map(|_| Block::new(4096));
    let there = Block::on(1, 4096);
    let (ordinary, pinned) = (Place::new(Kind::Ordinary, 4096), Place::new(Kind::Pinned, 4096));
    let null: *mut c_void = std::ptr::null_mut();
    let bad = SCONCE_ERROR_INVALID_ARGUMENT;
    for call in [Call::new(rows(16, 8), 1), {
        let mut desc = rows(16, 8);
        desc.normalization = SCONCE_FFT_NORM_BY_N;
        Call::new(desc, 2)
    }] {
        for (at, (input, output, status, words)) in [
            (from.at(4), to.start(), bad, "input 0x"),
            (from.start(), to.at(4), bad, "aligned"),
            (from.start(), from.at(8), bad, "output lies over input"),
            (from.at(8), from.start(), bad, "output lies over input"),
            (from.at(1016), from.start(), bad, "output lies over input"),
            (null, to.start(), bad, "input is NULL"),
            (from.start(), null, bad, "output is NULL"),
            (null, null, bad, "input is NULL"),
            (ordinary.start(), to.start(), bad, "input 0x"),
            (from.start(), pinned.start(), bad, "output 0x"),
            (from.start(), there.start(), SCONCE_ERROR_CROSS_DEVICE, "device"),
            (there.start(), to.start(), SCONCE_ERROR_CROSS_DEVICE, "device"),
            (std::ptr::without_provenance_mut(usize::MAX - 7), to.start(), bad, "input 0x"),
        ]
        .into_iter()
        .enumerate()
        {
            for _ in 0..3 {
                call.goes(0, from.start(), to.start(), words);
            }
            let (hits, executed) = (stats(0).hits, calls("fft_execute"));
            let found = run(&call.desc, input, output);
            let message = last_message();
            assert_eq!(found, status, "{at}: {words}: {message}");
            assert!(message.contains(words), "{at}: {words}: {message}");
            assert_eq!((stats(0).hits, calls("fft_execute")), (hits, executed), "{at}");
        }
    }
    // Elements of real sides may lie where pairs may not; the library does not take them there.
    let real = Call::new(desc(SCONCE_FFT_R2C, SCONCE_DTYPE_F32, &[16], 1), 3);
    let mut back = desc(SCONCE_FFT_C2R, SCONCE_DTYPE_F32, &[16], 1);
    back.may_overwrite_input = true.into();
    let back = Call::new(back, 4);
    for distance in [0, 0, 4, 4, 0, 8, 12] {
        real.goes(0, from.at(distance), to.start(), "real input");
        back.goes(0, from.start(), to.at(distance), "real output");
    }
    fresh_both();
}

#[test]
fn sides_that_have_no_room_are_refused_though_the_address_is_the_same() {
    let _alone = alone();
    fresh_both();
    let call = Call::new(rows(128, 2), 1);
    let bytes = call.given.len();
    let stream = pooled(0);
    // Freed here, by another thread, and when another stream uses it or used it.
    for (way, side) in [0, 1, 2, 3].into_iter().flat_map(|way| [(way, 0), (way, 1)]) {
        let what = format!("way {way}, side {side}");
        let [changing, other] = [0, 1].map(|_| Block::new(bytes));
        let goes = |block: &Block, what: &str| {
            let (one, two) = (block.start(), other.start());
            let (input, output) = if side == 0 { (one, two) } else { (two, one) };
            call.goes(0, input, output, what);
        };
        let refused = |address: usize, what: &str| {
            let at = std::ptr::with_exposed_provenance_mut(address);
            let (input, output) = if side == 0 { (at, other.start()) } else { (other.start(), at) };
            let executed = calls("fft_execute");
            assert_eq!(run(&call.desc, input, output), SCONCE_ERROR_INVALID_ARGUMENT, "{what}");
            assert!(last_message().contains("that has less than"), "{what}: {}", last_message());
            assert_eq!(calls("fft_execute"), executed);
        };
        let record = |block: &Block| {
            assert_eq!(
                sconce_memory_record_stream(block.start(), stream),
                SCONCE_OK,
                "{}",
                last_message()
            );
        };
        if way == 2 {
            record(&changing);
        }
        (0..3).for_each(|_| goes(&changing, &what));
        if way == 3 {
            record(&changing);
            (0..2).for_each(|_| goes(&changing, &what));
        }
        let address = changing.address();
        if way == 1 {
            std::thread::scope(|scope| {
                scope.spawn(|| changing.free());
            });
        } else {
            changing.free();
        }
        for _ in 0..3 {
            let small = Block::new_at(address, bytes / 4).expect("the address comes again");
            (0..2).for_each(|_| refused(address, &what));
            small.free();
        }
        // The same size, and room to spare.
        for bytes in [bytes, 2 * bytes] {
            if let Some(block) = Block::new_at(address, bytes) {
                (0..3).for_each(|_| goes(&block, &what));
                block.free();
            }
        }
        let small = Block::new_at(address, bytes / 2).expect("the address comes again");
        refused(address, &what);
        small.free();
    }
    fresh_both();
}

#[test]
fn memory_that_went_back_to_the_driver_is_refused() {
    let _alone = alone();
    fresh_both();
    let call = Call::new(rows(128, 2), 1);
    let executed = |status: sconce_status, input, output| {
        let before = calls("fft_execute");
        assert_eq!(run(&call.desc, input, output), status, "{}", last_message());
        calls("fft_execute") - before
    };
    for (elsewhere, side) in [(false, 0), (false, 1), (true, 0), (true, 1)] {
        // A segment of its own.
        let (large, other) = (Block::new(32 << 20), Block::new(4096));
        let (at, there) = (large.start(), other.start());
        let (input, output) = if side == 0 { (at, there) } else { (there, at) };
        (0..3).for_each(|_| call.goes(0, input, output, "live"));
        if elsewhere {
            std::thread::scope(|scope| {
                scope.spawn(|| large.free());
            });
        } else {
            large.free();
        }
        // As at the first call: while the segment stays, it is the device's memory.
        let first = std::thread::scope(|scope| {
            let (desc, input, output) = (call.desc, input.addr(), output.addr());
            let first = scope.spawn(move || {
                let [input, output] = [input, output].map(std::ptr::without_provenance_mut);
                run(&desc, input, output)
            });
            first.join().unwrap()
        });
        assert_eq!(run(&call.desc, input, output), first);
        assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
        assert_eq!(sconce_memory_empty_cache(), SCONCE_OK);
        assert_eq!(executed(SCONCE_ERROR_INVALID_ARGUMENT, input, output), 0);
        assert_eq!(executed(SCONCE_OK, there, there), 1);
        assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
    }
    fresh_both();
}

#[test]
fn in_place_is_another_thing_where_sides_do_not_lie_alike() {
    let _alone = alone();
    fresh_both();
    let blocks = [0, 1].map(|_| Block::new(4096));
    // Inside of blocks too.
    for distance in [0, 256] {
        let [here, there] = [0, 1].map(|index: usize| blocks[index].at(distance));
        let mut wide = rows(8, 2);
        (wide.out_strides[0], wide.out_batch_stride) = (2, 16);
        for desc in [wide, desc(SCONCE_FFT_R2C, SCONCE_DTYPE_F32, &[4, 8], 1)] {
            let call = Call::new(desc, 1);
            for _ in 0..3 {
                (0..2).for_each(|_| call.goes(0, here, there, "apart"));
                let executed = calls("fft_execute");
                assert_eq!(run(&desc, here, here), SCONCE_ERROR_INVALID_ARGUMENT, "{desc:?}");
                assert!(last_message().contains("in place"), "{}", last_message());
                assert_eq!(calls("fft_execute"), executed);
            }
        }
        // In place the input goes; apart it stays, which the library does not see to.
        let mut back = desc(SCONCE_FFT_C2R, SCONCE_DTYPE_F32, &[4, 8], 2);
        (back.in_batch_stride, back.in_strides) = (20, [5, 1, 0]);
        (back.out_batch_stride, back.out_strides) = (40, [10, 1, 0]);
        let call = Call::new(back, 2);
        for _ in 0..3 {
            for _ in 0..2 {
                blocks[0].fill(0xFF);
                call.put(here);
                call.run(here, here);
                assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
                call.check(here, "in place");
            }
            (0..2).for_each(|_| call.goes(0, here, there, "apart"));
            assert_eq!(repeats::read(here, call.given.len()), call.given);
        }
    }
    fresh_both();
}

#[test]
fn a_block_that_was_cut_is_not_what_was_seen() {
    let _alone = alone();
    fresh_both();
    // What is cut off and merged again takes turns with two records: some blocks have the one that was
    // seen, at the same address.
    let desc = rows(16, 16_384);
    let bytes = 16 * 16_384 * 8;
    for side in [0, 1] {
        assert_eq!(sconce_memory_empty_cache(), SCONCE_OK);
        let other = Block::new(24 << 20);
        let run_at = |address: usize| {
            let at = std::ptr::with_exposed_provenance_mut(address);
            let there = other.start();
            let executed = calls("fft_execute");
            let status = if side == 0 { run(&desc, at, there) } else { run(&desc, there, at) };
            (status, calls("fft_execute") - executed)
        };
        let whole = Block::new(24 << 20);
        let address = whole.address();
        (0..2).for_each(|_| assert_eq!(run_at(address), (SCONCE_OK, 1)));
        whole.free();
        let [goes, short] = [(SCONCE_OK, 1), (SCONCE_ERROR_INVALID_ARGUMENT, 0)];
        for (room, expected) in [
            (3 * bytes / 4, short),
            (5 * bytes / 8, short),
            (3 * bytes / 4, short),
            (24 << 20, goes),
            (bytes, goes),
            (bytes - 512, short),
            (3 * bytes / 4, short),
            (5 * bytes / 8, short),
        ] {
            let block = Block::new(room);
            assert_eq!(block.address(), address);
            assert_eq!(run_at(address), expected, "side {side}, {room}: {}", last_message());
            assert_eq!(run_at(address), expected, "side {side}, {room}: {}", last_message());
            block.free();
        }
    }
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
    fresh_both();
}
