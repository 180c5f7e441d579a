//! Convolutions whose numbers are all different.

use sconce_base::element::Dtype;
use sconce_driver::{Convolution, ConvolutionOperation, ConvolutionTensor, MOST_ALIGNMENT};

fn tensor(sizes: [i64; 5], strides: [i64; 5]) -> ConvolutionTensor {
    ConvolutionTensor { sizes, strides, alignment: MOST_ALIGNMENT }
}

fn packed(sizes: [i64; 5]) -> ConvolutionTensor {
    let mut strides = [1; 5];
    for i in (0..4).rev() {
        strides[i] = strides[i + 1] * sizes[i + 1];
    }
    tensor(sizes, strides)
}

/// 7 images of 4 channels, 9 x 11; 10 filters of 2 groups, 3 x 2.
pub(crate) fn convolution(operation: ConvolutionOperation, element: Dtype) -> Convolution {
    Convolution {
        operation,
        element,
        spatial: 2,
        groups: 2,
        input: packed([7, 4, 9, 11, 1]),
        filter: packed([10, 2, 3, 2, 1]),
        output: packed([7, 10, 5, 12, 1]),
        stride: [2, 1, 1],
        padding: [1, 2, 0],
        dilation: [1, 3, 1],
    }
}

/// One dimension: 5 images of 6 channels, 20 long, channels last; 2 filters of each channel, 4 long.
#[allow(dead_code, reason = "each test program uses a part of it")]
pub(crate) fn depthwise_line() -> Convolution {
    Convolution {
        operation: ConvolutionOperation::Forward,
        element: Dtype::F16,
        spatial: 1,
        groups: 6,
        input: tensor([5, 6, 20, 1, 1], [120, 1, 6, 1, 1]),
        filter: packed([12, 1, 4, 1, 1]),
        output: tensor([5, 12, 9, 1, 1], [108, 1, 12, 1, 1]),
        stride: [2, 1, 1],
        padding: [2, 0, 0],
        dilation: [2, 1, 1],
    }
}

/// Three dimensions.
#[allow(dead_code, reason = "each test program uses a part of it")]
pub(crate) fn volume() -> Convolution {
    Convolution {
        operation: ConvolutionOperation::Filter,
        element: Dtype::F64,
        spatial: 3,
        groups: 1,
        input: packed([2, 3, 8, 9, 10]),
        filter: packed([5, 3, 2, 3, 4]),
        output: packed([2, 5, 5, 3, 11]),
        stride: [2, 3, 1],
        padding: [1, 0, 2],
        dilation: [1, 1, 1],
    }
}
