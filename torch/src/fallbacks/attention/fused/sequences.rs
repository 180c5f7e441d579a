//! Attention of sequences of several lengths in one kernel. The lengths stay on the device: the host does not wait for
//! it, and a graph may contain the call.

use super::arguments::{AttentionArguments, Positions, SequencesArguments};
use super::forms::{self, Way, Work};
use super::plan::{PER_LN, Plan, changes_sign, small, uses_tensor_cores};
use super::{KernelNames, calculate, is_on_gpu};
use crate::error::Result;
use crate::fallbacks::attention::spans::{Limits, Spans};
use crate::kernels::{Image, Properties, images};
use crate::operations::layout::Layout;
use crate::sconce::{Tensor, api, operations};

/// No limit of a distance; `sequences.cuh` has this number, too.
const FAR: i32 = 1 << 29;
/// Positions are fewer, so that sums of a position and distances have 32 bits.
const MOST_POSITIONS: i64 = 1 << 28;

/// What there is to calculate, of positions before heads: positions, heads, width.
pub(in crate::fallbacks::attention) struct Sequenced<'a> {
    pub(in crate::fallbacks::attention) query: &'a Tensor,
    /// Pages, positions, heads, width if the sequences have pages.
    pub(in crate::fallbacks::attention) key: &'a Tensor,
    pub(in crate::fallbacks::attention) value: &'a Tensor,
    pub(in crate::fallbacks::attention) output: &'a Tensor,
    pub(in crate::fallbacks::attention) log_sums: LogSums<'a>,
    pub(in crate::fallbacks::attention) spans: &'a Spans,
    pub(in crate::fallbacks::attention) limits: Limits,
    pub(in crate::fallbacks::attention) scale: f64,
}

