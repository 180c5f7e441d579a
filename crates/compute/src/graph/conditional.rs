//! Conditions, and the bodies of conditional nodes.

use sconce_base::collections::per_device::PerDevice;
use sconce_base::error::{Error, Result, Status};
use sconce_base::sync::shared_static;
use sconce_base::thread_state;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{ConditionHandle, ConditionalKind, StreamHandle};
use sconce_kernels::images::GRAPH_CONDITION;
use sconce_kernels::{SET_CONDITION_KERNEL, condition_launch};
use sconce_runtime::context::{Runtime, runtime};
use sconce_runtime::kernel_loader::LoadedKernels;
use sconce_runtime::operand::address_range::{self, MemoryKind};
use sconce_runtime::stream::{self, LentStream, Stream};

use super::capture::end_body;
use super::state::{Capturing, Key, OpenBody, Phase, with_graph};

shared_static! {
    /// The kernel that sets conditions, by device.
    static SETTER: PerDevice<LoadedKernels<1>> =
        sconce_base::collections::per_device::per_device!(LoadedKernels::new());
}

/// Runs `action` on the capture of a graph, which the calling thread has begun.
fn with_capture<R>(key: Key, action: impl FnOnce(&mut Capturing) -> Result<R>) -> Result<R> {
    with_graph(key, |state| match &mut state.phase {
        Phase::Capturing(capturing) if capturing.thread == thread_state::number() => {
            action(capturing)
        }
        Phase::Capturing(_) => Err(Error::invalid_state("another thread began the capture")),
        _ => Err(Error::invalid_state(
            "the graph is not being captured; conditional nodes are added during the capture",
        )),
    })
}

impl Capturing {
    /// The condition of this capture with a number.
    fn condition(&self, number: u64) -> Result<ConditionHandle> {
        let found = self.conditions.iter().find(|condition| condition.native() == number);
        found.copied().ok_or_else(|| {
            Error::invalid_argument(format!(
                "condition {number:#x} is not one of this capture; make it with \
                 sconce_graph_condition_create after sconce_graph_capture_begin"
            ))
        })
    }
}

/// Makes a condition of the graph, or of the body that is being captured.
pub fn create_condition(key: Key) -> Result<u64> {
    let runtime = runtime()?;
    with_capture(key, |capturing| {
        let stream = capturing.innermost().driver_ref();
        let condition = runtime.driver().condition_create(stream)?;
        capturing.conditions.push(condition);
        Ok(condition.native())
    })
}

/// Queues a kernel on a captured stream that sets a condition to an integer in device memory.
pub fn set_condition(
    runtime: &Runtime,
    key: Key,
    condition: u64,
    value: usize,
    bytes: usize,
    stream: Stream,
) -> Result<()> {
    let condition = with_capture(key, |capturing| capturing.condition(condition))?;
    let size = match bytes {
        1 | 4 | 8 => bytes as u32,
        _ => {
            return Err(Error::invalid_argument(format!(
                "bytes is {bytes}; a condition is set from an integer of 1, 4 or 8 bytes"
            )));
        }
    };
    if !stream::is_capturing(runtime, stream)? {
        return Err(Error::invalid_state(
            "stream: it is not being captured; a condition is set by the graph that it belongs to",
        ));
    }
    let device = stream.device();
    match address_range::kind_of(runtime, value, bytes, "value")? {
        MemoryKind::Device(of) if of != device => {
            return Err(Error::new(
                Status::CrossDevice,
                format!(
                    "value {value:#x} is memory of device {of}, the stream is of device {device}"
                ),
            ));
        }
        MemoryKind::Ordinary => {
            return Err(Error::invalid_argument(format!(
                "value {value:#x} is ordinary host memory, which a kernel cannot read"
            )));
        }
        MemoryKind::Device(_) | MemoryKind::Pinned | MemoryKind::Managed(_) => {}
    }
    if !value.is_multiple_of(bytes) {
        return Err(Error::invalid_argument(format!(
            "value {value:#x} is not a multiple of its {bytes} bytes"
        )));
    }
    let setter =
        SETTER[device].get(runtime, device, &GRAPH_CONDITION, 0, || SET_CONDITION_KERNEL)?;
    let (shape, arguments) = condition_launch(condition.native(), DevicePtr(value as u64), size);
    runtime.driver().kernel_launch(setter, shape, &arguments, stream.driver_ref())
}

