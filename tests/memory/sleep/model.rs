//! Random programs over blocks, pools, sleep and wake, beside a model that knows what every block holds.

use std::collections::BTreeMap;

use sconce_base::error::Status;
use sconce_runtime::context::runtime;
use sconce_runtime::memory;
use sconce_runtime::memory::pool::{self, Key};
use sconce_runtime::sleep::{self, SleepPlace, WakeMode};
use sconce_runtime::stream::{self, Stream};
use testkit::memory::structure;

use super::{MIB, folder, free_bytes, pool_stream, state, with_pages};
use crate::queued::{fill, read};
use testkit::numbers::Random;

/// A block: its pool, its bytes, and what it holds, unless that is undefined.
struct Block {
    pool: usize,
    bytes: usize,
    value: Option<u8>,
}

/// What a program knows.
struct Model {
    random: Random,
    streams: [Stream; 3],
    /// The default pool and two others.
    pools: [Option<Key>; 3],
    asleep: [Option<SleepPlace>; 3],
    blocks: BTreeMap<usize, Block>,
    step: usize,
}

impl Model {
    fn alloc(&mut self) {
        let (place, on) = (self.random.place(3), self.streams[self.random.place(3)]);
        let bytes = match self.random.place(4) {
            0 => 512 * (1 + self.random.place(400)),
            1 => 512 * (2048 + self.random.place(8000)),
            _ => MIB * (1 + self.random.place(9)),
        };
        if let Some(key) = self.pools[place] {
            pool::begin(key, 0).unwrap();
        }
        let made = memory::alloc_on(bytes, on);
        if let Some(key) = self.pools[place] {
            pool::end(key, 0).unwrap();
        }
        match made {
            Ok(address) => {
                assert_eq!(self.asleep[place], None, "step {}", self.step);
                let value = 1 + (self.step % 250) as u8;
                fill(address, value, bytes, on);
                stream::synchronize(runtime().unwrap(), on).unwrap();
                let block = Block { pool: place, bytes, value: Some(value) };
                assert!(self.blocks.insert(address, block).is_none(), "handed out twice");
            }
            Err(error) => {
                assert!(self.asleep[place].is_some(), "step {}: {error}", self.step);
                assert_eq!(error.status(), Status::InvalidState, "{error}");
            }
        }
    }

    fn free(&mut self) {
        let Some(place) = self.blocks.len().checked_sub(1) else { return };
        let place = self.random.place(place + 1);
        let address = *self.blocks.keys().nth(place).unwrap();
        self.check(address);
        self.blocks.remove(&address);
        memory::free(address).unwrap();
    }

    /// A block that is awake holds what it must.
    fn check(&self, address: usize) {
        let block = &self.blocks[&address];
        if self.asleep[block.pool].is_some() {
            return;
        }
        let ends = [
            (address, 512),
            (address + block.bytes - 512, 512),
            (address + block.bytes / 1024 * 512, 512),
        ];
        for (at, bytes) in ends {
            let data = read(at, bytes, self.streams[0]);
            let wrong = block.value.filter(|value| data.iter().any(|byte| byte != value));
            assert_eq!(wrong, None, "step {}, {:#x} of pool {}", self.step, address, block.pool);
        }
    }

    fn sleep(&mut self) {
        let place = self.random.place(3);
        let to = match self.random.place(4) {
            0 => SleepPlace::Discard,
            1 => SleepPlace::HostPinned,
            2 => SleepPlace::HostPageable,
            _ => SleepPlace::File(folder()),
        };
        let fell = sleep::sleep(self.pools[place], 0, &to);
        assert_eq!(fell.is_ok(), self.asleep[place].is_none(), "step {}: {fell:?}", self.step);
        if fell.is_ok() {
            let live: usize = self
                .blocks
                .values()
                .filter(|block| block.pool == place)
                .map(|block| block.bytes)
                .sum();
            let saved = if to == SleepPlace::Discard { 0 } else { live as u64 };
            assert_eq!(state(self.pools[place]).unwrap().saved_bytes, saved);
            self.asleep[place] = Some(to);
        }
    }

    fn wake(&mut self) {
        let place = self.random.place(3);
        let mode = if self.random.place(5) == 0 { WakeMode::Empty } else { WakeMode::Restore };
        let woken = sleep::wake(self.pools[place], 0, mode);
        assert_eq!(woken.is_ok(), self.asleep[place].is_some(), "step {}: {woken:?}", self.step);
        let was = self.asleep[place].take();
        if mode == WakeMode::Empty && was.is_some() || was == Some(SleepPlace::Discard) {
            for block in self.blocks.values_mut().filter(|block| block.pool == place) {
                block.value = None;
            }
        }
        let addresses: Vec<usize> = self.blocks.keys().copied().collect();
        addresses.into_iter().for_each(|address| self.check(address));
    }

    fn run(&mut self, steps: usize) {
        for step in 0..steps {
            self.step = step;
            match self.random.place(24) {
                0..=9 if self.blocks.len() < 24 => self.alloc(),
                0..=17 => self.free(),
                18..=19 => self.sleep(),
                20..=22 => self.wake(),
                _ if self.random.place(2) == 0 => memory::empty_cache().unwrap(),
                _ => {
                    if let Some(key) = self.pools[1 + self.random.place(2)] {
                        pool::trim(key).unwrap();
                    }
                }
            }
            if step % 10 == 0 {
                structure::assert_sound();
            }
        }
    }
}

fn random_program(seed: u64) {
    let free_at_start = free_bytes();
    let mut model = Model {
        random: Random(seed),
        streams: [pool_stream(), pool_stream(), pool_stream()],
        pools: [None, Some(pool::create().unwrap()), Some(pool::create().unwrap())],
        asleep: [const { None }; 3],
        blocks: BTreeMap::new(),
        step: 0,
    };
    model.run(400);
    // One pool is destroyed, asleep or not; everything is freed; the rest wakes.
    pool::destroy(model.pools[2].unwrap()).unwrap();
    for address in model.blocks.keys() {
        memory::free(*address).unwrap();
    }
    structure::assert_sound();
    memory::empty_cache().unwrap();
    sleep::wake_device(0, WakeMode::Restore).unwrap();
    pool::destroy(model.pools[1].unwrap()).unwrap();
    structure::assert_all_given_back(&[free_at_start]);
    let pages = memory::page_figures(0).unwrap();
    assert_eq!((pages.pages, pages.mappings, pages.sleeping_bytes), (0, 0, 0));
    assert_eq!(sconce_runtime::host_memory::stats().unwrap().active_bytes.current, 0);
}

#[test]
fn random_programs_lose_no_byte() {
    with_pages("random_programs_lose_no_byte", "2G", || {
        for seed in 0..12 {
            testkit::fork::forked_result(|| {
                random_program(seed);
                Ok(())
            })
            .unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        }
    });
}