/// Where the log sums go, in float32.
#[derive(Clone, Copy)]
pub(in crate::fallbacks::attention) enum LogSums<'a> {
    /// They are not wanted.
    None,
    /// Heads, positions of all sequences.
    OfPositions(&'a Tensor),
    /// Sequences, heads, positions.
    OfSequences(&'a Tensor),
}

/// Where everything lies.
struct Layouts {
    query: Layout,
    key: Layout,
    value: Layout,
    output: Layout,
}

fn address(layout: &Layout) -> u64 {
    layout.data.expose_provenance() as u64
}

fn address_of(tensor: &Option<Tensor>) -> Result<u64> {
    tensor.as_ref().map_or(Ok(0), |tensor| Ok(address(&Layout::of(tensor.handle())?)))
}

/// The positions of a tensor whose last dimensions are positions, heads and width. What leads from one to the next is
/// also the stride of the batch, unless a dimension of pages is in front.
fn positions_of(layout: &Layout) -> Option<Positions> {
    let address = address(layout);
    match *layout.strides.as_slice() {
        [position, head, element] => {
            Some(Positions { address, strides: [position, head, position, element] })
        }
        [page, position, head, element] => {
            Some(Positions { address, strides: [page, head, position, element] })
        }
        _ => None,
    }
}

/// Whether 16 bytes can be read or written at once.
fn lies_in_chunks(layout: &Layout) -> bool {
    let sizes = match *layout.sizes.as_slice() {
        [positions, heads, width] => [positions, heads, positions, width],
        [pages, positions, heads, width] => [pages, heads, positions, width],
        _ => return false,
    };
    positions_of(layout).is_some_and(|positions| positions.lie_in_chunks(sizes))
}

/// The tensor itself, or a copy whose numbers tensor cores can read.
fn in_chunks(tensor: &Tensor) -> Result<Tensor> {
    match lies_in_chunks(&Layout::of(tensor.handle())?) {
        true => Tensor::retained(tensor.handle()),
        false => operations::contiguous_copy(tensor.handle()),
    }
}

/// The image of a form for a type, and what the names of its kernels end with.
fn image(dtype: i32, way: Way) -> Option<(&'static Image, &'static str)> {
    match (dtype, way) {
        (api::SCONCE_DTYPE_F16, Way::TensorCores) => {
            Some((&images::ATTENTION_SEQUENCES_F16, "f16"))
        }
        (api::SCONCE_DTYPE_BF16, Way::TensorCores) => {
            Some((&images::ATTENTION_SEQUENCES_BF16, "bf16"))
        }
        (api::SCONCE_DTYPE_F16, Way::WarpGroups) => {
            Some((&images::ATTENTION_SEQUENCES_GROUPS_F16, "f16"))
        }
        (api::SCONCE_DTYPE_BF16, Way::WarpGroups) => {
            Some((&images::ATTENTION_SEQUENCES_GROUPS_BF16, "bf16"))
        }
        _ => None,
    }
}

impl Sequenced<'_> {
    /// Calculates it. `false` if the kernel does not: nothing that anybody sees is queued then.
    pub(in crate::fallbacks::attention) fn attend(&self) -> Result<bool> {
        let query = Layout::of(self.query.handle())?;
        if !is_on_gpu(&query) {
            return Ok(false);
        }
        let nothing = query.numel() == 0 || self.spans.count == 0 || self.spans.most_queries == 0;
        if nothing {
            return Ok(true);
        }
        let device = Properties::of(query.device)?;
        let (width, value_width) = self.widths()?;
        let is_offered = uses_tensor_cores(query.dtype, &device)
            && width.max(value_width) <= forms::MOST_WIDTH
            && width % 8 == 0
            && value_width % 8 == 0;
        if !is_offered {
            return Ok(false);
        }
        let [query, key, value] = [self.query, self.key, self.value].map(in_chunks);
        let (query, key, value) = (query?, key?, value?);
        let output = in_chunks(self.output)?;
        let parts = Sequenced { query: &query, key: &key, value: &value, output: &output, ..*self };
        if !parts.launched(&device)? {
            return Ok(false);
        }
        if output.handle() != self.output.handle() {
            operations::copy(self.output, output.handle())?;
        }
        Ok(true)
    }

    fn widths(&self) -> Result<(i64, i64)> {
        let width =
            |tensor: &Tensor| Ok(Layout::of(tensor.handle())?.sizes.last().copied().unwrap_or(0));
        Ok((width(self.query)?, width(self.value)?))
    }

    /// As `attend`, for tensors that the kernel can read where they are.
    fn launched(&self, device: &Properties) -> Result<bool> {
        let [query, key, value, output] =
            [self.query, self.key, self.value, self.output].map(|one| Layout::of(one.handle()));
        let layouts = Layouts { query: query?, key: key?, value: value?, output: output? };
        let log_sums = match self.log_sums {
            LogSums::None => None,
            LogSums::OfPositions(tensor) | LogSums::OfSequences(tensor) => {
                Some(Layout::of(tensor.handle())?)
            }
        };
        let Some(sequences) = self.sequences(&layouts)? else { return Ok(false) };
        let Some(plan) = self.plan(&layouts, log_sums.as_ref(), &sequences, device) else {
            return Ok(false);
        };
        let Some((image, suffix)) = image(layouts.query.dtype, plan.form.way) else {
            return Ok(false);
        };
        let names = KernelNames {
            attention: plan.form.name_for_sequences(suffix),
            combine: format!("sconce_torch_attention_sequences_combine_{suffix}"),
        };
        calculate(plan, Some(sequences), image, &names, layouts.query.device)?;
        Ok(true)
    }

    /// Where the sequences lie; `None` for numbers that the kernel cannot count.
    fn sequences(&self, layouts: &Layouts) -> Result<Option<SequencesArguments>> {
        let spans = self.spans;
        let table = spans.pages.as_ref().map(|pages| Layout::of(pages.handle())).transpose()?;
        let (heads, key_heads) = (heads_of(&layouts.query), heads_of(&layouts.key));
        let counted = |count: i64| {
            let is_counted = (0..MOST_POSITIONS).contains(&count);
            is_counted.then(|| small(count)).flatten()
        };
        let sizes = |layout: &Layout, at: usize| layout.sizes.get(at).copied().unwrap_or(0);
        let [pages_of_sequence, page_count, page_keys] = match &table {
            Some(table) => [sizes(table, 1), sizes(&layouts.key, 0), sizes(&layouts.key, 1)],
            None => [0, 0, 1],
        };
        let Some(_) = pages_of_sequence.checked_mul(page_keys).and_then(counted) else {
            return Ok(None);
        };
        let all_keys = if table.is_some() { 0 } else { sizes(&layouts.key, 0) };
        let limit = |limit: Option<i64>| match limit {
            Some(limit) => i32::try_from(limit).map_or(FAR, |limit| limit.min(FAR)),
            None => FAR,
        };
        let (
            Some(all_queries),
            Some(all_keys),
            Some(page_count),
            Some(page_keys),
            Some(pages_of_sequence),
        ) = (
            counted(sizes(&layouts.query, 0)),
            counted(all_keys),
            small(page_count),
            small(page_keys),
            small(pages_of_sequence),
        )
        else {
            return Ok(None);
        };
        // One query has the position of the last key, or of the first.
        let are_heads = spans.most_queries == 1 && heads > key_heads;
        Ok(Some(SequencesArguments {
            query_bounds: address(&Layout::of(spans.queries.handle())?),
            key_bounds: address_of(&spans.keys)?,
            key_counts: address_of(&spans.counts)?,
            pages: address_of(&spans.pages)?,
            next_pages: table.map_or(0, |table| table.strides.first().copied().unwrap_or(0)),
            pages_of_sequence,
            page_count,
            page_keys,
            all_queries,
            all_keys,
            before: limit(self.limits.before),
            behind: limit(self.limits.behind),
            ends_meet: self.limits.ends_meet.into(),
            are_heads: are_heads.into(),
            logs_of_batches: matches!(self.log_sums, LogSums::OfSequences(_)).into(),
        }))
    }

    fn plan(
        &self,
        layouts: &Layouts,
        log_sums: Option<&Layout>,
        sequences: &SequencesArguments,
        device: &Properties,
    ) -> Option<Plan> {
        let (heads, key_heads) = (heads_of(&layouts.query), heads_of(&layouts.key));
        let (width, value_width) = (*layouts.query.sizes.last()?, *layouts.value.sizes.last()?);
        let spans = self.spans;
        let are_heads = sequences.are_heads != 0;
        let group = if are_heads { heads / key_heads } else { 1 };
        let queries = if are_heads { group } else { spans.most_queries };
        // The heads that share keys are the rows of one head.
        let joined = |[batch, head, position, element]: [i64; 4]| match are_heads {
            true => [batch, head * group, head, element],
            false => [batch, head, position, element],
        };
        let joined_positions = |layout| {
            let Positions { address, strides } = positions_of(layout)?;
            Some(Positions { address, strides: joined(strides) })
        };
        let log_strides = match log_sums.map(|logs| logs.strides.as_slice()) {
            None => [0; 3],
            Some(&[head, position]) => {
                let [batch, head, position, _] = joined([position, head, position, 0]);
                [batch, head, position]
            }
            Some(&[batch, head, position]) => {
                let [batch, head, position, _] = joined([batch, head, position, 0]);
                [batch, head, position]
            }
            Some(_) => return None,
        };
        let scale = self.scale as f32 * PER_LN;
        let keys = spans.most_keys.max(1);
        let arguments = AttentionArguments {
            query: joined_positions(&layouts.query)?,
            key: positions_of(&layouts.key)?,
            value: positions_of(&layouts.value)?,
            output: joined_positions(&layouts.output)?,
            mask: Positions::default(),
            log_sums: log_sums.map_or(0, address),
            log_strides,
            part_sums: 0,
            part_totals: 0,
            heads: small(heads / group)?,
            key_heads: small(key_heads)?,
            queries: small(queries)?,
            keys: small(keys)?,
            width: small(width)?,
            value_width: small(value_width)?,
            tiles: 1,
            parts: 1,
            part_keys: small(keys)?,
            mask_kind: 0,
            is_causal: 0,
            scale,
        };
        let work = Work {
            width: width.max(value_width),
            queries,
            heads: spans.count.checked_mul(heads / group)?,
            keys,
            changes_scores: changes_sign(scale),
            on_tensor_cores: true,
            // Without parts a sequence's result does not depend on the others of the batch, as in PyTorch.
            is_invariant: spans.most_parts == 1,
        };
        Plan::divided(arguments, &work, device, spans.most_parts)
    }
}

