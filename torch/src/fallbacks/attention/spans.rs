//! Where sequences of several lengths lie, and which positions meet.

use crate::abi::tensors::{
    device_of_tensor, dtype_of_tensor, is_defined, numel_of, rank_of, sizes_of,
};
use crate::error::{Error, Result};
use crate::sconce::operations::{self, Operand, binary, choose};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api};

/// A sequence: the first position, and the number of positions.
pub(super) type SequenceSpan = [i64; 2];

/// Where sequences of several lengths lie, in tensors of int32.
pub(super) struct Spans {
    /// How many there are.
    pub(super) count: i64,
    /// The begin of the queries of each, and the end of the last.
    pub(super) queries: Tensor,
    /// The same of keys, unless these are in pages.
    pub(super) keys: Option<Tensor>,
    /// How many keys each has, if not all up to the next one.
    pub(super) counts: Option<Tensor>,
    /// The pages of the keys of each.
    pub(super) pages: Option<Tensor>,
    /// The most queries and keys of a sequence, as the caller says.
    pub(super) most_queries: i64,
    pub(super) most_keys: i64,
    /// How many blocks of a GPU may share the keys of a sequence.
    pub(super) most_parts: u32,
}

/// What a caller says about sequences; the names are those of its arguments.
pub(super) struct SpanArguments<'a> {
    pub(super) names: [&'a str; 4],
    /// Bounds of queries, bounds of keys, numbers of keys, pages.
    pub(super) tensors: [Option<TensorHandle>; 4],
    pub(super) most: [i64; 2],
    pub(super) most_parts: u32,
    /// Where the tensors of attention are.
    pub(super) device: i32,
}

impl Spans {
    /// The sequences, or `None` if all tensors have a batch.
    pub(super) fn of(arguments: &SpanArguments<'_>) -> Result<Option<Spans>> {
        let [of_queries, of_keys, of_counts, of_pages] = arguments.names;
        let [queries, keys, counts, pages] = arguments.tensors;
        let Some(queries) = queries else {
            return match arguments
                .tensors
                .iter()
                .zip(arguments.names)
                .find(|(one, _)| one.is_some())
            {
                Some((_, name)) => {
                    Err(Error::invalid_argument(format!("{name} needs {of_queries} beside it")))
                }
                None => Ok(None),
            };
        };
        match (keys, counts, pages) {
            (Some(_), _, None) | (_, Some(_), Some(_)) => {}
            (_, None, Some(_)) => {
                return Err(Error::invalid_argument(format!(
                    "{of_pages} needs {of_counts} beside it, with the number of keys of each sequence"
                )));
            }
            (None, _, None) => {
                return Err(Error::invalid_argument(format!(
                    "{of_queries} needs {of_keys} beside it, with the begin of the keys of each sequence"
                )));
            }
        }
        let list = |name: &str, tensor: TensorHandle, what: &str| {
            let is_list = rank_of(tensor)? == 1;
            numbers(name, tensor, is_list, what, arguments.device)
        };
        let bounds = "the begin of each sequence and the end of the last one";
        let queries = list(of_queries, queries, bounds)?;
        let count = numel_of(queries.handle())? - 1;
        let keys = match (keys, pages) {
            (Some(keys), None) => Some(list(of_keys, keys, bounds)?),
            _ => None,
        };
        let counts =
            counts.map(|one| list(of_counts, one, "the keys of each sequence")).transpose()?;
        let pages = pages.map(|pages| {
            let is_table = rank_of(pages)? == 2;
            numbers(of_pages, pages, is_table, "a row of pages for each sequence", arguments.device)
        });
        let spans = Spans {
            count,
            queries,
            keys,
            counts,
            pages: pages.transpose()?,
            most_queries: arguments.most[0].max(0),
            most_keys: arguments.most[1].max(0),
            most_parts: arguments.most_parts,
        };
        spans.check_counts(arguments.names)?;
        Ok(Some(spans))
    }

