//! Every function that takes or makes tensors, as a call on a few tensors of one device.

use std::ptr::{null, null_mut};

use sconce::*;

use crate::api::{CPU, Handle, Outcome, integer, options, outcome, real, returned, written};
use crate::create::{self, from_bytes};
use crate::operations::{self, Operand};
use crate::outputs::calls;

/// What the calls work on. `second` and all that follow may be on another device than `matrix`.
pub(crate) struct Tensors {
    pub(crate) device: i32,
    pub(crate) matrix: Handle,
    pub(crate) turned: Handle,
    pub(crate) batch: Handle,
    pub(crate) image: Handle,
    pub(crate) second: Handle,
    pub(crate) other_batch: Handle,
    pub(crate) filter: Handle,
    pub(crate) index: Handle,
    pub(crate) condition: Handle,
    pub(crate) ordinary: Handle,
    pub(crate) pinned: Handle,
}

fn f32s(sizes: &[i64], device: i32) -> Handle {
    let count: i64 = sizes.iter().product();
    let bytes: Vec<u8> =
        (0..count).flat_map(|at| ((at * 7 % 13) as f32 / 4.0).to_le_bytes()).collect();
    from_bytes(&bytes, sizes, SCONCE_DTYPE_F32, device).unwrap()
}

impl Tensors {
    pub(crate) fn new(device: i32, other: i32) -> Tensors {
        let matrix = f32s(&[4, 4], device);
        let turned = matrix.transpose(0, 1).unwrap();
        let index: Vec<u8> = [2_i64, 0, 3].iter().flat_map(|at| at.to_le_bytes()).collect();
        let truths: Vec<u8> = (0..16).map(|at| u8::from(at % 3 == 0)).collect();
        let ordinary = f32s(&[4, 4], CPU);
        let pinned = ordinary.pin_memory().unwrap();
        Tensors {
            device,
            matrix,
            turned,
            batch: f32s(&[2, 4, 4], device),
            image: f32s(&[1, 2, 5, 5], device),
            second: f32s(&[4, 4], other),
            other_batch: f32s(&[2, 4, 4], other),
            filter: f32s(&[3, 2, 3, 3], other),
            index: from_bytes(&index, &[3], SCONCE_DTYPE_I64, other).unwrap(),
            condition: from_bytes(&truths, &[4, 4], SCONCE_DTYPE_BOOL, other).unwrap(),
            ordinary,
            pinned,
        }
    }
}

/// What a call does inside a capture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum InCapture {
    /// Its work becomes a part of the graph; or it has none.
    Works,
    /// As `Works`; the page-locked memory that the graph reads is then kept for it.
    KeepsPinned,
    /// It would wait for the device, or use ordinary memory.
    Refused,
}

use InCapture::{KeepsPinned, Refused, Works};

type Call = fn(&Tensors) -> Outcome<Vec<Handle>>;

/// A call of a function, by the function's name without its prefix.
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    pub(crate) in_capture: InCapture,
    /// Whether its tensors must be on one device.
    pub(crate) meets: bool,
    pub(crate) call: Call,
}

/// Whether the values that a call leaves are random, or whatever the memory held.
pub(crate) fn is_unpredictable(operation: &Operation) -> bool {
    let drawn = [
        "uniform",
        "normal",
        "log_normal",
        "exponential",
        "cauchy",
        "geometric",
        "bernoulli",
        "random_integers",
        "random",
        "randperm",
        "randperm_out",
    ];
    operation.name.starts_with("empty") || drawn.contains(&operation.name)
}

fn one(result: Outcome<Handle>) -> Outcome<Vec<Handle>> {
    result.map(|tensor| vec![tensor])
}

fn none<T>(result: Outcome<T>) -> Outcome<Vec<Handle>> {
    result.map(|_| Vec::new())
}

fn tensor(handle: &Handle) -> Operand<'_> {
    Operand::Tensor(handle)
}

const fn alone(name: &'static str, in_capture: InCapture, call: Call) -> Operation {
    Operation { name, in_capture, meets: false, call }
}

const fn pair(name: &'static str, in_capture: InCapture, call: Call) -> Operation {
    Operation { name, in_capture, meets: true, call }
}

