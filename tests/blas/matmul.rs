//! Products of matrices against their definition: any strides, types, factors; the switches; when
//! they run, and what is refused.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use sconce::sconce_status::*;
use sconce::*;
use testkit::libraries::products::{
    self, Block, expected, extent, multiply, plain, sizes, synchronize,
};
use testkit::numbers::{Random, width};
use testkit::places::{
    self, Kind, Place, allocated, alone, calls, default_stream, own_stream, run_until_idle,
    step_all,
};

const DTYPES: [i32; 4] = [SCONCE_DTYPE_F16, SCONCE_DTYPE_BF16, SCONCE_DTYPE_F32, SCONCE_DTYPE_F64];

/// Numbers that every type holds exactly, as it does their sums.
fn small(random: &mut Random, count: usize) -> Vec<f64> {
    (0..count).map(|_| (random.below(5) - 2) as f64).collect()
}

/// Strides under which no two places are one: any order of the axes, with gaps.
fn apart(random: &mut Random, sizes: [i64; 3]) -> [i64; 3] {
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let (mut strides, mut next) = ([0; 3], random.one_of(&[1, 1, 1, 2]));
    for axis in random.one_of(&orders).into_iter().rev() {
        strides[axis] = next;
        next = next * sizes[axis].max(1) + random.one_of(&[0, 0, 1, 3]);
    }
    strides
}

fn any_factor(random: &mut Random, sizes: [i64; 3]) -> [i64; 3] {
    match random.below(5) {
        0 => [0; 3],
        // Repeated, overlapping, or both.
        1 => [random.below(4), random.below(4), random.below(4)],
        2 => {
            let [_, row, column] = apart(random, sizes);
            [0, row, column]
        }
        _ => apart(random, sizes),
    }
}

fn any(random: &mut Random) -> sconce_matmul_desc {
    let size = |random: &mut Random, most: u64| random.below(most + 1).max(random.below(2));
    let (m, n, k) = (size(random, 6), size(random, 6), size(random, 8));
    let mut desc = plain(random.one_of(&[1, 1, 2, 3, 0]), m, n, k);
    desc.dtype = random.one_of(&DTYPES);
    desc.alpha = random.one_of(&[1.0, 1.0, -1.0, 2.0, 0.5]);
    desc.beta = random.one_of(&[0.0, 0.0, 1.0, -1.0, 2.0]);
    (desc.transpose_a, desc.transpose_b) =
        ((random.below(2) == 1).into(), (random.below(2) == 1).into());
    let [a, b, c] = sizes(&desc);
    desc.a_strides = any_factor(random, a);
    desc.b_strides = any_factor(random, b);
    desc.c_strides = if random.below(4) == 0 { [0; 3] } else { apart(random, c) };
    desc
}

#[test]
fn products_of_any_shape_are_what_their_definition_says() {
    let test = "products_of_any_shape_are_what_their_definition_says";
    testkit::in_child(test, &[("SCONCE_BACKEND", "sim")], many_products);
}

fn many_products() {
    let mut random = Random(11);
    for turn in 0..1500 {
        let desc = any(&mut random);
        let [na, nb, nc] = [
            extent(sizes(&desc)[0], desc.a_strides),
            extent(sizes(&desc)[1], desc.b_strides),
            extent(sizes(&desc)[2], desc.c_strides),
        ];
        let (a, b) = (small(&mut random, na), small(&mut random, nb));
        // Around `c` there is more, which must stay as it is.
        let mut c = small(&mut random, nc + 7);
        if desc.beta == 0.0 && turn % 2 == 0 {
            c.fill(f64::NAN);
        }
        let wanted = expected(&desc, &a, &b, &c);
        let [on_a, on_b] = [&a, &b].map(|numbers| Block::of(desc.dtype, numbers));
        let on_c = Block::of(desc.dtype, &c);
        if turn % 3 == 0 {
            own_stream(0);
        }
        multiply(&desc, on_a.0, on_b.0, on_c.0)
            .unwrap_or_else(|error| panic!("{desc:?}: {error:?}"));
        synchronize(0);
        let found = on_c.read(desc.dtype, c.len());
        let same =
            |(found, wanted): (&f64, &f64)| found == wanted || (found.is_nan() && wanted.is_nan());
        assert!(found.iter().zip(&wanted).all(same), "{desc:?}\n{found:?}\n{wanted:?}");
    }
    let through_copies = calls("kernel_launch") + calls("copy_2d_async");
    assert!(through_copies > 300, "{through_copies}");
    assert_eq!(sconce_stream_set_current(default_stream(0)), SCONCE_OK);
    assert_eq!(sconce_blas_clear_workspaces(), SCONCE_OK);
    assert_eq!(allocated(0), 0);
}

