//! The functions of nodes: those of the program, called with handles.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::AtomicBool;

use sconce_base::error::{Error, Result, Status};
use sconce_base::lock::refuse_held;
use sconce_tensors::tensor::Tensor;

use crate::tensor::handle::{returned, tensor_of};
use crate::{last_error, sconce_deleter, sconce_status, sconce_tensor, sconce_tensor_release};

/// Computes the gradients of an operation's inputs from those of its results.
///
/// `gradients` has an entry for each result of the operation; an entry is NULL if the result has no
/// gradient. The function borrows these tensors. `out_gradients` has an entry for each edge. The
/// function sets an entry to a tensor whose ownership it transfers, or leaves it NULL. To return a
/// tensor of `gradients`, it first retains that tensor with `sconce_tensor_retain`. It returns
/// `SCONCE_OK` or another status, and does not throw. The node's device and stream are current
/// during the call.
pub type sconce_backward_function = Option<
    unsafe extern "C" fn(
        context: *mut c_void,
        gradients: *const *mut sconce_tensor,
        gradient_count: usize,
        out_gradients: *mut *mut sconce_tensor,
        out_count: usize,
    ) -> i32,
>;

/// A function of the program with its context, which is released after the last use.
pub(super) struct CFunction {
    pub(super) function: unsafe extern "C" fn(
        *mut c_void,
        *const *mut sconce_tensor,
        usize,
        *mut *mut sconce_tensor,
        usize,
    ) -> i32,
    pub(super) context: *mut c_void,
    pub(super) deleter: sconce_deleter,
    /// Whether the context was given away.
    pub(super) owned: AtomicBool,
    /// How many gradients it returns.
    pub(super) results: usize,
}

// SAFETY: whoever adds a node promises that function and deleter may run on any thread.
unsafe impl Send for CFunction {}
// SAFETY: shared use only calls the function, and whoever adds a node promises that several passes may call it at
// once; `owned` is an atomic.
unsafe impl Sync for CFunction {}

impl Drop for CFunction {
    fn drop(&mut self) {
        if let Some(deleter) = self.deleter
            && *self.owned.get_mut()
        {
            refuse_held("the deleter of a backward function");
            // SAFETY: it is dropped once, and `sconce_backward_add_node` demands that the deleter takes the context.
            unsafe { deleter(self.context) }
        }
    }
}

/// Handles that are released when this object is dropped; NULL stands for none.
struct GradientHandles(Vec<*mut sconce_tensor>);

impl Drop for GradientHandles {
    fn drop(&mut self) {
        for handle in &self.0 {
            let status = sconce_tensor_release(*handle);
            if status != sconce_status::SCONCE_OK {
                sconce_base::log::warn(format_args!(
                    "a gradient could not be released: {status:?}"
                ));
            }
        }
    }
}

impl CFunction {
    pub(super) fn call(&self, gradients: &[Tensor]) -> Result<Vec<Tensor>> {
        let mut inputs = GradientHandles(Vec::with_capacity(gradients.len()));
        for gradient in gradients {
            let defined = gradient.is_defined();
            inputs.0.push(if defined { returned(gradient.clone())? } else { null_mut() });
        }
        let mut outputs = GradientHandles(vec![null_mut(); self.results]);
        let (from, to) = (&inputs.0, &mut outputs.0);
        refuse_held("a backward function");
        // SAFETY: `sconce_backward_add_node` demands that the function takes its context and so many tensors.
        let call = || unsafe {
            (self.function)(self.context, from.as_ptr(), from.len(), to.as_mut_ptr(), to.len())
        };
        let (status, message) = last_error::of_function(call);
        if status != 0 {
            return Err(failed(status, message));
        }
        // A gradient that nobody else holds is recognised by its count.
        drop(inputs);
        let result = |(index, handle): (usize, &*mut sconce_tensor)| match handle.is_null() {
            true => Ok(Tensor::default()),
            false => tensor_of(*handle, &format!("out_gradients[{index}]")),
        };
        outputs.0.iter().enumerate().map(result).collect()
    }
}

#[cold]
fn failed(status: i32, message: Option<String>) -> Error {
    let known = usize::try_from(status).ok().and_then(|index| Status::ALL.get(index).copied());
    match (known, message) {
        (Some(known), Some(message)) => Error::new(known, message),
        (Some(known), None) => Error::new(known, format!("the function returned {}", known.name())),
        (None, _) => Error::invalid_argument(format!(
            "the function returned {status}, which is not a status; return SCONCE_OK or SCONCE_ERROR_…"
        )),
    }
}
