//! A sum of one tensor of each device.

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result};
use sconce_base::types::DeviceIndex;
use sconce_compute::collectives::{CommOp, CommRequest};
use sconce_compute::pointwise::Scalar;
use sconce_runtime::device;

use super::device_of;
use super::lanes::{Lanes, Turn};
use super::team::Team;
use crate::tensor::operations::{ElementOperation, TensorOperand, binary};
use crate::tensor::{Place, Tensor, TensorOptions, views};

/// The bytes of the parts of a large sum: while one is added, the next one is copied. Between two copies the links are
/// idle for some microseconds, so parts are large; the last ones are small, because nothing is copied while they are
/// added.
const LEAST_PART_BYTES: usize = 16 << 20;
const MOST_PART_BYTES: usize = 64 << 20;

/// The device of a sum: that with the index, or the current one for -1.
pub(super) fn destination_of(index: i32) -> Result<DeviceIndex> {
    match index {
        -1 => device::current(),
        _ => device_of(index),
    }
}

/// The sum of tensors of one shape, on the device of one of them. `None` stands for the tensor itself, if it is the
/// only one.
pub fn reduce_add(inputs: &[Tensor], destination: i32) -> Result<Option<Tensor>> {
    let destination = destination_of(destination)?;
    let place = Place::Device(destination);
    let root = check(inputs, place)?;
    let others: Vec<&Tensor> = inputs
        .iter()
        .enumerate()
        .filter(|(index, _)| *index != root)
        .map(|(_, input)| input)
        .collect();
    if others.is_empty() {
        return Ok(None);
    }
    if let Some(sum) = add_together(inputs, root)? {
        return Ok(Some(sum));
    }
    let root = &inputs[root];
    let lanes = Lanes::to(destination)?;
    let is_summand = |input: &&Tensor| {
        input.is_contiguous() && input.dtype() == root.dtype() && input.place() != place
    };
    let bytes = root.packed_bytes();
    let in_parts = bytes > LEAST_PART_BYTES
        && root.is_contiguous()
        && others.iter().all(is_summand)
        && lanes.has_lane(others[0].place(), bytes)?;
    let sum = if in_parts {
        add_parts(root, &others, &lanes)?
    } else {
        add_whole(root, &others, &lanes)?
    };
    lanes.close()?;
    Ok(Some(sum))
}

/// The index of the root: the last input on the destination.
fn check(inputs: &[Tensor], destination: Place) -> Result<usize> {
    let Some(first) = inputs.first() else {
        return Err(Error::invalid_argument("reduce_add expects at least one input"));
    };
    let shape = |sizes: &[i64]| sizes.iter().map(i64::to_string).collect::<Vec<_>>().join("x");
    let mut root = None;
    for (index, input) in inputs.iter().enumerate() {
        if input.place() == Place::Cpu {
            return Err(Error::invalid_argument(format!(
                "reduce_add expects all inputs to be on GPUs, but input {index} is on CPU"
            )));
        }
        if input.place() == destination {
            root = Some(index);
        }
        if input.sizes() != first.sizes() {
            return Err(Error::invalid_argument(format!(
                "input {index} has invalid size: got {}, but expected {}",
                shape(input.sizes()),
                shape(first.sizes())
            )));
        }
    }
    root.ok_or_else(|| {
        Error::invalid_argument(
            "reduce_add expects destination to be on the same GPU with one of the tensors",
        )
    })
}

fn add(left: &Tensor, right: &Tensor, into: Option<&Tensor>) -> Result<Tensor> {
    let operands = [TensorOperand::Tensor(left), TensorOperand::Tensor(right)];
    binary(ElementOperation::Add, operands, Scalar::Int(1), into)
}

/// A sum as one collective call. That adds in an order of its own, so it is taken for integers alone, whose sum is the
/// same in any order.
fn add_together(inputs: &[Tensor], root: usize) -> Result<Option<Tensor>> {
    let dtype = inputs[root].dtype();
    let is_exact =
        matches!(dtype, Dtype::I8 | Dtype::U8 | Dtype::I32 | Dtype::U32 | Dtype::I64 | Dtype::U64);
    if !is_exact || inputs.iter().any(|input| input.dtype() != dtype) {
        return Ok(None);
    }
    let all: Vec<&Tensor> = inputs.iter().collect();
    let Some(team) = Team::of(&all)? else { return Ok(None) };
    let sum = TensorOptions::of(&inputs[root]).empty(inputs[root].sizes())?;
    let count = sum.numel() as usize;
    team.call(|rank| CommRequest::Reduce {
        send: inputs[rank].raw().get(),
        recv: if rank == root { sum.raw().get() } else { 0 },
        count,
        dtype,
        op: CommOp::Sum,
        root: root as i32,
    })?;
    Ok(Some(sum))
}

