//! The functions of the C exchange table, called as another library calls them: through the table.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;

use sconce::*;
use sconce_base::element::DlpackType;
use sconce_tensors::dlpack::*;
use testkit::places::{allocated, alone, inject, own_stream};
use testkit::simulated::runtime;

use crate::support::*;

fn table() -> &'static DlpackExchangeApi {
    // SAFETY: constant, and as long as the process.
    unsafe { &*sconce_dlpack_exchange_api() }
}

#[test]
fn the_table_has_what_needs_no_python() {
    let api = table();
    assert_eq!((api.header.version.major, api.header.version.minor), (1, 3));
    assert!(api.header.prev_api.is_none());
    assert!(api.managed_tensor_from_py_object_no_sync.is_none());
    assert!(api.managed_tensor_to_py_object_no_sync.is_none());
    assert!(api.dltensor_from_py_object_no_sync.is_none());
    assert_eq!(
        api.managed_tensor_allocator as usize,
        sconce_dlpack_allocator as *const () as usize
    );
}

/// What `set_error` was called with.
type Errors = Vec<(String, String)>;

unsafe extern "C" fn note(errors: *mut c_void, kind: *const c_char, message: *const c_char) {
    // The library may be called from here, and replaces its message then.
    refused(
        sconce_tensor_release(std::ptr::without_provenance_mut(8)),
        sconce_status::SCONCE_ERROR_INVALID_HANDLE,
        "",
    );
    // SAFETY: the allocator passes two texts.
    let text = |text: *const c_char| unsafe { CStr::from_ptr(text) }.to_str().unwrap().to_owned();
    // SAFETY: the test's own vector.
    unsafe { &mut *errors.cast::<Errors>() }.push((text(kind), text(message)));
}

fn prototype(device_type: i32, sizes: &mut [i64]) -> DlpackTensor {
    DlpackTensor {
        data: null_mut(),
        device: DlpackDevice { device_type, device_id: 0 },
        ndim: sizes.len() as i32,
        dtype: DlpackType { code: 4, bits: 16, lanes: 1 },
        shape: sizes.as_mut_ptr(),
        strides: null_mut(),
        byte_offset: 0,
    }
}

fn allocate(prototype: *mut DlpackTensor) -> (i32, *mut DlpackManagedVersioned, Errors) {
    let mut errors = Errors::new();
    let mut managed = std::ptr::without_provenance_mut(8);
    let (context, place) = ((&raw mut errors).cast(), &raw mut managed);
    // SAFETY: a struct of a test, a good place, and the function's own context.
    let code =
        unsafe { (table().managed_tensor_allocator)(prototype.cast(), place, context, Some(note)) };
    (code, managed, errors)
}

#[test]
fn the_allocator_makes_what_the_prototype_asks_for() {
    let _alone = alone();
    for device_type in [1, 2, 3] {
        let mut sizes = [4, 5];
        let mut asked = prototype(device_type, &mut sizes);
        let (code, managed, errors) = allocate(&raw mut asked);
        assert_eq!((code, errors), (0, Errors::new()));
        // SAFETY: a live struct.
        let DlpackManagedVersioned { head, dl_tensor } = unsafe { *managed };
        assert_eq!((head.version.major, head.flags), (1, 0));
        assert_eq!(dl_tensor.device, DlpackDevice { device_type, device_id: 0 });
        assert!(!dl_tensor.data.is_null() && (dl_tensor.data as usize).is_multiple_of(64));
        sizes = [0, 0];
        let tensor = import(managed, NO_STREAM);
        let mut elements = 0;
        // SAFETY: a good place.
        ok(unsafe { sconce_tensor_get_numel(tensor, &raw mut elements) });
        assert_eq!(elements, 20, "shape is a copy of the prototype's");
        let mut pinned = false;
        // SAFETY: a good place.
        ok(unsafe { sconce_tensor_is_pinned(tensor, &raw mut pinned) });
        assert_eq!(pinned, device_type == 3);
        release(tensor);
        let _ = sizes;
    }
    assert_eq!(allocated(0), 0);
}

