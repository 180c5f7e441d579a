//! What the CUDA backend hands to cuBLAS, and what it makes of the answers.

#![allow(unsafe_code, reason = "reaches into the fake libraries")]
#![allow(clippy::unwrap_used, reason = "a test may fail loudly anywhere")]

mod products;

use sconce_base::element::Dtype;
use sconce_base::error::{Error, Status};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::prelude::*;
use sconce_driver::{BlasHandle, Gemm, MathMode, Matrix, StreamRef};
use testkit::fake_cuda::library::FakeLibrary;
use testkit::fake_cuda::{self, Fake, open_beside};

/// The fake's first handle.
const HANDLE: i64 = 0xB1A5_0001;
const GEMM: &str = "cublasGemmStridedBatchedEx";
const GETTERS: [&str; 2] = ["cublasGetStream_v2", "cublasGetMathMode"];
const GEMM_64: &str = "cublasGemmStridedBatchedEx_64";
/// The first number that takes 64 bits.
const WIDE: i64 = 1 << 31;

fn device() -> DeviceIndex {
    DeviceIndex::new(1).unwrap()
}

fn stream(handle: usize) -> StreamRef {
    StreamRef { device: device(), handle: fake_cuda::stream(handle) }
}

fn beside(blas: &[&str], cuda: &[&str]) -> (Fake, FakeLibrary) {
    let library = FakeLibrary::new("fake_cublas.c", "libcublas.so.13", blas);
    let path = library.path();
    let fake = open_beside(cuda, |config| config.libcublas = Some(path)).ok().unwrap();
    library.ask(&fake);
    (fake, library)
}

fn fake() -> (Fake, FakeLibrary, Box<dyn BlasHandle>) {
    let (fake, library) = beside(&[], &[]);
    let handle = fake.driver.blas_create(device()).unwrap();
    library.calls();
    (fake, library, handle)
}

fn refused(fake: &Fake) -> Error {
    fake.driver.blas_create(device()).err().unwrap()
}

/// A product whose every number is another one.
fn product(element: Dtype) -> Gemm {
    let matrix = |address, column, batch| Matrix { address: DevicePtr(address), column, batch };
    Gemm {
        element,
        transpose: [false, true],
        m: 3,
        n: 5,
        k: 7,
        batch: 11,
        alpha: 1.5,
        beta: -0.25,
        a: matrix(0x1000, 13, 1 << 40),
        b: matrix(0x2000, 17, -19),
        c: matrix(0x3000, 23, 29),
    }
}

/// The functions for one product, which PyTorch calls too.
const SINGLE: [(Dtype, &str); 6] = [
    (Dtype::F16, "cublasGemmEx"),
    (Dtype::Bf16, "cublasGemmEx"),
    (Dtype::F32, "cublasSgemm_v2"),
    (Dtype::F64, "cublasDgemm_v2"),
    (Dtype::C64, "cublasCgemm_v2"),
    (Dtype::C128, "cublasZgemm_v2"),
];

/// Sets one of the numbers that 32 bits may not hold.
fn with_size(index: usize, size: i64) -> Gemm {
    let mut gemm = product(Dtype::F32);
    let numbers = [
        &mut gemm.m,
        &mut gemm.n,
        &mut gemm.k,
        &mut gemm.a.column,
        &mut gemm.b.column,
        &mut gemm.c.column,
        &mut gemm.batch,
    ];
    *numbers.into_iter().nth(index).unwrap() = size;
    gemm
}

#[test]
fn a_handle_is_made_on_its_device_and_never_destroyed() {
    let (fake, library) = beside(&[], &[]);
    let first = fake.driver.blas_create(device()).unwrap();
    assert_eq!(first.native(), HANDLE as usize);
    assert_eq!(fake.current(), None, "no context stays behind");
    fake.push(1);
    let second = fake.driver.blas_create(DeviceIndex::ZERO).unwrap();
    assert_eq!(second.native(), HANDLE as usize + 1);
    assert_eq!((fake.current(), fake.depth()), (Some(1), 1));
    drop((first, second));
    let calls = library.calls();
    assert_eq!(calls.len(), 2);
    for (call, device) in calls.iter().zip([1, 0]) {
        assert_eq!((call.name.as_str(), call.device), ("cublasCreate_v2", device));
    }
}

