//! What tests of operations share: tensors written out as numbers, and a source of cases.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls libsconce.so")]

use crate::abi::tensors::{numel_of, sizes_of};
use crate::error::newest;
use crate::sconce::tensor::TensorHandle;
use crate::sconce::values::options;
use crate::sconce::{Tensor, api, check, operations};

/// Numbers that look random and are the same in each run.
#[derive(Debug)]
pub(crate) struct Cases(u64);

impl Cases {
    /// Cases that depend on a seed alone.
    pub(crate) fn new(seed: u64) -> Cases {
        Cases(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678)
    }

    /// A whole number from `least` to `most`, both included.
    pub(crate) fn int(&mut self, least: i64, most: i64) -> i64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let upper = (self.0 >> 33).cast_signed();
        least + upper % (most - least + 1)
    }

    /// One of several.
    pub(crate) fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.int(0, of.len() as i64 - 1) as usize]
    }

    /// Sizes of up to `rank` dimensions.
    pub(crate) fn sizes(&mut self, rank: i64, most: i64) -> Vec<i64> {
        (0..self.int(0, rank)).map(|_| self.int(0, most)).collect()
    }
}

/// A tensor as numbers in the order of its dimensions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dense {
    /// The sizes.
    pub(crate) sizes: Vec<i64>,
    /// The elements, the last dimension fastest.
    pub(crate) values: Vec<f64>,
}

impl Dense {
    /// The numbers that a function returns for each index.
    pub(crate) fn build(sizes: &[i64], mut value: impl FnMut(&[i64]) -> f64) -> Dense {
        let count = sizes.iter().product::<i64>();
        let mut values = Vec::new();
        for flat in 0..count {
            let mut index = vec![0; sizes.len()];
            let mut rest = flat;
            for (place, size) in index.iter_mut().zip(sizes).rev() {
                *place = rest % size;
                rest /= size;
            }
            values.push(value(&index));
        }
        Dense { sizes: sizes.to_vec(), values }
    }

    /// Multiples of a quarter between -4 and 4, which every type of real numbers has.
    pub(crate) fn quarters(cases: &mut Cases, sizes: &[i64]) -> Dense {
        Dense::build(sizes, |_| cases.int(-16, 16) as f64 / 4.0)
    }

    /// Whole numbers.
    pub(crate) fn whole(cases: &mut Cases, sizes: &[i64], least: i64, most: i64) -> Dense {
        Dense::build(sizes, |_| cases.int(least, most) as f64)
    }

    /// The element at an index.
    pub(crate) fn at(&self, index: &[i64]) -> f64 {
        let mut flat = 0;
        for (place, size) in index.iter().zip(&self.sizes) {
            assert!((0..*size).contains(place), "{index:?} of {:?}", self.sizes);
            flat = flat * size + place;
        }
        self.values[flat as usize]
    }

    /// The element at the index of a larger tensor to which this one is repeated.
    pub(crate) fn repeated_at(&self, index: &[i64]) -> f64 {
        let own = &index[index.len() - self.sizes.len()..];
        let own: Vec<i64> = own
            .iter()
            .zip(&self.sizes)
            .map(|(place, size)| if *size == 1 { 0 } else { *place })
            .collect();
        self.at(&own)
    }

    /// A tensor of the CPU whose elements lie one after another.
    pub(crate) fn tensor(&self, dtype: i32) -> Tensor {
        let wide = options(api::SCONCE_DTYPE_F64, api::SCONCE_DEVICE_CPU);
        // SAFETY: the values have that many bytes; sizes, options and the place are valid.
        let tensor = Tensor::made(|made| unsafe {
            let (values, bytes) = (self.values.as_ptr().cast(), size_of_val(&*self.values));
            api::sconce_tensor_from_values(
                values,
                bytes,
                self.sizes.as_ptr(),
                self.sizes.len(),
                &wide,
                made,
            )
        })
        .unwrap();
        operations::to_dtype(tensor.handle(), dtype).unwrap()
    }

    /// The same with strides of another order, and gaps between the elements.
    pub(crate) fn strided(&self, dtype: i32) -> Tensor {
        let mut order = self.sizes.clone();
        order.reverse();
        let mut doubled = order.clone();
        doubled.push(2);
        let options = options(dtype, api::SCONCE_DEVICE_CPU);
        let memory = operations::empty(&doubled, &options).unwrap();
        let rank = order.len() as i64;
        let mut view =
            Tensor::made(|made| api::sconce_tensor_select(memory.handle(), rank, 1, made)).unwrap();
        let dims: Vec<i64> = (0..rank).rev().collect();
        // SAFETY: there are as many dimensions; the place is valid for a write.
        view = Tensor::made(|made| unsafe {
            api::sconce_tensor_permute(view.handle(), dims.as_ptr(), dims.len(), made)
        })
        .unwrap();
        operations::copy(&view, self.tensor(dtype).handle()).unwrap();
        view
    }

