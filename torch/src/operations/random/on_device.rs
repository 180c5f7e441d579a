//! Launches of the kernels of random numbers that are drawn until one fits.

#![allow(unsafe_code, reason = "calls libsconce.so, and launches kernels")]

use std::ptr::null_mut;

use crate::abi::tensors::{device_of_tensor, sizes_of};
use crate::error::{Error, Result};
use crate::kernels::{Grid, images, launch};
use crate::operations::layout::{Layout, broadcast};
use crate::operations::tensors::{check_device, check_floating, empty};
use crate::sconce::generator::Generator;
use crate::sconce::operations::{contiguous, expand, to_dtype};
use crate::sconce::tensor::TensorHandle;
use crate::sconce::{Tensor, api, check};

// These are in `torch/kernels/random_rejection.cu` too: the threads of a block, and the words that an element has.
const THREADS: i64 = 256;
const WORDS_OF_ELEMENT: i64 = 256;
/// More elements than such blocks have threads are several for a thread.
const BLOCKS: i64 = 1 << 16;

/// A tensor of numbers that a kernel draws from one or two parameters, which are repeated to common sizes. Without a
/// second parameter `number` is its value.
pub(super) fn drawn(
    kernel: &str,
    parameters: &[TensorHandle],
    number: f64,
    dtype: i32,
    generator: Generator,
) -> Result<Tensor> {
    check_floating(dtype)?;
    let (mut sizes, mut device) = (Vec::new(), None);
    for &parameter in parameters {
        sizes = broadcast(&[&sizes, &sizes_of(parameter)?])?;
        let own = device_of_tensor(parameter)?;
        check_device("another parameter", own, *device.get_or_insert(own))?;
    }
    let device = device.unwrap_or(api::SCONCE_DEVICE_CPU);
    let result = empty(&sizes, dtype, device)?;
    let to = Layout::of(result.handle())?;
    let count = to.numel();
    if count == 0 {
        return Ok(result);
    }
    let in_order = |&parameter: &TensorHandle| {
        let converted = to_dtype(parameter, dtype)?;
        contiguous(expand(converted.handle(), &sizes)?.handle())
    };
    let parameters = parameters.iter().map(in_order).collect::<Result<Vec<Tensor>>>()?;
    let mut data = [null_mut(); 2];
    for (place, parameter) in data.iter_mut().zip(&parameters) {
        *place = Layout::of(parameter.handle())?.data;
    }
    let (grid, threads, words) = shape_of(count);
    let state = reserved(generator, device, words)?;
    let type_number = dtype as u32;
    // SAFETY: the kernel has these parameters; all tensors have as many elements of the type, one after another.
    unsafe {
        launch(
            device,
            &images::RANDOM_REJECTION,
            &format!("sconce_torch_random_{kernel}"),
            grid,
            &[
                &data[0],
                &data[1],
                &number,
                &to.data,
                &count,
                &type_number,
                &threads,
                &state.seed,
                &state.offset,
                &state.device_state,
            ],
        )
    }?;
    Ok(result)
}

/// Blocks of a launch, its threads, and the words of the sequence that each thread has.
fn shape_of(count: i64) -> (Grid, i64, i64) {
    let blocks = ((count - 1) / THREADS + 1).min(BLOCKS);
    let threads = blocks * THREADS;
    let rounds = (count - 1) / threads + 1;
    (Grid::of(threads, THREADS as u32, 1), threads, rounds * WORDS_OF_ELEMENT)
}

/// A part of a generator's sequence: where it begins, or, in a capture, where that is in memory.
fn reserved(generator: Generator, device: i32, words: i64) -> Result<api::sconce_philox_state> {
    let mut handle = generator.handle_on(device)?;
    if handle.is_null() {
        check(api::sconce_generator_get_default(device, &mut handle))?;
    } else if Generator::of(handle).device()? != device {
        return Err(Error::invalid_argument(
            "the generator belongs to another device than the tensors; pass one of theirs",
        ));
    }
    let mut state = api::sconce_philox_state { seed: 0, offset: 0, device_state: std::ptr::null() };
    // SAFETY: any number may be passed as a handle; the place is valid for a write.
    check(unsafe {
        api::sconce_generator_reserve_philox_state(handle, words.cast_unsigned(), &mut state)
    })?;
    Ok(state)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn each_element_has_words_of_its_own() {
        for count in [1, 255, 256, 257, 100_000, 1 << 24, (1 << 24) + 1, 3 << 24, (1 << 33) + 5] {
            let (grid, threads, words) = shape_of(count);
            assert_eq!(i64::from(grid.blocks[0]) * THREADS, threads, "{count}");
            assert!(threads * (words / WORDS_OF_ELEMENT) >= count, "{count}");
            assert!(threads * (words / WORDS_OF_ELEMENT - 1) < count, "{count}");
            assert!(threads <= 1 << 32 && words % 4 == 0, "{count}");
        }
    }

    #[test]
    fn parameters_on_a_simulated_device_reach_the_launch() {
        crate::testing::simulate();
        let on = |device, sizes: &[i64]| empty(sizes, api::SCONCE_DTYPE_F32, device).unwrap();
        let (many, one, host) = (on(0, &[3, 2]), on(0, &[2]), on(api::SCONCE_DEVICE_CPU, &[2]));
        let of = |parameters: &[TensorHandle], generator| {
            let found = drawn("binomial", parameters, 0.0, api::SCONCE_DTYPE_F32, generator);
            found.err().unwrap().message
        };
        let refused = of(&[many.handle(), one.handle()], Generator::DEFAULT);
        assert!(refused.contains("the simulated device runs no kernels"), "{refused}");
        let refused = of(&[many.handle(), host.handle()], Generator::DEFAULT);
        assert!(refused.contains("expected all tensors to be on one device"), "{refused}");
        let mut own = null_mut();
        check(api::sconce_generator_get_default(api::SCONCE_DEVICE_CPU, &mut own)).unwrap();
        let refused = of(&[many.handle(), one.handle()], Generator::of(own));
        assert!(refused.contains("belongs to another device"), "{refused}");
        let none = drawn(
            "poisson",
            &[on(0, &[0]).handle()],
            0.0,
            api::SCONCE_DTYPE_F32,
            Generator::DEFAULT,
        );
        assert!(none.is_ok());
    }
}
