//! The processes on a device, from NVIDIA's management library.
//!
//! Opened at the first question and kept; the five functions needed are bound here, since cudarc has
//! no NVML. The library knows no CUDA ordinals, so a device is found by its PCI address, which is
//! right under `CUDA_VISIBLE_DEVICES` too.

use std::ffi::{CStr, CString, c_char, c_uint, c_ulonglong, c_void};
use std::mem::transmute;
use std::ptr::{NonNull, null_mut};

use sconce_base::error::{Error, Result, Status};
use sconce_driver::ProcessUsage;

use super::loader::open_library;

pub(super) const NAMES: [&str; 2] = ["libnvidia-ml.so.1", "libnvidia-ml.so"];

pub(super) const SUCCESS: i32 = 0;
const NOT_SUPPORTED: i32 = 3;
const NO_PERMISSION: i32 = 4;
const INSUFFICIENT_SIZE: i32 = 7;
const FUNCTION_NOT_FOUND: i32 = 13;
/// `NVML_VALUE_NOT_AVAILABLE` as an unsigned 64-bit number.
const NOT_AVAILABLE: u64 = u64::MAX;
/// How often the list may outgrow the room made for it.
const ATTEMPTS: usize = 16;

/// `nvmlProcessInfo_v2_t`, which version 2 of the call fills.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct ProcessInfo {
    pid: c_uint,
    used_gpu_memory: c_ulonglong,
    gpu_instance_id: c_uint,
    compute_instance_id: c_uint,
}

const _: () = assert!(size_of::<ProcessInfo>() == 24);

/// The largest struct that any release fills for a process. Version 3 of the call fills the struct of
/// version 2, except in the drivers 535.43 to 535.86, where it has a field more.
const LARGEST_INFO: usize = 32;

pub(super) type Init = unsafe extern "C" fn() -> i32;
type ErrorString = unsafe extern "C" fn(i32) -> *const c_char;
type DeviceByPciBusId = unsafe extern "C" fn(*const c_char, *mut *mut c_void) -> i32;
type ComputeProcesses = unsafe extern "C" fn(*mut c_void, *mut c_uint, *mut ProcessInfo) -> i32;

/// The management library, initialised.
pub(crate) struct Nvml {
    error_string: Option<ErrorString>,
    device_by_pci_bus_id: DeviceByPciBusId,
    compute_processes: ComputeProcesses,
}

impl Nvml {
    /// Opens and initialises the library, `path` if given.
    pub(crate) fn open(path: Option<&str>) -> Result<Nvml> {
        let (library, name) = open_library("NVIDIA's management library (NVML)", path, &NAMES)?;
        let need = |symbols: &[&CStr]| {
            symbols.iter().find_map(|symbol| library.symbol(symbol)).ok_or_else(|| {
                let symbols: Vec<_> = symbols.iter().map(|s| s.to_string_lossy()).collect();
                Error::new(
                    Status::LibraryNotFound,
                    format!("{name} lacks the symbol {}", symbols.join(" or ")),
                )
            })
        };
        let init = need(&[c"nvmlInit_v2"])?;
        let device_by_pci_bus_id = need(&[c"nvmlDeviceGetHandleByPciBusId_v2"])?;
        // Version 2 first: it fills the same struct in every release.
        let compute_processes = need(&[
            c"nvmlDeviceGetComputeRunningProcesses_v2",
            c"nvmlDeviceGetComputeRunningProcesses_v3",
        ])?;
        let nvml = Nvml {
            error_string: library.symbol(c"nvmlErrorString").map(|address| {
                // SAFETY: the prototype of this symbol in nvml.h.
                unsafe { transmute::<NonNull<c_void>, ErrorString>(address) }
            }),
            // SAFETY: the prototype of this symbol in nvml.h.
            device_by_pci_bus_id: unsafe {
                transmute::<NonNull<c_void>, DeviceByPciBusId>(device_by_pci_bus_id)
            },
            // SAFETY: the prototype of both symbols in nvml.h; for the struct see `LARGEST_INFO`.
            compute_processes: unsafe {
                transmute::<NonNull<c_void>, ComputeProcesses>(compute_processes)
            },
        };
        // SAFETY: the prototype of this symbol in nvml.h.
        let init = unsafe { transmute::<NonNull<c_void>, Init>(init) };
        // SAFETY: takes nothing; may be called any number of times.
        let code = unsafe { init() };
        nvml.check("nvmlInit_v2", code)?;
        Ok(nvml)
    }

    /// The processes with a compute context on the device at a PCI address.
    pub(crate) fn compute_processes(&self, pci_bus_id: &str) -> Result<Vec<ProcessUsage>> {
        let bus_id = CString::new(pci_bus_id)
            .map_err(|_| Error::new(Status::Internal, "a PCI address holds a NUL byte"))?;
        let mut device = null_mut();
        // SAFETY: a NUL-terminated text, and a place that outlives the call.
        let code = unsafe { (self.device_by_pci_bus_id)(bus_id.as_ptr(), &mut device) };
        self.check("nvmlDeviceGetHandleByPciBusId_v2", code)?;

        let mut capacity = 64;
        for _ in 0..ATTEMPTS {
            // More than the struct needs, so that a larger one cannot be written past the end.
            let entries = (capacity * LARGEST_INFO).div_ceil(size_of::<ProcessInfo>());
            let mut infos = vec![ProcessInfo::default(); entries];
            let mut count = capacity as c_uint;
            let list = self.compute_processes;
            // SAFETY: the device's handle, and room for as many entries as `count` says.
            match unsafe { list(device, &mut count, infos.as_mut_ptr()) } {
                SUCCESS => {
                    infos.truncate((count as usize).min(capacity));
                    return Ok(infos.into_iter().map(ProcessUsage::from).collect());
                }
                // More processes may start before the next attempt: leave room for them.
                INSUFFICIENT_SIZE => capacity = capacity.max(count as usize) * 2,
                code => self.check("nvmlDeviceGetComputeRunningProcesses", code)?,
            }
        }
        Err(Error::new(
            Status::Driver,
            format!("the list of processes on {pci_bus_id} grew faster than it could be read"),
        ))
    }

    fn check(&self, call: &str, code: i32) -> Result<()> {
        let status = match code {
            SUCCESS => return Ok(()),
            NOT_SUPPORTED | NO_PERMISSION | FUNCTION_NOT_FOUND => Status::NotSupported,
            _ => Status::Driver,
        };
        Err(Error::driver(status, call, code, &self.code_text(code)))
    }

    fn code_text(&self, code: i32) -> String {
        let Some(error_string) = self.error_string else { return "unknown error".to_owned() };
        // SAFETY: any integer may be asked about.
        let text = unsafe { error_string(code) };
        if text.is_null() {
            return "unknown error".to_owned();
        }
        // SAFETY: a NUL-terminated string that the library keeps for ever.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}

impl From<ProcessInfo> for ProcessUsage {
    fn from(info: ProcessInfo) -> ProcessUsage {
        ProcessUsage {
            pid: info.pid,
            used_bytes: Some(info.used_gpu_memory).filter(|bytes| *bytes != NOT_AVAILABLE),
        }
    }
}
