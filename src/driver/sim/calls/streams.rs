//! Streams as the driver's callers see them, and everything that is queued on them.
#![forbid(unsafe_code)]

use std::sync::Arc;

use crate::driver::{
    HostFunction, KernelArguments, KernelHandle, LaunchShape, StreamFlags, StreamHandle, StreamRef,
};
use crate::error::Result;
use crate::types::DeviceIndex;

use crate::driver::sim::Inner;
use crate::driver::sim::call::Call;
use crate::driver::sim::codes;
use crate::driver::sim::machine::engine::{StreamKey, Submission};
use crate::driver::sim::machine::token::Token;
use crate::driver::sim::machine::work::Work;

impl Inner {
    /// Queues an operation and gives its token; `None` when it went into a capture and will not run.
    pub(crate) fn submit(
        self: &Arc<Self>,
        call: Call,
        stream: StreamRef,
        work: Work,
        duration_ns: u64,
    ) -> Result<Option<Arc<Token>>> {
        let fault = self.faults.of_operation(call);
        let mut engine = self.engine.lock();
        let key = engine.find(call, stream)?;
        engine.check(call, stream.device)?;
        if engine.capture_operation(call, key)? {
            return Ok(None);
        }
        let submission = Submission { call, work, duration_ns, after: None, fault, stuck: false };
        let token = engine.enqueue(key, submission);
        self.serve(&mut engine);
        engine.check_threads(call)?;
        Ok(Some(token))
    }

    pub(crate) fn stream_create(
        &self,
        call: Call,
        device: DeviceIndex,
        flags: StreamFlags,
        priority: i32,
    ) -> Result<StreamHandle> {
        let mut engine = self.engine.lock();
        engine.check(call, device)?;
        Ok(engine.create_stream(device, flags, priority))
    }

    /// The stream's number inside the engine, which no other stream ever has.
    pub(crate) fn stream_id(&self, call: Call, stream: StreamRef) -> Result<u64> {
        self.engine.lock().find(call, stream).map(StreamKey::number)
    }

    pub(crate) fn stream_priority(&self, call: Call, stream: StreamRef) -> Result<i32> {
        let engine = self.engine.lock();
        let key = engine.find(call, stream)?;
        Ok(engine.streams.get(&key).map_or(0, |stream| stream.priority))
    }

    pub(crate) fn stream_is_capturing(&self, call: Call, stream: StreamRef) -> Result<bool> {
        let mut engine = self.engine.lock();
        let key = engine.find(call, stream)?;
        engine.is_capturing(call, key)
    }

    pub(crate) fn stream_query(&self, call: Call, stream: StreamRef) -> Result<bool> {
        let mut engine = self.engine.lock();
        let key = engine.find(call, stream)?;
        engine.check(call, stream.device)?;
        engine.refuse_captured_stream(call, key)?;
        engine.refuse_held_back(call)?;
        Ok(engine.pending_of_stream(key).is_empty())
    }

    pub(crate) fn stream_synchronize(&self, call: Call, stream: StreamRef) -> Result<()> {
        let mut engine = self.engine.lock();
        let key = engine.find(call, stream)?;
        engine.check(call, stream.device)?;
        engine.refuse_captured_stream(call, key)?;
        engine.refuse_held_back(call)?;
        for token in engine.pending_of_stream(key) {
            token.wait(&mut engine);
        }
        engine.check(call, stream.device)
    }

    /// Waits until everything queued on the device before has ended.
    pub(crate) fn await_device(&self, call: Call, device: DeviceIndex) -> Result<()> {
        let mut engine = self.engine.lock();
        engine.check(call, device)?;
        engine.refuse_captured_device(call, device)?;
        engine.refuse_held_back(call)?;
        for token in engine.pending_of_device(device) {
            token.wait(&mut engine);
        }
        engine.check(call, device)
    }

    /// The same for all devices; failures of their work are left to those who ask for the device.
    pub(crate) fn await_all_devices(&self, call: Call) -> Result<()> {
        let mut engine = self.engine.lock();
        for device in self.device_indices() {
            engine.refuse_captured_device(call, device)?;
        }
        engine.refuse_held_back(call)?;
        let tokens: Vec<_> =
            self.device_indices().flat_map(|device| engine.pending_of_device(device)).collect();
        for token in tokens {
            token.wait(&mut engine);
        }
        engine.check_threads(call)
    }

    pub(crate) fn launch_host_function(
        self: &Arc<Self>,
        call: Call,
        stream: StreamRef,
        function: HostFunction,
    ) -> Result<()> {
        self.submit(call, stream, Work::Host(function), self.latency_ns()).map(drop)
    }

    /// What a call that has nothing to queue still checks.
    pub(crate) fn accepts_work(&self, call: Call, stream: StreamRef) -> Result<()> {
        let mut engine = self.engine.lock();
        let key = engine.find(call, stream)?;
        engine.check(call, stream.device)?;
        engine.capture_for(call, key).map(drop)
    }

    pub(crate) fn stream_destroy(&self, call: Call, stream: StreamRef) -> Result<()> {
        let mut engine = self.engine.lock();
        let key = engine.find(call, stream)?;
        if key == StreamKey::legacy(stream.device) {
            let why = "the default stream cannot be destroyed";
            return Err(codes::failure_because(call, codes::INVALID_HANDLE, why));
        }
        engine.destroy_stream(key, stream.handle);
        Ok(())
    }

    pub(crate) fn kernel_launch(
        self: &Arc<Self>,
        call: Call,
        handle: KernelHandle,
        shape: LaunchShape,
        arguments: &KernelArguments,
        stream: StreamRef,
    ) -> Result<()> {
        let (device, kernel) = self.kernel(call, handle)?;
        if device != stream.device {
            return Err(codes::failure_because(
                call,
                codes::INVALID_HANDLE,
                format_args!(
                    "{} was loaded for device {device}, the stream is of device {}",
                    kernel.name, stream.device
                ),
            ));
        }
        kernel
            .check(shape, arguments)
            .map_err(|why| codes::failure_because(call, codes::INVALID_VALUE, why))?;
        let duration_ns = (kernel.duration_ns)(arguments.slots(), self.latency_ns());
        let arguments = arguments.slots().into();
        let work = Work::Kernel { device, kernel, shape, arguments };
        self.submit(call, stream, work, duration_ns).map(drop)
    }
}
