//! Products with weights that are packed: of 4 bits, and those that a model packs itself when it runs.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use crate::fallbacks::{Place, give};
use crate::operations::quantized::dynamic;
use crate::operations::quantized::four_bits::four_bit_weights;
use crate::operations::quantized::numbers::Scale;
use crate::operations::quantized::packing::Packing;
use crate::operations::quantized::tensor_cores::packed_for_tensor_cores;
use crate::operations::quantized::wrapped::{
    linear_halves, linear_integers, pack_halves, pack_integers,
};
use crate::sconce::operations::item;
use crate::sconce::tensor::TensorHandle;

abi_functions! {
    /// Returns the product of a matrix with rows of weights of 4 bits, which were packed for a CPU.
    aoti_torch_cpu__weight_int4pack_mm_cpu_tensor(
        input as X: TensorHandle, weights as w: TensorHandle, group_size as qGroupSize: TensorHandle,
        scales_and_zeros as qScaleAndZeros: TensorHandle, ret0: Place,
    ) {
        let group = item(group_size)?.integer;
        let made = four_bit_weights(input, weights, group, scales_and_zeros, Packing::of_process())?;
        give(ret0, made)
    }

    /// Returns the product of a matrix with rows of weights of 4 bits, which were packed for tensor cores.
    aoti_torch_cuda__weight_int4pack_mm(
        input as self: TensorHandle, weights as mat2: TensorHandle, group_size: i64,
        scales_and_zeros as qScaleAndZeros: TensorHandle, ret0: Place,
    ) {
        give(ret0, packed_for_tensor_cores(input, weights, group_size, scales_and_zeros)?)
    }

    /// Returns packed weights of 4 bits.
    aoti_torch_cpu__dyn_quant_pack_4bit_weight(
        weights: TensorHandle, scales_zeros: TensorHandle, bias: Option<TensorHandle>,
        block_size: i64, in_features: i64, out_features: i64, ret0: Place,
    ) {
        let made = dynamic::pack(weights, scales_zeros, bias, [block_size, in_features, out_features])?;
        give(ret0, made)
    }

    /// Returns the product of rows, which are quantized on the way, with rows of packed weights of 4 bits.
    aoti_torch_cpu__dyn_quant_matmul_4bit(
        input as inp: TensorHandle, packed_weights: TensorHandle, block_size: i64, in_features: i64, out_features: i64,
        ret0: Place,
    ) {
        give(ret0, dynamic::matmul(input, packed_weights, [block_size, in_features, out_features])?)
    }

    /// Returns weights in float16, for `aoti_torch_cpu_wrapped_fbgemm_linear_fp16_weight`.
    aoti_torch_cpu_wrapped_fbgemm_pack_gemm_matrix_fp16(
        weight: TensorHandle, out: Place,
    ) {
        give(out, pack_halves(weight)?)
    }

    /// Returns the product of the input's lines with rows of packed weights. The bias may be NULL.
    aoti_torch_cpu_wrapped_fbgemm_linear_fp16_weight(
        input: TensorHandle, weight: TensorHandle, bias: TensorHandle, out_channel: i64, out: Place,
    ) {
        let made = linear_halves(input, weight, Some(bias).filter(|bias| !bias.is_null()), out_channel)?;
        give(out, made)
    }

    /// Returns quantized weights with their bias, for `aoti_torch_cpu__wrapped_quantized_linear_prepacked`.
    aoti_torch_cpu__wrapped_linear_prepack(
        weight: TensorHandle, weight_scale: TensorHandle, weight_zero_point: TensorHandle,
        bias: TensorHandle, out: Place,
    ) {
        let scale = Scale::of(weight_scale, weight_zero_point)?;
        give(out, pack_integers(weight, scale, Some(bias).filter(|bias| !bias.is_null()))?)
    }

    /// Returns the product of the input's lines, which are quantized on the way, with packed weights.
    aoti_torch_cpu__wrapped_quantized_linear_prepacked(
        input: TensorHandle, input_scale: TensorHandle, input_zero_point: TensorHandle,
        weight: TensorHandle, out_scale: TensorHandle, out_zeropoint: TensorHandle,
        out_channel: i64, out: Place,
    ) {
        let (scale, result) =
            (Scale::of(input_scale, input_zero_point)?, Scale::of(out_scale, out_zeropoint)?);
        give(out, linear_integers(input, scale, weight, result, out_channel)?)
    }
}
