//! The CUDA backend: the driver contract over `libcuda` and NVIDIA's libraries, opened at run time.
//!
//! Types, layouts and constants are cudarc's; the calls are ours, through one table of optional
//! entry points with integer return codes, because a driver that is missing, old or newer than the
//! headers must give an error and not a panic (`docs/design/cuda.md`).
//!
//! | file | what |
//! |---|---|
//! | `libraries/` | opening NVIDIA's libraries; the tables of their functions |
//! | `result` | codes into errors |
//! | `primary` | primary contexts, and how a call is made in one |
//! | `devices`, `contexts`, `captures`, `memory`, `host_memory`, `virtual_memory`, `streams`, `events`, `copies`, `kernels`, `graphs`, `ipc`, `observe` | each implements the trait of its name |
//! | `early_launch` | launches that may begin before the kernel in front has ended |
//! | `modules/` | modules and kernels of the program |
//! | `data_types` | the numbers of element types in the libraries below |
//! | `blas`, `dnn`, `fft`, `compiler`, `collectives` | each implements the trait of its name, on a library |

#![allow(unsafe_code, reason = "calls into libcuda and NVML through function pointers")]

mod blas;
mod captures;
mod collectives;
mod compiler;
mod contexts;
mod copies;
mod data_types;
mod devices;
mod dnn;
mod early_launch;
mod events;
mod fft;
mod graphs;
mod host_memory;
mod ipc;
mod kernels;
mod libraries;
mod memory;
mod modules;
mod observe;
mod primary;
mod result;
mod streams;
mod virtual_memory;

use sconce_base::config::Config;
use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::{OnceCell, rank};
use sconce_base::log;
use sconce_base::types::MAX_DEVICES;
use sconce_driver::VisibleDevices;

use self::blas::Cublas;
use self::captures::KnownCapture;
use self::collectives::Nccl;
use self::compiler::Nvrtc;
use self::dnn::Cudnn;
use self::early_launch::WaitingModules;
use self::fft::Cufft;
use self::libraries::api::Api;
use self::libraries::library::LibraryPaths;
use self::libraries::loader;
use self::libraries::nvml::Nvml;
use self::libraries::nvml_devices;
use self::primary::Device;
use self::result::NO_DEVICE;

/// NVIDIA's driver.
pub struct CudaDriver {
    api: Api,
    devices: Vec<Device>,
    nvml: OnceCell<rank::CudaLibrary, Nvml>,
    nvml_path: Option<String>,
    libraries: LibraryPaths,
    cublas: OnceCell<rank::CudaLibrary, Cublas>,
    cudnn: OnceCell<rank::CudaLibrary, Cudnn>,
    cufft: OnceCell<rank::CudaLibrary, Cufft>,
    nvrtc: OnceCell<rank::CudaLibrary, Nvrtc>,
    waiting: WaitingModules,
    captured: KnownCapture,
    nccl: OnceCell<rank::CudaLibrary, Nccl>,
}

impl CudaDriver {
    /// Opens the driver library and counts the devices. Makes no context.
    ///
    /// Fails with `LibraryNotFound` when the library or one of its necessary symbols is missing, and
    /// with `NoDevice` when the driver does not start or shows no device.
    pub fn open(config: &Config) -> Result<CudaDriver> {
        let api = loader::open(config.libcuda.as_deref())?;
        let init = api.cuInit()?;
        // SAFETY: the flags must be 0; may be called any number of times.
        let code = unsafe { init(0) };
        if code != result::SUCCESS {
            return Err(api.failure_as(Status::NoDevice, "cuInit", code));
        }
        let devices = list_devices(&api)?;
        Ok(CudaDriver {
            api,
            devices,
            nvml: OnceCell::new(),
            nvml_path: config.libnvml.clone(),
            libraries: LibraryPaths::of(config),
            cublas: OnceCell::new(),
            cudnn: OnceCell::new(),
            cufft: OnceCell::new(),
            nvrtc: OnceCell::new(),
            waiting: WaitingModules::default(),
            captured: KnownCapture::default(),
            nccl: OnceCell::new(),
        })
    }

    /// How many devices [`open`](Self::open) would find; `None` if that cannot be told without starting the driver.
    pub fn count_unopened(config: &Config) -> Option<i32> {
        // The driver must be there; loading it does not start it.
        loader::open(config.libcuda.as_deref()).ok()?;
        let uuids = nvml_devices::uuids(config.libnvml.as_deref())?;
        let list = config.visible_devices.as_deref();
        if list.is_some_and(|list| list.trim_start().starts_with("MIG-")) {
            return None;
        }
        Some(VisibleDevices::of(list, &uuids).count())
    }

    /// The management library, opened at the first question; a failure is not remembered.
    fn nvml(&self) -> Result<&Nvml> {
        self.nvml.get_or_try_init(|| Nvml::open(self.nvml_path.as_deref()))
    }
}

fn list_devices(api: &Api) -> Result<Vec<Device>> {
    let mut count = 0;
    let get_count = api.cuDeviceGetCount()?;
    // SAFETY: `count` outlives the call.
    let code = unsafe { get_count(&mut count) };
    if code != result::SUCCESS {
        return Err(api.failure_as(Status::NoDevice, "cuDeviceGetCount", code));
    }
    if count <= 0 {
        return Err(api
            .failure_as(Status::NoDevice, "cuDeviceGetCount", NO_DEVICE)
            .context("the driver shows no device; CUDA_VISIBLE_DEVICES may hide them"));
    }
    if count as usize > MAX_DEVICES {
        log::warn(format_args!("{count} devices are visible; the first {MAX_DEVICES} are used"));
    }
    (0..count.min(MAX_DEVICES as i32)).map(|ordinal| open_device(api, ordinal)).collect()
}

fn open_device(api: &Api, ordinal: i32) -> Result<Device> {
    let mut raw = 0;
    let get = api.cuDeviceGet()?;
    // SAFETY: an ordinal below the count; `raw` outlives the call.
    let code = unsafe { get(&mut raw, ordinal) };
    if code != result::SUCCESS {
        let error: Error = api.failure_as(Status::NoDevice, "cuDeviceGet", code);
        return Err(error.context(format_args!("device {ordinal}")));
    }
    Ok(Device::new(raw))
}

/// What makes handles of this backend.
// SAFETY: it is used where libcuda has returned the number of a new object of that kind.
const HANDLES: sconce_driver::HandleMaker = unsafe { sconce_driver::HandleMaker::new() };
