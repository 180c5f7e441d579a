//! The forms of the kernel, and which one attention takes on a device.

use super::THREADS;
use crate::kernels::Properties;

/// The most numbers of a position that a form has.
pub(super) const MOST_WIDTH: i64 = 256;
/// Elements between the banks of two lines of shared memory, in `tiles.cuh`.
const PAD: u32 = 4;
/// Keys from which on blocks share those of a head, and the least that a block then has.
const KEYS_TO_SHARE: i64 = 512;
const LEAST_KEYS: i64 = 128;
/// Shared memory that each block has beside what it requests.
const RESERVED_BYTES: u32 = 1024;

/// What calculates, and what shared memory holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Numbers in float32; keys and values have memory of their own.
    Both,
    /// Numbers in float32; values take the place of keys.
    InTurn,
    /// 16-bit numbers on tensor cores; two tiles of keys and of values.
    TensorCores,
    /// 16-bit numbers with products of warp groups; three tiles of keys and of values.
    WarpGroups,
}

/// A form of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KernelForm {
    /// The most numbers of a position.
    pub(super) width: u32,
    /// Queries and keys of a tile.
    pub(super) queries: u32,
    pub(super) keys: u32,
    pub(super) way: Way,
}

const fn form(width: u32, queries: u32, keys: u32, way: Way) -> KernelForm {
    KernelForm { width, queries, keys, way }
}

/// For each width the form of few queries, and that of many.
type Forms = [[KernelForm; 2]];

/// The forms of `tiles.cuh`.
const TILES: &Forms = &[
    [form(32, 16, 64, Way::Both), form(32, 64, 64, Way::Both)],
    [form(64, 16, 64, Way::Both), form(64, 64, 32, Way::Both)],
    [form(128, 16, 32, Way::Both), form(128, 64, 32, Way::InTurn)],
    [form(256, 32, 16, Way::InTurn), form(256, 32, 16, Way::InTurn)],
];

/// Those of `tensor_cores.cuh`. Only those of few queries can change scores.
const ON_TENSOR_CORES: &Forms = &[
    [form(64, 64, 64, Way::TensorCores), form(64, 128, 64, Way::TensorCores)],
    [form(128, 64, 64, Way::TensorCores), form(128, 128, 64, Way::TensorCores)],
    [form(256, 64, 32, Way::TensorCores), form(256, 64, 32, Way::TensorCores)],
];

/// Those of `warp_groups.cuh`, for many queries, with the fewest keys from which on they are faster than others. They
/// change no scores, and blocks share no keys.
const OF_WARP_GROUPS: &[(KernelForm, i64)] =
    &[(form(64, 192, 128, Way::WarpGroups), 384), (form(128, 128, 128, Way::WarpGroups), 129)];
/// The devices that have their instructions: no others do.
const WARP_GROUPS: (i32, i32) = (9, 0);

/// What there is to calculate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    /// Numbers of a position, of keys or of values, whichever are more.
    pub(super) width: i64,
    /// Queries of a head, and heads of all batches.
    pub(super) queries: i64,
    pub(super) heads: i64,
    /// Keys that the last query meets.
    pub(super) keys: i64,
    /// Whether scores change before the greatest is found: by a mask, or a scale that is not positive.
    pub(super) changes_scores: bool,
    /// Whether tensor cores calculate it.
    pub(super) on_tensor_cores: bool,
    /// Whether a head's result must have the same bits beside any others. Forms of tensor cores add up in the same order;
    /// those of warp groups have other tiles.
    pub(super) is_invariant: bool,
}

/// How the keys of a head are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) count: u32,
    /// Keys of a part: those of whole tiles, or all of them.
    pub(super) keys: i64,
}

impl KernelForm {
    /// The form for some work; `None` for a width that no form has.
    pub(super) fn of(work: &Work, device: &Properties) -> Option<KernelForm> {
        let forms = if work.on_tensor_cores { ON_TENSOR_CORES } else { TILES };
        let [few, many] = *forms.iter().find(|[few, _]| work.width <= i64::from(few.width))?;
        let multiprocessors = i64::from(device.multiprocessors);
        if let Some(form) = KernelForm::of_warp_groups(work, device) {
            return Some(form);
        }
        let is_large = if work.on_tensor_cores {
            // Where a multiprocessor cannot hold two blocks, one alone waits for its memory too often.
            !work.changes_scores
                && many.at_once(device) >= 2
                && many.blocks(work) >= 3 * multiprocessors / 2
        } else {
            many.blocks(work) >= 2 * multiprocessors
        };
        Some(if is_large { many } else { few })
    }

