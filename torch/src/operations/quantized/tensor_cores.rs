//! Products with weights of 4 bits that PyTorch packed for tensor cores (`_convert_weight_to_int4pack`). A tile of 8
//! outputs and several times 16 inputs belongs to a warp. Each of its 32 threads has 32-bit numbers with eight weights of
//! one output: those that the fragments of two products of tensor cores have.

use super::packing::{check_scales, matrix, scaled};
use crate::abi::tensors::sizes_of;
use crate::error::{Error, Result};
use crate::operations::products::check_type;
use crate::sconce::operations::{Operand, binary, cat, permute, reshape, to_dtype, unsqueeze};
use crate::sconce::products::short_matmul;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

const BF16: i32 = api::SCONCE_DTYPE_BF16;
const I32: i32 = api::SCONCE_DTYPE_I32;
/// Where the eight weights of a number are among the bits, four by four: the order of inputs within a thread.
const PLACES: [i64; 8] = [0, 4, 1, 5, 2, 6, 3, 7];

/// `_weight_int4pack_mm(self, mat2, qGroupSize, qScaleAndZeros)`: as for a CPU, of bfloat16. Weights are rounded to it,
/// sums are those of float32.
pub fn packed_for_tensor_cores(
    input: TensorHandle,
    packed: TensorHandle,
    group: i64,
    scales: TensorHandle,
) -> Result<Tensor> {
    check_type("A", input, BF16)?;
    check_type("B", packed, I32)?;
    let [_, inputs] = matrix("A", input)?;
    let sizes = sizes_of(packed)?;
    let [tiles, steps, 32, pairs] = sizes[..] else {
        return Err(Error::invalid_argument(format!(
            "expect B to have the sizes of _convert_weight_to_int4pack, of which the third is 32, but they are {sizes:?}"
        )));
    };
    let found = steps.saturating_mul(pairs).saturating_mul(32);
    if found != inputs || !matches!(pairs, 1 | 2 | 4) {
        return Err(Error::invalid_argument(format!(
            "B of sizes {sizes:?} has {found} inputs, but A {inputs} columns"
        )));
    }
    check_scales(scales, BF16, [tiles * 8, inputs], group)?;
    let weights = scaled(&bits_of(packed, &sizes)?, scales, group)?;
    let single = api::SCONCE_DTYPE_F32;
    let rounded = to_dtype(to_dtype(weights.handle(), BF16)?.handle(), single)?;
    let product = short_matmul(to_dtype(input, single)?.handle(), rounded.handle())?;
    to_dtype(product.handle(), BF16)
}

/// The bits of all weights, less 8, as a matrix of inputs times outputs in float32.
fn bits_of(packed: TensorHandle, sizes: &[i64]) -> Result<Tensor> {
    let (tiles, steps, pairs) = (sizes[0], sizes[1], sizes[3]);
    let numbers = Tensor::retained(packed)?;
    // Numbers have a sign, and a division that rounds down moves the sign along, as a shift does.
    let fours = PLACES.map(|place| -> Result<Tensor> {
        let moved = match place {
            0 => Tensor::retained(packed)?,
            _ => {
                binary(api::SCONCE_BINARY_FLOOR_DIVIDE, &numbers, Operand::Whole(1 << (4 * place)))?
            }
        };
        let four = binary(api::SCONCE_BINARY_BITWISE_AND, &moved, Operand::Whole(15))?;
        unsqueeze(four.handle(), -1)
    });
    let fours = fours.into_iter().collect::<Result<Vec<_>>>()?;
    let handles: Vec<TensorHandle> = fours.iter().map(Tensor::handle).collect();
    let all = cat(&handles, -1)?;
    // Tile, step, output of the tile, quarter of a thread, pair of products, product, half, and neighbour.
    let parts = reshape(all.handle(), &[tiles, steps, 8, 4, pairs, 2, 2, 2])?;
    // An input is step, pair, product, half, quarter and neighbour; an output tile and output.
    let ordered = permute(parts.handle(), &[1, 4, 5, 6, 3, 7, 0, 2])?;
    let matrix = reshape(ordered.handle(), &[steps * pairs * 32, tiles * 8])?;
    let single = to_dtype(matrix.handle(), api::SCONCE_DTYPE_F32)?;
    binary(api::SCONCE_BINARY_SUB, &single, Operand::Number(8.0))
}
