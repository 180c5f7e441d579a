//! Data in blocks whose pages move: what is written through one mapping is read through the other, and no page is
//! used again before the work that used it.

use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_runtime::context::runtime;
use sconce_runtime::memory;
use sconce_runtime::stream::{self, Stream};
use testkit::memory::structure;

use super::{MIB, Random, alloc, comb, figures, with_pages};
use crate::queued::{copy, fill, pool_stream, read};

#[test]
fn what_is_written_through_one_mapping_is_read_through_the_other() {
    let test = "what_is_written_through_one_mapping_is_read_through_the_other";
    with_pages(test, "1G", || {
        let own = pool_stream();
        let blocks: Vec<usize> = (0..8).map(|_| alloc(2 * MIB, own)).collect();
        for (place, block) in blocks.iter().enumerate() {
            fill(*block, place as u8 + 1, 2 * MIB, own);
        }
        for block in blocks.iter().step_by(2) {
            memory::free(*block).unwrap();
        }
        let joined = alloc(8 * MIB, own);
        assert_eq!(figures().aliases_made, 3, "the first is at the end of the run, which grows");
        let mut seen: Vec<u8> =
            read(joined, 8 * MIB, own).iter().step_by(2 * MIB).copied().collect();
        seen.sort_unstable();
        assert_eq!(seen, [1, 3, 5, 7], "the pages hold what was written at home");
        fill(joined, 9, 8 * MIB, own);
        memory::free(joined).unwrap();
        let home: Vec<usize> = (0..4).map(|_| alloc(2 * MIB, own)).collect();
        assert_eq!(figures().pages, 8);
        for block in &home {
            assert!(read(*block, 2 * MIB, own).iter().all(|byte| *byte == 9));
        }
        for (place, block) in blocks.iter().enumerate().skip(1).step_by(2) {
            let data = read(*block, 2 * MIB, own);
            assert!(data.iter().all(|byte| *byte == place as u8 + 1), "block {place} is live");
        }
    });
}

/// A block that is held: its value lies at the start, at the end, and around every border of pages.
struct Held {
    address: usize,
    bytes: usize,
    value: u8,
    on: Stream,
}

impl Held {
    /// Parts to write and to look at.
    fn parts(&self) -> impl Iterator<Item = usize> {
        let last = self.bytes - 512;
        (0..self.bytes).step_by(MIB / 2).chain([last])
    }

    fn write(&self) {
        for part in self.parts() {
            fill(self.address + part, self.value, 512.min(self.bytes - part), self.on);
        }
    }

    /// Copies the parts to `sink`, as work of the block's stream.
    fn take(&self, sink: usize) -> usize {
        let mut end = sink;
        for part in self.parts() {
            copy(end, self.address + part, 512.min(self.bytes - part), self.on);
            end += 512.min(self.bytes - part);
        }
        end - sink
    }
}

