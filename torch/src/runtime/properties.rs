//! The properties of a device, in the layouts of CUDA 12 and 13.

use std::ffi::c_int;

use super::arguments::CudaPlace;
use super::runtime;
use super::state::{Outcome, check, codes, started};
use crate::abi::arguments::Out;

/// A number of `cudaDeviceProp`: the driver's attribute, its bytes, and its offset in the layouts of CUDA 12 and 13.
struct DeviceNumber {
    attribute: c_int,
    bytes: usize,
    at: [usize; 2],
}

/// Bytes of the layouts.
const BYTES: [usize; 2] = [1032, 1008];
/// Offsets, in both layouts, of `uuid` and `totalGlobalMem`; the name comes first.
const UUID: usize = 256;
const MEMORY: usize = 288;
const NAME_BYTES: usize = 256;

/// The numbers that both layouts have, except the sizes of textures and surfaces, which stay 0.
#[rustfmt::skip]
const FIELDS: &[DeviceNumber] = &[
    DeviceNumber { attribute: 9, bytes: 8, at: [352, 352] }, // totalConstMem
    DeviceNumber { attribute: 8, bytes: 8, at: [296, 296] }, // sharedMemPerBlock
    DeviceNumber { attribute: 12, bytes: 4, at: [304, 304] }, // regsPerBlock
    DeviceNumber { attribute: 10, bytes: 4, at: [308, 308] }, // warpSize
    DeviceNumber { attribute: 11, bytes: 8, at: [312, 312] }, // memPitch
    DeviceNumber { attribute: 1, bytes: 4, at: [320, 320] }, // maxThreadsPerBlock
    DeviceNumber { attribute: 2, bytes: 4, at: [324, 324] }, // maxThreadsDim[0]
    DeviceNumber { attribute: 3, bytes: 4, at: [328, 328] }, // maxThreadsDim[1]
    DeviceNumber { attribute: 4, bytes: 4, at: [332, 332] }, // maxThreadsDim[2]
    DeviceNumber { attribute: 5, bytes: 4, at: [336, 336] }, // maxGridSize[0]
    DeviceNumber { attribute: 6, bytes: 4, at: [340, 340] }, // maxGridSize[1]
    DeviceNumber { attribute: 7, bytes: 4, at: [344, 344] }, // maxGridSize[2]
    DeviceNumber { attribute: 75, bytes: 4, at: [360, 360] }, // major
    DeviceNumber { attribute: 76, bytes: 4, at: [364, 364] }, // minor
    DeviceNumber { attribute: 14, bytes: 8, at: [368, 368] }, // textureAlignment
    DeviceNumber { attribute: 51, bytes: 8, at: [376, 376] }, // texturePitchAlignment
    DeviceNumber { attribute: 16, bytes: 4, at: [388, 384] }, // multiProcessorCount
    DeviceNumber { attribute: 18, bytes: 4, at: [396, 388] }, // integrated
    DeviceNumber { attribute: 19, bytes: 4, at: [400, 392] }, // canMapHostMemory
    DeviceNumber { attribute: 30, bytes: 8, at: [568, 552] }, // surfaceAlignment
    DeviceNumber { attribute: 31, bytes: 4, at: [576, 560] }, // concurrentKernels
    DeviceNumber { attribute: 32, bytes: 4, at: [580, 564] }, // ECCEnabled
    DeviceNumber { attribute: 33, bytes: 4, at: [584, 568] }, // pciBusID
    DeviceNumber { attribute: 34, bytes: 4, at: [588, 572] }, // pciDeviceID
    DeviceNumber { attribute: 50, bytes: 4, at: [592, 576] }, // pciDomainID
    DeviceNumber { attribute: 35, bytes: 4, at: [596, 580] }, // tccDriver
    DeviceNumber { attribute: 40, bytes: 4, at: [600, 584] }, // asyncEngineCount
    DeviceNumber { attribute: 41, bytes: 4, at: [604, 588] }, // unifiedAddressing
    DeviceNumber { attribute: 37, bytes: 4, at: [612, 592] }, // memoryBusWidth
    DeviceNumber { attribute: 38, bytes: 4, at: [616, 596] }, // l2CacheSize
    DeviceNumber { attribute: 108, bytes: 4, at: [620, 600] }, // persistingL2CacheMaxSize
    DeviceNumber { attribute: 39, bytes: 4, at: [624, 604] }, // maxThreadsPerMultiProcessor
    DeviceNumber { attribute: 78, bytes: 4, at: [628, 608] }, // streamPrioritiesSupported
    DeviceNumber { attribute: 79, bytes: 4, at: [632, 612] }, // globalL1CacheSupported
    DeviceNumber { attribute: 80, bytes: 4, at: [636, 616] }, // localL1CacheSupported
    DeviceNumber { attribute: 81, bytes: 8, at: [640, 624] }, // sharedMemPerMultiprocessor
    DeviceNumber { attribute: 82, bytes: 4, at: [648, 632] }, // regsPerMultiprocessor
    DeviceNumber { attribute: 83, bytes: 4, at: [652, 636] }, // managedMemory
    DeviceNumber { attribute: 84, bytes: 4, at: [656, 640] }, // isMultiGpuBoard
    DeviceNumber { attribute: 85, bytes: 4, at: [660, 644] }, // multiGpuBoardGroupID
    DeviceNumber { attribute: 86, bytes: 4, at: [664, 648] }, // hostNativeAtomicSupported
    DeviceNumber { attribute: 88, bytes: 4, at: [672, 652] }, // pageableMemoryAccess
    DeviceNumber { attribute: 89, bytes: 4, at: [676, 656] }, // concurrentManagedAccess
    DeviceNumber { attribute: 90, bytes: 4, at: [680, 660] }, // computePreemptionSupported
    DeviceNumber { attribute: 91, bytes: 4, at: [684, 664] }, // canUseHostPointerForRegisteredMem
    DeviceNumber { attribute: 95, bytes: 4, at: [688, 668] }, // cooperativeLaunch
    DeviceNumber { attribute: 97, bytes: 8, at: [696, 672] }, // sharedMemPerBlockOptin
    DeviceNumber { attribute: 100, bytes: 4, at: [704, 680] }, // pageableMemoryAccessUsesHostPageTables
    DeviceNumber { attribute: 101, bytes: 4, at: [708, 684] }, // directManagedMemAccessFromHost
    DeviceNumber { attribute: 106, bytes: 4, at: [712, 688] }, // maxBlocksPerMultiProcessor
    DeviceNumber { attribute: 109, bytes: 4, at: [716, 692] }, // accessPolicyMaxWindowSize
    DeviceNumber { attribute: 111, bytes: 8, at: [720, 696] }, // reservedSharedMemPerBlock
    DeviceNumber { attribute: 99, bytes: 4, at: [728, 704] }, // hostRegisterSupported
    DeviceNumber { attribute: 112, bytes: 4, at: [732, 708] }, // sparseCudaArraySupported
    DeviceNumber { attribute: 113, bytes: 4, at: [736, 712] }, // hostRegisterReadOnlySupported
    DeviceNumber { attribute: 114, bytes: 4, at: [740, 716] }, // timelineSemaphoreInteropSupported
    DeviceNumber { attribute: 115, bytes: 4, at: [744, 720] }, // memoryPoolsSupported
    DeviceNumber { attribute: 116, bytes: 4, at: [748, 724] }, // gpuDirectRDMASupported
    DeviceNumber { attribute: 117, bytes: 4, at: [752, 728] }, // gpuDirectRDMAFlushWritesOptions
    DeviceNumber { attribute: 118, bytes: 4, at: [756, 732] }, // gpuDirectRDMAWritesOrdering
    DeviceNumber { attribute: 119, bytes: 4, at: [760, 736] }, // memoryPoolSupportedHandleTypes
    DeviceNumber { attribute: 121, bytes: 4, at: [764, 740] }, // deferredMappingCudaArraySupported
    DeviceNumber { attribute: 125, bytes: 4, at: [768, 744] }, // ipcEventSupported
    DeviceNumber { attribute: 120, bytes: 4, at: [772, 748] }, // clusterLaunch
];

