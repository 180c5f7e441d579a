//! Transforms between blocks of the allocator, which a thread that repeats them looks up by what it saw
//! there last.

use std::ffi::c_void;

use crate::last_message;
use crate::libraries::fft::{self, Complex, Side, run};
use sconce::sconce_status::*;
use sconce::*;

/// Both devices as if nothing had been transformed yet.
pub fn fresh_both() {
    [0, 1].into_iter().for_each(fft::fresh);
}

pub fn synchronize_both() {
    [0, 1].into_iter().for_each(|device| assert_eq!(sconce_device_synchronize(device), SCONCE_OK));
}

/// With a workspace of 34,816 bytes.
pub fn large() -> sconce_fft_desc {
    fft::desc(SCONCE_FFT_C2C, SCONCE_DTYPE_F32, &[16, 17, 16], 1)
}

/// A block of the allocator, for the stream that was current when it was made.
pub struct Block {
    address: usize,
    pub bytes: usize,
}

impl Block {
    /// On the current device, with zeros that work of any stream may read.
    pub fn new(bytes: usize) -> Block {
        let block = Block::try_new(bytes).unwrap_or_else(|| panic!("{}", last_message()));
        super::settle();
        block.fill(0);
        block
    }

    /// The same, if there is room.
    pub fn try_new(bytes: usize) -> Option<Block> {
        let mut ptr = std::ptr::null_mut();
        // SAFETY: a good place.
        let status = unsafe { sconce_memory_alloc(bytes, &raw mut ptr) };
        (status == SCONCE_OK).then(|| Block { address: ptr.expose_provenance(), bytes })
    }

    /// On a device; the current one stays.
    pub fn on(device: i32, bytes: usize) -> Block {
        let mut before = -1;
        // SAFETY: a good place.
        assert_eq!(unsafe { sconce_device_exchange(device, &raw mut before) }, SCONCE_OK);
        let block = Block::new(bytes);
        assert_eq!(sconce_device_set_current(before), SCONCE_OK);
        block
    }

    /// At an address that was freed; `None` where the allocator does not come back to it.
    pub fn new_at(address: usize, bytes: usize) -> Option<Block> {
        let mut others = Vec::new();
        for _ in 0..5000 {
            let block = Block::new(bytes);
            if block.address == address {
                return Some(block);
            }
            others.push(block);
        }
        None
    }

    pub fn address(&self) -> usize {
        self.address
    }

    pub fn at(&self, distance: usize) -> *mut c_void {
        std::ptr::with_exposed_provenance_mut(self.address + distance)
    }

    pub fn start(&self) -> *mut c_void {
        self.at(0)
    }

    pub fn fill(&self, value: u8) {
        write(self.start(), &vec![value; self.bytes]);
    }

    pub fn read(&self) -> Vec<u8> {
        read(self.start(), self.bytes)
    }

    /// Frees it before its end.
    pub fn free(self) {}
}

impl Drop for Block {
    fn drop(&mut self) {
        let status = sconce_memory_free(self.start());
        assert!(status == SCONCE_OK || std::thread::panicking(), "{}", last_message());
    }
}

/// Writes at once, with no stream's order.
pub fn write(at: *mut c_void, data: &[u8]) {
    // SAFETY: readable bytes; the simulator checks its own.
    let status = unsafe { sconce_sim_memory_write(at, data.len(), data.as_ptr().cast()) };
    assert_eq!(status, SCONCE_OK, "{}", last_message());
}

/// Reads at once, with no stream's order.
pub fn read(at: *mut c_void, bytes: usize) -> Vec<u8> {
    let mut data = vec![0; bytes];
    // SAFETY: writable bytes; the simulator checks its own.
    let status = unsafe { sconce_sim_memory_read(at, bytes, data.as_mut_ptr().cast()) };
    assert_eq!(status, SCONCE_OK, "{}", last_message());
    data
}

/// A transform with numbers to transform, and what it must give.
pub struct Call {
    pub desc: sconce_fft_desc,
    /// The type of a real number.
    dtype: i32,
    pub given: Vec<u8>,
    pub expected: Vec<Complex>,
    pub out_bytes: usize,
    /// How far the first elements are from the lowest.
    starts: [usize; 2],
}

impl Call {
    pub fn new(desc: sconce_fft_desc, seed: u64) -> Call {
        let (from, to) = (Side::of(&desc, false), Side::of(&desc, true));
        let numbers = fft::numbers(seed, 2 * from.elements());
        let mut given: Vec<Complex> = numbers.chunks(2).map(|two| (two[0], two[1])).collect();
        if desc.kind == SCONCE_FFT_C2R {
            fft::make_hermitian(&mut given, &desc);
        }
        let dtype = match desc.dtype {
            SCONCE_DTYPE_C64 => SCONCE_DTYPE_F32,
            SCONCE_DTYPE_C128 => SCONCE_DTYPE_F64,
            dtype => dtype,
        };
        let mut bytes = vec![0; from.bytes(dtype)];
        fft::scatter(&given, &from, dtype, &mut bytes);
        let expected = fft::expected(&desc, &fft::gather(&bytes, &from, dtype));
        let starts = [from.start(dtype), to.start(dtype)];
        Call { desc, dtype, given: bytes, expected, out_bytes: to.bytes(dtype), starts }
    }

    /// Puts the numbers there.
    pub fn put(&self, input: *mut c_void) {
        write(input, &self.given);
    }

    /// Transforms sides whose lowest elements are there.
    pub fn run(&self, input: *mut c_void, output: *mut c_void) {
        let [from, to] = self.starts;
        let status = run(&self.desc, input.wrapping_byte_add(from), output.wrapping_byte_add(to));
        assert_eq!(status, SCONCE_OK, "{}", last_message());
    }

    /// Fails unless the results are there. Work must be done.
    #[track_caller]
    pub fn check(&self, output: *mut c_void, what: &str) {
        let found = read(output, self.out_bytes);
        let found = fft::gather(&found, &Side::of(&self.desc, true), self.dtype);
        fft::assert_near(&found, &self.expected, self.dtype, what);
    }

    /// All of it, on a device that is waited for.
    #[track_caller]
    pub fn goes(&self, device: i32, input: *mut c_void, output: *mut c_void, what: &str) {
        assert_eq!(sconce_device_synchronize(device), SCONCE_OK);
        write(output, &vec![0xFF; self.out_bytes]);
        self.put(input);
        self.run(input, output);
        assert_eq!(sconce_device_synchronize(device), SCONCE_OK);
        self.check(output, what);
    }
}
