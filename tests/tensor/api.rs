//! The C API of tensors as the tests call it: handles that release themselves, failures as values.

use sconce::sconce_status::*;
use sconce::*;
use sconce_base::element::Dtype;
use testkit::last_message;

pub(crate) const CPU: i32 = SCONCE_DEVICE_CPU;

/// A status other than success, with its message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failure {
    pub(crate) status: sconce_status,
    pub(crate) message: String,
}

pub(crate) type Outcome<T> = Result<T, Failure>;

/// The outcome of a call.
pub(crate) fn outcome(status: sconce_status) -> Outcome<()> {
    match status {
        SCONCE_OK => Ok(()),
        status => Err(Failure { status, message: last_message() }),
    }
}

/// The message of a call that must fail with INVALID_ARGUMENT.
#[track_caller]
pub(crate) fn refusal<T>(outcome: Outcome<T>) -> String {
    let failure = outcome.err().expect("the call succeeded");
    assert_eq!(failure.status, SCONCE_ERROR_INVALID_ARGUMENT, "{}", failure.message);
    failure.message
}

/// The number of the type with a name in the module `torch`.
pub(crate) fn dtype_of(name: &str) -> i32 {
    Dtype::from_torch_name(name).unwrap_or_else(|| panic!("no type is named {name}")) as i32
}

/// An owned handle.
#[derive(Debug)]
pub(crate) struct Handle(*mut sconce_tensor);

// SAFETY: the library takes handles from any thread.
unsafe impl Send for Handle {}
// SAFETY: the functions that a shared handle is passed to may be called on several threads at once.
unsafe impl Sync for Handle {}

impl Drop for Handle {
    fn drop(&mut self) {
        let released = outcome(sconce_tensor_release(self.0));
        assert!(released.is_ok() || std::thread::panicking(), "{released:?}");
    }
}

/// No call has written this.
const UNTOUCHED: usize = 0x5ca1_ab1e;

/// The tensor that a call returns; a call that fails must leave its result alone.
pub(crate) fn returned(
    call: impl FnOnce(*mut *mut sconce_tensor) -> sconce_status,
) -> Outcome<Handle> {
    let untouched = std::ptr::without_provenance_mut(UNTOUCHED);
    let mut tensor = untouched;
    let outcome = outcome(call(&raw mut tensor));
    assert_eq!(outcome.is_err(), tensor == untouched, "{outcome:?}");
    outcome.map(|()| Handle(tensor))
}

/// The tensors that a call returns.
pub(crate) fn pieces(
    room: usize,
    call: impl FnOnce(*mut *mut sconce_tensor, usize, *mut usize) -> sconce_status,
) -> Outcome<Vec<Handle>> {
    let untouched = std::ptr::without_provenance_mut(UNTOUCHED);
    let (mut tensors, mut count) = (vec![untouched; room], UNTOUCHED);
    let outcome = outcome(call(tensors.as_mut_ptr(), room, &raw mut count));
    let written = if outcome.is_ok() { count } else { 0 };
    assert!(tensors[written..].iter().all(|tensor| *tensor == untouched));
    assert!(outcome.is_ok() || count == UNTOUCHED);
    outcome.map(|()| tensors[..written].iter().map(|tensor| Handle(*tensor)).collect())
}

/// A value that a call writes.
pub(crate) fn written<T: Copy>(start: T, call: impl FnOnce(*mut T) -> sconce_status) -> Outcome<T> {
    let mut value = start;
    outcome(call(&raw mut value)).map(|()| value)
}

/// Options of a new tensor.
pub(crate) fn options(dtype: i32, device: i32) -> sconce_tensor_options {
    sconce_tensor_options {
        struct_size: size_of::<sconce_tensor_options>() as u32,
        dtype,
        device,
        memory_format: SCONCE_MEMORY_FORMAT_PRESERVE,
        pinned: CBool::FALSE,
        reserved: [0; 7],
    }
}

pub(crate) fn integer(value: i64) -> sconce_scalar {
    sconce_scalar { kind: SCONCE_SCALAR_INTEGER, integer: value, ..Default::default() }
}

pub(crate) fn real(value: f64) -> sconce_scalar {
    sconce_scalar { kind: SCONCE_SCALAR_REAL, real: value, ..Default::default() }
}

pub(crate) fn truth(value: bool) -> sconce_scalar {
    sconce_scalar { kind: SCONCE_SCALAR_BOOL, integer: value.into(), ..Default::default() }
}

pub(crate) fn bytes_of(dtype: i32) -> usize {
    // SAFETY: a writable place.
    written(0, |out| unsafe { sconce_dtype_get_bytes(dtype, out) }).unwrap()
}

