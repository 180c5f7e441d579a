//! Products of 8-bit floating-point numbers, whose scales are tensors.

use super::{product_sizes, write_result};
use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, numel_of, sizes_of};
use crate::error::{Error, Result, ensure};
use crate::operations::tensors::name_of;
use crate::sconce::operations::{
    Operand, binary, expand, matmul, narrow, permute, reshape, to_dtype, transpose, unary,
    unsqueeze,
};
use crate::sconce::products::short_matmul;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

/// Columns of a block that has one scale in float32, and rows if it is a square.
const BLOCK: i64 = 128;
/// Columns of a block whose scale is a power of two.
const POWER_BLOCK: i64 = 32;

/// The operands of a product beside its factors.
#[derive(Clone, Copy)]
pub struct Scales {
    /// The scale of the first factor, and of the second.
    pub of: [TensorHandle; 2],
    /// Added to each row.
    pub bias: Option<TensorHandle>,
    /// By which a result of 8 bits is divided.
    pub result: Option<TensorHandle>,
}

/// The scale of a factor.
enum FactorScale {
    /// One number, or one for each row of the result, or for each column: multiplies the product.
    Outside(Tensor),
    /// Numbers for parts of the inner size, each of which multiplies the elements of one block of the factor.
    Inside(Tensor),
}

/// `_scaled_mm(self, mat2, scale_a, scale_b, …)`: the product in float32, rounded once to `dtype`.
pub fn scaled_mm(
    first: TensorHandle,
    second: TensorHandle,
    scales: &Scales,
    dtype: i32,
) -> Result<Tensor> {
    let [rows, _, columns] = product_sizes(first, second)?;
    for (name, factor) in [("mat1", first), ("mat2", second)] {
        let found = dtype_of_tensor(factor)?;
        if !is_8_bit_float(found) {
            let found = name_of(found);
            return Err(Error::invalid_argument(format!(
                "Expected {name} to be Float8 matrix got {found}"
            )));
        }
    }
    check_result(first, scales.result, dtype)?;
    let [mut left, mut right] =
        [to_dtype(first, api::SCONCE_DTYPE_F32)?, to_dtype(second, api::SCONCE_DTYPE_F32)?];
    // The scale of a column of the second factor is that of a row of the transposed one.
    let turned = transpose(second, 0, 1)?;
    let turned_scale = match sizes_of(scales.of[1])?.len() {
        2 if dtype_of_tensor(scales.of[1])? == api::SCONCE_DTYPE_F32 => {
            transpose(scales.of[1], 0, 1)?
        }
        _ => Tensor::retained(scales.of[1])?,
    };
    let of_first = scale_of("scale_a", first, scales.of[0])?;
    let of_second = scale_of("scale_b", turned.handle(), turned_scale.handle())?;
    let multiply = |first: &Tensor, second: &Tensor| {
        binary(api::SCONCE_BINARY_MUL, first, Operand::Tensor(second))
    };
    let is_short =
        matches!((&of_first, &of_second), (FactorScale::Outside(_), FactorScale::Outside(_)));
    if let FactorScale::Inside(scale) = &of_first {
        left = multiply(&left, scale)?;
    }
    if let FactorScale::Inside(scale) = &of_second {
        right = multiply(&right, &transpose(scale.handle(), 0, 1)?)?;
    }
    // Numbers of 8 bits are numbers of TF32.
    let mut product = match is_short {
        true => short_matmul(left.handle(), right.handle())?,
        false => matmul(left.handle(), right.handle())?,
    };
    if let FactorScale::Outside(scale) = &of_first {
        product = multiply(&product, scale)?;
    }
    if let FactorScale::Outside(scale) = &of_second {
        let across = if sizes_of(scale.handle())?.is_empty() {
            Tensor::retained(scale.handle())?
        } else {
            transpose(scale.handle(), 0, 1)?
        };
        product = multiply(&product, &across)?;
    }
    if let Some(bias) = scales.bias {
        let count = numel_of(bias)?;
        if count != columns {
            return Err(Error::invalid_argument(format!(
                "Bias must be size {columns} but got {count}"
            )));
        }
        let line = to_dtype(reshape(bias, &[columns])?.handle(), api::SCONCE_DTYPE_F32)?;
        product = binary(api::SCONCE_BINARY_ADD, &product, Operand::Tensor(&line))?;
    }
    if let Some(scale) = scales.result
        && is_8_bit_float(dtype)
    {
        let inverse = unary(api::SCONCE_UNARY_RECIPROCAL, &one_number(scale)?)?;
        product = multiply(&product, &inverse)?;
    }
    ensure!(sizes_of(product.handle())? == [rows, columns]);
    to_dtype(product.handle(), dtype)
}

