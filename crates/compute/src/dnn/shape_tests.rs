use super::*;

fn request(operation: ConvolutionOperation, spatial: usize) -> ConvolutionRequest {
    ConvolutionRequest {
        operation,
        element: Dtype::F32,
        spatial,
        batch: 2,
        in_channels: 6,
        out_channels: 4,
        groups: 2,
        input_sizes: [9, 8, 7],
        filter_sizes: [3, 2, 1],
        stride: [2, 1, 3],
        padding: [1, 0, 2],
        dilation: [1, 2, 1],
        input_strides: [0; 5],
        filter_strides: [0; 5],
        output_strides: [0; 5],
    }
}

const FORWARD: ConvolutionOperation = ConvolutionOperation::Forward;
const ALL: [ConvolutionOperation; 3] =
    [FORWARD, ConvolutionOperation::Data, ConvolutionOperation::Filter];

#[track_caller]
fn problem(request: &ConvolutionRequest) -> (Convolution, [usize; 3]) {
    match request.task() {
        Ok(ConvolutionTask::Convolve(problem, bytes)) => (problem, bytes),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn refused(request: &ConvolutionRequest, words: &str) {
    let error = request.task().unwrap_err();
    assert_eq!(error.status(), sconce_base::error::Status::InvalidArgument);
    assert!(error.message().contains(words), "{error} does not say {words}");
}

#[test]
fn sizes_follow_the_formula_of_torch() {
    assert_eq!(request(FORWARD, 3).output_sizes(), Ok([5, 6, 4]));
    assert_eq!(request(FORWARD, 2).output_sizes(), Ok([5, 6, 1]));
    let just = ConvolutionRequest { input_sizes: [1, 3, 0], ..request(FORWARD, 2) };
    assert_eq!(just.output_sizes(), Ok([1, 1, 1]));
}

#[test]
fn packed_is_the_default_and_says_the_same_as_its_strides() {
    let (packed, bytes) = problem(&request(FORWARD, 2));
    assert_eq!(packed.input.sizes, [2, 6, 9, 8, 1]);
    assert_eq!(packed.input.strides, [432, 72, 8, 1, 1]);
    assert_eq!(packed.filter.sizes, [4, 3, 3, 2, 1]);
    assert_eq!(packed.filter.strides, [18, 6, 2, 1, 1]);
    assert_eq!(packed.output.sizes, [2, 4, 5, 6, 1]);
    assert_eq!((packed.stride, packed.padding, packed.dilation), ([2, 1, 1], [1, 0, 0], [1, 2, 1]));
    assert_eq!(bytes, [4 * 864, 4 * 72, 4 * 240]);
    // What is past the rank is not read.
    let given = ConvolutionRequest {
        input_sizes: [9, 8, -1],
        stride: [2, 1, 0],
        dilation: [1, 2, -7],
        input_strides: [432, 72, 8, 1, -5],
        filter_strides: [18, 6, 2, 1, 99],
        ..request(FORWARD, 2)
    };
    assert_eq!(problem(&given).0, packed);
}

#[test]
fn strides_of_sizes_of_one_do_not_matter_and_follow_the_layout() {
    let one = |strides| ConvolutionRequest {
        batch: 1,
        in_channels: 6,
        groups: 6,
        out_channels: 6,
        input_strides: strides,
        ..request(FORWARD, 2)
    };
    let first = problem(&one([0; 5])).0;
    for batch in [432, 7, 0, -3, i64::MAX] {
        assert_eq!(problem(&one([batch, 72, 8, 1, 0])).0, first, "{batch}");
    }
    assert_eq!(first.filter.strides, [6, 6, 2, 1, 1]);
    let last = problem(&one([-1, 1, 48, 6, 0])).0;
    assert_eq!(last.input.strides, [432, 1, 48, 6, 1]);
    assert_eq!(last.filter.strides, [6, 1, 2, 1, 1]);
    // Nothing but channels: packed and channels last are the same.
    let points = |strides| ConvolutionRequest {
        input_sizes: [1; 3],
        filter_sizes: [1; 3],
        padding: [0; 3],
        input_strides: strides,
        ..request(FORWARD, 3)
    };
    assert_eq!(problem(&points([6, 1, 6, 6, 6])).0, problem(&points([6, 1, 1, 1, 1])).0);
}

#[test]
fn every_bound_is_checked_by_name() {
    let good = request(FORWARD, 2);
    let with = |change: fn(&mut ConvolutionRequest)| {
        let mut changed = good;
        change(&mut changed);
        changed
    };
    refused(&with(|r| r.batch = -1), "desc.batch is -1; it must be at least 0");
    refused(&with(|r| r.in_channels = -2), "desc.in_channels is -2");
    refused(&with(|r| r.out_channels = -2), "desc.out_channels is -2");
    refused(&with(|r| r.groups = 0), "desc.groups is 0; it must be at least 1");
    refused(
        &with(|r| r.in_channels = 5),
        "desc.in_channels is 5, not a multiple of desc.groups, 2",
    );
    refused(&with(|r| r.out_channels = 5), "desc.out_channels is 5, not a multiple");
    refused(&with(|r| r.input_sizes[1] = -1), "desc.input_sizes[1] is -1");
    refused(&with(|r| r.filter_sizes[0] = 0), "desc.filter_sizes[0] is 0; it must be at least 1");
    refused(&with(|r| r.stride[1] = 0), "desc.stride[1] is 0; it must be at least 1");
    refused(&with(|r| r.padding[0] = -1), "desc.padding[0] is -1; it must be at least 0");
    refused(&with(|r| r.dilation[1] = 0), "desc.dilation[1] is 0");
    refused(&with(|r| r.filter_sizes[0] = 12), "spans 12 elements, but the padded input has 11");
    refused(&with(|r| r.input_sizes[1] = 2), "spans 3 elements, but the padded input has 2");
    refused(&with(|r| r.input_strides = [1, 0, 1, 1, 1]), "desc.input_strides[1] is 0");
    refused(&with(|r| r.filter_strides = [9, 3, -1, 1, 1]), "desc.filter_strides[2] is -1");
    refused(&with(|r| r.output_strides = [4, 30, 6, 1, 0]), "desc.output_strides[0]");
    // What is read may overlap.
    assert!(with(|r| r.input_strides = [3, 1, 1, 1, 0]).task().is_ok());
    for operation in ALL {
        let overlapping = ConvolutionRequest {
            input_strides: [432, 72, 8, 8, 0],
            filter_strides: [18, 6, 3, 2, 0],
            output_strides: [100, 30, 6, 1, 0],
            operation,
            ..good
        };
        let name = ["output_strides[0]", "input_strides[", "filter_strides[1]"][operation as usize];
        refused(&overlapping, name);
    }
}

#[test]
fn sizes_and_strides_that_leave_the_numbers_are_refused() {
    let good = request(FORWARD, 3);
    for huge in [
        ConvolutionRequest { input_sizes: [i64::MAX; 3], ..good },
        ConvolutionRequest { padding: [i64::MAX; 3], ..good },
        ConvolutionRequest { batch: i64::MAX, ..good },
        ConvolutionRequest { in_channels: i64::MAX - 1, ..good },
        ConvolutionRequest { out_channels: i64::MAX - 1, ..good },
        ConvolutionRequest { input_strides: [i64::MAX, 1, 1, 1, 1], ..good },
        ConvolutionRequest { input_strides: [1, i64::MAX / 8, 1, 1, 1], ..good },
        ConvolutionRequest { filter_strides: [i64::MAX / 3, 1, 1, 1, 1], ..good },
        ConvolutionRequest { output_strides: [i64::MAX / 4 + 1, 1, 1, 1, 1], ..good },
    ] {
        refused(&huge, "reach beyond the address space");
    }
    let spread = ConvolutionRequest { dilation: [i64::MAX; 3], ..good };
    refused(&spread, "desc.filter_sizes[0] and desc.dilation[0]");
}

#[test]
fn without_products_the_result_is_zero_or_nothing() {
    let empty = |operation, change: fn(&mut ConvolutionRequest)| {
        let mut request = request(operation, 2);
        change(&mut request);
        request.task().unwrap()
    };
    let [forward, data, filter] = ALL;
    let no_images = |r: &mut ConvolutionRequest| r.batch = 0;
    assert_eq!(empty(forward, no_images), ConvolutionTask::Nothing);
    assert_eq!(empty(data, no_images), ConvolutionTask::Nothing);
    let ConvolutionTask::Zero(zeros, bytes) = empty(filter, no_images) else { panic!() };
    assert_eq!((zeros.sizes, zeros.strides), ([4, 3, 3, 2, 1], [18, 6, 2, 1, 1]));
    assert_eq!(bytes, [0, 4 * 72, 0]);
    let no_inputs = |r: &mut ConvolutionRequest| r.in_channels = 0;
    assert!(matches!(empty(forward, no_inputs), ConvolutionTask::Zero(..)));
    assert_eq!([data, filter].map(|o| empty(o, no_inputs)), [ConvolutionTask::Nothing; 2]);
    let no_outputs = |r: &mut ConvolutionRequest| r.out_channels = 0;
    assert!(matches!(empty(data, no_outputs), ConvolutionTask::Zero(..)));
    assert_eq!([forward, filter].map(|o| empty(o, no_outputs)), [ConvolutionTask::Nothing; 2]);
    // Padding alone.
    let only_padding = |r: &mut ConvolutionRequest| {
        (r.input_sizes[0], r.padding[0]) = (0, 2);
    };
    assert!(matches!(empty(forward, only_padding), ConvolutionTask::Zero(..)));
    // Strides of what has no elements are not looked at, others are.
    let mut strided = request(filter, 2);
    (strided.batch, strided.input_strides, strided.output_strides) = (0, [-1; 5], [i64::MAX; 5]);
    assert!(matches!(strided.task(), Ok(ConvolutionTask::Zero(..))));
    strided.filter_strides = [1; 5];
    refused(&strided, "desc.filter_strides");
}

#[test]
fn roles_name_what_is_read_and_written() {
    assert_eq!(roles(FORWARD), [INPUT, FILTER, OUTPUT]);
    assert_eq!(roles(ConvolutionOperation::Data), [OUTPUT, FILTER, INPUT]);
    assert_eq!(roles(ConvolutionOperation::Filter), [OUTPUT, INPUT, FILTER]);
}
