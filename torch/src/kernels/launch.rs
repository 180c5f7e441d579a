//! Launches of this library's kernels.

#![allow(unsafe_code, reason = "calls libsconce.so")]

use std::ffi::c_void;

use super::image::Image;
use crate::abi::devices::current_stream;
use crate::error::Result;
use crate::sconce::{api, check};

/// A value that a kernel takes as a parameter: a number, an address, or a structure with `repr(C)`.
pub trait KernelArgument {
    /// Where the value lies.
    fn address(&self) -> *const c_void {
        std::ptr::from_ref(self).cast()
    }

    /// Its size.
    fn bytes(&self) -> usize {
        size_of_val(self)
    }
}

impl KernelArgument for u32 {}
impl KernelArgument for i32 {}
impl KernelArgument for u64 {}
impl KernelArgument for i64 {}
impl KernelArgument for f32 {}
impl KernelArgument for f64 {}
impl<T> KernelArgument for *const T {}
impl<T> KernelArgument for *mut T {}

/// Blocks and threads of a launch.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// Blocks along x, y and z.
    pub blocks: [u32; 3],
    /// Threads of a block along x, y and z.
    pub threads: [u32; 3],
    /// Dynamic shared memory of a block.
    pub shared_bytes: u32,
}

impl Grid {
    /// Blocks of `threads` threads in a row, each of which computes `each` of `count` elements.
    pub fn of(count: i64, threads: u32, each: u32) -> Grid {
        let of_block = u64::from(threads) * u64::from(each);
        let blocks = u64::try_from(count).unwrap_or(0).div_ceil(of_block);
        let blocks = u32::try_from(blocks).unwrap_or(u32::MAX);
        Grid { blocks: [blocks, 1, 1], threads: [threads, 1, 1], shared_bytes: 0 }
    }
}

/// Launches a kernel on the calling thread's current stream of a device. A grid without blocks launches nothing.
///
/// # Safety
/// The kernel has these parameters, and may access the memory behind the addresses among them, which lives until the
/// launch is done.
pub unsafe fn launch(
    device: i32,
    image: &'static Image,
    kernel: &str,
    grid: Grid,
    arguments: &[&dyn KernelArgument],
) -> Result<()> {
    if grid.blocks.contains(&0) {
        return Ok(());
    }
    let kernel = image.kernel(device, kernel)?;
    let addresses: Vec<*const c_void> = arguments.iter().map(|one| one.address()).collect();
    let bytes: Vec<usize> = arguments.iter().map(|one| one.bytes()).collect();
    let desc = api::sconce_launch_desc {
        struct_size: size_of::<api::sconce_launch_desc>() as u32,
        grid: grid.blocks,
        block: grid.threads,
        cluster: [0; 3],
        shared_bytes: grid.shared_bytes,
        cooperative: false,
        reserved: [0; 3],
    };
    // SAFETY: the lists have the length that is passed, and point to values that live during the call; `launch` demands
    // that the kernel has these parameters, and that memory has what it reaches.
    check(unsafe {
        api::sconce_kernel_launch_on(
            kernel.handle(),
            &desc,
            addresses.as_ptr(),
            bytes.as_ptr(),
            arguments.len(),
            current_stream(device)?,
        )
    })
}
