//! Products of matrices: every type and layout, batches, factors.

use sconce_base::element::Dtype;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{BlasHandle, Gemm, MathMode, Matrix};

use super::{
    Array, ELEMENTS, MARK, ZERO, assert_close, drawn, installed, rounding, rounding_of_sums,
    smallest_rounding,
};
use crate::support::stage::{Outcome, Stage, Stream};

crate::support::runner::tests![
    products_of_every_type_transpose_and_size,
    columns_and_matrices_may_have_room_between_them,
    a_batch_may_use_one_factor_for_all,
    alpha_and_beta_scale_the_product_and_what_was_there,
    a_beta_of_zero_does_not_read_the_result,
    an_alpha_of_zero_does_not_read_the_factors,
    a_product_over_nothing_scales_what_was_there,
    sums_of_short_types_are_kept_in_f32,
    tf32_rounds_factors_of_f32_alone,
    every_device_calculates_its_own_products,
];

/// Sizes, batch, factors and layout of a product; its addresses come with the memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) element: Dtype,
    pub(super) transpose: [bool; 2],
    /// `m`, `n` and `k`.
    pub(super) sizes: [i64; 3],
    pub(super) batch: i64,
    pub(super) alpha: f64,
    pub(super) beta: f64,
    /// Elements behind each column of `a`, `b` and `c`, behind each matrix, and before the first.
    pub(super) room: [i64; 3],
    /// Whether each product of a batch has the same factor.
    pub(super) shared: [bool; 2],
}

impl Case {
    pub(super) fn new(element: Dtype, sizes: [i64; 3]) -> Case {
        Case {
            element,
            transpose: [false; 2],
            sizes,
            batch: 1,
            alpha: 1.0,
            beta: 0.0,
            room: [0; 3],
            shared: [false; 2],
        }
    }

    /// The product with the addresses of `a`, `b` and `c`, and how many elements each of the three takes.
    pub(super) fn gemm(&self, addresses: [DevicePtr; 3]) -> (Gemm, [usize; 3]) {
        let [m, n, k] = self.sizes;
        let [behind_column, behind_matrix, before] = self.room;
        let stored = |turned: bool, [rows, columns]: [i64; 2]| {
            if turned { [columns, rows] } else { [rows, columns] }
        };
        let stored = [stored(self.transpose[0], [m, k]), stored(self.transpose[1], [k, n]), [m, n]];
        let shared = [self.shared[0], self.shared[1], false];
        let layout = |index: usize| {
            let [rows, columns] = stored[index];
            let column = rows.max(1) + behind_column;
            let apart = column * columns.max(1) + behind_matrix;
            let batch = if shared[index] { 0 } else { apart };
            let offset = before as u64 * self.element.bytes() as u64;
            let matrix = Matrix { address: addresses[index].offset(offset), column, batch };
            (matrix, (before + batch * (self.batch - 1) + apart) as usize)
        };
        let ((a, a_room), (b, b_room), (c, c_room)) = (layout(0), layout(1), layout(2));
        let Case { element, transpose, batch, alpha, beta, .. } = *self;
        let gemm = Gemm { element, transpose, m, n, k, batch, alpha, beta, a, b, c };
        (gemm, [a_room, b_room, c_room])
    }

    /// What the memory of `c` holds after the product, each number with what it may differ by.
    pub(super) fn expected(&self, held: [&[f64]; 3]) -> Vec<(f64, f64)> {
        let (gemm, _) = self.gemm([DevicePtr(0); 3]);
        let before = self.room[2];
        let at = |matrix: &Matrix, index: i64, turned: bool, row: i64, column: i64| {
            let (row, column) = if turned { (column, row) } else { (row, column) };
            (before + matrix.batch * index + matrix.column * column + row) as usize
        };
        let mut result: Vec<(f64, f64)> = held[2].iter().map(|value| (*value, 0.0)).collect();
        for index in 0..gemm.batch {
            for (i, j) in (0..gemm.m).flat_map(|i| (0..gemm.n).map(move |j| (i, j))) {
                let (mut sum, mut magnitude) = (0.0, 0.0);
                // With a factor of 0 the other side is not read, so a NaN in it does not matter.
                for l in 0..if gemm.alpha == 0.0 { 0 } else { gemm.k } {
                    let product = held[0][at(&gemm.a, index, gemm.transpose[0], i, l)]
                        * held[1][at(&gemm.b, index, gemm.transpose[1], l, j)];
                    sum += gemm.alpha * product;
                    magnitude += (gemm.alpha * product).abs();
                }
                let place = &mut result[at(&gemm.c, index, false, i, j)];
                if gemm.beta != 0.0 {
                    sum += gemm.beta * place.0;
                    magnitude += (gemm.beta * place.0).abs();
                }
                // One rounding of the result; of the sum as many as it has parts, and one of each factor.
                let of_sum = (gemm.k + 4) as f64 * rounding_of_sums(self.element) * magnitude;
                let of_result = 1.01 * rounding(self.element) * sum.abs();
                *place = (sum, of_result + smallest_rounding(self.element) + of_sum);
            }
        }
        result
    }
}

