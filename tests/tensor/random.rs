//! Random fills of tensors: the bits of the same fills of memory, in the order in which elements lie there.

use std::ffi::c_void;
use std::ptr::null_mut;

use sconce::sconce_status::*;
use sconce::*;
use testkit::places::{alone, default_stream, own_stream, pending, run_until_idle};
use testkit::simulated::{generator, state};

use crate::api::{CPU, Handle, bytes_of, options, outcome, refusal, written};
use crate::cpu_random::{cpu_generator, cpu_state};
use crate::create::{empty, empty_strided, from_f32};
use crate::storage::figures::Figures;

type Generator = *mut sconce_generator;
type OfTensor = fn(*mut sconce_tensor, Generator) -> sconce_status;
type OfMemory = fn(*mut c_void, usize, i32, Generator) -> sconce_status;

/// Every fill: its name, of a tensor and of memory.
#[rustfmt::skip]
const FILLS: [(&str, OfTensor, OfMemory); 9] = [
    ("uniform", |t, g| sconce_tensor_uniform(t, -1.0, 3.0, g), |p, n, d, g| sconce_random_uniform(p, n, d, -1.0, 3.0, g)),
    ("normal", |t, g| sconce_tensor_normal(t, 1.0, 2.0, g), |p, n, d, g| sconce_random_normal(p, n, d, 1.0, 2.0, g)),
    ("log_normal", |t, g| sconce_tensor_log_normal(t, 0.5, 0.25, g), |p, n, d, g| sconce_random_log_normal(p, n, d, 0.5, 0.25, g)),
    ("exponential", |t, g| sconce_tensor_exponential(t, 1.5, g), |p, n, d, g| sconce_random_exponential(p, n, d, 1.5, g)),
    ("cauchy", |t, g| sconce_tensor_cauchy(t, 0.0, 2.0, g), |p, n, d, g| sconce_random_cauchy(p, n, d, 0.0, 2.0, g)),
    ("geometric", |t, g| sconce_tensor_geometric(t, 0.25, g), |p, n, d, g| sconce_random_geometric(p, n, d, 0.25, g)),
    ("bernoulli", |t, g| sconce_tensor_bernoulli(t, 0.25, g), |p, n, d, g| sconce_random_bernoulli(p, n, d, 0.25, g)),
    ("integers", |t, g| sconce_tensor_random_integers(t, 0, 100, g), |p, n, d, g| sconce_random_integers(p, n, d, 0, 100, g)),
    ("full range", |t, g| sconce_tensor_random(t, g), |p, n, d, g| sconce_random_full_range(p, n, d, g)),
];

/// What a fill writes to `n` elements of memory, and the generator's state after it.
fn reference(fill: OfMemory, n: usize, dtype: i32) -> Result<(Vec<u8>, [u8; 16]), sconce_status> {
    let generator = generator(77);
    let memory = empty(&[n as i64], &options(dtype, 0)).unwrap();
    let address = std::ptr::with_exposed_provenance_mut(memory.data());
    let status = fill(address, n, dtype, generator);
    let state = state(generator);
    assert_eq!(sconce_generator_destroy(generator), SCONCE_OK);
    if status == SCONCE_OK { Ok((memory.bytes().unwrap(), state)) } else { Err(status) }
}

/// The elements in the order in which they lie in memory.
fn in_memory_order(tensor: &Handle) -> Vec<u8> {
    let strides = tensor.strides();
    let mut order: Vec<i64> = (0..strides.len() as i64).collect();
    order.sort_by_key(|dim| std::cmp::Reverse(strides[*dim as usize]));
    tensor.permute(&order).unwrap().bytes().unwrap()
}

/// Tensors of 3 x 4 x 5 elements: contiguous, permuted, with gaps, and permuted with gaps.
fn tensors(dtype: i32) -> Vec<(Handle, Handle)> {
    let layouts: [(&[i64], &[i64], i64); 5] = [
        (&[3, 4, 5], &[20, 5, 1], 0),
        (&[3, 4, 5], &[1, 3, 12], 0),
        (&[3, 4, 5], &[20, 5, 1], 7),
        (&[3, 4, 5], &[50, 12, 2], 1),
        (&[3, 4, 5], &[2, 40, 7], 3),
    ];
    layouts
        .into_iter()
        .map(|(sizes, strides, offset)| {
            let memory = empty_strided(&[200], &[1], &options(dtype, 0)).unwrap();
            memory.fill(crate::api::integer(0)).unwrap();
            let tensor = memory.as_strided(sizes, strides, offset).unwrap();
            (memory, tensor)
        })
        .collect()
}

