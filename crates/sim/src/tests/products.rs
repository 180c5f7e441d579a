//! Products of matrices: against plain loops, in order, with faults.

use proptest::prelude::*;
use sconce_base::element::Dtype;
use sconce_base::error::Status;
use sconce_base::types::DevicePtr;
use sconce_driver::prelude::*;
use sconce_driver::{BlasHandle, CaptureMode, Gemm, MathMode, Matrix, StreamRef};

use super::numbers::*;
use super::support::*;
use crate::{Call, Simulator};

const INVALID_VALUE: i32 = 7;
const MISALIGNED_ADDRESS: i32 = 716;

/// Two packed square matrices of F32, `b` to the right of `a`, and `c` to the right of both.
fn square(n: i64, at: DevicePtr) -> Gemm {
    let matrix = |index: i64| Matrix {
        address: DevicePtr(at.0 + (4 * n * n * index) as u64),
        column: n,
        batch: n * n,
    };
    Gemm {
        element: Dtype::F32,
        transpose: [false; 2],
        m: n,
        n,
        k: n,
        batch: 1,
        alpha: 1.0,
        beta: 0.0,
        a: matrix(0),
        b: matrix(1),
        c: matrix(2),
    }
}

/// A handle whose work goes to the stream.
fn handle(sim: &Simulator, stream: StreamRef) -> Box<dyn BlasHandle> {
    let mut handle = sim.blas_create(stream.device).unwrap();
    handle.set_stream(stream).unwrap();
    handle
}

/// What `c` holds afterwards: elements of the whole buffer, gaps with it.
fn expected(gemm: &Gemm, [a, b, c]: [&[f64]; 3]) -> Vec<f64> {
    let at = |matrix: &Matrix, batch: i64, row: i64, column: i64| {
        (matrix.batch * batch + matrix.column * column + row) as usize
    };
    let turned =
        |turn: bool, row: i64, column: i64| if turn { (column, row) } else { (row, column) };
    let mut result = c.to_vec();
    for batch in 0..gemm.batch {
        for (i, j) in (0..gemm.m).flat_map(|i| (0..gemm.n).map(move |j| (i, j))) {
            let sum: f64 = (0..gemm.k)
                .map(|l| {
                    let (row, column) = turned(gemm.transpose[0], i, l);
                    let left = a[at(&gemm.a, batch, row, column)];
                    let (row, column) = turned(gemm.transpose[1], l, j);
                    left * b[at(&gemm.b, batch, row, column)]
                })
                .sum();
            let place = at(&gemm.c, batch, i, j);
            let before = if gemm.beta == 0.0 { 0.0 } else { gemm.beta * result[place] };
            let product = if gemm.alpha == 0.0 { 0.0 } else { gemm.alpha * sum };
            result[place] = product + before;
        }
    }
    result
}

/// A shape with gaps: addresses are filled in later. Leading dimensions and batches are larger than
/// need be by what is drawn; a factor's batch may repeat.
fn gemms() -> impl Strategy<Value = Gemm> {
    let element = prop::sample::select(vec![Dtype::F16, Dtype::Bf16, Dtype::F32, Dtype::F64]);
    let factor = prop::sample::select(vec![0.0, 1.0, -1.5]);
    let sizes = (1_i64..20, 1_i64..20, 0_i64..40, 1_i64..4);
    let gaps =
        (prop::array::uniform3(0_i64..4), prop::array::uniform3(0_i64..5), any::<[bool; 2]>());
    (element, any::<[bool; 2]>(), sizes, factor.clone(), factor, gaps).prop_map(
        |(element, transpose, (m, n, k, batch), alpha, beta, (columns, batches, repeats))| {
            let matrix = |index: usize, turn: bool, rows: i64, width: i64| {
                let (rows, width) = if turn { (width, rows) } else { (rows, width) };
                let column = rows.max(1) + columns[index];
                let all = column * width + batches[index];
                let repeats = repeats.get(index).is_some_and(|repeats| *repeats);
                Matrix { address: DevicePtr(0), column, batch: if repeats { 0 } else { all } }
            };
            let a = matrix(0, transpose[0], m, k);
            let b = matrix(1, transpose[1], k, n);
            let c = matrix(2, false, m, n);
            Gemm { element, transpose, m, n, k, batch, alpha, beta, a, b, c }
        },
    )
}

