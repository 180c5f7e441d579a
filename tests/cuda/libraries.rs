//! Opening the libraries beside the driver: at the first call that needs one, and again after a failure.

#![allow(unsafe_code, reason = "reaches into the fake libraries")]
#![allow(clippy::unwrap_used, reason = "a test may fail loudly anywhere")]

use std::ffi::CString;
use std::path::Path;

use sconce_base::config::Config;
use sconce_base::error::{Result, Status};
use sconce_base::types::DeviceIndex;
use sconce_driver::prelude::*;
use sconce_driver::{CompiledForm, FftKind, SourceCode};
use testkit::fake_cuda::fft::packed;
use testkit::fake_cuda::library::FakeLibrary;
use testkit::fake_cuda::{Fake, open_beside};

const DEVICE: DeviceIndex = DeviceIndex::ZERO;

/// A library: its name, variable and fake, and a call that opens it.
struct Beside {
    name: &'static str,
    variable: &'static str,
    /// Of its releases, newest first.
    sonames: &'static [&'static str],
    source: &'static str,
    choose: fn(&mut Config, String),
    open: fn(&Fake) -> Result<()>,
}

const LIBRARIES: [Beside; 5] = [
    Beside {
        name: "cuBLAS",
        variable: "SCONCE_LIBCUBLAS",
        sonames: &["libcublas.so.13", "libcublas.so.12", "libcublas.so.11"],
        source: "fake_cublas.c",
        choose: |config, path| config.libcublas = Some(path),
        open: |fake| fake.driver.blas_create(DEVICE).map(drop),
    },
    Beside {
        name: "cuDNN",
        variable: "SCONCE_LIBCUDNN",
        sonames: &["libcudnn.so.9"],
        source: "fake_cudnn.c",
        choose: |config, path| config.libcudnn = Some(path),
        open: |fake| fake.driver.dnn_version().map(drop),
    },
    Beside {
        name: "cuFFT",
        variable: "SCONCE_LIBCUFFT",
        sonames: &["libcufft.so.12", "libcufft.so.11", "libcufft.so.10"],
        source: "fake_cufft.c",
        choose: |config, path| config.libcufft = Some(path),
        open: |fake| fake.driver.fft_plan(DEVICE, &packed(FftKind::C2C, &[8], 1)).map(drop),
    },
    Beside {
        name: "NVRTC",
        variable: "SCONCE_LIBNVRTC",
        sonames: &["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"],
        source: "fake_nvrtc.c",
        choose: |config, path| config.libnvrtc = Some(path),
        open: |fake| {
            let (source, form) = (SourceCode::default(), CompiledForm::Ptx);
            fake.driver.compile_source(DEVICE, &source, form).map(drop)
        },
    },
    Beside {
        name: "NCCL",
        variable: "SCONCE_LIBNCCL",
        sonames: &["libnccl.so.2"],
        source: "fake_nccl.c",
        choose: |config, path| config.libnccl = Some(path),
        open: |fake| fake.driver.comm_version().map(drop),
    },
];

/// A driver whose configuration names this file as the library.
fn beside(library: &Beside, path: &Path) -> Fake {
    let path = path.to_str().unwrap().to_owned();
    open_beside(&[], |config| (library.choose)(config, path)).ok().unwrap()
}

/// Whether the system's loader knows a library of this name.
fn is_installed(soname: &str) -> bool {
    let soname = CString::new(soname).unwrap();
    // SAFETY: a NUL-terminated name; such a library may be loaded.
    !unsafe { libc::dlopen(soname.as_ptr(), libc::RTLD_LAZY) }.is_null()
}

#[test]
fn a_library_that_is_missing_is_told_with_its_variable_and_tried_again() {
    for library in LIBRARIES {
        let built = FakeLibrary::new(library.source, "built.so", &[]);
        let path = Path::new(&built.path()).with_file_name("late.so");
        let fake = beside(&library, &path);
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
        let error = (library.open)(&beside(&library, Path::new(&other.path()))).unwrap_err();
        assert_eq!(error.status(), Status::LibraryNotFound);
        for part in ["libother.so.1", library.name, "lacks the symbol"] {
            assert!(error.message().contains(part), "{part}: {error}");
        }
    }
}

#[test]
fn each_release_is_found_by_its_soname_and_the_newest_goes_first() {
    let other = FakeLibrary::new("fake_nvml.c", "libother.so.1", &[]);
    for library in LIBRARIES {
        if library.sonames.iter().any(|soname| is_installed(soname)) {
            eprintln!("skipped: {} is installed and goes before this test's", library.name);
            continue;
        }
        let built = FakeLibrary::new(library.source, "built.so", &[]);
        for (at, soname) in library.sonames.iter().enumerate() {
            let home = Path::new(&built.path()).with_file_name(format!("home-{at}"));
            let folder = home.join("lib64");
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::copy(built.path(), folder.join(soname)).unwrap();
            // Taken for the library, they would lack its functions.
            for older in &library.sonames[at + 1..] {
                std::fs::copy(other.path(), folder.join(older)).unwrap();
            }
            let home = home.to_str().unwrap().to_owned();
            let fake = open_beside(&[], |config| config.cuda_home = Some(home)).ok().unwrap();
            let opened = (library.open)(&fake);
            assert!(opened.is_ok(), "{soname}: {opened:?}");
        }
    }
}

#[test]
fn nothing_is_opened_before_it_is_needed() {
    // A library that cannot be opened is no reason not to start.
    let fake = open_beside(&[], |config| {
        for library in LIBRARIES {
            (library.choose)(config, "/nowhere/none.so".to_owned());
        }
    });
    let fake = fake.ok().unwrap();
    assert_eq!(fake.driver.device_count(), 2);
    assert_eq!(fake.driver.fft_most_plans(), 4096);
}