#[test]
fn fills_of_every_layout_are_those_of_memory() {
    let _one = alone();
    let start = Figures::now();
    let dtypes = [
        SCONCE_DTYPE_F32,
        SCONCE_DTYPE_F64,
        SCONCE_DTYPE_F16,
        SCONCE_DTYPE_BF16,
        SCONCE_DTYPE_I64,
        SCONCE_DTYPE_U8,
        SCONCE_DTYPE_BOOL,
        SCONCE_DTYPE_C64,
    ];
    let mut drawn = 0;
    for (name, of_tensor, of_memory) in FILLS {
        for dtype in dtypes {
            let expected = reference(of_memory, 60, dtype);
            for (layout, (memory, tensor)) in tensors(dtype).into_iter().enumerate() {
                let own = generator(77);
                let status = of_tensor(tensor.raw(), own);
                let context = format!("{name} of type {dtype}, layout {layout}");
                match &expected {
                    Err(expected) => assert_eq!(status, *expected, "{context}"),
                    Ok((bytes, after)) => {
                        assert_eq!(status, SCONCE_OK, "{context}: {}", testkit::last_message());
                        assert!(in_memory_order(&tensor) == *bytes, "{context}");
                        assert_eq!(state(own), *after, "{context}");
                        let element = bytes_of(dtype);
                        let all = memory.bytes().unwrap();
                        let taken = crate::views::strided(
                            &tensor.sizes(),
                            &tensor.strides(),
                            tensor.storage_offset(),
                        );
                        let untouched = (0..200).filter(|place| !taken.contains(place));
                        for place in untouched {
                            let bytes = &all[place as usize * element..][..element];
                            assert!(bytes.iter().all(|byte| *byte == 0), "{context}");
                        }
                        drawn += 1;
                    }
                }
                assert_eq!(sconce_generator_destroy(own), SCONCE_OK);
            }
        }
    }
    assert!(drawn > 150, "only {drawn}");
    start.assert_unchanged();
}

#[test]
fn the_default_generator_is_the_devices() {
    let _one = alone();
    for device in [0, 1] {
        let fill = || {
            // SAFETY: a writable place.
            let generator =
                written(null_mut(), |out| unsafe { sconce_generator_get_default(device, out) });
            let generator = generator.unwrap();
            outcome(sconce_generator_set_seed(generator, 5)).unwrap();
            let tensor = empty(&[100], &options(SCONCE_DTYPE_F32, device)).unwrap();
            outcome(sconce_tensor_normal(tensor.raw(), 0.0, 1.0, null_mut())).unwrap();
            tensor.bytes().unwrap()
        };
        let first = fill();
        // The current device does not matter.
        outcome(sconce_device_set_current(1 - device)).unwrap();
        assert!(fill() == first);
        outcome(sconce_device_set_current(0)).unwrap();
    }
}

#[test]
fn fills_are_queued_on_the_current_stream_of_the_tensors_device() {
    let _one = alone();
    let tensor = empty(&[4, 4], &options(SCONCE_DTYPE_F32, 1)).unwrap();
    let gaps =
        empty(&[8, 8], &options(SCONCE_DTYPE_F32, 1)).unwrap().as_strided(&[4, 4], &[16, 2], 0);
    for tensor in [tensor, gaps.unwrap()] {
        outcome(sconce_tensor_uniform(tensor.raw(), 0.0, 1.0, null_mut())).unwrap();
        sconce_runtime::device::synchronize(1).unwrap();
        let stream = own_stream(1);
        assert_eq!(sconce_sim_set_manual(CBool::TRUE), SCONCE_OK);
        outcome(sconce_tensor_uniform(tensor.raw(), 2.0, 3.0, null_mut())).unwrap();
        assert!(pending(stream) > 0);
        assert_eq!((pending(default_stream(1)), pending(default_stream(0))), (0, 0));
        run_until_idle();
        assert_eq!(sconce_sim_set_manual(CBool::FALSE), SCONCE_OK);
        assert!(tensor.f32s().iter().all(|value| (2.0..3.0).contains(value)));
        assert_eq!(sconce_stream_set_current(default_stream(1)), SCONCE_OK);
    }
}

#[test]
fn tensors_that_cannot_be_filled() {
    let _one = alone();
    let start = Figures::now();
    let wide = from_f32(&[7.0], &[1], 0).expand(&[3]).unwrap();
    let host = from_f32(&[7.0, 8.0], &[2], CPU);
    let other = from_f32(&[9.0], &[1], 1);
    let none = from_f32(&[], &[0], 0);
    let (own, on_the_cpu) = (generator(3), cpu_generator(3));
    let before = (state(own), cpu_state(on_the_cpu));
    for (name, fill, _) in FILLS {
        let text = refusal(outcome(fill(wide.raw(), own)));
        assert!(text.contains("more than one element of the written-to tensor"), "{name}: {text}");
        assert_eq!(fill(host.raw(), own), SCONCE_ERROR_CROSS_DEVICE, "{name}");
        assert!(testkit::last_message().contains("Expected a 'cpu' device type for generator"));
        assert_eq!(fill(other.raw(), on_the_cpu), SCONCE_ERROR_CROSS_DEVICE, "{name}");
        assert!(testkit::last_message().contains("Expected a 'cuda' device type for generator"));
        assert_eq!(fill(other.raw(), own), SCONCE_ERROR_CROSS_DEVICE, "{name}");
        assert_eq!(fill(none.raw(), own), SCONCE_OK, "{name}");
    }
    assert_eq!((state(own), cpu_state(on_the_cpu)), before);
    assert_eq!((wide.f32s(), host.f32s(), other.f32s()), (vec![7.0; 3], vec![7.0, 8.0], vec![9.0]));
    assert_eq!(sconce_generator_destroy(own), SCONCE_OK);
    assert_eq!(sconce_generator_destroy(on_the_cpu), SCONCE_OK);
    drop((wide, host, other, none));
    start.assert_unchanged();
}
