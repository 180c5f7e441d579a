//! What views refuse, in torch's words.

use sconce::*;

use crate::api::{CPU, Handle, Outcome, refusal};
use crate::create::from_i32;

fn tensor(sizes: &[i64]) -> Handle {
    let count = sizes.iter().product::<i64>() as i32;
    from_i32(&(0..count).collect::<Vec<i32>>(), sizes, CPU)
}

#[track_caller]
fn refused<T>(outcome: Outcome<T>, text: &str) {
    let message = refusal(outcome);
    assert!(message.contains(text), "{message:?}\nis not\n{text:?}");
}

#[test]
fn dimensions_out_of_range() {
    let _one = testkit::places::alone();
    let cube = tensor(&[2, 3, 4]);
    let text = "Dimension out of range (expected to be in range of [-3, 2], but got ";
    for dim in [3, -4, i64::MAX, i64::MIN] {
        let text = &format!("{text}{dim})");
        refused(cube.narrow(dim, 0, 1), text);
        refused(cube.slice(dim, 0, 1, 1), text);
        refused(cube.select(dim, 0), text);
        refused(cube.transpose(dim, 0), text);
        refused(cube.transpose(0, dim), text);
        refused(cube.permute(&[0, 1, dim]), text);
        refused(cube.squeeze(&[dim]), text);
        refused(cube.flatten(dim, -1), text);
        refused(cube.flatten(0, dim), text);
        refused(cube.unflatten(dim, &[1, 2]), text);
        refused(cube.diagonal(0, dim, 1), text);
        refused(cube.diagonal(0, 1, dim), text);
        refused(cube.chunk(1, dim), text);
        refused(cube.split(1, dim), text);
        refused(cube.split_with_sizes(&[1, 1], dim), text);
        refused(cube.unbind(dim), text);
    }
    for dim in [4, -5, i64::MAX, i64::MIN] {
        let text = "Dimension out of range (expected to be in range of [-4, 3], but got ";
        refused(cube.unsqueeze(dim), &format!("{text}{dim})"));
    }
    let one = tensor(&[]);
    let text = "Dimension out of range (expected to be in range of [-1, 0], but got 1)";
    refused(one.transpose(0, 1), text);
    refused(one.squeeze(&[1]), text);
    refused(one.flatten(0, 1), text);
    refused(one.unsqueeze(1), text);
}

#[test]
fn tensors_without_dimensions() {
    let _one = testkit::places::alone();
    let one = tensor(&[]);
    refused(one.narrow(0, 0, 1), "narrow() cannot be applied to a 0-dim tensor.");
    refused(one.slice(0, 0, 1, 1), "slice() cannot be applied to a 0-dim tensor.");
    refused(one.select(0, 0), "select() cannot be applied to a 0-dim tensor.");
    refused(one.chunk(1, 0), "chunk expects at least a 1-dimensional tensor");
    refused(one.split(1, 0), "split expects at least a 1-dimensional tensor");
    let text = "split_with_sizes expects at least a 1-dimensional tensor";
    refused(one.split_with_sizes(&[1], 0), text);
    refused(one.unbind(0), "Dimension specified as 0 but tensor has no dimensions");
    refused(one.diagonal(0, 0, 0), "diagonal dimensions cannot be identical 0, 0");
    assert_eq!(one.transpose(0, -1).unwrap().sizes(), [0_i64; 0]);
    assert_eq!(one.flatten(0, -1).unwrap().sizes(), [1]);
    assert_eq!(one.squeeze(&[0]).unwrap().sizes(), [0_i64; 0]);
    assert_eq!(one.permute(&[]).unwrap().sizes(), [0_i64; 0]);
    assert_eq!(one.view(&[1, 1, -1]).unwrap().sizes(), [1, 1, 1]);
    assert_eq!(one.expand(&[2, 3]).unwrap().strides(), [0, 0]);
}

