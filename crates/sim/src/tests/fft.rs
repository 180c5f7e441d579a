//! Transforms against sums written down from the definition.

use std::f64::consts::TAU;

use proptest::prelude::*;
use sconce_base::element::{Dtype, f16_bits, f16_value};
use sconce_base::types::DevicePtr;
use sconce_driver::prelude::*;
use sconce_driver::{FftCall, FftDirection, FftKind, FftLayout, FftShape, MOST_FFT_RANK};

use super::support::*;
use crate::Simulator;

type Complex = (f64, f64);

/// Sizes, and how far apart elements, rows, planes and transforms are beyond what they need.
#[derive(Clone, Debug)]
struct Case {
    kind: FftKind,
    element: Dtype,
    direction: FftDirection,
    sizes: Vec<i64>,
    batch: i64,
    /// Of the input and the output: a stride, and what is added to embeds and the distance.
    gaps: [(i64, i64, i64); 2],
    in_place: bool,
}

impl Case {
    fn shape(&self) -> FftShape {
        let mut sizes = [1; MOST_FFT_RANK];
        sizes[..self.sizes.len()].copy_from_slice(&self.sizes);
        let rank = self.sizes.len();
        let none = FftLayout { embed: [1; 3], stride: 1, distance: 1 };
        let (kind, element, batch) = (self.kind, self.element, self.batch);
        let mut shape = FftShape { kind, element, rank, sizes, batch, input: none, output: none };
        let layout = |halved, (stride, embed, distance): (i64, i64, i64)| {
            let mut all = shape.sizes_of(halved);
            all[..rank].iter_mut().for_each(|size| *size += embed);
            let distance = all.iter().product::<i64>() * stride + distance;
            FftLayout { embed: all, stride, distance }
        };
        let halves = [kind == FftKind::C2R, kind == FftKind::R2C];
        let [input, output] = self.gaps;
        (shape.input, shape.output) = (layout(halves[0], input), layout(halves[1], output));
        if self.in_place && kind != FftKind::C2C {
            // Rows of real numbers have room for the complex ones.
            let mut embed = shape.sizes_of(true);
            let complex = FftLayout { embed, stride: 1, distance: embed.iter().product() };
            embed[rank - 1] *= 2;
            let real = FftLayout { embed, stride: 1, distance: embed.iter().product() };
            let [input, output] =
                if kind == FftKind::R2C { [real, complex] } else { [complex, real] };
            (shape.input, shape.output) = (input, output);
        } else if self.in_place {
            shape.output = shape.input;
        }
        shape
    }

    fn reals(&self) -> [usize; 2] {
        match self.kind {
            FftKind::C2C => [2, 2],
            FftKind::R2C => [1, 2],
            FftKind::C2R => [2, 1],
        }
    }
}

/// Every place of an array, and the number of the element in the layout.
fn places(sizes: [i64; 3], layout: &FftLayout, batch: i64) -> Vec<([i64; 4], usize)> {
    let mut places = Vec::new();
    for b in 0..batch {
        for i in 0..sizes[0] {
            for j in 0..sizes[1] {
                for k in 0..sizes[2] {
                    let inner = ((i * layout.embed[1] + j) * layout.embed[2] + k) * layout.stride;
                    places.push(([b, i, j, k], (b * layout.distance + inner) as usize));
                }
            }
        }
    }
    places
}

fn extent(places: &[([i64; 4], usize)]) -> usize {
    places.iter().map(|(_, at)| at + 1).max().unwrap_or(0)
}

fn bytes_of(element: Dtype, value: f64) -> Vec<u8> {
    match element {
        Dtype::F64 => value.to_le_bytes().to_vec(),
        Dtype::F32 => (value as f32).to_le_bytes().to_vec(),
        _ => f16_bits(value as f32).to_le_bytes().to_vec(),
    }
}

fn value_of(element: Dtype, bytes: &[u8]) -> f64 {
    match element {
        Dtype::F64 => f64::from_le_bytes(bytes.try_into().unwrap()),
        Dtype::F32 => f64::from(f32::from_le_bytes(bytes.try_into().unwrap())),
        _ => f64::from(f16_value(u16::from_le_bytes(bytes.try_into().unwrap()))),
    }
}

