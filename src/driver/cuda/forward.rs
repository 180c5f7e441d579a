//! The trait, by the calls of the other files.
//!
//! Every line names the inherent method of the same name. What releases something goes through
//! [`released`]: after the driver has shut down at process exit there is nothing left to release.

use std::os::fd::OwnedFd;

use super::CudaDriver;
use super::result::released;
use crate::driver::{
    Access, Backend, BlasHandle, CaptureMode, DeviceProperties, DnnHandle, Driver, EventFlags,
    EventHandle, FftPlan, FftShape, HostFunction, IpcHandle, KernelArguments, KernelHandle,
    KernelImage, LaunchShape, MemoryInfo, ModuleHandle, PhysicalHandle, PointerInfo, ProcessUsage,
    RawAddress, StreamFlags, StreamHandle, StreamRef,
};
use crate::error::Result;
use crate::types::{DeviceIndex, DevicePtr};

impl Driver for CudaDriver {
    fn backend(&self) -> Backend {
        Backend::Cuda
    }

    // Devices

    fn device_count(&self) -> i32 {
        self.devices.len() as i32
    }
    fn device_properties(&self, device: DeviceIndex) -> Result<DeviceProperties> {
        CudaDriver::device_properties(self, device)
    }
    fn memory_info(&self, device: DeviceIndex) -> Result<MemoryInfo> {
        CudaDriver::memory_info(self, device)
    }
    fn device_synchronize(&self, device: DeviceIndex) -> Result<()> {
        CudaDriver::device_synchronize(self, device)
    }
    fn device_processes(&self, device: DeviceIndex) -> Result<Vec<ProcessUsage>> {
        CudaDriver::device_processes(self, device)
    }
    fn can_access_peer(&self, device: DeviceIndex, peer: DeviceIndex) -> Result<bool> {
        CudaDriver::can_access_peer(self, device, peer)
    }
    fn enable_peer_access(&self, device: DeviceIndex, peer: DeviceIndex) -> Result<()> {
        CudaDriver::enable_peer_access(self, device, peer)
    }

    // Contexts

    fn context_is_active(&self, device: DeviceIndex) -> Result<bool> {
        CudaDriver::context_is_active(self, device)
    }
    fn bind_device(&self, device: DeviceIndex) -> Result<()> {
        CudaDriver::bind_device(self, device)
    }
    fn unbind_device(&self) -> Result<()> {
        CudaDriver::unbind_device(self)
    }

    // Captures

    fn exchange_capture_mode(&self, mode: CaptureMode) -> Result<CaptureMode> {
        CudaDriver::exchange_capture_mode(self, mode)
    }

    // Memory

    fn memory_alloc(&self, device: DeviceIndex, bytes: usize) -> Result<DevicePtr> {
        CudaDriver::memory_alloc(self, device, bytes)
    }
    fn memory_free(&self, device: DeviceIndex, ptr: DevicePtr) -> Result<()> {
        released(CudaDriver::memory_free(self, device, ptr))
    }
    fn host_alloc(&self, device: DeviceIndex, bytes: usize) -> Result<usize> {
        CudaDriver::host_alloc(self, device, bytes)
    }
    fn host_free(&self, address: usize) -> Result<()> {
        released(CudaDriver::host_free(self, address))
    }
    fn host_register(&self, device: DeviceIndex, address: RawAddress, bytes: usize) -> Result<()> {
        CudaDriver::host_register(self, device, address, bytes)
    }
    fn host_unregister(&self, address: usize) -> Result<()> {
        released(CudaDriver::host_unregister(self, address))
    }
    fn pointer_info(&self, address: usize) -> Result<PointerInfo> {
        CudaDriver::pointer_info(self, address)
    }

    // Virtual memory

