//! Attention in one kernel (`torch/kernels/attention`), for tensors of a GPU.
//!
//! | file | idea |
//! |---|---|
//! | `arguments` | what the kernel takes |
//! | `forms` | its forms, and which one attention takes on a device |
//! | `plan` | form and arguments for some tensors |
//! | `padded` | copies of tensors that tensor cores cannot read where they are |
//! | `sequences` | sequences whose lengths only the device knows |

mod arguments;
mod forms;
mod padded;
mod plan;
pub(super) mod sequences;

use self::arguments::{SequencedArguments, SequencesArguments};
use self::forms::Way;
use self::padded::Padded;
use self::plan::{Plan, Tensors, uses_tensor_cores};
use super::{Attention, Shapes};
use crate::error::Result;
use crate::kernels::{Grid, Image, KernelArgument, Properties, images, launch};
use crate::operations::layout::Layout;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api, operations};

/// Threads of a block of most forms; `arguments.cuh` has this number, too.
const THREADS: u32 = 128;

/// The image of a form for a type, and what the names of its kernels end with.
fn image(dtype: i32, way: Way) -> Option<(&'static Image, &'static str)> {
    match (dtype, way) {
        (api::SCONCE_DTYPE_F32, Way::Both | Way::InTurn) => Some((&images::ATTENTION_F32, "f32")),
        (api::SCONCE_DTYPE_F16, Way::Both | Way::InTurn) => Some((&images::ATTENTION_F16, "f16")),
        (api::SCONCE_DTYPE_F16, Way::TensorCores) => Some((&images::ATTENTION_TENSOR_F16, "f16")),
        (api::SCONCE_DTYPE_F16, Way::WarpGroups) => Some((&images::ATTENTION_GROUPS_F16, "f16")),
        (api::SCONCE_DTYPE_BF16, Way::Both | Way::InTurn) => {
            Some((&images::ATTENTION_BF16, "bf16"))
        }
        (api::SCONCE_DTYPE_BF16, Way::TensorCores) => {
            Some((&images::ATTENTION_TENSOR_BF16, "bf16"))
        }
        (api::SCONCE_DTYPE_BF16, Way::WarpGroups) => Some((&images::ATTENTION_GROUPS_BF16, "bf16")),
        _ => None,
    }
}

/// Whether a tensor is in a GPU's memory.
fn is_on_gpu(layout: &Layout) -> bool {
    layout.device >= 0 && api::sconce_backend_get_active() == api::SCONCE_BACKEND_CUDA
}

/// Calculates attention into `output`, whose elements of a position lie side by side, and into `log_sums`, in float32.
/// `false` if the kernel does not calculate it: nothing that anybody sees is queued then.
pub(super) fn attend(
    attention: &Attention,
    shapes: &Shapes,
    output: &Tensor,
    log_sums: Option<&Tensor>,
) -> Result<bool> {
    let query = Layout::of(attention.query)?;
    if !is_on_gpu(&query) || shapes.width.max(shapes.value_width) > forms::MOST_WIDTH {
        return Ok(false);
    }
    let device = Properties::of(query.device)?;
    if uses_tensor_cores(query.dtype, &device) {
        let [key, value] = [attention.key, attention.value].map(Layout::of);
        let place = Layout::of(output.handle())?;
        if let Some(padded) = Padded::of(attention, [&query, &key?, &value?, &place])? {
            let (attention, shapes) = padded.attention(attention, shapes);
            return Ok(launched(&attention, &shapes, padded.output(output), log_sums, &device)?
                && padded.give(output, &place).map(|()| true)?);
        }
    }
    launched(attention, shapes, output, log_sums, &device)
}

/// As `attend`, for tensors that the kernel can read where they are.
fn launched(
    attention: &Attention,
    shapes: &Shapes,
    output: &Tensor,
    log_sums: Option<&Tensor>,
    device: &Properties,
) -> Result<bool> {
    let [query, key, value, output] =
        [attention.query, attention.key, attention.value, output.handle()].map(Layout::of);
    let (query, key, value, output) = (query?, key?, value?, output?);
    let mask = match attention.mask {
        None => None,
        Some(mask) => {
            let sizes = [shapes.batch, shapes.heads, shapes.queries, shapes.keys];
            let expanded = operations::expand(mask, &sizes)?;
            Some(Layout::of(expanded.handle())?)
        }
    };
    let log_sums = log_sums.map(|tensor| Layout::of(tensor.handle())).transpose()?;
    let tensors = Tensors {
        query: &query,
        key: &key,
        value: &value,
        output: &output,
        mask: mask.as_ref(),
        log_sums: log_sums.as_ref(),
    };
    let Some(plan) = Plan::of(attention, shapes, &tensors, device) else { return Ok(false) };
    let Some((image, suffix)) = image(query.dtype, plan.form.way) else {
        return Ok(false);
    };
    let names = KernelNames {
        attention: plan.form.name(suffix),
        combine: format!("sconce_torch_attention_combine_{suffix}"),
    };
    calculate(plan, None, image, &names, query.device)?;
    Ok(true)
}

/// The names of a kernel, and of the one that adds up its parts.
struct KernelNames {
    attention: String,
    combine: String,
}

/// Queues the kernel, and behind it the one that adds up the parts, if there are any. `sequences` is for kernels that
/// take it.
fn calculate(
    mut plan: Plan,
    sequences: Option<SequencesArguments>,
    image: &'static Image,
    names: &KernelNames,
    device: i32,
) -> Result<()> {
    // Parts lie in memory of the current stream, which other work of the stream may have when both kernels are queued.
    let parts = match plan.numbers_of_parts() {
        0 => None,
        count => Some(operations::empty(&[count], &options(api::SCONCE_DTYPE_F32, device))?),
    };
    if let Some(parts) = &parts {
        plan.place_parts(Layout::of(parts.handle())?.data.expose_provenance() as u64);
    }
    let attention = plan.arguments;
    let sequenced = sequences.map(|sequences| SequencedArguments { attention, sequences });
    let argument: &dyn KernelArgument = match &sequenced {
        Some(sequenced) => sequenced,
        None => &attention,
    };
    let grid = Grid {
        blocks: [plan.blocks, 1, 1],
        threads: [plan.form.threads(), 1, 1],
        shared_bytes: plan.form.shared_bytes(),
    };
    // SAFETY: the addresses are those of tensors with these sizes and strides, which the caller keeps alive, and of the
    // parts; memory that is freed is used again after the launch only.
    unsafe { launch(device, image, &names.attention, grid, &[argument]) }?;
    if parts.is_some() {
        let grid = Grid { blocks: [plan.lines, 1, 1], threads: [THREADS, 1, 1], shared_bytes: 0 };
        // SAFETY: the parts and the result have the lines that the kernel combines, and live as long as for the launch
        // before.
        unsafe { launch(device, image, &names.combine, grid, &[argument]) }?;
    }
    Ok(())
}
