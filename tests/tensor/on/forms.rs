//! A call of each function of tensors that takes a stream, and the same call of the function without one.

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

/// A function with a stream, and a call of it; without a stream, of the plain function.
pub(super) struct Form {
    pub(super) name: &'static str,
    pub(super) shows: Use,
    pub(super) call: fn(&mut Room, Option<sconce_stream>) -> sconce_status,
}

impl Form {
    /// Whether the call sets all elements of its results.
    pub(super) fn sets_elements(&self) -> bool {
        !self.name.contains("_empty") && self.name != "sconce_tensor_resize_on"
    }
}

macro_rules! form {
    ($shows:ident, $plain:ident, $on:ident, $r:ident, [$($argument:expr),* $(,)?]) => {
        Form {
            name: stringify!($on),
            shows: $shows,
            #[allow(unused_unsafe, reason = "some of the functions are safe")]
            call: |$r, stream| match stream {
                // SAFETY: places and arrays of the room, and of this file.
                None => unsafe { $plain($($argument),*) },
                // SAFETY: places and arrays of the room, and of this file; the stream is one of its device.
                Some(stream) => unsafe { $on(stream, $($argument),*) },
            },
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

/// Every function of tensors that takes a stream, but those of DLPack.
#[rustfmt::skip]
pub(super) const ALL: &[Form] = &[
    form!(Memory, sconce_tensor_empty, sconce_tensor_empty_on, r, [SIZES.as_ptr(), 2, &raw const r.asked, r.out(0)]),
    form!(Memory, sconce_tensor_empty_strided, sconce_tensor_empty_strided_on, r, [SIZES.as_ptr(), STRIDES.as_ptr(), 2, &raw const r.asked, r.out(0)]),
    form!(Memory, sconce_tensor_empty_like, sconce_tensor_empty_like_on, r, [r.tensors.turned.raw(), null(), r.out(0)]),
    form!(Queued, sconce_tensor_full, sconce_tensor_full_on, r, [SIZES.as_ptr(), 2, &raw const HALF, &raw const r.asked, r.out(0)]),
    form!(Queued, sconce_tensor_zeros, sconce_tensor_zeros_on, r, [SIZES.as_ptr(), 2, &raw const r.asked, r.out(0)]),
    form!(Queued, sconce_tensor_ones, sconce_tensor_ones_on, r, [SIZES.as_ptr(), 2, &raw const r.asked, r.out(0)]),
    form!(Queued, sconce_tensor_full_like, sconce_tensor_full_like_on, r, [r.tensors.turned.raw(), &raw const HALF, null(), r.out(0)]),
    form!(Queued, sconce_tensor_arange, sconce_tensor_arange_on, r, [&raw const TWO, &raw const NINE, &raw const THREE, &raw const r.asked, r.out(0)]),
    form!(Queued, sconce_tensor_linspace, sconce_tensor_linspace_on, r, [&raw const TWO, &raw const NINE, 5, &raw const r.asked, r.out(0)]),
    form!(Queued, sconce_tensor_eye, sconce_tensor_eye_on, r, [2, 3, &raw const r.asked, r.out(0)]),
    form!(Queued, sconce_tensor_fill, sconce_tensor_fill_on, r, [r.own.raw(), &raw const HALF]),
    form!(Queued, sconce_tensor_uniform, sconce_tensor_uniform_on, r, [r.own.raw(), 1.0, 3.0, null_mut()]),
    form!(Queued, sconce_tensor_normal, sconce_tensor_normal_on, r, [r.own.raw(), 1.0, 3.0, null_mut()]),
    form!(Queued, sconce_tensor_log_normal, sconce_tensor_log_normal_on, r, [r.own.raw(), 0.5, 0.25, null_mut()]),
    form!(Queued, sconce_tensor_exponential, sconce_tensor_exponential_on, r, [r.own.raw(), 3.0, null_mut()]),
    form!(Queued, sconce_tensor_cauchy, sconce_tensor_cauchy_on, r, [r.own.raw(), 1.0, 3.0, null_mut()]),
    form!(Queued, sconce_tensor_geometric, sconce_tensor_geometric_on, r, [r.own.raw(), 0.25, null_mut()]),
    form!(Queued, sconce_tensor_bernoulli, sconce_tensor_bernoulli_on, r, [r.own.raw(), 0.25, null_mut()]),
    form!(Queued, sconce_tensor_random_integers, sconce_tensor_random_integers_on, r, [r.own.raw(), 3, 90, null_mut()]),
    form!(Queued, sconce_tensor_random, sconce_tensor_random_on, r, [r.own.raw(), null_mut()]),
    form!(Queued, sconce_tensor_randperm, sconce_tensor_randperm_on, r, [30, null_mut(), &raw const r.asked, r.out(0)]),
    form!(Memory, sconce_tensor_from_values, sconce_tensor_from_values_on, r, [FLOATS.as_ptr().cast(), 16, SIZES_OF_FLOATS.as_ptr(), 2, &raw const r.asked, r.out(0)]),
    form!(Queued, sconce_tensor_copy, sconce_tensor_copy_on, r, [r.own.raw(), r.tensors.turned.raw(), true.into()]),
    form!(Queued, sconce_tensor_to, sconce_tensor_to_on, r, [r.tensors.turned.raw(), &raw const r.as_f16, true.into(), false.into(), r.out(0)]),
    form!(Queued, sconce_tensor_clone, sconce_tensor_clone_on, r, [r.tensors.turned.raw(), SCONCE_MEMORY_FORMAT_CONTIGUOUS, r.out(0)]),
    form!(Queued, sconce_tensor_contiguous, sconce_tensor_contiguous_on, r, [r.tensors.turned.raw(), SCONCE_MEMORY_FORMAT_CONTIGUOUS, r.out(0)]),
    form!(Queued, sconce_tensor_reshape, sconce_tensor_reshape_on, r, [r.tensors.turned.raw(), EIGHTS.as_ptr(), 2, r.out(0)]),
    form!(Queued, sconce_tensor_flatten, sconce_tensor_flatten_on, r, [r.tensors.turned.raw(), 0, 1, r.out(0)]),
    form!(Waits, sconce_tensor_to_values, sconce_tensor_to_values_on, r, [r.own.raw(), r.values(), 64]),
    form!(Waits, sconce_tensor_item, sconce_tensor_item_on, r, [r.single.raw(), &raw mut r.scalar]),
    form!(Waits, sconce_tensor_to_string, sconce_tensor_to_string_on, r, [r.own.raw(), &raw mut r.text]),
    form!(Queued, sconce_tensor_unary, sconce_tensor_unary_on, r, [SCONCE_UNARY_EXP, r.tensors.turned.raw(), null_mut(), r.out(0)]),
    form!(Queued, sconce_tensor_binary, sconce_tensor_binary_on, r, [SCONCE_BINARY_SUB, r.tensors.turned.raw(), null(), r.tensors.second.raw(), null(), &raw const THREE, r.own.raw(), r.out(0)]),
    form!(Queued, sconce_tensor_clamp, sconce_tensor_clamp_on, r, [r.tensors.turned.raw(), null_mut(), &raw const HALF, r.tensors.second.raw(), null(), r.out(0)]),
    form!(Queued, sconce_tensor_where, sconce_tensor_where_on, r, [r.tensors.condition.raw(), r.tensors.turned.raw(), null(), null_mut(), &raw const HALF, r.out(0)]),
    form!(Queued, sconce_tensor_reduce, sconce_tensor_reduce_on, r, [SCONCE_REDUCE_SUM, r.tensors.batch.raw(), TWO_DIMS.as_ptr(), 2, true.into(), SCONCE_DTYPE_F64, r.out(0)]),
    form!(Queued, sconce_tensor_along, sconce_tensor_along_on, r, [SCONCE_LINE_CUMSUM, r.tensors.batch.raw(), 1, SCONCE_DTYPE_F64, r.out(0)]),
    form!(Queued, sconce_tensor_cat, sconce_tensor_cat_on, r, [r.pair.as_ptr(), 2, 1, r.out(0)]),
    form!(Queued, sconce_tensor_stack, sconce_tensor_stack_on, r, [r.pair.as_ptr(), 2, 1, r.out(0)]),
    form!(Queued, sconce_tensor_index_select, sconce_tensor_index_select_on, r, [r.tensors.turned.raw(), 1, r.tensors.index.raw(), r.out(0)]),
    form!(Queued, sconce_tensor_sort, sconce_tensor_sort_on, r, [r.tensors.turned.raw(), 0, true.into(), r.out(0), r.out(1)]),
    form!(Waits, sconce_tensor_nonzero, sconce_tensor_nonzero_on, r, [r.tensors.turned.raw(), r.out(0)]),
    form!(Waits, sconce_tensor_equal, sconce_tensor_equal_on, r, [r.own.raw(), r.tensors.matrix.raw(), &raw mut r.truth]),
    form!(Waits, sconce_tensor_allclose, sconce_tensor_allclose_on, r, [r.own.raw(), r.tensors.matrix.raw(), 0.5, 0.125, false.into(), &raw mut r.truth]),
    form!(Queued, sconce_tensor_matmul, sconce_tensor_matmul_on, r, [r.tensors.turned.raw(), r.tensors.second.raw(), r.out(0)]),
    form!(Queued, sconce_tensor_bmm, sconce_tensor_bmm_on, r, [r.tensors.batch.raw(), r.tensors.other_batch.raw(), r.out(0)]),
    form!(Queued, sconce_tensor_addmm, sconce_tensor_addmm_on, r, [r.tensors.second.raw(), r.tensors.turned.raw(), r.tensors.matrix.raw(), 0.5, 3.0, r.out(0)]),
    form!(Queued, sconce_tensor_convolution, sconce_tensor_convolution_on, r, [r.tensors.image.raw(), r.tensors.filter.raw(), null_mut(), STEPS[0].as_ptr(), STEPS[1].as_ptr(), STEPS[2].as_ptr(), 2, 1, r.out(0)]),
    form!(Queued, sconce_tensor_fft, sconce_tensor_fft_on, r, [r.tensors.turned.raw(), SCONCE_FFT_R2C, SCONCE_FFT_FORWARD, SCONCE_FFT_NORM_BY_N, ONE_DIM.as_ptr(), 1, -1, r.out(0)]),
    form!(Queued, sconce_tensor_reduce_out, sconce_tensor_reduce_out_on, r, [SCONCE_REDUCE_SUM, r.tensors.batch.raw(), TWO_DIMS.as_ptr(), 2, true.into(), SCONCE_DTYPE_F32, r.target(0)]),
    form!(Queued, sconce_tensor_along_out, sconce_tensor_along_out_on, r, [SCONCE_LINE_CUMSUM, r.tensors.batch.raw(), 1, SCONCE_DTYPE_F32, r.target(0)]),
    form!(Queued, sconce_tensor_clamp_out, sconce_tensor_clamp_out_on, r, [r.tensors.turned.raw(), null_mut(), &raw const HALF, r.tensors.second.raw(), null(), r.target(0)]),
    form!(Queued, sconce_tensor_where_out, sconce_tensor_where_out_on, r, [r.tensors.condition.raw(), r.tensors.turned.raw(), null(), null_mut(), &raw const HALF, r.target(0)]),
    form!(Queued, sconce_tensor_cat_out, sconce_tensor_cat_out_on, r, [r.pair.as_ptr(), 2, 1, r.target(0)]),
    form!(Queued, sconce_tensor_stack_out, sconce_tensor_stack_out_on, r, [r.pair.as_ptr(), 2, 1, r.target(0)]),
    form!(Queued, sconce_tensor_index_select_out, sconce_tensor_index_select_out_on, r, [r.tensors.turned.raw(), 1, r.tensors.index.raw(), r.target(0)]),
    form!(Queued, sconce_tensor_sort_out, sconce_tensor_sort_out_on, r, [r.tensors.turned.raw(), 0, true.into(), r.target(0), r.target(1)]),
    form!(Queued, sconce_tensor_matmul_out, sconce_tensor_matmul_out_on, r, [r.tensors.turned.raw(), r.tensors.second.raw(), r.target(0)]),
    form!(Queued, sconce_tensor_bmm_out, sconce_tensor_bmm_out_on, r, [r.tensors.batch.raw(), r.tensors.other_batch.raw(), r.target(0)]),
    form!(Queued, sconce_tensor_addmm_out, sconce_tensor_addmm_out_on, r, [r.tensors.second.raw(), r.tensors.turned.raw(), r.tensors.matrix.raw(), 0.5, 3.0, r.target(0)]),
    form!(Queued, sconce_tensor_fft_out, sconce_tensor_fft_out_on, r, [r.tensors.turned.raw(), SCONCE_FFT_C2C, SCONCE_FFT_INVERSE, SCONCE_FFT_NORM_BY_N, ONE_DIM.as_ptr(), 1, -1, r.target(2)]),
    form!(Queued, sconce_tensor_resize, sconce_tensor_resize_on, r, [r.own.raw(), LARGER.as_ptr(), 2]),
    form!(Queued, sconce_tensor_arange_out, sconce_tensor_arange_out_on, r, [&raw const TWO, &raw const NINE, &raw const THREE, r.target(1)]),
    form!(Queued, sconce_tensor_linspace_out, sconce_tensor_linspace_out_on, r, [&raw const TWO, &raw const NINE, 5, r.target(0)]),
    form!(Queued, sconce_tensor_eye_out, sconce_tensor_eye_out_on, r, [2, 3, r.target(0)]),
    form!(Queued, sconce_tensor_randperm_out, sconce_tensor_randperm_out_on, r, [30, null_mut(), r.target(1)]),
];
