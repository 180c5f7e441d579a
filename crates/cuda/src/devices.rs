//! What devices are, what they hold, and which of them see each other. Properties come from
//! attributes, which need no context.

use std::ffi::{CStr, c_char};

use cudarc::driver::sys::{CUdevice, CUdevice_attribute as Attribute, CUuuid};
use sconce_base::error::{Error, Result};
use sconce_base::lock::{about_to_wait, rank};
use sconce_base::types::DeviceIndex;
use sconce_driver::{Contexts, DeviceProperties, Devices, ProcessUsage};

use super::CudaDriver;
use super::result::PEER_ACCESS_ALREADY_ENABLED;

impl Devices for CudaDriver {
    fn device_count(&self) -> i32 {
        self.devices.len() as i32
    }

    fn device_properties(&self, device: DeviceIndex) -> Result<DeviceProperties> {
        let raw = self.device(device)?.raw;
        let get = |attribute: Attribute| self.attribute(raw, attribute);
        let bytes = |attribute| get(attribute).map(|value| u64::try_from(value).unwrap_or(0));
        Ok(DeviceProperties {
            name: self.device_name(raw)?,
            uuid: self.device_uuid(raw)?,
            major: get(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            minor: get(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            total_memory_bytes: self.total_memory(raw)?,
            multi_processor_count: get(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            max_threads_per_multi_processor: get(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
            )?,
            max_threads_per_block: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            warp_size: get(Attribute::CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
            registers_per_multi_processor: get(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR,
            )?,
            shared_memory_per_block_bytes: bytes(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
            )?,
            shared_memory_per_block_optin_bytes: bytes(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
            )?,
            shared_memory_per_multi_processor_bytes: bytes(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
            )?,
            l2_cache_bytes: bytes(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?,
            clock_rate_khz: get(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?,
            memory_clock_rate_khz: get(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)?,
            memory_bus_width_bits: get(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?,
            pci_domain_id: get(Attribute::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID)?,
            pci_bus_id: get(Attribute::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)?,
            pci_device_id: get(Attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)?,
            integrated: get(Attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED)? != 0,
            is_multi_gpu_board: get(Attribute::CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD)? != 0,
            max_block_size: [
                get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
                get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
                get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
            ],
            max_grid_size: [
                get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
                get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
                get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
            ],
            constant_memory_bytes: bytes(Attribute::CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY)?,
            registers_per_block: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK)?,
            max_blocks_per_multi_processor: get(
                Attribute::CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR,
            )?,
            cooperative_launch: get(Attribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)? != 0,
            concurrent_kernels: get(Attribute::CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS)? != 0,
        })
    }

    fn device_synchronize(&self, device: DeviceIndex) -> Result<()> {
        about_to_wait::<rank::Device>();
        if !self.context_is_active(device)? {
            return Ok(()); // nothing was ever queued
        }
        let _entered = self.enter(device)?;
        let synchronize = self.api.cuCtxSynchronize()?;
        // SAFETY: takes nothing; the device's context is current.
        let code = unsafe { synchronize() };
        self.api.check("cuCtxSynchronize", code)
    }

    fn device_processes(&self, device: DeviceIndex) -> Result<Vec<ProcessUsage>> {
        let raw = self.device(device)?.raw;
        let mut bus_id: [c_char; 64] = [0; 64];
        let get = self.api.cuDeviceGetPCIBusId()?;
        // SAFETY: `bus_id` has the length passed, and outlives the call.
        let code = unsafe { get(bus_id.as_mut_ptr(), bus_id.len() as i32, raw) };
        self.api.check("cuDeviceGetPCIBusId", code)?;
        self.nvml()?.compute_processes(&text_of(&bus_id))
    }

    fn can_access_peer(&self, device: DeviceIndex, peer: DeviceIndex) -> Result<bool> {
        let (raw, raw_peer) = (self.device(device)?.raw, self.device(peer)?.raw);
        if device == peer {
            return Ok(true);
        }
        let mut can = 0;
        let get = self.api.cuDeviceCanAccessPeer()?;
        // SAFETY: devices that the driver counted; `can` outlives the call.
        let code = unsafe { get(&mut can, raw, raw_peer) };
        self.api.check("cuDeviceCanAccessPeer", code)?;
        Ok(can != 0)
    }

    fn enable_peer_access(&self, device: DeviceIndex, peer: DeviceIndex) -> Result<()> {
        if !self.can_access_peer(device, peer)? {
            return Err(Error::not_supported(format!(
                "device {device} cannot access the memory of device {peer}"
            )));
        }
        if device == peer {
            return Ok(());
        }
        let peer_context = self.primary(peer)?;
        let enable = self.api.cuCtxEnablePeerAccess()?;
        let _entered = self.enter(device)?;
        // SAFETY: a context that we hold; the flags must be 0.
        match unsafe { enable(peer_context, 0) } {
            PEER_ACCESS_ALREADY_ENABLED => Ok(()),
            code => self.api.check("cuCtxEnablePeerAccess", code),
        }
    }
}

impl CudaDriver {
    /// The major and the minor number.
    pub(super) fn compute_capability(&self, device: DeviceIndex) -> Result<(i32, i32)> {
        let raw = self.device(device)?.raw;
        Ok((
            self.attribute(raw, Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            self.attribute(raw, Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ))
    }

    pub(super) fn attribute(&self, raw: CUdevice, attribute: Attribute) -> Result<i32> {
        let mut value = 0;
        let get = self.api.cuDeviceGetAttribute()?;
        // SAFETY: a device that the driver counted; `value` outlives the call.
        let code = unsafe { get(&mut value, attribute as i32, raw) };
        self.api.check("cuDeviceGetAttribute", code)?;
        Ok(value)
    }

    fn device_name(&self, raw: CUdevice) -> Result<String> {
        let mut name: [c_char; 256] = [0; 256];
        let get = self.api.cuDeviceGetName()?;
        // SAFETY: `name` has the length passed, and outlives the call.
        let code = unsafe { get(name.as_mut_ptr(), name.len() as i32, raw) };
        self.api.check("cuDeviceGetName", code)?;
        Ok(text_of(&name))
    }

    fn device_uuid(&self, raw: CUdevice) -> Result<[u8; 16]> {
        let mut uuid = CUuuid { bytes: [0; 16] };
        let get = self.api.cuDeviceGetUuid()?;
        // SAFETY: a device that the driver counted; `uuid` outlives the call.
        let code = unsafe { get(&mut uuid, raw) };
        self.api.check("cuDeviceGetUuid_v2", code)?;
        Ok(uuid.bytes.map(|byte| byte as u8))
    }

    fn total_memory(&self, raw: CUdevice) -> Result<u64> {
        let mut bytes = 0;
        let get = self.api.cuDeviceTotalMem()?;
        // SAFETY: a device that the driver counted; `bytes` outlives the call.
        let code = unsafe { get(&mut bytes, raw) };
        self.api.check("cuDeviceTotalMem_v2", code)?;
        Ok(bytes as u64)
    }
}

/// The text in a buffer that a driver filled, up to its NUL.
fn text_of(buffer: &[c_char]) -> String {
    let bytes: Vec<u8> = buffer.iter().map(|c| *c as u8).collect();
    CStr::from_bytes_until_nul(&bytes)
        .map(|text| text.to_string_lossy().into_owned())
        .unwrap_or_default()
}