/// How many elements to hold for a matrix with up to this many columns.
fn extent(matrix: &Matrix, columns: i64, batch: i64) -> usize {
    ((matrix.batch * (batch - 1)) + matrix.column * columns + 1) as usize
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn a_product_is_what_loops_calculate(mut gemm in gemms(), seed in any::<u64>()) {
        let sim = automatic(1);
        let stream = stream(&sim);
        let widest = gemm.m.max(gemm.n).max(gemm.k);
        let (element, mut seed) = (gemm.element, seed);
        let extents = [gemm.a, gemm.b, gemm.c].map(|matrix| extent(&matrix, widest, gemm.batch));
        let mut held = extents.map(|count| values(element, count, &mut seed));
        if gemm.beta == 0.0 {
            held[2].fill(f64::NAN);
        }
        if gemm.alpha == 0.0 {
            held[..2].iter_mut().for_each(|factor| factor.fill(f64::NAN));
        }
        let on_device = held.each_ref().map(|values| upload(&sim, element, values, stream));
        (gemm.a.address, gemm.b.address, gemm.c.address) = on_device.into();
        handle(&sim, stream).gemm(&gemm).unwrap();
        let got = download(&sim, element, on_device[2], extents[2], stream);
        let wanted = expected(&gemm, held.each_ref().map(|values| &values[..]));
        for (index, (got, wanted)) in got.iter().zip(&wanted).enumerate() {
            let tolerance = step(element) * (wanted.abs() + 1.0) + 4e-6 * f64::from(element != Dtype::F64);
            let same = got.is_nan() && wanted.is_nan();
            prop_assert!(same || (got - wanted).abs() <= tolerance, "{index}: {got} {wanted} {gemm:?}");
        }
    }
}

#[test]
fn tf32_rounds_the_factors_of_f32_and_nothing_else() {
    let sim = automatic(1);
    let stream = stream(&sim);
    let n = 24;
    let mut blas = handle(&sim, stream);
    for element in [Dtype::F32, Dtype::F64] {
        let mut seed = 7;
        let count = (n * n) as usize;
        let held = [(); 3].map(|()| values(element, count, &mut seed));
        let places = held.each_ref().map(|values| upload(&sim, element, values, stream));
        let mut gemm = Gemm { element, ..square(n, DevicePtr(0)) };
        (gemm.a.address, gemm.b.address, gemm.c.address) = places.into();
        let wanted = expected(&gemm, held.each_ref().map(|values| &values[..]));
        let mut error = |mode| {
            blas.set_math_mode(mode).unwrap();
            blas.gemm(&gemm).unwrap();
            // The mode at the call counts, not the one when the product runs.
            blas.set_math_mode(MathMode::Ieee).unwrap();
            let got = download(&sim, element, places[2], count, stream);
            relative_error(&got, &wanted)
        };
        let (ieee, tf32) = (error(MathMode::Ieee), error(MathMode::Tf32));
        match element {
            Dtype::F32 => {
                assert!(ieee < 1e-6, "{ieee}");
                assert!((1e-5..2e-3).contains(&tf32), "{tf32}");
            }
            _ => assert!(ieee < 1e-14 && tf32 == ieee, "{ieee} {tf32}"),
        }
    }
}

#[test]
fn factors_are_read_and_results_appear_when_the_stream_comes_to_it() {
    let sim = manual(1);
    let [own, other] = [(); 2].map(|()| stream(&sim));
    let memory = sim.memory_alloc(D0, 48).unwrap();
    let pinned = sim.host_alloc(D0, 48).unwrap();
    // Writes to the device, and reads from there, between the steps of the product's stream.
    let write = |values: &[f64]| {
        let bytes = encode(Dtype::F32, values);
        bytes.iter().enumerate().for_each(|(index, byte)| poke(pinned + index, *byte));
        sim.copy_async(memory.into(), host(pinned), bytes.len(), other).unwrap();
        assert!(sim.step(other).unwrap());
    };
    let result = || {
        sim.copy_async(host(pinned), memory.into(), 48, other).unwrap();
        assert!(sim.step(other).unwrap());
        let bytes: Vec<u8> = (0..48).map(|index| peek(pinned + index)).collect();
        decode(Dtype::F32, &bytes)[8..].to_vec()
    };
    write(&[1.0; 12]);
    let mut blas = handle(&sim, own);
    blas.gemm(&square(2, memory)).unwrap();
    assert_eq!(sim.pending(own).unwrap(), 1);
    write(&[3.0, 4.0, 5.0, 6.0]);
    assert_eq!(result(), [1.0; 4]);
    assert!(sim.step(own).unwrap());
    assert_eq!(result(), [8.0, 10.0, 8.0, 10.0]);
}

#[test]
fn a_captured_product_does_not_run() {
    let sim = automatic(1);
    let stream = stream(&sim);
    let memory = upload(&sim, Dtype::F32, &[1.0; 12], stream);
    let mut blas = handle(&sim, stream);
    sim.stream_synchronize(stream).unwrap();
    sim.begin_capture(stream, CaptureMode::Global).unwrap();
    blas.gemm(&square(2, memory)).unwrap();
    assert_eq!(sim.end_capture(stream).unwrap(), 1);
    sim.stream_synchronize(stream).unwrap();
    assert_eq!(download(&sim, Dtype::F32, memory, 12, stream), [1.0; 12]);
}

