//! Tensors that take part in calls of a group, whatever order their elements have.
#![allow(unsafe_code, reason = "calls the C API")]

use std::ptr::null_mut;

use sconce::sconce_status::*;
use sconce::*;

use crate::support::*;

/// A tensor of device 0 with two dimensions, and a view of it with these in the other order.
fn tensors() -> [(&'static str, *mut sconce_tensor); 2] {
    let options = sconce_tensor_options {
        struct_size: size_of::<sconce_tensor_options>() as u32,
        dtype: SCONCE_DTYPE_F32,
        device: 0,
        memory_format: 0,
        pinned: CBool::FALSE,
        reserved: [0; 7],
    };
    let (mut dense, mut turned) = (null_mut(), null_mut());
    // SAFETY: two sizes, and places for the results.
    ok(unsafe { sconce_tensor_ones([2, 3].as_ptr(), 2, &options, &mut dense) });
    // SAFETY: a place for the result.
    ok(unsafe { sconce_tensor_transpose(dense, 0, 1, &mut turned) });
    [("contiguous", dense), ("transposed", turned)]
}

fn stage(comm: Comm, tensor: *mut sconce_tensor, stream: sconce_stream) -> Status {
    let (yes, no) = (CBool::TRUE, CBool::FALSE);
    let mut address = null_mut();
    // SAFETY: a place for the address.
    unsafe { sconce_comm_stage_tensor(comm.get(), tensor, yes, yes, stream, no, &mut address) }
}

#[test]
fn what_a_tensor_of_a_call_needs_does_not_depend_on_its_order() {
    devices(2);
    let comms = init_all(2, &unwatched());
    for (what, tensor) in tensors() {
        refused(stage(comms[0], tensor, stream(0)), SCONCE_ERROR_INVALID_STATE, "group");
        ok(sconce_comm_group_start());
        refused(stage(comms[0], tensor, stream(1)), SCONCE_ERROR_CROSS_DEVICE, "device");
        refused(stage(comms[1], tensor, stream(1)), SCONCE_ERROR_CROSS_DEVICE, "tensor is on");
        assert_eq!(stage(comms[0], tensor, stream(0)), SCONCE_OK, "{what}");
        ok(sconce_comm_group_cancel());
        ok(sconce_tensor_release(tensor));
    }
    destroy_all(&comms);
}
