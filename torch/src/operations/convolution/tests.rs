//! Transposed convolutions and gradients beside sums that are written out, on the CPU and on a simulated device.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::{Steps, bias_gradient, filter_gradient, input_gradient, transposed};
use crate::abi::tensors::strides_of;
use crate::operations::tensors::on_device;
use crate::sconce::Tensor;
use crate::sconce::api::{
    SCONCE_DEVICE_CPU as CPU, SCONCE_DTYPE_F32 as F32, SCONCE_DTYPE_F64 as F64,
};
use crate::testing::{Cases, Dense, live};

/// A convolution of one group and any number of dimensions, as far as its gradients need it.
struct Case {
    spatial: usize,
    stride: Vec<i64>,
    padding: Vec<i64>,
    dilation: Vec<i64>,
    groups: i64,
    images: Vec<i64>,
    filter: Vec<i64>,
    result: Vec<i64>,
}

impl Case {
    fn new(cases: &mut Cases) -> Case {
        let spatial = cases.int(1, 3) as usize;
        let groups = cases.int(1, 3);
        let mut each =
            |least, most| -> Vec<i64> { (0..spatial).map(|_| cases.int(least, most)).collect() };
        let (stride, padding, dilation) = (each(1, 4), each(0, 2), each(1, 3));
        let (taps, more) = (each(1, 4), each(0, 4));
        let (batch, channels, features) = (cases.int(1, 2), cases.int(1, 2), cases.int(1, 2));
        let (mut images, mut filter) =
            (vec![batch, channels * groups], vec![features * groups, channels]);
        let mut result = vec![batch, features * groups];
        for axis in 0..spatial {
            let reach = dilation[axis] * (taps[axis] - 1) + 1;
            let size = (reach - 2 * padding[axis]).max(1) + more[axis];
            images.push(size);
            filter.push(taps[axis]);
            result.push((size + 2 * padding[axis] - reach) / stride[axis] + 1);
        }
        Case { spatial, stride, padding, dilation, groups, images, filter, result }
    }

    fn steps(&self) -> Steps<'_> {
        Steps {
            stride: &self.stride,
            padding: &self.padding,
            dilation: &self.dilation,
            groups: self.groups,
        }
    }

    /// All products of a convolution: the index of the result's element, of the image's and of the filter's.
    fn terms(&self, mut seen: impl FnMut(&[i64], &[i64], &[i64])) {
        let places = Dense::build(&self.result, |_| 0.0);
        Dense::build(&places.sizes, |at| {
            Dense::build(&self.filter[1..], |tap| {
                let per_group = self.filter[0] / self.groups;
                let mut image = vec![at[0], at[1] / per_group * self.filter[1] + tap[0]];
                for axis in 0..self.spatial {
                    image.push(
                        at[axis + 2] * self.stride[axis] + tap[axis + 1] * self.dilation[axis]
                            - self.padding[axis],
                    );
                }
                if image.iter().zip(&self.images).all(|(place, size)| (0..*size).contains(place)) {
                    let filter = [&at[1..2], tap].concat();
                    seen(at, &image, &filter);
                }
                0.0
            });
            0.0
        });
    }
}

fn add(sums: &mut Dense, at: &[i64], value: f64) {
    let flat = at.iter().zip(&sums.sizes).fold(0, |flat, (place, size)| flat * size + place);
    sums.values[flat as usize] += value;
}

fn zeros(sizes: &[i64]) -> Dense {
    Dense::build(sizes, |_| 0.0)
}

fn placed(tensor: &Tensor, device: i32) -> Tensor {
    on_device(tensor.handle(), device).unwrap()
}

