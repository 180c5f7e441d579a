//! Communicators, tensors on several devices, stores, tensors of other libraries.

use std::ptr::{null, null_mut};

use sconce::*;

use super::{Call, call};
use crate::world::*;

const N: usize = 64;
const F32: i32 = SCONCE_DTYPE_F32;
const SUM: i32 = 0;

fn keys() -> *const *const std::ffi::c_char {
    array(vec![c"key".as_ptr()]).cast_const()
}

fn both() -> *const i32 {
    array(vec![0, 1]).cast_const()
}

/// Begins a group of collective calls.
fn group() {
    testkit::statuses::ok(sconce_comm_group_start());
}

#[rustfmt::skip]
pub(super) const ALL: &[Call] = &[
    call!(sconce_comm_get_version, w, [out()]),
    call!(sconce_comm_get_unique_id, w, [out()]),
    call!(sconce_comm_init_rank, w, [unique_id(), 1, 0, 0, comm_config(), out()]),
    call!(sconce_comm_init_store, w, [store(), c"job".as_ptr(), 1, 0, 0, comm_config(), out()]),
    call!(sconce_comm_init_all, w, [both(), 2, comm_config(), places()]),
    call!(sconce_comm_split, w, [comm(), 0, 0, comm_config(), out()]),
    call!(sconce_comm_finalize, w, [comm()]),
    call!(sconce_comm_abort, w, [comm()]),
    call!(sconce_comm_destroy, w, [comm()]),
    call!(sconce_comm_get_rank, w, [comm(), out()]),
    call!(sconce_comm_get_size, w, [comm(), out()]),
    call!(sconce_comm_get_device, w, [comm(), out()]),
    call!(sconce_comm_get_native, w, [comm(), out()]),
    call!(sconce_comm_get_async_error, w, [comm()]),
    call!(sconce_comm_all_reduce, w, [comm(), block().cast_const(), block(), N, F32, SUM, 1.0, w.stream, out()]),
    call!(sconce_comm_reduce, w, [comm(), block().cast_const(), block(), N, F32, SUM, 1.0, 0, w.stream, out()]),
    call!(sconce_comm_reduce_scatter, w, [comm(), block().cast_const(), block(), N, F32, SUM, 1.0, w.stream, out()]),
    call!(sconce_comm_barrier, w, [comm(), w.stream, out()]),
    call!(sconce_comm_broadcast, w, [comm(), block().cast_const(), block(), N, F32, 0, w.stream, out()]),
    call!(sconce_comm_all_gather, w, [comm(), block().cast_const(), block(), N, F32, w.stream, out()]),
    call!(sconce_comm_all_to_all, w, [comm(), block().cast_const(), block(), N, F32, w.stream, out()]),
    call!(sconce_comm_all_to_all_v, w, { let (counts, offsets) = (array(vec![N]).cast_const(), array(vec![0_usize]).cast_const()); } [comm(), block().cast_const(), counts, offsets, block(), counts, offsets, F32, w.stream, out()]),
    call!(sconce_comm_gather, w, [comm(), block().cast_const(), block(), N, F32, 0, w.stream, out()]),
    call!(sconce_comm_scatter, w, [comm(), block().cast_const(), block(), N, F32, 0, w.stream, out()]),
    call!(sconce_comm_send, w, { let comm = comm(); group(); } [comm, block().cast_const(), N, F32, 0, w.stream, out()]),
    call!(sconce_comm_recv, w, { let comm = comm(); group(); } [comm, block(), N, F32, 0, w.stream, out()]),
    call!(sconce_comm_group_start, w, []),
    call!(sconce_comm_group_end, w, { group(); } []),
    call!(sconce_comm_group_cancel, w, { group(); } []),
    call!(sconce_comm_work_wait, w, [comm_work(), w.other]),
    call!(sconce_comm_work_query, w, [comm_work(), out()]),
    call!(sconce_comm_work_synchronize, w, [comm_work(), 10_000]),
    call!(sconce_comm_work_keep, w, [comm_work(), tensor_on(0)]),
    call!(sconce_comm_work_get_sequence, w, [comm_work(), out()]),
    call!(sconce_comm_work_destroy, w, [comm_work()]),
    call!(sconce_comm_stage_tensor, w, { let comm = comm(); group(); } [comm, tensor_on(0), CBool::TRUE, CBool::TRUE, w.stream, CBool::FALSE, out()]),
    call!(sconce_comm_tensors_broadcast, w, [large_on(0), both(), 2, places()]),
    call!(sconce_comm_tensors_broadcast_out, w, [large_on(0), tensors(&[0, 1]), 2]),
    call!(sconce_comm_tensors_broadcast_coalesced, w, [tensors(&[0, 0]), 2, both(), 2, 1 << 20, places()]),
    call!(sconce_comm_tensors_scatter, w, [large_on(0), both(), 2, null(), 0, null(), places(), out()]),
    call!(sconce_comm_tensors_scatter_out, w, [large_on(0), halves(), 2, 0]),
    call!(sconce_comm_tensors_reduce_add, w, [tensors(&[0, 1]), 2, 0, out()]),
    call!(sconce_comm_tensors_reduce_add_coalesced, w, [tensors(&[0, 1]), 2, 1, 0, 1 << 20, places()]),
    call!(sconce_comm_tensors_gather, w, [tensors(&[0, 1]), 2, 0, 0, out()]),
    call!(sconce_comm_tensors_gather_out, w, [tensors(&[0, 1]), 2, 0, whole()]),
    call!(sconce_store_create_file, w, [path("store"), 1, 1000, out()]),
    call!(sconce_store_create_tcp_client, w, { let port = port(store()); } [c"127.0.0.1".as_ptr(), port, 10_000, out()]),
    call!(sconce_store_create_tcp_server, w, [c"127.0.0.1".as_ptr(), 0, 1000, out()]),
    call!(sconce_store_create_prefixed, w, [store(), c"prefix".as_ptr(), out()]),
    call!(sconce_store_create_from_environment, w, [1000, out(), out(), out(), out()]),
    call!(sconce_store_destroy, w, [store()]),
    call!(sconce_store_get_port, w, [store(), out()]),
    call!(sconce_store_get_timeout_ms, w, [store(), out()]),
    call!(sconce_store_set_timeout_ms, w, [store(), 1000]),
    call!(sconce_store_set, w, [store(), c"key".as_ptr(), c"value".as_ptr().cast(), 5]),
    call!(sconce_store_get, w, [store_with_key(), c"key".as_ptr(), 1000, host(10), 10, out()]),
    call!(sconce_store_add, w, [store(), c"count".as_ptr(), 1, out()]),
    call!(sconce_store_compare_set, w, [store(), c"key".as_ptr(), c"".as_ptr().cast(), 0, c"value".as_ptr().cast(), 5, host(10), 10, out()]),
    call!(sconce_store_check, w, [store_with_key(), keys(), 1, out()]),
    call!(sconce_store_wait, w, [store_with_key(), keys(), 1, 1000]),
    call!(sconce_store_delete_key, w, [store_with_key(), c"key".as_ptr(), out()]),
    call!(sconce_store_get_num_keys, w, [store(), out()]),
    call!(sconce_store_barrier, w, [store(), c"barrier".as_ptr(), 1, 1000]),
    call!(sconce_dlpack_allocator, w, { let prototype = dlpack_prototype(); } [std::ptr::from_mut(Box::leak(Box::new(prototype))).cast(), out(), null_mut(), NO_ERROR]),
    call!(sconce_dlpack_current_stream, w, [2, 0, out()]),
    call!(sconce_dlpack_exchange_api, w, []),
    call!(sconce_dlpack_get_type, w, [0, out(), out(), out()]),
    call!(sconce_dlpack_get_dtype, w, [2, 32, 1, out()]),
];

/// Room for two tensors.
fn whole() -> *mut sconce_tensor {
    // SAFETY: sizes, options and a writable place.
    made(|out| unsafe { sconce_tensor_ones(array(vec![8_i64, 1 << 17]), 2, options(0), out) })
}

/// Halves of a tensor along its first dimension, on two devices.
fn halves() -> *const *mut sconce_tensor {
    let half = |device| {
        // SAFETY: sizes, options and a writable place.
        made(|out| unsafe {
            sconce_tensor_ones(array(vec![2_i64, 1 << 17]), 2, options(device), out)
        })
    };
    array(vec![half(0), half(1)]).cast_const()
}

/// What a DLPack consumer asks for: two by two numbers of device 0.
fn dlpack_prototype() -> [u64; 6] {
    let shape = array(vec![2_i64, 2]).addr() as u64;
    // data, device {type, id}, {rank, type}, shape, strides, byte_offset
    [0, 2, 2 | (0x0001_2002 << 32), shape, 0, 0]
}
