//! Opening the CUDA driver: what is missing is named, nothing panics, no context appears.

#![allow(unsafe_code, reason = "reaches into the fake driver")]
#![allow(clippy::unwrap_used, reason = "a test may fail loudly anywhere")]

use sconce_base::error::Status;
use sconce_cuda::CudaDriver;
use sconce_driver::prelude::*;
use sconce_driver::{HostFunction, StreamRef};
use testkit::fake_cuda::{Built, FIRST, config, open, refused};

#[test]
fn a_missing_library_names_what_was_searched() {
    let error = CudaDriver::open(&config("/nowhere/libcuda-none.so", "")).err().unwrap();
    assert_eq!(error.status(), Status::LibraryNotFound);
    assert!(error.message().contains("/nowhere/libcuda-none.so"), "{error}");
    assert!(error.message().contains("CUDA driver"), "{error}");
}

#[test]
fn a_file_that_is_no_library_is_a_missing_library() {
    let folder = std::env::temp_dir().join(format!("sconce-no-library-{}", std::process::id()));
    std::fs::write(&folder, "text").unwrap();
    let error = CudaDriver::open(&config(folder.to_str().unwrap(), "")).err().unwrap();
    std::fs::remove_file(&folder).unwrap();
    assert_eq!(error.status(), Status::LibraryNotFound);
}

#[test]
fn a_missing_required_symbol_is_named_with_the_library() {
    for (name, symbol) in [("cuStreamQuery", "cuStreamQuery"), ("cuMemAlloc", "cuMemAlloc_v2")] {
        let error = refused(&[&format!("MISSING=\"{name}\"")]);
        assert_eq!(error.status(), Status::LibraryNotFound, "{error}");
        assert!(error.message().contains(symbol), "{error}");
        assert!(error.message().contains("libcuda.so.1"), "{error}");
    }
}

#[test]
fn a_missing_optional_symbol_fails_only_its_own_call() {
    unsafe extern "C" fn nothing(_: *mut std::ffi::c_void) {}
    let fake = open(&["MISSING=\"cuLaunchHostFunc\""]).ok().unwrap();
    // SAFETY: the function does nothing.
    let function = unsafe { HostFunction::new(nothing, std::ptr::null_mut()) };
    let stream = StreamRef::default_of(FIRST);
    let error = fake.driver.launch_host_function(stream, function).unwrap_err();
    assert_eq!(error.status(), Status::NotSupported);
    assert!(error.message().contains("cuLaunchHostFunc"), "{error}");
    assert!(fake.driver.stream_is_capturing(stream).is_ok());
}

#[test]
fn a_driver_that_does_not_start_tells_code_and_name() {
    let error = refused(&["INIT_CODE=100"]);
    assert_eq!((error.status(), error.backend_code()), (Status::NoDevice, 100));
    assert!(error.message().contains("cuInit"), "{error}");
    assert!(error.message().contains("CUDA_ERROR_NO_DEVICE"), "{error}");
}

#[test]
fn an_unknown_code_is_reported_and_not_misread() {
    let error = refused(&["INIT_CODE=9999"]);
    assert_eq!((error.status(), error.backend_code()), (Status::NoDevice, 9999));
    assert!(error.message().contains("unknown error (9999)"), "{error}");
    let error = refused(&["INIT_CODE=9999", "MISSING=\"cuGetErrorName\""]);
    assert!(error.message().contains("unknown error (9999)"), "{error}");

    let fake = open(&[]).ok().unwrap();
    let event = fake.driver.event_create(FIRST, Default::default()).unwrap();
    for code in [9999, -7, 700] {
        fake.state().code = code;
        let error = fake.driver.event_query(event).unwrap_err();
        assert_eq!((error.status(), error.backend_code()), (Status::Driver, code as i32));
        assert!(error.message().contains("cuEventQuery"), "{error}");
    }
    assert!(fake.driver.event_query(event).unwrap_err().message().contains("ILLEGAL_ADDRESS"));
}