#[test]
fn parts_of_a_dimension() {
    let _one = testkit::places::alone();
    let cube = tensor(&[2, 3, 4]);
    refused(cube.narrow(1, 0, -1), "narrow(): length must be non-negative.");
    let range = "start out of range (expected to be in range of [-3, 3], but got ";
    for start in [4, -4, i64::MAX, i64::MIN] {
        refused(cube.narrow(1, start, 0), &format!("{range}{start})"));
    }
    refused(cube.narrow(1, 2, 2), "start (2) + length (2) exceeds dimension size (3).");
    refused(cube.narrow(1, -1, 2), "start (2) + length (2) exceeds dimension size (3).");
    let text = format!("start (1) + length ({}) exceeds dimension size (3).", i64::MAX);
    refused(cube.narrow(1, 1, i64::MAX), &text);
    for step in [0, -1, i64::MIN] {
        refused(cube.slice(0, 0, 2, step), "slice step must be positive");
    }
    for index in [3, -4, i64::MAX, i64::MIN] {
        let text = format!(
            "select(): index {index} out of range for tensor of size [2, 3, 4] at dimension 1"
        );
        refused(cube.select(1, index), &text);
    }
    for count in [0, -1, i64::MIN] {
        let text = format!("chunk expects `chunks` to be greater than 0, got: {count}");
        refused(cube.chunk(count, 0), &text);
    }
    for size in [-1, i64::MIN] {
        let text = format!("split expects split_size be non-negative, but got split_size={size}");
        refused(cube.split(size, 0), &text);
    }
    let text = "split_size can only be 0 if dimension size is 0, but got dimension size of 2";
    refused(cube.split(0, 0), text);
    let text = "split_with_sizes expects split_sizes to sum exactly to 3 (input tensor's size at dimension 1), \
                but got split_sizes=[1, 1]";
    refused(cube.split_with_sizes(&[1, 1], 1), text);
    let text = "split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=[4, -1]";
    refused(cube.split_with_sizes(&[4, -1], 1), text);
    refused(cube.split_with_sizes(&[i64::MAX, i64::MAX, 5], 1), "to sum exactly to 3");
    assert_eq!(cube.chunk(i64::MAX, 1).unwrap().len(), 3);
    assert_eq!(cube.split(i64::MAX, 1).unwrap().len(), 1);
    assert_eq!(cube.slice(1, i64::MIN, i64::MAX, i64::MAX).unwrap().sizes(), [2, 1, 4]);
}

#[test]
fn orders_of_dimensions() {
    let _one = testkit::places::alone();
    let cube = tensor(&[2, 3, 4]);
    let text = "number of dimensions in the tensor input does not match the length of the desired ordering of \
                dimensions i.e. input.dim() = 3 is not equal to len(dims) = 2";
    refused(cube.permute(&[0, 1]), text);
    refused(cube.permute(&[0, 1, -2]), "permute(): duplicate dims are not allowed.");
    refused(cube.squeeze(&[0, -3]), "dim 0 appears multiple times in the list of dims");
    refused(cube.flatten(2, 1), "flatten() has invalid args: start_dim cannot come after end_dim");
    refused(cube.diagonal(0, 1, -2), "diagonal dimensions cannot be identical 1, -2");
    for above in [i64::MAX, i64::MIN, 4, -2] {
        assert_eq!(cube.diagonal(above, 0, 2).unwrap().sizes(), [3, 0], "{above}");
    }
}

#[test]
fn other_sizes() {
    let _one = testkit::places::alone();
    let matrix = tensor(&[2, 3]);
    refused(matrix.view(&[-1, -1]), "only one dimension can be inferred");
    refused(matrix.reshape(&[-1, 2, -1]), "only one dimension can be inferred");
    refused(matrix.view(&[-2, 3]), "invalid shape dimension -2");
    refused(matrix.view(&[i64::MIN]), "invalid shape dimension -9223372036854775808");
    refused(matrix.view(&[4]), "shape '[4]' is invalid for input of size 6");
    refused(matrix.view(&[4, -1]), "shape '[4, -1]' is invalid for input of size 6");
    refused(matrix.view(&[0, -1]), "shape '[0, -1]' is invalid for input of size 6");
    refused(matrix.reshape(&[i64::MAX, 2]), "is invalid for input of size 6");
    refused(matrix.view(&[1 << 32, 1 << 32, 6]), "is invalid for input of size 6");
    let empty = tensor(&[2, 0]);
    let text = "cannot reshape tensor of 0 elements into shape [0, -1] because the unspecified dimension size -1 \
                can be any value and is ambiguous";
    refused(empty.view(&[0, -1]), text);
    assert_eq!(empty.view(&[-1, 5]).unwrap().sizes(), [0, 5]);
    assert_eq!(empty.view(&[i64::MAX, 2, 0]).unwrap().numel(), 0);
    let text = "view size is not compatible with input tensor's size and stride (at least one dimension spans \
                across two contiguous subspaces). Use .reshape(...) instead.";
    refused(matrix.transpose(0, 1).unwrap().view(&[6]), text);
    let text = "unflatten: Provided sizes [2, 2] don't multiply up to the size of dim 1 (3) in the input tensor";
    refused(matrix.unflatten(1, &[2, 2]), text);
    refused(matrix.unflatten(1, &[]), "unflatten: sizes must be non-empty");
}

