//! What the kernel takes.

use crate::kernels::KernelArgument;
use crate::operations::layout::Layout;
use crate::sconce::api;

/// Batches of heads of positions: an address, and elements from one batch, head, position and number to the next.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Positions {
    pub(super) address: u64,
    pub(super) strides: [i64; 4],
}

/// The structure `Attention` of `torch/kernels/attention/arguments.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct AttentionArguments {
    pub(super) query: Positions,
    pub(super) key: Positions,
    pub(super) value: Positions,
    pub(super) output: Positions,
    pub(super) mask: Positions,
    /// 0 where they are not wanted.
    pub(super) log_sums: u64,
    pub(super) log_strides: [i64; 3],
    /// Where the results of parts go, if there are several.
    pub(super) part_sums: u64,
    pub(super) part_totals: u64,
    pub(super) heads: u32,
    pub(super) key_heads: u32,
    pub(super) queries: u32,
    pub(super) keys: u32,
    pub(super) width: u32,
    pub(super) value_width: u32,
    pub(super) tiles: u32,
    pub(super) parts: u32,
    pub(super) part_keys: u32,
    /// 0 for none.
    pub(super) mask_kind: u32,
    pub(super) is_causal: u32,
    /// In units of the binary logarithm.
    pub(super) scale: f32,
}

impl KernelArgument for AttentionArguments {}

/// The structure `Sequences` of `torch/kernels/attention/sequences.cuh`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SequencesArguments {
    pub(super) query_bounds: u64,
    /// 0 if keys lie in pages.
    pub(super) key_bounds: u64,
    /// 0 for none.
    pub(super) key_counts: u64,
    /// 0 for none.
    pub(super) pages: u64,
    pub(super) next_pages: i64,
    pub(super) pages_of_sequence: u32,
    pub(super) page_count: u32,
    pub(super) page_keys: u32,
    pub(super) all_queries: u32,
    pub(super) all_keys: u32,
    /// `FAR` for no limit.
    pub(super) before: i32,
    pub(super) behind: i32,
    pub(super) ends_meet: u32,
    pub(super) are_heads: u32,
    pub(super) logs_of_batches: u32,
}

/// The structure `SequencedAttention`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct SequencedArguments {
    pub(super) attention: AttentionArguments,
    pub(super) sequences: SequencesArguments,
}

impl KernelArgument for SequencedArguments {}

impl Positions {
    /// Those of a tensor with 4 dimensions.
    pub(super) fn of(layout: &Layout) -> Option<Positions> {
        let strides = layout.strides.as_slice().try_into().ok()?;
        Some(Positions { address: layout.data.expose_provenance() as u64, strides })
    }

    /// Whether the numbers of each position, of 16 bits, lie side by side, and begin where 16 bytes can be read at once. What a dimension of one element has as its stride says nothing.
    pub(super) fn lie_in_chunks(&self, [batch, heads, positions, width]: [i64; 4]) -> bool {
        let sizes = [batch, heads, positions];
        let [rest @ .., element] = self.strides;
        element == 1
            && width % 8 == 0
            && self.address.is_multiple_of(16)
            && sizes.iter().zip(rest).all(|(&size, stride)| size == 1 || stride % 8 == 0)
    }
}

/// The strides of the positions of groups of heads as those of one head: elements from one such head to the next, and
/// from one position to the next. `None` where no one stride leads through them.
fn joined(group: i64, positions: i64, [head, position]: [i64; 2]) -> Option<[i64; 2]> {
    let next = if positions == 1 {
        head
    } else if positions.checked_mul(position)? == head {
        position
    } else {
        return None;
    };
    Some([group.checked_mul(head)?, next])
}

impl AttentionArguments {
    /// The same attention with the queries of all heads that share keys as those of one head, so that a block reads the
    /// keys once for all of them. `None` where they do not share, meet different keys, or lie too far apart.
    pub(super) fn with_heads_joined(&self) -> Option<AttentionArguments> {
        let group = self.heads / self.key_heads;
        if group < 2 || self.is_causal != 0 {
            return None;
        }
        let queries = self.queries.checked_mul(group)?;
        let (length, group) = (i64::from(self.queries), i64::from(group));
        let mut new = AttentionArguments { heads: self.key_heads, queries, ..*self };
        for positions in [&mut new.query, &mut new.output, &mut new.mask] {
            let [batch, head, position, element] = positions.strides;
            let [head, position] = joined(group, length, [head, position])?;
            positions.strides = [batch, head, position, element];
        }
        let [batch, head, position] = self.log_strides;
        let [head, position] = joined(group, length, [head, position])?;
        new.log_strides = [batch, head, position];
        Some(new)
    }
}