/// Calls of the shape `(tensor, …, out_tensor)`.
macro_rules! derived {
    ($($name:ident: $function:ident($($argument:ident: $type:ty),*);)*) => {
        $(
            pub(crate) fn $name(&self, $($argument: $type),*) -> Outcome<Handle> {
                // SAFETY: plain values and a writable place.
                returned(|out| unsafe { $function(self.0, $($argument,)* out) })
            }
        )*
    };
}

/// Calls of the shape `(tensor, numbers, count, out_tensor)`.
macro_rules! shaped {
    ($($name:ident: $function:ident;)*) => {
        $(
            pub(crate) fn $name(&self, numbers: &[i64]) -> Outcome<Handle> {
                // SAFETY: the call is passed the slice's length.
                returned(|out| unsafe { $function(self.0, numbers.as_ptr(), numbers.len(), out) })
            }
        )*
    };
}

/// Calls of the shape `(tensor, …, out_tensors, room, out_count)`.
macro_rules! in_pieces {
    ($($name:ident: $function:ident($($argument:ident: $type:ty),*);)*) => {
        $(
            pub(crate) fn $name(&self, $($argument: $type),*) -> Outcome<Vec<Handle>> {
                // SAFETY: plain values, and a room whose size is passed.
                pieces(64, |out, room, count| unsafe {
                    $function(self.0, $($argument,)* out, room, count)
                })
            }
        )*
    };
}

/// Questions of the shape `(tensor, out)`.
macro_rules! asked {
    ($($name:ident: $function:ident -> $type:ty, $start:expr;)*) => {
        $(
            pub(crate) fn $name(&self) -> $type {
                // SAFETY: a writable place.
                written($start, |out| unsafe { $function(self.0, out) }).unwrap()
            }
        )*
    };
}

impl Handle {
    /// Takes a handle over.
    pub(crate) fn of(raw: *mut sconce_tensor) -> Handle {
        Handle(raw)
    }

    pub(crate) fn raw(&self) -> *mut sconce_tensor {
        self.0
    }

    /// Gives the handle to the caller, who releases it.
    pub(crate) fn into_raw(self) -> *mut sconce_tensor {
        std::mem::ManuallyDrop::new(self).0
    }

    asked! {
        dtype: sconce_tensor_get_dtype -> i32, -9;
        device: sconce_tensor_get_device -> i32, -9;
        rank: sconce_tensor_get_rank -> usize, 99;
        storage_offset: sconce_tensor_get_storage_offset -> i64, -9;
        numel: sconce_tensor_get_numel -> i64, -9;
        is_pinned: sconce_tensor_is_pinned -> bool, false;
        is_defined: sconce_tensor_is_defined -> bool, false;
    }

    derived! {
        narrow: sconce_tensor_narrow(dim: i64, start: i64, length: i64);
        slice: sconce_tensor_slice(dim: i64, start: i64, end: i64, step: i64);
        select: sconce_tensor_select(dim: i64, index: i64);
        transpose: sconce_tensor_transpose(first: i64, second: i64);
        unsqueeze: sconce_tensor_unsqueeze(dim: i64);
        flatten: sconce_tensor_flatten(start: i64, end: i64);
        diagonal: sconce_tensor_diagonal(offset: i64, first: i64, second: i64);
        clone_as: sconce_tensor_clone(format: i32);
        contiguous: sconce_tensor_contiguous(format: i32);
        pin_memory: sconce_tensor_pin_memory();
    }

    shaped! {
        view: sconce_tensor_view;
        reshape: sconce_tensor_reshape;
        permute: sconce_tensor_permute;
        expand: sconce_tensor_expand;
        squeeze: sconce_tensor_squeeze;
    }

    in_pieces! {
        chunk: sconce_tensor_chunk(chunks: i64, dim: i64);
        split: sconce_tensor_split(size: i64, dim: i64);
        unbind: sconce_tensor_unbind(dim: i64);
    }

    pub(crate) fn sizes(&self) -> Vec<i64> {
        let mut sizes = vec![0; self.rank()];
        // SAFETY: the call is passed the room's size.
        outcome(unsafe { sconce_tensor_get_sizes(self.0, sizes.as_mut_ptr(), sizes.len()) })
            .unwrap();
        sizes
    }

    pub(crate) fn strides(&self) -> Vec<i64> {
        let mut strides = vec![0; self.rank()];
        // SAFETY: the call is passed the room's size.
        outcome(unsafe { sconce_tensor_get_strides(self.0, strides.as_mut_ptr(), strides.len()) })
            .unwrap();
        strides
    }

