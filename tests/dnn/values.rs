//! What convolutions and their gradients give: against naive loops, over shapes, layouts and types.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::ptr::null_mut;

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::libraries::convolutions::{
    DTYPES, OPERATIONS, Stage, Stored, convolve, desc, fresh, packed, reference, roles, tensors,
};
use testkit::numbers::Random;
use testkit::places::{Kind, Place, allocated, alone, calls};

/// Any shape; about half of them have few channels in many groups.
fn any_shape(numbers: &mut Random, operation: i32, dtype: i32) -> sconce_convolution_desc {
    let mut desc = desc(operation, dtype);
    desc.spatial_rank = 1 + numbers.below(3) as i32;
    desc.batch = 1 + numbers.below(3);
    desc.groups = [1, 1, 2, 3][numbers.below(4) as usize];
    let each = if numbers.below(2) == 0 { 1 } else { 3 };
    desc.in_channels = desc.groups * each;
    desc.out_channels = desc.groups * (1 + numbers.below(3));
    for i in 0..desc.spatial_rank as usize {
        desc.filter_sizes[i] = 1 + numbers.below(3);
        desc.dilation[i] = 1 + numbers.below(2);
        desc.stride[i] = 1 + numbers.below(3);
        desc.padding[i] = numbers.below(3);
        let span = desc.dilation[i] * (desc.filter_sizes[i] - 1) + 1;
        desc.input_sizes[i] = (span - 2 * desc.padding[i]).max(1) + numbers.below(5);
    }
    let tensors = tensors(&desc);
    let strides = [&mut desc.input_strides, &mut desc.filter_strides, &mut desc.output_strides];
    for (tensor, strides) in tensors.iter().zip(strides) {
        let axes = tensor.sizes.len();
        let mut order: Vec<usize> = (0..axes).collect();
        match numbers.below(4) {
            0 => continue,
            1 => order.rotate_left(0),
            2 => order = [vec![0], (2..axes).collect(), vec![1]].concat(),
            _ => order.swap(numbers.below(axes as u64) as usize, 0),
        }
        // Gaps: as if it were part of a larger one.
        let mut sizes = tensor.sizes.clone();
        for size in &mut sizes {
            *size += if numbers.below(3) == 0 { 2 } else { 0 };
        }
        strides[..axes].copy_from_slice(&packed(&sizes, &order));
    }
    desc
}

#[test]
fn any_shape_in_any_layout_gives_what_naive_loops_give() {
    let _alone = alone();
    fresh();
    let mut numbers = Random(7);
    for round in 0..40 {
        for operation in OPERATIONS {
            for dtype in DTYPES {
                sconce_context_set_deterministic_cudnn((round % 3 == 0).into());
                let desc = any_shape(&mut numbers, operation, dtype);
                let stage = Stage::new(&desc);
                assert_eq!(stage.run(), SCONCE_OK, "{desc:?}: {}", last_message());
                stage.check(&format!("{desc:?}"));
            }
        }
    }
    assert!(calls("dnn_execute") >= 480);
}

#[test]
fn filters_with_gaps_go_through_packed_temporaries() {
    let _alone = alone();
    fresh();
    let packed_last = [12, 1, 4, 2, 0];
    for operation in OPERATIONS {
        for dtype in DTYPES {
            let mut desc = desc(operation, dtype);
            desc.filter_strides = packed_last;
            let stage = Stage::new(&desc);
            assert_eq!(stage.run(), SCONCE_OK, "{}", last_message());
            let (made, executed) = (calls("dnn_plan"), calls("dnn_execute"));
            // The same order with gaps, and one element of each block of 5.
            for (nth, strides) in [[31, 1, 9, 3, 0], [60, 5, 20, 10, 0]].into_iter().enumerate() {
                desc.filter_strides = strides;
                let stage = Stage::new(&desc);
                let held = allocated(0);
                assert_eq!(stage.run(), SCONCE_OK, "{}", last_message());
                stage.check(&format!("{desc:?}"));
                assert_eq!(calls("dnn_execute"), executed + 1 + nth as u64);
                assert_eq!(allocated(0), held, "the temporary is given back");
            }
            assert_eq!(calls("dnn_plan"), made, "the plan of the packed filter serves");
        }
    }
    // What is read may lie over itself.
    let overlapping =
        sconce_convolution_desc { filter_strides: [6, 1, 1, 1, 0], ..desc(0, SCONCE_DTYPE_F64) };
    let held: Vec<f64> = (0..40).map(f64::from).collect();
    let plain = Stage::new(&desc(0, SCONCE_DTYPE_F64));
    let filter = Place::holding(
        Kind::Device(0),
        &held.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>(),
    );
    let weights: Vec<f64> = tensors(&desc(0, SCONCE_DTYPE_F64))[1]
        .indices()
        .map(|at| held[(6 * at[0] + at[1] + at[2] + at[3]) as usize])
        .collect();
    let status = convolve(&overlapping, plain.a.start(), filter.start(), plain.result.start());
    assert_eq!(status, SCONCE_OK, "{}", last_message());
    let expected = reference(&overlapping, &plain.a.read(), &weights);
    assert_eq!(plain.result.read(), expected);
}

