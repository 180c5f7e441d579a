//! The functions of cuDNN, by the symbols that it exports.
//!
//! cuDNN's graph interface is one of descriptors: objects that are made, given attributes and then
//! finalised. These few functions are all of it.

use std::ffi::{c_char, c_int, c_void};

use cudarc::cudnn::sys::{cudaStream_t, cudnnBackendDescriptor_t, cudnnHandle_t};

use crate::libraries::library::library_functions;

library_functions! {
    /// The functions of one opened `libcudnn`.
    DnnFunctions;

    required cudnnGetVersion() -> usize;
    required cudnnCreate(*mut cudnnHandle_t) -> i32;
    required cudnnSetStream(cudnnHandle_t, cudaStream_t) -> i32;
    required cudnnGetStream(cudnnHandle_t, *mut cudaStream_t) -> i32;
    required cudnnBackendCreateDescriptor(c_int, *mut cudnnBackendDescriptor_t) -> i32;
    required cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t) -> i32;
    // descriptor, attribute, type, elements, array
    required cudnnBackendSetAttribute(
        cudnnBackendDescriptor_t, c_int, c_int, i64, *const c_void,
    ) -> i32;
    // descriptor, attribute, type, capacity of the array, elements there are, array
    required cudnnBackendGetAttribute(
        cudnnBackendDescriptor_t, c_int, c_int, i64, *mut i64, *mut c_void,
    ) -> i32;
    required cudnnBackendFinalize(cudnnBackendDescriptor_t) -> i32;
    // handle, plan, variant pack
    required cudnnBackendExecute(
        cudnnHandle_t, cudnnBackendDescriptor_t, cudnnBackendDescriptor_t,
    ) -> i32;
    optional cudnnGetLastErrorString(*mut c_char, usize) -> ();
}
