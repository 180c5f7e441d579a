//! Descriptors: what all of cuDNN's graph interface is made of.
//!
//! A descriptor is made, given attributes one after the other and finalised; from then on it can be
//! named by others and asked for attributes of its own. It goes with the value here, finalised or
//! not.

use std::ffi::c_void;
use std::mem::size_of;
use std::ptr::{from_mut, from_ref, null_mut};
use std::sync::Arc;

use cudarc::cudnn::sys::cudnnBackendAttributeName_t as Attribute;
use cudarc::cudnn::sys::cudnnBackendAttributeType_t as Type;
use cudarc::cudnn::sys::cudnnBackendDescriptorType_t as Kind;
use cudarc::cudnn::sys::{
    cudnnBackendDescriptor_t, cudnnBackendHeurMode_t, cudnnConvolutionMode_t, cudnnDataType_t,
};
use sconce_base::error::Result;

use super::session::Session;
use crate::result::DEINITIALIZED;

/// cuDNN 9.19 knows ten.
const MOST_NOTES: usize = 64;

/// What an attribute is set to.
pub(super) enum Value<'a> {
    /// The handle of the descriptor's session.
    Handle,
    DataType(cudnnDataType_t),
    ConvolutionMode(cudnnConvolutionMode_t),
    HeuristicMode(cudnnBackendHeurMode_t),
    Integer(i64),
    Integers(&'a [i64]),
    Float(f32),
    Double(f64),
    /// Addresses on the device.
    Addresses(&'a [u64]),
    /// A finalised one.
    Descriptor(&'a Descriptor),
}

const _: () = assert!(size_of::<u64>() == size_of::<*const c_void>());
const _: () = assert!(size_of::<cudnnDataType_t>() == 4);

/// A descriptor of cuDNN, finalised unless it is still passed from hand to hand.
pub(super) struct Descriptor {
    session: Arc<Session>,
    /// The handle as a number; a thread that has the session's handle may use it.
    raw: usize,
}

impl Descriptor {
    /// A descriptor without attributes. The session's context is current here and in what follows.
    pub(super) fn new(session: &Arc<Session>, kind: Kind) -> Result<Descriptor> {
        let create = session.functions.cudnnBackendCreateDescriptor()?;
        let mut raw = null_mut();
        // SAFETY: a kind of cuDNN's list; `raw` outlives the call.
        let code = unsafe { create(kind as i32, &mut raw) };
        session.functions.check("cudnnBackendCreateDescriptor", code)?;
        Ok(Descriptor { session: session.clone(), raw: raw as usize })
    }

    /// With one more attribute.
    pub(super) fn with(self, attribute: Attribute, value: &Value<'_>) -> Result<Descriptor> {
        let (of, count, array) = value.parts(&self.session);
        let set = self.session.functions.cudnnBackendSetAttribute()?;
        // SAFETY: a live descriptor; an array of `count` elements of the type named, which is copied.
        let code = unsafe { set(self.raw(), attribute as i32, of as i32, count, array) };
        self.check("cudnnBackendSetAttribute", attribute, code)?;
        Ok(self)
    }

    /// Finalised.
    pub(super) fn finalized(self) -> Result<Descriptor> {
        let finalize = self.session.functions.cudnnBackendFinalize()?;
        // SAFETY: a live descriptor that has not been finalised.
        let code = unsafe { finalize(self.raw()) };
        self.session.functions.check("cudnnBackendFinalize", code)?;
        Ok(self)
    }

    /// A number that cuDNN found out.
    pub(super) fn integer(&self, attribute: Attribute) -> Result<i64> {
        let mut value = 0_i64;
        let place = from_mut(&mut value).cast();
        // SAFETY: room for one element of the type.
        unsafe { self.get(attribute, Type::CUDNN_TYPE_INT64, 1, place) }?;
        Ok(value)
    }

    /// Notes on how an engine calculates.
    pub(super) fn notes(&self, attribute: Attribute) -> Result<Vec<i32>> {
        let mut notes = vec![0_i32; MOST_NOTES];
        let place = notes.as_mut_ptr().cast();
        // SAFETY: notes are C enums, which have this size; room for the number that is passed.
        let count =
            unsafe { self.get(attribute, Type::CUDNN_TYPE_NUMERICAL_NOTE, MOST_NOTES, place) }?;
        notes.truncate(count);
        Ok(notes)
    }

    /// The number of descriptors of an attribute.
    pub(super) fn count(&self, attribute: Attribute) -> Result<usize> {
        // SAFETY: no element is asked for, so no room is needed.
        unsafe { self.get(attribute, Type::CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, null_mut()) }
    }

    /// Returns the descriptors of an attribute: at most `most`, all of `kind`.
    pub(super) fn descriptors(
        &self,
        attribute: Attribute,
        kind: Kind,
        most: usize,
    ) -> Result<Vec<Descriptor>> {
        let mut made = Vec::new();
        for _ in 0..most {
            made.push(Descriptor::new(&self.session, kind)?);
        }
        let mut raw: Vec<cudnnBackendDescriptor_t> = made.iter().map(Descriptor::raw).collect();
        let place = raw.as_mut_ptr().cast();
        // SAFETY: an array of as many live descriptors as the count that is passed; cuDNN fills the descriptors.
        let count =
            unsafe { self.get(attribute, Type::CUDNN_TYPE_BACKEND_DESCRIPTOR, most, place) }?;
        made.truncate(count);
        Ok(made)
    }

    pub(super) fn raw(&self) -> cudnnBackendDescriptor_t {
        self.raw as cudnnBackendDescriptor_t
    }

    /// Reads an attribute, and says how many elements there are.
    ///
    /// # Safety
    /// `array` can hold `capacity` elements of the type.
    unsafe fn get(
        &self,
        attribute: Attribute,
        of: Type,
        capacity: usize,
        array: *mut c_void,
    ) -> Result<usize> {
        let get = self.session.functions.cudnnBackendGetAttribute()?;
        let mut count = 0_i64;
        // SAFETY: a live descriptor, room for the number of elements that is passed, and a place for their
        // number.
        let code = unsafe {
            get(self.raw(), attribute as i32, of as i32, capacity as i64, &mut count, array)
        };
        self.check("cudnnBackendGetAttribute", attribute, code)?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    fn check(&self, call: &str, attribute: Attribute, code: i32) -> Result<()> {
        let functions = &self.session.functions;
        functions.check(call, code).map_err(|error| error.context(format_args!("{attribute:?}")))
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        let Ok(destroy) = self.session.functions.cudnnBackendDestroyDescriptor() else { return };
        let _entered = match self.session.context.enter() {
            // The driver has shut down at the process's end, and what the descriptor stood for with
            // it.
            Err(error) if error.backend_code() == DEINITIALIZED => return,
            entered => entered,
        };
        // SAFETY: a live descriptor to which nothing else refers; cuDNN itself counts the uses of its
        // object. A failure leaves nothing to do.
        unsafe { destroy(self.raw()) };
    }
}

impl Value<'_> {
    /// The type, how many elements, and where they are.
    fn parts(&self, session: &Session) -> (Type, i64, *const c_void) {
        match self {
            Value::Handle => (Type::CUDNN_TYPE_HANDLE, 1, from_ref(&session.handle).cast()),
            Value::DataType(value) => (Type::CUDNN_TYPE_DATA_TYPE, 1, from_ref(value).cast()),
            Value::ConvolutionMode(value) => {
                (Type::CUDNN_TYPE_CONVOLUTION_MODE, 1, from_ref(value).cast())
            }
            Value::HeuristicMode(value) => (Type::CUDNN_TYPE_HEUR_MODE, 1, from_ref(value).cast()),
            Value::Integer(value) => (Type::CUDNN_TYPE_INT64, 1, from_ref(value).cast()),
            Value::Integers(values) => {
                (Type::CUDNN_TYPE_INT64, values.len() as i64, values.as_ptr().cast())
            }
            Value::Float(value) => (Type::CUDNN_TYPE_FLOAT, 1, from_ref(value).cast()),
            Value::Double(value) => (Type::CUDNN_TYPE_DOUBLE, 1, from_ref(value).cast()),
            Value::Addresses(values) => {
                (Type::CUDNN_TYPE_VOID_PTR, values.len() as i64, values.as_ptr().cast())
            }
            Value::Descriptor(value) => {
                (Type::CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, from_ref(&value.raw).cast())
            }
        }
    }
}