#[test]
fn each_call_has_the_handles_device_current_and_leaves_what_was() {
    let (fake, library, mut handle) = fake();
    for before in [None, Some(0), Some(1)] {
        if let Some(before) = before {
            fake.push(before);
        }
        let depth = fake.depth();
        handle.set_stream(stream(0x7000)).unwrap();
        handle.set_workspace(DevicePtr(0x1_0000_0000), 8_519_680).unwrap();
        handle.set_math_mode(MathMode::Tf32).unwrap();
        handle.set_math_mode(MathMode::Ieee).unwrap();
        handle.gemm(&product(Dtype::F32)).unwrap();
        assert_eq!((fake.current(), fake.depth()), (before, depth));
        let calls = library.calls();
        assert!(calls.iter().all(|call| call.device == 1), "{calls:?}");
        assert!(calls.iter().all(|call| call.words[0] == HANDLE), "{calls:?}");
        let told: Vec<_> = calls.iter().map(|call| (call.name.as_str(), call.words[1])).collect();
        let expected = [
            ("cublasSetStream_v2", 0x7000),
            ("cublasSetWorkspace_v2", 0x1_0000_0000),
            ("cublasSetMathMode", 3),
            ("cublasSetMathMode", 0),
            (GEMM, 0),
        ];
        assert_eq!(told, expected);
        assert_eq!(calls[1].words[2], 8_519_680);
    }
    handle.set_workspace(DevicePtr(0), 0).unwrap();
    assert_eq!(
        library.calls()[0].words[..3],
        [HANDLE, 0, 0],
        "no workspace is set, and not the default"
    );
}

#[test]
fn a_handle_tells_whether_it_is_still_set_as_it_was() {
    let (_fake, library, mut handle) = fake();
    let is_set = |handle: &dyn BlasHandle| handle.is_set_to(stream(0x7000), MathMode::Tf32);
    assert!(handle.is_set_to(stream(0), MathMode::Ieee), "as it is made");
    handle.set_stream(stream(0x7000)).unwrap();
    handle.set_math_mode(MathMode::Tf32).unwrap();
    library.set("cublasSetStream_v2", HANDLE, 0x8000);
    assert!(!is_set(&*handle));
    library.set("cublasSetStream_v2", HANDLE, 0x7000);
    library.set("cublasSetMathMode", HANDLE, 0);
    assert!(!is_set(&*handle));
    library.set("cublasSetMathMode", HANDLE, 3);
    library.calls();
    assert!(is_set(&*handle));
    assert_eq!(library.names(), GETTERS);
    for getter in GETTERS {
        library.fail(getter, 1);
        assert!(!is_set(&*handle), "{getter}");
    }
}

#[test]
fn a_handle_may_go_to_another_thread() {
    let (fake, library, mut handle) = fake();
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            handle.gemm(&product(Dtype::F64)).unwrap();
            fake.current()
        });
        assert_eq!(other.join().unwrap(), None);
    });
    assert_eq!(library.calls()[0].device, 1);
}