    /// A tensor of the one kind or the other.
    pub(crate) fn either(&self, cases: &mut Cases, dtype: i32) -> Tensor {
        if cases.int(0, 1) == 0 { self.tensor(dtype) } else { self.strided(dtype) }
    }

    /// The numbers of a tensor.
    pub(crate) fn of(tensor: TensorHandle) -> Dense {
        let wide = operations::to_dtype(tensor, api::SCONCE_DTYPE_F64).unwrap();
        let mut values = vec![0.0_f64; numel_of(tensor).unwrap() as usize];
        // SAFETY: the buffer has that many bytes.
        check(unsafe {
            let bytes = size_of_val(values.as_slice());
            api::sconce_tensor_to_values(wide.handle(), values.as_mut_ptr().cast(), bytes)
        })
        .unwrap();
        Dense { sizes: sizes_of(tensor).unwrap(), values }
    }

    /// Checks a tensor: its sizes, and that each element is near the number here; NaN is near NaN.
    pub(crate) fn assert_near(&self, tensor: TensorHandle, within: f64, what: &str) {
        let found = Dense::of(tensor);
        assert_eq!(found.sizes, self.sizes, "{what}");
        for (at, (found, expected)) in found.values.iter().zip(&self.values).enumerate() {
            let near = found == expected
                || (found - expected).abs() <= within * expected.abs().max(1.0)
                || found.is_nan() && expected.is_nan();
            assert!(near, "{what}: {found} instead of {expected} at {at}");
        }
    }
}

/// The tensor that a function of the ABI returns.
pub(crate) fn returned(call: impl FnOnce(*mut TensorHandle) -> i32) -> Tensor {
    let mut handle = std::ptr::null_mut();
    assert_eq!(call(&mut handle), 0, "{:?}", newest());
    Tensor::from_handle(handle)
}

/// The status of a function of the ABI, which is called with arguments of the test.
macro_rules! call {
    ($($function:ident)::+($($argument:expr),* $(,)?)) => {
        // SAFETY: any numbers may be handles; arrays of a test have the lengths that it passes, texts end with NUL, and
        // other pointers are NULL or those of its variables.
        unsafe { $($function)::+($($argument),*) }
    };
}
pub(crate) use call;

/// The tensor that a function of the ABI returns, whose last argument is the place for it.
macro_rules! returned_by {
    ($($function:ident)::+($($argument:expr),* $(,)?)) => {
        $crate::testing::returned(|place| $crate::testing::call!($($function)::+($($argument,)* place)))
    };
}
pub(crate) use returned_by;

/// A function of the ABI has failed with a text that has these words.
pub(crate) fn assert_refused(status: i32, words: &[&str]) {
    assert_ne!(status, 0, "{words:?}");
    let why = newest().unwrap();
    for word in words {
        assert!(why.contains(word), "{why:?} lacks {word:?}");
    }
}

/// Calls a function while a stream of device 0, the thread's current one, is captured. The capture is discarded.
pub(crate) fn captured<R>(body: impl FnOnce() -> R) -> R {
    let [mut stream, mut before] = [api::sconce_stream { id: 0, device: 0, reserved: 0 }; 2];
    let (mut graph, mut device) = (std::ptr::null_mut(), 0);
    let mode = api::SCONCE_CAPTURE_THREAD_LOCAL;
    check(api::sconce_stream_get_from_pool(0, 0, &mut stream)).unwrap();
    check(api::sconce_stream_exchange(stream, &mut before, &mut device)).unwrap();
    check(api::sconce_graph_create(false, &mut graph)).unwrap();
    check(api::sconce_graph_capture_begin(graph, stream, std::ptr::null_mut(), mode)).unwrap();
    let result = body();
    check(api::sconce_graph_capture_abort(graph)).unwrap();
    check(api::sconce_graph_destroy(graph)).unwrap();
    check(api::sconce_stream_exchange(before, &mut stream, &mut device)).unwrap();
    result
}

/// Lets the library use simulated devices.
pub(crate) fn simulate() {
    // SAFETY: each test runs in a process of its own, in which no other thread uses the environment. The library has not
    // read it yet.
    unsafe { std::env::set_var("SCONCE_BACKEND", "sim") };
}

/// The number of tensors that are alive.
pub(crate) fn live() -> usize {
    api::sconce_tensor_live_count()
}
