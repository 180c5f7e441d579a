//! The [`Driver`] trait: each method counts itself, checks what names a device, and hands over.
#![forbid(unsafe_code)]

use std::fs::File;
use std::os::fd::OwnedFd;

use crate::driver::{
    Access, Backend, BlasHandle, CaptureMode, DeviceProperties, DnnHandle, Driver, EventFlags,
    EventHandle, FftPlan, FftShape, HostFunction, IpcHandle, KernelArguments, KernelHandle,
    KernelImage, LaunchShape, MemoryInfo, ModuleHandle, PhysicalHandle, PointerInfo, ProcessUsage,
    RawAddress, StreamFlags, StreamHandle, StreamRef, dnn_failure,
};
use crate::error::Result;
use crate::types::{DeviceIndex, DevicePtr};

use super::properties;
use crate::driver::sim::call::Call;
use crate::driver::sim::machine::engine::GREATEST_PRIORITY;
use crate::driver::sim::machine::work::Rows;
use crate::driver::sim::{Simulator, machine::capture};

impl Driver for Simulator {
    fn backend(&self) -> Backend {
        Backend::Sim
    }

    fn device_count(&self) -> i32 {
        self.inner.counters.add(Call::DeviceCount);
        self.inner.config.devices
    }

    fn device_properties(&self, device: DeviceIndex) -> Result<DeviceProperties> {
        self.inner.enter_device(Call::DeviceProperties, device)?;
        Ok(properties::of(&self.inner.config, device))
    }

    fn memory_info(&self, device: DeviceIndex) -> Result<MemoryInfo> {
        self.inner.enter_context(Call::MemoryInfo, device)?;
        self.inner.memory_info(Call::MemoryInfo, device)
    }

    fn device_synchronize(&self, device: DeviceIndex) -> Result<()> {
        self.inner.enter_context(Call::DeviceSynchronize, device)?;
        self.inner.await_device(Call::DeviceSynchronize, device)
    }

    fn device_processes(&self, device: DeviceIndex) -> Result<Vec<ProcessUsage>> {
        self.inner.enter_device(Call::DeviceProcesses, device)?;
        Ok(self.inner.device_processes(device))
    }

    fn can_access_peer(&self, device: DeviceIndex, peer: DeviceIndex) -> Result<bool> {
        self.inner.enter_device(Call::CanAccessPeer, device)?;
        self.inner.check_device(Call::CanAccessPeer, peer)?;
        Ok(self.inner.peer_allowed(device, peer))
    }

    fn enable_peer_access(&self, device: DeviceIndex, peer: DeviceIndex) -> Result<()> {
        self.inner.enter_device(Call::EnablePeerAccess, device)?;
        self.inner.enable_peer(Call::EnablePeerAccess, device, peer)
    }

    fn context_is_active(&self, device: DeviceIndex) -> Result<bool> {
        self.inner.enter_device(Call::ContextIsActive, device)?;
        Ok(self.inner.has_context(device))
    }

    fn bind_device(&self, device: DeviceIndex) -> Result<()> {
        self.inner.enter_context(Call::BindDevice, device) // Every call names its device.
    }

    fn unbind_device(&self) -> Result<()> {
        self.inner.enter(Call::UnbindDevice)
    }

    fn exchange_capture_mode(&self, mode: CaptureMode) -> Result<CaptureMode> {
        self.inner.enter(Call::ExchangeCaptureMode)?;
        Ok(capture::exchange_thread_mode(mode))
    }

    fn memory_alloc(&self, device: DeviceIndex, bytes: usize) -> Result<DevicePtr> {
        self.inner.enter_context(Call::MemoryAlloc, device)?;
        self.inner.memory_alloc(Call::MemoryAlloc, device, bytes)
    }

    fn memory_free(&self, device: DeviceIndex, ptr: DevicePtr) -> Result<()> {
        self.inner.enter_context(Call::MemoryFree, device)?;
        self.inner.memory_free(Call::MemoryFree, device, ptr)
    }

    fn host_alloc(&self, device: DeviceIndex, bytes: usize) -> Result<usize> {
        self.inner.enter_context(Call::HostAlloc, device)?;
        self.inner.host_alloc(Call::HostAlloc, device, bytes)
    }