    fn virtual_granularity(&self, device: DeviceIndex) -> Result<usize> {
        CudaDriver::virtual_granularity(self, device)
    }
    fn virtual_reserve(&self, bytes: usize) -> Result<DevicePtr> {
        CudaDriver::virtual_reserve(self, bytes)
    }
    fn virtual_release(&self, ptr: DevicePtr, bytes: usize) -> Result<()> {
        released(CudaDriver::virtual_release(self, ptr, bytes))
    }
    fn physical_create(
        &self,
        device: DeviceIndex,
        bytes: usize,
        shareable: bool,
    ) -> Result<PhysicalHandle> {
        CudaDriver::physical_create(self, device, bytes, shareable)
    }
    fn physical_release(&self, handle: PhysicalHandle) -> Result<()> {
        released(CudaDriver::physical_release(self, handle))
    }
    fn physical_retain(&self, ptr: DevicePtr) -> Result<PhysicalHandle> {
        CudaDriver::physical_retain(self, ptr)
    }
    fn virtual_map(
        &self,
        ptr: DevicePtr,
        bytes: usize,
        handle: PhysicalHandle,
        offset: usize,
    ) -> Result<()> {
        CudaDriver::virtual_map(self, ptr, bytes, handle, offset)
    }
    fn virtual_unmap(&self, ptr: DevicePtr, bytes: usize) -> Result<()> {
        released(CudaDriver::virtual_unmap(self, ptr, bytes))
    }
    fn virtual_set_access(
        &self,
        ptr: DevicePtr,
        bytes: usize,
        device: DeviceIndex,
        access: Access,
    ) -> Result<()> {
        CudaDriver::virtual_set_access(self, ptr, bytes, device, access)
    }
    fn physical_export(&self, handle: PhysicalHandle) -> Result<OwnedFd> {
        CudaDriver::physical_export(self, handle)
    }
    fn physical_import(&self, device: DeviceIndex, fd: OwnedFd) -> Result<PhysicalHandle> {
        CudaDriver::physical_import(self, device, fd)
    }

    // Streams

    fn stream_priority_range(&self, device: DeviceIndex) -> Result<(i32, i32)> {
        CudaDriver::stream_priority_range(self, device)
    }
    fn stream_create(
        &self,
        device: DeviceIndex,
        flags: StreamFlags,
        priority: i32,
    ) -> Result<StreamHandle> {
        CudaDriver::stream_create(self, device, flags, priority)
    }
    fn stream_destroy(&self, stream: StreamRef) -> Result<()> {
        released(CudaDriver::stream_destroy(self, stream))
    }
    fn stream_check(&self, stream: StreamRef) -> Result<()> {
        CudaDriver::stream_check(self, stream)
    }
    fn stream_id(&self, stream: StreamRef) -> Result<Option<u64>> {
        CudaDriver::stream_id(self, stream)
    }
    #[inline]
    fn stream_query(&self, stream: StreamRef) -> Result<bool> {
        CudaDriver::stream_query(self, stream)
    }
    fn stream_synchronize(&self, stream: StreamRef) -> Result<()> {
        CudaDriver::stream_synchronize(self, stream)
    }
    fn stream_priority(&self, stream: StreamRef) -> Result<i32> {
        CudaDriver::stream_priority(self, stream)
    }
    fn stream_is_capturing(&self, stream: StreamRef) -> Result<bool> {
        CudaDriver::stream_is_capturing(self, stream)
    }
    #[inline]
    fn stream_wait_event(&self, stream: StreamRef, event: EventHandle) -> Result<()> {
        CudaDriver::stream_wait_event(self, stream, event)
    }
    fn launch_host_function(&self, stream: StreamRef, function: HostFunction) -> Result<()> {
        CudaDriver::launch_host_function(self, stream, function)
    }

    // Events

    fn event_create(&self, device: DeviceIndex, flags: EventFlags) -> Result<EventHandle> {
        CudaDriver::event_create(self, device, flags)
    }
    fn event_destroy(&self, event: EventHandle) -> Result<()> {
        released(CudaDriver::event_destroy(self, event))
    }
    #[inline]
    fn event_record(&self, event: EventHandle, stream: StreamRef) -> Result<()> {
        CudaDriver::event_record(self, event, stream)
    }
    #[inline]
    fn event_query(&self, event: EventHandle) -> Result<bool> {
        CudaDriver::event_query(self, event)
    }
    fn event_synchronize(&self, event: EventHandle) -> Result<()> {
        CudaDriver::event_synchronize(self, event)
    }
    fn event_elapsed_ms(&self, start: EventHandle, end: EventHandle) -> Result<f32> {
        CudaDriver::event_elapsed_ms(self, start, end)
    }

