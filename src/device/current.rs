//! Devices: their number, the current one, synchronization. See `docs/design/device.md`.

use sconce_base::types::DeviceIndex;
use sconce_runtime::context::runtime;
use sconce_runtime::device;
use sconce_runtime::stream;

use crate::{guard, guard_runtime, guard_value, sconce_status};

/// Stands for the CPU where a function of tensors or generators takes a device.
pub const SCONCE_DEVICE_CPU: i32 = -2;

const _: () = assert!(SCONCE_DEVICE_CPU == sconce_base::types::CPU);

/// Returns the number of devices; `CUDA_VISIBLE_DEVICES` is respected. 0 without a backend, and in
/// a forked child.
///
/// Makes no context and does not initialise the library. The process can still fork afterwards,
/// unless NVML is missing or a device is divided (MIG).
///
/// - torch: `torch.cuda.device_count()`, `c10::cuda::device_count()`.
#[unsafe(no_mangle)]
pub extern "C" fn sconce_device_count() -> i32 {
    guard_value(0, device::count)
}

/// Reports the calling thread's current device. It is device 0 when a thread starts.
///
/// - `out_device`: receives the index.
/// - torch: `torch.cuda.current_device()`, `c10::cuda::current_device()`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_device_get_current(out_device: *mut i32) -> sconce_status {
    guard_runtime(|| {
        let out_device = out!(out_device);
        out_device.write(device::current()?.as_i32());
        Ok(())
    })
}

/// Makes a device the calling thread's current one, for this library and for the CUDA runtime in
/// the same thread.
///
/// The first use of a device makes its context, which blocks. With `SCONCE_CHECK_DEVICE=1`, the
/// default of debug builds, the current device follows a `cudaSetDevice` that other code calls on
/// the thread, and the library logs one warning. Otherwise the library does not notice such a call.
///
/// - `device`: index; a negative one changes nothing, as in torch, and needs no device.
/// - torch: `torch.cuda.set_device()`, `c10::cuda::set_device()`; switching back to device 0 makes
///   no context there.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_device_set_current(device: i32) -> sconce_status {
    guard_runtime(|| device::set_current(device))
}

/// Makes a device the calling thread's current one and reports the previous one. Device guards are
/// built on it.
///
/// Blocks as `sconce_device_set_current`. Makes no driver call if `device` is current already,
/// except for the check of the device.
///
/// - `device`: index; -1 keeps the current one, and needs no device.
/// - `out_previous`: receives the index of the device that was current; -1 without a device.
/// - torch: `c10::cuda::ExchangeDevice`; `CUDAGuard(-1)` corresponds to -1.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_device_exchange(
    device: i32,
    out_previous: *mut i32,
) -> sconce_status {
    guard_runtime(|| {
        let out_previous = out!(out_previous);
        out_previous.write(device::exchange(device)?.map_or(-1, DeviceIndex::as_i32));
        Ok(())
    })
}

/// Reports whether a device's primary context exists, whichever code of the process made it. Makes
/// no context.
///
/// - `out_active`: receives the answer.
/// - torch: `c10::cuda::hasPrimaryContext`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_device_has_context(
    device: i32,
    out_active: *mut bool,
) -> sconce_status {
    guard(|| {
        let out_active = out!(out_active);
        out_active.write(device::has_context(device)?);
        Ok(())
    })
}

/// Waits until a device has finished all work queued on it so far, on every stream. Does not change
/// the current device. Memory of graphs and pools that are gone and that had to wait for launches goes
/// back to the driver. For the current device, its primary context is current on the thread afterwards,
/// so that the program may call the driver by itself. For another device that has none, none is made.
///
/// - Errors: INVALID_STATE: a stream of the device is being captured, by whatever thread; the capture
///   stays valid. Only captures of other code on streams of its own may be lost.
/// - Ordering: blocks the calling thread.
/// - torch: `torch.cuda.synchronize(device)`, which invalidates captures.
#[must_use]
#[unsafe(no_mangle)]
pub extern "C" fn sconce_device_synchronize(device: i32) -> sconce_status {
    guard(|| stream::synchronize_device(device))
}

/// Waits as `sconce_device_synchronize`, unless a stream of the device is being captured.
///
/// - `out_waited`: receives whether it has waited.
/// - Ordering: as `sconce_device_synchronize`.
#[must_use]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_device_try_synchronize(
    device: i32,
    out_waited: *mut bool,
) -> sconce_status {
    guard(|| {
        let out_waited = out!(out_waited);
        let runtime = runtime()?;
        let device = device::resolve(runtime, device)?;
        out_waited.write(stream::try_synchronize_device(runtime, device)?);
        Ok(())
    })
}
