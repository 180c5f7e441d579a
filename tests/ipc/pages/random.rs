//! Random programs beside a model: blocks come and go, pages move, some blocks are open in another process.

use super::*;
use crate::waiting_bytes;
use sconce_runtime::stream::{self, Stream};

/// A block of this process, or one that was freed and is still open in the other.
struct Block {
    address: usize,
    bytes: usize,
    byte: u8,
    live: bool,
    export: Option<Shared>,
    /// Where the other process has it.
    there: Option<usize>,
}

impl Block {
    /// The bytes at its borders and at the borders of its pages.
    fn places(&self) -> impl Iterator<Item = usize> {
        let end = self.address + self.bytes;
        let first = self.address.next_multiple_of(PAGE);
        let borders = (first..end).step_by(PAGE).flat_map(|at| [at.wrapping_sub(1), at]);
        let of_block = [self.address, end - 1].into_iter().chain(borders);
        let address = self.address;
        of_block.filter(move |at| (address..end).contains(at)).map(move |at| at - address)
    }
}

fn random(seed: &mut u64, below: usize) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    ((*seed >> 33) % below as u64) as usize
}

fn play(mut seed: u64, steps: usize, streams: &[Stream], other: &mut Remote) -> (usize, u64) {
    let mut blocks: Vec<Block> = Vec::new();
    let mut opened_freed = 0;
    for step in 0..steps {
        let byte = (step % 251) as u8;
        let place = random(&mut seed, blocks.len().max(1));
        let what = random(&mut seed, 10);
        match what {
            0..=2 => {
                let bytes = (1 + random(&mut seed, 20)) * MIB / 2 + 512 * random(&mut seed, 5);
                let on = streams[random(&mut seed, streams.len())];
                let Ok(address) = memory::alloc_on(bytes, on) else { continue };
                let taken =
                    |it: &Block| address < it.address + it.bytes && it.address < address + bytes;
                assert!(!blocks.iter().any(taken), "step {step}: the block is another's");
                sconce_runtime::stream::synchronize(device::runtime(), on).unwrap();
                device::fill(address, byte, bytes);
                blocks.push(Block { address, bytes, byte, live: true, export: None, there: None });
            }
            3 if !blocks.is_empty() && blocks[place].live => {
                memory::free(blocks[place].address).unwrap();
                blocks[place].live = false;
                opened_freed += usize::from(blocks[place].there.is_some());
            }
            4 | 5 if !blocks.is_empty() && blocks[place].live && blocks[place].there.is_none() => {
                let block = &mut blocks[place];
                let export = ipc::export(block.address).unwrap();
                assert!(block.export.is_none_or(|before| before == export), "step {step}");
                block.export = Some(export);
                block.there = Some(other.open(&export));
            }
            6 if !blocks.is_empty() => {
                if let Some(there) = blocks[place].there.take() {
                    other.close(there);
                    ipc::collect().unwrap();
                }
            }
            7 if !blocks.is_empty() => {
                if let Some(there) = blocks[place].there {
                    other.fill(there, byte, blocks[place].bytes);
                    blocks[place].byte = byte;
                }
            }
            8 if step % 3 == 0 => memory::empty_cache().unwrap(),
            _ => {}
        }
        // What nobody uses any more is no longer part of the model.
        blocks.retain(|block| block.live || block.there.is_some());
        if let Some(block) = blocks.get(place) {
            for at in block.places() {
                if block.live {
                    assert_eq!(device::read(block.address + at, 1), [block.byte], "step {step}");
                }
                if let Some(there) = block.there {
                    assert_eq!(other.read(there + at, 1), [block.byte], "step {step}, there");
                }
            }
        }
        memory::check::walk().unwrap();
        let waiting = blocks.iter().filter(|it| !it.live).map(|it| it.bytes).sum::<usize>();
        assert!(waiting_bytes() >= waiting as i64, "step {step}: blocks wait that are open");
    }
    let moved = memory::page_figures(0).unwrap().aliases_made;
    for block in blocks {
        if block.live {
            memory::free(block.address).unwrap();
        }
        if let Some(there) = block.there {
            assert!(other.holds(there, block.byte, block.bytes));
            other.close(there);
        }
    }
    ipc::collect().unwrap();
    assert_eq!(waiting_bytes(), 0);
    (opened_freed, moved)
}

#[test]
fn pages_move_while_others_are_open_elsewhere() {
    let _alone = with_pages();
    let streams: Vec<Stream> = (0..3).map(|_| stream::from_pool(0, 0).unwrap()).collect();
    let mut other = Remote::start();
    let (mut freed, mut moved) = (0, 0);
    for seed in 1..=4 {
        let (opened_freed, aliases) = play(seed, 250, &streams, &mut other);
        freed += opened_freed;
        moved = aliases;
        memory::empty_cache().unwrap();
        assert_eq!(reserved(), 0, "seed {seed}");
    }
    assert!(freed > 10 && moved > 30, "too few to be put to the test: {freed}, {moved}");
    assert_eq!(other.number("sharing"), 0);
}

/// Another process opens and closes a block as fast as it can while the block is freed and others take its place. It
/// writes back what it read, so no byte may ever change but by this process.
#[test]
fn frees_meet_openings() {
    let _alone = with_pages();
    let mut other = Remote::start();
    let mut opened = 0;
    for round in 0..40_u8 {
        let block = memory::alloc(2 * PAGE + MIB).unwrap();
        device::fill(block, round, 2 * PAGE + MIB);
        let (handle, offset) = ipc::export(block).unwrap();
        other.tell(&format!("storm {} {offset} 20", crate::remote::to_hex(&handle.0)));
        std::thread::sleep(std::time::Duration::from_micros(u64::from(round) * 200));
        memory::free(block).unwrap();
        let fresh = memory::alloc(2 * PAGE + MIB).unwrap();
        device::fill(fresh, round + 100, 2 * PAGE + MIB);
        opened += other.hear().unwrap().parse::<usize>().unwrap();
        assert!(holds(&device::read(fresh, 2 * PAGE + MIB), round + 100), "round {round}");
        memory::free(fresh).unwrap();
        ipc::collect().unwrap();
        assert_eq!(waiting_bytes(), 0, "round {round}");
        memory::check::walk().unwrap();
    }
    assert!(opened > 0, "the other process was never let in");
    assert_eq!(other.number("sharing"), 0);
}
