//! Descriptions in turn between the same blocks: each word of one counts, and so does what is done
//! beside executing.

use sconce::*;
use testkit::libraries::fft::{desc, rows, stats};
use testkit::libraries::repeats::{self, Block, Call, fresh_both, large};
use testkit::places::{self, alone, calls};

/// A random number below `most`.
fn random(state: &mut u64, most: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize % most
}

/// Does two transforms in turn between the same blocks.
fn in_turn(blocks: &[Block; 2], one: &Call, other: &Call, times: usize, what: &str) {
    for _ in 0..times {
        for call in [one, other] {
            call.goes(0, blocks[0].start(), blocks[1].start(), what);
        }
    }
}

#[test]
fn descriptions_that_differ_in_one_word_are_two() {
    let _alone = alone();
    fresh_both();
    let blocks = [0, 1].map(|_| Block::new(64 << 10));
    let mut base = desc(SCONCE_FFT_C2C, SCONCE_DTYPE_F32, &[4, 8], 2);
    (base.in_batch_stride, base.in_strides) = (64, [16, 1, 0]);
    (base.out_batch_stride, base.out_strides) = (128, [16, 1, 0]);
    type Change = fn(&mut sconce_fft_desc);
    let changes: [Change; 20] = [
        |d| d.direction = SCONCE_FFT_INVERSE,
        |d| d.normalization = SCONCE_FFT_NORM_BY_N,
        |d| d.normalization = SCONCE_FFT_NORM_BY_ROOT_N,
        |d| d.kind = SCONCE_FFT_R2C,
        |d| d.dtype = SCONCE_DTYPE_F16,
        |d| d.dtype = SCONCE_DTYPE_F64,
        |d| d.dtype = SCONCE_DTYPE_C64,
        |d| d.dtype = SCONCE_DTYPE_C128,
        |d| d.rank = 1,
        |d| d.sizes[0] = 3,
        |d| d.sizes[1] = 7,
        |d| d.sizes[2] = 5,
        |d| d.batch = 3,
        |d| d.in_batch_stride = 65,
        |d| d.in_strides[0] = 15,
        |d| d.in_strides[2] = 3,
        |d| d.out_batch_stride = 129,
        |d| d.out_strides[0] = 17,
        |d| d.out_strides[2] = 9,
        |d| d.may_overwrite_input = true.into(),
    ];
    let first = Call::new(base, 1);
    for (index, change) in changes.iter().enumerate() {
        let mut desc = base;
        change(&mut desc);
        in_turn(&blocks, &first, &Call::new(desc, 2), 4, &format!("change {index}"));
    }
    // The innermost strides, where the library takes one.
    let mut line = rows(16, 2);
    (line.in_batch_stride, line.in_strides) = (64, [1, 0, 0]);
    (line.out_batch_stride, line.out_strides) = (64, [1, 0, 0]);
    let first = Call::new(line, 3);
    let mut wide = [line; 2];
    wide[0].in_strides[0] = 3;
    wide[1].out_strides[0] = 3;
    wide.iter().for_each(|wide| in_turn(&blocks, &first, &Call::new(*wide, 4), 4, "innermost"));
    let mut deep = desc(SCONCE_FFT_C2C, SCONCE_DTYPE_F32, &[2, 3, 4], 2);
    (deep.in_batch_stride, deep.in_strides) = (128, [24, 8, 1]);
    (deep.out_batch_stride, deep.out_strides) = (128, [24, 8, 1]);
    let first = Call::new(deep, 5);
    let changes: [Change; 4] = [
        |d| (d.in_strides[1], d.in_strides[0]) = (6, 24),
        |d| d.in_strides[2] = 2,
        |d| (d.out_strides[1], d.out_strides[0]) = (6, 24),
        |d| d.out_strides[2] = 2,
    ];
    for change in changes {
        let mut desc = deep;
        change(&mut desc);
        in_turn(&blocks, &first, &Call::new(desc, 6), 4, "three dimensions");
    }
    // What may be overwritten is not what must be kept.
    let mut keeps = desc(SCONCE_FFT_C2R, SCONCE_DTYPE_F32, &[4, 8], 2);
    let keeping = Call::new(keeps, 7);
    keeps.may_overwrite_input = true.into();
    let overwriting = Call::new(keeps, 8);
    for _ in 0..4 {
        overwriting.goes(0, blocks[0].start(), blocks[1].start(), "may overwrite");
        keeping.goes(0, blocks[0].start(), blocks[1].start(), "keeps");
        assert_eq!(repeats::read(blocks[0].start(), keeping.given.len()), keeping.given);
    }
    fresh_both();
}