fn own(tensors: &Tensors) -> sconce_tensor_options {
    options(SCONCE_DTYPE_DEFAULT, tensors.device)
}

fn randperm(tensors: &Tensors) -> Outcome<Handle> {
    let asked = own(tensors);
    // SAFETY: options and a writable place.
    returned(|out| unsafe { sconce_tensor_randperm(50, null_mut(), &raw const asked, out) })
}

fn from_memory(tensors: &Tensors) -> Outcome<Handle> {
    let (sizes, address) = ([4_i64, 4], tensors.matrix.data());
    // SAFETY: the tensor's own memory, which outlives the result.
    returned(|out| unsafe {
        let start = std::ptr::with_exposed_provenance_mut(address);
        let (dtype, device) = (SCONCE_DTYPE_F32, tensors.device);
        sconce_tensor_from_memory(
            start,
            64,
            sizes.as_ptr(),
            null(),
            2,
            dtype,
            device,
            None,
            null_mut(),
            out,
        )
    })
}

fn from_blob(tensors: &Tensors) -> Outcome<Handle> {
    let (sizes, address) = ([4_i64, 4], tensors.matrix.data());
    let asked = own(tensors);
    // SAFETY: the tensor's own memory, which outlives the result.
    returned(|out| unsafe {
        let data = std::ptr::with_exposed_provenance_mut(address);
        let (sizes, asked) = (sizes.as_ptr(), &raw const asked);
        sconce_tensor_from_blob(data, sizes, null(), 2, asked, None, null_mut(), out)
    })
}

fn of_one_value(
    make: unsafe extern "C" fn(
        *const i64,
        usize,
        *const sconce_tensor_options,
        *mut *mut sconce_tensor,
    ) -> sconce_status,
    tensors: &Tensors,
) -> Outcome<Handle> {
    let (sizes, asked) = ([3_i64, 3], own(tensors));
    // SAFETY: sizes, options and a writable place.
    returned(|out| unsafe { make(sizes.as_ptr(), 2, &raw const asked, out) })
}

fn random(
    call: impl FnOnce(*mut sconce_tensor) -> sconce_status,
    to: &Handle,
) -> Outcome<Vec<Handle>> {
    none(outcome(call(to.raw())))
}

fn text(tensors: &Tensors) -> Outcome<Vec<Handle>> {
    let mut text = null_mut();
    // SAFETY: a writable place.
    outcome(unsafe { sconce_tensor_to_string(tensors.matrix.raw(), &raw mut text) })?;
    // SAFETY: the text that the call returned.
    unsafe { sconce_string_free(text) };
    Ok(Vec::new())
}

fn allclose(tensors: &Tensors) -> Outcome<bool> {
    let (first, second) = (tensors.matrix.raw(), tensors.second.raw());
    // SAFETY: a writable place.
    written(false, |out| unsafe {
        sconce_tensor_allclose(first, second, 1e-5, 1e-8, CBool::FALSE, out)
    })
}

fn convolution(tensors: &Tensors) -> Outcome<Handle> {
    let (image, filter, steps) = (tensors.image.raw(), tensors.filter.raw(), [1_i64, 1]);
    let padding = [0_i64, 1];
    // SAFETY: the arrays' length is passed, and a writable place.
    returned(|out| unsafe {
        let (steps, padding) = (steps.as_ptr(), padding.as_ptr());
        sconce_tensor_convolution(image, filter, null_mut(), steps, padding, steps, 2, 1, out)
    })
}

fn transform(tensors: &Tensors) -> Outcome<Handle> {
    let dims = [0_i64, 1];
    // SAFETY: the array's length is passed, and a writable place.
    returned(|out| unsafe {
        let (kind, forward) = (SCONCE_FFT_R2C, SCONCE_FFT_FORWARD);
        let (input, norm) = (tensors.turned.raw(), SCONCE_FFT_NORM_NONE);
        sconce_tensor_fft(input, kind, forward, norm, dims.as_ptr(), 2, -1, out)
    })
}

fn unary_into(tensors: &Tensors) -> Outcome<()> {
    operations::unary_into(SCONCE_UNARY_NEG, &tensors.matrix, &tensors.second)
}

