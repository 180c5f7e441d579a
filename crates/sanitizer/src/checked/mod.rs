//! A driver whose calls are checked: it passes each call on to the backend, and tells the checker what it orders and
//! what memory it uses.
//!
//! The checker hears of what adds to the order, such as an operation or a record, before the call is made, and of what
//! the host learns, such as the end of a wait, after it. So a thread that learns of work always finds it there.
#![forbid(unsafe_code)]

mod guards;
mod known_kernels;
mod libraries;
mod memory;
mod work;

use std::sync::Arc;

use sconce_base::error::Result;
use sconce_base::lock::{Mutex, rank};
use sconce_base::types::DeviceIndex;
use sconce_driver::{
    CaptureMode, Captures, Compilation, CompiledForm, Compiler, Contexts, DeviceProperties,
    Devices, Driver, EventFlags, EventHandle, Events, ProcessUsage, SourceCode,
};

use crate::Sanitizer;
use crate::checker::Checker;
use crate::clock::Clock;
use crate::pending::Awaited;
use crate::scope;
use guards::Guards;
use known_kernels::KnownKernels;

/// Passes calls on as they are.
macro_rules! pass_on {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        $(fn $name(&self, $($argument: $type),*) -> $result {
            self.inner.$name($($argument),*)
        })*
    };
}
pub(crate) use pass_on;

/// A driver whose calls are checked.
pub(crate) struct CheckedDriver {
    pub(super) inner: &'static dyn Driver,
    pub(super) sanitizer: Arc<Sanitizer>,
    kernels: Mutex<rank::SanitizerKernels, KnownKernels>,
    pub(super) guards: Guards,
}

impl CheckedDriver {
    pub(crate) fn new(inner: &'static dyn Driver, sanitizer: Arc<Sanitizer>) -> CheckedDriver {
        let guards = Guards::new(sanitizer.config.guard_bytes);
        CheckedDriver { inner, sanitizer, kernels: Mutex::default(), guards }
    }
}

impl CheckedDriver {
    /// What the host learns when a wait ends that begins now, or when a question is answered that is asked now: what
    /// other threads queue meanwhile is not part of it.
    pub(super) fn target(&self, awaited: Awaited) -> Option<Arc<Clock>> {
        if !self.sanitizer.is_enabled() {
            return None;
        }
        self.sanitizer.note(|checker| checker.target(awaited))
    }

    /// A call that waits.
    pub(super) fn waits(&self, awaited: Awaited, call: impl FnOnce() -> Result<()>) -> Result<()> {
        let target = self.target(awaited);
        let watch = self.sanitizer.awaits(awaited);
        call()?;
        drop(watch);
        self.waited(awaited, target);
        Ok(())
    }

    /// A call that returns whether work is done.
    pub(super) fn asks(
        &self,
        awaited: Awaited,
        call: impl FnOnce() -> Result<bool>,
    ) -> Result<bool> {
        let target = self.target(awaited);
        let is_done = call()?;
        if is_done {
            self.waited(awaited, target);
        }
        Ok(is_done)
    }

    /// The host has learnt that the work of a target is done, or the library alone.
    pub(super) fn waited(&self, awaited: Awaited, target: Option<Arc<Clock>>) {
        if let Some(target) = target {
            self.sanitizer.tell(|checker| learns(checker, awaited, &target));
            self.compare_zones();
        }
    }
}

/// The work of a target is done: who has learnt it.
pub(super) fn learns(checker: &mut Checker, awaited: Awaited, target: &Clock) {
    if scope::asks_for_itself() {
        checker.library_learns(target);
    } else {
        checker.waited(awaited, target);
    }
}

impl Devices for CheckedDriver {
    pass_on! {
        device_count() -> i32;
        device_properties(device: DeviceIndex) -> Result<DeviceProperties>;
        device_processes(device: DeviceIndex) -> Result<Vec<ProcessUsage>>;
        can_access_peer(device: DeviceIndex, peer: DeviceIndex) -> Result<bool>;
        enable_peer_access(device: DeviceIndex, peer: DeviceIndex) -> Result<()>;
    }

    fn device_synchronize(&self, device: DeviceIndex) -> Result<()> {
        self.waits(Awaited::Device(device), || self.inner.device_synchronize(device))
    }
}

impl Contexts for CheckedDriver {
    pass_on! {
        context_is_active(device: DeviceIndex) -> Result<bool>;
        bind_device(device: DeviceIndex) -> Result<()>;
        unbind_device() -> Result<()>;
        current_context() -> Result<usize>;
        current_device() -> Result<Option<DeviceIndex>>;
    }
}

impl Captures for CheckedDriver {
    pass_on! {
        exchange_capture_mode(mode: CaptureMode) -> Result<CaptureMode>;
    }
}

impl Events for CheckedDriver {
    pass_on! {
        event_create(device: DeviceIndex, flags: EventFlags) -> Result<EventHandle>;
        event_elapsed_ms(start: EventHandle, end: EventHandle) -> Result<f32>;
    }

    fn event_destroy(&self, event: EventHandle) -> Result<()> {
        self.sanitizer.note(|checker| checker.event_destroyed(event.native()));
        self.inner.event_destroy(event)
    }

    fn event_record(&self, event: EventHandle, stream: sconce_driver::StreamRef) -> Result<()> {
        let capture = self.sanitizer.capture_of(stream);
        let before = self.sanitizer.note(|checker| {
            checker.found_capture(stream, capture);
            checker.recorded(event.native(), stream)
        });
        self.inner.event_record(event, stream).inspect_err(|_| {
            self.sanitizer.note(|checker| checker.not_recorded(event.native(), before));
        })
    }

    fn event_query(&self, event: EventHandle) -> Result<bool> {
        self.asks(Awaited::Event(event.native()), || self.inner.event_query(event))
    }

    fn event_synchronize(&self, event: EventHandle) -> Result<()> {
        self.waits(Awaited::Event(event.native()), || self.inner.event_synchronize(event))
    }
}

impl Compiler for CheckedDriver {
    pass_on! {
        compile_source(device: DeviceIndex, source: &SourceCode, form: CompiledForm) -> Result<Compilation>;
    }
}
