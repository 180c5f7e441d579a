//! What the CUDA backend hands to the driver, and what it makes of the answers.

#![allow(unsafe_code, reason = "reaches into the fake driver")]
#![allow(clippy::unwrap_used, reason = "a test may fail loudly anywhere")]

use std::os::fd::AsRawFd;

use sconce_base::error::{Result, Status};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_cuda::CudaDriver;
use sconce_driver::prelude::*;
use sconce_driver::{
    Access, CaptureMode, Dim3, Driver, EventFlags, IpcHandle, KernelArguments, KernelCode,
    KernelImage, LaunchShape, PhysicalHandle, PointerKind, ProcessUsage, RawAddress,
    RelaxedCapture, StreamRef,
};
use sconce_kernels::images::{PROBE, SCALE};
use testkit::fake_cuda::{self, Built, FIRST, Fake, config, fake, open, second, stream_of};

#[test]
fn properties_come_from_the_attributes_they_are_named_after() {
    let fake = fake();
    let it = fake.driver.device_properties(second()).unwrap();
    // The fake answers ten times the attribute's number, plus the device.
    assert_eq!((it.name.as_str(), it.uuid), ("Fake 1", [0xA1; 16]));
    assert_eq!((it.major, it.minor), (751, 761));
    assert_eq!(it.total_memory_bytes, 2 << 33);
    assert_eq!((it.multi_processor_count, it.max_threads_per_multi_processor), (161, 391));
    assert_eq!((it.max_threads_per_block, it.warp_size), (11, 101));
    assert_eq!(it.registers_per_multi_processor, 821);
    assert_eq!(it.shared_memory_per_block_bytes, 81);
    assert_eq!(it.shared_memory_per_block_optin_bytes, 971);
    assert_eq!(it.shared_memory_per_multi_processor_bytes, 811);
    assert_eq!((it.l2_cache_bytes, it.memory_bus_width_bits), (381, 371));
    assert_eq!((it.clock_rate_khz, it.memory_clock_rate_khz), (131, 361));
    assert_eq!((it.pci_domain_id, it.pci_bus_id, it.pci_device_id), (501, 331, 341));
    assert!(it.integrated && it.is_multi_gpu_board);
    assert_eq!((it.max_block_size, it.max_grid_size), ([21, 31, 41], [51, 61, 71]));
    assert_eq!((it.constant_memory_bytes, it.registers_per_block), (91, 121));
    assert_eq!(it.max_blocks_per_multi_processor, 1061);
    assert!(it.cooperative_launch && it.concurrent_kernels);
    let info = fake.driver.memory_info(second()).unwrap();
    assert_eq!((info.free_bytes, info.total_bytes), (1 << 20, 2 << 33));
}

#[test]
fn not_ready_is_an_answer_of_queries_and_an_error_of_times() {
    let fake = fake();
    let stream = stream_of(&fake, FIRST);
    let event = fake.driver.event_create(FIRST, EventFlags::default()).unwrap();
    assert_eq!(fake.driver.event_elapsed_ms(event, event), Ok(1.5));
    fake.state().pending = 1;
    assert_eq!(fake.driver.event_query(event), Ok(false));
    assert_eq!(fake.driver.stream_query(stream), Ok(false));
    assert_eq!(fake.driver.stream_query(StreamRef::default_of(FIRST)), Ok(false));
    let error = fake.driver.event_elapsed_ms(event, event).unwrap_err();
    assert_eq!((error.status(), error.backend_code()), (Status::NotReady, 600));
    fake.state().pending = 0;
    assert_eq!(fake.driver.event_query(event), Ok(true));
    assert_eq!(fake.driver.stream_query(stream), Ok(true));
}

#[test]
fn a_relaxed_scope_holds_for_its_thread_and_gives_the_mode_back() {
    let fake = fake();
    let driver: &dyn Driver = &fake.driver;
    let mode = |mode| driver.exchange_capture_mode(mode);
    assert_eq!(mode(CaptureMode::ThreadLocal), Ok(CaptureMode::Global));
    {
        let _outer = RelaxedCapture::enter(driver).unwrap();
        assert_eq!(mode(CaptureMode::Relaxed), Ok(CaptureMode::Relaxed));
        {
            let _inner = RelaxedCapture::enter(driver).unwrap();
        }
        assert_eq!(mode(CaptureMode::Relaxed), Ok(CaptureMode::Relaxed));
        std::thread::scope(|scope| {
            let other = scope.spawn(|| driver.exchange_capture_mode(CaptureMode::Global));
            assert_eq!(other.join().unwrap(), Ok(CaptureMode::Global));
        });
    }
    assert_eq!(mode(CaptureMode::Global), Ok(CaptureMode::ThreadLocal));
    assert_eq!(fake.state().retains, 0, "modes make no context");
    drop(fake);

    let old = open(&["MISSING=\"cuThreadExchangeStreamCaptureMode\""]).ok().unwrap();
    let driver: &dyn Driver = &old.driver;
    let error = driver.exchange_capture_mode(CaptureMode::Relaxed).unwrap_err();
    assert_eq!(error.status(), Status::NotSupported);
    assert!(RelaxedCapture::enter(driver).is_ok(), "where there are no modes nothing is held back");
}