/// A matrix with other sizes.
fn resized(tensors: &Tensors, sizes: &[i64]) -> Outcome<Vec<Handle>> {
    let matrix = tensors.matrix.view(&[4, 4])?;
    calls::resize(&matrix, sizes)?;
    Ok(vec![matrix.narrow(0, 0, 1)?])
}

/// The second matrix, after a call that writes to it.
fn to_second(
    tensors: &Tensors,
    write: impl FnOnce(&Handle) -> Outcome<()>,
) -> Outcome<Vec<Handle>> {
    let into = tensors.second.view(&[4, 4])?;
    write(&into).map(|()| vec![into])
}

/// A row of it.
fn to_row(tensors: &Tensors, write: impl FnOnce(&Handle) -> Outcome<()>) -> Outcome<Vec<Handle>> {
    let into = tensors.second.select(0, 2)?;
    write(&into).map(|()| vec![into])
}

/// A tensor without elements, after a call that writes to it.
fn to_new(tensors: &Tensors, write: impl FnOnce(&Handle) -> Outcome<()>) -> Outcome<Vec<Handle>> {
    let into = empty(SCONCE_DTYPE_F32, tensors);
    write(&into).map(|()| vec![into])
}

fn empty(dtype: i32, tensors: &Tensors) -> Handle {
    create::empty(&[0], &options(dtype, tensors.device)).unwrap()
}

/// A tensor of another type, with the sizes and the device of one.
fn empty_as(dtype: i32, tensor: &Handle) -> Handle {
    create::empty_like(tensor, &options(dtype, -1)).unwrap()
}

