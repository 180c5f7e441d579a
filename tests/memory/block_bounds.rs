//! Ranges of device memory that leave the block they begin in: every call that is given one refuses it,
//! with the same words, and leaves the neighbour alone. Ranges up to the block's last byte are accepted.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![allow(unsafe_code, reason = "calls the C API")]

use std::ffi::c_void;
use std::ptr::{null_mut, without_provenance_mut};
use testkit::simulated;

use sconce::sconce_status::*;
use sconce::*;
use testkit::libraries::products::{self, Block};
use testkit::{in_child, last_message};

const BLOCK: usize = 4096;
const MARK: u8 = 0x5a;
const WORDS: &str = "points into an allocation that has less than ";

/// Three blocks, one directly behind the other.
struct Neighbours([Block; 3]);

impl Neighbours {
    fn new() -> Neighbours {
        simulated::runtime();
        let mut blocks: Vec<Block> = (0..64).map(|_| Block::new(BLOCK)).collect();
        blocks.sort_by_key(|block| block.0 as usize);
        let follows = |one: &Block, next: &Block| one.0 as usize + BLOCK == next.0 as usize;
        let at = (0..blocks.len() - 2)
            .find(|i| {
                follows(&blocks[*i], &blocks[i + 1]) && follows(&blocks[i + 1], &blocks[i + 2])
            })
            .expect("three blocks in a row");
        let found =
            Neighbours(blocks.drain(at..at + 3).collect::<Vec<_>>().try_into().ok().unwrap());
        for block in &found.0 {
            block.write(&[MARK; BLOCK]);
        }
        found
    }

    /// The middle one.
    fn block(&self) -> *mut c_void {
        self.0[1].0
    }

    #[track_caller]
    fn neighbours_are_untouched(&self, what: &str) {
        assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
        for neighbour in [&self.0[0], &self.0[2]] {
            let mut data = [0; BLOCK];
            // SAFETY: room for the bytes.
            let read =
                unsafe { sconce_sim_memory_read(neighbour.0, BLOCK, data.as_mut_ptr().cast()) };
            assert_eq!(read, SCONCE_OK);
            assert!(data.iter().all(|byte| *byte == MARK), "{what} wrote to a neighbour");
        }
    }
}

/// A call that uses so many elements from an address on.
type Call<'a> = &'a dyn Fn(*mut c_void, usize) -> sconce_status;

/// The call takes everything up to the block's end, and refuses one element more; from the block's
/// beginning and from places inside it.
#[track_caller]
fn stays_inside(neighbours: &Neighbours, what: &str, element: usize, call: Call<'_>) {
    for offset in [0, 16, 512, 1040, BLOCK - 64] {
        let address = neighbours.block().wrapping_byte_add(offset);
        let room = (BLOCK - offset) / element;
        let what = format!("{what} at {offset}");
        for more in [1, 2, BLOCK / element] {
            assert_eq!(call(address, room + more), SCONCE_ERROR_INVALID_ARGUMENT, "{what} {more}");
            assert!(last_message().contains(WORDS), "{what}: {}", last_message());
            neighbours.neighbours_are_untouched(&what);
        }
        assert_eq!(call(address, room), SCONCE_OK, "{what}: {}", last_message());
        neighbours.neighbours_are_untouched(&what);
    }
}

#[test]
fn fills_of_every_distribution_and_type_stay_inside() {
    let neighbours = Neighbours::new();
    let generator = simulated::generator(5);
    let widths = [4, 8, 2, 2, 1, 2, 4, 8, 1, 1, 8, 16];
    type Fill = fn(*mut c_void, usize, i32, *mut sconce_generator) -> sconce_status;
    let fills: [(&str, Fill); 9] = [
        ("uniform", |p, n, t, g| sconce_random_uniform(p, n, t, 0.0, 1.0, g)),
        ("normal", |p, n, t, g| sconce_random_normal(p, n, t, 0.0, 1.0, g)),
        ("log_normal", |p, n, t, g| sconce_random_log_normal(p, n, t, 0.0, 1.0, g)),
        ("exponential", |p, n, t, g| sconce_random_exponential(p, n, t, 1.0, g)),
        ("cauchy", |p, n, t, g| sconce_random_cauchy(p, n, t, 0.0, 1.0, g)),
        ("geometric", |p, n, t, g| sconce_random_geometric(p, n, t, 0.5, g)),
        ("bernoulli", |p, n, t, g| sconce_random_bernoulli(p, n, t, 0.5, g)),
        ("integers", |p, n, t, g| sconce_random_integers(p, n, t, 0, 2, g)),
        ("full_range", |p, n, t, g| sconce_random_full_range(p, n, t, g)),
    ];
    let mut drawn = 0;
    for (name, fill) in fills {
        for (dtype, width) in (0..).zip(widths) {
            let what = format!("{name} of dtype {dtype}");
            if fill(neighbours.block(), 1, dtype, generator) == SCONCE_ERROR_NOT_SUPPORTED {
                continue;
            }
            drawn += 1;
            stays_inside(&neighbours, &what, width, &|p, n| fill(p, n, dtype, generator));
        }
    }
    // uniform and normal: 6; log-normal, exponential, Cauchy: 4; geometric: 9; the others: 10.
    assert_eq!(drawn, 2 * 6 + 3 * 4 + 9 + 3 * 10);
}

