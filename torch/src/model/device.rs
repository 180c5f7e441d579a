//! The device of a model.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::sconce::{api, check as status};

/// The device that a CUDA model runs on, which must be able to.
pub(super) fn cuda_device(index: Option<i32>, metadata: &BTreeMap<String, String>) -> Result<i32> {
    let mut device = index.unwrap_or(-1);
    if device < 0 {
        status(api::sconce_device_get_current(&mut device)).map_err(without_device)?;
    }
    let backend = api::sconce_backend_get_active();
    if backend == api::SCONCE_BACKEND_SIM {
        return Err(Error::not_supported(
            "the model was compiled for CUDA, and the devices of this process are simulated; they cannot run machine \
             code. Run it on a GPU, or compile the model for the CPU",
        ));
    }
    let (mut major, mut minor) = (0, 0);
    status(api::sconce_device_get_capability(device, &mut major, &mut minor))?;
    let compiled: Option<i32> = metadata
        .get("AOTI_COMPUTE_CAPABILITY")
        .and_then(|text| text.trim_end_matches('a').parse().ok());
    match compiled {
        // Machine code runs on devices of its major number and at least its minor one.
        Some(compiled) if compiled / 10 != major || compiled % 10 > minor => {
            Err(Error::not_supported(format!(
                "the model was compiled for devices of compute capability {}.{}, and cuda:{device} has {major}.{minor}. \
             Compile it on such a device, or with torch._inductor.config.aot_inductor.emit_multi_arch_kernel",
                compiled / 10,
                compiled % 10
            )))
        }
        _ => Ok(device),
    }
}

/// Where there is no device: libsconce advises simulated ones, on which the model cannot run.
fn without_device(error: Error) -> Error {
    if error.status != api::SCONCE_ERROR_NO_DEVICE {
        return error;
    }
    let why = error.message.split("; set SCONCE_BACKEND").next().unwrap_or_default();
    let text = format!(
        "the model was compiled for CUDA, and {why}. Run it on a machine with a GPU, or compile the model for the CPU"
    );
    Error::new(error.status, text)
}

/// A device that is current until this is dropped.
pub(super) struct DeviceInUse(i32);

impl DeviceInUse {
    pub(super) fn begin(device: i32) -> Result<DeviceInUse> {
        let mut previous = 0;
        status(api::sconce_device_exchange(device, &mut previous))?;
        Ok(DeviceInUse(previous))
    }
}

impl Drop for DeviceInUse {
    fn drop(&mut self) {
        let mut ignored = 0;
        let _ = api::sconce_device_exchange(self.0, &mut ignored);
    }
}
