//! Quantization while training: the range of a tensor's elements is followed by a moving average, and the elements are
//! rounded to what integers of that range stand for. No value is read on the host, so captures keep all of it.

use crate::abi::tensors::{device_of_tensor, dtype_of_tensor, numel_of, rank_of, sizes_of};
use crate::error::{Error, Result};
use crate::operations::fused::activation::clamped;
use crate::operations::tensors::{check_floating, filled_like};
use crate::sconce::operations::{
    Operand, binary, choose, contiguous_copy, copy, reduce, reshape, to_dtype, unary,
};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api};

const F32: i32 = api::SCONCE_DTYPE_F32;
const F64: i32 = api::SCONCE_DTYPE_F64;
const ADD: i32 = api::SCONCE_BINARY_ADD;
const SUB: i32 = api::SCONCE_BINARY_SUB;
const MUL: i32 = api::SCONCE_BINARY_MUL;
const DIV: i32 = api::SCONCE_BINARY_DIV;
/// The least scale, about the smallest normal number of float16.
const LEAST_SCALE: f64 = 6.1e-5_f32 as f64;

/// What is followed, and whether: tensors that the caller has and this writes.
#[derive(Clone, Copy, Debug)]
pub struct State {
    /// Whether the range is followed.
    pub observes: TensorHandle,
    /// Whether elements are rounded.
    pub rounds: TensorHandle,
    /// The least element so far.
    pub least: TensorHandle,
    /// The largest element so far.
    pub most: TensorHandle,
    /// The real number from one integer to the next.
    pub scale: TensorHandle,
    /// The integer that stands for 0.
    pub zero_point: TensorHandle,
}

/// How it is followed.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// How much of a new range counts.
    pub share: f64,
    /// The least integer.
    pub least: i64,
    /// The largest integer.
    pub most: i64,
    /// Whether each part of the first dimension has a range of its own.
    pub by_row: bool,
    /// Whether the range has 0 in its middle.
    pub is_symmetric: bool,
}

/// `_fused_moving_avg_obs_fq_helper(…)`: the rounded elements, and which of them were within the range. The state
/// changes.
pub fn observe(input: TensorHandle, state: State, rule: Rule, axis: i64) -> Result<[Tensor; 2]> {
    check_floating(dtype_of_tensor(input)?)?;
    check(input, state, rule, axis)?;
    let observes = is_on(state.observes)?;
    let rounds = is_on(state.rounds)?;
    follow(input, state.least, api::SCONCE_REDUCE_AMIN, &observes, rule)?;
    follow(input, state.most, api::SCONCE_REDUCE_AMAX, &observes, rule)?;
    let (scale, zero) = quantities(state.least, state.most, rule)?;
    for (into, now) in [(state.scale, &scale), (state.zero_point, &zero)] {
        let kept = Tensor::retained(into)?;
        let now =
            reshape(to_dtype(now.handle(), dtype_of_tensor(into)?)?.handle(), &sizes_of(into)?)?;
        let chosen = choose(&rounds, Operand::Tensor(&now), Operand::Tensor(&kept))?;
        copy(&kept, chosen.handle())?;
    }
    rounded(input, state, rule, &rounds)
}

fn check(input: TensorHandle, state: State, rule: Rule, axis: i64) -> Result<()> {
    let rank = rank_of(input)?;
    if rule.by_row && (axis != 0 || rank == 0) {
        return Err(Error::not_supported(
            "Per-channel FakeQuant in fused_moving_avg_obs_fake_quant is only supported on axis == 0",
        ));
    }
    let is_whole = |bound: i64| i32::try_from(bound).is_ok();
    if !is_whole(rule.least) || !is_whole(rule.most) {
        return Err(Error::invalid_argument(format!(
            "quant_min and quant_max must be numbers of 32 bits, but are {} and {}",
            rule.least, rule.most
        )));
    }
    if rule.least >= rule.most {
        return Err(Error::invalid_argument(format!(
            "quant_min is {}, but must be less than quant_max, {}",
            rule.least, rule.most
        )));
    }
    let rows = if rule.by_row { sizes_of(input)?[0] } else { 1 };
    let parts = [
        ("running_min", state.least),
        ("running_max", state.most),
        ("scale", state.scale),
        ("zero_point", state.zero_point),
    ];
    for (name, tensor) in parts {
        if numel_of(tensor)? != rows {
            return Err(Error::invalid_argument(format!(
                "{name} must have {rows} elements, but has {}",
                numel_of(tensor)?
            )));
        }
    }
    if numel_of(input)? == 0 {
        return Err(Error::invalid_argument("self must have elements, as its range is observed"));
    }
    Ok(())
}

