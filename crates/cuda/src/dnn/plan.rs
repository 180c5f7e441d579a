//! A convolution made ready, and its execution.
//!
//! Addresses go to an execution in a *variant pack*, a descriptor that cannot be changed once it is
//! finalised. The last one is kept: the next execution mostly has the same addresses, since memory
//! comes from a cache.

use std::ops::Range;
use std::sync::Arc;

use cudarc::cudnn::sys::cudnnBackendAttributeName_t::*;
use cudarc::cudnn::sys::cudnnBackendDescriptorType_t as Kind;
use sconce_base::error::{Error, Result, Status};
use sconce_base::types::DevicePtr;
use sconce_driver::ConvolutionPlan;

use super::descriptor::{Descriptor, Value};
use super::problem::TENSORS;
use super::session::Session;

/// Codes of bad parameters, of what is not supported, and of failures inside.
const PREPARING: Range<i32> = 2000..5000;

/// An execution plan of cuDNN.
pub(super) struct Plan {
    session: Arc<Session>,
    pack: Option<Pack>,
    plan: Descriptor,
    workspace_bytes: usize,
    /// What the plan is of; goes after it.
    _config: Arc<Descriptor>,
}

/// Where an execution reads and writes.
struct Pack {
    descriptor: Descriptor,
    tensors: [u64; 3],
    workspace: u64,
}

impl Plan {
    /// Makes an engine ready. The session's context is current.
    pub(super) fn new(session: &Arc<Session>, config: &Arc<Descriptor>) -> Result<Plan> {
        let plan = Descriptor::new(session, Kind::CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR)?
            .with(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, &Value::Handle)?
            .with(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, &Value::Descriptor(config))?
            .finalized()
            .map_err(passed_over)?;
        let bytes = plan.integer(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE)?;
        let workspace_bytes = usize::try_from(bytes).map_err(|_| {
            Error::new(Status::Driver, format!("cuDNN asks for a workspace of {bytes} bytes"))
        })?;
        let (session, config) = (session.clone(), config.clone());
        Ok(Plan { session, pack: None, plan, workspace_bytes, _config: config })
    }
}

/// Not only "not supported" says that another engine may do: so do failures to compile and the
/// like, which torch passes over too. Want of memory stays what it is.
fn passed_over(error: Error) -> Error {
    match error.status() {
        Status::InvalidArgument | Status::Driver if PREPARING.contains(&error.backend_code()) => {
            error.with_status(Status::NotSupported)
        }
        _ => error,
    }
}

impl Pack {
    /// The pack for these addresses: the one that is kept, or a new one in its place.
    fn kept<'a>(
        kept: &'a mut Option<Pack>,
        session: &Arc<Session>,
        tensors: [u64; 3],
        workspace: u64,
    ) -> Result<&'a Pack> {
        let same = |pack: &Pack| pack.tensors == tensors && pack.workspace == workspace;
        let pack = match kept.take() {
            Some(pack) if same(&pack) => pack,
            _ => Pack::new(session, tensors, workspace)?,
        };
        Ok(kept.insert(pack))
    }

    fn new(session: &Arc<Session>, tensors: [u64; 3], workspace: u64) -> Result<Pack> {
        let descriptor = Descriptor::new(session, Kind::CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR)?
            .with(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, &Value::Integers(&TENSORS))?
            .with(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, &Value::Addresses(&tensors))?
            .with(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, &Value::Addresses(&[workspace]))?
            .finalized()?;
        Ok(Pack { descriptor, tensors, workspace })
    }
}

impl ConvolutionPlan for Plan {
    fn workspace_bytes(&self) -> usize {
        self.workspace_bytes
    }

    fn execute(
        &mut self,
        input: DevicePtr,
        filter: DevicePtr,
        output: DevicePtr,
        workspace: DevicePtr,
    ) -> Result<()> {
        let Plan { session, pack, plan, .. } = self;
        let execute = session.functions.cudnnBackendExecute()?;
        let _entered = session.context.enter()?;
        let pack = Pack::kept(pack, session, [input.0, filter.0, output.0], workspace.0)?;
        // SAFETY: a live handle, this thread's for the call, and a finalised plan and pack; the caller
        // vouches for the addresses.
        let code = unsafe { execute(session.raw(), plan.raw(), pack.descriptor.raw()) };
        session.functions.check("cudnnBackendExecute", code)
    }
}
