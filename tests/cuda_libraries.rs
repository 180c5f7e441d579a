//! Opening the libraries beside the driver: at the first call that needs one, and again after a failure.

#![allow(unsafe_code, reason = "reaches into the fake libraries")]
#![allow(clippy::unwrap_used, reason = "a test may fail loudly anywhere")]

mod fake_cuda;

use std::path::Path;

use fake_cuda::fft::packed;
use fake_cuda::library::FakeLibrary;
use fake_cuda::{Fake, open_beside};
use sconce::driver::{Driver, FftKind};
use sconce::error::{Result, Status};
use sconce::types::DeviceIndex;

const DEVICE: DeviceIndex = DeviceIndex::ZERO;

/// A library: its name, variable and fake, and a call that opens it.
struct Beside {
    name: &'static str,
    variable: &'static str,
    source: &'static str,
    open: fn(&Fake) -> Result<()>,
}

const LIBRARIES: [Beside; 2] = [
    Beside {
        name: "cuBLAS",
        variable: "SCONCE_LIBCUBLAS",
        source: "fake_cublas.c",
        open: |fake| fake.driver.blas_create(DEVICE).map(drop),
    },
    Beside {
        name: "cuFFT",
        variable: "SCONCE_LIBCUFFT",
        source: "fake_cufft.c",
        open: |fake| fake.driver.fft_plan(DEVICE, &packed(FftKind::C2C, &[8], 1)).map(drop),
    },
];

/// A driver that is told to take this file for each of the libraries.
fn beside(path: &Path) -> Fake {
    let path = path.to_str().unwrap().to_owned();
    open_beside(&[], |config| {
        config.libcublas = Some(path.clone());
        config.libcufft = Some(path);
    })
    .ok()
    .unwrap()
}

#[test]
fn a_library_that_is_missing_is_told_with_its_variable_and_tried_again() {
    for library in LIBRARIES {
        let built = FakeLibrary::new(library.source, "built.so", &[]);
        let path = Path::new(&built.path()).with_file_name("late.so");
        let fake = beside(&path);
        for _ in 0..2 {
            let error = (library.open)(&fake).unwrap_err();
            assert_eq!((error.status(), error.backend_code()), (Status::LibraryNotFound, 0));
            for part in [library.name, library.variable, path.to_str().unwrap()] {
                assert!(error.message().contains(part), "{part}: {error}");
            }
            assert!(
                !error.message().contains("/usr/local"),
                "a given path is the only one: {error}"
            );
            assert_eq!(fake.state().retains, 0, "no context was made");
        }
        std::fs::copy(built.path(), &path).unwrap();
        (library.open)(&fake).unwrap();
    }
}

#[test]
fn a_library_of_another_kind_lacks_what_is_needed() {
    for library in LIBRARIES {
        let other = FakeLibrary::new("fake_nvml.c", "libother.so.1", &[]);
        let error = (library.open)(&beside(Path::new(&other.path()))).unwrap_err();
        assert_eq!(error.status(), Status::LibraryNotFound);
        for part in ["libother.so.1", library.name, "lacks the symbol"] {
            assert!(error.message().contains(part), "{part}: {error}");
        }
    }
}

#[test]
fn nothing_is_opened_before_it_is_needed() {
    // A library that cannot be opened is no reason not to start.
    let fake = beside(Path::new("/nowhere/none.so"));
    assert_eq!(fake.driver.device_count(), 2);
    assert_eq!(fake.driver.fft_most_plans(), 4096);
}