fn compare(device: i32, seed: u64) {
    let before = live();
    let mut cases = Cases::new(seed);
    for turn in 0..80 {
        let case = Case::new(&mut cases);
        let dtype = cases.one(&[F32, F64]);
        let gradient = Dense::quarters(&mut cases, &case.result);
        let (images, filter) =
            (Dense::quarters(&mut cases, &case.images), Dense::quarters(&mut cases, &case.filter));
        let (mut for_images, mut for_filter) = (zeros(&case.images), zeros(&case.filter));
        case.terms(|at, image, tap| {
            add(&mut for_images, image, gradient.at(at) * filter.at(tap));
            add(&mut for_filter, tap, gradient.at(at) * images.at(image));
        });
        let [given, seen, weights] = [&gradient, &images, &filter]
            .map(|dense| placed(&dense.either(&mut cases, dtype), device));
        let what = format!("turn {turn}");
        let found =
            input_gradient(given.handle(), weights.handle(), &case.images, case.steps()).unwrap();
        for_images.assert_near(placed(&found, CPU).handle(), 1e-5, &format!("{what}, images"));
        let found =
            filter_gradient(given.handle(), seen.handle(), &case.filter, case.steps()).unwrap();
        for_filter.assert_near(placed(&found, CPU).handle(), 1e-5, &format!("{what}, filter"));

        // A transposed convolution is the gradient for the images, whose sizes it finds by itself, and a bias.
        let more: Vec<i64> = (0..case.spatial)
            .map(|axis| {
                let reach = case.dilation[axis] * (case.filter[axis + 2] - 1) + 1;
                (case.images[axis + 2] + 2 * case.padding[axis] - reach) % case.stride[axis]
            })
            .collect();
        let bias = Dense::quarters(&mut cases, &[case.images[1]]);
        let mut shifted = for_images.clone();
        let per_image: i64 = case.images[2..].iter().product();
        for (flat, value) in shifted.values.iter_mut().enumerate() {
            *value += bias.values[(flat as i64 / per_image % case.images[1]) as usize];
        }
        let added = placed(&bias.tensor(dtype), device);
        let found =
            transposed(given.handle(), weights.handle(), added.handle(), case.steps(), &more)
                .unwrap();
        shifted.assert_near(placed(&found, CPU).handle(), 1e-5, &format!("{what}, transposed"));

        let mut sums = zeros(&[case.result[1]]);
        Dense::build(&case.result, |at| {
            add(&mut sums, &at[1..2], gradient.at(at));
            0.0
        });
        let found = bias_gradient(given.handle()).unwrap();
        sums.assert_near(placed(&found, CPU).handle(), 1e-5, &format!("{what}, bias"));
    }
    assert_eq!(live(), before);
}

#[test]
fn gradients_agree_with_sums_on_the_cpu() {
    compare(CPU, 71);
}

#[test]
fn gradients_agree_with_sums_on_a_device() {
    crate::testing::simulate();
    compare(0, 72);
}

#[test]
fn channels_stay_innermost_in_memory() {
    let last = Dense::build(&[2, 4, 4, 3], |_| 1.0).tensor(F32);
    let images = crate::sconce::operations::permute(last.handle(), &[0, 3, 1, 2]).unwrap();
    let filter = Dense::build(&[3, 2, 3, 3], |_| 1.0).tensor(F32);
    let (ones, zeros) = ([1, 1], [0, 0]);
    let steps = Steps { stride: &ones, padding: &zeros, dilation: &ones, groups: 1 };
    let none = std::ptr::null_mut();
    let found = transposed(images.handle(), filter.handle(), none, steps, &zeros).unwrap();
    assert_eq!(strides_of(found.handle()).unwrap(), [72, 1, 12, 2]);
}

#[test]
fn wrong_shapes_are_refused_with_words() {
    let tensor = |sizes: &[i64]| Dense::build(sizes, |_| 0.0).tensor(F32);
    let (images, filter) = (tensor(&[1, 2, 4]), tensor(&[2, 3, 3]));
    let refused = |steps: Steps<'_>, more: &[i64], words: &str| {
        let none = std::ptr::null_mut();
        let error = transposed(images.handle(), filter.handle(), none, steps, more).err().unwrap();
        assert!(error.message.contains(words), "{} lacks {words}", error.message);
    };
    let (one, two, none, far) = ([1], [2], [0], [9]);
    let steps = Steps { stride: &two, padding: &none, dilation: &one, groups: 1 };
    refused(Steps { stride: &none, ..steps }, &none, "stride and dilation must be at least 1");
    refused(Steps { padding: &far, ..steps }, &none, "less padding leaves some");
    refused(Steps { groups: 2, ..steps }, &[3], "output padding must be smaller");
    refused(Steps { groups: 0, ..steps }, &none, "groups must be at least 1");
    refused(Steps { stride: &[1, 1], ..steps }, &none, "different lengths");
    refused(steps, &[], "output_padding must have as many entries");
    let wide = tensor(&[1, 3, 4]);
    let error = transposed(wide.handle(), filter.handle(), std::ptr::null_mut(), steps, &none);
    assert!(error.err().unwrap().message.contains("do not fit a weight of sizes [2, 3, 3]"));
    let error = filter_gradient(images.handle(), images.handle(), &[2, 2, 3], steps);
    assert!(error.err().unwrap().message.contains("the gradient has 4 elements"));
}