    /// The form of warp groups, where a device has them, queries fill most of a block, and half of the multiprocessors
    /// have one.
    fn of_warp_groups(work: &Work, device: &Properties) -> Option<KernelForm> {
        let fits = |(form, _): &&(KernelForm, i64)| work.width <= i64::from(form.width);
        let (form, fewest_keys) = *OF_WARP_GROUPS.iter().find(fits)?;
        let is_usable = device.capability == WARP_GROUPS
            && work.on_tensor_cores
            && !work.changes_scores
            && !work.is_invariant
            && work.keys >= fewest_keys
            && work.queries > i64::from(form.queries) / 2
            && form.blocks(work).saturating_mul(2) >= i64::from(device.multiprocessors);
        is_usable.then_some(form)
    }

    /// Threads of a block. `arguments.cuh` and `warp_groups.cuh` have these numbers, too.
    pub(super) fn threads(self) -> u32 {
        match self.way {
            // A group has 64 queries, and one more copies.
            Way::WarpGroups => (self.queries / 64 + 1) * 128,
            Way::Both | Way::InTurn | Way::TensorCores => THREADS,
        }
    }

    /// Blocks of queries of all heads.
    pub(super) fn blocks(self, work: &Work) -> i64 {
        let tiles = (work.queries - 1) / i64::from(self.queries) + 1;
        tiles.saturating_mul(work.heads)
    }

    /// Blocks share the keys of a head where those of the queries leave at least half of the device without work.
    pub(super) fn parts(self, work: &Work, device: &Properties) -> Parts {
        let whole = Parts { count: 1, keys: work.keys };
        let most = i64::from(self.at_once(device)) * i64::from(device.multiprocessors);
        let wanted = (most / self.blocks(work).max(1)).min(work.keys / LEAST_KEYS);
        if work.keys < KEYS_TO_SHARE || wanted < 2 || self.way == Way::WarpGroups {
            return whole;
        }
        self.parts_of(work, u32::try_from(wanted).unwrap_or(u32::MAX))
    }

    /// The keys in so many parts of whole tiles, or fewer.
    pub(super) fn parts_of(self, work: &Work, most: u32) -> Parts {
        let tile = i64::from(self.keys);
        let tiles = (work.keys - 1) / tile + 1;
        let keys = ((tiles - 1) / i64::from(most.max(1)) + 1) * tile;
        match u32::try_from((work.keys - 1) / keys + 1) {
            Ok(count) if count > 1 => Parts { count, keys },
            _ => Parts { count: 1, keys: work.keys },
        }
    }

    /// Blocks that a multiprocessor runs at the same time: as many as its shared memory and its registers allow.
    fn at_once(self, device: &Properties) -> u32 {
        let of_registers = match self.way {
            Way::Both | Way::InTurn => 3,
            Way::TensorCores => 2,
            Way::WarpGroups => 1,
        };
        (device.shared_bytes / (self.shared_bytes() + RESERVED_BYTES)).clamp(1, of_registers)
    }

    /// Bytes of shared memory.
    pub(super) fn shared_bytes(self) -> u32 {
        let KernelForm { width, queries, keys, way } = self;
        let in_float32 = |lines| 4 * (lines * (width + PAD) + queries * (keys + PAD));
        match way {
            Way::Both => in_float32(queries + 2 * keys),
            Way::InTurn => in_float32(queries + keys),
            Way::TensorCores => 2 * width * (queries + 4 * keys),
            // Each tile has two barriers of 8 bytes.
            Way::WarpGroups => 2 * width * (queries + 6 * keys) + 6 * 2 * 8,
        }
    }

    /// The name of its kernel, for the type that a name ends with.
    pub(super) fn name(self, suffix: &str) -> String {
        self.named(
            match self.way {
                Way::Both | Way::InTurn => "",
                Way::TensorCores => "tensor_",
                Way::WarpGroups => "groups_",
            },
            suffix,
        )
    }

    /// The name of its kernel for sequences of several lengths; forms in float32 have none.
    pub(super) fn name_for_sequences(self, suffix: &str) -> String {
        let is_of_groups = self.way == Way::WarpGroups;
        self.named(if is_of_groups { "sequences_groups_" } else { "sequences_" }, suffix)
    }

