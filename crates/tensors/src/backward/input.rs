//! A gradient on its way to an input of a node: sums, and which stream waits for which. The rules are those of
//! torch's `InputBuffer::add`.

use sconce_base::error::{Error, Result, Status};
use sconce_driver::EventFlags;
use sconce_runtime::context::{Runtime, runtime};
use sconce_runtime::event::{self, NativeEvent};
use sconce_runtime::stream::{self, Stream};

use super::leaf::sum;
use super::scope::StreamScope;
use crate::tensor::Tensor;

/// What has arrived at an input.
#[derive(Default)]
pub(super) struct InputGradient {
    gradient: Tensor,
    /// Of a gradient on a device.
    order: Option<InputOrder>,
}

/// Which work a gradient comes from.
struct InputOrder {
    /// The stream whose work makes the gradient.
    ready_on: Stream,
    /// The end of that work. There is one whenever the consumer or `sum_on` is another stream.
    ready: Option<NativeEvent>,
    /// Where sums with further gradients are computed.
    sum_on: Stream,
}

/// The end of the work that is queued on a stream.
fn record(runtime: &Runtime, stream: Stream) -> Result<NativeEvent> {
    let event = NativeEvent::obtain(runtime, stream.device(), EventFlags::default())?;
    runtime.driver().event_record(event.handle(), stream.driver_ref())?;
    Ok(event)
}

impl InputOrder {
    /// Makes later work of a stream wait for the gradient.
    fn wait(&self, runtime: &Runtime, stream: Stream) -> Result<()> {
        match &self.ready {
            Some(ready) if self.ready_on != stream => {
                runtime.driver().stream_wait_event(stream.driver_ref(), ready.handle())
            }
            _ => Ok(()),
        }
    }
}

impl InputGradient {
    /// Adds a gradient that a node on `producer` made for a node on `consumer`, as its caller passes it. Returns the
    /// tensors that are no longer used, for the caller to drop outside of its lock.
    pub(super) fn add(
        &mut self,
        gradient: Tensor,
        producer: Option<Stream>,
        consumer: impl FnOnce(&Runtime) -> Result<Stream>,
    ) -> Result<[Tensor; 2]> {
        let first = !self.gradient.is_defined();
        if !first && self.gradient.place() != gradient.place() {
            return Err(Error::new(
                Status::CrossDevice,
                format!(
                    "Expected all tensors to be on the same device, but found at least two devices, {} and {}!",
                    self.gradient.place(),
                    gradient.place()
                ),
            ));
        }
        let Some(device) = gradient.place().device() else {
            if first {
                self.gradient = gradient;
                return Ok(Default::default());
            }
            let total = sum(&self.gradient, &gradient, None)?;
            return Ok([std::mem::replace(&mut self.gradient, total), gradient]);
        };
        let runtime = runtime()?;
        let producer = match producer {
            Some(producer) => producer,
            None => stream::current_on(runtime, device)?,
        };
        let consumer = consumer(runtime)?;
        let Some(order) = &mut self.order else {
            let sum_on = if consumer.device() == device {
                if consumer != producer {
                    gradient.storage().record_stream(consumer)?;
                }
                consumer
            } else if producer.device() == device {
                producer
            } else {
                stream::current_on(runtime, device)?
            };
            let apart = consumer != producer || sum_on != producer;
            let ready = if apart { Some(record(runtime, producer)?) } else { None };
            self.order = Some(InputOrder { ready_on: producer, ready, sum_on });
            self.gradient = gradient;
            return Ok(Default::default());
        };
        let sum_on = order.sum_on;
        if producer != sum_on {
            event::wait_stream(runtime, sum_on, producer)?;
            gradient.storage().record_stream(sum_on)?;
        }
        if order.ready_on != sum_on {
            order.wait(runtime, sum_on)?;
            self.gradient.storage().record_stream(sum_on)?;
        }
        let scope = StreamScope::enter(Some(runtime), Some(sum_on))?;
        let total = sum(&self.gradient, &gradient, None)?;
        drop(scope);
        order.ready = if consumer == sum_on { None } else { Some(record(runtime, sum_on)?) };
        order.ready_on = sum_on;
        Ok([std::mem::replace(&mut self.gradient, total), gradient])
    }

    /// The gradient, once its consumer waits for it.
    pub(super) fn take(self, consumer: impl FnOnce(&Runtime) -> Result<Stream>) -> Result<Tensor> {
        if let Some(order) = &self.order {
            let runtime = runtime()?;
            order.wait(runtime, consumer(runtime)?)?;
        }
        Ok(self.gradient)
    }

    /// Where the gradient is; `None` if none has come.
    pub(super) fn place(&self) -> Option<crate::tensor::Place> {
        self.gradient.is_defined().then(|| self.gradient.place())
    }
}
