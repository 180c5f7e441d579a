//! Attention in one kernel (`torch/kernels/attention/tiles.cuh`), for tensors of a GPU.

use super::{Attention, Shapes};
use crate::error::Result;
use crate::kernels::{Argument, Grid, Image, images, launch};
use crate::operations::layout::Layout;
use crate::sconce::{Tensor, api, operations};

/// Threads of a block; `tiles.cuh` has these numbers, too.
const THREADS: u32 = 128;
/// Elements between the banks of two lines of shared memory.
const PAD: u32 = 4;
const PER_LN: f32 = std::f32::consts::LOG2_E;

/// A form of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Form {
    /// The most numbers of a position.
    width: u32,
    /// Queries and keys of a tile.
    queries: u32,
    keys: u32,
    /// Whether keys and values have memory of their own.
    both: bool,
}

const fn form(width: u32, queries: u32, keys: u32, both: bool) -> Form {
    Form { width, queries, keys, both }
}

/// For each width the form of few queries, and that of many.
const FORMS: [[Form; 2]; 4] = [
    [form(32, 16, 64, true), form(32, 64, 64, true)],
    [form(64, 16, 64, true), form(64, 64, 32, true)],
    [form(128, 16, 32, true), form(128, 64, 32, false)],
    [form(256, 32, 16, false), form(256, 32, 16, false)],
];

/// Blocks of the form of many queries from which on it is taken: as many as keep the largest devices at work twice.
const MANY_BLOCKS: i64 = 264;

impl Form {
    /// The form for a width and a number of queries of all heads; `None` for a width that no form has.
    fn of(width: i64, queries: i64, heads: i64) -> Option<Form> {
        let [few, many] = *FORMS.iter().find(|[few, _]| width <= i64::from(few.width))?;
        let tiles = (queries + i64::from(many.queries) - 1) / i64::from(many.queries);
        Some(if tiles.saturating_mul(heads) >= MANY_BLOCKS { many } else { few })
    }

    /// Bytes of shared memory: queries, keys, values and weights in float32.
    fn shared_bytes(self) -> u32 {
        let Form { width, queries, keys, both } = self;
        let lines = queries + keys * if both { 2 } else { 1 };
        4 * (lines * (width + PAD) + queries * (keys + PAD))
    }
}

/// Batches of heads of positions: an address, and elements from one batch, head, position and number to the next.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Positions {
    address: u64,
    strides: [i64; 4],
}

/// What the kernel takes.
#[repr(C)]
struct Arguments {
    query: Positions,
    key: Positions,
    value: Positions,
    output: Positions,
    mask: Positions,
    log_sums: u64,
    log_strides: [i64; 3],
    heads: u32,
    key_heads: u32,
    queries: u32,
    keys: u32,
    width: u32,
    value_width: u32,
    tiles: u32,
    mask_kind: u32,
    is_causal: u32,
    /// In units of the binary logarithm.
    scale: f32,
}

impl Argument for Arguments {}

fn positions(layout: &Layout) -> Option<Positions> {
    let strides = layout.strides.as_slice().try_into().ok()?;
    Some(Positions { address: layout.data.expose_provenance() as u64, strides })
}

/// The kernel's number for the type of a mask.
fn mask_kind(dtype: i32) -> Option<u32> {
    match dtype {
        api::SCONCE_DTYPE_BOOL => Some(1),
        api::SCONCE_DTYPE_F32 => Some(2),
        api::SCONCE_DTYPE_F16 => Some(3),
        api::SCONCE_DTYPE_BF16 => Some(4),
        _ => None,
    }
}

/// The image for a type, and what the names of its kernels end with.
fn image(dtype: i32) -> Option<(&'static Image, &'static str)> {
    match dtype {
        api::SCONCE_DTYPE_F32 => Some((&images::ATTENTION_F32, "f32")),
        api::SCONCE_DTYPE_F16 => Some((&images::ATTENTION_F16, "f16")),
        api::SCONCE_DTYPE_BF16 => Some((&images::ATTENTION_BF16, "bf16")),
        _ => None,
    }
}

/// Whether a tensor is in a GPU's memory.
fn is_on_gpu(layout: &Layout) -> bool {
    // SAFETY: no preconditions.
    layout.device >= 0 && unsafe { api::sconce_backend_get_active() } == api::SCONCE_BACKEND_CUDA
}