    // Work

    fn copy_async(
        &self,
        dst: RawAddress,
        src: RawAddress,
        bytes: usize,
        stream: StreamRef,
    ) -> Result<()> {
        CudaDriver::copy_async(self, dst, src, bytes, stream)
    }
    fn copy_direct_async(
        &self,
        dst: RawAddress,
        src: RawAddress,
        bytes: usize,
        stream: StreamRef,
    ) -> Result<()> {
        CudaDriver::copy_direct_async(self, dst, src, bytes, stream)
    }
    fn copy_peer_async(
        &self,
        dst: (DeviceIndex, DevicePtr),
        src: (DeviceIndex, DevicePtr),
        bytes: usize,
        stream: StreamRef,
    ) -> Result<()> {
        CudaDriver::copy_peer_async(self, dst, src, bytes, stream)
    }
    fn copy_2d_async(
        &self,
        dst: (RawAddress, usize),
        src: (RawAddress, usize),
        width: usize,
        height: usize,
        stream: StreamRef,
    ) -> Result<()> {
        CudaDriver::copy_2d_async(self, dst, src, width, height, stream)
    }
    fn fill_async(&self, dst: DevicePtr, value: u8, bytes: usize, stream: StreamRef) -> Result<()> {
        CudaDriver::fill_async(self, dst, value, bytes, stream)
    }
    fn fill_2d_async(
        &self,
        dst: (DevicePtr, usize),
        value: u8,
        width: usize,
        height: usize,
        stream: StreamRef,
    ) -> Result<()> {
        CudaDriver::fill_2d_async(self, dst, value, width, height, stream)
    }
    fn module_load(&self, device: DeviceIndex, image: &KernelImage) -> Result<ModuleHandle> {
        CudaDriver::module_load(self, device, image)
    }
    fn module_unload(&self, device: DeviceIndex, module: ModuleHandle) -> Result<()> {
        released(CudaDriver::module_unload(self, device, module))
    }
    fn kernel_find(
        &self,
        device: DeviceIndex,
        module: ModuleHandle,
        name: &str,
    ) -> Result<KernelHandle> {
        CudaDriver::kernel_find(self, device, module, name)
    }
    fn kernel_launch(
        &self,
        kernel: KernelHandle,
        shape: LaunchShape,
        arguments: &KernelArguments,
        stream: StreamRef,
    ) -> Result<()> {
        CudaDriver::kernel_launch(self, kernel, shape, arguments, stream)
    }

    // Between processes

    fn ipc_memory_export(&self, ptr: DevicePtr) -> Result<IpcHandle> {
        CudaDriver::ipc_memory_export(self, ptr)
    }
    fn ipc_memory_open(&self, device: DeviceIndex, handle: &IpcHandle) -> Result<DevicePtr> {
        CudaDriver::ipc_memory_open(self, device, handle)
    }
    fn ipc_memory_close(&self, ptr: DevicePtr) -> Result<()> {
        released(CudaDriver::ipc_memory_close(self, ptr))
    }
    fn ipc_event_export(&self, event: EventHandle) -> Result<IpcHandle> {
        CudaDriver::ipc_event_export(self, event)
    }
    fn ipc_event_open(&self, device: DeviceIndex, handle: &IpcHandle) -> Result<EventHandle> {
        CudaDriver::ipc_event_open(self, device, handle)
    }

    // Libraries

    fn blas_create(&self, device: DeviceIndex) -> Result<Box<dyn BlasHandle>> {
        CudaDriver::blas_create(self, device)
    }
    fn dnn_create(&self, device: DeviceIndex) -> Result<Box<dyn DnnHandle>> {
        CudaDriver::dnn_create(self, device)
    }
    fn dnn_version(&self) -> Result<i64> {
        CudaDriver::dnn_version(self)
    }
    fn fft_plan(&self, device: DeviceIndex, shape: &FftShape) -> Result<Box<dyn FftPlan>> {
        CudaDriver::fft_plan(self, device, shape)
    }
    fn fft_most_plans(&self) -> usize {
        CudaDriver::fft_most_plans(self)
    }
}
