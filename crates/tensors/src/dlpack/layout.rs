//! The structs of `dlpack.h` 1.3.

use std::ffi::{c_char, c_void};
use std::mem::offset_of;

use sconce_base::element::DlpackType;

/// `DLPackVersion`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DlpackVersion {
    /// Another major version has another layout behind [`DlpackManagedHead`].
    pub major: u32,
    /// Another minor version has other values.
    pub minor: u32,
}

/// The version of what this library makes.
pub const VERSION: DlpackVersion = DlpackVersion { major: 1, minor: 3 };

/// `DLDevice`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DlpackDevice {
    /// `DLDeviceType`.
    pub device_type: i32,
    /// The index; 0 for host memory.
    pub device_id: i32,
}

/// `DLTensor`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DlpackTensor {
    /// The begin of the memory.
    pub data: *mut c_void,
    /// Where the memory is.
    pub device: DlpackDevice,
    /// Number of dimensions.
    pub ndim: i32,
    /// The type of the elements.
    pub dtype: DlpackType,
    /// Elements along each dimension.
    pub shape: *mut i64,
    /// Elements from one index to the next.
    pub strides: *mut i64,
    /// Bytes from `data` to the first element.
    pub byte_offset: u64,
}

/// A deleter; its argument is the struct that it is in.
pub type DlpackDeleter = Option<unsafe extern "C" fn(managed: *mut c_void)>;

/// `DLManagedTensor`: the struct without a version.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DlpackManaged {
    /// The tensor.
    pub dl_tensor: DlpackTensor,
    /// For the deleter.
    pub manager_ctx: *mut c_void,
    /// Gives the memory and the struct back.
    pub deleter: DlpackDeleter,
}

/// The part of `DLManagedTensorVersioned` that is the same in all major versions.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DlpackManagedHead {
    /// The version of the struct.
    pub version: DlpackVersion,
    /// For the deleter.
    pub manager_ctx: *mut c_void,
    /// Gives the memory and the struct back.
    pub deleter: DlpackDeleter,
    /// What holds for the memory.
    pub flags: u64,
}

/// `DLManagedTensorVersioned`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DlpackManagedVersioned {
    /// What all versions have.
    pub head: DlpackManagedHead,
    /// The tensor.
    pub dl_tensor: DlpackTensor,
}

/// `DLPACK_FLAG_BITMASK_READ_ONLY`: the memory must not be written to.
pub(crate) const READ_ONLY: u64 = 1;
/// `DLPACK_FLAG_BITMASK_IS_COPIED`: nobody else uses the memory.
pub(super) const IS_COPIED: u64 = 2;
/// `DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED`: each value of fewer than 8 bits has a byte of its own.
pub(super) const SUBBYTE_PADDED: u64 = 4;

/// Reports a failure of the allocator: a kind, which is the name of a Python exception, and a message.
pub type DlpackSetError = Option<
    unsafe extern "C" fn(error_ctx: *mut c_void, kind: *const c_char, message: *const c_char),
>;

/// `DLPackExchangeAPIHeader`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DlpackExchangeHeader {
    /// The version of the table.
    pub version: DlpackVersion,
    /// The table of an older version.
    pub prev_api: Option<&'static DlpackExchangeHeader>,
}

/// `DLPackExchangeAPI`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct DlpackExchangeApi {
    /// The version.
    pub header: DlpackExchangeHeader,
    /// Makes a tensor.
    pub managed_tensor_allocator: unsafe extern "C" fn(
        *mut c_void,
        *mut *mut DlpackManagedVersioned,
        *mut c_void,
        DlpackSetError,
    ) -> i32,
    /// From a Python object.
    pub managed_tensor_from_py_object_no_sync:
        Option<unsafe extern "C" fn(*mut c_void, *mut *mut DlpackManagedVersioned) -> i32>,
    /// To a Python object.
    pub managed_tensor_to_py_object_no_sync:
        Option<unsafe extern "C" fn(*mut DlpackManagedVersioned, *mut *mut c_void) -> i32>,
    /// From a Python object, without ownership.
    pub dltensor_from_py_object_no_sync:
        Option<unsafe extern "C" fn(*mut c_void, *mut DlpackTensor) -> i32>,
    /// The current stream of a device.
    pub current_work_stream: unsafe extern "C" fn(i32, i32, *mut *mut c_void) -> i32,
}

// What a C compiler makes of the header.
const _: () = {
    assert!(size_of::<DlpackType>() == 4);
    assert!(offset_of!(DlpackType, bits) == 1 && offset_of!(DlpackType, lanes) == 2);
    assert!(size_of::<DlpackTensor>() == 48);
    assert!(offset_of!(DlpackTensor, device) == 8);
    assert!(offset_of!(DlpackTensor, ndim) == 16);
    assert!(offset_of!(DlpackTensor, dtype) == 20);
    assert!(offset_of!(DlpackTensor, shape) == 24);
    assert!(offset_of!(DlpackTensor, strides) == 32);
    assert!(offset_of!(DlpackTensor, byte_offset) == 40);
    assert!(size_of::<DlpackManaged>() == 64);
    assert!(offset_of!(DlpackManaged, manager_ctx) == 48);
    assert!(offset_of!(DlpackManaged, deleter) == 56);
    assert!(size_of::<DlpackManagedVersioned>() == 80);
    assert!(offset_of!(DlpackManagedHead, manager_ctx) == 8);
    assert!(offset_of!(DlpackManagedHead, deleter) == 16);
    assert!(offset_of!(DlpackManagedHead, flags) == 24);
    assert!(offset_of!(DlpackManagedVersioned, dl_tensor) == 32);
    assert!(size_of::<DlpackExchangeApi>() == 56);
    assert!(offset_of!(DlpackExchangeHeader, prev_api) == 8);
    assert!(offset_of!(DlpackExchangeApi, managed_tensor_allocator) == 16);
    assert!(offset_of!(DlpackExchangeApi, managed_tensor_from_py_object_no_sync) == 24);
    assert!(offset_of!(DlpackExchangeApi, managed_tensor_to_py_object_no_sync) == 32);
    assert!(offset_of!(DlpackExchangeApi, dltensor_from_py_object_no_sync) == 40);
    assert!(offset_of!(DlpackExchangeApi, current_work_stream) == 48);
};