/// A truth value of one element that is repeated over others.
fn is_on(flag: TensorHandle) -> Result<Tensor> {
    if numel_of(flag)? != 1 {
        return Err(Error::invalid_argument("observer_on and fake_quant_on must have one element"));
    }
    let flag = reshape(flag, &[])?;
    binary(api::SCONCE_BINARY_NE, &flag, Operand::Whole(0))
}

/// Moves an end of the range towards that of the elements. One that is infinite has not been observed yet.
fn follow(
    input: TensorHandle,
    state: TensorHandle,
    extreme: i32,
    observes: &Tensor,
    rule: Rule,
) -> Result<()> {
    let dims: Vec<i64> = match rule.by_row {
        true => (1..rank_of(input)? as i64).collect(),
        false => Vec::new(),
    };
    let seen = match rule.by_row && dims.is_empty() {
        true => Tensor::retained(input)?,
        false => reduce(extreme, input, &dims, false, api::SCONCE_DTYPE_DEFAULT)?,
    };
    let (dtype, sizes) = (dtype_of_tensor(state)?, sizes_of(state)?);
    let seen = reshape(to_dtype(seen.handle(), dtype)?.handle(), &sizes)?;
    let before = Tensor::retained(state)?;
    let apart = binary(SUB, &seen, Operand::Tensor(&before))?;
    let moved = binary(MUL, &apart, Operand::Number(rule.share))?;
    let moved = binary(ADD, &before, Operand::Tensor(&moved))?;
    let size = unary(api::SCONCE_UNARY_ABS, &before)?;
    let is_first = binary(api::SCONCE_BINARY_EQ, &size, Operand::Number(f64::INFINITY))?;
    let next = choose(&is_first, Operand::Tensor(&seen), Operand::Tensor(&moved))?;
    let next = choose(observes, Operand::Tensor(&next), Operand::Tensor(&before))?;
    copy(&before, next.handle())
}

fn and(first: &Tensor, second: &Tensor) -> Result<Tensor> {
    binary(api::SCONCE_BINARY_LOGICAL_AND, first, Operand::Tensor(second))
}

fn both_sides(least: &Tensor, most: &Tensor) -> Result<Tensor> {
    let below = binary(api::SCONCE_BINARY_LT, least, Operand::Number(0.0))?;
    and(&below, &binary(api::SCONCE_BINARY_GT, most, Operand::Number(0.0))?)
}