#[test]
fn memory_inside_of_blocks_and_of_others_is_taken() {
    let _alone = alone();
    let desc = plain(1, 2, 2, 2);
    let bytes = |numbers: &[f64]| -> Vec<u8> {
        numbers.iter().flat_map(|number| (*number as f32).to_le_bytes()).collect()
    };
    let a = Place::holding(Kind::Device(0), &bytes(&[9.0, 1.0, 2.0, 3.0, 4.0]));
    let both = Block::of(SCONCE_DTYPE_F32, &[5.0, 6.0, 7.0, 8.0, -1.0, -1.0, -1.0, -1.0]);
    multiply(&desc, a.at(4), both.0, both.at(16)).unwrap();
    synchronize(0);
    assert_eq!(both.read(SCONCE_DTYPE_F32, 8)[4..], [19.0, 22.0, 43.0, 50.0]);
}

#[test]
fn slices_of_one_buffer_are_multiplied_and_overlaps_refused() {
    let _alone = alone();
    // Three matrices of 2 by 2 side by side in rows of 6.
    let numbers = [1.0, 2.0, 5.0, 6.0, 0.0, 0.0, 3.0, 4.0, 7.0, 8.0, 0.0, 0.0];
    let buffer = Block::of(SCONCE_DTYPE_F32, &numbers);
    let mut desc = plain(1, 2, 2, 2);
    (desc.a_strides, desc.b_strides, desc.c_strides) = ([0, 6, 1], [0, 6, 1], [0, 6, 1]);
    multiply(&desc, buffer.0, buffer.at(8), buffer.at(16)).unwrap();
    synchronize(0);
    let found = buffer.read(SCONCE_DTYPE_F32, 12);
    assert_eq!(found, [1.0, 2.0, 5.0, 6.0, 19.0, 22.0, 3.0, 4.0, 7.0, 8.0, 43.0, 50.0]);

    assert_eq!(sconce_sim_reset_call_counts(), SCONCE_OK);
    for (b, c, who) in [(8, 12, "c overlaps b"), (16, 4, "c overlaps a"), (8, 0, "c overlaps a")] {
        let (status, message) = multiply(&desc, buffer.0, buffer.at(b), buffer.at(c)).unwrap_err();
        assert_eq!(status, SCONCE_ERROR_INVALID_ARGUMENT);
        assert!(message.contains(who), "{message}");
    }
    desc.c_strides = [0, 1, 1];
    let (_, message) = multiply(&desc, buffer.0, buffer.at(8), buffer.at(16)).unwrap_err();
    assert!(message.contains("desc.c_strides: c overlaps itself"), "{message}");
    assert_eq!(calls("blas_gemm"), 0);
}

#[test]
fn what_is_out_of_bounds_is_refused_by_name() {
    let _alone = alone();
    let block = Block::new(1 << 16);
    let good = plain(2, 3, 4, 5);
    type Change = fn(&mut sconce_matmul_desc);
    let changes: [(Change, sconce_status, &str); 13] = [
        (|desc| desc.m = -1, SCONCE_ERROR_INVALID_ARGUMENT, "desc.m is -1"),
        (|desc| desc.n = -2, SCONCE_ERROR_INVALID_ARGUMENT, "desc.n is -2"),
        (|desc| desc.k = i64::MIN, SCONCE_ERROR_INVALID_ARGUMENT, "desc.k is -9223372036854775808"),
        (|desc| desc.batch = -1, SCONCE_ERROR_INVALID_ARGUMENT, "desc.batch is -1"),
        (|desc| desc.a_strides[0] = -1, SCONCE_ERROR_INVALID_ARGUMENT, "desc.a_strides[0] is -1"),
        (|desc| desc.b_strides[2] = -4, SCONCE_ERROR_INVALID_ARGUMENT, "desc.b_strides[2] is -4"),
        (|desc| desc.c_strides = [1, 1, 1], SCONCE_ERROR_INVALID_ARGUMENT, "c overlaps itself"),
        (|desc| desc.m = i64::MAX, SCONCE_ERROR_INVALID_ARGUMENT, "of a reach beyond"),
        (
            |desc| desc.b_strides = [i64::MAX, i64::MAX, 1],
            SCONCE_ERROR_INVALID_ARGUMENT,
            "of b reach beyond",
        ),
        (|desc| desc.m = 5000, SCONCE_ERROR_INVALID_ARGUMENT, "a 0x"),
        (|desc| desc.dtype = SCONCE_DTYPE_C32, SCONCE_ERROR_NOT_SUPPORTED, "desc.dtype"),
        (|desc| desc.dtype = 999, SCONCE_ERROR_INVALID_ARGUMENT, "dtype"),
        (|desc| desc.struct_size = 8, SCONCE_ERROR_INVALID_ARGUMENT, "struct_size"),
    ];
    for (change, status, text) in changes {
        let mut desc = good;
        change(&mut desc);
        let outcome = multiply(&desc, block.0, block.at(20_000), block.at(40_000));
        let (found, message) = outcome.expect_err(text);
        assert_eq!(found, status, "{text}: {message}");
        assert!(message.contains(text), "{text}: {message}");
    }
    let [host, end] = [Kind::Pinned, Kind::Device(0)].map(|kind| Place::new(kind, 1 << 16));
    let [a, b, c] = [block.0, block.at(20_000), block.at(40_000)];
    let null = std::ptr::null_mut();
    for (a, b, c, text) in [
        (null, b, c, "a is NULL"),
        (a, null, c, "b is NULL"),
        (a, b, null, "c is NULL"),
        (a, host.start(), c, "not memory of a device"),
        (block.at(2), b, c, "not aligned"),
        (a, b, end.at((1 << 16) - 4), "c 0x"),
    ] {
        let (status, message) = multiply(&good, a, b, c).unwrap_err();
        assert_eq!(status, SCONCE_ERROR_INVALID_ARGUMENT);
        assert!(message.contains(text), "{text}: {message}");
    }
    assert_eq!(calls("blas_gemm"), 0);
    // SAFETY: no description at all.
    let status = unsafe { sconce_matmul(std::ptr::null(), a, b, c) };
    assert_eq!(status, SCONCE_ERROR_INVALID_ARGUMENT);
}

