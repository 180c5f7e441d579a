//! Memory of others: the deleter is called once, with the last tensor, and never if the call failed.

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::ThreadId;

use sconce::sconce_status::*;
use sconce::*;
use testkit::places::{Kind, Place, alone};

use super::figures::Figures;
use crate::api::{CPU, Handle, Outcome, options, outcome, refusal, returned};
use crate::create::from_i32;
use crate::operations::{self, Operand};

/// Memory with a count of the calls of its deleter, and the thread of the last.
#[derive(Default)]
struct Owner {
    calls: AtomicUsize,
    thread: Mutex<Option<ThreadId>>,
}

unsafe extern "C" fn count_call(context: *mut c_void) {
    // SAFETY: the tests pass an owner that outlives the tensor.
    let owner = unsafe { &*context.cast::<Owner>() };
    owner.calls.fetch_add(1, Ordering::Relaxed);
    *owner.thread.lock().unwrap() = Some(std::thread::current().id());
}

/// Uses the library while a tensor of it is released.
unsafe extern "C" fn use_the_library(context: *mut c_void) {
    drop(from_i32(&[1, 2, 3], &[3], 0));
    // SAFETY: as `count_call`.
    unsafe { count_call(context) };
}

impl Owner {
    fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    fn context(&self) -> *mut c_void {
        std::ptr::from_ref(self).cast_mut().cast()
    }

    fn tensor(
        &self,
        address: *mut c_void,
        bytes: usize,
        (sizes, strides): (&[i64], Option<&[i64]>),
        dtype: i32,
        device: i32,
    ) -> Outcome<Handle> {
        let strides = strides.map_or(null(), <[i64]>::as_ptr);
        // SAFETY: the memory and the owner outlive the tensor.
        returned(|out| unsafe {
            let (sizes, rank) = (sizes.as_ptr(), sizes.len());
            let (deleter, context) = (Some(count_call as _), self.context());
            sconce_tensor_from_memory(
                address, bytes, sizes, strides, rank, dtype, device, deleter, context, out,
            )
        })
    }
}

#[test]
fn the_deleter_is_called_once_by_the_last_tensors_thread() {
    let _one = alone();
    let start = Figures::now();
    for kind in [Kind::Ordinary, Kind::Pinned, Kind::Device(0), Kind::Device(1)] {
        let device = if let Kind::Device(device) = kind { device } else { CPU };
        let memory = Place::holding(kind, &[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]);
        let owner = Owner::default();
        let tensor =
            owner.tensor(memory.start(), 12, (&[3], None), SCONCE_DTYPE_I32, device).unwrap();
        assert_eq!((tensor.data(), tensor.device()), (memory.start() as usize, device));
        assert_eq!(tensor.is_pinned(), kind == Kind::Pinned);
        assert_eq!(tensor.storage(), (memory.start() as usize, 12));
        let view = tensor.narrow(0, 1, 2).unwrap();
        let again = view.again();
        drop(tensor);
        drop(view);
        assert_eq!((owner.calls(), again.i32s()), (0, vec![2, 3]));
        let thread = std::thread::scope(|scope| {
            let release = || {
                drop(again);
                std::thread::current().id()
            };
            scope.spawn(release).join().unwrap()
        });
        assert_eq!((owner.calls(), *owner.thread.lock().unwrap()), (1, Some(thread)));
    }
    start.assert_unchanged();
}

#[test]
fn strides_reach_to_the_end_of_the_memory_and_not_beyond() {
    let _one = alone();
    let mut numbers = [0_i16, 1, 2, 3, 4, 5, 6];
    let address: *mut c_void = numbers.as_mut_ptr().cast();
    let owner = Owner::default();
    let of = |sizes: &[i64], strides: &[i64], bytes: usize| {
        owner.tensor(address, bytes, (sizes, Some(strides)), SCONCE_DTYPE_I16, CPU)
    };
    let corners = of(&[2, 2], &[4, 2], 14).unwrap();
    let bytes = corners.bytes().unwrap();
    assert_eq!(bytes, [0, 0, 2, 0, 4, 0, 6, 0]);
    assert!(of(&[2, 2], &[4, 2], 13).is_err());
    let repeated = of(&[3, 2], &[0, 1], 4).unwrap();
    assert_eq!(repeated.bytes().unwrap(), [0, 0, 1, 0].repeat(3));
    assert_eq!(owner.calls(), 0);
    drop((corners, repeated));
    assert_eq!(owner.calls(), 2);
}