/// The scale and the zero point of ranges, calculated in float64 from float32. On the CPU they are FBGEMM's, which widens
/// ranges whose scale is below `LEAST_SCALE`. PyTorch's kernel for devices does not, and rounds the scale before it
/// chooses the zero point.
fn quantities(least: TensorHandle, most: TensorHandle, rule: Rule) -> Result<(Tensor, Tensor)> {
    let single = |tensor: &Tensor| to_dtype(tensor.handle(), F32);
    let double = |tensor: &Tensor| to_dtype(tensor.handle(), F64);
    let (mut least, mut most) = (to_dtype(least, F32)?, to_dtype(most, F32)?);
    let span = rule.most - rule.least;
    if rule.is_symmetric {
        let both = both_sides(&least, &most)?;
        let ends = [-(span / 2 + 1) as f64, (span / 2) as f64];
        let [low, high] =
            [(&least, ends[0]), (&most, ends[1])].map(|(of, end)| -> Result<Tensor> {
                let share = binary(DIV, of, Operand::Number(end))?;
                double(&unary(api::SCONCE_UNARY_ABS, &share)?)
            });
        let larger = binary(api::SCONCE_BINARY_MAXIMUM, &low?, Operand::Tensor(&high?))?;
        let [low, high] = ends
            .map(|end| -> Result<Tensor> { single(&binary(MUL, &larger, Operand::Number(end))?) });
        least = choose(&both, Operand::Tensor(&low?), Operand::Tensor(&least))?;
        most = choose(&both, Operand::Tensor(&high?), Operand::Tensor(&most))?;
    }
    least = binary(api::SCONCE_BINARY_MINIMUM, &least, Operand::Number(0.0))?;
    most = binary(api::SCONCE_BINARY_MAXIMUM, &most, Operand::Number(0.0))?;
    let width = binary(SUB, &double(&most)?, Operand::Tensor(&double(&least)?))?;
    let scale = binary(DIV, &width, Operand::Number(span as f64))?;
    // A scale without a reciprocal becomes 0.1.
    let reciprocal = unary(api::SCONCE_UNARY_RECIPROCAL, &single(&scale)?)?;
    let usable = unary(api::SCONCE_UNARY_IS_FINITE, &reciprocal)?;
    let scale = choose(&usable, Operand::Tensor(&scale), Operand::Number(0.1))?;
    let scale = match device_of_tensor(scale.handle())? == api::SCONCE_DEVICE_CPU {
        true => {
            let is_small = binary(api::SCONCE_BINARY_LT, &scale, Operand::Number(LEAST_SCALE))?;
            (least, most) = widened_range(least, most, &scale, &is_small, span)?;
            choose(&is_small, Operand::Number(LEAST_SCALE), Operand::Tensor(&scale))?
        }
        false => double(&single(&scale)?)?,
    };
    let zero = zero_point(&least, &most, &scale, rule)?;
    Ok((single(&scale)?, zero))
}

/// The range that the least scale has, where a range is smaller.
fn widened_range(
    least: Tensor,
    most: Tensor,
    scale: &Tensor,
    is_small: &Tensor,
    span: i64,
) -> Result<(Tensor, Tensor)> {
    let whole = LEAST_SCALE * span as f64;
    let original = to_dtype(scale.handle(), F32)?;
    let factor = unary(api::SCONCE_UNARY_RECIPROCAL, &original)?;
    let factor = binary(MUL, &factor, Operand::Number(LEAST_SCALE))?;
    let at_zero = |tensor: &Tensor| binary(api::SCONCE_BINARY_EQ, tensor, Operand::Number(0.0));
    let (no_least, no_most) = (at_zero(&least)?, at_zero(&most)?);
    let larger = |tensor: &Tensor| binary(MUL, tensor, Operand::Tensor(&factor));
    let pick = |of: &Tensor, own: &Tensor, other: &Tensor, end: f64| -> Result<Tensor> {
        // The end at 0 stays, unless the other one is there, too; then the range is the whole one on one side.
        let grown = choose(other, Operand::Number(end), Operand::Tensor(&larger(of)?))?;
        let kept = choose(own, Operand::Tensor(of), Operand::Tensor(&grown))?;
        choose(is_small, Operand::Tensor(&kept), Operand::Tensor(of))
    };
    let next_least = pick(&least, &no_least, &no_most, -whole)?;
    // The upper one moves where both are at 0.
    let upper_stays = and(&no_most, &unary(api::SCONCE_UNARY_LOGICAL_NOT, &no_least)?)?;
    let next_most = pick(&most, &upper_stays, &no_least, whole)?;
    Ok((next_least, next_most))
}