#[test]
fn failures_tell_call_code_and_name() {
    let (fake, library, mut handle) = fake();
    type Action = (&'static str, fn(&mut dyn BlasHandle) -> Result<(), Error>);
    let actions: [Action; 5] = [
        ("cublasSetStream_v2", |it| it.set_stream(stream(0x7000))),
        ("cublasSetWorkspace_v2", |it| it.set_workspace(DevicePtr(4096), 1)),
        ("cublasSetMathMode", |it| it.set_math_mode(MathMode::Tf32)),
        (GEMM, |it| it.gemm(&product(Dtype::F32))),
        (GEMM_64, |it| it.gemm(&with_size(0, WIDE))),
    ];
    let codes = [
        (1, "CUBLAS_STATUS_NOT_INITIALIZED", Status::Driver),
        (3, "CUBLAS_STATUS_ALLOC_FAILED", Status::OutOfMemory),
        (7, "CUBLAS_STATUS_INVALID_VALUE", Status::InvalidArgument),
        (8, "CUBLAS_STATUS_ARCH_MISMATCH", Status::NotSupported),
        (11, "CUBLAS_STATUS_MAPPING_ERROR", Status::Driver),
        (13, "CUBLAS_STATUS_EXECUTION_FAILED", Status::Driver),
        (14, "CUBLAS_STATUS_INTERNAL_ERROR", Status::Driver),
        (15, "CUBLAS_STATUS_NOT_SUPPORTED", Status::NotSupported),
        (16, "CUBLAS_STATUS_LICENSE_ERROR", Status::Driver),
        (4711, "unrecognised", Status::Driver),
        (-1, "unrecognised", Status::Driver),
    ];
    for (code, name, status) in codes {
        for (call, action) in &actions {
            library.fail(call, code);
            let error = action(handle.as_mut()).unwrap_err();
            assert_eq!((error.status(), error.backend_code()), (status, code), "{error}");
            for part in [call, name, &code.to_string()] {
                assert!(error.message().contains(part), "{part}: {error}");
            }
            assert_eq!(fake.current(), None);
        }
    }
    library.fail("", 0);
    for (_, action) in &actions {
        action(handle.as_mut()).unwrap();
    }
}

#[test]
fn a_handle_that_cannot_be_made_tells_why() {
    let (fake, library) = beside(&[], &["FREE_BYTES=(1ull<<30)"]);
    for (code, status) in [(1, Status::Driver), (3, Status::OutOfMemory), (8, Status::NotSupported)]
    {
        library.fail("cublasCreate_v2", code);
        let error = refused(&fake);
        assert_eq!((error.status(), error.backend_code()), (status, code), "{error}");
        assert!(error.message().contains("cublasCreate_v2 failed: CUBLAS_STATUS_"), "{error}");
        assert_eq!(fake.current(), None);
    }
    // The library says that it does not start when memory is short.
    let (fake, library) = beside(&[], &["FREE_BYTES=1048576"]);
    library.fail("cublasCreate_v2", 1);
    let error = refused(&fake);
    assert_eq!((error.status(), error.backend_code()), (Status::OutOfMemory, 1));
    for part in ["device 1", "1048576 bytes", "CUBLAS_STATUS_NOT_INITIALIZED (1)"] {
        assert!(error.message().contains(part), "{part}: {error}");
    }
    library.fail("cublasCreate_v2", 14);
    assert_eq!(refused(&fake).status(), Status::Driver);
    library.fail("", 0);
    assert!(fake.driver.blas_create(device()).is_ok());
}

#[test]
fn a_failure_of_the_driver_is_told_before_the_library_is_called() {
    let (fake, library, mut handle) = fake();
    fake.answer_current(700);
    let error = handle.gemm(&product(Dtype::F32)).unwrap_err();
    assert_eq!((error.status(), error.backend_code()), (Status::Driver, 700));
    assert!(error.message().contains("CUDA_ERROR_ILLEGAL_ADDRESS"), "{error}");
    assert!(handle.set_stream(stream(0)).is_err());
    assert!(fake.driver.blas_create(device()).is_err());
    assert_eq!(library.names(), [""; 0]);
}

#[test]
fn functions_that_are_missing_are_named() {
    let others = ["cublasCreate_v2", "cublasSetStream_v2", "cublasSetMathMode", GEMM];
    let single = SINGLE.map(|(_, name)| name);
    for symbol in others.into_iter().chain(GETTERS).chain(single) {
        let (fake, _library) = beside(&[&format!("{symbol}=gone")], &[]);
        let error = refused(&fake);
        assert_eq!(error.status(), Status::LibraryNotFound);
        for part in ["libcublas.so.13", "cuBLAS", &format!("symbol {symbol};")] {
            assert!(error.message().contains(part), "{part}: {error}");
        }
        assert_eq!(fake.retained(1), 0, "no context was made");
    }
    let (fake, _library) = beside(&["cublasSetWorkspace_v2=gone"], &[]);
    let mut handle = fake.driver.blas_create(device()).unwrap();
    let error = handle.set_workspace(DevicePtr(4096), 1).unwrap_err();
    assert_eq!(error.status(), Status::NotSupported);
    assert!(error.message().contains("cublasSetWorkspace_v2"), "{error}");
}