#[test]
fn descriptions_that_share_a_place_are_told_apart_by_every_word() {
    let _alone = alone();
    fresh_both();
    let blocks = [0, 1].map(|_| Block::new(64 << 10));
    // What differs finds places of their own mostly: of so many pairs some share one.
    type Change = fn(&mut sconce_fft_desc, i64);
    let changes: [(Change, i64); 7] = [
        (|d, _| d.kind = SCONCE_FFT_R2C, 0),
        (|d, _| d.direction = SCONCE_FFT_INVERSE, 0),
        (|d, _| d.dtype = SCONCE_DTYPE_F64, 0),
        (|d, by| d.sizes[0] += by, 1),
        (|d, by| d.sizes[1] += by, 1),
        (|d, by| d.sizes[2] += by, 1),
        (|d, by| d.batch += by, 1),
    ];
    for (index, (change, by)) in changes.iter().enumerate() {
        for turn in 0..100 {
            let sizes = if *by == 0 { [1, 1, 2 + turn] } else { [1, 2, 3] };
            let base = desc(SCONCE_FFT_C2C, SCONCE_DTYPE_F32, &sizes, 1);
            let mut changed = base;
            change(&mut changed, (turn + 1) * by);
            let what = format!("change {index}, turn {turn}");
            in_turn(&blocks, &Call::new(base, 1), &Call::new(changed, 2), 2, &what);
        }
    }
    fresh_both();
}

#[test]
fn more_descriptions_than_are_remembered_go_as_well() {
    let _alone = alone();
    fresh_both();
    let blocks = [0, 1].map(|_| Block::new(16 << 10));
    let calls: Vec<Call> = (0..100)
        .map(|at| {
            let mut desc = rows(2 + at % 50, 1 + at / 50);
            desc.direction = (at % 2) as i32;
            Call::new(desc, at as u64)
        })
        .collect();
    let mut state = 3;
    for round in 0..4 {
        for at in 0..100 {
            let at = if round == 2 { random(&mut state, 100) } else { at };
            calls[at].goes(0, blocks[0].start(), blocks[1].start(), "of many");
        }
    }
    let stats = stats(0);
    assert_eq!((stats.size, stats.misses, stats.hits), (100, 100, 300));
    fresh_both();
}

#[test]
fn workspaces_and_divisions_come_with_every_repeat() {
    let _alone = alone();
    fresh_both();
    let blocks = [0, 1].map(|_| Block::new(64 << 10));
    let mut all = Vec::new();
    for mut desc in [large(), rows(16, 3)] {
        for normalization in [0, 1, 2] {
            desc.normalization = normalization;
            all.push(Call::new(desc, normalization as u64));
        }
    }
    for round in 0..4 {
        for call in &all {
            for _ in 0..3 {
                let allocated = places::allocated(0);
                call.goes(0, blocks[0].start(), blocks[1].start(), "repeated");
                assert_eq!(places::allocated(0), allocated, "the workspace is back");
            }
        }
        assert_eq!(stats(0).misses, 2, "round {round}");
    }
    assert_eq!(calls("fft_execute"), 4 * 18);
    assert_eq!(calls("kernel_launch"), 4 * 12);
    assert!(stats(0).workspace_bytes > 0);
    fresh_both();
}

#[test]
fn sides_that_the_library_cannot_take_are_packed_at_every_repeat() {
    let _alone = alone();
    fresh_both();
    let blocks = [0, 1, 2].map(|_| Block::new(4096));
    let base = desc(SCONCE_FFT_C2C, SCONCE_DTYPE_F32, &[4, 8], 2);
    let strides = |batch, outer, inner| (batch, [outer, inner, 0]);
    // Turned, backwards (as a whole, and where the library could take it), and one repeated.
    for (input, output) in [
        (strides(32, 1, 4), (0, [0; 3])),
        ((0, [0; 3]), strides(32, 1, 4)),
        (strides(32, 1, 4), strides(32, 1, 4)),
        (strides(32, -8, -1), (0, [0; 3])),
        (strides(-32, 8, 1), (0, [0; 3])),
        (strides(0, 8, 1), (0, [0; 3])),
        (strides(64, 9, 1), strides(64, 10, 1)),
    ] {
        let mut desc = base;
        (desc.in_batch_stride, desc.in_strides) = input;
        (desc.out_batch_stride, desc.out_strides) = output;
        let call = Call::new(desc, 3);
        for to in [1, 1, 1, 2, 1] {
            let what = format!("{input:?} {output:?}");
            call.goes(0, blocks[0].start(), blocks[to].start(), &what);
            assert_eq!(repeats::read(blocks[0].start(), call.given.len()), call.given, "{what}");
        }
    }
    fresh_both();
}
