//! Blocks of pages (`policy:pages`), of which other processes map every page.

mod faults;
mod life;
mod random;
mod rules;
mod sleep;

use std::sync::MutexGuard;

use sconce_driver::IpcHandle;
use sconce_runtime::{ipc, memory};

use crate::remote::Remote;
use crate::{alone, device};

pub(crate) const MIB: usize = 1 << 20;
const PAGE: usize = 2 * MIB;
/// The bytes of the blocks beside another one.
const BESIDE: usize = MIB + 512;

/// One test at a time, whose memory is made of pages.
fn with_pages() -> MutexGuard<'static, ()> {
    let alone = alone();
    memory::configure("policy:pages").unwrap();
    alone
}

type Shared = (IpcHandle, usize);

fn reserved() -> i64 {
    memory::stats(0).unwrap().reserved_bytes.all.current
}

fn holds(data: &[u8], byte: u8) -> bool {
    data.iter().all(|it| *it == byte)
}

/// A block that begins and ends within pages, beside blocks that share these pages.
struct Neighbours {
    before: usize,
    block: usize,
    bytes: usize,
    after: usize,
}

impl Neighbours {
    fn new(bytes: usize) -> Neighbours {
        // In the order of addresses, of one free block.
        memory::free(memory::alloc(bytes + 4 * MIB).unwrap()).unwrap();
        let [before, block, after] = [BESIDE, bytes, BESIDE].map(|it| memory::alloc(it).unwrap());
        assert_eq!((block - before, after - block), (BESIDE, bytes), "side by side");
        let all = Neighbours { before, block, bytes, after };
        device::fill(before, 1, BESIDE);
        device::fill(block, 2, bytes);
        device::fill(after, 3, BESIDE);
        all
    }

    fn assert_untouched(&self) {
        assert!(holds(&device::read(self.before, BESIDE), 1), "the block before");
        assert!(holds(&device::read(self.after, BESIDE), 3), "the block after");
    }

    fn free_others(&self) {
        memory::free(self.before).unwrap();
        memory::free(self.after).unwrap();
    }
}

/// A block whose pages were free at several places, with blocks that keep these places apart.
fn pieced_together() -> (usize, Vec<usize>) {
    let comb: Vec<usize> = (0..8).map(|_| memory::alloc(PAGE).unwrap()).collect();
    let (freed, kept): (Vec<_>, Vec<_>) = comb.chunks(2).map(|two| (two[0], two[1])).unzip();
    freed.into_iter().for_each(|block| memory::free(block).unwrap());
    let before = memory::page_figures(0).unwrap();
    let block = memory::alloc(4 * PAGE).unwrap();
    let now = memory::page_figures(0).unwrap();
    assert!(now.aliases_made >= before.aliases_made + 3, "pages were moved: {now:?}");
    (block, kept)
}

/// Opens memory of another process here.
fn open(export: &Shared) -> usize {
    ipc::open(0, &export.0, export.1).unwrap()
}