/// Every function but those of DLPack and those that only ask what a tensor is.
#[rustfmt::skip]
pub(crate) const ALL: &[Operation] = &[
    alone("empty", Works, |t| one(create::empty(&[3, 4], &own(t)))),
    alone("empty_strided", Works, |t| one(create::empty_strided(&[2, 3], &[1, 4], &own(t)))),
    alone("empty_like", Works, |t| one(create::empty_like(&t.turned, &options(-1, -1)))),
    alone("full", Works, |t| one(create::full(&[3, 3], real(1.5), &own(t)))),
    alone("full_like", Works, |t| one(create::full_like(&t.turned, real(2.5), &options(-1, -1)))),
    alone("from_values", Refused, |t| one(from_bytes(&[1; 16], &[4], SCONCE_DTYPE_F32, t.device))),
    alone("from_memory", Works, |t| one(from_memory(t))),
    alone("from_blob", Works, |t| one(from_blob(t))),
    alone("zeros", Works, |t| one(of_one_value(sconce_tensor_zeros, t))),
    alone("ones", Works, |t| one(of_one_value(sconce_tensor_ones, t))),
    alone("arange", Works, |t| one(create::arange([integer(0), integer(9), integer(2)], &own(t)))),
    alone("linspace", Works, |t| one(create::linspace([real(0.0), real(1.0)], 7, &own(t)))),
    alone("eye", Works, |t| one(create::eye(3, 4, &own(t)))),
    alone("fill", Works, |t| none(t.turned.fill(real(2.0)))),
    alone("uniform", Works, |t| random(|to| sconce_tensor_uniform(to, 0.0, 1.0, null_mut()), &t.turned)),
    alone("normal", Works, |t| random(|to| sconce_tensor_normal(to, 0.0, 1.0, null_mut()), &t.matrix)),
    alone("log_normal", Works, |t| random(|to| sconce_tensor_log_normal(to, 0.0, 1.0, null_mut()), &t.matrix)),
    alone("exponential", Works, |t| random(|to| sconce_tensor_exponential(to, 1.0, null_mut()), &t.matrix)),
    alone("cauchy", Works, |t| random(|to| sconce_tensor_cauchy(to, 0.0, 1.0, null_mut()), &t.matrix)),
    alone("geometric", Works, |t| random(|to| sconce_tensor_geometric(to, 0.5, null_mut()), &t.matrix)),
    alone("bernoulli", Works, |t| random(|to| sconce_tensor_bernoulli(to, 0.5, null_mut()), &t.matrix)),
    alone("random_integers", Works, |t| random(|to| sconce_tensor_random_integers(to, 0, 9, null_mut()), &t.matrix)),
    alone("random", Works, |t| random(|to| sconce_tensor_random(to, null_mut()), &t.matrix)),
    alone("randperm", Works, |t| one(randperm(t))),
    alone("copy", Works, |t| none(t.matrix.copy_from(&t.turned.clone_as(SCONCE_MEMORY_FORMAT_PRESERVE)?, false))),
    alone("copy", Refused, |t| none(t.matrix.copy_from(&t.ordinary, false))),
    alone("copy", KeepsPinned, |t| none(t.matrix.copy_from(&t.pinned, true))),
    alone("copy", Refused, |t| none(t.ordinary.copy_from(&t.turned, false))),
    alone("to", Works, |t| one(t.turned.to(&options(SCONCE_DTYPE_F16, -1), false))),
    alone("to", Refused, |t| one(t.turned.to(&options(SCONCE_DTYPE_F16, CPU), false))),
    alone("to", Refused, |t| one(t.ordinary.to(&own(t), false))),
    alone("clone", Works, |t| one(t.turned.clone_as(SCONCE_MEMORY_FORMAT_CONTIGUOUS))),
    alone("contiguous", Works, |t| one(t.turned.contiguous(SCONCE_MEMORY_FORMAT_CONTIGUOUS))),
    alone("pin_memory", Works, |t| one(t.ordinary.pin_memory())),
    alone("to_values", Refused, |t| none(t.matrix.bytes())),
    alone("item", Refused, |t| none(t.matrix.select(0, 0)?.narrow(0, 1, 1)?.item())),
    alone("to_string", Refused, text),
    alone("view", Works, |t| one(t.matrix.view(&[2, 8]))),
    alone("reshape", Works, |t| one(t.turned.reshape(&[2, 8]))),
    alone("as_strided", Works, |t| one(t.matrix.as_strided(&[3], &[5], 0))),
    alone("narrow", Works, |t| one(t.matrix.narrow(0, 1, 2))),
    alone("slice", Works, |t| one(t.matrix.slice(0, 0, 4, 2))),
    alone("select", Works, |t| one(t.matrix.select(0, 1))),
    alone("transpose", Works, |t| one(t.matrix.transpose(0, 1))),
    alone("permute", Works, |t| one(t.matrix.permute(&[1, 0]))),
    alone("expand", Works, |t| one(t.matrix.expand(&[2, 4, 4]))),
    alone("squeeze", Works, |t| one(t.matrix.squeeze(&[0]))),
    alone("unsqueeze", Works, |t| one(t.matrix.unsqueeze(0))),
    alone("flatten", Works, |t| one(t.turned.flatten(0, -1))),
    alone("unflatten", Works, |t| one(t.matrix.unflatten(0, &[2, 2]))),
    alone("diagonal", Works, |t| one(t.matrix.diagonal(1, 0, 1))),
    alone("chunk", Works, |t| t.matrix.chunk(3, 0)),
    alone("split", Works, |t| t.matrix.split(3, 1)),
    alone("split_with_sizes", Works, |t| t.matrix.split_with_sizes(&[1, 3], 0)),
    alone("unbind", Works, |t| t.matrix.unbind(0)),
    alone("unary", Works, |t| one(operations::unary(SCONCE_UNARY_EXP, &t.turned))),
    pair("unary", Works, |t| none(unary_into(t))),
    pair("binary", Works, |t| one(operations::binary(SCONCE_BINARY_ADD, tensor(&t.turned), tensor(&t.second)))),
    pair("binary", Works, |t| none(operations::binary_into(SCONCE_BINARY_MUL, &t.turned, tensor(&t.second), &t.turned))),
    pair("clamp", Works, |t| one(operations::clamp(&t.turned, tensor(&t.second), Operand::Number(real(2.0))))),
    pair("where", Works, |t| one(operations::choose(&t.condition, tensor(&t.matrix), Operand::Number(real(2.0))))),
    alone("reduce", Works, |t| one(operations::reduce(SCONCE_REDUCE_SUM, &t.turned, None, false))),
    alone("reduce", Works, |t| one(operations::reduce(SCONCE_REDUCE_ARGMAX, &t.turned, Some(0), true))),
    alone("along", Works, |t| one(operations::along(SCONCE_LINE_SOFTMAX, &t.turned, 0))),
    alone("along", Works, |t| one(operations::along(SCONCE_LINE_CUMSUM, &t.turned, 1))),
    pair("cat", Works, |t| one(operations::cat(&[&t.turned, &t.second], 1))),
    pair("stack", Works, |t| one(operations::stack(&[&t.turned, &t.second], 0))),
    pair("index_select", Works, |t| one(operations::index_select(&t.turned, 0, &t.index))),
    alone("sort", Works, |t| operations::sort(&t.turned, 0, true).map(Vec::from)),
    alone("nonzero", Refused, |t| one(operations::nonzero(&t.turned))),
    pair("equal", Refused, |t| none(operations::equal(&t.matrix, &t.second))),
    pair("allclose", Refused, |t| none(allclose(t))),
    pair("matmul", Works, |t| one(operations::matmul(&t.turned, &t.second))),
    pair("bmm", Works, |t| one(operations::bmm(&t.batch, &t.other_batch))),
    pair("addmm", Works, |t| one(operations::addmm(&t.matrix, &t.turned, &t.second))),
    pair("convolution", Works, |t| one(convolution(t))),
    alone("fft", Works, |t| one(transform(t))),
    alone("resize", Works, |t| resized(t, &[3, 2])),
    alone("resize", Works, |t| resized(t, &[5, 4])),
    pair("clamp_out", Works, |t| to_second(t, |to| calls::clamp(&t.turned, Operand::Number(real(1.0)), Operand::Missing, to))),
    pair("where_out", Works, |t| to_second(t, |to| calls::choose(&t.condition, tensor(&t.matrix), Operand::Number(real(2.0)), to))),
    pair("reduce_out", Works, |t| to_row(t, |to| calls::reduce(SCONCE_REDUCE_SUM, &t.turned, &[0], false, SCONCE_DTYPE_DEFAULT, to))),
    pair("reduce_out", Works, |t| to_second(t, |to| calls::reduce(SCONCE_REDUCE_AMAX, &t.batch, &[0, 1], true, SCONCE_DTYPE_DEFAULT, to))),
    pair("along_out", Works, |t| to_second(t, |to| calls::along(SCONCE_LINE_CUMSUM, &t.turned, 1, SCONCE_DTYPE_DEFAULT, to))),
    alone("along_out", Works, |t| none(calls::along(SCONCE_LINE_SOFTMAX, &t.turned, 0, SCONCE_DTYPE_DEFAULT, &t.turned))),
    pair("cat_out", Works, |t| to_second(t, |to| calls::cat(&[&t.turned, &t.matrix], 1, to))),
    pair("stack_out", Works, |t| to_second(t, |to| calls::stack(&[&t.turned, &t.matrix], 2, to))),
    pair("index_select_out", Works, |t| to_new(t, |to| calls::index_select(&t.turned, 0, &t.index, to))),
    pair("sort_out", Works, |t| to_second(t, |to| { let index = empty(SCONCE_DTYPE_I64, t); calls::sort(&t.turned, 0, true, [to, &index]) })),
    pair("matmul_out", Works, |t| to_second(t, |to| calls::matmul(&t.turned, &t.matrix, to))),
    pair("matmul_out", Works, |t| to_new(t, |to| calls::matmul(&t.matrix, &t.other_batch, to))),
    pair("bmm_out", Works, |t| to_new(t, |to| calls::bmm(&t.batch, &t.other_batch, to))),
    pair("addmm_out", Works, |t| to_second(t, |to| calls::addmm(&t.matrix, &t.turned, &t.second, to))),
    pair("fft_out", Works, |t| { let to = empty_as(SCONCE_DTYPE_C64, &t.second); one(calls::fft(&t.turned, SCONCE_FFT_C2C, &[1], &to).map(|()| to)) }),
    alone("arange_out", Works, |t| to_row(t, |to| calls::arange([integer(0), integer(8), integer(2)], to))),
    alone("linspace_out", Works, |t| to_row(t, |to| calls::linspace([real(0.0), real(1.0)], 4, to))),
    alone("eye_out", Works, |t| to_second(t, |to| calls::eye(4, 4, to))),
    alone("randperm_out", Works, |t| to_row(t, |to| calls::randperm(4, to))),
];