    fn host_free(&self, address: usize) -> Result<()> {
        self.inner.enter(Call::HostFree)?;
        self.inner.host_free(Call::HostFree, address)
    }

    fn host_register(&self, device: DeviceIndex, address: RawAddress, bytes: usize) -> Result<()> {
        self.inner.enter_context(Call::HostRegister, device)?;
        self.inner.host_register(Call::HostRegister, device, address, bytes)
    }

    fn host_unregister(&self, address: usize) -> Result<()> {
        self.inner.enter(Call::HostUnregister)?;
        self.inner.host_unregister(Call::HostUnregister, address)
    }

    fn pointer_info(&self, address: usize) -> Result<PointerInfo> {
        self.inner.enter(Call::PointerInfo)?;
        Ok(self.inner.space.read().pointer_info(address))
    }

    fn virtual_granularity(&self, device: DeviceIndex) -> Result<usize> {
        self.inner.enter_device(Call::VirtualGranularity, device)?;
        Ok(crate::driver::sim::memory::GRANULARITY as usize)
    }

    fn virtual_reserve(&self, bytes: usize) -> Result<DevicePtr> {
        self.inner.enter(Call::VirtualReserve)?;
        self.inner.virtual_reserve(Call::VirtualReserve, bytes)
    }

    fn virtual_release(&self, ptr: DevicePtr, bytes: usize) -> Result<()> {
        self.inner.enter(Call::VirtualRelease)?;
        self.inner.in_space(Call::VirtualRelease, |space| space.unreserve(ptr.0, bytes as u64))
    }

    fn physical_create(
        &self,
        device: DeviceIndex,
        bytes: usize,
        shareable: bool,
    ) -> Result<PhysicalHandle> {
        self.inner.enter_context(Call::PhysicalCreate, device)?;
        self.inner.physical_create(Call::PhysicalCreate, device, bytes, shareable)
    }

    fn physical_release(&self, handle: PhysicalHandle) -> Result<()> {
        self.inner.enter(Call::PhysicalRelease)?;
        self.inner.in_space(Call::PhysicalRelease, |space| space.release(handle.0))
    }

    fn physical_retain(&self, ptr: DevicePtr) -> Result<PhysicalHandle> {
        self.inner.enter(Call::PhysicalRetain)?;
        self.inner.physical_retain(Call::PhysicalRetain, ptr)
    }

    fn virtual_map(
        &self,
        ptr: DevicePtr,
        bytes: usize,
        handle: PhysicalHandle,
        offset: usize,
    ) -> Result<()> {
        self.inner.enter(Call::VirtualMap)?;
        self.inner.virtual_map(Call::VirtualMap, (ptr, bytes), handle, offset)
    }

    fn virtual_unmap(&self, ptr: DevicePtr, bytes: usize) -> Result<()> {
        self.inner.enter(Call::VirtualUnmap)?;
        self.inner.in_space(Call::VirtualUnmap, |space| space.unmap(ptr.0, bytes as u64))
    }

    fn virtual_set_access(
        &self,
        ptr: DevicePtr,
        bytes: usize,
        device: DeviceIndex,
        access: Access,
    ) -> Result<()> {
        self.inner.enter_context(Call::VirtualSetAccess, device)?;
        self.inner.set_access(Call::VirtualSetAccess, (ptr, bytes), device, access)
    }

    fn physical_export(&self, handle: PhysicalHandle) -> Result<OwnedFd> {
        self.inner.enter(Call::PhysicalExport)?;
        self.inner.physical_export(Call::PhysicalExport, handle)
    }

    fn physical_import(&self, device: DeviceIndex, fd: OwnedFd) -> Result<PhysicalHandle> {
        self.inner.enter_context(Call::PhysicalImport, device)?;
        self.inner.physical_import(Call::PhysicalImport, File::from(fd))
    }

    fn stream_priority_range(&self, device: DeviceIndex) -> Result<(i32, i32)> {
        self.inner.enter_device(Call::StreamPriorityRange, device)?;
        Ok((0, GREATEST_PRIORITY))
    }

    fn stream_create(
        &self,
        device: DeviceIndex,
        flags: StreamFlags,
        priority: i32,
    ) -> Result<StreamHandle> {
        self.inner.enter_context(Call::StreamCreate, device)?;
        self.inner.stream_create(Call::StreamCreate, device, flags, priority)
    }