/// Adds a conditional node behind the work captured so far, and begins to capture its first body from a stream.
pub fn begin_conditional(
    runtime: &Runtime,
    key: Key,
    condition: u64,
    kind: ConditionalKind,
    bodies: usize,
    stream: Stream,
) -> Result<()> {
    begin_conditional_on(runtime, key, condition, kind, bodies, |_| Ok((stream, None))).map(drop)
}

/// The same with a stream that is lent to the node. Returns the stream.
pub fn begin_conditional_lent(
    runtime: &Runtime,
    key: Key,
    condition: u64,
    kind: ConditionalKind,
    bodies: usize,
) -> Result<Stream> {
    let lend = |device| stream::lend(runtime, device).map(|(stream, lent)| (stream, Some(lent)));
    begin_conditional_on(runtime, key, condition, kind, bodies, lend)
}

fn begin_conditional_on(
    runtime: &Runtime,
    key: Key,
    condition: u64,
    kind: ConditionalKind,
    bodies: usize,
    stream_on: impl FnOnce(DeviceIndex) -> Result<(Stream, Option<LentStream>)>,
) -> Result<Stream> {
    with_capture(key, |capturing| {
        let (stream, lent) = stream_on(capturing.stream.device())?;
        if stream.device() != capturing.stream.device() {
            return Err(Error::invalid_argument(format!(
                "stream: it is of device {}, but the graph is captured on device {}",
                stream.device(),
                capturing.stream.device()
            )));
        }
        if stream.driver_ref().handle == StreamHandle::DEFAULT {
            return Err(Error::invalid_argument("stream: the default stream cannot be captured"));
        }
        if stream::is_capturing(runtime, stream)? {
            return Err(Error::invalid_argument(
                "stream: it is being captured already; a body needs a stream of its own",
            ));
        }
        let most = match kind {
            ConditionalKind::If => 2,
            ConditionalKind::While => 1,
            ConditionalKind::Switch => u16::MAX.into(),
        };
        if bodies == 0 || bodies > most {
            return Err(Error::invalid_argument(format!(
                "bodies is {bodies}; it must be from 1 to {most} for a node of this kind"
            )));
        }
        let driver = runtime.driver();
        let condition = capturing.condition(condition)?;
        let outer = capturing.innermost().driver_ref();
        let mut rest = driver.conditional_add(outer, condition, kind, bodies)?;
        rest.reverse();
        let Some(first) = rest.pop() else {
            return Err(Error::new(Status::Internal, "a node without bodies"));
        };
        driver.capture_begin_body(stream.driver_ref(), first, capturing.mode)?;
        stream::begin_own_capture(runtime, capturing.holds.capture_number(), stream, true);
        capturing.bodies.push(OpenBody { stream, _lent: lent, rest });
        Ok(stream)
    })
}

/// Ends the body that is being captured and begins the next one.
pub fn next_body(key: Key) -> Result<()> {
    let runtime = runtime()?;
    with_capture(key, |capturing| {
        let (mode, capture) = (capturing.mode, capturing.holds.capture_number());
        let Some(open) = capturing.bodies.last_mut() else { return Err(no_conditional()) };
        let Some(next) = open.rest.pop() else {
            return Err(Error::invalid_state("the conditional node has no further body"));
        };
        let stream = open.stream;
        stream::end_own_body(capture, stream);
        let begun = end_body(runtime, stream)
            .and_then(|()| runtime.driver().capture_begin_body(stream.driver_ref(), next, mode));
        match begun {
            Ok(()) => stream::begin_own_capture(runtime, capture, stream, true),
            Err(_) => drop(capturing.bodies.pop()),
        }
        begun
    })
}

/// Ends the innermost conditional node. Bodies that were not captured stay empty.
pub fn end_conditional(key: Key) -> Result<()> {
    let runtime = runtime()?;
    with_capture(key, |capturing| {
        let open = capturing.bodies.pop().ok_or_else(no_conditional)?;
        stream::end_own_body(capturing.holds.capture_number(), open.stream);
        end_body(runtime, open.stream)
    })
}

#[cold]
fn no_conditional() -> Error {
    Error::invalid_state(
        "the capture is in no conditional node; call sconce_graph_conditional_begin first",
    )
}