/// On the CPU elements may lie anywhere; on a device, which would fail, they are refused.
#[test]
fn elements_at_odd_addresses() {
    let _one = alone();
    let start = Figures::now();
    let mut bytes = vec![0];
    bytes.extend([1.5_f32, -2.0, 4.0].into_iter().flat_map(f32::to_le_bytes));
    let (memory, owner) = (Place::holding(Kind::Ordinary, &bytes), Owner::default());
    let f32 = SCONCE_DTYPE_F32;
    let tensor = owner.tensor(memory.at(1), 12, (&[3], None), f32, CPU).unwrap();
    let own = Operand::Tensor(&tensor);
    let results: [(Outcome<Handle>, &[f32]); 6] = [
        (operations::binary(SCONCE_BINARY_ADD, own, own), &[3.0, -4.0, 8.0]),
        (operations::reduce(SCONCE_REDUCE_AMAX, &tensor, None, false), &[4.0]),
        (operations::along(SCONCE_LINE_CUMSUM, &tensor, 0), &[1.5, -0.5, 3.5]),
        (operations::cat(&[&tensor, &tensor], 0), &[1.5, -2.0, 4.0, 1.5, -2.0, 4.0]),
        (operations::sort(&tensor, 0, false).map(|[values, _]| values), &[-2.0, 1.5, 4.0]),
        (tensor.to(&options(-1, 0), false), &[1.5, -2.0, 4.0]),
    ];
    for (place, (result, expected)) in results.into_iter().enumerate() {
        assert_eq!(result.unwrap().f32s(), expected, "operation {place}");
    }
    drop(tensor);
    let (memory, owner) = (Place::holding(Kind::Device(0), &bytes), Owner::default());
    for (distance, dtype) in [(1, f32), (2, f32), (4, SCONCE_DTYPE_C64), (8, SCONCE_DTYPE_C128)] {
        let plain: (&[i64], Option<&[i64]>) = (&[0], None);
        let text = refusal(owner.tensor(memory.at(distance), 4, plain, dtype, 0));
        assert!(text.contains("is not aligned to the"), "{text}");
    }
    assert_eq!(owner.calls(), 0);
    start.assert_unchanged();
}

#[test]
fn a_call_that_fails_does_not_call_the_deleter() {
    let _one = alone();
    let start = Figures::now();
    let host = Place::new(Kind::Ordinary, 64);
    let device = Place::new(Kind::Device(1), 64);
    let owner = Owner::default();
    let plain: (&[i64], Option<&[i64]>) = (&[4], None);
    let f32 = SCONCE_DTYPE_F32;
    let refused = |outcome: Outcome<Handle>, status: sconce_status, text: &str| {
        let failure = outcome.expect_err(text);
        assert_eq!(failure.status, status, "{}", failure.message);
        assert!(failure.message.contains(text), "{}", failure.message);
    };
    let invalid = SCONCE_ERROR_INVALID_ARGUMENT;
    refused(owner.tensor(host.start(), 15, plain, f32, CPU), invalid, "out of bounds");
    refused(owner.tensor(host.start(), 64, (&[-1], None), f32, CPU), invalid, "negative dimension");
    let strides: &[i64] = &[-1];
    refused(owner.tensor(host.start(), 64, (&[4], Some(strides)), f32, CPU), invalid, "strides");
    refused(owner.tensor(host.start(), 64, (&[1 << 62, 8], None), f32, CPU), invalid, "overflow");
    refused(owner.tensor(null_mut(), 16, plain, f32, CPU), invalid, "address is NULL");
    refused(owner.tensor(null_mut(), 0, plain, f32, CPU), invalid, "out of bounds");
    refused(owner.tensor(host.start(), 64, plain, 99, CPU), invalid, "99");
    refused(owner.tensor(host.start(), 64, plain, f32, 7), SCONCE_ERROR_INVALID_DEVICE, "7");
    refused(owner.tensor(host.start(), 64, plain, f32, 0), invalid, "not memory of device 0");
    let cross = SCONCE_ERROR_CROSS_DEVICE;
    refused(owner.tensor(device.start(), 64, plain, f32, 0), cross, "memory of device 1");
    assert_eq!(owner.calls(), 0);
    // SAFETY: NULL as the place of the result is refused.
    let status = unsafe {
        let (deleter, context) = (Some(count_call as _), owner.context());
        let address = host.start();
        sconce_tensor_from_memory(
            address,
            64,
            null(),
            null(),
            0,
            f32,
            CPU,
            deleter,
            context,
            null_mut(),
        )
    };
    assert_eq!((status, owner.calls()), (invalid, 0));
    start.assert_unchanged();
}