#[test]
fn event_flags_become_the_drivers() {
    let fake = fake();
    let bits = |timing, blocking_sync, interprocess| {
        let flags = EventFlags { timing, blocking_sync, interprocess };
        fake.driver.event_create(FIRST, flags).map(|_| fake.state().words[0])
    };
    assert_eq!(bits(false, false, false), Ok(2));
    assert_eq!(bits(true, false, false), Ok(0));
    assert_eq!(bits(true, true, false), Ok(1));
    assert_eq!(bits(false, true, true), Ok(7));
    assert_eq!(bits(true, false, true).unwrap_err().status(), Status::InvalidArgument);
}

#[test]
fn pointers_are_told_apart_and_no_number_fails() {
    let fake = fake();
    let info = |address| fake.driver.pointer_info(address).unwrap();
    let ptr = fake.driver.memory_alloc(second(), 1).unwrap();
    let found = info(ptr.0 as usize + 1500);
    assert_eq!(found.kind, PointerKind::Device(second()));
    assert_eq!((found.base, found.bytes), (DevicePtr(ptr.0 + 1024), 1024));
    let host = fake.driver.host_alloc(FIRST, 1).unwrap();
    let found = info(host + 5000);
    assert_eq!(found.kind, PointerKind::PinnedHost);
    assert_eq!((found.base, found.bytes), (DevicePtr(host as u64 + 4096), 4096));
    for odd in [0, 1, 7, 0x7fff_1234_5678, 3 << 39, usize::MAX, usize::MAX - 1] {
        let found = info(odd);
        assert_eq!(found.kind, PointerKind::Unregistered, "{odd:#x}");
        assert_eq!((found.base, found.bytes), (DevicePtr(odd as u64), 0));
    }
}

#[test]
fn virtual_memory_has_the_drivers_layouts() {
    let fake = fake();
    let (driver, device) = (&fake.driver, second());
    assert_eq!(driver.virtual_granularity(device), Ok(2 << 20));
    let at = driver.virtual_reserve(8 << 20).unwrap();
    assert_eq!(driver.physical_create(device, 2 << 20, false).map(PhysicalHandle::native), Ok(77));
    // The fake takes 4 MiB to be shareable, and everything else not to be.
    let handle = driver.physical_create(device, 4 << 20, true).unwrap();
    assert!(driver.physical_create(device, 4 << 20, false).is_err());
    driver.virtual_map(at, 4 << 20, handle, 2 << 20).unwrap();
    assert_eq!(fake.state().words[..4], [at.0 as i64, 4 << 20, 2 << 20, 77]);
    for (access, flags) in [(Access::None, 0), (Access::Read, 1), (Access::ReadWrite, 3)] {
        driver.virtual_set_access(at, 4 << 20, device, access).unwrap();
        assert_eq!(fake.state().words[0], flags);
    }
    assert_eq!(driver.physical_retain(at), Ok(handle));
    let nothing = driver.physical_retain(DevicePtr(1 << 40)).unwrap_err();
    assert_eq!((nothing.status(), nothing.backend_code()), (Status::InvalidArgument, 1));
    let fd = driver.physical_export(handle).unwrap();
    let number = fd.as_raw_fd();
    assert!(number > 2);
    assert_eq!(driver.physical_import(device, fd), Ok(handle));
    // SAFETY: asks about a number.
    assert_eq!(unsafe { libc::fcntl(number, libc::F_GETFD) }, -1, "the descriptor is closed");
    driver.virtual_unmap(at, 4 << 20).unwrap();
    driver.physical_release(handle).unwrap();
    driver.virtual_release(at, 8 << 20).unwrap();
    assert_eq!(fake.state().retains, 0, "virtual memory makes no context");
}