    fn stream_destroy(&self, stream: StreamRef) -> Result<()> {
        self.inner.enter_device(Call::StreamDestroy, stream.device)?;
        self.inner.stream_destroy(Call::StreamDestroy, stream)
    }

    fn stream_check(&self, stream: StreamRef) -> Result<()> {
        self.inner.enter_device(Call::StreamCheck, stream.device)?;
        self.inner.engine.lock().look_up(Call::StreamCheck, stream).map(drop)
    }

    fn stream_id(&self, stream: StreamRef) -> Result<Option<u64>> {
        self.inner.enter_device(Call::StreamId, stream.device)?;
        self.inner.stream_id(Call::StreamId, stream).map(Some)
    }

    fn stream_query(&self, stream: StreamRef) -> Result<bool> {
        self.inner.enter_context(Call::StreamQuery, stream.device)?;
        self.inner.stream_query(Call::StreamQuery, stream)
    }

    fn stream_synchronize(&self, stream: StreamRef) -> Result<()> {
        self.inner.enter_context(Call::StreamSynchronize, stream.device)?;
        self.inner.stream_synchronize(Call::StreamSynchronize, stream)
    }

    fn stream_priority(&self, stream: StreamRef) -> Result<i32> {
        self.inner.enter_device(Call::StreamPriority, stream.device)?;
        self.inner.stream_priority(Call::StreamPriority, stream)
    }

    fn stream_is_capturing(&self, stream: StreamRef) -> Result<bool> {
        self.inner.enter_device(Call::StreamIsCapturing, stream.device)?;
        self.inner.stream_is_capturing(Call::StreamIsCapturing, stream)
    }

    fn stream_wait_event(&self, stream: StreamRef, event: EventHandle) -> Result<()> {
        self.inner.enter_context(Call::StreamWaitEvent, stream.device)?;
        self.inner.stream_wait_event(Call::StreamWaitEvent, stream, event)
    }

    fn launch_host_function(&self, stream: StreamRef, function: HostFunction) -> Result<()> {
        self.inner.enter_context(Call::LaunchHostFunction, stream.device)?;
        self.inner.launch_host_function(Call::LaunchHostFunction, stream, function)
    }

    fn event_create(&self, device: DeviceIndex, flags: EventFlags) -> Result<EventHandle> {
        self.inner.enter_context(Call::EventCreate, device)?;
        self.inner.event_create(Call::EventCreate, device, flags)
    }

    fn event_destroy(&self, event: EventHandle) -> Result<()> {
        self.inner.enter(Call::EventDestroy)?;
        self.inner.event_destroy(Call::EventDestroy, event)
    }

    fn event_record(&self, event: EventHandle, stream: StreamRef) -> Result<()> {
        self.inner.enter_context(Call::EventRecord, stream.device)?;
        self.inner.event_record(Call::EventRecord, event, stream)
    }

    fn event_query(&self, event: EventHandle) -> Result<bool> {
        self.inner.enter(Call::EventQuery)?;
        self.inner.event_query(Call::EventQuery, event)
    }

    fn event_synchronize(&self, event: EventHandle) -> Result<()> {
        self.inner.enter(Call::EventSynchronize)?;
        self.inner.event_synchronize(Call::EventSynchronize, event)
    }

    fn event_elapsed_ms(&self, start: EventHandle, end: EventHandle) -> Result<f32> {
        self.inner.enter(Call::EventElapsedMs)?;
        self.inner.event_elapsed_ms(Call::EventElapsedMs, start, end)
    }

    fn copy_async(&self, dst: RawAddress, src: RawAddress, n: usize, at: StreamRef) -> Result<()> {
        self.inner.enter_context(Call::CopyAsync, at.device)?;
        self.inner.copy(Call::CopyAsync, dst, src, n, at)
    }

    fn copy_peer_async(
        &self,
        dst: (DeviceIndex, DevicePtr),
        src: (DeviceIndex, DevicePtr),
        bytes: usize,
        stream: StreamRef,
    ) -> Result<()> {
        self.inner.enter_context(Call::CopyPeerAsync, stream.device)?;
        self.inner.copy_peer(Call::CopyPeerAsync, dst, src, bytes, stream)
    }

