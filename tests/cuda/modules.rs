//! The program's modules and kernels: what the CUDA backend hands to the driver, and what it makes of the answers.

#![allow(unsafe_code, reason = "passes values by address")]
#![allow(clippy::unwrap_used, reason = "a test may fail loudly anywhere")]

use std::ffi::c_void;

use sconce_base::error::Status;
use sconce_driver::prelude::*;
use sconce_driver::{
    BestBlock, Dim3, KernelAttributes, KernelValues, LaunchConfig, LaunchShape, ModuleCode,
};
use testkit::fake_cuda::{fake, open, second, stream_of};

const PTX: &[u8] = b".version 8.0\n.target sm_75\n.visible .entry kernel() {}";

fn code(bytes: &[u8]) -> ModuleCode {
    ModuleCode::new("image", bytes).unwrap()
}

#[test]
fn launches_take_the_call_that_their_attributes_need() {
    let fake = fake();
    let (driver, device) = (&fake.driver, second());
    let module = driver.module_load_code(device, &code(PTX)).unwrap();
    let kernel = driver.kernel_find(device, module, "kernel").unwrap();
    let (first, other) = (1_u64 << 60, u32::MAX - 1);
    let addresses: [*const c_void; 2] =
        [std::ptr::from_ref(&first).cast(), std::ptr::from_ref(&other).cast()];
    // SAFETY: two values of their sizes, which outlive the launches.
    let values = unsafe { KernelValues::new(&addresses, &[8, 4]) };
    let shape = LaunchShape {
        grid: Dim3 { x: 1, y: 2, z: 3 },
        block: Dim3 { x: 4, y: 5, z: 6 },
        shared_bytes: 77,
    };
    let cluster = Some(Dim3 { x: 7, y: 8, z: 9 });
    for (cluster, cooperative, call) in
        [(None, false, 0), (None, true, 2), (cluster, false, 11), (cluster, true, 12)]
    {
        fake.state().words = [0; 8];
        let config = LaunchConfig { shape, cluster, cooperative };
        driver
            .kernel_launch_values(kernel, &config, &values, stream_of(&fake, device), false)
            .unwrap();
        let words = fake.state().words;
        assert_eq!(words[..5], [123, 456, 77, 1 << 60, 0xFFFF_FFFE], "{call}");
        assert_eq!((words[5], words[7]), (if call > 10 { 789 } else { 0 }, call));
    }
    driver.module_release(device, module).unwrap();
    assert_eq!(fake.state().synchronizes, 1);
}

#[test]
fn a_kernel_is_described_by_the_drivers_attributes() {
    let fake = fake();
    let (driver, device) = (&fake.driver, second());
    let module = driver.module_load_code(device, &code(PTX)).unwrap();
    let kernel = driver.kernel_find(device, module, "kernel").unwrap();
    // The fake answers ten times the attribute's number; attribute 97 of the device, plus its index.
    let expected = KernelAttributes {
        max_threads_per_block: 0,
        static_shared_bytes: 10,
        constant_bytes: 20,
        local_bytes: 30,
        registers: 40,
        dynamic_shared_bytes: 80,
        most_dynamic_shared_bytes: 961,
    };
    assert_eq!(driver.kernel_attributes(device, kernel), Ok(expected));
    assert_eq!(driver.kernel_parameters(device, kernel), Ok(Some(vec![8, 4])));
    driver.kernel_allow_shared(device, kernel, 5000).unwrap();
    assert_eq!(fake.state().words[..2], [8, 5000]);
    assert_eq!(driver.kernel_occupancy(device, kernel, 256, 100), Ok(6));
    assert_eq!(fake.state().words[..2], [256, 100]);
    let best = BestBlock { threads: 512, min_blocks: 264 };
    assert_eq!(driver.kernel_best_block(device, kernel, 300, 700), Ok(best));
    assert_eq!(fake.state().words[..2], [300, 700]);
}

#[test]
fn an_old_driver_does_not_tell_parameters_and_has_no_clusters() {
    let old = open(&["MISSING=\"cuFuncGetParamInfo\""]).ok().unwrap();
    let module = old.driver.module_load_code(second(), &code(PTX)).unwrap();
    let kernel = old.driver.kernel_find(second(), module, "kernel").unwrap();
    assert_eq!(old.driver.kernel_parameters(second(), kernel), Ok(None));
    drop(old);

    let older = open(&["MISSING=\"cuLaunchKernelEx\""]).ok().unwrap();
    let module = older.driver.module_load_code(second(), &code(PTX)).unwrap();
    let kernel = older.driver.kernel_find(second(), module, "kernel").unwrap();
    let one = Dim3::line(1);
    let shape = LaunchShape { grid: one, block: one, shared_bytes: 0 };
    let config = LaunchConfig { shape, cluster: Some(one), cooperative: false };
    let stream = stream_of(&older, second());
    let error = older
        .driver
        .kernel_launch_values(kernel, &config, &KernelValues::NONE, stream, false)
        .unwrap_err();
    assert_eq!(error.status(), Status::NotSupported);
    assert!(error.message().contains("cuLaunchKernelEx"), "{error}");
}

#[test]
fn code_that_the_driver_refuses_is_a_bad_argument_with_its_words() {
    let fake = fake();
    let bad = code(&[PTX, b"// bad"].concat());
    let error = fake.driver.module_load_code(second(), &bad).unwrap_err();
    assert_eq!((error.status(), error.backend_code()), (Status::InvalidArgument, 218));
    assert!(error.message().contains("image on device 1: line 1: bad instruction"), "{error}");
}