/// Random blocks on three streams, in manual mode: work runs when the script says so, in any order of streams. What
/// every block held when it was freed is looked at in the end.
fn random_program(seed: u64) {
    sconce::sim_controls::set_manual(true).unwrap();
    let runtime = runtime().unwrap();
    let streams = [pool_stream(), pool_stream(), pool_stream()];
    let mut random = Random(seed);
    let sink_bytes = 64 * MIB;
    let sink = runtime.driver().memory_alloc(DeviceIndex::ZERO, sink_bytes).unwrap().0 as usize;
    let mut at = sink;
    let mut expected: Vec<(usize, u8)> = Vec::new();
    let mut held: Vec<Held> = Vec::new();
    for step in 0..500 {
        match random.place(20) {
            0..=8 if held.len() < 14 => {
                let on = streams[random.place(3)];
                let bytes = match random.place(4) {
                    0 => 512 * (1 + random.place(400)),
                    1 => 512 * (2048 + random.place(8000)),
                    _ => MIB * (1 + random.place(14)),
                };
                let address = alloc(bytes, on);
                let block = Held { address, bytes, value: 1 + (step % 250) as u8, on };
                block.write();
                held.push(block);
            }
            0..=14 if !held.is_empty() => {
                let block = held.swap_remove(random.place(held.len()));
                let taken = block.take(at);
                expected.push((taken, block.value));
                at += taken;
                memory::free(block.address).unwrap();
            }
            15 if random.place(6) == 0 => {
                sconce::sim_controls::run_until_idle().unwrap();
                memory::empty_cache().unwrap();
            }
            _ => {
                let on = streams[random.place(3)];
                for _ in 0..random.place(60) {
                    if !sconce::sim_controls::step(runtime, on).unwrap() {
                        break;
                    }
                }
            }
        }
        if step % 25 == 0 {
            structure::assert_sound();
        }
        assert!(at < sink + sink_bytes);
    }
    assert!(figures().aliases_made > 8, "{:?}", figures());
    sconce::sim_controls::run_until_idle().unwrap();
    sconce::sim_controls::set_manual(false).unwrap();
    let data = read(sink, at - sink, streams[0]);
    let mut rest = &data[..];
    for (number, (bytes, value)) in expected.into_iter().enumerate() {
        let (these, later) = rest.split_at(bytes);
        rest = later;
        assert!(these.iter().all(|byte| *byte == value), "seed {seed}, freed block {number}");
    }
    for block in held {
        memory::free(block.address).unwrap();
    }
    runtime.driver().memory_free(DeviceIndex::ZERO, DevicePtr(sink as u64)).unwrap();
    memory::empty_cache().unwrap();
    assert_eq!(figures().pages, 0);
    structure::assert_sound();
}

#[test]
fn random_programs_keep_their_data() {
    with_pages("random_programs_keep_their_data", "2G", || {
        for seed in 0..8 {
            testkit::fork::forked_result(|| {
                random_program(seed);
                Ok(())
            })
            .unwrap();
        }
    });
}

/// Threads with streams of their own, while one empties the cache and one takes snapshots.
#[test]
fn threads_keep_their_data() {
    with_pages("threads_keep_their_data", "512M", || {
        let free_at_start = sconce_runtime::device::memory_info(0).unwrap().free_bytes;
        std::thread::scope(|scope| {
            for seed in 0..3 {
                scope.spawn(move || {
                    let (own, mut random) = (pool_stream(), Random(seed));
                    let mut held: Vec<(usize, u8)> = Vec::new();
                    for step in 0..300 {
                        if held.len() < 6 && random.place(2) == 0 || held.is_empty() {
                            let block = alloc((1 + random.place(12)) * MIB, own);
                            fill(block, step as u8, 512, own);
                            held.push((block, step as u8));
                        } else {
                            let (block, value) = held.swap_remove(random.place(held.len()));
                            let seen = read(block, 512, own);
                            assert!(seen.iter().all(|byte| *byte == value), "step {step}");
                            memory::free(block).unwrap();
                        }
                    }
                    held.into_iter().for_each(|(block, _)| memory::free(block).unwrap());
                });
            }
            scope.spawn(|| {
                for _ in 0..40 {
                    memory::empty_cache().unwrap();
                    memory::snapshot().unwrap();
                    std::thread::yield_now();
                }
            });
        });
        structure::assert_all_given_back(&[free_at_start]);
        stream::synchronize(runtime().unwrap(), pool_stream()).unwrap();
    });
}

#[test]
fn every_free_piece_is_found_again() {
    with_pages("every_free_piece_is_found_again", "256M", || {
        let own = pool_stream();
        let held = comb(40, 3 * MIB, own);
        for block in held {
            memory::free(block).unwrap();
        }
        let reserved = memory::stats(0).unwrap().reserved_bytes.all.current as usize;
        let whole = alloc(reserved - 4 * MIB, own);
        assert!(memory::stats(0).unwrap().reserved_bytes.all.current as usize <= reserved);
        memory::free(whole).unwrap();
        structure::assert_sound();
    });
}
