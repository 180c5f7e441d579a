//! Operations on tensors that consist of several calls, some of which the library may not see.

use std::ffi::c_char;

use sconce_base::error::Result;
use sconce_driver::StreamRef;
use sconce_runtime::context::runtime;
use sconce_runtime::stream;
use sconce_sanitizer::{DeclaredTensor, sanitizer};
use sconce_tensors::tensor::{Place, Tensor};

use crate::tensor::handle::tensor_of;
use crate::tensor::sconce_tensor;
use crate::{guard, sconce_status};

/// A tensor that an operation uses, and on which stream.
struct Used {
    tensor: Tensor,
    stream: Option<StreamRef>,
    writes: bool,
}

/// The tensors of handles, without undefined ones.
fn with_memory(handles: &[*mut sconce_tensor], name: &str) -> Result<Vec<Tensor>> {
    let of = |(index, tensor): (usize, &*mut sconce_tensor)| {
        tensor_of(*tensor, name).or_else(|_| tensor_of(*tensor, &format!("{name}[{index}]")))
    };
    let all = handles.iter().enumerate().map(of).collect::<Result<Vec<Tensor>>>()?;
    Ok(all.into_iter().filter(|tensor| tensor.defined(name).is_ok()).collect())
}

fn used(tensors: Vec<Tensor>, writes: bool) -> Result<Vec<Used>> {
    let of = |tensor: Tensor| {
        let stream = match tensor.place() {
            Place::Cpu => None,
            Place::Device(device) => Some(stream::current_on(runtime()?, device)?.driver_ref()),
        };
        Ok(Used { tensor, stream, writes })
    };
    tensors.into_iter().map(of).collect()
}

impl Used {
    fn declared(&self) -> DeclaredTensor<'_> {
        let Used { tensor, stream, writes } = self;
        DeclaredTensor { elements: tensor.elements(), stream: *stream, writes: *writes }
    }
}

fn declared(used: &[Used]) -> Vec<DeclaredTensor<'_>> {
    used.iter().map(Used::declared).collect()
}

/// Declares an operation on tensors that begins now, and that `sconce_sanitizer_end_operation` ends on the same thread.
/// It may consist of many calls and launches. Kernels that the thread launches meanwhile are a part of it, so they do
/// not count as unknown. An operation within another one is a part of that one: what it passes is not looked at.
///
/// Tensors of devices are used on the thread's current streams of the devices. If all tensors are on the CPU, the host
/// uses those that lie in pinned memory. Does nothing without the sanitizer.
///
/// - `name`: what reports call it.
/// - `reads`, `read_count`: tensors that it reads. Undefined ones are left out.
/// - `writes`, `write_count`: tensors that it writes, and may read. Undefined ones are left out.
/// - Errors: after an error there is no operation to end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sanitizer_begin_operation(
    name: *const c_char,
    reads: *const *mut sconce_tensor,
    read_count: usize,
    writes: *const *mut sconce_tensor,
    write_count: usize,
) -> sconce_status {
    guard(|| {
        let name = text!(name).to_string_lossy();
        let reads = with_memory(entries!(reads, read_count), "reads")?;
        let writes = with_memory(entries!(writes, write_count), "writes")?;
        let Some(sanitizer) = sanitizer() else { return Ok(()) };
        let mut all = used(reads, false)?;
        all.extend(used(writes, true)?);
        sanitizer.begin_operation(&name, &declared(&all));
        Ok(())
    })
}

/// Ends the operation that the calling thread began last. Does nothing if there is none.
///
/// - `results`, `result_count`: tensors that the operation has made and written, on the streams that are current now.
///   Undefined ones are left out, and so are those that lie in memory of the tensors that it began with.
/// - Errors: the operation has ended also after an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sconce_sanitizer_end_operation(
    results: *const *mut sconce_tensor,
    result_count: usize,
) -> sconce_status {
    guard(|| {
        let ended = (|| {
            let results = with_memory(entries!(results, result_count), "results")?;
            used(results, true)
        })();
        if let Some(sanitizer) = sanitizer() {
            sanitizer.end_operation(&declared(ended.as_deref().unwrap_or_default()));
        }
        ended.map(drop)
    })
}
