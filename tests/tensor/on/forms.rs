//! A call of each function of tensors that uses the current stream.

use std::ptr::{null, null_mut};

use sconce::*;

use super::room::{FLOATS, HALF, NINE, Room, THREE, TWO};

/// How a call's use of its stream shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Use {
    /// It queues work.
    Queued,
    /// The memory of its result belongs to the stream.
    Memory,
    /// It waits for the stream's work.
    Waits,
}

use Use::{Memory, Queued, Waits};

/// A function that uses the current stream, and a call of it.
pub(super) struct Form {
    pub(super) name: &'static str,
    pub(super) shows: Use,
    pub(super) call: fn(&mut Room) -> sconce_status,
}

impl Form {
    /// Whether the call sets all elements of its results.
    pub(super) fn sets_elements(&self) -> bool {
        !self.name.contains("_empty") && self.name != "sconce_tensor_resize"
    }
}

macro_rules! form {
    ($shows:ident, $function:ident, $r:ident, [$($argument:expr),* $(,)?]) => {
        Form {
            name: stringify!($function),
            shows: $shows,
            #[allow(unused_unsafe, reason = "some of the functions are safe")]
            // SAFETY: places and arrays of the room, and of this file, which outlive the call.
            call: |$r| unsafe { $function($($argument),*) },
        }
    };
}

static SIZES: [i64; 2] = [3, 5];
static STRIDES: [i64; 2] = [1, 4];
static SIZES_OF_FLOATS: [i64; 2] = [4, 1];
static EIGHTS: [i64; 2] = [8, 2];
static LARGER: [i64; 2] = [6, 7];
static ONE_DIM: [i64; 1] = [1];
static TWO_DIMS: [i64; 2] = [0, 2];
/// Stride, padding and dilation.
static STEPS: [[i64; 2]; 3] = [[1, 2], [0, 3], [2, 1]];