#[test]
fn nothing_to_do_is_done_without_memory() {
    let _alone = alone();
    let null = std::ptr::null_mut();
    for (batch, m, n) in [(0, 3, 3), (2, 0, 3), (2, 3, 0)] {
        multiply(&plain(batch, m, n, 4), null, null, null).unwrap();
    }
    assert_eq!((calls("blas_create"), calls("blas_gemm")), (0, 0));
    // Without terms the sum is 0.
    let c = Block::of(SCONCE_DTYPE_F32, &[1.0, 2.0, 3.0, 4.0]);
    let mut desc = plain(1, 2, 2, 0);
    desc.beta = 3.0;
    multiply(&desc, null, null, c.0).unwrap();
    synchronize(0);
    assert_eq!(c.read(SCONCE_DTYPE_F32, 4), [3.0, 6.0, 9.0, 12.0]);
    multiply(&plain(1, 2, 2, 0), null, null, c.0).unwrap();
    synchronize(0);
    assert_eq!(c.read(SCONCE_DTYPE_F32, 4), [0.0; 4]);
}

/// The largest error of a product of fractions, of its largest element.
fn error_of(dtype: i32) -> f64 {
    let mut random = Random(5);
    let mut desc = plain(1, 16, 16, 64);
    desc.dtype = dtype;
    let round = |number: f64| f64::from(number as f32);
    let numbers =
        |random: &mut Random| (0..16 * 64).map(|_| round(random.unit())).collect::<Vec<_>>();
    let (a, b) = (numbers(&mut random), numbers(&mut random));
    let wanted = expected(&desc, &a, &b, &[0.0; 256]);
    let [on_a, on_b] = [&a, &b].map(|numbers| Block::of(dtype, numbers));
    let c = Block::new(256 * width(dtype));
    multiply(&desc, on_a.0, on_b.0, c.0).unwrap();
    synchronize(0);
    let found = c.read(dtype, 256);
    let largest = wanted.iter().fold(0.0, |most: f64, number| most.max(number.abs()));
    let off = found.iter().zip(&wanted).map(|(found, wanted)| (found - wanted).abs());
    off.fold(0.0, f64::max) / largest
}

#[test]
fn the_tf32_switch_holds_as_it_is_at_the_call() {
    let _alone = alone();
    let is_tf32 = |error: f64| (1e-5..5e-3).contains(&error);
    let is_f32 = |error: f64| (1e-9..1e-6).contains(&error);
    for _ in 0..2 {
        sconce_context_set_allow_tf32_cublas(true.into());
        let with = error_of(SCONCE_DTYPE_F32);
        sconce_context_set_allow_tf32_cublas(false.into());
        let without = error_of(SCONCE_DTYPE_F32);
        assert!(is_tf32(with) && is_f32(without), "{with} {without}");
    }
    for (precision, tf32) in [(1, true), (0, false), (2, true)] {
        assert_eq!(sconce_context_set_float32_matmul_precision(precision), SCONCE_OK);
        let error = error_of(SCONCE_DTYPE_F32);
        assert!(if tf32 { is_tf32(error) } else { is_f32(error) }, "{precision}: {error}");
    }
    // It is the switch of F32.
    assert!(error_of(SCONCE_DTYPE_F64) < 1e-14);
}

