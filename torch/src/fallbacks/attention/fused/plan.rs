//! Form and arguments of the kernel for some tensors.

use super::arguments::{AttentionArguments, Positions, mask_kind};
use super::forms::{KernelForm, Work};
use crate::fallbacks::attention::{Attention, Shapes};
use crate::kernels::Properties;
use crate::operations::layout::Layout;
use crate::sconce::api;

pub(super) const PER_LN: f32 = std::f32::consts::LOG2_E;
/// Queries of a head from which on they fill a block without those of other heads.
const QUERIES_OF_A_BLOCK: u32 = 64;

/// Where the tensors lie. The mask has the sizes of the scores.
pub(super) struct Tensors<'a> {
    pub(super) query: &'a Layout,
    pub(super) key: &'a Layout,
    pub(super) value: &'a Layout,
    pub(super) output: &'a Layout,
    pub(super) mask: Option<&'a Layout>,
    pub(super) log_sums: Option<&'a Layout>,
}

/// A launch of the kernel.
pub(super) struct Plan {
    pub(super) form: KernelForm,
    pub(super) arguments: AttentionArguments,
    pub(super) blocks: u32,
    /// Queries of all heads and batches.
    pub(super) lines: u32,
}

/// Whether a type is calculated on tensor cores. Its tensors then have to lie in chunks.
pub(super) fn uses_tensor_cores(dtype: i32, device: &Properties) -> bool {
    let has_16_bits = matches!(dtype, api::SCONCE_DTYPE_F16 | api::SCONCE_DTYPE_BF16);
    has_16_bits && device.capability >= (8, 0)
}

/// Whether a scale makes the largest score another one.
pub(super) fn changes_sign(scale: f32) -> bool {
    scale.is_nan() || scale <= 0.0
}

/// A number below 2^31, as the kernel counts.
pub(super) fn small(number: i64) -> Option<u32> {
    u32::try_from(number).ok().filter(|number| *number < 1 << 31)
}

impl Plan {
    /// The launch for some tensors; `None` for what no form takes.
    pub(super) fn of(
        attention: &Attention,
        shapes: &Shapes,
        tensors: &Tensors,
        device: &Properties,
    ) -> Option<Plan> {
        // The kernel writes the numbers of a position side by side.
        if shapes.value_width > 1 && tensors.output.strides.last() != Some(&1) {
            return None;
        }
        let mut arguments = arguments(attention, shapes, tensors)?;
        if arguments.queries < QUERIES_OF_A_BLOCK
            && let Some(joined) = arguments.with_heads_joined()
        {
            arguments = joined;
        }
        let (queries, keys) = (i64::from(arguments.queries), shapes.keys);
        let work = Work {
            width: shapes.width.max(shapes.value_width),
            queries,
            heads: shapes.batch.checked_mul(i64::from(arguments.heads))?,
            keys: if attention.is_causal { keys.min(queries) } else { keys },
            changes_scores: tensors.mask.is_some() || changes_sign(arguments.scale),
            on_tensor_cores: uses_tensor_cores(tensors.query.dtype, device),
            is_invariant: false,
        };
        Plan::divided(arguments, &work, device, u32::MAX)
    }

    /// The launch for some work, whose keys are divided into so many parts at most.
    pub(super) fn divided(
        mut arguments: AttentionArguments,
        work: &Work,
        device: &Properties,
        most_parts: u32,
    ) -> Option<Plan> {
        let form = KernelForm::of(work, device)?;
        let mut parts = form.parts(work, device);
        if parts.count > most_parts {
            parts = form.parts_of(work, most_parts);
        }
        arguments.tiles = arguments.queries.div_ceil(form.queries);
        arguments.parts = parts.count;
        arguments.part_keys = if parts.count == 1 { arguments.keys } else { small(parts.keys)? };
        let blocks = form.blocks(work).checked_mul(i64::from(parts.count))?;
        let lines = work.heads.checked_mul(work.queries)?;
        Some(Plan { form, arguments, blocks: small(blocks)?, lines: small(lines)? })
    }

    /// Numbers in float32 that the parts of all queries have: the greatest score and the sum of exponentials of each,
    /// and behind all of these the sums of values. 0 if there is one part.
    pub(super) fn numbers_of_parts(&self) -> i64 {
        match self.arguments.parts {
            1 => 0,
            _ => self.totals_of_parts() + self.parts() * i64::from(self.arguments.value_width),
        }
    }

