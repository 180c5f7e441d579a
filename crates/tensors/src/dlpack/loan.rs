//! Memory of a producer, and the order in which it goes back.

use sconce_base::error::Result;
use sconce_base::lock::{Mutex, rank};
use sconce_base::log;
use sconce_runtime::context::{Runtime, runtime};
use sconce_runtime::stream::{self, Named, Stream};
use sconce_runtime::{device, event, memory};
use smallvec::SmallVec;

use crate::tensor::{ForeignOwner, Lender};

/// A stream as a call named it, for the end of the memory.
#[derive(Clone, Copy)]
struct NotedStream {
    stream: Stream,
    named: Named,
}

impl NotedStream {
    fn new(runtime: &Runtime, stream: Stream) -> NotedStream {
        NotedStream { stream, named: stream.named(runtime) }
    }

    /// Whether the running call may pass it to the driver.
    fn may_be_used(self, runtime: &Runtime) -> bool {
        self.named.may_be_used(runtime, None)
    }

    fn is_capturing(self, runtime: &Runtime) -> bool {
        // What cannot say is not waited for either.
        stream::is_capturing(runtime, self.stream).unwrap_or(true)
    }
}

/// The streams of memory of a device.
pub(super) struct LoanOrder {
    address: usize,
    /// The stream in whose order the memory goes back.
    home: NotedStream,
    /// Other streams that used it.
    users: Mutex<rank::DlpackUsers, SmallVec<[NotedStream; 1]>>,
}

impl LoanOrder {
    /// The order of memory that `home` owns and `user` uses.
    pub(super) fn new(
        runtime: &Runtime,
        address: usize,
        home: Stream,
        user: Stream,
    ) -> Result<LoanOrder> {
        let home = NotedStream::new(runtime, home);
        let order = LoanOrder { address, home, users: Mutex::new(SmallVec::new()) };
        order.note(runtime, user)?;
        Ok(order)
    }

    fn note(&self, runtime: &Runtime, user: Stream) -> Result<()> {
        // The producer may have the memory from this library's allocator. Other memory is ignored there.
        memory::record_stream(self.address, user)?;
        let user = NotedStream::new(runtime, user);
        let mut users = self.users.lock();
        if user.named != self.home.named && users.iter().all(|known| known.named != user.named) {
            users.push(user);
        }
        Ok(())
    }

    /// Makes home wait for all users.
    fn wait_for_users(&self) -> Result<()> {
        let users = std::mem::take(&mut *self.users.lock());
        if users.is_empty() {
            return Ok(());
        }
        let runtime = runtime()?;
        for user in users {
            if !self.home.may_be_used(runtime) || !user.may_be_used(runtime) {
                return wait_for_device(runtime, user.stream);
            }
            let _no_capture_begins = stream::hold_back_captures();
            if !user.is_capturing(runtime) && !self.home.is_capturing(runtime) {
                event::wait_stream(runtime, self.home.stream, user.stream)?;
            }
        }
        Ok(())
    }
}

#[cold]
fn wait_for_device(runtime: &Runtime, stream: Stream) -> Result<()> {
    let device = stream.device();
    let Some(_no_capture_begins) = stream::give_back(runtime, device, None) else { return Ok(()) };
    device::synchronize(device.as_i32())
}

/// Memory of a producer. Dropping it gives the memory back.
pub(super) struct Loan {
    /// `None` for memory of the host.
    pub(super) order: Option<LoanOrder>,
    /// `None` if nobody wants the memory back. Its deleter is called after [`Loan::drop`].
    pub(super) _owner: Option<ForeignOwner>,
}

impl Lender for Loan {
    fn record_stream(&self, stream: Stream) -> Result<()> {
        if let Some(order) = &self.order {
            return order.note(runtime()?, stream);
        }
        Ok(())
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        if let Some(order) = &self.order
            && let Err(error) = order.wait_for_users()
        {
            log::warn(format_args!(
                "memory of a DLPack producer is returned without waiting for the streams that used it: {error}"
            ));
        }
    }
}