/// As [`scaled_mm`], into a tensor that is there.
pub fn scaled_mm_out(
    first: TensorHandle,
    second: TensorHandle,
    scales: &Scales,
    dtype: Option<i32>,
    out: TensorHandle,
) -> Result<()> {
    let found = dtype_of_tensor(out)?;
    if dtype.is_some_and(|dtype| dtype != found) {
        return Err(Error::invalid_argument("out_dtype must match output matrix type"));
    }
    write_result(out, &scaled_mm(first, second, scales, found)?)
}

fn is_8_bit_float(dtype: i32) -> bool {
    matches!(
        dtype,
        api::SCONCE_DTYPE_F8_E4M3FN
            | api::SCONCE_DTYPE_F8_E4M3FNUZ
            | api::SCONCE_DTYPE_F8_E5M2
            | api::SCONCE_DTYPE_F8_E5M2FNUZ
    )
}

/// Refuses scales of the result that are no number, and results of 8 bits on devices: cuBLAS multiplies by that scale,
/// where the CPU divides, and it has another rule for numbers that are too large.
fn check_result(first: TensorHandle, scale: Option<TensorHandle>, dtype: i32) -> Result<()> {
    if let Some(scale) = scale
        && (numel_of(scale)? != 1 || dtype_of_tensor(scale)? != api::SCONCE_DTYPE_F32)
    {
        return Err(Error::invalid_argument("scale_result must be a float scalar"));
    }
    if is_8_bit_float(dtype) && device_of_tensor(first)? != api::SCONCE_DEVICE_CPU {
        return Err(Error::not_supported(format!(
            "results of {} on a device are not offered by Sconce: pass bfloat16 or float32 as out_dtype",
            name_of(dtype)
        )));
    }
    Ok(())
}

/// A tensor of one element in float32, without dimensions.
fn one_number(tensor: TensorHandle) -> Result<Tensor> {
    to_dtype(reshape(tensor, &[])?.handle(), api::SCONCE_DTYPE_F32)
}

/// What the scale of a factor is, whose columns are the inner size of the product.
fn scale_of(name: &str, factor: TensorHandle, scale: TensorHandle) -> Result<FactorScale> {
    let (shape, dtype) = (sizes_of(factor)?, dtype_of_tensor(scale)?);
    let (rows, inner) = (shape[0], shape[1]);
    let sizes = sizes_of(scale)?;
    let blocks = |count: i64, block: i64| (count + block - 1) / block;
    if dtype == api::SCONCE_DTYPE_F8_E8M0FNU {
        let [tiles, across] = [blocks(rows, BLOCK), blocks(blocks(inner, POWER_BLOCK), 4)];
        if numel_of(scale)? == tiles * BLOCK * across * 4 {
            let lines = unpacked_powers(scale, [tiles, across])?;
            return Ok(FactorScale::Inside(repeated(&lines, [1, POWER_BLOCK], [rows, inner])?));
        }
    } else if numel_of(scale)? == 1 {
        return Ok(FactorScale::Outside(one_number(scale)?));
    } else if let (&[high, wide], api::SCONCE_DTYPE_F32) = (&sizes[..], dtype) {
        let retained = Tensor::retained(scale)?;
        if (high, wide) == (rows, 1) {
            return Ok(FactorScale::Outside(retained));
        }
        if wide == blocks(inner, BLOCK) && (high == rows || high == blocks(rows, BLOCK)) {
            let height = if high == rows { 1 } else { BLOCK };
            return Ok(FactorScale::Inside(repeated(&retained, [height, BLOCK], [rows, inner])?));
        }
    }
    Err(Error::invalid_argument(format!(
        "{name} has {} elements of {}; expected one number, a number of float32 for each of the {rows} lines, one for \
         each block of {BLOCK} elements of a line or of {BLOCK} lines, too, or packed ones of float8_e8m0fnu",
        numel_of(scale)?,
        name_of(dtype)
    )))
}

