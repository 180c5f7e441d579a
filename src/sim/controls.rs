//! The simulator's controls, by the names that C callers use: what completes next, how often the
//! driver was called, what fails. `NotSupported` on any other backend.

use sconce_base::error::{Error, Result};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{CaptureMode, EventFlags, PointerKind, RawAddress, StreamFlags, StreamRef};
use sconce_runtime::context::{Runtime, runtime};
use sconce_runtime::device;
use sconce_runtime::stream::Stream;
use sconce_sim::{Call as SimulatedCall, SimKernel, Simulator};

fn simulator() -> Result<&'static Simulator> {
    runtime()?;
    Simulator::opened()
}

fn call(name: &str) -> Result<SimulatedCall> {
    SimulatedCall::from_name(name).ok_or_else(|| {
        let names: Vec<_> = SimulatedCall::ALL.iter().map(|call| call.name()).collect();
        Error::invalid_argument(format!(
            "call is \"{name}\", which is not a driver call; there are {}",
            names.join(", ")
        ))
    })
}

/// Turns manual mode on or off.
pub fn set_manual(manual: bool) -> Result<()> {
    simulator()?.set_manual(manual);
    Ok(())
}

/// How many operations of a stream have not completed.
pub fn pending(_open: &Runtime, stream: Stream) -> Result<usize> {
    Simulator::opened()?.pending(stream.driver_ref())
}

/// Completes the first pending operation of a stream if it may run; returns whether it did.
pub fn step(_open: &Runtime, stream: Stream) -> Result<bool> {
    Simulator::opened()?.step(stream.driver_ref())
}

/// Completes every operation that can complete; returns their number.
pub fn run_until_idle() -> Result<usize> {
    Ok(simulator()?.run_until_idle())
}

/// How long later operations take.
pub fn set_latency_ns(latency_ns: u64) -> Result<()> {
    simulator()?.set_latency_ns(latency_ns);
    Ok(())
}

/// How often a driver call was made since the last reset.
pub fn call_count(name: &str) -> Result<u64> {
    Ok(simulator()?.call_count(call(name)?))
}

/// Sets every counter to 0.
pub fn reset_call_counts() -> Result<()> {
    simulator()?.reset_call_counts();
    Ok(())
}

/// The `nth` call of the kind fails at once.
pub fn fail_call(name: &str, nth: u64, code: i32) -> Result<()> {
    let simulator = simulator()?;
    simulator.fail_call(call(name)?, counted(nth)?, failing(code)?);
    Ok(())
}

/// The `nth` operation queued by calls of the kind fails when it runs.
pub fn fail_operation(name: &str, nth: u64, code: i32) -> Result<()> {
    let simulator = simulator()?;
    simulator.fail_operation(call(name)?, counted(nth)?, failing(code)?);
    Ok(())
}

/// The `nth` event record never completes.
pub fn stick_record(nth: u64) -> Result<()> {
    let simulator = simulator()?;
    simulator.stick_record(counted(nth)?);
    Ok(())
}

/// Turns the reuse of freed addresses and handles on or off.
pub fn set_address_reuse(reuse: bool) -> Result<()> {
    simulator()?.set_address_reuse(reuse);
    Ok(())
}

/// Makes a stream that is not the library's.
pub fn external_stream_create(index: i32, flags: StreamFlags, priority: i32) -> Result<usize> {
    let runtime = runtime()?;
    let device = device::resolve(runtime, index)?;
    let handle = Simulator::opened()?.external_stream_create(device, flags, priority)?;
    Ok(handle.native())
}

/// Destroys a stream that is not the library's.
pub fn external_stream_destroy(native: usize) -> Result<()> {
    let simulator = simulator()?;
    simulator.external_stream_destroy(simulator.external_stream(native))
}

/// Makes the context of a device current on this thread, as other code does; -1: none.
pub fn external_set_current_device(index: i32) -> Result<()> {
    let runtime = runtime()?;
    let device = if index == -1 { None } else { Some(device::checked(runtime, index)?) };
    Simulator::opened()?.external_set_current_device(device)
}

/// The device whose context is current on this thread; -1 without one.
pub fn external_current_device() -> Result<i32> {
    Ok(simulator()?.external_current_device().map_or(-1, DeviceIndex::as_i32))
}

/// Makes an event that is not the library's.
pub fn external_event_create(index: i32, flags: EventFlags) -> Result<usize> {
    let runtime = runtime()?;
    let device = device::resolve(runtime, index)?;
    Ok(Simulator::opened()?.external_event_create(device, flags)?.native())
}

/// Destroys an event that is not the library's.
pub fn external_event_destroy(native: usize) -> Result<()> {
    let simulator = simulator()?;
    simulator.external_event_destroy(simulator.external_event(native))
}

/// Records an event that is not the library's.
pub fn external_event_record(native: usize, stream: usize) -> Result<()> {
    let simulator = simulator()?;
    let event = simulator.external_event(native);
    simulator.external_event_record(event, simulator.external_stream(stream))
}

