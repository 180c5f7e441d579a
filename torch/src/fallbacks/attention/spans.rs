//! Where sequences of several lengths lie, and which positions meet.

use crate::abi::tensors::{dtype_of_tensor, is_defined, numel_of};
use crate::error::{Error, Result};
use crate::sconce::operations::{self, Operand, binary, choose};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api};

/// A sequence: the first position, and the number of positions.
pub(super) type SequenceSpan = [i64; 2];

/// The sequences of queries and of keys, from tensors of int32 with the begin of each and the end of the last. Waits for
/// the device.
pub(super) fn spans(queries: TensorHandle, keys: TensorHandle) -> Result<Vec<[SequenceSpan; 2]>> {
    let (queries, keys) = (bounds("cum_seq_q", queries)?, bounds("cum_seq_k", keys)?);
    if queries.len() != keys.len() {
        return Err(Error::invalid_argument(format!(
            "there are {} sequences of queries and {} of keys",
            queries.len(),
            keys.len()
        )));
    }
    Ok(queries.into_iter().zip(keys).map(|(queries, keys)| [queries, keys]).collect())
}

fn bounds(name: &str, tensor: TensorHandle) -> Result<Vec<SequenceSpan>> {
    let dtype = dtype_of_tensor(tensor)?;
    let count = numel_of(tensor)? as usize;
    if dtype != api::SCONCE_DTYPE_I32 || count == 0 {
        return Err(Error::invalid_argument(format!(
            "{name} must have the begin of each sequence and the end of the last one, in int32"
        )));
    }
    let places = operations::whole_numbers(tensor)?;
    let spans: Vec<SequenceSpan> =
        places.windows(2).map(|pair| [pair[0].into(), (pair[1] - pair[0]).into()]).collect();
    if places[0] != 0 || spans.iter().any(|[_, length]| *length < 0) {
        return Err(Error::invalid_argument(format!("{name} must begin with 0 and never fall")));
    }
    Ok(spans)
}

/// Which keys a query meets, by the distance of their positions: none is no limit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits {
    /// How far before the query.
    pub(super) before: Option<i64>,
    /// How far behind it.
    pub(super) behind: Option<i64>,
    /// Whether the last query has the position of the last key; else the first of both have one.
    pub(super) ends_meet: bool,
}

impl Limits {
    /// Whether these are those of causal attention from the first position on.
    pub(super) fn is_causal(self, queries: i64, keys: i64) -> bool {
        self.before.is_none() && self.behind == Some(0) && (!self.ends_meet || queries == keys)
    }

    /// What is to be added to scores, or is true where they count: `bias` where positions meet. `None` if all count.
    pub(super) fn mask(
        self,
        bias: Option<TensorHandle>,
        [queries, keys]: [i64; 2],
        device: i32,
    ) -> Result<Option<Tensor>> {
        let distances = distances(queries, keys, device)?;
        // From the query's position among the keys to the key's.
        let shift = if self.ends_meet { keys - queries } else { 0 };
        let mut meets: Option<Tensor> = None;
        for (operation, most) in [
            (api::SCONCE_BINARY_LE, self.behind.map(|most| most + shift)),
            (api::SCONCE_BINARY_GE, self.before.map(|most| shift - most)),
        ] {
            let Some(most) = most else { continue };
            let within = binary(operation, &distances, Operand::Whole(most))?;
            meets = Some(match meets {
                Some(other) => {
                    binary(api::SCONCE_BINARY_LOGICAL_AND, &other, Operand::Tensor(&within))?
                }
                None => within,
            });
        }
        match (meets, bias) {
            (None, None) => Ok(None),
            (None, Some(bias)) => Tensor::retained(bias).map(Some),
            (Some(meets), None) => Ok(Some(meets)),
            (Some(meets), Some(bias)) => {
                let bias = Tensor::retained(bias)?;
                let never = Operand::Number(f64::NEG_INFINITY);
                choose(&meets, Operand::Tensor(&bias), never).map(Some)
            }
        }
    }
}

/// The position of each key less that of each query.
fn distances(queries: i64, keys: i64, device: i32) -> Result<Tensor> {
    let options = options(api::SCONCE_DTYPE_I64, device);
    let down = operations::arange(0, queries, 1, &options)?;
    let across = operations::arange(0, keys, 1, &options)?;
    let column = operations::unsqueeze(down.handle(), 1)?;
    binary(api::SCONCE_BINARY_SUB, &across, Operand::Tensor(&column))
}

/// The tensor behind a handle that may stand for none.
pub(super) fn present(tensor: TensorHandle) -> Result<Option<TensorHandle>> {
    let is_present = !tensor.is_null() && is_defined(tensor)?;
    Ok(is_present.then_some(tensor))
}
