//! Where results live, and which streams do the work: torch's rules.

use sconce::sconce_status::*;
use sconce::*;
use testkit::places::{alone, default_stream, own_stream, pending, run_until_idle};

use crate::api::{CPU, Handle, Outcome, integer, options, outcome, real, returned};
use crate::create::{self, from_f32};
use crate::operations::{self, Operand};
use crate::storage::figures::Figures;

fn current() -> i32 {
    sconce_runtime::device::current().unwrap().as_i32()
}

fn set_current(device: i32) {
    outcome(sconce_device_set_current(device)).unwrap();
}

type Make<'a> = Box<dyn Fn() -> Outcome<Handle> + 'a>;

/// Factories, with options that name a device or none.
fn factories<'a>(options: &'a sconce_tensor_options) -> Vec<Make<'a>> {
    let (zero, one, ten) = (integer(0), integer(1), integer(10));
    vec![
        Box::new(|| create::empty(&[2], options)),
        Box::new(|| create::full(&[2], real(0.0), options)),
        Box::new(|| create::full(&[2], real(2.0), options)),
        Box::new(|| create::empty_strided(&[2], &[3], options)),
        Box::new(|| create::from_bytes(&[0; 8], &[2], SCONCE_DTYPE_F32, options.device)),
        Box::new(move || create::arange([zero, ten, one], options)),
        Box::new(move || create::linspace([zero, one], 5, options)),
        Box::new(|| create::eye(2, 3, options)),
    ]
}

#[test]
fn factories_take_the_current_device_or_the_named_one() {
    let _one = alone();
    let start = Figures::now();
    for now in [0, 1] {
        set_current(now);
        for named in [-1, 0, 1, CPU] {
            let options = options(SCONCE_DTYPE_F32, named);
            for (place, make) in factories(&options).iter().enumerate() {
                let made = make();
                let expected = if named == -1 { now } else { named };
                assert_eq!(made.unwrap().device(), expected, "factory {place}, current {now}");
                assert_eq!(current(), now);
            }
        }
    }
    set_current(0);
    // SAFETY: options may be NULL; a writable place.
    let plain =
        returned(|out| unsafe { sconce_tensor_empty([2].as_ptr(), 1, std::ptr::null(), out) })
            .unwrap();
    assert_eq!((plain.device(), plain.dtype()), (0, SCONCE_DTYPE_F32));
    drop(plain);
    start.assert_unchanged();
}

/// What makes a tensor from one of a device.
fn derived(tensor: &Handle) -> Vec<Make<'_>> {
    let like = options(-1, -1);
    let own = Operand::Tensor(tensor);
    vec![
        Box::new(move || create::empty_like(tensor, &like)),
        Box::new(move || create::full_like(tensor, real(0.0), &like)),
        Box::new(|| tensor.clone_as(SCONCE_MEMORY_FORMAT_PRESERVE)),
        Box::new(|| tensor.transpose(0, 1)?.contiguous(SCONCE_MEMORY_FORMAT_CONTIGUOUS)),
        Box::new(|| tensor.transpose(0, 1)?.reshape(&[4])),
        Box::new(|| operations::unary(SCONCE_UNARY_NEG, tensor)),
        Box::new(move || operations::binary(SCONCE_BINARY_MUL, own, own)),
        Box::new(move || operations::clamp(tensor, Operand::Number(real(1.0)), Operand::Missing)),
        Box::new(|| operations::reduce(SCONCE_REDUCE_SUM, tensor, Some(0), false)),
        Box::new(|| operations::along(SCONCE_LINE_CUMSUM, tensor, 0)),
        Box::new(|| operations::cat(&[tensor, tensor], 0)),
        Box::new(|| Ok(operations::sort(tensor, 0, false)?.into_iter().next_back().unwrap())),
        Box::new(|| operations::matmul(tensor, tensor)),
    ]
}

/// Results are on the device of the operands, as work of that device's current stream, whatever device is
/// current.
#[test]
fn results_live_and_are_made_where_the_operands_are() {
    let _one = alone();
    let start = Figures::now();
    for (device, now) in [(0, 1), (1, 0), (0, 0)] {
        let tensor = from_f32(&[1.0, 2.0, 3.0, 4.0], &[2, 2], device);
        // What is loaded at the first use of an operation is not looked at.
        for make in derived(&tensor) {
            drop(make());
        }
        let streams = [0, 1].map(own_stream);
        set_current(now);
        sconce_runtime::device::synchronize(device).unwrap();
        assert_eq!(sconce_sim_set_manual(CBool::TRUE), SCONCE_OK);
        let mut made = Vec::new();
        for (place, make) in derived(&tensor).iter().enumerate() {
            let result = make().unwrap();
            assert_eq!((result.device(), current()), (device, now), "result {place}");
            let queued = pending(streams[device as usize]);
            assert_eq!(queued > 0, place != 0, "result {place}");
            for other in [streams[1 - device as usize], default_stream(0), default_stream(1)] {
                assert_eq!(pending(other), 0, "result {place}");
            }
            run_until_idle();
            made.push(result);
        }
        assert_eq!(sconce_sim_set_manual(CBool::FALSE), SCONCE_OK);
        for stream in [0, 1].map(default_stream) {
            assert_eq!(sconce_stream_set_current(stream), SCONCE_OK);
        }
    }
    set_current(0);
    outcome(sconce_blas_clear_workspaces()).unwrap();
    start.assert_unchanged();
}
