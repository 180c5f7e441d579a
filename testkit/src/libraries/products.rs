//! Products of matrices and cuBLAS handles through the C API, and what they are compared with.

use std::ffi::c_void;

use crate::last_message;
use crate::numbers::{decode_all, encode_all, width};
use sconce::sconce_status::*;
use sconce::*;

/// The calling thread's handle for its current device, or why not.
pub fn try_handle() -> Result<usize, (sconce_status, String)> {
    let mut handle = std::ptr::null_mut();
    // SAFETY: a good place.
    match unsafe { sconce_blas_get_handle(&raw mut handle) } {
        SCONCE_OK => Ok(handle as usize),
        status => Err((status, last_message())),
    }
}

#[track_caller]
pub fn handle() -> usize {
    try_handle().unwrap()
}

/// A packed product of F32 with nothing special.
pub fn plain(batch: i64, m: i64, n: i64, k: i64) -> sconce_matmul_desc {
    sconce_matmul_desc {
        struct_size: size_of::<sconce_matmul_desc>() as u32,
        dtype: SCONCE_DTYPE_F32,
        m,
        n,
        k,
        batch,
        alpha: 1.0,
        beta: 0.0,
        transpose_a: false.into(),
        transpose_b: false.into(),
        a_strides: [0; 3],
        b_strides: [0; 3],
        c_strides: [0; 3],
    }
}

pub fn multiply(
    desc: &sconce_matmul_desc,
    a: *mut c_void,
    b: *mut c_void,
    c: *mut c_void,
) -> Result<(), (sconce_status, String)> {
    // SAFETY: the description is whole, and memory of devices is checked.
    match unsafe { sconce_matmul(std::ptr::from_ref(desc), a, b, c) } {
        SCONCE_OK => Ok(()),
        status => Err((status, last_message())),
    }
}

/// Memory of the caching allocator; freed when dropped.
pub struct Block(pub *mut c_void);

impl Block {
    /// On the current device, for its current stream.
    pub fn new(bytes: usize) -> Block {
        let mut address = std::ptr::null_mut();
        // SAFETY: a good place.
        let status = unsafe { sconce_memory_alloc(bytes, &raw mut address) };
        assert_eq!(status, SCONCE_OK, "{}", last_message());
        super::settle();
        Block(address)
    }

    /// Holding numbers of a type.
    pub fn of(dtype: i32, numbers: &[f64]) -> Block {
        let data = encode_all(dtype, numbers);
        let block = Block::new(data.len().max(1));
        block.write(&data);
        block
    }

    pub fn write(&self, data: &[u8]) {
        // SAFETY: readable bytes.
        let status = unsafe { sconce_sim_memory_write(self.0, data.len(), data.as_ptr().cast()) };
        assert_eq!(status, SCONCE_OK, "{}", last_message());
    }

    /// What it holds, at once.
    pub fn read(&self, dtype: i32, numbers: usize) -> Vec<f64> {
        let mut data = vec![0; numbers * width(dtype)];
        // SAFETY: room for the bytes.
        let status =
            unsafe { sconce_sim_memory_read(self.0, data.len(), data.as_mut_ptr().cast()) };
        assert_eq!(status, SCONCE_OK, "{}", last_message());
        decode_all(dtype, &data)
    }

    /// So many bytes further on.
    pub fn at(&self, bytes: usize) -> *mut c_void {
        self.0.wrapping_byte_add(bytes)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let status = sconce_memory_free(self.0);
        assert!(status == SCONCE_OK || std::thread::panicking(), "{}", last_message());
    }
}

/// The strides in force: packed ones where three are 0.
pub fn strides_of(sizes: [i64; 3], strides: [i64; 3]) -> [i64; 3] {
    if strides == [0; 3] { [sizes[1] * sizes[2], sizes[2], 1] } else { strides }
}

/// How many elements there are from the first to the last; 0 if there are none.
pub fn extent(sizes: [i64; 3], strides: [i64; 3]) -> usize {
    if sizes.contains(&0) {
        return 0;
    }
    let strides = strides_of(sizes, strides);
    let reach: i64 = sizes.iter().zip(strides).map(|(size, stride)| (size - 1) * stride).sum();
    reach as usize + 1
}

/// What `a`, `b` and `c` are as they are stored.
pub fn sizes(desc: &sconce_matmul_desc) -> [[i64; 3]; 3] {
    let stored = |rows, columns, transpose| {
        if transpose { [desc.batch, columns, rows] } else { [desc.batch, rows, columns] }
    };
    [
        stored(desc.m, desc.k, desc.transpose_a.is_true()),
        stored(desc.k, desc.n, desc.transpose_b.is_true()),
        stored(desc.m, desc.n, false),
    ]
}

/// The product by its definition; all of `c`'s memory, as it is to be afterwards.
pub fn expected(desc: &sconce_matmul_desc, a: &[f64], b: &[f64], c: &[f64]) -> Vec<f64> {
    let [sizes_a, sizes_b, sizes_c] = sizes(desc);
    let [sa, sb, sc] = [
        strides_of(sizes_a, desc.a_strides),
        strides_of(sizes_b, desc.b_strides),
        strides_of(sizes_c, desc.c_strides),
    ];
    let at = |s: [i64; 3], i, row, column| (i * s[0] + row * s[1] + column * s[2]) as usize;
    let op = |transpose, s, i, row, column| {
        if transpose { at(s, i, column, row) } else { at(s, i, row, column) }
    };
    let mut result = c.to_vec();
    for i in 0..desc.batch {
        for (row, column) in (0..desc.m).flat_map(|row| (0..desc.n).map(move |n| (row, n))) {
            let term = |l| {
                a[op(desc.transpose_a.is_true(), sa, i, row, l)]
                    * b[op(desc.transpose_b.is_true(), sb, i, l, column)]
            };
            let sum: f64 = (0..desc.k).map(term).sum();
            let place = &mut result[at(sc, i, row, column)];
            let before = if desc.beta == 0.0 { 0.0 } else { desc.beta * *place };
            *place = desc.alpha * sum + before;
        }
    }
    result
}

/// Waits for all work of a device.
pub fn synchronize(device: i32) {
    assert_eq!(sconce_device_synchronize(device), SCONCE_OK, "{}", last_message());
}