/// A number for each place, exact in every type; where a real signal needs it, not symmetric.
fn sample(seed: usize) -> f64 {
    let mixed = (seed as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    (mixed % 33) as f64 / 16.0 - 1.0
}

/// The definition: each result is a sum over all of the input.
fn transformed(shape: &FftShape, direction: FftDirection, input: &[Complex]) -> Vec<Complex> {
    let full = shape.sizes;
    let halved = shape.kind == FftKind::C2R;
    let sizes = shape.sizes_of(halved);
    let last = shape.rank - 1;
    let results = shape.sizes_of(shape.kind == FftKind::R2C);
    let sign = if direction == FftDirection::Forward { -1.0 } else { 1.0 };
    let index =
        |at: [i64; 3], sizes: [i64; 3]| ((at[0] * sizes[1] + at[1]) * sizes[2] + at[2]) as usize;
    let all = |sizes: [i64; 3]| -> Vec<[i64; 3]> {
        let layout = FftLayout { embed: sizes, stride: 1, distance: 0 };
        places(sizes, &layout, 1).into_iter().map(|([_, i, j, k], _)| [i, j, k]).collect()
    };
    let value = |at: [i64; 3]| -> Complex {
        if !halved || at[last] < sizes[last] {
            return input[index(at, sizes)];
        }
        let mirrored: [i64; 3] = std::array::from_fn(|axis| (full[axis] - at[axis]) % full[axis]);
        let (re, im) = input[index(mirrored, sizes)];
        (re, -im)
    };
    let sum = |to: &[i64; 3]| {
        all(full).into_iter().fold((0.0, 0.0), |(re, im), from| {
            let turns: f64 = (0..3)
                .map(|axis| (to[axis] * from[axis] % full[axis]) as f64 / full[axis] as f64)
                .sum();
            let (sin, cos) = (sign * TAU * turns).sin_cos();
            let (a, b) = value(from);
            (re + a * cos - b * sin, im + a * sin + b * cos)
        })
    };
    all(results).iter().map(sum).collect()
}

/// Device memory with these bytes.
pub(super) fn upload(sim: &Simulator, bytes: &[u8]) -> DevicePtr {
    let ptr = sim.memory_alloc(D0, bytes.len().max(1)).unwrap();
    sim.copy_async(ptr.into(), host_of(bytes), bytes.len(), stream(sim)).unwrap();
    sim.device_synchronize(D0).unwrap();
    ptr
}

/// Symmetric where the result is real: the parts of a real signal's transform that lie in the half.
fn made_symmetric(shape: &FftShape, values: &mut [Complex]) {
    let (full, sizes, last) = (shape.sizes, shape.sizes_of(true), shape.rank - 1);
    let layout = FftLayout { embed: sizes, stride: 1, distance: 0 };
    for ([_, i, j, k], at) in places(sizes, &layout, 1) {
        let place = [i, j, k];
        if place[last] != 0 && 2 * place[last] != full[last] {
            continue;
        }
        let mut other: [i64; 3] =
            std::array::from_fn(|axis| (full[axis] - place[axis]) % full[axis]);
        other[last] = place[last];
        let mirror = ((other[0] * sizes[1] + other[1]) * sizes[2] + other[2]) as usize;
        let (re, im) = values[at];
        // Of one that is its own mirror image the imaginary part stays: it must be ignored.
        if mirror != at {
            values[mirror] = (re, -im);
        }
    }
}

fn check(case: &Case) {
    let (shape, [in_reals, out_reals]) = (case.shape(), case.reals());
    let (element, real) = (case.element, case.element.bytes());
    let sim = automatic(1);
    let sources = places(shape.sizes_of(case.kind == FftKind::C2R), &shape.input, case.batch);
    let results = places(shape.sizes_of(case.kind == FftKind::R2C), &shape.output, case.batch);
    let input_bytes = extent(&sources) * in_reals * real;
    let output_bytes = extent(&results) * out_reals * real;

    let each = sources.len() / case.batch as usize;
    let mut values: Vec<Complex> = (0..sources.len())
        .map(|i| (sample(2 * i), if in_reals == 2 { sample(2 * i + 1) } else { 0.0 }))
        .collect();
    if case.kind == FftKind::C2R {
        values.chunks_exact_mut(each).for_each(|values| made_symmetric(&shape, values));
    }
    let mut before = vec![0x11_u8; input_bytes.max(if case.in_place { output_bytes } else { 0 })];
    for ((_, at), (re, im)) in sources.iter().zip(&values) {
        let bytes = [bytes_of(element, *re), bytes_of(element, *im)].concat();
        let start = at * in_reals * real;
        before[start..start + in_reals * real].copy_from_slice(&bytes[..in_reals * real]);
    }
    let input = upload(&sim, &before);
    let untouched = vec![0x22_u8; output_bytes];
    let output = if case.in_place { input } else { upload(&sim, &untouched) };
    let mut plan = sim.fft_plan(D0, &shape).unwrap();
    let workspace = sim.memory_alloc(D0, plan.workspace_bytes().max(1)).unwrap();
    let direction = case.direction;
    let call = FftCall { stream: stream(&sim), workspace, input, output, direction };
    plan.execute(&call).unwrap();
    sim.device_synchronize(D0).unwrap();

    let got = read_back(&sim, output, output_bytes);
    let expected: Vec<Complex> =
        values.chunks_exact(each).flat_map(|v| transformed(&shape, direction, v)).collect();
    let scale = expected.iter().fold(1.0, |most: f64, (re, im)| most.max(re.abs()).max(im.abs()));
    let tolerance = scale * [1e-3, 2e-6, 1e-14][(real / 2).ilog2() as usize];
    let mut written = vec![false; output_bytes];
    for ((place, at), (re, im)) in results.iter().zip(&expected) {
        for (part, expected) in [re, im].into_iter().take(out_reals).enumerate() {
            let start = (at * out_reals + part) * real;
            let seen = value_of(element, &got[start..start + real]);
            assert!((seen - expected).abs() <= tolerance, "{place:?}: {seen}, not {expected}");
            written[start..start + real].fill(true);
        }
    }
    if case.in_place {
        return;
    }
    let between = got.iter().zip(&written).filter(|(_, written)| !**written);
    assert!(between.into_iter().all(|(byte, _)| *byte == 0x22), "wrote between the results");
    let after = read_back(&sim, input, input_bytes);
    if case.kind == FftKind::C2R && shape.rank > 1 {
        let spoilt = |(_, at): &([i64; 4], usize)| {
            value_of(element, &after[at * 2 * real..][..real]).is_nan()
        };
        assert!(sources.iter().all(spoilt), "the input was not spoilt");
    } else {
        assert!(after == before, "the input was changed");
    }
}

fn case() -> impl Strategy<Value = Case> {
    let kind = prop::sample::select(vec![FftKind::C2C, FftKind::R2C, FftKind::C2R]);
    let element = prop::sample::select(vec![Dtype::F16, Dtype::F32, Dtype::F64]);
    let sizes = prop::collection::vec(1_i64..14, 1..=MOST_FFT_RANK);
    let gaps = || (1_i64..4, 0_i64..3, 0_i64..5);
    (kind, element, sizes, 1_i64..4, [gaps(), gaps()], any::<[bool; 2]>()).prop_map(
        |(kind, element, mut sizes, batch, gaps, [forward, in_place])| {
            if element == Dtype::F16 {
                sizes.iter_mut().for_each(|size| *size = 1 << (*size % 4));
            }
            let direction = match kind {
                FftKind::C2C if forward => FftDirection::Forward,
                FftKind::R2C => FftDirection::Forward,
                _ => FftDirection::Inverse,
            };
            Case { kind, element, direction, sizes, batch, gaps, in_place }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]
    #[test]
    fn results_are_those_of_the_definition(case in case()) {
        check(&case);
    }
}

#[test]
fn primes_and_long_rows_are_those_of_the_definition() {
    for size in [1, 2, 31, 127, 131, 256, 300] {
        for (kind, direction) in [
            (FftKind::C2C, FftDirection::Forward),
            (FftKind::C2C, FftDirection::Inverse),
            (FftKind::R2C, FftDirection::Forward),
            (FftKind::C2R, FftDirection::Inverse),
        ] {
            let (gaps, sizes, batch) = ([(1, 0, 0); 2], vec![size], 2);
            let element = Dtype::F64;
            let in_place = false;
            check(&Case { kind, element, direction, sizes, batch, gaps, in_place });
        }
    }
}