    /// Sets where the parts lie.
    pub(super) fn place_parts(&mut self, address: u64) {
        self.arguments.part_totals = address;
        self.arguments.part_sums =
            address + size_of::<f32>() as u64 * self.totals_of_parts() as u64;
    }

    fn totals_of_parts(&self) -> i64 {
        2 * self.parts()
    }

    /// Parts of all queries.
    fn parts(&self) -> i64 {
        i64::from(self.lines) * i64::from(self.arguments.parts)
    }
}

/// The arguments without a form.
fn arguments(
    attention: &Attention,
    shapes: &Shapes,
    tensors: &Tensors,
) -> Option<AttentionArguments> {
    let scale = attention.scale_of(shapes.width);
    let [query, key, value, output] =
        [tensors.query, tensors.key, tensors.value, tensors.output].map(Positions::of);
    Some(AttentionArguments {
        query: query?,
        key: key?,
        value: value?,
        output: output?,
        mask: match tensors.mask {
            Some(mask) => Positions::of(mask)?,
            None => Positions::default(),
        },
        log_sums: tensors.log_sums.map_or(0, |logs| logs.data.expose_provenance() as u64),
        log_strides: match tensors.log_sums {
            Some(logs) => logs.strides.as_slice().try_into().ok()?,
            None => [0; 3],
        },
        part_sums: 0,
        part_totals: 0,
        heads: small(shapes.heads)?,
        key_heads: small(*tensors.key.sizes.get(1)?)?,
        queries: small(shapes.queries)?,
        keys: small(shapes.keys)?,
        width: small(shapes.width)?,
        value_width: small(shapes.value_width)?,
        tiles: 1,
        parts: 1,
        part_keys: small(shapes.keys)?,
        mask_kind: match tensors.mask {
            Some(mask) => mask_kind(mask.dtype)?,
            None => 0,
        },
        is_causal: attention.is_causal.into(),
        scale: scale as f32 * PER_LN,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use std::ptr::null_mut;

    use super::super::forms::Way;
    use super::*;
    use crate::operations::layout::contiguous_strides;

    const H100: Properties =
        Properties { capability: (9, 0), multiprocessors: 132, shared_bytes: 228 << 10 };

    fn layout(sizes: [i64; 4], dtype: i32) -> Layout {
        let (strides, sizes) = (contiguous_strides(&sizes), sizes.to_vec());
        Layout { data: std::ptr::without_provenance_mut(4096), dtype, device: 0, sizes, strides }
    }

    /// Attention of packed tensors.
    struct Case {
        shapes: Shapes,
        key_heads: i64,
        dtype: i32,
        is_causal: bool,
        scale: Option<f64>,
    }

    impl Case {
        fn decode(key_heads: i64, dtype: i32) -> Case {
            let shapes = Shapes {
                batch: 1,
                heads: 32,
                queries: 1,
                keys: 4096,
                width: 128,
                value_width: 128,
            };
            Case { shapes, key_heads, dtype, is_causal: false, scale: None }
        }

        fn plan(&self, change: impl Fn(&mut [Layout; 4])) -> Option<Plan> {
            let Shapes { batch, heads, queries, keys, width, value_width } = self.shapes;
            let mut all = [
                layout([batch, heads, queries, width], self.dtype),
                layout([batch, self.key_heads, keys, width], self.dtype),
                layout([batch, self.key_heads, keys, value_width], self.dtype),
                layout([batch, heads, queries, value_width], self.dtype),
            ];
            change(&mut all);
            let [query, key, value, output] = &all;
            let tensors = Tensors { query, key, value, output, mask: None, log_sums: None };
            let (none, scale) = (null_mut(), self.scale);
            let attention = Attention {
                query: none,
                key: none,
                value: none,
                mask: None,
                is_causal: self.is_causal,
                scale,
            };
            Plan::of(&attention, &self.shapes, &tensors, &H100)
        }
    }

    #[test]
    fn one_query_shares_its_keys_among_blocks() {
        let mut plan = Case::decode(32, api::SCONCE_DTYPE_F16).plan(|_| ()).unwrap();
        assert_eq!(plan.form.way, Way::TensorCores);
        assert_eq!((plan.arguments.parts, plan.arguments.part_keys), (8, 512));
        assert_eq!((plan.blocks, plan.lines), (256, 32));
        assert_eq!(plan.numbers_of_parts(), 32 * 8 * (2 + 128));
        plan.place_parts(512);
        assert_eq!(plan.arguments.part_totals, 512);
        assert_eq!(plan.arguments.part_sums, 512 + 32 * 8 * 2 * 4);
        let singles = Case::decode(32, api::SCONCE_DTYPE_F32).plan(|_| ()).unwrap();
        assert_eq!(singles.form.way, Way::Both);
        assert_eq!(singles.blocks, 32 * singles.arguments.parts);
    }

    #[test]
    fn heads_that_share_keys_are_in_one_block() {
        let plan = Case::decode(8, api::SCONCE_DTYPE_BF16).plan(|_| ()).unwrap();
        let arguments = &plan.arguments;
        assert_eq!((arguments.heads, arguments.key_heads, arguments.queries), (8, 8, 4));
        assert_eq!((arguments.tiles, arguments.parts, plan.blocks, plan.lines), (1, 32, 256, 32));
        // Enough queries of one head fill a block.
        let mut many = Case::decode(8, api::SCONCE_DTYPE_BF16);
        many.shapes.queries = 64;
        assert_eq!(many.plan(|_| ()).unwrap().arguments.heads, 32);
    }

    #[test]
    fn short_sequences_and_many_queries_have_one_part() {
        let mut short = Case::decode(32, api::SCONCE_DTYPE_F16);
        short.shapes.keys = 300;
        let plan = short.plan(|_| ()).unwrap();
        assert_eq!((plan.arguments.parts, plan.arguments.part_keys), (1, 300));
        assert_eq!(plan.numbers_of_parts(), 0);
        let mut many = Case::decode(32, api::SCONCE_DTYPE_F16);
        many.shapes.queries = 4096;
        let plan = many.plan(|_| ()).unwrap();
        assert_eq!((plan.arguments.parts, plan.arguments.tiles), (1, 32));
        // Under a causal mask 100 queries meet 100 keys.
        let mut causal = Case::decode(32, api::SCONCE_DTYPE_F16);
        (causal.shapes.queries, causal.is_causal) = (100, true);
        assert_eq!(causal.plan(|_| ()).unwrap().arguments.parts, 1);
    }

    #[test]
    fn halves_are_calculated_on_tensor_cores_where_a_device_has_them() {
        let t4 = Properties { capability: (7, 5), ..H100 };
        for dtype in [api::SCONCE_DTYPE_F16, api::SCONCE_DTYPE_BF16] {
            assert!(uses_tensor_cores(dtype, &H100) && !uses_tensor_cores(dtype, &t4));
        }
        assert!(!uses_tensor_cores(api::SCONCE_DTYPE_F32, &H100));
    }

    #[test]
    fn a_scale_that_is_not_positive_takes_a_form_that_can_change_scores() {
        let plan = |scale| {
            let mut case = Case::decode(32, api::SCONCE_DTYPE_F16);
            (case.shapes.queries, case.scale) = (4096, scale);
            case.plan(|_| ()).unwrap().form.queries
        };
        assert_eq!([None, Some(0.1)].map(plan), [128; 2]);
        assert_eq!([Some(0.0), Some(-1.0), Some(f64::NAN)].map(plan), [64; 3]);
    }

    #[test]
    fn a_result_whose_numbers_do_not_lie_side_by_side_is_left_to_others() {
        let case = Case::decode(32, api::SCONCE_DTYPE_F32);
        assert!(case.plan(|all| all[3].strides[3] = 2).is_none());
        assert!(case.plan(|all| all[0].strides[3] = 2).is_some());
        let mut wide = Case::decode(32, api::SCONCE_DTYPE_F32);
        wide.shapes.width = 264;
        assert!(wide.plan(|_| ()).is_none());
    }

    #[test]
    fn numbers_that_the_kernel_cannot_count_are_left_to_others() {
        let mut case = Case::decode(32, api::SCONCE_DTYPE_F16);
        case.shapes.keys = 1 << 31;
        assert!(case.plan(|_| ()).is_none());
    }
}