#[test]
fn zero_devices_are_no_device() {
    let error = refused(&["DEVICE_COUNT=0"]);
    assert_eq!((error.status(), error.backend_code()), (Status::NoDevice, 100));
    assert!(error.message().contains("CUDA_VISIBLE_DEVICES"), "{error}");
}

#[test]
fn more_devices_than_can_be_addressed_are_cut_off() {
    let fake = open(&["DEVICE_COUNT=70"]).ok().unwrap();
    assert_eq!(fake.driver.device_count(), 64);
}

#[test]
fn every_way_to_find_symbols_works_and_picks_the_right_version() {
    for variant in [&[][..], &["PROC_ADDRESS_V1"], &["EXPORT_SYMBOLS"]] {
        let fake = open(variant).ok().unwrap_or_else(|| panic!("{variant:?}"));
        let driver = &fake.driver;
        assert_eq!(driver.device_count(), 2);
        assert_eq!(fake.state().bad_flags, 0, "only the legacy default stream may be asked for");
        // Each of these has a prototype of another version under the same name.
        driver.device_properties(FIRST).unwrap();
        driver.memory_info(FIRST).unwrap();
        let ptr = driver.memory_alloc(FIRST, 1).unwrap();
        driver.pointer_info(ptr.0 as usize).unwrap();
        driver.memory_free(FIRST, ptr).unwrap();
        let event = driver.event_create(FIRST, Default::default()).unwrap();
        driver.event_destroy(event).unwrap();
        let stream = driver.stream_create(FIRST, Default::default(), 0).unwrap();
        driver.stream_destroy(StreamRef { device: FIRST, handle: stream }).unwrap();
        driver.device_synchronize(FIRST).unwrap();
    }
}

/// How many devices are counted without starting the driver.
fn counted(defines: &[&str], list: Option<&str>) -> Option<i32> {
    let nvml = Built::new("fake_nvml.c", "libnvidia-ml.so.1", defines);
    let cuda = Built::new("fake_cuda.c", "libcuda.so.1", &[]);
    let mut config = config(&cuda.path(), &nvml.path());
    config.visible_devices = list.map(str::to_owned);
    CudaDriver::count_unopened(&config)
}

#[test]
fn devices_are_counted_without_starting_the_driver() {
    let eight: &[&str] = &["MACHINE=8"];
    assert_eq!(counted(&[], None), Some(2));
    assert_eq!(counted(eight, None), Some(8));
    for (list, count) in [
        ("0,3,7", 3),
        ("", 0),
        ("8", 0),
        ("GPU-00000abc,GPU-00000ABD-0000", 2),
        ("GPU-0", 0),
        ("1,1", 0),
    ] {
        assert_eq!(counted(eight, Some(list)), Some(count), "{list}");
    }
    // The driver itself must be asked.
    assert_eq!(counted(&["DIVIDED"], None), None);
    assert_eq!(counted(eight, Some("MIG-GPU-0")), None);
    assert_eq!(counted(&["WITHOUT_UUID"], None), None);
    assert_eq!(counted(&["INIT_CODE=9"], None), None);
    let nvml = Built::new("fake_nvml.c", "libnvidia-ml.so.1", &[]);
    assert_eq!(CudaDriver::count_unopened(&config("no-driver-here.so", &nvml.path())), None);
}

#[test]
fn a_missing_symbol_is_noticed_whichever_way_it_is_looked_up() {
    let error = refused(&["PROC_ADDRESS_V1", "MISSING=\"cuEventQuery\""]);
    assert_eq!(error.status(), Status::LibraryNotFound);
    // A library that is no driver at all has none of the symbols.
    let nvml = Built::new("fake_nvml.c", "libcuda.so.1", &[]);
    let error = CudaDriver::open(&config(&nvml.path(), "")).err().unwrap();
    assert_eq!(error.status(), Status::LibraryNotFound);
    assert!(error.message().contains("cuInit"), "{error}");
}