/// Heads, which come before the width.
fn heads_of(layout: &Layout) -> i64 {
    let at = layout.rank().checked_sub(2);
    at.and_then(|at| layout.sizes.get(at).copied()).unwrap_or(0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::fallbacks::attention::tests::tensor;

    const H100: Properties =
        Properties { capability: (9, 0), multiprocessors: 132, shared_bytes: 228 << 10 };

    /// Arguments and launch for five sequences with at most so many queries and 4,096 keys, in pages of 16.
    fn planned(most_queries: i64, limits: Limits, most_parts: u32) -> (SequencesArguments, Plan) {
        let spans = Spans {
            count: 5,
            queries: tensor(&[6], 1).0,
            keys: None,
            counts: Some(tensor(&[5], 1).0),
            pages: Some(tensor(&[5, 300], 1).0),
            most_queries,
            most_keys: 4096,
            most_parts,
        };
        let query = tensor(&[7, 8, 64], 1).0;
        let pages = tensor(&[20, 16, 2, 64], 2).0;
        let log_sums = tensor(&[8, 7], 3).0;
        let sequenced = Sequenced {
            query: &query,
            key: &pages,
            value: &pages,
            output: &query,
            log_sums: LogSums::OfPositions(&log_sums),
            spans: &spans,
            limits,
            scale: 0.5,
        };
        let [of_query, of_key] = [&query, &pages].map(|one| Layout::of(one.handle()).unwrap());
        let layouts = Layouts {
            query: of_query.clone(),
            key: of_key.clone(),
            value: of_key,
            output: of_query,
        };
        let arguments = sequenced.sequences(&layouts).unwrap().unwrap();
        let logs = Layout::of(log_sums.handle()).unwrap();
        let plan = sequenced.plan(&layouts, Some(&logs), &arguments, &H100).unwrap();
        (arguments, plan)
    }

    const CAUSAL: Limits = Limits { before: None, behind: Some(0), ends_meet: true };

    #[test]
    fn pages_and_limits_are_passed_on() {
        let limits = Limits { before: Some(9), behind: Some(1 << 40), ends_meet: false };
        let (arguments, plan) = planned(300, limits, u32::MAX);
        assert_eq!((arguments.pages_of_sequence, arguments.next_pages), (300, 300));
        assert_eq!((arguments.page_count, arguments.page_keys), (20, 16));
        assert_eq!((arguments.all_queries, arguments.all_keys, arguments.key_bounds), (7, 0, 0));
        assert_eq!((arguments.before, arguments.behind, arguments.ends_meet), (9, FAR, 0));
        assert_eq!((arguments.are_heads, arguments.logs_of_batches), (0, 0));
        // From position to position, head to head, position to position; and from page to page.
        assert_eq!(plan.arguments.query.strides, [512, 64, 512, 1]);
        assert_eq!(plan.arguments.key.strides, [2048, 64, 128, 1]);
        assert_eq!(plan.arguments.log_strides, [1, 7, 1]);
        assert_eq!((plan.arguments.heads, plan.arguments.queries), (8, 300));
    }

    #[test]
    fn one_query_has_the_heads_that_share_keys_as_rows() {
        let (arguments, plan) = planned(1, CAUSAL, u32::MAX);
        assert_eq!(arguments.are_heads, 1);
        assert_eq!((plan.arguments.heads, plan.arguments.key_heads), (2, 2));
        assert_eq!((plan.arguments.queries, plan.arguments.tiles), (4, 1));
        assert_eq!(plan.arguments.query.strides, [512, 256, 64, 1]);
        assert_eq!(plan.arguments.output.strides, [512, 256, 64, 1]);
        assert_eq!(plan.arguments.log_strides, [1, 28, 7]);
        // Ten blocks would leave most of the device idle.
        assert_eq!(plan.blocks, 10 * plan.arguments.parts);
        assert!(plan.arguments.parts > 8);
    }

    #[test]
    fn one_part_makes_the_result_independent_of_other_sequences() {
        let forms = [u32::MAX, 1].map(|parts| planned(4096, CAUSAL, parts).1.form.way);
        assert_eq!(forms, [Way::WarpGroups, Way::TensorCores]);
        assert_eq!(planned(1, CAUSAL, 1).1.arguments.parts, 1);
        assert_eq!(planned(1, CAUSAL, 3).1.arguments.parts, 3);
    }
}