#[test]
fn depthwise_and_pointwise_convolutions_are_convolutions() {
    let _alone = alone();
    fresh();
    for operation in OPERATIONS {
        let base = desc(operation, SCONCE_DTYPE_F32);
        let depthwise = sconce_convolution_desc {
            in_channels: 5,
            out_channels: 10,
            groups: 5,
            // Channels last.
            input_strides: [150, 1, 25, 5, 0],
            ..base
        };
        let pointwise = sconce_convolution_desc {
            filter_sizes: [1; 3],
            padding: [0; 3],
            stride: [1; 3],
            groups: 1,
            ..base
        };
        for desc in [depthwise, pointwise] {
            let stage = Stage::new(&desc);
            assert_eq!(stage.run(), SCONCE_OK, "{}", last_message());
            stage.check("");
        }
    }
}

#[test]
fn output_sizes_are_those_of_the_formula_and_written_as_far_as_the_rank_goes() {
    let desc = desc(0, SCONCE_DTYPE_F32);
    let mut sizes = [-7; 3];
    // SAFETY: a whole description, room for three.
    let status =
        unsafe { sconce_convolution_get_output_sizes(&raw const desc, sizes.as_mut_ptr()) };
    assert_eq!((status, sizes), (SCONCE_OK, [3, 5, -7]));
    assert_eq!(tensors(&desc)[2].sizes[2..], [3, 5]);
    let strided = sconce_convolution_desc { input_strides: [-1; 5], spatial_rank: 3, ..desc };
    // SAFETY: a whole description, and a place for three sizes, as many as the rank that it states.
    let status =
        unsafe { sconce_convolution_get_output_sizes(&raw const strided, sizes.as_mut_ptr()) };
    assert_eq!((status, sizes), (SCONCE_OK, [3, 5, 1]));
    // SAFETY: NULL is refused.
    let status = unsafe { sconce_convolution_get_output_sizes(&raw const desc, null_mut()) };
    assert_eq!(status, SCONCE_ERROR_INVALID_ARGUMENT);
    assert!(last_message().contains("out_sizes is NULL"), "{}", last_message());
}

#[test]
fn tf32_rounds_factors_of_f32_and_nothing_else_where_it_is_allowed() {
    let _alone = alone();
    fresh();
    // Twelve bits of mantissa, of which TF32 keeps ten.
    let value = |number: usize, seed: usize| 1.0 + ((number * 7 + seed) % 4096) as f64 / 4096.0;
    for operation in OPERATIONS {
        let desc = desc(operation, SCONCE_DTYPE_F32);
        let stage = Stage::with(0, &desc, value);
        let worst = || {
            assert_eq!(stage.run(), SCONCE_OK, "{}", last_message());
            let errors = stage.result.read().into_iter().zip(&stage.expected);
            errors.map(|(got, exact)| (got / exact - 1.0).abs()).fold(0.0, f64::max)
        };
        sconce_context_set_allow_tf32_cudnn(true.into());
        let rounded = worst();
        assert!(rounded > 1e-5 && rounded < 1e-3, "{rounded}");
        sconce_context_set_allow_tf32_cudnn(false.into());
        let exact = worst();
        assert!(exact < 1e-6, "{exact}");
        sconce_context_set_allow_tf32_cudnn(true.into());
        assert!(worst() == rounded);

        let wide = sconce_convolution_desc { dtype: SCONCE_DTYPE_F64, ..desc };
        let stage = Stage::with(0, &wide, value);
        assert_eq!(stage.run(), SCONCE_OK);
        stage.check("F64");
        let made = calls("dnn_plan");
        sconce_context_set_allow_tf32_cudnn(false.into());
        assert_eq!(stage.run(), SCONCE_OK);
        assert_eq!(calls("dnn_plan"), made, "the switch does not concern F64");
    }
}

