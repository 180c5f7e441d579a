//! Tensors of other sizes in the same memory, or in more of it.

use sconce::*;
use testkit::places::{alone, default_stream, own_stream, run_until_idle, step_all};

use super::calls::{resize, undefined};
use crate::api::{CPU, Handle, integer, options, refusal};
use crate::create;
use crate::storage::figures::Figures;

/// The stream that copies is not the one that the memory was allocated for.
#[test]
fn memory_that_a_tensor_leaves_is_not_used_again_before_its_copy() {
    let _one = alone();
    let own = own_stream(0);
    let tensor = create::from_f32(&[1.0; 64], &[64], 0);
    assert_eq!(sconce_device_synchronize(0), sconce_status::SCONCE_OK);
    let left = tensor.data();
    let copies = own_stream(0);
    assert_eq!(sconce_sim_set_manual(true.into()), sconce_status::SCONCE_OK);
    resize(&tensor, &[128]).unwrap();
    assert_eq!(sconce_stream_set_current(own), sconce_status::SCONCE_OK);
    let next = create::empty(&[64], &options(SCONCE_DTYPE_F32, 0)).unwrap();
    next.fill(integer(9)).unwrap();
    step_all(own);
    step_all(copies);
    run_until_idle();
    assert_eq!(sconce_sim_set_manual(false.into()), sconce_status::SCONCE_OK);
    assert_ne!(next.data(), left);
    assert_eq!(tensor.narrow(0, 0, 64).unwrap().f32s(), [1.0; 64]);
    assert_eq!(sconce_stream_set_current(default_stream(0)), sconce_status::SCONCE_OK);
}

#[test]
fn elements_stay_where_they_are() {
    let _one = alone();
    let start = Figures::now();
    for device in [CPU, 0] {
        let tensor = create::from_f32(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], &[2, 3], device);
        let data = tensor.data();
        resize(&tensor, &[2, 2]).unwrap();
        assert_eq!(
            (tensor.sizes(), tensor.strides(), tensor.data()),
            (vec![2, 2], vec![2, 1], data)
        );
        assert_eq!(tensor.f32s(), [0.0, 1.0, 2.0, 3.0]);
        resize(&tensor, &[6]).unwrap();
        assert_eq!((tensor.f32s(), tensor.data()), (vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0], data));
        resize(&tensor, &[0]).unwrap();
        assert_eq!((tensor.numel(), tensor.storage().1), (0, 24));
        resize(&tensor, &[8]).unwrap();
        assert_eq!(tensor.f32s()[..6], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(tensor.storage().1, 32);
        // A view keeps what is behind its begin.
        let view = tensor.narrow(0, 4, 1).unwrap();
        resize(&view, &[2]).unwrap();
        assert!(view.shares_storage(&tensor));
        assert_eq!(view.f32s(), [4.0, 5.0]);
        resize(&view, &[3, 3]).unwrap();
        assert!(!view.shares_storage(&tensor));
        assert_eq!(view.f32s()[..2], [4.0, 5.0]);
    }
    start.assert_unchanged();
}

/// Nothing changes for a tensor that has the sizes, whatever its strides are.
#[test]
fn a_tensor_of_the_sizes_keeps_its_strides() {
    let _one = alone();
    let turned = create::from_f32(&[0.0, 1.0, 2.0, 3.0], &[2, 2], 0).transpose(0, 1).unwrap();
    resize(&turned, &[2, 2]).unwrap();
    assert_eq!((turned.strides(), turned.f32s()), (vec![1, 2], vec![0.0, 2.0, 1.0, 3.0]));
}

#[test]
fn pinned_memory_stays_pinned() {
    let _one = alone();
    let tensor: Handle = create::from_f32(&[1.0, 2.0], &[2], CPU).pin_memory().unwrap();
    resize(&tensor, &[3]).unwrap();
    assert!(tensor.is_pinned());
    assert_eq!(tensor.f32s()[..2], [1.0, 2.0]);
}

#[test]
fn sizes_that_are_none_are_refused() {
    let tensor = create::empty(&[2], &options(SCONCE_DTYPE_F32, CPU)).unwrap();
    assert!(refusal(resize(&tensor, &[-1])).contains("negative dimension"));
    assert!(refusal(resize(&tensor, &[i64::MAX, 2])).contains("overflowed"));
    assert!(refusal(resize(&undefined(), &[1])).contains("tensor is an undefined tensor"));
    assert_eq!(tensor.sizes(), [2]);
}