#[test]
fn products_run_when_their_stream_comes_to_them() {
    let _alone = alone();
    let [a, b, c] = [[1.0], [2.0], [7.0]].map(|number| Block::of(SCONCE_DTYPE_F32, &number));
    synchronize(0);
    assert_eq!(sconce_sim_set_manual(true.into()), SCONCE_OK);
    let stream = own_stream(0);
    multiply(&plain(1, 1, 1, 1), a.0, b.0, c.0).unwrap();
    let mut again = plain(1, 1, 1, 1);
    again.beta = 1.0;
    multiply(&again, a.0, b.0, c.0).unwrap();
    assert_eq!(places::pending(stream), 2);
    let mut stepped = false;
    // SAFETY: a good place.
    assert_eq!(unsafe { sconce_sim_step(stream, &raw mut stepped) }, SCONCE_OK);
    assert!(stepped);
    assert_eq!(step_all(default_stream(0)), 0);
    assert_eq!(step_all(stream), 1);
    run_until_idle();
    assert_eq!(sconce_sim_set_manual(false.into()), SCONCE_OK);
    synchronize(0);
    assert_eq!(c.read(SCONCE_DTYPE_F32, 1), [4.0]);
    assert_eq!(sconce_stream_set_current(default_stream(0)), SCONCE_OK);
}

#[test]
fn a_product_runs_on_the_device_of_its_memory() {
    let _alone = alone();
    let here = [[1.0], [2.0], [0.0]].map(|number| Block::of(SCONCE_DTYPE_F32, &number));
    assert_eq!(sconce_device_set_current(1), SCONCE_OK);
    let there = [[3.0], [4.0], [0.0]].map(|number| Block::of(SCONCE_DTYPE_F32, &number));
    assert_eq!(sconce_device_set_current(0), SCONCE_OK);
    let desc = plain(1, 1, 1, 1);
    multiply(&desc, there[0].0, there[1].0, there[2].0).unwrap();
    multiply(&desc, here[0].0, here[1].0, here[2].0).unwrap();
    synchronize(0);
    synchronize(1);
    assert_eq!(there[2].read(SCONCE_DTYPE_F32, 1), [12.0]);
    assert_eq!(here[2].read(SCONCE_DTYPE_F32, 1), [2.0]);
    for (a, b, c) in [(1, 0, 0), (0, 1, 0), (0, 0, 1)] {
        let [a, b, c] = [(a, 0), (b, 1), (c, 2)].map(|(device, at)| [&here, &there][device][at].0);
        let (status, message) = multiply(&desc, a, b, c).unwrap_err();
        assert_eq!(status, SCONCE_ERROR_CROSS_DEVICE, "{message}");
        assert!(message.contains("memory of device"), "{message}");
    }
}

#[test]
fn deterministic_algorithms_need_a_deterministic_workspace() {
    let test = "deterministic_algorithms_need_a_deterministic_workspace";
    testkit::in_child(test, &[("SCONCE_BACKEND", "sim")], || {
        let blocks = [[1.0], [2.0], [0.0]].map(|number| Block::of(SCONCE_DTYPE_F32, &number));
        let [a, b, c] = [0, 1, 2].map(|at: usize| blocks[at].0);
        sconce_context_set_deterministic_algorithms(true.into());
        products::handle();
        let (status, message) = multiply(&plain(1, 1, 1, 1), a, b, c).unwrap_err();
        assert_eq!(status, SCONCE_ERROR_INVALID_STATE);
        assert!(message.contains(":4096:8") && message.contains(":16:8"), "{message}");
        sconce_context_set_deterministic_algorithms(false.into());
        multiply(&plain(1, 1, 1, 1), a, b, c).unwrap();
    });
}

#[test]
fn deterministic_products_with_large_workspaces() {
    deterministic("deterministic_products_with_large_workspaces", ":4096:8");
}

#[test]
fn deterministic_products_with_small_workspaces() {
    deterministic("deterministic_products_with_small_workspaces", ":16:8");
}

fn deterministic(test: &str, workspace: &str) {
    let environment = [("SCONCE_BACKEND", "sim"), ("CUBLAS_WORKSPACE_CONFIG", workspace)];
    testkit::in_child(test, &environment, || {
        let blocks = [[1.0], [2.0], [0.0]].map(|number| Block::of(SCONCE_DTYPE_F32, &number));
        sconce_context_set_deterministic_algorithms(true.into());
        multiply(&plain(1, 1, 1, 1), blocks[0].0, blocks[1].0, blocks[2].0).unwrap();
        synchronize(0);
        assert_eq!(blocks[2].read(SCONCE_DTYPE_F32, 1), [2.0]);
    });
}
