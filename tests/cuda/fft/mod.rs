//! What the CUDA backend hands to cuFFT.

#![allow(unsafe_code, reason = "reaches into the fake libraries")]
#![allow(clippy::unwrap_used, reason = "a test may fail loudly anywhere")]

mod failures;

use sconce_base::element::Dtype;
use sconce_driver::prelude::*;
use sconce_driver::{FftCall, FftDirection, FftKind, FftLayout, FftShape};
use testkit::fake_cuda::fft::{MADE, MAKE, PLAN, beside, call, device, packed, planned};
use testkit::fake_cuda::library::FakeLibrary;
use testkit::fake_cuda::{Fake, open_beside};

/// What the fake notes of the making of a plan.
fn made((fake, library): &(Fake, FakeLibrary), shape: &FftShape) -> [i64; 19] {
    library.calls();
    fake.driver.fft_plan(device(), shape).unwrap();
    let calls = library.calls();
    assert_eq!(calls[2].name, MAKE);
    calls[2].words[..19].try_into().unwrap()
}

#[test]
fn a_plan_is_made_without_memory_of_its_own_and_destroyed_at_the_end() {
    for before in [None, Some(0), Some(1)] {
        let (fake, library) = beside(&["WORKSPACE=12345678901"]);
        if let Some(before) = before {
            fake.push(before);
        }
        let plan = fake.driver.fft_plan(device(), &packed(FftKind::C2C, &[8], 2)).unwrap();
        assert_eq!(plan.workspace_bytes(), 12_345_678_901);
        assert_eq!(fake.current(), before);
        drop(plan);
        assert_eq!(fake.current(), before);
        let calls = library.calls();
        let told: Vec<_> = calls.iter().map(|c| (c.name.as_str(), c.device)).collect();
        assert_eq!(told, [(MADE[0], 1), (MADE[1], 1), (MAKE, 1), ("cufftDestroy", 1)]);
        assert_eq!(calls[1].words[..2], [PLAN, 0]);
        assert_eq!(calls[3].words[0], PLAN);
    }
}

#[test]
fn types_follow_kind_and_element() {
    let at = beside(&[]);
    for (element, real, complex) in
        [(Dtype::F16, 2, 6), (Dtype::Bf16, 14, 15), (Dtype::F32, 0, 4), (Dtype::F64, 1, 5)]
    {
        for (kind, input, output) in [
            (FftKind::C2C, complex, complex),
            (FftKind::R2C, real, complex),
            (FftKind::C2R, complex, real),
        ] {
            let words = made(&at, &FftShape { element, ..packed(kind, &[8, 16], 3) });
            assert_eq!([words[11], words[17], words[18]], [input, output, complex], "{kind:?}");
        }
    }
}

#[test]
fn packed_sides_go_without_layouts_and_all_others_with_both() {
    let at = beside(&[]);
    let wide = 1 << 33;
    for kind in [FftKind::C2C, FftKind::R2C, FftKind::C2R] {
        for sizes in [&[wide][..], &[6, 9], &[4, 5, 8]] {
            let whole = packed(kind, sizes, 7);
            let words = made(&at, &whole);
            let size = |i: usize| sizes.get(i).copied().unwrap_or(0);
            assert_eq!(words[1..6], [sizes.len() as i64, size(0), size(1), size(2), 7]);
            assert_eq!([words[6], words[12]], [0, 0], "{whole:?}");

            // Each of these, on either side, is not packed any more.
            let changes: [fn(&mut FftLayout); 4] = [
                |side| side.stride = 2,
                |side| side.distance += 1,
                |side| side.embed[1] += 1,
                |side| side.embed[2] += 1,
            ];
            for change in changes.into_iter().take(1 + sizes.len()) {
                for input in [true, false] {
                    let mut shape = whole;
                    change(if input { &mut shape.input } else { &mut shape.output });
                    assert_layouts(&at, &shape);
                }
            }
        }
    }
}

/// Both layouts arrive as they are in the shape.
fn assert_layouts(at: &(Fake, FakeLibrary), shape: &FftShape) {
    let words = made(at, shape);
    for (side, at) in [(shape.input, 6), (shape.output, 12)] {
        let inner = |i| if i < shape.rank { side.embed[i] } else { 0 };
        let expected = [1, inner(1), inner(2), side.stride, side.distance];
        assert_eq!(words[at..at + 5], expected, "{shape:?}");
    }
}

