//! Tensors of the CPU in a process that has no driver.

use sconce::*;
use testkit::in_child;

use crate::api::CPU;
use crate::create::from_i32;
use crate::operations::{self, Operand};

#[test]
fn tensors_of_the_cpu_need_no_driver() {
    let environment = [("SCONCE_BACKEND", "cuda"), ("SCONCE_LIBCUDA", "/nowhere/libcuda.so")];
    in_child("tensors_of_the_cpu_need_no_driver", &environment, || {
        let (first, second) = (from_i32(&[1, 2, 3], &[3], CPU), from_i32(&[4, 5, 6], &[3], CPU));
        let sum = operations::binary(
            SCONCE_BINARY_ADD,
            Operand::Tensor(&first),
            Operand::Tensor(&second),
        );
        assert_eq!(sum.unwrap().i32s(), [5, 7, 9]);
        assert!(!sconce_is_initialized());
    });
}
