//! Tensors of the library, and a producer that counts how often it is asked to delete.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

use sconce::sconce_status::*;
use sconce::*;
use sconce_base::element::DlpackType;
use sconce_tensors::dlpack::*;
pub(crate) use testkit::statuses::{ok, refused};

pub(crate) type Handle = *mut sconce_tensor;

pub(crate) fn bytes_of(dtype: i32) -> usize {
    let mut bytes = 0;
    // SAFETY: a good place.
    ok(unsafe { sconce_dtype_get_bytes(dtype, &raw mut bytes) });
    bytes
}

pub(crate) fn options(dtype: i32, device: i32, pinned: bool) -> sconce_tensor_options {
    sconce_tensor_options {
        struct_size: size_of::<sconce_tensor_options>() as u32,
        dtype,
        device,
        memory_format: 0,
        pinned: pinned.into(),
        reserved: [0; 7],
    }
}

/// A tensor whose bytes count up.
pub(crate) fn tensor(sizes: &[i64], dtype: i32, device: i32) -> Handle {
    let bytes = sizes.iter().product::<i64>() as usize * bytes_of(dtype);
    let values: Vec<u8> = (0..bytes).map(|i| i as u8).collect();
    let (options, mut out) = (options(dtype, device, false), null_mut());
    // SAFETY: arrays of these lengths, and a good place.
    ok(unsafe {
        sconce_tensor_from_values(
            values.as_ptr().cast(),
            bytes,
            sizes.as_ptr(),
            sizes.len(),
            &raw const options,
            &raw mut out,
        )
    });
    out
}

pub(crate) fn made(call: impl FnOnce(*mut Handle) -> sconce_status) -> Handle {
    let mut out = null_mut();
    ok(call(&raw mut out));
    out
}

pub(crate) fn release(tensor: Handle) {
    ok(sconce_tensor_release(tensor));
}

/// All bytes of a tensor, in row-major order.
pub(crate) fn bytes(tensor: Handle) -> Vec<u8> {
    let (mut numel, mut dtype) = (0, 0);
    // SAFETY: good places.
    ok(unsafe { sconce_tensor_get_numel(tensor, &raw mut numel) });
    // SAFETY: a good place.
    ok(unsafe { sconce_tensor_get_dtype(tensor, &raw mut dtype) });
    let mut values = vec![0_u8; numel as usize * bytes_of(dtype)];
    // SAFETY: room for so many bytes.
    ok(unsafe { sconce_tensor_to_values(tensor, values.as_mut_ptr().cast(), values.len()) });
    values
}

pub(crate) fn address(tensor: Handle) -> usize {
    let mut address = null_mut();
    // SAFETY: a good place.
    ok(unsafe { sconce_tensor_get_data(tensor, &raw mut address) });
    address as usize
}

pub(crate) fn is_read_only(tensor: Handle) -> bool {
    let mut read_only = false;
    // SAFETY: a good place.
    ok(unsafe { sconce_tensor_is_read_only(tensor, &raw mut read_only) });
    read_only
}

pub(crate) fn export(tensor: Handle, stream: *mut c_void) -> *mut DlpackManagedVersioned {
    let mut managed = null_mut();
    // SAFETY: a good place, and a live stream.
    ok(unsafe { sconce_tensor_to_dlpack(tensor, stream, &raw mut managed) });
    managed
}

pub(crate) fn import(managed: *mut DlpackManagedVersioned, stream: *mut c_void) -> Handle {
    // SAFETY: a live struct and stream.
    made(|out| unsafe { sconce_tensor_from_dlpack(managed, stream, out) })
}

/// Calls a struct's deleter, as a consumer does.
pub(crate) fn delete(managed: *mut DlpackManagedVersioned) {
    // SAFETY: a live struct.
    let deleter = unsafe { (*managed).head.deleter }.unwrap();
    // SAFETY: it is called once, with its struct.
    unsafe { deleter(managed.cast()) };
}

/// A tensor of another library: F32 of 2 × 3, unless a test changes it.
pub(crate) struct Producer {
    pub(crate) managed: DlpackManagedVersioned,
    pub(crate) sizes: Vec<i64>,
    pub(crate) strides: Vec<i64>,
    pub(crate) values: Vec<f32>,
    pub(crate) deletions: AtomicUsize,
}

unsafe extern "C" fn count_deletion(managed: *mut c_void) {
    // SAFETY: a live struct of a producer.
    let context = unsafe { (*managed.cast::<DlpackManagedVersioned>()).head.manager_ctx };
    // SAFETY: the producer lives as long as the test.
    unsafe { &*context.cast::<Producer>() }.deletions.fetch_add(1, Ordering::SeqCst);
}

impl Producer {
    /// Lives for ever, as the memory of a library may.
    pub(crate) fn new() -> &'static mut Producer {
        let head = DlpackManagedHead {
            version: DlpackVersion { major: 1, minor: 0 },
            manager_ctx: null_mut(),
            deleter: Some(count_deletion),
            flags: 0,
        };
        let dl_tensor = DlpackTensor {
            data: null_mut(),
            device: DlpackDevice { device_type: 1, device_id: 0 },
            ndim: 2,
            dtype: DlpackType { code: 2, bits: 32, lanes: 1 },
            shape: null_mut(),
            strides: null_mut(),
            byte_offset: 0,
        };
        let producer = Box::leak(Box::new(Producer {
            managed: DlpackManagedVersioned { head, dl_tensor },
            sizes: vec![2, 3],
            strides: vec![3, 1],
            values: (0..12).map(|i| i as f32).collect(),
            deletions: AtomicUsize::new(0),
        }));
        producer.managed.head.manager_ctx = std::ptr::from_mut(producer).cast();
        producer.managed.dl_tensor.data = producer.values.as_mut_ptr().cast();
        producer.managed.dl_tensor.shape = producer.sizes.as_mut_ptr();
        producer.managed.dl_tensor.strides = producer.strides.as_mut_ptr();
        producer
    }

    /// Memory of device 0 that is not this library's.
    pub(crate) fn on_device(place: &testkit::places::Place) -> &'static mut Producer {
        let producer = Producer::new();
        producer.managed.dl_tensor.data = place.start();
        producer.managed.dl_tensor.device = DlpackDevice { device_type: 2, device_id: 0 };
        producer
    }

    pub(crate) fn offered(&mut self) -> *mut DlpackManagedVersioned {
        &raw mut self.managed
    }

    pub(crate) fn deletions(&self) -> usize {
        self.deletions.load(Ordering::SeqCst)
    }

    /// What an import returns; a tensor is released at once.
    pub(crate) fn imported(&mut self, stream: usize) -> sconce_status {
        let mut out = null_mut();
        let stream = std::ptr::with_exposed_provenance_mut(stream);
        // SAFETY: a struct of a test, and a good place.
        let status = unsafe { sconce_tensor_from_dlpack(self.offered(), stream, &raw mut out) };
        assert_eq!(status == SCONCE_OK, !out.is_null());
        ok(sconce_tensor_release(out));
        status
    }
}

pub(crate) fn native(stream: sconce_stream) -> *mut c_void {
    let mut native = null_mut();
    // SAFETY: a good place.
    ok(unsafe { sconce_stream_get_native(stream, &raw mut native) });
    native
}

/// Tries to set every element; a tensor that may be written to takes it.
pub(crate) fn filled(tensor: Handle) -> sconce_status {
    let zero = sconce_scalar::default();
    // SAFETY: a good number.
    unsafe { sconce_tensor_fill(tensor, &raw const zero) }
}

pub(crate) const NO_STREAM: *mut c_void = null_mut();
