//! Transforms of any layout against sums taken directly; what is refused and how it is said.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use proptest::prelude::*;
use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::libraries::fft::{self, Complex, Side, desc, rows, run};
use testkit::numbers::{encode_all, width};
use testkit::places::{self, Kind, Place, alone, pattern};

/// Random elements of an input.
fn elements(desc: &sconce_fft_desc, seed: u64) -> Vec<Complex> {
    let side = Side::of(desc, false);
    let count = side.elements();
    let numbers = fft::numbers(seed, 2 * count);
    let imaginary = if side.complex { 1.0 } else { 0.0 };
    let mut elements: Vec<Complex> =
        numbers.chunks(2).map(|pair| (pair[0], pair[1] * imaginary)).collect();
    if desc.kind == SCONCE_FFT_C2R {
        fft::make_hermitian(&mut elements, desc);
    }
    elements
}

/// Memory of device 0 that holds `data` from `margin` bytes on.
fn at_distance(data: &[u8], margin: usize) -> Place {
    let mut all = vec![0xEE; margin];
    all.extend(data);
    Place::holding(Kind::Device(0), &all)
}

/// Transforms out of place, and again at other addresses, which what the thread remembers of the
/// description must fit.
fn check(desc: &sconce_fft_desc, seed: u64, margins: [usize; 2]) {
    check_once(desc, seed, margins);
    // One element further, which is another place within a pair of reals.
    let [from, to] = [false, true].map(|output| Side::of(desc, output).reals() * width(desc.dtype));
    check_once(desc, seed ^ 1, [margins[0] + from, margins[1] + to]);
}

/// Transforms out of place and checks every byte of both sides.
fn check_once(desc: &sconce_fft_desc, seed: u64, margins: [usize; 2]) {
    let dtype = desc.dtype;
    let (from, to) = (Side::of(desc, false), Side::of(desc, true));
    let mut given = pattern(1, from.bytes(dtype));
    fft::scatter(&elements(desc, seed), &from, dtype, &mut given);
    // What lies over each other was written last.
    let expected = fft::expected(desc, &fft::gather(&given, &from, dtype));
    let before = pattern(2, to.bytes(dtype));
    let (input, output) = (at_distance(&given, margins[0]), at_distance(&before, margins[1]));
    let (start, end) = (margins[0] + from.start(dtype), margins[1] + to.start(dtype));
    assert_eq!(run(desc, input.at(start), output.at(end)), SCONCE_OK, "{}", last_message());
    let after = output.read();
    let found = fft::gather(&after[margins[1]..], &to, dtype);
    fft::assert_near(&found, &expected, dtype, "the result");
    // Nothing but the elements of the output was written.
    let mut rest = after[margins[1]..].to_vec();
    let each = to.reals() * width(dtype);
    for place in to.places() {
        rest[place * each..][..each].copy_from_slice(&before[place * each..][..each]);
    }
    assert_eq!(rest, before, "beside the output");
    if !desc.may_overwrite_input.is_true() {
        assert_eq!(input.read()[margins[0]..], given, "the input");
    }
}

/// A side's strides: the axes in an order, gaps, signs; `None` is packed.
type Strides = Option<(u8, [i64; 4], [bool; 4])>;

fn strides() -> impl Strategy<Value = Strides> {
    let gaps = prop::array::uniform4(prop_oneof![2 => Just(0_i64), 1 => 1..4_i64]);
    let signs = prop::array::uniform4(prop::bool::weighted(0.1));
    let order = prop_oneof![2 => Just(0_u8), 1 => 0..24_u8];
    prop::option::weighted(0.7, (order, gaps, signs))
}

/// The batch's stride and the others'.
fn spread(strides: &Strides, sizes: &[i64]) -> (i64, [i64; 3]) {
    let Some((order, gaps, back)) = strides else { return (0, [0; 3]) };
    let mut axes: Vec<usize> = (0..sizes.len()).rev().collect();
    let mut order = usize::from(*order);
    for left in (1..axes.len()).rev() {
        axes[..=left].rotate_left(order % (left + 1));
        order /= left + 1;
    }
    let (mut all, mut extent) = ([0; 4], 1);
    for axis in axes {
        let stride = extent + gaps[axis];
        extent = stride * sizes[axis];
        all[axis] = if back[axis] { -stride } else { stride };
    }
    (all[0], [all[1], all[2], all[3]])
}

#[derive(Clone, Debug)]
struct Case {
    kind: i32,
    dtype: i32,
    sizes: Vec<i64>,
    batch: i64,
    inverse: bool,
    normalization: i32,
    input: Strides,
    output: Strides,
    may_overwrite_input: bool,
    seed: u64,
    margins: [usize; 2],
}