/// Powers of two in float32, a line of the factor in a line, from cuBLAS's order: tiles of 128 lines and 4 blocks, in
/// which line `32 * a + b` and block `c` have the place `16 * b + 4 * a + c`.
fn unpacked_powers(scale: TensorHandle, [tiles, across]: [i64; 2]) -> Result<Tensor> {
    let numbers = to_dtype(scale, api::SCONCE_DTYPE_F32)?;
    let packed = reshape(numbers.handle(), &[tiles, across, 32, 4, 4])?;
    let lines = permute(packed.handle(), &[0, 3, 2, 1, 4])?;
    reshape(lines.handle(), &[tiles * BLOCK, across * 4])
}

/// A matrix whose elements are repeated to blocks of so many rows and columns, cut to the wanted sizes.
fn repeated(
    matrix: &Tensor,
    [height, width]: [i64; 2],
    [rows, columns]: [i64; 2],
) -> Result<Tensor> {
    let sizes = sizes_of(matrix.handle())?;
    let (high, wide) = (sizes[0], sizes[1]);
    let apart = unsqueeze(unsqueeze(matrix.handle(), 1)?.handle(), 3)?;
    let whole = expand(apart.handle(), &[high, height, wide, width])?;
    let whole = reshape(whole.handle(), &[high * height, wide * width])?;
    narrow(narrow(whole.handle(), 0, 0, rows)?.handle(), 1, 0, columns)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::testing::{Cases, Dense};

    const F8: i32 = api::SCONCE_DTYPE_F8_E4M3FN;
    const F32: i32 = api::SCONCE_DTYPE_F32;

    /// Quarters, which E4M3 has up to 4.
    fn operands(cases: &mut Cases, rows: i64, inner: i64, columns: i64) -> [Dense; 2] {
        [Dense::quarters(cases, &[rows, inner]), Dense::quarters(cases, &[inner, columns])]
    }

    /// The product, with a factor for each pair of elements.
    fn product(first: &Dense, second: &Dense, factor: impl Fn(i64, i64, i64) -> f64) -> Dense {
        Dense::build(&[first.sizes[0], second.sizes[1]], |at| {
            (0..first.sizes[1])
                .map(|k| first.at(&[at[0], k]) * second.at(&[k, at[1]]) * factor(at[0], k, at[1]))
                .sum()
        })
    }

    fn run(first: &Dense, second: &Dense, of: [&Tensor; 2]) -> Tensor {
        let [first, second] = [first, second].map(|dense| dense.strided(F8));
        let of = of.map(Tensor::handle);
        let scales = Scales { of, bias: None, result: None };
        scaled_mm(first.handle(), second.handle(), &scales, F32).unwrap()
    }

    #[test]
    fn scales_of_a_tensor_and_of_lines_multiply_the_result() {
        let mut cases = Cases::new(11);
        for _ in 0..20 {
            let [rows, inner, columns] = [(); 3].map(|()| cases.int(2, 9));
            let [first, second] = operands(&mut cases, rows, inner, columns);
            let [a, b] = [(); 2].map(|()| cases.int(1, 8) as f64 / 4.0);
            let [one, other] = [a, b].map(|value| Dense::build(&[], |_| value).tensor(F32));
            product(&first, &second, |_, _, _| a * b).assert_near(
                run(&first, &second, [&one, &other]).handle(),
                1e-6,
                "one number",
            );
            let down = Dense::quarters(&mut cases, &[rows, 1]);
            let across = Dense::quarters(&mut cases, &[1, columns]);
            product(&first, &second, |row, _, column| down.at(&[row, 0]) * across.at(&[0, column]))
                .assert_near(
                    run(&first, &second, [&down.tensor(F32), &across.strided(F32)]).handle(),
                    1e-6,
                    "lines",
                );
        }
    }

    #[test]
    fn scales_of_blocks_multiply_the_factors() {
        let mut cases = Cases::new(12);
        let (rows, inner, columns) = (3, 200, 130);
        let [first, second] = operands(&mut cases, rows, inner, columns);
        let lines = Dense::quarters(&mut cases, &[rows, 2]);
        let squares = Dense::quarters(&mut cases, &[2, 2]);
        let found = run(&first, &second, [&lines.tensor(F32), &squares.strided(F32)]);
        product(&first, &second, |row, k, column| {
            lines.at(&[row, k / 128]) * squares.at(&[k / 128, column / 128])
        })
        .assert_near(found.handle(), 1e-4, "blocks");
    }

    #[test]
    fn powers_of_two_are_read_in_the_order_of_cublas() {
        let mut cases = Cases::new(13);
        // Five blocks of 32 columns, so two tiles side by side, and two tiles of rows.
        let (rows, inner, columns) = (140, 160, 3);
        let [first, second] = operands(&mut cases, rows, inner, columns);
        let places = |lines: i64| lines * 8;
        let mut powers = |lines| {
            let of = |_: &[i64]| 2_f64.powi(cases.int(-3, 3) as i32);
            Dense::build(&[places(lines)], of)
        };
        let (left, right) = (powers(256), powers(128));
        let place = |line: i64, block: i64| {
            let tile = (line / 128) * 2 + block / 4;
            512 * tile + 16 * (line % 32) + 4 * (line % 128 / 32) + block % 4
        };
        let e8m0 = api::SCONCE_DTYPE_F8_E8M0FNU;
        let found = run(&first, &second, [&left.tensor(e8m0), &right.tensor(e8m0)]);
        product(&first, &second, |row, k, column| {
            left.at(&[place(row, k / 32)]) * right.at(&[place(column, k / 32)])
        })
        .assert_near(found.handle(), 1e-4, "powers");
    }

    #[test]
    fn results_of_8_bits_are_divided_and_rounded() {
        let first = Dense { sizes: vec![1, 2], values: vec![1.5, 2.0] };
        let second = Dense { sizes: vec![2, 2], values: vec![4.0, 1.0, 3.0, 0.5] };
        let [a, b] = [&first, &second].map(|dense| dense.tensor(F8));
        let [half, four] = [0.5, 4.0].map(|value| Dense::build(&[1], |_| value).tensor(F32));
        let bias = Dense { sizes: vec![2], values: vec![10.0, -0.25] }.tensor(F32);
        let scales = Scales {
            of: [half.handle(), four.handle()],
            bias: Some(bias.handle()),
            result: Some(four.handle()),
        };
        // [12, 2.5] * 2 + [10, -0.25] is [34, 4.75], and a quarter of it [8.5, 1.1875]; E4M3 has 1.125 and 1.25.
        let found = scaled_mm(a.handle(), b.handle(), &scales, F8).unwrap();
        assert_eq!(Dense::of(found.handle()).values, [8.0, 1.25]);
        // Another type is not divided.
        let found = scaled_mm(a.handle(), b.handle(), &scales, api::SCONCE_DTYPE_BF16).unwrap();
        assert_eq!(Dense::of(found.handle()).values, [34.0, 4.75]);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let matrix = Dense::build(&[2, 3], |_| 1.0);
        let (short, wide) = (matrix.tensor(F8), matrix.tensor(F32));
        let right = Dense::build(&[3, 2], |_| 1.0).tensor(F8);
        let one = Dense::build(&[1], |_| 1.0).tensor(F32);
        let three = Dense::build(&[3], |_| 1.0).tensor(F32);
        let scales =
            |of: [&Tensor; 2], bias, result| Scales { of: of.map(Tensor::handle), bias, result };
        let both = scales([&one, &one], None, None);
        for (first, second, scales, words) in [
            (&short, &short, both, "cannot be multiplied (2x3 and 2x3)"),
            (&wide, &right, both, "Expected mat1 to be Float8 matrix got float32"),
            (&short, &right, scales([&three, &one], None, None), "scale_a has 3 elements"),
            (
                &short,
                &right,
                scales([&one, &one], Some(three.handle()), None),
                "Bias must be size 2 but got 3",
            ),
            (
                &short,
                &right,
                scales([&one, &one], None, Some(three.handle())),
                "scale_result must be a float scalar",
            ),
        ] {
            let why = scaled_mm(first.handle(), second.handle(), &scales, F32).unwrap_err();
            assert!(why.message.contains(words), "{words:?} in {why:?}");
        }
        let why = scaled_mm_out(short.handle(), right.handle(), &both, Some(F8), wide.handle());
        assert!(why.unwrap_err().message.contains("must match output matrix type"));
    }
}