#[test]
#[allow(clippy::undocumented_unsafe_blocks, reason = "one reason for all calls")]
fn sets_and_copies_stay_inside() {
    let neighbours = Neighbours::new();
    let mut host = vec![0_u8; 4 * BLOCK];
    let host: *mut c_void = host.as_mut_ptr().cast();
    let elsewhere = Block::new(4 * BLOCK);
    // Host memory is large enough for what the calls move, and memory of devices is checked.
    let calls: [(&str, Call<'_>); 10] = [
        ("set", &|p, n| unsafe { sconce_memory_set(p, 1, n) }),
        ("set_2d", &|p, n| unsafe { sconce_memory_set_2d(p, n - 8, 1, 8, 2) }),
        ("copy to", &|p, n| unsafe { sconce_copy(p, host, n, false.into()) }),
        ("copy from", &|p, n| unsafe { sconce_copy(host, p, n, false.into()) }),
        ("copy within to", &|p, n| unsafe { sconce_copy(p, elsewhere.0, n, false.into()) }),
        ("copy within from", &|p, n| unsafe { sconce_copy(elsewhere.0, p, n, false.into()) }),
        ("copy_2d to", &|p, n| unsafe { sconce_copy_2d(p, n - 8, host, 8, 8, 2, false.into()) }),
        ("copy_2d from", &|p, n| unsafe { sconce_copy_2d(host, 8, p, n - 8, 8, 2, false.into()) }),
        ("copy_strided to", &|p, n| strided(p, n as i64 - 1, host, 1)),
        ("copy_strided from", &|p, n| strided(host, 1, p, n as i64 - 1)),
    ];
    for (name, call) in calls {
        stays_inside(&neighbours, name, 1, call);
    }
}

/// Copies two bytes that lie so far apart.
fn strided(dst: *mut c_void, dst_stride: i64, src: *mut c_void, src_stride: i64) -> sconce_status {
    let shape = sconce_strided_copy {
        struct_size: size_of::<sconce_strided_copy>() as u32,
        rank: 1,
        element_bytes: 1,
        sizes: [2, 0, 0, 0, 0, 0, 0, 0],
        dst_strides: [dst_stride, 0, 0, 0, 0, 0, 0, 0],
        src_strides: [src_stride, 0, 0, 0, 0, 0, 0, 0],
    };
    // SAFETY: the shape is whole; two bytes of host memory are valid.
    unsafe { sconce_copy_strided(&raw const shape, dst, src, false.into()) }
}

#[test]
fn negative_strides_do_not_reach_below_a_block() {
    let neighbours = Neighbours::new();
    let mut host = [0_u8; 2];
    let host: *mut c_void = host.as_mut_ptr().cast();
    let inside = neighbours.block().wrapping_byte_add(100);
    assert_eq!(strided(inside, -100, host, 1), SCONCE_OK, "{}", last_message());
    assert_eq!(strided(inside, -101, host, 1), SCONCE_ERROR_INVALID_ARGUMENT);
    assert!(last_message().contains(WORDS), "{}", last_message());
    neighbours.neighbours_are_untouched("a strided copy");
}

#[test]
fn operands_of_libraries_stay_inside() {
    let neighbours = Neighbours::new();
    let large = Block::of(SCONCE_DTYPE_F32, &vec![0.0; 4 * BLOCK]);
    let product = |n, place: usize, p| {
        let mut operands = [large.0, large.at(BLOCK * 4), large.at(BLOCK * 8)];
        operands[place] = p;
        // [1, n] @ [n, 1], and for the result [n, 1] @ [1, 1].
        let [m, k] = if place == 2 { [n, 1] } else { [1, n] };
        let desc = products::plain(1, m as i64, 1, k as i64);
        // SAFETY: the description is whole; memory of devices is checked.
        unsafe { sconce_matmul(&raw const desc, operands[0], operands[1], operands[2]) }
    };
    let convolution = |n: usize, place: usize, p| {
        let mut operands = [large.0, large.at(BLOCK * 4), large.at(BLOCK * 8)];
        operands[place] = p;
        // A filter of 1, or one as long as the input.
        let filter = if place == 1 { n } else { 1 };
        let desc = sconce_convolution_desc {
            struct_size: size_of::<sconce_convolution_desc>() as u32,
            dtype: SCONCE_DTYPE_F32,
            operation: SCONCE_CONVOLUTION_FORWARD,
            spatial_rank: 1,
            batch: 1,
            in_channels: 1,
            out_channels: 1,
            groups: 1,
            input_sizes: [n as i64, 0, 0],
            filter_sizes: [filter as i64, 0, 0],
            stride: [1; 3],
            padding: [0; 3],
            dilation: [1; 3],
            input_strides: [0; 5],
            filter_strides: [0; 5],
            output_strides: [0; 5],
        };
        let [a, b, result] = operands;
        // SAFETY: the description is whole; memory of devices is checked.
        unsafe { sconce_convolution(&raw const desc, a, b, result) }
    };
    for place in 0..3 {
        stays_inside(&neighbours, &format!("product {place}"), 4, &|p, n| product(n, place, p));
        stays_inside(&neighbours, &format!("convolution {place}"), 4, &|p, n| {
            convolution(n, place, p)
        });
    }
    for is_output in [false, true] {
        let transform = |p, n: usize| {
            let desc = sconce_fft_desc {
                struct_size: size_of::<sconce_fft_desc>() as u32,
                kind: SCONCE_FFT_C2C,
                dtype: SCONCE_DTYPE_F32,
                direction: SCONCE_FFT_FORWARD,
                normalization: SCONCE_FFT_NORM_NONE,
                rank: 1,
                sizes: [n as i64, 0, 0],
                batch: 1,
                in_batch_stride: 0,
                in_strides: [0; 3],
                out_batch_stride: 0,
                out_strides: [0; 3],
                may_overwrite_input: false.into(),
            };
            let [input, output] = if is_output { [large.0, p] } else { [p, large.0] };
            // SAFETY: the description is whole; memory of devices is checked.
            unsafe { sconce_fft(&raw const desc, input, output) }
        };
        // Twice: the second time the description is known.
        for _ in 0..2 {
            stays_inside(&neighbours, &format!("transform {is_output}"), 8, &transform);
        }
    }
}

#[test]
fn pinned_memory_stays_inside_its_block_too() {
    simulated::runtime();
    let pinned = || {
        let mut address = null_mut();
        // SAFETY: a good place.
        let status = unsafe { sconce_host_memory_alloc(BLOCK, &raw mut address) };
        assert_eq!(status, SCONCE_OK);
        address
    };
    let blocks: Vec<_> = (0..4).map(|_| pinned()).collect();
    for block in &blocks {
        for offset in [0, 64] {
            let address = block.wrapping_byte_add(offset);
            let fill = |n| sconce_random_full_range(address, n, SCONCE_DTYPE_U8, null_mut());
            assert_eq!(fill(BLOCK - offset + 1), SCONCE_ERROR_INVALID_ARGUMENT);
            assert!(last_message().contains(WORDS), "{}", last_message());
            assert_eq!(fill(BLOCK - offset), SCONCE_OK, "{}", last_message());
        }
    }
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
    for block in blocks {
        assert_eq!(sconce_host_memory_free(block), SCONCE_OK);
    }
}

#[test]
fn ranges_far_inside_a_large_block_stay_inside() {
    const PART: usize = 100 << 20;
    simulated::runtime();
    // One segment of three blocks.
    let whole = Block::new(3 * PART).0 as usize;
    let parts = [Block::new(PART), Block::new(PART), Block::new(PART)];
    assert!(parts.iter().all(|part| (whole..whole + 3 * PART).contains(&(part.0 as usize))));
    for part in &parts {
        for offset in [1 << 20, 90 << 20] {
            let set = |bytes| {
                // SAFETY: memory of devices is checked.
                unsafe { sconce_memory_set(part.at(offset), 0, bytes) }
            };
            assert_eq!(set(PART - offset + 1), SCONCE_ERROR_INVALID_ARGUMENT, "{offset}");
            assert!(last_message().contains(WORDS), "{}", last_message());
            assert_eq!(set(PART - offset), SCONCE_OK, "{offset}: {}", last_message());
        }
    }
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
}

#[test]
fn without_caching_allocations_that_adjoin_are_two() {
    let environment = [("SCONCE_BACKEND", "sim"), ("PYTORCH_NO_CUDA_MEMORY_CACHING", "1")];
    in_child("without_caching_allocations_that_adjoin_are_two", &environment, || {
        let blocks: Vec<Block> = (0..16).map(|_| Block::new(1 << 20)).collect();
        for block in &blocks {
            for offset in [0, 1000] {
                let fill = |n| {
                    let address = without_provenance_mut(block.0 as usize + offset);
                    sconce_random_full_range(address, n, SCONCE_DTYPE_U8, null_mut())
                };
                let room = (1 << 20) - offset;
                assert_eq!(fill(room + 1), SCONCE_ERROR_INVALID_ARGUMENT);
                assert!(last_message().contains(WORDS), "{}", last_message());
                assert_eq!(fill(room), SCONCE_OK, "{}", last_message());
            }
        }
        assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
    });
}