#[test]
fn sums_of_nothing_are_zero_and_touch_nothing_else() {
    let _alone = alone();
    fresh();
    let gaps = [90, 40, 13, 5, 0];
    for (operation, change) in [
        (SCONCE_CONVOLUTION_BACKWARD_FILTER, 0),
        (SCONCE_CONVOLUTION_FORWARD, 1),
        (SCONCE_CONVOLUTION_BACKWARD_DATA, 2),
    ] {
        for strides in [[0; 5], gaps] {
            for dtype in DTYPES {
                let mut desc = desc(operation, dtype);
                match change {
                    0 => (desc.batch, desc.filter_strides) = (0, strides),
                    1 => {
                        desc.in_channels = 0;
                        desc.output_strides =
                            if strides == gaps { [400, 60, 13, 2, 0] } else { strides };
                    }
                    _ => {
                        desc.out_channels = 0;
                        desc.input_strides =
                            if strides == gaps { [400, 90, 13, 2, 0] } else { strides };
                    }
                }
                let tensor = &tensors(&desc)[roles(operation)[2]];
                let result = Stored::new(0, tensor, dtype, None);
                let status = convolve(&desc, null_mut(), null_mut(), result.start());
                assert_eq!(status, SCONCE_OK, "{}", last_message());
                assert!(result.read().iter().all(|value| *value == 0.0), "{desc:?}");
            }
        }
    }
    assert_eq!(calls("dnn_create") + calls("dnn_execute"), 0);
}

#[test]
fn results_without_elements_are_left_alone() {
    let _alone = alone();
    fresh();
    let memory = Place::holding(Kind::Device(0), &[7; 64]);
    for (operation, name) in OPERATIONS.into_iter().zip(["batch", "batch", "in_channels"]) {
        let mut desc = desc(operation, SCONCE_DTYPE_F32);
        *(if name == "batch" { &mut desc.batch } else { &mut desc.in_channels }) = 0;
        for address in [null_mut(), memory.at(1), std::ptr::without_provenance_mut(3)] {
            assert_eq!(convolve(&desc, address, address, address), SCONCE_OK, "{name}");
        }
    }
    assert_eq!(memory.read(), [7; 64]);
}

#[test]
fn slices_of_one_tensor_may_be_read_and_written_at_once() {
    let _alone = alone();
    fresh();
    // As in a dense network: channels 0 to 3 of 10 are read, and 4 to 9 written.
    let desc = sconce_convolution_desc {
        filter_sizes: [3, 3, 1],
        padding: [1, 1, 0],
        stride: [1; 3],
        dilation: [1; 3],
        input_strides: [300, 1, 50, 10, 0],
        output_strides: [300, 1, 50, 10, 0],
        ..desc(SCONCE_CONVOLUTION_FORWARD, SCONCE_DTYPE_F32)
    };
    let apart = Stage::new(&desc);
    let whole = Place::new(Kind::Device(0), 4 * 600);
    let floats = |bytes: Vec<u8>| -> Vec<f32> {
        bytes.as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)).collect()
    };
    let mut data = vec![0.0_f32; 600];
    for (number, value) in apart.a.read().into_iter().enumerate() {
        let (image, channel, pixel) = (number / 120, number / 30 % 4, number % 30);
        data[image * 300 + pixel * 10 + channel] = value as f32;
    }
    whole.write(&data.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>());
    let status = convolve(&desc, whole.start(), apart.b.start(), whole.at(16));
    assert_eq!(status, SCONCE_OK, "{}", last_message());
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
    let got = floats(whole.read());
    for (number, expected) in apart.expected.iter().enumerate() {
        let (image, channel, pixel) = (number / 180, number / 30 % 6, number % 30);
        assert_eq!(f64::from(got[image * 300 + pixel * 10 + 4 + channel]), *expected);
    }
    for bytes in [0, 12] {
        let status = convolve(&desc, whole.start(), apart.b.start(), whole.at(bytes));
        assert_eq!(status, SCONCE_ERROR_INVALID_ARGUMENT);
        assert!(
            last_message().contains("result (output) overlaps a (input)"),
            "{}",
            last_message()
        );
    }
}
