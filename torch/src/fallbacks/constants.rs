//! Constants of a model, which may be packed for oneDNN.

#![allow(unsafe_code, reason = "functions of C over pointers of the caller")]

use std::ffi::c_void;

use crate::abi::arguments::{Out, list};
use crate::abi::blobs::{
    aoti_torch_create_tensor_from_blob, check_strided, constant, name_of_constant,
};
use crate::abi::constants::{DEVICE_TYPE_CPU, LAYOUT_MKLDNN, dtype_of};
use crate::abi::errors::not_null;
use crate::abi::handles::return_tensor;
use crate::error::{Error, Result, shim};
use crate::operations::packed::description::PackedLayout;
use crate::operations::packed::unpack::unpacked;
use crate::operations::tensors::name_of;
use crate::sconce::Tensor;
use crate::sconce::tensor::TensorHandle;

/// A constant that PyTorch packed for oneDNN, unpacked.
struct PackedConstant {
    data: *const c_void,
    ndim: i64,
    sizes: *const i64,
    dtype: i32,
    device_type: i32,
    description: *const u8,
    description_bytes: i64,
}

impl PackedConstant {
    /// # Safety
    /// The sizes have `ndim` entries and the description so many bytes; the memory has what this describes.
    unsafe fn tensor(&self) -> Result<Tensor> {
        if self.device_type != DEVICE_TYPE_CPU {
            return Err(Error::not_supported("weights are packed for the CPU alone"));
        }
        // SAFETY: the ABI has the number of entries of `self.sizes` in `self.ndim`.
        let sizes = unsafe { list(self.sizes, self.ndim, "sizes_ptr") }?;
        // SAFETY: the ABI has the number of bytes of the description beside it.
        let bytes = unsafe { list(self.description, self.description_bytes, "opaque_metadata") }?;
        let description = PackedLayout::read(bytes, sizes)?;
        let dtype = dtype_of(self.dtype)?;
        if description.dtype != dtype {
            return Err(Error::not_supported(format!(
                "its elements are of {}, but its description says {}",
                name_of(dtype),
                name_of(description.dtype)
            )));
        }
        if sizes.iter().all(|&size| size != 0) {
            not_null(self.data, "data")?;
        }
        // SAFETY: `tensor` demands that the memory has the elements which the description reaches.
        unsafe { unpacked(self.data, &description, sizes) }
    }
}

/// As [`aoti_torch_create_tensor_from_blob`], of a tensor with strides. One that was packed for oneDNN
/// (`aoti_torch_layout__mkldnn`) is unpacked into memory of its own.
///
/// # Safety
/// As [`aoti_torch_create_tensor_from_blob`]; the description of a packed tensor has so many bytes, and the memory has
/// the elements that it reaches.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aoti_torch_create_tensor_from_blob_v2(
    data: *mut c_void,
    ndim: i64,
    sizes_ptr: *const i64,
    strides_ptr: *const i64,
    storage_offset: i64,
    dtype: i32,
    device_type: i32,
    device_index: i32,
    ret: Out<'_, TensorHandle>,
    layout: i32,
    opaque_metadata: *const u8,
    opaque_metadata_size: i64,
) -> i32 {
    if layout != LAYOUT_MKLDNN {
        if let Err(refused) = check_strided(layout) {
            return shim(|| Err(refused));
        }
        // SAFETY: the arguments are those that this function got from C, of which the ABI demands what it does for the
        // other function.
        return unsafe {
            aoti_torch_create_tensor_from_blob(
                data,
                ndim,
                sizes_ptr,
                strides_ptr,
                storage_offset,
                dtype,
                device_type,
                device_index,
                ret,
            )
        };
    }
    let make = || {
        let packed = PackedConstant {
            data,
            ndim,
            sizes: sizes_ptr,
            dtype,
            device_type,
            description: opaque_metadata,
            description_bytes: opaque_metadata_size,
        };
        // SAFETY: the ABI has the number of sizes and of bytes of the description beside them, and the memory has what
        // this describes.
        constant(|| unsafe { packed.tensor() }).map_err(|error| Error {
            message: format!(
                "{} was packed for oneDNN and cannot be unpacked: {}. Compile the model with \
                 torch._inductor.config.freezing = False, which leaves weights as they are",
                name_of_constant(),
                error.message
            ),
            ..error
        })
    };
    return_tensor(ret, "ret", make)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::abi::blobs::constants_made;
    use crate::error::newest;
    use crate::operations::packed::description::tests::Written;
    use crate::testing::{Dense, live};

    const FLOAT: i32 = 6;

    fn make(memory: &[f32], layout: i32, description: &[u8]) -> Option<Tensor> {
        let (sizes, strides, mut made) = ([2_i64, 2], [1_i64, 0], std::ptr::null_mut());
        let data = memory.as_ptr().cast_mut().cast();
        let bytes = description.len() as i64;
        // SAFETY: the arrays have two entries; the memory has what the descriptions below reach.
        let status = unsafe {
            aoti_torch_create_tensor_from_blob_v2(
                data,
                2,
                sizes.as_ptr(),
                strides.as_ptr(),
                0,
                FLOAT,
                DEVICE_TYPE_CPU,
                0,
                Out::from(&mut made),
                layout,
                description.as_ptr(),
                bytes,
            )
        };
        (status == 0).then(|| Tensor::from_handle(made))
    }

    #[test]
    fn a_packed_constant_is_unpacked_and_counted() {
        let before = live();
        let memory = [1.0, 2.0, 3.0, 4.0];
        let columns = Written::new(3, &[2, 2], &[2, 2], &[1, 2], &[]);
        let (tensor, made) = constants_made(Vec::new(), || make(&memory, 3, &columns.0));
        let expected = Dense { sizes: vec![2, 2], values: vec![1.0, 3.0, 2.0, 4.0] };
        expected.assert_near(tensor.unwrap().handle(), 0.0, "columns");
        assert_eq!(made.len(), 1);
        let own = made.into_iter().next().flatten().unwrap();
        expected.assert_near(own.handle(), 0.0, "the model's own");
        drop(own);
        assert_eq!(live(), before);
    }

    #[test]
    fn a_constant_that_cannot_be_unpacked_is_named() {
        let memory = [1.0, 2.0, 3.0, 4.0];
        let names = ["first", "layers.1.weight"].map(str::to_owned).to_vec();
        let halves = Written::new(2, &[2, 2], &[2, 2], &[1, 2], &[]);
        let (tensors, _) =
            constants_made(names, || [make(&memory, 0, &[]), make(&memory, 3, &halves.0)]);
        assert!(tensors[0].is_some() && tensors[1].is_none());
        let why = newest().unwrap();
        assert!(why.starts_with("the constant layers.1.weight was packed for oneDNN"), "{why}");
        assert!(why.contains("are of float32, but its description says bfloat16"), "{why}");
        assert!(why.contains("torch._inductor.config.freezing = False"), "{why}");
        assert!(make(&memory, 3, &[]).is_none());
        assert!(newest().unwrap().starts_with("a constant of the model was packed"));
        assert!(make(&memory, 1, &[]).is_none());
        assert!(newest().unwrap().contains("the layout 1 is not offered"));
    }
}