/// A product with its memory and what the memory held before.
pub(super) struct Placed<'a> {
    pub(super) case: Case,
    pub(super) gemm: Gemm,
    pub(super) arrays: [Array<'a>; 3],
    pub(super) held: [Vec<f64>; 3],
}

impl<'a> Placed<'a> {
    /// With drawn numbers in all three.
    pub(super) fn new(
        stage: &Stage<'a>,
        device: DeviceIndex,
        case: Case,
        seed: u64,
    ) -> Outcome<Placed<'a>> {
        let (_, rooms) = case.gemm([DevicePtr(0); 3]);
        let mut seeds = seed..;
        let held = rooms.map(|room| drawn(case.element, room, seeds.next().unwrap_or(seed)));
        Placed::holding(stage, device, case, held)
    }

    /// With these numbers.
    pub(super) fn holding(
        stage: &Stage<'a>,
        device: DeviceIndex,
        case: Case,
        held: [Vec<f64>; 3],
    ) -> Outcome<Placed<'a>> {
        let array = |index: usize| Array::holding(stage, device, case.element, &held[index]);
        let arrays = [array(0)?, array(1)?, array(2)?];
        let (gemm, _) = case.gemm(arrays.each_ref().map(Array::at));
        Ok(Placed { case, gemm, arrays, held })
    }

    pub(super) fn expected(&self) -> Vec<(f64, f64)> {
        self.case.expected(self.held.each_ref().map(|held| &held[..]))
    }

    /// Waits for the device and compares all memory, the factors' too.
    #[track_caller]
    pub(super) fn assert_done(&self) -> Outcome {
        assert_close(&self.arrays[2].read()?, &self.expected(), &self.case);
        for index in 0..2 {
            let unchanged: Vec<_> = self.held[index].iter().map(|value| (*value, 0.0)).collect();
            assert_close(&self.arrays[index].read()?, &unchanged, &self.case);
        }
        Ok(())
    }
}

/// A handle whose products run on a stream of its own.
pub(super) fn handle<'a>(
    stage: &Stage<'a>,
    device: DeviceIndex,
) -> Outcome<(Box<dyn BlasHandle>, Stream<'a>)> {
    let mut blas = installed(stage.driver.blas_create(device))?;
    let stream = stage.stream(device)?;
    blas.set_stream(stream.at)?;
    Ok((blas, stream))
}

fn check(stage: &Stage<'_>, cases: impl IntoIterator<Item = Case>) -> Outcome {
    let (mut blas, _stream) = handle(stage, ZERO)?;
    for (seed, case) in cases.into_iter().enumerate() {
        let placed = Placed::new(stage, ZERO, case, 3 * seed as u64)?;
        blas.gemm(&placed.gemm)?;
        placed.assert_done()?;
    }
    Ok(())
}

pub(super) const TRANSPOSES: [[bool; 2]; 4] =
    [[false, false], [true, false], [false, true], [true, true]];

fn products_of_every_type_transpose_and_size(stage: &Stage<'_>) -> Outcome {
    let sizes = [[1, 1, 1], [5, 3, 7], [1, 17, 4], [19, 1, 33], [32, 64, 16], [65, 33, 70]];
    check(
        stage,
        ELEMENTS.into_iter().flat_map(|element| {
            sizes.into_iter().flat_map(move |sizes| {
                TRANSPOSES.map(|transpose| Case { transpose, ..Case::new(element, sizes) })
            })
        }),
    )
}

fn columns_and_matrices_may_have_room_between_them(stage: &Stage<'_>) -> Outcome {
    let rooms = [[3, 0, 0], [0, 5, 0], [8, 16, 8], [1, 7, 1]];
    check(
        stage,
        ELEMENTS.into_iter().flat_map(|element| {
            rooms.into_iter().flat_map(move |room| {
                [1, 3].into_iter().flat_map(move |batch| {
                    TRANSPOSES.map(|transpose| Case {
                        transpose,
                        batch,
                        room,
                        ..Case::new(element, [9, 6, 12])
                    })
                })
            })
        }),
    )
}

fn a_batch_may_use_one_factor_for_all(stage: &Stage<'_>) -> Outcome {
    check(
        stage,
        ELEMENTS.into_iter().flat_map(|element| {
            [[true, false], [false, true], [true, true]].map(|shared| Case {
                shared,
                batch: 4,
                transpose: [true, false],
                ..Case::new(element, [8, 5, 6])
            })
        }),
    )
}

fn alpha_and_beta_scale_the_product_and_what_was_there(stage: &Stage<'_>) -> Outcome {
    check(
        stage,
        ELEMENTS.into_iter().flat_map(|element| {
            [(-1.5, 0.0), (1.0, 1.0), (0.5, -2.0), (0.0, 0.5)].into_iter().flat_map(
                move |(alpha, beta)| {
                    [1, 2].map(|batch| Case {
                        alpha,
                        beta,
                        batch,
                        room: [1, 2, 0],
                        ..Case::new(element, [7, 9, 11])
                    })
                },
            )
        }),
    )
}