#[test]
fn a_single_transform_is_packed_wherever_the_next_one_would_be() {
    let at = beside(&[]);
    for kind in [FftKind::C2C, FftKind::R2C, FftKind::C2R] {
        let mut shape = packed(kind, &[6, 9], 1);
        shape.input.distance = 1000;
        shape.output.distance = 2000;
        shape.input.embed[0] = 77;
        shape.output.embed[0] = 0;
        let words = made(&at, &shape);
        assert_eq!([words[6], words[12]], [0, 0], "{shape:?}");
        shape.batch = 2;
        assert_layouts(&at, &shape);
    }
}

#[test]
fn a_product_of_sizes_beyond_64_bits_is_no_packed_distance() {
    let at = beside(&[]);
    let mut shape = packed(FftKind::C2C, &[4, 5, 8], 2);
    shape.sizes = [(1 << 31) + 1, (1 << 31) + 1, 9];
    let wrapped = shape.sizes.into_iter().fold(1_i64, i64::wrapping_mul);
    for side in [&mut shape.input, &mut shape.output] {
        (side.embed, side.distance) = (shape.sizes, wrapped);
    }
    assert_layouts(&at, &shape);
}

#[test]
fn executing_sets_only_what_differs() {
    let (fake, library, mut plan) = planned(&[]);
    let (set_stream, set_work_area, execute) =
        ("cufftSetStream", "cufftSetWorkArea", "cufftXtExec");
    for (stream, workspace, expected) in [
        (0, 0xA000, &[set_work_area, execute][..]), // a plan starts on the default stream
        (0, 0xA000, &[execute]),
        (0, 0xA000, &[execute]),
        (0x7000, 0xA000, &[set_stream, execute]),
        (0x7000, 0xB000, &[set_work_area, execute]),
        (0x8000, 0xC000, &[set_stream, set_work_area, execute]),
        (0x8000, 0xC000, &[execute]),
        (0, 0xC000, &[set_stream, execute]),
    ] {
        let asked = fake.state().get_current;
        plan.execute(&call(stream, workspace)).unwrap();
        assert_eq!(fake.state().get_current - asked, 1, "one look at the context");
        let calls = library.calls();
        let names: Vec<_> = calls.iter().map(|call| call.name.as_str()).collect();
        assert_eq!(names, expected, "{stream:#x} {workspace:#x}");
        for call in calls {
            assert_eq!((call.device, call.words[0]), (1, PLAN));
            let told = match call.name.as_str() {
                "cufftSetStream" => stream as i64,
                "cufftSetWorkArea" => workspace as i64,
                _ => 0x1000,
            };
            assert_eq!(call.words[1], told);
        }
        assert_eq!(fake.current(), None);
    }
}

#[test]
fn a_plan_without_workspace_is_never_given_one() {
    let (_fake, library, mut plan) = planned(&["WORKSPACE=0"]);
    assert_eq!(plan.workspace_bytes(), 0);
    for workspace in [0, 0xA000, 0xB000] {
        plan.execute(&call(0, workspace)).unwrap();
        assert_eq!(library.names(), ["cufftXtExec"]);
    }
}

#[test]
fn directions_are_signs_of_the_exponent() {
    let (_fake, library, mut plan) = planned(&["WORKSPACE=0"]);
    for (direction, sign) in [(FftDirection::Forward, -1), (FftDirection::Inverse, 1)] {
        plan.execute(&FftCall { direction, ..call(0, 0) }).unwrap();
        assert_eq!(library.calls()[0].words[..4], [PLAN, 0x1000, 0x2000, sign]);
    }
}

#[test]
fn a_plan_may_go_to_another_thread() {
    let (fake, library, mut plan) = planned(&[]);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            plan.execute(&call(0x7000, 0xA000)).unwrap();
            drop(plan);
            fake.current()
        });
        assert_eq!(other.join().unwrap(), None);
    });
    let calls = library.calls();
    assert_eq!(calls.len(), 4);
    assert!(calls.iter().all(|call| call.device == 1), "{calls:?}");
}

#[test]
fn old_libraries_keep_fewer_plans() {
    for (defines, most) in [
        (&["VERSION=9020"][..], 1023),
        (&["VERSION=9999"], 1023),
        (&["VERSION=10000"], 4096),
        (&["VERSION=12000"], 4096),
        (&["VERSION=9020", "cufftGetVersion=gone"], 4096),
    ] {
        let (fake, _library) = beside(defines);
        assert_eq!(fake.driver.fft_most_plans(), most, "{defines:?}");
        assert_eq!(fake.state().retains, 0, "no context was made");
    }
    let (fake, library) = beside(&["VERSION=9020"]);
    library.fail("cufftGetVersion", 5);
    assert_eq!(fake.driver.fft_most_plans(), 4096);
    let without = open_beside(&[], |config| config.libcufft = Some("/none.so".into()));
    assert_eq!(without.ok().unwrap().driver.fft_most_plans(), 4096);
}
