//! What a call takes and owns: files, other tensors' types, operations that are not offered.

use std::ffi::CString;

use super::{call, counted, one, refused, word};
use crate::abi::tensors::dtype_of_tensor;
use crate::error::newest;
use crate::registry::value::Value;
use crate::sconce::api::{
    SCONCE_DTYPE_F16 as F16, SCONCE_DTYPE_F32 as F32, SCONCE_DTYPE_I64 as I64,
};
use crate::testing::Dense;

fn text(text: &str) -> Value {
    Value::Str(text.as_bytes().to_vec())
}

/// c10's number of `uint8`.
const BYTES: Value = Value::Code(0);

#[test]
fn files_are_mapped_and_only_shared_ones_written() {
    let folder = std::env::temp_dir().join(format!("sconce-from-file-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("bytes");
    std::fs::write(&path, [1_u8, 2, 3, 4]).unwrap();
    let name = path.to_str().unwrap();
    counted(|| {
        let arguments =
            |shared, size| vec![text(name), Value::Bool(shared), Value::Int(size), BYTES];
        let bytes = one("from_file", "", arguments(false, 4));
        Dense { sizes: vec![4], values: vec![1.0, 2.0, 3.0, 4.0] }.assert_near(
            bytes.handle(),
            0.0,
            "from_file",
        );
        drop(one("zero_", "", vec![word(&bytes)]));
        drop(bytes);
        assert_eq!(std::fs::read(&path).unwrap(), [1, 2, 3, 4]);

        refused("from_file", "", arguments(false, 5), "has 4 bytes, and 5 are asked for");
        let longer = one("from_file", "", arguments(true, 6));
        drop(one("zero_", "", vec![word(&longer)]));
        drop(longer);
        assert_eq!(std::fs::read(&path).unwrap(), [0; 6]);
        assert_eq!(Dense::of(one("from_file", "", arguments(false, 0)).handle()).sizes, [0]);
        refused("from_file", "", arguments(false, -1), "size is -1");
        let nowhere = vec![text("/nowhere/at_all"), Value::None, Value::Int(1), BYTES];
        refused("from_file", "", nowhere, "/nowhere/at_all could not be opened");
        let directory = vec![text("/"), Value::None, Value::Int(1), BYTES];
        assert!(call("from_file", "", directory).is_err());
    });
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_tensor_takes_the_type_of_another() {
    counted(|| {
        let x = Dense { sizes: vec![2], values: vec![1.5, -2.5] };
        let (x, other) = (x.tensor(F32), Dense { sizes: vec![], values: vec![0.0] }.tensor(I64));
        let found = one("to", "other", vec![word(&x), word(&other)]);
        assert_eq!(dtype_of_tensor(found.handle()).unwrap(), I64);
        Dense { sizes: vec![2], values: vec![1.0, -2.0] }.assert_near(
            found.handle(),
            0.0,
            "to.other",
        );
        let half =
            one("new_ones", "", vec![word(&x), Value::List(vec![Value::Int(3)]), Value::Code(5)]);
        assert_eq!(dtype_of_tensor(half.handle()).unwrap(), F16);
        Dense { sizes: vec![3], values: vec![1.0; 3] }.assert_near(half.handle(), 0.0, "new_ones");
    });
}

#[test]
fn an_operation_that_is_not_offered_is_named_with_its_overloads() {
    for (name, overload, words) in [
        ("aten::spectral_norm", "", "the operator aten::spectral_norm, which a kernel calls"),
        ("aten::to", "nothing", "[\"device\", \"dtype\", \"dtype_layout\", \"other\"]"),
    ] {
        let (name, overload) = (CString::new(name).unwrap(), CString::new(overload).unwrap());
        let mut stack = [0; 8];
        // SAFETY: nothing is read of the stack.
        let status = unsafe {
            let stack = stack.as_mut_ptr();
            super::torch_call_dispatcher(
                name.as_c_str().into(),
                overload.as_c_str().into(),
                stack,
                0,
            )
        };
        assert_ne!(status, 0);
        assert!(newest().unwrap().contains(words), "{:?}", newest());
    }
}
