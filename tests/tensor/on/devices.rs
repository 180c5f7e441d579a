//! Copies between devices: the stream is of the source's.

use sconce::sconce_status::*;
use sconce::*;
use testkit::places::{own_stream, pending, pooled, run_until_idle};
use testkit::{in_child, last_message};

use super::{SIM, current, manual};
use crate::api::{CPU, Handle, options, returned};
use crate::create::from_f32;
use crate::storage::figures::Figures;

const VALUES: [f32; 4] = [1.0, 2.5, -3.0, 4.0];

fn moved(
    stream: sconce_stream,
    tensor: &Handle,
    dtype: i32,
    device: i32,
) -> Result<Handle, sconce_status> {
    let asked = options(dtype, device);
    let (source, flag) = (tensor.raw(), CBool::TRUE);
    returned(|out| {
        // SAFETY: options and a writable place.
        unsafe { sconce_tensor_to_on(stream, source, &raw const asked, flag, flag, out) }
    })
    .map_err(|failure| failure.status)
}

#[test]
fn a_conversion_to_another_device_runs_on_a_stream_of_the_source() {
    in_child("a_conversion_to_another_device_runs_on_a_stream_of_the_source", SIM, || {
        own_stream(0);
        let named = [pooled(0), pooled(1)];
        for (from, to) in [(0, 1), (1, 0)] {
            for dtype in [SCONCE_DTYPE_F32, SCONCE_DTYPE_F64] {
                let start = Figures::now();
                let tensor = from_f32(&VALUES, &[2, 2], from).transpose(0, 1).unwrap();
                let before = current();
                manual(true);
                assert_eq!(
                    moved(named[to as usize], &tensor, dtype, to).err(),
                    Some(SCONCE_ERROR_CROSS_DEVICE),
                    "{}",
                    last_message()
                );
                assert_eq!(pending(named[to as usize]), 0);
                let result = moved(named[from as usize], &tensor, dtype, to).unwrap();
                assert!(pending(named[from as usize]) > 0);
                run_until_idle();
                manual(false);
                assert_eq!(current(), before);
                assert_eq!((result.device(), result.dtype()), (to, dtype));
                let host = result.to(&options(SCONCE_DTYPE_F32, CPU), false).unwrap();
                assert_eq!(host.f32s(), [1.0, -3.0, 2.5, 4.0]);
                drop((tensor, result, host));
                start.assert_unchanged();
            }
        }
    });
}

#[test]
fn a_copy_to_another_device_runs_on_a_stream_of_the_source() {
    in_child("a_copy_to_another_device_runs_on_a_stream_of_the_source", SIM, || {
        own_stream(0);
        let named = [pooled(0), pooled(1)];
        let [source, target] = [0, 1].map(|device| from_f32(&VALUES, &[4], device));
        // SAFETY: a number.
        let zeroed = unsafe { sconce_tensor_fill(target.raw(), &sconce_scalar::default()) };
        assert_eq!(zeroed, SCONCE_OK);
        assert_eq!(sconce_device_synchronize(1), SCONCE_OK);
        let copy = |stream| sconce_tensor_copy_on(stream, target.raw(), source.raw(), CBool::TRUE);
        manual(true);
        assert_eq!(copy(named[1]), SCONCE_ERROR_CROSS_DEVICE);
        assert_eq!(pending(named[1]), 0);
        assert_eq!(copy(named[0]), SCONCE_OK, "{}", last_message());
        assert!(pending(named[0]) > 0);
        run_until_idle();
        manual(false);
        assert_eq!(target.f32s(), VALUES);
    });
}

#[test]
fn tensors_of_the_host_use_a_stream_of_the_device() {
    in_child("tensors_of_the_host_use_a_stream_of_the_device", SIM, || {
        let named = [pooled(0), pooled(1)];
        let host = from_f32(&VALUES, &[4], CPU).pin_memory().unwrap();
        let there = from_f32(&VALUES, &[4], 1);
        manual(true);
        for (tensor, device) in [(&host, 1), (&there, CPU)] {
            let wrong = moved(named[0], tensor, SCONCE_DTYPE_F32, device).err();
            assert_eq!(wrong, Some(SCONCE_ERROR_CROSS_DEVICE), "{}", last_message());
            assert_eq!(pending(named[0]), 0);
            let result = moved(named[1], tensor, SCONCE_DTYPE_F32, device).unwrap();
            assert!(pending(named[1]) > 0);
            run_until_idle();
            manual(false);
            assert_eq!((result.device(), result.f32s()), (device, VALUES.to_vec()));
            manual(true);
        }
        manual(false);
    });
}