/// The processor would follow the address.
#[test]
fn memory_of_a_device_is_not_taken_for_the_hosts() {
    let _one = alone();
    let start = Figures::now();
    let ours = [0, 1].map(|device| from_i32(&[1, 2, 3, 4], &[4], device));
    let of_driver = Place::new(Kind::Device(1), 4096);
    // A block that was given back is still the device's.
    let freed = from_i32(&[7; 4096], &[4096], 0).data();
    let inside = ours[0].select(0, 2).unwrap();
    let mut addresses = vec![freed, of_driver.start() as usize, of_driver.at(64) as usize];
    addresses.extend([&ours[0], &ours[1], &inside].map(Handle::data));
    let host = from_i32(&[5, 6], &[2], CPU);
    for address in addresses {
        let data: *mut c_void = std::ptr::with_exposed_provenance_mut(address);
        let owner = Owner::default();
        let declared = owner.tensor(data, 8, (&[2], None), SCONCE_DTYPE_I32, CPU);
        let as_blob = |device| {
            let options = options(SCONCE_DTYPE_I32, device);
            // SAFETY: sizes, options and a good place; the call checks the address.
            returned(|out| unsafe {
                let sizes = [2].as_ptr();
                sconce_tensor_from_blob(
                    data,
                    sizes,
                    null(),
                    1,
                    &raw const options,
                    None,
                    null_mut(),
                    out,
                )
            })
        };
        // SAFETY: sizes, options and a good place; the call checks the address.
        let values = returned(|out| unsafe {
            let options = options(SCONCE_DTYPE_I32, CPU);
            sconce_tensor_from_values(data, 8, [2].as_ptr(), 1, &raw const options, out)
        });
        // SAFETY: the call checks the address.
        let written = outcome(unsafe { sconce_tensor_to_values(host.raw(), data, 8) });
        for text in [refusal(declared), refusal(as_blob(CPU)), refusal(values), refusal(written)] {
            assert!(text.contains("is memory of device"), "{text}");
            assert!(text.contains("memory of the host is expected"), "{text}");
        }
        assert_eq!(owner.calls(), 0);
        // Without a device the memory tells where it is.
        if address != freed {
            assert_ne!(as_blob(-1).unwrap().device(), CPU);
        }
    }
    // Pinned memory and memory that no driver knows are the host's.
    for kind in [Kind::Pinned, Kind::Ordinary] {
        let memory = Place::holding(kind, &[1, 0, 0, 0, 2, 0, 0, 0]);
        let owner = Owner::default();
        let tensor = owner.tensor(memory.start(), 8, (&[2], None), SCONCE_DTYPE_I32, CPU).unwrap();
        assert_eq!(tensor.i32s(), [1, 2]);
        drop(tensor);
    }
    drop((ours, inside, host));
    start.assert_unchanged();
}

#[test]
fn a_deleter_may_use_the_library() {
    let _one = alone();
    let start = Figures::now();
    let mut number = 5_i32;
    let owner = Owner::default();
    // SAFETY: the memory and the owner outlive the tensor.
    let tensor = returned(|out| unsafe {
        let address: *mut c_void = (&raw mut number).cast();
        let (deleter, context) = (Some(use_the_library as _), owner.context());
        let i32 = SCONCE_DTYPE_I32;
        sconce_tensor_from_memory(address, 4, null(), null(), 0, i32, CPU, deleter, context, out)
    })
    .unwrap();
    let other = from_i32(&[9], &[1], CPU);
    // The handle's lock must not be held while the deleter runs.
    assert_eq!(sconce_tensor_assign(tensor.raw(), other.raw()), SCONCE_OK);
    assert_eq!((owner.calls(), tensor.i32s()), (1, vec![9]));
    drop((tensor, other));
    assert_eq!(owner.calls(), 1);
    start.assert_unchanged();
}

#[test]
fn threads_that_release_views_at_once_call_the_deleter_once() {
    let _one = alone();
    let start = Figures::now();
    for _ in 0..200 {
        let mut numbers = [1_i32, 2, 3, 4];
        let owner = Owner::default();
        let address = numbers.as_mut_ptr().cast();
        let tensor = owner.tensor(address, 16, (&[4], None), SCONCE_DTYPE_I32, CPU).unwrap();
        let views: Vec<Handle> = (0..4).map(|at| tensor.select(0, at).unwrap()).collect();
        drop(tensor);
        std::thread::scope(|scope| {
            for view in views {
                scope.spawn(move || drop(view));
            }
        });
        assert_eq!(owner.calls(), 1);
    }
    start.assert_unchanged();
}