/// A part of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SumPart {
    start: i64,
    numel: i64,
}

/// The parts of a sum of so many elements: none is larger than those before it.
fn parts_of(numel: i64, element: usize) -> Vec<SumPart> {
    let [least, most] = [LEAST_PART_BYTES, MOST_PART_BYTES].map(|bytes| (bytes / element) as i64);
    let mut parts = Vec::new();
    let mut start = 0;
    while start < numel {
        let rest = numel - start;
        let part = SumPart { start, numel: (rest / 2).clamp(least, most).min(rest) };
        start += part.numel;
        parts.push(part);
    }
    parts
}

/// Each input is copied as a whole, then added.
fn add_whole(root: &Tensor, others: &[&Tensor], lanes: &Lanes<'_>) -> Result<Tensor> {
    let mut sum: Option<Tensor> = None;
    for other in others {
        let here = if other.place() == root.place() {
            Tensor::clone(other)
        } else {
            let options = TensorOptions { place: root.place(), ..TensorOptions::of(other) };
            let here = options.empty(other.sizes())?;
            // `here` may have the memory of one before, from which the current stream still adds.
            if let Err(error) = lanes
                .follow(other.place(), Turn::Even)
                .and_then(|()| lanes.copy(&here, other, Turn::Even))
                .and_then(|()| lanes.arrive(other.place(), Turn::Even))
            {
                // A lane may still write to what goes back now.
                lanes.close()?;
                return Err(error);
            }
            here
        };
        sum = Some(match &sum {
            None => add(root, &here, None)?,
            Some(sum) => add(sum, &here, Some(sum))?,
        });
    }
    sum.ok_or_else(|| Error::invalid_argument("reduce_add expects at least two inputs here"))
}

/// Parts of all inputs arrive while the parts before are added, in two temporaries for each input.
fn add_parts(root: &Tensor, others: &[&Tensor], lanes: &Lanes<'_>) -> Result<Tensor> {
    let numel = root.numel();
    let parts = parts_of(numel, root.element());
    let most = parts.first().map_or(0, |part| part.numel);
    let options = TensorOptions::of(root);
    let sum = options.empty(root.sizes())?;
    let temporaries: Result<Vec<[Tensor; 2]>> =
        others.iter().map(|_| Ok([options.empty(&[most])?, options.empty(&[most])?])).collect();
    let temporaries = temporaries?;
    let line = |tensor: &Tensor| views::view(tensor, &[numel]);
    let (sum_line, root_line) = (line(&sum)?, line(root)?);
    let lines: Result<Vec<Tensor>> = others.iter().map(|other| line(other)).collect();
    let lines = lines?;
    let part_of = |tensor: &Tensor, part: usize| {
        views::narrow(tensor, 0, parts[part].start, parts[part].numel)
    };
    let temporary = |input: usize, part: usize| {
        views::narrow(&temporaries[input][part % 2], 0, 0, parts[part].numel)
    };
    let send = |part: usize| -> Result<()> {
        for (input, other) in lines.iter().enumerate() {
            lanes.copy(&temporary(input, part)?, &part_of(other, part)?, Turn::of(part))?;
        }
        Ok(())
    };
    let run = || -> Result<()> {
        send(0)?;
        for part in 0..parts.len() {
            for other in others {
                // The next copies follow the sum of the part before, whose temporaries they use; the sum of this part
                // follows its copies.
                lanes.follow(other.place(), Turn::of(part + 1))?;
                lanes.arrive(other.place(), Turn::of(part))?;
            }
            let into = part_of(&sum_line, part)?;
            for input in 0..others.len() {
                let here = temporary(input, part)?;
                let left = if input == 0 { part_of(&root_line, part)? } else { into.clone() };
                add(&left, &here, Some(&into))?;
            }
            if part + 1 < parts.len() {
                send(part + 1)?;
            }
        }
        Ok(())
    };
    let done = run();
    // The temporaries go back now.
    lanes.close()?;
    done?;
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_sum_and_shrink_to_the_end() {
        const MIB: i64 = 1 << 20;
        let of = |numel| parts_of(numel, 4).iter().map(|part| part.numel).collect::<Vec<_>>();
        assert_eq!(of(20 * MIB), [10 * MIB, 5 * MIB, 4 * MIB, MIB]);
        assert_eq!(of(4 * MIB + 1), [4 * MIB, 1]);
        assert_eq!(of(3), [3]);
        for numel in [1, 5 * MIB, 64 * MIB + 77, 256 * MIB] {
            let parts = parts_of(numel, 4);
            let mut end = 0;
            for part in &parts {
                assert_eq!(part.start, end);
                assert!(part.numel > 0 && part.numel <= parts[0].numel);
                end += part.numel;
            }
            assert_eq!(end, numel);
        }
        assert_eq!(parts_of(256 * MIB, 4).len(), 18);
    }
}