#[test]
fn what_the_library_would_refuse_is_refused_and_queues_nothing() {
    let sim = manual(1);
    let stream = stream(&sim);
    let memory = sim.memory_alloc(D0, 4096).unwrap();
    let mut blas = handle(&sim, stream);
    let good = Gemm { m: 2, n: 3, k: 4, ..square(4, memory) };
    let with = |change: &dyn Fn(&mut Gemm)| {
        let mut gemm = good;
        change(&mut gemm);
        gemm
    };
    for bad in [
        with(&|gemm| gemm.m = 0),
        with(&|gemm| gemm.n = 0),
        with(&|gemm| gemm.k = -1),
        with(&|gemm| gemm.batch = 0),
        with(&|gemm| gemm.a.column = 1),
        with(&|gemm| (gemm.transpose[0], gemm.a.column) = (true, 3)),
        with(&|gemm| gemm.b.column = 3),
        with(&|gemm| (gemm.transpose[1], gemm.b.column) = (true, 2)),
        with(&|gemm| gemm.c.column = 1),
        with(&|gemm| (gemm.k, gemm.b.column) = (0, 0)),
        with(&|gemm| (gemm.n, gemm.k) = (i64::MAX / 2, i64::MAX / 2)),
    ] {
        let error = blas.gemm(&bad).unwrap_err();
        let codes = (error.status(), error.backend_code());
        assert_eq!(codes, (Status::InvalidArgument, INVALID_VALUE), "{error} {bad:?}");
        assert!(error.to_string().contains("CUBLAS_STATUS_INVALID_VALUE"), "{error}");
    }
    assert_eq!(sim.pending(stream).unwrap(), 0);
    blas.gemm(&with(&|gemm| (gemm.transpose, gemm.b.column) = ([true, true], 3))).unwrap();
    assert_eq!(sim.pending(stream).unwrap(), 1);
}

#[test]
fn addresses_are_checked_when_it_runs_and_end_the_device() {
    let ends_with = |code: i32, change: &dyn Fn(&mut Gemm)| {
        let sim = automatic(2);
        let stream = stream(&sim);
        let memory = sim.memory_alloc(D0, 4096).unwrap();
        let mut gemm = square(16, memory);
        (gemm.b.address, gemm.c.address) = (memory, memory);
        handle(&sim, stream).gemm(&gemm).unwrap();
        sim.stream_synchronize(stream).unwrap();
        change(&mut gemm);
        handle(&sim, stream).gemm(&gemm).unwrap();
        let error = sim.stream_synchronize(stream).unwrap_err();
        assert_eq!((error.backend_code(), sim.device_error(D0)), (code, Some(code)), "{gemm:?}");
        assert_eq!(sim.device_error(device(1)), None);
    };
    let illegal = Simulator::ILLEGAL_ADDRESS;
    ends_with(illegal, &|gemm| gemm.a.address.0 += 4096);
    ends_with(illegal, &|gemm| gemm.b.address.0 = 0);
    ends_with(illegal, &|gemm| gemm.c.address.0 += 1024 + 4096);
    // Too large for the memory of the host, too: nothing is allocated for it.
    ends_with(illegal, &|gemm| (gemm.k, gemm.b.column) = (1 << 50, 1 << 50));
    ends_with(illegal, &|gemm| {
        (gemm.k, gemm.m, gemm.c.column, gemm.a.column) = (0, 1 << 55, 1 << 55, 1 << 55)
    });
    ends_with(illegal, &|gemm| (gemm.batch, gemm.c.batch) = (3, i64::MAX / 2));
    ends_with(MISALIGNED_ADDRESS, &|gemm| gemm.a.address.0 += 2);
    ends_with(MISALIGNED_ADDRESS, &|gemm| gemm.c.address.0 += 1);
}