/// Every function of tensors that uses the current stream, except those of DLPack.
#[rustfmt::skip]
pub(super) const ALL: &[Form] = &[
    form!(Memory, sconce_tensor_empty, r, [SIZES.as_ptr(), 2, &raw const r.asked, r.out(0)]),
    form!(Memory, sconce_tensor_empty_strided, r, [SIZES.as_ptr(), STRIDES.as_ptr(), 2, &raw const r.asked, r.out(0)]),
    form!(Memory, sconce_tensor_empty_like, r, [r.tensors.turned.raw(), null(), r.out(0)]),
    form!(Queued, sconce_tensor_full, r, [SIZES.as_ptr(), 2, &raw const HALF, &raw const r.asked, r.out(0)]),
    form!(Queued, sconce_tensor_zeros, r, [SIZES.as_ptr(), 2, &raw const r.asked, r.out(0)]),
    form!(Queued, sconce_tensor_ones, r, [SIZES.as_ptr(), 2, &raw const r.asked, r.out(0)]),
    form!(Queued, sconce_tensor_full_like, r, [r.tensors.turned.raw(), &raw const HALF, null(), r.out(0)]),
    form!(Queued, sconce_tensor_arange, r, [&raw const TWO, &raw const NINE, &raw const THREE, &raw const r.asked, r.out(0)]),
    form!(Queued, sconce_tensor_linspace, r, [&raw const TWO, &raw const NINE, 5, &raw const r.asked, r.out(0)]),
    form!(Queued, sconce_tensor_eye, r, [2, 3, &raw const r.asked, r.out(0)]),
    form!(Queued, sconce_tensor_fill, r, [r.own.raw(), &raw const HALF]),
    form!(Queued, sconce_tensor_uniform, r, [r.own.raw(), 1.0, 3.0, null_mut()]),
    form!(Queued, sconce_tensor_normal, r, [r.own.raw(), 1.0, 3.0, null_mut()]),
    form!(Queued, sconce_tensor_log_normal, r, [r.own.raw(), 0.5, 0.25, null_mut()]),
    form!(Queued, sconce_tensor_exponential, r, [r.own.raw(), 3.0, null_mut()]),
    form!(Queued, sconce_tensor_cauchy, r, [r.own.raw(), 1.0, 3.0, null_mut()]),
    form!(Queued, sconce_tensor_geometric, r, [r.own.raw(), 0.25, null_mut()]),
    form!(Queued, sconce_tensor_bernoulli, r, [r.own.raw(), 0.25, null_mut()]),
    form!(Queued, sconce_tensor_random_integers, r, [r.own.raw(), 3, 90, null_mut()]),
    form!(Queued, sconce_tensor_random, r, [r.own.raw(), null_mut()]),
    form!(Queued, sconce_tensor_randperm, r, [30, null_mut(), &raw const r.asked, r.out(0)]),
    form!(Memory, sconce_tensor_from_values, r, [FLOATS.as_ptr().cast(), 16, SIZES_OF_FLOATS.as_ptr(), 2, &raw const r.asked, r.out(0)]),
    form!(Queued, sconce_tensor_copy, r, [r.own.raw(), r.tensors.turned.raw(), true.into()]),
    form!(Queued, sconce_tensor_to, r, [r.tensors.turned.raw(), &raw const r.as_f16, true.into(), false.into(), r.out(0)]),
    form!(Queued, sconce_tensor_clone, r, [r.tensors.turned.raw(), SCONCE_MEMORY_FORMAT_CONTIGUOUS, r.out(0)]),
    form!(Queued, sconce_tensor_contiguous, r, [r.tensors.turned.raw(), SCONCE_MEMORY_FORMAT_CONTIGUOUS, r.out(0)]),
    form!(Queued, sconce_tensor_reshape, r, [r.tensors.turned.raw(), EIGHTS.as_ptr(), 2, r.out(0)]),
    form!(Queued, sconce_tensor_flatten, r, [r.tensors.turned.raw(), 0, 1, r.out(0)]),
    form!(Waits, sconce_tensor_to_values, r, [r.own.raw(), r.values(), 64]),
    form!(Waits, sconce_tensor_item, r, [r.single.raw(), &raw mut r.scalar]),
    form!(Waits, sconce_tensor_to_string, r, [r.own.raw(), &raw mut r.text]),
    form!(Queued, sconce_tensor_unary, r, [SCONCE_UNARY_EXP, r.tensors.turned.raw(), null_mut(), r.out(0)]),
    form!(Queued, sconce_tensor_binary, r, [SCONCE_BINARY_SUB, r.tensors.turned.raw(), null(), r.tensors.second.raw(), null(), &raw const THREE, r.own.raw(), r.out(0)]),
    form!(Queued, sconce_tensor_clamp, r, [r.tensors.turned.raw(), null_mut(), &raw const HALF, r.tensors.second.raw(), null(), r.out(0)]),
    form!(Queued, sconce_tensor_where, r, [r.tensors.condition.raw(), r.tensors.turned.raw(), null(), null_mut(), &raw const HALF, r.out(0)]),
    form!(Queued, sconce_tensor_reduce, r, [SCONCE_REDUCE_SUM, r.tensors.batch.raw(), TWO_DIMS.as_ptr(), 2, true.into(), SCONCE_DTYPE_F64, r.out(0)]),
    form!(Queued, sconce_tensor_along, r, [SCONCE_LINE_CUMSUM, r.tensors.batch.raw(), 1, SCONCE_DTYPE_F64, r.out(0)]),
    form!(Queued, sconce_tensor_cat, r, [r.pair.as_ptr(), 2, 1, r.out(0)]),
    form!(Queued, sconce_tensor_stack, r, [r.pair.as_ptr(), 2, 1, r.out(0)]),
    form!(Queued, sconce_tensor_index_select, r, [r.tensors.turned.raw(), 1, r.tensors.index.raw(), r.out(0)]),
    form!(Queued, sconce_tensor_sort, r, [r.tensors.turned.raw(), 0, true.into(), r.out(0), r.out(1)]),
    form!(Waits, sconce_tensor_nonzero, r, [r.tensors.turned.raw(), r.out(0)]),
    form!(Waits, sconce_tensor_equal, r, [r.own.raw(), r.tensors.matrix.raw(), &raw mut r.truth]),
    form!(Waits, sconce_tensor_allclose, r, [r.own.raw(), r.tensors.matrix.raw(), 0.5, 0.125, false.into(), &raw mut r.truth]),
    form!(Queued, sconce_tensor_matmul, r, [r.tensors.turned.raw(), r.tensors.second.raw(), r.out(0)]),
    form!(Queued, sconce_tensor_bmm, r, [r.tensors.batch.raw(), r.tensors.other_batch.raw(), r.out(0)]),
    form!(Queued, sconce_tensor_addmm, r, [r.tensors.second.raw(), r.tensors.turned.raw(), r.tensors.matrix.raw(), 0.5, 3.0, r.out(0)]),
    form!(Queued, sconce_tensor_convolution, r, [r.tensors.image.raw(), r.tensors.filter.raw(), null_mut(), STEPS[0].as_ptr(), STEPS[1].as_ptr(), STEPS[2].as_ptr(), 2, 1, r.out(0)]),
    form!(Queued, sconce_tensor_fft, r, [r.tensors.turned.raw(), SCONCE_FFT_R2C, SCONCE_FFT_FORWARD, SCONCE_FFT_NORM_BY_N, ONE_DIM.as_ptr(), 1, -1, r.out(0)]),
    form!(Queued, sconce_tensor_reduce_out, r, [SCONCE_REDUCE_SUM, r.tensors.batch.raw(), TWO_DIMS.as_ptr(), 2, true.into(), SCONCE_DTYPE_F32, r.target(0)]),
    form!(Queued, sconce_tensor_along_out, r, [SCONCE_LINE_CUMSUM, r.tensors.batch.raw(), 1, SCONCE_DTYPE_F32, r.target(0)]),
    form!(Queued, sconce_tensor_clamp_out, r, [r.tensors.turned.raw(), null_mut(), &raw const HALF, r.tensors.second.raw(), null(), r.target(0)]),
    form!(Queued, sconce_tensor_where_out, r, [r.tensors.condition.raw(), r.tensors.turned.raw(), null(), null_mut(), &raw const HALF, r.target(0)]),
    form!(Queued, sconce_tensor_cat_out, r, [r.pair.as_ptr(), 2, 1, r.target(0)]),
    form!(Queued, sconce_tensor_stack_out, r, [r.pair.as_ptr(), 2, 1, r.target(0)]),
    form!(Queued, sconce_tensor_index_select_out, r, [r.tensors.turned.raw(), 1, r.tensors.index.raw(), r.target(0)]),
    form!(Queued, sconce_tensor_sort_out, r, [r.tensors.turned.raw(), 0, true.into(), r.target(0), r.target(1)]),
    form!(Queued, sconce_tensor_matmul_out, r, [r.tensors.turned.raw(), r.tensors.second.raw(), r.target(0)]),
    form!(Queued, sconce_tensor_bmm_out, r, [r.tensors.batch.raw(), r.tensors.other_batch.raw(), r.target(0)]),
    form!(Queued, sconce_tensor_addmm_out, r, [r.tensors.second.raw(), r.tensors.turned.raw(), r.tensors.matrix.raw(), 0.5, 3.0, r.target(0)]),
    form!(Queued, sconce_tensor_fft_out, r, [r.tensors.turned.raw(), SCONCE_FFT_C2C, SCONCE_FFT_INVERSE, SCONCE_FFT_NORM_BY_N, ONE_DIM.as_ptr(), 1, -1, r.target(2)]),
    form!(Queued, sconce_tensor_resize, r, [r.own.raw(), LARGER.as_ptr(), 2]),
    form!(Queued, sconce_tensor_arange_out, r, [&raw const TWO, &raw const NINE, &raw const THREE, r.target(1)]),
    form!(Queued, sconce_tensor_linspace_out, r, [&raw const TWO, &raw const NINE, 5, r.target(0)]),
    form!(Queued, sconce_tensor_eye_out, r, [2, 3, r.target(0)]),
    form!(Queued, sconce_tensor_randperm_out, r, [30, null_mut(), r.target(1)]),
];