    fn named(self, way: &str, suffix: &str) -> String {
        format!("sconce_torch_attention_{way}{}_{}_{suffix}", self.width, self.queries)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    const H100: Properties =
        Properties { capability: (9, 0), multiprocessors: 132, shared_bytes: 228 << 10 };
    const BLACKWELL: Properties = Properties { capability: (10, 0), ..H100 };
    const A100: Properties =
        Properties { capability: (8, 0), multiprocessors: 108, shared_bytes: 164 << 10 };
    const T4: Properties =
        Properties { capability: (7, 5), multiprocessors: 40, shared_bytes: 64 << 10 };

    fn work(width: i64, queries: i64, heads: i64, keys: i64) -> Work {
        Work {
            width,
            queries,
            heads,
            keys,
            changes_scores: false,
            on_tensor_cores: true,
            is_invariant: false,
        }
    }

    fn in_float32(work: Work) -> Work {
        Work { on_tensor_cores: false, ..work }
    }

    #[test]
    fn a_form_is_chosen_by_width_and_work() {
        let tiles = |width, queries, heads| {
            KernelForm::of(&in_float32(work(width, queries, heads, queries)), &H100)
        };
        assert_eq!(tiles(16, 48, 8), Some(TILES[0][0]));
        assert_eq!(tiles(33, 48, 8), Some(TILES[1][0]));
        assert_eq!(tiles(128, 4096, 16), Some(TILES[2][1]));
        assert_eq!(tiles(256, 1, 1), Some(TILES[3][0]));
        assert_eq!(tiles(MOST_WIDTH + 1, 1, 1), None);
        // All devices from compute capability 7.5 on have 64 KiB, those from 8.0 on 99 KiB.
        assert!(TILES.iter().flatten().all(|form| form.shared_bytes() <= 64 << 10));
        assert!(ON_TENSOR_CORES.iter().flatten().all(|form| form.shared_bytes() <= 99 << 10));
    }

    #[test]
    fn tensor_cores_have_forms_of_their_own() {
        let large = work(128, 4096, 16, 4096);
        assert_eq!(KernelForm::of(&large, &BLACKWELL), Some(ON_TENSOR_CORES[1][1]));
        assert_eq!(KernelForm::of(&in_float32(large), &H100), Some(TILES[2][1]));
        assert_eq!(KernelForm::of(&in_float32(large), &T4), Some(TILES[2][1]));
        assert_eq!(KernelForm::of(&work(8, 48, 8, 48), &H100), Some(ON_TENSOR_CORES[0][0]));
        assert_eq!(KernelForm::of(&work(136, 4096, 16, 4096), &H100), Some(ON_TENSOR_CORES[2][0]));
        assert_eq!(KernelForm::of(&work(264, 4096, 16, 4096), &H100), None);
    }

    #[test]
    fn many_queries_take_the_large_form_without_a_mask_and_where_two_blocks_fit() {
        let large = work(128, 4096, 16, 4096);
        let changed = Work { changes_scores: true, ..large };
        assert_eq!(KernelForm::of(&changed, &H100), Some(ON_TENSOR_CORES[1][0]));
        assert_eq!(KernelForm::of(&large, &A100), Some(ON_TENSOR_CORES[1][0]));
        assert_eq!(KernelForm::of(&work(64, 4096, 16, 4096), &A100), Some(ON_TENSOR_CORES[0][1]));
        // 197 blocks of 128 queries are too few, 198 are enough.
        assert_eq!(KernelForm::of(&work(64, 128, 197, 128), &H100), Some(ON_TENSOR_CORES[0][0]));
        assert_eq!(KernelForm::of(&work(64, 128, 198, 128), &H100), Some(ON_TENSOR_CORES[0][1]));
    }

    #[test]
    fn warp_groups_have_work_for_half_of_the_device_and_enough_keys() {
        let [of_64, of_128] = OF_WARP_GROUPS else { panic!() };
        assert_eq!(KernelForm::of(&work(128, 4096, 16, 4096), &H100), Some(of_128.0));
        assert_eq!(KernelForm::of(&work(40, 4096, 16, 4096), &H100), Some(of_64.0));
        assert_eq!(KernelForm::of(&work(128, 128, 66, 129), &H100), Some(of_128.0));
        assert_eq!(KernelForm::of(&work(64, 384, 33, 384), &H100), Some(of_64.0));
        // Blocks share no keys, though half of the device has no work.
        assert_eq!(parts(work(128, 128, 66, 4096), &H100), Parts { count: 1, keys: 4096 });
        for other in [
            work(128, 128, 65, 129),
            work(128, 128, 66, 128),
            work(64, 384, 33, 383),
            work(128, 64, 1000, 4096),
            work(136, 4096, 16, 4096),
            Work { changes_scores: true, ..work(128, 4096, 16, 4096) },
            Work { is_invariant: true, ..work(128, 4096, 16, 4096) },
        ] {
            assert_eq!(KernelForm::of(&other, &H100).unwrap().way, Way::TensorCores, "{other:?}");
        }
        for (form, _) in OF_WARP_GROUPS {
            // What a block of these devices may have.
            assert!(form.shared_bytes() <= 227 << 10);
            assert!(form.threads() <= 1024);
        }
        assert_eq!([of_64.0, of_128.0].map(KernelForm::threads), [512, 384]);
        assert_eq!(TILES[0][0].threads(), 128);
    }

    fn parts(work: Work, device: &Properties) -> Parts {
        KernelForm::of(&work, device).unwrap().parts(&work, device)
    }

    #[test]
    fn blocks_share_the_keys_of_few_queries() {
        let whole = |keys| Parts { count: 1, keys };
        // 264 blocks fit: 8 for each of 32 heads.
        assert_eq!(parts(work(128, 1, 32, 4096), &H100), Parts { count: 8, keys: 512 });
        // Of 8 heads there could be 33 parts, but no block has less than 128 keys.
        assert_eq!(parts(work(128, 4, 8, 4096), &H100), Parts { count: 32, keys: 128 });
        // The last part has what is left.
        assert_eq!(parts(work(128, 1, 32, 1000), &H100), Parts { count: 6, keys: 192 });
        // Half of the device, or more of it, has work without that.
        assert_eq!(parts(work(128, 1, 256, 4096), &H100), whole(4096));
        assert_eq!(parts(work(128, 1, 133, 4096), &H100), whole(4096));
        assert_eq!(parts(work(128, 1, 132, 4096), &H100), Parts { count: 2, keys: 2048 });
        assert_eq!(parts(work(128, 1, 32, 511), &H100), whole(511));
        assert_eq!(parts(work(128, 1, 32, 512), &H100), Parts { count: 4, keys: 128 });
        // Three blocks of the form in float32 fit.
        let singles = in_float32(work(128, 1, 32, 4096));
        assert_eq!(parts(singles, &H100), Parts { count: 12, keys: 352 });
        assert_eq!(parts(singles, &T4).count, 1);
    }

    #[test]
    fn parts_have_whole_tiles_and_all_keys_and_none_is_empty() {
        for device in [&H100, &BLACKWELL, &A100, &T4] {
            for width in [32, 64, 128, 256] {
                for (heads, queries) in [(1, 1), (3, 7), (32, 1), (2, 300)] {
                    for keys in (1..3000).step_by(37).chain([4096, 100_000, (1 << 31) - 1]) {
                        for on_tensor_cores in [false, true] {
                            let work =
                                Work { on_tensor_cores, ..work(width, queries, heads, keys) };
                            let form = KernelForm::of(&work, device).unwrap();
                            let parts = form.parts(&work, device);
                            let count = i64::from(parts.count);
                            assert!(count * parts.keys >= keys, "{work:?} {parts:?}");
                            assert!((count - 1) * parts.keys < keys, "{work:?} {parts:?}");
                            let is_whole = parts.keys % i64::from(form.keys) == 0;
                            assert!(count == 1 || is_whole, "{work:?} {parts:?}");
                            assert!(count == 1 || parts.keys >= LEAST_KEYS.min(keys / count));
                            let most = form.at_once(device) * device.multiprocessors;
                            assert!(count == 1 || count * form.blocks(&work) <= i64::from(most));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn names_are_those_of_kernels() {
        assert_eq!(
            ON_TENSOR_CORES[1][1].name("bf16"),
            "sconce_torch_attention_tensor_128_128_bf16"
        );
        assert_eq!(TILES[0][0].name("f32"), "sconce_torch_attention_32_16_f32");
        assert_eq!(OF_WARP_GROUPS[1].0.name("f16"), "sconce_torch_attention_groups_128_128_f16");
        let [tensor, groups] = [ON_TENSOR_CORES[0][1], OF_WARP_GROUPS[0].0]
            .map(|form| form.name_for_sequences("bf16"));
        assert_eq!(tensor, "sconce_torch_attention_sequences_64_128_bf16");
        assert_eq!(groups, "sconce_torch_attention_sequences_groups_64_192_bf16");
    }
}
