//! Ranges of tensors that are observed while training, and elements rounded as quantization will.

#![allow(unsafe_code, reason = "functions of C over handles and pointers of the caller")]

use crate::fallbacks::{Place, give_all, give_both};
use crate::operations::quantized::observer::{Rule, State, observe, observed};
use crate::sconce::tensor::TensorHandle;

/// The rule as the ABI passes it.
fn rule(share: f64, [least, most]: [i64; 2], by_row: bool, is_symmetric: bool) -> Rule {
    Rule { share, least, most, by_row, is_symmetric }
}

abi_functions! {
    /// Follows the range of a tensor's elements, and returns them rounded, and which of them are within the range.
    aoti_torch_cpu__fused_moving_avg_obs_fq_helper | aoti_torch_cuda__fused_moving_avg_obs_fq_helper(
        input as self: TensorHandle, observer_on: TensorHandle, fake_quant_on: TensorHandle, running_min: TensorHandle,
        running_max: TensorHandle, scale: TensorHandle, zero_point: TensorHandle, averaging_const: f64, quant_min: i64,
        quant_max: i64, ch_axis: i64, per_row_fake_quant: bool, symmetric_quant: bool, ret0: Place, ret1: Place,
    ) {
        let state = State {
            observes: observer_on,
            rounds: fake_quant_on,
            least: running_min,
            most: running_max,
            scale,
            zero_point,
        };
        let bounds = [quant_min, quant_max];
        let rule = rule(averaging_const, bounds, per_row_fake_quant, symmetric_quant);
        let [output, mask] = observe(input, state, rule, ch_axis)?;
        give_both([ret0, ret1], (output, mask))
    }

    /// As `_fused_moving_avg_obs_fq_helper`, but returns the new state and leaves the old one.
    aoti_torch_cpu__fused_moving_avg_obs_fq_helper_functional |
    aoti_torch_cuda__fused_moving_avg_obs_fq_helper_functional(
        input as self: TensorHandle, observer_on: TensorHandle, fake_quant_on: TensorHandle, running_min: TensorHandle,
        running_max: TensorHandle, scale: TensorHandle, zero_point: TensorHandle, averaging_const: f64, quant_min: i64,
        quant_max: i64, ch_axis: i64, per_row_fake_quant: bool, symmetric_quant: bool, ret0: Place, ret1: Place,
        ret2: Place, ret3: Place, ret4: Place, ret5: Place,
    ) {
        let state = State {
            observes: observer_on,
            rounds: fake_quant_on,
            least: running_min,
            most: running_max,
            scale,
            zero_point,
        };
        let bounds = [quant_min, quant_max];
        let rule = rule(averaging_const, bounds, per_row_fake_quant, symmetric_quant);
        let [output, mask, least, most, scale, zero] = observed(input, state, rule, ch_axis)?;
        let results = [
            (ret0, "ret0", output),
            (ret1, "ret1", mask),
            (ret2, "ret2", least),
            (ret3, "ret3", most),
            (ret4, "ret4", scale),
            (ret5, "ret5", zero),
        ];
        give_all(results)
    }
}