/// Numbers that CUDA 13 left out: their attributes and offsets.
const ONLY_OF_12: [(c_int, usize); 4] = [
    (13, 348), // clockRate
    (17, 392), // kernelExecTimeoutEnabled
    (20, 404), // computeMode
    (36, 608), // memoryClockRate
];

fn put(properties: &mut [u8], at: usize, value: &[u8]) {
    properties[at..at + value.len()].copy_from_slice(value);
}

/// The properties in a layout: 0 for that of CUDA 12, 1 for that of 13.
fn properties(found: &mut [u8], device: c_int, layout: usize) -> Outcome {
    let driver = started()?;
    let (mut of_driver, mut uuid, mut memory) = (0, [0; 16], 0_usize);
    check((driver.device)(&mut of_driver, device))?;
    let get = |attribute: c_int| {
        let mut value = 0;
        match (driver.device_attribute)(&mut value, attribute, of_driver) {
            // An older driver does not know newer attributes.
            codes::INVALID_VALUE => Ok(0),
            code => check(code).map(|()| value),
        }
    };
    let mut name = [0; NAME_BYTES];
    // SAFETY: the array has as many bytes as the call says.
    check(unsafe {
        (driver.device_name)(name.as_mut_ptr().cast(), NAME_BYTES as c_int, of_driver)
    })?;
    check((driver.device_uuid)(&mut uuid, of_driver))?;
    check((driver.device_memory)(&mut memory, of_driver))?;
    put(found, 0, &name);
    put(found, UUID, &uuid);
    put(found, MEMORY, &memory.to_ne_bytes());
    for field in FIELDS {
        let value = i64::from(get(field.attribute)?).to_le_bytes();
        put(found, field.at[layout], &value[..field.bytes]);
    }
    if layout == 0 {
        for (attribute, at) in ONLY_OF_12 {
            put(found, at, &get(attribute)?.to_le_bytes());
        }
    }
    Ok(())
}

runtime! {
    /// The properties of a device, for libraries of CUDA 13.
    fn cudaGetDeviceProperties(place: Out<[u8; BYTES[1]]>, device: c_int) {
        place.fill([0; BYTES[1]], |found| properties(found, device, 1))
    }

    /// The properties of a device, for libraries of CUDA 12.
    fn cudaGetDeviceProperties_v2(place: Out<[u8; BYTES[0]]>, device: c_int) {
        place.fill([0; BYTES[0]], |found| properties(found, device, 0))
    }
}