    fn check_counts(&self, names: [&str; 4]) -> Result<()> {
        if self.count < 0 {
            return Err(Error::invalid_argument(format!(
                "{} is empty; it begins with 0",
                names[0]
            )));
        }
        let has = |tensor: &Option<Tensor>| {
            tensor.as_ref().map(|tensor| Ok::<_, Error>(sizes_of(tensor.handle())?[0])).transpose()
        };
        for (name, found, more) in [
            (names[1], has(&self.keys)?, 1),
            (names[2], has(&self.counts)?, 0),
            (names[3], has(&self.pages)?, 0),
        ] {
            let expected = self.count + more;
            if let Some(found) = found.filter(|found| *found != expected) {
                return Err(Error::invalid_argument(format!(
                    "{name} has {found} entries; expected {expected} for the {} sequences of {}",
                    self.count, names[0]
                )));
            }
        }
        Ok(())
    }

    /// The sequences of queries and of keys. Waits for the device. Keys in pages lie as `in_order` returns them.
    pub(super) fn read(&self, page_keys: i64) -> Result<Vec<[SequenceSpan; 2]>> {
        let queries = bounds("cum_seq_q", &self.queries)?;
        let mut keys = match &self.keys {
            Some(keys) => bounds("cum_seq_k", keys)?,
            None => vec![[0, 0]; queries.len()],
        };
        if let Some(counts) = &self.counts {
            let counts = operations::whole_numbers(counts.handle())?;
            let mut begin = 0;
            for (span, count) in keys.iter_mut().zip(counts) {
                let count = i64::from(count).max(0);
                if self.pages.is_some() {
                    span[0] = begin;
                    begin += pages_of(count, page_keys) * page_keys;
                }
                span[1] = count;
            }
        }
        Ok(queries.into_iter().zip(keys).map(|(queries, keys)| [queries, keys]).collect())
    }

    /// The positions of a tensor of pages, one sequence after the other: a batch of one. Each sequence begins with a page.
    pub(super) fn in_order(
        &self,
        tensor: TensorHandle,
        spans: &[[SequenceSpan; 2]],
    ) -> Result<Tensor> {
        let Some(pages) = &self.pages else { return Tensor::retained(tensor) };
        let sizes = sizes_of(tensor)?;
        let row = sizes_of(pages.handle())?[1];
        let table = operations::whole_numbers(pages.handle())?;
        let mut needed: Vec<i64> = Vec::new();
        for (sequence, [_, [_, count]]) in spans.iter().enumerate() {
            let begin = sequence * row as usize;
            let pages = pages_of(*count, sizes[1]);
            if pages > row {
                return Err(Error::invalid_argument(format!(
                    "sequence {sequence} has {count} keys, but {row} pages of {} keys",
                    sizes[1]
                )));
            }
            for &page in table.iter().skip(begin).take(pages as usize) {
                if !(0..sizes[0]).contains(&i64::from(page)) {
                    return Err(Error::invalid_argument(format!(
                        "sequence {sequence} has page {page}, but there are {} pages",
                        sizes[0]
                    )));
                }
                needed.push(page.into());
            }
        }
        let options = options(api::SCONCE_DTYPE_I64, device_of_tensor(tensor)?);
        let index = operations::from_values(&needed, &options)?;
        let chosen = operations::index_select(tensor, 0, index.handle())?;
        let positions = needed.len() as i64 * sizes[1];
        operations::reshape(chosen.handle(), &[1, positions, sizes[2], sizes[3]])
    }
}

fn pages_of(count: i64, page_keys: i64) -> i64 {
    (count + page_keys - 1) / page_keys.max(1)
}

/// Numbers of int32 on the device, one after the other.
fn numbers(
    name: &str,
    tensor: TensorHandle,
    is_shaped: bool,
    what: &str,
    device: i32,
) -> Result<Tensor> {
    if dtype_of_tensor(tensor)? != api::SCONCE_DTYPE_I32 || !is_shaped {
        return Err(Error::invalid_argument(format!("{name} must have {what}, in int32")));
    }
    if device_of_tensor(tensor)? != device {
        return Err(Error::invalid_argument(format!("{name} is not on the device of query")));
    }
    operations::contiguous(tensor)
}

fn bounds(name: &str, tensor: &Tensor) -> Result<Vec<SequenceSpan>> {
    let places = operations::whole_numbers(tensor.handle())?;
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
            (api::SCONCE_BINARY_LE, self.behind.map(|most| most.saturating_add(shift))),
            (api::SCONCE_BINARY_GE, self.before.map(|most| shift.saturating_sub(most))),
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