#[test]
fn failures_of_the_allocator_are_told_once_with_a_kind() {
    let _alone = alone();
    let changed = |change: &dyn Fn(&mut DlpackTensor)| {
        let mut sizes = [4, 5];
        let mut prototype = prototype(2, &mut sizes);
        change(&mut prototype);
        let (code, managed, errors) = allocate(&raw mut prototype);
        assert_eq!((code, errors.len()), (-1, 1), "{errors:?}");
        assert!(managed.is_null(), "NULL on failure");
        errors.into_iter().next().unwrap()
    };
    let told = |change: &dyn Fn(&mut DlpackTensor), kind: &str, words: &str| {
        let (its_kind, message) = changed(change);
        assert_eq!(its_kind, kind, "{message}");
        assert!(message.contains(words), "{message}\nlacks: {words}");
    };
    told(&|p| p.dtype.lanes = 2, "BufferError", "prototype.dtype has code 4");
    told(&|p| p.device.device_type = 13, "BufferError", "kDLCUDAManaged");
    told(&|p| p.device.device_type = 10, "BufferError", "prototype.device.device_type is 10");
    told(&|p| p.device.device_id = 99, "ValueError", "prototype.device.device_id");
    told(&|p| p.ndim = -1, "ValueError", "ndim is -1");
    told(&|p| p.shape = null_mut(), "ValueError", "prototype.shape is NULL");
    let negative = [4_i64, -5];
    told(&|p| p.shape = negative.as_ptr().cast_mut(), "ValueError", "negative dimension -5");
    let huge = [1_i64 << 40, 1];
    told(&|p| p.shape = huge.as_ptr().cast_mut(), "MemoryError", "");
    let (code, managed, errors) = allocate(null_mut());
    assert_eq!((code, managed.is_null(), errors[0].0.as_str()), (-1, true, "ValueError"));
    assert!(errors[0].1.contains("prototype is NULL"));
    inject("memory_alloc", 1, 999);
    told(&|_| (), "RuntimeError", "");
    // Nobody has to listen.
    let mut sizes = [1];
    let mut wrong = prototype(99, &mut sizes);
    let mut managed = null_mut();
    let place = (&raw mut wrong).cast();
    // SAFETY: a struct of this test, and a good place.
    assert_eq!(unsafe { sconce_dlpack_allocator(place, &raw mut managed, null_mut(), None) }, -1);
    // SAFETY: NULL is allowed.
    assert_eq!(unsafe { sconce_dlpack_allocator(place, null_mut(), null_mut(), None) }, -1);
}

#[test]
fn the_current_stream_is_the_threads_own() {
    let _alone = alone();
    runtime();
    let current = |device_type, device_id| {
        let mut stream = std::ptr::without_provenance_mut(8);
        // SAFETY: a good place.
        let code =
            unsafe { (table().current_work_stream)(device_type, device_id, &raw mut stream) };
        (code, stream as usize)
    };
    assert_eq!(current(2, 0), (0, 0));
    let stream = own_stream(0);
    assert_eq!(current(2, 0), (0, native(stream) as usize));
    assert_eq!(current(13, 0), (0, native(stream) as usize));
    assert_eq!([current(2, 1), current(1, 0), current(3, 9)], [(0, 0); 3]);
    assert_eq!(std::thread::spawn(move || current(2, 0).1).join().unwrap(), 0);
    for (device_type, device_id) in [(2, -1), (2, 99), (10, 0), (0, 0)] {
        assert_eq!(current(device_type, device_id), (-1, 8));
    }
    // SAFETY: NULL is allowed.
    assert_eq!(unsafe { sconce_dlpack_current_stream(2, 0, null_mut()) }, -1);
}
