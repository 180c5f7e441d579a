//! Copies, fills, random numbers, modules, products, convolutions, transforms.

use std::ffi::{CStr, c_void};
use std::ptr::{null, null_mut};

use sconce::*;
use testkit::libraries::{convolutions, fft, products};

use super::{Call, call};
use crate::world::*;

fn strided() -> *const sconce_strided_copy {
    leaked(sconce_strided_copy {
        struct_size: size_of::<sconce_strided_copy>() as u32,
        rank: 2,
        element_bytes: 4,
        sizes: [3, 5, 0, 0, 0, 0, 0, 0],
        dst_strides: [1, 3, 0, 0, 0, 0, 0, 0],
        src_strides: [5, 1, 0, 0, 0, 0, 0, 0],
    })
}

fn product() -> *const sconce_matmul_desc {
    leaked(products::plain(1, 8, 8, 8))
}

fn convolution() -> *const sconce_convolution_desc {
    leaked(convolutions::desc(SCONCE_CONVOLUTION_FORWARD, SCONCE_DTYPE_F32))
}

/// A transform of a size that no other call has used.
fn transform() -> *const sconce_fft_desc {
    use std::sync::atomic::{AtomicI64, Ordering};
    static SIZE: AtomicI64 = AtomicI64::new(8);
    let size = SIZE.fetch_add(1, Ordering::Relaxed);
    leaked(fft::desc(SCONCE_FFT_C2C, SCONCE_DTYPE_F32, &[size], 1))
}

fn read_only(block: *mut c_void) -> *const c_void {
    block.cast_const()
}

const CODE: &CStr = c"extern \"C\" __global__ void kernel() {}";

fn source() -> *mut sconce_kernel_source {
    // SAFETY: texts and a writable place.
    made(|out| unsafe { sconce_kernel_source_create(CODE.as_ptr(), null(), out) })
}

const N: usize = 100;
const F32: i32 = SCONCE_DTYPE_F32;