    pub(crate) fn data(&self) -> usize {
        let start = std::ptr::null_mut();
        // SAFETY: a writable place.
        written(start, |out| unsafe { sconce_tensor_get_data(self.0, out) }).unwrap() as usize
    }

    /// Where the memory begins, and its bytes.
    pub(crate) fn storage(&self) -> (usize, usize) {
        let (mut address, mut bytes) = (std::ptr::null_mut(), 0);
        // SAFETY: writable places.
        outcome(unsafe { sconce_tensor_get_storage(self.0, &raw mut address, &raw mut bytes) })
            .unwrap();
        (address as usize, bytes)
    }

    pub(crate) fn shares_storage(&self, other: &Handle) -> bool {
        // SAFETY: a writable place.
        written(false, |out| unsafe { sconce_tensor_shares_storage(self.0, other.0, out) }).unwrap()
    }

    pub(crate) fn is_contiguous(&self, format: i32) -> bool {
        // SAFETY: a writable place.
        written(false, |out| unsafe { sconce_tensor_is_contiguous(self.0, format, out) }).unwrap()
    }

    /// The elements in row-major order.
    pub(crate) fn bytes(&self) -> Outcome<Vec<u8>> {
        let mut bytes = vec![0xa5; self.numel() as usize * bytes_of(self.dtype())];
        // SAFETY: the call is passed the room's size.
        outcome(unsafe {
            sconce_tensor_to_values(self.0, bytes.as_mut_ptr().cast(), bytes.len())
        })?;
        Ok(bytes)
    }

    pub(crate) fn i32s(&self) -> Vec<i32> {
        assert_eq!(self.dtype(), SCONCE_DTYPE_I32);
        let bytes = self.bytes().unwrap();
        bytes.chunks_exact(4).map(|bytes| i32::from_le_bytes(bytes.try_into().unwrap())).collect()
    }

    pub(crate) fn f32s(&self) -> Vec<f32> {
        assert_eq!(self.dtype(), SCONCE_DTYPE_F32);
        let bytes = self.bytes().unwrap();
        bytes.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect()
    }

    pub(crate) fn as_strided(
        &self,
        sizes: &[i64],
        strides: &[i64],
        offset: i64,
    ) -> Outcome<Handle> {
        assert_eq!(sizes.len(), strides.len());
        // SAFETY: the call is passed the slices' length.
        returned(|out| unsafe {
            let (sizes, rank) = (sizes.as_ptr(), sizes.len());
            sconce_tensor_as_strided(self.0, sizes, strides.as_ptr(), rank, offset, out)
        })
    }

    pub(crate) fn squeeze_all(&self) -> Outcome<Handle> {
        // SAFETY: a writable place.
        returned(|out| unsafe { sconce_tensor_squeeze(self.0, std::ptr::null(), 0, out) })
    }

    pub(crate) fn unflatten(&self, dim: i64, sizes: &[i64]) -> Outcome<Handle> {
        // SAFETY: the call is passed the slice's length.
        returned(|out| unsafe {
            sconce_tensor_unflatten(self.0, dim, sizes.as_ptr(), sizes.len(), out)
        })
    }

    pub(crate) fn split_with_sizes(&self, sizes: &[i64], dim: i64) -> Outcome<Vec<Handle>> {
        // SAFETY: the call is passed the lengths of the slice and of the room.
        pieces(64, |out, room, count| unsafe {
            let (sizes, pieces) = (sizes.as_ptr(), sizes.len());
            sconce_tensor_split_with_sizes(self.0, sizes, pieces, dim, out, room, count)
        })
    }

    pub(crate) fn to(&self, options: &sconce_tensor_options, copy: bool) -> Outcome<Handle> {
        // SAFETY: options and a writable place.
        returned(|out| unsafe { sconce_tensor_to(self.0, options, CBool::FALSE, copy.into(), out) })
    }

    pub(crate) fn copy_from(&self, source: &Handle, non_blocking: bool) -> Outcome<()> {
        outcome(sconce_tensor_copy(self.0, source.0, non_blocking.into()))
    }

    pub(crate) fn fill(&self, value: sconce_scalar) -> Outcome<()> {
        // SAFETY: a number.
        outcome(unsafe { sconce_tensor_fill(self.0, &raw const value) })
    }

    pub(crate) fn item(&self) -> Outcome<sconce_scalar> {
        // SAFETY: a writable place.
        written(sconce_scalar::default(), |out| unsafe { sconce_tensor_item(self.0, out) })
    }

    pub(crate) fn again(&self) -> Handle {
        outcome(sconce_tensor_retain(self.0)).unwrap();
        Handle(self.0)
    }
}