/// Products of a case whose memory holds NaNs instead of some of the three matrices.
fn check_with_nans(stage: &Stage<'_>, nans: [bool; 3], case: Case) -> Outcome {
    let (mut blas, _stream) = handle(stage, ZERO)?;
    for (element, batch) in ELEMENTS.into_iter().flat_map(|element| [(element, 1), (element, 3)]) {
        let case = Case { element, batch, room: [2, 3, 0], ..case };
        let (_, rooms) = case.gemm([DevicePtr(0); 3]);
        let mut held = rooms.map(|room| drawn(element, room, 40 + room as u64));
        for (held, _) in held.iter_mut().zip(nans).filter(|(_, nan)| *nan) {
            held.fill(f64::NAN);
        }
        let placed = Placed::holding(stage, ZERO, case, held)?;
        blas.gemm(&placed.gemm)?;
        placed.assert_done()?;
    }
    Ok(())
}

fn a_beta_of_zero_does_not_read_the_result(stage: &Stage<'_>) -> Outcome {
    check_with_nans(stage, [false, false, true], Case::new(Dtype::F32, [16, 9, 21]))
}

fn an_alpha_of_zero_does_not_read_the_factors(stage: &Stage<'_>) -> Outcome {
    let case = Case { alpha: 0.0, beta: 0.5, ..Case::new(Dtype::F32, [16, 9, 21]) };
    check_with_nans(stage, [true, true, false], case)
}

fn a_product_over_nothing_scales_what_was_there(stage: &Stage<'_>) -> Outcome {
    for (beta, nans) in [(0.0, [true; 3]), (1.0, [true, true, false]), (-0.5, [false; 3])] {
        check_with_nans(stage, nans, Case { beta, ..Case::new(Dtype::F32, [6, 5, 0]) })?;
    }
    Ok(())
}

/// The parts of the sum lie where F16 and BF16 hold no odd numbers any more.
fn sums_of_short_types_are_kept_in_f32(stage: &Stage<'_>) -> Outcome {
    let (mut blas, _stream) = handle(stage, ZERO)?;
    let (up, down) = (2049_i64, 2048_i64);
    for (element, batch) in [(Dtype::F16, 1), (Dtype::Bf16, 1), (Dtype::F16, 2), (Dtype::Bf16, 2)] {
        let case =
            Case { transpose: [true, false], batch, ..Case::new(element, [8, 8, up + down]) };
        let (_, rooms) = case.gemm([DevicePtr(0); 3]);
        let ones = vec![1.0; rooms[0]];
        let column = (0..up + down).map(|l| if l < up { 1.0 } else { -1.0 });
        let signs: Vec<f64> = column.cycle().take(rooms[1]).collect();
        let placed = Placed::holding(stage, ZERO, case, [ones, signs, vec![MARK; rooms[2]]])?;
        blas.gemm(&placed.gemm)?;
        assert_eq!(placed.arrays[2].read()?, vec![1.0; rooms[2]], "{case:?}");
    }
    Ok(())
}

fn tf32_rounds_factors_of_f32_alone(stage: &Stage<'_>) -> Outcome {
    let (mut blas, stream) = handle(stage, ZERO)?;
    for element in ELEMENTS {
        let placed = Placed::new(stage, ZERO, Case::new(element, [64, 64, 64]), 5)?;
        blas.gemm(&placed.gemm)?;
        stream.synchronize()?;
        // The mode at the call counts, not that at the time when the product runs.
        let gate = stream.gate()?;
        blas.gemm(&placed.gemm)?;
        blas.set_math_mode(MathMode::Tf32)?;
        gate.open();
        placed.assert_done()?;

        blas.gemm(&placed.gemm)?;
        blas.set_math_mode(MathMode::Ieee)?;
        // Both factors are rounded to 11 bits, the hidden one included.
        let extra = if element == Dtype::F32 { 2.0_f64.powi(-10) * 64.0 } else { 0.0 };
        let expected = placed.expected().into_iter();
        let expected: Vec<_> = expected.map(|(value, off)| (value, off + extra)).collect();
        assert_close(&placed.arrays[2].read()?, &expected, &("TF32", element));
        blas.gemm(&placed.gemm)?;
        placed.assert_done()?;
    }
    Ok(())
}

fn every_device_calculates_its_own_products(stage: &Stage<'_>) -> Outcome {
    let mut queued = Vec::new();
    for device in stage.devices() {
        let (mut blas, stream) = handle(stage, device)?;
        let placed = Placed::new(stage, device, Case::new(Dtype::F32, [33, 20, 50]), 9)?;
        blas.gemm(&placed.gemm)?;
        queued.push((placed, stream, blas));
    }
    queued.iter().try_for_each(|(placed, ..)| placed.assert_done())
}