fn case() -> impl Strategy<Value = Case> {
    let dtype = prop_oneof![
        1 => Just(SCONCE_DTYPE_F16),
        3 => Just(SCONCE_DTYPE_F32),
        2 => Just(SCONCE_DTYPE_F64),
        1 => Just(SCONCE_DTYPE_C64),
        1 => Just(SCONCE_DTYPE_C128),
    ];
    let sizes = prop::collection::vec(prop_oneof![3 => 1..10_i64, 1 => 10..40_i64], 1..=3);
    let what = (0..3_i32, dtype, sizes, 1..4_i64);
    let how = (any::<bool>(), 0..3_i32, any::<bool>(), any::<u64>());
    let margins = prop::array::uniform2(0..3_usize);
    (what, how, strides(), strides(), margins).prop_map(|(what, how, input, output, margins)| {
        let (kind, dtype, mut sizes, batch) = what;
        if dtype == SCONCE_DTYPE_F16 {
            sizes.iter_mut().for_each(|size| *size = 1 << size.ilog2());
        }
        let (inverse, normalization, may_overwrite_input, seed) = how;
        Case {
            kind,
            dtype,
            sizes,
            batch,
            inverse,
            normalization,
            input,
            output,
            may_overwrite_input,
            seed,
            margins,
        }
    })
}

impl Case {
    fn desc(&self) -> sconce_fft_desc {
        let mut desc = desc(self.kind, self.dtype, &self.sizes, self.batch);
        if self.kind == SCONCE_FFT_C2C && self.inverse {
            desc.direction = SCONCE_FFT_INVERSE;
        }
        desc.normalization = self.normalization;
        desc.may_overwrite_input = self.may_overwrite_input.into();
        (desc.in_batch_stride, desc.in_strides) =
            spread(&self.input, &Side::of(&desc, false).sizes);
        (desc.out_batch_stride, desc.out_strides) =
            spread(&self.output, &Side::of(&desc, true).sizes);
        desc
    }

    /// Bytes before both sides: real sides begin anywhere, complex ones at a multiple of two reals.
    fn margins(&self) -> [usize; 2] {
        let (desc, bytes) = (self.desc(), width(as_real(self.desc()).dtype));
        [false, true].map(|output| {
            self.margins[usize::from(output)] * bytes * Side::of(&desc, output).reals()
        })
    }
}

/// C64 and C128 are other words for F32 and F64.
fn as_real(desc: sconce_fft_desc) -> sconce_fft_desc {
    let dtype = match desc.dtype {
        SCONCE_DTYPE_C64 => SCONCE_DTYPE_F32,
        SCONCE_DTYPE_C128 => SCONCE_DTYPE_F64,
        dtype => dtype,
    };
    sconce_fft_desc { dtype, ..desc }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_layout_gives_what_the_definition_says_and_touches_nothing_else(case in case()) {
        let _alone = alone();
        check(&as_real(case.desc()), case.seed, case.margins());
    }
}

#[test]
fn the_numbers_of_complex_types_name_the_same_transforms() {
    let _alone = alone();
    assert_eq!(sconce_fft_cache_clear(0), SCONCE_OK);
    let memory = Place::new(Kind::Device(0), 1024);
    for (first, second) in
        [(SCONCE_DTYPE_F32, SCONCE_DTYPE_C64), (SCONCE_DTYPE_F64, SCONCE_DTYPE_C128)]
    {
        for dtype in [first, second] {
            let desc = sconce_fft_desc { dtype, ..rows(8, 2) };
            assert_eq!(run(&desc, memory.start(), memory.start()), SCONCE_OK);
        }
    }
    assert_eq!(fft::stats(0).size, 2);
}

/// Transforms in place and checks every byte.
fn check_in_place(desc: &sconce_fft_desc, seed: u64) {
    let dtype = desc.dtype;
    let (from, to) = (Side::of(desc, false), Side::of(desc, true));
    let bytes = from.bytes(dtype).max(to.bytes(dtype));
    let mut given = pattern(3, bytes);
    fft::scatter(&elements(desc, seed), &from, dtype, &mut given);
    let expected = fft::expected(desc, &fft::gather(&given, &from, dtype));
    let memory = Place::holding(Kind::Device(0), &given);
    let start = memory.at(from.start(dtype));
    assert_eq!(from.start(dtype), to.start(dtype));
    assert_eq!(run(desc, start, start), SCONCE_OK, "{desc:?}: {}", last_message());
    let found = fft::gather(&memory.read(), &to, dtype);
    fft::assert_near(&found, &expected, dtype, "in place");
}

#[test]
fn transforms_in_place() {
    let _alone = alone();
    for dtype in [SCONCE_DTYPE_F16, SCONCE_DTYPE_F32, SCONCE_DTYPE_F64] {
        for sizes in [&[8_i64][..], &[16, 4], &[2, 4, 8], &[1], &[4, 1], &[1, 8]] {
            for batch in [1, 3] {
                let mut complex = desc(SCONCE_FFT_C2C, dtype, sizes, batch);
                check_in_place(&complex, 1);
                complex.direction = SCONCE_FFT_INVERSE;
                complex.normalization = SCONCE_FFT_NORM_BY_N;
                check_in_place(&complex, 2);
                // Backwards, and from the inside out: by way of temporaries.
                for turned in [false, true] {
                    let strides: Strides = Some((7, [0, 1, 0, 2], [turned; 4]));
                    let side = Side::of(&complex, false);
                    let (batch_stride, strides) = spread(&strides, &side.sizes);
                    (complex.in_batch_stride, complex.in_strides) = (batch_stride, strides);
                    (complex.out_batch_stride, complex.out_strides) = (batch_stride, strides);
                    check_in_place(&complex, 3);
                }
                for kind in [SCONCE_FFT_R2C, SCONCE_FFT_C2R] {
                    check_in_place(&padded(desc(kind, dtype, sizes, batch)), 4);
                }
            }
        }
    }
}