#[test]
fn kernels_get_shape_and_arguments_and_a_refused_image_tells_why() {
    let fake = fake();
    let (driver, device) = (&fake.driver, second());
    let module = driver.module_load(device, &PROBE).unwrap();
    let kernel = driver.kernel_find(device, module, "kernel").unwrap();
    let shape = LaunchShape {
        grid: Dim3 { x: 1, y: 2, z: 3 },
        block: Dim3 { x: 4, y: 5, z: 6 },
        shared_bytes: 77,
    };
    let arguments = KernelArguments::new().u64(1 << 60).u32(u32::MAX - 1);
    driver.kernel_launch(kernel, shape, &arguments, stream_of(&fake, device)).unwrap();
    assert_eq!(fake.state().words[..5], [123, 456, 77, 1 << 60, 0xFFFF_FFFE]);

    let error = driver.kernel_find(device, module, "nobody").unwrap_err();
    assert_eq!((error.status(), error.backend_code()), (Status::InvalidArgument, 500));
    assert!(error.message().contains("nobody"), "{error}");
    assert!(driver.kernel_find(device, module, "no\0body").is_err());
    let codes = const { &[KernelCode::ptx("bad")] };
    let bad = KernelImage { name: "broken", codes };
    let error = driver.module_load(device, &bad).unwrap_err();
    assert_eq!(error.backend_code(), 218);
    assert!(error.message().contains("broken"), "{error}");
    assert!(error.message().contains("line 1: bad instruction"), "{error}");
    let empty = KernelImage { name: "empty", codes: &[] };
    let error = driver.module_load(device, &empty).unwrap_err();
    assert_eq!(error.status(), Status::NotSupported);
}

/// What the fake driver was last given to load: 1 for machine code, 2 for PTX.
fn loaded(fake: &Fake) -> Vec<i64> {
    fake.driver.module_load(second(), &SCALE).unwrap();
    fake.state().words[5..7].iter().copied().filter(|kind| *kind != 0).collect()
}

#[test]
fn a_device_of_a_known_architecture_loads_machine_code_and_ptx_where_that_is_refused() {
    let open = |defines: &[&str]| open(defines).ok().unwrap();
    assert_eq!(loaded(&open(&["CAPABILITY=90"])), [1]);
    assert_eq!(loaded(&open(&["CAPABILITY=89"])), [1], "code for 8.0");
    assert_eq!(loaded(&open(&["CAPABILITY=75"])), [2]);
    assert_eq!(loaded(&open(&["CAPABILITY=90", "REFUSED_MACHINE_CODE=209"])), [1, 2]);
    let full = open(&["CAPABILITY=90", "REFUSED_MACHINE_CODE=2"]);
    let error = full.driver.module_load(second(), &SCALE).unwrap_err();
    assert_eq!(error.status(), Status::OutOfMemory, "another form would not help");
}

#[test]
fn handles_between_processes_travel_whole() {
    let fake = fake();
    let (driver, device) = (&fake.driver, second());
    let ptr = driver.memory_alloc(device, 1).unwrap();
    assert_eq!(driver.ipc_memory_export(ptr), Ok(IpcHandle([0xE1; 64])));
    let ordinary = driver.ipc_memory_export(DevicePtr(64)).unwrap_err();
    assert_eq!(ordinary.status(), Status::InvalidArgument);
    let handle = IpcHandle(std::array::from_fn(|i| (i as u8).wrapping_add(200)));
    assert_eq!(driver.ipc_memory_open(device, &handle), Ok(DevicePtr(5)));
    let event = driver.ipc_event_open(device, &handle).unwrap();
    assert_eq!(driver.ipc_event_export(event), Ok(IpcHandle([0xE2; 64])));
}

#[test]
fn streams_from_outside_are_checked_without_being_followed() {
    let fake = fake();
    let check = |number| {
        fake.driver.stream_check(StreamRef { device: FIRST, handle: fake_cuda::stream(number) })
    };
    for good in [0, 1, 2, stream_of(&fake, FIRST).handle.native(), 0x7fff_0000_1000] {
        check(good).unwrap();
    }
    for bad in [3, 8, 4088, 4097, usize::MAX, usize::MAX - 7] {
        assert_eq!(check(bad).unwrap_err().status(), Status::InvalidHandle, "{bad:#x}");
    }
}

#[test]
fn page_locking_nothing_is_refused_before_the_driver_sees_it() {
    let fake = fake();
    // SAFETY: the fake looks at no memory.
    let ordinary = unsafe { RawAddress::from_caller(0x7000) };
    let register = fake.driver.host_register(FIRST, ordinary, 0).unwrap_err();
    let alloc = fake.driver.host_alloc(FIRST, 0).unwrap_err();
    for error in [register, alloc] {
        assert_eq!((error.status(), error.backend_code()), (Status::InvalidArgument, 0));
    }
    assert_eq!(fake.state().retains, 0);
}