/// Whether the newest record of an event that is not the library's has completed.
pub fn external_event_query(native: usize) -> Result<bool> {
    let simulator = simulator()?;
    simulator.external_event_query(simulator.external_event(native))
}

/// Waits for the newest record of an event that is not the library's.
pub fn external_event_synchronize(native: usize) -> Result<()> {
    let simulator = simulator()?;
    simulator.external_event_synchronize(simulator.external_event(native))
}

fn counted(nth: u64) -> Result<u64> {
    match nth {
        0 => Err(Error::invalid_argument("nth is 0; 1 is the next call")),
        nth => Ok(nth),
    }
}

fn failing(code: i32) -> Result<i32> {
    match code {
        0 => Err(Error::invalid_argument("code is 0, which the driver returns for success")),
        code => Ok(code),
    }
}

/// Forgets all faults that have not struck, and lets stuck records complete.
pub fn clear_faults() -> Result<()> {
    simulator()?.clear_faults();
    Ok(())
}

/// Takes an asynchronous error off a device.
pub fn clear_device_error(index: i32) -> Result<()> {
    let runtime = runtime()?;
    Simulator::opened()?.clear_device_error(device::resolve(runtime, index)?)
}

/// Allows or denies that kernels of one device use another's memory.
pub fn set_peer_allowed(index: i32, peer: i32, allowed: bool) -> Result<()> {
    let runtime = runtime()?;
    let (device, peer) = (device::resolve(runtime, index)?, device::resolve(runtime, peer)?);
    Simulator::opened()?.set_peer_allowed(device, peer, allowed)?;
    device::peers::forget(device, peer);
    Ok(())
}

/// Begins a capture on a stream.
pub fn begin_capture(_open: &Runtime, stream: Stream, mode: CaptureMode) -> Result<()> {
    Simulator::opened()?.begin_capture(stream.driver_ref(), mode)
}

/// Ends the capture that began on a stream.
pub fn end_capture(_open: &Runtime, stream: Stream) -> Result<()> {
    Simulator::opened()?.end_capture(stream.driver_ref()).map(drop)
}

/// Registers a function that stands for a kernel of the program.
pub fn register_kernel(kernel: SimKernel) -> Result<()> {
    sconce_sim::register_kernel(kernel)
}

/// Whether a function can stand for a kernel of that name with parameters of such sizes.
pub fn check_kernel(name: &str, parameters: &[usize]) -> Result<()> {
    sconce_sim::check_kernel(name, parameters)
}

/// Takes such a function off the list; returns whether there was one.
pub fn unregister_kernel(name: &str) -> bool {
    sconce_sim::unregister_kernel(name)
}

/// Memory of a simulated device.
pub fn memory_alloc(index: i32, bytes: usize) -> Result<DevicePtr> {
    let runtime = runtime()?;
    Simulator::opened()?;
    runtime.driver().memory_alloc(device::resolve(runtime, index)?, bytes)
}

/// Gives it back; waits for the device.
pub fn memory_free(address: usize) -> Result<()> {
    let (runtime, device) = holder(address)?;
    runtime.driver().memory_free(device, DevicePtr(address as u64))
}

/// Copies from simulated memory to the host, or back, after all work of the default stream.
pub fn memory_copy(dst: RawAddress, src: RawAddress, simulated: usize, bytes: usize) -> Result<()> {
    let (runtime, device) = holder(simulated)?;
    if bytes == 0 {
        return Ok(());
    }
    let stream = StreamRef::default_of(device);
    runtime.driver().copy_async(dst, src, bytes, stream)?;
    runtime.driver().stream_synchronize(stream)
}

/// The device to whose memory an address belongs.
fn holder(address: usize) -> Result<(&'static Runtime, DeviceIndex)> {
    let runtime = runtime()?;
    Simulator::opened()?;
    match runtime.driver().pointer_info(address)?.kind {
        PointerKind::Device(device) => Ok((runtime, device)),
        _ => Err(Error::invalid_argument(format!(
            "ptr {address:#x} is not memory of a simulated device; allocate it with sconce_sim_memory_alloc"
        ))),
    }
}

/// Ends a rank of a communicator as if its process had died; a rank is named by the library's handle.
pub fn comm_kill(native: usize) -> Result<()> {
    simulator()?.comm_kill(native)
}

/// Lets each operation of a rank begin later.
pub fn comm_delay(native: usize, nanoseconds: u64) -> Result<()> {
    simulator()?.comm_delay(native, nanoseconds)
}

/// Lets a rank fail with a number of NCCL.
pub fn comm_fail(native: usize, code: i32) -> Result<()> {
    simulator()?.comm_fail(native, code)
}

/// How long collective calls wait for other ranks before they are given up.
pub fn set_comm_patience_ms(milliseconds: u64) -> Result<()> {
    simulator()?.set_comm_patience_ms(milliseconds);
    Ok(())
}