/// The kernel's number for the type of a mask.
pub(super) fn mask_kind(dtype: i32) -> Option<u32> {
    match dtype {
        api::SCONCE_DTYPE_BOOL => Some(1),
        api::SCONCE_DTYPE_F32 => Some(2),
        api::SCONCE_DTYPE_F16 => Some(3),
        api::SCONCE_DTYPE_BF16 => Some(4),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_takes_these_arguments() {
        // 5 tensors of 5 words, 4 words of log sums, 2 addresses, 12 numbers of 32 bits.
        assert_eq!(size_of::<AttentionArguments>(), (25 + 4 + 2) * 8 + 48);
        // 5 words, 10 numbers of 32 bits.
        assert_eq!(size_of::<SequencesArguments>(), 5 * 8 + 10 * 4);
        assert_eq!(
            size_of::<SequencedArguments>(),
            size_of::<AttentionArguments>() + size_of::<SequencesArguments>()
        );
    }

    #[test]
    fn numbers_lie_in_chunks_if_every_position_begins_with_one() {
        let positions = |address, strides| Positions { address, strides };
        let sizes = [2, 3, 5, 16];
        let packed = [240, 80, 16, 1];
        assert!(positions(512, packed).lie_in_chunks(sizes));
        assert!(!positions(520, packed).lie_in_chunks(sizes));
        assert!(!positions(512, packed).lie_in_chunks([2, 3, 5, 12]));
        assert!(!positions(512, [240, 80, 16, 2]).lie_in_chunks(sizes));
        assert!(!positions(512, [240, 80, 17, 1]).lie_in_chunks(sizes));
        assert!(!positions(512, [240, 81, 16, 1]).lie_in_chunks(sizes));
        assert!(!positions(512, [241, 80, 16, 1]).lie_in_chunks(sizes));
        assert!(positions(512, [241, 81, 17, 1]).lie_in_chunks([1, 1, 1, 16]));
    }

    /// Elements of a tensor, by the number of batch, head and position.
    fn places(strides: &[i64], sizes: [u32; 3]) -> Vec<i64> {
        let mut places = Vec::new();
        for batch in 0..i64::from(sizes[0]) {
            for head in 0..i64::from(sizes[1]) {
                for position in 0..i64::from(sizes[2]) {
                    places.push(batch * strides[0] + head * strides[1] + position * strides[2]);
                }
            }
        }
        places
    }

    fn arguments(queries: u32, strides: [i64; 4]) -> AttentionArguments {
        let tensor = Positions { address: 0, strides };
        let none = Positions::default();
        AttentionArguments {
            query: tensor,
            key: none,
            value: none,
            output: tensor,
            mask: none,
            log_sums: 0,
            log_strides: [strides[0], strides[1], strides[2]],
            part_sums: 0,
            part_totals: 0,
            heads: 6,
            key_heads: 2,
            queries,
            keys: 9,
            width: 8,
            value_width: 8,
            tiles: 1,
            parts: 1,
            part_keys: 9,
            mask_kind: 0,
            is_causal: 0,
            scale: 1.0,
        }
    }

    #[test]
    fn heads_that_share_keys_are_joined_in_their_order() {
        // One query with positions in front of the heads or behind them, and several behind.
        for (queries, strides) in [(1, [48, 8, 48, 1]), (1, [96, 16, 8, 1]), (5, [240, 40, 8, 1])] {
            let before = arguments(queries, strides);
            let after = before.with_heads_joined().unwrap();
            assert_eq!((after.heads, after.key_heads, after.queries), (2, 2, 3 * queries));
            for (old, new) in [
                (&before.query.strides[..], &after.query.strides[..]),
                (&before.output.strides[..], &after.output.strides[..]),
                (&before.log_strides[..], &after.log_strides[..]),
            ] {
                assert_eq!(places(old, [2, 6, queries]), places(new, [2, 2, 3 * queries]));
            }
            assert_eq!(after.mask, Positions::default());
        }
    }

    #[test]
    fn heads_stay_as_they_are_where_one_stride_does_not_lead_through_them() {
        assert!(arguments(5, [240, 8, 48, 1]).with_heads_joined().is_none());
        let packed = arguments(5, [240, 40, 8, 1]);
        assert!(AttentionArguments { is_causal: 1, ..packed }.with_heads_joined().is_none());
        assert!(AttentionArguments { key_heads: 6, ..packed }.with_heads_joined().is_none());
        // A mask of queries and keys that all heads have in common.
        let mask = Positions { address: 0, strides: [0, 0, 9, 1] };
        assert!(AttentionArguments { mask, ..packed }.with_heads_joined().is_none());
        let mask = Positions { address: 0, strides: [0, 0, 0, 1] };
        assert!(AttentionArguments { mask, ..packed }.with_heads_joined().is_some());
    }
}