    fn copy_2d_async(
        &self,
        dst: (RawAddress, usize),
        src: (RawAddress, usize),
        width: usize,
        height: usize,
        stream: StreamRef,
    ) -> Result<()> {
        self.inner.enter_context(Call::Copy2dAsync, stream.device)?;
        self.inner.copy_rows(Call::Copy2dAsync, dst, src, width, height, stream)
    }

    fn fill_async(&self, dst: DevicePtr, value: u8, bytes: usize, stream: StreamRef) -> Result<()> {
        self.inner.enter_context(Call::FillAsync, stream.device)?;
        self.inner.fill(Call::FillAsync, dst.0, value, Rows::single(bytes), stream)
    }

    fn fill_2d_async(
        &self,
        (dst, pitch): (DevicePtr, usize),
        value: u8,
        width: usize,
        height: usize,
        stream: StreamRef,
    ) -> Result<()> {
        self.inner.enter_context(Call::Fill2dAsync, stream.device)?;
        self.inner.fill(Call::Fill2dAsync, dst.0, value, Rows { width, height, pitch }, stream)
    }

    fn module_load(&self, device: DeviceIndex, image: &KernelImage) -> Result<ModuleHandle> {
        self.inner.enter_context(Call::ModuleLoad, device)?;
        self.inner.module_load(Call::ModuleLoad, device, image)
    }

    fn module_unload(&self, device: DeviceIndex, module: ModuleHandle) -> Result<()> {
        self.inner.enter_device(Call::ModuleUnload, device)?;
        self.inner.module_unload(Call::ModuleUnload, device, module)
    }

    fn kernel_find(
        &self,
        device: DeviceIndex,
        module: ModuleHandle,
        name: &str,
    ) -> Result<KernelHandle> {
        self.inner.enter_device(Call::KernelFind, device)?;
        self.inner.kernel_find(Call::KernelFind, device, module, name)
    }

    fn kernel_launch(
        &self,
        kernel: KernelHandle,
        shape: LaunchShape,
        arguments: &KernelArguments,
        stream: StreamRef,
    ) -> Result<()> {
        self.inner.enter_context(Call::KernelLaunch, stream.device)?;
        self.inner.kernel_launch(Call::KernelLaunch, kernel, shape, arguments, stream)
    }

    fn ipc_memory_export(&self, ptr: DevicePtr) -> Result<IpcHandle> {
        self.inner.enter(Call::IpcMemoryExport)?;
        self.inner.ipc_memory_export(Call::IpcMemoryExport, ptr)
    }

    fn ipc_memory_open(&self, device: DeviceIndex, handle: &IpcHandle) -> Result<DevicePtr> {
        self.inner.enter_context(Call::IpcMemoryOpen, device)?;
        self.inner.ipc_memory_open(Call::IpcMemoryOpen, device, handle)
    }

    fn ipc_memory_close(&self, ptr: DevicePtr) -> Result<()> {
        self.inner.enter(Call::IpcMemoryClose)?;
        self.inner.ipc_memory_close(Call::IpcMemoryClose, ptr)
    }

    fn ipc_event_export(&self, event: EventHandle) -> Result<IpcHandle> {
        self.inner.enter(Call::IpcEventExport)?;
        self.inner.ipc_event_export(Call::IpcEventExport, event)
    }

    fn ipc_event_open(&self, device: DeviceIndex, handle: &IpcHandle) -> Result<EventHandle> {
        self.inner.enter_context(Call::IpcEventOpen, device)?;
        self.inner.ipc_event_open(Call::IpcEventOpen, device, handle)
    }

    fn blas_create(&self, device: DeviceIndex) -> Result<Box<dyn BlasHandle>> {
        self.make_blas_handle(device)
    }

    fn dnn_create(&self, device: DeviceIndex) -> Result<Box<dyn DnnHandle>> {
        self.make_dnn_handle(device)
    }

    fn dnn_version(&self) -> Result<i64> {
        self.inner.open_library(Call::DnnVersion, "cuDNN", dnn_failure)?;
        Ok(crate::driver::sim::libraries::dnn::VERSION)
    }

    fn fft_plan(&self, device: DeviceIndex, shape: &FftShape) -> Result<Box<dyn FftPlan>> {
        self.make_fft_plan(device, shape)
    }

    fn fft_most_plans(&self) -> usize {
        self.inner.counters.add(Call::FftMostPlans);
        crate::driver::sim::libraries::fft::MOST_PLANS
    }
}