#[rustfmt::skip]
pub(super) const ALL: &[Call] = &[
    call!(sconce_copy, w, [block(), read_only(host(BYTES)), BYTES, CBool::FALSE]),
    call!(sconce_copy_on, w, [host(BYTES), read_only(block()), BYTES, CBool::FALSE, w.stream]),
    call!(sconce_copy_2d, w, [pinned(), 64, read_only(block()), 64, 32, 100, CBool::FALSE]),
    call!(sconce_copy_2d_on, w, [block(), 64, read_only(pinned()), 64, 32, 100, CBool::TRUE, w.stream]),
    call!(sconce_copy_strided, w, [strided(), host(BYTES), read_only(block()), CBool::FALSE]),
    call!(sconce_copy_strided_on, w, [strided(), block(), read_only(pinned()), CBool::TRUE, w.stream]),
    call!(sconce_memory_set, w, [block(), 1, BYTES]),
    call!(sconce_memory_set_on, w, [block(), 1, BYTES, w.stream]),
    call!(sconce_memory_set_2d, w, [block(), 64, 1, 32, 100]),
    call!(sconce_memory_set_2d_on, w, [block(), 64, 1, 32, 100, w.stream]),
    call!(sconce_module_load, w, [MODULE.as_ptr().cast(), MODULE.count_bytes(), out()]),
    call!(sconce_module_load_file, w, [module_file(), out()]),
    call!(sconce_module_unload, w, [module()]),
    call!(sconce_kernel_get, w, [module(), c"nothing".as_ptr(), out()]),
    call!(sconce_kernel_source_create, w, [CODE.as_ptr(), null(), out()]),
    call!(sconce_kernel_source_destroy, w, [source()]),
    call!(sconce_kernel_source_add_header, w, [source(), c"header.h".as_ptr(), c"".as_ptr()]),
    call!(sconce_kernel_source_add_option, w, [source(), c"-DX".as_ptr()]),
    call!(sconce_kernel_source_add_kernel, w, [source(), c"kernel".as_ptr()]),
    call!(sconce_kernel_source_compile, w, [source(), 0, CBool::FALSE, out()]),
    call!(sconce_kernel_source_get_log, w, [source(), out()]),
    call!(sconce_kernel_get_attributes, w, [kernel(), 0, sized()]),
    call!(sconce_kernel_allow_shared, w, [kernel(), 0, 1024]),
    call!(sconce_kernel_get_occupancy, w, [kernel(), 0, 64, 0, out()]),
    call!(sconce_kernel_get_best_block, w, [kernel(), 0, 0, 0, out(), out()]),
    call!(sconce_kernel_launch, w, [kernel(), launch(), null(), null(), 0]),
    call!(sconce_kernel_launch_on, w, [kernel(), launch(), null(), null(), 0, w.stream]),
    call!(sconce_generator_get_default, w, [0, out()]),
    call!(sconce_generator_create, w, [0, out()]),
    call!(sconce_generator_clone, w, [used_generator(), out()]),
    call!(sconce_generator_destroy, w, [used_generator()]),
    call!(sconce_generator_get_device, w, [used_generator(), out()]),
    call!(sconce_generator_set_seed, w, [used_generator(), 5]),
    call!(sconce_generator_seed, w, [used_generator(), out()]),
    call!(sconce_generator_get_initial_seed, w, [used_generator(), out()]),
    call!(sconce_generator_get_offset, w, [used_generator(), out()]),
    call!(sconce_generator_set_offset, w, [used_generator(), 8]),
    call!(sconce_generator_get_state, w, [used_generator(), array(vec![0_u8; 16])]),
    call!(sconce_generator_get_cpu_state, w, [cpu_generator(), array(vec![0_u8; 5056])]),
    call!(sconce_generator_set_state, w, [used_generator(), array(vec![0_u8; 16]).cast_const(), 16]),
    call!(sconce_generator_reserve_philox, w, [used_generator(), 4, out(), out()]),
    call!(sconce_generator_reserve_philox_state, w, [used_generator(), 4, out()]),
    call!(sconce_generator_reserve_philox_state_on, w, [used_generator(), 4, w.other, out()]),
    call!(sconce_generator_prepare_capture, w, [generator()]),
    call!(sconce_random_manual_seed, w, [5]),
    call!(sconce_random_manual_seed_all, w, [5]),
    call!(sconce_random_manual_seed_everywhere, w, [5]),
    call!(sconce_random_seed, w, [out()]),
    call!(sconce_random_seed_all, w, [out()]),
    call!(sconce_random_get_initial_seed, w, [out()]),
    call!(sconce_random_uniform, w, [block(), N, F32, 0.0, 1.0, used_generator()]),
    call!(sconce_random_normal, w, [block(), N, F32, 0.0, 1.0, used_generator()]),
    call!(sconce_random_log_normal, w, [block(), N, F32, 0.0, 1.0, null_mut()]),
    call!(sconce_random_exponential, w, [block(), N, F32, 1.0, null_mut()]),
    call!(sconce_random_cauchy, w, [block(), N, F32, 0.0, 1.0, null_mut()]),
    call!(sconce_random_geometric, w, [block(), N, F32, 0.5, null_mut()]),
    call!(sconce_random_bernoulli, w, [block(), N, F32, 0.5, null_mut()]),
    call!(sconce_random_integers, w, [block(), N, F32, 0, 10, null_mut()]),
    call!(sconce_random_full_range, w, [block(), N, F32, null_mut()]),
    call!(sconce_random_uniform_on, w, [block(), N, F32, 0.0, 1.0, used_generator(), w.other]),
    call!(sconce_random_normal_on, w, [block(), N, F32, 0.0, 1.0, null_mut(), w.other]),
    call!(sconce_random_log_normal_on, w, [block(), N, F32, 0.0, 1.0, null_mut(), w.other]),
    call!(sconce_random_exponential_on, w, [block(), N, F32, 1.0, null_mut(), w.other]),
    call!(sconce_random_cauchy_on, w, [block(), N, F32, 0.0, 1.0, null_mut(), w.other]),
    call!(sconce_random_geometric_on, w, [block(), N, F32, 0.5, null_mut(), w.other]),
    call!(sconce_random_bernoulli_on, w, [block(), N, F32, 0.5, null_mut(), w.other]),
    call!(sconce_random_integers_on, w, [block(), N, F32, 0, 10, null_mut(), w.other]),
    call!(sconce_random_full_range_on, w, [block(), N, F32, null_mut(), w.other]),
    call!(sconce_blas_get_handle, w, [out()]),
    call!(sconce_blas_clear_workspaces, w, []),
    call!(sconce_blas_get_workspace_stats, w, [0, sized()]),
    call!(sconce_blas_set_workspace_max_bytes, w, [0, 1 << 20]),
    call!(sconce_matmul, w, [product(), read_only(block()), read_only(block()), block()]),
    call!(sconce_matmul_on, w, [product(), read_only(block()), read_only(block()), block(), w.other]),
    call!(sconce_dnn_get_handle, w, [out()]),
    call!(sconce_dnn_get_version, w, [out()]),
    call!(sconce_convolution_get_output_sizes, w, [convolution(), array(vec![0_i64; 3])]),
    call!(sconce_convolution, w, [convolution(), read_only(block()), read_only(block()), block()]),
    call!(sconce_convolution_on, w, [convolution(), read_only(block()), read_only(block()), block(), w.other]),
    call!(sconce_convolution_clear_plans, w, []),
    call!(sconce_fft, w, [transform(), read_only(block()), block()]),
    call!(sconce_fft_on, w, [transform(), read_only(block()), block(), w.other]),
    call!(sconce_fft_cache_get_size, w, [0, out()]),
    call!(sconce_fft_cache_get_max_size, w, [0, out()]),
    call!(sconce_fft_cache_set_max_size, w, { transformed(); } [0, 1]),
    call!(sconce_fft_cache_get_max_bytes, w, [0, out()]),
    call!(sconce_fft_cache_set_max_bytes, w, { transformed(); } [0, 1 << 10]),
    call!(sconce_fft_cache_clear, w, { transformed(); } [0]),
    call!(sconce_fft_cache_get_stats, w, [0, sized()]),
    call!(sconce_fft_cache_reset_stats, w, [0]),
];

/// Leaves plans in the cache of transforms.
fn transformed() {
    let (input, output) = (block(), block());
    for _ in 0..2 {
        // SAFETY: a complete struct.
        testkit::statuses::ok(unsafe { sconce_fft(transform(), input, output) });
    }
}