#[test]
fn repeated_dimensions() {
    let _one = testkit::places::alone();
    let matrix = tensor(&[2, 1]);
    let text = "the number of sizes provided (1) must be greater or equal to the number of dimensions in the \
                tensor (2)";
    refused(matrix.expand(&[2]), text);
    let text =
        "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension 0";
    refused(matrix.expand(&[-1, 2, 1]), text);
    let text = "The expanded size of the tensor (3) must match the existing size (2) at non-singleton dimension \
                0.  Target sizes: [3, 1].  Tensor sizes: [2, 1]";
    refused(matrix.expand(&[3, 1]), text);
    refused(matrix.expand(&[2, -2]), "negative dimension -2");
    refused(matrix.expand(&[-5, 2, 1]), "negative dimension -5");
    refused(matrix.expand(&[i64::MAX, 2, 1]), "overflowed");
    let wide = matrix.expand(&[1 << 40, 2, 1 << 20]).unwrap();
    assert_eq!((wide.numel(), wide.strides()), (1 << 61, vec![0, 1, 0]));
    // Strides of new dimensions of one element, recorded from PyTorch 2.11.
    let rows = tensor(&[2, 6]);
    for (sizes, strides) in [
        (&[1, 2, 6][..], &[12, 6, 1][..]),
        (&[1, 1, 2, 6], &[12, 12, 6, 1]),
        (&[1, 3, 2, 6], &[0, 0, 6, 1]),
        (&[3, 1, 2, 6], &[0, 12, 6, 1]),
    ] {
        assert_eq!(rows.expand(sizes).unwrap().strides(), strides, "{sizes:?}");
    }
    assert_eq!(tensor(&[]).expand(&[1]).unwrap().strides(), [0]);
}

#[test]
fn strides_of_the_callers_choice() {
    let _one = testkit::places::alone();
    let matrix = tensor(&[2, 3]);
    let text = "as_strided: Negative strides are not supported at the moment, got strides: [1, -1]";
    refused(matrix.as_strided(&[1, 1], &[1, -1], 0), text);
    let text = "requiring a storage size of 28 are out of bounds for storage of size 24";
    refused(matrix.as_strided(&[2, 3], &[3, 1], 1), text);
    let text = "setStorage: sizes [2], strides [6], storage offset 0, and itemsize 4 requiring a storage size of 28 \
                are out of bounds for storage of size 24";
    refused(matrix.as_strided(&[2], &[6], 0), text);
    refused(matrix.as_strided(&[3], &[i64::MAX], 0), "out of bounds");
    refused(matrix.as_strided(&[1], &[1], i64::MAX), "out of bounds");
    refused(matrix.as_strided(&[2, -1], &[1, 1], 0), "negative dimension -1");
    refused(matrix.as_strided(&[1], &[1], -2), "invalid storage offset -2");
    let offset = matrix.select(0, 1).unwrap();
    let own = offset.as_strided(&[2], &[1], -1).unwrap();
    assert_eq!((own.storage_offset(), own.i32s()), (3, vec![3, 4]));
}

/// Nothing overflows where there are no elements, whatever strides and offset are.
#[test]
fn huge_strides_of_no_elements() {
    let _one = testkit::places::alone();
    for device in [CPU, 0] {
        let matrix = from_i32(&[1, 2, 3, 4, 5, 6], &[2, 3], device);
        let most = i64::MAX;
        let none = matrix.as_strided(&[4, 0, 5], &[most, most, most], most).unwrap();
        assert_eq!(none.numel(), 0);
        let views = [
            none.narrow(0, 3, 1),
            none.narrow(2, 3, 2),
            none.slice(2, 4, most, 2),
            none.slice(2, 0, most, 3),
            none.select(0, 3),
            none.select(2, -1),
            none.diagonal(0, 0, 2),
            none.diagonal(2, 0, 2),
            none.diagonal(-3, 0, 2),
            none.unsqueeze(0),
            none.permute(&[2, 0, 1]),
            none.expand(&[2, 4, 0, 5]),
            none.flatten(0, -1),
            none.view(&[0, 7]),
            none.unflatten(0, &[2, 2]),
            none.clone_as(SCONCE_MEMORY_FORMAT_PRESERVE),
            none.contiguous(SCONCE_MEMORY_FORMAT_CONTIGUOUS),
        ];
        for (place, view) in views.into_iter().enumerate() {
            let view = view.unwrap_or_else(|failure| panic!("view {place}: {failure:?}"));
            assert_eq!((view.numel(), view.bytes().unwrap().len()), (0, 0));
            let _address = view.data();
            view.copy_from(&view.clone_as(SCONCE_MEMORY_FORMAT_PRESERVE).unwrap(), false).unwrap();
        }
        assert_eq!(none.unbind(2).unwrap().len(), 5);
        assert_eq!(none.split(2, 0).unwrap().len(), 2);
    }
}