#[test]
fn releasing_waits_for_work_and_forgives_a_driver_that_has_gone() {
    let fake = fake();
    let driver = &fake.driver;
    let ptr = driver.memory_alloc(FIRST, 1).unwrap();
    let host = driver.host_alloc(second(), 1).unwrap();
    let before = fake.state().synchronizes;
    driver.memory_free(FIRST, ptr).unwrap();
    assert_eq!(fake.state().synchronizes - before, 1);
    driver.host_free(host).unwrap();
    assert_eq!(fake.state().synchronizes - before, 3, "page-locked memory is every device's");
    assert_eq!(fake.state().frees, 2);

    fake.state().code = 4;
    driver.stream_destroy(stream_of(&fake, FIRST)).unwrap();
    fake.state().code = 1;
    assert!(driver.stream_destroy(stream_of(&fake, FIRST)).is_err());
    let default = driver.stream_destroy(StreamRef::default_of(FIRST)).unwrap_err();
    assert_eq!(default.status(), Status::InvalidHandle);
}

#[test]
fn memory_whose_device_cannot_be_waited_for_is_not_freed() {
    let fake = fake();
    let ptr = fake.driver.memory_alloc(FIRST, 1).unwrap();
    for (code, status) in [(900, Status::InvalidState), (700, Status::Driver)] {
        fake.state().waiting = code;
        let error = fake.driver.memory_free(FIRST, ptr).unwrap_err();
        assert_eq!((error.status(), error.backend_code()), (status, code as i32));
        assert_eq!(fake.state().frees, 0, "a failed free leaves the memory");
    }
    let host = fake.driver.host_alloc(FIRST, 1).unwrap();
    fake.state().waiting = 900;
    assert_eq!(fake.driver.host_free(host).unwrap_err().backend_code(), 900);
    assert_eq!(fake.driver.host_unregister(host).unwrap_err().backend_code(), 900);
    assert_eq!(fake.state().frees, 0);
    fake.state().waiting = 700;
    fake.driver.host_free(host).unwrap();
    assert_eq!(fake.state().frees, 1, "any other failure is the next call's to tell");
    fake.state().waiting = 0;
    fake.driver.memory_free(FIRST, ptr).unwrap();
    assert_eq!(fake.state().frees, 2);
}

/// Opens both libraries and asks for the processes of a device.
fn processes(defines: &[&str], device: DeviceIndex) -> Result<Vec<ProcessUsage>> {
    let nvml = Built::new("fake_nvml.c", "libnvidia-ml.so.1", defines);
    let cuda = Built::new("fake_cuda.c", "libcuda.so.1", &[]);
    CudaDriver::open(&config(&cuda.path(), &nvml.path()))?.device_processes(device)
}

#[test]
fn processes_are_those_of_the_device_with_memory_if_told() {
    for variant in [&[][..], &["ONLY_V2"], &["EARLY_535"]] {
        assert_eq!(
            processes(variant, second()).unwrap(),
            [
                ProcessUsage { pid: 1000, used_bytes: Some(1 << 20) },
                ProcessUsage { pid: 1001, used_bytes: None },
            ]
        );
        assert_eq!(processes(variant, FIRST).unwrap(), []);
    }
    let many = processes(&["PROCESSES=5000"], second()).unwrap();
    assert_eq!((many.len(), many.last().map(|p| p.pid)), (5000, Some(5999)));
}

#[test]
fn the_management_library_may_be_missing_old_or_refuse() {
    let error = fake().driver.device_processes(FIRST).unwrap_err();
    assert_eq!(error.status(), Status::LibraryNotFound);
    assert!(error.message().contains("no-nvml-here.so"), "{error}");
    let error = processes(&["WITHOUT_LIST"], FIRST).unwrap_err();
    assert_eq!(error.status(), Status::LibraryNotFound);
    assert!(error.message().contains("nvmlDeviceGetComputeRunningProcesses_v3"), "{error}");
    let error = processes(&["INIT_CODE=9"], FIRST).unwrap_err();
    assert_eq!((error.status(), error.backend_code()), (Status::Driver, 9));
    assert!(error.message().contains("Driver Not Loaded"), "{error}");
    let error = processes(&["INIT_CODE=4"], FIRST).unwrap_err();
    assert_eq!((error.status(), error.backend_code()), (Status::NotSupported, 4));
}