/// With rows of 2 * (n / 2 + 1) reals.
fn padded(mut desc: sconce_fft_desc) -> sconce_fft_desc {
    let complex = Side::of(&desc, desc.kind == SCONCE_FFT_R2C);
    let rank = complex.sizes.len() - 1;
    let (mut of_complex, mut of_real) = ([0; 3], [0; 3]);
    for axis in 0..rank {
        of_complex[axis] = complex.strides[axis + 1];
        of_real[axis] = if axis + 1 == rank { 1 } else { 2 * of_complex[axis] };
    }
    let (real, complex) = ((2 * complex.strides[0], of_real), (complex.strides[0], of_complex));
    let (input, output) =
        if desc.kind == SCONCE_FFT_R2C { (real, complex) } else { (complex, real) };
    (desc.in_batch_stride, desc.in_strides) = input;
    (desc.out_batch_stride, desc.out_strides) = output;
    desc
}

#[test]
fn inputs_that_overlap_are_read_as_they_are() {
    let _alone = alone();
    for kind in [SCONCE_FFT_C2C, SCONCE_FFT_R2C] {
        // Windows of a signal, the same row for all, the same element for all, rows that overlap.
        for (batch_stride, strides) in
            [(3, [8, 1, 0]), (0, [8, 1, 0]), (0, [0, 0, 0]), (16, [2, 1, 0]), (-5, [8, 1, 0])]
        {
            let mut desc = desc(kind, SCONCE_DTYPE_F32, &[2, 8], 3);
            (desc.in_batch_stride, desc.in_strides) = (batch_stride, strides);
            if strides != [0; 3] {
                check(&desc, 5, [0, 0]);
            }
        }
        let mut same = desc(kind, SCONCE_DTYPE_F32, &[8], 3);
        (same.in_batch_stride, same.in_strides) = (1, [0, 0, 0]);
        check(&same, 6, [0, 0]);
    }
    // What is spoilt must not be read again.
    let mut back = desc(SCONCE_FFT_C2R, SCONCE_DTYPE_F32, &[4, 8], 3);
    (back.in_batch_stride, back.in_strides) = (0, [5, 1, 0]);
    for may_overwrite_input in [false, true] {
        check(
            &sconce_fft_desc { may_overwrite_input: may_overwrite_input.into(), ..back },
            7,
            [0, 0],
        );
    }
}

#[test]
fn the_input_of_c2r_is_kept_unless_it_may_go() {
    let _alone = alone();
    let kept = desc(SCONCE_FFT_C2R, SCONCE_DTYPE_F64, &[4, 6], 2);
    check(&kept, 8, [0, 0]);
    let given = encode_all(kept.dtype, &fft::numbers(1, 2 * Side::of(&kept, false).elements()));
    let input = Place::holding(Kind::Device(0), &given);
    let output = Place::new(Kind::Device(0), Side::of(&kept, true).bytes(kept.dtype));
    let spoilt = sconce_fft_desc { may_overwrite_input: true.into(), ..kept };
    assert_eq!(sconce_sim_reset_call_counts(), SCONCE_OK);
    assert_eq!(run(&spoilt, input.start(), output.start()), SCONCE_OK);
    // No copy was made, and the simulator spoils what it may.
    assert_eq!(places::calls("copy_async"), 0);
    assert_ne!(input.read(), given);
}

#[test]
fn no_transforms_are_nothing_whatever_the_addresses() {
    let _alone = alone();
    assert_eq!(run(&rows(8, 0), std::ptr::null_mut(), std::ptr::null_mut()), SCONCE_OK);
    assert_eq!(places::calls("fft_plan") + places::calls("pointer_info"), 0);
}

#[test]
fn memory_of_managed_and_of_other_devices_works_on_its_device() {
    let _alone = alone();
    let desc = rows(16, 2);
    let given = elements(&desc, 9);
    let side = Side::of(&desc, false);
    let mut bytes = vec![0; side.bytes(desc.dtype)];
    fft::scatter(&given, &side, desc.dtype, &mut bytes);
    let input = Place::holding(Kind::Device(1), &bytes);
    let output = Place::new(Kind::Device(1), bytes.len());
    let before = fft::stats(1).misses;
    assert_eq!(run(&desc, input.start(), output.start()), SCONCE_OK);
    assert_eq!(fft::stats(1).misses, before + 1);
    let found = fft::gather(&output.read(), &side, desc.dtype);
    fft::assert_near(&found, &fft::expected(&desc, &given), desc.dtype, "on device 1");
}