fn zero_point(least: &Tensor, most: &Tensor, scale: &Tensor, rule: Rule) -> Result<Tensor> {
    let shares = [(least, rule.least), (most, rule.most)].map(|(end, integer)| {
        let share = binary(DIV, &to_dtype(end.handle(), F64)?, Operand::Tensor(scale))?;
        let turned = binary(MUL, &share, Operand::Number(-1.0))?;
        let zero = binary(ADD, &turned, Operand::Number(integer as f64))?;
        let size = unary(api::SCONCE_UNARY_ABS, &share)?;
        let error = binary(ADD, &size, Operand::Number((integer as f64).abs()))?;
        Ok::<_, Error>((zero, error))
    });
    let [low, high] = shares;
    let ((low, low_error), (high, high_error)) = (low?, high?);
    let from_least = binary(api::SCONCE_BINARY_LT, &low_error, Operand::Tensor(&high_error))?;
    let mut zero = choose(&from_least, Operand::Tensor(&low), Operand::Tensor(&high))?;
    if rule.is_symmetric {
        let middle = (rule.least + rule.most) as f64 / 2.0;
        let both = both_sides(least, most)?;
        zero = choose(&both, Operand::Number(middle), Operand::Tensor(&zero))?;
    }
    let within = clamped(&zero, rule.least as f64, rule.most as f64)?;
    unary(api::SCONCE_UNARY_ROUND, &within)
}

/// The elements as what integers of the range stand for, and which of them are within the range.
fn rounded(input: TensorHandle, state: State, rule: Rule, rounds: &Tensor) -> Result<[Tensor; 2]> {
    let dtype = dtype_of_tensor(input)?;
    let mut column = vec![1; rank_of(input)?];
    if rule.by_row {
        column[0] = numel_of(state.scale)?;
    }
    let [scale, zero] = [state.scale, state.zero_point]
        .map(|tensor| -> Result<Tensor> { reshape(to_dtype(tensor, F32)?.handle(), &column) });
    let (scale, zero) = (scale?, zero?);
    let numbers = to_dtype(input, F32)?;
    let reciprocal = unary(api::SCONCE_UNARY_RECIPROCAL, &scale)?;
    let scaled = binary(MUL, &numbers, Operand::Tensor(&reciprocal))?;
    let moved = binary(ADD, &scaled, Operand::Tensor(&zero))?;
    let integers = unary(api::SCONCE_UNARY_ROUND, &moved)?;
    let (least, most) = (rule.least as f64, rule.most as f64);
    let above = binary(api::SCONCE_BINARY_GE, &integers, Operand::Number(least))?;
    let within = and(&above, &binary(api::SCONCE_BINARY_LE, &integers, Operand::Number(most))?)?;
    let kept = clamped(&integers, least, most)?;
    let kept = binary(SUB, &kept, Operand::Tensor(&zero))?;
    let found = to_dtype(binary(MUL, &kept, Operand::Tensor(&scale))?.handle(), dtype)?;
    let ones = filled_like(within.handle(), &sizes_of(input)?, 1.0)?;
    let output = choose(rounds, Operand::Tensor(&found), Operand::Handle(input))?;
    let mask = choose(rounds, Operand::Tensor(&within), Operand::Tensor(&ones))?;
    Ok([output, mask])
}

/// `_fused_moving_avg_obs_fq_helper_functional(…)`: the same, and copies of the state as it would be.
pub fn observed(input: TensorHandle, state: State, rule: Rule, axis: i64) -> Result<[Tensor; 6]> {
    let copies = [state.least, state.most, state.scale, state.zero_point].map(contiguous_copy);
    let [least, most, scale, zero_point] = copies;
    let (least, most, scale, zero_point) = (least?, most?, scale?, zero_point?);
    let own = State {
        least: least.handle(),
        most: most.handle(),
        scale: scale.handle(),
        zero_point: zero_point.handle(),
        ..state
    };
    let [output, mask] = observe(input, own, rule, axis)?;
    Ok([output, mask, least, most, scale, zero_point])
}