/// Calculates attention into `output`, whose elements of a position lie side by side, and into `log_sums`, in float32.
/// `false` if the kernel does not calculate it: nothing is queued then.
pub(super) fn attend(
    attention: &Attention,
    shapes: &Shapes,
    output: &Tensor,
    log_sums: Option<&Tensor>,
) -> Result<bool> {
    let query = Layout::of(attention.query)?;
    if !is_on_gpu(&query) {
        return Ok(false);
    }
    let [key, value, output] = [attention.key, attention.value, output.handle()].map(Layout::of);
    let (key, value, output) = (key?, value?, output?);
    let mask = match attention.mask {
        None => None,
        Some(mask) => {
            let sizes = [shapes.batch, shapes.heads, shapes.queries, shapes.keys];
            let expanded = operations::expand(mask, &sizes)?;
            Some(Layout::of(expanded.handle())?)
        }
    };
    let logs = log_sums.map(|tensor| Layout::of(tensor.handle())).transpose()?;
    let Some((form, arguments)) =
        arguments(attention, shapes, [&query, &key, &value, &output], mask.as_ref(), logs.as_ref())
    else {
        return Ok(false);
    };
    let Some((image, suffix)) = image(query.dtype) else { return Ok(false) };
    let name = format!("sconce_torch_attention_{}_{}_{suffix}", form.width, form.queries);
    let blocks = u64::from(arguments.tiles) * (shapes.batch * shapes.heads) as u64;
    let Some(blocks) = u32::try_from(blocks).ok().filter(|blocks| *blocks < 1 << 31) else {
        return Ok(false);
    };
    let grid = Grid {
        blocks: [blocks, 1, 1],
        threads: [THREADS, 1, 1],
        shared_bytes: form.shared_bytes(),
    };
    // SAFETY: the addresses are those of tensors with these sizes and strides, which the caller keeps alive; memory that
    // is freed is used again after the launch only.
    unsafe { launch(query.device, image, &name, grid, &[&arguments]) }?;
    Ok(true)
}

/// The form and its arguments; `None` for what no form takes.
fn arguments(
    attention: &Attention,
    shapes: &Shapes,
    [query, key, value, output]: [&Layout; 4],
    mask: Option<&Layout>,
    log_sums: Option<&Layout>,
) -> Option<(Form, Arguments)> {
    let small = |size: i64| u32::try_from(size).ok().filter(|size| *size < 1 << 31);
    let &Shapes { batch, heads, queries, keys, width, value_width } = shapes;
    // The kernel writes the numbers of a position side by side.
    if value_width > 1 && output.strides.last() != Some(&1) {
        return None;
    }
    let form = Form::of(width.max(value_width), queries, batch.checked_mul(heads)?)?;
    let scale = attention.scale.unwrap_or(1.0 / (width as f64).sqrt());
    let arguments = Arguments {
        query: positions(query)?,
        key: positions(key)?,
        value: positions(value)?,
        output: positions(output)?,
        mask: match mask {
            Some(mask) => positions(mask)?,
            None => Positions::default(),
        },
        log_sums: log_sums.map_or(0, |logs| logs.data.expose_provenance() as u64),
        log_strides: match log_sums {
            Some(logs) => logs.strides.as_slice().try_into().ok()?,
            None => [0; 3],
        },
        heads: small(heads)?,
        key_heads: small(key.sizes[1])?,
        queries: small(queries)?,
        keys: small(keys)?,
        width: small(width)?,
        value_width: small(value_width)?,
        tiles: small(queries)?.div_ceil(form.queries),
        mask_kind: match mask {
            Some(mask) => mask_kind(mask.dtype)?,
            None => 0,
        },
        is_causal: attention.is_causal.into(),
        scale: scale as f32 * PER_LN,
    };
    Some((form, arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_chosen_by_width_and_work() {
        assert_eq!(Form::of(16, 48, 8), Some(FORMS[0][0]));
        assert_eq!(Form::of(33, 48, 8), Some(FORMS[1][0]));
        assert_eq!(Form::of(128, 4096, 16), Some(FORMS[2][1]));
        assert_eq!(Form::of(256, 1, 1), Some(FORMS[3][0]));
        assert_eq!(Form::of(257, 1, 1), None);
        // All devices from compute capability 7.5 on have 64 KiB.
        assert!(FORMS.iter().flatten().all(|form| form.shared_bytes() <= 65536));
    }

    #[test]
    fn the_kernel_takes_these_arguments() {
        // 5 tensors of 5 words, 4 words of log sums, 10 numbers of 32 bits.
        assert_eq!(size_of::<Arguments>(), (25 + 4) * 8 + 40);
    }
}