#[test]
fn a_workspace_is_written_to_by_each_product_that_was_called_with_it() {
    let sim = automatic(2);
    let streams = [stream(&sim), stream(&sim)];
    let mut blas = handle(&sim, streams[0]);
    let memory = upload(&sim, Dtype::F32, &[1.0; 12], streams[0]);
    let workspace = sim.memory_alloc(D0, 3 * 4096).unwrap();
    let product = |blas: &mut Box<dyn BlasHandle>| {
        sim.fill_async(workspace, 0, 3 * 4096, streams[0]).unwrap();
        sim.stream_synchronize(streams[0]).unwrap();
        blas.gemm(&square(2, memory)).unwrap();
        sim.device_synchronize(D0).unwrap();
        let bytes = read_back(&sim, workspace, 3 * 4096);
        [0, 8191, 8192].map(|at| bytes[at] != 0)
    };
    assert_eq!(product(&mut blas), [false; 3]);
    blas.set_workspace(workspace, 8192).unwrap();
    assert_eq!(product(&mut blas), [true, true, false]);
    blas.set_workspace(DevicePtr(0), 0).unwrap();
    assert_eq!(product(&mut blas), [false; 3]);
    // A stream brings the library's own workspace with it.
    blas.set_workspace(workspace, 256).unwrap();
    assert_eq!(product(&mut blas), [true, false, false]);
    blas.set_stream(streams[1]).unwrap();
    assert_eq!(product(&mut blas), [false; 3]);
    // What is not memory of the device, or has gone by then.
    let foreign = sim.memory_alloc(device(1), 8192).unwrap();
    let pinned = DevicePtr(sim.host_alloc(D0, 8192).unwrap() as u64);
    for (bad, bytes) in [
        (foreign, 8192),
        (pinned, 8192),
        (DevicePtr(0), 1),
        (DevicePtr(workspace.0 + 16), 256),
        (workspace, 4 * 4096),
    ] {
        let error = blas.set_workspace(bad, bytes).unwrap_err();
        assert_eq!(error.backend_code(), INVALID_VALUE, "{bad:?} {bytes}");
    }
    blas.set_workspace(workspace, 8192).unwrap();
    sim.memory_free(D0, workspace).unwrap();
    blas.gemm(&square(2, memory)).unwrap();
    let error = sim.device_synchronize(D0).unwrap_err();
    assert_eq!(error.backend_code(), Simulator::ILLEGAL_ADDRESS);
}

#[test]
fn handles_have_numbers_of_their_own_and_streams_of_their_device() {
    let sim = automatic(2);
    let mut blas = sim.blas_create(D0).unwrap();
    let other = sim.blas_create(D0).unwrap();
    assert!(blas.native() != 0 && other.native() != 0 && blas.native() != other.native());
    let error = blas.set_stream(stream_on(&sim, device(1), true)).unwrap_err();
    assert_eq!(error.backend_code(), INVALID_VALUE);
    assert_eq!(blas.set_stream(no_stream()).unwrap_err().status(), Status::InvalidHandle);
    assert!(sim.blas_create(device(2)).is_err());
}

#[test]
fn each_call_is_counted_and_fails_when_told_to() {
    let sim = automatic(1);
    let stream = stream(&sim);
    let memory = upload(&sim, Dtype::F32, &[1.0; 12], stream);
    let mut blas = handle(&sim, stream);
    sim.reset_call_counts();
    let calls =
        [Call::BlasSetStream, Call::BlasSetWorkspace, Call::BlasSetMathMode, Call::BlasGemm];
    for call in calls {
        sim.fail_call(call, 1, 13);
    }
    for failing in [true, false] {
        let results = [
            blas.set_stream(stream),
            blas.set_workspace(DevicePtr(0), 0),
            blas.set_math_mode(MathMode::Ieee),
            blas.gemm(&square(2, memory)),
        ];
        for result in results {
            let code = result.err().map(|error| error.backend_code());
            assert_eq!(code, failing.then_some(13));
        }
    }
    assert_eq!(calls.map(|call| sim.call_count(call)), [2; 4]);
    sim.fail_call(Call::BlasCreate, 1, 1);
    sim.fail_call(Call::BlasCreate, 1, -1);
    assert_eq!(sim.blas_create(D0).err().unwrap().status(), Status::Driver);
    assert_eq!(sim.blas_create(D0).err().unwrap().status(), Status::LibraryNotFound);
    sim.fail_operation(Call::BlasGemm, 1, Simulator::LAUNCH_FAILED);
    blas.gemm(&square(2, memory)).unwrap();
    assert_eq!(
        sim.stream_synchronize(stream).unwrap_err().backend_code(),
        Simulator::LAUNCH_FAILED
    );
    assert!(blas.gemm(&square(2, memory)).is_err());
}

#[test]
fn it_takes_longer_the_more_there_is_to_calculate() {
    let sim = manual(1);
    let stream = stream(&sim);
    let memory = sim.memory_alloc(D0, 3 << 20).unwrap();
    let mut blas = handle(&sim, stream);
    let mut took = |n: i64| {
        let before = sim.now_ns();
        blas.gemm(&Gemm { m: n, n, k: n, ..square(256, memory) }).unwrap();
        assert!(sim.step(stream).unwrap());
        sim.now_ns() - before
    };
    let (small, large) = (took(1), took(256));
    assert!(small >= 5_000 && large >= 5_000 + 2 * 256 * 256 * 256 / 10_000, "{small} {large}");
}
