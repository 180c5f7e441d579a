//! A transform that is repeated takes the fast path: nothing else would notice if it did not.

use std::ffi::c_void;

use sconce::sconce_status::*;
use sconce::*;
use sconce_compute::fft::{RawDescriptor, transform_known};
use testkit::libraries::fft::{fresh, rows, run, stats};
use testkit::libraries::repeats::Block;
use testkit::places::{alone, default_stream, own_stream};

/// Transforms if the fast path does it.
fn is_short(desc: &sconce_fft_desc, input: *mut c_void, output: *mut c_void) -> bool {
    // SAFETY: up to the last field there are integers without a gap, as many bytes as 15 words.
    let words = unsafe { &*std::ptr::from_ref(desc).cast::<[u64; 15]>() };
    let description =
        RawDescriptor { words, may_overwrite_input: desc.may_overwrite_input.is_true().into() };
    match transform_known(&description, input.expose_provenance(), output.expose_provenance()) {
        Some(done) => done.map(|()| true).unwrap(),
        None => false,
    }
}

#[test]
fn what_was_transformed_before_takes_the_short_way() {
    let _alone = alone();
    fresh(0);
    let mut divided = rows(16, 2);
    divided.normalization = SCONCE_FFT_NORM_BY_N;
    // Plain, with a division, with a workspace.
    for desc in [rows(16, 2), divided, rows(4500, 1)] {
        let blocks = [(); 3].map(|()| Block::new(1 << 16));
        let [one, two, three] = [0, 1, 2].map(|index: usize| blocks[index].start());
        assert!(!is_short(&desc, one, two), "nothing is known yet");
        assert_eq!(run(&desc, one, two), SCONCE_OK);
        let before = stats(0);
        // The same, others, inside of others, and back.
        for (input, output) in [
            (one, two),
            (one, two),
            (two, three),
            (blocks[0].at(64), blocks[2].at(128)),
            (one, two),
        ] {
            assert!(is_short(&desc, input, output), "{} points", desc.sizes[0]);
        }
        assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
        own_stream(0);
        assert!(is_short(&desc, one, two), "on another stream");
        assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
        assert_eq!(sconce_stream_set_current(default_stream(0)), SCONCE_OK);
        assert!(is_short(&desc, one, two), "and back");
        let after = stats(0);
        assert_eq!((after.hits - before.hits, after.misses - before.misses), (7, 0));
        // In place is another way to lie.
        assert!(!is_short(&desc, one, one));
        assert_eq!(sconce_fft_cache_clear(0), SCONCE_OK);
        assert!(!is_short(&desc, one, two), "the plan has gone");
    }
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
    fresh(0);
}

#[test]
fn many_descriptions_in_turn_take_the_short_way() {
    let _alone = alone();
    fresh(0);
    let blocks = [(); 2].map(|()| Block::new(1 << 16));
    let [input, output] = [0, 1].map(|index: usize| blocks[index].start());
    // Two of a place stay; with these sizes no three share one and its neighbour.
    let descs: Vec<sconce_fft_desc> = [8, 12, 16, 60, 64, 100, 128].map(|n| rows(n, 2)).into();
    for desc in &descs {
        assert_eq!(run(desc, input, output), SCONCE_OK);
    }
    for desc in descs.iter().cycle().take(50) {
        assert!(is_short(desc, input, output), "{} points", desc.sizes[0]);
    }
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
    fresh(0);
}
